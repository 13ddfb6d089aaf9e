"""Functions that return a copy of a frozen document with one setting loosened."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from shakedown.model.nouns import Component, Document, Loads

Change = Callable[[Document], Document]


def raised(amount: float, times: float, unit: str = "") -> float:
    """Purpose: an amount times a factor. An amount >= 1 becomes a whole number, at least one larger; an amount < 1 is not rounded.

    An amount with a ``unit`` is rounded up to two significant digits instead, as a person would write it.
    """
    wanted = amount * times
    if unit and wanted > 0:
        step = 10.0 ** (math.floor(math.log10(wanted)) - 1)
        return math.ceil(wanted / step - 1e-9) * step
    return float(max(amount + 1, math.ceil(wanted - 1e-9))) if amount >= 1 else wanted


def plan_wise(**limits: Any) -> Change:
    """Purpose: a change that sets these limits of the whole campaign."""
    return lambda document: replace(document, limits=replace(document.limits, **limits))


def component_wise(document: Document, fields: Callable[[Component], dict[str, Any]]) -> Document:
    """Purpose: change fields of each component; a dictionary as a value changes single fields of the present value."""

    def changed(one: Component) -> Component:
        new = {
            name: replace(getattr(one, name), **value) if isinstance(value, dict) else value
            for name, value in fields(one).items()
        }
        return replace(one, **new) if new else one

    return replace(document, components=tuple(changed(one) for one in document.components))


# ---- budgets, licences, copies -------------------------------------------------------------------------------------------


def amount_of(document: Document, name: str) -> tuple[float, str] | None:
    """Purpose: (smallest amount given for a budget, its key in the plan or system); None if nothing limits the budget."""
    said = [(dict(one.limits.budgets), f"{one.name}.limits.budgets") for one in document.components]
    said += [(dict(document.limits.budgets), "limits.budgets"), (dict(document.system.budgets), "the system's budgets")]
    known = [(found[name], where) for found, where in said if name in found]
    return min(known, key=lambda pair: pair[0], default=None)


def more_of_budget(document: Document, name: str, times: float) -> Document:
    """Purpose: a plan in which every amount of a budget is at least ``times`` its smallest amount."""
    least, unit = amount_of(document, name), dict(document.system.budget_units).get(name, "")
    most = raised(least[0], times, unit) if least is not None else 0.0
    return _budgets(document, lambda own, amount: max(amount, most) if own.partition("@")[0] == name else amount)


def fewer_of_budgets(document: Document, names: Iterable[str]) -> Document:
    """Purpose: a plan with half of each of these budgets, but at least 1 of each, so that one run still fits."""
    kept = set(names)
    return _budgets(document, lambda own, amount: max(1.0, amount / 2) if own.partition("@")[0] in kept else amount)


def _budgets(document: Document, change: Callable[[str, float], float]) -> Document:
    def all_of(loads: Loads) -> Loads:
        return tuple((name, change(name, amount)) for name, amount in loads)

    document = replace(
        document,
        system=replace(document.system, budgets=all_of(document.system.budgets)),
        limits=replace(document.limits, budgets=all_of(document.limits.budgets)),
    )
    return component_wise(document, lambda one: {"limits": {"budgets": all_of(one.limits.budgets)}})


def more_of_licence(document: Document, name: str, times: float) -> Document:
    """Purpose: a plan with ``times`` as much of a licence, and of the budgets that it stands for."""
    names = {own for own, licence in document.system.licence_names if licence == name} | {name}
    document = _budgets(document, lambda own, amount: raised(amount, times) if own in names else amount)
    clusters = tuple(
        replace(
            one,
            licences=tuple((own, raised(amount, times) if own == name else amount) for own, amount in one.licences),
        )
        for one in document.system.clusters
    )
    return replace(document, system=replace(document.system, clusters=clusters))


def more_of_copies(document: Document, test: str, times: float) -> Document:
    """Purpose: raise each limit on the copies of a test to at least ``times`` the tightest one."""
    said = [dict(document.limits.copies), *(dict(one.limits.copies) for one in document.components)]
    most = int(raised(min(found[test] for found in said if test in found), times))

    def all_of(copies: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
        return tuple((name, max(count, most) if name == test else count) for name, count in copies)

    document = plan_wise(copies=all_of(document.limits.copies))(document)
    return component_wise(document, lambda one: {"limits": {"copies": all_of(one.limits.copies)}})
