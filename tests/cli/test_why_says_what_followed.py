"""``why`` says of an attempt that did not pass which one followed, or how many there were and why no more does."""

from __future__ import annotations

from pathlib import Path

import pytest

from shakedown.engine import State
from shakedown.metrics.rows.table import fold_runs
from shakedown.model.events import Event
from shakedown.model.layout import Layout
from shakedown.queries.why import _ends_in, _what_followed, _why_run


def attempts(verdict: str, count: int, *more: Event) -> list[Event]:
    """So many attempts at one result, each with this verdict, and whatever comes after them."""
    events: list[Event] = [Event("campaign_start", 1, 1.0)]
    for number in range(1, count + 1):
        ids = {"component": "c", "repeat": 1, "attempt": number}
        for name, value in (("submit_order", ids), ("verdict", ids | {"verdict": verdict})):
            events.append(Event(name, len(events) + 1, 1.0, case="a", run=f"r{number}", job=f"j{number}", value=value))
    return [*events, *more]


def test_a_failure_that_is_given_up_says_how_many_attempts_there_were_and_why_no_more_follows() -> None:
    given_up = Event(
        "given_up", 8, 2.0, case="a", run="r3", value={"component": "c", "repeat": 1}, reason="failed after 2 retries"
    )
    record = fold_runs(attempts("failed", 3, given_up))
    one, _, last = record.runs
    assert _what_followed(record, one, {}) == "attempt 2 followed: r2"
    said = _why_run(State(), record, [last], "r3", {"r3": "failed after 2 retries"})
    assert "  3 attempts were made at this result, and no more follows: failed after 2 retries" in said


@pytest.mark.parametrize("verdict", ["incorrect", "performance"])
def test_a_verdict_that_no_plan_retries_says_so(verdict: str) -> None:
    record = fold_runs(attempts(verdict, 1))
    wanted = f"1 attempt was made at this result, and no more follows: '{verdict}' is final, whatever a plan retries"
    assert _what_followed(record, record.runs[0], {}) == wanted


@pytest.mark.parametrize("verdict", ["passed", "failed", "undetermined"])
def test_where_it_is_open_or_passed_nothing_is_said(verdict: str) -> None:
    record = fold_runs(attempts(verdict, 1))
    assert _what_followed(record, record.runs[0], {}) == ""


def test_what_could_not_be_judged_says_what_followed_or_that_the_campaign_ended() -> None:
    """Its own reason says that it is attempted again while there is time."""
    over = fold_runs(attempts("undetermined", 1, Event("campaign_end", 4, 2.0, value={"counts": {}})))
    said = "1 attempt was made at this result, and no more follows: the campaign ended before another one"
    assert _what_followed(over, over.runs[0], {}) == said
    again = fold_runs(attempts("undetermined", 2))
    assert _what_followed(again, again.runs[0], {}) == "attempt 2 followed: r2"


def test_nothing_is_read_where_nothing_was_given_up(tmp_path: Path) -> None:
    record = fold_runs(attempts("failed", 1))
    assert _ends_in(Layout(tmp_path / "gone"), record, record.runs) == {}
