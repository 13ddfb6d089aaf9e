"""What a conductor remembers of a number that it asks for: paces and samples, no facts of the campaign."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from shakedown.model.observing import Observe


@dataclass(slots=True)
class Asked:
    """A number that is asked for: ``word`` of the plan, when it is due ``next``, and since when it is ``waiting`` for, None = it is
    not. ``ours``: what our runs took then. ``samples``: (when, what others took) for as long as is smoothed. ``last``: the newest
    number as it would be recorded, empty = there is none yet. ``trouble``: why the newest answer was none, "" = it was one.
    ``said_at``: when a trouble was recorded last.
    """

    word: Observe
    next: float = 0.0
    waiting: float | None = None
    ours: float = 0.0
    samples: deque[tuple[float, float]] = field(default_factory=deque)
    last: dict[str, Any] = field(default_factory=dict)
    trouble: str = ""
    said_at: float = 0.0
