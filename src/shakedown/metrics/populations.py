"""Who is counted: the wanted results and the attempts of a component, as far as this system can run them at all.

``RULES`` says in words what counts; the report prints it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from msgspec import Struct

from shakedown.metrics.rows import RunRow, UnavailableRow
from shakedown.metrics.table import Record
from shakedown.model.events import COMPLETED, VERDICTS
from shakedown.model.nouns import Case, Component, Document

RULES = (
    "An attempt is a run that was judged, whatever the verdict; a retry erases nothing.",
    "A wanted result is one repeat of a case; it is passed when one of its attempts is.",
    "A verdict that the plan expects of a case counts as passed, and stays visible as what it is.",
    "A run that completed ran to its end: passed, incorrect or performance; of these, incorrect ones are not correct.",
    "A figure's value is taken from runs that completed correctly; run time is elapsed time by one clock on one host.",
    "A case that this system cannot run is unavailable: it is in no count, and restricts the acceptance.",
    "A verdict that a later one supersedes stays in the record and is in no count.",
)


class CaseRuns(Struct, frozen=True):
    """One available case of a component: what is wanted of it and what was judged."""

    case: Case
    repeats: int
    rows: tuple[RunRow, ...]
    given_up: int = 0

    @property
    def passed(self) -> int:
        """How many wanted results passed: each counts once, however many of its attempts did."""
        return min(self.repeats, len({row.result for row in self.rows if good(row, self.case)}))

    @property
    def judged(self) -> int:
        """How many wanted results need nothing more: passed, or with a last attempt that is not retried."""
        settled = {row.result for row in self.rows if good(row, self.case) or not row.retried}
        return min(self.repeats, len(settled))

    @property
    def to_come(self) -> int:
        return self.repeats - self.judged


class Population(Struct, frozen=True):
    """The cases that a component or a criterion looks at; ``unavailable`` ones are in it by name only."""

    cases: tuple[CaseRuns, ...]
    unavailable: tuple[UnavailableRow, ...]

    @property
    def wanted(self) -> int:
        return sum(case.repeats for case in self.cases)

    @property
    def judged(self) -> int:
        return sum(case.judged for case in self.cases)

    @property
    def to_come(self) -> int:
        return sum(case.to_come for case in self.cases)

    @property
    def passed(self) -> int:
        return sum(case.passed for case in self.cases)

    @property
    def rows(self) -> list[RunRow]:
        return [row for case in self.cases for row in case.rows]

    def of_test(self, test: str) -> Population:
        """The part that belongs to one test; all of it for ""."""
        if not test:
            return self
        mine = tuple(case for case in self.cases if case.case.test == test)
        missing = tuple(row for row in self.unavailable if row.test == test)
        return Population(mine, missing)


def populations(document: Document, record: Record) -> dict[str, Population]:
    """Purpose: the population of every component, by its name. One pass over the rows."""
    rows = _rows_by_case(record)
    cases = {case.id: case for case in document.cases}
    return {component.name: _population(component, cases, rows, record) for component in document.components}


def unwanted_rows(document: Document, record: Record) -> list[RunRow]:
    """Attempts that the plan in force no longer asks for: an amendment took their case or component away."""
    wanted = {(component.name, case) for component in document.components for case in component.cases}
    return [row for row in record.current() if (row.component, row.case) not in wanted]


def good(row: RunRow, case: Case) -> bool:
    """It passed, or ended as its case expects."""
    return row.verdict == "passed" or as_expected(row, case)


def as_expected(row: RunRow, case: Case) -> bool:
    return bool(case.expect) and row.verdict == case.expect and case.expect != "passed"


def completed(row: RunRow) -> bool:
    """It ran to its end."""
    return row.verdict in COMPLETED


def correct(row: RunRow, case: Case) -> bool:
    """It ran to its end with the right answer, or with the verdict its case expects."""
    return completed(row) and (row.verdict != "incorrect" or as_expected(row, case))


def measured_value(row: RunRow, figure: str) -> float | None:
    """A figure's value in a run that counts for figures; ``elapsed`` is the run time in seconds."""
    if row.verdict not in ("passed", "performance"):
        return None
    return row.elapsed_s if figure == "elapsed" else row.figures.get(figure)


def _rows_by_case(record: Record) -> dict[tuple[str, str], list[RunRow]]:
    rows: dict[tuple[str, str], list[RunRow]] = defaultdict(list)
    for row in record.current():
        rows[row.component, row.case].append(row)
    return rows


def _population(
    component: Component, cases: dict[str, Case], rows: dict[tuple[str, str], list[RunRow]], record: Record
) -> Population:
    available, missing = [], []
    for name in component.cases:
        case = cases.get(name) or Case(name, name.split("/")[0], "", unavailable="the plan does not define it")
        reason = _unavailable(component.name, case, record, bool(rows.get((component.name, name))))
        if reason is None:
            mine = tuple(rows.get((component.name, name), ()))
            given_up = sum(row.run in record.given_up for row in mine)
            available.append(CaseRuns(case, component.repeats, mine, given_up))
        else:
            missing.append(reason)
    return Population(tuple(available), tuple(missing))


def _unavailable(component: str, case: Case, record: Record, judged: bool) -> UnavailableRow | None:
    """The plan says that a case is unavailable, or an event did; one that was judged all the same is available."""
    if judged:
        return None
    event = record.unavailable.get((component, case.id)) or record.unavailable.get(("", case.id))
    if event is not None:
        return UnavailableRow(component, case.id, event.reason or case.unavailable, event.seq, case.test)
    return UnavailableRow(component, case.id, case.unavailable, test=case.test) if case.unavailable else None


def count_verdicts(rows: Iterable[RunRow]) -> dict[str, int]:
    """Attempts by verdict, in the order of the vocabulary; unknown words come last."""
    found: dict[str, int] = defaultdict(int)
    for row in rows:
        found[row.verdict] += 1
    order = {verdict: place for place, verdict in enumerate(VERDICTS)}
    return {verdict: found[verdict] for verdict in sorted(found, key=lambda word: (order.get(word, 99), word))}
