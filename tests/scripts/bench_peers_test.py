#!/usr/bin/env python3
"""scripts/bench_peers against two fake programs: the ratios it prints are those of what they
report."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.abspath(
    os.path.join(os.path.dirname(__file__), "..", "..", "scripts", "bench_peers")
)

# Each fake appends its name to a log and reports a speed that depends on how often it ran.
FAKE = """#!{python}
import json, sys
log = {log!r}
open(log, "a").write({name!r} + "\\n")
n = open(log).read().split().count({name!r})
{body}
"""
ISOBIT_BODY = """
print(json.dumps({"results": [{"kernel_set": "cpu", "concurrency": c, "prefill_tokens_per_s": 100.0 * n,
                               "decode_tokens_per_s": 10.0 * c} for c in (1, 8)]}))
"""
LLAMA_BODY = """
print("some talk")
for c in (1, 8): print(json.dumps({"pl": c, "speed_pp": 200.0, "speed_tg": 20.0}))
"""


class BenchPeers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder, self.log = folder.name, os.path.join(folder.name, "log")
        self.write("isobit", ISOBIT_BODY)
        self.write("llama-batched-bench", LLAMA_BODY)

    def write(self, name, body):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write(FAKE.format(python=sys.executable, log=self.log, name=name, body=body))
        os.chmod(path, 0o755)

    def bench(self, *flags, environment=None):
        command = [
            sys.executable,
            SCRIPT,
            "m.gguf",
            "--isobit",
            os.path.join(self.folder, "isobit"),
            "--concurrency",
            "1,8",
            *flags,
        ]
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            env={**os.environ, "ISOBIT_PEERS": "", **(environment or {})},
        )

    def test_ratios_are_of_medians_and_the_spread_is_of_rounds(self):
        done = self.bench("--llama", self.folder, "--rounds", "3", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = {(r["phase"], r["concurrency"]): r for r in json.loads(done.stdout)["results"]}
        prefill = rows["prefill", 1]  # 100, 200, 300 against 200
        self.assertEqual(
            (prefill["ratio"], prefill["ratio_min"], prefill["ratio_max"]), (1.0, 0.5, 1.5)
        )
        self.assertEqual(rows["decode", 8]["ratio"], 4.0)

    def test_the_programs_take_turns(self):
        self.bench("--llama", self.folder, "--rounds", "2")
        with open(self.log, encoding="utf-8") as log:
            self.assertEqual(
                log.read().split(),
                ["isobit", "llama-batched-bench", "llama-batched-bench", "isobit"],
            )

    def test_the_peer_is_found_under_isobit_peers(self):
        peers = os.path.join(self.folder, "peers", "llama", "bin")
        os.makedirs(peers)
        os.rename(
            os.path.join(self.folder, "llama-batched-bench"),
            os.path.join(peers, "llama-batched-bench"),
        )
        done = self.bench(
            "--rounds", "1", environment={"ISOBIT_PEERS": os.path.join(self.folder, "peers")}
        )
        self.assertIn("0.50", done.stdout)

    def test_without_the_peer_it_says_skipped(self):
        done = self.bench()
        self.assertEqual(done.returncode, 0)
        self.assertTrue(done.stdout.startswith("SKIPPED"), done.stdout)

    def test_a_program_that_fails_is_an_error_that_shows_its_words(self):
        self.write("isobit", "sys.exit('isobit: no such kernel set')")
        done = self.bench("--llama", self.folder)
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("no such kernel set", done.stderr)


if __name__ == "__main__":
    unittest.main()
