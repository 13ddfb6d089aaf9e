"""``status`` says how a campaign comes out as of now, in the words of the scorecard and the page."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from shakedown.conductor.workers.settling import settled
from shakedown.events.looks import Looks
from shakedown.metrics.judging.scorecard import Scorecard, exit_status
from shakedown.model.layout import Layout
from shakedown.queries import outcome_now as module
from shakedown.queries.folds import Folds
from shakedown.queries.outcome_now import OutcomeNow, outcome_now

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_it_is_the_outcome_of_the_acts_and_the_report(site: Path, people: Run) -> None:
    for name, outcome, status in (("p-1", "rejected", 1), ("p-2", "accepted", 0)):
        said = json.loads(people(site, "status", name, "--json").stdout)
        acts = json.loads(people(site, "acts", name, "--json").stdout)
        assert (said["outcome"], said["exit_status"]) == (acts["outcome"], status) == (outcome, status)
        assert said["summary"] == acts["summary"]
        shown = people(site, "status", name).stdout.splitlines()
        assert f"outcome as of now: {acts['summary']}" in shown


def test_it_changes_with_what_people_do(site: Path, people: Run) -> None:
    words = ("waive", "functionality", "passed", "--restriction", "small jobs", "--by", "Ada", "--because", "agreed")
    done = people(site, *words, "--campaign", "p-1")
    assert done.returncode == 0, done.stderr
    said = json.loads(people(site, "status", "p-1", "--json").stdout)
    assert (said["outcome"], said["exit_status"]) == ("disputed", 4)
    assert said["summary"].startswith("disputed: accepted with restrictions if the waiver by Ada (event ")


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Each time that a campaign is settled."""
    seen: list[str] = []

    def settle(layout: Layout, *rest: object) -> Scorecard:
        seen.append(layout.root.name)
        return settled(layout)

    monkeypatch.setattr(module, "settle_campaign", settle)
    return seen


def _looked(layout: Layout) -> OutcomeNow | None:
    looks = Looks(layout)
    return outcome_now(Folds(layout, looks, worth=1))


def test_what_was_worked_out_is_kept_until_something_is_added(
    site: Path, people: Run, counted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    layout = Layout(site / "campaigns/p-1")
    card = settled(layout)
    wanted = OutcomeNow(card.outcome, card.summary, exit_status(card))
    assert [_looked(layout), _looked(layout)] == [wanted, wanted]
    assert counted == ["p-1"]
    people(site, "rule", "r000001", "--as", "site", "--by", "Bo", "--because", "a disk", "--campaign", "p-1")
    assert _looked(layout) == wanted and counted == ["p-1"] * 2


def test_of_a_long_campaign_that_goes_on_it_is_told_where_the_answer_is(
    site: Path, counted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(module, "LONG", 3)
    layout = Layout(site / "campaigns/p-2")
    for _ in range(2):
        said = _looked(layout)
        assert said is not None and (said.outcome, counted) == ("accepted", ["p-2"])  # it is over: worked out once
    said = outcome_now(Folds(layout))
    assert said is not None and (said.outcome, counted) == ("", ["p-2"])  # nothing could be kept
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another"))
    folds = Folds(layout, Looks(layout), worth=1)
    folds.record().ended = None
    said = outcome_now(folds)
    assert said is not None and (said.outcome, said.exit_status) == ("", 4)
    assert said.summary.endswith("shakedown acts p-2") and counted == ["p-2"]
