"""How a simulated machine behaves in a rehearsal: run times, builds, nodes, storage, other people, troubles."""

from __future__ import annotations

from msgspec import Struct


class RunTime(Struct, frozen=True):
    """How long the runs of a test take, in seconds: normal, with a tail. ``source``: where the numbers are from, for the reader.

    ``tail_share`` of the runs take ``tail_factor`` times as long; they are drawn apart from the spread.
    """

    mean_s: float
    spread_s: float = 0.0
    tail_share: float = 0.0
    tail_factor: float = 1.0
    source: str = ""


class Scenario(Struct, frozen=True):
    """A rehearsal's machine. ``times``: test, or case, -> how long its runs take; what has none takes a share of its walltime."""

    name: str = ""
    about: str = ""
    times: tuple[tuple[str, RunTime], ...] = ()
