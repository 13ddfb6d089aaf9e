"""Campaigns on machines with bad and slow nodes, in virtual time: the rows of the record that say which runs failed where."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from stability_plan import case, document, machine, play

from shakedown.metrics.rows.rows import RunRow
from shakedown.metrics.rows.table import Record, fold_runs
from shakedown.model.nouns import Component, Document
from shakedown.twin import Fates

RUNS_S = (600.0, 30.0)  # mean and spread of a run's time


@dataclass(frozen=True)
class Machine:
    """``bad``: node -> how likely a run on it fails; ``slow``: node -> factor on run times. ``failed``: the share of runs that fail
    anywhere. ``widths``: nodes that the tests take; ``runs``: how many there are of each test.
    """

    nodes: int = 32
    runs: int = 200
    bad: Mapping[str, float] = field(default_factory=dict)
    slow: Mapping[str, float] = field(default_factory=dict)
    failed: float = 0.02
    widths: Sequence[int] = (1, 2, 4)
    bad_as: str = "failed"
    seed: int = 0


@dataclass(frozen=True)
class Found:
    """What a campaign on such a machine left."""

    document: Document
    record: Record
    rows: tuple[RunRow, ...]


def campaign_on(planted: Machine) -> Found:
    """Purpose: play a campaign on a machine with planted nodes; the verdicts in force, with the nodes that each run had."""
    cases = tuple(case(f"t{width}", width, 3000.0, load=0.0) for width in planted.widths)
    names = tuple(one.id for one in cases)
    part = Component("all", "functionality", names, planted.runs)
    plan = document(machine(planted.nodes, targets=False), cases, part, seed=planted.seed)
    fates = Fates(*RUNS_S, failed=planted.failed, bad_nodes=planted.bad, slow_nodes=planted.slow, bad_as=planted.bad_as)
    campaign = play(plan, fates=fates, seed=planted.seed, watched=False)
    record = fold_runs(campaign.log.events())
    return Found(plan, record, tuple(record.current()))


def node_names(nodes: int) -> list[str]:
    """The nodes of such a machine."""
    return [f"n{number:0{len(str(nodes))}d}" for number in range(1, nodes + 1)]


def some_nodes(nodes: int, count: int, seed: int) -> list[str]:
    """So many of them, at random."""
    return random.Random(f"planted:{seed}").sample(node_names(nodes), count)
