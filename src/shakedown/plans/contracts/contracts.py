"""Find the contracts of a site, and read their rows, checked against the site's tests and systems."""

# paths are text in this room: a Path for each of thousands of files costs too much
# ruff: noqa: PTH118

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from shakedown.model.errors import did_you_mean
from shakedown.model.figures import figure_of, misnamed
from shakedown.model.judging import Contract, ContractRow
from shakedown.model.nouns import Case
from shakedown.model.scores import COMPONENT
from shakedown.plans.cases.cases import resolve
from shakedown.plans.context import Context
from shakedown.plans.contracts.contract_bounds import Bounds, parse_must
from shakedown.plans.contracts.contract_files import Paper, Written, name_in, read_paper
from shakedown.plans.contracts.score_rows import score_row
from shakedown.plans.files import Found, scan
from shakedown.plans.library import Definition
from shakedown.plans.schema.contract import CELLS, REQUIRED
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.scalars import InvalidValue, near_or_all

_BESIDE = ("system", "partition", "toolchain")


@dataclass(frozen=True, slots=True)
class ContractRead:
    """A contract with where its rows were written, and the file's digest."""

    contract: Contract
    written: dict[str, Written]
    file: str
    sha256: str


def find_contracts(site: str, problems: Problems) -> dict[str, Found]:
    """Purpose: the files in ``contracts/`` by the names of their contracts; reading one tells what is wrong with it."""
    contracts: dict[str, Found] = {}
    for file in scan(os.path.join(site, "contracts"), "contracts/", problems, ".csv"):
        name = name_in(file)
        first = contracts.setdefault(name, file)
        if first is not file:
            problems.file(file.name, f"there is a contract '{name}' already", f"it is in {first.name}")
    return contracts


def read_contract(file: Found, known: Known) -> ContractRead | None:
    """Purpose: a contract with all its rows, or None where the problems have grown."""
    problems = known.context.problems
    before = len(problems)
    paper = read_paper(file, problems)
    if paper is None:
        return None
    rows = [_row(written, paper, known) for written in paper.rows]
    if len(problems) > before:
        return None
    good = tuple(row for row in rows if row is not None)
    contract = Contract(paper.name, good, paper.about, paper.title, paper.parties)
    written = {_name(paper, written): written for written in paper.rows}
    return ContractRead(contract, written, file.name, paper.sha256)


# ---- one row ---------------------------------------------------------------------------------------------------------


def _row(written: Written, paper: Paper, known: Known) -> ContractRow | None:
    problems = known.context.problems
    before = len(problems)
    values = {} if written.faulty else _cells(written, problems)
    if written.faulty:
        return None
    if values["test"] == COMPONENT and COMPONENT not in known.context.library.tests:
        return score_row(written, values, paper.name, _name(paper, written), problems)
    test = known.test(values["test"], written)
    if test is None:
        return None
    known.check_where(test, written)
    bounds = _bounds(test, values, written, problems)
    statistic = values.get("statistic", "each")
    if values.get("verdict") and statistic != "each":
        hint = "only a row on each run can judge one; leave 'verdict' empty"
        written.wrong(problems, "verdict", f"the {statistic} of several runs is no verdict on one of them", hint)
    if bounds is None or len(problems) > before:
        return None
    return ContractRow(
        name=_name(paper, written),
        contract=paper.name,
        test=test.name,
        figure=values["figure"],
        must=values["must"],
        basis=values["basis"],
        where=tuple((key, tuple(dict.fromkeys(listed))) for key, listed in written.where.items()),
        low=bounds.low,
        high=bounds.high,
        strict=bounds.strict,
        value=bounds.value,
        unit=figures_of(test)[figure_of(values["figure"])],
        statistic=statistic,
        mode=values.get("mode", ""),
        verdict=values.get("verdict", values["basis"] == "contract" and statistic == "each"),
        clause=values.get("clause", ""),
        about=values.get("about", ""),
        text=values.get("text", ""),
        place=f"{written.path}:{written.line}",
    )


def _name(paper: Paper, written: Written) -> str:
    return f"{paper.name}:{written.number}"


def _cells(written: Written, problems: Problems) -> dict[str, Any]:
    """The parsed values of the cells; empty cells are left out."""
    values = {}
    for column, text in written.cells.items():
        try:
            values[column] = CELLS[column](text)
        except InvalidValue as error:
            written.wrong(problems, column, str(error), error.hint)
    for column in REQUIRED:
        if column not in written.cells:
            written.wrong(problems, column, "the cell is empty", "every row says test, figure, must and basis")
    return values


def figures_of(test: Definition) -> dict[str, str]:
    """The figures of a test with their units; the run time is always there."""
    written = test.values.get("figures", {})
    return {"elapsed": "s", **{name: entry.get("unit", "") for name, entry in written.items()}}


def _row_columns(test: Definition, figure: str) -> list[str]:
    """The columns that tell the rows of a figure's table apart; [] where it has one number."""
    table = test.values.get("figures", {}).get(figure, {}).get("table")
    if not table:
        return []
    by = table.get("by")
    if by is None and "where" not in table:
        column = table.get("column", figure)
        by = next((one for one in table.get("columns", ()) if one not in (column, "_")), [])
    return [by] if isinstance(by, str) else list(by or ())


def _bounds(test: Definition, values: dict[str, Any], written: Written, problems: Problems) -> Bounds | None:
    figures, figure = figures_of(test), values["figure"]
    rows = _row_columns(test, figure_of(figure))
    if rows and figure == figure_of(figure):
        tags = ",".join(f"{column}=..." for column in rows)
        message = f"'{figure}' of test '{test.name}' has a number for each row of its table"
        written.wrong(problems, "figure", message, f"name one: {figure}[{tags}]", f"figure {figure}")
        return None
    if figure not in figures and not (rows and figure.endswith("]")):
        message = f"test '{test.name}' has no figure '{figure}'"
        written.wrong(problems, "figure", message, near_or_all(figure, figures), f"figure {figure}")
        return None
    wrong = misnamed(figure, rows) if rows else None
    if wrong is not None:
        written.wrong(problems, "figure", *wrong, f"figure {figure}")
        return None
    never_negative = figure == "elapsed" or values.get("statistic") == "sd"
    called = figure if values.get("statistic", "each") == "each" else f"{values['statistic']} of {figure}"
    try:
        return parse_must(
            values["must"], figures[figure if figure in figures else figure_of(figure)], called, never_negative
        )
    except InvalidValue as error:
        written.wrong(problems, "must", str(error), error.hint)
        return None


# ---- what the site knows ---------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Known:
    """Tests, and the values that their cases have on any system. ``others``: contexts of the site's other systems."""

    context: Context
    others: Callable[[], Iterable[Context]] = tuple
    _values: dict[tuple[str, bool], dict[str, set[str]] | None] = field(default_factory=dict)

    def test(self, name: str, written: Written) -> Definition | None:
        """The test of a row; None, with a problem, where it is unknown, abstract or faulty."""
        library, problems = self.context.library, self.context.problems
        test = library.tests.get(name)
        if test is None:
            if not library.may_be_broken(name):
                hint = did_you_mean(name, library.tests) or "'shakedown list tests' has them"
                written.wrong(problems, "test", f"there is no test '{name}'", hint, f"test {name}")
        elif test.abstract:
            hint = "name a test that extends it"
            written.wrong(problems, "test", f"test '{name}' is abstract and has no cases", hint)
        return test if test is not None and test.good and not test.abstract else None

    def check_where(self, test: Definition, written: Written) -> None:
        """Check that the test's cases have each key of ``where``, and that a case on some system has each value."""
        parameters = test.values.get("parameters", {})
        for key, values in written.where.items():
            if key not in parameters and key not in _BESIDE:
                message = f"test '{test.name}' has no parameter '{key}'"
                hint = near_or_all(key, {*parameters, *_BESIDE})
                self._wrong(written, key, message, hint, f"name {key}", value=False)
                continue
            for value in values:
                self._check_value(test, written, key, value)

    def _check_value(self, test: Definition, written: Written, key: str, value: str) -> None:
        known = self._names(test, key, everywhere=False)
        if known is not None and value not in known:
            known = self._names(test, key, everywhere=True)  # slow, so only if needed
        if known is None or value in known:
            return
        if key in ("system", "partition"):
            message = f"there is no {key} '{value}'"
        else:
            message = f"no case of test '{test.name}' has {key}={value}, on any system"
        self._wrong(written, key, message, near_or_all(value, known), f"{key} {value}")

    def _wrong(self, written: Written, key: str, message: str, hint: str, about: str, value: bool = True) -> None:
        node = written.where_node(key, value)
        if node is not None:
            self.context.problems.at(node, f"where: {message}", hint, about)
        else:
            written.wrong(self.context.problems, "where", message, hint, about)

    def _names(self, test: Definition, key: str, everywhere: bool) -> set[str] | None:
        """The possible values of a key; None where they are not known because a file cannot be read."""
        elsewhere = self.context.elsewhere
        if key in _BESIDE and not elsewhere.complete:
            return None
        here = self.context.machine.system
        if key == "system":
            return {here.name, *elsewhere.systems}
        if key == "partition":
            own = {name for stage in self.context.stages for name in (stage.partition.name, stage.id)}
            return own | elsewhere.partitions
        values = self._values_of(test, everywhere)
        if key == "toolchain" and values is not None:
            return values.get(key, set()) | {entry.name for entry in here.toolchains} | elsewhere.toolchains
        return None if values is None else values.get(key, set())

    def _values_of(self, test: Definition, everywhere: bool) -> dict[str, set[str]] | None:
        """The parameters of a test's cases, on all systems together; None where they cannot be made on one of them."""
        key = (test.name, everywhere)
        if key not in self._values:
            found: dict[str, set[str]] = {}
            resolved = [_resolved(test, each) for each in (self.context, *(self.others() if everywhere else ()))]
            for cases in resolved:
                for name, value in (pair for case in cases or () for pair in case.parameters):
                    found.setdefault(name, set()).add(value)
            self._values[key] = None if None in resolved else found
        return self._values[key]


def _resolved(test: Definition, context: Context) -> tuple[Case, ...] | None:
    """The cases of a test; None where it is faulty. The faults are not reported here."""
    resolved = resolve(test, replace(context, problems=Problems(), builds={}))
    return None if resolved is None else resolved.cases
