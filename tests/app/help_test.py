"""Help, man page, completions and schemas: written from one source, complete, and fit for 80 columns."""

import json
import os
import re
import shutil
import subprocess
import unittest

import json_schema
from every_command import EveryCommandTest, leaves
from program import PROGRAM, SOURCE, TINY, ProgramTest


def every(command):
    return [command] + [c for sub in command["commands"] for c in every(sub)]


class Help(EveryCommandTest):
    def test_every_example_runs_as_it_is_written(self):
        for command in self.commands():
            with self.subTest(command["command"]):
                self.prepare(command["command"])
                self.example_of(command, expect=0)

    def test_every_command_has_summary_example_and_schema_and_help_fits_80_columns(self):
        root = self.isobit("help", "--json", expect=0).json["help"]
        self.assertEqual(json_schema.Schema("help").errors(self.isobit("help", "--json").json), [])
        for command in every(root):
            with self.subTest(command["command"]):
                path = command["command"].split()
                self.assertTrue(command["summary"])
                self.assertTrue(command["example"].startswith("isobit "), command["example"])
                text = self.isobit(*path, "--help", expect=0).out
                self.assertEqual(self.isobit("help", *path, expect=0).out, text)
                self.assertTrue(text.endswith("Example:\n  " + command["example"] + "\n"))
                self.assertLessEqual(max(map(len, text.splitlines())), 80, text)
                for option in command["arguments"] + command["options"]:
                    self.assertTrue(option["meaning"], option)
                    self.assertIn(option["names"][-1], text)
                if not command["needs_command"]:
                    self.assertTrue(command["outputs"], f"{command['command']}: no schema in app/output_schemas.cc")
                    self.assertIn(command["outputs"][0]["schema"], text)

    def test_help_names_what_was_meant(self):
        self.assertIn("did you mean 'query'", self.isobit("help", "store", "qury", expect=2).err)
        self.assertIn("--man", self.isobit("help", "run", "--man", expect=2).err)

    def test_exit_codes_are_those_of_the_readme(self):
        codes = self.isobit("help", "--json", expect=0).json["exit_codes"]
        with open(os.path.join(SOURCE, "README.md"), encoding="utf-8") as f:
            rows = re.findall(r"^\| ([0-9, ]+) \| (.+) \|$", f.read().split("### Exit codes")[1].split("###")[0], re.M)
        listed = {int(code): meaning for codes, meaning in rows for code in codes.split(",")}
        self.assertEqual(sorted(listed), sorted(c["code"] for c in codes))
        for c in codes:
            if c["code"] < 130:
                self.assertEqual(c["meaning"], listed[c["code"]].replace("`", ""))

    def test_what_cannot_be_written_is_an_error_also_for_help(self):
        for arguments in (["--help"], ["--version"], ["help"], ["run", "--help"], ["help", "--man"], ["completion", "bash"], ["schema"],
                          ["schema", "run"], ["doctor"], ["policy", "list"], ["tokens", "encode", "--tokenizer", TINY, "--text", "a"]):
            with self.subTest(arguments), open("/dev/full", "wb") as full:
                done = subprocess.run([PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE, cwd=self.folder, check=False)
                self.assertEqual(done.returncode, 3, arguments)
                self.assertIn(b"cannot write to standard output: No space left on device", done.stderr)

    def test_a_file_that_may_not_grow_and_a_stream_that_is_closed_are_errors_that_say_so(self):
        for limited, reason in (("ulimit -f 0; ", "File too large"), ("exec >&-; ", "Bad file descriptor")):
            for arguments in ("--help", "help --man", "--version --json", "schema", "policy list"):
                with self.subTest((limited, arguments)):
                    output = " >>out" if "ulimit" in limited else ""
                    done = subprocess.run(["bash", "-c", f'{limited}"$ISOBIT_PROGRAM" {arguments}{output}'], stderr=subprocess.PIPE, cwd=self.folder, check=False, text=True)
                    self.assertEqual((done.returncode, done.stderr.splitlines()[0]), (3, f"isobit: cannot write to standard output: {reason}"))

    def test_a_closed_stream_lends_its_number_to_no_file(self):
        """What is meant for a closed standard output or error must not land in the file that is opened next."""
        for closed in (">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"):
            done = subprocess.run(["bash", "-c", f'"$ISOBIT_PROGRAM" fingerprint "{TINY}" --cyclonedx -o bom.json --log-file log {closed}'], cwd=self.folder, check=False, capture_output=True)
            self.assertIn(done.returncode, (0, 3))
            self.assertEqual(json.loads(self.read("bom.json"))["bomFormat"], "CycloneDX")
            self.assertNotIn(b"CycloneDX 1.6 of", self.read("log"))

    def test_a_usage_error_names_the_help_of_its_own_command(self):
        for arguments, command in ((["gate"], "gate"), (["gate", "a", "b", "--levl", "1"], "gate"), (["store", "query"], "store query"), (["store"], "store"),
                                   (["baseline", "set", "--no-such"], "baseline set"), (["--json", "store", "query"], "store query"), (["bench", "x", "--rounds", "x"], "bench"),
                                   (["bench", TINY, "--concurrency", "x"], "bench"), (["store", "prune", "--keep", "-1"], "store prune"), (["doctor", "surplus"], "doctor")):
            with self.subTest(arguments):
                self.assertTrue(self.isobit(*arguments, expect=2).err.endswith(f"\nhint: isobit {command} --help\n"))
        for arguments in ([], ["rnu"], ["--no-such"], ["--color", "x"]):
            self.assertIn("\nhint: isobit --help, or isobit COMMAND --help\n", self.isobit(*arguments, expect=2).err)

    def test_no_time_is_no_time(self):
        for command in (["doctor"], ["policy", "check", "two-tiers"], ["tokens", "encode", "--tokenizer", TINY, "--text", "a"]):
            for bad in ("", "0000-01-01", "1969-12-31", "2026-01-31T00:00:60", "T00:00", "2026-01-31T00:00", "2026-01-31 00:00:00", "2026-01-31T00:00:00+01:00", "10000-01-01"):
                r = self.isobit(*command, "--now", bad, expect=2)
                self.assertIn("expected a time like 2026-01-31", r.err)
                self.assertIn("1970 to 9999", r.err)

    def test_version_and_help_are_documents_too(self):
        for arguments in (["--json", "--version"], ["--version", "--json"], ["run", "--json", "--version"]):
            r = self.isobit(*arguments, expect=0)
            self.assertEqual(json_schema.Schema("version").errors(r.json), [])
            self.assertTrue(self.isobit("--version").out.startswith(f"isobit {r.json['version']}\ncontract {r.json['contract']}, scheme {r.json['scheme']}\n"))
        self.assertEqual(self.isobit("store", "list", "--help", "--json", expect=0).json, self.isobit("help", "store", "list", "--json", expect=0).json)

    def test_version_says_build_contract_and_kernel_sets(self):
        out = self.isobit("--version", expect=0).out
        self.assertRegex(out, r"(?m)^kernel sets: .*\bcpu \(portable")
        self.assertRegex(out, r"(?m)^built by (g\+\+|clang) [0-9.]+ with ")
        self.assertLessEqual(max(map(len, out.splitlines())), 80)


class ManPage(ProgramTest):
    def setUp(self):
        super().setUp()
        self.page = self.isobit("help", "--man", expect=0).out
        self.write("isobit.1", self.page)

    def run_tool(self, *words):
        if shutil.which(words[0]) is None:
            self.skipTest(f"SKIPPED: no {words[0]}")
        return subprocess.run(words, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, text=True,
                              env=dict(os.environ, MANWIDTH="80", LC_ALL="C.UTF-8", GROFF_NO_SGR="1"))

    def test_it_has_every_command_option_and_exit_code(self):
        plain = self.page.replace("\\-", "-")
        help_json = self.isobit("help", "--json", expect=0).json
        for command in every(help_json["help"])[1:]:
            self.assertIn(f'.SS "isobit {command["command"]} [OPTIONS]', plain)
            self.assertIn("    " + command["example"].replace("\\", "\\e"), plain)
            for option in command["options"]:
                self.assertIn(option["names"][-1], plain)
        for row in help_json["exit_codes"]:
            self.assertIn(f".B {row['code']}\n{row['meaning']}", plain)

    def test_man_shows_it_without_a_warning(self):
        shown = self.run_tool("man", "--warnings", "-l", "isobit.1")
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        self.assertIn("isobit store query [OPTIONS] SQL", shown.stdout)

    def test_mandoc_has_nothing_to_say(self):
        lint = self.run_tool("mandoc", "-Tlint", "-Wwarning", "isobit.1")
        self.assertEqual((lint.returncode, lint.stdout), (0, ""))


class Schemas(ProgramTest):
    def test_every_schema_is_printed_as_it_is_in_the_tree(self):
        listed = self.isobit("schema", "--json", expect=0).json
        self.assertEqual(json_schema.Schema("schema").errors(listed), [])
        names = sorted(f.removesuffix(".schema.json") for f in os.listdir(os.path.join(SOURCE, "schemas")) if f.endswith(".schema.json"))
        self.assertEqual([s["name"] for s in listed["schemas"]], names)
        for name in names:
            with open(os.path.join(SOURCE, "schemas", name + ".schema.json"), encoding="utf-8") as f:
                self.assertEqual(self.isobit("schema", name, expect=0).out, f.read())

    def test_every_schema_that_a_command_names_exists(self):
        for command in leaves(self.isobit("help", "--json", expect=0).json["help"]):
            for output in command["outputs"]:
                schema = json.loads(self.isobit("schema", output["schema"], expect=0).out)
                if output["definition"]:
                    self.assertIn(output["definition"], schema["$defs"])

    def test_an_unknown_one_is_refused_with_the_nearest(self):
        self.assertIn("did you mean 'verdict'", self.isobit("schema", "verdit", expect=2).err)


if __name__ == "__main__":
    unittest.main()
