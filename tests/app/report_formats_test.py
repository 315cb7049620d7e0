"""The formats for build servers, code hosts and monitoring, each held to its published schema and read by a real parser; then a hostile run in all."""

import csv
import html.parser
import io
import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

from gate_test import load_schema, schema_errors
from outside_schemas import check_code_quality, check_junit, check_metrics, check_sarif, runner_commands
from program import TINY, plant_token, ProgramTest

AXIS = ("--axis", "load.concurrency=1,8")
FILES = ("r.html", "r.md", "r.json", "r.csv", "r.junit.xml", "r.sarif", "r.gl.json", "r.prom")
OUTPUTS = [word for name in FILES for word in ("-o", name)]
# As a stranger's store may hold them; invalid UTF-8 is in every one.
HOSTILE = (
    b"<script>alert(1)</script><svg onload=alert(2)><img src=x onerror=alert(3)>\xff",
    b"]]></failure></testcase><testcase name=\"x\"/>\xff",
    b"\x1b[31mred\x1b]0;owned\x07\xff",
    b"=cmd|'/C calc'!A0\xff",
    b"+1+1\xff",
    b"-2+3\xff",
    b"@SUM(1)\xff",
    b"\t=1\xff",
    b"::error file=a,line=1::owned\xff",
    b"::add-mask::a\n##[error]owned\n::stop-commands::x\xff",
    b"a, ::set-output name=x::y ##vso[task.setvariable variable=a]b\xff",
    "\u202egnp.exe\u2066\u200b".encode() + b"\xff",
    b"x\"} 1\nisobit_verdict{outcome=\"pass\"} 1\n\xff",
    b"[text](https://evil.example/{0}) ![i](javascript:alert(1)) `code` @everyone #1\xff",
    b"%0a::error::z%25\xff",
    b"A" * (1 << 20) + b"\xff",
)


class FormatsTest(ProgramTest):
    def two_runs(self):
        for _ in range(2):
            self.run_audit(*AXIS, "--label", "prod")

    def change(self, sql, *values):
        with sqlite3.connect(self.store) as database:
            database.execute("PRAGMA foreign_keys = OFF")
            database.execute(sql, values)

    def flip_a_token(self):
        """In the first answer of the latest run's second cell."""
        with sqlite3.connect(self.store) as database:
            key, = database.execute("SELECT sample_key FROM sample WHERE cell_index = 1 ORDER BY run_key DESC, prompt_index LIMIT 1").fetchone()
            plant_token(database, key)

    def gate(self, *arguments, expect=None, **options):
        return self.isobit("gate", "latest~1", "latest", "--store", self.store, "--now", "2026-06-15", *arguments, expect=expect, **options)

    def hold_to_schemas(self):
        schema = load_schema("report.schema.json")
        self.assertEqual(list(schema_errors(json.loads(self.read("r.json")), schema, schema)), [])
        check_code_quality(self, json.loads(self.read("r.gl.json")))
        self.assertLessEqual(len(self.read("r.md").decode()), 65536)
        self.hold_outside()

    def hold_outside(self):
        """Last, since it skips where a tool or schema cannot be had."""
        check_metrics(self, self.read("r.prom"))
        check_junit(self, self.path("r.junit.xml"))
        check_sarif(self, self.path("r.sarif"))


class Formats(FormatsTest):
    def test_a_gate_that_passes_writes_every_format_and_none_has_a_finding(self):
        self.two_runs()
        result = self.gate(*OUTPUTS, "--github", "--summary", "summary.md", expect=0)
        self.assertTrue(all("wrote " + name in result.err for name in FILES))
        suites = ElementTree.fromstring(self.read("r.junit.xml"))
        self.assertEqual((suites.get("failures"), suites.get("errors")), ("0", "0"))
        self.assertEqual(json.loads(self.read("r.gl.json")), [])
        self.assertEqual(json.loads(self.read("r.sarif"))["runs"][0]["results"], [])
        self.assertIn(b'isobit_verdict{deployment="prod",outcome="pass"} 1\n', self.read("r.prom"))
        commands = list(runner_commands(result.out + result.err))
        self.assertEqual([c[0] for c in commands], ["notice"])
        self.assertIn("PASS at level 1", commands[0][2])
        self.assertIn(b"**PASS at level 1", self.read("summary.md"))
        self.hold_to_schemas()

    def test_a_gate_that_fails_names_the_cell_in_every_format_and_still_exits_1(self):
        self.two_runs()
        self.flip_a_token()
        result = self.gate(*OUTPUTS, "--github", "--location", "deploy/model.json", expect=1)
        suites = ElementTree.fromstring(self.read("r.junit.xml"))
        failed = {c.get("name") for c in suites.iter("testcase") if c.find("failure") is not None}
        self.assertIn("load.concurrency=8", failed)
        self.assertIn("level 1", failed)
        self.assertEqual(sum(1 for _ in suites.iter("testcase")), int(suites.get("tests")))
        log = json.loads(self.read("r.sarif"))["runs"][0]
        first = log["results"][0]
        self.assertEqual(first["level"], "error")
        self.assertIn("load.concurrency=8", first["message"]["text"])
        self.assertEqual(first["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "deploy/model.json")
        issues = json.loads(self.read("r.gl.json"))
        self.assertEqual({i["location"]["path"] for i in issues}, {"deploy/model.json"})
        self.assertEqual([i["fingerprint"] for i in issues], [r["partialFingerprints"]["isobitFinding/v1"] for r in log["results"]])
        commands = list(runner_commands(result.out + result.err))
        self.assertEqual(commands[0][0], "error")
        self.assertEqual(commands[0][1]["file"], "deploy/model.json")
        self.assertIn(b'isobit_verdict{deployment="prod",outcome="fail"} 1\n', self.read("r.prom"))
        self.assertIn(b'isobit_axis_divergences{deployment="prod",axis="load.concurrency",value="8",differs="tokens"} 1\n', self.read("r.prom"))
        self.hold_to_schemas()

    def test_fingerprints_stay_when_the_candidate_is_recorded_again(self):
        self.two_runs()
        self.flip_a_token()
        self.gate("-o", "a.gl.json", expect=1)
        self.run_audit(*AXIS, "--label", "prod")
        self.flip_a_token()
        self.isobit("gate", "latest~2", "latest", "--store", self.store, "-o", "b.gl.json", expect=1)
        a, b = ({i["fingerprint"] for i in json.loads(self.read(name))} for name in ("a.gl.json", "b.gl.json"))
        self.assertEqual(a, b)

    def test_a_run_by_itself_and_the_same_bytes_again(self):
        self.run_audit(*AXIS)
        self.isobit("report", "latest", "--store", self.store, *OUTPUTS, expect=0)
        first = [self.read(name) for name in FILES]
        self.isobit("report", "latest", "--store", self.store, *OUTPUTS, expect=0)
        self.assertEqual(first, [self.read(name) for name in FILES])
        self.assertRegex(self.read("r.prom").decode(), r'isobit_tokens_per_second\{deployment="[^"]+",cell="load.concurrency=8"\} [0-9.]+\n')
        self.hold_to_schemas()

    def test_warnings_and_what_could_not_be_judged(self):
        self.two_runs()
        policy = self.write("p.json", '{"name": "p", "level": 1, "expected_changes": {"expected": ["software.openblas"]}, "coverage": {"min_prompts": 64}}')
        result = self.gate("--policy", policy, *OUTPUTS, "--github", expect=5)
        suites = ElementTree.fromstring(self.read("r.junit.xml"))
        self.assertGreaterEqual(int(suites.get("errors")), 1)
        self.assertEqual(suites.get("failures"), "0")
        self.assertEqual({i["severity"] for i in json.loads(self.read("r.gl.json"))}, {"major", "minor"})
        self.assertEqual({c[0] for c in runner_commands(result.err)}, {"error", "warning"})
        self.assertEqual({c[1]["file"] for c in runner_commands(result.err)}, {"p.json"})  # by its path from here
        self.gate("--policy", policy, *OUTPUTS, "--location", "p.json", expect=5)
        self.hold_to_schemas()

    def test_tokens_are_text_as_long_as_the_recorded_checkpoint_is_there(self):
        model = self.path("model")
        shutil.copytree(TINY, model)
        for _ in range(2):
            self.run_audit(*AXIS, model=model)
        self.flip_a_token()
        said = "tokens are shown as numbers"
        self.assertNotIn(said, self.gate("-o", "with.md", expect=1).err)
        shutil.copytree(TINY, self.path("other"))
        self.assertNotIn(said, self.isobit("report", "latest~1", "latest", "--store", self.store, "--model", "other", "-o", "named.md", expect=0).err)
        self.assertEqual(self.read("with.md"), self.read("named.md"))
        shutil.rmtree(model)
        self.gate("-o", "without.md", expect=1)
        self.assertNotEqual(self.read("with.md"), self.read("without.md"))

    def test_a_checkpoint_that_is_another_now_lends_no_text(self):
        model = self.path("model")
        shutil.copytree(TINY, model)
        for _ in range(2):
            self.run_audit(*AXIS, model=model)
        self.flip_a_token()
        with open(os.path.join(model, "tokenizer.json"), encoding="utf-8") as file:
            tokenizer = json.load(file)
        vocabulary = tokenizer["model"]["vocab"]
        a, b = [word for word in vocabulary if re.fullmatch("\u0120[a-z]{6,}", word)][:2]
        vocabulary[a], vocabulary[b] = vocabulary[b], vocabulary[a]
        with open(os.path.join(model, "tokenizer.json"), "w", encoding="utf-8") as file:
            json.dump(tokenizer, file)
        self.assertIn("has another tokenizer", self.gate("-o", "r.md", expect=1).err)
        os.remove(os.path.join(model, "tokenizer.json"))
        os.mkfifo(os.path.join(model, "tokenizer.json"))
        self.assertIn("tokens are shown as numbers", self.gate("-o", "r.md", expect=1).err)

    def test_a_gate_page_shows_the_trend_and_its_commands_name_the_store(self):
        self.two_runs()
        self.two_runs()
        self.flip_a_token()
        self.gate("-o", "r.html", expect=1)
        page = self.read("r.html").decode()
        self.assertIn("Trend over runs", page)
        self.assertIn("The last 4 runs", page)
        self.assertIn(self.store, page)

    def test_the_summary_keeps_what_the_step_wrote_before(self):
        self.run_audit(*AXIS)
        self.write("summary.md", "# Before")
        self.isobit("report", "latest", "--store", self.store, "--summary", "summary.md", expect=0)
        self.isobit("report", "latest", "--store", self.store, "--summary", "summary.md", expect=0)
        text = self.read("summary.md").decode()
        self.assertTrue(text.startswith("# Before\n**PASS at level 2"))
        self.assertEqual(text.count("**PASS at level 2"), 2)
        self.write("summary.md", "x" * (1 << 20))
        self.assertIn("1048576 bytes", self.isobit("report", "latest", "--store", self.store, "--summary", "summary.md", expect=3).err)
        self.assertEqual(self.read("summary.md"), b"x" * (1 << 20))

    def test_an_upgrade_writes_them_too(self):
        self.write("a.json", '{"label": "a", "isa": "best"}')
        self.write("b.json", '{"label": "b", "isa": "portable"}')
        result = self.isobit("gate", "--upgrade", "a.json", "b.json", "--model", TINY, "--max-tokens", "4", "--store", self.store, *OUTPUTS, "--github")
        if result.code == 2:
            self.fail(result.err)
        self.assertEqual(result.code, 0, result.err)
        self.assertEqual({c[1]["file"] for c in runner_commands(result.err)}, {"b.json"})
        self.hold_to_schemas()


class BytesThatAreNotText(FormatsTest):
    """A label of such bytes is shown by them in every JSON, as it is everywhere else."""

    def test_two_labels_that_differ_in_such_a_byte_are_told_apart_wherever_json_has_them(self):
        for label in (b"a\xff", b"a\xfe"):
            self.run_audit(*AXIS, "--label", os.fsdecode(label))
        shown = ["a\\xff", "a\\xfe"]
        self.gate("-o", "r.json", "-o", "r.md", expect=0)
        comparison = json.loads(self.read("r.json"))["comparison"]
        self.assertEqual([comparison["base"]["label"], comparison["candidate"]["label"]], shown)
        rows = self.isobit("store", "query", "SELECT label FROM run ORDER BY run_key", "--store", self.store, "--json", expect=0).json
        self.assertEqual([row["label"] for row in rows], shown)
        compared = self.isobit("compare", "latest~1", "latest", "--store", self.store, "--json", expect=0).json
        self.assertEqual([compared["base"]["label"], compared["candidate"]["label"]], shown)
        self.assertIn(b"a&#92;xff", self.read("r.md"))


class Refusals(FormatsTest):
    def test_2_for_a_format_that_does_not_exist_with_the_nearest_one_and_before_any_work(self):
        for name, word in (("r.xml", "did you mean '.junit.xml'?"), ("r.sarf", "did you mean '.sarif'?"), ("report", "use .html .md"), ("r.pdf", "use .html .md")):
            for command in (("report", "latest"), ("gate", "latest", "latest")):
                self.assertIn(word, self.isobit(*command, "--store", "none.db", "-o", name, expect=2).err)
        for option in ("--summary", "--location"):
            self.isobit("report", "latest", "--store", "none.db", option, "", expect=2)
        self.assertEqual(os.listdir(self.folder), [])

    def test_2_for_a_location_outside_the_repository_before_any_work(self):
        for location in ("../../etc/passwd", "/etc/passwd", "a/../../b.json", "..", "./../x.json"):
            for command in (("report", "latest"), ("gate", "latest", "latest")):
                err = " ".join(self.isobit(*command, "--store", "none.db", "-o", "r.sarif", "--location", location, expect=2).err.split())
                self.assertIn(f"--location '{location}' is no file of the repository", err)
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_policy_is_shown_by_its_path_from_here_and_not_at_all_where_it_lies_elsewhere(self):
        for _ in range(2):
            self.run_audit(*AXIS)
        elsewhere = tempfile.mkdtemp(prefix="isobit-policy-")
        self.addCleanup(shutil.rmtree, elsewhere, True)
        text = '{"name": "p", "level": 1, "coverage": {"min_prompts": 64}}'
        os.mkdir(self.path("deploy"))
        for path, location in ((self.path("deploy/p.json"), "deploy/p.json"), ("deploy/../deploy/p.json", "deploy/p.json"), (os.path.join(elsewhere, "p.json"), "isobit.json")):
            with open(os.path.join(self.folder, path), "w", encoding="utf-8") as f:
                f.write(text)
            self.gate("--policy", path, "-o", "r.sarif", expect=5)
            results = json.loads(self.read("r.sarif"))["runs"][0]["results"]
            self.assertEqual({r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in results}, {location})

    def test_2_for_one_file_named_twice_and_nothing_is_written(self):
        self.two_runs()
        os.mkdir(self.path("d"))
        for twice in (("-o", "r.md", "-o", "r.md"), ("-o", "r.html", "-o", "d/../r.html")):
            self.assertIn("twice", self.gate(*twice, expect=2).err)
            self.assertIn("twice", self.isobit("report", "latest", "--store", self.store, *twice, expect=2).err)
        self.assertFalse(os.path.exists(self.path("r.md")) or os.path.exists(self.path("r.html")))

    def test_3_for_a_folder_that_is_not_there_or_cannot_be_written_to(self):
        self.run_audit()
        os.mkdir(self.path("locked"), 0o555)
        folders = ["no/such"] + (["locked"] if os.geteuid() != 0 else [])  # root may write anywhere
        for folder in folders:
            for option in ("-o", "--summary"):
                err = self.isobit("report", "latest", "--store", self.store, "-o", "first.md", option, folder + "/r.md", expect=3).err
                self.assertIn(folder + "/r.md", err)
        self.assertEqual(sorted(os.listdir(self.folder)), ["locked", "s.db"], "the first file is not written where the second cannot be")

    def test_3_for_a_full_disk_and_the_old_file_stays(self):
        self.run_audit(*AXIS)
        for name in FILES:
            self.write(name, "old")
            limit = 64

            def full(limit=limit):
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

            result = self.isobit("report", "latest", "--store", self.store, "-o", name, preexec_fn=full)
            if name == "r.gl.json":  # "[]": fits any disk
                self.assertEqual((result.code, self.read(name)), (0, b"[]\n"))
                continue
            self.assertEqual(result.code, 3, name + result.err)
            self.assertRegex(result.err, "cannot write '.*" + re.escape(name))
            self.assertEqual(self.read(name), b"old")
        self.assertEqual(sorted(os.listdir(self.folder)), sorted([*FILES, "s.db"]), "no temporary file is left")

    def test_3_for_a_device_behind_a_link(self):
        self.run_audit()
        os.symlink("/dev/full", self.path("r.md"))
        self.assertIn("not a regular file", self.isobit("report", "latest", "--store", self.store, "-o", "r.md", expect=3).err)
        self.assertTrue(os.path.islink(self.path("r.md")))


class ReportPage(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


class Hostile(FormatsTest):
    def poison(self, text):
        """`text` wherever a store takes some. Names of cells and values, prompts' ids and the fingerprint are held to the plan and to digests when a store is read:
        hostile ids come with the prompts, and tests/report puts hostile text into the others."""
        with sqlite3.connect(self.store) as database:
            database.execute("PRAGMA foreign_keys = OFF")
            database.execute("PRAGMA ignore_check_constraints = ON")
            put = lambda sql: database.execute(sql.replace("TEXT", "CAST(:t AS TEXT)"), {"t": text})
            put("UPDATE run SET label = TEXT, target = TEXT")
            put("UPDATE request SET prompt_text = TEXT")
            put("UPDATE sample SET text = TEXT")
            put("UPDATE cell SET not_exercised_reason = TEXT")
            database.execute("UPDATE cell SET exercised = 0 WHERE cell_index = 2")

    def written(self, text):
        for name in ("s.db", "s.db-wal", "s.db-shm"):
            if os.path.exists(self.path(name)):
                os.unlink(self.path(name))
        with open(self.path("s.db"), "wb") as out:
            out.write(self.clean_store)
        self.flip_a_token()
        self.poison(text)
        name = text.decode("utf-8", "replace").replace("/", "_").replace("\0", "")[:40].encode()
        policy = self.write("p.json", json.dumps({
            "name": text.decode("utf-8", "replace")[:200], "level": 1,
            "rules": [{"id": "rule " + text.decode("utf-8", "replace")[:200], "metric": "token_flips", "max": 0, "scope": "cell"}]}))
        result = self.gate("--policy", policy, *OUTPUTS, "--github", "--summary", "summary.md", "--location", name)
        self.assertIn(result.code, (1, 2), result.err)
        if result.code == 2:  # a name that a policy may not have
            self.assertIn("p.json", result.err)
            result = self.gate(*OUTPUTS, "--github", "--summary", "summary.md", "--location", name, expect=1)
        return result

    def test_nothing_breaks_out_and_nothing_is_lost(self):
        ids = [text.decode("utf-8", "replace")[:200] for text in HOSTILE]
        prompts = self.write("p.jsonl", "".join(json.dumps({"id": i, "prompt": "In the beginning " + i[:20], "tags": [i]}) + "\n" for i in ids))
        for _ in range(2):
            self.run_audit("--axis", "load.concurrency=1,8,9", "--prompts", prompts)
        self.clean_store = self.read("s.db")
        for text in HOSTILE:
            with self.subTest(text[:40]):
                result = self.written(text)
                self.terminal(result)
                self.markdown()
                self.json_and_csv(text)
                self.junit()
                self.code_hosts()
                self.page()
                self.hold_outside()

    def terminal(self, result):
        for stream in (result.out, result.err):
            self.assertNotRegex(stream, "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202e\u2066]")
        commands = list(runner_commands(result.out + result.err))
        self.assertLessEqual({c[0] for c in commands}, {"error", "warning", "notice"})
        self.assertEqual([c for c in commands if not c[1].get("title", "").startswith("isobit")], [])
        self.assertLessEqual(len(commands), 30)
        self.assertNotRegex(result.out + result.err, r"##\[|##vso\[|##teamcity\[")

    def markdown(self):
        text = self.read("r.md").decode()
        self.assertLessEqual(len(text), 65536)
        self.assertLessEqual(set(re.findall(r"<[^>]*>", text)), {"<code>", "</code>", "<details>", "</details>", "<summary>", "</summary>"})
        self.assertNotRegex(text, r"\]\(|`|@everyone|https:")
        self.assertEqual(list(runner_commands(text)), [])

    def json_and_csv(self, text):
        value = json.loads(self.read("r.json"))
        whole = text.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")
        self.assertEqual(value["comparison"]["candidate"]["label"], whole, "nothing is cut from it")
        rows = list(csv.reader(io.StringIO(self.read("r.csv").decode(), newline="")))
        self.assertEqual({len(row) for row in rows}, {len(rows[0])})
        self.assertEqual(len(rows), 1 + 3 * len(HOSTILE))
        for row in rows[1:]:
            for field in row:
                if re.match(r"^\s*[=+@\-\t\r]", field):
                    float(field)
        self.assertNotRegex(self.read("r.csv").decode(), "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")

    def junit(self):
        suites = ElementTree.fromstring(self.read("r.junit.xml"))
        self.assertEqual([s.get("name") for s in suites], ["isobit.verdict", "isobit.rules", "isobit.cells"])
        cells = suites[2].findall("testcase")
        self.assertEqual(len(cells), 3)
        self.assertEqual(len({c.get("name") for c in cells}), 3, "names that differ still do")
        self.assertLess(len(self.read("r.junit.xml")), 1 << 20)

    def code_hosts(self):
        log = json.loads(self.read("r.sarif"))
        self.assertGreater(len(log["runs"][0]["results"]), 0)
        for result in log["runs"][0]["results"]:
            self.assertNotIn("](", result["message"]["text"])
            self.assertRegex(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], r"^[A-Za-z0-9._~/%-]+$")
        check_code_quality(self, json.loads(self.read("r.gl.json")), tree_path=False)
        self.assertLess(len(self.read("r.sarif")), 1 << 20)
        series = [line.rsplit(b" ", 1)[0] for line in self.read("r.prom").splitlines() if not line.startswith(b"#")]
        self.assertEqual(len(series), len(set(series)))
        self.assertTrue(all(line.startswith(b"isobit_") for line in series))
        self.assertIn(b',outcome="fail"} 1', self.read("r.prom"))
        self.assertIn(b',outcome="pass"} 0', self.read("r.prom"))

    def page(self):
        page = ReportPage()
        page.feed(self.read("r.html").decode())
        for tag, attributes in page.tags:
            self.assertNotIn(tag, ("img", "iframe", "object", "embed", "link"))
            self.assertEqual([a for a in attributes if a.startswith("on")], [])
            self.assertFalse(str(attributes.get("href", "#")).lower().startswith(("javascript:", "http")), attributes)


if __name__ == "__main__":
    unittest.main()
