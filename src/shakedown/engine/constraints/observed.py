"""What numbers that are observed leave of budgets: what there is less what others take.

A number that is too old is none. Before the first one, and where the plan says ``hold``, nothing more that loads the budget may
start. No run is ended and no job taken back for it.
"""

from __future__ import annotations

from shakedown.engine.state.moments import moment
from shakedown.engine.state.records import Observed
from shakedown.engine.state.state import State
from shakedown.model.observing import IGNORE, Observe
from shakedown.model.units import show_duration


def names_observed(state: State) -> dict[str, Observe]:
    """Purpose: budget, or budget@target -> the plan's word on the number that narrows it."""
    return {
        own: word for name, word in state.index.observed.items() for own in state.index.targets.get(name) or (name,)
    }


def left_for_us(state: State, own: str, now: float, waiting: bool = True) -> float | None:
    """Purpose: the most that our runs may load of a budget, or of a target of it, by what was observed; None = nothing narrows it.

    ``waiting``: count what is held back while there is no number, too.
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
    """Purpose: whether nothing more that loads a budget, or a target of it, starts because nobody says what others take of it."""
    seen = state.pools.observed.get(own, Observed())
    word = state.index.observed.get(own.partition("@")[0])
    young = word is not None and seen.at and now < seen.at + word.oldest_s
    return not young and left_for_us(state, own, now) is not None


def narrows(state: State, name: str, now: float) -> bool:
    """Purpose: whether what others take, or that nobody says it, leaves less of a budget now than the plan does, on any target."""
    for own in state.index.targets.get(name) or (name,) if name in state.index.observed else ():
        left = left_for_us(state, own, now)
        if left is not None and left < state.index.budgets.get(own, left):
            return True
    return False


def total_of(state: State, own: str) -> float:
    """Purpose: all that there is of a budget, or of each of its targets, whatever the plan lets us take of it."""
    return dict(state.index.document.system.budgets)[own.partition("@")[0]]


def silent_from(state: State, own: str, word: Observe) -> float:
    """Purpose: when the number counts as missing, unless there is a newer one by then: nobody is silent before they were asked."""
    seen = state.pools.observed.get(own, Observed())
    return max(seen.at, seen.since, state.driver.since, state.driver.awake_since) + word.oldest_s


def observed_in_words(state: State, own: str, now: float) -> str:
    """Purpose: "observed 83 of 100 (as of 20s ago)", and what follows where there is no such number; "" where none is asked for."""
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
