"""Run times on the simulated machine: from the scenario, a past campaign, a contract row, or a share of the walltime.

The first source with a time is used, the case before its test; the source of each time is kept for the reader.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator

from shakedown.model.contracts import rows_of
from shakedown.model.judging import ContractRow
from shakedown.model.nouns import Case, Document, Test
from shakedown.model.scenario import RunTime, Scenario
from shakedown.model.units import UNITS

ELAPSED = "elapsed"
TIME_NAMES = frozenset({ELAPSED, "runtime", "walltime", "time", "totaltime", "seconds", "wallclock", "timetosolution"})
_LEAST_SHARE = 0.01  # of the mean: however wide the spread, no run takes less
_SIGMAS = 4.0  # a stated tolerance is taken for so many standard deviations
_BELOW_BOUND = 0.95  # of a bound that nothing is said around
_SPREAD = 0.01  # of the mean, where nobody states a tolerance


def times_of(document: Document, scenario: Scenario) -> dict[str, RunTime]:
    """Purpose: case -> run time on a healthy machine in seconds, with its source."""
    written = dict(scenario.times)
    tests = {test.name: test for test in document.tests}
    times = {}
    for case in document.cases:
        said = written.get(case.id) or written.get(case.test)
        if said is None:
            said = _by_contract(document, case, tests[case.test]) or _assumed(case, scenario.assumed)
        times[case.id] = said
    return times


def drawn(time: RunTime, lot: random.Random) -> float:
    """Purpose: one run's time in seconds: normal, at least 1 % of the mean; times the tail factor for a run in the tail."""
    seconds = max(time.mean_s * _LEAST_SHARE, lot.gauss(time.mean_s, time.spread_s) if time.spread_s else time.mean_s)
    return seconds * time.tail_factor if time.tail_share and lot.random() < time.tail_share else seconds


def seconds_in(unit: str) -> float | None:
    """The number of seconds in a unit; None if it is not a unit of time."""
    dimension, factor = UNITS.get(unit, ("", 0.0))
    return factor if dimension == "seconds" else None


def is_run_time(name: str, unit: str) -> bool:
    """Whether a figure is the run time: its name is like runtime or wall_time, and its unit is a unit of time."""
    plain = name.lower().replace("_", "").replace("-", "").replace(" ", "")
    return plain in TIME_NAMES and seconds_in(unit or "s") is not None


def _by_contract(document: Document, case: Case, test: Test) -> RunTime | None:
    """The case's row on its run time that says most: one with a value, else one with an upper bound."""
    units = {figure.name: figure.unit for figure in test.figures} | {ELAPSED: "s"}
    rows = [row for row in rows_of(document, case) if is_run_time(row.figure, units.get(row.figure, row.unit))]
    return next(_found(row for row in rows if row.statistic != "sd"), None)


def _found(rows: Iterable[ContractRow]) -> Iterator[RunTime]:
    rows = list(rows)
    yield from (_around(row, row.value) for row in rows if row.value)
    yield from (_below(row, row.high) for row in rows if row.high)


def _around(row: ContractRow, value: float) -> RunTime:
    unit_s = seconds_in(row.unit or "s") or 1.0
    widths = [abs(bound - value) for bound in (row.low, row.high) if bound is not None and bound != value]
    spread = min(widths) / _SIGMAS if widths else value * _SPREAD
    return RunTime(value * unit_s, spread * unit_s, source=f"{row.basis} row {row.name}: {row.must}")


def _below(row: ContractRow, high: float) -> RunTime:
    mean = high * _BELOW_BOUND * (seconds_in(row.unit or "s") or 1.0)
    return RunTime(
        mean, mean * _SPREAD, source=f"95 % of the bound of {row.basis} row {row.name} (assumed): {row.must}"
    )


def _assumed(case: Case, share: float) -> RunTime:
    mean = case.shape.time_limit_s * share
    return RunTime(mean, mean * _SPREAD, source=f"{share * 100:g} % of its walltime (assumed)")
