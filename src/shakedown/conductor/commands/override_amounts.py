"""The amounts of caps and budgets that people set: read, and compared with those of the plan in force."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from shakedown.engine import State
from shakedown.model.errors import UsageError, did_you_mean, there_are
from shakedown.model.units import UNITS, USUAL, near_unit, parse_quantity, show_amount


def copies_of(state: State, test: str, written: Any) -> int:
    """Purpose: how many runs of a test may be live at once. Errors: UsageError where it is no such number, or more than the plan
    allows.
    """
    try:
        copies = int(str(written))
    except ValueError:
        copies = -1
    if copies < 0 or isinstance(written, bool):
        raise UsageError(
            f"'{str(written)[:40]}' is not a number of runs", hint="a whole number, or none for the plan's own"
        )
    own = dict(state.index.document.limits.copies).get(test)
    if own is not None and copies > own:
        raise UsageError(
            f"the plan allows {own} runs of {test} at once; a cap holds less", hint="amend the plan for more"
        )
    return copies


def check_budget(state: State, name: str) -> None:
    """Purpose: check that there is such a budget, or such a target of a budget. Errors: UsageError."""
    document = state.index.document
    budget, at, target = name.partition("@")
    known = [found for found, _ in document.system.budgets]
    if budget not in known:
        near = did_you_mean(budget, known) or (there_are(known, says="there are:") if known else "it has none")
        raise UsageError(f"system {document.system.name} has no budget '{budget[:100]}'", hint=near)
    targets = dict(document.system.targeted).get(budget, ())
    if at and target not in targets:
        near = did_you_mean(target, targets) or (f"it has: {', '.join(targets)}" if targets else "it has no targets")
        raise UsageError(f"budget {budget} has no target '{target[:100]}'", hint=near)


def amount_of(state: State, name: str, written: Any) -> float:
    """Purpose: an amount in base units, from a number with its unit or a share of the plan's own amount.

    Errors: UsageError where it is no amount, exceeds the plan's own, or is too small for even the smallest run, as a number without
    its unit usually is.
    """
    budget = name.partition("@")[0]
    own, amount = _planned_amount(state, budget), _base_units(str(written))
    amount = amount * own if str(written).strip().endswith("%") else amount
    unit = dict(state.index.document.system.budget_units).get(budget, "")
    said = partial(show_amount, unit=unit)
    if not math.isfinite(amount) or amount < 0:
        raise UsageError(f"'{str(written)[:40]}' is no amount", hint="none gives the plan's own amount back")
    if amount > own * (1 + 1e-9):
        raise UsageError(
            f"'{written}' is {said(amount)}, and budget {budget} has {said(own)} by the plan", hint="less can be set"
        )
    loads = [load for case in state.index.document.cases for found, load in case.loads if found == budget and load > 0]
    if 0 < amount < min(loads, default=0.0) * (1 - 1e-9):
        hint = f"write its unit if it has one; 'budget {name} 0' holds back everything that loads it"
        raise UsageError(
            f"'{written}' is {said(amount)} of {budget}, and the smallest run takes {said(min(loads))}", hint=hint
        )
    return amount


def _planned_amount(state: State, budget: str) -> float:
    document = state.index.document
    return min(
        dict(amounts)[budget]
        for amounts in (document.system.budgets, document.limits.budgets)
        if budget in dict(amounts)
    )


def _base_units(text: str) -> float:
    try:
        quantity = parse_quantity(text)
    except ValueError as error:
        raise UsageError(str(error), hint="such as 3, 40%, or 4 GB/s") from error
    if quantity.unit not in UNITS:
        raise UsageError(f"'{text[:40]}': '{quantity.unit[:20]}' is no unit", hint=near_unit(quantity.unit, USUAL))
    return quantity.base
