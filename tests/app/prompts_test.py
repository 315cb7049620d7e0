"""isobit prompts: the sets that come with it and files of any form, as lines that run as the same requests."""

import json
import os
import unittest

from program import SOURCE, TINY, ProgramTest

import json_schema

SETS = ("smoke", "standard", "edge")


class Prompts(ProgramTest):
    def lines(self, *arguments):
        return [json.loads(line) for line in self.isobit("prompts", *arguments, expect=0).out.splitlines()]

    def digest_of_run(self, prompts):
        self.isobit("run", TINY, "--store", self.store, "--prompts", prompts, "--max-tokens", "1", expect=0)
        return json.loads(self.isobit("store", "query", "SELECT prompts_digest FROM run ORDER BY run_key DESC LIMIT 1", "--store", self.store, "--json",
                                      expect=0).out)[0]["prompts_digest"]

    def test_the_sets_are_listed_with_their_sizes_and_tags(self):
        out = self.isobit("prompts", expect=0).out
        for name in SETS:
            self.assertIn(name, out)
        listed = self.isobit("prompts", "--json", expect=0).json
        self.assertEqual(json_schema.Schema("prompt_sets").errors(listed), [])
        self.assertEqual({s["name"]: s["prompts"] for s in listed["sets"]}, {name: len(self.lines(name)) for name in SETS})

    def test_every_line_keeps_to_the_schema_and_runs_as_the_set_does(self):
        schema = json_schema.Schema("prompts")
        for name in SETS:
            for line in self.lines(name):
                self.assertEqual(schema.errors(line), [])
        self.write("p.jsonl", self.isobit("prompts", "smoke", expect=0).out)
        self.assertEqual(self.digest_of_run("p.jsonl"), self.digest_of_run("smoke"))

    def test_tags_choose(self):
        tags = {tag for line in self.lines("standard") for tag in line["tags"]}
        chosen = sorted(tags)[:2]
        picked = self.lines("standard", "--tag", chosen[0], "--tag", chosen[1])
        self.assertEqual(picked, [line for line in self.lines("standard") if set(line["tags"]) & set(chosen)])
        r = self.isobit("prompts", "standard", "--tag", chosen[0] + "x", expect=2)
        self.assertIn(f"did you mean '{chosen[0]}'", r.err)

    def test_files_of_other_forms_become_native_lines(self):
        for name in ("openai_batch.jsonl", "sharegpt.jsonl"):
            path = os.path.join(SOURCE, "examples", "prompts", name)
            lines = self.lines(path)
            self.assertTrue(lines)
            self.write("native.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
            self.assertEqual(self.lines("native.jsonl"), lines)

    def test_2_for_a_set_that_does_not_exist_and_3_for_a_file(self):
        self.assertIn("did you mean 'smoke'", self.isobit("prompts", "smoek", expect=2).err)
        self.assertIn("does not exist", self.isobit("prompts", "none.jsonl", expect=3).err)
        self.isobit("prompts", "--tag", "story", expect=2)


if __name__ == "__main__":
    unittest.main()
