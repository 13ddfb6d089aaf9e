"""The limits of a plan, or of one component: copies, budgets, builds, queued jobs."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from yaml.nodes import Node

from shakedown.model.errors import did_you_mean
from shakedown.model.nouns import Case, Limits, Loads
from shakedown.model.units import parse_quantity
from shakedown.plans.components.budgets import PER_TARGET, without_per_target
from shakedown.plans.context import Context
from shakedown.plans.observing import check_observed, read_observed
from shakedown.plans.schema.amounts import check_dimension, show_amount
from shakedown.plans.schema.scalars import InvalidValue
from shakedown.plans.schema.source_positions import key_place, place


def read_limits(node: Node, written: dict[str, Any], context: Context) -> Limits:
    """Purpose: the limits, budgets in base units; what is wrong goes to the context's problems. ``node``: of the limits."""
    usual = Limits()
    return Limits(
        copies=tuple(written.get("copies", {}).items()),
        budgets=read_amounts(node, "limits", written.get("budgets", {}), context),
        queued=written.get("queued", usual.queued),
        builds=written.get("builds", usual.builds),
        stagger_s=written.get("stagger", usual.stagger_s),
        exclude_after=written.get("exclude_after", usual.exclude_after),
        observed=read_observed(node, written.get("observe", {}), context),
    )


def read_amounts(node: Node, label: str, written: dict[str, str], context: Context, nothing: bool = False) -> Loads:
    """Purpose: narrower budgets in base units, of each target where they have some. ``nothing``: 0 is an amount too."""
    budgets = []
    for name, text in written.items():
        try:
            budgets.append((name, _narrower(name, text, context, nothing)))
        except ValueError as error:
            at = key_place(node, "budgets", name)
            hint, about = getattr(error, "hint", None), getattr(error, "about", "")
            context.problems.at(at, f"{label}.budgets.{name}: {error}", hint, about)
    return tuple(budgets)


def check_limits(
    node: Node, whose: str, limits: Limits, tests: Collection[str], cases: Iterable[Case], context: Context
) -> None:
    """Purpose: check that every limit is about a test or a load of these cases, and leaves room for at least one run.

    ``whose``: the plan, or the component; it runs these tests and cases.
    """
    cases = tuple(cases)
    check_copies(node, "limits", whose, limits.copies, tests, context)
    check_observed(node, limits.observed, cases, context)
    largest: dict[str, tuple[float, str]] = {}
    for case in cases:
        for name, amount in case.loads:
            largest[name] = max(largest.get(name, (0.0, "")), (amount, case.id))
    for name, most in limits.budgets:
        amount, case_id = largest.get(name, (0.0, ""))
        if amount > most:
            message = f"limits.budgets.{name}: {_too_little(amount, most, case_id, context.budgets[name][1])}"
            context.problems.at(place(node, "budgets", name), message, "it could never run")


def check_copies(
    node: Node,
    label: str,
    whose: str,
    copies: Iterable[tuple[str, int]],
    tests: Collection[str],
    context: Context,
) -> None:
    """Purpose: report copies of tests that are not among ``tests``."""
    for name, _ in copies:
        if name not in tests:
            near = did_you_mean(name, tests) or f"its tests are: {', '.join(tests)}"
            at = key_place(node, "copies", name)
            context.problems.at(at, f"{label}.copies: the {whose} runs no test '{name}'", near, f"test {name}")


def _too_little(amount: float, most: float, case_id: str, dimension: str) -> str:
    return (
        f"one run of {case_id} takes {show_amount(amount, dimension)}, and this leaves {show_amount(most, dimension)}"
    )


def _narrower(name: str, text: str, context: Context, nothing: bool) -> float:
    """An amount in base units: as written, or as a share of what the system has. Raises ValueError."""
    written, each = without_per_target(text)
    quantity = parse_quantity(written)
    if not (quantity.value > 0 or (nothing and quantity.value == 0)):
        raise InvalidValue(f"'{text}' is no amount", "write zero or more" if nothing else "write an amount above zero")
    if name not in context.budgets:
        hint = did_you_mean(name, context.budgets) or "budgets are said in systems/, where there is something to limit"
        raise InvalidValue(f"system {context.machine.system.name} has no such budget", hint, f"budget {name}")
    most, dimension = context.budgets[name]
    if each and name not in context.targeted:
        raise InvalidValue(f"'{text}': the budget has no targets", f"write '{written}'")
    if quantity.unit == "%":
        amount = most * quantity.base
    else:
        if name in context.targeted and not each:
            raise InvalidValue(
                f"'{text}': the budget is {PER_TARGET}", f"write '{written} {PER_TARGET}', or a share such as 50%"
            )
        check_dimension(quantity, dimension, "the budget")
        amount = quantity.base
    if amount > most:
        raise InvalidValue(f"'{text}' is more than system {context.machine.system.name} has", "limits narrow a budget")
    return amount
