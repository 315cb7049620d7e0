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
# deepseek-llm counts as letters what Unicode cases, and no other script.
CASED = ("A-Za-z\u00B5\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u01BA\u01BC-\u01BF\u01C4-\u0293\u0295-\u02AF\u0370-\u0373\u0376\u0377\u037B-\u037D\u037F"
         "\u0386\u0388-\u038A\u038C\u038E-\u03A1\u03A3-\u03F5\u03F7-\u0481\u048A-\u052F\u0531-\u0556\u10A0-\u10C5\u13A0-\u13F5\u13F8-\u13FD\u1C90"
         "-\u1CBA\u1CBD-\u1CBF\u1D00-\u1D2B\u1D6B-\u1D77\u1D79-\u1D9A\u1E00-\u1F15\u1F18-\u1F1D\u1F20-\u1F45\u1F48-\u1F4D\u1F50-\u1F57\u1F59\u1F5B"
         "\u1F5D\u1F5F-\u1F7D\u1F80-\u1FB4\u1FB6-\u1FBC\u1FBE\u1FC2-\u1FC4\u1FC6-\u1FCC\u1FD0-\u1FD3\u1FD6-\u1FDB\u1FE0-\u1FEC\u1FF2-\u1FF4\u1FF6"
         "-\u1FFC\u2102\u2107\u210A-\u2113\u2115\u2119-\u211D\u2124\u2126\u2128\u212A-\u212D\u212F-\u2134\u2139\u213C-\u213F\u2145-\u2149\u214E"
         "\u2183\u2184\u2C00-\u2C7B\u2C7E-\u2CE4\u2CEB-\u2CEE\u2CF2\u2CF3\uA640-\uA66D\uA680-\uA69B\uA722-\uA76F\uA771-\uA787\uA78B-\uA78E\uAB70"
         "-\uABBF\uFB00-\uFB06\uFB13-\uFB17\uFF21-\uFF3A\uFF41-\uFF5A\U00010400-\U0001044F\U000104B0-\U000104D3\U000104D8-\U000104FB\U00010C80"
         "-\U00010CB2\U00010CC0-\U00010CF2\U000118A0-\U000118DF\U0001E900-\U0001E943")
DEEPSEEK_LLM = sequence("pretokenizers", split(r"[\r\n]"), split(r"\s?[" + CASED + "]+"), split("\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+"),
                        split(r"\s+$"), split(HAN), DIGITS, byte_level(False))
# pre: (normalizer, pre-tokenizer, ignore_merges)
BYTE_LEVEL = {
    "gpt-2": (None, byte_level(True), False), "mpt": (None, byte_level(True), False), "default": (None, byte_level(True), False),
    "llama-bpe": (None, one_pattern(LLAMA3), True), "qwen2": ({"type": "NFC"}, one_pattern(QWEN2), False), "qwen35": (None, one_pattern(QWEN35), False),
    "starcoder": (None, DIGITS_GPT2, False), "refact": (None, DIGITS_GPT2, False), "smollm": (None, DIGITS_GPT2, False),
    "command-r": ({"type": "NFC"}, DIGITS_GPT2, False), "falcon": (None, FALCON, False), "deepseek-coder": (None, DEEPSEEK_CODER, False),
    "deepseek-llm": (None, DEEPSEEK_LLM, False),
}


def added_tokens(meta, tokens):
    types = meta.get("tokenizer.ggml.token_type") or []
    is_phi3 = any(word in (meta.get("general.name") or b"").decode().lower() for word in ("phi-3", "phi3"))
    for i, kind in enumerate(types):
        if kind in (2, 3, 4):
            strips = is_phi3 and tokens[i] not in ("<unk>", "<s>", "<|endoftext|>")  # as its tokenizer.json has it
            yield {"id": i, "content": tokens[i], "single_word": False, "lstrip": False, "rstrip": strips, "normalized": False, "special": kind != 4}


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
