"""The counts of ``status`` and of the report are the same, whatever a component is."""

from __future__ import annotations

import json
from collections import Counter

from stories import MakeSite, Shakedown

TESTS = {
    "a": "parameters: {code: [0, 1]}\nrun: {command: 'exit {code}'}\n",
    "wide": "run: {command: 'true', nodes: 5}\n",
}
PLAN = """\
plan: p
system: here
unavailable: restrict
components:
  - functionality: {name: some-cannot-run, tests: [a, wide], repeats: 3}
  - functionality: {name: rounds, tests: [a], sweep: {rounds: 2}}
  - functionality: {name: pack, tests: [a], repeats: 2, pack: {runs: 3}}
  - performance: {name: warm, tests: [a], modes: {isolated: {repeats: 2, warm_up: 1}}}
"""


def test_status_and_report_count_the_same_results(make_site: MakeSite, shakedown: Shakedown) -> None:
    site = make_site(TESTS)
    (site / "plans/p.yaml").write_text(PLAN)
    assert shakedown("run", "p", "-q", cwd=site).returncode == 1
    status = json.loads(shakedown("status", "--json", cwd=site).stdout)
    report = json.loads(shakedown("report", "--json", "--no-pdf", cwd=site).stdout)
    runs = json.loads(shakedown("runs", "--json", cwd=site).stdout)["judged"]
    counted = {one["name"]: one["wanted"] for one in report["components"]}
    assert counted == {"some-cannot-run": 6, "rounds": 4, "pack": 4, "warm": 4}
    assert {one["name"]: one["wanted"] - one["warm_up"] - one["filler"] for one in status["components"]} == counted
    assert all(one["wanted"] == one["closed"] for one in status["components"])
    ran = Counter(run["component"] for run in runs if run.get("mode") != "warm-up")
    assert ran == counted, "each of them ran, as often as it is wanted"
    assert not any(one["to_come"] for one in report["components"])
    said = shakedown("status", cwd=site).stdout
    assert "warm: of the wanted results 2 warm up, and are in no count of the report" in said
