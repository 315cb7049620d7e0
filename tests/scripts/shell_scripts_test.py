#!/usr/bin/env python3
"""The shell scripts, run against fake programs: what they install, what they pass on, how they fail."""
import glob
import os
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))

# dpkg-query answers from a file of installed names; apt-get appends to it and to a log.
DPKG_QUERY = """#!/bin/sh
for name; do :; done
grep -qx -- "$name" "$STATE/installed" || exit 1
printf installed
"""
APT_GET = """#!/bin/sh
echo "$*" >> "$STATE/log"
case "$*" in *" update"*) exit 0 ;; esac
[ -e "$STATE/broken" ] && { echo "E: the mirror is down"; exit 100; }
for name; do case $name in -*) ;; *) echo "$name" >> "$STATE/installed" ;; esac; done
"""
SUDO = '#!/bin/sh\nexec "$@"\n'
CTEST = """#!/bin/sh
mkdir -p build/cpu/Testing/Temporary
printf '%s' "$CTEST_LOG" > build/cpu/Testing/Temporary/LastTest.log
exit "$CTEST_EXIT"
"""


def write_program(folder, name, text):
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    os.chmod(path, 0o755)


class WithFakes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder, self.fakes = folder.name, os.path.join(folder.name, "fakes")
        self.environment = {
            **os.environ,
            "STATE": self.folder,
            "PATH": self.fakes + os.pathsep + os.environ["PATH"],
        }

    def run_script(self, *command, **environment):
        return subprocess.run(
            command, capture_output=True, text=True, env={**self.environment, **environment}
        )


class ShellScripts(WithFakes):
    def test_every_shell_script_parses(self):
        scripts = [p for p in glob.glob(os.path.join(ROOT, "scripts", "*")) if os.path.isfile(p)]
        scripts.append(os.path.join(ROOT, ".ci", "run"))
        checked = 0
        for path in scripts:
            with open(path, encoding="utf-8") as source:
                if "bash" in source.readline():
                    self.assertEqual(self.run_script("bash", "-n", path).returncode, 0, path)
                    self.assertTrue(os.access(path, os.X_OK), path)
                    checked += 1
        self.assertGreaterEqual(checked, 5)

    def test_a_word_that_names_no_model_is_a_usage_error_before_any_work(self):
        done = self.run_script(os.path.join(ROOT, "scripts", "demo"), "smollm3")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("expected tiny or smollm2, found 'smollm3'", done.stderr)


class Setup(WithFakes):
    SCRIPT = os.path.join(ROOT, "scripts", "setup")

    def setUp(self):
        super().setUp()
        write_program(self.fakes, "dpkg-query", DPKG_QUERY)
        write_program(self.fakes, "apt-get", APT_GET)
        write_program(self.fakes, "sudo", SUDO)
        write_program(self.fakes, "sleep", "#!/bin/sh\n")
        self.write("installed", "")

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as out:
            out.write(text)

    def read(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as source:
            return source.read()

    def test_it_installs_what_is_missing_once_and_then_says_nothing(self):
        first = self.run_script(self.SCRIPT)
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertIn("libsqlite3-dev", self.read("installed").split())
        again = self.run_script(self.SCRIPT)
        self.assertEqual((again.returncode, again.stdout, again.stderr), (0, "", ""))
        self.assertEqual(len(self.read("log").splitlines()), 2)  # one update, one install

    def test_it_asks_only_for_what_is_missing(self):
        self.run_script(self.SCRIPT)
        names = self.read("installed").split()
        self.write("installed", "\n".join(n for n in names if n != "doctest-dev") + "\n")
        self.write("log", "")
        self.run_script(self.SCRIPT)
        install = self.read("log").splitlines()[-1].split()
        self.assertEqual(install[install.index("install") :][-1], "doctest-dev")
        self.assertNotIn("g++", install)

    def test_a_failing_mirror_is_tried_three_times_and_its_words_are_shown(self):
        self.write("broken", "")
        done = self.run_script(self.SCRIPT)
        self.assertEqual(done.returncode, 3)
        self.assertIn("E: the mirror is down", done.stderr)
        self.assertEqual(sum(" install " in line for line in self.read("log").splitlines()), 3)


class TestRunner(WithFakes):
    def setUp(self):
        super().setUp()
        self.tree = os.path.join(self.folder, "tree")
        for name in ("setup", "build"):
            write_program(os.path.join(self.tree, "scripts"), name, "#!/bin/sh\n")
        shutil.copy(os.path.join(ROOT, "scripts", "test"), os.path.join(self.tree, "scripts"))
        shutil.copytree(os.path.join(ROOT, ".ci"), os.path.join(self.tree, ".ci"))
        write_program(self.fakes, "ctest", CTEST)
        self.script = os.path.join(self.tree, "scripts", "test")

    def test_a_failing_test_fails_the_script_and_the_ci_entry(self):
        for script in self.script, os.path.join(self.tree, ".ci", "run"):
            self.assertEqual(self.run_script(script, CTEST_EXIT="8", CTEST_LOG="").returncode, 8)
            done = self.run_script(script, CTEST_EXIT="0", CTEST_LOG="fine\n")
            self.assertEqual((done.returncode, done.stdout), (0, "SKIPPED: 0\n"))

    def test_skipped_lines_are_shown_and_counted(self):
        log = "a\nSKIPPED: no GPU\nb\nSKIPPED: no model\n"
        done = self.run_script(self.script, CTEST_EXIT="0", CTEST_LOG=log)
        self.assertEqual(done.stdout, "SKIPPED: no GPU\nSKIPPED: no model\nSKIPPED: 2\n")

    def test_a_failing_build_runs_no_tests(self):
        write_program(os.path.join(self.tree, "scripts"), "build", "#!/bin/sh\nexit 1\n")
        done = self.run_script(self.script, CTEST_EXIT="0", CTEST_LOG="")
        self.assertEqual((done.returncode, done.stdout), (1, ""))


if __name__ == "__main__":
    unittest.main()
