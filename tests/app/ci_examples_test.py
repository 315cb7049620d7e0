"""The files of examples/ci: valid by their published schemas, and their steps run literally, for an upgrade that passes and for one that does not."""

import json
import os
import re
import sqlite3
import subprocess
import unittest

from outside_schemas import accepted, runner_commands, schema
from program import PROGRAM, SOURCE, TINY, plant_token, ProgramTest

CI = os.path.join(SOURCE, "examples", "ci")


def text_of(name):
    with open(os.path.join(CI, name), encoding="utf-8") as f:
        return f.read()


def github_steps():
    """What stands after each "run:", a block's lines joined."""
    lines = text_of("github-actions.yml").splitlines()
    for i, line in enumerate(lines):
        match = re.match(r"^( *)run: (.*)$", line)
        if match and match[2] != "|":
            yield match[2]
        elif match:
            block = []
            for following in lines[i + 1:]:
                if following.strip() and len(following) - len(following.lstrip()) <= len(match[1]):
                    break
                block.append(following.strip())
            yield "\n".join(block)


def gitlab_steps():
    block = re.search(r"^  script:\n((?:    - .*\n)+)", text_of("gitlab-ci.yml"), re.M)[1]
    return [line[6:] for line in block.splitlines()]


def jenkins_steps():
    return re.findall(r"^ *sh '(.*)'$", text_of("Jenkinsfile"), re.M)


class CiExamples(ProgramTest):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("bin"))
        os.symlink(PROGRAM, self.path("bin/isobit"))
        self.environment = dict(os.environ, PATH=self.path("bin") + ":" + os.environ["PATH"], MODEL=TINY, GITHUB_SHA="0a1b", CI_COMMIT_SHA="0a1b",
                                BUILD_TAG="jenkins-isobit-7", GITHUB_STEP_SUMMARY=self.path("step-summary.md"))
        self.make_baseline()

    def make_baseline(self):
        """As the comment of gate.sh says, word for word."""
        command = re.search(r"^#   (isobit run .*)$", text_of("gate.sh"), re.M)[1]
        self.shell([command], expect=0)
        os.unlink(self.path("isobit.db"))

    def shell(self, steps, expect):
        """Each step in a shell of its own, as the build servers do; the first that fails ends it."""
        log = ""
        code = 0
        for step in steps:
            done = subprocess.run(["sh", "-e", "-c", step], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=False)
            log += (done.stdout + done.stderr).decode()
            code = done.returncode
            if code != 0:
                break
        self.assertEqual(code, expect, log[-3000:])
        return log

    def break_the_baseline(self):
        """Another token in one of its answers: what a changed engine would look like from here."""
        self.isobit("baseline", "import", "baseline.json", "--store", "b.db", expect=0)
        with sqlite3.connect(self.path("b.db")) as database:
            key, = database.execute("SELECT sample_key FROM sample ORDER BY prompt_index LIMIT 1").fetchone()
            plant_token(database, key)
        self.isobit("baseline", "export", "prod", "-o", "baseline.json", "--store", "b.db", expect=0)

    def run_both_ways(self, steps, files):
        steps = list(steps)
        self.assertEqual(len(steps), 2)
        passed = self.shell(steps, expect=0)
        for name in files:
            self.assertTrue(os.path.exists(self.path(name)), name)
        self.break_the_baseline()
        for name in files:
            os.unlink(self.path(name))
        failed = self.shell(steps, expect=1)
        for name in files:
            self.assertTrue(os.path.exists(self.path(name)), name + " of a gate that fails")
        return passed, failed

    def test_github_actions(self):
        passed, failed = self.run_both_ways(github_steps(), ["report.html", "report.sarif", "step-summary.md"])
        self.assertEqual([c[0] for c in runner_commands(passed)], ["notice"])
        self.assertEqual(next(runner_commands(failed))[0], "error")
        self.assertIn(b"**FAIL at level 1", self.read("step-summary.md"))

    def test_gitlab(self):
        self.run_both_ways(gitlab_steps(), ["report.html", "report.junit.xml", "report.gl.json"])
        self.assertTrue(json.loads(self.read("report.gl.json")))
        reports = re.findall(r"^      (?:junit|codequality): (\S+)$", text_of("gitlab-ci.yml"), re.M)
        self.assertTrue(all(os.path.exists(self.path(name)) for name in reports))

    def test_jenkins(self):
        self.run_both_ways(jenkins_steps(), ["report.html", "report.junit.xml"])

    def test_plain_shell_in_five_lines(self):
        script = os.path.join(CI, "gate.sh")
        lines = [line for line in text_of("gate.sh").splitlines() if line and not line.startswith("#")]
        self.assertLessEqual(len(lines), 5)
        for expect in (0, 1):
            done = subprocess.run(["sh", script], cwd=self.folder, env=self.environment, capture_output=True, timeout=300, check=False)
            self.assertEqual(done.returncode, expect, done.stderr.decode())
            self.assertTrue(os.path.exists(self.path("report.md")))
            self.break_the_baseline() if expect == 0 else None

    def test_their_schemas(self):
        validator = schema(self, "bin/check-jsonschema")
        accepted(self, [validator, "--builtin-schema", "vendor.github-workflows", os.path.join(CI, "github-actions.yml")])
        accepted(self, [validator, "--builtin-schema", "vendor.gitlab-ci", os.path.join(CI, "gitlab-ci.yml")])
        broken = self.write("w.yml", text_of("github-actions.yml").replace("runs-on:", "runs-at:"))
        self.assertNotEqual(subprocess.run([validator, "--builtin-schema", "vendor.github-workflows", broken], capture_output=True, check=False).returncode, 0)


if __name__ == "__main__":
    unittest.main()
