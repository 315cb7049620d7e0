#!/usr/bin/env python3
"""scripts/oracle/tokenizer_strings.py: its strings, its verdicts, and a short run over the vocabularies that are at hand."""
import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ORACLE = ROOT / "scripts" / "oracle"
sys.path.insert(0, str(ORACLE))
import odd_strings  # noqa: E402
from tokenizer_strings import Tally  # noqa: E402


class TokenizerStrings(unittest.TestCase):
    def test_a_seed_gives_the_same_strings_and_another_seed_others(self):
        draw = lambda seed: list(odd_strings.strings(seed, 240, ["<s>"]))
        self.assertEqual(draw(1), draw(1))
        self.assertLess(len(set(draw(1)) & set(draw(2))), 60)
        self.assertEqual({kind for kind, _ in draw(1)}, {kind.__name__ for kind in odd_strings.KINDS} | {"mixture"})
        for _, text in draw(3):
            text.encode("utf-8")

    def test_broken_bytes_are_broken(self):
        for data in odd_strings.broken_bytes(1, 200):
            with self.assertRaises(UnicodeDecodeError):
                data.decode("utf-8")

    def test_a_difference_fails_unless_it_has_a_reason(self):
        tally = Tally("x")
        tally.compare("ids", ["a", "b"], [[1], [2]], [[1], [3]], lambda i: "known")
        self.assertIsNone(tally.first)
        self.assertIn("1 ids: known", tally.line(2))
        tally.compare("ids", ["a", "b"], [[1], [2]], [[1], [3]])
        self.assertIn("string 1: 'b'", tally.first)
        self.assertIn("DIFFERS", tally.line(2))

    def test_vocabularies_at_hand_give_the_ids_of_their_references(self):
        program = pathlib.Path(os.environ.get("ISOBIT_PROGRAM", "isobit"))  # ctest runs this in the build folder
        if not program.exists():
            print(f"SKIPPED tokenizer_strings: no program {program} in {os.getcwd()}")
            return
        own = ROOT / ".venv" / "bin" / "python"  # where scripts/oracle's packages go
        python = os.environ.get("ISOBIT_ORACLE_PYTHON") or (own if own.exists() else sys.executable)
        command = [python, ORACLE / "tokenizer_strings.py", "--count", "120", "--isobit", program.resolve()]
        result = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        print(result.stdout)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


if __name__ == "__main__":
    unittest.main()
