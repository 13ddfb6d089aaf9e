"""Figures of one name in several tests: which a criterion may put together, and that it does so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from yaml.nodes import Node

from shakedown.model.figures import measured_as
from shakedown.model.judging import Criterion
from shakedown.model.measures import measures
from shakedown.model.nouns import Test
from shakedown.model.units import Quantity
from shakedown.plans.components.bounds_against import ELAPSED, Advice, named
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.scalars import listed
from shakedown.plans.schema.source_positions import place

_WAY = "name the test: test: NAME, in a criterion for each"


def check_alike(node: Node, name: str, entry: dict[str, Any], tests: Sequence[Test], problems: Problems) -> None:
    """Purpose: refuse a criterion on figures of one name that have no number in common: of other directions, or in units of other
    kinds. Where each case is its own, a share is of one figure whatever the others are.
    """
    measure = measures()[entry["measure"]]
    if measure.always_per_case or ("per" in entry and measure.bound == "share"):
        return
    why = _unlike(entry["of"], tests)
    if why:
        problems.at(place(node, "of"), f"criteria.{name}.of: {why}", _WAY, f"figure {entry['of']}")


def _unlike(figure: str, tests: Sequence[Test]) -> str:
    """Why the figures of this name make no number, in words; "" where they do."""
    found = [(test.name, spec) for test in tests if (spec := measured_as(figure, test.figures)) is not None]
    for name, spec in found[1:]:
        first, other = found[0]
        if spec.better and other.better and spec.better != other.better:
            return f"of '{figure}' {other.better} is better in test {first}, and {spec.better} in test {name}"
        if not _of_a_kind(spec.unit, other.unit):
            return f"'{figure}' is in {other.unit or 'no unit'} in test {first}, and in {spec.unit or 'no unit'} in test {name}"
    return ""


def _of_a_kind(unit: str, other: str) -> bool:
    try:
        Quantity(1.0, unit).to(other)
    except ValueError:
        return False
    return True


def pooled(keys: tuple[str, ...], criterion: Criterion, tests: Sequence[str]) -> Iterator[Advice]:
    """Purpose: advice where figures that only have their name in common make one number. ``tests``: those that give it values."""
    if (
        len(tests) > 1
        and criterion.of != ELAPSED
        and not criterion.per
        and not measures()[criterion.measure].always_per_case
    ):
        said = f"it makes one number of the '{criterion.of}' of {len(tests)} tests: {listed(tests)}"
        yield (*keys, "of"), named(criterion, said), f"{_WAY}; or per: case"
