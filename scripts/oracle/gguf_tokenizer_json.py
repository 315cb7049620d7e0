"""The tokenizer.json of a GGUF's vocabulary: its tokens and merges with the normalizer, pre-tokenizer and decoder that the
model family's own tokenizer.json has, so that Hugging Face's `tokenizers` can say what its ids are.

Reads the tokenizer section alone. Standard-library Python only.
"""
import base64
import struct

SPACE = "\u2581"
CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
TAIL = r"|\s*[\r\n]+|\s+(?!\S)|\s+"
SYMBOLS = r"| ?[^\s\p{L}\p{N}]+[\r\n]*"
LLAMA3 = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}" + SYMBOLS + TAIL
QWEN2 = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}" + SYMBOLS + TAIL
QWEN35 = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*" + TAIL
FORMATS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self, kind):
        form = FORMATS[kind]
        value = struct.unpack_from(form, self.data, self.at)[0]
        self.at += struct.calcsize(form)
        return value

    def text(self):
        n = self.number(10)
        self.at += n
        return self.data[self.at - n:self.at]

    def value(self, kind):
        if kind == 8:
            return self.text()
        if kind != 9:
            return self.number(kind)
        inner, n = self.number(4), self.number(10)
        if inner == 8:
            return [self.text() for _ in range(n)]
        form = FORMATS[inner]
        values = struct.unpack_from(f"<{n}{form[1]}", self.data, self.at)
        self.at += n * struct.calcsize(form)
        return list(values)


def read_metadata(path):
    """All metadata but what is kept as bytes there: texts are bytes, arrays are lists."""
    reader = Reader(path.read_bytes())
    assert reader.data[:4] == b"GGUF", path
    reader.at = 8
    reader.number(10)
    n = reader.number(10)
    out = {}
    for _ in range(n):
        key = reader.text().decode()
        out[key] = reader.value(reader.number(4))
    return out


def sequence(kind, *steps):
    return {"type": "Sequence", kind: list(steps)}


def split(pattern, behavior="Isolated"):
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": False}


def replace(literal, content):
    return {"type": "Replace", "pattern": {"String": literal}, "content": content}


def byte_level(use_regex):
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": use_regex}


def one_pattern(pattern):
    return sequence("pretokenizers", split(pattern), byte_level(False))


DIGITS = {"type": "Digits", "individual_digits": True}
DIGITS_GPT2 = sequence("pretokenizers", DIGITS, byte_level(True))
FALCON = sequence("pretokenizers", {"type": "Punctuation", "behavior": "Contiguous"}, byte_level(True), {"type": "Digits", "individual_digits": False},
                  split("[0-9][0-9][0-9]"))
HAN = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"
DEEPSEEK_CODER = sequence("pretokenizers", split(r"[\r\n]"), split(r"\s?\p{L}+"), split(r"\s?\p{P}+"), split(HAN), DIGITS, byte_level(False))
# pre: (normalizer, pre-tokenizer, ignore_merges)
BYTE_LEVEL = {
    "gpt-2": (None, byte_level(True), False), "mpt": (None, byte_level(True), False), "default": (None, byte_level(True), False),
    "llama-bpe": (None, one_pattern(LLAMA3), True), "qwen2": ({"type": "NFC"}, one_pattern(QWEN2), False), "qwen35": (None, one_pattern(QWEN35), False),
    "starcoder": (None, DIGITS_GPT2, False), "refact": (None, DIGITS_GPT2, False), "smollm": (None, DIGITS_GPT2, False),
    "command-r": ({"type": "NFC"}, DIGITS_GPT2, False), "falcon": (None, FALCON, False), "deepseek-coder": (None, DEEPSEEK_CODER, False),
}


def added_tokens(meta, tokens):
    types = meta.get("tokenizer.ggml.token_type") or []
    for i, kind in enumerate(types):
        if kind in (2, 3, 4):
            yield {"id": i, "content": tokens[i], "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": kind != 4}


def whole(meta, tokens, **members):
    base = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": list(added_tokens(meta, tokens)), "normalizer": None,
            "pre_tokenizer": None, "post_processor": None, "decoder": None}
    return base | members


def byte_level_json(meta, tokens):
    normalizer, pre_tokenizer, ignore_merges = BYTE_LEVEL[meta["tokenizer.ggml.pre"].decode()]
    merges = [m.decode("utf-8").split(" ") for m in meta["tokenizer.ggml.merges"]]
    model = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None, "fuse_unk": False,
             "byte_fallback": False, "ignore_merges": ignore_merges, "vocab": {t: i for i, t in enumerate(tokens)}, "merges": merges}
    return whole(meta, tokens, normalizer=normalizer, pre_tokenizer=pre_tokenizer, decoder=byte_level(True), model=model)


def visible_space_decoder(*last):
    return sequence("decoders", replace(SPACE, " "), {"type": "ByteFallback"}, {"type": "Fuse"}, *last)


def merges_of_scores(tokens, scores):
    """As transformers makes them: every way of cutting a token in two tokens, best score of the whole first."""
    ids = {t: i for i, t in enumerate(tokens)}
    merges = []
    for token, score in zip(tokens, scores):
        parts = [(ids[token[:i]], ids[token[i:]]) for i in range(1, len(token)) if token[:i] in ids and token[i:] in ids]
        merges += [(score, a, b) for a, b in sorted(parts)]
    merges.sort(key=lambda m: -m[0])
    return [[tokens[a], tokens[b]] for _, a, b in merges]


def sentence_piece_json(meta, tokens):
    prepend = meta.get("tokenizer.ggml.add_space_prefix", True)
    steps = ([{"type": "Prepend", "prepend": SPACE}] if prepend else []) + [replace(" ", SPACE)]
    unknown = tokens[meta.get("tokenizer.ggml.unknown_token_id", 0)]
    model = {"type": "BPE", "dropout": None, "unk_token": unknown, "fuse_unk": True, "byte_fallback": True, "vocab": {t: i for i, t in enumerate(tokens)},
             "merges": merges_of_scores(tokens, meta["tokenizer.ggml.scores"])}
    strip = [{"type": "Strip", "content": " ", "start": 1, "stop": 0}] if prepend else []
    return whole(meta, tokens, normalizer=sequence("normalizers", *steps), decoder=visible_space_decoder(*strip), model=model)


def gemma4_json(meta, tokens):
    merges = [m.decode("utf-8").split(" ") for m in meta["tokenizer.ggml.merges"]]
    unknown = tokens[meta["tokenizer.ggml.unknown_token_id"]]
    model = {"type": "BPE", "dropout": None, "unk_token": unknown, "fuse_unk": True, "byte_fallback": True, "vocab": {t: i for i, t in enumerate(tokens)}, "merges": merges}
    return whole(meta, tokens, normalizer=replace(" ", SPACE), decoder=visible_space_decoder(), model=model)


def bert_json(meta, tokens):
    special = {t["content"] for t in added_tokens(meta, tokens)}
    spelled = [t if t in special else t.removeprefix(SPACE) if t.startswith(SPACE) else "##" + t for t in tokens]
    model = {"type": "WordPiece", "unk_token": tokens[meta.get("tokenizer.ggml.unknown_token_id", 100)], "continuing_subword_prefix": "##",
             "max_input_chars_per_word": 100, "vocab": {t: i for i, t in enumerate(spelled)}}
    normalizer = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True}
    return whole(meta, tokens, normalizer=normalizer, pre_tokenizer={"type": "BertPreTokenizer"},
                 decoder={"type": "WordPiece", "prefix": "##", "cleanup": True}, model=model)


def unigram_json(meta, tokens):
    charsmap = bytes(b & 255 for b in meta["tokenizer.ggml.precompiled_charsmap"])
    steps = [{"type": "Precompiled", "precompiled_charsmap": base64.b64encode(charsmap).decode()},
             {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}]
    metaspace = {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": "always", "split": True}
    model = {"type": "Unigram", "unk_id": meta["tokenizer.ggml.unknown_token_id"], "byte_fallback": False,
             "vocab": [[t, s] for t, s in zip(tokens, meta["tokenizer.ggml.scores"])]}
    return whole(meta, tokens, normalizer=sequence("normalizers", *steps), pre_tokenizer=sequence("pretokenizers", {"type": "WhitespaceSplit"}, metaspace),
                 decoder=metaspace, model=model)


def tokenizer_json(meta):
    """None where the model family's tokenizer.json is not known here."""
    tokens = [t.decode("utf-8", "surrogateescape") for t in meta["tokenizer.ggml.tokens"]]
    kind = meta["tokenizer.ggml.model"].decode()
    if kind == "gpt2":
        return byte_level_json(meta, tokens) if meta.get("tokenizer.ggml.pre", b"").decode() in BYTE_LEVEL else None
    return {"llama": sentence_piece_json, "gemma4": gemma4_json, "bert": bert_json, "t5": unigram_json}[kind](meta, tokens)
