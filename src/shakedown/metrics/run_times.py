"""Data of one campaign for planning the next: run times of each case, measured figures, build times.

Run times have a mean and a spread; the tail is kept apart from both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, median, stdev

from shakedown.metrics.rows.rows import BuildRow, RunRow
from shakedown.model.scenario import FigureLaw, RunTime

_TAIL = 1.5  # times the median: longer runs are the tail
_WELL = ("passed", "performance", "incorrect")  # ended by themselves, after all their work


def run_times(rows: Iterable[RunRow], campaign: str) -> tuple[tuple[str, RunTime], ...]:
    """Purpose: case -> mean, spread (standard deviation) and tail of the run times in seconds, of runs that reached their end.

    Runs beyond 1.5 times the median are the tail: its share of the runs, and its mean as a multiple of the mean of the others.
    Warm-ups do not count.
    """
    times: dict[str, list[float]] = {}
    for row in rows:
        whole = row.elapsed_s is not None and not row.halted_s  # it was not suspended in that time
        if row.verdict in _WELL and whole and row.mode != "warm-up" and not row.superseded_by:
            times.setdefault(row.case, []).append(row.elapsed_s or 0.0)
    return tuple((case, _of(found, campaign)) for case, found in times.items())


def figures_of_runs(rows: Iterable[RunRow], campaign: str) -> tuple[tuple[str, str, FigureLaw], ...]:
    """Purpose: (case, figure, mean and spread of its values), of runs that completed correctly."""
    values: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        if row.verdict in ("passed", "performance") and row.mode != "warm-up" and not row.superseded_by:
            for name, value in row.figures.items():
                values.setdefault((row.case, name), []).append(value)
    return tuple(
        (case, name, FigureLaw(fmean(found), stdev(found) if len(found) > 1 else 0.0, _source(campaign, len(found))))
        for (case, name), found in values.items()
    )


def build_times(rows: Iterable[BuildRow], names: Mapping[str, str]) -> tuple[tuple[str, float], ...]:
    """Purpose: build -> its average time in seconds, of completed builds. ``names``: key -> the build's name."""
    times: dict[str, list[float]] = {}
    for row in rows:
        if row.state == "done" and row.elapsed_s is not None and row.key in names:
            times.setdefault(names[row.key], []).append(row.elapsed_s)
    return tuple((name, fmean(found)) for name, found in times.items())


def _source(campaign: str, count: int) -> str:
    return f"campaign {campaign}, {count} run{'s' if count > 1 else ''}"


def _of(times: Sequence[float], campaign: str) -> RunTime:
    most = median(times) * _TAIL
    usual = [seconds for seconds in times if seconds <= most]
    late = [seconds for seconds in times if seconds > most]
    mean = fmean(usual)
    return RunTime(
        mean,
        stdev(usual) if len(usual) > 1 else 0.0,
        len(late) / len(times),
        fmean(late) / mean if late and mean else 1.0,
        _source(campaign, len(times)),
    )
