"""The report on the nodes of a campaign: findings, a row for each node, and where there were too few runs to judge."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct

from shakedown.diagnosis.barren import barren_nodes
from shakedown.diagnosis.findings import LEAST_RATIO, LEVEL, NodeFinding, failing_nodes, slow_nodes
from shakedown.diagnosis.left_out import LeftOutNode, left_out_nodes
from shakedown.diagnosis.node_names import fold, in_order, unfold
from shakedown.diagnosis.node_sets import NodeSets, together
from shakedown.diagnosis.trials import (
    ELAPSED,
    NOT_NODES,
    ON_NODES,
    Setting,
    Trials,
    failure_trials,
    numbers_of,
    timed_trials,
)
from shakedown.metrics.rows.rows import RunRow
from shakedown.metrics.rows.table import Record
from shakedown.metrics.statistics import median
from shakedown.metrics.words import plural, show_share
from shakedown.model.nouns import Document


class NodeRow(Struct, frozen=True):
    """A node. ``runs``: all that ran on it and are judged; ``counted``: those that passed or failed as a node can cause, without
    those ruled not to count; ``failed`` of these; ``node_fail`` of all. ``slowness``: the median time of its runs over the
    usual time of their cases, of ``timed`` runs; None where there is none. ``hours``: the time that runs held it. ``findings``: the
    kinds of those that name it; ``alone``: none of them names others beside it. ``left_out``: it launched nothing, at last.
    """

    node: str
    runs: int
    counted: int
    failed: int
    node_fail: int
    timed: int
    slowness: float | None
    hours: float
    excluded: bool = False
    findings: tuple[str, ...] = ()
    alone: bool = True
    left_out: bool = False

    @property
    def note(self) -> str:
        """found; one of several found; excluded; left out."""
        found = ["found" if self.alone else "one of several"] if self.findings else []
        return ", ".join(found + ["excluded"] * self.excluded + ["left out"] * self.left_out)

    @property
    def is_out(self) -> bool:
        """Whether the node got no more work at the end."""
        return self.excluded or self.left_out

    @property
    def failure_rate(self) -> float | None:
        return self.failed / self.counted if self.counted else None


class NodesExamined(Struct, frozen=True):
    """``findings``: the surest first, failures before slowness. ``nodes``: every node of the system and of any run, in order.

    ``unused``: nodes that no run has used, folded. ``enough``: sentences on how much data it would take. ``unplaced``: runs
    whose nodes are not known. ``barren``: a sentence on each node where nothing passed although the same tests did elsewhere.
    ``left_out``: each time that a node was left out since it launched nothing.
    """

    findings: tuple[NodeFinding, ...]
    nodes: tuple[NodeRow, ...]
    unused: str
    enough: tuple[str, ...]
    unplaced: int
    barren: tuple[str, ...] = ()
    left_out: tuple[LeftOutNode, ...] = ()

    @property
    def several(self) -> bool:
        """Whether runs used more than one node; with one node there is nothing to compare."""
        return sum(row.runs > 0 for row in self.nodes) > 1

    def worst(self, most: int) -> tuple[NodeRow, ...]:
        """The nodes to report, the worst first: found, excluded, left out, with failed runs, or slower by 1 % or more."""
        told = [
            row for row in self.nodes if row.findings or row.is_out or row.failed or (row.slowness or 0) >= LEAST_RATIO
        ]
        told.sort(key=lambda row: (not row.findings, not row.is_out, -(row.failure_rate or 0), -(row.slowness or 0)))
        return tuple(told[: max(most, sum(bool(row.findings) or row.is_out for row in told))])


def examine_nodes(document: Document, record: Record) -> NodesExamined:
    """Purpose: examine the nodes of a campaign's record for over-representation among failed and slow runs."""
    return examine_rows(list(record.current()), setting_of(document), excluded_nodes(record), left_out_nodes(record))


def examine_rows(
    rows: list[RunRow],
    setting: Setting,
    excluded: frozenset[str] = frozenset(),
    left_out: tuple[LeftOutNode, ...] = (),
) -> NodesExamined:
    """Purpose: ``examine_nodes`` on given rows, one for each run, in any order."""
    rows = sorted(rows, key=lambda row: row.seq)
    sets = NodeSets()
    failures = failure_trials(rows, setting, sets)
    times = {figure: timed_trials(rows, setting, figure, sets) for figure in setting.figure_names()}
    findings = (*failing_nodes(failures), *slow_nodes(times))
    out_now = frozenset(one.node for one in left_out if not one.back)
    tallies = _tallies(rows, setting, sets)
    nodes = _node_rows(tallies, times[ELAPSED], findings, excluded, out_now)
    unused = [row.node for row in nodes if not row.runs]
    unplaced = sum(bool(row.nodes) and sets.numbers(row.nodes) is None for row in rows)
    barren = barren_nodes(rows, setting, sets)
    return NodesExamined(
        findings, nodes, fold(unused) if unused else "", _enough(nodes, failures), unplaced, barren, left_out
    )


def setting_of(document: Document) -> Setting:
    """The facts of the plan on cases and nodes. With several clusters, a node is named cluster:name."""
    several = len(document.system.clusters) > 1
    clusters = {case.id: case.partition.split(":")[0] for case in document.cases} if several else {}
    expected = {case.id: case.expect for case in document.cases if case.expect}
    names: list[str] = []
    for partition in document.system.partitions():
        mine = unfold(partition.nodes) or ()
        names += [f"{partition.cluster}:{name}" for name in mine] if several else mine
    better = {
        test.name: {one.name: one.better == "higher" for one in test.figures if one.better} for test in document.tests
    }
    figures = {case.id: better[case.test] for case in document.cases if better.get(case.test)}
    return Setting(expected, clusters, tuple(dict.fromkeys(names)), figures)


def excluded_nodes(record: Record) -> frozenset[str]:
    """The nodes that are excluded by the last override on each node."""
    out: set[str] = set()
    for note in record.of_kind("excluded", "included"):
        said = note.value.get("nodes", ())
        texts = [said] if isinstance(said, str) else said if isinstance(said, list | tuple) else ()
        names = {name for text in texts for name in unfold(str(text)) or ()}
        out = out | names if note.kind == "excluded" else out - names
    return frozenset(out)


# ---- a row for each node ---------------------------------------------------------------------------------------------


class _Tally(Struct):
    runs: int = 0
    counted: int = 0
    failed: int = 0
    node_fail: int = 0
    hours: float = 0.0


def _node_rows(
    tallies: Mapping[str, _Tally],
    times: Trials,
    findings: Sequence[NodeFinding],
    excluded: frozenset[str],
    left_out: frozenset[str],
) -> tuple[NodeRow, ...]:
    slow = _slowness(times)
    kinds: dict[str, list[str]] = defaultdict(list)
    for finding in findings:
        for name in finding.names:
            kinds[name] += [finding.kind] if finding.kind not in kinds[name] else []
    together = {name for finding in findings if len(finding.names) > 1 for name in finding.names}
    found = []
    for name in in_order(tallies):
        tally, (timed, ratio) = tallies[name], slow.get(name, (0, None))
        counts = (tally.runs, tally.counted, tally.failed, tally.node_fail)
        names = {name, name.rpartition(":")[2]}
        is_out, alone = bool(names & excluded), name not in together
        row = NodeRow(
            name, *counts, timed, ratio, tally.hours, is_out, tuple(kinds[name]), alone, bool(names & left_out)
        )
        found.append(row)
    return tuple(found)


def _tallies(rows: Sequence[RunRow], setting: Setting, sets: NodeSets) -> Mapping[str, _Tally]:
    """The tally of runs for each node of the system or of any run."""
    for name in setting.nodes:
        sets.number(name)
    parts = [numbers_of(row, setting, sets) for row in rows]
    good = [row.verdict in ("passed", setting.expected.get(row.case)) for row in rows]
    counted = [
        (fine or row.verdict in ON_NODES) and row.ruling not in NOT_NODES for row, fine in zip(rows, good, strict=True)
    ]
    failed = [counts and not fine for counts, fine in zip(counted, good, strict=True)]
    node_fail = [row.verdict == "node_fail" for row in rows]
    numbers, sizes = together(parts), [len(part) for part in parts]
    every = len(sets.names)

    def whole(told: Sequence[bool]) -> list[int]:
        chosen = numbers[np.repeat(np.array(told, dtype=bool), sizes)]
        return [int(count) for count in np.bincount(chosen, minlength=every)]

    held = np.bincount(numbers, weights=np.repeat([_hours(row) for row in rows], sizes), minlength=every)
    hours = held.astype(np.float64).tolist()  # of no runs at all numpy counts in whole numbers
    columns = (whole([True] * len(rows)), whole(counted), whole(failed), whole(node_fail), hours)
    known = set(setting.nodes)
    return {
        name: _Tally(*values) for name, *values in zip(sets.names, *columns, strict=True) if values[0] or name in known
    }


def _hours(row: RunRow) -> float:
    if row.started is not None and row.ended is not None:
        return max(0.0, row.ended - row.started) / 3600
    return (row.elapsed_s or 0.0) / 3600


def _slowness(times: Trials) -> dict[str, tuple[int, float]]:
    """For each node, its number of timed runs and their median slowness."""
    found = {}
    for node, name in enumerate(times.names):
        mine = times.on(node)
        if len(mine):
            found[name] = len(mine), math.exp(median(times.value[mine].tolist()))
    return found


# ---- how much data it takes ------------------------------------------------------------------------------------------


def _enough(nodes: tuple[NodeRow, ...], trials: Trials) -> tuple[str, ...]:
    """What would be found at this campaign's rate of failures and number of nodes, and how many nodes have too few runs."""
    used = sorted(row.counted for row in nodes if row.counted)
    if len(used) < 2:
        return ("runs on one node, or on none, have nothing to be compared with",)
    runs, failed = len(trials.rows), int((trials.value > 0).sum())
    rate = f" ({show_share(failed / runs)})" if failed else ""
    said = [f"{plural(failed, 'failure')} counted in {plural(runs, 'run')} on {plural(len(used), 'node')}{rate}"]
    chance, middle = _chance(trials), used[len(used) // 2]
    least = least_failures(chance, len(used))
    if least is None or least > runs:
        return (*said, "that is too few runs of each case: no node could be found, whatever failed on it")
    typical = least_failures(chance, len(used), middle)
    of_usual = f"; of the usual {plural(middle, 'run')} about {typical} must fail" if typical is not None else ""
    said.append(f"a node is found from about {plural(least, 'run')} on, if all of them fail{of_usual}")
    if few := bisect_left(used, least):
        said.append(
            f"{few} of {plural(len(used), 'node')} had fewer than {plural(least, 'run')}: nothing can be said of them"
        )
    return tuple(said)


def least_failures(chance: float, nodes: int, of: int | None = None) -> int | None:
    """Purpose: the smallest number of failures with which a node with these runs is found; None if no number suffices.

    ``chance``: that a run fails on a node that is well. A binomial tail: the runs of the node are few beside all others.
    """
    wanted = LEVEL / nodes
    if chance >= 1.0:
        return None
    if of is None:
        return math.ceil(math.log(wanted) / math.log(chance) - 1e-9)
    tail = 0.0
    for count in range(of, 0, -1):
        tail += _exactly(count, of, chance)
        if tail > wanted:
            return count + 1 if count < of else None
    return 1


def _exactly(count: int, of: int, chance: float) -> float:
    """The binomial chance of ``count`` in ``of``."""
    ways = math.lgamma(of + 1) - math.lgamma(count + 1) - math.lgamma(of - count + 1)
    return math.exp(ways + count * math.log(chance) + (of - count) * math.log1p(-chance))


def _chance(trials: Trials) -> float:
    """The chance of one failed run in a stratum of the usual size, the run itself among those that failed."""
    sizes = np.bincount(trials.stratum)
    usual = float(np.median(sizes[trials.stratum]))
    rate = float((trials.value > 0).mean())
    return (1.0 + rate * (usual - 1.0)) / usual
