"""Budgets: whether a run fits into what it loads, and which targets it gets.

``budget_reason`` and ``choose_targets`` go by the same numbers: what is reserved, what this decision has promised, and the least
of all limits that hold now. What a cluster hands out itself, as licences, is not refused here: it waits there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from shakedown.engine.plan import ClassKey
from shakedown.engine.reason import Reason
from shakedown.engine.standing import narrowed
from shakedown.engine.state import State

_ROUNDING = 1 + 1e-9


@dataclass(slots=True)
class Promised:
    """What a decision has promised already. ``used``: loads by budget; ``limits``: component -> what narrows its budgets now."""

    used: dict[str, float] = field(default_factory=dict)
    limits: dict[int, Mapping[str, float]] = field(default_factory=dict)


def budget_reason(state: State, key: ClassKey, promised: Promised, now: float) -> Reason | None:
    """Purpose: the first budget that has no room for one more run of this class, or None."""
    for name, load in key.loads:
        targets = state.index.targets.get(name, ())
        if targets:
            if _target(state, key, name, load, promised, now) is None:
                return _all_taken(state, key, name, load, promised, now)
            continue
        limit = _limit(state, key, name, name, promised, now)
        taken = state.used.get(name, 0.0) + promised.used.get(name, 0.0)
        if limit is not None and taken + load > limit * _ROUNDING and not _licensed(state, key, name, promised, now):
            return Reason(f"budget:{name}", f"{name}: {taken:g} of {limit:g} is taken and it needs {load:g}")
    return None


def choose_targets(state: State, key: ClassKey, promised: Promised, now: float) -> dict[str, str]:
    """Purpose: budget -> the target that the next run of this class loads: the least loaded one with room, by share of its limit.

    Of equals the first. Only where ``budget_reason`` found nothing.
    """
    found = {}
    for name, load in key.loads:
        if name in state.index.targets:
            target = _target(state, key, name, load, promised, now)
            assert target is not None
            found[name] = target.rpartition("@")[2]
    return found


def fits_slot(state: State, key: ClassKey, loads: Mapping[str, float], targets: Mapping[str, str]) -> bool:
    """Purpose: whether a run of this class could take over what another one loads, on the same targets."""
    return all(
        loads.get(f"{name}@{targets[name]}" if name in targets else name, 0.0) * _ROUNDING >= load
        for name, load in key.loads
        if not name.startswith("jobs:")
    )


def is_bound(state: State, key: ClassKey, now: float, promised: Promised) -> bool:
    """Purpose: whether runs of this class wait for budgets at our side, and not in the queue of the cluster."""
    for name, _ in key.loads:
        targets = state.index.targets.get(name, (name,))
        limited = any(_limit(state, key, name, one, promised, now) is not None for one in targets)
        licensed = all(_licensed(state, key, one, promised, now) for one in targets)
        if limited and not licensed and not name.startswith("jobs:"):
            return True
    return False


def _target(state: State, key: ClassKey, name: str, load: float, promised: Promised, now: float) -> str | None:
    best, least = None, 0.0
    for target in state.index.targets[name]:
        limit = _limit(state, key, name, target, promised, now)
        taken = state.used.get(target, 0.0) + promised.used.get(target, 0.0)
        if limit is not None and taken + load > limit * _ROUNDING and not _licensed(state, key, target, promised, now):
            continue
        share = taken / limit if limit else taken
        if best is None or share < least:
            best, least = target, share
    return best


def _all_taken(state: State, key: ClassKey, name: str, load: float, promised: Promised, now: float) -> Reason:
    shown = []
    for target in state.index.targets[name][:8]:
        limit = _limit(state, key, name, target, promised, now) or 0.0
        taken = state.used.get(target, 0.0) + promised.used.get(target, 0.0)
        shown.append(f"{target.rpartition('@')[2]} {taken:g} of {limit:g}")
    return Reason(f"budget:{name}", f"{name}: no target has room for {load:g} more ({', '.join(shown)})")


def _limit(state: State, key: ClassKey, name: str, own: str, promised: Promised, now: float) -> float | None:
    """The least that holds now; ``own`` is a target of the budget ``name``, or the same."""
    narrow = narrowed_now(state, key.component, promised, now)
    known = [state.index.budgets.get(own), narrow.get(name), narrow.get(own)]
    return min((one for one in known if one is not None), default=None)


def narrowed_now(state: State, component: int, promised: Promised, now: float) -> Mapping[str, float]:
    """Purpose: what narrows budgets for a component at this time: its own limits, windows, yields, people's words."""
    if component not in promised.limits:
        limits = state.index.components[component].limits
        found = dict(limits.budgets) | {f"copies:{test}": float(most) for test, most in limits.copies}
        for name, amount in narrowed(state, component, now).items():
            found[name] = min(amount, found.get(name, amount))
        promised.limits[component] = found
    return promised.limits[component]


def _licensed(state: State, key: ClassKey, name: str, promised: Promised, now: float) -> bool:
    """Whether the cluster charges this budget itself, and nothing holds now that it does not know of."""
    if (key.pool.partition(":")[0], name) not in state.index.licensed:
        return False
    narrow = narrowed_now(state, key.component, promised, now)
    return name not in narrow and name.partition("@")[0] not in narrow
