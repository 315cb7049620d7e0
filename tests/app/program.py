"""Runs the isobit program in a folder of its own; shared by the tests of this directory. Standard library only."""

import json
import os
import shutil
import struct
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["ISOBIT_PROGRAM"]
SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
TINY = os.path.join(SOURCE, "examples", "tiny-kjv")


class Result:
    def __init__(self, done):
        self.code = done.returncode
        self.out = done.stdout.decode("utf-8", "replace")
        self.err = done.stderr.decode("utf-8", "replace")

    @property
    def prose(self):
        """What was printed, wherever its lines are wrapped."""
        return " ".join(self.out.split())

    @property
    def json(self):
        return json.loads(self.out)


def plant_token(database, sample_key, position=2):
    """Another token at a position of a stored answer, which its row lists as the likeliest: what a changed engine would leave."""

    def flipped(blob, entry):
        at = 4 * entry
        return blob[:at] + bytes([blob[at] ^ 1]) + blob[at + 1 :]

    tokens, counts, ids = database.execute("SELECT tokens, top_counts, top_ids FROM sample WHERE sample_key = ?", (sample_key,)).fetchone()
    n_before = sum(struct.unpack(f"<{position}i", counts[: 4 * position]))
    changed = (flipped(tokens, position), flipped(ids, n_before), sample_key)
    database.execute("UPDATE sample SET tokens = ?, top_ids = ? WHERE sample_key = ?", changed)


class ProgramTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="isobit-test-")
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.store = os.path.join(self.folder, "s.db")

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as f:
            f.write(content.encode() if isinstance(content, str) else content)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def isobit(self, *arguments, expect=None, env=None, timeout=300, **options):
        environment = dict(os.environ, **(env or {}))
        done = subprocess.run([PROGRAM, *map(str, arguments)], cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout, check=False, **options)
        result = Result(done)
        if expect is not None:
            self.assertEqual(result.code, expect, f"isobit {arguments}\nstdout: {result.out[-2000:]}\nstderr: {result.err[-2000:]}")
        return result

    def run_audit(self, *arguments, expect=0, model=TINY, **options):
        return self.isobit("run", model, "--store", self.store, "--max-tokens", "8", *arguments, expect=expect, **options)
