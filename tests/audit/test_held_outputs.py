"""What verify says where a kept output and its verdict differ."""

from __future__ import annotations

from typing import Any

from shakedown.audit.held_outputs import _difference
from shakedown.checks.trim import TRIMMED
from shakedown.model.events import Event


def _verdict(rate: float, checks: list[Any], problems: list[str]) -> Event:
    return Event(
        "verdict", value={"verdict": "passed", "figures": {"rate": rate}, "checks": checks, "problems": problems}
    )


def test_a_figure_of_a_shortened_verdict_is_held_against_its_output_all_the_same() -> None:
    """A verdict that is shortened loses checks and problems, and never a figure."""
    old, new = _verdict(97.25, [], [TRIMMED]), _verdict(17.25, [["exit is 0", True, ""]], [])
    assert _difference(old, new) == "has rate = 97.25 in the log, and 17.25 comes out of its output"


def test_checks_of_a_shortened_verdict_are_not_compared() -> None:
    old, new = _verdict(17.25, [["outp", True, ""]], [TRIMMED]), _verdict(17.25, [["outp", False, ""]], [])
    assert _difference(old, new) == ""
