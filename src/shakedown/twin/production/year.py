"""From what is asked to the result: a workload made or read, played, measured, and held against the trace's own schedule."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from shakedown.twin.production.columns import Schedule, Workload
from shakedown.twin.production.compare import Comparison, compare, standstills
from shakedown.twin.production.easy import Period, Rules, Tell, schedule
from shakedown.twin.production.generate import Asked, generate
from shakedown.twin.production.measure import Measures, Played, Timeline, measure, timeline
from shakedown.twin.production.trace import Trace


@dataclass(frozen=True)
class Year:
    """What came of it. ``ours``: of the model's schedule, None where only the trace's own is measured; ``own``: of the trace's.

    ``closed``: periods in which nothing was started because the trace stood still.
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
        f"{asked.jobs} jobs of the model's own in {asked.days:g} days, load {asked.load:.3g}, seed {asked.seed} (assumed)",
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
    tell: Tell | None = None,
) -> Outcome:
    """Purpose: a trace's jobs under our rules, beside its own schedule; with ``only_own`` its own alone."""
    jobs, processors = trace.jobs, trace.processors
    known = ~np.isnan(trace.wait_s)
    own = Played(jobs.submit_s, trace.start_s, jobs.run_s, jobs.processors, known)
    own_is = measure(own, processors, warm_up_s)
    closed = standstills(own) if keep_standstills else []
    made = None if only_own else schedule(jobs, processors, rules, tell, closed)
    ours_is = comparison = our_timeline = None
    if made is not None:
        ours = _played(jobs, made, known if known.any() else np.ones(len(jobs), dtype=bool))
        ours_is, our_timeline = measure(ours, processors, warm_up_s), timeline(ours, processors)
        since = float(jobs.submit_s[0]) + warm_up_s
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
        ours_is,
        own_is,
        comparison,
        our_timeline,
        timeline(own, processors),
    )
    return Outcome(year, jobs, made)


def _played(jobs: Workload, made: Schedule, known: Any) -> Played:
    return Played(jobs.submit_s, made.start_s, made.held_s, jobs.processors, known)
