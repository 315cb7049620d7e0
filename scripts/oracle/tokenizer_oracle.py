#!/usr/bin/env python3
"""Records what Hugging Face's `tokenizers` gives for our own strings, as fixtures for tests/text.

    tokenizer_oracle.py tiny                     trains tests/text/fixtures/tiny_tokenizer.json and records
                                                 tokenizer_variants.json: the tiny tokenizer under many configurations
    tokenizer_oracle.py gguf MODEL.gguf OUT.json records ids for the vocabulary of a GGUF (the vocabulary is not stored)
    tokenizer_oracle.py write MODEL.gguf OUT.json  writes the tokenizer.json that a GGUF's metadata stands for

Needs the Python packages `tokenizers` and `gguf`. The results were recorded with tokenizers 0.23.3.
"""
import json
import pathlib
import sys

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

FIXTURES = pathlib.Path(__file__).resolve().parents[2] / "tests" / "text" / "fixtures"
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")

# Written for this purpose: plain English, so that the merges are those of English.
CORPUS = """The river is wide and slow, and the boats that cross it are old. In the morning the fishermen go out before the
sun, and in the evening they come back with what they caught. The children wait on the bridge and count the boats: one, two,
three, seven, twelve. When a boat is late, nobody speaks. The market is behind the church; there is bread, cheese, honey and
fresh fish, and on Sundays there is music. It's a small town, but it's the town where we were born, and we'll stay as long as
the river stays. They've said that a new road will come in 2024, and 150 houses, and 3 schools. I don't believe it. You're
right, she said, I'm not sure either. He'd rather have a boat than a road. The winter of 1987 was cold: the river froze and
the children walked over it to school. for (int i = 0; i < 10; ++i) { total += values[i]; }  return total;
"""

TEXTS = [
    "", " ", "  ", "   ", "\n", "\n\n", "\r\n", "\t", " \n", "\n ", "a", " a", "the river", " the river ", "The river  is   wide",
    "It's the town; they've said we'll stay. You're right, I'm late, he'd go, don't.", "IT'S THE TOWN, WE'LL STAY, DON'T",
    "it\u2019s not the same mark", "'\u017f is a long s after a mark; '\u017f'S's", "1 12 123 1234 12345 3.14 1,000", "x1y22z333",
    "\u00bd \u00b2 \u2167 \u0663 \u096a\u096b", "na\u00efve caf\u00e9 \u00c5rhus", "cafe\u0301 A\u030angstro\u0308m", "\u4eca\u5929\u4e0b\u5348\u6211\u4eec\u6563\u6b65",
    "\u660e\u65e5\u306e\u671d\u3001\u30d1\u30f3\u5c4b\u3067", "\ub0b4\uc77c \uc544\uce68", "\u0938\u0941\u092c\u0939 \u092c\u093e\u0930\u093f\u0936", "\u05e2\u05d1\u05e8\u05d9\u05ea \u0627\u0644\u0639\u0631\u0628\u064a\u0629",
    "\U0001f642\U0001f680\U0001f469\u200d\U0001f52c\U0001f1f3\U0001f1f4", "a\u00a0b\u2003c\u3000d\u200be\ufefff", "a\u2028b\u2029c\u0085d\u180ee", "\x00\x01\x7f",
    "for (int i = 0; i < 10; ++i) { x[i] += y; }  // sum", "def f(x):\n\treturn x\n\n\n\nprint(f(1))\n", "a\r\n\r\nb\r\n  \r\nc", "  \n\n  x\n \n y",
    "....!!!???---===", "http://example.org/a_b?c=d&e=%20#f", "<b>bold</b>", "!@#$%^&*()", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "abababababababababababababababababababababababababababababababababababab", "thethethethethethethethethethethethethethethethethethe",
    "<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n", "<|im_start|><|im_end|>", "x<|im_end|>y", "x <|im_end|> y", "<|im_end", "<|im_end|",
    "<|endoftext|><|endoftext|>", " <|endoftext|> ", "<|im_start|> \t<|im_end|>", "<|<|im_end|>|>", "\uff57\uff48\uff41\uff54 \uff11\uff12", "e\u0301<|im_end|>e\u0301",
    "\ud55c\u1112\u1161\u11ab", "\u1e9b\u0323 \u2126 \u212b \ufb01", "a" * 300, " " * 100, "\n" * 50, "\u00e9" * 60, "no space before<|im_end|>after", "7" * 40,
]


def tiny_base():
    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tok.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=440, special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
                                  initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()), show_progress=False)
    tok.train_from_iterator([CORPUS], trainer)
    return json.loads(tok.to_str())


def split(regex, behavior="Isolated", invert=False):
    return {"type": "Split", "pattern": {"Regex": regex}, "behavior": behavior, "invert": invert}


def literal(text, behavior, invert=False):
    return {"type": "Split", "pattern": {"String": text}, "behavior": behavior, "invert": invert}


def byte_level(prefix=False, regex=True):
    return {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": regex}


def sequence(*stages):
    return {"type": "Sequence", "pretokenizers": list(stages)}


def added(id, content, **flags):
    base = {"id": id, "content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return base | flags


def variants(base):
    """name -> members of tokenizer.json that replace the base's ("model" members one level down)."""
    plain = byte_level(regex=False)
    n = len(base["model"]["vocab"])
    specials = base["added_tokens"]
    template = {"type": "TemplateProcessing",
                "single": [{"SpecialToken": {"id": "<|endoftext|>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                           {"SpecialToken": {"id": "<|im_end|>", "type_id": 0}}],
                "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
                "special_tokens": {"<|endoftext|>": {"id": "<|endoftext|>", "ids": [0], "tokens": ["<|endoftext|>"]},
                                   "<|im_end|>": {"id": "<|im_end|>", "ids": [2], "tokens": ["<|im_end|>"]}}}
    out = {
        "gpt2": {},
        "prefix space": {"pre_tokenizer": byte_level(prefix=True)},
        "no regex": {"pre_tokenizer": plain},
        "no regex, prefix space": {"pre_tokenizer": byte_level(prefix=True, regex=False)},
        "smollm": {"pre_tokenizer": sequence({"type": "Digits", "individual_digits": True}, byte_level())},
        "digit runs": {"pre_tokenizer": sequence({"type": "Digits", "individual_digits": False}, plain)},
        "llama3": {"pre_tokenizer": sequence(split(LLAMA3), plain), "model": {"ignore_merges": True}},
        "qwen2": {"pre_tokenizer": sequence(split(QWEN2), plain), "normalizer": {"type": "NFC"}},
        "nfc in a sequence": {"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}]}},
        "template": {"post_processor": template},
        "template in a sequence": {"post_processor": {"type": "Sequence", "processors": [byte_level(), template]}},
        "word characters": {"pre_tokenizer": sequence(split(r"\w+|[^\w\s]+"), plain)},
        "not words": {"pre_tokenizer": sequence(split(r"\W+", "Isolated"), plain)},
        "script": {"pre_tokenizer": sequence(split(r"\p{Han}+|\p{Hiragana}+"), plain)},
        "white space": {"pre_tokenizer": sequence(split(r"\s"), plain)},
        "not white space": {"pre_tokenizer": sequence(split(r"[^\S\n]+"), plain)},
        "lookbehind": {"pre_tokenizer": sequence(split(r"(?<=e)r|(?<!t)h"), plain)},
        "possessive": {"pre_tokenizer": sequence(split(r"[^\r\n\p{L}\p{N}]?+\p{L}+| ?[^\s\p{L}\p{N}]++[\r\n]*"), plain)},
        "unknown byte": {"model": {"unk_token": "<|endoftext|>"}},
        "added tokens": {"added_tokens": specials + [
            added(n, "<single>", single_word=True), added(n + 1, "<left>", lstrip=True), added(n + 2, "<right>", rstrip=True),
            added(n + 3, "<both>", lstrip=True, rstrip=True), added(n + 4, "caf\u00e9", normalized=True, special=False),
            added(n + 5, "river bank", special=False), added(n + 6, "river", special=False, single_word=True)]},
        "added tokens and nfc": {"normalizer": {"type": "NFC"}, "added_tokens": specials + [
            added(n, "caf\u00e9", normalized=True, special=False), added(n + 1, "A\u030a", normalized=True, special=False),
            added(n + 2, "e\u0301", special=False)]},
    }
    for behavior in ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"):
        for invert in (False, True):
            out[f"split {behavior} {invert}"] = {"pre_tokenizer": sequence(split(r"[a-m]|\d", behavior, invert), plain)}
            out[f"literal {behavior} {invert}"] = {"pre_tokenizer": sequence(literal("e", behavior, invert), plain)}
    return out


EXTRA = ["a<single>b <single> c<single>", "a <left> b", "a  <right>  b<right>", "a \n<both> \n<both>  b", "the caf\u00e9 and cafe\u0301",
         "river bank, river banks, rivers, river", "xriver river_ river1 river.", "A\u030a \u00c5 e\u0301 \u00e9", "<left><left> <left>", "\u00e9river"]


def apply(base, patch):
    out = dict(base)
    for key, value in patch.items():
        out[key] = base["model"] | value if key == "model" else value
    return out


def record(tok, texts):
    return [{"text": t, "ids": tok.encode(t, add_special_tokens=False).ids, "with_special": tok.encode(t).ids} for t in texts]


def write(path, value):
    def one_line_each(items):
        return "[\n" + ",\n".join(json.dumps(i, ensure_ascii=True, separators=(",", ":")) for i in items) + "\n]"
    if isinstance(value, list):
        path.write_text(one_line_each(value) + "\n")
    else:
        path.write_text(json.dumps(value, ensure_ascii=True, separators=(",", ":")) + "\n")
    print(path, path.stat().st_size, "bytes")


def tiny():
    base = tiny_base()
    write(FIXTURES / "tiny_tokenizer.json", base)
    out = []
    first = {}
    for name, patch in variants(base).items():
        tok = Tokenizer.from_str(json.dumps(apply(base, patch)))
        cases = [[c["text"], c["ids"], c["with_special"]] for c in record(tok, TEXTS + EXTRA)]
        # A text that is not listed has the ids that the first variant gave it.
        kept = [c for c in cases if first.get(c[0]) != c]
        first = first or {c[0]: c for c in cases}
        out.append({"name": name, "patch": patch, "cases": [c[:2] if c[1] == c[2] else c for c in kept]})
    write(FIXTURES / "tokenizer_variants.json", out)


def from_gguf(path):
    import gguf
    fields = gguf.GGUFReader(path).fields
    get = lambda key: fields["tokenizer.ggml." + key].contents()
    tokens, types, pre = get("tokens"), get("token_type"), get("pre")
    tok = Tokenizer(models.BPE(vocab={t: i for i, t in enumerate(tokens)}, merges=[tuple(m.split(" ")) for m in get("merges")],
                               ignore_merges=pre == "llama-bpe"))
    plain = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    gpt2 = pre_tokenizers.ByteLevel(add_prefix_space=False)
    from tokenizers import Regex, normalizers
    isolated = lambda r: pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(r), "isolated"), plain])
    tok.pre_tokenizer = {"gpt-2": gpt2, "smollm": pre_tokenizers.Sequence([pre_tokenizers.Digits(True), gpt2]),
                         "llama-bpe": isolated(LLAMA3), "qwen2": isolated(QWEN2)}[pre]
    if pre == "qwen2":
        tok.normalizer = normalizers.NFC()
    tok.decoder = decoders.ByteLevel()
    tok.add_special_tokens([AddedToken(t, special=True, normalized=False) for t, k in zip(tokens, types) if k == 3])
    tok.add_tokens([AddedToken(t, special=False, normalized=False) for t, k in zip(tokens, types) if k == 4])
    return tok


def main(args):
    if args[:1] == ["tiny"] and len(args) == 1:
        tiny()
    elif args[:1] == ["gguf"] and len(args) == 3:
        tok = from_gguf(args[1])
        write(pathlib.Path(args[2]), [[c["text"], c["ids"]] for c in record(tok, TEXTS)])
    elif args[:1] == ["write"] and len(args) == 3:
        pathlib.Path(args[2]).write_text(from_gguf(args[1]).to_str())
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
