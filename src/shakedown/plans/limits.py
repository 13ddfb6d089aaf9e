"""The limits of a plan: copies, budgets, builds, queued jobs."""

from __future__ import annotations

from typing import Any

from yaml.nodes import MappingNode

from shakedown.model.errors import did_you_mean
from shakedown.model.nouns import Limits
from shakedown.model.units import parse_quantity
from shakedown.plans.amounts import check_dimension, show_amount
from shakedown.plans.components import Selector
from shakedown.plans.context import Context
from shakedown.plans.kinds import Wrong
from shakedown.plans.places import key_place, place


def read_limits(root: MappingNode, written: dict[str, Any], context: Context) -> Limits:
    """Purpose: the limits, budgets in base units; what is wrong goes to the context's problems."""
    budgets = []
    for name, text in written.get("budgets", {}).items():
        try:
            budgets.append((name, _budget(name, text, context)))
        except ValueError as error:
            at = key_place(root, "limits", "budgets", name)
            context.problems.at(at, f"limits.budgets.{name}: {error}", getattr(error, "hint", None))
    usual = Limits()
    return Limits(
        copies=tuple(written.get("copies", {}).items()),
        budgets=tuple(budgets),
        queued=written.get("queued", usual.queued),
        builds=written.get("builds", usual.builds),
    )


def check_limits(root: MappingNode, limits: Limits, selector: Selector) -> None:
    """Purpose: every limit is about something that the plan runs, and leaves room for at least one run."""
    context = selector.context
    for name, _ in limits.copies:
        if name not in selector.asked:
            near = did_you_mean(name, selector.asked) or f"its tests are: {', '.join(selector.asked)}"
            at = key_place(root, "limits", "copies", name)
            context.problems.at(at, f"limits.copies: the plan runs no test '{name}'", near)
    largest: dict[str, tuple[float, str]] = {}
    for case in selector.cases.values():
        for name, amount in case.loads:
            largest[name] = max(largest.get(name, (0.0, "")), (amount, case.id))
    for name, most in limits.budgets:
        amount, case_id = largest.get(name, (0.0, ""))
        if amount > most:
            message = f"limits.budgets.{name}: {_too_little(amount, most, case_id, context.budgets[name][1])}"
            context.problems.at(place(root, "limits", "budgets", name), message, "it could never run")


def _too_little(amount: float, most: float, case_id: str, dimension: str) -> str:
    return (
        f"one run of {case_id} takes {show_amount(amount, dimension)}, and this leaves {show_amount(most, dimension)}"
    )


def _budget(name: str, text: str, context: Context) -> float:
    """An amount in base units: as written, or as a share of what the system has. Raises ValueError."""
    quantity = parse_quantity(text)
    if not quantity.value > 0:
        raise Wrong(f"'{text}' is no amount", "it is above zero")
    if name not in context.budgets:
        hint = did_you_mean(name, context.budgets) or "budgets are said in systems/, where there is something to limit"
        raise Wrong(f"system {context.machine.system.name} has no such budget", hint)
    most, dimension = context.budgets[name]
    if quantity.unit == "%":
        amount = most * quantity.base
    else:
        check_dimension(quantity, dimension, "the budget")
        amount = quantity.base
    if amount > most:
        raise Wrong(f"'{text}' is more than system {context.machine.system.name} has", "limits narrow a budget")
    return amount
