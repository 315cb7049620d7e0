"""Statements, signatures and bills of materials, and what verify says of them."""

import base64
import hashlib
import json
import os
import shutil
import subprocess
import unittest

from pip_packages import python_with
from program import TINY, ProgramTest
from schemas import check_schema

ELSEWHERE = """
import base64, json, sys
from cryptography.hazmat.primitives.serialization import load_pem_public_key
envelope = json.load(open(sys.argv[1]))
payload, kind = base64.b64decode(envelope["payload"]), envelope["payloadType"].encode()
signed = b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)
load_pem_public_key(open(sys.argv[2], "rb").read()).verify(base64.b64decode(envelope["signatures"][0]["sig"]), signed)
"""
VALIDATE = """
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
fault = JsonStrictValidator(SchemaVersion.V1_6).validate_str(open(sys.argv[1], encoding="utf-8").read())
sys.exit(str(fault) if fault else 0)
"""


class StatementTest(ProgramTest):
    def key(self, name, kind="ed25519"):
        """A new key pair: NAME.pem and NAME.pub."""
        command = ["openssl", "genpkey", "-algorithm", kind, "-out", self.path(name + ".pem")]
        subprocess.run(command, check=True, capture_output=True)
        subprocess.run(["openssl", "pkey", "-in", self.path(name + ".pem"), "-pubout", "-out", self.path(name + ".pub")], check=True, capture_output=True)
        return self.path(name + ".pem"), self.path(name + ".pub")

    def verify(self, *arguments, expect=0):
        value = self.isobit("verify", *arguments, "--json", expect=expect).json
        check_schema(value, "evidence.schema.json", "verify")
        self.assertEqual(value["verified"], expect == 0)
        text = self.isobit("verify", *arguments, expect=expect).out
        self.assertIn("NOT verified" if expect else "\nverified", text)
        return value

    def findings(self, value):
        return {check["what"]: check["finding"] for check in value["digests"]}


class Statements(StatementTest):
    def setUp(self):
        super().setUp()
        self.run_audit("--axis", "load.concurrency=1,8")
        self.run_audit("--axis", "load.concurrency=1,8")
        self.private, self.public = self.key("k")

    def gate(self, *arguments, expect=0, out="s.json", **options):
        r = self.isobit("gate", "latest~1", "latest", "--store", self.store, "--statement", out, *arguments, expect=expect, **options)
        self.assertNotIn(self.read("k.pem").decode().splitlines()[1], r.out + r.err + self.read(out).decode())
        return r

    def payload(self, name="s.json"):
        return json.loads(base64.b64decode(json.loads(self.read(name))["payload"]))

    def test_a_gate_is_signed_and_the_signature_and_every_digest_hold(self):
        self.isobit("report", "latest~1", "latest", "--store", self.store, "-o", "report.html", expect=0)
        self.isobit("store", "export", "latest~1", "latest", "-o", "x.isobit.tar", "--store", self.store, expect=0)
        self.gate("--sign-key", self.private, "--subject", "report.html", "--subject", "x.isobit.tar")
        statement = self.payload()
        self.assertEqual(statement["_type"], "https://in-toto.io/Statement/v1")
        self.assertEqual(statement["predicateType"], "https://in-toto.io/attestation/test-result/v0.1")
        self.assertEqual(statement["predicate"]["result"], "PASSED")
        self.assertEqual(statement["predicate"]["failedTests"], [])
        model = os.path.join(TINY, "model.safetensors")
        value = self.verify("s.json", "--key", self.public, "report.html", "x.isobit.tar", model)
        self.assertEqual((value["signature"], value["result"]), ("good", "PASSED"))
        self.assertEqual(set(self.findings(value).values()), {"same"}, value)  # runs and fingerprints of the bundle too
        self.assertEqual(len(value["digests"]), 2 + 1 + 2 + 3 + 2)

    def test_other_programs_find_the_signature_good(self):
        self.gate("--sign-key", self.private)
        envelope = json.loads(self.read("s.json"))
        payload, kind = base64.b64decode(envelope["payload"]), envelope["payloadType"].encode()
        self.write("signed", b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload))
        self.write("sig", base64.b64decode(envelope["signatures"][0]["sig"]))
        subprocess.run(["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", self.public, "-rawin", "-in", self.path("signed"), "-sigfile", self.path("sig")],
                       check=True, capture_output=True)
        der = subprocess.run(["openssl", "pkey", "-pubin", "-in", self.public, "-outform", "DER"], check=True, capture_output=True).stdout
        self.assertEqual(envelope["signatures"][0]["keyid"], hashlib.sha256(der).hexdigest())
        python = python_with("cryptography", "cryptography")
        if not python:
            self.skipTest("SKIPPED: pip cannot give cryptography")
        subprocess.run([python, "-c", ELSEWHERE, self.path("s.json"), self.public], check=True, capture_output=True)

    def test_the_same_verdict_gives_the_same_bytes_and_no_time_unless_told(self):
        self.gate("--sign-key", self.private)
        first = self.read("s.json")
        self.gate("--sign-key", self.private)
        self.assertEqual(self.read("s.json"), first)
        self.gate(env={"SIGNING_KEY": self.read("k.pem").decode()}, out="env.json", *("--sign-key-env", "SIGNING_KEY"))
        self.assertEqual(self.read("env.json"), first)
        self.gate("--sign-key", self.private, "--now", "2026-01-31", out="now.json")
        self.assertIn('"isobit_now":"2026-01-31"', json.dumps(self.payload("now.json"), separators=(",", ":")))

    def test_changed_files_are_named_and_exit_1(self):
        self.write("notes.txt", "before")
        self.gate("--sign-key", self.private, "--subject", "notes.txt")
        self.assertEqual(self.findings(self.verify("s.json", "--key", self.public, "notes.txt"))["notes.txt"], "same")
        self.assertEqual(self.findings(self.verify("s.json", "--key", self.public))["notes.txt"], "not_given")
        self.write("notes.txt", "after")
        value = self.verify("s.json", "--key", self.public, "notes.txt", expect=1)
        self.assertEqual((value["signature"], self.findings(value)["notes.txt"]), ("good", "differs"))
        self.write("other.txt", "unheard of")
        self.assertEqual(self.findings(self.verify("s.json", "--key", self.public, "other.txt", expect=1))["file other.txt"], "not_named")
        self.write("renamed.txt", "before")
        self.assertIn("renamed.txt, which is notes.txt", self.findings(self.verify("s.json", "--key", self.public, "renamed.txt")))

    def test_signatures_that_are_wrong_unknown_missing_or_unchecked(self):
        self.gate("--sign-key", self.private)
        envelope = json.loads(self.read("s.json"))
        text = base64.b64decode(envelope["payload"])
        forged = dict(envelope, payload=base64.b64encode(text.replace(b'"FAILED"', b'"PASSED"').replace(b"PASSED", b"WARNED", 1)).decode())
        self.write("forged.json", json.dumps(forged))
        self.assertEqual(self.verify("forged.json", "--key", self.public, expect=1)["signature"], "wrong")
        _, other = self.key("other")
        self.assertEqual(self.verify("s.json", "--key", other, expect=6)["signature"], "unknown_key")
        self.assertEqual(self.verify("s.json", expect=2)["signature"], "not_checked")
        self.assertEqual(self.verify("s.json", "--digests-only")["signature"], "not_checked")
        self.assertIn("UNSIGNED", self.gate(out="u.json").err)
        self.assertEqual(self.verify("u.json")["signature"], "unsigned")
        self.assertEqual(self.verify("u.json", "--key", self.public, expect=1)["signature"], "expected")

    def test_a_digest_inside_that_does_not_hold_is_1(self):
        self.gate(out="u.json")
        statement = json.loads(self.read("u.json"))
        policy = next(c for c in statement["predicate"]["configuration"] if c["name"] == "policy.json")
        policy["content"] = base64.b64encode(b"{}").decode()
        self.write("edited.json", json.dumps(statement))
        self.assertEqual(self.findings(self.verify("edited.json", expect=1))["policy.json inside"], "differs")

    def sign(self, statement, name):
        """An envelope that another program signs with the same key."""
        payload, kind = json.dumps(statement).encode(), b"application/vnd.in-toto+json"
        self.write("signed", b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload))
        subprocess.run(["openssl", "pkeyutl", "-sign", "-inkey", self.private, "-rawin", "-in", self.path("signed"), "-out", self.path("sig")],
                       check=True, capture_output=True)
        signature = {"keyid": "", "sig": base64.b64encode(self.read("sig")).decode()}
        envelope = {"payloadType": kind.decode(), "payload": base64.b64encode(payload).decode(), "signatures": [signature]}
        return self.write(name, json.dumps(envelope))

    def test_a_result_that_its_verdict_does_not_give_is_1_however_well_it_is_signed(self):
        policy = self.write("p.json", '{"name": "p", "level": 1, "coverage": {"min_prompts": 64}}')
        self.gate("--sign-key", self.private, "--policy", policy, expect=5)
        good = self.payload()
        self.assertEqual(self.verify(self.sign(good, "again.json"), "--key", self.public)["result"], "FAILED")

        def resource(statement, name):
            return next(c for c in statement["predicate"]["configuration"] if c["name"] == name)

        def passed(predicate):
            predicate.update(result="PASSED")

        def lists(predicate):
            predicate.update(passedTests=predicate["passedTests"] + predicate["failedTests"], failedTests=[])

        def outcome(predicate):
            verdict = next(c for c in predicate["configuration"] if c["name"] == "verdict.json")
            content = json.loads(base64.b64decode(verdict["content"]))
            content["outcome"] = "pass"
            content = json.dumps(content, separators=(",", ":"), sort_keys=True, ensure_ascii=False).encode()
            verdict.update(content=base64.b64encode(content).decode(), digest={"sha256": hashlib.sha256(content).hexdigest()})
            verdict["annotations"]["isobit_outcome"] = "pass"
            predicate.update(result="PASSED")

        for edit, what in ((passed, "result, by the verdict inside"), (lists, "failedTests, by the verdict inside"), (outcome, "outcome of the verdict inside, by its reasons")):
            with self.subTest(what):
                statement = json.loads(json.dumps(good))
                edit(statement["predicate"])
                for value in (self.verify(self.sign(statement, "forged.json"), "--key", self.public, expect=1),
                              self.verify(self.write("bare.json", json.dumps(statement)), expect=1)):
                    self.assertEqual(self.findings(value)[what], "differs")
        for name in ("policy.json", "verdict.json"):
            statement = json.loads(json.dumps(good))
            statement["predicate"]["configuration"].remove(resource(statement, name))
            value = self.verify(self.sign(statement, "less.json"), "--key", self.public, expect=1)
            self.assertEqual((value["signature"], self.findings(value)[name + " inside"]), ("good", "missing"))

    def forged_verdict(self, statement, change):
        """The statement with another verdict inside, all digests and all that follows made right."""
        statement = json.loads(json.dumps(statement))
        verdict = next(c for c in statement["predicate"]["configuration"] if c["name"] == "verdict.json")
        content = json.loads(base64.b64decode(verdict["content"]))
        change(content)
        content = json.dumps(content, separators=(",", ":"), sort_keys=True, ensure_ascii=False).encode()
        verdict.update(content=base64.b64encode(content).decode(), digest={"sha256": hashlib.sha256(content).hexdigest()})
        return self.write("forged.json", json.dumps(statement))

    def test_who_has_the_runs_computes_the_verdict_again(self):
        self.isobit("store", "export", "latest~1", "latest", "-o", "x.isobit.tar", "--store", self.store, expect=0)
        self.isobit("store", "export", "latest", "-o", "candidate.isobit.tar", "--store", self.store, expect=0)
        policy = self.write("p.json", '{"name": "p", "level": 1, "rules": [{"id": "few", "metric": "token_mismatch_rate", "scope": "run", "max": 0.9, "confidence": "bound"}]}')
        for asked in (("--level", "0"), ("--level", "2"), ("--policy", policy)):
            self.isobit("gate", "latest~1", "latest", "--store", self.store, "--statement", "s.json", *asked)
            again = [d for d in self.verify("s.json", "x.isobit.tar")["digests"] if d["what"].startswith("verdict.json, computed again")]
            self.assertEqual([d["finding"] for d in again], ["same"], asked)
        good = json.loads(self.read("s.json"))

        def fewer_trials(verdict):
            for rule in verdict["rules"]:
                for unit in rule["units"]:
                    unit["figure"].update(trials=1000, counted="0 of 1000 prompts differ")

        def better_sentence(verdict):
            verdict["sentence"] += ", and 1000 more"

        for change, where in ((fewer_trials, "rules[0].units[0].figure.counted"), (better_sentence, "sentence")):
            forged = self.forged_verdict(good, change)
            self.assertEqual(self.findings(self.verify(forged))[self.again(good)], "not_given")
            self.assertEqual(self.findings(self.verify(forged, "candidate.isobit.tar"))[self.again(good)], "not_given")
            findings = self.findings(self.verify(forged, "x.isobit.tar", expect=1))
            self.assertEqual(findings[f"{self.again(good)}: {where}"], "differs")

    def test_runs_are_found_by_their_digest_and_have_the_name_they_were_recorded_under(self):
        self.isobit("store", "export", "latest~1", "latest", "-o", "x.isobit.tar", "--store", self.store, expect=0)
        self.gate()
        text = self.read("s.json").decode()
        statement = json.loads(text)
        candidate = statement["subject"][0]["name"]
        base = self.again(statement).split(" from ")[1].split(" and ")[0]
        for names in ([candidate], [base], [candidate, base]):
            renamed = text
            for i, name in enumerate(names):
                renamed = renamed.replace(f'"{name}', f'"run/{i}fffffffffff')
            findings = self.findings(self.verify(self.write("renamed.json", renamed), "x.isobit.tar", expect=1))
            self.assertEqual([findings[f"name of {name}"] for name in names], ["differs"] * len(names))
            self.assertEqual([f for what, f in findings.items() if "computed again" in what], ["same"])

    def test_a_redacted_run_beside_a_plain_one_is_verified_from_both(self):
        self.run_audit("--axis", "load.concurrency=1,8", "--redact")
        for pair in (["latest~1", "latest"], ["latest", "latest~1"]):
            self.isobit("gate", *pair, "--store", self.store, "--statement", "s.json", expect=0)
            self.isobit("store", "export", *pair, "-o", "r.isobit.tar", "--store", self.store, expect=0)
            findings = self.findings(self.verify("s.json", "r.isobit.tar"))
            self.assertEqual([f for what, f in findings.items() if "computed again" in what or what.startswith("run/")], ["same"] * 5)

    def test_an_interrupted_run_is_verified_as_it_was_recorded(self):
        self.run_audit("--axis", "load.concurrency=1,8", "--max-requests", "3", expect=8)
        self.gate(expect=8)
        self.isobit("store", "export", "latest~1", "latest", "-o", "x.isobit.tar", "--store", self.store, expect=0)
        findings = self.findings(self.verify("s.json", "x.isobit.tar"))
        self.assertEqual([f for what, f in findings.items() if "computed again" in what or what.startswith("run/")], ["same"] * 5)

    def again(self, statement):
        base = next(c["name"] for c in statement["predicate"]["configuration"] if c["name"].startswith("run/"))
        return f"verdict.json, computed again from {base} and {statement['subject'][0]['name']}"

    def test_rules_and_units_that_the_policy_or_the_figures_do_not_give_are_1(self):
        policy = self.write("p.json", '{"name": "p", "level": 1, "rules": [{"id": "few", "metric": "token_mismatch_rate", "scope": "run", "max": 0.9}]}')
        self.gate("--policy", policy)
        good = json.loads(self.read("s.json"))

        def without(rule):
            return lambda verdict: verdict.update(rules=[r for r in verdict["rules"] if r["rule"] != rule])

        def bound(verdict):
            next(r for r in verdict["rules"] if r["rule"] == "few")["max"] = 0.95

        def no_units(verdict):
            verdict["rules"][0]["units"] = []

        def does_not_hold(verdict):
            verdict["rules"][0]["units"][0]["figure"]["value"] = 0.5

        for change, what in ((without("same-tokens"), "rule same-tokens of the verdict inside, by the policy"), (without("suspicious-flips"), "rule suspicious-flips of the verdict inside"),
                             (without("few"), "rule few of the verdict inside"), (bound, "rule few of the verdict inside"), (no_units, "what the rules of the verdict inside looked at"), (does_not_hold, "unit reference of rule same-tokens")):
            with self.subTest(what):
                findings = self.findings(self.verify(self.forged_verdict(good, change), expect=1))
                self.assertTrue(any(what in name and finding in ("differs", "missing") for name, finding in findings.items()), findings)

    def test_the_runs_that_a_statement_names_are_all_there_once(self):
        self.gate()
        good = json.loads(self.read("s.json"))
        run, base = good["subject"][0], next(c for c in good["predicate"]["configuration"] if c["name"].startswith("run/"))
        for change in (
            lambda s: s["subject"].remove(run), lambda s: s["subject"].append(run), lambda s: s["subject"][0].update(name="run/0123456789abcdef"),
            lambda s: s["subject"].pop(1), lambda s: s["predicate"]["configuration"].remove(base), lambda s: s["subject"].append(dict(s["subject"][2], digest=run["digest"])),
            lambda s: s["predicate"]["configuration"].append(dict(base, name="run/0123456789abcdef")), lambda s: s["subject"].insert(0, dict(run, name="run/")),
            lambda s: s["predicate"]["configuration"].insert(0, dict(run, name="run/")),
        ):
            statement = json.loads(json.dumps(good))
            change(statement)
            self.verify(self.write("z.json", json.dumps(statement)), expect=1)

    def test_another_predicate_is_3_since_nothing_here_could_hold_it(self):
        self.gate()
        statement = dict(json.loads(self.read("s.json")), predicateType="https://example.com/other")
        self.assertIn("its predicate is 'https://example.com/other'", " ".join(self.isobit("verify", self.write("z.json", json.dumps(statement)), expect=3).err.split()))

    def test_a_run_that_was_checked_is_checked_again(self):
        self.run_audit("--axis", "load.concurrency=1,8", "--check", "2", "--statement", "run.json")
        self.isobit("store", "export", "latest", "-o", "x.isobit.tar", "--store", self.store, expect=0)
        findings = self.findings(self.verify("run.json", "x.isobit.tar"))
        self.assertEqual([f for what, f in findings.items() if "computed again" in what], ["same"])

    def test_a_verdict_of_expired_overrides_is_computed_as_of_its_day(self):
        override = '{"rule": "same-tokens", "reason": "known", "expires": "2026-02-01"}'
        policy = self.write("p.json", '{"name": "p", "level": 1, "overrides": [%s]}' % override)
        self.isobit("store", "export", "latest~1", "latest", "-o", "x.isobit.tar", "--store", self.store, expect=0)
        self.gate("--policy", policy, "--now", "2026-01-31")
        self.assertEqual(self.findings(self.verify("s.json", "x.isobit.tar"))[self.again(json.loads(self.read("s.json")))], "same")

    def test_two_subjects_of_one_name_and_two_contents_are_2(self):
        for folder, text in (("a", "one"), ("b", "two"), ("c", "one")):
            os.mkdir(self.path(folder))
            self.write(f"{folder}/r.txt", text)
        self.assertIn("r.txt", self.isobit("gate", "latest~1", "latest", "--store", self.store, "--statement", "s.json", "--subject", "a/r.txt", "--subject", "b/r.txt", expect=2).err)
        self.assertFalse(os.path.exists(self.path("s.json")))
        self.gate("--subject", "a/r.txt", "--subject", "c/r.txt")
        self.assertEqual([s["name"] for s in json.loads(self.read("s.json"))["subject"]].count("r.txt"), 1)

    def test_digests_that_are_no_sha256_are_3(self):
        self.gate(out="u.json")
        statement = json.loads(self.read("u.json"))
        for digest, words in (({"sha256": "zz"}, "expected 64 lower-case hexadecimal digits"), ({"sha256": "A" * 64}, "lower-case"), ({"md5": "a" * 32}, 'has no digest "sha256"')):
            statement["subject"][0]["digest"] = digest
            self.assertIn(words, " ".join(self.isobit("verify", self.write("z.json", json.dumps(statement)), expect=3).err.split()))

    def test_many_signatures_are_refused_before_they_cost_time(self):
        self.gate("--sign-key", self.private)
        envelope = json.loads(self.read("s.json"))
        envelope["signatures"] *= 200000
        err = self.isobit("verify", self.write("many.json", json.dumps(envelope)), "--key", self.public, expect=3, timeout=20).err
        self.assertIn("has 200000 signatures, expected at most 64", " ".join(err.split()))

    def test_a_baseline_file_is_told_from_what_verify_reads(self):
        self.isobit("baseline", "set", "prod", "latest", "--store", self.store, expect=0)
        self.isobit("baseline", "export", "prod", "-o", "baseline.json", "--store", self.store, expect=0)
        err = " ".join(self.isobit("verify", "baseline.json", expect=3).err.split())
        self.assertIn("is a baseline file", err)
        self.assertIn("isobit baseline verify", err)

    def test_a_failed_gate_says_so_and_keeps_its_exit_code(self):
        other = self.path("other")
        shutil.copytree(TINY, other)
        with open(os.path.join(other, "model.safetensors"), "r+b") as f:
            f.seek(-100, os.SEEK_END)
            byte = f.read(1)
            f.seek(-100, os.SEEK_END)
            f.write(bytes([byte[0] ^ 1]))
        self.run_audit(model=other)
        self.gate("--sign-key", self.private, expect=6)
        predicate = self.payload()["predicate"]
        self.assertEqual(predicate["result"], "FAILED")
        self.assertTrue(predicate["failedTests"])
        self.assertEqual(self.verify("s.json", "--key", self.public)["result"], "FAILED")

    def test_a_run_that_was_checked_makes_a_statement(self):
        self.run_audit("--axis", "load.concurrency=1,8", "--check", "2", "--statement", "run.json", "--sign-key", self.private)
        self.assertEqual(self.verify("run.json", "--key", self.public)["result"], "PASSED")
        names = [c["name"] for c in self.payload("run.json")["predicate"]["configuration"]]
        self.assertEqual(names, ["policy.json", "verdict.json"])
        self.assertIn("--check", self.run_audit("--statement", "x.json", expect=2).err)

    def test_keys_that_cannot_sign_are_told_before_any_work(self):
        rsa, _ = self.key("rsa", "rsa")
        for arguments, code, word in (
            (["--sign-key", rsa], 2, "Ed25519"),
            (["--sign-key", self.public], 2, "public key"),
            (["--sign-key", "none.pem"], 3, "none.pem"),
            (["--sign-key", self.write("bad.pem", "hello")], 3, "PEM"),
            (["--sign-key-env", "NO_SUCH_VARIABLE"], 2, "NO_SUCH_VARIABLE"),
        ):
            r = self.isobit("gate", "latest~1", "latest", "--store", self.store, "--statement", "no.json", *arguments, expect=code)
            self.assertIn(word, r.err)
        self.assertIn("--statement", self.isobit("gate", "latest~1", "latest", "--store", self.store, "--sign-key", self.private, expect=2).err)
        self.assertNotIn("no.json", os.listdir(self.folder))
        self.gate("--sign-key", self.private)
        self.isobit("verify", "s.json", "--key", self.private, expect=2)
        self.isobit("verify", "s.json", "--key", self.path("bad.pem"), expect=3)

    def test_an_output_that_cannot_be_written_is_3(self):
        self.isobit("gate", "latest~1", "latest", "--store", self.store, "--statement", "no/such/s.json", expect=3)
        self.isobit("gate", "latest~1", "latest", "--store", self.store, "--statement", "s.json", "--subject", "none.txt", expect=3)
        self.assertNotIn("s.json", os.listdir(self.folder))

    def test_a_statement_with_another_result_than_there_are_is_3(self):
        self.gate("--level", "2")
        with open(self.path("s.json"), encoding="utf-8") as f:
            statement = json.load(f)
        for result in ("MAYBE", "passed", None, 5):
            statement["predicate"]["result"] = result
            self.assertIn("result", self.isobit("verify", self.write("z.json", json.dumps(statement)), expect=3).err)
        del statement["predicate"]["result"]
        self.isobit("verify", self.write("z.json", json.dumps(statement)), expect=3)

    def test_a_key_given_where_its_name_belongs_is_not_shown(self):
        secret = self.read("k.pem").decode()
        for option in ("--sign-key", "--sign-key-env"):
            r = self.isobit("gate", "latest~1", "latest", "--store", self.store, "--statement", "s.json", option, secret, "--log-file", self.path("log"), expect=2)
            said = r.err + r.out + (self.read("log").decode() if os.path.exists(self.path("log")) else "")
            self.assertIn("was given the key itself", said)
            self.assertNotIn(secret.splitlines()[1], said)

    def test_no_output_takes_the_place_of_a_store_or_a_key(self):
        store, key = self.read("s.db"), self.read("k.pem")
        for arguments in (["store", "export", "latest", "-o", self.store], ["gate", "latest~1", "latest", "--statement", self.store],
                          ["gate", "latest~1", "latest", "--statement", self.private, "--sign-key", self.private], ["report", "latest", "-o", "alias.md"]):
            if arguments[-1] == "alias.md":
                os.symlink(self.store, self.path("alias.md"))
            self.assertIn("which an output would replace", self.isobit(*arguments, "--store", self.store, expect=2).err)
        self.assertEqual((self.read("s.db"), self.read("k.pem")), (store, key))

    def test_what_is_no_evidence_is_3(self):
        for name, content in (("a.json", "{}"), ("b.json", "hello"), ("c.json", ""), ("d.json", "[1]"), ("e.json", b"\xff\xfe")):
            self.isobit("verify", self.write(name, content), expect=3)
        self.isobit("verify", "none.json", expect=3)
        self.gate("--sign-key", self.private)
        text = self.read("s.json").decode()
        self.isobit("verify", self.write("cut.json", text[: len(text) // 2]), expect=3)
        self.isobit("verify", self.write("type.json", text.replace("in-toto+json", "in-toto+jsom")), "--key", self.public, expect=3)


class BillsOfMaterials(StatementTest):
    def test_a_bom_is_valid_repeatable_and_holds_the_fingerprint(self):
        value = self.isobit("fingerprint", TINY, "--cyclonedx", "-o", "bom.json", "--json", expect=0).json
        check_schema(value, "evidence.schema.json", "bom")
        self.assertEqual(value["sha256"], hashlib.sha256(self.read("bom.json")).hexdigest())
        self.assertEqual(self.isobit("fingerprint", TINY, "--cyclonedx", expect=0).out.encode(), self.read("bom.json"))
        self.assertEqual(value["fingerprint"], self.isobit("fingerprint", TINY, "--json", expect=0).json["id"])
        bom = json.loads(self.read("bom.json"))
        self.assertEqual(bom["metadata"]["component"]["name"], "tiny-kjv")
        self.assertNotIn("timestamp", bom["metadata"])
        model = os.path.join(TINY, "model.safetensors")
        findings = self.findings(self.verify("bom.json", model))
        self.assertEqual(findings, {"fingerprint inside": "same", "model.safetensors": "same"})
        self.isobit("fingerprint", TINY, "--cyclonedx", "-o", "dated.json", "--now", "2026-01-31", expect=0)
        self.assertEqual(json.loads(self.read("dated.json"))["metadata"]["timestamp"], "2026-01-31T00:00:00Z")
        self.verify("dated.json")
        python = python_with("cyclonedx.validation.json, jsonschema", "cyclonedx-python-lib[json-validation]")
        if not python:
            self.skipTest("SKIPPED: pip cannot give cyclonedx-python-lib[json-validation]")
        for name in ("bom.json", "dated.json"):
            done = subprocess.run([python, "-c", VALIDATE, self.path(name)], capture_output=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.write("bad.json", json.dumps(dict(bom, bomFormat="Other")))
        self.assertNotEqual(subprocess.run([python, "-c", VALIDATE, self.path("bad.json")], capture_output=True, check=False).returncode, 0)

    def test_an_edited_bom_is_1_and_another_programs_is_3(self):
        self.isobit("fingerprint", TINY, "--cyclonedx", "-o", "bom.json", expect=0)
        bom = json.loads(self.read("bom.json"))
        item = next(p for p in bom["properties"] if p["name"] == "isobit:measured:model:architecture")
        item["value"] = "qwen3"
        self.write("item.json", json.dumps(bom))
        self.assertEqual(self.findings(self.verify("item.json", expect=1))["fingerprint inside"], "differs")
        bom = json.loads(self.read("bom.json"))
        bom["metadata"]["component"]["hashes"][0]["content"] = "0" * 64
        self.write("hash.json", json.dumps(bom))
        self.assertEqual(self.findings(self.verify("hash.json", expect=1))["components inside, by the fingerprint"], "differs")
        for property_name, value in (("isobit:fingerprint", None), ("isobit:reason:", "another"), ("isobit:", "another")):
            bom = json.loads(self.read("bom.json"))
            item = next(p for p in bom["properties"] if p["name"].startswith(property_name) and (value is None or p["name"] != "isobit:fingerprint"))
            item["value"] = value or "0" * 64
            self.verify(self.write("property.json", json.dumps(bom)), expect=1)
        for change, part in (
            (lambda b: b.update(serialNumber="urn:uuid:" + "0" * 8 + "-0000-8000-8000-" + "0" * 12), "serialNumber"),
            (lambda b: b["metadata"]["component"].update(name="another"), "serialNumber"),
            (lambda b: b["metadata"]["tools"]["components"][0].update(version="9"), "tools"),
            (lambda b: b["metadata"].update(timestamp="2026-01-31T00:00:00Z"), "serialNumber"),
            (lambda b: b.update(version=7), "version"),
            (lambda b: b["metadata"]["component"]["modelCard"]["properties"][0].update(value="other"), "components"),
        ):
            bom = json.loads(self.read("bom.json"))
            change(bom)
            self.assertEqual(self.findings(self.verify(self.write("part.json", json.dumps(bom)), expect=1))[part + " inside, by the fingerprint"], "differs")
        self.isobit("verify", self.write("other.json", '{"bomFormat":"CycloneDX","specVersion":"1.6","components":[]}'), expect=3)
        self.assertIn("carries no signature", self.isobit("verify", "bom.json", "--key", self.key("k")[1], expect=2).err)
        self.assertIn("--cyclonedx", self.isobit("fingerprint", TINY, "-o", "x.json", expect=2).err)
        self.isobit("fingerprint", TINY, "--cyclonedx", "-o", "no/such/bom.json", expect=3)


if __name__ == "__main__":
    unittest.main()
