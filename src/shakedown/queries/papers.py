"""Recompute the papers' derived numbers from the papers' own tables. ``recomputed`` is the table of contents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from shakedown.catalogue.paper_numbers import Paper, PaperNumber, papers
from shakedown.model.formulas import Amount, amount, value
from shakedown.model.printed import agreement, in_unit, parse_printed
from shakedown.plans.finding import shipped_systems
from shakedown.plans.schema.problems import Problems
from shakedown.plans.site import shipped_machine
from shakedown.twin.models.peaks import machine_facts

_COLUMN = re.compile(r"([A-Za-z_]\w*)\.\*\.([A-Za-z_]\w*)")
_PAPER = re.compile(r"paper (\d{3}),? ?")


class Recomputed(Struct, frozen=True):
    """One number. ``printed``: as the paper prints it, "" where it does not; ``computed``: in the printed unit.

    ``how``: exact, rounded, truncated, above or below; "" where the result differs from the printed number, and ``because`` says
    why.
    """

    paper: str
    what: str
    where: str
    printed: str
    computed: float
    unit: str
    how: str
    because: str
    formula: str

    @property
    def differs(self) -> bool:
        return bool(self.printed) and not self.how


def titles() -> dict[str, str]:
    """Purpose: paper number -> title."""
    return {one.paper: one.title for one in papers()}


def recomputed() -> tuple[Recomputed, ...]:
    """Purpose: every derived number of the papers: from their tables, then from the machines that they describe."""
    found = [number for paper in papers() for number in _of_paper(paper)]
    found += [number for name in shipped_systems() for number in _of_machine(name)]
    return tuple(sorted(found, key=lambda one: one.paper))  # sorting is stable: a paper's order stays


def _of_paper(paper: Paper) -> Iterator[Recomputed]:
    cells = {
        f"{table}.{row}.{column}": amount(float(cell), "")
        for table, body in paper.tables.items()
        for row, values in body.rows.items()
        for column, cell in zip(body.columns, values, strict=True)
    }
    for number in paper.numbers:
        for row in paper.tables[number.each].rows if number.each else ("",):
            yield _number(paper, number, row, cells)


def _number(paper: Paper, number: PaperNumber, row: str, cells: dict[str, Amount]) -> Recomputed:
    """Recompute one number. A number with a name is added to the cells, unrounded."""
    given, printed, what = cells, number.printed, number.what
    if row:
        table = paper.tables[number.each]
        mine = f"{number.each}.{row}."
        given = cells | {name.removeprefix(mine): cell for name, cell in cells.items() if name.startswith(mine)}
        words = dict(zip(table.columns, table.rows[row], strict=True))
        printed = str(words[printed]) if printed else ""
        what = what.format(**{name: _plain(cell) for name, cell in words.items()} | {"row": row})
    computed = value(_COLUMN.sub(lambda match: _column(match, cells), number.formula), given, "")
    if number.name:
        cells[f"{number.each}.{row}.{number.name}"] = amount(computed, "")
    return _held(paper.paper, what, number.where, printed, computed, number.because, number.formula)


def _column(match: re.Match[str], cells: Mapping[str, Amount]) -> str:
    table, column = match.groups()
    names = [name for name in cells if name.startswith(f"{table}.") and name.endswith(f".{column}")]
    return ", ".join(names)


def _plain(cell: float | str) -> str:
    return cell if isinstance(cell, str) else f"{cell:,.10g}"


def _held(paper: str, what: str, where: str, printed: str, computed: float, because: str, formula: str) -> Recomputed:
    if not printed:
        return Recomputed(paper, what, where, "", computed, "", "", because, formula)
    number = parse_printed(printed)
    unit = number.quantity.unit
    return Recomputed(
        paper, what, where, printed, in_unit(computed, unit), unit, agreement(number, computed), because, formula
    )


def _of_machine(name: str) -> Iterable[Recomputed]:
    """The numbers that documents print about a shipped machine; the source of each begins with its paper."""
    problems = Problems()
    machine = shipped_machine(name, problems)
    problems.stop()
    assert machine is not None
    for one in machine_facts(machine.system, machine.published, machine.assumed).verdicts:
        match = _PAPER.match(one.source)
        paper, where = (match[1], one.source[match.end() :]) if match else ("", one.source)
        unit = parse_printed(one.printed).quantity.unit
        because = one.because if not one.how else ""
        yield Recomputed(
            paper, f"{name}: {one.what}", where, one.printed, one.in_printed_unit, unit, one.how, because, one.of
        )
