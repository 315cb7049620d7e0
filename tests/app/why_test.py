"""explain, bisect, reduce and replay as their users meet them, on the bundled checkpoint."""

import csv
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import unittest

from program import PROGRAM, SOURCE, TINY, plant_token, ProgramTest

with open(os.path.join(SOURCE, "schemas", "why.schema.json"), encoding="utf-8") as file:
    SCHEMA = json.load(file)["$defs"]


class Why(ProgramTest):
    def document(self, kind, *arguments, expect=0):
        """The JSON of a command; the C++ tests hold the whole of it against the schema."""
        value = self.isobit(*arguments, "--json", expect=expect).json
        self.assertEqual(sorted(value), sorted(SCHEMA[kind]["properties"]))
        self.assertEqual(value["format"], SCHEMA[kind]["properties"]["format"]["const"])
        return value

    def clean_run(self, *arguments, **options):
        return self.run_audit("--axis", "load.concurrency=1,8", "--json", *arguments, **options)

    def adaptive_run(self, *arguments):
        """A run of the adaptive set, and a sample of it that diverges."""
        r = self.clean_run("--set", "engine.kernel_set=cpu-adaptive", *arguments, expect=None)
        if r.code == 3 and "OpenBLAS" in r.err:
            self.skipTest("SKIPPED: built without OpenBLAS")
        self.assertEqual(r.code, 0, r.err)
        found = [f"latest/{c['cell']}/{d['request']}" for c in r.json["cells"] for d in c["first_divergences"]
                 if c["cell"] == "load.concurrency=8"]
        self.assertTrue(found, "the adaptive set did not diverge")
        return found[0]

    def edit_store(self, statement, *values):
        with sqlite3.connect(self.store) as db:
            db.execute(statement, values)
        db.close()

    def with_store(self, *arguments):
        return [*arguments, "--store", self.store]

    def test_explain_names_the_operator_the_step_and_the_clause(self):
        sample = self.adaptive_run()
        r = self.isobit(*self.with_store("explain", sample), expect=0)
        for pattern in (r"re-run: as recorded", r"first operator that differs: .+ of layer \d+, at position \d+",
                        r"reference 0x[0-9a-f]{8} \(.+\), candidate 0x[0-9a-f]{8} \(.+\): \d+ ulp", r"candidate step \d+: \d+ rows? of \d+ request",
                        r"clause: numeric contract section \d", r"'cpu-adaptive' does not claim to keep it", r"at the diverging position: largest difference in"):
            self.assertRegex(r.prose, pattern)
        self.assertIn("isobit reduce", r.err)
        value = self.document("explanation", *self.with_store("explain", sample))
        self.assertEqual(value["cause"], "operator")
        self.assertTrue(value["reference"]["reproduced"] and value["candidate"]["reproduced"])
        self.assertNotEqual(value["first"]["reference_bits"], value["first"]["candidate_bits"])
        self.assertEqual([s["subject"] for s in value["candidate_step"]["requests"]].count(True), 1)

    def test_clean_pairs_have_nothing_to_explain_bisect_reduce_or_split(self):
        self.clean_run()
        self.assertIn("no difference", self.isobit(*self.with_store("explain", "latest/1/3"), expect=0).out)
        self.assertEqual(self.document("explanation", *self.with_store("explain", "latest/1/3"))["cause"], "none")
        self.assertIn("no difference", self.isobit(*self.with_store("bisect", "latest"), expect=0).out)
        self.clean_run()
        self.assertEqual(self.document("bisection", *self.with_store("bisect", "latest~1", "latest"))["result"], "no_difference")
        self.assertIn("does not diverge", self.isobit(*self.with_store("reduce", "latest/1/3"), expect=2).err)
        for flags in ([], ["--alone"]):
            value = self.document("replay", *self.with_store("replay", "latest/1/3", "--n", "3", *flags))
            self.assertEqual((value["same_bits"], value["distinct_bits"], value["first_split"]), (3, 1, None))

    def test_two_runs_are_explained_and_bisected_to_the_kernel_set(self):
        self.clean_run()
        sample = self.adaptive_run("--set", "engine.threads=1")
        value = self.document("explanation", *self.with_store("explain", sample, "--base", "latest~1"))
        self.assertEqual(value["cause"], "operator")
        self.assertEqual([value[side]["kernel_set"] for side in ("reference", "candidate")], ["cpu", "cpu-adaptive"])
        text = self.isobit(*self.with_store("explain", sample, "--base", "latest~1"), expect=0).prose
        self.assertIn("3.1: activations stay f32 between operators; 'cpu-adaptive' rounds them to bf16", text)
        self.assertEqual([value[side]["claims_invariance"] for side in ("reference", "candidate")], [True, False])
        self.assertGreaterEqual(value["largest_drift"]["ulp"], value["first"]["ulp"])
        found = self.document("bisection", *self.with_store("bisect", "latest~1", "latest"))
        self.assertEqual(found["explanations"], [["engine.kernel_set"]])
        self.assertEqual({c["name"] for c in found["changes"]}, {"engine.kernel_set", "engine.threads"})
        text = self.isobit(*self.with_store("bisect", "latest~1", "latest"), expect=0).prose
        self.assertIn("this alone makes it: engine.kernel_set: cpu -> cpu-adaptive", text)

    def test_a_cell_is_bisected_to_its_axis_value(self):
        sample = self.adaptive_run("--axis", "engine.threads=all,1", "--design", "grid")
        cell = sample.rsplit("/", 1)[0]
        found = self.document("bisection", *self.with_store("bisect", cell))
        self.assertEqual(found["explanations"], [["load.concurrency"]])
        self.assertEqual(found["probes"][0], {"applied": [], "outcome": "same", "note": ""})
        r = self.isobit(*self.with_store("bisect", "latest/load.concurrency=8,engine.threads=1", "--max-runs", "2"), expect=5)
        self.assertIn("stopped by --max-runs", r.prose)

    def test_another_checkpoint_is_found_by_bisection(self):
        other = self.path("other")
        shutil.copytree(TINY, other)
        with open(os.path.join(other, "model.safetensors"), "r+b") as f:
            f.seek(-100, os.SEEK_END)
            byte = f.read(1)
            f.seek(-100, os.SEEK_END)
            f.write(bytes([byte[0] ^ 0x40]))
        self.clean_run()
        self.clean_run("--set", "engine.threads=1", model=other)
        found = self.document("bisection", *self.with_store("bisect", "latest~1", "latest"))
        self.assertEqual(found["explanations"], [["model"]])

    def test_reduce_ends_at_a_case_that_replays(self):
        sample = self.adaptive_run()
        case = self.path("case.jsonl")
        value = self.document("reduction", *self.with_store("reduce", sample, "-o", case))
        self.assertTrue(value["one_minimal"] and value["repeatable"])
        self.assertLess(value["after"]["neighbours"], value["before"]["neighbours"])
        self.assertEqual(len(value["guilty"]), value["after"]["neighbours"])
        lines = [json.loads(line) for line in self.read("case.jsonl").decode().splitlines()]
        self.assertEqual(len(lines), value["after"]["neighbours"] + 1)
        self.assertEqual([line["prompt_token_ids"] for line in lines], [r["prompt_token_ids"] for r in value["case"]["requests"]])
        again = self.document("replay", "replay", "--case", case, "--model", TINY, "--n", "3", expect=1)
        self.assertEqual((again["against"], again["same_bits"], again["distinct_bits"]), ("alone", 0, 1))
        self.assertEqual(again["first_split"]["position"], value["numeric_position"])
        self.assertEqual(self.document("reduction", *self.with_store("reduce", sample)), value)
        printed = self.isobit(*self.with_store("reduce", sample), expect=0).out
        self.assertIn(self.read("case.jsonl").decode(), printed)
        r = self.isobit(*self.with_store("reduce", sample, "--max-runs", "3"), expect=5)
        self.assertIn("not proved minimal", r.prose)

    def test_a_run_of_a_case_file_diverges_too(self):
        sample = self.adaptive_run()
        case = self.path("case.jsonl")
        value = self.document("reduction", *self.with_store("reduce", sample, "-o", case))
        concurrency = value["after"]["concurrency"]
        if concurrency != value["after"]["neighbours"] + 1:
            self.skipTest("SKIPPED: the smallest case is not one wave")
        self.isobit("run", TINY, "--store", self.store, "--prompts", case, "--set", "engine.kernel_set=cpu-adaptive",
                    "--axis", f"load.concurrency=1,{concurrency}", "--check", "2", expect=1)

    def test_damaged_case_files_are_refused_by_name(self):
        good = {"id": "a", "prompt_token_ids": [1, 2], "max_tokens": 2,
                "meta": {"isobit_case": {"version": 1, "concurrency": 1, "sample_index": 0, "settings": {}, "alone_settings": {}}}}
        path = self.path("c.jsonl")

        def replay(change, expect, *more):
            value = json.loads(json.dumps(good))
            change(value["meta"]["isobit_case"])
            self.write("c.jsonl", "\n".join([json.dumps(value), *more]))
            return self.isobit("replay", "--case", path, "--model", TINY, "--n", "2", expect=expect).err

        replay(lambda c: None, 0)
        for change, word in ((lambda c: c.update(version=2), "version"), (lambda c: c.update(concurrency=0), "concurrency"),
                             (lambda c: c.update(concurrency=2**70), "concurrency"), (lambda c: c.pop("settings"), "settings"),
                             (lambda c: c.update(sample_index=1), "sample_index"), (lambda c: c.update(settings=[]), "settings"),
                             (lambda c: c.update(settings={"engine.threds": "1"}), "did you mean 'engine.threads'"),
                             (lambda c: c.update(alone_settings={"engine.kernel_set": "cpuu"}), "did you mean 'cpu'"),
                             (lambda c: c.update(settings={"engine.threads": 1}), "no string")):
            self.assertIn(word, replay(change, 2))
        self.assertIn("2 of its lines", replay(lambda c: None, 2, json.dumps(dict(good, id="b"))))
        self.write("c.jsonl", json.dumps({"id": "a", "prompt_token_ids": [1]}))
        self.assertIn("0 of its lines", self.isobit("replay", "--case", path, "--model", TINY, expect=2).err)
        self.isobit("replay", "--case", self.path("none.jsonl"), "--model", TINY, expect=3)
        self.assertIn("--model", self.isobit("replay", "--case", path, expect=2).err)

    def long_run(self, kernel_set):
        """Answers that are long enough for some to flip."""
        r = self.isobit(*self.with_store("run", TINY, "--max-tokens", "32", "--axis", "load.concurrency=1,8", "--set",
                                         f"engine.kernel_set={kernel_set}"))
        if r.code == 3 and "OpenBLAS" in r.err:
            self.skipTest("SKIPPED: built without OpenBLAS")
        self.assertEqual(r.code, 0, r.err)

    def flipped_sample(self):
        """Of a run of the adaptive set: a sample whose tokens part from its reference's, and one whose bits only do."""
        self.long_run("cpu-adaptive")
        rows = self.isobit(*self.with_store("report", "latest", "-o", self.path("r.csv")), expect=0)
        with open(self.path("r.csv"), encoding="utf-8", newline="") as f:
            found = [(f"latest/{row['cell']}/{row['request']}", row["token_position"] != "") for row in csv.DictReader(f)
                     if row["token_position"] or row["numeric_position"]]
        self.assertEqual({flips for _, flips in found}, {True, False}, rows.out)
        return [next(name for name, flips in found if flips is wanted) for wanted in (True, False)]

    def test_explain_offers_to_reduce_a_flip_by_its_tokens(self):
        flipped, drifted = self.flipped_sample()
        self.assertRegex(self.isobit(*self.with_store("explain", flipped), expect=0).err, r"next: isobit reduce \S+ --tokens --store")
        self.assertRegex(self.isobit(*self.with_store("explain", drifted), expect=0).err, r"next: isobit reduce \S+ --store")
        r = self.isobit(*self.with_store("reduce", flipped, "--tokens", "-o", "case.jsonl"), expect=0)
        self.assertIn("tokens part at output position", r.prose)
        self.assertNotIn("--tokens", r.err)
        r = self.isobit(*self.with_store("reduce", flipped, "-o", "case.jsonl"), expect=0)
        if "tokens part" not in r.out:
            self.assertRegex(r.err, r"next: isobit reduce \S+ --tokens -o case.jsonl --store")

    def test_the_other_side_is_called_base_beside_a_base_run_and_reference_beside_a_reference_cell(self):
        self.clean_run()
        sample = self.adaptive_run()
        within = self.isobit(*self.with_store("explain", sample), expect=0).prose
        beside = self.isobit(*self.with_store("explain", sample, "--base", "latest~1"), expect=0).prose
        self.assertRegex(within, r"^reference .* reference 0x")
        self.assertRegex(beside, r"^base .* base 0x")
        self.assertNotIn("reference 0x", beside)

    def test_bisect_explains_the_answer_whose_tokens_part_first_and_says_so(self):
        self.long_run("cpu")
        self.long_run("cpu-adaptive")
        self.isobit(*self.with_store("report", "latest~1", "latest", "-o", self.path("r.csv")), expect=0)
        with open(self.path("r.csv"), encoding="utf-8", newline="") as f:
            flips = {row["request"]: int(row["token_position"]) for row in csv.DictReader(f) if row["token_position"]}
        self.assertTrue(flips, "no answer flipped")
        first = min(flips.values())
        r = self.isobit(*self.with_store("bisect", "latest~1", "latest"), expect=0)
        self.assertRegex(r.prose, rf"answer \S+: its tokens part at position {first};")
        value = self.document("bisection", *self.with_store("bisect", "latest~1", "latest"))
        self.assertEqual((value["answer"]["in"], value["answer"]["position"]), ("tokens", first))
        self.assertIn(value["answer"]["request"] + " --base", r.err)

    def planted_in_cell(self, cell):
        """What an answer of the cell was before another token was planted in it."""
        with sqlite3.connect(self.store) as database:
            key, *recorded = database.execute("SELECT sample_key, tokens, top_ids FROM sample WHERE cell_index = ? AND prompt_index = 3", (cell,)).fetchone()
            plant_token(database, key)
        return recorded

    def test_a_record_that_does_not_come_back_is_told_by_replay_and_explain(self):
        self.clean_run()
        recorded = self.planted_in_cell(1)
        value = self.document("replay", *self.with_store("replay", "latest/1/3", "--n", "4"), expect=1)
        self.assertEqual((value["same_tokens"], value["same_bits"], value["distinct_tokens"]), (0, 0, 1))
        self.assertEqual(value["first_split"], {"position": 2, "in": "tokens"})
        r = self.isobit(*self.with_store("explain", "latest/1/3"), expect=1)
        self.assertIn("does not reproduce", r.prose)
        self.assertIn("isobit replay", r.err)
        r = self.isobit(*self.with_store("reduce", "latest/1/3"), expect=5)
        self.assertIn("was recorded as diverging", r.err)
        self.assertEqual(self.document("bisection", *self.with_store("bisect", "latest/1"), expect=5)["result"], "not_shown")
        self.edit_store("UPDATE sample SET tokens = ?, top_ids = ? WHERE cell_index = 1 AND prompt_index = 3", *recorded)
        self.planted_in_cell(0)
        self.assertEqual(self.document("bisection", *self.with_store("bisect", "latest/1"), expect=1)["result"], "base_moves")

    def test_2_for_samples_that_are_not_there(self):
        self.clean_run()
        for sample, word in (("latest/load.concurency=8/0", "did you mean 'load.concurrency=8'"), ("latest/1/nope", "has no prompt 'nope'"),
                             ("latest/1", "CELL/PROMPT is expected"), ("latest/1/s", "names 8 prompts"), ("latest/1/0#4", "has no sample"),
                             ("nosuch/1/0", "nosuch"), ("latest/0/0", "is itself a reference")):
            self.assertIn(word, self.isobit(*self.with_store("explain", sample), expect=2).err)
            if sample != "latest/0/0":
                self.isobit(*self.with_store("replay", sample), expect=2)
                self.isobit(*self.with_store("reduce", sample), expect=2)
        self.isobit(*self.with_store("bisect", "latest/9"), expect=2)
        self.isobit(*self.with_store("bisect", "latest/1", "latest"), expect=2)
        self.isobit(*self.with_store("explain", "latest/1/0", "--base-model", TINY), expect=2)
        self.isobit(*self.with_store("replay", "latest/1/0", "--n", "0"), expect=2)
        self.isobit(*self.with_store("replay"), expect=2)
        self.assertIn("is itself a reference", self.isobit("explain", self.store + "/0/0", expect=2).err)
        self.assertIn("no difference", self.isobit("explain", self.store + ":latest/1/0", expect=0).out)

    def test_3_for_a_store_or_a_checkpoint_that_is_gone_and_6_for_another(self):
        for command in ("explain", "reduce", "replay"):
            self.assertIn("none.db", self.isobit(command, self.path("none.db") + ":latest/0/0", expect=3).err)
        self.isobit("bisect", "latest", "latest~1", "--store", self.path("none.db"), expect=3)
        copy = self.path("copy")
        shutil.copytree(TINY, copy)
        self.clean_run(model=copy)
        self.isobit(*self.with_store("explain", "latest/1/0"), expect=0)
        with open(os.path.join(copy, "model.safetensors"), "r+b") as f:
            f.seek(-100, os.SEEK_END)
            byte = f.read(1)
            f.seek(-100, os.SEEK_END)
            f.write(bytes([byte[0] ^ 1]))
        for command in ("explain", "reduce", "replay"):
            self.assertIn("model.weights.stored_root", self.isobit(*self.with_store(command, "latest/1/0"), expect=6).err)
        shutil.rmtree(copy)
        for command in ("explain", "reduce", "replay"):
            self.assertIn("does not exist", self.isobit(*self.with_store(command, "latest/1/0"), expect=3).err)
        self.assertIn("no difference", self.isobit(*self.with_store("explain", "latest/1/0", "--model", TINY), expect=0).out)

    def test_a_model_that_is_not_found_is_asked_for_by_the_option_that_names_it(self):
        os.symlink(TINY, self.path("m"))
        for dtype in ("f16", "f32"):
            self.clean_run("--set", f"engine.kv_dtype={dtype}", model="m")
        os.remove(self.path("m"))
        for command in (["explain", "latest/1/0"], ["reduce", "latest/1/0"], ["replay", "latest/1/0"], ["bisect", "latest~1", "latest"]):
            err = self.isobit(*self.with_store(*command), expect=3).err
            self.assertIn("hint: --model PATH names the checkpoint where it is now; the run recorded a path relative to the folder", err)
        err = self.isobit(*self.with_store("explain", "latest/1/0", "--base", "latest~1", "--model", TINY), expect=3).err
        self.assertIn("hint: --base-model PATH", err)

    def test_4_for_answers_of_a_target_that_cannot_be_asked(self):
        sample = self.adaptive_run()
        self.edit_store("UPDATE run SET target = 'llama.cpp b1 at http://localhost:1'")
        value = self.document("explanation", *self.with_store("explain", sample), expect=4)
        self.assertEqual((value["cause"], value["candidate"]["rerun"]), ("not_probed", False))
        self.assertIsNotNone(value["position"])
        self.assertIn("needs the built-in engine", self.isobit(*self.with_store("explain", sample), expect=4).prose)
        for command in ("reduce", "replay"):
            self.assertIn("cannot be asked again", self.isobit(*self.with_store(command, sample), expect=4).err)

    def test_4_for_runs_that_have_no_such_request(self):
        self.clean_run()
        self.run_audit("--prompts", self.write("p.jsonl", '{"id":"own","prompt":"And"}'), "--axis", "load.concurrency=1,8")
        self.assertIn("no counterpart", self.isobit(*self.with_store("explain", "latest/1/own", "--base", "latest~1"), expect=4).err)
        self.assertIn("nothing is comparable", self.isobit(*self.with_store("bisect", "latest~1", "latest"), expect=4).err)

    def test_8_for_a_sample_that_an_unfinished_run_lacks(self):
        self.clean_run()
        self.edit_store("DELETE FROM sample WHERE cell_index = 1 AND prompt_index = 3")
        self.edit_store("UPDATE cell SET complete = 0 WHERE cell_index = 1")
        self.edit_store("UPDATE run SET status = 'running'")
        for command in ("explain", "reduce", "replay"):
            self.assertIn("--resume", self.isobit(*self.with_store(command, "latest/1/3"), expect=8).err)
        self.assertIn("no difference", self.isobit(*self.with_store("explain", "latest/1/2"), expect=0).out)

    def test_130_and_143_when_a_signal_comes(self):
        self.clean_run("--prompts", "standard")
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            process = subprocess.Popen([PROGRAM, *self.with_store("replay", "latest/1/3", "--n", "100000", "-v")], cwd=self.folder,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            for line in process.stderr:  # the first repetition is done
                if re.search(rb"1 of 100000", line):
                    break
            process.send_signal(number)
            err = process.stderr.read()
            process.stderr.close()
            self.assertEqual(process.wait(timeout=120), code, err)
            self.assertIn(b"nothing was changed", err)

    def test_hostile_ids_and_tokens_reach_a_terminal_as_text(self):
        prompts = self.write("p.jsonl", "\n".join(json.dumps({"id": f"\u001b[2J{i}", "prompt": "And the LORD " * (i + 1)}) for i in range(4)))
        self.clean_run("--prompts", prompts)
        for command in (["explain", "latest/1/2"], ["replay", "latest/1/2", "--n", "2"], ["reduce", "latest/1/2"], ["explain", "latest/1/\u001b"]):
            r = self.isobit(*self.with_store(*command))
            self.assertNotIn("\u001b", r.out + r.err, command)


if __name__ == "__main__":
    unittest.main()
