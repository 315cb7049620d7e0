#!/usr/bin/env python3
"""`isobit bench`: what it measures, what it prints first, and llama.cpp as a peer (a fake one)."""

import json
import os
import subprocess
import sys
import time
import unittest

from program import PROGRAM, TINY, ProgramTest

SHORT = ("--prompt-tokens", "16", "--gen-tokens", "4", "--rounds", "1")
SCRIPT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "scripts", "bench_peers"))

# Stands where llama-batched-bench would: logs its arguments and answers for every concurrency.
FAKE = """#!{python}
import json, sys
open({log!r}, "a").write(json.dumps(sys.argv[1:]) + "\\n")
print("some talk")
for c in sys.argv[sys.argv.index("-npl") + 1].split(","):
    print(json.dumps({{"pl": int(c), "speed_pp": {prefill}, "speed_tg": {decode}}}))
{then}
"""


class Bench(ProgramTest):
    def fake_llama(self, prefill=0.001, decode=0.001, then=""):
        folder = self.path("llama")
        os.makedirs(folder, exist_ok=True)
        program = os.path.join(folder, "llama-batched-bench")
        with open(program, "w", encoding="utf-8") as out:
            out.write(FAKE.format(python=sys.executable, log=self.path("log"), prefill=prefill, decode=decode, then=then))
        os.chmod(program, 0o755)
        return folder

    def bench_json(self, *flags):
        return self.isobit("bench", TINY, *SHORT, *flags, "--json", expect=0).json

    def test_one_row_per_runner_and_point(self):
        results = self.bench_json("--concurrency", "1,2", "--threads", "1,2", "--kernel-set", "cpu")["results"]
        self.assertEqual([(r["threads"], r["concurrency"]) for r in results], [(1, 1), (1, 2), (2, 1), (2, 2)])
        for r in results:
            self.assertEqual((r["kernel_set"], r["prompt_tokens"], r["gen_tokens"], r["weights"]), ("cpu", 16, 4, "BF16"))
            self.assertGreater(r["prefill_tokens_per_s"], 0)
            self.assertGreater(r["decode_tokens_per_s"], 0)

    def test_the_price_of_invariance_comes_first(self):
        slow = self.isobit("bench", TINY, *SHORT, "--kernel-set", "cpu", "--llama", self.fake_llama(), expect=0)
        self.assertRegex(" ".join(slow.out.split()), r"^price of invariance: none; cpu takes 100 % to 100 % less time than llama.cpp, over 2 figures ")
        fast = self.isobit("bench", TINY, *SHORT, "--kernel-set", "cpu", "--llama", self.fake_llama(decode=1e12), expect=0)
        self.assertRegex(" ".join(fast.out.split()), r"^price of invariance: cpu takes 100 % less to \d+ % more time than llama.cpp, .*worst: decode of BF16 at 1\)")
        alone = self.isobit("bench", TINY, *SHORT, "--kernel-set", "cpu", expect=0)
        self.assertIn("not measured", alone.out.splitlines()[0])

    def test_the_faster_of_two_others_is_the_measure(self):
        if not self.has_adaptive():
            self.skipTest("SKIPPED: built without OpenBLAS")
        prices = self.bench_json("--llama", self.fake_llama(decode=1e12))["price_of_invariance"]
        self.assertEqual({p["phase"]: p["against"] for p in prices}, {"prefill": "cpu-adaptive", "decode": "llama.cpp"})

    def has_adaptive(self):
        return self.isobit("bench", TINY, *SHORT, "--kernel-set", "cpu-adaptive").code == 0

    def test_llama_gets_the_same_work_each_round(self):
        self.isobit("bench", TINY, *SHORT, "--concurrency", "1,3", "--threads", "2", "--kernel-set", "cpu", "--llama", self.fake_llama(),
                    "--llama-flags=--no-repack --mlock", expect=0)
        with open(self.path("log"), encoding="utf-8") as log:
            (arguments,) = [json.loads(line) for line in log]
        for flag, value in (("-npp", "16"), ("-ntg", "4"), ("-npl", "1,3"), ("-t", "2"), ("-c", "60"), ("-m", TINY)):
            self.assertEqual(arguments[arguments.index(flag) + 1], value)
        self.assertEqual(arguments[-2:], ["--no-repack", "--mlock"])

    def test_a_peer_that_is_missing_or_fails_is_an_error_in_its_words(self):
        missing = self.isobit("bench", TINY, *SHORT, "--kernel-set", "cpu", "--llama", self.folder, expect=3)
        self.assertIn("llama-batched-bench", missing.err)
        failing = self.fake_llama(then="sys.exit('no such model')")
        self.assertIn("no such model", self.isobit("bench", TINY, *SHORT, "--kernel-set", "cpu", "--llama", failing, expect=3).err)
        odd = self.fake_llama(prefill="'fast'")
        self.isobit("bench", TINY, *SHORT, "--kernel-set", "cpu", "--llama", odd, expect=3)
        self.isobit("bench", TINY, *SHORT, "--llama-flags=-x", expect=2)

    def test_figures_that_cannot_be_are_refused(self):
        rows = ['{"pl":1,"speed_pp":0,"speed_tg":1}', '{"pl":1,"speed_pp":1,"speed_tg":-1}', '{"pl":1,"speed_pp":1,"speed_tg":1e300}',
                '{"pl":7,"speed_pp":1,"speed_tg":1}', '{"pl":4294967297,"speed_pp":1,"speed_tg":1}', '{"pl":1.9,"speed_pp":1,"speed_tg":1}',
                '{"pl":1,"speed_pp":null,"speed_tg":1}', '{"pl":1,"speed_pp":NaN,"speed_tg":1}', '{"pl":1', '{garbage', '{}', '', 'talk']
        for row in rows:
            with self.subTest(row):
                self.write("row", row)
                folder = self.fake_llama(then="")
                self.write("llama/llama-batched-bench", f"#!/bin/sh\ncat {self.path('row')}\n")
                failed = self.isobit("bench", TINY, *SHORT, "--kernel-set", "cpu", "--llama", folder, expect=3)
                self.assertIn("llama-batched-bench", failed.err)
                self.assertEqual(failed.out, "")

    def test_recording_without_a_temporary_folder_is_said(self):
        self.assertIn("TMPDIR", self.isobit("bench", TINY, *SHORT, "--recording", env={"TMPDIR": self.path("none")}, expect=3).err)

    def test_a_signal_leaves_no_temporary_folder(self):
        os.mkdir(self.path("tmp"))
        running = subprocess.Popen([PROGRAM, "bench", TINY, "--recording", "--rounds", "1000"], env={**os.environ, "TMPDIR": self.path("tmp")},
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not os.listdir(self.path("tmp")):
            self.assertIsNone(running.poll())
            time.sleep(0.01)
        running.terminate()
        self.assertEqual(running.wait(), 143)
        self.assertEqual(os.listdir(self.path("tmp")), [])

    def test_a_single_round_is_called_one(self):
        self.assertIn("one round", self.isobit("bench", TINY, *SHORT, "--kernel-set", "cpu", expect=0).err)

    def test_two_lengths_give_the_cost_of_context(self):
        printed = self.isobit("bench", TINY, "--prompt-tokens", "16,64", "--gen-tokens", "4", "--rounds", "1", "--kernel-set", "cpu", expect=0).out
        self.assertRegex(" ".join(printed.split()), r"decode cost, BF16 cpu, 1 at once, \d+ threads: .* us per token of context")

    def test_kernels_are_held_against_the_roofs(self):
        results = self.isobit("bench", TINY, "--kernels", "--rounds", "1", "--threads", "1", "--json", expect=0).json
        self.assertEqual({k["matrix"] for k in results["kernels"]}, {"qkv", "o", "gate_up", "down", "head"})
        self.assertTrue(all(k["gflops"] > 0 and k["share_of_fma_roof"] > 0 and k["share_of_read_roof"] > 0 for k in results["kernels"]))
        self.assertTrue(all(r["gflops"] > 0 and r["gbytes_per_s"] > 0 for r in results["roofs"]))

    def test_recording_has_a_cost(self):
        (row,) = self.isobit("bench", TINY, *SHORT, "--recording", "--json", expect=0).json["recording"]
        self.assertEqual(len(row["cost_per_round"]), 1)

    def distinct(self, *flags, expect=0):
        return self.isobit("bench", TINY, "--distinct", 40, "--prompt", "In the beginning", "--gen-tokens", 24, "--concurrency", 6,
                           "--threads", 2, *flags, expect=expect)

    def test_one_prompt_asked_often_gets_one_answer_from_the_invariant_set(self):
        (cpu,) = self.distinct("--kernel-set", "cpu", "--json").json["kernel_sets"]
        self.assertEqual((cpu["completions"], cpu["distinct"], cpu["distinct_bits"], cpu["most_common"]), (40, 1, 1, 40))
        self.assertIsNone(cpu["first_split"])
        # Proof of load: steps with few requests, and with many.
        self.assertLess(cpu["least_batch"], 3)
        self.assertEqual(cpu["most_batch"], 6)
        self.assertEqual(len(cpu["tokens_per_s"]), 4)

    def test_the_adaptive_set_gives_many_and_the_split_is_shown(self):
        if self.distinct("--kernel-set", "cpu-adaptive", expect=None).code == 3:
            self.skipTest("SKIPPED cpu-adaptive: no OpenBLAS")
        found = self.distinct("--kernel-set", "cpu-adaptive", "--json").json["kernel_sets"][0]
        self.assertGreater(found["distinct_bits"], 1)
        self.assertEqual(found, dict(self.distinct("--kernel-set", "cpu-adaptive", "--json").json["kernel_sets"][0],
                                     tokens_per_s=found["tokens_per_s"], median_tokens_per_s=found["median_tokens_per_s"]))
        if found["first_split"]:
            self.assertEqual(sum(t["completions"] for t in found["first_split"]["tokens"]), 40)
            self.assertGreater(found["distinct"], 1)
        self.assertRegex(self.distinct("--kernel-set", "cpu,cpu-adaptive").out, r"cpu +1 of 40 +40 +- +1 +\d+ to 6")

    def test_distinct_takes_one_of_everything(self):
        self.distinct("--kernels", expect=2)
        self.distinct(TINY + "/../tiny-kjv", expect=2)
        self.isobit("bench", TINY, "--distinct", 1, expect=2)
        self.isobit("bench", TINY, "--distinct", 10, "--concurrency", "1,2", expect=2)
        self.isobit("bench", TINY, "--prompt", "alone", expect=2)
        self.assertIn("context", self.isobit("bench", TINY, "--distinct", 2, "--gen-tokens", 1000000, expect=2).err)

    def test_what_cannot_be_is_refused_and_what_is_odd_is_said(self):
        many = self.isobit("bench", TINY, *SHORT, "--kernel-set", "cpu", "--threads", str(2 * os.cpu_count()), expect=0)
        self.assertIn("cores", many.err)
        self.isobit("bench", TINY, *SHORT, "--isa", "neon" if os.uname().machine == "x86_64" else "avx2", expect=3)
        self.isobit("bench", TINY, *SHORT, "--isa", "avx3", expect=2)
        self.isobit("bench", TINY, "--gen-tokens", "1", expect=2)
        self.isobit("bench", TINY, TINY, expect=2)
        self.isobit("bench", TINY, "--concurrency", "1,1", expect=2)
        self.isobit("bench", TINY, "--kernel-set", "reference", "--isa", "portable", expect=2)
        self.isobit("bench", TINY, "--kernels", "--recording", expect=2)
        self.isobit("bench", TINY, "--threads", "100000", expect=2)
        self.isobit("bench", TINY, "--gen-tokens", "2147483647", expect=2)
        self.isobit("bench", TINY, "--rounds", "0", expect=2)
        self.isobit("bench", TINY, "--threads", "0", expect=2)
        self.assertIn("context", self.isobit("bench", TINY, "--prompt-tokens", "100000", expect=2).err)

    def peers(self, *flags, **variables):
        environment = {**os.environ, "ISOBIT_PEERS": "", **variables}
        return subprocess.run([SCRIPT, TINY, *SHORT, *flags], capture_output=True, text=True, env=environment, check=False)

    def test_bench_peers_finds_the_peer_or_says_skipped(self):
        self.assertTrue(self.peers().stdout.startswith("SKIPPED"))
        self.assertIn("--llama FOLDER", self.peers("--help").stdout)
        self.assertEqual(subprocess.run([SCRIPT], capture_output=True, check=False).returncode, 2)
        self.assertEqual(subprocess.run([SCRIPT, "no.gguf"], capture_output=True, check=False).returncode, 3)
        self.fake_llama()
        found = self.peers(ISOBIT_PEERS=self.folder)
        self.assertEqual(found.returncode, 0, found.stderr)
        self.assertRegex(found.stdout, r"(?m)^\S+ +llama\..*\s32\s")
        self.assertEqual(self.peers("--llama", self.folder).returncode, 3)


if __name__ == "__main__":
    unittest.main()
