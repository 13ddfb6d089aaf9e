"""What holds a class of runs back, as a word that is stable and a sentence for people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reason:
    """``key`` is stable (it changes only when the reason does); ``words`` are for people, or make them: most reasons are asked
    for thousands of times and read once; ``notable`` ones are logged. ``recorded`` makes what the record says, where the words
    have amounts and ages of one moment: it is the same for as long as ``key`` is.
    """

    key: str
    words: str | Callable[[], str]
    notable: bool = True
    recorded: Callable[[], str] | None = None

    @property
    def text(self) -> str:
        return self.words if isinstance(self.words, str) else self.words()

    @property
    def lasting(self) -> str:
        """The words for the record: amounts and ages are worked out where somebody looks."""
        return self.recorded() if self.recorded is not None else self.text
