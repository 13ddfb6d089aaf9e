"""Read the figures of a test, and check formulas against the figures and names that exist."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from shakedown.model.figures import MORE, FigureSpec, Table
from shakedown.model.formulas import Amount, FormulaError, amount, constants_in, names_in, value
from shakedown.plans.library import Definition
from shakedown.plans.schema.check_words import inside
from shakedown.plans.schema.expressions import Value, evaluate
from shakedown.plans.schema.figures import OF_PRINTED_TABLES, SOURCES
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.scalars import InvalidValue, listed, near_or_all
from shakedown.plans.schema.source_positions import place

ELAPSED = "elapsed"
PEAK = "node.peak"
# Names of a case that a formula may use, and their units; a parameter is a plain number.
UNITS_OF_NAMES = {
    "nodes": "",
    "ranks": "",
    "cores": "",
    "tasks_per_node": "",
    "cpus_per_task": "",
    "gpus_per_node": "",
    "gpus_per_task": "",
    "node.cores": "",
    "node.gpus": "",
    "node.sockets": "",
    "node.numa": "",
    "node.threads_per_core": "",
    "node.memory": "B",
    "node.peak": "FLOP/s",
    "partition.nodes": "",
}


def read_figures(test: Definition, problems: Problems) -> tuple[FigureSpec, ...]:
    """Purpose: the figures of one test in the order written; what is wrong goes to ``problems``."""
    specs = tuple(_figure(test, name, entry, problems) for name, entry in test.values["figures"].items())
    parameters = test.values.get("parameters", {})
    for spec in specs:
        if spec.formula:
            try:
                _check_formula(spec, specs, parameters)
            except InvalidValue as error:
                at = place(test.root, "figures", spec.name, "formula")
                problems.at(at, f"figures.{spec.name}.formula: {error}", error.hint)
    return specs


def with_names(spec: FigureSpec, specs: tuple[FigureSpec, ...], names: Mapping[str, Value]) -> FigureSpec:
    """Purpose: the figure of a formula with the values that its case gives to the names in it.

    Raises InvalidValue, ExpressionError.
    """
    figures = {one.name for one in specs} | {ELAPSED}
    mine = [name for name in names_in(spec.formula) if name not in figures and not (name == PEAK and PEAK not in names)]
    given = tuple(_given(name, names) for name in mine)
    return replace(spec, given=given) if given else spec


def without_peak(specs: tuple[FigureSpec, ...], names: Mapping[str, Value]) -> list[str]:
    """Why a case cannot run where a figure that it must have needs a peak that nobody wrote down; [] where it can."""
    need = [spec.name for spec in specs if spec.formula and spec.required and PEAK in names_in(spec.formula)]
    if not need or PEAK in names:
        return []
    return [
        f"figure {need[0]} needs node.peak, which the system's node type does not say (peak, or clock and flops_per_cycle)"
    ]


def _given(name: str, names: Mapping[str, Value]) -> tuple[str, float, str]:
    found = evaluate(f"0 + {name}", names)  # a parameter is text until it is computed with
    assert not isinstance(found, str)
    return name, float(found), UNITS_OF_NAMES.get(name, "")


# ---- one figure ------------------------------------------------------------------------------------------------------


def _figure(test: Definition, name: str, entry: dict[str, Any], problems: Problems) -> FigureSpec:
    written = [key for key in SOURCES if key in entry]
    if len(written) != 1:
        both = f"both {listed(written)}" if len(written) == 2 else listed(written or SOURCES)
        what = both if written else f"none of {both}"
        problems.at(
            place(test.root, "figures", name), f"figures.{name} has {what}", "one of them says where the number is"
        )
    source = entry.get("from", "output")
    try:
        inside(source)
    except InvalidValue as error:
        problems.at(place(test.root, "figures", name, "from"), f"figures.{name}.from: {error}", error.hint)
    if "formula" in entry:
        for key in ("from", "pick"):
            if key in entry:
                at = place(test.root, "figures", name, key)
                problems.at(at, f"figures.{name}: '{key}' has no meaning with a formula", "leave it out")
    return FigureSpec(
        name=name,
        unit=entry.get("unit", ""),
        better=entry.get("better", ""),
        source=source,
        regex=entry.get("regex", ""),
        json=entry.get("json", ""),
        pick=entry.get("pick", "last"),
        required=entry.get("required", True),
        yaml=entry.get("yaml", ""),
        table=_table(test, name, entry["table"], problems) if entry.get("table") else None,
        formula=entry.get("formula", ""),
    )


def _table(test: Definition, name: str, entry: dict[str, Any], problems: Problems) -> Table:
    """``by`` is what was written, else nothing where rows are chosen, else the first other column, which a header's has to name."""
    columns = tuple(entry.get("columns", ()))
    column = entry.get("column", name)
    by = entry.get("by")
    rows = tuple(entry.get("where", {}).items())
    for sentence, hint in _wrong_table(entry, columns, column):
        problems.at(place(test.root, "figures", name, "table"), f"figures.{name}.table: {sentence}", hint)
    if by is None and not rows:
        others = [other for other in columns if other not in (column, "_", MORE)]
        if not columns:
            hint = "by: the column; or by: [] where all rows give one number, as pick says"
            at = place(test.root, "figures", name, "table")
            problems.at(at, f"figures.{name}.table does not say by which column its rows are told apart", hint)
        by = others[:1]
    return Table(
        after=entry.get("after", ""),
        header=entry.get("header", ""),
        until=entry.get("until", ""),
        columns=columns,
        separator=entry.get("separator", ""),
        column=column,
        by=(by,) if isinstance(by, str) else tuple(by or ()),
        where=rows,
        rows=entry.get("rows", ""),
        records=entry.get("records", ""),
    )


def _wrong_table(entry: dict[str, Any], columns: tuple[str, ...], column: str) -> Iterator[tuple[str, str]]:
    meaningless = [key for key in OF_PRINTED_TABLES if key in entry] if "records" in entry else []
    if meaningless:
        yield (
            f"'{meaningless[0]}' has no meaning beside records: each record names its columns itself",
            f"leave out {listed(meaningless)}, or leave out records where the program prints a table",
        )
        return
    if columns and "header" in entry:
        yield (
            "it has both header and columns",
            "columns name them where no line does; after: is the line before the table",
        )
    if not columns:
        return
    if MORE in columns[:-1] or columns == (MORE,):
        yield f"'{MORE}' is not the last of its columns", "it stands at their end, where rows may have more fields"
    twice = next((one for one in columns if one != "_" and columns.count(one) > 1), "")
    if twice:
        yield f"two columns are called '{twice}'", "'_' is for columns that are not wanted"
    by = entry.get("by") or ()
    for wanted in dict.fromkeys((column, *((by,) if isinstance(by, str) else by), *entry.get("where", {}))):
        if wanted not in columns:
            yield (
                f"there is no column '{wanted}'",
                near_or_all(wanted, [one for one in columns if one not in ("_", MORE)]),
            )


# ---- formulas --------------------------------------------------------------------------------------------------------


def _check_formula(spec: FigureSpec, specs: tuple[FigureSpec, ...], parameters: Mapping[str, Any]) -> None:
    """Every name is one that has a value, no formula needs itself, and the units fit. Raises InvalidValue."""
    figures = {one.name: one for one in specs}
    for name in names_in(spec.formula):
        if name in figures and name in parameters:
            raise InvalidValue(f"'{name}' is both a figure and a parameter", "give one of them another name")
        if name in figures and figures[name].has_rows:
            hint = "make a figure of one row: table with where, or of all: by: [] and pick"
            raise InvalidValue(f"'{name}' has a number for each row of its table", hint)
        if name not in figures and name not in parameters and name not in UNITS_OF_NAMES and name != ELAPSED:
            known = (*figures, *parameters, *UNITS_OF_NAMES, ELAPSED)
            parts = name.split("-")
            minus = len(parts) > 1 and all(part in known for part in parts)
            hint = (
                "write blanks around a minus"
                if minus
                else near_or_all(name, [one for one in known if one != spec.name])
            )
            raise InvalidValue(f"there is no figure and no name '{name}'", hint)
    if spec.unit == "%" and 100 in constants_in(spec.formula):
        raise InvalidValue("a ratio in '%' is per cent by itself", "leave the factor 100 out")
    _refuse_circle(spec, figures)
    _check_units(spec, specs, parameters)


def _refuse_circle(spec: FigureSpec, figures: Mapping[str, FigureSpec]) -> None:
    seen: set[str] = set()
    waiting = [spec.name]
    while waiting:
        for name in names_in(figures[waiting.pop()].formula):
            if name == spec.name:
                raise InvalidValue(f"'{spec.name}' is computed from itself", "a formula uses other figures")
            if name in figures and figures[name].formula and name not in seen:
                seen.add(name)
                waiting.append(name)


def _check_units(spec: FigureSpec, specs: tuple[FigureSpec, ...], parameters: Mapping[str, Any]) -> None:
    """Compute it once with made-up numbers: units that do not fit do not fit for any. Raises InvalidValue."""
    units = {ELAPSED: "s", **UNITS_OF_NAMES, **dict.fromkeys(parameters, ""), **{one.name: one.unit for one in specs}}
    made_up: dict[str, Amount] = {}
    for number, name in enumerate(names_in(spec.formula)):
        made_up[name] = amount(2.0 + 0.37 * number, units[name])
    try:
        value(spec.formula, made_up, spec.unit)
    except FormulaError as error:
        if error.of_units:
            raise InvalidValue(str(error), error.hint) from None
