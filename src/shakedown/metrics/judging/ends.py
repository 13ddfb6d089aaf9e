"""The ends that drains, cancellations and amendments caused, and what would continue without some of these acts: ``Ends``.

Several acts may have ended the same thing: a result is still to come only if all of them are left out. A drain holds until an
amendment or ``again`` resumes its component; if that amendment is left out, the component was never resumed. Consequences are
undone too: a run that needed a result still to come would not be judged *not_run*, a failed run would have been attempted again,
and a component that runs for a time had more of its time. An amendment that removes a case ends the attempts of the case's live
runs: a run that fails while its case is removed is given up, whatever the earlier plan allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from math import inf

from msgspec import Struct

from shakedown.metrics.clock import component_clock, enough
from shakedown.metrics.judging.late_orders import TimesUp
from shakedown.metrics.judging.people import ENDS_EARLY, Act
from shakedown.metrics.judging.plans_in_force import PlansInForce
from shakedown.metrics.needed import needed_results
from shakedown.metrics.newest_results import PlanWants
from shakedown.metrics.rows.rows import DRILL, ActRow, NoteRow, RunRow
from shakedown.metrics.rows.table import Record
from shakedown.metrics.wanted import mode_key
from shakedown.model.nouns import Document
from shakedown.model.retrying import rule_for

WELL = frozenset({"passed", "performance"})  # verdicts of runs with the right answer: runs that need them may begin


class Undone(Struct, frozen=True):
    """What changes without some acts. ``events``: the events that the log lacks then; ``again``: runs that would have been
    attempted again; ``cut_short``: components that would have had more of their time.
    """

    events: frozenset[int] = frozenset()
    again: frozenset[str] = frozenset()
    cut_short: frozenset[str] = frozenset()


class _Ended(Struct, frozen=True):
    """One end, at an event, of a component, a run or a case. ``by_drains``: a drain may have caused it, and not only a
    cancellation.
    """

    event: int
    component: str
    run: str
    case: str
    by_drains: bool = True


class _GivenUp(Struct, frozen=True):
    """A run without a further attempt. ``spent``: how many attempts of its result had ended with the same verdict."""

    end: _Ended
    row: RunRow
    spent: int


class Ends:
    """The ends that people caused. ``times``: when the time of each component was up, as known at each event (``times_up``)."""

    def __init__(
        self,
        record: Record,
        acts: Sequence[Act],
        document_of: Callable[[str], Document],
        times: Mapping[str, TimesUp],
    ) -> None:
        self.record, self.times = record, times
        self._of = {event: act.number for act in acts for event in act.events}
        self._said = [row for row in record.acts if row.kind in ENDS_EARLY]
        self._overs = [
            note for note in record.of_kind("finding", "case_stopped") if _is_over(note) and not self._was_made(note)
        ]
        self._amended = [epoch.seq for epoch in record.epochs if epoch.opened_by == "amended"]
        self.plans = PlansInForce(record, document_of)
        self._known: dict[frozenset[int], Undone] = {}

    def undone(self, gone: Collection[int]) -> Undone:
        """Purpose: what changes without these acts."""
        numbers = frozenset(gone)
        if numbers not in self._known:
            self._known[numbers] = self._undone(numbers)
        return self._known[numbers]

    # ---- how it is found ---------------------------------------------------------------------------------------------------

    def _undone(self, gone: frozenset[int]) -> Undone:
        said = {*(row.seq for row in self._said), *self._amended}
        if not any(self._of[event] in gone for event in said if event in self._of):
            return Undone()
        events = {one.event for one in self._ended if self._is_back(one, gone)}
        again = {one.row.run for one in self._given_up if self._goes_on(one, gone)}
        short = {name for name in self._timed if self._ended_for_good(name, gone) and self._lacks_time(name)}
        return Undone(frozenset(events), frozenset(again), frozenset(short))

    def _is_back(self, one: _Ended, gone: frozenset[int]) -> bool:
        holders, over = self._holders(one, gone)
        return bool(holders & gone) and not holders - gone and not over

    def _goes_on(self, one: _GivenUp, gone: frozenset[int]) -> bool:
        """Whether a run would have been attempted again: the plan then in force wants its result and has attempts left for it, and
        no other act holds it.
        """
        event, row = one.end.event, one.row
        mine = self._wants[self._place(event, gone)]
        part = next((part for part in mine.plan.components if part.name == row.component), None)
        rule = rule_for(part.retry, row.verdict, part.sweep is not None) if part is not None else None
        if rule is None or one.spent > rule.times or not mine.want(row):
            return False
        holders, over = self._holders(one.end, gone)
        was_out = not self._wants[self._place(event)].want(row)
        return not over and not holders - gone and (was_out or bool(holders))

    def _place(self, event: int, gone: frozenset[int] = frozenset()) -> int:
        """The index of the plan in force at an event, without the acts in ``gone``."""
        left = (place for place, at in enumerate(self._amended, 1) if at <= event and self._of.get(at) not in gone)
        return max(left, default=0)

    @cached_property
    def _wants(self) -> list[PlanWants]:
        until = (*self._amended, inf)
        return [PlanWants(plan, self.record, at) for plan, at in zip(self.plans.documents, until, strict=False)]

    def _holders(self, one: _Ended, gone: frozenset[int]) -> tuple[frozenset[int], bool]:
        """(acts, over): the acts that caused this end, and whether it had ended before them. A run that was put aside before its
        component was resumed is sometimes judged after that; then the acts that held before the resumption caused the end.
        """
        holds: set[int] = set()
        before: set[int] = set()
        over = was_over = False
        for event, what in self._marks(one.component, gone):
            if event >= one.event:
                break
            if what is None:
                holds, before, over, was_over = set(), holds or before, False, over if holds or over else was_over
            elif isinstance(what, NoteRow):
                over = over or (not holds and what.case in ("", one.case))
            elif not over and _means(what, one):
                holds.add(self._of[what.seq])
        return (frozenset(holds), over) if holds or over else (frozenset(before), was_over)

    def _marks(self, component: str, gone: frozenset[int]) -> list[tuple[int, ActRow | NoteRow | None]]:
        """The statements about ends of a component, in order; None marks that the component was resumed."""
        key = component, gone
        if key not in self._marked:
            taken_up = [*self._amended, *self.record.again.get(component, ())]
            found: list[tuple[int, ActRow | NoteRow | None]] = [
                (event, None) for event in taken_up if self._of.get(event) not in gone
            ]
            found += [(row.seq, row) for row in self._said if row.seq in self._of]
            found += [(note.seq, note) for note in self._overs if note.value.get("component") == component]
            self._marked[key] = sorted(found, key=lambda mark: mark[0])
        return self._marked[key]

    @cached_property
    def _marked(self) -> dict[tuple[str, frozenset[int]], list[tuple[int, ActRow | NoteRow | None]]]:
        return {}

    # ---- what came to an end -----------------------------------------------------------------------------------------------

    @cached_property
    def _ended(self) -> tuple[_Ended, ...]:
        """The ends in the record: verdicts *cancelled*, and findings that a time was up before it had passed."""
        first = min((row.seq for row in self._said), default=0)
        if not first:
            return ()
        runs = [
            _Ended(row.seq, row.component, row.run, row.case, row.was_taken_back)
            for row in self.record.runs
            if row.verdict == "cancelled" and row.seq > first
        ]
        times = [
            _Ended(note.seq, str(note.value.get("component") or ""), "", "")
            for note in self.record.of_kind("finding")
            if note.seq > first and _is_over(note) and self._was_made(note)
        ]
        return (*runs, *times)

    @cached_property
    def _given_up(self) -> tuple[_GivenUp, ...]:
        return tuple(self._every_given_up())

    def _every_given_up(self) -> Iterator[_GivenUp]:
        spent: dict[tuple[int, str], int] = {}
        for row in self.record.current():
            key = row.result, row.verdict
            spent[key] = spent.get(key, 0) + 1
            event = self.record.given_up.get(row.run, 0)
            if event and not row.retried and row.mode != DRILL:
                yield _GivenUp(_Ended(event, row.component, row.run, row.case), row, spent[key])

    def _was_made(self, note: NoteRow) -> bool:
        """Whether a finding says that a time is up which had not passed: somebody drained its component."""
        name = str(note.value.get("component") or "")
        return note.kind == "finding" and name in self.times and note.time < self.times[name].known_at(note.seq) - 1e-3

    @property
    def _timed(self) -> list[str]:
        return [part.name for part in self.plans.at(self.record.seq).components if part.duration_s]

    def _ended_for_good(self, name: str, gone: frozenset[int]) -> bool:
        return self._is_back(_Ended(self.record.seq + 1, name, "", ""), gone)

    def _lacks_time(self, name: str) -> bool:
        part = self.plans.part(self.record.seq, name)
        if part is None or not part.duration_s:
            return False
        clock = component_clock(part, self.record)
        return clock is None or not enough(clock.ran, part.duration_s)


def not_run_for(
    record: Record,
    plans: PlansInForce,
    dropped: Collection[int],
    again: Collection[str],
    well: Collection[str] = (),
) -> frozenset[int]:
    """Purpose: the verdicts *not_run* that would not exist without some others. ``dropped``: verdicts that the log lacks;
    ``again``: runs that would have been attempted again. A run that failed for good still prevents the runs that need it, whatever
    else is to come. ``well``: runs that have the right answer then.
    """
    if not any(row.verdict == "not_run" for row in record.runs):
        return frozenset()
    latest: dict[tuple[str, str, str, int], str] = {}  # the last run of each result so far
    verdicts: dict[str, list[tuple[int, str]]] = {}  # run -> its verdicts so far, with their events
    found: set[int] = set()
    for row in sorted(record.runs, key=lambda one: one.seq):
        if row.verdict == "not_run":
            needed = [latest.get(key, "") for key in needed_results(plans.at(row.seq), row, record)]
            there = [_verdict(verdicts.get(run, []), run, (), ()) for run in needed]
            then = [_verdict(verdicts.get(run, []), run, {*dropped, *found}, again) for run in needed]
            then = ["passed" if run in well else word for run, word in zip(needed, then, strict=True)]
            if then != there and all(word == "" or word in WELL for word in then):
                found.add(row.seq)
        latest[row.component, mode_key(row), row.case, row.repeat] = row.run
        verdicts.setdefault(row.run, []).append((row.seq, row.verdict))
    return frozenset(found)


def _verdict(said: Sequence[tuple[int, str]], run: str, dropped: Collection[int], again: Collection[str]) -> str:
    """The last verdict of a run, "" if it is still to come."""
    left = [verdict for event, verdict in said if event not in dropped]
    return left[-1] if left and (run not in again or left[-1] in WELL) else ""


def _is_over(note: NoteRow) -> bool:
    """Whether a note says that the time of a component is up, or a case is given up: nothing more of it is ordered."""
    return note.kind == "case_stopped" or note.value.get("kind") == "time_is_up"


def _means(said: ActRow, one: _Ended) -> bool:
    """Whether a drain or a cancellation applies to this end."""
    if said.kind == "drain":
        return one.by_drains and str(said.value.get("component") or "") in ("", one.component)
    runs, cases = (said.value.get(name) or () for name in ("runs", "cases"))
    return bool(said.value.get("all")) or (bool(one.run) and one.run in runs) or (bool(one.case) and one.case in cases)
