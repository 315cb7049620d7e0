"""examples/monitoring: the alerts fire on planted faults and not on clean figures, and alerts, dashboard and page name only what the program writes."""

import json
import os
import re
import shlex
import unittest

from outside_schemas import accepted, tool
from program import SOURCE, TINY, ProgramTest

MONITORING = os.path.join(SOURCE, "examples", "monitoring")
NOT_OURS = {"node_textfile_mtime_seconds", "node_exporter"}


def text_of(*parts):
    with open(os.path.join(*parts), encoding="utf-8") as f:
        return f.read()


class Monitoring(ProgramTest):
    def source_metrics(self):
        """Of the program's source: a run on this machine need not have all of them."""
        return set(re.findall(r'"(isobit_[a-z0-9_]+)"', text_of(SOURCE, "lib", "report", "report_prom.cc")))

    def dashboard(self):
        return json.loads(text_of(MONITORING, "isobit-dashboard.json"))

    def expressions(self):
        return [target["expr"] for panel in self.dashboard()["panels"] for target in panel["targets"]]

    def test_the_page_says_what_to_run_and_it_runs(self):
        block = re.search(r"^```\n(.*?)^```", text_of(MONITORING, "README.md"), re.M | re.S)[1]
        lines = [line for line in block.splitlines() if line]
        self.assertEqual(len(lines), 2)
        self.isobit("run", TINY, "--axis", "load.concurrency=1,8", expect=0)
        self.isobit("baseline", "set", "prod", "latest", expect=0)
        for line in lines:
            words = [TINY if w == "$MODEL" else w.replace("/var/lib/prometheus/node-exporter/", "") for w in shlex.split(line)]
            self.isobit(*words[1:], expect=0)
        written = set(re.findall(r"^(isobit_[a-z0-9_]+)\{", self.read("isobit-prod.prom").decode(), re.M))
        self.assertEqual(written - self.source_metrics(), set())
        self.assertEqual(self.source_metrics() - written, {"isobit_prefix_cache_hit_ratio"})
        self.assertIn(b'deployment="prod"', self.read("isobit-prod.prom"))

    def test_every_gauge_is_on_the_page_and_on_the_dashboard(self):
        metrics = self.source_metrics()
        self.assertGreaterEqual(len(metrics), 11)
        for where, text in (("README.md", text_of(MONITORING, "README.md")), ("dashboard", " ".join(self.expressions()))):
            named = set(re.findall(r"\bisobit_[a-z0-9_]+", text))
            self.assertEqual(named, metrics, where)
        alerts = set(re.findall(r"\b(?:isobit|node)_[a-z0-9_]+", text_of(MONITORING, "isobit-alerts.yml")))
        self.assertLessEqual(alerts - NOT_OURS, metrics)

    def test_the_dashboard_is_one_that_can_be_imported(self):
        """Grafana publishes no schema of dashboards that can be checked here: these are the members that an import needs, and what would look broken."""
        board = self.dashboard()
        self.assertTrue(board["title"] and board["uid"] and len(board["uid"]) <= 40)
        self.assertIsInstance(board["schemaVersion"], int)
        self.assertEqual({v["name"] for v in board["templating"]["list"]}, {"datasource", "deployment"})
        ids = [panel["id"] for panel in board["panels"]]
        self.assertEqual(len(ids), len(set(ids)))
        taken = set()
        for panel in board["panels"]:
            self.assertTrue(panel["title"] and panel["description"])
            place = panel["gridPos"]
            self.assertLessEqual(place["x"] + place["w"], 24)
            cells = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
            self.assertFalse(taken & cells, panel["title"] + " lies over another panel")
            taken |= cells

    def test_promtool_takes_the_rules_and_every_query_of_the_dashboard(self):
        promtool = tool(self, "promtool", "prometheus")
        accepted(self, [promtool, "check", "rules", os.path.join(MONITORING, "isobit-alerts.yml")])
        rules = [{"record": f"panel_query_{i}", "expr": e.replace("$deployment", "a")} for i, e in enumerate(self.expressions())]
        self.write("queries.yml", json.dumps({"groups": [{"name": "g", "rules": rules}]}))
        accepted(self, [promtool, "check", "rules", self.path("queries.yml")])

    def test_each_alert_fires_on_its_fault_and_stays_silent_for_the_clean_deployment(self):
        promtool = tool(self, "promtool", "prometheus")
        rules = os.path.join(MONITORING, "isobit-alerts.yml")
        test = text_of(SOURCE, "tests", "monitoring", "alerts_test.yml")
        alerts = re.findall(r"alert: (\w+)", text_of(rules))
        for alert in alerts:
            self.assertRegex(test, rf"alertname: {alert}\n +exp_alerts:")
        accepted(self, [promtool, "test", "rules", self.write("t.yml", test.replace("- RULES", "- " + rules))])


if __name__ == "__main__":
    unittest.main()
