"""Nodes on which no run passed although the same tests passed elsewhere: a plain fact, without a statistical test."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from shakedown.diagnosis.node_names import in_order
from shakedown.diagnosis.node_sets import NodeSets
from shakedown.diagnosis.trials import NOT_NODES, ON_NODES, Setting, numbers_of
from shakedown.metrics.rows.rows import RunRow
from shakedown.metrics.words import plural

FEWEST = 3  # runs that a node had by itself
ENDED_BADLY = ON_NODES | {"interrupted", "lost"}  # what never ended tells of the node too, where nothing else did


def barren_nodes(rows: Iterable[RunRow], setting: Setting, sets: NodeSets | None = None) -> tuple[str, ...]:
    """Purpose: a sentence for each node with several single-node runs of which none passed, although most runs of the same cases
    passed on other nodes. ``sets``: node sets already read.
    """
    sets = sets or NodeSets()
    passed: Counter[str] = Counter()
    judged: Counter[str] = Counter()
    bad: dict[str, list[RunRow]] = defaultdict(list)
    well: set[str] = set()
    for row in rows:
        numbers = numbers_of(row, setting, sets)
        expected = row.verdict == setting.expected.get(row.case)
        if len(numbers) != 1 or row.ruling in NOT_NODES:
            continue
        name = sets.names[numbers[0]]
        if row.verdict == "passed" or expected:
            well.add(name)
            passed[row.case] += 1
            judged[row.case] += 1
        elif row.verdict in ENDED_BADLY:
            bad[name].append(row)
            judged[row.case] += 1
    return tuple(
        _sentence(node, bad[node], passed, judged)
        for node in in_order(bad)
        if node not in well and len(bad[node]) >= FEWEST and _others_pass(bad[node], passed, judged)
    )


def _others_pass(mine: list[RunRow], passed: Counter[str], judged: Counter[str]) -> bool:
    good, others = _elsewhere(mine, passed, judged)
    return others >= FEWEST and 2 * good > others


def _elsewhere(mine: list[RunRow], passed: Counter[str], judged: Counter[str]) -> tuple[int, int]:
    """(Passed runs, all runs) of the same cases on other nodes."""
    cases = {row.case for row in mine}
    return sum(passed[case] for case in cases), sum(judged[case] for case in cases) - len(mine)


def _sentence(node: str, mine: list[RunRow], passed: Counter[str], judged: Counter[str]) -> str:
    good, others = _elsewhere(mine, passed, judged)
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in Counter(row.verdict for row in mine).most_common())
    of = plural(len(mine), "run")
    return (
        f"nothing passed on {node}: {of} ({verdicts}), while of the same tests {good} of {others} passed on other nodes"
    )
