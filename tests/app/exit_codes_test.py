"""Every exit code of the program, and the message that comes with it."""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import unittest

from program import PROGRAM, TINY, ProgramTest


class ExitCodes(ProgramTest):
    def test_0_when_every_cell_is_the_same_in_bits(self):
        r = self.run_audit("--axis", "load.concurrency=1,8", "--check", "2", "--json")
        self.assertEqual([c["numeric_divergences"] for c in r.json["cells"]], [0, 0])
        self.assertTrue(all(c["exercised"] for c in r.json["cells"]))

    def test_1_when_the_adaptive_set_diverges(self):
        r = self.run_audit("--set", "engine.kernel_set=cpu-adaptive", "--axis", "load.concurrency=1,8", "--check", "2", "--json", expect=None)
        if r.code == 3 and "OpenBLAS" in r.err:
            self.skipTest("SKIPPED: built without OpenBLAS")
        self.assertEqual(r.code, 1, r.err)
        self.assertGreater(sum(c["numeric_divergences"] for c in r.json["cells"]), 0)

    def test_2_for_words_that_do_not_exist_with_the_nearest_one(self):
        for arguments, hint in (
            (["rnu", TINY], "did you mean 'run'"),
            (["run", TINY, "--axis", "load.concurency=1"], "load.concurrency"),
            (["run", TINY, "--axis", "load.concurrency=0"], "load.concurrency"),
            (["run", TINY, "--set", "engine.kernel_set=cpuu"], "cpu"),
            (["run", TINY, "--prompts", "smok"], "smoke"),
            (["run", TINY, "--check", "3"], "level 3"),
            (["plan", TINY, "--top", "-1"], "--top"),
            (["plan", TINY, "--top", "2000"], "--top"),
            (["plan", TINY, "--seed", "-1"], "--seed"),
            (["run", TINY, "--max-tokens", "5000"], "the context holds 2048"),
            (["run"], "MODEL"),
            (["run", TINY, "--no-such-flag"], "--no-such-flag"),
            (["store", "query"], "SQL"),
            (["run", TINY, "--threads", "0"], "--threads"),
            (["run", TINY, "--chek", "2"], "unexpected: --chek 2 (did you mean '--check'?)"),
            (["run", TINY, "--axis", "concurrency=1,8"], "did you mean 'load.concurrency'"),
            (["run", TINY, "--resume", "--axis", "load.concurrency=1,8"], "--resume"),
            (["run", TINY, "--threads", "1000000"], "--threads"),
            ([], "subcommand"),
        ):
            r = self.isobit(*arguments, expect=2)
            self.assertIn(hint, r.err, arguments)
            self.assertEqual(os.listdir(self.folder), [], arguments)

    def test_3_for_an_environment_that_cannot_do_it(self):
        self.assertIn("does not exist", self.isobit("run", "nowhere", expect=3).err)
        self.assertIn("toolkit", self.isobit("run", TINY, "--set", "engine.kernel_set=cuda", expect=3).err)
        self.write("s.db", "this is not a database, only text of some length " * 50)
        self.assertIn("s.db", self.isobit("store", "info", "--store", self.store, expect=3).err)
        self.assertIn("s.db", self.run_audit(expect=3).err)
        with open(self.store, "rb") as f:
            self.assertTrue(f.read().startswith(b"this is not"))

    def test_3_where_nothing_can_be_written_not_even_the_error(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([PROGRAM, "fingerprint", TINY], stdout=full, stderr=full, check=False)
        self.assertEqual(done.returncode, 3)

    def test_3_where_the_system_refuses_threads(self):
        limit = 400 << 20
        r = self.isobit("bench", TINY, "--prompt-tokens", "16", "--gen-tokens", "4", "--rounds", "1", "--threads", "200", "--kernel-set", "cpu",
                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)), expect=3)
        self.assertIn("cannot start 200 threads", r.err)

    def test_3_for_a_checkpoint_with_one_damaged_file(self):
        for name, change, word in (
            ("config.json", lambda text: re.sub(r'("max_position_embeddings": *)\d+', r"\g<1>16777217", text), "16777216"),
            ("tokenizer_config.json", lambda text: text[: len(text) // 2], "tokenizer_config.json"),
            ("tokenizer_config.json", lambda text: "[]", "an object"),
        ):
            folder = self.path("copy")
            shutil.copytree(TINY, folder)
            with open(os.path.join(folder, name), encoding="utf-8") as f:
                text = f.read()
            self.assertNotEqual(text, change(text))
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(change(text))
            self.assertIn(word, self.isobit("run", folder, expect=3).err)
            shutil.rmtree(folder)

    def test_3_for_a_disk_that_is_full_before_anything_is_recorded(self):
        limit = 24 * 1024
        r = self.isobit("run", TINY, "--store", self.store, "--max-tokens", "8", preexec_fn=lambda: (
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN), resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))))
        self.assertIn(r.code, (3, 8), r.err)
        self.assertRegex(r.err, "(?i)full|disk|large|write")

    def test_4_for_what_this_version_cannot_do(self):
        self.isobit("run", TINY, "--axis", "engine.prefix_cache=off,warm", expect=4)

    def test_5_when_a_cell_was_not_exercised(self):
        r = self.run_audit("--axis", "engine.chunked_prefill=off,2000", "--check", "2", "--json", expect=5)
        self.assertEqual([c["exercised"] for c in r.json["cells"]], [True, False])

    def test_6_when_the_weights_differ(self):
        other = self.path("other")
        shutil.copytree(TINY, other)
        with open(os.path.join(other, "model.safetensors"), "r+b") as f:
            f.seek(-100, os.SEEK_END)
            byte = f.read(1)
            f.seek(-100, os.SEEK_END)
            f.write(bytes([byte[0] ^ 1]))
        self.run_audit()
        self.run_audit(model=other)
        r = self.isobit("gate", "latest~1", "latest", "--store", self.store, expect=6)
        self.assertIn("weights", r.out)
        self.write("f.json", self.isobit("fingerprint", TINY, "--json", expect=0).out)
        self.isobit("fingerprint", "verify", self.path("f.json"), TINY, expect=0)
        self.isobit("fingerprint", "verify", self.path("f.json"), other, expect=6)
        self.assertIn("weights", self.isobit("fingerprint", "diff", TINY, other, expect=1).out)

    def left_in_the_middle_of_a_change(self):
        """As after kill -9 outside a recording: the file is changed, its journal has what it was."""
        script = ("import os, sqlite3, sys\n"
                  "db = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
                  "db.execute('PRAGMA cache_size = 1')\n"
                  "db.execute('BEGIN IMMEDIATE')\n"
                  "db.execute(\"UPDATE sample SET text = text || hex(zeroblob(20000))\")\n"
                  "os.kill(os.getpid(), 9)\n")
        subprocess.run([sys.executable, "-c", script, self.store], check=False)
        self.assertGreater(os.path.getsize(self.store + "-journal"), 512)

    def test_a_change_that_a_kill_cut_short_is_taken_back_before_anything_is_read(self):
        self.run_audit()
        before = self.isobit("report", "latest", "--store", self.store, "-o", "a.json", expect=0) and self.read("a.json")
        for command in (["store", "check"], ["store", "list"], ["report", "latest", "-o", "b.json"]):
            self.left_in_the_middle_of_a_change()
            self.isobit(*command, "--store", self.store, expect=0)
            self.assertFalse(os.path.exists(self.store + "-journal") and os.path.getsize(self.store + "-journal") > 0)
        self.assertEqual(self.read("b.json"), before)

    def test_3_where_such_a_change_cannot_be_taken_back(self):
        self.run_audit()
        self.left_in_the_middle_of_a_change()
        if os.geteuid() == 0 and shutil.which("setpriv") is None:
            self.skipTest("SKIPPED: root may write anywhere, and there is no setpriv")
        for path, mode in ((self.store, 0o444), (self.store + "-journal", 0o444), (self.folder, 0o555)):
            os.chmod(path, mode)
        self.addCleanup(os.chmod, self.folder, 0o755)
        as_nobody = ["setpriv", "--reuid=65534", "--clear-groups"] if os.geteuid() == 0 else []
        done = subprocess.run([*as_nobody, PROGRAM, "store", "list", "--store", self.store], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(b"in the middle of a change", done.stderr)

    def test_8_and_resume_after_a_kill(self):
        arguments = ["run", TINY, "--store", self.store, "--prompts", "standard", "--max-tokens", "24", "--axis", "load.concurrency=1,8",
                     "--axis", "engine.chunked_prefill=off,16", "--design", "grid"]
        process = subprocess.Popen([PROGRAM, *arguments], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.time() + 120
        n = 0
        while time.time() < deadline and n < 40 and process.poll() is None:
            time.sleep(0.05)
            if os.path.exists(self.store):
                r = self.isobit("store", "query", "SELECT count(*) AS n FROM sample", "--store", self.store, "--json")
                n = r.json[0]["n"] if r.code == 0 else 0
        process.kill()
        process.wait()
        self.assertGreaterEqual(n, 40)
        before = self.isobit("store", "query", "SELECT count(*) AS n FROM sample", "--store", self.store, "--json", expect=0).json[0]["n"]
        self.assertGreaterEqual(before, n)
        r = self.isobit("gate", "latest", "latest", "--store", self.store, expect=8)
        r = self.isobit("run", "--resume", "--store", self.store, "--check", "2", "--json", expect=0)
        self.assertEqual([c["samples"] for c in r.json["cells"]], [64] * 4)
        self.assertIn("sound", self.isobit("store", "check", "--store", self.store, expect=0).out)

    def test_130_and_143_when_a_signal_comes_and_what_was_recorded_stays(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            store = self.path(f"{code}.db")
            process = subprocess.Popen([PROGRAM, "run", TINY, "--store", store, "--prompts", "standard", "--max-tokens", "64"],
                                       cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            deadline = time.time() + 120
            while time.time() < deadline and not os.path.exists(store):
                time.sleep(0.02)
            time.sleep(0.2)
            process.send_signal(number)
            _, err = process.communicate(timeout=120)
            self.assertEqual(process.returncode, code, err)
            self.assertIn(b"--resume", err)
            self.isobit("store", "check", "--store", store, expect=0)

    def test_a_signal_ends_at_once_what_records_nothing(self):
        self.run_audit()
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
        process = subprocess.Popen([PROGRAM, "store", "query", endless, "--store", self.store], cwd=self.folder,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.5)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=60), -signal.SIGTERM)

    def test_3_while_another_process_records_to_the_store(self):
        process = subprocess.Popen([PROGRAM, "run", TINY, "--store", self.store, "--prompts", "standard", "--max-tokens", "64", "--axis",
                                    "load.concurrency=1,2,3"], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        deadline = time.time() + 120
        while time.time() < deadline and self.isobit("store", "query", "SELECT cell_index FROM sample LIMIT 1", "--store", self.store, "--json").out in ("", "[]\n"):
            time.sleep(0.05)
        for arguments in (["run", "--resume"], ["run", TINY]):
            self.assertIn("another isobit", self.isobit(*arguments, "--store", self.store, expect=3).err)

    def test_a_run_refuses_a_path_that_cannot_become_a_store_before_it_loads_a_model(self):
        for store in (self.folder, self.path("no/folder/s.db"), "/dev/full"):
            self.isobit("run", "nowhere", "--store", store, expect=3)
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    unittest.main()
