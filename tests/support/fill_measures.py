"""How well a machine was kept full: from the log alone, and from what really ran."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from shakedown.model.events import Event
from shakedown.model.nouns import Document


@dataclass(frozen=True)
class Span:
    """A run and the nodes that it had; times in seconds since 1970."""

    run: str
    test: str
    start: float
    end: float
    nodes: int
    filler: bool = False


def spans_of_log(document: Document, events: Iterable[Event]) -> list[Span]:
    """What the verdicts say of runs that began."""
    cases = {case.id: case for case in document.cases}
    found = []
    for event in events:
        value = event.value
        if event.event == "verdict" and "started" in value and "supersedes" not in value:
            case = cases[event.case]
            end = value["started"] + value["elapsed_s"] if "elapsed_s" in value else value.get("ended", event.time)
            filler = value.get("mode") == "filler"
            found.append(Span(event.run, case.test, value["started"], end, case.shape.nodes, filler))
    return found


def spans_of_truth(campaign: Any) -> list[Span]:
    """What really ran, by the machine itself; what still runs, until now."""
    cases = {case.id: case for case in campaign.document.cases}
    fillers = {event.run for event in campaign.events("submit_order") if event.value.get("mode") == "filler"}
    return [
        Span(
            one.run,
            cases[one.case].test,
            one.start,
            campaign.clock.now() if one.end is None else one.end,
            cases[one.case].shape.nodes,
            one.run in fillers,
        )
        for one in campaign.world.executions
    ]


def within(spans: Iterable[Span], since: float, until: float) -> list[Span]:
    """The parts of spans that lie in a time."""
    cut = [Span(s.run, s.test, max(s.start, since), min(s.end, until), s.nodes, s.filler) for s in spans]
    return [span for span in cut if span.end > span.start]


def node_seconds(spans: Iterable[Span]) -> dict[str, float]:
    """Test -> node-seconds; fillers under their own names."""
    had: dict[str, float] = defaultdict(float)
    for span in spans:
        had[span.test] += span.nodes * (span.end - span.start)
    return dict(had)


def full(spans: Sequence[Span], nodes: int, since: float, until: float) -> float:
    """The share of the node-seconds of a time that runs had."""
    return sum(node_seconds(within(spans, since, until)).values()) / (nodes * (until - since))


def off_shares(spans: Sequence[Span], mix: Iterable[tuple[str, float]], since: float, until: float) -> dict[str, float]:
    """By how much each test's part of the contractual node-seconds is off its share, in parts of one."""
    had = node_seconds(span for span in within(spans, since, until) if not span.filler)
    total = sum(had.values())
    return {test: had.get(test, 0.0) / total - share for test, share in mix} if total else {}


def longest_hole(spans: Sequence[Span], test: str, since: float, until: float, nodes: int = 0, needs: int = 0) -> float:
    """The longest time in which no run of a test was live. With ``nodes`` of the machine given, only time counts in which ``needs``
    of them were free: there was room."""
    mine = sorted((s for s in within(spans, since, until) if s.test == test), key=lambda s: s.start)
    longest, at = 0.0, since
    for span in [*mine, Span("", test, until, until, 0)]:
        if span.start > at:
            longest = max(longest, _roomy(spans, at, span.start, nodes, needs) if nodes else span.start - at)
        at = max(at, span.end)
    return longest


def _roomy(spans: Sequence[Span], since: float, until: float, nodes: int, needs: int) -> float:
    """For how long at a stretch so many nodes were free."""
    changes: dict[float, int] = defaultdict(int)
    for span in within(spans, since, until):
        changes[span.start] += span.nodes
        changes[span.end] -= span.nodes
    longest, used, free_since = 0.0, 0, since if not changes or min(changes) > since else None
    for at in sorted(changes):
        used += changes[at]
        if nodes - used >= needs and free_since is None:
            free_since = at
        elif nodes - used < needs and free_since is not None:
            longest, free_since = max(longest, at - free_since), None
    return max(longest, until - free_since) if free_since is not None else longest


def steady_time(document: Document, events: Sequence[Event]) -> tuple[float, float]:
    """From the end of the ramp of the component that runs for a time, to the start of its drain: the longest run before its end."""
    component = next(c for c in document.components if c.duration_s)
    orders = [e for e in events if e.event == "submit_order" and e.value["component"] == component.name]
    limits = {case.id: case.shape.time_limit_s for case in document.cases}
    longest = max(
        (e.value.get("elapsed_s", limits[e.case]) for e in events if e.event == "verdict" and e.case), default=0.0
    )
    began = orders[0].time
    return began + component.fill.ramp_s + longest, began + component.duration_s - longest
