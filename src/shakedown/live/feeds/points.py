"""Events as points of a time series: one for every event, one more for each verdict, one for each of its figures.

``points_of`` is the table of contents. Tags are for grouping, fields hold the values; ``docs/guides/feeds.md`` lists them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import msgspec

from shakedown.metrics.failures import failure_of
from shakedown.metrics.rows.facts import number
from shakedown.model.events import Event

EVENT, RUN, FIGURE = "shakedown_event", "shakedown_run", "shakedown_figure"
LONGEST = 16_000  # letters of a text: servers refuse longer ones
Field = float | int | str


@dataclass(frozen=True, slots=True)
class Point:
    """One point. ``time_ns``: nanoseconds since 1970, made unique for events at the same time by their number."""

    measurement: str
    tags: Mapping[str, str]
    fields: Mapping[str, Field]
    time_ns: int


def points_of(campaign: str, event: Event, tests: Mapping[str, str]) -> Iterator[Point]:
    """Purpose: the points of an event of a campaign. ``tests``: case -> test. The same event always gives the same points."""
    at = _moment(event)
    about = {"campaign": campaign, "event": event.event}
    value = msgspec.json.encode(event.value).decode()
    facts = {
        "run": event.run,
        "case": event.case,
        "job": event.job,
        "build": event.build,
        "reason": event.reason,
        "value": value,
    }
    told = {name: text[:LONGEST] for name, text in facts.items() if text and text != "{}"}
    yield Point(EVENT, about, {"seq": event.seq, **told}, at)
    if event.event == "verdict":
        yield from _of_verdict(campaign, event, tests.get(event.case, event.case.partition("/")[0]), at)


def _of_verdict(campaign: str, event: Event, test: str, at: int) -> Iterator[Point]:
    value = event.value
    failure = failure_of(event)
    tags = {"campaign": campaign, "component": str(value.get("component", "")), "test": test, "case": event.case}
    told: dict[str, Field] = {"seq": event.seq, "run": event.run}
    for name in ("nodes", "excerpt"):
        if value.get(name):
            told[name] = str(value[name])[:LONGEST]
    told |= {"reason": event.reason[:LONGEST]} if event.reason else {}
    for name in ("elapsed_s", "started", "ended"):
        amount = number(value.get(name))
        told |= {name: amount} if amount is not None else {}
    for name in ("attempt", "exit"):
        if isinstance(value.get(name), int) and not isinstance(value.get(name), bool):
            told[name] = value[name]
    judged = {"verdict": str(value.get("verdict", "")), "mode": str(value.get("mode") or "")}
    yield Point(RUN, tags | judged | ({"failure": failure.name} if failure else {}), told, at)
    figures = value.get("figures")
    for name, said in figures.items() if isinstance(figures, dict) else ():
        amount = number(said)
        if amount is not None:
            yield Point(FIGURE, tags | {"figure": str(name)}, {"seq": event.seq, "run": event.run, "value": amount}, at)


def _moment(event: Event) -> int:
    """A time in nanoseconds. Events at the same time differ in the last three digits: servers keep one point for each time and set
    of tags.
    """
    return int(event.time * 1_000_000) * 1000 + event.seq % 1000
