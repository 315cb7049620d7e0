#!/usr/bin/env python3
"""Records what Hugging Face's `tokenizers` gives for small vocabularies of our own, of every kind of model.

    tokenizer_models_oracle.py     trains the vocabularies and writes tests/text/fixtures/tokenizer_models.json

Each entry holds the members that replace a base's, and cases [text, ids, ids with special tokens, decoded text]; a text
that an entry does not list has the case of its base's first entry. Needs the Python packages `tokenizers` and
`sentencepiece` (which compiles a small character map). The results were recorded with tokenizers 0.23.3 and
sentencepiece 0.2.3.
"""
import base64
import json
import pathlib
import tempfile

import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

from tokenizer_oracle import CORPUS, FIXTURES, TEXTS

SPACE = "\u2581"
BYTES = [f"<0x{i:02X}>" for i in range(256)]

MORE_TEXTS = [
    "  two  spaces  ", "<s>river", "the <s> river </s>the", "<unk>", "river<mask>", "river <mask> bank", "x  <mask>\n y", " <s>",
    SPACE, SPACE + "river", "a" + SPACE + "b", "\u00c9cole \u0130stanbul \u03a3\u03a3", "caf\u00e9s, na\u00efve; \u00c5ngstr\u00f6m.", "e\u0301\u0323 a\u0308",
    "\ufb01sh \u2460 \u00b5 \uff21\uff22 \u33a1", "x\u200by\u00adz\ufffd", "the \u4eca\u5929 river", "\U00020000\U0002b820\U0002b920", "don't can't he's I'm we've",
    "river.bank,boat!town?(school)", "a-b_c$d+e<f>g^h`i|j~k", "0x1F 12_34 \u0661\u0662\u0663", "w" * 101, "w" * 100, "thethethe thethe", "\U0001f642river",
    "RIVER River riVER", "\u2028\u2029\u0085", "a\tb\nc\rd", "\u00a0nbsp\u00a0", "q\u00e9q\u00e9", "zzzzz \u0800 \u0801", "river\u0301", "1e10 and 2e-5",
]


def added(id, content, **flags):
    base = {"id": id, "content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return base | flags


def template(before, after):
    ids = dict(before + after)
    token = lambda name: {"SpecialToken": {"id": name, "type_id": 0}}
    return {"type": "TemplateProcessing",
            "single": [token(n) for n, _ in before] + [{"Sequence": {"id": "A", "type_id": 0}}] + [token(n) for n, _ in after],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {n: {"id": n, "ids": [i], "tokens": [n]} for n, i in ids.items()}}


def sequence(kind, *steps):
    return {"type": "Sequence", kind: list(steps)}


def metaspace(scheme, split=True):
    return {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": scheme, "split": split}


def replace(pattern, content):
    return {"type": "Replace", "pattern": pattern, "content": content}


def whole(model, **members):
    base = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None, "pre_tokenizer": None,
            "post_processor": None, "decoder": None, "model": model}
    return base | members


def trained(model, trainer, pre_tokenizer, normalizer=None):
    tok = Tokenizer(model)
    tok.pre_tokenizer = pre_tokenizer
    if normalizer:
        tok.normalizer = normalizer
    tok.train_from_iterator([line + "\n" for line in CORPUS.split("\n")], trainer)
    return json.loads(tok.to_str())["model"]


LLAMA_DECODER = sequence("decoders", replace({"String": SPACE}, " "), {"type": "ByteFallback"}, {"type": "Fuse"},
                         {"type": "Strip", "content": " ", "start": 1, "stop": 0})
LLAMA_NORMALIZER = sequence("normalizers", {"type": "Prepend", "prepend": SPACE}, replace({"String": " "}, SPACE))
SPECIALS = [added(0, "<unk>"), added(1, "<s>"), added(2, "</s>")]


def fallback_base():
    model = trained(models.BPE(), trainers.BpeTrainer(vocab_size=240, show_progress=False, limit_alphabet=60), pre_tokenizers.Metaspace())
    tokens = ["<unk>", "<s>", "</s>"] + BYTES + list(model["vocab"])
    model |= {"vocab": {t: i for i, t in enumerate(tokens)}, "unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True}
    return whole(model, added_tokens=SPECIALS, normalizer=LLAMA_NORMALIZER, decoder=LLAMA_DECODER, post_processor=template([("<s>", 1)], []))


def fallback_variants(base):
    n = len(base["model"]["vocab"])
    few = {t: i for t, i in base["model"]["vocab"].items() if t != "<0xC3>"}
    newline = list(base["model"]["merges"]) + [["<0x0A>", "<0x0A>"]]
    marks = SPECIALS + [added(n, "<mask>", lstrip=True), added(n + 1, "river bank", normalized=True, special=False),
                        added(n + 2, "school", normalized=True, special=False, single_word=True)]
    return {
        "llama": {},
        "gemma": {"normalizer": replace({"String": " "}, SPACE),
                  "pre_tokenizer": {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False},
                  "decoder": sequence("decoders", replace({"String": SPACE}, " "), {"type": "ByteFallback"}, {"type": "Fuse"})},
        "metaspace always": {"normalizer": None, "pre_tokenizer": metaspace("always"), "decoder": metaspace("always")},
        "metaspace first": {"normalizer": None, "pre_tokenizer": metaspace("first"), "decoder": metaspace("first")},
        "metaspace first, whole": {"normalizer": None, "pre_tokenizer": metaspace("first", False), "decoder": metaspace("first", False)},
        "metaspace never": {"normalizer": None, "pre_tokenizer": metaspace("never"), "decoder": metaspace("never")},
        "words, then metaspace first": {"normalizer": None, "pre_tokenizer": sequence("pretokenizers", {"type": "WhitespaceSplit"}, metaspace("first"))},
        "no fallback": {"model": {"byte_fallback": False}},
        "no fallback, not fused": {"model": {"byte_fallback": False, "fuse_unk": False}},
        "no fallback, no unknown token": {"model": {"byte_fallback": False, "unk_token": None}},
        "a byte is missing": {"model": {"vocab": few}},
        "bytes merge": {"model": {"vocab": base["model"]["vocab"] | {"<0x0A><0x0A>": n}, "merges": newline}},
        "whole tokens": {"pre_tokenizer": {"type": "WhitespaceSplit"}, "model": {"ignore_merges": True}},
        "added tokens": {"added_tokens": marks},
        "added tokens, no prefix": {"added_tokens": marks, "normalizer": replace({"String": " "}, SPACE)},
        "nfkc and lower case": {"normalizer": sequence("normalizers", {"type": "NFKC"}, {"type": "Lowercase"}, replace({"Regex": r"\s+"}, SPACE))},
        "nfd without accents": {"normalizer": sequence("normalizers", {"type": "NFD"}, {"type": "StripAccents"}, {"type": "Strip", "strip_left": True, "strip_right": False})},
        "nfkd": {"normalizer": {"type": "NFKD"}},
        "nmt and strip": {"normalizer": sequence("normalizers", {"type": "Nmt"}, {"type": "Strip", "strip_left": True, "strip_right": True})},
        "no decoder": {"decoder": None},
    }


def suffix_base():
    trainer = trainers.BpeTrainer(vocab_size=260, show_progress=False, end_of_word_suffix="</w>", special_tokens=["<unk>"])
    model = trained(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"), trainer, pre_tokenizers.Whitespace())
    return whole(model, pre_tokenizer={"type": "Whitespace"}, normalizer={"type": "Lowercase"}, decoder={"type": "Fuse"})


def suffix_variants(base):
    kinds = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")
    out = {"words": {}, "words at white space": {"pre_tokenizer": {"type": "WhitespaceSplit"}}, "bert's words": {"pre_tokenizer": {"type": "BertPreTokenizer"}},
           "at a letter": {"pre_tokenizer": {"type": "CharDelimiterSplit", "delimiter": "e"}}}
    return out | {f"punctuation {k}": {"pre_tokenizer": {"type": "Punctuation", "behavior": k}} for k in kinds}


def prefix_base():
    trainer = trainers.BpeTrainer(vocab_size=260, show_progress=False, continuing_subword_prefix="##", special_tokens=["<unk>"])
    model = trained(models.BPE(unk_token="<unk>", continuing_subword_prefix="##"), trainer, pre_tokenizers.Whitespace())
    return whole(model, pre_tokenizer={"type": "Whitespace"}, decoder={"type": "WordPiece", "prefix": "##", "cleanup": False})


def charsmap():
    """A character map with entries of several characters, as SentencePiece compiles it."""
    rules = {"\u00e9": "e", "e\u0301": "e", "\uff21": "A", "\uff22": "B", "\ufb01": "fi", "\u2460": "1", "\u00a0": " ", "\u3000": " ", "\u200b": "",
             "\u1112\u1161\u11ab": "\ud55c", "\u0915\u093c": "\u0958", "\u00c5": "A", "A\u030a": "A"}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        code = lambda text: " ".join(f"{ord(c):04X}" for c in text)
        (folder / "rules.tsv").write_text("".join(f"{code(k)}\t{code(v)}\n" for k, v in rules.items()))
        (folder / "corpus.txt").write_text(CORPUS)
        sentencepiece.SentencePieceTrainer.train(input=str(folder / "corpus.txt"), model_prefix=str(folder / "m"), vocab_size=60, hard_vocab_limit=False,
                                                 normalization_rule_tsv=str(folder / "rules.tsv"), minloglevel=2)
        proto = sentencepiece_model_pb2.ModelProto()
        proto.ParseFromString((folder / "m.model").read_bytes())
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(proto.normalizer_spec.precompiled_charsmap).decode()}


def unigram_base():
    trainer = trainers.UnigramTrainer(vocab_size=180, show_progress=False, unk_token="<unk>", special_tokens=["<unk>", "<s>", "</s>"])
    model = trained(models.Unigram(), trainer, pre_tokenizers.Metaspace())
    model["vocab"] = [[t, round(s, 6)] for t, s in model["vocab"]]
    return whole(model, added_tokens=SPECIALS, pre_tokenizer=metaspace("always"), decoder=metaspace("always"), post_processor=template([], [("</s>", 2)]))


def unigram_variants(base):
    vocab = base["model"]["vocab"]
    return {
        "unigram": {},
        "bytes": {"model": {"byte_fallback": True, "vocab": vocab + [[b, -20.0] for b in BYTES]}, "decoder": sequence("decoders", {"type": "ByteFallback"}, metaspace("always"))},
        "one piece": {"pre_tokenizer": None, "normalizer": replace({"String": " "}, SPACE)},
        "ties": {"model": {"vocab": [[t, -1.0] for t, _ in vocab]}},
        "charsmap": {"normalizer": sequence("normalizers", charsmap(), replace({"Regex": " {2,}"}, " "))},
        "roberta": {"post_processor": {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 1], "trim_offsets": True, "add_prefix_space": False}},
    }


def word_piece_base():
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.WordPieceTrainer(vocab_size=300, show_progress=False, special_tokens=specials)
    model = trained(models.WordPiece(unk_token="[UNK]"), trainer, pre_tokenizers.BertPreTokenizer(), normalizers.BertNormalizer())
    bert = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True}
    return whole(model, added_tokens=[added(i, t) for i, t in enumerate(specials)], normalizer=bert, pre_tokenizer={"type": "BertPreTokenizer"},
                 decoder={"type": "WordPiece", "prefix": "##", "cleanup": True}, post_processor={"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]})


def word_piece_variants(base):
    bert = base["normalizer"]
    return {
        "bert": {},
        "cased": {"normalizer": bert | {"lowercase": False}},
        "cased without accents": {"normalizer": bert | {"lowercase": False, "strip_accents": True}},
        "lower case with accents": {"normalizer": bert | {"strip_accents": False}},
        "as it stands": {"normalizer": bert | {"clean_text": False, "handle_chinese_chars": False}},
        "short words": {"model": {"max_input_chars_per_word": 4}},
        "no cleanup": {"decoder": {"type": "WordPiece", "prefix": "##", "cleanup": False}},
    }


def word_level_base():
    trainer = trainers.WordLevelTrainer(vocab_size=120, show_progress=False, special_tokens=["<unk>"])
    model = trained(models.WordLevel(unk_token="<unk>"), trainer, pre_tokenizers.Whitespace())
    return whole(model, pre_tokenizer=sequence("pretokenizers", {"type": "Whitespace"}, {"type": "Digits", "individual_digits": False}))


def bases():
    yield "fallback", fallback_base(), fallback_variants
    yield "suffix", suffix_base(), suffix_variants
    yield "prefix", prefix_base(), lambda base: {"continuing prefix": {}}
    yield "unigram", unigram_base(), unigram_variants
    yield "word piece", word_piece_base(), word_piece_variants
    yield "word level", word_level_base(), lambda base: {"word level": {}}


def apply(base, patch):
    return {key: base["model"] | patch["model"] if key == "model" and "model" in patch else patch.get(key, value) for key, value in base.items()}


def cases_of(tokenizer_json):
    tok = Tokenizer.from_str(json.dumps(tokenizer_json))
    for text in TEXTS + MORE_TEXTS:
        ids = tok.encode(text, add_special_tokens=False).ids
        yield [text, ids, tok.encode(text).ids, tok.decode(ids, skip_special_tokens=False)]


def main():
    out = []
    for name, base, variants in bases():
        first, entries = {}, []
        for variant, patch in variants(base).items():
            cases = list(cases_of(apply(base, patch)))
            entries.append({"name": variant, "patch": patch, "cases": [c for c in cases if first.get(c[0]) != c]})
            first = first or {c[0]: c for c in cases}
        out.append({"name": name, "base": base, "entries": entries})
    path = FIXTURES / "tokenizer_models.json"
    lines = [json.dumps(entry, ensure_ascii=True, separators=(",", ":")) for entry in out]
    path.write_text("[\n" + ",\n".join(lines) + "\n]\n")
    print(path, path.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
