"""What terminals, pipes and programs get: 80 columns, no colour where none is wanted, JSON of the published shape."""

import json
import os
import pty
import re
import shlex
import shutil
import struct
import subprocess
import fcntl
import termios
import threading
import unittest

import json_schema
from every_command import EveryCommandTest, leaves
from program import PROGRAM, TINY, ProgramTest

ESCAPE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
# Bytes for a program to read, or a file as it is: their lines are as long as they are.
RAW = {"tokens render", "policy show", "report", "schema", "completion", "store query", "reduce"}


def on_a_terminal(arguments, folder, env=None, columns=80):
    """Exit code, stdout and stderr of the program on a terminal of so many columns."""
    outputs, readers = [[], []], []
    pairs = [pty.openpty() for _ in outputs]
    for (leader, follower), out in zip(pairs, outputs):
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        attributes = termios.tcgetattr(follower)
        attributes[1] &= ~termios.OPOST
        termios.tcsetattr(follower, termios.TCSANOW, attributes)
        readers.append(threading.Thread(target=read_all, args=(leader, out)))
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")} | {"TERM": "xterm"} | (env or {})
    with subprocess.Popen([PROGRAM, *arguments], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=pairs[0][1], stderr=pairs[1][1]) as program:
        for _, follower in pairs:
            os.close(follower)
        for reader in readers:
            reader.start()
        code = program.wait(timeout=300)
    for reader in readers:
        reader.join()
    for leader, _ in pairs:
        os.close(leader)
    return code, *(b"".join(out).decode("utf-8", "replace") for out in outputs)


def read_all(fd, out):
    while True:
        try:
            data = os.read(fd, 65536)
        except OSError:  # the last writer is gone
            return
        if not data:
            return
        out.append(data)


def too_wide(text, columns=80):
    """Lines that do not fit, but for those that hold a word to copy that is long by itself: a digest, a path."""
    return [line for line in ESCAPE.sub("", text).split("\n") if len(line) > columns and not any(len(word) > 40 for word in line.split())]


class Width(EveryCommandTest):
    def test_every_example_fits_80_columns_on_a_pipe_and_on_a_terminal(self):
        for command in self.commands():
            with self.subTest(command["command"]):
                self.prepare(command["command"])
                environment = {"COLUMNS": "", "TERM": "dumb"}
                piped = self.example_of(command, env=environment, expect=0)
                self.prepare(command["command"])
                code, out, err = on_a_terminal(shlex.split(command["example"])[1:], self.folder)
                self.assertEqual(code, 0, err)
                self.assertNotIn("\x1b", piped.out)
                self.assertNotIn("\x1b", piped.err)
                if command["command"] not in RAW:
                    self.assertEqual(too_wide(piped.out) + too_wide(out), [])
                for frame in re.split(r"[\r\n]", ESCAPE.sub("", err)):  # a bar that is too long leaves its rest behind
                    if frame.startswith("["):
                        self.assertLess(len(frame), 80)


class Json(EveryCommandTest):
    def check(self, command, text):
        """Held to the first schema that fits; the arguments decide which of a command's it is."""
        self.assertTrue(text.endswith("\n"), "a document ends with a newline")
        for line in text.splitlines() if command["command"] != "report" else [text]:
            value = json.loads(line)
            faults = [json_schema.Schema(o["schema"]).errors(value, o["definition"]) for o in command["outputs"]]
            self.assertTrue(any(not f for f in faults), faults)

    def test_every_command_prints_what_its_schema_says(self):
        for command in self.commands():
            name = command["command"]
            with self.subTest(name):
                self.prepare(name)
                if name == "report":  # its files are its output; without one the report is on stdout
                    self.check(command, self.isobit("report", "latest", "--json", expect=0).out)
                elif name == "schema":  # with a name it prints that schema, which is JSON either way
                    self.check(command, self.isobit("schema", "--json", expect=0).out)
                else:
                    self.check(command, self.example_of(command, "--json", expect=0).out)

    def test_the_other_shapes_of_commands_that_have_several(self):
        commands = {c["command"]: c for c in self.commands()}
        quick = ("--rounds", "1")
        metric = self.isobit("policy", "metrics", "--json", expect=0).json["metrics"][0]["metric"]
        few = ("--prompt-tokens", "16", "--gen-tokens", "4", "--kernel-set", "cpu", "--threads", "1")
        for arguments in (["bench", TINY, "--template", *quick], ["bench", TINY, "--kernels", "--prompt-tokens", "16", *quick], ["bench", TINY, *few, *quick],
                          ["bench", TINY, "--recording", "--prompt-tokens", "16", "--gen-tokens", "4", *quick],
                          ["bench", TINY, "--distinct", "4", "--concurrency", "2", "--gen-tokens", "4", "--kernel-set", "cpu"],
                          ["explain", metric], ["fingerprint", TINY], ["help", "store"]):
            with self.subTest(arguments):
                self.check(commands[arguments[0]], self.isobit(*arguments, "--json", expect=0).out)
        self.check(commands["fingerprint diff"], self.isobit("fingerprint", "diff", TINY, TINY, "--json", expect=0).out)

    def test_a_schema_notices_what_is_missing_and_what_is_new(self):
        value = self.isobit("doctor", "--json", expect=0).json
        schema = json_schema.Schema("doctor")
        self.assertEqual(schema.errors(value), [])
        self.assertEqual(len(schema.errors(value | {"surplus": 1})), 1)
        self.assertEqual(len(schema.errors({k: v for k, v in value.items() if k != "cores"})), 1)
        self.assertEqual(len(schema.errors(value | {"cores": "two"})), 1)
        self.assertTrue(json_schema.Schema("run").errors({}))


class Colour(ProgramTest):
    RUN = ("run", TINY, "--max-tokens", "4", "--axis", "load.concurrency=1,8", "--check", "2")

    def test_a_terminal_has_the_verdict_in_colour_and_in_words(self):
        code, out, err = on_a_terminal(self.RUN, self.folder)
        self.assertEqual(code, 0)
        self.assertIn("\x1b[1;32mPASS\x1b[0m at level 2", out)
        self.assertIn("\x1b[1mnext:\x1b[0m isobit report ", err)

    def test_no_colour_where_it_is_not_wanted(self):
        for more, env in ((("--plain",), {}), (("--color", "never"), {}), ((), {"NO_COLOR": "1"}), ((), {"TERM": "dumb"}), (("--json",), {})):
            with self.subTest((more, env)):
                code, out, err = on_a_terminal((*self.RUN, *more), self.folder, env)
                self.assertEqual(code, 0)
                self.assertNotIn("\x1b[1;32m", out)
                self.assertNotIn("\x1b[1m", err)

    def test_an_empty_no_color_does_not_count_and_always_overrides_it(self):
        self.assertIn("\x1b[1;32mPASS", on_a_terminal(self.RUN, self.folder, {"NO_COLOR": ""})[1])
        self.assertIn("\x1b[1;32mPASS", self.isobit(*self.RUN, "--color", "always", expect=0, env={"NO_COLOR": "1"}).out)
        self.assertNotIn("\x1b", self.isobit(*self.RUN, expect=0).out)

    def test_the_words_are_the_same_with_and_without_colour(self):
        plain = self.isobit("gate", "latest", "latest", "--store", self.first_run(), expect=0).out
        coloured = self.isobit("gate", "latest", "latest", "--store", self.store, "--color", "always", expect=0).out
        self.assertNotEqual(plain, coloured)
        self.assertEqual(ESCAPE.sub("", coloured), plain)

    def first_run(self):
        self.run_audit()
        return self.store


class Progress(ProgramTest):
    RUN = ("run", TINY, "--max-tokens", "4", "--axis", "load.concurrency=1,8")

    def test_a_bar_with_the_time_left_on_a_terminal(self):
        _, _, err = on_a_terminal(self.RUN, self.folder)
        self.assertRegex(err, r"\r\x1b\[K\[#*\.*\] [01]/2 cells  \d+ tokens/s  ETA \d+:\d\d")
        self.assertRegex(err.split("\r")[-1], r"^\x1b\[K\S*next:", "the bar is gone at the end")

    def test_it_fits_a_narrow_terminal(self):
        _, _, err = on_a_terminal(self.RUN, self.folder, columns=30)
        bars = [frame for frame in re.split(r"[\r\n]", ESCAPE.sub("", err)) if frame.startswith("[")]
        self.assertTrue(bars)
        self.assertLess(max(map(len, bars)), 30)

    def test_lines_elsewhere_and_nothing_where_nothing_is_wanted(self):
        self.assertRegex(self.isobit(*self.RUN, expect=0).err, r"(?m)^cell 1/2 .* ETA \d+:\d\d$")
        self.assertNotIn("cell 1/2", self.isobit(*self.RUN, "--progress", "none", expect=0).err)
        self.assertEqual(self.isobit(*self.RUN, "--quiet", expect=0).err, "")
        self.assertNotIn("\r", on_a_terminal((*self.RUN, "--plain"), self.folder)[2])


class Escapes(ProgramTest):
    def test_control_characters_are_escaped_once(self):
        hostile, cell = "a\x1b\u202eb\\c", "load.concurrency=2"
        in_tables, in_lines = "a\\x1b\\u{202e}b\\\\c", "a\\x1b\\u{202e}b\\c"  # tables escape the backslash as well
        prompts = self.write("p.jsonl", json.dumps({"id": hostile, "prompt": "x"}) + "\n")
        self.run_audit("--prompts", prompts, "--label", hostile, "--axis", "load.concurrency=1,2")
        for arguments, visible in ((("store", "list"), in_tables), (("store", "query", "SELECT label FROM run"), in_lines), (("explain", f"latest/{cell}/0"), in_tables)):
            with self.subTest(arguments):
                text = self.isobit(*arguments, "--store", self.store, expect=0).out
                self.assertIn(visible, text)
                self.assertNotIn("\x1b", text)

    def test_a_suggested_command_keeps_its_backslashes(self):
        self.run_audit()
        os.rename(self.store, self.path("a\\b.db"))
        self.assertIn("--store 'a\\b.db'", self.isobit("gate", "latest", "latest", "--store", "a\\b.db", expect=0).err)


class BuildLogs(ProgramTest):
    """GitHub's runner carries out a line that begins with "::error::", Azure's agent "##[" and "##vso[" wherever they stand."""

    HOSTILE = ("::error::x", "  ::set-env name=PATH::x", "::unknown to us::x", "##[error]x", "##VSO[task.complete]x", "###[group]", "a ##[b] ::c", "\n::error::x", "\t::error::x", "\r::error::x")

    def assert_harmless(self, result):
        for line in re.split(r"[\r\n]", result.out + "\n" + result.err):
            self.assertFalse(re.match(r"\s*::", line), line)
            self.assertNotRegex(line.lower(), r"##(vso)?\[")

    def test_no_value_of_a_query_is_carried_out(self):
        self.run_audit()
        for text in self.HOSTILE:
            literal = "'" + text + "'"
            for sql in (f"SELECT {literal}", f"SELECT '', {literal}", f"SELECT 1 AS {literal}", f"SELECT {literal} UNION SELECT 'b'"):
                for more in ((), ("--json",)):
                    with self.subTest((sql, more)):
                        r = self.isobit("store", "query", sql, *more, "--store", self.store, expect=0)
                        self.assert_harmless(r)
                        if more:
                            self.assertIn(text, {s for row in r.json for pair in row.items() for s in pair})

    def test_no_label_name_path_or_argument_is_carried_out(self):
        for i, text in enumerate(self.HOSTILE):
            with self.subTest(text):
                store, prompts = f"{text.replace('/', '')}.db", self.write(f"{i}.jsonl", json.dumps({"id": text, "prompt": text}) + "\n")
                self.assert_harmless(self.isobit("run", TINY, "--max-tokens", "2", "--prompts", prompts, "--label", text, "--store=" + store, expect=0))
                for arguments in (("store", "list"), ("store", "info"), ("store", "check"), ("compare", "latest", "latest"), ("gate", "latest", "latest"), ("report", "latest"),
                                  ("store", "list", "--json"), ("report", "latest", "--json"), ("gate", "latest", "latest", "--json"), ("store", "info", "--json")):
                    self.assert_harmless(self.isobit(*arguments, "--store=" + store, expect=0))
                for arguments in ((text,), ("run", text), ("run", TINY, "--axis", text), ("gate", "latest", text), ("store", "query", text), ("policy", "check", text), ("schema", text),
                                  ("run", TINY, "--prompts", text), ("tokens", "decode", "--tokenizer", TINY, "--ids", text), ("doctor", "--now", text, "--log-file", text + "/log")):
                    self.assert_harmless(self.isobit(*arguments))

    def test_json_lines_and_documents_that_are_printed_without_asking_for_json(self):
        batch = self.write("batch.jsonl", '"ok"\n' + json.dumps({"base64": "IyNbZXJyb3Jd/w=="}) + "\n")
        self.assert_harmless(self.isobit("tokens", "encode", "--tokenizer", TINY, "--batch", batch))
        os.symlink(TINY, self.path("##[error]"))
        r = self.isobit("fingerprint", "##[error]", "--cyclonedx", expect=0)
        self.assert_harmless(r)
        self.assertEqual(r.json["metadata"]["component"]["name"], "##[error]")

    def test_bytes_that_were_asked_for_stay_as_they_are(self):
        messages = self.write("m.json", json.dumps([{"role": "user", "content": "##[error] ::x"}]))
        template = self.write("t.jinja", "{{ messages[0].content }}\n::error::x\x1b")
        self.assertEqual(self.isobit("tokens", "render", "--template", template, "--messages", messages, expect=0).out, "##[error] ::x\n::error::x\x1b")


class Numbers(ProgramTest):
    def test_a_query_prints_numbers_short_and_zero_without_a_sign(self):
        self.run_audit()
        out = self.isobit("store", "query", "SELECT 1e308, -1e308, -0.0, 0.1, 12345678901234567, 1e-300", "--store", self.store, expect=0).out
        self.assertEqual(out.splitlines()[1].split("\t"), ["1e+308", "-1e+308", "0.0", "0.1", "12345678901234567", "1e-300"])


class Readers(ProgramTest):
    """`isobit ... | head -0`: who reads a part has what was wanted."""

    def without_a_reader(self, *arguments, stderr=subprocess.PIPE):
        reader, writer = os.pipe()
        os.close(reader)
        try:
            return subprocess.run([PROGRAM, *arguments], stdout=writer, stderr=stderr, stdin=subprocess.DEVNULL, cwd=self.folder, check=False, text=True)
        finally:
            os.close(writer)

    def test_a_reader_that_ends_early_is_no_error_and_the_exit_code_stays(self):
        self.run_audit()
        self.run_audit("--set", "sampling.temperature=2")
        self.isobit("run", TINY, "--store", self.store, "--max-tokens", "4", expect=0)
        for arguments, code in ((("store", "list"), 0), (("store", "query", "SELECT * FROM sample"), 0), (("report", "latest"), 0), (("store", "list", "--json"), 0),
                                (("gate", "latest~2", "latest"), self.isobit("gate", "latest~2", "latest", "--store", self.store).code),
                                (("gate", "latest~2", "latest~1"), self.isobit("gate", "latest~2", "latest~1", "--store", self.store).code)):
            with self.subTest(arguments):
                r = self.without_a_reader(*arguments, "--store", self.store)
                self.assertEqual(r.returncode, code, r.stderr)
                self.assertNotIn("ipe", r.stderr)
                self.assertNotIn("isobit: ", r.stderr)
        self.assertEqual(self.without_a_reader("schema", "run").stderr, "")
        self.assertIn("ended before all was written", self.without_a_reader("schema", "run", "-v").stderr)

    def test_help_and_errors_need_no_reader_either(self):
        self.assertEqual((lambda r: (r.returncode, r.stderr))(self.without_a_reader("--help")), (0, ""))
        self.assertEqual(self.without_a_reader("store", "list", "--store", "none.db").returncode, 3)

    def test_an_output_that_fails_is_still_an_error(self):
        self.run_audit()
        self.assertEqual(self.without_a_reader("report", "latest", "--store", self.store, "-o", "no/such.md").returncode, 3)


class Outputs(ProgramTest):
    """No output takes the place of what the same command reads, or of another of its outputs."""

    def setUp(self):
        super().setUp()
        self.run_audit()
        self.run_audit()

    def assert_refused(self, *arguments, kept, why="is read by this command"):
        before = self.read(kept)
        r = self.isobit(*arguments, expect=2)
        self.assertIn(why, r.err)
        self.assertIn(os.path.basename(kept), r.err)
        self.assertEqual(self.read(kept), before)

    def test_inputs_stay_whatever_they_are(self):
        shutil.copytree(TINY, self.path("model"))
        self.isobit("fingerprint", "model", "--json", expect=0)
        for part in ("config.json", "tokenizer.json"):
            self.assert_refused("fingerprint", "model", "--cyclonedx", "-o", f"model/{part}", kept=f"model/{part}", why="is a part of a checkpoint")
        os.symlink("model/config.json", self.path("other.json"))
        self.assert_refused("fingerprint", "model", "--cyclonedx", "-o", "other.json", kept="model/config.json", why="is a part of a checkpoint")
        self.write("policy.json", self.isobit("policy", "show", "level-1", expect=0).out)
        gate = ("gate", "latest~1", "latest", "--store", self.store)
        self.assert_refused(*gate, "--policy", "policy.json", "-o", "policy.json", kept="policy.json")
        self.isobit("store", "export", "latest", "latest~1", "-o", "two.isobit.tar", "--store", self.store, expect=0)
        self.assert_refused("store", "export", "two.isobit.tar:latest", "-o", "two.isobit.tar", kept="two.isobit.tar")
        self.isobit("store", "export", "latest", "-o", "two.isobit.tar", "--store", self.store, expect=0)  # what is not read may be replaced

    def writers(self):
        """Commands with their options that name a file to write, by what the help says of them."""
        at = ("--store", self.store)
        commands = {"report": ["report", "latest", *at], "gate": ["gate", "latest~1", "latest", *at], "run": ["run", TINY, "--max-tokens", "2", "--check", "2", *at],
                    "store export": ["store", "export", "latest", *at], "store merge": ["store", "merge", self.store],
                    "baseline export": ["baseline", "export", "prod", *at], "fingerprint": ["fingerprint", TINY, "--cyclonedx"],
                    "reduce": ["reduce", "latest/reference/0", *at], "selftest": ["selftest", "--exhaustive"]}
        writes = re.compile(r"(?i)\bwrite\b|\badd\b|\bappend\b|\btakes it in\b")
        found = {}
        for words in leaves(self.isobit("help", "--json", expect=0).json["help"]):
            options = [o["names"] for o in words["options"] if o["value"] and writes.search(o["meaning"])]
            if options:
                found[words["command"]] = [names[0] for names in options]
        self.assertEqual(set(found), set(commands))
        return {name: (commands[name], options + ["--log-file"]) for name, options in found.items()}

    def test_two_outputs_need_two_names_whatever_the_options(self):
        os.symlink("a.md", self.path("dangling.md"))
        self.write("there.md", "as it was")
        os.symlink("there.md", self.path("link.md"))
        os.link(self.path("there.md"), self.path("hard.md"))
        before = sorted(os.listdir(self.folder))
        for name, (command, options) in self.writers().items():
            for i, first in enumerate(options):
                for second in options[i + (first != "-o" or name not in ("report", "gate")):]:
                    for a, b in (("a.md", "a.md"), ("a.md", "./a.md"), ("a.md", "dangling.md"), ("there.md", "link.md"), ("hard.md", "there.md")):
                        with self.subTest((name, first, a, second, b)):
                            r = self.isobit(*command, first, a, second, b, expect=2)
                            self.assertRegex(r.err, "twice|both name")
                            self.assertIn(b, r.err)
                            self.assertEqual(r.out, "")
                            self.assertEqual(sorted(os.listdir(self.folder)), before)
        self.assertEqual(self.read("there.md"), b"as it was")

    def test_no_output_is_the_store_that_the_command_makes(self):
        for name, (command, options) in self.writers().items():
            for option in set(options) - {"--into"}:
                with self.subTest((name, option)):
                    command = [word if word != self.store else "new.db" for word in command]
                    self.isobit(*command, "--store", "new.db", option, "./new.db", expect=2)
                    self.assertFalse(os.path.exists(self.path("new.db")))

    def test_an_input_is_found_before_any_output_is_written(self):
        policy, note = self.write("p.json", self.isobit("policy", "show", "level-1", expect=0).out), self.write("note.md", "a note")
        gate = ("gate", "latest~1", "latest", "--store", self.store, "-o", "r.md")
        self.isobit("store", "export", "latest", "-o", "x.isobit.tar", "--store", self.store, expect=0)
        for arguments, kept in (((*gate, "--policy", policy, "--statement", policy), policy), ((*gate, "--policy", policy, "-o", policy), policy),
                                ((*gate, "--statement", note, "--subject", note), note), ((*gate, "--statement", "s.json", "--subject", note, "--log-file", note), note),
                                (("gate", "x.isobit.tar", "latest", "--store", self.store, "-o", "r.md", "--statement", "x.isobit.tar"), self.path("x.isobit.tar"))):
            with self.subTest(arguments):
                self.assert_refused(*arguments, kept=kept, why="")
                self.assertFalse(os.path.exists(self.path("r.md")))
        self.isobit(*gate, "--statement", "s.json", "--subject", "r.md", expect=0)  # what is written just before may be vouched for
        self.isobit(*gate, "--statement", "s.json", "--subject", "r.md", expect=0)

    def test_a_checkpoint_stays_as_it_is(self):
        shutil.copytree(TINY, self.path("m"))
        report = ("report", "latest", "--store", self.store)
        for name in ("config.json", "tokenizer_config.json"):
            self.assert_refused(*report, "-o", f"m/{name}", kept=f"m/{name}", why="is a part of a checkpoint")
        self.assert_refused("store", "export", "latest", "--store", self.store, "-o", "m/model.safetensors", kept="m/model.safetensors", why="is a part of a checkpoint")
        self.isobit(*report, "-o", "m/report.json", expect=0)
        self.isobit(*report, "-o", "m/report.json", expect=0)
        self.isobit(*report, "-o", "config.json", expect=0)  # of nothing

    def test_what_a_killed_write_left_goes_with_the_next_one(self):
        with subprocess.Popen(["true"]) as ended:
            ended.wait()
        left = [self.write(f"r.html.tmp{ended.pid}", "half"), self.write(f"r.html.tmp{os.getpid()}", "of a process that is there")]
        self.isobit("report", "latest", "--store", self.store, "-o", "r.html", expect=0)
        self.assertEqual([os.path.exists(name) for name in left], [False, True])

    def test_a_log_is_added_to_nothing_else(self):
        key = self.write("k.pem", "-----BEGIN PRIVATE KEY-----\n")
        policy = self.write("p.json", self.isobit("policy", "show", "level-1", expect=0).out)
        self.assert_refused("store", "list", "--store", self.store, "--log-file", self.store, kept=self.store, why="log")
        self.assert_refused("doctor", "--log-file", self.store, kept=self.store, why="is a store")
        self.assert_refused("doctor", "--log-file", key, kept=key, why="is a key")
        self.assert_refused("gate", "latest~1", "latest", "--store", self.store, "--policy", policy, "--log-file", policy, kept=policy, why="log")
        self.isobit("store", "export", "latest", "-o", "x.isobit.tar", "--store", self.store, expect=0)
        self.assert_refused("gate", "x.isobit.tar:latest", "latest", "--store", self.store, "--log-file", "x.isobit.tar", kept="x.isobit.tar", why="log")
        self.assertIn("log", self.isobit("run", TINY, "--store", "new.db", "--log-file", "new.db", expect=2).err)
        self.assertFalse(os.path.exists(self.path("new.db")))

    def test_the_log_has_what_ended_the_command(self):
        for arguments, code in ((("gate", "latest", "nowhere", "--store", self.store), 2), (("run", "nowhere"), 3), (("report", "latest", "--store", self.store, "-o", "no/such/r.md"), 3)):
            with self.subTest(arguments):
                r = self.isobit(*arguments, "--log-file", "log", expect=code)
                self.assertIn("isobit: ", r.err)
                self.assertEqual(self.read("log").decode(), r.err)
                os.remove(self.path("log"))

    def test_a_summary_is_added_to_as_before(self):
        self.write("summary.md", "what was there")
        for n in (1, 2):
            self.isobit("report", "latest", "--store", self.store, "--summary", "summary.md", expect=0)
            self.assertTrue(self.read("summary.md").startswith(b"what was there\n"))
            self.assertEqual(self.read("summary.md").count(b"<summary>Cells</summary>"), n)


if __name__ == "__main__":
    unittest.main()
