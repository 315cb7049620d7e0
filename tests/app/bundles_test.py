"""Runs that leave a store as a file and come back, and two stores that become one."""

import hashlib
import io
import json
import os
import resource
import shutil
import signal
import sqlite3
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
        before = self.content()
        conflict = self.store_json("import", "import", bundle, expect=2)["conflicts"][0]
        self.assertTrue(conflict["differs_in"].endswith(".text"))
        self.assertEqual(conflict["here"], '"planted"')
        self.assertNotEqual(conflict["there"], '"planted"')
        shown = self.isobit("store", "import", bundle, "--store", self.store, expect=2)
        self.assertIn("planted", shown.out)
        self.assertIn(bundle, shown.out)
        self.assertIn("nothing was changed", shown.err)
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
                self.assertIn(word, r.err)
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
        before = self.content()
        conflict = self.store_json("merge", "merge", self.other, expect=2)["conflicts"][0]
        self.assertEqual((conflict["differs_in"], conflict["here"], conflict["there"]), ("run.label", '""', '"green"'))
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
