"""What holds a class of runs back, as a word that is stable and a sentence for people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reason:
    """``key`` is stable (it changes only when the reason does); ``words`` are for people, or make them: most reasons are asked
    for thousands of times and read once; ``notable`` ones are logged.
    """

    key: str
    words: str | Callable[[], str]
    notable: bool = True

    @property
    def text(self) -> str:
        return self.words if isinstance(self.words, str) else self.words()
