"""Arithmetic with units: what may be added, what products measure, and what is wrong with the rest."""

from __future__ import annotations

import ast
import operator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shakedown.twin.models.reckoning import Amount, ReckoningError, amount, reckon, unit_of

NAMES = {
    "nodes": amount(10),
    "knl.peak": amount(3e12, "flop/s"),
    "burst-buffer.capacity": amount(4e15, "bytes"),
    "memory": amount(1e12, "bytes", frozenset({"node_types.a.memory"})),
    "clock": amount(2e9, "hertz"),
    "flops": amount(16, "flop"),
    "nothing": amount(0),
}


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("nodes * knl.peak", 3e13, "flop/s"),
        ("flops * clock", 3.2e10, "flop/s"),
        ("memory / nodes", 1e11, "bytes"),
        ("31 GB / 24", 31e9 / 24, "bytes"),
        ("31 GiB/24", 31 * 2**30 / 24, "bytes"),
        ("burst-buffer.capacity / 3.3 TB/s", 4e15 / 3.3e12, "s"),
        ("1 - 772 GiB/s / 806 GiB/s", 1 - 772 / 806, "number"),
        ("6144 * 72 GB", 442.368e12, "bytes"),
        ("-(nodes - 4) * 2", -12, "number"),
        ("2 h + 30 min", 9000, "s"),
        ("memory * memory", 1e24, "bytes^2"),
        ("nodes / clock", 5e-9, "s"),
        ("1 / memory", 1e-12, "1/bytes"),
        ("50% * nodes", 5, "number"),
        ("nodes - 4", 6, "number"),
    ],
)
def test_what_an_expression_makes(text: str, value: float, unit: str) -> None:
    found = reckon(text, NAMES)
    assert found.value == pytest.approx(value, rel=1e-12)
    assert unit_of(found.dimension) == unit


def test_what_rests_on_an_assumption_is_handed_on() -> None:
    assert reckon("memory / nodes + 1 GB", NAMES).assumed == {"node_types.a.memory"}
    assert reckon("nodes * 2", NAMES).assumed == frozenset()


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("memory + nodes", "bytes and number cannot be added: they do not measure the same thing", None),
        ("memory - clock", "bytes and 1/s cannot be added: they do not measure the same thing", None),
        ("knl.peek", "unknown name 'knl.peek', or the file does not say it", "did you mean 'knl.peak'?"),
        ("nodes-memory", "unknown name 'nodes-memory'", "a minus between two names stands between blanks"),
        ("nodes / nothing", "a division by zero", None),
        ("nodes / (nodes - 10)", "a division by zero", None),
        ("1e99 * 1e99", "a number too large to compute with", None),
        ("nodes nodes", "'nodes nodes' is not an expression", None),
        ("nodes *", "'nodes *' is not an expression", None),
        ("(nodes", "'(nodes' is not an expression", None),
        ("", "'' is not an expression", None),
        ("nodes ** 2", "'nodes ** 2' is not an expression", None),
        ("__import__('os')", "unknown name '__import__', or the file does not say it", None),
        ("5 lightyears", "'5 lightyears' is not an expression", None),
        ("(" * 60 + "1" + ")" * 60, "more than 40 parentheses within each other", None),
        ("-" * 200 + "(" * 50, "more than 40 parentheses within each other", None),
        ("1+" * 200 + "1", "an expression of 401 characters", "300 are the most"),
    ],
)
def test_what_is_wrong_is_said(text: str, message: str, hint: str | None) -> None:
    with pytest.raises(ReckoningError) as caught:
        reckon(text, NAMES)
    assert caught.value.message == message
    assert hint is None or caught.value.hint == hint


_OPERATORS: dict[type, Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def _by_python(tree: Any) -> float:
    if isinstance(tree, ast.BinOp):
        found: float = _OPERATORS[type(tree.op)](_by_python(tree.left), _by_python(tree.right))
        return found
    return -_by_python(tree.operand) if isinstance(tree, ast.UnaryOp) else float(tree.value)


_NUMBERS = st.integers(1, 99).map(str)
_EXPRESSIONS = st.recursive(
    _NUMBERS,
    lambda inner: st.one_of(
        st.builds("{} {} {}".format, inner, st.sampled_from("+-*/"), inner),
        inner.map("({})".format),
        inner.map("-{}".format),
    ),
    max_leaves=12,
)


@given(_EXPRESSIONS)
def test_plain_arithmetic_is_python_s(text: str) -> None:
    try:
        expected = _by_python(ast.parse(text, mode="eval").body)
    except (ZeroDivisionError, SyntaxError):
        return
    try:
        found: Amount = reckon(text, {})
    except ReckoningError as error:
        assert error.message in ("a division by zero", "a number too large to compute with")
        return
    assert found.value == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert found.dimension == ()
