#!/usr/bin/env python3
"""Records what transformers makes of the files beside a tokenizer.json: tests/text/fixtures/tokenizer_config.json.

    tokenizer_config_oracle.py

Each case: the files (tokenizer_config.json, special_tokens_map.json, added_tokens.json), the members that replace
tokenizer.json's, and what PreTrainedTokenizerFast.from_pretrained gives: [text, ids, ids with added tokens], BOS and EOS ids.
Needs the Python package transformers; recorded with transformers 5.24.0 and tokenizers 0.23.3.
"""
import json
import pathlib
import tempfile

from transformers import PreTrainedTokenizerFast

FIXTURES = pathlib.Path(__file__).resolve().parents[2] / "tests" / "text" / "fixtures"
TEXTS = ["the river", "<|im_start|>the<|im_end|> river", "a<tool>b <tool> river", "river<pad>", " the <img> river", "RIVER river THE", "<s>x</s>", "the\n the  the"]


def entry(content, **flags):
    return {"content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True} | flags


def template(first):
    return {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": first, "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {first: {"id": first, "ids": [1], "tokens": [first]}}}


def cases(n, word):
    """n: the size of the vocabulary with added tokens; word: a token of the vocabulary that is no added token."""
    start, end = "<|im_start|>", "<|im_end|>"
    yield "no files", {}, {}
    yield "bos and eos as text", {"config": {"bos_token": start, "eos_token": end}}, {}
    yield "bos as AddedToken", {"config": {"bos_token": {"__type": "AddedToken", **entry(start)}, "eos_token": end}}, {}
    yield "add_bos_token is not followed", {"config": {"bos_token": start, "eos_token": end, "add_bos_token": True, "add_eos_token": True}}, {}
    yield "nor is add_bos_token false", {"config": {"bos_token": start, "add_bos_token": False}}, {"post_processor": template(start)}
    yield "a class that once followed it", {"config": {"tokenizer_class": "LlamaTokenizerFast", "bos_token": start, "add_bos_token": True}}, {}
    yield "decoder list adds a token", {"config": {"added_tokens_decoder": {str(n): entry("<tool>")}}}, {}
    yield "decoder list changes flags", {"config": {"added_tokens_decoder": {"2": entry(end, rstrip=True, lstrip=True)}}}, {}
    yield "a named token that is a word", {"config": {"eos_token": word}}, {}
    yield "a named token that is new", {"config": {"pad_token": "<pad>"}}, {}
    yield "additional special tokens", {"config": {"additional_special_tokens": ["<tool>", "<img>"]}}, {}
    yield "extra special tokens as a list", {"config": {"extra_special_tokens": ["<img>", "<tool>"]}}, {}
    yield "extra special tokens by name", {"config": {"extra_special_tokens": {"image_token": "<img>"}}}, {}
    yield "a special token of the model's own", {"config": {"image_token": "<img>", "bos_token": start}}, {}
    yield "special_tokens_map alone", {"map": {"bos_token": start, "eos_token": entry(end), "pad_token": "<pad>"}}, {}
    yield "special_tokens_map wins over the configuration", {"config": {"bos_token": end, "eos_token": end}, "map": {"bos_token": start}}, {}
    yield "special_tokens_map is not read beside a decoder list", {"config": {"bos_token": end, "added_tokens_decoder": {"2": entry(end)}}, "map": {"bos_token": start}}, {}
    yield "added_tokens.json", {"added": {"<tool>": n}}, {}
    yield "added_tokens.json of a special token", {"config": {"pad_token": "<tool>"}, "added": {"<tool>": n}}, {}
    yield "added_tokens.json is not read beside a decoder list", {"config": {"added_tokens_decoder": {}}, "added": {"<tool>": n}}, {}


def record(folder, tokenizer_json, files):
    names = {"config": "tokenizer_config.json", "map": "special_tokens_map.json", "added": "added_tokens.json"}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer_json))
    for key, value in files.items():
        (folder / names[key]).write_text(json.dumps(value))
    tok = PreTrainedTokenizerFast.from_pretrained(folder)
    rows = [[text, tok.encode(text, add_special_tokens=False), tok.encode(text)] for text in TEXTS]
    return {"bos_id": tok.bos_token_id, "eos_id": tok.eos_token_id, "cases": rows}


def main():
    base = json.loads((FIXTURES / "tiny_tokenizer.json").read_text())
    added = {t["content"] for t in base["added_tokens"]}
    size = max(list(base["model"]["vocab"].values()) + [t["id"] for t in base["added_tokens"]]) + 1
    word = next(t for t in base["model"]["vocab"] if t not in added and t == "river" or t == "iver")
    out = []
    for name, files, patch in cases(size, word):
        with tempfile.TemporaryDirectory() as folder:
            out.append({"name": name, "files": files, "patch": patch} | record(pathlib.Path(folder), base | patch, files))
    path = FIXTURES / "tokenizer_config.json"
    path.write_text("[\n" + ",\n".join(json.dumps(case, ensure_ascii=True, separators=(",", ":")) for case in out) + "\n]\n")
    print(path, path.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
