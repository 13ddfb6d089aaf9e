"""The further acts on which a disputed outcome depends: if an act of one side does not count, a contrary act of the other side
does.

``in_turn`` finds them; ``chain_words`` and ``beside_words`` put them into words. A reader who sees only one of two contrary acts
does not know that the other one is one-sided too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from shakedown.metrics.judging.covering import Acts, least

_MOST_STEPS = 3  # the most acts, each depending on the one before, that a sentence names


class Step(Struct, frozen=True):
    """One-sided acts on which an outcome depends once others do not count. ``word``: the outcome if also one of them does not
    count, or, with ``together``, if none of them counts.
    """

    acts: tuple[int, ...]
    word: str
    together: bool = False


class Turn(Struct, frozen=True):
    """``steps``: the acts on which the outcome without some acts depends, each step given the one before. ``idle``: contrary acts
    that those acts had replaced, and that change nothing when they count again.
    """

    steps: tuple[Step, ...] = ()
    idle: tuple[int, ...] = ()

    @property
    def acts(self) -> set[int]:
        """All acts that the steps and ``idle`` name."""
        return {*self.idle, *(number for step in self.steps for number in step.acts)}


Turns = Mapping[tuple[int, ...], Turn]
WordWithout = Callable[[Acts], str | None]


def in_turn(gone: Acts, word: str, near: Sequence[int], replaced: Acts, word_without: WordWithout) -> Turn:
    """Purpose: the acts on which an outcome depends. ``gone``: the acts without which the outcome is ``word``; ``near``: other
    one-sided acts; ``replaced``: contrary acts of another side on the same matters; ``word_without``: gives None if the outcome is
    unknown.
    """
    steps: list[Step] = []
    left = list(near)
    while left and len(steps) < _MOST_STEPS:
        step = _step(gone, word, left, word_without)
        if step is None:
            break
        steps.append(step)
        if len(step.acts) > 1 and not step.together:
            break  # if only one of several acts does not count, there are too many cases to list
        gone, word = gone | frozenset(step.acts), step.word
        left = [number for number in left if number not in step.acts]
    return Turn(tuple(steps), () if steps else tuple(sorted(replaced)))


def _step(gone: Acts, word: str, left: Sequence[int], word_without: WordWithout) -> Step | None:
    """The acts each of which alone changes the outcome if left out; if none does, the acts that do so together."""
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
    """Purpose: in words: "rejected if it does not and the ruling by Ada (event 7) counts, accepted without both". ``first``: how
    many acts do not count at first.
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
    """Purpose: the steps of ``turn`` in words, to add to a sentence on several acts. ``without``: the acts that do not count."""
    told: list[str] = []
    more: tuple[int, ...] = ()
    for step in turn.steps:
        more = (*more, *step.acts)
        one = "one of " if len(step.acts) > 1 and not step.together else ""
        told.append(f"{step.word} without {without} and {one}{names(more)}")
    if turn.idle:
        told.append(f"without {without} the same with or without {names(turn.idle)}")
    return told
