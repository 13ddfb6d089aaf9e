"""The faults of a rehearsal: every switch there is has a word, each word does what it says, and the plan survives all of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from pathlib import Path

import msgspec
import pytest
from rehearsal_plans import USUAL, Mixed, play, times
from stability_plan import machine

from shakedown.events.reader import read_events
from shakedown.model.errors import UsageError
from shakedown.model.scenario import Faults, Metadata, Scenario
from shakedown.rehearsal.faults import FAULTS, Troubles, fault_lines, troubles
from shakedown.twin.machine.outcomes import Lies

SYSTEM = machine(16)
GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "rehearse.md"


def asked(*words: str, scenario: Scenario | None = None) -> Troubles:
    return troubles(scenario or Scenario(metadata=(Metadata("f2/mdt"),)), words, SYSTEM)


def test_every_switch_has_a_word() -> None:
    """What each word changes, beside a rehearsal without faults, is all that can be changed."""
    usual, seen = asked(), set()
    for word in FAULTS:
        found = asked(word)
        seen |= {
            f"lies.{one.name}" for one in fields(Lies) if getattr(found.lies, one.name) != getattr(usual.lies, one.name)
        }
        before, after = usual.scenario.faults, found.scenario.faults
        seen |= {f"faults.{name}" for name in Faults.__struct_fields__ if getattr(before, name) != getattr(after, name)}
    wanted = {f"lies.{one.name}" for one in fields(Lies)} | {f"faults.{name}" for name in Faults.__struct_fields__}
    assert wanted - seen == {"lies.late_s"}  # its word gives the usual value, which is the same
    assert asked("late=5 min").lies.late_s == 300.0


def test_values_are_what_is_written() -> None:
    assert asked("failed=12.5%").scenario.faults.failed == 0.125
    assert asked("failed=0.25").scenario.faults.failed == 0.25
    assert asked("accounting-late=2 min").lies.accounting_late_s == 120.0
    assert asked("crash=3d/8h", "crash=1h").crashes == ((3600.0, 600.0), (259200.0, 28800.0))
    assert asked("dead_node=n05@2h/30 min").scenario.nodes.deaths == (("n05", 7200.0, 1800.0),)
    (hang,) = asked("hang=2h/1h").scenario.metadata[0].hangs
    assert (hang.target, hang.after_s, hang.lasts_s) == ("mdt0", 7200.0, 3600.0)


@pytest.mark.parametrize(
    "word",
    [
        "",
        "=",
        "=5%",
        "failed=",
        "failed=-1%",
        "failed=nan",
        "late=inf",
        "crash=0 s",
        "crash=3d/",
        "dead_node=n99",
        "stale=-1 s",
    ],
)
def test_odd_words_are_refused_or_mean_the_usual(word: str) -> None:
    try:
        asked(word)
    except UsageError as error:
        assert error.message.startswith(f"--fault {word}: ") and error.hint


def test_the_guide_lists_them_all() -> None:
    text = GUIDE.read_text()
    for word, fault in FAULTS.items():
        assert f"`{word}`" in text, word
        assert fault.about in text, fault.about
    assert len(fault_lines()) == len(FAULTS)


@pytest.mark.parametrize("word", FAULTS)
def test_a_plan_comes_to_its_end_under_each_of_them(word: str, tmp_path: Path) -> None:
    scenario = msgspec.structs.replace(times(**USUAL), metadata=(Metadata("f2/mdt"),))
    short = {"crash": "crash=30 min/20 min", "hang": "hang=30 min/20 min"}.get(word, word)
    played = play(tmp_path, Mixed(hours=2.0, building=True).plan(), scenario, short)
    assert played.outcome.finished, played.outcome.left
    events = Counter(event.event for event in read_events(played.layout.log))
    assert events["driver_start"] == (2 if word == "crash" else 1)
    assert events["campaign_end"] == 1


def test_a_conductor_that_dies_loses_nothing_and_does_nothing_twice(tmp_path: Path) -> None:
    played = play(tmp_path, Mixed(hours=2.0).plan(), times(**USUAL), "crash=30 min", "crash=1h/10 min", "crash=80 min")
    verdicts = Counter(event.run for event in read_events(played.layout.log) if event.event == "verdict")
    assert max(verdicts.values()) == 1
    orders = {event.run for event in read_events(played.layout.log) if event.event == "submit_order"}
    assert orders == set(verdicts)
