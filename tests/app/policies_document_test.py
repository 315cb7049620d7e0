"""docs/policies.md, read as its reader does: every policy in it is checked, every command run, every output compared."""

import json
import os
import re
import shlex
import unittest

import json_schema
from program import SOURCE, ProgramTest

DOCUMENT = os.path.join(SOURCE, "docs", "policies.md")
# What stands in the prose for something that the reader has.
STANDS_FOR = {"BASE": "latest~1", "CAND": "latest", "FILE": "release.json", "NAME": "two-tiers", "RULE": "same-tokens", "METRIC": "chrf"}


def text_of_document():
    with open(DOCUMENT, encoding="utf-8") as f:
        return f.read()


def blocks(kind):
    return re.findall(rf"^```{kind}\n(.*?)^```$", text_of_document(), re.M | re.S)


def steps(block):
    """(command, the lines that follow it) of a block in which "$ " begins a command."""
    for part in re.split(r"^\$ ", block.replace("\\\n", " "), flags=re.M)[1:]:
        command, _, output = part.partition("\n")
        yield command, output.splitlines()


def spoken_commands():
    prose = re.sub(r"^```.*?^```$", "", text_of_document(), flags=re.M | re.S)
    return sorted(set(re.findall(r"`(isobit [a-z][^`]*)`", " ".join(prose.split()))))


def code_words():
    prose = re.sub(r"^```.*?^```$", "", text_of_document(), flags=re.M | re.S)
    return set(re.findall(r"`([^`\n]+)`", prose))


def without_comments(text):
    return re.sub(r"^\s*//.*$", "", text, flags=re.M)


class PoliciesDocument(ProgramTest):
    def setUp(self):
        super().setUp()
        os.symlink(os.path.join(SOURCE, "examples"), self.path("examples"))

    def shows(self, shown, printed, command):
        """The lines as shown, where "..." stands for any number of lines."""
        at, any_number = 0, False
        for line in shown:
            if line == "...":
                any_number = True
                continue
            if any_number:
                self.assertIn(line, printed[at:], f"$ {command}\n" + "\n".join(printed))
                at = printed.index(line, at)
            self.assertLess(at, len(printed), f"$ {command}: nothing is left for {line!r}\n" + "\n".join(printed))
            self.assertEqual(line, printed[at], f"$ {command}\n" + "\n".join(printed))
            at, any_number = at + 1, False
        if not any_number:
            self.assertEqual(printed[at:], [], f"$ {command} prints more than is shown")

    def write_policies(self):
        """Those that say their name in a first line."""
        for block in blocks("json"):
            if name := re.match(r"// (\S+\.json)\n", block):
                self.write(name[1], block)

    def run_block(self, block):
        block_steps = list(steps(block))
        for i, (command, shown) in enumerate(block_steps):
            words = shlex.split(command)
            if words[0] == "cat":
                self.write(words[1], "\n".join(shown) + "\n")
            elif words[0] == "isobit":
                says_code = i + 1 < len(block_steps) and block_steps[i + 1][0] == "echo $?"
                code = int(block_steps[i + 1][1][0]) if says_code else 0
                result = self.isobit(*words[1:], expect=code)
                self.shows(shown, (result.out if result.out else result.err).splitlines(), command)
            else:
                self.assertEqual(command, "echo $?", "a command that this test cannot run")

    def test_every_command_prints_what_is_shown_and_ends_as_is_said(self):
        self.write_policies()
        self.assertGreaterEqual(len(blocks("console")), 8)
        for block in blocks("console"):
            with self.subTest(block.split("\n")[0]):
                self.run_block(block)
        self.assertGreaterEqual(len(spoken_commands()), 5)
        for command in spoken_commands():
            with self.subTest(command):
                self.isobit(*[STANDS_FOR.get(word, word) for word in shlex.split(command)[1:]], expect=0)

    def test_every_policy_is_one_by_the_program_and_by_the_schema(self):
        policies = [b if re.match(r"\s*(//|\{)", b) else '{"name": "p", "level": 1,\n' + b + "}" for b in blocks("json")]
        self.assertGreaterEqual(len(policies), 6)
        for policy in policies:
            with self.subTest(policy):
                self.assertEqual(json_schema.Schema("policy").errors(json.loads(without_comments(policy))), [])
                self.isobit("policy", "check", self.write("p.json", policy), "--now", "2026-06-15", expect=0)

    def test_every_block_is_a_policy_or_a_session(self):
        self.assertEqual(set(re.findall(r"^```(\w*)$", text_of_document(), re.M)), {"json", "console", ""})
        self.assertEqual(len(re.findall(r"^```", text_of_document(), re.M)), 2 * len(blocks("json") + blocks("console")))

    def test_every_key_of_the_schema_is_named(self):
        def keys(schema):
            if isinstance(schema, dict):
                yield from schema.get("properties", {})
                for member in schema.values():
                    yield from keys(member)
        words = code_words()
        missing = {key for key in keys(json_schema.load("policy")) if not {key, f'"{key}"'} & words}
        self.assertEqual(missing, set())

    def test_every_built_in_rule_is_named_and_explained_by_the_program(self):
        words = code_words()
        for against in ("", "-loaded"):
            for rule in ("within-noise", "same-tokens", "same-bits", "suspicious-flips"):
                self.assertEqual(self.isobit("explain", rule + against, "--json", expect=0).json["rule"], rule + against)
                self.assertIn(rule + against, words)

    def test_the_table_of_metrics_is_the_program_s(self):
        rows = [f"| `{m['metric']}` | {m['unit']} | {'yes' if m['has_bound'] else ''} | {', '.join(m['scopes'])} | {m['meaning']} |"
                for m in self.isobit("policy", "metrics", "--json", expect=0).json["metrics"]]
        for row in rows:
            row_of = row.replace("run, cell, axis, tag, prompt", "any")
            self.assertIn(row_of + "\n", text_of_document(), "the table should be\n" + "\n".join(rows).replace("run, cell, axis, tag, prompt", "any"))
        self.assertEqual(len(re.findall(r"^\| `\w+` \| \w+ \| (?:yes)? ?\|", text_of_document(), re.M)), len(rows))


if __name__ == "__main__":
    unittest.main()
