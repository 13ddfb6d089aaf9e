"""Compute figures that have formulas from other figures of the same run, in the order in which they need each other."""

from __future__ import annotations

from collections.abc import Sequence

from shakedown.model.figures import FigureSpec, no_measurement
from shakedown.model.formulas import Amount, FormulaError, amount, names_in, value

ELAPSED = "elapsed"  # the run time in seconds, which every run has


def derive(
    specs: Sequence[FigureSpec], taken: Sequence[tuple[str, float]], elapsed_s: float | None
) -> tuple[tuple[tuple[str, float], ...], tuple[str, ...]]:
    """Purpose: the figures of formulas that can be computed, and a sentence for each that cannot.

    ``taken``: name -> value of the run's other figures, each in the unit of its spec. A figure that is there already is
    not computed again. Sentences begin with ``figure NAME:``.
    """
    units = {spec.name: spec.unit for spec in specs}
    known = {name: amount(number, units[name]) for name, number in taken if name in units}
    if elapsed_s is not None:
        known[ELAPSED] = amount(elapsed_s, "s")
    found: list[tuple[str, float]] = []
    problems: list[str] = []
    for spec in in_order([spec for spec in specs if spec.formula and spec.name not in known]):
        try:
            result = value(spec.formula, known | _given(spec), spec.unit)
        except FormulaError as error:
            if spec.required or not _lacks_optional(spec, specs, known):
                problems.append(f"figure {spec.name}: {error}")
            continue
        if why := no_measurement(result):
            problems.append(f"figure {spec.name}: {why}")
            continue
        found.append((spec.name, result))
        known[spec.name] = amount(result, spec.unit)
    return tuple(found), tuple(problems)


def in_order(specs: Sequence[FigureSpec]) -> list[FigureSpec]:
    """The specs in an order in which each follows those that it needs; specs that need themselves come last, as written."""
    left, sorted_ = list(specs), list[FigureSpec]()
    while left:
        waiting = {spec.name for spec in left}
        ready = [spec for spec in left if not waiting.intersection(names_in(spec.formula))]
        if not ready:
            return sorted_ + left
        sorted_ += ready
        left = [spec for spec in left if spec not in ready]
    return sorted_


def _given(spec: FigureSpec) -> dict[str, Amount]:
    return {name: amount(number, unit) for name, number, unit in spec.given}


def _lacks_optional(spec: FigureSpec, specs: Sequence[FigureSpec], known: dict[str, Amount]) -> bool:
    """Whether the formula lacks only optional figures: then it has no value, and this is no problem."""
    optional = {one.name for one in specs if not one.required}
    missing = [name for name in names_in(spec.formula) if name not in known and name not in dict(_given(spec))]
    return bool(missing) and all(name in optional for name in missing)
