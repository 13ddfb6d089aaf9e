"""A gate that is waived where the plan asks for consent opens once the other party agreed; said to a conductor that drives."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import warm_commands
from stories import SHAKEDOWN

LIMIT_S = 150.0
PLAN = """plan: p
system: here
parties: {site: [Ada], vendor: [Bo]}
consent: [waive]
components:
  - functionality: {tests: [bad]}
  - performance: {tests: [ok], after: functionality, gate: met}
"""


def run(site: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"COLUMNS": "80"}
    return warm_commands.run(
        words, cwd=site, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )


def events(site: Path) -> list[dict[str, Any]]:
    logs = sorted((site / "campaigns/p-1/log").glob("*.jsonl")) if (site / "campaigns/p-1").exists() else []
    lines = [line for log in logs for line in log.read_bytes().split(b"\n")[:-1]]
    return [event for event in map(json.loads, lines) if "event" in event]


def until(site: Path, name: str, count: int = 1) -> int:
    """The number of the last of so many events of a name, once they are there."""
    end = time.monotonic() + LIMIT_S
    while time.monotonic() < end:
        found = [event["seq"] for event in events(site) if event["event"] == name]
        if len(found) >= count:
            return int(found[count - 1])
        time.sleep(0.05)
    raise AssertionError(f"no {count} events {name}")


def test_consent_opens_a_gate_and_a_withdrawn_waiver_does_not(tmp_path: Path) -> None:
    for folder in ("tests", "plans", "systems", "campaigns"):
        (tmp_path / folder).mkdir()
    (tmp_path / "site.yaml").write_text("site: gates\n")
    (tmp_path / "tests/ok.yaml").write_text('test: ok\nrun: {command: "echo fine"}\n')
    (tmp_path / "tests/bad.yaml").write_text('test: bad\nrun: {command: "exit 3"}\n')
    (tmp_path / "plans/p.yaml").write_text(PLAN)
    driver = subprocess.Popen(
        [*SHAKEDOWN, "run", "p", "-q"], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        until(tmp_path, "component_outcome")
        words = ("functionality", "--gate", "--restriction", "no bad", "--by", "Ada", "--because", "later")
        for count in (1, 2):
            assert run(tmp_path, "waive", *words).returncode == 0
            waived = until(tmp_path, "waived", count)
            if count == 1:
                assert run(tmp_path, "withdraw", str(waived), "--by", "Ada", "--because", "no").returncode == 0
                until(tmp_path, "withdrawn")
        assert run(tmp_path, "agree", str(waived), "--by", "Bo", "--because", "fair").returncode == 0
        agreed = until(tmp_path, "agreed")
        assert driver.wait(LIMIT_S) == 1
    finally:
        driver.kill()
        driver.wait()
    orders = [event for event in events(tmp_path) if event["event"] == "submit_order"]
    assert [event["value"]["component"] for event in orders] == ["functionality", "performance"]
    assert orders[1]["seq"] > agreed
    gates = [event["value"].get("gates") for event in events(tmp_path) if event["event"] in ("withdrawn", "agreed")]
    assert gates == [["functionality"], {"functionality": "later"}]
