"""The published schemas of the formats that are written here, and the tools that check against them; shared by the tests of this directory."""

import functools
import os
import shutil
import subprocess
import sys

from program import SOURCE


@functools.lru_cache(maxsize=None)
def schema_folder():
    """(folder, "") or (None, why not)."""
    done = subprocess.run([sys.executable, os.path.join(SOURCE, "scripts", "fetch_schemas")], capture_output=True, text=True, check=False)
    return (done.stdout.strip(), "") if done.returncode == 0 else (None, done.stderr.strip())


def schema(test, name):
    folder, why = schema_folder()
    if folder is None:
        test.skipTest("SKIPPED: " + why)
    return os.path.join(folder, name)


def tool(test, name, package):
    path = shutil.which(name)
    if path is None:
        test.skipTest(f"SKIPPED: no {name}; scripts/setup installs {package}")
    return path


def accepted(test, command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    test.assertEqual(done.returncode, 0, f"{command[:3]}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done


def check_junit(test, path):
    accepted(test, [tool(test, "xmllint", "libxml2-utils"), "--noout", "--huge", "--schema", schema(test, "junit-10.xsd"), path])


def check_sarif(test, path):
    accepted(test, [schema(test, "bin/check-jsonschema"), "--schemafile", schema(test, "sarif-2.1.0.json"), path])


def check_metrics(test, content):
    """promtool's own parser, and its rules on names and help texts."""
    accepted(test, [tool(test, "promtool", "prometheus"), "check", "metrics"], input=content.decode("utf-8"))


def check_code_quality(test, issues, tree_path=True):
    """GitLab publishes no schema: these are the members that its documentation asks for (docs.gitlab.com, Code Quality, "Code quality report format")."""
    test.assertIsInstance(issues, list)
    seen = set()
    for issue in issues:
        test.assertIsInstance(issue["description"], str)
        test.assertTrue(issue["description"])
        test.assertIsInstance(issue["check_name"], str)
        test.assertTrue(issue["check_name"])
        test.assertIn(issue["severity"], ("info", "minor", "major", "critical", "blocker"))
        test.assertRegex(issue["fingerprint"], r"^[0-9a-f]{64}$")
        test.assertNotIn(issue["fingerprint"], seen, "GitLab shows only the first of issues that share a fingerprint")
        seen.add(issue["fingerprint"])
        test.assertIs(type(issue["location"]["lines"]["begin"]), int)
        path = issue["location"]["path"]
        test.assertTrue(path)
        if tree_path:
            test.assertFalse(path.startswith(("/", "./")), "relative to the repository")


# What GitHub's runner looks for in every line of a step's output.
RUNNER_COMMANDS = {"add-mask", "add-matcher", "add-path", "debug", "echo", "endgroup", "error", "group", "internal-set-repo-path", "notice",
                   "remove-matcher", "save-state", "set-env", "set-output", "stop-commands", "warning"}


def runner_commands(log):
    """(name, properties, message) of each workflow command that the runner would carry out, by its own rules: "::name key=value,...::message" at the
    beginning of a line, white space aside; "##[name key=value;...]message" anywhere in one."""
    for line in log.splitlines():
        stripped = line.lstrip()
        end = stripped.find("::", 2)
        if stripped.startswith("::") and end > 0:
            name, _, properties = stripped[2:end].partition(" ")
            if name.lower() in RUNNER_COMMANDS:
                pairs = dict(p.split("=", 1) for p in properties.strip().split(",") if "=" in p)
                yield name.lower(), pairs, unescaped(stripped[end + 2:])
                continue
        begin = line.find("##[")
        if begin >= 0 and "]" in line[begin:]:
            name = line[begin + 3:line.index("]", begin)].split(" ")[0]
            if name.lower() in RUNNER_COMMANDS:
                yield "##" + name.lower(), {}, line


def unescaped(text):
    for code, sign in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, sign)
    return text
