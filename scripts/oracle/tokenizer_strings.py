#!/usr/bin/env python3
"""Compares isobit's token ids, string by string, with Hugging Face's `tokenizers` and with llama.cpp.

    tokenizer_strings.py [--seed N] [--count N] [--tokenizer NAME]... [--vocabularies FOLDER] [--llama FOLDER] [--isobit PROGRAM]

For each vocabulary: --count strings of odd_strings.py, the same for the same seed. A GGUF is read as it is, and as the
tokenizer.json that gguf_tokenizer_json.py makes of it, which `tokenizers` reads too; libllama.so (llama.cpp b11434, found
below --llama) reads the GGUF. Further tokenizer.json files: of the SentencePiece models and tekken vocabularies that the
package mistral-common ships, and of examples/tiny-kjv. Byte strings that are not UTF-8 must be refused at the right byte.

`tokenizers` decides: it is the models' own. Where llama.cpp gives other ids than both, the difference is counted under the
reason that reference_differences.py tests on that string; one without a reason fails the check. Without the
material: a line that starts with SKIPPED, exit 0. Needs the Python package `tokenizers`; mistral-common, transformers and
sentencepiece for more.
"""
import argparse
import base64
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import gguf_tokenizer_json
from llama_vocabulary import LlamaLibrary, find_library
from odd_strings import broken_bytes, strings
from reference_differences import explain_llama, explain_tokenizers

ROOT = pathlib.Path(__file__).resolve().parents[2]
PEERS = pathlib.Path(os.environ.get("ISOBIT_PEERS") or pathlib.Path.home() / ".cache" / "isobit-peers")


def isobit_ids(program, tokenizer, texts, *flags):
    """Per text: ids, or the message of a refusal."""
    lines = [json.dumps(t) if isinstance(t, str) else json.dumps({"base64": base64.b64encode(t).decode()}) for t in texts]
    command = [program, "tokens", "encode", "--tokenizer", tokenizer, "--batch", "-", *flags]
    done = subprocess.run(command, input="\n".join(lines).encode(), capture_output=True)
    if done.returncode not in (0, 2) or (texts and not done.stdout):
        raise SystemExit(f"{' '.join(map(str, command))}: exit {done.returncode}: {done.stderr.decode('utf-8', 'replace').strip()}")
    answers = [json.loads(line) for line in done.stdout.decode().splitlines()]
    return [a["ids"] if "ids" in a else a["error"] for a in answers]


class Tally:
    """What one vocabulary's strings gave: counts for the table, and the first unexplained difference."""

    def __init__(self, name):
        self.name, self.counts, self.reasons, self.first = name, collections.Counter(), collections.Counter(), None

    def compare(self, what, texts, found, expected, explain=lambda i: None):
        for i, (text, a, b) in enumerate(zip(texts, found, expected)):
            reason = None if a == b else explain(i)
            self.counts[what] += a == b
            if reason:
                self.reasons[f"{what}: {reason}"] += 1
            elif a != b and not self.first:
                self.first = f"{what}, string {i}: {text!r}\n      isobit   {a}\n      expected {b}"

    def line(self, n):
        parts = [f"{what} {same}" for what, same in self.counts.items()]
        out = [f"{self.name:<22} {n:>5} strings, equal: " + ", ".join(parts)]
        out += [f"    {count:>5} {reason}" for reason, count in sorted(self.reasons.items())]
        return "\n".join(out + ([f"    DIFFERS {self.first}"] if self.first else []))


def special_strings(document):
    return [t["content"] for t in document["added_tokens"]][:200]


class Checker:
    def __init__(self, options, folder, llama):
        self.options, self.folder, self.llama = options, folder, llama

    def hugging_face(self, name, document):
        """The written tokenizer.json and `tokenizers`' reading of it."""
        from tokenizers import Tokenizer

        path = self.folder / name
        path.mkdir()
        path = path / "tokenizer.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        return path, Tokenizer.from_file(str(path))

    def texts(self, specials):
        return [text for _, text in strings(self.options.seed, self.options.count, specials)]

    def check_json(self, name, document):
        tally = Tally(name)
        path, reference = self.hugging_face(name, document)
        texts = self.texts(special_strings(document))
        for what, special, flags in (("tokenizers", False, ["--no-special"]), ("tokenizers with added tokens", True, [])):
            expected = [reference.encode(t, add_special_tokens=special).ids for t in texts]
            tally.compare(what, texts, isobit_ids(self.options.isobit, path, texts, *flags), expected)
        self.check_refusals(tally, path)
        return tally, len(texts)

    def check_gguf(self, path):
        meta = gguf_tokenizer_json.read_metadata(path)
        document = gguf_tokenizer_json.tokenizer_json(meta)
        tally = Tally(path.name.removeprefix("ggml-vocab-").removesuffix(".gguf"))
        tokens = [t.decode("utf-8", "replace") for t in meta["tokenizer.ggml.tokens"]]
        types = meta.get("tokenizer.ggml.token_type") or []
        texts = self.texts([t for t, kind in zip(tokens, types) if kind in (3, 4)][:200])
        own = isobit_ids(self.options.isobit, path, texts, "--no-special")
        vocabulary = self.llama and self.llama.vocabulary(path)
        theirs = [vocabulary.encode(t, False) for t in texts] if vocabulary else [None] * len(texts)
        expected = [None] * len(texts)
        if document:
            json_path, reference = self.hugging_face(tally.name, document)
            expected = [reference.encode(t, add_special_tokens=False).ids for t in texts]
            tally.compare("tokenizer.json = tokenizers", texts, isobit_ids(self.options.isobit, json_path, texts, "--no-special"), expected)
            if vocabulary or not meta.get("tokenizer.ggml.precompiled_charsmap"):
                tally.compare("GGUF = tokenizers", texts, own, expected, lambda i: explain_tokenizers(meta, own[i], theirs[i]))
            else:
                print(f"SKIPPED {tally.name} as a GGUF: its character map is read as llama.cpp reads it, which is not at hand")
        if vocabulary:
            explain = lambda i: explain_llama(meta, texts[i], own[i], expected[i], vocabulary)
            tally.compare("GGUF = llama.cpp", texts, own, theirs, explain)
            n = min(len(texts), 50)
            tally.compare(f"with BOS/EOS ({n})", texts[:n], isobit_ids(self.options.isobit, path, texts[:n]),
                          [vocabulary.encode(t, True) for t in texts[:n]], lambda i: explain(i) if own[i] != theirs[i] else None)
            vocabulary.close()
        self.check_refusals(tally, path)
        return tally, len(texts)

    def check_refusals(self, tally, path):
        """Neither reference can be asked: `tokenizers` takes text, and llama.cpp puts U+FFFD in place of bytes."""
        broken = list(broken_bytes(self.options.seed, self.options.count // 20))
        found = isobit_ids(self.options.isobit, path, broken)
        where = []
        for data in broken:
            try:
                data.decode("utf-8")
            except UnicodeDecodeError as error:
                where.append(f"at byte {error.start}")
        for i, (answer, place) in enumerate(zip(found, where)):
            same = isinstance(answer, str) and place in answer.replace(" offset", "")
            tally.counts["refused as not UTF-8"] += same
            if not same and not tally.first:
                tally.first = f"bytes {broken[i]!r} are not UTF-8 {place}\n      isobit   {answer}"


def mistral_documents():
    """Name and tokenizer.json of what mistral-common ships, converted by transformers."""
    try:
        import mistral_common
        from transformers import LlamaTokenizer
        from transformers.integrations.mistral.tokenizer import MistralConverter
    except ImportError as error:
        print(f"SKIPPED mistral vocabularies: {error}")
        return
    folder = pathlib.Path(mistral_common.__file__).parent / "data"
    for path in sorted(folder.glob("tekken_*.json")):
        yield path.stem, lambda path=path: json.loads(MistralConverter(str(path)).converted().to_str())
    for path in sorted(folder.glob("*.model.v*")):
        yield path.name.replace(".model.", "_"), lambda path=path: sentence_piece_document(path, LlamaTokenizer)


def sentence_piece_document(path, kind):
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "tokenizer.model"
        model.write_bytes(path.read_bytes())
        return json.loads(kind.from_pretrained(folder)._tokenizer.to_str())


def jobs(checker, options):
    """Name and check of everything that is at hand."""
    for path in sorted(options.vocabularies.rglob("*.gguf")) if options.vocabularies.is_dir() else []:
        meta_name = path.name.removeprefix("ggml-vocab-").removesuffix(".gguf")
        if meta_name in ("aquila", "gpt-neox"):
            print(f"SKIPPED {meta_name}: the file does not name its pre-tokenizer, which isobit refuses")
        else:
            yield meta_name, lambda path=path: checker.check_gguf(path)
    for name, document in mistral_documents():
        yield name, lambda name=name, document=document: checker.check_json(name, document())
    tiny = ROOT / "examples" / "tiny-kjv" / "tokenizer.json"
    yield "tiny-kjv", lambda: checker.check_json("tiny-kjv", json.loads(tiny.read_text(encoding="utf-8")))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=20261130)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--tokenizer", action="append", default=[])
    parser.add_argument("--vocabularies", type=pathlib.Path, default=PEERS)
    parser.add_argument("--llama", type=pathlib.Path, default=PEERS)
    parser.add_argument("--isobit", type=pathlib.Path, default=ROOT / "build" / "cpu" / "isobit")
    options = parser.parse_args()
    try:
        import tokenizers
    except ImportError:
        print("SKIPPED: the Python package tokenizers is not installed")
        return 0
    library = find_library(options.llama)
    if not library:
        print(f"SKIPPED llama.cpp: no libllama.so below {options.llama}")
    print(f"seed {options.seed}, {options.count} strings a vocabulary; tokenizers {tokenizers.__version__}")
    failed = n = 0
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(options, pathlib.Path(folder), LlamaLibrary(library) if library else None)
        for name, check in jobs(checker, options):
            if options.tokenizer and name not in options.tokenizer:
                continue
            tally, n_strings = check()
            print(tally.line(n_strings), flush=True)
            failed += tally.first is not None
            n += 1
    print(f"{n - failed} of {n} vocabularies without an unexplained difference")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
