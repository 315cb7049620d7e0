#!/usr/bin/env python3
"""Ids that tokenizers in the field got wrong, with the real vocabularies, where they have been fetched.

The ids are those of the models' own tokenizers, as the reports quote them (llama.cpp #6809, #7193, #8584; transformers
#23818, #35923; imp #660; aprender #3993). The same faults in small: tests/text/known_faults_test.cc.
"""
import json
import os
import pathlib
import subprocess
import unittest

PEERS = pathlib.Path(os.environ.get("ISOBIT_PEERS") or pathlib.Path.home() / ".cache" / "isobit-peers")
CASES = [
    ("llama-bpe", " Vi\u1ec7t", [101798]),
    ("llama-bpe", "\n\n", [271]),
    ("llama-bpe", "\n\n\n\n", [1038]),
    ("llama-bpe", "\n", [198]),
    ("qwen2", "->", [405]),
    ("qwen2", "(x):\n", [2075, 982]),
    ("llama-spm", "I love you.</s>", [306, 5360, 366, 29889, 2]),
    ("llama-spm", "a:<s>->", [263, 29901, 1, 1599]),
    ("gemma-4", "<pad>text<eos>", [0, 1005, 1]),
]


class KnownTokens(unittest.TestCase):
    def test_the_ids_are_those_of_the_models_own_tokenizers(self):
        program = pathlib.Path(os.environ.get("ISOBIT_PROGRAM", "isobit"))  # ctest runs this in the build folder
        folder = PEERS / "llama.cpp-models"
        if not program.exists() or not folder.is_dir():
            print(f"SKIPPED known_tokens: no program {program} or no vocabularies in {folder}")
            return
        for name, text, ids in CASES:
            with self.subTest(name=name, text=text):
                command = [program.resolve(), "tokens", "encode", "--tokenizer", folder / f"ggml-vocab-{name}.gguf", "--text", text, "--json", "--no-special"]
                result = subprocess.run(command, capture_output=True, check=True)
                self.assertEqual(json.loads(result.stdout)["ids"], ids)


if __name__ == "__main__":
    unittest.main()
