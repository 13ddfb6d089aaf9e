"""Expressions: what they compute, and that nothing a person can type takes long or escapes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shakedown.plans.schema.expressions import ExpressionError, Value, evaluate, fill, names_in, number

NAMES: dict[str, Value] = {"node.cores": 128, "threads": "2", "version": "12.10", "toolchain": "gcc", "half": 0.5}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("7 // 2", 3),
        ("7 % 4", 3),
        ("8 / 2", 4.0),
        ("-threads", -2),
        ("node.cores // threads", 64),
        ("min(node.cores, 3) + max(1, threads, 5)", 8),
        ("toolchain", "gcc"),
        ("version", "12.10"),
        ("version * 2", 24.2),
    ],
)
def test_they_compute(text: str, value: object) -> None:
    assert evaluate(text, NAMES) == value


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("plain", "plain"),
        ("{threads} threads of {node.cores}", "2 threads of 128"),
        ("{node.cores / 2} {half * 3}", "64 1.5"),
        ("v{version}", "v12.10"),
        ("awk '{{print $1}}'", "awk '{print $1}'"),
        ("{{{threads}}}", "{2}"),
        ("${{HOME}}", "${HOME}"),
    ],
)
def test_they_are_filled_into_text(text: str, filled: str) -> None:
    assert fill(text, NAMES) == filled


def test_numbers_written_as_text_are_numbers() -> None:
    assert number("{node.cores // 2}", NAMES) == 64
    assert number("1{threads}", NAMES) == 12


@pytest.mark.parametrize(
    "text",
    [
        "2 ** 9999",
        "9" * 150 + " * " + "9" * 40,
        "1e999",
        "1 // 0",
        "1 % 0",
        "'x' * 9",
        "threads.real",
        "().__class__",
        "__import__('os')",
        "lambda: 1",
        "[1, 2]",
        "1 if 1 else 2",
        "1if 1else 2",
        "threads and 1",
        "not 1",
        "max()",
        "max(*threads)",
        "min(1, key=2)",
        "toolchain + 1",
        "threads = 3",
        "(" * 90 + "1" + ")" * 90 + ")",
        "-" * 199 + "1" + "0",
        "1 \x00",
        "True",
        "0x10",
        "1_000",
        "",
        "  ",
    ],
)
def test_nothing_else_is_computed(text: str) -> None:
    with pytest.raises(ExpressionError):
        evaluate(text, NAMES)


def test_deep_but_short_ones_work() -> None:
    assert evaluate("-" * 190 + "1", NAMES) == 1
    assert evaluate("(" * 90 + "1" + ")" * 90, NAMES) == 1


def test_an_unknown_name_is_told_with_the_nearest_known_one() -> None:
    with pytest.raises(ExpressionError, match=r"unknown name 'node\.core'") as caught:
        fill("{node.core}", NAMES)
    assert caught.value.hint == "did you mean 'node.cores'?"


def test_the_shells_own_braces_are_recognised() -> None:
    with pytest.raises(ExpressionError) as caught:
        fill("cd ${HOME}", NAMES)
    assert caught.value.hint == "for the shell's own ${HOME} write ${{HOME}}"


def test_the_names_of_a_text_can_be_asked_for() -> None:
    assert names_in("{a.b + min(c, 2)} {{d}} {-e}") == {"a.b", "c", "e"}


@given(st.text(alphabet=st.sampled_from("0123456789.eE+-*/%(), ab{}minxnode_cores\n\\'\"[]="), max_size=60))
def test_whatever_is_written_gives_text_or_its_own_error(text: str) -> None:
    try:
        assert isinstance(fill(text, NAMES), str)
    except ExpressionError as error:
        assert str(error)


@given(st.text(max_size=40))
def test_any_text_at_all(text: str) -> None:
    try:
        value = evaluate(text, NAMES)
        assert isinstance(value, (str, int, float))
    except ExpressionError as error:
        assert str(error)


@given(st.text())
def test_doubled_braces_are_the_text_itself(text: str) -> None:
    assert fill(text.replace("{", "{{").replace("}", "}}"), {}) == text
