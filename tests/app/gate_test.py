"""Policies and gates as a CI job meets them: every outcome with its exit code and message."""

import fcntl
import json
import os
import sqlite3
import unittest

from program import SOURCE, TINY, plant_token, ProgramTest

AXIS = ("--axis", "load.concurrency=1,8")


def schema_errors(value, schema, root, at="$"):
    """The part of JSON Schema that policy and verdict use; a keyword that is not known here is an error."""
    if "$ref" in schema:
        name = schema["$ref"]
        if not name.startswith("#"):
            return schema_errors(value, load_schema(name), load_schema(name), at)
        yield from schema_errors(value, root["$defs"][name.rsplit("/", 1)[1]], root, at)
    kinds = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "integer": int, "number": (int, float)}
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(isinstance(value, kinds[t]) and (t == "boolean" or not isinstance(value, bool)) for t in types):
        yield f"{at}: {value!r} is no {types}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{at}: {value!r}"
    if "const" in schema and value != schema["const"]:
        yield f"{at}: {value!r}"
    if "anyOf" in schema and all(list(schema_errors(value, s, root, at) or ()) for s in schema["anyOf"]):
        yield f"{at}: fits nothing"
    if isinstance(value, dict):
        for key in schema.get("required", ()):
            if key not in value:
                yield f"{at} lacks {key}"
        for key, member in value.items():
            if key in schema.get("properties", {}):
                yield from schema_errors(member, schema["properties"][key], root, f"{at}.{key}") or ()
            elif schema.get("additionalProperties") is False:
                yield f"{at}: unexpected {key}"
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            yield from schema_errors(item, schema["items"], root, f"{at}[{i}]") or ()
    return None


def load_schema(name):
    with open(os.path.join(SOURCE, "schemas", name), encoding="utf-8") as f:
        return json.load(f)


class Gate(ProgramTest):
    def policy(self, text, name="p.json"):
        return self.write(name, text)

    def gate(self, *arguments, expect, base="latest~1", candidate="latest", now="2026-06-15"):
        return self.isobit("gate", base, candidate, "--store", self.store, "--now", now, *arguments, expect=expect)

    def two_runs(self):
        for _ in range(2):
            self.run_audit(*AXIS)

    def change(self, sql, *values):
        with sqlite3.connect(self.store) as database:
            database.execute(sql, values)

    def flip_a_token(self):
        """In the first answer of the latest run's second cell."""
        with sqlite3.connect(self.store) as database:
            key, = database.execute("SELECT sample_key FROM sample WHERE cell_index = 1 ORDER BY run_key DESC, prompt_index LIMIT 1").fetchone()
            plant_token(database, key)

    def test_ready_policies_are_listed_shown_and_checked(self):
        names = [p["name"] for p in self.isobit("policy", "list", "--json", expect=0).json["policies"]]
        self.assertEqual(names, ["level-0", "level-1", "level-2", "two-tiers"])
        for name in names:
            with open(os.path.join(SOURCE, "examples", "policies", name + ".json"), encoding="utf-8") as f:
                text = f.read()
            self.assertEqual(self.isobit("policy", "show", name, expect=0).out, text)
            self.isobit("policy", "check", name, expect=0)
            self.isobit("policy", "check", self.policy(text), expect=0)
            normal = self.isobit("policy", "show", name, "--json", expect=0).json
            self.assertEqual(list(schema_errors(normal, load_schema("policy.schema.json"), load_schema("policy.schema.json"))), [])
        self.assertIn("did you mean 'level-1'", self.isobit("policy", "show", "levl-1", expect=2).err)
        self.assertIn("same-tokens-loaded", self.isobit("policy", "check", "level-1", expect=0).out)
        metrics = self.isobit("policy", "metrics", "--json", expect=0).json["metrics"]
        self.assertIn("token_mismatch_rate", [m["metric"] for m in metrics])
        for command in (["list"], ["metrics"], ["check", "two-tiers"]):
            self.assertTrue(all(len(line) <= 110 for line in self.isobit("policy", *command, expect=0).out.splitlines()))

    def test_the_ready_policies_gate_two_clean_runs(self):
        self.two_runs()
        for arguments in (["--level", "0"], ["--level", "1"], ["--level", "2"], ["--policy", "level-2"], []):
            self.gate(*arguments, expect=0)
        out = self.gate("--policy", "level-2", expect=0).out
        self.assertTrue(out.startswith("PASS at level 2: "))
        self.assertIn("at most 31.2 % of such prompts differ", out)
        self.assertIn("same-bits", out)
        self.assertTrue(all(len(line) <= 80 for line in out.split("\n", 1)[1].splitlines()), out)
        verdict = self.gate("--policy", "two-tiers", "--json", expect=0).json
        self.assertEqual([t["tier"] for t in verdict["tiers"]], ["deterministic", "best effort"])
        self.assertEqual(list(schema_errors(verdict, load_schema("verdict.schema.json"), load_schema("verdict.schema.json"))), [])

    def test_level_and_policy_together_are_refused(self):
        self.assertIn("--policy and --level", self.isobit("gate", "a", "b", "--policy", "level-1", "--level", "1", expect=2).err)
        self.assertIn("level 3", self.isobit("gate", "a", "b", "--level", "3", expect=2).err)

    def test_1_where_a_token_differs_with_the_sample_named(self):
        self.two_runs()
        self.flip_a_token()
        r = self.gate("--json", expect=1)
        rule = [x for x in r.json["rules"] if x["rule"] == "same-tokens"][0]
        unit = [u for u in rule["units"] if u["outcome"] == "fail"][0]
        self.assertEqual((unit["unit"], unit["figure"]["deciding"][0]["position"], unit["figure"]["n_deciding"]), ("load.concurrency=8", 2, 1))
        self.assertEqual(unit["figure"]["counted"], "1 of 8 prompts differ")
        self.assertIn("1 of 8 answers differ from the base run", self.gate(expect=1).out)

    def test_a_rule_or_a_metric_is_explained(self):
        self.assertIn("another token", self.isobit("explain", "token_flips", expect=0).out)
        told = self.isobit("explain", "same-tokens-loaded", "--json", expect=0).json
        self.assertEqual((told["rule"], told["metric"]), ("same-tokens-loaded", "token_mismatch_rate"))
        self.assertIn("built in", self.isobit("explain", "suspicious-flips", expect=0).out)

    def test_2_for_slips_in_a_policy_with_file_line_and_nearest_word(self):
        for text, words in (
            ('{"name": "p",\n "level": 1,\n "rulse": []}', ("p.json, line 3, column 2", "did you mean 'rules'")),
            ('{"name": "p", "level": 1, "rules": [\n  {"metric": "token_mismach_rate", "max": 0}]}', ("line 2, column 14", "did you mean 'token_mismatch_rate'")),
            ('{"name": "p", "level": 1, "rules": [\n  {"metric": "token_flips", "max": "0"}]}', ("line 2, column 36", "expected a number, found a string")),
            ('{"name": "p", "level": 4}', ("line 1, column 24", "the level is 0")),
            ('{"name": "p" "level": 1}', ("line 1",)),
            ('{"level": 1}', ('needs "name"',)),
            ('{"name": "p", "level": 1, "must_match": ["numerics.*"]}', ("is a pattern; must_match takes whole names",)),
            ('{"name": "p", "level": 1, "rules": [{"metric": "token_match_rate", "min": 1.5}]}', ("a share is a number from 0 to 1",)),
            ('{"name": "p", "level": 1, "rules": [\n  {"metric": "token_flips", "max": 1e999}]}', ("line 2, column", "p.json: not valid JSON at", "number overflow")),
            ('{"name": "' + "p" * 2001 + '", "level": 1}', ("line 1, column 10", "the string has 2001 bytes, at most 2000 are allowed")),
        ):
            for command in (["policy", "check"], ["gate", "no-such-run", "either", "--policy"]):
                err = self.isobit(*command, self.policy(text), expect=2).err
                self.assertNotIn("json.exception", err)
                for word in words:
                    self.assertIn(word, err)
        self.assertIn("did you mean 'level-1'", self.isobit("gate", "a", "b", "--policy", "level1", expect=2).err)
        self.isobit("gate", "a", "b", "--policy", "./nowhere.json", expect=3)

    def test_2_for_an_expired_override_naming_it(self):
        text = ('{"name": "p", "level": 1, "overrides": [\n'
                '  {"cell": "load.concurrency=8", "reason": "driver bug 17", "expires": "2026-06-15"}]}')
        self.two_runs()
        self.flip_a_token()
        out = self.gate("--policy", self.policy(text), expect=0).out
        self.assertIn("let through until 2026-06-15: driver bug 17", " ".join(out.split()))
        late = self.gate("--policy", self.policy(text), now="2026-06-16", expect=2).err
        self.assertIn('line 2, column 3: the override "driver bug 17" expired on 2026-06-15 (today is 2026-06-16)', late)
        self.assertIn("driver bug 17", self.isobit("policy", "check", self.path("p.json"), "--now", "2026-06-16", expect=2).err)
        for bad in ("yesterday", "2026-06-31", "2026-06-15T24:00:00"):
            self.assertIn("--now", self.gate("--policy", self.policy(text), now=bad, expect=2).err)
        self.isobit("gate", "latest~1", "latest", "--store", self.store, "--policy", self.path("p.json"), expect=2)  # today is later still

    def test_4_for_a_metric_that_was_not_recorded(self):
        self.two_runs()
        self.change("UPDATE sample SET ttft_ms = 0, total_ms = 0")
        text = '{"name": "p", "level": 1, "rules": [{"id": "slow", "metric": "latency_p95_ratio", "max": 2}]}'
        self.assertIn("slow: metric latency_p95_ratio cannot be computed", self.gate("--policy", self.policy(text), expect=4).out)

    def test_5_where_too_little_was_compared(self):
        self.two_runs()
        for members, words in (
            ('"coverage": {"min_prompts": 64}', "8 prompts were compared, the policy wants 64 or more"),
            ('"coverage": {"cells": ["load.concurrency=9"]}', "did you mean 'load.concurrency=8'"),
            ('"rules": [{"metric": "token_mismatch_rate", "max": 0.02, "confidence": "bound"}]', "149 prompts without a difference would show it"),
            ('"rules": [{"metric": "token_flips", "max": 0, "where": {"tags": ["gone"]}, "scope": "prompt"}]', "nothing in scope prompt for tag gone"),
        ):
            self.assertIn(words, self.gate("--policy", self.policy('{"name": "p", "level": 1, ' + members + "}"), expect=5).out)

    def test_3_for_a_store_whose_rows_do_not_bear_out_what_it_says(self):
        self.two_runs()
        latest = " WHERE run_key = (SELECT max(run_key) FROM run)"
        for sql, words in (
            ("UPDATE fingerprint_item SET value = 'other'" + latest + " AND name = 'weights.stored_root'", "the fingerprint's id is recorded as"),
            ("UPDATE run SET fingerprint_id = 'f00'" + latest, "the fingerprint's id is recorded as f00, but the rows give"),
            ("UPDATE request SET temperature = 1" + latest + " AND prompt_index = 3", "the digest of its prompts is recorded as"),
            ("DELETE FROM request" + latest + " AND prompt_index = 7", None),
            ("UPDATE cell SET name = 'load.concurrency=32'" + latest + " AND cell_index = 1", "cell 1 ('load.concurrency=32') has not the name"),
            ("UPDATE cell_value SET value = '32'" + latest + " AND cell_index = 1 AND axis = 'load.concurrency'", "cell 1"),
            ("UPDATE cell SET reference_index = 1" + latest + " AND cell_index = 1", "cell 1"),
            ("UPDATE run SET plan_json = '{}'" + latest, "its plan lists no cells"),
        ):
            with self.subTest(sql=sql):
                kept = self.read("s.db")
                self.change(sql)
                err = self.gate(expect=3).err
                found = self.isobit("store", "check", "--store", self.store, expect=3).out
                if words:
                    self.assertIn(words, err)
                    self.assertIn(words, found)
                    self.assertIn("\n1 problem\n", found)
                self.write("s.db", kept)
        self.gate(expect=0)
        self.isobit("store", "check", "--store", self.store, expect=0)

    def declared_runs(self, *images):
        arms = [self.write(f"{i}.json", json.dumps({"kernel_set": "cpu", "threads": 1, "environment": {"image": image}})) for i, image in enumerate(images)]
        self.isobit("gate", "--upgrade", *arms, "--model", TINY, "--prompts", "smoke", "--max-tokens", "4", "--store", self.store, expect=0)

    def test_control_characters_of_a_value_are_escaped_once(self):
        self.declared_runs("a\tb\\1", "a\tb\\2")
        self.assertIn("a\\tb\\\\1 -> a\\tb\\\\2", self.gate(expect=0).out)

    def test_what_was_declared_stays_declared_when_a_baseline_is_verified(self):
        self.declared_runs("inference:1", "inference:1")
        self.isobit("baseline", "set", "prod", "latest", "--policy", "level-2", "--store", self.store, expect=0)
        verdict = self.isobit("baseline", "verify", "prod", "--threads", "1", "--store", self.store, "--json", expect=0).json["verdict"]
        self.assertEqual(verdict["changes"], [])

    def test_5_for_an_item_that_must_match_and_that_no_run_has(self):
        self.two_runs()
        text = '{"name": "p", "level": 1, "must_match": ["model.wieghts.stored_root"]}'
        self.assertIn("did you mean 'model.weights.stored_root'", " ".join(self.gate("--policy", self.policy(text), expect=5).out.split()))

    def test_2_for_a_label_and_for_a_file_that_is_not_there_where_a_run_is_wanted(self):
        self.run_audit(*AXIS, "--label", "before")
        for name, words in (("before", "that is a label; the runs so labelled: "), ("baseline.json", "there is no file of that name"),
                            ("x.isobit.tar", "there is no file of that name"), ("other", "store list")):
            self.assertIn(words, self.isobit("gate", name, "latest", "--store", self.store, expect=2).err)

    def test_2_for_numbers_that_are_empty_as_an_unset_variable_leaves_them(self):
        for command in (["gate", "latest", "latest", "--level", ""], ["report", "latest", "--level", ""], ["run", TINY, "--check", ""],
                        ["run", TINY, "--repeats", ""], ["run", TINY, "--max-tokens", ""], ["plan", TINY, "--seed", ""]):
            self.isobit(*command, "--store", self.store, expect=2)
        self.isobit("run", TINY, "--axis", "engine.threads=99999", "--store", self.store, expect=2)

    def test_6_for_other_prompts(self):
        self.run_audit(*AXIS)
        self.run_audit(*AXIS, "--prompts", "edge")
        self.assertIn("the prompts and their parameters must be the same", self.gate(expect=6).out)

    def test_6_names_the_parameter_that_differs(self):
        self.run_audit(*AXIS)
        self.isobit("run", TINY, *AXIS, "--max-tokens", "5", "--store", self.store, expect=0)
        for text in (self.gate(expect=6).out, self.isobit("compare", "latest~1", "latest", "--store", self.store, expect=0).err):
            self.assertIn("(max_tokens: 8 against 5 in 8 requests)", " ".join(text.split()))

    def test_4_for_nothing_in_common(self):
        self.run_audit(*AXIS)
        self.run_audit(*AXIS, "--prompts", "edge")
        text = '{"name": "p", "level": 1, "must_match": ["model.weights.stored_root"]}'
        self.assertIn("nothing could be compared at level 1", self.gate("--policy", self.policy(text), expect=4).out)

    def test_7_for_a_warning_where_it_is_asked_for(self):
        self.two_runs()
        text = self.policy('{"name": "p", "level": 1, "expected_changes": {"expected": ["software.openblas"]}}')
        self.assertIn("expected to change", self.gate("--policy", text, expect=0).out)
        self.gate("--policy", text, "--fail-on-warn", expect=7)

    def test_8_for_a_half_written_run(self):
        self.two_runs()
        self.change("UPDATE run SET status = 'running' WHERE run_key = (SELECT max(run_key) FROM run)")
        self.change("DELETE FROM sample WHERE run_key = (SELECT max(run_key) FROM run) AND cell_index = 1")
        self.change("UPDATE cell SET complete = 0 WHERE run_key = (SELECT max(run_key) FROM run) AND cell_index = 1")
        self.assertIn("the candidate run has not finished", " ".join(self.gate(expect=8).out.split()))
        text = '{"name": "p", "level": 1, "coverage": {"min_prompts": 64}}'
        self.gate("--policy", self.policy(text), expect=8)  # 8 goes before 5

    def test_next_is_never_the_report_that_was_just_written(self):
        self.two_runs()
        self.assertIn("next: isobit report", self.gate(expect=0).err)
        self.assertNotIn("next:", self.gate("-o", "r.html", expect=0).err)

    def test_help_names_every_form_of_a_base(self):
        for command in ("gate", "compare", "report"):
            text = self.isobit(command, "--help", expect=0).prose
            for word in ("@NAME", "bundle", "baseline.json"):
                self.assertIn(word, text, command)
        self.assertIn("without it the Markdown report is printed", self.isobit("report", "--help", expect=0).prose)

    def test_upgrade_with_a_policy_says_what_to_do_instead(self):
        r = self.isobit("gate", "a.json", "b.json", "--upgrade", "--model", TINY, "--policy", "my policy.json", "--store", self.store, expect=2)
        self.assertIn("leave --policy out", r.err)
        self.assertIn(f"isobit gate latest~1 latest --policy 'my policy.json' --store {self.store}", r.err)

    def test_a_run_that_nobody_records_any_more_is_interrupted_and_the_store_stays_as_it_is(self):
        self.two_runs()
        self.change("UPDATE run SET status = 'running' WHERE run_key = (SELECT max(run_key) FROM run)")
        before = self.read("s.db")
        runs = self.isobit("store", "list", "--store", self.store, "--json", expect=0).json["runs"]
        self.assertEqual([r["status"] for r in runs], ["complete", "interrupted"])
        self.assertIn("interrupted", self.isobit("store", "list", "--store", self.store, expect=0).out)
        self.assertEqual(self.read("s.db"), before)
        with open(self.store, "rb") as held:  # as a recording process holds it
            fcntl.flock(held, fcntl.LOCK_EX)
            runs = self.isobit("store", "list", "--store", self.store, "--json", expect=0).json["runs"]
            self.assertEqual([r["status"] for r in runs], ["complete", "running"])
            self.assertIn("has not finished", self.gate(expect=8).prose)
        self.isobit("store", "export", "latest", "-o", "b.isobit.tar", "--store", self.store, expect=0)
        self.isobit("store", "import", "b.isobit.tar", "--store", self.path("n.db"), expect=0)

    def test_a_run_without_check_finds_differences_and_fails_nothing(self):
        arguments = (*AXIS, "--set", "engine.kernel_set=cpu-adaptive")
        r = self.run_audit(*arguments, expect=None)
        if r.code == 3:
            self.skipTest("SKIPPED: built without OpenBLAS")
        self.assertEqual(r.code, 0)
        self.assertIn("differences found: ", r.prose)
        self.assertNotIn("fail", r.out.lower())
        self.assertIn("--check 2 fails here", r.err)
        self.assertIn("FAIL at level 2", self.run_audit(*arguments, "--check", "2", expect=1).out)

    def test_a_saved_verdict_holds_its_policy(self):
        self.two_runs()
        self.gate("--policy", "two-tiers", "--save", expect=0)
        rows = self.isobit("store", "query", "SELECT document_json AS d, verdict AS v FROM comparison", "--store", self.store, "--json", expect=0).json
        saved = json.loads(rows[0]["d"])
        self.assertEqual((rows[0]["v"], saved["policy"]["name"], saved["policy"]["level"]), ("warn", "two-tiers", 0))  # no request has the tag of its first tier

    def test_what_changed_is_shown_with_what_it_can_affect(self):
        self.run_audit(*AXIS, "--threads", "1")
        self.run_audit(*AXIS, "--set", "engine.isa=portable")
        verdict = self.gate("--json", expect=0).json
        changed = {c["class"] + "." + c["name"]: c for c in verdict["changes"]}
        self.assertIn("numerics.isa", changed)
        self.assertTrue(changed["numerics.isa"]["effect"])
        self.assertIn("numerics.isa", self.gate(expect=0).out)

    def test_threads_are_recorded_however_they_were_given_and_runs_stay_comparable(self):
        self.run_audit(*AXIS)
        self.run_audit(*AXIS, "--threads", "1")
        self.run_audit(*AXIS, "--set", "engine.threads=1")
        self.run_audit("--axis", "engine.threads=all,1", "--threads", "2")  # what varies is not fixed
        plans = [json.loads(r["p"]) for r in self.isobit("store", "query", "SELECT plan_json AS p FROM run ORDER BY rowid", "--store", self.store, "--json", expect=0).json]
        self.assertEqual([{c["values"].get("engine.threads") for c in p["cells"]} for p in plans], [{None}, {"1"}, {"1"}, {"all", "1"}])
        self.assertEqual(plans[1], plans[2])
        for base in ("latest~3", "latest~1"):
            self.isobit("gate", base, "latest~2", "--level", "2", "--store", self.store, expect=0)
        self.assertIn("engine.threads=1", self.isobit("report", "latest~2", "--store", self.store, expect=0).out)
        self.isobit("run", "--resume", "--threads", "1", "--store", self.store, expect=2)  # it goes on with its own

    def test_a_baseline_is_verified_with_threads_that_are_recorded(self):
        self.run_audit(*AXIS)
        self.isobit("baseline", "set", "prod", "latest", "--store", self.store, expect=0)
        self.isobit("baseline", "verify", "prod", "--threads", "1", "--store", self.store, expect=0)
        self.assertIn("engine.threads=1", self.isobit("report", "latest", "--store", self.store, expect=0).out)

    def test_level_0_of_a_run_by_itself(self):
        self.run_audit(*AXIS, "--repeats", "2", "--check", "0")
        self.isobit("report", "latest", "--store", self.store, "--level", "0", "-o", "r.json", expect=0)


if __name__ == "__main__":
    unittest.main()
