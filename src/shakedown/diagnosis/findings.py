"""Findings about nodes: kind, nodes, certainty, size of the effect, evidence, and the sentence for people."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from msgspec import Struct

from shakedown.diagnosis.attribution import Blame, find_nodes
from shakedown.diagnosis.node_names import fold, in_order
from shakedown.diagnosis.slowness import CUT_WORDS, slow_marks
from shakedown.diagnosis.trials import ELAPSED, Ints, Trials
from shakedown.metrics.rows.rows import RunRow
from shakedown.metrics.words import plural, show_number

FALSE_FINDINGS = 0.01  # the share of campaigns on a machine without bad nodes in which anything at all is found
LEVEL = FALSE_FINDINGS / 2  # of each kind
LEAST_RATIO = 1.01  # nodes that cost less than a hundredth of the run time are not worth a person's walk
RUNS_TOLD = 6  # in the sentence; the evidence has all of them
SOON_S = 3600.0  # failures that lie closer together may have a cause of that hour

Kind = Literal["node-failures", "node-slow"]
ADVICE: dict[Kind, str] = {
    "node-failures": "read the evidence (shakedown show RUN) and the node's own log; exclude the node, or rule the runs "
    "application, harness or excused where it was not the node.",
    "node-slow": "run a kernel on the node alone beside one that is well (stream, noise); look at its clock, memory, temperature.",
}


class Count(Struct, frozen=True):
    """A number of runs out of a total."""

    hits: int
    of: int

    def __str__(self) -> str:
        return f"{self.hits} of {self.of}"


class NodeFinding(Struct, frozen=True):
    """Nodes that are over-represented among failed or slow runs; several nodes: one of
    them is bad, but they cannot be told apart.

    ``p``: the exact p-value, corrected for the number of nodes and of questions. ``on_it`` and ``elsewhere``: failed or slow runs
    on the nodes, and of the same cases on others. ``ratio``: median time over the usual time of the cases (1.8), or the same for
    another ``figure``; None for failures. ``evidence``: the failed or slow runs on the nodes. ``advice``: what a person can do.
    """

    kind: Kind
    nodes: str
    names: tuple[str, ...]
    p: float
    on_it: Count
    elsewhere: Count
    ratio: float | None
    evidence: tuple[str, ...]
    sentence: str
    advice: str
    figure: str = ""


def failing_nodes(trials: Trials) -> list[NodeFinding]:
    """Purpose: the nodes that are over-represented among failed runs, the most certain first."""
    failed = trials.value > 0
    found = find_nodes(trials, lambda alive: [failed & alive], LEVEL, lambda mine: True)
    return [_failing(trials, blame) for blame in found]


def slow_nodes(trials: Mapping[str, Trials]) -> list[NodeFinding]:
    """Purpose: the nodes that are over-represented among slow runs, the most certain first; then nodes found by other figures only.

    ``trials``: by figure, the run time first. All of them share LEVEL.
    """
    found: list[NodeFinding] = []
    for figure, mine in trials.items():
        told = {name for finding in found for name in finding.names}
        found += [one for one in _worse(mine, figure, LEVEL / len(trials)) if not told.issuperset(one.names)]
    return found


def _worse(trials: Trials, figure: str, level: float) -> list[NodeFinding]:
    def matters(mine: Ints) -> bool:
        return float(trials.value[mine].mean()) >= math.log(LEAST_RATIO)

    found = find_nodes(trials, lambda alive: slow_marks(trials.value, trials.stratum, alive), level, matters)
    return [_slow(trials, blame, figure) for blame in found]


def _failing(trials: Trials, blame: Blame) -> NodeFinding:
    on_it, elsewhere, rows = _counted(trials, blame)
    said = f"{_who(trials, blame)}: {on_it.hits} of its {on_it.of} runs failed, elsewhere {elsewhere} of the same cases"
    sentence = f"{said}; corrected p = {show_p(blame.p)}{_when(rows)}; {_runs(rows)}"
    return _finding("node-failures", trials, blame, (on_it, elsewhere), None, rows, sentence)


def _slow(trials: Trials, blame: Blame, figure: str) -> NodeFinding:
    on_it, elsewhere, rows = _counted(trials, blame)
    values = trials.value[blame.trials]
    ratio = math.exp(float(np.median(values)))
    whose, told = "its runs", ratio
    if ratio < LEAST_RATIO:  # slow now and then
        whose, told = "its slow runs", math.exp(float(np.median(values[blame.marks[blame.trials]])))
    took = f"{whose} take {show_number(told, 3)} times as long as is usual for their cases (median)"
    if figure != ELAPSED:
        took = f"{figure} of {whose} is {show_number(told, 3)} times worse than is usual for their cases (median)"
    which = f"{on_it} are in the {'slowest' if figure == ELAPSED else 'worst'} {CUT_WORDS[blame.question]}"
    said = f"{_who(trials, blame)}: {took}; {which}, elsewhere {elsewhere}"
    sentence = f"{said}; corrected p = {show_p(blame.p)}; {_runs(rows)}"
    return _finding("node-slow", trials, blame, (on_it, elsewhere), ratio, rows, sentence, figure)


def _finding(
    kind: Kind, trials: Trials, blame: Blame, counts: tuple[Count, Count], ratio: float | None, rows: list[RunRow], sentence: str,
    figure: str = "",
) -> NodeFinding:  # fmt: skip
    names = tuple(in_order(trials.names[node] for node in blame.nodes))
    evidence = tuple(row.run for row in rows)
    return NodeFinding(kind, fold(names), names, blame.p, *counts, ratio, evidence, sentence, ADVICE[kind], figure)


def _counted(trials: Trials, blame: Blame) -> tuple[Count, Count, list[RunRow]]:
    """(Marked and all trials on the nodes, the same for other nodes in the same cases, rows of the marked trials)."""
    mine = trials.mask(blame.trials)
    cases = {trials.rows[place].case for place in blame.trials.tolist()}
    same = np.array([row.case in cases for row in trials.rows])
    others = blame.alive & same & ~mine
    rows = [trials.rows[place] for place in np.flatnonzero(mine & blame.marks).tolist()]
    return Count(len(rows), len(blame.trials)), Count(int((others & blame.marks).sum()), int(others.sum())), rows


def _who(trials: Trials, blame: Blame) -> str:
    names = in_order(trials.names[node] for node in blame.nodes)
    if len(names) == 1:
        return names[0]
    return f"one of {fold(names)}, which ran together too often to be told apart"


def _when(rows: Sequence[RunRow]) -> str:
    """A warning if all failures lie close together in time, because the cause may then be the time and not the node."""
    times = [row.time if row.ended is None else row.ended for row in rows]
    if not times or max(times) - min(times) > SOON_S:
        return ""
    minutes = math.ceil((max(times) - min(times)) / 60)
    return f"; all within {plural(max(1, minutes), 'minute')}: look for what else happened then"


def _runs(rows: Sequence[RunRow]) -> str:
    more = len(rows) - RUNS_TOLD
    return ", ".join(row.run for row in rows[:RUNS_TOLD]) + (f" and {more} more" if more > 0 else "")


def show_p(p: float) -> str:
    """A p-value as text with two digits: 0.0021, 2.1e-07; "less than" the smallest float if it underflows."""
    return f"{p:.2g}" if p >= 1e-300 else "less than 1e-300"
