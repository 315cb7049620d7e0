"""Answers that flipped are computed once more over other tokens, and embeddings are recorded on request."""

import sqlite3
import unittest

from program import TINY, ProgramTest

ADAPTIVE = ("--set", "engine.kernel_set=cpu-adaptive", "--axis", "load.concurrency=1,8", "--max-tokens", "48")


class Forced(ProgramTest):
    def rows(self, sql):
        with sqlite3.connect(self.store) as store:
            return store.execute(sql).fetchall()

    def flipped(self):
        return self.rows("SELECT count(*) FROM v_divergence WHERE first_token IS NOT NULL")[0][0]

    def adaptive(self, *flags):
        ran = self.isobit("run", TINY, "--store", self.store, *ADAPTIVE, *flags)
        if ran.code == 3:
            self.skipTest("SKIPPED cpu-adaptive: no OpenBLAS")
        self.assertEqual(ran.code, 0, ran.err)

    def test_flipped_answers_get_forced_positions_over_their_reference(self):
        self.adaptive()
        self.assertEqual(self.rows("SELECT count(*) FROM forced WHERE over_run = ''")[0][0], self.flipped())
        self.assertEqual(self.rows("SELECT count(*) FROM sample WHERE embedding IS NOT NULL"), [(0,)])
        self.isobit("store", "check", "--store", self.store, expect=0)

    def test_nothing_is_forced_where_it_is_not_wanted(self):
        self.adaptive("--no-teacher-forcing", "--embeddings")
        self.assertEqual(self.rows("SELECT count(*) FROM forced"), [(0,)])
        (sizes,) = self.rows("SELECT DISTINCT length(embedding) FROM sample")
        self.assertEqual(sizes[0] % 4, 0)
        self.assertGreater(sizes[0], 0)

    def test_answers_are_held_to_another_run_too(self):
        self.isobit("run", TINY, "--store", self.store, "--axis", "load.concurrency=1,8", "--max-tokens", "48", expect=0)
        base = self.rows("SELECT id FROM run")[0][0]
        self.adaptive("--against", base)
        differing = self.rows("""SELECT count(*) FROM sample a JOIN run r USING (run_key) JOIN cell c USING (run_key, cell_index)
            JOIN sample b ON b.prompt_index = a.prompt_index JOIN run q ON q.run_key = b.run_key
            JOIN cell d ON d.run_key = b.run_key AND d.cell_index = b.cell_index
            WHERE q.id = '%s' AND r.id <> q.id AND a.tokens <> b.tokens
              AND (d.name = 'reference') = (c.reference_index = c.cell_index)""" % base)[0][0]
        self.assertEqual(self.rows(f"SELECT count(*) FROM forced WHERE over_run = '{base}'")[0][0], differing)
        self.isobit("run", TINY, "--store", self.store, "--prompts", "edge", "--max-tokens", "4", "--against", base, expect=4)


if __name__ == "__main__":
    unittest.main()
