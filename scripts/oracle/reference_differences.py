"""Why a reference gives other ids than isobit, string by string: a reason is given only where a test of it holds.

llama.cpp does not compose text (NFC), decomposes Hangul otherwise, and matches rewritten patterns. Where the model's own
tokenizer.json, read by `tokenizers`, gives isobit's ids, that is the reason; where moreover llama.cpp itself gives isobit's
ids for the composed or decomposed text, it contradicts itself, and the reason says so. `tokenizers` maps the characters of a
SentencePiece character map by grapheme cluster, where SentencePiece and llama.cpp take the longest entry at each place.
"""
import unicodedata

COMPOSES = ("qwen2", "command-r")  # models whose tokenizer.json begins with NFC


SENTENCE_END = b"</s>"


def control_tokens(meta):
    kinds = meta.get("tokenizer.ggml.token_type") or []
    return [token for token, kind in zip(meta["tokenizer.ggml.tokens"], kinds) if kind in (3, 4)]


def pre_of(meta):
    return (meta.get("tokenizer.ggml.pre") or b"").decode()


def explain_tokenizers(meta, own, llama_ids):
    """For a GGUF's ids that `tokenizers` does not give."""
    if meta.get("tokenizer.ggml.precompiled_charsmap") and own == llama_ids:
        return "tokenizers maps grapheme clusters; llama.cpp, as SentencePiece does, gives isobit's ids"
    return None


def explain_llama(meta, text, own, expected, vocabulary):
    """For ids that llama.cpp does not give; `expected` are those of `tokenizers`, or None."""
    if pre_of(meta) in COMPOSES and own == vocabulary.encode(unicodedata.normalize("NFC", text), False):
        return "llama.cpp does not compose: it gives these ids for the composed (NFC) text"
    if own != expected:
        return None
    if meta["tokenizer.ggml.model"] == b"bert" and own == vocabulary.encode(unicodedata.normalize("NFD", text), False):
        return "llama.cpp keeps Hangul syllables: it gives these ids for the decomposed (NFD) text"
    if any(unicodedata.category(c) == "Cn" for c in text):
        return "llama.cpp alone, at characters newer than Unicode 14; tokenizers gives isobit's ids"
    if "</s>" in text and SENTENCE_END not in control_tokens(meta):
        return "llama.cpp alone: it makes \"</s>\" special by its spelling; tokenizers gives isobit's ids"
    return "llama.cpp alone: tokenizers, reading the model's own steps, gives isobit's ids"
