"""Every isobit command of the README and of docs/runs.md, run as written. help_test.py does so with the examples of --help,
policies_document_test.py with docs/policies.md."""

import os
import re
import shlex
import unittest

from program import SOURCE, TINY, ProgramTest

# What stands in the README for something that the reader has.
STANDS_FOR = {"MODEL": TINY, "BASE": "latest~1", "CAND": "latest", "RUN": "latest"}
EXAMPLE_ARGUMENTS = {
    "encode": ["--tokenizer", TINY, "--text", "In the beginning"],
    "decode": ["--tokenizer", TINY, "--ids", "1,2,3"],
    "render": ["--template", TINY, "--messages", "messages.json"],
    "query": ["SELECT count(*) AS n FROM v_sample"],
    "prune": ["--keep", "2"],
    "policy show": ["two-tiers"],
    "policy check": ["two-tiers"],
    "baseline set": ["prod", "latest"],
    "baseline promote": ["prod", "latest"],
    "baseline show": ["prod"],
    "baseline verify": ["prod"],
    "baseline export": ["prod", "-o", "prod.json"],
    "baseline rm": ["prod", "--all"],
    "baseline import": ["prod.json"],
    "store export": ["latest", "-o", "y.isobit.tar"],
    "store import": ["x.isobit.tar", "--store", "new.db"],
    "store merge": ["isobit.db", "--into", "new.db"],
}


def readme_commands():
    text = ""
    for name in ("README.md", "docs/runs.md"):
        with open(os.path.join(SOURCE, name), encoding="utf-8") as f:
            text += f.read() + "\n"
    blocks = re.findall(r"^```\n(.*?)^```", text, re.M | re.S)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines() if line.startswith("isobit ")]
    rows = re.findall(r"^\| `(isobit [^`]+)` \|", text, re.M)
    spoken = [c for c in re.findall(r"`(isobit [^`]+)`", text) if "--resume" in c]
    return list(dict.fromkeys(lines)), rows, list(dict.fromkeys(spoken))


class Readme(ProgramTest):
    def setUp(self):
        super().setUp()
        os.symlink(os.path.join(SOURCE, "examples"), self.path("examples"))
        self.write("messages.json", '[{"role": "user", "content": "hi"}]')
        self.write("FILE", self.isobit("fingerprint", TINY, "--json", expect=0).out)
        self.two_runs()
        self.isobit("baseline", "set", "ci", "latest", expect=0)
        self.isobit("baseline", "export", "ci", "-o", "baseline.json", expect=0)
        self.isobit("store", "export", "latest", "-o", "latest.isobit.tar", expect=0)
        self.isobit("store", "export", "latest", "-o", "x.isobit.tar", expect=0)

    def two_runs(self):
        for _ in range(2):
            self.isobit("run", TINY, "--max-tokens", "4", "--axis", "load.concurrency=1,8", expect=0)

    def run_words(self, words):
        words = [STANDS_FOR.get(word, word) for word in words]
        words = ["load.concurrency=1,8" if word == "..." else word for word in words]
        if words[0] in ("compare", "gate"):  # of what a reader would compare: the latest two are of one kind
            self.two_runs()
        for choice in words[1].split("|") if "|" in words[1] else [words[1]]:
            rest = EXAMPLE_ARGUMENTS.get(f"{words[0]} {choice}", EXAMPLE_ARGUMENTS.get(choice, words[2:]))
            self.isobit(words[0], choice, *rest, expect=0)

    def test_the_blocks_and_the_table_of_the_readme(self):
        lines, rows, spoken = readme_commands()
        self.assertGreaterEqual(len(lines), 1)
        self.assertGreaterEqual(len(rows), 11)
        for command in lines + rows:
            with self.subTest(command):
                words = shlex.split(command.replace("\\|", "|"))[1:]
                self.run_words(words if len(words) > 1 else words + ["--plain"])
        self.assertTrue(spoken)
        for command in spoken:  # the run is complete by now: there is nothing to resume, and it says so
            self.assertIn("no incomplete run", self.isobit(*shlex.split(command)[1:], expect=2).err)


if __name__ == "__main__":
    unittest.main()
