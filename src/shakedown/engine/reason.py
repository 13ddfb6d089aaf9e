"""What holds a class of runs back, as a word that is stable and a sentence for people."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reason:
    """``key`` is stable (it changes only when the reason does); ``text`` is for people; ``notable`` ones are logged."""

    key: str
    text: str
    notable: bool = True
