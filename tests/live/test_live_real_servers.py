"""Feeds to the real InfluxDB and VictoriaMetrics of Debian: they are killed, and so is the feed; nothing is lost, nothing twice."""

from __future__ import annotations

import json
import signal
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from real_servers import Server, needs_influx, needs_victoria
from stories import SHAKEDOWN

from shakedown.events.reader import read_events
from shakedown.model.layout import Layout


def _asked(influx: Server, question: str) -> list[list[Any]]:
    words = urllib.parse.urlencode({"db": "acceptance", "q": question})
    found = json.loads(influx.ask(f"/query?{words}"))["results"][0].get("series", [])
    return [row for one in found for row in one["values"]]


@needs_influx
def test_influx_holds_every_event_once_after_kills_of_both(
    site: Path, people: Callable[..., subprocess.CompletedProcess[str]], influx: Server, tmp_path: Path
) -> None:
    for number in range(20):
        people(site, "change", "p-1", "--by", 'A,d=a "\\ b', "--because", f'line {number}\nof "two", a=b \\')
    words = ["feed", "influx", f"{influx.address}/write?db=acceptance", "--position", str(tmp_path / "place")]
    influx.kill()
    done = people(site, *words, "--once")
    assert done.returncode == 4 and "nothing is lost" in done.stderr
    feed = subprocess.Popen([*SHAKEDOWN, *words], cwd=site, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert feed.stderr is not None
    assert "nothing is lost" in feed.stderr.readline()  # it waits for the server
    influx.start()
    assert "takes it again" in feed.stderr.readline()
    feed.kill()
    feed.communicate()
    people(site, "run", "p", "-q")
    assert people(site, *words, "--once").returncode == 0
    (tmp_path / "place").unlink()  # all of it once more: the server keeps one point for it
    feed = subprocess.Popen([*SHAKEDOWN, *words], cwd=site, stdout=subprocess.PIPE, text=True)
    while (
        sum(row[1] for row in _asked(influx, "SELECT COUNT(seq) FROM shakedown_event")) == 0
        or not (tmp_path / "place").exists()
    ):
        assert feed.poll() is None
    feed.send_signal(signal.SIGINT)
    assert feed.wait(60) == 0 and "events read" in (feed.stdout.read() if feed.stdout else "")
    feed.communicate()
    assert people(site, *words, "--once").returncode == 0
    done = people(site, *words[:-1], str(tmp_path / "olcf"), "--names", "olcf", "--once")
    assert done.returncode == 0, done.stderr
    checks = _asked(
        influx, "SELECT event_value, app, test_id FROM events WHERE event_name = 'check_end' AND runtag = 'p-2'"
    )
    assert sorted(row[1:] for row in checks) == [
        ["0", "ok", "p-2.r000001"], ["0", "ok", "p-2.r000003"], ["1", "bad", "p-2.r000002"], ["1", "bad", "p-2.r000004"],
    ]  # fmt: skip
    for name in ("p-1", "p-2"):
        events = list(read_events(Layout(site / "campaigns" / name).log))
        rows = _asked(influx, f"SELECT seq, reason FROM shakedown_event WHERE campaign = '{name}'")
        assert sorted(row[1] for row in rows) == [event.seq for event in events]
        told = {row[1]: row[2] for row in rows}
        changed = [event for event in events if event.event == "changed"]
        assert len(changed) == (20 if name == "p-1" else 0)
        assert [told[event.seq] for event in changed] == [event.reason.replace("\n", "\\n") for event in changed]
        verdicts = _asked(influx, f"SELECT run, verdict FROM shakedown_run WHERE campaign = '{name}'")
        assert sorted(row[1:] for row in verdicts) == [
            ["r000001", "passed"], ["r000002", "failed"], ["r000003", "passed"], ["r000004", "failed"],
        ]  # fmt: skip


@needs_victoria
def test_victoria_metrics_holds_every_event_once(
    site: Path, people: Callable[..., subprocess.CompletedProcess[str]], victoria: Server, tmp_path: Path
) -> None:
    words = [
        "feed",
        "influx",
        f"{victoria.address}/write?db=acceptance",
        "--position",
        str(tmp_path / "place"),
        "--once",
    ]
    assert people(site, *words).returncode == 0
    (tmp_path / "place").unlink()
    assert people(site, *words).returncode == 0
    victoria.ask("/internal/force_flush")
    found = victoria.ask("/api/v1/export?match[]=shakedown_event_seq&reduce_mem_usage=1").decode().splitlines()
    seqs = {int(value) for line in found for value in json.loads(line)["values"]}
    assert seqs == {event.seq for event in read_events(Layout(site / "campaigns/p-1").log)}
