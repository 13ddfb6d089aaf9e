"""Formulas of derived figures: ``100 * rate / (nodes * node.peak)`` over other figures, with their units.

``parse`` is the way in; ``value`` computes, ``dimension`` tells beforehand whether the units fit. A formula holds names, numbers,
``+ - * / **`` and the functions of ``FUNCTIONS``. What cannot be computed has a sentence, never a number.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from shakedown.model.dotted_names import dotted, dotted_names_in
from shakedown.model.units import COUNTS, UNITS

LONGEST = 500  # characters of a formula
_LARGEST_POWER = 100
_TOKENS = re.compile(
    r"(?:\s+|[A-Za-z_][\w-]*(?:\.[A-Za-z_]\w*)*|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?(?![\w.])|\*\*|[-+*/(),])*"
)
_FORMS = "a formula holds figures, numbers, + - * / **, parentheses, and min, max, mean, gmean, hmean, sum, sqrt, abs, number"

Dimension = tuple[tuple[str, float], ...]  # base unit -> its power, in the order of the names; () for a plain number
PLAIN: Dimension = ()
# How the units that Shakedown knows are made of base units. Others are base units of their own.
_MADE_OF: dict[str, Dimension] = {
    "number": PLAIN,
    "share": PLAIN,
    "bytes": (("byte", 1.0),),
    "bytes/s": (("byte", 1.0), ("s", -1.0)),
    **{thing: ((thing, 1.0),) for thing in COUNTS},
    **{f"{thing}/s": ((thing, 1.0), ("s", -1.0)) for thing in COUNTS},
    "flop": (("FLOP", 1.0),),
    "flop/s": (("FLOP", 1.0), ("s", -1.0)),
    "flop/joule": (("FLOP", 1.0), ("J", -1.0)),
    "ops": (("op", 1.0),),
    "hertz": (("s", -1.0),),
    "ops/s": (("op", 1.0), ("s", -1.0)),
    "seconds": (("s", 1.0),),
    "joules": (("J", 1.0),),
    "watts": (("J", 1.0), ("s", -1.0)),
}


class FormulaError(ValueError):
    """The reason why a formula has no value, as a sentence, with a hint."""

    def __init__(self, message: str, hint: str = "", of_units: bool = False) -> None:
        """``of_units``: it is so whatever the numbers are."""
        super().__init__(message)
        self.hint, self.of_units = hint, of_units


@dataclass(frozen=True, slots=True)
class Amount:
    """A number in base units and its dimension. ``written``: the number in its original unit."""

    value: float
    dimension: Dimension = PLAIN
    written: float | None = None


def parse(text: str) -> ast.expr:
    """Purpose: parse a formula into a tree of allowed elements only. Errors: FormulaError."""
    return _parsed(text)


def names_in(text: str) -> tuple[str, ...]:
    """The distinct names in a formula, in order of appearance. Errors: FormulaError."""
    return tuple(name.replace(_DASH, "-") for name in dict.fromkeys(dotted_names_in(parse(text))))


def constants_in(text: str) -> tuple[float, ...]:
    """The numbers in a formula. Errors: FormulaError."""
    return tuple(node.value for node in ast.walk(parse(text)) if isinstance(node, ast.Constant))  # type: ignore[misc]


def amount(value: float, unit: str) -> Amount:
    """Purpose: a number with a unit, for use in a formula. An unknown unit is a dimension by itself."""
    dimension, factor = _made_of(unit)
    return Amount(value * factor, dimension, value)


def value(text: str, given: Mapping[str, Amount], unit: str) -> float:
    """Purpose: the value of a formula, in ``unit``.

    Raises FormulaError where a name has no value, a unit does not fit, or there is no finite number.
    """
    result = _Computing(given).of(parse(text))
    wanted, factor = _made_of(unit)
    # A plain number may be called anything where a person took the units away with number(), or gave it one of their own.
    free = result.dimension == PLAIN and (unit not in UNITS or _takes_units_away(text))
    if result.dimension != wanted and not free:
        raise FormulaError(
            f"it comes out in {show(result.dimension)}, and the figure is in {unit or 'plain numbers'}",
            "give the figure the unit that the formula has; number(x) is x without its unit",
            of_units=True,
        )
    found = result.value / factor if result.dimension == wanted else result.value
    if not math.isfinite(found):
        raise FormulaError("it comes to no finite number")
    return found


def _made_of(unit: str) -> tuple[Dimension, float]:
    """The dimension of a unit and its factor to base units: ``1/min`` is made of a time, too."""
    kind, factor = UNITS.get(unit, (unit, 1.0))
    over = UNITS.get(unit.removeprefix("1/"), ("", 1.0)) if unit.startswith("1/") else ("", 1.0)
    if over[0] == "seconds":
        return (("s", -1.0),), 1 / over[1]
    return _MADE_OF.get(kind, ((kind, 1.0),)), factor


def _takes_units_away(text: str) -> bool:
    """Whether a formula uses number(); its result then has the unit of the figure."""
    calls = (node.func for node in ast.walk(parse(text)) if isinstance(node, ast.Call))
    return any(isinstance(called, ast.Name) and called.id == "number" for called in calls)


def show(dimension: Dimension) -> str:
    """A dimension in words: byte/s, flop, plain numbers."""
    if not dimension:
        return "plain numbers"
    above = [_power(name, power) for name, power in dimension if power > 0]
    below = [_power(name, -power) for name, power in dimension if power < 0]
    return " ".join(above or ["1"]) + "".join(f"/{name}" for name in below)


def _power(name: str, power: float) -> str:
    return name if power == 1 else f"{name}^{power:g}"


# ---- reading ---------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=5_000)
def _parsed(text: str) -> ast.expr:
    if len(text) > LONGEST:
        raise FormulaError(f"a formula of {len(text)} characters", f"{LONGEST} are the most")
    if not text.strip() or _TOKENS.fullmatch(text) is None:
        raise FormulaError(f"'{text}' is not a formula", _FORMS)
    try:
        tree = ast.parse(_without_dashes(text).strip(), mode="eval").body
    except (SyntaxError, MemoryError, RecursionError, ValueError) as error:
        raise FormulaError(f"'{text}' is not a formula", _FORMS) from error
    for node in ast.walk(tree):
        _refuse(node, text)
    return tree


_DASHED = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?:-[A-Za-z_]\w*)+(?![\w(])")
_DASH = "__dash__"


def _without_dashes(text: str) -> str:
    """Replace dashes inside names such as ``random-ring``; a minus with blanks around it, or before a number, stays a minus."""
    return _DASHED.sub(lambda match: match.group().replace("-", _DASH), text)


def _refuse(node: ast.AST, text: str) -> None:
    fine = isinstance(node, ast.operator | ast.unaryop | ast.expr_context)
    if isinstance(node, ast.BinOp):
        fine = isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div | ast.Pow)
    elif isinstance(node, ast.UnaryOp):
        fine = isinstance(node.op, ast.USub | ast.UAdd)
    elif isinstance(node, ast.Call):
        fine = isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS and bool(node.args) and not node.keywords
    elif isinstance(node, ast.Constant):
        fine = type(node.value) in (int, float)
    elif isinstance(node, ast.Name | ast.Attribute):
        fine = bool(dotted(node))
    if not fine:
        raise FormulaError(f"'{text}' is not a formula", _FORMS)


# ---- computing -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Computing:
    given: Mapping[str, Amount]

    def of(self, tree: ast.expr) -> Amount:
        name = dotted(tree).replace(_DASH, "-")
        if name:
            return self._named(name)
        try:
            return self._computed(tree)
        except (ZeroDivisionError, OverflowError) as error:
            what = "divides by zero" if isinstance(error, ZeroDivisionError) else "comes to a number that is too large"
            raise FormulaError(f"it {what}") from error
        except RecursionError as error:
            raise FormulaError("it is nested too deeply") from error

    def _named(self, name: str) -> Amount:
        if name not in self.given:
            raise FormulaError(f"{name} is missing")
        return self.given[name]

    def _computed(self, tree: ast.expr) -> Amount:
        if isinstance(tree, ast.Constant):
            assert isinstance(tree.value, int | float)
            return Amount(float(tree.value), PLAIN, float(tree.value))
        if isinstance(tree, ast.UnaryOp):
            inner = self.of(tree.operand)
            return Amount(-inner.value, inner.dimension) if isinstance(tree.op, ast.USub) else inner
        if isinstance(tree, ast.Call):
            assert isinstance(tree.func, ast.Name)
            return FUNCTIONS[tree.func.id]([self.of(argument) for argument in tree.args])
        assert isinstance(tree, ast.BinOp)
        left, right = self.of(tree.left), self.of(tree.right)
        if isinstance(tree.op, ast.Mult):
            return Amount(left.value * right.value, _times(left.dimension, right.dimension))
        if isinstance(tree.op, ast.Div):
            return Amount(left.value / right.value, _times(left.dimension, right.dimension, -1.0))
        if isinstance(tree.op, ast.Pow):
            return _raised(left, right)
        _same((left, right), "adds" if isinstance(tree.op, ast.Add) else "subtracts")
        sign = 1.0 if isinstance(tree.op, ast.Add) else -1.0
        return Amount(left.value + sign * right.value, left.dimension)


def _times(one: Dimension, other: Dimension, power: float = 1.0) -> Dimension:
    powers = dict(one)
    for name, exponent in other:
        powers[name] = powers.get(name, 0.0) + power * exponent
    return tuple(sorted((name, exponent) for name, exponent in powers.items() if abs(exponent) > 1e-9))


def _raised(base: Amount, exponent: Amount) -> Amount:
    if exponent.dimension:
        raise FormulaError(f"a power is a plain number, not in {show(exponent.dimension)}", of_units=True)
    if abs(exponent.value) > _LARGEST_POWER:
        raise FormulaError(f"a power of {exponent.value:g} is too large")
    raised = base.value**exponent.value
    if isinstance(raised, complex):
        raise FormulaError("a negative number has no such power")
    return Amount(raised, _times(PLAIN, base.dimension, exponent.value))


def _same(amounts: Sequence[Amount], does: str) -> None:
    first = amounts[0].dimension
    for other in amounts[1:]:
        if other.dimension != first:
            raise FormulaError(
                f"it {does} {show(first)} and {show(other.dimension)}", "number(x) is x without its unit", of_units=True
            )


def _of_same(name: str, function: Callable[[list[float]], float]) -> Callable[[Sequence[Amount]], Amount]:
    def apply(amounts: Sequence[Amount]) -> Amount:
        _same(amounts, f"takes the {name} of")
        return Amount(function([one.value for one in amounts]), amounts[0].dimension)

    return apply


def _geometric(values: list[float]) -> float:
    if min(values) < 0:
        raise FormulaError("a negative number has no geometric mean")
    return math.exp(math.fsum(map(math.log, values)) / len(values)) if min(values) > 0 else 0.0


def _harmonic(values: list[float]) -> float:
    if min(values) <= 0:
        raise FormulaError("only numbers above zero have a harmonic mean")
    return len(values) / math.fsum(1.0 / one for one in values)


def _one(name: str, amounts: Sequence[Amount]) -> Amount:
    if len(amounts) != 1:
        raise FormulaError(f"{name}() takes one value, not {len(amounts)}", of_units=True)
    return amounts[0]


def _sqrt(amounts: Sequence[Amount]) -> Amount:
    return _raised(_one("sqrt", amounts), Amount(0.5))


def _abs(amounts: Sequence[Amount]) -> Amount:
    inner = _one("abs", amounts)
    return Amount(abs(inner.value), inner.dimension)


def _number(amounts: Sequence[Amount]) -> Amount:
    inner = _one("number", amounts)
    return Amount(inner.value if inner.written is None else inner.written)


FUNCTIONS: dict[str, Callable[[Sequence[Amount]], Amount]] = {
    "min": _of_same("minimum", min),
    "max": _of_same("maximum", max),
    "sum": _of_same("sum", math.fsum),
    "mean": _of_same("mean", lambda values: math.fsum(values) / len(values)),
    "gmean": _of_same("geometric mean", _geometric),
    "hmean": _of_same("harmonic mean", _harmonic),
    "sqrt": _sqrt,
    "abs": _abs,
    "number": _number,
}
