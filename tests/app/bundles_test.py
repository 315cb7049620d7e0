"""Runs that leave a store as a file and come back, and two stores that become one."""

import hashlib
import io
import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import tarfile
import unittest

from program import TINY, ProgramTest
from schemas import check_schema


def file_size_limit(limit):
    return lambda: (signal.signal(signal.SIGXFSZ, signal.SIG_IGN), resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))


class BundleTest(ProgramTest):
    def store_json(self, definition, *arguments, expect=0, store=None):
        value = self.isobit("store", *arguments, "--store", store or self.store, "--json", expect=expect).json
        check_schema(value, "evidence.schema.json", definition)
        return value

    def content(self):
        with sqlite3.connect(self.store) as db:
            dump = list(db.iterdump())
        db.close()
        return dump

    def two_runs(self):
        for _ in range(2):
            self.run_audit("--axis", "load.concurrency=1,8")

    def exported(self, *more):
        value = self.store_json("export", "export", "latest~1", "latest", "-o", "x.isobit.tar", *more)
        self.assertEqual(value["sha256"], hashlib.sha256(self.read("x.isobit.tar")).hexdigest())
        return self.path("x.isobit.tar")

    def bundle_with(self, name, change):
        """A copy of x.isobit.tar whose members {name: bytes} went through change, written by another program."""
        with tarfile.open(self.path("x.isobit.tar")) as tar:
            members = {m.name: tar.extractfile(m).read() for m in tar.getmembers()}
        change(members)
        with tarfile.open(self.path(name), "w", format=tarfile.USTAR_FORMAT) as tar:
            for member in sorted(members):
                info = tarfile.TarInfo(member)
                info.size = len(members[member])
                tar.addfile(info, io.BytesIO(members[member]))
        with open(self.path(name), "rb") as f:
            data = f.read()
        end = len(data.rstrip(b"\0"))  # Python pads to 10,240 bytes; isobit's form ends with two blocks
        return self.write(name, data[: (end + 511) // 512 * 512] + bytes(1024))

    def forged(self, name, change):
        """A copy of x.isobit.tar with change(members), whose every digest was made right again."""

        def vouch(members):
            change(members)
            manifest = json.loads(members["manifest.json"])
            for listed in manifest["members"]:
                content = members[listed["name"]]
                listed.update(bytes=len(content), sha256=hashlib.sha256(content).hexdigest())
            for run in manifest["runs"]:
                of = {section: members[f"runs/{run['id']}/{section}.jsonl"].splitlines() for section in ("cells", "fingerprint", "forced", "requests", "samples")}
                of["run"] = members[f"runs/{run['id']}/run.json"].strip()
                text = b",".join(b'"%s":%s' % (key.encode(), of[key] if key == "run" else b"[" + b",".join(of[key]) + b"]") for key in sorted(of))
                run["sha256"] = hashlib.sha256(b"{" + text + b"}").hexdigest()
            members["manifest.json"] = json.dumps(manifest).encode()

        return self.bundle_with(name, vouch)

    def one_bundle(self, *arguments):
        self.run_audit("--axis", "load.concurrency=1,8", *arguments)
        self.isobit("store", "export", "latest", "-o", "x.isobit.tar", "--store", self.store, expect=0)
        return self.isobit("store", "list", "--store", self.store, "--json", expect=0).json["runs"][0]["id"]


def edited_lines(member, change):
    """JSON lines after change(value) of each, with numbers as they are written."""

    def line(text):
        value = json.loads(text, parse_float=lambda number: "\0" + number)
        change(value)
        edited = json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
        return re.sub(r'"\\u0000([^"]*)"', r"\1", edited).encode()

    return b"".join(line(text) + b"\n" for text in member.splitlines())


class Bundles(BundleTest):
    def test_another_machine_compares_replays_and_gates_as_the_first(self):
        self.two_runs()
        bundle = self.exported()
        self.isobit("store", "import", bundle, "--store", self.path("new.db"), expect=0)
        places = [f"{self.store}:{{}}", f"{bundle}:{{}}", f"{self.path('new.db')}:{{}}"]
        for command in (["compare", "latest~1", "latest", "--json"], ["gate", "latest~1", "latest", "--level", "2"], ["gate", "latest~1", "latest", "--json"],
                        ["report", "latest"], ["replay", "latest/load.concurrency=8/0", "--n", "2", "--json"]):
            outputs = []
            for place in places:
                words = [place.format(word) if word.startswith("latest") else word for word in command]
                outputs.append(self.isobit(*words, expect=0).out)
            self.assertTrue(outputs[0])
            self.assertEqual(outputs[0], outputs[1], command)
            self.assertEqual(outputs[0], outputs[2], command)
        self.isobit("gate", bundle, bundle, expect=0)  # the latest of it, and no store at all
        self.assertEqual(sorted(os.listdir(self.folder)), ["new.db", "s.db", "x.isobit.tar"])

    def test_the_same_content_gives_the_same_bytes_from_any_store(self):
        self.two_runs()
        bundle = self.exported("--policy", "level-2")
        first = self.read("x.isobit.tar")
        self.isobit("store", "export", "latest", "latest~1", "-o", "again.isobit.tar", "--policy", "level-2", "--store", self.store, expect=0)
        self.assertEqual(self.read("again.isobit.tar"), first)
        self.isobit("store", "import", bundle, "--store", self.path("new.db"), expect=0)
        self.assertIn("sound", self.isobit("store", "check", "--store", self.path("new.db"), expect=0).out)
        self.isobit("store", "export", "latest~1", "latest", "-o", "third.isobit.tar", "--policy", bundle, "--store", self.path("new.db"), expect=0)
        self.assertEqual(self.read("third.isobit.tar"), first)
        self.isobit("store", "export", bundle + ":latest~1", bundle, "-o", "fourth.isobit.tar", "--policy", bundle, expect=0)
        self.assertEqual(self.read("fourth.isobit.tar"), first)

    def test_a_page_is_made_of_a_bundle_and_hints_hold_no_line_of_their_own(self):
        self.two_runs()
        bundle = self.exported()
        self.isobit("report", bundle, "-o", "x.html", expect=0)
        self.isobit("report", bundle + ":latest~1", bundle, "-o", "y.html", expect=0)
        for command in (["store", "export", "latest", "-o"], ["report", "latest", "-o"]):
            name = "q\n::error::x\x1b[31m" + (".isobit.tar" if command[0] == "store" else ".md")
            err = self.isobit(*command, name, "--store", self.store, expect=0).err
            self.assertEqual([line for line in err.splitlines() if line.startswith("::")], [])
            self.assertNotIn("\x1b", err)
        self.assertEqual([line for line in self.isobit("completion", "a\n::error::", expect=2).err.splitlines() if line.startswith("::")], [])

    def test_a_bundle_is_a_tar_archive_that_others_can_read(self):
        self.two_runs()
        self.exported("--policy", "level-1")
        with tarfile.open(self.path("x.isobit.tar")) as tar:
            members = tar.getmembers()
            manifest = json.load(tar.extractfile("manifest.json"))
            check_schema(manifest, "bundle.schema.json")
            self.assertEqual([m.name for m in members], sorted(m.name for m in members))
            self.assertEqual({(m.mtime, m.uid, m.gid, m.mode, m.uname) for m in members}, {(0, 0, 0, 0o644, "")})
            for listed in manifest["members"]:
                content = tar.extractfile(listed["name"]).read()
                self.assertEqual((len(content), hashlib.sha256(content).hexdigest()), (listed["bytes"], listed["sha256"]))
                if listed["name"].endswith(".jsonl"):
                    for line in content.splitlines():
                        json.loads(line)

    def test_a_bundle_that_was_unpacked_and_packed_again_by_another_archiver_is_the_same_runs(self):
        self.two_runs()
        bundle = self.exported("--policy", "level-1")
        said = self.isobit("compare", bundle + ":latest~1", bundle, "--json", expect=0).json
        with tarfile.open(bundle) as tar:
            tar.extractall(self.path("unpacked"))
        packed = self.path("packed.isobit.tar")
        subprocess.run(["tar", "--format=ustar", "-cf", packed, "manifest.json", "runs", "policy.json"], cwd=self.path("unpacked"), check=True)
        self.assertEqual(os.path.getsize(packed) % 10240, 0)
        self.assertEqual(self.isobit("compare", packed + ":latest~1", packed, "--json", expect=0).json, said)
        self.isobit("verify", packed, expect=0)
        with tarfile.open(self.path("python.isobit.tar"), "w", format=tarfile.USTAR_FORMAT) as tar:
            for name in ("manifest.json", "runs", "policy.json"):
                tar.add(os.path.join(self.path("unpacked"), name), name)
        self.isobit("verify", self.path("python.isobit.tar"), expect=0)
        more = self.write("more.isobit.tar", self.read("packed.isobit.tar")[:-1] + b"x")
        self.assertIn("after its last member", " ".join(self.isobit("verify", more, expect=3).err.split()))

    def test_a_policy_travels_and_gates(self):
        self.two_runs()
        bundle = self.exported("--policy", "level-2")
        verdict = self.isobit("gate", bundle + ":latest~1", bundle, "--policy", bundle, "--json", expect=0).json
        self.assertEqual(verdict["level"], 2)
        said = self.isobit("store", "import", bundle, "--store", self.path("new.db"), expect=0)
        self.assertIn("--policy", said.err)
        self.isobit("store", "export", "latest", "-o", "plain.isobit.tar", "--store", self.store, expect=0)
        self.assertIn("carries no policy", self.isobit("gate", bundle, bundle, "--policy", self.path("plain.isobit.tar"), expect=2).err)

    def test_import_is_idempotent_and_a_conflict_shows_both_sides(self):
        self.two_runs()
        bundle = self.exported()
        there = self.store_json("import", "import", bundle)
        self.assertEqual((there["runs_added"], there["runs_there"], there["samples_added"]), (0, 2, 0))
        with sqlite3.connect(self.store) as db:
            db.execute("UPDATE sample SET text = 'planted' WHERE prompt_index = 1")
        db.close()
        before, bytes_before = self.content(), self.read("s.db")
        conflict = self.store_json("import", "import", bundle, expect=2)["conflicts"][0]
        self.assertTrue(conflict["differs_in"].endswith(".text"))
        self.assertEqual(conflict["here"], '"planted"')
        self.assertNotEqual(conflict["there"], '"planted"')
        shown = self.isobit("store", "import", bundle, "--store", self.store, expect=2)
        self.assertIn("planted", shown.out)
        self.assertIn(bundle, shown.out)
        self.assertIn("nothing was changed", shown.err)
        self.assertEqual(self.read("s.db"), bytes_before)
        self.assertEqual(self.content(), before)

    def test_a_run_that_is_not_complete_travels_and_goes_on(self):
        self.run_audit("--axis", "load.concurrency=1,8", "--max-requests", "3", expect=8)
        self.assertIn("not complete", self.isobit("store", "export", "latest", "-o", "half.isobit.tar", "--store", self.store, expect=0).err)
        new = self.path("new.db")
        self.isobit("store", "import", self.path("half.isobit.tar"), "--store", new, expect=0)
        self.isobit("run", "--resume", "--store", new, expect=0)
        self.isobit("store", "export", "latest", "-o", "whole.isobit.tar", "--store", new, expect=0)
        value = self.store_json("import", "import", self.path("whole.isobit.tar"))
        self.assertEqual(value["runs_continued"], 1)
        self.isobit("gate", "latest", "latest", "--store", self.store, expect=0)
        self.assertEqual(self.store_json("import", "import", self.path("half.isobit.tar"))["runs_there"], 1)


class BadBundles(BundleTest):
    def refused(self, path, word):
        for arguments in (["store", "import", path, "--store", self.path("none.db")], ["gate", path, path], ["verify", path]):
            r = self.isobit(*arguments, expect=None)
            # verify tells of digests that differ (1); for everything else, and everyone else, it is no bundle (3)
            self.assertIn(r.code, (1, 3) if arguments[0] == "verify" else (3,), (arguments, r.err))
            if r.code == 3:
                self.assertIn(word, " ".join(r.err.split()))
                self.assertIn("hint:", r.err)
        self.assertNotIn("none.db", os.listdir(self.folder))

    def test_damage_of_every_kind_is_3_and_leaves_no_store(self):
        self.run_audit()
        self.isobit("store", "export", "latest", "-o", "x.isobit.tar", "--store", self.store, expect=0)
        data = self.read("x.isobit.tar")
        run = self.isobit("store", "list", "--store", self.store, "--json", expect=0).json["runs"][0]["id"]
        samples = f"runs/{run}/samples.jsonl"
        self.isobit("gate", self.bundle_with("same.isobit.tar", lambda m: None), "x.isobit.tar", expect=0)  # the rewriting changes nothing

        def edit(members):
            members[samples] = members[samples].replace(b'"repeat":0', b'"repeat":1', 1)

        self.refused(self.bundle_with("sum.isobit.tar", edit), f"the checksum of member '{samples}'")
        self.refused(self.bundle_with("less.isobit.tar", lambda m: m.pop(samples)), f"'{samples}' is missing")
        self.refused(self.bundle_with("more.isobit.tar", lambda m: m.update({"runs/x": b"y"})), "'runs/x' is not in its manifest")
        self.refused(self.bundle_with("up.isobit.tar", lambda m: m.update({"../x": b"y"})), "outside the bundle")
        self.refused(self.bundle_with("root.isobit.tar", lambda m: m.update({"/tmp/isobit-evil": b"y"})), "outside the bundle")
        self.refused(self.bundle_with("new.isobit.tar", lambda m: m.update(
            {"manifest.json": m["manifest.json"].replace(b'"format_version":1', b'"format_version":2')})), "this isobit reads 1")
        self.refused(self.write("cut.isobit.tar", data[: len(data) // 2]), "bundle")
        self.refused(self.write("empty.isobit.tar", b""), "bundle")
        self.refused(self.write("text.isobit.tar", b"hello\n" * 500), "bundle")
        self.assertFalse(os.path.exists("/tmp/isobit-evil"))

    def test_links_and_devices_are_refused_by_name(self):
        self.run_audit()
        self.isobit("store", "export", "latest", "-o", "x.isobit.tar", "--store", self.store, expect=0)
        data = self.read("x.isobit.tar")
        for kind, word in ((tarfile.SYMTYPE, "a symbolic link"), (tarfile.LNKTYPE, "a hard link"), (tarfile.CHRTYPE, "a device"), (tarfile.DIRTYPE, "a folder")):
            info = tarfile.TarInfo("a")
            info.type, info.linkname = kind, "/etc/passwd"
            self.refused(self.write("kind.isobit.tar", info.tobuf(tarfile.USTAR_FORMAT) + data), word)

    def test_rows_that_do_not_bear_out_the_run_are_refused(self):
        self.run_audit()
        self.isobit("store", "export", "latest", "-o", "x.isobit.tar", "--store", self.store, expect=0)
        run = self.isobit("store", "list", "--store", self.store, "--json", expect=0).json["runs"][0]["id"]

        def forge(members):
            path = f"runs/{run}/fingerprint.jsonl"
            members[path] = members[path].replace(b'"value":"llama"', b'"value":"llamb"', 1)
            sections = {os.path.basename(name).split(".")[0]: [json.loads(line) for line in members[name].splitlines()]
                        for name in members if name.startswith("runs/")}
            sections["run"] = sections["run"][0]
            manifest = json.loads(members["manifest.json"])
            for listed in manifest["members"]:
                listed["sha256"] = hashlib.sha256(members[listed["name"]]).hexdigest()
            members["manifest.json"] = json.dumps(manifest).encode()

        forged = self.bundle_with("forged.isobit.tar", forge)
        self.assertIn("the digest of run", self.isobit("gate", forged, forged, expect=3).err)
        findings = self.isobit("verify", forged, "--json", expect=1).json["digests"]  # a digest differs: 1, as any other
        self.assertEqual({d["what"] for d in findings if d["finding"] == "differs"}, {f"run/{run}"})

    def test_the_digest_of_a_run_in_the_manifest_is_a_digest_like_any_other(self):
        run = self.one_bundle()

        def edit(members):
            manifest = json.loads(members["manifest.json"])
            manifest["runs"][0]["sha256"] = "0" * 64
            members["manifest.json"] = json.dumps(manifest).encode()

        value = self.isobit("verify", self.bundle_with("edited.isobit.tar", edit), "--json", expect=1).json
        check_schema(value, "evidence.schema.json", "verify")
        self.assertEqual([d["what"] for d in value["digests"] if d["finding"] == "differs"], [f"run/{run}"])
        self.refused(self.path("edited.isobit.tar"), "the digest of run")

    def test_facts_that_no_target_can_have_given_are_refused_by_their_field(self):
        run = self.one_bundle()
        self.isobit("verify", self.forged("same.isobit.tar", lambda m: None), expect=0)
        samples, requests = f"runs/{run}/samples.jsonl", f"runs/{run}/requests.jsonl"
        for member, old, new, words in (
            (samples, rb'"tokens":\[\d+', b'"tokens":[-5', "samples[0]: tokens[0] is -5, expected 0 or more"),
            (samples, rb'"margins":\[[^,]+', b'"margins":[-1e+30', "samples[0]: margins[0] is -1e+30, expected 0 or more"),
            (samples, rb'"repeat":0(.*)$', rb'"repeat":1000000000\1', "repeat is 1000000000, expected 0 to 99999"),
            (samples, rb'"logprobs":\[[^,]+', b'"logprobs":[25', "samples[0]: logprobs[0] is 25"),
            (requests, rb'"n":1', b'"n":2000000000', "requests[0]: n is 2000000000, expected 1 to 1024"),
        ):
            with self.subTest(words=words):
                def edit(members, member=member, old=old, new=new):
                    lines = members[member].splitlines()
                    at = len(lines) - 1 if b"1000000000" in new and member == samples else 0
                    lines[at] = re.sub(old, new, lines[at], count=1)
                    members[member] = b"\n".join(lines) + b"\n"
                forged = self.forged("forged.isobit.tar", edit)
                for arguments in (["verify", forged], ["store", "import", forged, "--store", self.path("none.db")], ["gate", forged, forged]):
                    self.assertIn(words, " ".join(self.isobit(*arguments, expect=3, timeout=60).err.split()))
        self.assertNotIn("none.db", os.listdir(self.folder))

    def assert_no_evidence(self, forged, words):
        for arguments in (["verify", forged], ["store", "import", forged, "--store", self.path("none.db")], ["gate", forged, forged], ["compare", forged, forged]):
            self.assertIn(words, " ".join(self.isobit(*arguments, expect=3, timeout=60).err.split()))
        self.assertNotIn("none.db", os.listdir(self.folder))

    def test_answers_that_were_cut_the_same_way_everywhere_are_refused(self):
        run = self.one_bundle()
        samples = f"runs/{run}/samples.jsonl"
        self.isobit("verify", self.forged("same.isobit.tar", lambda m: m.update({samples: edited_lines(m[samples], lambda s: None)})), expect=0)

        def cut(n, finish, steps=False):
            def change(sample):
                for key in ("tokens", "logprobs", "margins", "logits_hashes", "top"):
                    sample[key] = sample[key][:n]
                sample["finish_reason"] = finish
                if steps:
                    sample["scheduling"]["n_steps"] = len(sample["scheduling"]["prefill_chunks_tokens"]) + n - 1
            return lambda members: members.update({samples: edited_lines(members[samples], change)})

        for n, finish, steps, words in ((0, "stop_token", True, "prompt 0: has no tokens"), (1, "stop_token", False, "ended at a stop token, and its last token"),
                                        (1, "stop_token", True, "ended at a stop token, and its last token"), (1, "stop_string", True, "ended at a stop string, and its request has none"),
                                        (1, "length", True, "has 1 tokens and ended at its length")):
            with self.subTest(n=n, finish=finish, steps=steps):
                self.assert_no_evidence(self.forged("cut.isobit.tar", cut(n, finish, steps)), words)

    def test_rows_that_contradict_themselves_are_refused(self):
        run = self.one_bundle()
        samples = f"runs/{run}/samples.jsonl"

        def other_token(sample):
            sample["tokens"][0] = 999

        def no_margin(sample):
            sample["margins"] = [0] * len(sample["margins"])

        for change, words in ((other_token, "position 0 has token 999"), (no_margin, "position 0 has a margin of 0.000000"),
                              (lambda s: s["scheduling"].update(prefill_chunks_tokens=[1]), "computed a prompt of 1 tokens"), (lambda s: s.update(request_id="other"), "is said to answer 'other'")):
            with self.subTest(words):
                self.assert_no_evidence(self.forged("row.isobit.tar", lambda m, change=change: m.update({samples: edited_lines(m[samples], change)})), words)

    def test_a_cell_that_only_says_that_it_was_exercised_is_refused(self):
        run = self.one_bundle()
        samples = f"runs/{run}/samples.jsonl"

        def alone(sample):
            sample["scheduling"].update(max_batch_requests=1, min_batch_requests=1)

        self.assert_no_evidence(self.forged("alone.isobit.tar", lambda m: m.update({samples: edited_lines(m[samples], alone)})),
                                "is said to be exercised, but at most 1 request shared a step, load.concurrency asks for 8")

    def test_a_policy_in_a_bundle_is_one_whoever_reads_it(self):
        self.one_bundle()
        self.isobit("store", "export", "latest", "-o", "x.isobit.tar", "--policy", "level-1", "--store", self.store, expect=0)
        for policy, words in ((b"{", "policy.json"), (b'{"level": 9}', "policy.json"), (b'{"lvel": 1}', "level"), (b"\xff", "policy.json")):
            forged = self.forged("policy.isobit.tar", lambda m, policy=policy: m.update({"policy.json": policy}))
            self.assert_no_evidence(forged, words)

    def test_a_policy_member_that_is_empty_or_too_large_is_refused(self):
        self.one_bundle()
        self.isobit("store", "export", "latest", "-o", "x.isobit.tar", "--policy", "level-1", "--store", self.store, expect=0)
        for policy, words in ((b"", "policy.json is empty"), (b'{"level": 1}' + b" " * (4 << 20), "at most 4194304 are expected")):
            self.assert_no_evidence(self.forged("policy.isobit.tar", lambda m, policy=policy: m.update({"policy.json": policy})), words)

    def test_a_bundle_that_says_it_is_redacted_and_holds_words_is_refused(self):
        run = self.one_bundle()
        header = f"runs/{run}/run.json"
        forged = self.forged("plain.isobit.tar", lambda m: m.update({header: m[header].replace(b'"redacted":false', b'"redacted":true')}))
        for arguments in (["verify", forged], ["store", "import", forged, "--store", self.path("none.db")], ["gate", forged, forged]):
            self.assertIn("requests[0]: ", self.isobit(*arguments, expect=3).err)
        run = self.one_bundle("--redact")
        self.isobit("verify", "x.isobit.tar", expect=0)
        self.isobit("gate", "x.isobit.tar", "x.isobit.tar", expect=0)

    def test_a_complete_run_without_some_of_its_answers_is_refused_and_never_passes(self):
        run = self.one_bundle("--repeats", "2")
        samples = f"runs/{run}/samples.jsonl"

        def without(word):
            def edit(members):
                members[samples] = b"".join(line + b"\n" for line in members[samples].splitlines() if not word(json.loads(line)))
            return edit

        for name, word, words in (
            ("one", lambda s: (s["cell"], s["prompt"], s["repeat"]) == (1, 3, 1), "cell 'load.concurrency=8', repeat 1: has 7 samples, expected 8"),
            ("prompt", lambda s: s["prompt"] == 3, "repeat 0: has 7 samples, expected 8"),
            ("cell", lambda s: s["cell"] == 1, "cell 'load.concurrency=8', repeat 0: has 0 samples, expected 8"),
            ("repeat", lambda s: s["repeat"] == 1, "has answers of 1 repeats, its plan asks for 2"),
        ):
            with self.subTest(name):
                self.refused(self.forged(name + ".isobit.tar", without(word)), words)
        with sqlite3.connect(self.store) as db:
            db.execute("DELETE FROM forced")
            db.execute("DELETE FROM sample WHERE cell_index = 1 AND prompt_index = 3 AND repeat = 1")
        db.close()
        for level in ("0", "1", "2"):
            verdict = self.isobit("gate", "latest", "latest", "--level", level, "--store", self.store, "--json", expect=5).json
            self.assertEqual([r["text"] for r in verdict["reasons"]][:1], ["1 of 16 answers are missing, incomplete or failed"])
        self.isobit("compare", "latest", "latest", "--exit-code", "--store", self.store, expect=5)
        for arguments in (["store", "export", "latest", "-o", "less.isobit.tar"], ["store", "check"]):
            r = self.isobit(*arguments, "--store", self.store, expect=3)
            self.assertIn("repeat 1: has 7 samples, expected 8", " ".join((r.out + r.err).split()))
        self.assertNotIn("less.isobit.tar", os.listdir(self.folder))
        self.isobit("store", "merge", self.store, "--into", self.path("none.db"), expect=3)
        self.assertNotIn("none.db", os.listdir(self.folder))
        with sqlite3.connect(self.store) as db:
            db.execute("DELETE FROM sample WHERE repeat = 1")
        db.close()
        self.assertIn("its plan asks for 2", " ".join(self.isobit("gate", "latest", "latest", "--store", self.store, expect=3).err.split()))

    def test_a_cell_made_its_own_reference_in_plan_and_cells_alike_is_refused(self):
        run = self.one_bundle()

        def own(cell):
            key = next(key for key in cell if key.startswith("reference"))
            return {**cell, key: cell["index"]} if cell["index"] == 1 else cell

        def compact(value):
            return json.dumps(value, sort_keys=True, separators=(",", ":"))

        def edit(members):
            header = json.loads(members[f"runs/{run}/run.json"])
            key = next(key for key in header if key.startswith("plan"))
            plan = json.loads(header[key]) if isinstance(header[key], str) else header[key]
            plan["cells"] = [own(cell) for cell in plan["cells"]]
            header[key] = compact(plan) if isinstance(header[key], str) else plan
            members[f"runs/{run}/run.json"] = compact(header).encode() + b"\n"
            cells = [json.loads(line) for line in members[f"runs/{run}/cells.jsonl"].splitlines()]
            members[f"runs/{run}/cells.jsonl"] = b"".join(compact(own(cell)).encode() + b"\n" for cell in cells)

        self.refused(self.forged("own.isobit.tar", edit), "other cells than were stored")

    def test_a_baseline_without_some_of_its_answers_is_no_file_and_never_passes(self):
        self.two_runs()
        self.isobit("baseline", "set", "prod", "latest~1", "--store", self.store, expect=0)
        with sqlite3.connect(self.store) as db:
            db.execute("DELETE FROM sample WHERE prompt_index = 3 AND cell_index = 1")
        db.close()
        self.isobit("gate", "@prod", "latest", "--store", self.store, expect=5)
        self.isobit("baseline", "export", "prod", "-o", "b.json", "--store", self.store, expect=3)
        self.assertNotIn("b.json", os.listdir(self.folder))

    def test_a_full_disk_and_a_folder_that_is_not_writable_leave_nothing(self):
        self.two_runs()
        bundle = self.exported()
        before = sorted(os.listdir(self.folder))
        r = self.isobit("store", "import", bundle, "--store", self.path("new.db"), expect=3, preexec_fn=file_size_limit(64 << 10))
        self.assertRegex(r.err, "(?i)full|disk|large|write")
        self.isobit("store", "export", "latest", "-o", "big.isobit.tar", "--store", self.store, expect=3, preexec_fn=file_size_limit(16 << 10))
        self.assertEqual(sorted(os.listdir(self.folder)), before)
        self.isobit("store", "export", "latest", "-o", "no/such/x.isobit.tar", "--store", self.store, expect=3)
        self.isobit("store", "import", bundle, "--store", self.path("no/such/new.db"), expect=3)
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_a_bundle_given_as_a_store_is_known_for_what_it_is(self):
        self.one_bundle()
        for command in (["store", "list"], ["store", "check"], ["baseline", "list"]):
            err = " ".join(self.isobit(*command, "--store", "x.isobit.tar", expect=3).err.split())
            self.assertIn("is no store but a bundle", err)
            self.assertIn("isobit store import", err)
            self.assertIn("isobit verify", err)

    def test_words_that_name_nothing_are_2(self):
        self.two_runs()
        bundle = self.exported()
        self.assertIn("it has", self.isobit("gate", bundle + ":nosuch", bundle, expect=2).err)
        self.isobit("gate", bundle + ":latest~2", bundle, expect=2)
        self.isobit("gate", bundle + ":latest~x", bundle, expect=2)
        self.assertIn("named twice", self.isobit("store", "export", "latest", "latest", "-o", "y.tar", "--store", self.store, expect=2).err)
        self.assertIn("-o", self.isobit("store", "export", "latest", "--store", self.store, expect=2).err)
        self.assertNotIn("y.tar", os.listdir(self.folder))


class Merge(BundleTest):
    def setUp(self):
        super().setUp()
        self.run_audit("--axis", "load.concurrency=1,8")
        self.other = self.path("other.db")
        shutil.copyfile(self.store, self.other)
        self.isobit("run", TINY, "--max-tokens", "8", "--store", self.other, expect=0)
        self.isobit("baseline", "set", "prod", "latest", "--store", self.other, expect=0)
        self.isobit("gate", "latest", "latest", "--save", "--store", self.other, expect=0)

    def test_a_merge_takes_everything_and_a_second_one_nothing(self):
        first = self.store_json("merge", "merge", self.other)
        self.assertEqual((first["runs_added"], first["runs_there"], first["baselines_added"], first["comparisons_added"]), (1, 1, 1, 1))
        second = self.store_json("merge", "merge", self.other)
        self.assertEqual((second["runs_added"], second["runs_there"], second["baselines_added"], second["comparisons_added"]), (0, 2, 0, 0))
        self.isobit("gate", "@prod", "latest", "--store", self.store, expect=0)
        self.assertIn("sound", self.isobit("store", "check", "--store", self.store, expect=0).out)
        self.assertIn("2 runs added", self.isobit("store", "merge", self.other, "--into", self.path("new.db"), expect=0).out)

    def test_a_conflict_is_refused_with_both_sides(self):
        with sqlite3.connect(self.other) as db:
            db.execute("UPDATE run SET label = 'green' WHERE run_key = 1")
        db.close()
        before, bytes_before = self.content(), self.read("s.db")
        conflict = self.store_json("merge", "merge", self.other, expect=2)["conflicts"][0]
        self.assertEqual((conflict["differs_in"], conflict["here"], conflict["there"]), ("run.label", '""', '"green"'))
        self.assertEqual(self.read("s.db"), bytes_before)
        self.assertEqual(self.content(), before)

    def test_stores_that_cannot_be_read_are_3_and_itself_is_2(self):
        self.assertIn("itself", self.isobit("store", "merge", self.store, "--store", self.store, expect=2).err)
        self.isobit("store", "merge", "none.db", "--store", self.store, expect=3)
        with sqlite3.connect(self.other) as db:
            db.execute("PRAGMA user_version = 99")
        db.close()
        self.assertIn("schema version 99", self.isobit("store", "merge", self.other, "--store", self.store, expect=3).err)
        self.assertIn("schema version 99", self.isobit("store", "merge", self.store, "--into", self.other, expect=3).err)
        self.isobit("store", "merge", self.other, "--into", self.path("new.db"), expect=3)
        self.assertNotIn("new.db", os.listdir(self.folder))


if __name__ == "__main__":
    unittest.main()
