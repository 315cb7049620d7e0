"""`isobit selftest`: what it prints and how it exits."""

import hashlib
import os
import re
import signal
import subprocess
import time
import unittest

from program import PROGRAM, SOURCE, ProgramTest

DIGESTS = os.path.join(SOURCE, "docs", "elementary-digests.txt")


class Selftest(ProgramTest):
    def test_0_when_every_variant_gives_the_published_bits(self):
        r = self.isobit("selftest", "--function", "exp2,tanh", "--slices", "0x3f,0x80", expect=0)
        for word in ("exp2", "tanh", "33554432", "2 of 2", "scalar, portable", "PASS"):
            self.assertIn(word, r.out)
        self.assertIn("4/4 slices", r.err)
        self.assertIn("next: isobit selftest --exhaustive", r.err)

    def test_json_says_what_was_swept_and_by_which_variants(self):
        r = self.isobit("selftest", "--function", "log", "--slices", "255", "--json", "--threads", "1", expect=0).json
        self.assertTrue(r["passed"])
        (log,) = r["functions"]
        self.assertEqual((log["function"], log["inputs"], log["faults"], log["total"]), ("log", 1 << 24, 0, None))
        nan = (b"\x00\x00\xc0\x7f" * (1 << 16), 1 << 8)  # log of these inputs is one NaN
        digest = hashlib.sha256()
        for _ in range(nan[1]):
            digest.update(nan[0])
        self.assertEqual(log["slices"], {"ff": digest.hexdigest()})
        available = [s["isa"] for s in self.isobit("doctor", "--json", expect=0).json["kernel_sets"]
                     if s["kernel_set"] in ("reference", "cpu") and s["available"]]
        self.assertEqual([v["isa"] for v in log["variants"]], available)
        self.assertTrue(all(v["same_bits"] for v in log["variants"]))

    def test_1_when_a_digest_is_not_the_published_one(self):
        with open(DIGESTS, encoding="utf-8") as f:
            lines = f.read().splitlines()
        changed = ["exp ff " + "0" * 64 if line.startswith("exp ff ") else line for line in lines]
        slices = [bytes.fromhex(line.split()[2]) for line in changed if re.match(r"exp [0-9a-f]{2} ", line)]
        self.assertEqual(len(slices), 256)
        total = "exp total " + hashlib.sha256(b"".join(slices)).hexdigest()
        changed = [total if line.startswith("exp total ") else line for line in changed]
        file = self.write("changed.txt", "\n".join(changed) + "\n")
        arguments = ("selftest", "--isa", "portable", "--function", "exp", "--against", file, "--slices")
        r = self.isobit(*arguments, "0xfe-0xff", expect=1)
        self.assertIn("DIFFERENT: exp, slice ff", r.out)
        self.assertIn("1 of 2", r.out)
        self.assertIn("FAIL", r.out)
        self.isobit(*arguments, "0xfe", expect=0)

    def test_2_for_words_that_do_not_exist_and_damaged_files(self):
        with open(DIGESTS, encoding="utf-8") as f:
            damaged = self.write("damaged.txt", f.read()[:5000])
        for arguments, hint in (
            (["--function", "tahn"], "did you mean 'tanh'"),
            (["--slices", "256"], "0 to 255"),
            (["--slices", "0x3f-"], "0 to 255"),
            (["--slices", "9-8"], "ends before it begins"),
            (["--slices", "1", "--exhaustive"], "--exhaustive"),
            (["--isa", "avx3"], "avx2"),
            (["--threads", "-1"], "--threads"),
            (["--threads", "0"], "--threads"),
            (["--function", ""], "--function"),
            (["--isa", ""], "--isa"),
            (["-o", "digests.txt"], "--exhaustive"),
            (["--exhaustive", "--function", "exp", "-o", "digests.txt"], "every function"),
            (["--against", damaged], "damaged.txt"),
        ):
            self.assertIn(hint, self.isobit("selftest", *arguments, expect=2).err, arguments)

    def test_3_for_an_instruction_set_that_is_not_there(self):
        missing = [s for s in self.isobit("doctor", "--json", expect=0).json["kernel_sets"] if s["kernel_set"] == "cpu" and not s["available"]]
        self.assertTrue(missing)  # no machine has both NEON and AVX2
        for s in missing:
            self.assertIn(s["reason"], self.isobit("selftest", "--isa", s["isa"], expect=3).err)
        self.assertIn("nowhere", self.isobit("selftest", "--against", "nowhere", expect=3).err)

    def test_a_signal_ends_a_long_sweep_at_once(self):
        process = subprocess.Popen([PROGRAM, "selftest", "--exhaustive"], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.5)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=60), -signal.SIGINT)

    def test_the_fingerprint_holds_the_published_totals_and_the_sample_of_this_machine(self):
        with open(DIGESTS, encoding="utf-8") as f:
            lines = [line.split() for line in f if line.strip() and line[0] != "#"]
        items = {i["name"]: i for i in self.isobit("fingerprint", os.path.join(SOURCE, "examples", "tiny-kjv"), "--json", expect=0).json["items"]}
        for function, kind, digest in lines:
            if kind == "total":
                self.assertEqual((items["function_table." + function]["value"], items["function_table." + function]["source"]), (digest, "declared"))
            if kind == "sample":
                self.assertEqual((items["function." + function]["value"], items["function." + function]["source"]), (digest, "measured"))


if __name__ == "__main__":
    unittest.main()
