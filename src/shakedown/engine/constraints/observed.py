"""What observed numbers leave of budgets: the whole amount less what others take.

A number that is too old does not count. While there is no number yet, and while it is missing where the plan says ``hold``, nothing
more that loads the budget may start. No run is ended and no job is taken back because of it.
"""

from __future__ import annotations

from shakedown.engine.state.moments import moment
from shakedown.engine.state.records import Observed
from shakedown.engine.state.state import State
from shakedown.model.observing import IGNORE, Observe
from shakedown.model.units import show_duration


def names_observed(state: State) -> dict[str, Observe]:
    """Purpose: budget, or budget@target -> the plan's entry for the number that narrows it."""
    return {
        own: word for name, word in state.index.observed.items() for own in state.index.targets.get(name) or (name,)
    }


def left_for_us(state: State, own: str, now: float, waiting: bool = True) -> float | None:
    """Purpose: the most that our runs may load of a budget or of a target, by what was observed; None where nothing narrows it.
    ``waiting``: also count the limit 0 that holds while there is no number.
    """
    word = state.index.observed.get(own.partition("@")[0])
    if word is None:
        return None
    seen = state.pools.observed.get(own, Observed())
    if seen.at and now < seen.at + word.oldest_s:
        return max(0.0, total_of(state, own) - seen.beside)
    if not waiting or (word.when_silent == IGNORE and now >= silent_from(state, own, word)):
        return None
    return 0.0


def held_in_silence(state: State, own: str, now: float) -> bool:
    """Purpose: whether nothing more that loads this budget or target starts because there is no number of what others take."""
    seen = state.pools.observed.get(own, Observed())
    word = state.index.observed.get(own.partition("@")[0])
    young = word is not None and seen.at and now < seen.at + word.oldest_s
    return not young and left_for_us(state, own, now) is not None


def narrows(state: State, name: str, now: float) -> bool:
    """Purpose: whether the observed number, or its absence, leaves less of a budget than the plan allows, on any of its targets."""
    for own in state.index.targets.get(name) or (name,) if name in state.index.observed else ():
        left = left_for_us(state, own, now)
        if left is not None and left < state.index.budgets.get(own, left):
            return True
    return False


def total_of(state: State, own: str) -> float:
    """Purpose: the whole amount of a budget, or of each of its targets, even where the plan allows us less."""
    return dict(state.index.document.system.budgets)[own.partition("@")[0]]


def silent_from(state: State, own: str, word: Observe) -> float:
    """Purpose: from when on the number counts as missing, unless a newer one comes. The time before it was first asked for does not
    count.
    """
    seen = state.pools.observed.get(own, Observed())
    return max(seen.at, seen.since, state.driver.since, state.driver.awake_since) + word.oldest_s


def observed_in_words(state: State, own: str, now: float) -> str:
    """Purpose: for instance "observed 83 of 100 (as of 20 s ago)", or what happens while there is no number; "" where none is
    observed.
    """
    word = state.index.observed.get(own.partition("@")[0])
    if word is None:
        return ""
    seen = state.pools.observed.get(own, Observed())
    if seen.at and now < seen.at + word.oldest_s:
        age = max(0.0, now - seen.at)
        ago = f"{age:.0f} s" if age < 120 else show_duration(age)
        return f"observed {word.in_words(seen.number)} (as of {ago} ago)"
    why = f": {seen.trouble}" if seen.trouble else ""
    last = f"no number since {moment(seen.at)}" if seen.at else "no number yet"
    if word.when_silent == IGNORE and now >= silent_from(state, own, word):
        return f"{last}{why}; the plan's own amount holds"
    return f"{last}{why}; until there is one nothing more that loads it starts"
