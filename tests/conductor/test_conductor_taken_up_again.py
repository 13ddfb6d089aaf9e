"""What was over and is taken up again: the time in which nothing ran is no clock time, for the engine and in the score."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from stage import small_document

from shakedown.conductor.commands.amend import put_into_force
from shakedown.conductor.commands.overrides import order
from shakedown.conductor.driver.conductor import Conductor
from shakedown.engine import State, evolve, index_plan
from shakedown.engine.constraints.component_clock import acts_of
from shakedown.metrics.clock import component_clock
from shakedown.metrics.rows.table import Record, fold_runs
from shakedown.model.clocks import ran
from shakedown.model.events import Event
from shakedown.model.filling import ClockTerms
from shakedown.model.nouns import Component, Document
from shakedown.model.ports import Command

HOUR = 3600.0


def document(drain: bool) -> Document:
    plain = small_document(nodes=16, tests=1)
    long = Component("long", "stability", ("t0",), duration_s=10 * HOUR, clock=ClockTerms(drain=drain))
    return msgspec.structs.replace(plain, components=(long,))


class Story:
    """A campaign of one component by its events: both the engine's state and the rows of the score are folded from them."""

    def __init__(self, drain: bool = True) -> None:
        self.document = document(drain)
        self.events: list[Event] = []
        self.state = State(plan=index_plan(self.document))
        self.at(0.0, "campaign_start", value={"document": "d" * 64})

    def at(self, hour: float, event: str, **fields: Any) -> None:
        self.events.append(Event(event, len(self.events) + 1, hour * HOUR, **fields))
        evolve(self.state, self.events[-1])

    def run(self, number: int, begin: float, end: float | None) -> None:
        ids = {"run": f"r{number:06d}", "job": f"j{number:06d}", "case": self.document.components[0].cases[0]}
        value = {"component": "long", "repeat": number, "attempt": 1}
        self.at(begin, "submit_order", **ids, value=value)
        if end is not None:
            times = {"started": begin * HOUR, "ended": end * HOUR, "elapsed_s": (end - begin) * HOUR}
            self.at(end, "verdict", **ids, value=value | times | {"verdict": "passed"})

    def amend(self, hour: float) -> Event:
        self.state.time = hour * HOUR
        event = put_into_force(
            Conductor(self.state, _Still(hour * HOUR)),  # type: ignore[arg-type]
            Command("q1", "amend", "ada", {"document": "e" * 64, "by": "Ada"}, "more of it"),
            self.document,
        )
        self.at(hour, "amended", value=event.value, reason=event.reason)
        return event

    def ran(self, hour: float) -> tuple[float, float]:
        """Hours of the clock by the engine and by the score."""
        acts = acts_of(self.state, 0)
        record: Record = fold_runs(self.events)
        clock = component_clock(self.document.components[0], record)
        assert clock is not None
        return ran(acts, hour * HOUR) / HOUR, clock.ran / HOUR


class _Still:
    def __init__(self, now: float) -> None:
        self.clock = self
        self.now = lambda: now


def drained(drain: bool = True) -> Story:
    """Four hours of work, drained; the last run ends an hour later."""
    story = Story(drain)
    story.run(1, 0.0, 3.0)
    story.run(2, 3.0, None)
    story.at(4.0, "drain_request", value={"component": "long", "by": "Ada"})
    story.at(4.0, "finding", value={"kind": "time_is_up", "component": "long"})
    return story


def ended(story: Story, number: int, begin: float, end: float) -> None:
    ids = {"run": f"r{number:06d}", "job": f"j{number:06d}", "case": story.document.components[0].cases[0]}
    value = {"component": "long", "repeat": number, "attempt": 1, "verdict": "passed"}
    times = {"started": begin * HOUR, "ended": end * HOUR, "elapsed_s": (end - begin) * HOUR}
    story.at(end, "verdict", **ids, value=value | times)


@pytest.mark.parametrize(("drain", "stopped"), [(True, 5.0), (False, 4.0)])
def test_an_amendment_that_undoes_a_drain_makes_no_clock_time_of_the_idle_hours(drain: bool, stopped: float) -> None:
    story = drained(drain)
    ended(story, 2, 3.0, 5.0)
    assert story.amend(9.0).value["stopped"] == {"long": stopped * HOUR}
    story.run(3, 9.0, 10.0)
    assert story.ran(10.0) == pytest.approx((stopped + 1.0, stopped + 1.0)), "9 to 10 beside what came before the end"


def test_where_work_of_it_still_runs_nothing_stood_still() -> None:
    story = drained()
    assert "stopped" not in story.amend(4.5).value
    ended(story, 2, 3.0, 5.0)
    assert story.ran(5.0) == pytest.approx((5.0, 5.0))


def test_a_clock_that_a_person_stopped_is_not_let_go_on_by_an_amendment() -> None:
    story = drained()
    ended(story, 2, 3.0, 5.0)
    story.at(6.0, "clock", value={"component": "long", "act": "stop", "from": 3 * HOUR, "by": "Ada"})
    assert "stopped" not in story.amend(9.0).value
    story.run(3, 9.0, 10.0)
    assert story.ran(10.0) == pytest.approx((3.0, 3.0))


def test_a_pause_stays_one_through_an_amendment() -> None:
    """Paused at three, amended at five, resumed at seven: four hours that do not count."""
    story = Story()
    story.run(1, 0.0, 3.0)
    story.at(3.0, "paused", value={"component": "long", "cause": "site", "clock": "stops", "by": "Ada"})
    assert "stopped" not in story.amend(5.0).value
    story.at(7.0, "continued", value={"component": "long", "by": "Ada"})
    story.run(2, 7.0, 8.0)
    assert story.ran(8.0) == pytest.approx((4.0, 4.0))


@pytest.mark.parametrize("how", ["again", "amend"])
def test_what_was_cancelled_and_is_taken_up_again_counts_no_idle_hours(how: str) -> None:
    story = Story()
    story.run(1, 0.0, 3.0)
    story.at(4.0, "cancel_request", value={"all": True, "by": "Ada"}, reason="enough")
    story.at(4.0, "campaign_end", value={"counts": {}})
    if how == "amend":
        assert story.amend(9.0).value["stopped"] == {"long": 3 * HOUR}
    else:
        event = order(story.state, 9 * HOUR, "again", {"component": "long"}, "so")
        assert event.value == {"component": "long", "stopped": 3 * HOUR}
        story.at(9.0, "again", value=event.value)
    story.run(2, 9.0, 10.0)
    assert story.ran(10.0) == pytest.approx((4.0, 4.0))
