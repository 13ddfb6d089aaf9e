"""What a schedule amounts to: utilisation, waits, slowdown, by size and over time; defined alike for ours and a trace's own.

Utilisation is processor-seconds held over processors times the interval: from the first submission to the last end, and, without
the time in which the machine empties, from the first submission to the last one. Bounded slowdown is (wait + run) / max(run, 10 s),
at least 1 (Feitelson and others, 1997).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shakedown.model.errors import UsageError
from shakedown.twin.production.columns import Flags, Floats, Whole

BOUND_S = 10.0
DAY_S, WEEK_S = 86400.0, 7 * 86400.0
FEW_WEEKS = 4  # below so many weeks the time is cut into days
POINTS = 800  # of a line over time
CLASS_FACTOR = 8  # sizes of one class


@dataclass(frozen=True)
class Waits:
    """Of some jobs. Times in seconds; None where no wait is known."""

    jobs: int
    mean_s: float | None
    median_s: float | None
    ninetieth_s: float | None
    longest_s: float | None
    bounded_slowdown: float | None


@dataclass(frozen=True)
class SizeClass:
    """Jobs of ``least`` to ``most`` processors; ``share``: of all processor-seconds."""

    least: int
    most: int
    jobs: int
    share: float
    waits: Waits


@dataclass(frozen=True)
class Measures:
    """``span_s``: from the first submission to the last end; ``most_busy``: processors held at one instant; ``fitted``: of jobs
    that waited more than a minute, the share that had enough free processors the moment they were submitted."""

    span_s: float
    utilisation: float
    utilisation_of_submissions: float
    most_busy: int
    fitted: float | None
    waits: Waits
    sizes: tuple[SizeClass, ...]


@dataclass(frozen=True)
class Timeline:
    """``edges_s``: of weeks or days, ``unit``; ``utilisation`` in each; ``at_s``, ``queued``: jobs that wait, over time."""

    unit: str
    edges_s: tuple[float, ...]
    utilisation: tuple[float, ...]
    at_s: tuple[float, ...]
    queued: tuple[int, ...]


@dataclass(frozen=True)
class Played:
    """Jobs with their starts, as columns. ``known``: whose waits count."""

    submit_s: Floats
    start_s: Floats
    held_s: Floats
    processors: Whole
    known: Flags

    @property
    def end_s(self) -> Floats:
        return self.start_s + self.held_s

    def from_(self, since_s: float) -> Played:
        """The jobs submitted from then on: those before warm the machine up."""
        those = self.submit_s >= since_s
        times = self.submit_s[those], self.start_s[those], self.held_s[those]
        return Played(*times, self.processors[those], self.known[those])


def measure(jobs: Played, processors: int, since_s: float = 0.0) -> Measures:
    """Purpose: the measures of what was submitted from ``since_s`` seconds after the first submission on.

    Utilisation is of the interval from then on, whatever was submitted before. Raises UsageError where nothing was submitted later.
    """
    if since_s > jobs.submit_s[-1] - jobs.submit_s[0]:
        raise UsageError("no job is submitted after the warm-up", "measure from an earlier time on")
    first = float(jobs.submit_s[0]) + since_s
    last_submit, last_end = float(jobs.submit_s[-1]), float(jobs.end_s.max())
    held = held_until(jobs, np.array([first, max(first, last_submit), last_end]))
    later = jobs.from_(first)
    return Measures(
        last_end - first,
        _share(held[2] - held[0], processors * (last_end - first)),
        _share(held[1] - held[0], processors * (last_submit - first)),
        most_at_once(jobs.start_s, jobs.end_s, jobs.processors),
        _fitted(jobs, processors),
        _waits(later, np.ones(len(later.submit_s), dtype=bool)),
        _by_size(later),
    )


def _share(part: float, whole: float) -> float:
    return float(part / whole) if whole > 0 else 0.0


def held_until(jobs: Played, moments: Floats) -> Floats:
    """Purpose: the processor-seconds held before each moment, in one pass over all jobs."""
    total = np.zeros(len(moments))
    for times, sign in ((jobs.start_s, 1.0), (jobs.end_s, -1.0)):
        order = np.argsort(times, kind="stable")
        sizes = np.concatenate(([0.0], np.cumsum(jobs.processors[order], dtype=np.float64)))
        weighted = np.concatenate(([0.0], np.cumsum(jobs.processors[order] * (times[order] - jobs.submit_s[0]))))
        place = np.searchsorted(times[order], moments, side="left")
        total += sign * (sizes[place] * (moments - jobs.submit_s[0]) - weighted[place])
    return total


def steps(start: Floats, end: Floats, sizes: Whole) -> tuple[Floats, Whole]:
    """Purpose: the processors that are held from each instant on, at which any job starts or ends; ends come first."""
    moments, place = np.unique(np.concatenate((start, end)), return_inverse=True)
    changes = np.bincount(place, weights=np.concatenate((sizes, -sizes)).astype(np.float64), minlength=len(moments))
    return moments, np.cumsum(np.rint(changes).astype(np.int64))


def most_at_once(start: Floats, end: Floats, sizes: Whole) -> int:
    """Purpose: the most processors held at one instant."""
    return int(steps(start, end, sizes)[1].max(initial=0))


def _fitted(jobs: Played, processors: int) -> float | None:
    waited = jobs.known & (jobs.start_s - jobs.submit_s > 60)
    if not waited.any():
        return None
    moments, held = steps(jobs.start_s, jobs.end_s, jobs.processors)
    place = np.searchsorted(moments, jobs.submit_s[waited], side="right") - 1
    busy = np.where(place >= 0, held[place], 0)
    return float((jobs.processors[waited] <= processors - busy).mean())


def _waits(jobs: Played, those: Flags) -> Waits:
    those = those & jobs.known
    if not those.any():
        return Waits(0, None, None, None, None, None)
    wait, held = (jobs.start_s - jobs.submit_s)[those], jobs.held_s[those]
    slowdown = np.maximum(1.0, (wait + held) / np.maximum(held, BOUND_S))
    middle, ninetieth = np.quantile(wait, (0.5, 0.9))
    values = (wait.mean(), middle, ninetieth, wait.max(), slowdown.mean())
    return Waits(int(those.sum()), *(float(value) for value in values))


def _by_size(jobs: Played) -> tuple[SizeClass, ...]:
    """Classes that end at 1, 8, 64, 512 ... processors, the last at the largest job; those without jobs are not there."""
    found: list[SizeClass] = []
    work = jobs.processors * jobs.held_s
    largest = int(jobs.processors.max(initial=0))
    least, most = 1, 1
    while least <= largest:
        those = (jobs.processors >= least) & (jobs.processors <= most)
        if those.any():
            share = _share(float(work[those].sum()), float(work.sum()))
            found.append(SizeClass(least, min(most, largest), int(those.sum()), share, _waits(jobs, those)))
        least, most = most + 1, most * CLASS_FACTOR
    return tuple(found)


def timeline(jobs: Played, processors: int) -> Timeline:
    """Purpose: utilisation by week, or by day where there are few weeks, and how many jobs wait, from the first submission on."""
    first, last = float(jobs.submit_s[0]), float(jobs.end_s.max())
    unit, step = ("week", WEEK_S) if last - first >= FEW_WEEKS * WEEK_S else ("day", DAY_S)
    if last - first > POINTS * WEEK_S:  # no machine lives so long: a time in the record is not what was meant
        unit, step = f"{1 / POINTS:.3%} of the time", (last - first) / POINTS
    edges = np.append(np.arange(first, last, step), last) if last > first else np.array([first, first + step])
    held = np.diff(held_until(jobs, edges)) / (processors * np.diff(edges))
    at = np.linspace(first, max(last, first + 1), POINTS)
    queued = np.searchsorted(np.sort(jobs.submit_s), at, side="right")
    queued -= np.searchsorted(np.sort(jobs.start_s), at, side="right")
    return Timeline(unit, tuple(edges.tolist()), tuple(held.tolist()), tuple(at.tolist()), tuple(queued.tolist()))
