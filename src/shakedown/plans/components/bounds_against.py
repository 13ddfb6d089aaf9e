"""Advice on bounds that contradict the direction in which a figure gets better, in criteria and in contract rows."""

from __future__ import annotations

from collections.abc import Iterator

from shakedown.model.figures import figure_of
from shakedown.model.judging import Contract, ContractRow, Criterion
from shakedown.model.measures import measures
from shakedown.model.nouns import Component, Test
from shakedown.plans.contracts.contracts import ContractRead
from shakedown.plans.library import Definition
from shakedown.plans.schema.problems import Problems

Advice = tuple[tuple[str, ...], str, str]  # keys that lead to it, what is the matter, the way out
ELAPSED = "elapsed"


def named(criterion: Criterion, said: str) -> str:
    """Purpose: a sentence about a criterion, with its name."""
    return f"criteria.{criterion.name}: {said}"


def against(
    keys: tuple[str, ...], criterion: Criterion, component: Component, tests: dict[str, Test]
) -> Iterator[Advice]:
    """Purpose: advice on a bound that every value meets, or that only a better value fails to meet. Two bounds on one figure,
    one on each side, are a band and give no advice.
    """
    if _says_nothing(criterion):
        yield (
            (*keys, "must"),
            named(criterion, f"it is met whatever comes: must {criterion.must}"),
            "write what is meant",
        )
        return
    better = _better(criterion, tests)
    if not better or not _wrong_way(criterion.comparison, better):
        return
    for other in component.criteria:
        same = (other.measure, other.of, other.test) == (criterion.measure, criterion.of, criterion.test)
        if (
            same
            and not _says_nothing(other)
            and other.comparison != "="
            and other.comparison[0] != criterion.comparison[0]
        ):
            return
    of_measure = criterion.statistic == "sd" or bool(measures()[criterion.measure].better)
    what = "sd" if criterion.statistic == "sd" else criterion.measure if of_measure else criterion.of
    said = f"of {what} {better} is better, and it must be {criterion.must}: the better it is, the less it is met"
    yield (*keys, "must"), named(criterion, said), _other_way(criterion.comparison, not of_measure and what != ELAPSED)


def _says_nothing(criterion: Criterion) -> bool:
    """Whether every possible value meets a bound, such as >= 0, or a share <= 100 %."""
    measure = measures()[criterion.measure]
    if criterion.comparison == ">=":
        return criterion.bound <= 0 and not measure.negative
    return criterion.comparison == "<=" and criterion.bound >= 1 and measure.bound == "share" and not measure.beyond_all


def _better(criterion: Criterion, tests: dict[str, Test]) -> str:
    """The direction in which the figure gets better, higher or lower; "" where it is not known."""
    if criterion.statistic == "sd":
        return "lower"
    if measures()[criterion.measure].better:
        return measures()[criterion.measure].better
    if criterion.of == ELAPSED:
        return "lower"
    asked = [test for test in tests.values() if criterion.test in ("", test.name)]
    words = {figure.better for test in asked for figure in test.figures if figure.name == figure_of(criterion.of)}
    return words.pop() if len(words) == 1 else ""


def _wrong_way(comparison: str, better: str) -> bool:
    return comparison.startswith("<" if better == "higher" else ">")


def _other_way(comparison: str, of_the_test: bool) -> str:
    """``of_the_test``: a test says what is better."""
    turned = comparison.replace("<", ">") if "<" in comparison else comparison.replace(">", "<")
    return f"write '{turned}', or mend the figure's 'better'" if of_the_test else f"write '{turned}'"


def tell_rows_against(read: ContractRead, tests: dict[str, Definition], told: Problems) -> None:
    """Purpose: the same of a contract's rows; a row beside it that bounds the other side makes a band."""
    for row in read.contract.rows:
        side = "<=" if _is_open(row) else ">=" if row.high is None else ""
        better, at = _written_better(tests.get(row.test), row.figure), read.written[row.name]
        if better and _is_open(row) and row.high is None:
            told.file(at.path, f"it is met whatever comes: must {row.must}", "write what is meant", at.line, at.column)
            continue
        if not side or not better or not _wrong_way(side, better) or _banded(read.contract, row.name):
            continue
        said = f"of {row.figure} {better} is better, and it must be {row.must}: the better it is, the less it is met"
        told.file(at.path, said, "turn the bound around, or mend the figure's 'better'", at.line, at.column)


def _is_open(row: ContractRow) -> bool:
    """Whether a lower bound asks for nothing: figures are hardly ever below 0."""
    return row.low is None or row.low < 0 or (row.low == 0 and not row.strict)


def _written_better(test: Definition | None, figure: str) -> str:
    if figure == ELAPSED:
        return "lower"
    entry = (test.values.get("figures") or {}).get(figure_of(figure)) if test and test.good else None
    return str((entry or {}).get("better", ""))


def _banded(contract: Contract, name: str) -> bool:
    """Whether another row bounds the other side of the same figure."""
    row = next(row for row in contract.rows if row.name == name)
    return any(
        (other.test, other.figure) == (row.test, row.figure)
        and other is not row
        and (_is_open(other) != _is_open(row) or (other.high is None) != (row.high is None))
        and not (_is_open(other) and other.high is None)
        for other in contract.rows
    )
