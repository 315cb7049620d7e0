"""`isobit compare`: what it prints, and its exit codes, on runs that are whole, cut off, disturbed or strangers."""

import json
import os
import re
import shlex
import sqlite3
import unittest

from program import SOURCE, TINY, ProgramTest

TABLE_WORDS = ("cell", "samples", "same", "bits", "drift", "flips", "missing", "state")


class Compare(ProgramTest):
    def compare(self, *arguments, expect=0):
        return self.isobit("compare", "latest~1", "latest", "--store", self.store, *arguments, expect=expect)

    def two_runs(self, *arguments):
        for _ in range(2):
            self.run_audit("--axis", "load.concurrency=1,8", *arguments)

    def disturb(self, sql):
        """Changes the latest run as a fault would have left it."""
        with sqlite3.connect(self.store) as db:
            newest = db.execute("SELECT max(run_key) FROM run").fetchone()[0]
            changed = db.execute(sql.replace("NEWEST", str(newest))).rowcount
        db.close()
        self.assertGreater(changed, 0, sql)

    def test_two_runs_that_are_the_same_have_little_to_say(self):
        self.two_runs()
        r = self.compare("--exit-code", expect=0)
        for word in TABLE_WORDS + ("certificates", "no drift was seen", "price", "tokens/s"):
            self.assertIn(word, r.out)
        for word in ("why answers differ", "worst divergences", "suspicious", "flip law", "distinct outputs", "how much alike"):
            self.assertNotIn(word, r.out)
        self.assertTrue(all(len(line) <= 80 for line in r.out.splitlines()[1:]), r.out)

    def test_the_json_form_has_every_figure_of_the_schema(self):
        self.two_runs()
        comparison = self.compare("--json").json
        with open(os.path.join(SOURCE, "schemas", "comparison.schema.json"), encoding="utf-8") as f:
            schema = json.load(f)
        self.assertEqual(set(comparison), set(schema["required"]))
        self.assertEqual(set(comparison["cells"][0]), set(schema["$defs"]["cell"]["required"]))
        self.assertEqual(comparison["certificates"]["certified"]["matches"], 8)
        self.assertEqual(comparison["flip_law"]["refusal"], "no row drifted")
        self.assertGreater(comparison["cells"][1]["price"]["tokens_per_s"], 0)

    def test_1_where_answers_differ_with_the_kind(self):
        self.run_audit()
        r = self.run_audit("--set", "engine.kernel_set=cpu-adaptive", expect=None)
        if r.code == 3:
            self.skipTest("SKIPPED: built without OpenBLAS")
        r = self.compare("--exit-code", expect=1)
        self.assertIn("why answers differ", r.out)
        self.assertIn("environment: ", r.out)
        listed = re.split(r"worst divergences \(isobit explain SAMPLE --base [0-9a-f]{12} says why\)\n", r.out)[1].splitlines()
        sample = listed[0].strip()
        self.assertRegex(listed[1], r"position \d+: token|other bits from position \d+")
        self.isobit("explain", sample, "--base", "latest~1", "--store", self.store, expect=0)
        command = re.search(r"next: isobit (explain .*)", r.err)[1]
        self.isobit(*shlex.split(command), expect=0)
        self.compare(expect=0)  # without --exit-code, as README's table has it

    def test_tokens_are_shown_as_text_with_their_numbers(self):
        for kernel_set in ("cpu", "cpu-adaptive"):
            r = self.isobit("run", TINY, "--store", self.store, "--max-tokens", "32", "--axis", "load.concurrency=1,8", "--set",
                            f"engine.kernel_set={kernel_set}")
            if r.code == 3:
                self.skipTest("SKIPPED: built without OpenBLAS")
        self.assertRegex(self.compare().prose, r"position \d+: token \d+ '[^']*' became \d+ '")
        r = self.isobit("gate", "latest~1", "latest", "--store", self.store, expect=1)
        self.assertRegex(r.prose, r"position \d+: token \d+ '[^']*' became \d+ '")
        command = re.search(r"next: isobit (explain \S+ --base .*)", r.err)[1]
        self.assertIn("the flip: token", self.isobit(*shlex.split(command), expect=0).prose)

    def test_a_base_of_another_store_is_named_by_its_file(self):
        self.run_audit()
        other = self.path("other.db")
        self.isobit("run", TINY, "--store", other, "--max-tokens", "8", "--set", "engine.kv_dtype=f32", expect=0)
        r = self.isobit("compare", self.store, other, "--exit-code", expect=1)
        command = re.search(r"next: isobit (explain .*)", r.err)[1]
        self.assertIn("first operator that differs", self.isobit(*shlex.split(command), expect=0).prose)

    def test_a_run_beside_itself_is_told(self):
        self.run_audit()
        for command in ("compare", "gate", "report"):
            r = self.isobit(command, "latest", "latest", "--store", self.store, expect=0)
            self.assertRegex(r.err, "warning: both sides are run [0-9a-f]{12}: held against itself, a run shows nothing about an upgrade")

    def test_5_and_8_where_evidence_is_missing_and_all_else_is_the_same(self):
        self.two_runs()
        kept = self.read("s.db")
        for sql, code in (
            ("UPDATE sample SET logits_hashes = NULL, logprobs = zeroblob(4 * n_positions), evidence = zeroblob(n_positions), margins = NULL, top_counts = NULL, top_ids = x'', top_logprobs = x'' WHERE run_key = NEWEST AND cell_index = 1 AND prompt_index = 2", 5),
            ("UPDATE cell SET exercised = 0, not_exercised_reason = 'no company' WHERE run_key = NEWEST AND cell_index = 1", 5),
            ("UPDATE run SET status = 'running' WHERE run_key = NEWEST", 8),
        ):
            with self.subTest(sql=sql):
                self.disturb(sql)
                self.compare("--exit-code", expect=code)
                self.write("s.db", kept)
        self.compare("--exit-code", expect=0)

    def test_4_for_runs_of_different_prompts(self):
        self.run_audit("--prompts", "smoke")
        self.run_audit("--prompts", "edge")
        r = self.compare("--exit-code", expect=4)
        self.assertIn("nothing is comparable", r.err)
        self.assertIn("their prompts or parameters differ", r.err)
        self.compare(expect=0)

    def test_prompts_of_only_one_run_are_left_out_and_counted(self):
        prompts = [json.dumps({"id": f"p{i}", "prompt_token_ids": [10 + i, 20], "max_tokens": 4}) for i in range(4)]
        self.run_audit("--prompts", self.write("a.jsonl", "\n".join(prompts)))
        self.run_audit("--prompts", self.write("b.jsonl", "\n".join(prompts[1:])))
        r = self.compare("--exit-code", expect=0)
        self.assertIn("prompts that only one run has are left out: 1 of the base, 0 of the candidate", r.err)

    def test_8_for_a_run_that_was_cut_off_and_5_for_answers_that_were_lost(self):
        self.two_runs()
        self.disturb("DELETE FROM sample WHERE prompt_index = 3 AND run_key = NEWEST")
        r = self.compare("--exit-code", expect=5)
        self.assertIn("2", r.out)
        self.disturb("UPDATE run SET status = 'running' WHERE run_key = NEWEST")
        r = self.compare("--exit-code", expect=8)
        self.assertIn("is not complete (interrupted): what it lacks counts as missing, never as the same", r.err)

    def test_a_clock_that_jumped_is_told_and_left_out(self):
        self.two_runs()
        self.disturb("UPDATE sample SET total_ms = -5 WHERE prompt_index < 2 AND run_key = NEWEST")
        r = self.compare("--exit-code", expect=0)
        self.assertIn("the times of 4 answers cannot be", r.out)


if __name__ == "__main__":
    unittest.main()
