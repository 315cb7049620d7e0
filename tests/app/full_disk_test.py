"""What happens where there is no room: on a disk that is full, and under a limit on the size of files."""

import os
import resource
import subprocess
import unittest

from program import PROGRAM, TINY, ProgramTest


class NoRoom(ProgramTest):
    def audited(self):
        """A store beside the full place, with two runs that differ in nothing."""
        store = self.path("whole.db")
        for _ in range(2):
            self.isobit("run", TINY, "--max-tokens", "4", "--axis", "load.concurrency=1,8", "--store", store, expect=0)
        return store

    def assert_sound(self, store, n_runs=None):
        self.isobit("store", "check", "--store", store, expect=0)
        runs = self.isobit("store", "list", "--json", "--store", store, expect=0).json["runs"]
        if n_runs is not None:
            self.assertEqual(len(runs), n_runs)
        return runs

    def assert_says(self, result, *words, code=3):
        """One error, whose words these are."""
        self.assertEqual(result.code, code, result.err)
        errors = [line for line in result.err.splitlines() if line.startswith("isobit: ")]
        self.assertEqual(len(errors), 1, result.err)
        for word in words:
            self.assertIn(word, errors[0])


class FullDisk(NoRoom):
    def setUp(self):
        super().setUp()
        self.disk = self.path("disk")
        os.mkdir(self.disk)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", self.disk], check=False, capture_output=True, text=True)
        if mounted.returncode != 0:
            self.skipTest("SKIPPED: a small disk cannot be mounted here: " + mounted.stderr.strip())
        self.addCleanup(subprocess.run, ["umount", "-l", self.disk], check=True)

    def on_disk(self, name):
        return os.path.join(self.disk, name)

    def fill(self, free_bytes=0):
        with open(self.on_disk("filler"), "wb", buffering=0) as f:
            try:
                while f.write(b"x" * 4096) == 4096:
                    pass
            except OSError:
                pass
            f.truncate(max(0, f.tell() // 4096 * 4096 - free_bytes))

    def make_room(self):
        os.remove(self.on_disk("filler"))

    def test_a_run_stops_with_the_reason_and_goes_on_when_there_is_room(self):
        for free_bytes in (0, 60_000, 120_000, 180_000, 240_000, 300_000):
            with self.subTest(free_bytes):
                store = self.on_disk(f"{free_bytes}.db")
                self.fill(free_bytes)
                r = self.isobit("run", TINY, "--max-tokens", "64", "--axis", "load.concurrency=1,8", "--store", store)
                self.assert_says(r, store, "there is no space left", code=8 if "the run stopped after" in r.err else 3)
                self.make_room()
                runs = self.assert_sound(store) if os.path.exists(store) and os.path.getsize(store) else []
                if runs:
                    self.isobit("run", "--resume", "--store", store, expect=0)
                else:
                    self.isobit("run", TINY, "--max-tokens", "64", "--axis", "load.concurrency=1,8", "--store", store, expect=0)
                self.assertEqual([run["status"] for run in self.assert_sound(store)], ["complete"])
                for name in os.listdir(self.disk):
                    os.remove(self.on_disk(name))

    def test_an_output_is_written_whole_or_not_at_all(self):
        store = self.audited()
        outputs = {"r.html": ["report", "latest"], "r.md": ["report", "latest"], "r.json": ["gate", "latest~1", "latest"], "x.isobit.tar": ["store", "export", "latest"],
                   "bom.json": ["fingerprint", TINY, "--cyclonedx"]}
        for name, command in outputs.items():
            for old in (None, b"as it was"):
                with self.subTest((name, old)):
                    if old is not None:
                        with open(self.on_disk(name), "wb") as f:
                            f.write(old)
                    self.fill()
                    before = sorted(os.listdir(self.disk))
                    self.assert_says(self.isobit(*command, "-o", self.on_disk(name), "--store", store), name, "No space left on device")
                    self.assertEqual(sorted(os.listdir(self.disk)), before)
                    if old is not None:
                        with open(self.on_disk(name), "rb") as f:
                            self.assertEqual(f.read(), old)
                    self.make_room()
                    self.isobit(*command, "-o", self.on_disk(name), "--store", store, expect=0)
                    os.remove(self.on_disk(name))

    def test_a_summary_is_added_to_whole_or_not_at_all(self):
        store = self.audited()
        for old in (None, b"as it was" + 4080 * b"."):  # little room in its last block
            with self.subTest(old):
                if old is not None:
                    with open(self.on_disk("sum.md"), "wb") as f:
                        f.write(old)
                self.fill()
                before = sorted(os.listdir(self.disk))
                self.assert_says(self.isobit("report", "latest", "--summary", self.on_disk("sum.md"), "--store", store), "sum.md", "No space left on device")
                self.assertEqual(sorted(os.listdir(self.disk)), before)
                if old is not None:
                    with open(self.on_disk("sum.md"), "rb") as f:
                        self.assertEqual(f.read(), old)
                self.make_room()

    def test_standard_output_on_a_full_disk_is_an_error_with_the_reason(self):
        self.fill()
        for arguments in (["completion", "bash"], ["help", "--man"], ["fingerprint", TINY, "--json"], ["schema", "run"]):
            with self.subTest(arguments), open(self.on_disk("out"), "wb") as out:
                done = subprocess.run([PROGRAM, *arguments], stdout=out, stderr=subprocess.PIPE, cwd=self.folder, check=False, text=True)
                self.assertEqual((done.returncode, done.stderr), (3, "isobit: cannot write to standard output: No space left on device\n"))

    def test_a_log_that_has_no_room_ends_and_the_work_does_not(self):
        self.fill()
        r = self.run_audit("--log-file", self.on_disk("log"))
        self.assertEqual(r.err.count("the log ends here"), 1)
        self.assertIn("No space left on device", r.err)
        self.assert_sound(self.store, 1)

    def test_what_is_added_to_a_store_is_added_whole_or_not_at_all(self):
        whole = self.audited()
        bundle = self.path("two.isobit.tar")
        self.isobit("store", "export", "latest", "latest~1", "-o", bundle, "--store", whole, expect=0)
        store = self.on_disk("s.db")
        self.isobit("run", TINY, "--max-tokens", "4", "--store", store, expect=0)
        for command in (["store", "import", bundle], ["store", "merge", whole], ["baseline", "set", "prod", "latest"], ["gate", "latest", "latest", "--save"],
                        ["store", "prune", "--keep", "0"]):
            with self.subTest(command):
                self.fill()
                self.assert_says(self.isobit(*command, "--store", store), "s.db", "there is no space left")
                self.make_room()
                self.assert_sound(store, 1)
        self.isobit("store", "import", bundle, "--store", store, expect=0)
        self.assert_sound(store, 3)


class FileSizeLimit(NoRoom):
    """Without a word to the program about SIGXFSZ, as `ulimit -f` leaves it."""

    def limited(self, n_bytes, *arguments):
        return self.isobit(*arguments, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes)))

    def test_every_command_that_writes_a_store_says_so_and_leaves_it_as_it_was(self):
        whole = self.audited()
        bundle = self.path("two.isobit.tar")
        self.isobit("store", "export", "latest", "latest~1", "-o", bundle, "--store", whole, expect=0)
        self.isobit("run", TINY, "--max-tokens", "4", "--store", self.store, expect=0)
        reasons = []
        for command in (["store", "import", bundle], ["store", "merge", whole], ["baseline", "set", "prod", "latest"], ["gate", "latest", "latest", "--save"],
                        ["store", "prune", "--keep", "0"]):
            for n_bytes in (0, 1024, 20_000):
                with self.subTest((command, n_bytes)):
                    r = self.limited(n_bytes, *command, "--store", self.store)
                    self.assert_says(r, "s.db")
                    self.assertIn(f"hint: a file may have at most {n_bytes} bytes here (ulimit -f)", r.err)
                    if "disk I/O error" in r.err:
                        self.assertIn("disk I/O error: File too large", r.err)
                        reasons.append(command)
                    self.assert_sound(self.store, 1)
        self.assertTrue(reasons)

    def test_reading_a_store_needs_no_room(self):
        store = self.audited()
        for command in (["store", "list"], ["store", "info"], ["store", "check"], ["compare", "latest~1", "latest"], ["store", "query", "SELECT * FROM sample ORDER BY random()"]):
            with self.subTest(command):
                self.assertEqual(self.limited(0, *command, "--store", store).code, 0)

    def test_outputs_and_new_stores_leave_nothing_half_written(self):
        store = self.audited()
        before = sorted(os.listdir(self.folder))
        for command, name in ((["report", "latest"], "r.html"), (["store", "export", "latest"], "x.isobit.tar"), (["fingerprint", TINY, "--cyclonedx"], "bom.json")):
            with self.subTest(name):
                self.assert_says(self.limited(1024, *command, "-o", name, "--store", store), name, "File too large")
                self.assertEqual(sorted(os.listdir(self.folder)), before)


if __name__ == "__main__":
    unittest.main()
