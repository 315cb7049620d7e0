"""A folder in which every command has something to do, and for each command arguments that it succeeds with; shared by
the tests of this directory. What the commands are is asked of the program itself: `isobit help --json`."""

import os
import shlex

from program import SOURCE, TINY, ProgramTest


def leaves(command):
    """The command and its own commands that do something by themselves."""
    found = [] if command["needs_command"] else [command]
    for sub in command["commands"]:
        found += leaves(sub)
    return found


class EveryCommandTest(ProgramTest):
    """Its folder has a store with two runs of one kind (latest~1, latest~2: the latest diverges), a baseline `prod` and
    the files that examples name."""

    def setUp(self):
        super().setUp()
        os.symlink(os.path.join(SOURCE, "examples"), self.path("examples"))
        self.write("m.json", '[{"role": "user", "content": "hi"}]')
        for name in ("before.json", "after.json"):
            self.write(name, self.isobit("fingerprint", TINY, "--json", expect=0).out)

    def two_runs(self):
        for _ in range(2):
            self.isobit("run", "examples/tiny-kjv", "--max-tokens", "4", "--axis", "load.concurrency=1,8", expect=0)

    def diverging_run(self):
        ran = self.isobit("run", "examples/tiny-kjv", "--max-tokens", "24", "--axis", "load.concurrency=1,8", "--set", "engine.kernel_set=cpu-adaptive")
        if ran.code == 3:
            self.skipTest("SKIPPED explain, bisect, reduce, replay: no OpenBLAS, so no set that diverges")
        self.assertEqual(ran.code, 0, ran.err)

    def baseline(self, versions=1):
        self.isobit("baseline", "rm", "prod", "--all")
        for i in range(versions):
            self.isobit("baseline", "promote" if i else "set", "prod", "latest~1", expect=0)

    def commands(self):
        return leaves(self.isobit("help", "--json", expect=0).json["help"])

    def prepare(self, command):
        """What the example of a command takes for granted."""
        if command in ("explain", "bisect", "reduce", "replay"):
            return self.diverging_run()
        if command in ("compare", "gate", "report", "verify") or command.startswith(("baseline", "store")):
            self.two_runs()
        if command == "baseline set":
            self.isobit("baseline", "rm", "prod", "--all")
        elif command.startswith("baseline"):
            self.baseline(versions=2 if command == "baseline rm" else 1)
        if command == "verify" or command.startswith("store"):
            self.two_runs()
            self.isobit("store", "export", "latest", "-o", "latest.isobit.tar", expect=0)
            if not os.path.exists(self.path("other.db")):
                self.isobit("run", "examples/tiny-kjv", "--max-tokens", "4", "--store", "other.db", expect=0)
        if command == "baseline import":
            self.isobit("baseline", "export", "prod", "-o", "prod.baseline.json", expect=0)
        if command in ("store import", "verify"):
            self.isobit("store", "export", "latest", "-o", "latest.isobit.tar", expect=0)
        if command == "store merge":
            self.isobit("store", "merge", "isobit.db", "--into", "other.db", expect=0)
        return None

    def example_of(self, command, *more, **options):
        """Runs a command's example as it is written."""
        words = shlex.split(command["example"])
        self.assertEqual(words[0], "isobit", command)
        return self.isobit(*words[1:], *more, **options)
