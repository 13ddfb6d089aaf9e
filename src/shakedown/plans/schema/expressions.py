"""``{expression}`` in text: names, numbers, + - * / // % and parentheses, min() and max(), and nothing else.

``{{`` and ``}}`` are literal braces. No expression can take much time or memory.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

from shakedown.model.dotted_names import dotted, dotted_names_in
from shakedown.model.errors import did_you_mean

Value = str | int | float
Part = str | ast.expr

_LONGEST = 200  # characters of an expression; no product of so few digits is large
_LARGEST = 1e30
_PIECES = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_TOKENS = re.compile(r"(?:\s+|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|//|[-+*/%(),])*")
_WHOLE = re.compile(r"[+-]?\d{1,18}")
_NUMBER = re.compile(r"[+-]?(?:\d{1,18}\.?\d{0,18}|\.\d{1,18})(?:[eE][+-]?\d{1,2})?")
_BRACES = "braces that are meant literally, such as the shell's, are doubled: '{{' and '}}'"


class ExpressionError(ValueError):
    """What is wrong with an expression, and a hint. ``unknown`` is the unknown name, where that is the error."""

    def __init__(self, message: str, hint: str | None = None, unknown: str = "") -> None:
        super().__init__(message)
        self.hint, self.unknown = hint, unknown


def fill(text: str, names: Mapping[str, Value]) -> str:
    """Purpose: the text with its expressions replaced. Raises ExpressionError."""
    if "{" not in text and "}" not in text:
        return text
    try:
        return "".join([part if part.__class__ is str else show(_value(part, names)) for part in template(text)])
    except ExpressionError as error:
        if error.unknown and f"${{{error.unknown}}}" in text:
            error.hint = f"for the shell's own ${{{error.unknown}}} write ${{{{{error.unknown}}}}}"
        raise


def evaluate(text: str, names: Mapping[str, Value]) -> Value:
    """Purpose: the value of one bare expression. Raises ExpressionError."""
    return _value(_parsed(text), names)


def number(text: str, names: Mapping[str, Value]) -> int | float:
    """Purpose: text with expressions, as a number: "{node.cores // 2}". Raises ExpressionError."""
    return _number(fill(text, names))


@lru_cache(maxsize=20_000)
def template(text: str) -> tuple[Part, ...]:
    """Purpose: the text's pieces: literal ones as str, the others as expressions. Raises ExpressionError where braces or an
    expression are wrong.
    """
    parts: list[Part] = []
    end = 0
    for match in _PIECES.finditer(text):
        parts.append(text[end : match.start()])
        end = match.end()
        whole = match.group()
        if whole in ("{{", "}}"):
            parts.append(whole[0])
        elif match.group(1) is not None:
            parts.append(_parsed(match.group(1)))
        else:
            raise ExpressionError(f"a '{whole}' without its partner", _BRACES)
    parts.append(text[end:])
    return tuple(part for part in parts if part != "")


def show(value: Value) -> str:
    """A value as text: whole numbers without a decimal point, text as it was written."""
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def names_in(text: str) -> set[str]:
    """The names that a text's expressions use. Raises ExpressionError."""
    return {name for part in template(text) if isinstance(part, ast.expr) for name in dotted_names_in(part)}


# ---- reading an expression -------------------------------------------------------------------------------------------


@lru_cache(maxsize=20_000)
def _parsed(text: str) -> ast.expr:
    shown = f"'{{{text if len(text) <= 60 else text[:57] + '...'}}}'"
    if len(text) > _LONGEST:
        raise ExpressionError(f"the expression {shown} has more than {_LONGEST} characters")
    if not text.strip():
        raise ExpressionError("an empty expression '{}'", _BRACES)
    if _TOKENS.fullmatch(text) is None:
        raise ExpressionError(f"{shown} is not an expression", _BRACES)
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, MemoryError, RecursionError) as error:
        raise ExpressionError(f"{shown} is not an expression", _BRACES) from error
    _check(tree, shown)
    return tree


def _check(tree: ast.expr, shown: str) -> None:
    """Raise ExpressionError for every construct that is not allowed."""
    fine = True
    if isinstance(tree, ast.BinOp):
        fine = type(tree.op) in _ARITHMETIC
        _check(tree.left, shown)
        _check(tree.right, shown)
    elif isinstance(tree, ast.UnaryOp):
        fine = isinstance(tree.op, ast.USub | ast.UAdd)
        _check(tree.operand, shown)
    elif isinstance(tree, ast.Call):
        fine = isinstance(tree.func, ast.Name) and tree.func.id in _FUNCTIONS and bool(tree.args) and not tree.keywords
        for argument in tree.args:
            _check(argument, shown)
    elif isinstance(tree, ast.Constant):
        fine = type(tree.value) in (int, float)
    else:
        fine = bool(dotted(tree))
    if not fine:
        raise ExpressionError(
            f"{shown} is not an expression", "it may hold names, numbers, + - * / // %, min() and max()"
        )


# ---- its value -------------------------------------------------------------------------------------------------------

_ARITHMETIC: dict[type[ast.operator], Callable[[int | float, int | float], int | float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_FUNCTIONS: dict[str, Callable[[Iterable[int | float]], int | float]] = {"min": min, "max": max}


def _value(tree: Part, names: Mapping[str, Value]) -> Value:
    if tree.__class__ is ast.Name:
        return _look_up(tree.id, names)
    if isinstance(tree, ast.Attribute):
        return _look_up(dotted(tree), names)
    if isinstance(tree, ast.Constant):
        return _within(tree.value)  # type: ignore[arg-type]
    if isinstance(tree, ast.UnaryOp):
        operand = _number(_value(tree.operand, names))
        return -operand if isinstance(tree.op, ast.USub) else operand
    if isinstance(tree, ast.Call):
        return _FUNCTIONS[tree.func.id]([_number(_value(a, names)) for a in tree.args])  # type: ignore[attr-defined]
    assert isinstance(tree, ast.BinOp)
    left, right = _number(_value(tree.left, names)), _number(_value(tree.right, names))
    try:
        return _within(_ARITHMETIC[type(tree.op)](left, right))
    except ZeroDivisionError as error:
        raise ExpressionError("a division by zero") from error
    except OverflowError as error:
        raise ExpressionError("a number too large to compute with") from error


def _within(value: int | float) -> int | float:
    if not math.isfinite(value) or abs(value) > _LARGEST:
        raise ExpressionError("a number too large to compute with")
    return value


def _look_up(name: str, names: Mapping[str, Value]) -> Value:
    try:
        return names[name]
    except KeyError:
        known = sorted(getattr(names, "known", names.keys)())
        hint = did_you_mean(name, known) or f"known here: {', '.join(known)}"
        raise ExpressionError(f"unknown name '{name}' in an expression", hint, name) from None


def _number(value: Value) -> int | float:
    """A value as a number: parameters are text until they are used in arithmetic."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    if _WHOLE.fullmatch(text):
        return int(text)
    if _NUMBER.fullmatch(text):
        return float(text)
    raise ExpressionError(f"'{text if len(text) <= 40 else text[:37] + '...'}' is not a number")
