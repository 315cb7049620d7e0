"""Caps, --fail-fast and the estimate of `plan`."""

import os
import sqlite3
import unittest

from program import TINY, ProgramTest
from schemas import check_schema

TWO_CELLS = ("--axis", "load.concurrency=1,4")


class Limits(ProgramTest):
    def stored(self, sql):
        with sqlite3.connect(self.store) as db:
            rows = db.execute(sql).fetchall()
        db.close()
        return rows

    def test_a_cap_ends_a_run_with_8_and_says_why_and_resume_goes_on(self):
        r = self.run_audit(*TWO_CELLS, "--max-requests", "3", "--json", expect=8)
        self.assertEqual((r.json["status"], r.json["stop_reason"]), ("running", "--max-requests 3"))
        self.assertIn("stopped by --max-requests 3", r.err)
        self.assertEqual(self.stored("SELECT stop_reason, status FROM run"), [("--max-requests 3", "running")])
        self.assertEqual(self.stored("SELECT count(*) FROM sample"), [(3,)])
        r = self.isobit("run", "--resume", "--store", self.store, "--max-requests", "5", "--json", expect=8)  # counts anew
        self.assertEqual(self.stored("SELECT count(*) FROM sample"), [(8,)])
        r = self.isobit("run", "--resume", "--store", self.store, "--check", "2", "--json", expect=0)
        self.assertEqual((r.json["status"], r.json["stop_reason"]), ("complete", ""))
        self.assertEqual([c["samples"] for c in r.json["cells"]], [8, 8])

    def test_a_cap_that_the_last_answer_reaches_is_no_stop(self):
        r = self.run_audit(*TWO_CELLS, "--max-requests", "16", "--check", "2", "--json", expect=0)
        self.assertEqual(r.json["status"], "complete")
        n_tokens = self.stored("SELECT sum(n_positions) FROM sample")[0][0]
        self.run_audit(*TWO_CELLS, "--max-total-tokens", n_tokens, expect=0)
        r = self.run_audit(*TWO_CELLS, "--max-total-tokens", n_tokens - 1, expect=None)
        self.assertIn(r.code, (0, 8))  # 0 where the last answer alone crosses it

    def test_tokens_and_seconds_are_caps_too(self):
        r = self.run_audit(*TWO_CELLS, "--max-total-tokens", "20", "--json", expect=8)
        self.assertEqual(r.json["stop_reason"], "--max-total-tokens 20")
        self.assertLess(self.stored("SELECT sum(n_positions) FROM sample")[0][0], 20 + 8)
        r = self.run_audit(*TWO_CELLS, "--max-seconds", "0.000001", "--json", expect=8)
        self.assertEqual(r.json["stop_reason"], "--max-seconds 1e-06")
        self.assertIn("nothing new", r.err)
        self.run_audit("--max-seconds", "3600", expect=0)

    def test_no_cap_is_below_one(self):
        for flag in ("--max-seconds", "--max-requests", "--max-total-tokens"):
            for value in ("0", "-1", "x", "nan", "inf"):
                err = self.run_audit(flag, value, expect=2).err
                self.assertIn(flag, err)
                self.assertLess(len(err), 300)
        self.assertEqual(os.listdir(self.folder), [])

    def test_fail_fast_stops_at_the_first_difference_with_1(self):
        arguments = ("--set", "engine.kernel_set=cpu-adaptive", "--axis", "load.concurrency=1,8,2,3", "--check", "2", "--json")
        whole = self.run_audit(*arguments, expect=None)
        if whole.code == 3 and "OpenBLAS" in whole.err:
            self.skipTest("SKIPPED: built without OpenBLAS")
        self.assertEqual(whole.code, 1)
        r = self.run_audit(*arguments, "--fail-fast", expect=1)
        self.assertEqual(r.json["status"], "running")
        self.assertIn("--fail-fast: ", r.json["stop_reason"])
        self.assertIn("differs from that of cell", r.json["stop_reason"])
        samples = lambda result: sum(c["samples"] for c in result.json["cells"])
        self.assertLess(samples(r), samples(whole))
        self.assertEqual(r.json["verdict"]["outcome"], "fail")
        # Resumed under the same flag it has the difference in the store already.
        self.assertEqual(self.isobit("run", "--resume", "--store", self.store, "--check", "2", "--fail-fast", expect=1).code, 1)

    def test_fail_fast_lets_a_clean_run_pass(self):
        r = self.run_audit(*TWO_CELLS, "--check", "2", "--fail-fast", "--json", expect=0)
        self.assertEqual(r.json["stop_reason"], "")
        self.assertIn("--check", self.run_audit("--fail-fast", expect=2).err)

    def test_plan_measures_what_it_estimates_with(self):
        arguments = ("plan", TINY, "--axis", "load.concurrency=1,8", "--json")
        plan = self.isobit(*arguments, expect=0).json
        check_schema(plan, "plan.schema.json")
        seconds = plan["totals"]["estimated_seconds"]
        self.assertTrue(0 < seconds["least"] <= seconds["likely"] <= seconds["most"])
        measured = plan["totals"]["basis"]["measured"]
        self.assertEqual([m["concurrency"] for m in measured], [1, 8])
        self.assertAlmostEqual(sum(c["estimate"]["seconds"] for c in plan["cells"]), seconds["likely"])
        text = self.isobit(*arguments[:-1], expect=0).out
        for word in ("measured on", "rounds", "prefill", "decode", "8 together"):
            self.assertIn(word, text)

    def test_plan_without_measuring_says_so(self):
        plan = self.isobit("plan", TINY, "--no-measure", "--json", expect=0).json
        check_schema(plan, "plan.schema.json")
        self.assertIsNone(plan["totals"]["estimated_seconds"])
        self.assertIsNone(plan["totals"]["basis"])
        self.assertIn("not measured", self.isobit("plan", TINY, "--no-measure", expect=0).out)


class Prune(ProgramTest):
    def prune(self, *arguments, expect=0):
        return self.isobit("store", "prune", *arguments, "--store", self.store, expect=expect)

    def ids(self):
        return [r["id"] for r in self.isobit("store", "list", "--store", self.store, "--json", expect=0).json["runs"]]

    def three_runs(self):
        for _ in range(3):
            self.run_audit()
        return self.ids()

    def test_the_latest_stay_and_a_dry_run_changes_nothing(self):
        first, second, third = self.three_runs()
        before = self.read("s.db")
        r = self.prune("--keep", "1", "--dry-run", "--json").json
        check_schema(r, "store_prune.schema.json")
        self.assertEqual((r["runs"], r["samples"], r["dry_run"]), ([first, second], 16, True))
        self.assertIn("nothing was changed", self.prune("--keep", "1", "--dry-run").out)
        self.assertEqual(self.read("s.db"), before)
        r = self.prune("--keep", "1", "--json").json
        check_schema(r, "store_prune.schema.json")
        self.assertEqual(self.ids(), [third])
        self.assertLess(r["bytes_after"], r["bytes_before"])
        self.assertEqual(r["bytes_after"], os.path.getsize(self.store))
        self.assertIn("sound", self.isobit("store", "check", "--store", self.store, expect=0).out)
        self.assertIn("0 runs to remove", self.prune("--keep", "1").out)
        self.assertIn("bytes freed", self.prune("--keep", "0").out)
        self.assertEqual(self.ids(), [])

    def test_a_baselines_run_stays_unless_told(self):
        first, second, third = self.three_runs()
        self.isobit("baseline", "set", "prod", first, "--store", self.store, expect=0)
        r = self.prune("--keep", "1", "--json").json
        self.assertEqual((r["runs"], [k["run"] for k in r["kept"]]), ([second], [first]))
        self.assertEqual(self.ids(), [first, third])
        self.assertIn("prod version 1", self.prune("--runs", first, expect=2).err)
        self.assertIn("kept run", self.prune("--keep", "1").out)
        r = self.prune("--runs", "@prod", "--with-baselines", "--json").json
        self.assertEqual(r["baseline_versions"], 1)
        self.assertEqual(self.ids(), [third])

    def test_by_date_and_by_name(self):
        first, second, third = self.three_runs()
        with sqlite3.connect(self.store) as db:
            db.execute("UPDATE run SET created = '2026-01-31T23:59:59Z' WHERE id = ?", (first,))
            db.execute("UPDATE run SET created = '2026-02-01T00:00:00Z' WHERE id = ?", (second,))
        db.close()
        self.assertEqual(self.prune("--before", "2026-02-01", "--dry-run", "--json").json["runs"], [first])
        self.assertEqual(self.prune("--before", "2026-02-01T00:00:01Z", "--dry-run", "--json").json["runs"], [first, second])
        for bad in ("2026-13-01", "2026-1-1", "yesterday", "2026-02-01T25:00:00Z", "2026-02-01 00:00:00", "2026-02-30"):
            self.assertIn("no date", self.prune("--before", bad, expect=2).err)
        self.prune("--runs", f"{first[:8]},latest")
        self.assertEqual(self.ids(), [second])
        self.assertIn("did you mean", self.prune("--runs", second[:-1] + "x", expect=2).err)

    def test_what_is_not_asked_does_not_go(self):
        self.assertIn("does not exist", self.prune("--keep", "1", expect=3).err)
        self.assertEqual(os.listdir(self.folder), [])
        self.run_audit()
        self.assertIn("--keep", self.prune(expect=2).err)
        self.prune("--keep", "1", "--before", "2026-01-01", expect=2)
        self.prune("--keep", "-1", expect=2)
        self.assertEqual(len(self.ids()), 1)


if __name__ == "__main__":
    unittest.main()
