"""What holds a class of runs back, as a word that is stable and a sentence for people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reason:
    """What holds a class back.

    ``key``: stable, it changes only when the reason does. ``words``: the sentence, or a function that makes it, since most reasons
    are asked for thousands of times and read once. ``notable``: whether it is logged. ``recorded``: makes the sentence for the
    record where ``words`` has amounts and ages of one moment; it stays the same for as long as ``key`` does.
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
        """The sentence for the record, without amounts and ages of one moment: these are worked out when somebody looks."""
        return self.recorded() if self.recorded is not None else self.text
