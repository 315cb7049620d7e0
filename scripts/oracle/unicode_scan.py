#!/usr/bin/env python3
"""Writes lib/text/unicode_frozen.cc and unicode_newer.inc: where Hugging Face's `tokenizers` has other character classes.

    unicode_scan.py

unicode_newer.inc lists the characters that Python's Unicode 14 does not know and the library's regular expressions do.
unicode_frozen.cc is about its older tables: its BertNormalizer and Punctuation use tables of Unicode 8, its StripAccents those of Unicode 9. Asks the library about
every character and compares with Python's unicodedata. Needs the Python package `tokenizers`; the file was written with
tokenizers 0.23.3 and a Python that has Unicode 14.
"""
import pathlib
import unicodedata

from tokenizers import Regex, normalizers, pre_tokenizers

TARGET = pathlib.Path(__file__).resolve().parents[2] / "lib" / "text" / "unicode_frozen.cc"
HEAD = """// Character classes as old as the tables of Hugging Face's `tokenizers`: what Unicode calls a mark,
// punctuation or a control character today and those tables do not, and the reverse. Written by
// scripts/oracle/unicode_scan.py.
#include "text/unicode_frozen.h"

namespace isobit {
namespace {
"""


def questions():
    clean = normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    accents = normalizers.BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=False)
    marks = normalizers.StripAccents()
    punctuation = pre_tokenizers.Punctuation()
    decomposes = lambda c: unicodedata.normalize("NFD", c) != c
    yield "Other", lambda c: clean.normalize_str("a" + c) == "a", lambda c, k: k in ("Cc", "Cf", "Co") or c == "\ufffd"
    yield "NonspacingMark", lambda c: k_mn(c) if decomposes(c) else accents.normalize_str("a" + c) == "a", lambda c, k: k == "Mn"
    yield "Mark", lambda c: marks.normalize_str("a" + c) == "a", lambda c, k: k[0] == "M"
    yield "Punctuation", lambda c: len(punctuation.pre_tokenize_str("a" + c)) == 2, lambda c, k: k[0] == "P"


def k_mn(c):
    return unicodedata.category(c) == "Mn"


def ranges(codes):
    out = []
    for c in codes:
        if out and c == out[-1][1] + 1:
            out[-1][1] = c
        else:
            out.append([c, c])
    return out


def table(name, codes):
    items = [f"{{0x{a:X}, 0x{b:X}}}" for a, b in ranges(codes)] or ["{1, 0}"]
    lines, line = [], "   "
    for item in items:
        if len(line) + len(item) + 2 > 98:
            lines.append(line)
            line = "   "
        line += f" {item},"
    return f"\nconstexpr CodePointRange {name}[] = {{\n" + "\n".join(lines + [line]).rstrip(",") + "};\n"


CATEGORIES = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp".split()


def found_by(split, codes):
    """Which of the characters a pre-tokenizer sets apart from the line break before them."""
    out = []
    for start in range(0, len(codes), 5000):
        pieces = split.pre_tokenize_str("".join("\n" + chr(c) for c in codes[start:start + 5000]))
        out += [ord(piece) for piece, _ in pieces if len(piece) == 1 and piece != "\n"]
    return sorted(set(out))


def write_newer(characters):
    unknown = [c for c in characters if unicodedata.category(chr(c)) == "Cn"]
    lines = ["// Written by scripts/oracle/unicode_scan.py: {first, last, class}."]
    for name in CATEGORIES:
        lines += [f'{{0x{a:X}, 0x{b:X}, "{name}"}},' for a, b in ranges(found_by(pre_tokenizers.Split(Regex(rf"\p{{{name}}}"), "isolated"), unknown))]
    lines += [f'{{0x{a:X}, 0x{b:X}, "Han"}},' for a, b in ranges(found_by(pre_tokenizers.Split(Regex(r"\p{Han}"), "isolated"), unknown))]
    lines += [f'{{0x{a:X}, 0x{b:X}, "numeric"}},' for a, b in ranges(found_by(pre_tokenizers.Digits(individual_digits=True), unknown))]
    target = TARGET.with_name("unicode_newer.inc")
    target.write_text("\n".join(lines) + "\n")
    print(target, target.stat().st_size, "bytes")


def unknown_to_normalization(characters):
    """What Unicode 14 decomposes, composes or orders and the library's normal forms leave where it is."""
    forms = {"NFC": normalizers.NFC(), "NFD": normalizers.NFD(), "NFKC": normalizers.NFKC(), "NFKD": normalizers.NFKD()}
    differs = lambda form, text: forms[form].normalize_str(text) != unicodedata.normalize(form, text)
    for code in characters:
        c = chr(code)
        decomposed = unicodedata.normalize("NFD", c)
        marks = "a\u0301" + c if unicodedata.combining(c) < 230 else "a" + c + "\u0323"
        if any(differs(form, c) for form in forms) or (unicodedata.combining(c) and differs("NFD", marks)):
            yield code
        if len(decomposed) == 2 and decomposed != c and differs("NFC", decomposed):
            yield ord(decomposed[1])  # composes with the character before it


def main():
    characters = [c for c in range(0x80, 0x110000) if not 0xD800 <= c < 0xE000]
    write_newer(characters)
    tables, functions = "", ""
    for name, theirs, ours in questions():
        added, removed = [], []
        for code in characters:
            c = chr(code)
            now, then = ours(c, unicodedata.category(c)), theirs(c)
            if now and not then:
                added.append(code)
            if then and not now:
                removed.append(code)
        tables += table(f"kNew{name}", added) + table(f"kOld{name}", removed)
        functions += f"\nFrozenClass frozen_{name.lower()}() {{\n  return {{kNew{name}, kOld{name}}};\n}}\n"
    tables += table("kNewNormalization", sorted(set(unknown_to_normalization(characters))))
    functions += "\nFrozenClass frozen_normalization() {\n  return {kNewNormalization, {}};\n}\n"
    TARGET.write_text(HEAD + tables + "\n}  // namespace\n" + functions.replace("frozen_nonspacingmark", "frozen_nonspacing_mark") + "\n}  // namespace isobit\n")
    print(TARGET, TARGET.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
