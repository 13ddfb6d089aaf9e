"""Counts failures with a common cause once, because a test that assumes independent failures would blame healthy nodes.

Start reading at ``one_a_cause``. Only failed runs are left out, never good runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from shakedown.diagnosis.node_sets import NodeSets
from shakedown.metrics.rows.rows import RunRow
from shakedown.metrics.statistics import median

OF_A_JOB = frozenset({"timeout", "node_fail"})  # verdicts that end a job, with all its runs
NEIGHBOURS = 9  # other nodes that are looked at around a failure
NEIGHBOURS_LEAST = 3
STEPS = 40  # starts that are looked at for them, before and after
SLOW_MOMENT = 0.8  # the median rank of the neighbours above which all are slow; by chance once in fifty times


def one_a_cause(rows: Sequence[RunRow], failed: set[str], sets: NodeSets) -> list[RunRow]:
    """Purpose: the rows in order of start, without failures that another failure explains."""
    rows = _once_in_a_job(rows, failed)
    rows = _once_in_a_streak(rows, failed, sets)
    return _without_outages(rows, failed, sets)


def _once_in_a_job(rows: Sequence[RunRow], failed: set[str]) -> list[RunRow]:
    """Keep one failure for each job, set of nodes and test, and one for the end of the job: the end of a job ends all its runs,
    and a program that cannot run in a job fails each time.
    """
    seen: set[tuple[str, ...]] = set()

    def first(row: RunRow) -> bool:
        what = "the job" if row.verdict in OF_A_JOB else f"test {row.case.split('/')[0]}"
        new = not row.job or (row.job, row.nodes, what) not in seen
        seen.add((row.job, row.nodes, what))
        return new

    return _kept(rows, failed, first)


def _once_in_a_streak(rows: Sequence[RunRow], failed: set[str], sets: NodeSets) -> list[RunRow]:
    """Keep the first failure of each node in a streak of failures without a good start between them: when all runs fail at
    once, the scheduler gives the free node to one run after another.
    """
    used = 0

    def new(row: RunRow) -> bool:
        nonlocal used
        if row.run not in failed:
            used = 0
            return True
        mine = sets.bits(row.nodes)
        again = bool(used & mine)
        used |= mine
        return not again

    return [row for row in rows if new(row)]


def _without_outages(rows: Sequence[RunRow], failed: set[str], sets: NodeSets) -> list[RunRow]:
    """Leave out failures at times when most other nodes fail too, because they say nothing about their node."""
    usual = _mostly_good_cases(rows, failed)
    places = {row.run: place for place, row in enumerate(rows)}
    held = [sets.bits(row.nodes) for row in rows]
    asked = [row.case in usual for row in rows]

    def alone(row: RunRow) -> bool:
        around = [rows[other] for other in _places_around(held, asked, places[row.run])]
        return len(around) < NEIGHBOURS_LEAST or 2 * sum(other.run in failed for other in around) <= len(around)

    return _kept(rows, failed, alone)


def slow_moments(rows: Sequence[RunRow], ranks: Sequence[float], sets: NodeSets) -> list[bool]:
    """Purpose: for each start, whether most other runs around it were slow; such moments say nothing about nodes.

    ``ranks``: from 0, the fastest of its case at that time, to 1, the slowest.
    """
    held = [sets.bits(row.nodes) for row in rows]
    every = [True] * len(rows)
    found = []
    for place in range(len(rows)):
        around = [ranks[other] for other in _places_around(held, every, place)]
        found.append(len(around) >= NEIGHBOURS_LEAST and median(around) > SLOW_MOMENT)
    return found


def _places_around(held: Sequence[int], asked: Sequence[bool], place: int) -> list[int]:
    """The starts nearest to a start, on other nodes, one for each node. ``held``: nodes of each start, as bits;
    ``asked``: the starts that may be used."""
    used, found = held[place], list[int]()
    for step in range(1, STEPS + 1):
        for other in (place - step, place + step):
            if 0 <= other < len(held) and asked[other] and not used & held[other]:
                used |= held[other]
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
    """All good rows, and the failed rows that are kept."""
    return [row for row in rows if row.run not in failed or keep(row)]
