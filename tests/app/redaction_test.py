"""A redacted run: nothing readable on the disk, every comparison as before."""

import json
import os
import signal
import sqlite3
import struct
import subprocess
import time
import unittest

from program import PROGRAM, TINY, ProgramTest

WORDS = ["Nebuchadnezzar", "shibboleth"]


class Redaction(ProgramTest):
    def prompts(self):
        return self.write("p.jsonl", "\n".join(json.dumps(line) for line in (
            {"id": "a", "prompt": f"And {WORDS[0]} the king said", "stop": ["thereofzz"]},
            {"id": "b", "prompt": f"Say now {WORDS[1]}", "tags": ["tier-1"]},
            {"id": "c", "prompt": "In the beginning God created the heaven"})))

    def secrets(self):
        """Byte strings that must not be in a redacted store: words, and token ids as the store packs them."""
        run = self.store_rows("SELECT prompt_tokens FROM request")
        answers = self.store_rows("SELECT tokens, text FROM sample")
        out = [w.encode() for w in WORDS + ["thereofzz", "In the beginning"]]
        out += [row[0][:12] for row in run] + [row[0][:12] for row in answers] + [row[1].encode()[:12] for row in answers]
        return [s for s in out if len(s) >= 8]

    def store_rows(self, sql, store=None):
        with sqlite3.connect(store or self.store) as db:
            rows = db.execute(sql).fetchall()
        db.close()
        return rows

    def bytes_of(self, name):
        return b"".join(self.read(f) for f in sorted(os.listdir(self.folder)) if f.startswith(name))

    def test_neither_words_nor_token_ids_reach_the_disk(self):
        prompts = self.prompts()
        arguments = ("--prompts", prompts, "--max-tokens", "12", "--axis", "load.concurrency=1,3")
        self.isobit("run", TINY, "--store", self.store, *arguments, expect=0)
        secrets = self.secrets()
        self.assertGreater(len(secrets), 12)
        plain = self.bytes_of("s.db")
        self.assertTrue(all(s in plain for s in secrets))  # what is looked for can be found
        self.isobit("run", TINY, "--store", self.path("r.db"), *arguments, "--redact", expect=0)
        # Once more, killed by the clock of a cap, so that a journal may be left.
        self.isobit("run", TINY, "--store", self.path("r2.db"), *arguments, "--redact", "--max-requests", "4", expect=8)
        for name in ("r.db", "r2.db"):
            stored = self.bytes_of(name)
            self.assertEqual([s for s in secrets if s in stored], [], name)
        self.assertEqual(self.store_rows("SELECT redacted FROM run", self.path("r.db")), [(1,)])
        ids = [i for (blob,) in self.store_rows("SELECT tokens FROM sample", self.path("r.db")) for i in struct.unpack(f"<{len(blob) // 4}i", blob)]
        self.assertTrue(ids and all(i >= 0 for i in ids))
        self.assertIn("redacted", self.isobit("store", "list", "--store", self.path("r.db"), expect=0).out)
        self.assertEqual([r["redacted"] for r in self.isobit("store", "list", "--store", self.path("r.db"), "--json", expect=0).json["runs"]], [True])

    def test_a_journal_left_by_a_kill_holds_nothing_readable(self):
        prompts = self.prompts()
        self.isobit("run", TINY, "--store", self.store, "--prompts", prompts, "--max-tokens", "12", expect=0)
        secrets = self.secrets()
        process = subprocess.Popen([PROGRAM, "run", TINY, "--store", self.path("r.db"), "--prompts", prompts, "--max-tokens", "12", "--redact",
                                    "--axis", "load.concurrency=" + ",".join(map(str, range(1, 40)))], cwd=self.folder,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.time() + 120
        while time.time() < deadline and not (os.path.exists(self.path("r.db-wal")) and os.path.getsize(self.path("r.db-wal")) > 100000):
            if process.poll() is not None:
                break
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        stored = self.bytes_of("r.db")
        self.assertGreater(len(stored), 1000)
        self.assertEqual([s for s in secrets if s in stored], [])

    def test_every_comparison_comes_out_as_without(self):
        prompts = self.prompts()
        adaptive = ("--set", "engine.kernel_set=cpu-adaptive")
        arms = {"plain": (), "plain-adaptive": adaptive, "redacted": ("--redact",), "redacted-adaptive": ("--redact", *adaptive)}
        for name, flags in arms.items():
            r = self.isobit("run", TINY, "--store", self.path(name + ".db"), "--prompts", prompts, "--max-tokens", "40", "--axis", "load.concurrency=1,3",
                            *flags, expect=None)
            if r.code == 3 and "OpenBLAS" in r.err:
                self.skipTest("SKIPPED: built without OpenBLAS")
            self.assertEqual(r.code, 0, r.err)

        def compared(base, candidate):
            r = self.isobit("compare", self.path(base + ".db"), self.path(candidate + ".db"), "--json", expect=0)
            counts = {k: r.json[k] for k in ("totals", "token_match", "bit_match")}
            cells = [(c["cell"], c["counts"], c["token_positions"], c["numeric_positions"], c["distinct_outputs"], c["top_agreement"]) for c in r.json["cells"]]
            return (counts, cells), r.err

        plain, _ = compared("plain", "plain-adaptive")
        self.assertGreater(plain[0]["totals"]["numeric_divergences"], 0)
        self.assertEqual(compared("redacted", "redacted-adaptive")[0], plain)
        for base, candidate in (("redacted", "plain-adaptive"), ("plain", "redacted-adaptive")):
            mixed, err = compared(base, candidate)
            self.assertEqual(mixed, plain)
            self.assertIn("is redacted", err)
        self.isobit("gate", self.path("redacted.db"), self.path("plain.db"), "--level", "2", expect=0)
        within = lambda name: self.isobit("report", self.path(name + ".db"), "-o", "r.json", expect=0) and json.loads(self.read("r.json"))["verdict"]["sentence"]
        self.assertEqual(within("redacted-adaptive"), within("plain-adaptive"))

    def test_a_redacted_run_is_resumed_with_its_prompts_given_again(self):
        prompts = self.prompts()
        arguments = ("--prompts", prompts, "--max-tokens", "12")
        axis = ("--axis", "load.concurrency=1,3")
        self.isobit("run", TINY, "--store", self.store, *arguments, *axis, "--redact", "--max-requests", "4", expect=8)
        r = self.isobit("run", "--resume", "--store", self.store, expect=2)
        self.assertIn("have to be given again", r.err)
        self.assertIn("is not them", self.isobit("run", "--resume", "--store", self.store, "--prompts", "smoke", expect=2).err)
        self.isobit("run", "--resume", "--store", self.store, *arguments, "--check", "2", expect=0)
        self.isobit("run", TINY, "--store", self.path("whole.db"), *arguments, *axis, "--redact", expect=0)
        self.isobit("compare", self.store, self.path("whole.db"), "--exit-code", expect=0)
        self.assertEqual(self.store_rows("SELECT text FROM sample WHERE text <> ''"), [])

    def test_a_run_with_its_own_prompts_takes_no_others(self):
        self.run_audit("--max-requests", "2", expect=8)
        self.assertIn("its own prompts", self.isobit("run", "--resume", "--store", self.store, "--prompts", "edge", expect=2).err)

    def test_a_redacted_baseline_is_verified_with_its_prompts(self):
        prompts = self.prompts()
        arguments = ("--prompts", prompts, "--max-tokens", "12")
        self.isobit("run", TINY, "--store", self.store, *arguments, "--redact", expect=0)
        self.isobit("baseline", "set", "prod", "latest", "--store", self.store, expect=0)
        self.isobit("baseline", "export", "prod", "-o", "b.json", "--store", self.store, expect=0)
        text = self.read("b.json").decode()
        self.assertEqual([w for w in WORDS if w in text], [])
        self.assertIn("have to be given again", self.isobit("baseline", "verify", "prod", TINY, "--store", self.store, expect=2).err)
        self.isobit("baseline", "verify", "prod", TINY, *arguments, "--store", self.store, expect=0)
        self.assertEqual(self.store_rows("SELECT redacted FROM run"), [(1,), (1,)])

    def test_what_needs_the_tokens_refuses_a_redacted_run_by_name(self):
        self.run_audit("--redact", "--axis", "load.concurrency=1,8")
        r = self.run_audit("--against", "latest", expect=4)
        self.assertIn("is redacted: --against needs", r.err)
        for command in ("explain", "replay", "reduce"):
            self.assertIn("is redacted: it holds digests of its prompts", self.isobit(command, "latest/1/0", "--store", self.store, expect=4).err)


if __name__ == "__main__":
    unittest.main()
