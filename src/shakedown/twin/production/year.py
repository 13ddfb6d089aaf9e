"""From what is asked to the result: a workload made or read, played, measured, and held against the trace's own schedule."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from shakedown.model.errors import UsageError
from shakedown.twin.production.columns import Schedule, Workload
from shakedown.twin.production.compare import Comparison, compare, furthest_apart, standstills
from shakedown.twin.production.easy import ORDERS, Period, Rules, Tell, schedule
from shakedown.twin.production.generate import Asked, generate
from shakedown.twin.production.measure import Measures, Played, Timeline, measure, timeline
from shakedown.twin.production.trace import Trace

FIT_DEPTHS = (0, 10, 30, 100, 1000)


@dataclass(frozen=True)
class Tried:
    """Rules that a trace was replayed with, the mean wait under them, and how far waits were from the recorded ones: ``off_s``, job
    by job, in the mean; ``furthest_apart``, their distributions."""

    rules: Rules
    mean_wait_s: float
    off_s: float
    furthest_apart: float


@dataclass(frozen=True)
class Year:
    """What came of it. ``ours``: of the model's schedule, None where only the trace's own is measured; ``own``: of the trace's.

    ``closed``: periods in which nothing was started because the trace stood still; ``tried``: what the rules were chosen from.
    """

    source: str
    jobs: int
    processors: int
    machine_from: str
    rules: Rules
    left_out: tuple[tuple[str, int], ...]
    notes: tuple[str, ...]
    offered_load: float
    backfilled: int
    killed: int
    closed: tuple[Period, ...]
    tried: tuple[Tried, ...]
    ours: Measures | None
    own: Measures | None
    comparison: Comparison | None
    our_timeline: Timeline | None
    own_timeline: Timeline | None

    def as_document(self) -> dict[str, Any]:
        """The result as JSON has it; everything in it is the model's, but what is under ``own``."""
        return {"model": "EASY backfill on counts of processors", **asdict(self)}


@dataclass(frozen=True)
class Outcome:
    """A result, and the columns it was measured on, of which records are written."""

    year: Year
    jobs: Workload
    made: Schedule | None


def play_generated(asked: Asked, rules: Rules, warm_up_s: float = 0.0, tell: Tell | None = None) -> Outcome:
    """Purpose: a year of the model's own jobs. Raises UsageError where the jobs cannot make the load."""
    jobs = generate(asked)
    made = schedule(jobs, asked.nodes, rules, tell)
    played = _played(jobs, made, np.ones(len(jobs), dtype=bool))
    year = Year(
        f"the model's own (assumed), {asked.days:g} days, load {asked.load:.4g}, seed {asked.seed}",
        len(jobs),
        asked.nodes,
        "as asked for",
        rules,
        (),
        (),
        float((jobs.processors * jobs.run_s).sum() / (asked.nodes * asked.days * 86400.0)),
        int(made.backfilled.sum()),
        int(made.killed.sum()),
        (),
        (),
        measure(played, asked.nodes, warm_up_s),
        None,
        None,
        timeline(played, asked.nodes),
        None,
    )
    return Outcome(year, jobs, made)


def play_trace(
    trace: Trace,
    source: str,
    rules: Rules,
    warm_up_s: float = 0.0,
    keep_standstills: bool = True,
    only_own: bool = False,
    tried: tuple[Tried, ...] = (),
    tell: Tell | None = None,
) -> Outcome:
    """Purpose: a trace's jobs under our rules, beside its own schedule; with ``only_own`` its own alone.

    A trace that records no wait has no schedule: nothing says when its jobs ran. Raises UsageError where only that is asked for.
    """
    jobs, processors = trace.jobs, trace.processors
    scheduled = bool((known := ~np.isnan(trace.wait_s)).any())
    if only_own and not scheduled:
        raise UsageError("the trace records no waits, so it has no schedule of its own", "leave out --replay-own")
    own = Played(jobs.submit_s, trace.start_s, jobs.run_s, jobs.processors, known)
    own_is = measure(own, processors, warm_up_s) if scheduled else None
    closed = standstills(own) if keep_standstills and scheduled else []
    made = None if only_own else schedule(jobs, processors, rules, tell, closed)
    ours_is = comparison = our_timeline = None
    if made is not None:
        ours = _played(jobs, made, known if scheduled else np.ones(len(jobs), dtype=bool))
        ours_is, our_timeline = measure(ours, processors, warm_up_s), timeline(ours, processors)
        since = float(jobs.submit_s[0]) + warm_up_s
        if own_is is not None:
            comparison = compare(own.from_(since), ours.from_(since), own_is, ours_is, processors)
    submitted_s = float(jobs.submit_s[-1] - jobs.submit_s[0])
    year = Year(
        source,
        len(jobs),
        processors,
        trace.machine_from,
        rules,
        trace.left_out,
        trace.notes,
        float((jobs.processors * jobs.run_s).sum() / (processors * submitted_s)) if submitted_s else 0.0,
        int(made.backfilled.sum()) if made is not None else 0,
        int(made.killed.sum()) if made is not None else 0,
        tuple(closed) if made is not None else (),
        tried,
        ours_is,
        own_is,
        comparison,
        our_timeline,
        timeline(own, processors) if scheduled else None,
    )
    return Outcome(year, jobs, made)


def fit(trace: Trace, like: Rules, keep_standstills: bool = True, tell: Tell | None = None) -> tuple[Tried, ...]:
    """Purpose: the trace replayed in every order with several depths, the nearest to its recorded waits first, job by job.

    ``like`` gives cycle and overrun. It is chosen afterwards on the same trace: it describes its scheduler and predicts nothing.
    Raises UsageError for a trace that records no waits.
    """
    known = ~np.isnan(trace.wait_s)
    if not known.any():
        raise UsageError("the trace records no waits that anything could be fitted to", "leave --fit out")
    start = trace.start_s
    own = Played(trace.jobs.submit_s, start, trace.jobs.run_s, trace.jobs.processors, known)
    closed = standstills(own) if keep_standstills else []
    tried = []
    for order in ORDERS:
        for depth in FIT_DEPTHS:
            rules = replace(like, order=order, depth=depth)
            made = schedule(trace.jobs, trace.processors, rules, tell, closed)
            waits = (made.start_s - trace.jobs.submit_s)[known]
            off = float(np.abs(waits - trace.wait_s[known]).mean())
            tried.append(Tried(rules, float(waits.mean()), off, furthest_apart(trace.wait_s[known], waits)))
    return tuple(sorted(tried, key=lambda one: one.off_s))


def _played(jobs: Workload, made: Schedule, known: Any) -> Played:
    return Played(jobs.submit_s, made.start_s, made.held_s, jobs.processors, known)
