"""What a conductor remembers of a number that it asks for: when to ask, and recent values; no facts of the campaign."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from shakedown.model.observing import Observe


@dataclass(slots=True)
class Asked:
    """A number that is asked for.

    ``word``: the plan's entry. ``next``: when to ask again. ``waiting``: since when an answer is waited for, None = it is not.
    ``ours``: what our runs took then. ``samples``: (when, what others took), for as long as values are smoothed. ``last``: the
    newest number as it would be recorded, empty = none yet. ``trouble``: why the newest answer was no number, "" = it was one.
    ``said_at``: when a trouble was last recorded.
    """

    word: Observe
    next: float = 0.0
    waiting: float | None = None
    ours: float = 0.0
    samples: deque[tuple[float, float]] = field(default_factory=deque)
    last: dict[str, Any] = field(default_factory=dict)
    trouble: str = ""
    said_at: float = 0.0
