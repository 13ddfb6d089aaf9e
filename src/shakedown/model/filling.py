"""Nouns of components that keep a machine busy for a time, or see each of its nodes: frozen like those of ``nouns.py``.

Units are in the names: ``_s`` seconds.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Loads = tuple[tuple[str, float], ...]
Copies = tuple[tuple[str, int], ...]

# Why a stability clock stands still or starts anew, and what it does by default.
CAUSES: dict[str, Literal["runs", "stops", "restarts"]] = {
    "maintenance": "stops",  # announced maintenance
    "site": "stops",  # a fault of what the site runs around the machine
    "vendor": "restarts",  # a change by the vendor
    "machine": "runs",  # a fault of the machine itself
    "other": "runs",
}


class Fill(Struct, frozen=True):
    """How a component that runs for a time keeps its partitions full.

    ``target``: the share of the nodes that is to be busy. ``queue_ahead_s``: for how long there is always enough at the
    scheduler; ``survive_s``: the same for a time without any conductor, within the budgets. ``ramp_s``: over this time from its
    first order the nodes that it may take grow from none to all. ``drain``: near its end a run is ordered only where it can be
    over in time.
    """

    target: float = 1.0
    queue_ahead_s: float = 0.0
    survive_s: float = 0.0
    ramp_s: float = 0.0
    drain: bool = True


class Window(Struct, frozen=True):
    """A time of each week in which less is allowed: production hours.

    ``from_s`` and ``to_s``: seconds since Monday 00:00 in ``zone``; where ``to_s`` is not above ``from_s`` it goes over the
    week's end. ``budgets`` in base units and ``copies`` hold then; ``closed``: nothing new is ordered then. ``text``: as it was
    written.
    """

    text: str
    from_s: float
    to_s: float
    zone: str = "UTC"
    budgets: Loads = ()
    copies: Copies = ()
    closed: bool = False


class Yield(Struct, frozen=True):
    """Room for others: while ``pending`` or more jobs wait on any of these clusters, ``budgets`` and ``copies`` hold, or nothing
    new is ordered (``closed``). It ends when no more than ``until`` wait on all of them.
    """

    clusters: tuple[str, ...]
    pending: int
    until: int = 0
    budgets: Loads = ()
    copies: Copies = ()
    closed: bool = False


class ClockTerms(Struct, frozen=True):
    """What the clock of a component does. ``start``: with its first order, or when a person declares it.

    ``causes``: what it does for each cause in ``CAUSES`` that the plan names. ``ramp`` and ``drain``: whether the time before the
    machine is full, and the time in which it is emptied, are clock time.
    """

    start: Literal["first order", "declared"] = "first order"
    causes: tuple[tuple[str, str], ...] = ()
    ramp: bool = True
    drain: bool = True

    def act_for(self, cause: str) -> str:
        """runs, stops or restarts."""
        return dict(self.causes).get(cause) or CAUSES.get(cause, "runs")


class Phase(Struct, frozen=True):
    """A part of a component's time; after each but the last it pauses until a person says that it goes on."""

    name: str
    duration_s: float


class Sweep(Struct, frozen=True):
    """Every node of the partitions is seen by one job that runs all tests of the component there, one after the other.

    ``queued``: the most of its jobs that wait at the scheduler. ``rounds``: how often each node is seen; a component with a
    duration goes round until that is over. ``wait_s``: how long nodes that are down or drained are waited for when nothing else
    is left to see.
    """

    queued: int = 16
    rounds: int = 1
    wait_s: float = 86400.0


class Pack(Struct, frozen=True):
    """Many cases of a component in one allocation. ``runs``: how many at most; ``at_once``: how many of them run side by side, 0 =
    as many as fit. ``allocations``: the most at a time, 0 = no limit of its own.
    """

    runs: int = 100
    at_once: int = 0
    allocations: int = 0
