"""Finds the nodes that explain the marked runs: find the worst node, set its runs aside, repeat with the remaining runs.

A failed run on many nodes counts against all of them. Runs that nodes do not share separate a bad node from its companions. A node
is a companion if it is not conspicuous without the runs of another node, while that other node is conspicuous without the runs of
the companion. If neither node is conspicuous without the runs of the other, they cannot be told apart and are found together.

A node is found if its exact p-value, times the number of nodes that could have been found and of questions asked, is at most
``level``: on a machine without bad nodes, at most this share of campaigns finds any node (Bonferroni; after each
round, among the nodes that are left, as in Holm's procedure).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from shakedown.diagnosis.exact import Margins, upper_tail
from shakedown.diagnosis.trials import Floats, Ints, Mask, Trials

FOUND_LIMIT = 200  # rounds: a machine with more bad nodes than are found by then has another trouble
SUSPECTS_LIMIT = 500  # in one round
RIVALS = 24  # companions that the worst node is compared with
STANDS = 0.05  # the p-value at which a node is still conspicuous without a rival's runs
FAR_BEHIND = 100.0  # a rival whose p-value is so many times larger, and that does not stand alone, is a companion
_DENSE = 20_000_000  # keys that are counted in a table with a place for each, 160 MB: much faster than sorting them
_FEW = 16  # nodes: of so few the exact p-value of each is computed
_FAR = 2.0  # standard deviations above what is expected: below, the exact p-value cannot be small enough

Marks = Callable[[Mask], Sequence[Mask]]


@dataclass(frozen=True, slots=True)
class Blame:
    """A node that explains marked runs, or several nodes that cannot be told apart.

    ``p``: corrected p-value. ``trials``: the trials of the nodes. ``question``: number of the question that found them;
    ``marks``: the trials that this question marked. ``alive``: the trials that were left at that time.
    """

    nodes: tuple[int, ...]
    p: float
    trials: Ints
    marks: Mask
    alive: Mask
    question: int = 0


@dataclass(frozen=True, slots=True)
class _Suspect:
    node: int
    p: float  # corrected
    question: int
    marks: Mask
    trials: Ints  # those that are left and ran on it


def find_nodes(trials: Trials, marks: Marks, level: float, matters: Callable[[Ints], bool]) -> list[Blame]:
    """Purpose: the nodes that explain the marked trials, the worst first.

    ``marks``: from the mask of remaining trials, a mask of marked trials for each question. ``matters``: whether the effect
    on a node's trials is large enough to report.
    """
    alive, found = np.ones(len(trials.rows), dtype=bool), list[Blame]()
    for _ in range(FOUND_LIMIT):
        suspects = [one for one in _suspects(trials, alive, marks(alive), level) if matters(one.trials)]
        if not suspects:
            break
        for group in _to_blame(trials, alive, suspects):
            together = np.unique(np.concatenate([one.trials for one in group]))
            nodes, first = tuple(one.node for one in group), group[0]
            found.append(Blame(nodes, first.p, together, first.marks, alive, first.question))
        alive = alive & ~trials.mask(np.concatenate([blame.trials for blame in found]))
    return found


# ---- who is conspicuous ----------------------------------------------------------------------------------------------


def _suspects(trials: Trials, alive: Mask, marks: Sequence[Mask], level: float) -> list[_Suspect]:
    """The nodes whose corrected p-value is at most ``level``, the smallest first."""
    best: dict[int, tuple[float, int]] = {}
    informed: set[int] = set()
    for question, marked in enumerate(marks):
        nodes, chances = _p_values(trials, alive, marked)
        informed.update(nodes)
        for node, p in chances.items():
            best[node] = min(best.get(node, (2.0, 0)), (p, question))
    times = len(informed) * len(marks)
    few = sorted((p, node, question) for node, (p, question) in best.items() if p * times <= level)[:SUSPECTS_LIMIT]
    return [
        _Suspect(node, p * times, question, marks[question], (on := trials.on(node))[alive[on]])
        for p, node, question in few
    ]


def _p_values(trials: Trials, alive: Mask, marked: Mask) -> tuple[list[int], dict[int, float]]:
    """The nodes that the remaining trials allow to judge, and the p-values of those with far more marks than expected."""
    n, f = _margins(trials, alive, marked)
    mixed = ((f > 0) & (f < n))[trials.stratum]
    pairs = np.flatnonzero((alive & mixed)[trials.trial_of])
    if not len(pairs):
        return [], {}
    keys = trials.node_of[pairs] * len(n) + trials.stratum[trials.trial_of[pairs]]
    key, m, x = _tallied(keys, marked[trials.trial_of[pairs]], len(trials.names) * len(n))
    node, stratum = key // len(n), key % len(n)
    some = m < n[stratum]
    node, stratum, m, x = node[some], stratum[some], m[some], x[some]
    nodes = np.unique(node)
    far = _far(node, x, m, n[stratum], f[stratum], len(trials.names), everyone=len(nodes) <= _FEW)
    begins, ends = np.searchsorted(node, far), np.searchsorted(node, far, side="right")
    chances = {}
    for one, begin, end in zip(far.tolist(), begins.tolist(), ends.tolist(), strict=True):
        mine = slice(begin, end)
        chances[one] = upper_tail(_sorted(n, f, stratum[mine], m[mine]), round(float(x[mine].sum())))
    return nodes.tolist(), chances


def _tallied(keys: Ints, marked: Mask, most: int) -> tuple[Ints, Ints, Floats]:
    """The distinct keys in order, the count of each, and its count of marks. ``most``: upper bound of the keys."""
    if most <= _DENSE:
        counts, hits = np.bincount(keys, minlength=most), np.bincount(keys[marked], minlength=most)
        key = np.flatnonzero(counts)
        return key.astype(np.int64), counts[key].astype(np.int64), hits[key].astype(np.float64)
    key, inverse, m = np.unique(keys, return_inverse=True, return_counts=True)
    return key, m.astype(np.int64), np.bincount(inverse, weights=marked, minlength=len(key)).astype(np.float64)


def _far(node: Ints, x: Floats, m: Ints, n: Ints, f: Ints, nodes: int, everyone: bool) -> Ints:
    """The nodes with so many more marked runs than expected that their exact p-value must be computed."""
    expected = m * f / n
    variance = expected * (n - f) * (n - m) / (n * np.maximum(n - 1, 1))
    more = np.bincount(node, weights=x - expected, minlength=nodes)
    spread = np.sqrt(np.bincount(node, weights=variance, minlength=nodes))
    return np.flatnonzero((more > 1e-9) & (everyone | (more >= _FAR * spread)))


def _margins(trials: Trials, alive: Mask, marked: Mask) -> tuple[Ints, Ints]:
    """For each stratum, the number of remaining trials and of marked ones among them."""
    strata = int(trials.stratum.max(initial=0)) + 1
    n = np.bincount(trials.stratum[alive], minlength=strata)
    return n, np.bincount(trials.stratum[alive & marked], minlength=strata)


def _sorted(n: Ints, f: Ints, stratum: Ints, m: Ints) -> list[Margins]:
    return sorted(zip(n[stratum].tolist(), f[stratum].tolist(), m.tolist(), strict=True))


# ---- who is to blame -------------------------------------------------------------------------------------------------


def _to_blame(trials: Trials, alive: Mask, suspects: list[_Suspect]) -> list[list[_Suspect]]:
    """The suspects that no other suspect explains and that share no trial; each with the nodes it cannot be told apart from."""
    groups: list[list[_Suspect]] = []
    taken = np.zeros(len(alive), dtype=bool)
    for one in suspects:
        if taken[one.trials].any():
            continue
        group = _with_its_likes(trials, alive, one, suspects)
        if group:
            groups.append(group)
            for other in group:
                taken[other.trials] = True
    return groups or [[suspects[0]]]


def _with_its_likes(trials: Trials, alive: Mask, one: _Suspect, suspects: list[_Suspect]) -> list[_Suspect]:
    """The suspect and the nodes it cannot be told apart from; empty if another suspect explains it."""
    group, own = [one], trials.mask(one.trials)
    others = [other for other in suspects if other is not one and own[other.trials].any()]
    rivals = [other for other in others if not np.array_equal(other.trials, one.trials)]
    for other in rivals[:RIVALS]:
        if _stands(trials, alive, one, other):
            continue
        if _stands(trials, alive, other, one):
            return []
        if other.p < FAR_BEHIND * one.p:
            group.append(other)
    return group + [other for other in others if np.array_equal(other.trials, one.trials)]


def _stands(trials: Trials, alive: Mask, one: _Suspect, without: _Suspect) -> bool:
    """Whether a node is conspicuous in the runs that it does not share with another node."""
    left = alive & ~trials.mask(without.trials)
    mine = one.trials[left[one.trials]]
    n, f = _margins(trials, left, one.marks)
    m = np.bincount(trials.stratum[mine], minlength=len(n))
    stratum = np.flatnonzero(m)
    return upper_tail(_sorted(n, f, stratum, m[stratum]), int(one.marks[mine].sum())) <= STANDS
