"""Baselines: names, history, files, and a model that is held to them."""

import hashlib
import json
import os
import re
import shutil
import sqlite3
import unittest

from program import TINY, plant_token, ProgramTest
from schemas import check_schema


class BaselineTest(ProgramTest):
    def baseline(self, *arguments, expect=0):
        return self.isobit("baseline", *arguments, "--store", self.store, expect=expect)

    def baseline_json(self, definition, *arguments, expect=0):
        value = self.baseline(*arguments, "--json", expect=expect).json
        check_schema(value, "baselines.schema.json", definition)
        return value

    def other_model(self):
        other = self.path("other")
        shutil.copytree(TINY, other)
        with open(os.path.join(other, "model.safetensors"), "r+b") as f:
            f.seek(-100, os.SEEK_END)
            byte = f.read(1)
            f.seek(-100, os.SEEK_END)
            f.write(bytes([byte[0] ^ 1]))
        return other


class Baselines(BaselineTest):
    def test_a_promoted_run_is_in_force_and_the_history_stays(self):
        self.run_audit()
        self.run_audit()
        first = self.baseline_json("set", "set", "prod", "latest~1", "--note", "the first")
        second = self.baseline_json("set", "promote", "prod", "latest", "--policy", "level-2")
        self.assertEqual([first["version"], second["version"]], [1, 2])
        self.assertIsNone(first["policy"])
        self.assertIsNotNone(second["policy"])
        listed = self.baseline_json("list", "list")["baselines"]
        self.assertEqual([(b["version"], b["in_force"]) for b in listed], [(1, False), (2, True)])
        shown = self.baseline_json("show", "show", "prod")
        self.assertEqual(shown["run"]["id"], second["run"])
        self.assertEqual([b["note"] for b in shown["history"]], ["", "the first"])
        text = self.baseline("show", "prod").out
        for word in ("version 1", "the first", "weights.stored_root", "policy"):
            self.assertIn(word, text)
        self.assertIn("in force", self.baseline("list").out)
        third = self.baseline_json("set", "promote", "prod", "latest~1")
        self.assertEqual(third["policy"], second["policy"], "a policy goes on until another is given")

    def test_a_baseline_is_a_run_wherever_a_run_is_asked_for(self):
        self.run_audit("--axis", "load.concurrency=1,8")
        self.run_audit("--axis", "load.concurrency=1,8")
        self.baseline("set", "prod", "latest~1")
        self.isobit("gate", "@prod", "latest", "--store", self.store, "--level", "2", expect=0)
        self.isobit("compare", f"{self.store}:@prod", f"{self.store}:latest", "--exit-code", expect=0)
        self.assertIn("@prod", self.isobit("gate", "@prod", "latest", "--store", self.store, expect=0).err)
        self.isobit("report", "@prod", "latest", "--store", self.store, "-o", "r.md", expect=0)
        self.baseline("promote", "prod", "latest")
        self.isobit("gate", "@prod~1", "@prod", "--store", self.store, expect=0)
        self.assertIn("did you mean 'prod'", self.isobit("gate", "@prdo", "latest", "--store", self.store, expect=2).err)

    def test_a_gate_follows_the_policy_of_its_baseline(self):
        self.run_audit()
        r = self.run_audit("--set", "engine.kernel_set=cpu-adaptive", expect=None)
        if r.code == 3:
            self.skipTest("SKIPPED: built without OpenBLAS")
        self.baseline("set", "prod", "latest~1", "--policy", "level-2")
        self.baseline("export", "prod", "-o", "prod.json")
        for base, where in (("@prod", "baseline prod version 1"), (f"{self.store}:@prod", "baseline prod version 1"), ("prod.json", "prod.json")):
            r = self.isobit("gate", base, "latest", "--store", self.store, expect=1)
            self.assertIn("at level 2", r.out)
            self.assertIn("gating by the policy ", r.err)
            self.assertIn(where, r.err)
        self.assertIn("at level 1", self.isobit("gate", "@prod", "latest", "--store", self.store, "--level", "1", expect=None).out)
        self.assertIn("at level 1", self.isobit("gate", "latest~1", "latest", "--store", self.store, expect=None).out)

    def test_what_cannot_be_a_baseline_is_refused_with_the_reason(self):
        self.run_audit()
        self.assertIn("has no run 'latset'", self.baseline("set", "prod", "latset", expect=2).err)
        self.baseline("set", "prod", "latest")
        self.assertIn("promote", self.baseline("set", "prod", "latest", expect=2).err)
        self.assertIn("did you mean 'prod'", self.baseline("promote", "prood", "latest", expect=2).err)
        self.assertIn("did you mean 'prod'", self.baseline("show", "prdo", expect=2).err)
        self.assertIn("did you mean 'prod'", self.baseline("verify", "prdo", expect=2).err)
        self.assertIn("0-9A-Za-z", self.baseline("set", "a/b", "latest", expect=2).err)
        self.assertIn("--store", self.baseline("set", "x", "other.db:latest", expect=2).err)
        self.assertIn("does not exist", self.isobit("baseline", "list", "--store", "none.db", expect=3).err)
        self.isobit("baseline", "set", "x", "latest", "--policy", "no-such.json", "--store", self.store, expect=None)
        self.assertEqual(len(self.baseline("list", "--json").json["baselines"]), 1)
        self.run_audit("--max-requests", "1", expect=8)
        self.assertIn("--resume", self.baseline("set", "half", "latest", expect=8).err)

    def test_rm_takes_one_version_or_says_that_there_are_more(self):
        self.run_audit()
        self.baseline("set", "prod", "latest")
        self.baseline("promote", "prod", "latest")
        self.assertIn("2 versions", self.baseline("rm", "prod", expect=2).err)
        self.assertIn("no version 7", self.baseline("rm", "prod", "--version", "7", expect=2).err)
        gone = self.baseline_json("rm", "rm", "prod", "--version", "2")
        self.assertEqual((gone["removed_versions"], gone["in_force"]), (1, 1))
        self.assertIn("its runs stay", self.baseline("rm", "prod").out)
        self.assertEqual(self.baseline("list", "--json").json["baselines"], [])
        self.assertEqual(len(self.isobit("store", "list", "--store", self.store, "--json", expect=0).json["runs"]), 1)

    def test_verify_asks_again_records_and_gates(self):
        self.run_audit("--axis", "load.concurrency=1,8", "--label", "blue")
        self.baseline("set", "prod", "latest", "--policy", "level-2")
        value = self.baseline_json("verify", "verify", "prod", TINY)
        self.assertEqual(value["verdict"]["outcome"], "pass")
        self.assertEqual(value["verdict"]["level"], 2)
        self.assertNotEqual(value["run"], value["base_run"])
        self.assertIn("recorded now", " ".join(self.baseline("verify", "prod").out.split()))  # the model is where it was
        runs = self.isobit("store", "list", "--store", self.store, "--json", expect=0).json["runs"]
        self.assertEqual(len(runs), 3)
        self.assertEqual({r["cells"] for r in runs}, {2})
        self.assertEqual({r["prompts"] for r in runs}, {8})

    def test_verify_finds_a_planted_answer(self):
        self.run_audit()
        self.baseline("set", "prod", "latest")
        with sqlite3.connect(self.store) as db:
            for (key,) in db.execute("SELECT sample_key FROM sample WHERE prompt_index = 3").fetchall():
                plant_token(db, key)
        db.close()
        value = self.baseline_json("verify", "verify", "prod", TINY, expect=1)
        self.assertEqual(value["verdict"]["outcome"], "fail")

    def test_verify_on_another_model_is_6_before_anything_is_computed(self):
        self.run_audit()
        self.baseline("set", "prod", "latest")
        other = self.other_model()
        value = self.baseline_json("verify", "verify", "prod", other, expect=6)
        self.assertIsNone(value["run"])
        r = self.baseline("verify", "prod", other, expect=6)
        self.assertIn("weights", r.out)
        self.assertIn("nothing was computed", " ".join(r.out.split()))
        self.assertEqual(len(self.isobit("store", "list", "--store", self.store, "--json", expect=0).json["runs"]), 1)

    def test_a_verify_that_a_cap_ends_is_incomplete(self):
        self.run_audit("--axis", "load.concurrency=1,8")
        self.baseline("set", "prod", "latest")
        self.baseline("verify", "prod", TINY, "--max-requests", "3", expect=8)
        self.isobit("run", "--resume", "--store", self.store, expect=0)
        self.isobit("gate", "@prod", "latest", "--store", self.store, expect=0)


class BaselineFiles(BaselineTest):
    def exported(self):
        self.run_audit("--axis", "load.concurrency=1,8")
        self.baseline("set", "prod", "latest", "--note", "caf\u00e9")
        value = self.baseline_json("export", "export", "prod", "-o", "b.json")
        self.assertEqual(value["bytes"], len(self.read("b.json")))
        return self.path("b.json")

    def test_a_file_holds_the_whole_baseline_and_the_same_content_the_same_bytes(self):
        file = self.exported()
        first = self.read("b.json")
        check_schema(json.loads(first), "baseline.schema.json")
        self.baseline("export", "prod", "-o", "again.json")
        self.assertEqual(self.read("again.json"), first)
        new = self.path("new.db")
        value = self.isobit("baseline", "import", file, "--store", new, "--json", expect=0).json
        check_schema(value, "baselines.schema.json", "import")
        self.isobit("baseline", "export", "prod", "-o", "third.json", "--store", new, expect=0)
        self.assertEqual(self.read("third.json"), first)
        self.assertIn("sound", self.isobit("store", "check", "--store", new, expect=0).out)
        again = self.isobit("baseline", "import", file, "--store", new, "--json", expect=0).json
        self.assertTrue(again["run_was_there"] and again["baseline_was_there"])
        self.isobit("baseline", "import", file, "--name", "other", "--store", new, expect=0)
        self.assertEqual(len(self.isobit("baseline", "list", "--store", new, "--json", expect=0).json["baselines"]), 2)

    def test_the_file_is_a_run_to_gate_against(self):
        file = self.exported()
        self.run_audit("--axis", "load.concurrency=1,8")
        self.isobit("gate", file, "latest", "--store", self.store, "--level", "2", expect=0)
        self.isobit("compare", file, f"{self.store}:latest", "--exit-code", expect=0)
        self.isobit("gate", file, file, expect=0)  # no store at all
        self.assertNotIn("isobit.db", os.listdir(self.folder))

    def test_a_damaged_file_is_3_wherever_it_is_read(self):
        file = self.exported()
        text = self.read("b.json").decode()
        token = re.search(r'"tokens":\[(\d+)', text)
        damaged = self.write("damaged.json", text[:token.start(1)] + "7777" + text[token.end(1):])
        for arguments in (["gate", damaged, file], ["baseline", "import", damaged], ["report", damaged]):
            r = self.isobit(*arguments, "--store", self.path("new.db"), expect=3)
            self.assertIn('the checksum of "samples"', r.err)
        cut = self.write("cut.json", text[: len(text) // 2])
        self.assertIn("not valid JSON", self.isobit("gate", cut, file, expect=3).err)
        item = re.search(r'"name":"weights.stored_root","reason":"","source":"measured","value":"([0-9a-f]+)"', text)
        changed = text[:item.start(1)] + "0" * 64 + text[item.end(1):]
        part = json.dumps(json.loads(changed)["fingerprint"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        content, sums = changed.rsplit('"checksums"', 1)
        sums = re.sub(r'"fingerprint": "[0-9a-f]{64}"', f'"fingerprint": "{hashlib.sha256(part.encode()).hexdigest()}"', sums)
        changed = content + '"checksums"' + sums
        self.assertIn("the rows give", self.isobit("gate", self.write("forged.json", changed), file, expect=3).err)
        self.assertNotIn("new.db", os.listdir(self.folder))

    def test_an_import_that_was_cut_short_goes_on(self):
        file = self.exported()
        new = self.path("new.db")
        self.isobit("baseline", "import", file, "--store", new, expect=0)
        with sqlite3.connect(new) as db:
            db.execute("DELETE FROM baseline")
            db.execute("DELETE FROM sample WHERE prompt_index > 2")
            db.execute("UPDATE cell SET complete = 0, exercised = 0")
            db.execute("UPDATE run SET status = 'running'")
        db.close()
        self.isobit("baseline", "import", file, "--store", new, expect=0)
        self.isobit("baseline", "export", "prod", "-o", "again.json", "--store", new, expect=0)
        self.assertEqual(self.read("again.json"), self.read("b.json"))

    def test_another_run_under_the_same_id_is_refused(self):
        file = self.exported()
        with sqlite3.connect(self.store) as db:
            db.execute("UPDATE sample SET text = 'changed' WHERE prompt_index = 1")
        db.close()
        self.assertIn("another run", self.baseline("import", file, expect=2).err)

    def test_an_output_that_cannot_be_written_leaves_nothing(self):
        self.exported()
        self.baseline("export", "prod", "-o", "no/such/folder/b.json", expect=3)
        self.assertIn("-o", self.baseline("export", "prod", expect=2).err)


if __name__ == "__main__":
    unittest.main()
