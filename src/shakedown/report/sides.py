"""Values in modes isolated and fill beside those of the vendor and the contract (paper 004, figure 1).

``side_by_side`` is the table of contents: a ``Side`` for each figure of each case that either ran in modes or has a vendor row.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from shakedown.metrics.cases import CaseSummary, FigureSummary
from shakedown.metrics.isolated_fill import Slowdown, slowdowns, worse_by
from shakedown.metrics.rows.table import Record
from shakedown.metrics.statistics import Summary
from shakedown.model.contracts import rows_of
from shakedown.model.judging import ContractRow
from shakedown.model.nouns import Document, FigureSpec

_MIDDLES = ("each", "mean", "median")  # statistics of rows that a middle can be held against


@dataclass(frozen=True, slots=True)
class Side:
    """One figure of one case. ``modes``: each mode with its figure summary; the mode is "" where the component has none.

    ``rows`` are the contract rows in force for it. ``slowdown`` is None where one of the modes has no value that counts.
    """

    component: str
    case: str
    figure: FigureSpec
    modes: tuple[tuple[str, FigureSummary], ...]
    rows: tuple[ContractRow, ...]
    slowdown: Slowdown | None

    def numbers(self, mode: str) -> Summary | None:
        return next((figure.summary for name, figure in self.modes if name == mode), None)

    def vendor_row(self, mode: str = "") -> ContractRow | None:
        """The vendor's row to compare a mean or a median with: one for the mode itself, else one without a mode, else the first."""
        rows = [row for row in self.rows if row.basis == "vendor" and row.statistic in _MIDDLES]
        return min(rows, key=lambda row: 0 if row.mode == mode else 1 if not row.mode else 2, default=None)

    def vendor(self, mode: str = "") -> float | None:
        """The vendor's number for a mode."""
        row = self.vendor_row(mode)
        return None if row is None else row_value(row)

    def better(self, mode: str) -> float | None:
        """How much better a mode is than the vendor's number, as a share; positive is better. Uses the statistic of the vendor's
        row. None where there is nothing to compare.
        """
        numbers, vendor = self.numbers(mode), self.vendor(mode)
        if numbers is None or not vendor or not self.figure.better:
            return None
        return -worse_by(vendor, numbers.median if self.held_against(mode) == "median" else numbers.mean, self.figure)

    def held_against(self, mode: str = "") -> str:
        """The statistic to compare with the vendor's number: "median" where the vendor's row is on that, else "mean"."""
        row = self.vendor_row(mode)
        return "median" if row is not None and row.statistic == "median" else "mean"


def side_by_side(document: Document, record: Record, cases: Iterable[CaseSummary]) -> tuple[Side, ...]:
    """Purpose: a side for every figure of every case of components with modes, and of any other case that has a vendor row."""
    modes = {component.name: {"", *(mode.name for mode in component.modes)} for component in document.components}
    slower = {(one.component, one.case, one.figure.name): one for one in slowdowns(document, record)}
    found = []
    for case in cases:
        rows = rows_of(document, case.case)
        for name in dict.fromkeys(figure.spec.name for figure in case.figures):
            mine = tuple(row for row in rows if row.figure == name and row.mode in modes[case.component])
            figures = [figure for figure in case.figures if figure.spec.name == name]
            measured = any(figure.summary for figure in figures)
            if (len(modes[case.component]) > 1 and measured) or any(row.basis == "vendor" for row in mine):
                each = tuple((figure.mode, figure) for figure in figures)
                slowdown = slower.get((case.component, case.case.id, name))
                found.append(Side(case.component, case.case.id, figures[0].spec, each, mine, slowdown))
    return tuple(found)


def row_value(row: ContractRow) -> float | None:
    """A row as one number: its value, its only bound, or the middle between both bounds."""
    if row.value is not None:
        return row.value
    bounds = [bound for bound in (row.low, row.high) if bound is not None]
    return sum(bounds) / len(bounds) if bounds else None
