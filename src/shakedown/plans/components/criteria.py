"""Read the criteria of a component, each with its bound in the unit of its figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from yaml.nodes import Node

from shakedown.model.baselines import Baseline
from shakedown.model.errors import did_you_mean
from shakedown.model.figures import figure_of, measured_as, misnamed
from shakedown.model.judging import Criterion
from shakedown.model.measures import SINCE, Measure, measures
from shakedown.model.nouns import Case, Test
from shakedown.model.units import UNITS, Quantity, parse_duration, parse_known, parse_quantity
from shakedown.plans.components.alike import check_alike
from shakedown.plans.components.component_parts import follows
from shakedown.plans.components.efficiency import EFFICIENCY, check_efficiency
from shakedown.plans.components.identical import IDENTICAL, check_identical
from shakedown.plans.components.since import check_since
from shakedown.plans.schema.amounts import unlike
from shakedown.plans.schema.criteria import GOES_WITH, OF_FIGURES, OUTLIERS, PER, Must
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.scalars import InvalidValue, listed
from shakedown.plans.schema.source_positions import place

_WITHOUT_OUTLIERS = tuple(measure for measure in OF_FIGURES if measure in GOES_WITH["leave_out"])
NO_BASELINES: Mapping[str, Baseline] = {}


def read_criteria(
    node: Node,
    written: dict[str, Any],
    tests: list[Test],
    component: dict[str, Any],
    problems: Problems,
    lost: frozenset[str] = frozenset(),
    cases: Sequence[Case] = (),
    baselines: Mapping[str, Baseline] = NO_BASELINES,
) -> tuple[Criterion, ...]:
    """Purpose: the criteria of a component that runs these tests; what is wrong goes to ``problems``.

    ``component`` are its keys as they were read: a measure of modes or procedures needs them there. ``lost``: tests that it
    names and that could not be read: what is asked of them, or of a figure that may be theirs, cannot be told.
    ``cases``: its own; ``baselines``: those of the plan, by name.
    """
    criteria = [
        _criterion(place(node, name), name, entry, tests, component, problems, cases, baselines)
        for name, entry in written.items()
        if not _of_lost(entry, tests, lost)
    ]
    return tuple(criterion for criterion in criteria if criterion is not None)


def _of_lost(entry: dict[str, Any], tests: list[Test], lost: frozenset[str]) -> bool:
    """Whether a criterion may refer to a test that could not be read."""
    if "test" in entry:
        return follows(entry["test"], lost) and entry["test"] not in {test.name for test in tests}
    figures = {"elapsed", *(spec.name for test in tests for spec in test.figures)}
    return bool(lost) and figure_of(entry.get("of", "elapsed")) not in figures


def _criterion(
    node: Node,
    name: str,
    entry: dict[str, Any],
    tests: list[Test],
    component: dict[str, Any],
    problems: Problems,
    cases: Sequence[Case],
    baselines: Mapping[str, Baseline],
) -> Criterion | None:
    measure, must, before = entry["measure"], entry["must"], len(problems)
    _check_keys(node, name, entry, problems)
    _check_component(node, name, entry, component, problems)
    if not tests and not measures()[measure].without_cases:
        return None  # nothing is selected, which is said already
    asked = _asked(node, name, entry, tests, problems)
    _check_own(node, name, entry, asked, cases, baselines, problems)
    if len(problems) > before:
        return None
    key = "of"
    try:
        units = _units(entry["of"], asked) if measure in OF_FIGURES else []
        key = "must"
        bound, unit = _bound(must, measure, units)
    except InvalidValue as error:
        problems.at(place(node, key), f"criteria.{name}.{key}: {error}", error.hint, error.about)
        return None
    return Criterion(
        name=name,
        measure=measure,
        comparison=must.comparison,
        bound=bound,
        unit=unit,
        of=entry.get("of", ""),
        test=entry.get("test", ""),
        statistic=entry.get("statistic", "median"),
        per="case" if measures()[measure].always_per_case else entry.get("per", ""),
        enough=entry.get("enough", 1),
        must=must.text,
        mode=entry.get("mode", ""),
        basis=entry.get("basis", "contract" if measure == "rows met" else ""),
        leave_out=_listed(entry.get("leave_out", ())),
        epochs=entry.get("epochs", "all"),
        clause=entry.get("clause", ""),
        files=entry.get("files", ""),
        across=_listed(entry.get("across", ())),
        at=entry.get("at", 0.0),
        since=entry.get("since", ""),
        inputs=baselines[entry["since"]].digest if entry.get("since", "") in baselines else "",
    )


def _check_own(
    node: Node,
    name: str,
    entry: dict[str, Any],
    tests: list[Test],
    cases: Sequence[Case],
    baselines: Mapping[str, Baseline],
    problems: Problems,
) -> None:
    """Check the special conditions of some measures on the tests and on the baselines of a criterion."""
    if entry["measure"] in OF_FIGURES and "of" in entry:
        check_alike(node, name, entry, tests, problems)
    if entry["measure"] in SINCE:
        check_since(node, name, entry, baselines, problems)
    if entry["measure"] == EFFICIENCY:
        check_efficiency(node, name, entry, tests, cases, problems)
    if entry["measure"] == IDENTICAL:
        parameters = frozenset(parameter for case in cases for parameter, _ in case.parameters)
        check_identical(node, name, entry, tests, parameters, problems)


def _bound(must: Must, measure: str, units: list[str]) -> tuple[float, str]:
    """The bound and its unit: of a figure its own, hours of a time, plain counts, else a fraction of one. Raises InvalidValue."""
    declared = measures()[measure]
    if declared.bound == "figure":
        return _in_unit_of(must, units), units[0]
    if declared.bound == "hours":
        return _in_unit_of(must, ["h"]), "h"
    if declared.bound == "count":
        return _count(must, declared), declared.unit
    return _share(must, declared), "%"


def _count(must: Must, measure: Measure) -> float:
    """A bound that is a count of runs or of node-hours."""
    quantity = _quantity(must.amount, measure.unit)
    if quantity.unit not in measure.units or quantity.value < 0:
        raise InvalidValue(
            f"'{must.amount}' is not a number of {measure.name}", "write a plain number, such as '>= 500'"
        )
    return quantity.value


def _listed(written: str | list[str] | tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([written] if isinstance(written, str) else written))


def _asked(node: Node, name: str, entry: dict[str, Any], tests: list[Test], problems: Problems) -> list[Test]:
    """The tests that a criterion is about."""
    wanted = entry.get("test")
    if wanted is None:
        return tests
    asked = [test for test in tests if test.name == wanted]
    if not asked:
        names = [test.name for test in tests]
        near = did_you_mean(wanted, names) or f"it runs: {', '.join(names)}"
        said = f"criteria.{name}.test: the component runs no test '{wanted}'"
        problems.at(place(node, "test"), said, near, f"test {wanted}")
    return asked


def _check_keys(node: Node, name: str, entry: dict[str, Any], problems: Problems) -> None:
    """Report keys that the measure needs and that are missing, and keys without a meaning for it."""
    measure = entry["measure"]
    if measure in OF_FIGURES and "of" not in entry:
        problems.at(node, f"'of' is missing in criteria.{name}", "of: the figure that is measured, such as elapsed")
    for key, fitting in GOES_WITH.items():
        if key in entry and measure not in fitting:
            message = f"criteria.{name}: '{key}' has no meaning for measure '{measure}'"
            problems.at(place(node, key), message, f"it goes with {listed(fitting)}")
    per = entry.get("per")
    if per and measure in GOES_WITH["per"] and measure not in PER[per]:
        message = f"criteria.{name}: '{measure}' cannot be told per {per}"
        problems.at(place(node, "per"), message, f"per: {per} goes with {listed(PER[per])}")
    if OUTLIERS in _listed(entry.get("leave_out", ())) and measure not in OF_FIGURES:
        message = f"criteria.{name}: '{measure}' has no outliers"
        problems.at(place(node, "leave_out"), message, f"figures have: {listed(_WITHOUT_OUTLIERS)}")
    if measure == "fill / isolated" and entry.get("statistic") == "sd":
        message = f"criteria.{name}: a slowdown is no ratio of deviations"
        problems.at(place(node, "statistic"), message, "mean and median compare run times and rates")


def _check_component(
    node: Node, name: str, entry: dict[str, Any], component: dict[str, Any], problems: Problems
) -> None:
    """Check that the component has the modes and the procedures that the measure needs."""
    measure, modes = entry["measure"], component.get("modes") or {}
    wanted = ("isolated", "fill") if measure == "fill / isolated" else (entry["mode"],) if "mode" in entry else ()
    for mode in wanted:
        if mode not in modes:
            at = place(node, "mode" if "mode" in entry else "measure")
            hint = f"modes: {{{', '.join(f'{word}: {{repeats: 3}}' for word in wanted)}}}"
            problems.at(at, f"criteria.{name}: the component has no mode '{mode}'", hint)
            break
    if measure == "largest size" and not component.get("ladder"):
        at = place(node, "measure")
        problems.at(
            at, f"criteria.{name}: the component has no ladder", "ladder: the parameter that grows, such as nodes"
        )
    if measure == "attested" and not component.get("procedures"):
        at = place(node, "measure")
        problems.at(at, f"criteria.{name}: the component has no procedures", "procedures: [{name: what is attested}]")
    if measure == "late" and component.get("deadline") is None:
        at = place(node, "measure")
        problems.at(
            at,
            f"criteria.{name}: the component has no deadline",
            "deadline: when it is to be over, such as 2026-12-01T18:00Z",
        )
    if measure not in ("attested", "late") and component.get("procedures") and not component.get("tests"):
        at = place(node, "measure")
        problems.at(at, f"criteria.{name}: the component has no tests to measure", "attested is about its procedures")


def _units(figure: str, tests: list[Test]) -> list[str]:
    """The units that a figure has in these tests. Raises InvalidValue."""
    if figure == "elapsed":
        return ["s"]
    found = [measured_as(figure, test.figures) for test in tests]
    units = [spec.unit for spec in found if spec is not None]
    if not units:
        rows = [spec for test in tests for spec in test.figures if spec.has_rows and spec.name == figure]
        if rows and rows[0].table is not None:
            tags = ",".join(f"{column}=..." for column in rows[0].table.by)
            raise InvalidValue(f"'{figure}' has a number for each row of its table", f"name one: '{figure}[{tags}]'")
        names = {spec.name for test in tests for spec in test.figures} | {"elapsed"}
        known = did_you_mean(figure, names) or f"there are: {', '.join(sorted(names))}"
        raise InvalidValue(f"no test of the component has a figure '{figure}'", known, f"figure {figure}")
    rows = [
        spec for test in tests for spec in test.figures if spec.has_rows and spec.name == figure_of(figure) != figure
    ]
    wrong = [misnamed(figure, spec.table.by) for spec in rows if spec.table is not None]
    if wrong and len(wrong) == len(units) and wrong[0] is not None and None not in wrong:
        raise InvalidValue(*wrong[0], f"figure {figure}")
    return list(dict.fromkeys(units))


def _in_unit_of(must: Must, units: list[str]) -> float:
    """The bound in the figure's own unit; it must be convertible to each unit the figure has. Raises InvalidValue."""
    quantity = _quantity(must.amount, units[0])
    for unit in units:
        try:
            quantity.to(unit)
        except ValueError as error:
            raise unlike(must.amount, quantity, unit, "the figure") from error
    return quantity.to(units[0])


def _quantity(text: str, unit: str) -> Quantity:
    try:
        seconds = UNITS.get(unit, ("",))[0] == "seconds"
        quantity = Quantity(parse_duration(text), "s") if seconds else parse_quantity(text)
    except ValueError as error:
        raise InvalidValue(*_halves(str(error))) from error
    if not abs(quantity.value) < 1e30:
        raise InvalidValue(f"'{text}' is too large a number")
    return quantity


def _share(must: Must, measure: Measure) -> float:
    try:
        parse_known(must.amount, "share")
        share = parse_quantity(must.amount).value / 100  # exactly what was written, where a product is not
    except ValueError as error:
        raise InvalidValue(*_halves(str(error))) from error
    if not 0 <= share < 1e6 or (share > 1 and not measure.beyond_all):
        what = "share of runs" if measure.share_of_runs or measure.on_a_figure else "share"
        raise InvalidValue(f"'{must.amount}' is not a {what}", "it lies between 0% and 100%")
    return share


def _halves(text: str) -> tuple[str, str | None]:
    """The message and the hint of a unit error, which a semicolon separates."""
    message, semicolon, hint = text.rpartition("; ")
    return (message, hint) if semicolon else (text, None)
