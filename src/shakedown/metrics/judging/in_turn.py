"""What a disputed outcome hangs on in turn: where an act of one side does not count, a contrary act of the other side does again.

``in_turn`` asks, ``chain_words`` and ``beside_words`` say it. A reader who sees one of two contrary acts alone does not know that
the other one is one-sided, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from shakedown.metrics.judging.covering import Acts, least

_MOST_STEPS = 3  # acts, one on the other, that a sentence follows


class Step(Struct, frozen=True):
    """One-sided acts on which an outcome hangs once others do not count. ``word``: the outcome without one of them, too; where
    ``together``, without all of them.
    """

    acts: tuple[int, ...]
    word: str
    together: bool = False


class Turn(Struct, frozen=True):
    """``steps``: what the outcome without some acts hangs on, one step on the other. ``idle``: contrary acts that these had
    replaced, and that change nothing when they count again.
    """

    steps: tuple[Step, ...] = ()
    idle: tuple[int, ...] = ()

    @property
    def acts(self) -> set[int]:
        """All that are named."""
        return {*self.idle, *(number for step in self.steps for number in step.acts)}


Turns = Mapping[tuple[int, ...], Turn]
WordWithout = Callable[[Acts], str | None]


def in_turn(gone: Acts, word: str, near: Sequence[int], replaced: Acts, word_without: WordWithout) -> Turn:
    """Purpose: what an outcome hangs on. ``gone``: the acts without which it is ``word``; ``near``: other one-sided acts;
    ``replaced``: those of another side that say something else of what these acts are about; ``word_without``: None where it is
    not known.
    """
    steps: list[Step] = []
    left = list(near)
    while left and len(steps) < _MOST_STEPS:
        step = _step(gone, word, left, word_without)
        if step is None:
            break
        steps.append(step)
        if len(step.acts) > 1 and not step.together:
            break  # one of several does not count: too many ways to say what follows from each
        gone, word = gone | frozenset(step.acts), step.word
        left = [number for number in left if number not in step.acts]
    return Turn(tuple(steps), () if steps else tuple(sorted(replaced)))


def _step(gone: Acts, word: str, left: Sequence[int], word_without: WordWithout) -> Step | None:
    """The acts without each of which it comes out otherwise; without all of which, where it does so without none alone."""
    words = {number: word_without(gone | {number}) for number in left}
    alone = [number for number, other in words.items() if other not in (word, None)]
    if alone:
        other = words[max(alone)]
        return Step(tuple(sorted(number for number in alone if words[number] == other)), other or "")
    if word_without(gone.union(left)) in (word, None):
        return None
    some = frozenset(least(tuple(left), lambda acts: word_without(gone | acts) not in (word, None)))
    return Step(tuple(sorted(some)), word_without(gone | some) or "", len(some) > 1)


def chain_words(turn: Turn, word: str, first: int, names: Callable[[Sequence[int]], str]) -> str:
    """Purpose: rejected if it does not and the ruling by Ada (event 7) counts, accepted without both. ``first``: how many acts do
    not count at first.
    """
    no = "it does not" if first == 1 else "none of them does"
    if not turn.steps:
        return f"{word} if {no}" + (f", with or without {names(turn.idle)}" if turn.idle else "")
    parts, count = [], first
    for step in turn.steps:
        counts = "counts" if len(step.acts) == 1 else "count"
        parts.append(f"{word} if {no} and {names(step.acts)} {counts}")
        word, count = step.word, count + len(step.acts)
        no = "neither does" if count == 2 else "none of these does"
    every = "both" if count == 2 else f"all {count}"
    last = turn.steps[-1]
    every = every if len(last.acts) == 1 or last.together else f"one of these {len(last.acts)}, too"
    return ", ".join([*parts, f"{word} without {every}"])


def beside_words(turn: Turn, without: str, names: Callable[[Sequence[int]], str]) -> list[str]:
    """Purpose: the same beside a sentence that names several acts. ``without``: those that do not count, such as ``event 7``."""
    told: list[str] = []
    more: tuple[int, ...] = ()
    for step in turn.steps:
        more = (*more, *step.acts)
        one = "one of " if len(step.acts) > 1 and not step.together else ""
        told.append(f"{step.word} without {without} and {one}{names(more)}")
    if turn.idle:
        told.append(f"without {without} the same with or without {names(turn.idle)}")
    return told
