"""What a waiting result needs of other results, and whether that is there: passed, still to come, or lost.

A result needs the one with the same repeat. Where the other component has fewer repeats, it needs the last one. Every result of a
component needs its set-ups; where the component is run again, those of the same round.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from shakedown.engine.state.jobs import Handed, PendingResult
from shakedown.engine.state.keys import NeededKey, ResultsKey
from shakedown.engine.state.ladders import turn_of
from shakedown.engine.state.modes import SET_UP, is_step
from shakedown.engine.state.plan import PlanIndex
from shakedown.engine.state.records import Given
from shakedown.engine.state.state import State
from shakedown.engine.state.wanted_results import wanted_results

WELL = frozenset({"passed", "performance"})  # verdicts of runs with the right answer: what follows may begin


class Needed(NamedTuple):
    """One result that another one needs. ``files`` and ``into``: as in ``Need``."""

    key: NeededKey
    repeat: int
    files: tuple[str, ...] = ()
    into: str = ""


class Standing(NamedTuple):
    """Whether what a result needs is there. ``of``: the first needed result that is not. ``why``: what became of it, if it is lost,
    or why the waiting result itself is spared.
    """

    word: Literal["met", "open", "lost", "spared"]
    of: Needed | None = None
    why: str = ""


_MET = Standing("met")


def standing_of(state: State, entry: PendingResult) -> Standing:
    """Purpose: whether everything that a waiting result needs has passed. A need that is lost counts before one that is still to
    come.
    """
    later = None
    for needed in needed_by(state, entry):
        given = state.results.given.get(needed.key, {}).get(needed.repeat)
        if given is None and not _is_closed(state, needed):
            later = later or Standing("open", needed)
        elif given is None:
            return Standing("lost", needed, _not_known(state, entry, needed))
        elif given.verdict not in WELL:
            return Standing("lost", needed, _lost(state, entry, needed, given.run, given.verdict))
        elif why := _not_left(needed, given):
            return Standing("lost", needed, f"{why}; {_way_out(state, entry, needed)}")
    return later or _twice(state, entry) or _on_its_ladder(state, entry) or _MET


def _on_its_ladder(state: State, entry: PendingResult) -> Standing | None:
    """That its ladder needs this size only later, or not at all; None where it needs it now."""
    turn = turn_of(state, entry)
    if turn is None or turn.needed:
        return None
    before = Needed(NeededKey(state.index.components[entry.component].name, entry.mode, turn.first), turn.repeat)
    return Standing("open", before) if turn.first else Standing("spared", None, turn.why)


def handed_to(state: State, entry: PendingResult) -> list[Handed]:
    """Purpose: the files that a result is given by the results it needs, all of which have passed."""
    found = []
    for needed in needed_by(state, entry):
        given = state.results.given.get(needed.key, {}).get(needed.repeat)
        if given is not None and needed.files:
            files: dict[str, str] = {}
            for pattern in needed.files:
                left = given.left.get(pattern)
                files |= left if isinstance(left, dict) else {}
            found.append(Handed(given.run, given.directory, files, needed.into))
    return found


def name_of(handed: Handed, path: str) -> str:
    """Purpose: the path of a file that was handed on, in the work directory of the run that gets it."""
    return f"{handed.into}/{path}" if handed.into else path


def _not_left(needed: Needed, given: Given) -> str:
    """Why a run that passed has not left the files that are wanted of it; "" where it has."""
    for pattern in needed.files:
        left = given.left.get(pattern, "nobody asked for it when the run was judged")
        if isinstance(left, str):
            return f"{in_words(needed)} comes first, and did not leave {pattern} as {given.run}: {left}"
    return ""


def _twice(state: State, entry: PendingResult) -> Standing | None:
    """That two files would appear under the same name; None where none would."""
    own = {name: "its own input" for name, _ in state.index.cases[entry.case].files}
    for handed in handed_to(state, entry):
        for path in handed.files:
            name = name_of(handed, path)
            if name in own:
                needed = next(one for one in needed_by(state, entry) if one.files)
                both = f"{own[name]} and the file of {handed.run} would both be {name} in its directory"
                return Standing("lost", needed, f"{both}; 'into' in needs gives each a directory of its own")
            own[name] = f"a file of {handed.run}"
    return None


def needs_others(state: State, entry: PendingResult) -> bool:
    """Purpose: whether a waiting result depends on any other: by its test, its ladder, or the set-ups of its component."""
    sets_up = state.index.components[entry.component].set_up
    on_a_ladder = not entry.mode and (entry.component, entry.case) in state.index.ladders
    return bool(state.index.cases[entry.case].needs or on_a_ladder or (sets_up and not is_step(entry.mode)))


def needed_by(state: State, entry: PendingResult) -> Iterator[Needed]:
    """Purpose: the results that a waiting result needs: set-ups first, then in the order of the test's file."""
    index = state.index
    yield from _set_ups(state, entry)
    for need in index.cases[entry.case].needs:
        number = home_of(index, entry.component, need.case)
        if number is None:
            continue  # a plan is not read where it has none: only what an amendment took away is left without
        component = index.components[number]
        mode = entry.mode if number == entry.component else next((str(mode.name) for mode in component.modes), "")
        if need.case not in component.cases:
            mode = SET_UP
        elif is_step(mode):
            mode = next((str(word.name) for word in component.modes), "")
        last = _last(index, number, mode, need.case) * (1 + state.results.again.get(component.name, 0))
        yield Needed(
            NeededKey(component.name, mode, need.case),
            min(entry.repeat, last) if last else entry.repeat,
            need.files,
            need.into,
        )


def home_of(index: PlanIndex, component: int, case: str) -> int | None:
    """Purpose: the component whose results of ``case`` are needed by those of ``component``: itself, or else the last earlier one
    that has the case; None where none has it.
    """
    for number in range(component, -1, -1):
        if case in index.components[number].cases or case in index.components[number].set_up:
            return number
    return None


def _set_ups(state: State, entry: PendingResult) -> Iterator[Needed]:
    """The set-ups of its component, in the round of the result. A set-up that cannot run here is not waited for; the report shows
    it.
    """
    index, component = state.index, state.index.components[entry.component]
    if not component.set_up or is_step(entry.mode):
        return
    round_ = 1 + state.results.again.get(component.name, 0)
    if not component.duration_s:
        once = _last(index, entry.component, entry.mode, entry.case)
        round_ = min(round_, 1 + (entry.repeat - 1) // once) if once else round_
    for case in component.set_up:
        if not index.cases[case].unavailable:
            yield Needed(NeededKey(component.name, SET_UP, case), round_)


def _last(index: PlanIndex, number: int, mode: str, case: str) -> int:
    """The highest repeat of a case that a component wants in one round."""
    key = ResultsKey(number, mode, case)
    if key not in index.last_repeats:
        for named, one, repeat in wanted_results(index, number):
            at = ResultsKey(number, named, one)
            index.last_repeats[at] = max(repeat, index.last_repeats.get(at, 0))
        index.last_repeats.setdefault(key, 0)
    return index.last_repeats[key]


def _is_closed(state: State, needed: Needed) -> bool:
    number = state.index.component_number[needed.key.component]
    return needed.repeat in state.results.closed.get(ResultsKey(number, needed.key.mode, needed.key.case), ())


def _lost(state: State, entry: PendingResult, needed: Needed, run: str, verdict: str) -> str:
    became = f"was not run: {run}" if verdict == "not_run" else f"was judged {verdict} as {run}"
    return f"{in_words(needed)} comes first, and {became}; {_way_out(state, entry, needed)}"


def _not_known(state: State, entry: PendingResult, needed: Needed) -> str:
    was = "comes first, and was over before the plan had what needs it, so that nobody kept how it came out"
    return f"{in_words(needed)} {was}; {_way_out(state, entry, needed)}"


def _way_out(state: State, entry: PendingResult, needed: Needed) -> str:
    own = state.index.components[entry.component].name
    names = dict.fromkeys((needed.key.component, own))
    return f"to run it after all: {', then '.join(f'shakedown again {name}' for name in names)}"


def in_words(needed: Needed) -> str:
    """A result by its name, for instance "make-mesh/size=8 #2 of component functionality"."""
    mode = f" {needed.key.mode}" if needed.key.mode else ""
    return f"{needed.key.case}{mode} #{needed.repeat} of component {needed.key.component}"
