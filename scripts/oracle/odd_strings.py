"""Strings that tokenizers get wrong, drawn from a seed: every one is the same again for the same seed and index.

Unicode of every plane, combining marks, emoji joined by U+200D, CJK, digits of many scripts, code, runs of white space,
the text of special tokens (whole, cut and glued together), and mixtures of all of these. `broken_bytes` gives byte
strings that are not UTF-8. Standard-library Python only.
"""
import random

MARKS = "\u0300\u0301\u0308\u0323\u0327\u0345\u0483\u05b0\u064b\u093c\u0e31\u0f71\u20dd\u3099\u302a\ufe0f\ufe20"
LETTERS = "aAbBeEiIsStTxXzZ" + "\u00e0\u00e9\u00ef\u00f1\u00df\u0130\u0131\u0141\u017f\u01c5\u03a3\u03c2\u0416\u0451\u05d0\u0627\u0905\u0e01\u1e9e\ufb01"
DIGITS = "0123456789\u0661\u0662\u06f3\u0967\u0e52\uff15\u00b2\u00b9\u2460\u2167\u00bd\U0001d7d8\U00010a40"
SPACES = " \t\n\r\x0b\x0c\x85\xa0\u1680\u180e\u2000\u2009\u200b\u2028\u2029\u202f\u205f\u3000\ufeff\x1c\x1f"
EMOJI = "\U0001f600\U0001f468\U0001f469\U0001f467\U0001f3f3\U0001f308\u2764\u2620\U0001f9d1\U0001f680\U0001f1e9\U0001f1ea"
WORDS = ("the river bank Hello WORLD hello world iPhone McDonald's don't DON'T can't I'LL we've you're she'd it's 'tis '\u017f "
         "na\u00efve caf\u00e9 Stra\u00dfe \u0130stanbul \u0395\u03bb\u03bb\u03ac\u03b4\u03b1 \u041c\u043e\u0441\u043a\u0432\u0430 \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627 \u0928\u092e\u0938\u094d\u0924\u0947 \u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35 Vi\u1ec7t "
         "\u4eca\u5929\u5929\u6c14 \u6771\u4eac\u30bf\u30ef\u30fc \u3042\u308a\u304c\u3068\u3046 \uc548\ub155\ud558\uc138\uc694 \u1112\u1161\u11ab \uff21\uff22\uff23 \ufb01sh \u33a1").split()
CODE = ("for (int i = 0; i < n; ++i) {\n\t\tx[i] += y->z;\n}", "def f(x):\n    return x**2  # twice\n", "if (a && b || !c) { /* no */ }", "SELECT * FROM t WHERE a<>'b';",
        "<div class=\"x\">&nbsp;</div>", "https://example.org/a?b=c&d=%20#e", "0x1F + 1e-5 - 12_345.678e+9", "#include <stdio.h>\r\n", "->=><==!=...===", "\\n\\t\\u0041 $HOME `ls`",
        "a.b-c_d/e\\f@g~h^i|j", "{{ x }} {% if y %}", "C:\\Users\\x", "(x):\n", "foo();\n\n\n\nbar()\n", "    \t    indented", "!!!???,,,;;;")
LOOKALIKES = ("<s>", "</s>", "<unk>", "<pad>", "<mask>", "<|endoftext|>", "<|im_start|>", "[CLS]", "[SEP]", "<0x0A>", "<0xFF>", "\u2581", "\u2581\u2581", "\u0120", "##s", "</w>", "<text>", "[INST]")
NEWER = ((0x1C89, 0x1C8A), (0xA7CB, 0xA7DC), (0x105C0, 0x105F3), (0x10D40, 0x10D85), (0x11BC0, 0x11BF9), (0x16D40, 0x16D79), (0x1E4D0, 0x1E4F9), (0x2EBF0, 0x2EE5D), (0x31350, 0x323AF))
PLANES = ((0x20, 0x7E), (0xA0, 0x24F), (0x250, 0x5FF), (0x600, 0xDFF), (0xE00, 0x1FFF), (0x2000, 0x2BFF), (0x2C00, 0x33FF), (0x3400, 0x9FFF), (0xA000, 0xD7FF), (0xE000, 0xF8FF),
          (0xF900, 0xFFFF), (0x10000, 0x10FFF), (0x11000, 0x16FFF), (0x17000, 0x1CFFF), (0x1D000, 0x1FAFF), (0x20000, 0x323AF), (0xE0000, 0xE01EF), (0xF0000, 0x10FFFF))


def plane_text(r, specials):
    low, high = r.choice(PLANES)
    return "".join(chr(r.randint(low, high)) for _ in range(r.randint(1, 12)))


def marks(r, specials):
    return "".join(r.choice(LETTERS) + "".join(r.choice(MARKS) for _ in range(r.choice((0, 1, 1, 2, 3, 5)))) for _ in range(r.randint(1, 8)))


def emoji(r, specials):
    joiners = ("\u200d", "\ufe0f\u200d", "", "\U0001f3fd", "\U0001f3fd\u200d", " ", "\ufe0f", "\u200d\u200d")
    return "".join(r.choice(EMOJI) + r.choice(joiners) for _ in range(r.randint(1, 8)))


def words(r, specials):
    return r.choice(("", " ", "  ", "\n")) + r.choice((" ", " ", " ", "", "  ", "\n", "-", "'")).join(r.choice(WORDS) for _ in range(r.randint(1, 10)))


def cjk(r, specials):
    ranges = ((0x4E00, 0x9FFF), (0x3040, 0x30FF), (0xAC00, 0xD7A3), (0x1100, 0x11FF), (0x3000, 0x303F), (0xFF00, 0xFFEF), (0x20000, 0x2A6DF))
    return "".join(chr(r.randint(*r.choice(ranges))) for _ in range(r.randint(1, 10)))


def digits(r, specials):
    run = lambda: "".join(r.choice("0123456789" if r.random() < 0.7 else DIGITS) for _ in range(r.randint(1, 12)))
    return r.choice(("", " ", ".", ",", "a", "-")).join(run() for _ in range(r.randint(1, 4)))


def code(r, specials):
    return "".join(r.choice(CODE) for _ in range(r.randint(1, 3)))


def white_space(r, specials):
    run = lambda: "".join(r.choice("  \n\t" if r.random() < 0.6 else SPACES) for _ in range(r.choice((1, 2, 3, 4, 8, 20))))
    return "".join(run() + r.choice(("", "x", "Word", "1", "\u4eca", ".", "'s")) for _ in range(r.randint(1, 5)))


def special_text(r, specials):
    out = []
    for _ in range(r.randint(1, 6)):
        token = r.choice(specials) if specials and r.random() < 0.7 else r.choice(LOOKALIKES)
        cut = r.random()
        out.append(token[:r.randint(0, len(token))] if cut < 0.1 else token[r.randint(0, len(token)):] if cut < 0.15 else token)
        out.append(r.choice(("", "", " ", "  ", "a", "\n", "Hello", "\u00e9", "1", " x ", "\u3000")))
    return r.choice(("", " ", "I love you.")) + "".join(out)


def repeats(r, specials):
    return r.choice(("a", "=", "-", " ", "\n", "0", "\u754c", "\u0301", "ha", "<", "\U0001f600", "\u2581", "lo", "\r\n", "A", "'s")) * r.choice((2, 3, 5, 8, 17, 33, 100))


def newer_characters(r, specials):
    """Of Unicode 15 and 16, beside what a pattern cuts letters, digits and signs by."""
    return "".join(chr(r.randint(*r.choice(NEWER))) + r.choice(("", "", " ", "'s", "1", "a", ".", "\u0301")) for _ in range(r.randint(1, 8)))


KINDS = (newer_characters, plane_text, marks, emoji, words, cjk, digits, code, white_space, special_text, repeats)


def mixture(r, specials):
    return "".join(r.choice(KINDS)(r, specials) + r.choice(("", "", " ", "\n")) for _ in range(r.randint(2, 4)))


def strings(seed, count, specials):
    """(kind, text) pairs, each kind in turn; surrogates never, so all of them are valid UTF-8."""
    kinds = KINDS + (mixture, mixture)
    for index in range(count):
        kind = kinds[index % len(kinds)]
        r = random.Random(f"{seed} {index}")
        yield kind.__name__, kind(r, specials)[:2000]


def broken_bytes(seed, count):
    """Byte strings with a fault in them: a byte replaced, a character cut, an overlong form, a surrogate."""
    faults = (b"\xff", b"\xfe", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe4\xbb", b"\x80", b"\xf0\x9f\x98", b"\xc3")
    for index, (_, text) in enumerate(strings(seed + 1, count, [])):
        r = random.Random(f"broken {seed} {index}")
        data = text.encode("utf-8")
        at = r.randint(0, len(data))
        while at < len(data) and data[at] & 0xC0 == 0x80:
            at += 1
        broken = data[:at] + r.choice(faults) + b"~" + data[at:]
        yield broken
