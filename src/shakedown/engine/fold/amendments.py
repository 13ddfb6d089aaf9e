"""Folding an amendment: closed results stay closed, live runs go on, and what waits keeps its attempt and its back-off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from shakedown.engine.fold.again import all_rounds
from shakedown.engine.fold.bookkeeping import count_closed, fly, look_at_needing, put_back
from shakedown.engine.fold.overrides import standing_orders_after, stood_still
from shakedown.engine.state.job_index import job_index_of
from shakedown.engine.state.jobs import PendingResult, Run
from shakedown.engine.state.keys import ResultsKey, WantedKey
from shakedown.engine.state.modes import CLEAN_UP, FILLER, SET_UP, drill, is_drill
from shakedown.engine.state.phases import CampaignPhase
from shakedown.engine.state.records import CutOff, MixProgress, Tally
from shakedown.engine.state.state import State
from shakedown.engine.state.wanted_results import steps_wanted
from shakedown.model.events import NO_LONGER_WANTED, SPARED, UNDETERMINED, Event
from shakedown.model.retrying import GONE
from shakedown.model.waived import gate_digest, holds

Want = tuple[str, str, str, int]  # component's name, mode, case, repeat


def amended(state: State, event: Event) -> None:
    """A new plan is in force; its index is already in ``state.index``. Only results that the old plan did not want begin anew."""
    state.campaign.cancelled = ""
    for name, at in event.value.get("stopped", {}).items():
        stood_still(state, name, at, event)
    standing_orders_after(state)
    if state.phase == CampaignPhase.ENDED:
        state.phase = CampaignPhase.RUNNING
    before = _Before(state, event.value.get("components", []), bool(event.value.get("returns")))
    (
        state.waiting.queues,
        state.waiting.delayed,
        state.waiting.to_cancel,
        state.waiting.unannounced,
        state.waiting.needing,
        state.waiting.unmet,
        state.results.closed,
    ) = {}, [], [], [], {}, [], {}
    state.gates.outcomes, state.results.said_short = {}, []
    _close_gates(state, event)
    state.tallies = [Tally() for _ in state.index.components]
    for roll in state.clocks.mixes.values():
        roll.up, roll.up_at, roll.live = False, None, {}
    for number, component in enumerate(state.index.components):
        if component.name in before.verdicts:
            state.tallies[number].verdicts = before.verdicts[component.name]
        missing: dict[str, None] = {}
        for mode, case, repeat in _wanted(state, before, number):
            if _want_again(state, before, number, mode, case, repeat):
                missing[case] = None
        state.waiting.unannounced += [(number, case) for case in missing]
    _retire(state, before)
    look_at_needing(state, list(state.waiting.needing))  # what was closed is known only now
    state.job_index = job_index_of(state.jobs.values())


def _close_gates(state: State, event: Event) -> None:
    """Decide which gates that were waived stay open under the new plan.

    A gate whose terms the amendment changes, or that now holds back other components, is closed. It opens again where a later
    amendment gives it back the terms that it was waived with. Old records do not list the open gates: there they are worked out.
    """
    document = state.index.document
    if "gates" in event.value:
        state.gates.waived = dict(event.value["gates"])
        state.gates.digests = {
            name: gate_digest(document, name) for name in (*state.index.awaited, *state.gates.waived)
        }
        return
    same = [name for name, digest in state.gates.digests.items() if holds(digest, gate_digest(document, name))]
    state.gates.waived = {
        name: why for name, why in state.gates.waived.items() if name in same or name not in state.gates.digests
    }
    state.gates.digests = {name: state.gates.digests[name] for name in same}


class _Before:
    """What the state has before an amendment, by wanted result.

    ``returns``: whether a live run that the old plan did not want belongs to its result again once the new plan wants it; the
    attempt after a run that ended meanwhile is then the next. Old records do not say so: there such runs (``unwanted``) belong to
    no result. ``taken_back``: results that wait for a verdict on a run that was taken back, and that an earlier amendment stopped
    wanting.
    """

    def __init__(self, state: State, old: list[str], returns: bool) -> None:
        self.closed, self.returns = set(_closed(state, old)) - set(_spared_no_more(state)), returns
        gone = old.index(NO_LONGER_WANTED) if NO_LONGER_WANTED in old else -1
        retired = [run for run in state.runs.values() if run.component == gone]
        self.unwanted = [] if returns else retired
        flying = [run for run in state.runs.values() if run.component != gone]
        self.flying: dict[Want, Run] = {(old[r.component], r.mode, r.case, r.repeat): r for r in flying}
        if returns:
            self.flying |= {(run.home, run.mode, run.case, run.repeat): run for run in retired}
        self.cancelled = {id(entry) for entry in state.waiting.to_cancel}
        entries = [*state.waiting.every(), *state.waiting.to_cancel]
        self.taken_back = [entry for entry in entries if entry.component == gone]
        entries = [entry for entry in entries if entry.component != gone]
        self.waiting: dict[Want, PendingResult] = {(old[e.component], e.mode, e.case, e.repeat): e for e in entries}
        self.verdicts = {name: tally.verdicts for name, tally in zip(old, state.tallies, strict=False)}

    def drilled(self, component: str, mode: str) -> int:
        """How many results of a drill have been wanted so far."""
        every = [*self.closed, *self.flying, *self.waiting]
        return len({repeat for name, one, _, repeat in every if (name, one) == (component, mode)})

    def repeats_of(self, component: str, mode: str) -> dict[str, list[int]]:
        """Case -> the repeats, of a component in one mode, that were ever begun."""
        found: dict[str, list[int]] = {}
        begun = [want for want, entry in self.waiting.items() if not entry.fresh or id(entry) in self.cancelled]
        for name, its, case, repeat in sorted([*self.closed, *self.flying, *begun]):
            if name == component and its == mode:
                found.setdefault(case, []).append(repeat)
        return found


def _closed(state: State, old: list[str]) -> Iterator[Want]:
    for key, repeats in state.results.closed.items():
        yield from ((old[key.component], key.mode, key.case, repeat) for repeat in repeats)


def _spared_no_more(state: State) -> Iterator[Want]:
    """Results that were spared by a ladder which the new plan does not have. Nothing of them ran, so they are wanted again."""
    climbed = {part.name for part in state.index.components if part.ladder is not None}
    for key, repeats in state.results.given.items():
        spared = [repeat for repeat, given in repeats.items() if given.verdict == SPARED]
        for repeat in spared if key.component not in climbed else ():
            del repeats[repeat]
            yield key.component, key.mode, key.case, repeat


def _wanted(state: State, before: _Before, number: int) -> Iterator[tuple[str, str, int]]:
    """The results that the new plan wants: (mode, case, repeat). Of a mix and its fillers: every result that was begun, and the
    next one of each case.
    """
    component = state.index.components[number]
    if not component.duration_s:
        yield from all_rounds(state, number)
        return
    state.clocks.mixes.setdefault(component.name, MixProgress())
    rounds = 1 + state.results.again.get(component.name, 0)
    yield from steps_wanted(state.index, number, SET_UP, rounds)
    yield from steps_wanted(state.index, number, CLEAN_UP, rounds)
    for word in component.drills:
        mode = drill(word.name)
        yield from ((mode, word.case, n + 1) for n in range(max(1, before.drilled(component.name, mode))) if word.case)
    for mode, cases in (("", component.cases), (FILLER, component.fillers)):
        begun = before.repeats_of(component.name, mode)
        for case in cases:
            repeats = begun.get(case, [])
            yield from ((mode, case, repeat) for repeat in repeats)
            if not repeats or not state.index.cases[case].unavailable:
                yield mode, case, max(repeats, default=0) + 1


def _want_again(state: State, before: _Before, number: int, mode: str, case: str, repeat: int) -> bool:
    """Count one result that the new plan wants, and put it where it belongs: closed, in flight, waiting as before, or new. Returns
    True where it is unavailable.
    """
    tally = state.tallies[number]
    tally.wanted += 1
    key = (state.index.components[number].name, mode, case, repeat)
    if state.index.cases[case].unavailable and key not in before.flying:
        tally.unavailable += 1
        return True
    if key in before.closed:
        count_closed(state, ResultsKey(number, mode, case), repeat)
    elif key in before.flying:
        _fly_on(state, before.flying.pop(key), number)
    else:
        entry = before.waiting.pop(key, None) or _result_wanted_again(state, before, number, WantedKey(*key))
        entry.component = number
        _wait_on(state, entry, cancelled=id(entry) in before.cancelled)
    return False


def _result_wanted_again(state: State, before: _Before, number: int, key: WantedKey) -> PendingResult:
    """A result that is wanted again after a plan did not want it: with its next attempt, where one was or would have been due, else
    from its first. In a mix, and for a drill, it always begins anew: a mix counts no results, and nobody repeats a drill unasked.
    """
    last = state.results.cut_off.pop(key, None)
    entry = PendingResult(number, key.case, key.repeat, mode=key.mode)
    mixed = bool(state.index.components[number].duration_s) and key.mode in ("", FILLER)
    if last is None or not before.returns or mixed or is_drill(key.mode):
        return entry
    if last.verdict:
        rule = GONE if last.verdict == UNDETERMINED else state.index.retry_rule(number, last.verdict)
        if rule is None or dict(last.spent)[last.verdict] > rule.times:
            return entry
    entry.attempt, entry.spent = last.attempt + 1, last.spent
    return entry


def _retire(state: State, before: _Before) -> None:
    """What the new plan does not want. Live runs go on and are judged by the component that they were ordered for; they count as
    its results again once a plan wants them again. A run that was taken back still needs a verdict.
    """
    retired = state.index.component_number[NO_LONGER_WANTED]
    for name, run in (
        *((run.home, run) for run in before.unwanted),
        *((at[0], run) for at, run in before.flying.items()),
    ):
        _fly_on(state, run, retired)
        run.home = name
        state.tallies[retired].wanted += 1
    for want, entry in before.waiting.items():
        if entry.attempt > 1 and not entry.void_run and id(entry) not in before.cancelled:
            state.results.cut_off[WantedKey(*want)] = CutOff(entry.attempt - 1, "", entry.spent)
    for entry in (*before.taken_back, *before.waiting.values()):
        if entry.void_run:
            entry.component = retired
            state.tallies[retired].wanted += 1
            _wait_on(state, entry, cancelled=True)


def _fly_on(state: State, run: Run, number: int) -> None:
    """A live run goes on under the new number of its component; its job then counts by the limits of that component."""
    run.component, run.home = number, ""
    job = state.jobs.get(run.job)
    if job is not None:
        job.component = number
        job.key = replace(job.key, component=number) if job.key is not None else None
    fly(state, run)


def _wait_on(state: State, entry: PendingResult, cancelled: bool) -> None:
    if cancelled:
        state.waiting.to_cancel.append(entry)
        state.tallies[entry.component].waiting += 1
    else:
        put_back(state, entry)
