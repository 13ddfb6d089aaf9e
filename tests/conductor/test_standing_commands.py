"""Standing orders as a person gives them: recorded at once where nobody drives, carried out by a driver, refused in a sentence."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import warm_commands
from stories import SHAKEDOWN

from shakedown.conductor.commands.offline import carry_out
from shakedown.engine import State
from shakedown.events.lease import Lease
from shakedown.events.reader import read_events
from shakedown.model.layout import Layout
from shakedown.queries.status import look, status

PLAN = """\
plan: p
system: here
limits: {copies: {nap: 3}}
components:
  - vendor:
      procedures: [{name: cables, about: every cable is labelled, who: vendor}]
  - functionality: {tests: [nap, other], after: [vendor]}
  - stability: {tests: [nap, other], duration: 10h, after: [vendor]}
"""
Run = Callable[..., "subprocess.CompletedProcess[str]"]
WHO = ("--by", "Ada", "--because", "so it was seen")


def until(holds: Callable[[], Any]) -> Any:
    """Wait for a condition, for as long as a loaded machine may need."""
    limit = time.monotonic() + 120
    while time.monotonic() < limit:
        found = holds()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError("it never came to that")


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site whose campaign ``p-1`` waits for an attestation; its conductor has left."""
    site = tmp_path_factory.mktemp("standing") / "site"
    for folder in ("tests", "plans", "systems", "campaigns"):
        (site / folder).mkdir(parents=True)
    (site / "site.yaml").write_text("site: story\n")
    for name in ("nap", "other"):
        (site / f"tests/{name}.yaml").write_text(f'test: {name}\nrun: {{command: "sleep 0.2"}}\n')
    (site / "plans/p.yaml").write_text(PLAN)
    environment = os.environ | {"XDG_CACHE_HOME": str(site.parent / "cache")}
    with subprocess.Popen([*SHAKEDOWN, "run", "p", "-q"], cwd=site, env=environment) as driver:
        layout = Layout(site / "campaigns/p-1")
        until(lambda: layout.log.is_dir() and any(e.event == "waiting" for e in read_events(layout.log)))
        driver.send_signal(signal.SIGTERM)
        driver.wait(120)
    return site


@pytest.fixture
def site(left: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(left, tmp_path / "site", symlinks=True))


def run(site: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return warm_commands.run(
        words,
        cwd=site,
        env=os.environ | {"COLUMNS": "80", "XDG_CACHE_HOME": str(site.parent / "cache")},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )


def state_of(site: Path) -> State:
    return look(Layout(site / "campaigns/p-1"))


def test_each_order_is_recorded_told_and_lifted(site: Path) -> None:
    """The whole story of one evening, by the commands alone."""
    done = run(site, "pause", "--component", "stability", "--cause", "site", *WHO)
    assert (done.returncode, done.stderr) == (0, "")
    first, hint = done.stdout.splitlines()
    assert first.startswith("component stability is paused (site); recorded in p-1: event ")
    assert hint == "hint: nobody drives p-1; go on with: shakedown resume p-1"
    assert run(site, "cap", "other", "1", *WHO).stdout.startswith("other is capped at 1 at once; recorded")
    assert run(site, "drain", "--component", "functionality", *WHO).returncode == 0

    told = status(Layout(site / "campaigns/p-1"))["standing"]
    assert [sentence.partition(" by Ada ")[0] for sentence in told] == [
        "component stability is paused",
        "component functionality was drained",
        "other is capped at 1 at once",
    ]
    page = run(site, "status").stdout
    assert all(f"standing order: {sentence}" in page for sentence in told)

    assert run(site, "resume", "--component", "stability", *WHO).stdout.startswith(
        "component stability goes on; recorded"
    )
    assert run(site, "cap", "p-1", "other", "none", *WHO).stdout.startswith("the cap on other is lifted; recorded")
    state = state_of(site)
    assert (state.overrides.paused, state.overrides.caps, list(state.overrides.draining)) == ({}, {}, ["functionality"])
    events = [
        e for e in read_events(Layout(site / "campaigns/p-1").log) if e.event in ("paused", "capped", "continued")
    ]
    assert {(e.value["by"], e.reason) for e in events} == {("Ada", "so it was seen")}
    log = run(site, "log", "--event", "paused").stdout
    assert "so it was seen" in log


def test_a_driver_takes_an_order_up_and_ends_when_all_is_drained(site: Path) -> None:
    run(site, "attest", "vendor", "cables", "--met", *WHO)
    with subprocess.Popen([*SHAKEDOWN, "resume", "-q"], cwd=site) as driver:
        layout = Layout(site / "campaigns/p-1")
        try:
            until(lambda: any(e.event == "verdict" for e in read_events(layout.log)))
            done = run(site, "drain", *WHO)
            assert done.returncode == 0
            assert "the campaign is drained: what runs may end, nothing new is ordered" in done.stdout
            driver.wait(120)
        finally:
            driver.kill()
    events = list(read_events(layout.log))
    said = next(e.seq for e in events if e.event == "drain_request")
    assert [e for e in events if e.event == "submit_order" and e.seq > said] == []
    assert events[-1].event in ("campaign_end", "driver_stop")
    assert any(e.event == "campaign_end" for e in events)
    assert next(e for e in events if e.value.get("kind") == "time_is_up").reason.startswith(
        "the campaign was drained by Ada"
    )


def test_orders_as_json(site: Path) -> None:
    done = run(site, "cap", "nap", "2", *WHO, "--json")
    data = json.loads(done.stdout)
    assert data["orders"] == [{"test": "nap", "copies": "2", "by": "Ada"}]
    assert (data["campaign"], len(data["recorded"])) == ("p-1", 1)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["pause", "--component", "stabilty"],
            "the plan in force has no component 'stabilty'\nhint: did you mean 'stability'?",
        ),
        (
            ["pause", "--component", "stability", "--from", "06:00"],
            "--from '06:00' is no time\nhint: such as 2026-11-22T06:00Z",
        ),
        (
            ["pause", "--component", "stability", "--from", "2026-11-22 06:00"],
            "--from '2026-11-22 06:00' does not say in which zone\nhint: '2026-11-22 06:00Z' is in UTC",
        ),
        (
            ["pause", "--component", "stability", "--from", "2020-01-01T00:00Z"],
            "the campaign began on 2",
        ),
        (["pause", "--component", "functionality", "--from", "2020-01-01T00:00Z"], "has no clock"),
        (["pause", "--component", "stability", "--cause", "weather"], "'weather' is not one of"),
        (["resume", "--component", "stability"], "--by is missing\nhint: who and why are kept in the record"),
        (
            ["resume", "--component", "stability", *WHO],
            "component stability is not paused\nhint: shakedown status says",
        ),
        (
            ["resume", "--component", "stability", "--detach", *WHO],
            "--detach drives a campaign; --component and --case do not",
        ),
        (["resume", "--case", "nap", *WHO], "case nap is not stopped\nhint: no case is"),
        (["resume", "--by", "Ada"], "--by and --because go with --component or --case"),
        (["cap", "nap"], "1 name is given\nhint: shakedown cap [CAMPAIGN] TEST N|none"),
        (["cap", "nop", "2"], "the plan in force runs no test 'nop'\nhint: did you mean 'nap'?"),
        (["cap", "nap", "4"], "the plan allows 3 runs of nap at once; a cap holds less\nhint: amend the plan for more"),
        (["cap", "nap", "many"], "'many' is not a number of runs"),
        (["cap", "nap", "-1"], "No such option"),
        (["cap", "nap", "none"], "nap is not capped"),
        (["budget", "fs/mdt", "3"], "has no budget 'fs/mdt'\nhint: it has none"),
        (["exclude", "n[1-"], "'n[1-' is no set of nodes"),
        (["exclude", "n[1-9999999999]"], "is no set of nodes"),
        (["exclude", "n7"], "has no node 'n7'"),
        (["include", "n7"], "n7 is not excluded\nhint: no node is"),
        (["drain", "--component", "vendor"], "component vendor is over; there is nothing left to order"),
        (
            ["clock", "jump", "--component", "stability"],
            "a clock has no command 'jump'\nhint: there are start, stop, go-on",
        ),
        (
            ["clock", "start", "--component", "stability"],
            "the clock of component stability starts with its first order",
        ),
        (["clock", "stop", "--component", "stability"], "the clock of component stability has not started yet"),
        (
            ["clock", "stop", "--component", "vendor"],
            "component vendor has no clock",
        ),
        (["clock", "stop", "--component", "stability", "--until", "2026-11-22T08:00Z"], "--until without --from"),
        (["clock", "go-on", "--component", "stability", "--until", "2026-11-22T08:00Z"], "it goes with: clock stop"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_recorded(left: Path, words: list[str], said: str) -> None:
    before = state_of(left).seq
    who = [] if words[0] == "resume" else WHO
    done = run(left, *words, *who)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert state_of(left).seq == before


def test_an_order_that_still_waits_for_the_conductor_is_taken_back_at_once(site: Path) -> None:
    layout = Layout(site / "campaigns/p-1")
    orders = (
        ("cap", "nap", "1"),
        ("cap", "nap", "none"),
        ("pause", "--component", "stability"),
        ("resume", "--component", "stability"),
    )
    with Lease.acquire(layout):  # a conductor that is busy with something else
        assert run(site, "cap", "nap", "none", *WHO).stderr.startswith("error: nap is not capped")
        for words in orders:
            done = run(site, *words, *WHO)
            assert (done.returncode, done.stderr) == (0, "")
            assert "left for the conductor" in done.stdout
        assert run(site, "cap", "nap", "none", *WHO).stderr.startswith("error: nap is not capped")
    assert [event.event for event in carry_out(layout)] == ["capped", "capped", "paused", "continued"]
