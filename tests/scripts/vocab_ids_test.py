#!/usr/bin/env python3
"""scripts/oracle/vocab_ids.py: the ids of real vocabularies, where they have been fetched, and its own SKIPPED."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "oracle" / "vocab_ids.py"


def run(*arguments):
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


class VocabIds(unittest.TestCase):
    def test_an_empty_folder_is_skipped_aloud(self):
        with tempfile.TemporaryDirectory() as folder:
            result = run(folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(result.stdout.startswith("SKIPPED vocab_ids"), result.stdout)

    def test_texts_and_ids_that_do_not_pair_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            base = pathlib.Path(folder) / "ggml-vocab-x.gguf"
            base.with_name(base.name + ".inp").write_text("a\n__ggml_vocab_test__\nb")
            base.with_name(base.name + ".out").write_text("1")
            result = run(folder, "--isobit", SCRIPT)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("2 texts, but 1 lines", result.stderr)

    def test_wrong_ids_are_found(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            program = folder / "program"
            program.write_text("#!/bin/sh\necho '{\"ids\":[1]}'\n")
            program.chmod(0o755)
            base = folder / "ggml-vocab-x.gguf"
            base.with_name(base.name + ".inp").write_text("a\n__ggml_vocab_test__\nb")
            base.with_name(base.name + ".out").write_text("1\n2\n")
            result = run(folder, "--isobit", program)
        self.assertEqual(result.returncode, 1)
        self.assertIn("1 of 2", result.stdout)
        self.assertIn("expected [2]", result.stdout)

    def test_fetched_vocabularies_give_the_expected_ids(self):
        program = pathlib.Path(os.environ.get("ISOBIT_PROGRAM", "isobit"))  # ctest runs this in the build folder
        if not program.exists():
            print(f"SKIPPED vocab_ids: no program {program} in {os.getcwd()}")
            return
        result = run("--isobit", program.resolve())
        print(result.stdout)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


if __name__ == "__main__":
    unittest.main()
