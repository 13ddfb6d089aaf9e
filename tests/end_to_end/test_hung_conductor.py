"""A conductor that lives and does not answer: it is seen, replaced without a person, and stops when it wakes."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from stories import SHAKEDOWN, MakeSite, Shakedown

from shakedown.cli.driving import driver_needed
from shakedown.events import lease
from shakedown.events.reader import read_events
from shakedown.model.layout import Layout

# Each run says that it was executed, and writes into its directory late: whoever tidies that up meanwhile is found out.
RUN = 'run: {time_limit: 30s, command: "echo $SHAKEDOWN_RUN >>{campaign}/../../executed; sleep 0.7; pwd >here"}\n'


def wait_until(holds: Callable[[], object], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


@pytest.fixture
def hung(make_site: MakeSite) -> Iterator[tuple[Path, subprocess.Popen[str]]]:
    """A campaign whose driver was stopped with runs under way and others waiting for cores."""
    site = make_site({"writers": RUN}, "repeats: 40, retry: {interrupted: 3}")
    driver = subprocess.Popen(
        [*SHAKEDOWN, "run", "p", "-q"], cwd=site, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    wait_until(lambda: (site / "executed").exists())
    driver.send_signal(signal.SIGSTOP)
    yield site, driver
    driver.kill()
    driver.communicate()


def silent_for(layout: Layout, seconds: float) -> None:
    """It last beat so long ago."""
    then = time.time() - seconds
    os.utime(layout.lease / "000001.json", (then, then))


def test_status_says_as_of_when_and_how_it_is_replaced(
    hung: tuple[Path, subprocess.Popen[str]], shakedown: Shakedown
) -> None:
    site, _ = hung
    silent_for(Layout(site / "campaigns/p-1"), 75)
    words = shakedown("status", "p-1", cwd=site).stdout
    assert "its conductor has not answered for 1 min 1" in words
    assert "what follows is as of then" in words
    assert "after 3 min 00 s shakedown resume --if-needed replaces it" in words
    assert 75 <= json.loads(shakedown("status", "p-1", "--json", cwd=site).stdout)["silent_s"] < 120


def test_one_elsewhere_whose_heartbeat_lies_in_the_future_is_replaced_where_it_does_not_beat(
    hung: tuple[Path, subprocess.Popen[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    layout = Layout(hung[0] / "campaigns/p-1")
    held = lease.holder(layout)
    assert held is not None
    elsewhere = dataclasses.replace(held, alive=None, locked=None, beat_age_s=-30 * 86400.0)
    monkeypatch.setattr(lease, "holder", lambda layout: elsewhere)
    looks: list[float] = []
    monkeypatch.setattr(lease.stays_silent, "__defaults__", (looks.append,))
    assert driver_needed(layout) == "take over"
    assert looks == [lease.STALE_S + lease.BEAT_S]
    monkeypatch.setattr(lease.stays_silent, "__defaults__", (lambda seconds: silent_for(layout, -99),))
    assert driver_needed(layout) == "", "it beat while we looked"


def test_it_is_replaced_runs_nothing_twice_and_stops_when_it_wakes(
    hung: tuple[Path, subprocess.Popen[str]], shakedown: Shakedown, monkeypatch: pytest.MonkeyPatch
) -> None:
    site, driver = hung
    layout = Layout(site / "campaigns/p-1")
    looks: list[float] = []
    monkeypatch.setattr(lease.stays_silent, "__defaults__", (looks.append,))
    assert driver_needed(layout) == "", "it answered a moment ago"
    silent_for(layout, 200)
    assert driver_needed(layout) == "take over"
    assert looks and min(looks) > 2 * lease.BEAT_S
    monkeypatch.setattr(lease.stays_silent, "__defaults__", (lambda seconds: silent_for(layout, 199),))
    assert driver_needed(layout) == "", "it beat while we looked: only the clock was set"

    second = subprocess.Popen([*SHAKEDOWN, "resume", "p-1", "--take-over", "-q"], cwd=site, stdout=subprocess.DEVNULL)
    wait_until(lambda: len(Path(site / "executed").read_text().split()) > 8)
    driver.send_signal(signal.SIGCONT)
    said = driver.communicate(timeout=60)[0]
    assert driver.returncode == 2
    assert "this conductor lost campaign p-1" in said
    assert second.wait(120) == 0

    executed = Counter((site / "executed").read_text().split())
    assert set(executed.values()) == {1}, executed.most_common(3)
    events = list(read_events(layout.log))
    ends = Counter(event.value["verdict"] for event in events if event.event == "verdict")
    assert ends["passed"] == 40
    assert set(ends) <= {"passed", "interrupted"}
    [took_over] = [event for event in events if event.event == "driver_start" and "replaced" in event.value]
    assert f"(pid {driver.pid})" in took_over.value["replaced"]
