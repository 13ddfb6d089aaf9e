"""Turns runs into trials of their nodes: which runs count, which runs they are compared with, and which nodes took part.

A run is compared with runs of its own *stratum* only: the same case, mode and epoch, started at about the same time. So a case
that always fails, a change of the machine or a bad afternoon marks all nodes alike, and blames none.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from shakedown.diagnosis.causes import one_a_cause, slow_moments
from shakedown.diagnosis.node_names import in_order
from shakedown.diagnosis.node_sets import NodeSets, Numbers, together
from shakedown.diagnosis.slowness import ranks, slowness
from shakedown.metrics.rows.rows import RunRow
from shakedown.metrics.statistics import median
from shakedown.model.events import COMPLETED

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

BLOCK = 64  # runs of a case that are compared with each other, at least: neighbours in time
ON_NODES = frozenset({"failed", "incorrect", "performance", "timeout", "node_fail"})  # verdicts that a node can cause
ELAPSED = "elapsed"  # the figure that every run has: its time
NOT_NODES = frozenset({"application", "harness", "excused"})  # rulings under which a run says nothing about nodes


@dataclass(frozen=True, slots=True)
class Setting:
    """Facts of the plan that the rows lack. ``expected``: case -> expected verdict. ``clusters``: case -> cluster,
    where the system has several; their nodes are then told apart as cluster:node. ``nodes``: every node of the system, by name.
    ``figures``: case -> name of a figure that has a better side -> whether that is the higher one.
    """

    expected: Mapping[str, str]
    clusters: Mapping[str, str]
    nodes: tuple[str, ...] = ()
    figures: Mapping[str, Mapping[str, bool]] = field(default_factory=dict)

    def figure_names(self) -> list[str]:
        """The names of the figures of all cases, with the run time first."""
        return list(dict.fromkeys([ELAPSED, *(name for figures in self.figures.values() for name in figures)]))


@dataclass(frozen=True, slots=True)
class Trials:
    """``rows[i]`` is trial i, in the order of their starts; ``stratum[i]`` numbers its stratum. Trial ``trial_of[k]`` ran on node
    ``names[node_of[k]]``, for every k, sorted by node. ``value[i]``: 1.0 for a failure, or the logarithm of run time over what
    is usual.
    """

    rows: tuple[RunRow, ...]
    names: tuple[str, ...]
    stratum: Ints
    value: Floats
    trial_of: Ints
    node_of: Ints

    def on(self, node: int) -> Ints:
        """The indices of the trials that ran on a node."""
        begin, end = np.searchsorted(self.node_of, (node, node + 1))
        return self.trial_of[begin:end]

    def mask(self, places: Ints) -> Mask:
        """A mask that is true at these trials."""
        mask = np.zeros(len(self.rows), dtype=bool)
        mask[places] = True
        return mask


def failure_trials(rows: Iterable[RunRow], setting: Setting, sets: NodeSets | None = None) -> Trials:
    """Purpose: every run that passed or failed in a way that a node can cause, failures that have one cause counted once.

    ``sets``: node sets already read.
    """
    sets = sets or NodeSets()
    counted = [row for row in rows if _counts(row, ON_NODES | {"passed"}, sets)]
    failed = {row.run for row in counted if row.verdict in ON_NODES and row.verdict != setting.expected.get(row.case)}
    kept = one_a_cause(_by_start(counted), failed, sets)
    return make_trials(kept, np.array([row.run in failed for row in kept], dtype=float), setting, sets)


def timed_trials(
    rows: Iterable[RunRow], setting: Setting, figure: str = ELAPSED, sets: NodeSets | None = None
) -> Trials:
    """Purpose: every run that ran to its end and how its time, or a figure, compares with its neighbours of the same case: as a
    logarithm, above 0 where it is worse.

    Runs at moments when most others are slow tell nothing. Runs of one stratum in one job, or started one after the other, on the
    same nodes are one trial with their median: they share what the job, or that moment, met.
    """
    sets = sets or NodeSets()
    right = [row for row in _by_start(rows) if _counts(row, COMPLETED, sets)]
    counted = [row for row in right if _cost(row, setting, figure) is not None]
    logs = np.array([_cost(row, setting, figure) for row in counted], dtype=float)
    values = slowness(logs, _groups(counted))
    calm = ~np.array(slow_moments(counted, ranks(values, _strata(counted)).tolist(), sets), dtype=bool)
    counted, values = [row for row, told in zip(counted, calm, strict=True) if told], values[calm]
    shared: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for place, (row, burst) in enumerate(zip(counted, _bursts(counted), strict=True)):
        shared[row.case, row.mode, str(row.epoch), burst].append(place)
    told = values.tolist()
    middle = np.array([median([told[place] for place in places]) for places in shared.values()])
    return make_trials([counted[places[0]] for places in shared.values()], middle, setting, sets)


def _bursts(rows: Sequence[RunRow]) -> list[str]:
    """For each row what names its burst: runs of one job, or one right after the other, on the same nodes have the same."""
    names: list[str] = []
    of_job: dict[tuple[str, str], str] = {}
    for place, row in enumerate(rows):
        follows = place > 0 and rows[place - 1].nodes == row.nodes
        name = names[-1] if follows else row.run
        names.append(of_job.setdefault((row.job, row.nodes), name) if row.job else name)
    return names


def _cost(row: RunRow, setting: Setting, figure: str) -> float | None:
    """The logarithm of what a run took; of a figure where higher is better, of its inverse. None where it has none."""
    if figure == ELAPSED:
        return math.log(row.elapsed_s) if row.elapsed_s and row.elapsed_s > 0 else None
    value, higher = row.figures.get(figure, 0.0), setting.figures.get(row.case, {}).get(figure)
    if higher is None or value <= 0:
        return None
    return -math.log(value) if higher else math.log(value)


def make_trials(rows: Sequence[RunRow], value: Floats, setting: Setting, sets: NodeSets | None = None) -> Trials:
    """Purpose: rows in the order of their starts as arrays: who took part in what, and what is compared with what."""
    sets = sets or NodeSets()
    parts = [numbers_of(row, setting, sets) for row in rows]
    trial_of = np.repeat(np.arange(len(rows), dtype=np.int64), [len(part) for part in parts])
    number_of = together(parts)
    used = np.unique(number_of).tolist()
    names = {sets.names[number]: number for number in used}
    ordered = in_order(names)
    place_of = np.zeros(len(sets.names), dtype=np.int64)
    place_of[[names[name] for name in ordered]] = np.arange(len(ordered))
    nodes = place_of[number_of]
    few = np.uint16 if len(ordered) < 1 << 16 else np.int64  # numbers that short are sorted much faster
    by_node = np.argsort(nodes.astype(few), kind="stable")
    return Trials(tuple(rows), tuple(ordered), _strata(rows), value, trial_of[by_node], nodes[by_node])


def numbers_of(row: RunRow, setting: Setting, sets: NodeSets) -> Numbers:
    """The nodes of a run; empty if unknown or unreadable. If the scheduler named the failed nodes, only these, because the
    other nodes did not cause the failure.
    """
    cluster = setting.clusters.get(row.case, "")
    if row.verdict == "node_fail" and row.failed_nodes:
        return sets.of_names(row.failed_nodes, cluster)
    found = sets.numbers(row.nodes, cluster)
    return sets.of_names(()) if found is None else found


def _counts(row: RunRow, verdicts: frozenset[str], sets: NodeSets) -> bool:
    return row.verdict in verdicts and row.ruling not in NOT_NODES and sets.numbers(row.nodes) is not None


def _by_start(rows: Iterable[RunRow]) -> list[RunRow]:
    return sorted(rows, key=lambda row: (row.time if row.started is None else row.started, row.seq))


# ---- what is compared with what --------------------------------------------------------------------------------------


def _groups(rows: Sequence[RunRow]) -> list[Ints]:
    """The indices of the rows of each case, mode and epoch, in order of start."""
    groups: dict[tuple[str, str, int], list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        groups[row.case, row.mode, row.epoch].append(place)
    return [np.array(places, dtype=np.int64) for places in groups.values()]


def _strata(rows: Sequence[RunRow]) -> Ints:
    """Groups of at least twice BLOCK runs are cut into blocks of neighbours in time."""
    stratum = np.zeros(len(rows), dtype=np.int64)
    number = 0
    for places in _groups(rows):
        for block in np.array_split(places, max(1, len(places) // BLOCK)):
            stratum[block] = number
            number += 1
    return stratum
