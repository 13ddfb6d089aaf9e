"""The clock of a component: what was said of it, and how long it has run. Pure; the engine and the figures read the same.

Acts are pairs of a time (seconds since 1970) and a word: ``start`` and ``restart`` begin at nothing, ``stop`` halts, ``go on``
lets it run again. They may come in any order, as "it stood still from 06:00 to 08:00" is said at 09:00; of those at the same time
the one that was said last counts. What lies after the moment that is asked about has not happened yet. A clock that was never
started does not run, whatever else was said.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Act = tuple[float, str]
Spans = tuple[tuple[float, float], ...]

BEGINS = ("start", "restart")


def running(acts: Sequence[Act], until: float) -> Spans:
    """Purpose: the times in which the clock ran since it was last started or started anew, up to ``until``; none is empty."""
    spans: list[tuple[float, float]] = []
    begun, since = False, None
    for at, act in _said(acts, until):
        if act in BEGINS:
            begun, since, spans = True, at, []
        elif act == "stop" and since is not None:
            spans, since = _with(spans, since, at), None
        elif act == "go on" and begun and since is None:
            since = at
    return tuple(spans if since is None else _with(spans, since, until))


def ran(acts: Sequence[Act], now: float) -> float:
    """Purpose: for how many seconds it has run since it was last started or started anew."""
    return sum(end - begin for begin, end in running(acts, now))


def since(acts: Sequence[Act]) -> float | None:
    """Purpose: when it was last started or started anew; None where it never was."""
    return max((at for at, act in acts if act in BEGINS), default=None)


def is_running(acts: Sequence[Act], now: float) -> bool:
    """Purpose: whether it runs from ``now`` on, as far as was said."""
    begun = runs = False
    for _, act in _said(acts, now):
        begun = begun or act in BEGINS
        runs = begun and act != "stop" if act in (*BEGINS, "stop", "go on") else runs
    return runs


def when(acts: Sequence[Act], amount: float, now: float) -> float | None:
    """Purpose: the moment at which it has run ``amount`` seconds: the one that has passed, or that to come if nothing changes.

    None where it has not run so long and stands still.
    """
    if len(acts) == 1:  # nearly always, and it is asked at every event
        at, act = acts[0]
        return at + amount if act in BEGINS and at <= now else None
    spans = running(acts, now)
    passed = reached(spans, amount)
    if passed is not None or not is_running(acts, now):
        return passed
    return now + max(amount - sum(end - begin for begin, end in spans), 0.0)


def reached(spans: Spans, amount: float) -> float | None:
    """Purpose: the moment at which these spans have lasted ``amount`` seconds together; None where they do not."""
    left = amount
    for begin, end in spans:
        if end >= begin + left:
            return begin + left
        left -= end - begin
    return None


def counted(spans: Spans, ramp: tuple[float, float] | None, drain_from: float | None) -> Spans:
    """Purpose: the spans without the ramp, and without what comes after the drain began; None where these are clock time."""
    if ramp is not None:
        spans = without(spans, ramp)
    return spans if drain_from is None else without(spans, (drain_from, float("inf")))


def without(spans: Iterable[tuple[float, float]], hole: tuple[float, float]) -> Spans:
    """Purpose: some spans without what lies in a hole."""
    found: list[tuple[float, float]] = []
    for begin, end in spans:
        found += [(begin, min(end, hole[0]))] if begin < min(end, hole[0]) else []
        found += [(max(begin, hole[1]), end)] if max(begin, hole[1]) < end else []
    return tuple(found)


def merged(spans: Iterable[tuple[float, float]]) -> Spans:
    """Purpose: spans that touch or overlap as one, in the order of their times."""
    found: list[tuple[float, float]] = []
    for begin, end in sorted(spans):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((begin, end))
    return tuple(found)


def read_until(begin: float, last_end: float | None, time_up: float | None, last: float, over: bool) -> float:
    """Purpose: up to when a clock is read, for the status, the report and the scorecard alike.

    ``last_end``: when the component's last judged run ended; ``time_up``: when its time was said to be up; ``last``: the campaign's
    last event; ``over``: it is over, or was told to come to its end. Then the clock goes on for as long as its runs do.
    """
    ends = [moment for moment in (last_end, time_up, None if over else last) if moment is not None]
    return max([begin, *ends])


def end_of(started: float | None, ended: float | None, elapsed_s: float | None, judged: float) -> float:
    """Purpose: when a run ended, by its own clock where that is known; else when it was judged."""
    if elapsed_s is not None and started is not None:
        return started + elapsed_s
    return judged if ended is None else ended


def _said(acts: Sequence[Act], until: float) -> list[Act]:
    """By time; equal times as they were said."""
    return sorted((act for act in acts if act[0] <= until), key=lambda act: act[0])


def _with(spans: list[tuple[float, float]], begin: float, end: float) -> list[tuple[float, float]]:
    """One span more, unless it is empty or goes on where the last one ended."""
    if end <= begin:
        return spans
    if spans and spans[-1][1] == begin:
        return [*spans[:-1], (spans[-1][0], end)]
    return [*spans, (begin, end)]
