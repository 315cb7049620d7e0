"""Templates drawn from a seed: grammatical ones over a fixed set of variables, and damaged ones made from given sources."""
import re

VARIABLES = {
    "n": 3, "neg": -7, "f": 2.5, "s": "a b  c", "t": "Zürich ß", "lines": "one\ntwo\r\n\n  three \n", "html": "<b a='1'>&\"</b>",
    "l": [3, 1, 2, 3], "words": ["pear", "Apple", "fig", "apple"], "e": [], "es": "", "ed": {}, "z": None, "b": True, "num": "42",
    "d": {"b": 2, "A": 1, "c": None, "items": "x"}, "deep": {"k": [{"v": 1}, {"v": [2, {"w": "é"}]}]},
    "m": [{"role": "system", "content": " Be brief.\n"}, {"role": "user", "content": "Hi 😀"},
          {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]},
          {"role": "tool", "content": [{"type": "text", "text": "ok"}]}],
    "pairs": [["a", 1], ["b", 2]], "mixed": [1, "1", 1.0, True, None, [1]],
}
NUMBERS, TEXTS = ["n", "neg", "f", "0", "1", "2", "-1", "1.5", "10", "b"], ["s", "t", "lines", "html", "num", "es", "'a'", "'b c'", "'é'"]
LISTS, DICTS = ["l", "words", "e", "m", "pairs", "mixed", "[1, 2]", "('x', 'y')", "range(3)"], ["d", "deep", "ed", "m[0]", "{'k': 1}"]
OTHERS = ["z", "true", "false", "none", "nope", "nope2", "x", "y", "v"]
TARGETS = ["x", "y", "v", "n", "s"]
FILTERS = {
    "abs": [""], "attr": ["('role')"], "batch": ["(2)", "(2, 'p')"], "capitalize": [""], "center": ["(9)"], "default": ["('D')", "('D', true)", ""],
    "d": ["(1)"], "dictsort": ["", "(true)", "(by='value')", "(reverse=true)"], "escape": [""], "e": [""], "filesizeformat": ["", "(true)"],
    "first": [""], "last": [""], "float": ["", "(9)"], "forceescape": [""], "format": ["(1)", "('q', 2)"], "groupby": ["('role')", "(0)"],
    "indent": ["", "(2, true)", "(3, blank=true)", "('>')"], "int": ["", "(5)", "(0, 16)"], "items": [""], "join": ["", "(', ')", "('-', attribute='role')"],
    "length": [""], "count": [""], "list": [""], "lower": [""], "upper": [""], "map": ["('upper')", "(attribute='role')", "('default', 'q')", "('int')", "(attribute='v', default=0)"],
    "max": ["", "(attribute='v')"], "min": ["", "(case_sensitive=true)"], "reject": ["('odd')", "", "('none')"], "select": ["('string')", "", "('gt', 1)", "('in', [1, 2])"],
    "rejectattr": ["('content')", "('role', 'eq', 'user')"], "selectattr": ["('content', 'string')", "('role', 'in', ['user'])", "('tool_calls', 'defined')"],
    "replace": ["('a', 'o')", "('', '-')", "('a', 'o', 1)"], "reverse": [""], "round": ["", "(1)", "(0, 'floor')", "(1, 'ceil')"], "safe": [""], "slice": ["(2)", "(3, 'p')"],
    "sort": ["", "(true)", "(attribute='role')", "(case_sensitive=true)"], "string": [""], "striptags": [""], "sum": ["", "(start=2)", "('v')"], "title": [""],
    "tojson": ["", "(indent=2)", "(ensure_ascii=true)", "(sort_keys=true)", "(separators=(',', ':'))", "(indent=4, sort_keys=true)"],
    "trim": ["", "('a')"], "truncate": ["(5)", "(7, true)", "(5, false, '~', 0)"], "unique": ["", "(true)", "(attribute='role')"], "urlencode": [""],
    "wordcount": [""], "wordwrap": ["(5)", "(4, false)"], "xmlattr": ["", "(false)"], "pprint": [""],
}
TESTS = ["defined", "undefined", "none", "string", "number", "integer", "float", "boolean", "true", "false", "mapping", "sequence", "iterable", "callable",
         "odd", "even", "divisibleby(2)", "divisibleby 3", "lower", "upper", "eq 1", "ne(2)", "gt 1", "lt(3)", "ge 2", "le 2", "in [1, 2, 'a']", "in d",
         "sameas none", "sameas(true)", "escaped", "filter", "test", "equalto 'a'"]
TEXT_METHODS = ["upper()", "lower()", "title()", "strip()", "lstrip()", "rstrip('c')", "strip(' a')", "split()", "split(' ')", "split('\\n', 1)", "rsplit(' ', 1)",
                "splitlines()", "splitlines(true)", "startswith('a')", "endswith(('c', 'h'))", "replace('a', 'b')", "replace(' ', '', 1)", "find('b')", "rfind(' ')",
                "index('a')", "count('a')", "join(words)", "join('xyz')", "capitalize()", "swapcase()", "isdigit()", "isalpha()", "isupper()", "islower()", "isspace()",
                "isalnum()", "istitle()", "zfill(6)", "ljust(6, '.')", "rjust(6)", "center(7)", "partition(' ')", "rpartition(' ')", "removeprefix('a')", "removesuffix('c')",
                "expandtabs()", "format(1, k=2)", "casefold()", "translate({97: 'o'})", "encode()", "isnumeric()", "isdecimal()", "isidentifier()", "isascii()", "isprintable()"]
DICT_METHODS = ["items()", "keys()", "values()", "get('b')", "get('q', 7)", "get('A')", "items()|list", "keys()|list", "copy()", "update({'a': 1})", "pop('b')"]
LIST_METHODS = ["index(1)", "count(3)", "copy()", "append(1)", "pop()"]
LOOP = ["index", "index0", "revindex", "revindex0", "first", "last", "length", "depth", "depth0", "previtem", "nextitem", "cycle('a', 'b')", "changed(v)"]
SIGNS = ["+", "-", "*", "/", "//", "%", "~", "==", "!=", "<", ">", "<=", ">=", "in", "not in", "and", "or"]


class TemplateMaker:
    """One grammatical template; most of its expressions suit their operands, some do not."""

    def __init__(self, random):
        self.random, self.depth, self.n_loops, self.macros = random, 0, 0, []

    def pick(self, choices):
        return self.random.choice(choices)

    def chance(self, probability):
        return self.random.random() < probability

    def template(self):
        return self.body(self.random.randint(1, 4))

    def body(self, n):
        return "".join(self.text() + self.statement() for _ in range(n)) + self.text()

    def text(self):
        return self.pick(["", "", "a", " ", "\n", "  \n", "\n  ", "x\n\n", "\t", " } ", "{ ", "%", "é\n"])

    def tag(self, inside):
        begin, end = self.pick(["{%", "{%", "{%", "{%-", "{%+"]), self.pick(["%}", "%}", "%}", "-%}", "+%}"])
        return f"{begin} {inside} {end}"

    def printed(self, inside):
        return self.pick(["{{ %s }}", "{{ %s }}", "{{- %s }}", "{{ %s -}}", "{{- %s -}}", "{{%s}}"]) % inside

    def statement(self):
        if self.depth > 2:
            return self.printed(self.expression())
        self.depth += 1
        kinds = [self.show, self.show, self.show, self.conditional, self.loop, self.assignment, self.assignment, self.block_assignment, self.with_block,
                 self.macro, self.filter_block, self.comment, self.raw, self.generation, self.call_block, self.jump, self.names]
        made = self.pick(kinds)()
        self.depth -= 1
        return made

    def show(self):
        return self.printed(self.expression())

    def conditional(self):
        made = self.tag("if " + self.expression()) + self.body(1)
        if self.chance(0.3):
            made += self.tag("elif " + self.expression()) + self.body(1)
        if self.chance(0.5):
            made += self.tag("else") + self.body(1)
        return made + self.tag("endif")

    def loop(self):
        target = self.pick(["x", "v", "y", "n", "k, v", "x, (y, v)"]) if self.chance(0.8) else self.pick(["loop", "x,"])
        over = self.pick(["pairs", "d.items()", "deep.items()"]) if "," in target and self.chance(0.8) else self.pick(LISTS + ["s", "d", "nope", "m[1:]", "l|sort"])
        recursive = self.chance(0.15)
        head = f"for {target} in {over}" + (f" if {self.expression()}" if self.chance(0.25) else "") + (" recursive" if recursive else "")
        self.n_loops += 1
        inside = self.body(self.random.randint(1, 2)) + (self.printed("loop([])") if recursive else "")
        self.n_loops -= 1
        otherwise = self.tag("else") + self.body(1) if self.chance(0.25) else ""
        return self.tag(head) + inside + otherwise + self.tag("endfor")

    def assignment(self):
        target = self.pick(TARGETS) if self.chance(0.85) else self.pick(["ns.a", "x, y", "d.b"])
        value = f"{self.expression()}, {self.expression()}" if target == "x, y" and self.chance(0.8) else self.expression()
        return self.tag(f"set {target} = {value}")

    def names(self):
        return self.tag("set ns = namespace(a=1, b=l)") + self.tag(f"for x in {self.pick(LISTS)}") + self.tag("set ns.a = x") + self.tag("endfor") + self.printed("ns.a")

    def block_assignment(self):
        return self.tag(f"set {self.pick(TARGETS)}" + (" | " + self.filter_use() if self.chance(0.3) else "")) + self.body(1) + self.tag("endset")

    def with_block(self):
        parts = ", ".join(f"{self.pick(TARGETS)} = {self.expression()}" for _ in range(self.random.randint(0, 2)))
        return self.tag("with " + parts) + self.body(1) + self.tag("endwith")

    def macro(self):
        name, signature = self.pick(["f1", "f2"]), self.pick(["", "x", "x, y=2", "x, y=x", "x=n", "v, s='q'"])
        made = self.tag(f"macro {name}({signature})") + self.body(1) + self.pick(["", "{{ varargs }}", "{{ kwargs }}", "{{ caller() if caller }}"]) + self.tag("endmacro")
        return made + self.printed(f"{name}({self.pick(['', '1', '1, 2', 'y=3', 'x=l', '1, 2, 3', '*l', '**d'])})")

    def call_block(self):
        signature = self.pick(["", "(x)", "(x, y=1)"])
        return (self.tag("macro g(a)") + "<{{ caller(" + self.pick(["", "a", "1, 2", "a, y=2"]) + ") }}>" + self.tag("endmacro") +
                self.tag(f"call{signature} g({self.expression()})") + self.body(1) + self.tag("endcall"))

    def filter_block(self):
        return self.tag("filter " + self.filter_use()) + self.body(1) + self.tag("endfilter")

    def generation(self):
        return self.tag("generation") + self.body(1) + self.tag("endgeneration")

    def comment(self):
        return self.pick(["{# c #}", "{#- c -#}", "{#+ {{ x }} #}", "{# a\nb #}\n"])

    def raw(self):
        return self.tag("raw") + self.pick(["{{ x }}", " {% if %} ", "\n{# #}\n", ""]) + self.tag("endraw")

    def jump(self):
        if not self.n_loops:
            return self.show()
        return self.tag("if " + self.expression()) + self.tag(self.pick(["break", "continue"])) + self.tag("endif")

    def filter_use(self):
        name = self.pick(list(FILTERS))
        return name + self.pick(FILTERS[name])

    def atom(self):
        return self.pick(self.pick([NUMBERS, TEXTS, TEXTS, LISTS, LISTS, DICTS, OTHERS]))

    def postfix(self):
        kind = self.random.randrange(8)
        if kind == 0:
            return f"{self.pick(TEXTS)}.{self.pick(TEXT_METHODS)}"
        if kind == 1:
            return f"{self.pick(DICTS)}.{self.pick(DICT_METHODS)}"
        if kind == 2:
            return f"{self.pick(LISTS)}[{self.pick(['0', '-1', '1:', ':2', '::-1', '5', '1:3', '::2', 'n', ':-1', 'none'])}]"
        if kind == 3:
            return self.pick(["d.b", "d['A']", "d.nope", "m[0].role", "m[-1]['content']", "deep.k[1].v[1]['w']", "nope.x", "m[0].content.strip()", "z.a", "n.a", "s[0]", "t[1:3]", "es[0]", "m.0.role"])
        if kind == 4 and self.n_loops:
            return "loop." + self.pick(LOOP)
        if kind == 5:
            return f"{self.pick(LISTS)}.{self.pick(LIST_METHODS)}"
        if kind == 6:
            return self.pick(["range(4)", "range(1, n)", "range(5, 0, -2)", "dict(a=1, b=n)", "dict(d, q=1)", "namespace(q=1).q", "strftime_now('%d %b')", "cycler('a').next()", "joiner()()", "raise_exception('no ' ~ n)" if self.chance(0.2) else "1"])
        return f"{self.pick(TEXTS)}[{self.pick(['0', '-1', '1:', ':2', '::-1', '9', '1:3'])}]"

    def expression(self, depth=0):
        kind = self.random.randrange(12)
        if depth > 2 or kind < 2:
            return self.atom()
        if kind < 4:
            return self.postfix()
        inner = lambda: self.expression(depth + 1)
        if kind < 6:
            return f"{inner()} | {self.filter_use()}" if self.chance(0.7) else f"({inner()}) | {self.filter_use()} | {self.filter_use()}"
        if kind == 6:
            return f"{inner()} is {self.pick(['', '', 'not '])}{self.pick(TESTS)}"
        if kind < 9:
            return f"{inner()} {self.pick(SIGNS)} {inner()}"
        if kind == 9:
            return f"({inner()} if {inner()}" + (f" else {inner()})" if self.chance(0.8) else ")")
        if kind == 10:
            return self.pick(["not {0}", "({0})", "-{0}", "[{0}, {1}]", "({0}, {1})", "{{'k': {0}, 'j': {1}}}", "({0},)", "{0} ~ {1} ~ {0}", "{0} < {1} < {0}", "{0} not in {1}", "{0}[{1}]"]).format(inner(), inner())
        return f"'{self.pick(['%s', '%5.2f', '%d', '%r', '%-4s|', '{}', '{:>5}', '%%', '%s %s', '%x', '%(a)s'])}'{self.pick([' % ', '.format'])}({inner()})"


def random_template(random):
    return TemplateMaker(random).template()


PIECES = re.compile(r"\{[%{#][-+]?|[-+]?[%}#]\}|\w+|\s+|[^\w\s]")


def damaged(random, source, donors):
    """`source` with one to three of its tokens dropped, doubled, swapped or replaced by another source's."""
    pieces = PIECES.findall(source)
    for _ in range(random.randint(1, 3)):
        if not pieces:
            break
        at = random.randrange(len(pieces))
        kind = random.randrange(5)
        if kind == 0:
            del pieces[at]
        elif kind == 1:
            pieces.insert(at, pieces[at])
        elif kind == 2:
            other = random.randrange(len(pieces))
            pieces[at], pieces[other] = pieces[other], pieces[at]
        elif kind == 3:
            pieces[at] = random.choice(PIECES.findall(random.choice(donors)) or [" "])
        else:
            pieces[at] = random.choice(["{%", "%}", "{{", "}}", "{#", "#}", "-%}", "{%-", "(", ")", "[", "]", "'", "\"", "|", ".", ",", "=", "if", "else", "is", "not", "in", "\n", " ", "0", "1e5", "~", "**"])
    return "".join(pieces)
