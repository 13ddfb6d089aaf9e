"""Campaigns cut into cells: the runs of one case in one mode, in one group of what is compared.

``cells_of`` is the table of contents. A group is a campaign, an epoch, a toolchain, a partition...; a cell's name says everything
of its case but what the groups differ in, so that equal names are comparable.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from msgspec import Struct

from shakedown.metrics.cases import ELAPSED
from shakedown.metrics.judging.populations import CaseRuns, Population, counts_as_passed, populations
from shakedown.metrics.rows.rows import RunRow
from shakedown.metrics.rows.table import Record
from shakedown.model.figures import FigureSpec, Pairs, with_rows
from shakedown.model.nouns import Case, Document

BY = ("campaign", "epoch", "component", "system", "partition", "toolchain", "mode", "node")


class Source(Struct, frozen=True):
    """A campaign, or one ``epoch`` of it (0: all of it) with the plan in force then. ``label`` is how a person calls it."""

    label: str
    document: Document
    record: Record
    epoch: int = 0


class Cell(Struct):
    """``subject``: what its runs are of, as names and values; ``runs``: those that count, each with whether it counts as passed.

    ``values``: figure -> (run, value) of the runs that count for figures; ``unavailable``: why no run of it can be here.
    """

    subject: Pairs
    cases: dict[str, None]
    runs: list[tuple[RunRow, bool]]
    specs: dict[str, FigureSpec]
    values: dict[str, list[tuple[RunRow, float]]]
    unavailable: str = ""

    @property
    def passed(self) -> int:
        return sum(passed for _, passed in self.runs)

    def only(self, keeps: Callable[[RunRow], bool]) -> Cell:
        """The part of some runs."""
        runs = [pair for pair in self.runs if keeps(pair[0])]
        values = {name: [pair for pair in pairs if keeps(pair[0])] for name, pairs in self.values.items()}
        return Cell(self.subject, self.cases, runs, self.specs, values, self.unavailable)


Cells = dict[str, dict[Pairs, Cell]]  # group -> subject -> cell; groups in the order in which they are met


def cells_of(sources: Sequence[Source], by: str) -> Cells:
    """Purpose: every case and mode of these sources in its group. ``by``: one of BY, or the name of a parameter."""
    left_out = _left_out(sources, by)
    found: Cells = {}
    for source in sources:
        for component, runs, why in _cases(source):
            for mode, mine in _modes(runs):
                about = _about(source, component, runs.case, mode)
                subject = tuple(pair for pair in about.items() if pair[0] not in left_out)
                _put(found, _grouped(source, about, by, mine.rows), subject, mine, why, source.document)
    return found


def _left_out(sources: Sequence[Source], by: str) -> set[str]:
    """What the groups may differ in. Partitions of two systems have two names; each with one partition, they are one."""
    left = {by} | ({"system"} if by in ("campaign", "epoch") else set())
    across = by == "system" or (by == "campaign" and len({one.document.system.name for one in sources}) > 1)
    if across and all(_one_partition(one.document) for one in sources):
        left.add("partition")
    return left


def _one_partition(document: Document) -> bool:
    return len({case.partition for case in document.cases}) <= 1


def _cases(source: Source) -> Iterator[tuple[str, CaseRuns, str]]:
    """Component, case and its runs, and why it is unavailable, "" where it is not."""
    cases = {case.id: case for case in source.document.cases}
    modes = {one.name: tuple((mode.name, 0) for mode in one.modes) or (("", 0),) for one in source.document.components}
    for component, population in _populations(source).items():
        for runs in population.cases:
            yield component, _of_epoch(runs, source.epoch), ""
        for row in population.unavailable:
            case = cases.get(row.case) or Case(row.case, row.test or row.case, "")
            yield component, CaseRuns(case, modes[component], ()), row.reason or "nobody said why"


def _populations(source: Source) -> dict[str, Population]:
    """Of an epoch everything that ran in it counts, whatever later plans ask for."""
    return populations(source.document, source.record, everything=bool(source.epoch))


def _of_epoch(runs: CaseRuns, epoch: int) -> CaseRuns:
    return runs.keep(lambda row: row.epoch == epoch) if epoch else runs


def _modes(runs: CaseRuns) -> Iterator[tuple[str, CaseRuns]]:
    return ((mode, runs.of_mode(mode)) for mode, _ in runs.wanted)


def _about(source: Source, component: str, case: Case, mode: str) -> dict[str, str]:
    """Everything that tells one cell from another. A parameter called toolchain or partition says what the case says anyway."""
    about = {"component": component, "test": case.test}
    for name, value in case.parameters:
        about[f"parameter {name}" if name in ("component", "test", "mode", "system") else name] = value
    about.setdefault("toolchain", case.toolchain)
    about["partition"] = case.partition
    about["mode"] = mode
    about["system"] = source.document.system.name
    return about


def _grouped(
    source: Source, about: dict[str, str], by: str, rows: Collection[RunRow]
) -> dict[str, Callable[[RunRow], bool]]:
    """The groups that a cell falls into, and which of its runs belong to each."""
    if by == "epoch":
        first = [source.epoch] if source.epoch else []
        numbers = dict.fromkeys([*first, *sorted({row.epoch for row in rows})])
        return {f"epoch {number}": _in_epoch(number) for number in numbers}
    group = source.label if by in ("campaign", "node") else about.get(by, "")
    return {group: lambda row: True} if group else {}


def _in_epoch(number: int) -> Callable[[RunRow], bool]:
    return lambda row: row.epoch == number


def _put(
    found: Cells,
    groups: dict[str, Callable[[RunRow], bool]],
    subject: Pairs,
    runs: CaseRuns,
    why: str,
    document: Document,
) -> None:
    for group, belongs in groups.items():
        cell = found.setdefault(group, {}).setdefault(subject, Cell(subject, {}, [], {}, {}))
        cell.cases[runs.case.id] = None
        cell.unavailable = cell.unavailable or why
        cell.runs += [(row, counts_as_passed(row, runs.case)) for row in runs.rows if belongs(row)]
        seen = (name for row in runs.rows for name in row.figures)
        for spec in (ELAPSED, *with_rows(_specs(document, runs.case), seen)):
            cell.specs.setdefault(spec.name, spec)
            pairs = [pair for pair in runs.values(spec.name) if belongs(pair[0])]
            cell.values.setdefault(spec.name, []).extend(pairs)


def _specs(document: Document, case: Case) -> tuple[FigureSpec, ...]:
    return next((test.of(case).figures for test in document.tests if test.name == case.test), ())


# ---- what is held against what ----------------------------------------------------------------------------------------


class Pair(Struct):
    """Two groups to compare. ``partial``: they need not have the same cases; what one of them lacks is told and decides nothing."""

    before: str
    after: str
    first: dict[Pairs, Cell]
    second: dict[Pairs, Cell]
    partial: bool = False


def pairs_of(cells: Cells, against: str, partial: bool) -> list[Pair]:
    """Purpose: each other group against the one called ``against``."""
    others = [group for group in cells if group != against]
    return [Pair(against, group, cells[against], cells[group], partial) for group in others]


def node_pairs(cells: Cells, nodes_of: Callable[[str], Sequence[str]]) -> list[Pair]:
    """Purpose: each node against all others: of every case that it ran, the runs with it against those without.

    ``nodes_of``: the names in a node set. A run on several nodes counts for each of them.
    """
    merged: dict[Pairs, Cell] = {}
    for group in cells.values():
        for subject, cell in group.items():
            if subject not in merged:
                merged[subject] = Cell(subject, {}, [], {}, {})
            _merge(merged[subject], cell)
    found: dict[str, Pair] = {}
    for subject, cell in merged.items():
        names = {row.nodes: frozenset(nodes_of(row.nodes)) for row, _ in cell.runs}
        for node in sorted(frozenset().union(*names.values())):
            others = cell.only(_with_node(names, node, False))
            if others.runs:
                pair = found.setdefault(node, Pair("all other nodes", node, {}, {}, partial=True))
                pair.first[subject], pair.second[subject] = others, cell.only(_with_node(names, node, True))
    return [found[node] for node in sorted(found)]


def _with_node(names: dict[str, frozenset[str]], node: str, wanted: bool) -> Callable[[RunRow], bool]:
    return lambda row: (node in names[row.nodes]) is wanted


def _merge(into: Cell, cell: Cell) -> None:
    into.cases |= cell.cases
    into.runs += cell.runs
    into.specs = cell.specs | into.specs
    into.unavailable = into.unavailable or cell.unavailable
    for name, pairs in cell.values.items():
        into.values.setdefault(name, []).extend(pairs)
