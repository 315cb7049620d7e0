"""What the commands print, on the bundled checkpoint."""

import json
import os
import re
import unittest

from program import SOURCE, TINY, ProgramTest


class Commands(ProgramTest):
    def test_every_command_shows_help_with_an_example(self):
        help_text = self.isobit("--help", expect=0).out
        for command in ("demo", "doctor", "fingerprint", "inspect", "tokens", "plan", "run", "compare", "gate", "policy", "explain", "bisect", "reduce",
                        "replay", "bench", "report", "selftest", "store", "verify"):
            self.assertIn(command, help_text)
            self.assertIn("isobit " + command, self.isobit(command, "--help", expect=0).out)

    def test_version_names_contract_and_build(self):
        out = self.isobit("--version", expect=0).out
        self.assertRegex(out, r"isobit \d+\.\d+\.\d+")
        contract = re.search(r"^contract (\S+), scheme f32$", out, re.M).group(1)
        with open(os.path.join(SOURCE, "docs", "numeric-contract.md"), encoding="utf-8") as page:
            self.assertEqual(page.readline().strip(), "# The numeric contract, version " + contract)
        items = self.isobit("fingerprint", TINY, "--json", expect=0).json["items"]
        self.assertEqual([i["value"] for i in items if i["name"] == "contract_version"], [contract])

    def test_fingerprint_is_repeatable_and_lists_every_class(self):
        a, b = (self.isobit("fingerprint", TINY, "--json", expect=0).json for _ in range(2))
        self.assertEqual(a, b)
        self.assertLessEqual({"model", "text", "numerics", "software", "hardware", "scheduler"}, {i["class"] for i in a["items"]})
        names = {(i["class"], i["name"]) for i in a["items"]}
        for item in (("model", "weights.stored_root"), ("text", "tokenizer"), ("text", "chat_template"), ("numerics", "kernel_set")):
            self.assertIn(item, names)
        unknown = [i for i in a["items"] if i["source"] == "unknown"]
        self.assertTrue(all(i["reason"] for i in unknown))

    def test_tokens_go_there_and_back(self):
        text = "In the beginning God created the heaven and the earth. \u00e9\u4e8c\U0001f600"
        file = self.write("t.txt", text)
        ids = self.isobit("tokens", "encode", "--tokenizer", TINY, "--text-file", file, "--json", "--no-special", expect=0).json["ids"]
        self.assertGreater(len(ids), 5)
        back = self.isobit("tokens", "decode", "--tokenizer", TINY, "--ids", ",".join(map(str, ids)), "--json", expect=0).json["text"]
        self.assertEqual(back, text)
        self.isobit("tokens", "decode", "--tokenizer", TINY, "--ids", "99999999", expect=2)
        self.assertIn("byte", self.isobit("tokens", "encode", "--tokenizer", TINY, "--text-file", self.write("bad", b"ok \xff"), expect=2).err)

    def test_render_prints_the_bytes_and_nothing_else(self):
        messages = self.write("m.json", json.dumps([{"role": "user", "content": "hi"}]))
        template = self.write("t.jinja", "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}{% if add_generation_prompt %}[{{ x }}]{% endif %}")
        self.assertEqual(self.isobit("tokens", "render", "--template", template, "--messages", messages, "--var", 'x="y"', expect=0).out, "<user>hi[y]")
        self.assertEqual(self.isobit("tokens", "render", "--template", template, "--messages", messages, "--no-generation-prompt", expect=0).out, "<user>hi")
        self.assertIn("hi", self.isobit("tokens", "render", "--template", TINY, "--messages", messages, expect=0).out)
        self.isobit("tokens", "render", "--template", template, "--messages", self.write("bad.json", "{"), expect=2)

    def test_plan_changes_nothing_and_counts_what_run_would_do(self):
        plan = self.isobit("plan", TINY, "--axis", "load.concurrency=1,8", "--axis", "engine.chunked_prefill=off,16", "--design", "grid", "--json", expect=0).json
        self.assertEqual(len(plan["cells"]), 4)
        self.assertEqual(plan["totals"]["requests"], 4 * 8)
        self.assertEqual(os.listdir(self.folder), [])

    def test_two_runs_compare_gate_and_report(self):
        for _ in range(2):
            self.run_audit("--axis", "load.concurrency=1,8", "--json")
        comparison = self.isobit("compare", "latest~1", "latest", "--store", self.store, "--json", "--exit-code", expect=0).json
        self.assertIsInstance(comparison, dict)
        for level in ("1", "2"):
            self.isobit("gate", "latest~1", "latest", "--level", level, "--store", self.store, "--save", expect=0)
        self.isobit("gate", self.store + ":latest~1", self.store + ":latest", expect=0)
        self.isobit("report", "latest~1", "latest", "--store", self.store, "-o", "r.md", "-o", "r.json", "-o", "r.csv", expect=0)
        first = {name: self.read(name) for name in ("r.md", "r.json", "r.csv")}
        self.isobit("report", "latest~1", "latest", "--store", self.store, "-o", "r.md", "-o", "r.json", "-o", "r.csv", expect=0)
        self.assertEqual(first, {name: self.read(name) for name in first})
        json.loads(first["r.json"])
        self.assertIn("2 saved comparisons", self.isobit("store", "info", "--store", self.store, expect=0).out)
        self.isobit("store", "query", "DELETE FROM sample", "--store", self.store, expect=2)
        self.assertEqual(self.isobit("store", "query", "SELECT 1 AS a, 2 AS a", "--store", self.store, "--json", expect=0).json, [{"a": 1, "a:1": 2}])

    def test_the_suggested_command_repeats_what_was_typed(self):
        self.run_audit()
        self.run_audit()
        err = self.isobit("gate", self.store + ":latest~1", self.store + ":latest", expect=0).err
        self.assertIn(f"isobit report {self.store}:latest~1 {self.store}:latest", err)
        os.rename(self.store, self.path("a b.db"))
        self.assertIn(f"--store '{self.path('a b.db')}'", self.isobit("gate", "latest~1", "latest", "--store", self.path("a b.db"), expect=0).err)

    def test_own_prompts_sampled_with_seeds_stops_and_choices_are_the_same_in_any_company(self):
        lines = [{"id": f"p{i}", "prompt": "And the LORD said unto " + name, "max_tokens": 12,
                  "sampling": {"temperature": 0.9, "top_k": 40, "top_p": 0.95, "seed": i, **({"n": 2} if i == 1 else {})}}
                 for i, name in enumerate(("Moses", "Aaron", "the people", "Joshua"))]
        prompts = self.write("p.jsonl", "\n".join(json.dumps(line) for line in lines))
        r = self.run_audit("--prompts", prompts, "--axis", "load.concurrency=1,4", "--axis", "load.neighbours=same,other,longer,shorter,sampled",
                           "--axis", "load.position=first,middle,last,permuted", "--check", "2", "--json")
        self.assertTrue(all(c["samples"] == 5 for c in r.json["cells"]), r.json["cells"])
        bad = self.write("bad.jsonl", '{"id":"a","prompt":"x","sampling":{"temprature":1}}')
        self.assertIn("temperature", self.isobit("run", TINY, "--prompts", bad, expect=2).err)

    def test_bench_prints_the_agreed_json(self):
        results = self.isobit("bench", TINY, "--prompt-tokens", "16", "--gen-tokens", "4", "--concurrency", "1,2", "--rounds", "1", "--kernel-set", "cpu", "--json", expect=0).json["results"]
        self.assertEqual([r["concurrency"] for r in results], [1, 2])
        self.assertTrue(all(r["prefill_tokens_per_s"] > 0 and r["decode_tokens_per_s"] > 0 and r["kernel_set"] == "cpu" for r in results))

    def test_demo_shows_both_arms(self):
        r = self.isobit("demo", expect=None)
        if r.code == 3 and "OpenBLAS" in r.err:
            self.skipTest("SKIPPED: built without OpenBLAS")
        self.assertEqual(r.code, 0, r.err)
        self.assertRegex(r.out, r"invariant arm \(cpu\): +0 of")
        self.assertTrue(os.path.exists(self.path("isobit-demo/report.md")))

    def test_an_unwritable_output_leaves_nothing_behind(self):
        self.run_audit()
        self.isobit("report", "latest", "--store", self.store, "-o", "no/such/folder/r.md", expect=3)
        self.assertEqual(sorted(os.listdir(self.folder)), ["s.db"])


if __name__ == "__main__":
    unittest.main()
