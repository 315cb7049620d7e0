"""`gate --upgrade OLD.json NEW.json`: two configurations, one answer in plain words."""

import json
import os
import sqlite3
import unittest

from program import SOURCE, TINY, ProgramTest
from schemas import check_schema

BEFORE, AFTER = (os.path.join(SOURCE, "examples", "configurations", name) for name in ("before.json", "after.json"))


class Upgrade(ProgramTest):
    def configuration(self, name, **settings):
        return self.write(name, json.dumps(settings))

    def upgrade(self, old, new, *arguments, expect=0, model=TINY):
        return self.isobit("gate", "--upgrade", old, new, "--model", model, "--store", self.store, "--max-tokens", "24", *arguments, expect=expect)

    def upgrade_json(self, *arguments, expect=0):
        value = self.upgrade(*arguments, "--json", expect=expect).json
        check_schema(value, "upgrade.schema.json")
        return value

    def test_the_same_bits_and_what_changed_without_effect(self):
        old, new = self.configuration("old.json", threads=1, isa="portable"), self.configuration("new.json", threads=2, isa="best")
        value = self.upgrade_json(old, new, "--level", "2", "--axis", "load.concurrency=1,4")
        self.assertEqual((value["answers"], value["pairs"], value["same_bits"]), ("same_bits", 16, 16))
        self.assertEqual(value["flips"], [])
        self.assertIn("engine.threads: 1 -> 2", value["setting_changes"])
        self.assertEqual((value["old"]["reused"], value["new"]["reused"]), (False, False))
        r = self.upgrade(old, new, "--level", "2", "--axis", "load.concurrency=1,4")
        self.assertIn("same bits: all 16 answers", r.out)
        self.assertEqual(r.out.count("reused: the same fingerprint, plan and prompts"), 2)
        self.assertIn("without effect on the answers", r.out)
        again = self.upgrade_json(old, new, "--axis", "load.concurrency=1,4", "--record-again")
        self.assertEqual((again["old"]["reused"], again["new"]["reused"]), (False, False))

    def flipping_arms(self):
        """Configurations and prompts that flip some answers, on one thread: threads that wait for each other crawl on a busy machine."""
        words = "In the beginning God created the heaven and the earth and the LORD said unto Moses speak unto the children of Israel".split()
        prompts = self.write("p.jsonl", "\n".join(json.dumps({"id": f"p{i}", "prompt": " ".join(words[i:] + words[:i])}) for i in range(20)))
        arms = [self.configuration(name, kernel_set=kernel_set, threads=1, environment={"image": image})
                for name, kernel_set, image in (("old.json", "cpu", "inference:1.4.0"), ("new.json", "cpu-adaptive", "inference:1.5.0"))]
        return (*arms, "--prompts", prompts, "--axis", "load.concurrency=1,8")

    def test_2_for_a_policy_which_an_upgrade_does_not_ask_by(self):
        self.assertIn("--policy", self.isobit("gate", "--upgrade", BEFORE, AFTER, "--model", TINY, "--policy", "level-1", expect=2).err)

    def test_one_cell_says_nothing_about_load_and_that_is_told(self):
        old, new = self.configuration("old.json", threads=1), self.configuration("new.json", threads=1)
        said = "nothing is said about load"
        self.assertIn(said, self.upgrade(old, new).err)
        self.assertNotIn(said, self.upgrade(old, new, "--axis", "load.concurrency=1,4").err)

    def test_the_example_configurations_are_read(self):
        for path in (BEFORE, AFTER):
            self.assertIn("--model", self.isobit("gate", "--upgrade", path, path, "--store", self.store, expect=2).err)

    def test_flips_are_shown_with_both_tokens_and_what_may_have_done_it(self):
        arguments = self.flipping_arms()
        r = self.upgrade(*arguments, "--json", expect=None)
        if r.code == 3 and "OpenBLAS" in r.err:
            self.skipTest("SKIPPED: built without OpenBLAS")
        self.assertEqual(r.code, 1, r.err)
        value = r.json
        check_schema(value, "upgrade.schema.json")
        self.assertEqual(value["answers"], "flipped")
        self.assertGreater(len(value["flips"]), 0)
        for flip in value["flips"]:
            self.assertNotEqual(flip["old_token"], flip["new_token"])
        self.assertTrue(any(flip["old_text"] and flip["new_text"] for flip in value["flips"]))
        changed = {(c["class"], c["name"]): c for c in value["fingerprint_changes"]}
        self.assertEqual(changed["numerics", "kernel_set"]["role"], "arithmetic")
        self.assertEqual((changed["environment", "declared.image"]["old"], changed["environment", "declared.image"]["new"]), ("inference:1.4.0", "inference:1.5.0"))
        self.assertEqual([c["role"] for c in value["fingerprint_changes"]], sorted((c["role"] for c in value["fingerprint_changes"]), key=["identity", "arithmetic", "advisory"].index))
        text = self.upgrade(*arguments, expect=1).out
        for word in ("became", "margin", "position", "numerics.kernel_set: cpu -> cpu-adaptive", "may have done it", "FAIL"):
            self.assertIn(word, text)
        self.assertNotIn("engine.kernel_set: cpu -> cpu-adaptive", text.split("may have done it")[1].split("FAIL")[0], "told once, as the fingerprint's item")

    def test_two_times_the_same_configuration_is_two_runs(self):
        old = self.configuration("old.json")
        value = self.upgrade_json(old, old, "--level", "2")
        self.assertEqual(value["answers"], "same_bits")
        self.assertNotEqual(value["old"]["run"], value["new"]["run"])
        self.assertIn("nothing that is recorded differs", self.upgrade(old, old).out)

    def test_what_is_no_configuration_is_2_and_what_cannot_be_run_4(self):
        good = self.configuration("good.json")
        self.assertIn("did you mean 'kernel_set'", self.upgrade(good, self.configuration("bad.json", kernel_sets="cpu"), expect=2).err)
        self.assertIn("cpuu", self.upgrade(good, self.configuration("bad.json", kernel_set="cpuu"), expect=2).err)
        self.assertIn("line 1", self.upgrade(good, self.write("bad.json", '{"label": }'), expect=2).err)
        self.assertIn("contract version 2", self.upgrade(good, self.configuration("bad.json", contract="2"), expect=4).err)
        self.assertIn("servers", self.upgrade(good, self.configuration("bad.json", server={"url": "x"}), expect=4).err)
        self.assertIn("toolkit", self.upgrade(good, self.configuration("bad.json", kernel_set="cuda"), expect=3).err)
        self.assertIn("cannot open", self.upgrade(good, "none.json", expect=3).err)
        self.assertIn("--model", self.isobit("gate", "--upgrade", good, good, "--store", self.store, expect=2).err)
        self.assertIn("--upgrade", self.isobit("gate", good, good, "--model", TINY, "--store", self.store, expect=2).err)

    def test_an_upgrade_that_was_interrupted_is_resumed_with_what_it_declared(self):
        self.upgrade(BEFORE, BEFORE)
        with sqlite3.connect(self.store) as db:
            db.execute("DELETE FROM sample WHERE run_key = 2 AND prompt_index > 3")
            db.execute("UPDATE cell SET complete = 0 WHERE run_key = 2")
            db.execute("UPDATE run SET status = 'running' WHERE run_key = 2")
        db.close()
        self.isobit("run", "--resume", "--store", self.store, expect=0)
        self.isobit("gate", "latest~1", "latest", "--level", "2", "--store", self.store, expect=0)


if __name__ == "__main__":
    unittest.main()
