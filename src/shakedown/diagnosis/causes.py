"""Failures that have one cause count once: a test that takes them for independent would find nodes that are well.

``one_a_cause`` is the table of contents. Only failures are ever left out, never a good run.
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
    """Purpose: rows in the order of their starts, without failures that another failure explains."""
    rows = _once_in_a_job(rows, failed)
    rows = _once_in_a_streak(rows, failed, sets)
    return _without_outages(rows, failed, sets)


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


def _once_in_a_streak(rows: Sequence[RunRow], failed: set[str], sets: NodeSets) -> list[RunRow]:
    """When everything fails at once, the scheduler hands the node that is free to run after run. Of failures that started one
    after the other with no good start between them, each node's first counts.
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
    """A failure at a time when most other nodes fail too says nothing about its node."""
    usual = _mostly_good_cases(rows, failed)
    places = {row.run: place for place, row in enumerate(rows)}
    held = [sets.bits(row.nodes) for row in rows]
    asked = [row.case in usual for row in rows]

    def alone(row: RunRow) -> bool:
        around = [rows[other] for other in _places_around(held, asked, places[row.run])]
        return len(around) < NEIGHBOURS_LEAST or 2 * sum(other.run in failed for other in around) <= len(around)

    return _kept(rows, failed, alone)


def slow_moments(rows: Sequence[RunRow], ranks: Sequence[float], sets: NodeSets) -> list[bool]:
    """Purpose: for each start whether most others were slow just then, whatever it was itself: such a moment tells nothing.

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
    """The starts nearest to one, on other nodes, one a node. ``held``: the nodes of each, as bits; ``asked``: those that may be."""
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
    """All good rows, and the failed ones that are kept."""
    return [row for row in rows if row.run not in failed or keep(row)]
