"""A run of this machine that ends while its conductor is gone, or cannot write: what ``status`` and its verdict say of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
import warm_commands
from stories import SHAKEDOWN, MakeSite
from tests.end_to_end.test_killed_and_resumed import wait_until

from shakedown.cli.status import _render
from shakedown.events.reader import read_events
from shakedown.metrics.rows.table import fold_runs
from shakedown.model.layout import Layout
from shakedown.queries import status as looking

TEST = 'run: {command: "[ -e $SHAKEDOWN_CAMPAIGN/../../go ] || exec sleep 300", time_limit: 600s}\n'


def running(log: Path) -> list[str]:
    """The process ids of the runs that were reported to run."""
    events = read_events(log) if log.exists() else ()
    return [event.value["id"] for event in events if event.value.get("state") == "running"]


def test_it_is_over_for_status_and_ended_unheard_for_its_verdict(
    make_site: MakeSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = make_site({"t": TEST})
    layout = Layout(site / "campaigns/p-1")
    conductor = subprocess.Popen([*SHAKEDOWN, "run", "p", "-q"], cwd=site)
    wait_until(lambda: running(layout.log))
    assert {run["phase"] for run in looking.status(layout)["live"]} >= {"running"}
    conductor.kill()
    conductor.wait()
    for name in running(layout.log):
        os.killpg(int(name.partition(":")[0]), signal.SIGKILL)
    wait_until(
        lambda: all(run["phase"] == "over" for run in looking.status(layout)["live"] if run["started"] is not None)
    )
    shown = warm_commands.run(["status", "p-1"], cwd=site, capture_output=True, text=True, check=True).stdout
    assert "it is over: its process is gone, and the record does not have its end yet" in shown

    monkeypatch.setattr(looking, "no_room", lambda place, least: f"the file system of {place} is full (0 B are free)")
    data = looking.status(layout) | {"driver": "", "silent_s": 0.0}
    assert (
        f"log is full (0 B are free): what happened since event {data['events']} may not be in the record yet"
        in _render(data)
    )

    (site / "go").touch()
    warm_commands.run(["resume", "p-1", "-q"], cwd=site, capture_output=True, timeout=120)
    rows = fold_runs(read_events(layout.log)).runs
    gone = [row for row in rows if row.verdict == "interrupted"]
    assert gone and {row.reason for row in gone} == {
        "it ended while no conductor was there, so nobody knows how; nothing of it is alive"
    }
    assert (
        json.loads(warm_commands.run(["status", "p-1", "--json"], cwd=site, capture_output=True, check=True).stdout)[
            "record_full"
        ]
        == ""
    )
