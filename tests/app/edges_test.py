"""What stands on a command line's edge: no value, a folder that is gone, a name that a shell would run, files that others hold too."""

import json
import os
import shlex
import shutil
import sqlite3
import subprocess
import tempfile
import unittest

from program import PROGRAM, SOURCE, TINY, ProgramTest

BEFORE, AFTER = (os.path.join(SOURCE, "examples", "configurations", name) for name in ("before.json", "after.json"))


class EmptyValues(ProgramTest):
    def test_2_for_an_empty_value_which_is_named_and_nothing_is_made(self):
        for arguments, named in (
            (["report", "latest", ""], "CAND"),
            (["report", "latest", "-o", ""], "--output"),
            (["gate", "latest~1", "latest", "-o", ""], "--output"),
            (["report", "latest", "--model", ""], "--model"),
            (["run", TINY, "--store", ""], "--store"),
            (["run", ""], "MODEL"),
            (["run", TINY, "--matrix", ""], "--matrix"),
            (["run", TINY, "--against", ""], "--against"),
            (["run", TINY, "--design", ""], "--design"),
            (["run", TINY, "--prompts", ""], "--prompts"),
            (["run", TINY, "--label", ""], "--label"),
            (["run", TINY, "--threads", ""], "--threads"),
            (["run", TINY, "--log-file", ""], "--log-file"),
            (["-C", "", "run", TINY], "-C"),
            (["baseline", "verify", "p", ""], "MODEL"),
            (["baseline", "set", "p", "latest", "--note", ""], "--note"),
            (["store", "prune", "--runs", ""], "--runs"),
            (["store", "prune", "--runs", ","], "--runs"),
            (["store", "prune", "--keep", ""], "--keep"),
            (["store", "query", ""], "SQL"),
            (["help", ""], "COMMAND"),
        ):
            with self.subTest(arguments):
                r = self.isobit(*arguments, expect=2)
                self.assertIn(named, r.err)
                self.assertEqual(os.listdir(self.folder), [])

    def test_an_empty_text_is_a_text(self):
        self.assertEqual(self.isobit("tokens", "encode", "--tokenizer", TINY, "--text", "", "--json", "--no-special", expect=0).json["ids"], [])

    def test_an_option_does_not_take_the_next_words(self):
        self.run_audit()
        run = self.isobit("store", "list", "--store", self.store, "--json", expect=0).json["runs"][0]["id"]
        self.assertIn("--runs has a comma with no run beside it", self.isobit("store", "prune", "--runs", ",", "--store", self.store, expect=2).err)
        self.assertIn("unexpected: latest", self.isobit("store", "prune", "--store", self.store, "--dry-run", "--runs", run, "latest", expect=2).err)
        for runs in (["--runs", f"{run},latest"], ["--runs", run, "--runs", "latest"]):
            self.assertIn(f"would remove run {run}", self.isobit("store", "prune", *runs, "--store", self.store, "--dry-run", expect=0).out)

    def test_a_number_below_0_is_refused_in_few_words(self):
        for arguments in (["store", "prune", "--keep", "-1"], ["plan", TINY, "--seed", "-1"]):
            err = self.isobit(*arguments, expect=2).err
            self.assertIn(f"{arguments[2]}: '-1' is below 0", err)
            self.assertLess(len(err), 200)


class Folders(ProgramTest):
    def test_3_with_the_reason_in_a_folder_that_is_gone(self):
        self.run_audit()
        for arguments in (["run", TINY], ["run", TINY, "--store", "s.db"], ["report", "latest", "-o", "x.md", "--store", self.store],
                          ["report", "latest", "--summary", "x.md", "--store", self.store], ["doctor", "--log-file", "log"]):
            with self.subTest(arguments):
                gone = tempfile.mkdtemp(prefix="isobit-gone-")
                self.addCleanup(shutil.rmtree, gone, True)
                script = 'cd "$0" && rmdir "$0" && exec "$@"'
                done = subprocess.run(["sh", "-c", script, gone, PROGRAM, *arguments], capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertIn("No such file or directory", done.stderr)

    def test_3_for_a_name_that_the_system_cannot_look_up(self):
        long = "x" * 300
        for arguments in (["run", long], ["inspect", "template", long], ["report", "latest", "-o", long + ".md"], ["run", TINY, "--prompts", long + ".jsonl"]):
            with self.subTest(arguments):
                self.assertIn("File name too long", self.isobit(*arguments, expect=3).err)

    def test_an_output_that_cannot_be_written_is_found_before_any_work(self):
        for option in (["--statement", "no/such/s.json", "--check", "2"],):
            err = self.isobit("run", TINY, *option, expect=3).err
            self.assertIn("cannot write 'no/such/s.json': its folder", err)
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_store_whose_folder_goes_while_it_is_recorded_to_is_told_of(self):
        os.mkdir(self.path("d"))
        run = subprocess.Popen([PROGRAM, "run", TINY, "--store", "d/s.db", "--progress", "lines", "--repeats", "40", "--max-tokens", "32"], cwd=self.folder,
                               stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        while not os.path.exists(self.path("d/s.db-wal")) and run.poll() is None:
            pass
        shutil.rmtree(self.path("d"))
        err = run.communicate(timeout=300)[1]
        self.assertEqual(run.returncode, 3, err)
        self.assertNotIn("record one with", err)
        self.assertIn("removed while it was recorded to", err)

    def test_a_store_of_schema_version_0_is_not_said_to_be_a_newer_one(self):
        self.run_audit()
        with sqlite3.connect(self.store) as db:
            db.execute("PRAGMA user_version = 0")
        db.close()
        err = self.isobit("store", "list", "--store", self.store, expect=3).err
        self.assertIn("schema version 0", err)
        self.assertNotIn("newer", err)

    def test_a_name_of_the_greatest_length_can_be_written(self):
        self.run_audit()
        for name in ("r" * 247 + ".md", "é" * 125 + ".csv"):
            self.isobit("report", "latest", "--store", self.store, "-o", name, expect=0)
            self.assertGreater(os.path.getsize(self.path(name)), 100)
        self.assertEqual(len(os.listdir(self.folder)), 3, "nothing temporary is left")

    def test_a_link_is_followed_whether_its_end_is_there_or_not(self):
        self.run_audit()
        os.mkdir(self.path("d"))
        os.symlink("d/r.md", self.path("link.md"))
        os.symlink("link.md", self.path("again.md"))
        for _ in range(2):
            self.isobit("report", "latest", "--store", self.store, "-o", "again.md", expect=0)
            self.assertTrue(os.path.islink(self.path("link.md")) and os.path.islink(self.path("again.md")))
            self.assertIn(b"at level 2", self.read("d/r.md"))


class Suggestions(ProgramTest):
    def test_a_suggested_command_names_the_model_as_one_word(self):
        model = self.path("my model; touch pwned")
        shutil.copytree(TINY, model)
        for command in (["fingerprint"], ["inspect", "checkpoint"], ["inspect", "tokenizer"], ["inspect", "template"]):
            with self.subTest(command):
                err = self.isobit(*command, model, expect=0).err
                suggested = next(line for line in err.splitlines() if line.startswith("next: "))
                self.assertIn(model, shlex.split(suggested.removeprefix("next: ")))


class Summaries(ProgramTest):
    def test_what_others_add_at_the_same_time_stays(self):
        self.run_audit()
        self.write("sum.md", "what was there")
        running = [subprocess.Popen([PROGRAM, "report", "latest", "--store", self.store, "--summary", "sum.md", "-q"], cwd=self.folder) for _ in range(6)]
        self.assertEqual([p.wait(timeout=300) for p in running], [0] * 6)
        text = self.read("sum.md")
        self.assertTrue(text.startswith(b"what was there\n"))
        self.assertEqual(text.count(b"<summary>Cells</summary>"), 6)

    def test_a_summary_whose_file_exists_needs_no_folder_to_write_to_and_keeps_its_inode(self):
        self.run_audit()
        self.write("sum.md", "")
        before = os.stat(self.path("sum.md")).st_ino
        self.isobit("report", "latest", "--store", self.store, "--summary", "sum.md", expect=0)
        self.assertEqual(os.stat(self.path("sum.md")).st_ino, before)


class Logs(ProgramTest):
    def test_a_pipe_that_nobody_reads_is_refused_as_a_log(self):
        os.mkfifo(self.path("pipe"))
        os.mkdir(self.path("folder"))
        for name in ("pipe", "folder"):
            self.assertIn("not a regular file", self.isobit("doctor", "--log-file", name, timeout=60, expect=3).err)

    def test_streams_and_devices_may_be_logs(self):
        for name in ("/dev/null", "/dev/stderr"):
            self.isobit("policy", "list", "--log-file", name, timeout=60, expect=0)


class Upgrades(ProgramTest):
    def upgrade(self, *arguments, expect=0):
        return self.isobit("gate", "--upgrade", BEFORE, AFTER, "--model", TINY, "--max-tokens", "8", "--axis", "load.concurrency=1,4", "--repeats", "2",
                           "--store", self.store, "--level", "1", *arguments, expect=expect)

    def test_a_key_that_is_not_there_is_found_before_any_work(self):
        self.assertIn("nonexistent", self.upgrade("--statement", "u.json", "--sign-key", "nonexistent", expect=3).err)
        self.assertIn("ISOBIT_NO_KEY", self.upgrade("--statement", "u.json", "--sign-key-env", "ISOBIT_NO_KEY", expect=2).err)
        self.assertEqual(os.listdir(self.folder), [])

    def test_its_verdict_is_saved_and_stated_and_warnings_count(self):
        subject = self.write("notes.txt", "vouched for")
        warned = self.upgrade("--statement", "u.json", "--subject", subject, "--save", "--json")
        verdict = warned.json["verdict"]
        statement = json.loads(self.read("u.json"))
        self.assertIn("notes.txt", [s["name"] for s in statement["subject"]])
        self.isobit("store", "export", "latest~1", "latest", "-o", "u.isobit.tar", "--store", self.store, expect=0)
        self.assertIn("verified", self.isobit("verify", "u.json", "u.isobit.tar", expect=0).out)  # the verdict computed again
        saved = self.isobit("store", "query", "SELECT verdict, document_json FROM comparison", "--store", self.store, "--json", expect=0).json
        self.assertEqual([(row["verdict"], json.loads(row["document_json"])) for row in saved], [(verdict["outcome"], verdict)])
        self.isobit("verify", "u.json", "notes.txt", expect=0)
        self.upgrade("--fail-on-warn", expect=7 if verdict["outcome"] == "warn" else 0)


if __name__ == "__main__":
    unittest.main()
