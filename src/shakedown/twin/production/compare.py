"""A trace's own schedule beside ours: what agrees, what does not, and what in the trace may be the reason.

A scheduler that is not modelled can do what it likes; so the differences are said, not hidden, and the likely reasons are counted
in the record: idle processors while jobs waited, the machine standing still, requests that are missing or were not kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shakedown.twin.production.columns import Floats
from shakedown.twin.production.easy import Period
from shakedown.twin.production.measure import Measures, Played, steps

UTILISATION_POINTS, WAIT_SHARE, WAIT_S, CURVES = 1.0, 0.10, 60.0, 0.10  # within which we say that it agrees
STANDSTILL_S = 1800.0  # nothing runs for so long although jobs wait: the machine was away


@dataclass(frozen=True)
class Line:
    """One measure of both. ``kind``: "share" (fractions of one), "seconds" or "number"; None where not known."""

    name: str
    kind: str
    own: float | None
    ours: float | None
    agrees: bool | None


@dataclass(frozen=True)
class Comparison:
    """``same``: share of jobs whose wait is within a minute or a tenth of the recorded one; ``furthest_apart``: the largest
    distance between the two cumulated distributions of waits (Kolmogorov and Smirnov); both None where no wait is recorded."""

    lines: tuple[Line, ...]
    same: float | None
    furthest_apart: float | None
    reasons: tuple[str, ...]


def compare(own: Played, ours: Played, own_is: Measures, ours_is: Measures, processors: int) -> Comparison:
    """Purpose: both schedules of the same jobs beside each other; waits are compared over jobs whose wait is recorded."""
    known = own.known
    waits = [(jobs.start_s - jobs.submit_s)[known] for jobs in (own, ours)]
    lines = (
        _line("utilisation, to the last end", "share", own_is.utilisation, ours_is.utilisation),
        _line(
            "utilisation, to last submission",
            "share",
            own_is.utilisation_of_submissions,
            ours_is.utilisation_of_submissions,
        ),
        _line("mean wait", "seconds", own_is.waits.mean_s, ours_is.waits.mean_s),
        _line("median wait", "seconds", own_is.waits.median_s, ours_is.waits.median_s),
        _line("90 % wait at most", "seconds", own_is.waits.ninetieth_s, ours_is.waits.ninetieth_s),
        _line("mean bounded slowdown", "number", own_is.waits.bounded_slowdown, ours_is.waits.bounded_slowdown),
    )
    same = apart = None
    if known.any():
        off = np.abs(waits[0] - waits[1])
        same = float((off <= np.maximum(WAIT_S, WAIT_SHARE * waits[0])).mean())
        apart = furthest_apart(waits[0], waits[1])
    return Comparison(lines, same, apart, _reasons(own, own_is, ours_is, processors, apart))


def _line(name: str, kind: str, own: float | None, ours: float | None) -> Line:
    agrees = None
    if own is not None and ours is not None:
        allowed = {
            "share": UTILISATION_POINTS / 100,
            "seconds": max(WAIT_S, WAIT_SHARE * own),
            "number": WAIT_SHARE * own,
        }
        agrees = abs(ours - own) <= allowed[kind] + 1e-12
    return Line(name, kind, own, ours, agrees)


def furthest_apart(first: Floats, second: Floats) -> float:
    """Purpose: the largest distance between the cumulated distributions of two sets of waits, 0 to 1."""
    first, second = np.sort(first), np.sort(second)
    at = np.concatenate((first, second))
    curves = [np.searchsorted(waits, at, side="right") / len(waits) for waits in (first, second)]
    return float(np.abs(curves[0] - curves[1]).max())


def standstills(own: Played, least_s: float = STANDSTILL_S) -> list[Period]:
    """Purpose: from when to when a trace ran nothing at all although a job waited, for so long or longer: an outage, or the machine
    was given to something else."""
    moments, held = steps(own.start_s, own.end_s, own.processors)
    starts = np.sort(own.start_s)
    found = []
    for place in np.flatnonzero(held[:-1] == 0):
        begin, end = float(moments[place]), float(moments[place + 1])
        submitted = np.searchsorted(own.submit_s, begin, side="right")
        if submitted <= np.searchsorted(starts, begin, side="right"):  # nobody waits: the next one to be submitted
            begin = float(own.submit_s[submitted]) if submitted < len(own.submit_s) else end
        if end - begin >= least_s:
            found.append((begin, end))
    return found


def _reasons(own: Played, own_is: Measures, ours_is: Measures, processors: int, apart: float | None) -> tuple[str, ...]:
    reasons = []
    if own_is.most_busy > processors:
        reasons.append(
            f"the trace held {own_is.most_busy} processors at once, more than the machine's {processors}: it shares "
            "processors, or the machine is larger (--nodes)"
        )
    if own_is.fitted is not None and own_is.fitted > (ours_is.fitted or 0.0) + 0.05:
        reasons.append(
            f"{own_is.fitted:.0%} of the trace's jobs that waited over a minute had enough free processors when submitted "
            f"(ours: {ours_is.fitted or 0.0:.0%}): limits of queues and users, reservations, nodes down, or a slower "
            "scheduler held them, none of which is in the record"
        )
    if apart is not None and apart > CURVES and not reasons:
        reasons.append("another order of priority, or another depth or cycle of backfill (--fit tries some)")
    return tuple(reasons)
