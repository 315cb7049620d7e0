#!/usr/bin/env python3
"""Checks isobit's ids against the expected ids that ship with llama.cpp's test vocabularies.

    vocab_ids.py [FOLDER] [--isobit PROGRAM] [--vocabulary NAME]...

FOLDER holds ggml-vocab-NAME.gguf, NAME.gguf.inp (texts between lines "__ggml_vocab_test__") and NAME.gguf.out (the ids of
each text, one line a text); by default $ISOBIT_PEERS/llama.cpp-models, or ~/.cache/isobit-peers/llama.cpp-models. Without
them it prints a line that starts with SKIPPED and succeeds. Prints one line a vocabulary and fails on the first difference
it saw, with the text, the ids and the command to run again. Standard-library Python only.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

SEPARATOR = "\n__ggml_vocab_test__\n"


def default_folder():
    peers = os.environ.get("ISOBIT_PEERS") or pathlib.Path.home() / ".cache" / "isobit-peers"
    return pathlib.Path(peers) / "llama.cpp-models"


def default_program():
    return pathlib.Path(__file__).resolve().parents[2] / "build" / "cpu" / "isobit"


def cases_of(vocabulary):
    texts = vocabulary.with_name(vocabulary.name + ".inp").read_bytes().decode("utf-8").split(SEPARATOR)
    lines = vocabulary.with_name(vocabulary.name + ".out").read_text().split("\n")
    expected = [[int(id) for id in line.split()] for line in lines]
    while len(expected) > len(texts) and expected[-1] == []:
        expected.pop()
    if len(texts) != len(expected):
        raise SystemExit(f"{vocabulary}: {len(texts)} texts, but {len(expected)} lines of ids")
    return list(zip(texts, expected))


def encode(program, vocabulary, text):
    """The ids, or None and the program's message."""
    command = [program, "tokens", "encode", "--tokenizer", vocabulary, "--text-file", "-", "--json", "--no-special"]
    result = subprocess.run(command, input=text.encode("utf-8"), capture_output=True)
    if result.returncode != 0:
        return None, result.stderr.decode("utf-8", "replace").strip()
    return json.loads(result.stdout)["ids"], None


def check(program, vocabulary):
    """Prints the vocabulary's line and returns whether all ids are the expected ones."""
    cases = cases_of(vocabulary)
    n_same, first = 0, None
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda case: encode(program, vocabulary, case[0]), cases)
        for i, ((text, expected), (ids, refusal)) in enumerate(zip(cases, results)):
            n_same += ids == expected
            if ids != expected and not first:
                first = f"text {i}: {text!r}\n    expected {expected}\n    found    {refusal or ids}"
    name = vocabulary.name.removeprefix("ggml-vocab-").removesuffix(".gguf")
    print(f"{name:<20} {n_same:>4} of {len(cases)}" + (f"\n  {first}" if first else ""))
    return n_same == len(cases)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=default_folder())
    parser.add_argument("--isobit", type=pathlib.Path, default=default_program())
    parser.add_argument("--vocabulary", action="append", default=[])
    arguments = parser.parse_args()
    vocabularies = [path.with_suffix("") for path in sorted(arguments.folder.glob("ggml-vocab-*.gguf.inp"))]
    vocabularies = [path for path in vocabularies
                    if not arguments.vocabulary or path.name.removeprefix("ggml-vocab-").removesuffix(".gguf") in arguments.vocabulary]
    if not vocabularies:
        print(f"SKIPPED vocab_ids: no ggml-vocab-*.gguf.inp in {arguments.folder}")
        return 0
    if not arguments.isobit.exists():
        sys.exit(f"{arguments.isobit} does not exist; build it with ./scripts/build, or name it with --isobit")
    same = [check(arguments.isobit, vocabulary) for vocabulary in vocabularies]
    print(f"{sum(same)} of {len(same)} vocabularies give the expected ids")
    return 0 if all(same) else 1


if __name__ == "__main__":
    sys.exit(main())
