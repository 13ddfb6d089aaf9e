"""What standing orders of people and of the plan hold back: pauses, drains, windows, caps, yielding, stopped cases.

``standing_reason`` is the table of contents.
"""

from __future__ import annotations

from shakedown.engine.plan import ClassKey
from shakedown.engine.reason import Reason
from shakedown.engine.state import State


def standing_reason(state: State, key: ClassKey, now: float) -> Reason | None:
    """Purpose: the standing order that holds this class back at ``now``, or None."""
    return None


def narrowed(state: State, component: int, now: float) -> dict[str, float]:
    """Purpose: budgets (by name, ``budget@target``, or ``copies:TEST``) that hold less at ``now`` than the plan's own amount."""
    return {}


def withdrawn(state: State, component: str) -> str:
    """Purpose: why what is queued of a component is to be taken back before it starts, or ""."""
    return ""


def next_change(state: State, now: float) -> float | None:
    """Purpose: when a standing order by the clock on the wall (a window) next changes; None = never."""
    return None


def clusters_watched(state: State) -> tuple[str, ...]:
    """Purpose: clusters whose waiting jobs are to be counted, because a component with results left yields to them."""
    return ()
