"""How long runs of each case took in a campaign: their mean and spread, and the tail apart from both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean, median, stdev

from shakedown.metrics.rows import RunRow
from shakedown.model.scenario import RunTime

_TAIL = 1.5  # times the median: what takes longer is of the tail
_WELL = ("passed", "performance", "incorrect")  # ended by themselves, after all of their work


def run_times(rows: Iterable[RunRow], campaign: str) -> tuple[tuple[str, RunTime], ...]:
    """Purpose: case -> the mean, the spread (standard deviation) and the tail of its runs' times, of those that ran to their end.

    Runs beyond 1.5 times the median are the tail: a share of the runs, and how many times as long they take as the others do on
    average. Warm-up counts nowhere. Seconds.
    """
    times: dict[str, list[float]] = {}
    for row in rows:
        if row.verdict in _WELL and row.elapsed_s and row.mode != "warm-up" and not row.superseded_by:
            times.setdefault(row.case, []).append(row.elapsed_s)
    return tuple((case, _of(found, campaign)) for case, found in times.items())


def _of(times: Sequence[float], campaign: str) -> RunTime:
    most = median(times) * _TAIL
    usual = [seconds for seconds in times if seconds <= most]
    late = [seconds for seconds in times if seconds > most]
    mean = fmean(usual)
    count = f"{len(times)} run{'s' if len(times) > 1 else ''}"
    return RunTime(
        mean,
        stdev(usual) if len(usual) > 1 else 0.0,
        len(late) / len(times),
        fmean(late) / mean if late else 1.0,
        f"campaign {campaign}, {count}",
    )
