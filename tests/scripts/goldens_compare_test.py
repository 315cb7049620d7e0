#!/usr/bin/env python3
"""tests/goldens/compare.cmake and build_core.cmake against fake programs: a difference is a failure,
what cannot run is SKIPPED, and nothing else is."""
import os
import subprocess
import tempfile
import unittest

GOLDENS = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "goldens"))
LINES = "a kv-f16 00\nb kv-f32 01\n"


class Compare(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.expected = self.write("expected.txt", LINES)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        os.chmod(path, 0o755)
        return path

    def program(self, printed, status=0):
        return self.write("goldens", f"#!/bin/sh\nprintf '%s' '{printed}'\nexit {status}\n")

    def compare(self, program, emulator=""):
        values = {
            "PROGRAM": program,
            "SET": "portable",
            "FLAT": "flat",
            "EXPECTED": self.expected,
            "EMULATOR": emulator,
        }
        definitions = [f"-D{name}={value}" for name, value in values.items()]
        script = os.path.join(GOLDENS, "compare.cmake")
        return subprocess.run(
            ["cmake", *definitions, "-P", script], capture_output=True, text=True
        )

    def test_the_same_lines_pass(self):
        done = self.compare(self.program(LINES))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the same", done.stderr)

    def test_one_flipped_digit_a_lost_line_a_further_line_or_a_crash_fail(self):
        flipped = LINES.replace("01", "11")
        for printed, status in [
            (flipped, 0),
            ("a kv-f16 00\n", 0),
            (LINES + "c kv-f16 02\n", 0),
            ("", 0),
            (LINES, 1),
        ]:
            with self.subTest(printed=printed, status=status):
                done = self.compare(self.program(printed, status))
                self.assertNotEqual(done.returncode, 0)
                self.assertNotIn("SKIPPED", done.stderr)

    def test_what_cannot_run_is_skipped_with_its_reason(self):
        done = self.compare(self.program("SKIPPED: this processor lacks AVX2", 77))
        self.assertEqual(done.returncode, 0)
        self.assertIn("SKIPPED: this processor lacks AVX2", done.stderr)
        done = self.compare(self.program(LINES), emulator="no-such-emulator")
        self.assertIn("SKIPPED: no-such-emulator is not installed", done.stderr)
        done = self.compare(os.path.join(self.folder, "absent"))
        self.assertIn("was not built", done.stderr)

    def test_without_the_compiler_the_build_is_skipped_and_leaves_nothing_stale(self):
        build = os.path.join(self.folder, "build")
        os.mkdir(build)
        script = os.path.join(GOLDENS, "build_core.cmake")
        done = subprocess.run(
            ["cmake", "-DCOMPILER=no-such-compiler", f"-DBUILD={build}", "-P", script],
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, 0)
        self.assertIn("SKIPPED: no-such-compiler is not installed", done.stderr)
        self.assertFalse(os.path.exists(build))


if __name__ == "__main__":
    unittest.main()
