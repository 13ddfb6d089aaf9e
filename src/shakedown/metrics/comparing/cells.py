"""Campaigns divided into cells: a cell holds the runs of one case in one mode, in one of the groups that are compared.

Start reading at ``cells_of``. A group is a campaign, an epoch, a toolchain, a partition and so on. A cell's name has every property
of its case except those in which the groups differ, so cells of equal names are comparable.
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
    """A campaign, or one ``epoch`` of it (0: the whole campaign) with the plan in force then. ``label``: the name by which a person
    gave it.
    """

    label: str
    document: Document
    record: Record
    epoch: int = 0


class Cell(Struct):
    """One case and mode in one group. ``subject``: names and values that identify the case; ``runs``: counting runs, each with
    whether it passed.

    ``values``: figure -> (run, value) of the runs that count for figures; ``unavailable``: why the case cannot run in this group.
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
        """The same cell with only the runs that ``keeps`` accepts."""
        runs = [pair for pair in self.runs if keeps(pair[0])]
        values = {name: [pair for pair in pairs if keeps(pair[0])] for name, pairs in self.values.items()}
        return Cell(self.subject, self.cases, runs, self.specs, values, self.unavailable)


Cells = dict[str, dict[Pairs, Cell]]  # group -> subject -> cell; groups in the order in which they are first seen


def cells_of(sources: Sequence[Source], by: str) -> Cells:
    """Purpose: every case and mode of the sources, sorted into groups. ``by``: one of BY, or the name of a parameter."""
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
    """The properties in which groups may differ. If every one of several systems has a single partition, partition names are
    ignored.
    """
    left = {by} | ({"system"} if by in ("campaign", "epoch") else set())
    across = by == "system" or (by == "campaign" and len({one.document.system.name for one in sources}) > 1)
    if across and all(_one_partition(one.document) for one in sources):
        left.add("partition")
    return left


def _one_partition(document: Document) -> bool:
    return len({case.partition for case in document.cases}) <= 1


def _cases(source: Source) -> Iterator[tuple[str, CaseRuns, str]]:
    """Every case with its component and its runs, and why it is unavailable ("" if it is available)."""
    cases = {case.id: case for case in source.document.cases}
    modes = {one.name: tuple((mode.name, 0) for mode in one.modes) or (("", 0),) for one in source.document.components}
    for component, population in _populations(source).items():
        for runs in population.cases:
            yield component, _of_epoch(runs, source.epoch), ""
        for row in population.unavailable:
            case = cases.get(row.case) or Case(row.case, row.test or row.case, "")
            yield component, CaseRuns(case, modes[component], ()), row.reason or "nobody said why"


def _populations(source: Source) -> dict[str, Population]:
    """The populations of a source; for an epoch, everything that ran in the epoch counts, whatever later plans require."""
    return populations(source.document, source.record, everything=bool(source.epoch))


def _of_epoch(runs: CaseRuns, epoch: int) -> CaseRuns:
    return runs.keep(lambda row: row.epoch == epoch) if epoch else runs


def _modes(runs: CaseRuns) -> Iterator[tuple[str, CaseRuns]]:
    return ((mode, runs.of_mode(mode)) for mode, _ in runs.wanted)


def _about(source: Source, component: str, case: Case, mode: str) -> dict[str, str]:
    """All properties that tell one cell from another. A parameter named toolchain replaces the toolchain of the case."""
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
    """The groups to which a cell belongs, each with a test of which runs belong to it."""
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


# ---- which groups are compared ----------------------------------------------------------------------------------------


class Pair(Struct):
    """Two groups to compare. ``partial``: they need not have the same cases; a case missing on one side is reported but decides
    nothing.
    """

    before: str
    after: str
    first: dict[Pairs, Cell]
    second: dict[Pairs, Cell]
    partial: bool = False


def pairs_of(cells: Cells, against: str, partial: bool) -> list[Pair]:
    """Purpose: a pair for each other group, compared against the group ``against``."""
    others = [group for group in cells if group != against]
    return [Pair(against, group, cells[against], cells[group], partial) for group in others]


def node_pairs(cells: Cells, nodes_of: Callable[[str], Sequence[str]]) -> list[Pair]:
    """Purpose: a pair for each node: for every case that ran on it, the runs on this node against the runs without it.

    ``nodes_of``: expands a node set to node names. A run on several nodes counts for each of them.
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
