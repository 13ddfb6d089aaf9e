"""Failures that have one cause count once: a test that takes them for independent would find nodes that are well.

``one_a_cause`` is the table of contents. Only failures are ever left out, never a good run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from shakedown.diagnosis.node_names import unfold
from shakedown.metrics.rows.rows import RunRow
from shakedown.metrics.statistics import median

OF_A_JOB = frozenset({"timeout", "node_fail"})  # verdicts that end a job, with all its runs
NEIGHBOURS = 9  # other nodes that are looked at around a failure
NEIGHBOURS_LEAST = 3
STEPS = 40  # starts that are looked at for them, before and after
SLOW_MOMENT = 0.8  # the median rank of the neighbours above which all are slow; by chance once in fifty times


def one_a_cause(rows: Sequence[RunRow], failed: set[str]) -> list[RunRow]:
    """Purpose: rows in the order of their starts, without failures that another failure explains."""
    rows = _once_in_a_job(rows, failed)
    rows = _once_in_a_streak(rows, failed)
    return _without_outages(rows, failed)


def _once_in_a_job(rows: Sequence[RunRow], failed: set[str]) -> list[RunRow]:
    """A job of many runs that ends takes them all along, and a program that cannot run in it fails each time: of one job, on
    the same nodes, failures of one test count once, and so does the end of the job.
    """
    seen: set[tuple[str, ...]] = set()

    def first(row: RunRow) -> bool:
        what = "the job" if row.verdict in OF_A_JOB else f"test {row.case.split('/')[0]}"
        new = not row.job or (row.job, row.nodes, what) not in seen
        seen.add((row.job, row.nodes, what))
        return new

    return _kept(rows, failed, first)


def _once_in_a_streak(rows: Sequence[RunRow], failed: set[str]) -> list[RunRow]:
    """When everything fails at once, the scheduler hands the node that is free to run after run. Of failures that started one
    after the other with no good start between them, each node's first counts.
    """
    used: set[str] = set()

    def new(row: RunRow) -> bool:
        mine = nodes_of(row)
        if row.run not in failed:
            used.clear()
            return True
        again = not used.isdisjoint(mine)
        used.update(mine)
        return not again

    return [row for row in rows if new(row)]


def _without_outages(rows: Sequence[RunRow], failed: set[str]) -> list[RunRow]:
    """A failure at a time when most other nodes fail too says nothing about its node."""
    usual = _mostly_good_cases(rows, failed)
    places = {row.run: place for place, row in enumerate(rows)}

    def alone(row: RunRow) -> bool:
        around = _around(rows, places[row.run], usual)
        return len(around) < NEIGHBOURS_LEAST or 2 * sum(other.run in failed for other in around) <= len(around)

    return _kept(rows, failed, alone)


def slow_moments(rows: Sequence[RunRow], ranks: Sequence[float]) -> list[bool]:
    """Purpose: for each start whether most others were slow just then, whatever it was itself: such a moment tells nothing.

    ``ranks``: from 0, the fastest of its case at that time, to 1, the slowest.
    """
    cases = {row.case for row in rows}
    found = []
    for place in range(len(rows)):
        around = [ranks[other] for other in _places_around(rows, place, cases)]
        found.append(len(around) >= NEIGHBOURS_LEAST and median(around) > SLOW_MOMENT)
    return found


def _around(rows: Sequence[RunRow], place: int, cases: set[str]) -> list[RunRow]:
    return [rows[other] for other in _places_around(rows, place, cases)]


def _places_around(rows: Sequence[RunRow], place: int, cases: set[str]) -> list[int]:
    """The starts of these cases nearest to one, on other nodes, one a node."""
    used, found = set(nodes_of(rows[place])), list[int]()
    for step in range(1, STEPS + 1):
        for other in (place - step, place + step):
            if 0 <= other < len(rows) and rows[other].case in cases and used.isdisjoint(mine := nodes_of(rows[other])):
                used.update(mine)
                found.append(other)
                if len(found) == NEIGHBOURS:
                    return found
    return found


def _mostly_good_cases(rows: Sequence[RunRow], failed: set[str]) -> set[str]:
    """A case that fails as a rule does not tell an outage."""
    balance: dict[str, int] = {}
    for row in rows:
        balance[row.case] = balance.get(row.case, 0) + (-1 if row.run in failed else 1)
    return {case for case, good in balance.items() if good > 0}


def _kept(rows: Sequence[RunRow], failed: set[str], keep: Callable[[RunRow], bool]) -> list[RunRow]:
    """All good rows, and the failed ones that are kept."""
    return [row for row in rows if row.run not in failed or keep(row)]


def nodes_of(row: RunRow) -> tuple[str, ...]:
    return unfold(row.nodes) or ()
