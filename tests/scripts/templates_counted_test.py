#!/usr/bin/env python3
"""scripts/oracle/templates_counted.py and template_differences.py: real and random templates against jinja2, where it is
installed; their SKIPPED lines; and that they notice a difference."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ORACLE = ROOT / "scripts" / "oracle"
PROGRAM = pathlib.Path("template_outcomes").resolve()  # ctest runs this in the build folder


def missing(python):
    look = subprocess.run([python, "-c", "import jinja_reference; print(jinja_reference.missing())"], cwd=ORACLE, capture_output=True, text=True)
    return look.stdout.strip() if look.returncode == 0 else look.stderr


# A virtual environment with the oracles' packages goes before the Python that runs the tests.
PYTHONS = [path for path in (str(ROOT / ".venv" / "bin" / "python"), sys.executable) if os.path.exists(path)]
PYTHON = next((python for python in PYTHONS if not missing(python)), sys.executable)


def run(script, *arguments, **environment):
    command = [PYTHON, str(ORACLE / script), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})


def folder_with(name, source):
    folder = tempfile.TemporaryDirectory()
    (pathlib.Path(folder.name) / name).write_text(source)
    return folder


class Skips(unittest.TestCase):
    def test_an_empty_folder_is_skipped_aloud(self):
        with tempfile.TemporaryDirectory() as folder:
            result = run("templates_counted.py", folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(result.stdout.startswith("SKIPPED templates_counted"), result.stdout)

    def test_a_python_without_jinja2_is_skipped_aloud(self):
        with tempfile.TemporaryDirectory() as shadow, folder_with("a.jinja", "x") as folder:
            (pathlib.Path(shadow) / "jinja2.py").write_text("raise ImportError('none here')\n")
            for script, arguments in (("templates_counted.py", [folder]), ("template_differences.py", [])):
                result = run(script, *arguments, PYTHONPATH=shadow)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertTrue(result.stdout.startswith("SKIPPED " + script.removesuffix(".py")), result.stdout)


class Detects(unittest.TestCase):
    def setUp(self):
        if missing(PYTHON):
            print("SKIPPED planted differences:", missing(PYTHON))
            self.skipTest(missing(PYTHON))

    def wrong_program(self, folder, answer):
        program = pathlib.Path(folder) / "program"
        program.write_text(f"#!{sys.executable}\nimport sys\nfor line in sys.stdin:\n    if '\"variables\"' in line: print({answer!r})\n")
        program.chmod(0o755)
        return program

    def test_other_bytes_and_other_errors_are_differences(self):
        for source, answer, shown in (("{{ messages | length }}", '{"output": "-"}', "at character 0"),
                                      ("{{ raise_exception('a') }}", '{"error": "TemplateError", "message": "b"}', "TemplateError: a"),
                                      ("{{ raise_exception('a') }}", '{"output": ""}', "TemplateError: a"),
                                      ("plain", '{"error": "TypeError", "message": ""}', "isobit: TypeError")):
            with folder_with("x.jinja", source) as folder:
                result = run("templates_counted.py", folder, "--program", self.wrong_program(folder, answer))
            self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
            self.assertIn(shown, result.stdout)

    def test_the_same_outcome_is_none(self):
        with folder_with("x.jinja", "{{ raise_exception('a') }}") as folder:
            program = self.wrong_program(folder, '{"error": "TemplateError", "message": "a"}')
            result = run("templates_counted.py", folder, "--program", program)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_random_templates_notice_a_wrong_interpreter(self):
        with tempfile.TemporaryDirectory() as folder:
            program = self.wrong_program(folder, '{"output": ""}')
            result = run("template_differences.py", "--program", program, "--templates", 50, "--damaged", 50)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)


class Counts(unittest.TestCase):
    def count(self, script, *arguments):
        if not PROGRAM.exists():
            print(f"SKIPPED {script}: no program {PROGRAM}")
            return
        result = run(script, *arguments, "--program", PROGRAM)
        print(result.stdout)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_fetched_templates_render_as_in_jinja2(self):
        self.count("templates_counted.py")

    def test_random_templates_render_as_in_jinja2(self):
        self.count("template_differences.py", "--seed", 7, "--templates", 1000, "--damaged", 1000)


if __name__ == "__main__":
    unittest.main()
