"""Shell completions, asked of the shells themselves."""

import os
import shutil
import subprocess
import unittest

import json_schema
from program import PROGRAM, ProgramTest

ASK_BASH = r"""
source "$1"; shift
COMP_CWORD=$(($# - 1)); COMP_WORDS=("$@"); COMPREPLY=()
_isobit
printf '%s\n' "${COMPREPLY[@]}"
"""

# The three functions of zsh that the script calls, as far as it calls them: each prints what it would offer.
ASK_ZSH = r"""
script=$1; shift
compdef() { : }
_describe() { [[ $1 == -o ]] || { shift; print -rl -- ${${(P)1}%%:*} } }
compadd() { while [[ $1 != -- ]]; do shift; done; shift; print -rl -- "$@" }
_files() { : }
source $script
words=("$@"); CURRENT=$#; PREFIX=$words[CURRENT]
_isobit | sort
"""


class Completion(ProgramTest):
    def script(self, shell):
        if shutil.which(shell) is None:
            self.skipTest(f"SKIPPED: no {shell}")
        return self.write("isobit." + shell, self.isobit("completion", shell, expect=0).out)

    def run_shell(self, *words):
        environment = dict(os.environ, HOME=self.folder, XDG_CONFIG_HOME=self.folder, LC_ALL="C.UTF-8")
        done = subprocess.run(words, cwd=self.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                              check=False, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return done.stdout.splitlines()

    def bash(self, *words):
        """What bash offers after these words; the last one is being typed. '=' is a word of its own, as in COMP_WORDS."""
        return self.run_shell("bash", "--norc", "--noprofile", "-c", ASK_BASH, "ask", self.script("bash"), "isobit", *words)

    def test_bash_offers_commands_at_every_depth(self):
        self.assertEqual(self.bash("pol"), ["policy"])
        self.assertIn("run", self.bash(""))
        self.assertEqual(self.bash("store", "in"), ["info"])
        self.assertEqual(self.bash("--json", "baseline", "pro"), ["promote"])
        self.assertEqual(self.bash("help", "sel"), ["selftest"])

    def test_bash_offers_the_options_of_the_command_and_the_global_ones(self):
        self.assertEqual(self.bash("run", "--chec"), ["--check"])
        self.assertEqual(self.bash("store", "list", "--plai"), ["--plain"])
        self.assertEqual(self.bash("store", "list", "--chec"), [""])

    def test_bash_offers_values(self):
        self.assertEqual(self.bash("--color", ""), ["auto", "always", "never"])
        self.assertEqual(self.bash("run", "--color", "=", "al"), ["always"])
        self.assertEqual(self.bash("run", "--axis", "load.c"), ["load.concurrency="])
        self.assertEqual(self.bash("run", "--axis", "load.batch_shape", "=", "ne"), ["needle"])
        self.assertEqual(self.bash("gate", "latest~1", "latest", "--policy", "two"), ["two-tiers"])
        self.assertEqual(self.bash("completion", ""), ["bash", "zsh", "fish"])
        self.assertEqual(self.bash("schema", "verd"), ["verdict"])

    def test_bash_offers_what_help_is_about_at_every_depth(self):
        self.assertEqual(self.bash("help", "store", "in"), ["info"])
        self.assertEqual(self.bash("help", "store", "que"), ["query"])
        self.assertEqual(self.bash("help", "run", ""), [""])
        self.assertEqual(self.bash("help", "--ma"), ["--man"])

    def test_bash_offers_each_word_once_and_none_that_does_not_exist(self):
        for words in (("gate", ""), ("report", ""), ("explain", ""), ("replay", ""), ("run", "--against", ""), ("store", "export", "")):
            with self.subTest(words):
                offered = [w for w in self.bash(*words) if not os.path.exists(self.path(w))]
                self.assertEqual(sorted(offered), ["latest", "latest~1"])
        for command in ("gate", "report"):
            self.assertEqual([w for w in self.bash(command, "--level", "") if not os.path.exists(self.path(w))], ["0", "1", "2"])
        self.assertEqual(self.bash("run", "--check", ""), ["0", "1", "2"])
        self.assertEqual([w for w in self.bash("run", "--design", "") if not os.path.exists(self.path(w))], ["one-at-a-time", "grid"])

    def test_only_kernel_sets_that_run_here_are_offered(self):
        here = {s["kernel_set"] for s in self.isobit("doctor", "--json", expect=0).json["kernel_sets"] if s["available"]}
        for words in (("run", "--set", "engine.kernel_set", "=", ""), ("run", "--axis", "engine.kernel_set", "=", ""), ("bench", "--kernel-set", "")):
            with self.subTest(words):
                self.assertEqual({w for w in self.bash(*words) if not os.path.exists(self.path(w))}, here)

    def test_bash_offers_files_with_their_names_whole(self):
        self.write("my policy.json", "{}")
        self.assertEqual(self.bash("gate", "a", "b", "--policy", "my"), ["my policy.json"])
        self.assertEqual(self.bash("--color", "my"), [""])

    def test_zsh_takes_the_script_and_registers_it(self):
        script = self.script("zsh")
        self.run_shell("zsh", "-n", script)
        loaded = self.run_shell("zsh", "-fc", 'autoload -Uz compinit; compinit -u -D; source "$1"; print $_comps[isobit]', "ask", script)
        self.assertEqual(loaded, ["_isobit"])

    def test_fish_offers_commands_options_and_values(self):
        script = self.script("fish")
        self.run_shell("fish", "-n", script)

        def ask(line):
            return [row.split("\t")[0] for row in self.run_shell("fish", "--no-config", "-c", f"source {script}; complete -C '{line}'")]

        self.assertEqual(ask("isobit pol"), ["policy"])
        self.assertEqual(ask("isobit store in"), ["info"])
        self.assertEqual(ask("isobit --color al"), ["always"])
        self.assertIn("--check", ask("isobit run --ch"))
        self.assertNotIn("--check", ask("isobit store list --ch"))
        self.assertEqual(ask("isobit help store in"), ["info"])
        self.assertEqual([w for w in ask("isobit gate la")], ["latest", "latest~1"])
        self.assertEqual(ask("isobit run --design gr"), ["grid"])
        self.assertEqual(ask("isobit run --design pair"), [])

    def test_zsh_offers_commands_values_and_what_help_is_about(self):
        script = self.script("zsh")

        def ask(*words):
            return self.run_shell("zsh", "-fc", ASK_ZSH, "ask", script, "isobit", *words)

        self.assertIn("store", ask(""))
        self.assertEqual(ask("help", "store", ""), ["check", "export", "import", "info", "list", "merge", "prune", "query"])
        self.assertEqual(ask("gate", ""), ["latest", "latest~1"])
        self.assertEqual(ask("report", "--level", ""), ["0", "1", "2"])
        self.assertEqual(ask("run", "--design", ""), ["grid", "one-at-a-time"])

    def test_as_json_it_keeps_to_its_schema(self):
        r = self.isobit("completion", "bash", "--json", expect=0).json
        self.assertEqual(json_schema.Schema("completion").errors(r), [])
        self.assertEqual(r["script"], self.isobit("completion", "bash", expect=0).out)
        self.assertIn("bash", self.isobit("completion", "tcsh", expect=2).err)

    def test_the_scripts_name_no_machine(self):
        for shell in ("bash", "zsh", "fish"):
            out = self.isobit("completion", shell, expect=0).out
            self.assertNotIn(os.path.dirname(os.path.abspath(PROGRAM)), out)


if __name__ == "__main__":
    unittest.main()
