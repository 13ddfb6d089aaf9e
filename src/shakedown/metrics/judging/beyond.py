"""Results that exist only because a plan allowed more than the one before it (further attempts, longer runs, warm-ups), and
verdicts from checks that only the later plan has.

``hold_to`` is the way in; ``is_known`` tells whether a plan eases nothing else. Without an amendment that allowed more attempts
the further attempts would not have been ordered; without one that lengthened a time limit a longer run would have been cut
off; without one that added warm-ups the first runs would have counted. These effects are known, whatever the runs would have
resulted in otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import pairwise

from msgspec.structs import replace

from shakedown.metrics.judging.asked_less import eases_runs
from shakedown.metrics.judging.ends import not_run_for
from shakedown.metrics.judging.from_outputs import WELL, Answers, judge_from_outputs, with_answer
from shakedown.metrics.judging.plans_in_force import PlansInForce
from shakedown.metrics.judging.without_checks import without_added
from shakedown.metrics.rows.rows import RunRow
from shakedown.metrics.rows.table import Record
from shakedown.metrics.wanted import FILLER, ResultKey, result_key, wanted_results
from shakedown.model.events import COMPLETED, SPARED
from shakedown.model.nouns import Case, Component, Document

_TIMEOUT = "timeout"
_OF_ITS_OWN = frozenset({"failed", _TIMEOUT})  # verdicts that are attempted again only if the plan says so


def is_known(old: Document, new: Document, evaluated: bool = False) -> bool:
    """Purpose: whether a plan's easing affects verdicts only through attempts, warm-ups and time limits, so that the results
    without it are known. Events that move a clock, shares, evidence, an expected verdict and rows that judge no run change no
    verdict. ``evaluated``: checks, figures and rows are ignored too, because the kept outputs show their effect.
    """
    if evaluated:
        new = _with_checks_of(old, new)
    repeated = {retry.verdict for part in old.components for retry in part.retry}
    if _TIMEOUT in repeated:
        return False  # a run that the shorter limit cuts off would have been attempted again
    before, cases = {part.name: part for part in old.components}, {case.id: case for case in old.cases}
    judging = any(row.verdict for document in (old, new) for contract in document.contracts for row in contract.rows)
    left = replace(
        new,
        components=tuple(_as_was(part, before[part.name]) if part.name in before else part for part in new.components),
        cases=tuple(
            _case_as_was(case, cases[case.id], repeated, judging) if case.id in cases else case for case in new.cases
        ),
        contracts=new.contracts if judging else old.contracts,
    )
    return not eases_runs(old, left)


def _with_checks_of(old: Document, new: Document) -> Document:
    """The later plan, with the checks, figures and contract rows of the earlier one."""
    tests, cases = {test.name: test for test in old.tests}, {case.id: case for case in old.cases}
    return replace(
        new,
        tests=tuple(tests.get(test.name, test) for test in new.tests),
        cases=tuple(
            replace(case, rows=cases[case.id].rows, sides=cases[case.id].sides) if case.id in cases else case
            for case in new.cases
        ),
        contracts=old.contracts,
    )


def _as_was(part: Component, before: Component) -> Component:
    was = {key: getattr(before, key) for key in ("retry", "clock", "fill", "mix", "sweep", "procedures")}
    warm = {mode.name: mode.warm_up for mode in before.modes}
    return replace(part, **was, modes=tuple(replace(mode, warm_up=warm.get(mode.name, 0)) for mode in part.modes))


def _case_as_was(case: Case, before: Case, repeated: set[str], judging: bool) -> Case:
    shape = replace(case.shape, time_limit_s=before.shape.time_limit_s)
    rows = {} if judging else {"rows": before.rows, "sides": before.sides}
    return replace(case, shape=shape, expect=case.expect if case.expect in repeated else before.expect, **rows)


def hold_to(record: Record, whole: Record, document_of: Callable[[str], Document], answers: Answers) -> None:
    """Purpose: apply to the runs of a record without some acts the plans that remain in force in it. ``whole``: the record with all
    acts.

    Attempts that only a plan without effect allows are removed, and so are results that only such a plan wanted again. A run that
    only such a plan allowed to last longer counts as timed out; one that only such a plan made a warm-up counts as a result.
    ``answers``: the verdicts that the kept outputs give under these plans, for checks, figures and rows that judge runs.
    """
    mine, real = _Plans(record, document_of), _Plans(whole, document_of)
    _leave_out_rounds(record, whole, real)
    if record.documents == whole.documents:
        return
    beyond: set[str] = set()
    for rows in _results(record):
        beyond |= _not_ordered(rows, mine, real)
    record.beyond = {name: sum(row.run in beyond and row.component == name for row in record.current())
                     for name in {row.component for row in record.current() if row.run in beyond}}  # fmt: skip
    _take_out_twice(record, mine, real)
    _leave_out_spared(record, mine, real)
    _number_by_round(record, whole, mine, real)
    last = {row.result for row in record.current() if row.run in beyond}
    kept = (row for row in record.runs if row.run not in beyond)
    record.runs = [_cut_off(replace(row, retried=False) if row.result in last else row, mine, real) for row in kept]
    record.open = {run: row for run, row in record.open.items() if run not in beyond}
    _count_warm_ups(record, mine, real)
    _judge_without_checks(record, mine, real, answers)
    record._place = {row.run: place for place, row in enumerate(record.runs) if not row.superseded_by}


class _Plans(PlansInForce):
    """What the plans in force require of runs: attempts, results, time limits."""

    def times(self, row: RunRow, event: int) -> int | None:
        """How often the plan in force at an event attempts a run with this verdict again; None if that is the default number."""
        part = self.part(event, row.component)
        said = {retry.verdict: retry.times for retry in part.retry} if part is not None else {}
        return said.get(row.verdict, 0 if row.verdict in _OF_ITS_OWN else None)

    def results(self, row: RunRow, mode: str) -> tuple[int, int]:
        """(warm-ups, counting results) that the plan in force when a run was ordered wants of its case in a mode, per round of the
        component; (0, 0) if the plan has no such mode.
        """
        event = row.ordered_by
        part, case = self.part(event, row.component), self.case(event, row.case)
        for one in part.modes if part is not None and case is not None else ():
            if one.name == mode and case is not None:
                copies = self.at(event).system.copies(one, case)
                return one.warm_up * copies, one.repeats * copies
        return 0, 0

    def once(self, row: RunRow) -> int:
        """How many results of the run's case and mode the plan wants per round of the component: the plan in force when the run was
        ordered, or judged if it was never ordered; 0 if the plan wants no fixed number.
        """
        event = row.ordered_by or row.seq
        part, case = self.part(event, row.component), self.case(event, row.case)
        if part is None or case is None or part.duration_s:
            return 0
        return dict(wanted_results(part, case, self.at(event).system)).get(row.mode, 0)

    def climbs(self, row: RunRow) -> bool:
        """Whether the plan in force when a run was judged has a ladder for its component."""
        part = self.part(row.seq, row.component)
        return part is not None and part.ladder is not None

    def want_throughout(self, row: RunRow, since: int, until: int, rounds: int) -> bool:
        """Whether every plan in force between two events wants the result of a run. A component that runs for a time wants no
        result by number.
        """
        changes = (event for event in self.since if since < event <= until)
        return all(self._wants(row, event, rounds) for event in (since, *changes))

    def run_throughout(self, row: RunRow, since: int, until: int) -> bool:
        """Whether every plan in force between two events runs the case of a run, in its mode, for a time."""
        changes = (event for event in self.since if since < event <= until)
        return all(self._runs_on(row, event) for event in (since, *changes))

    def _runs_on(self, row: RunRow, event: int) -> bool:
        part = self.part(event, row.component)
        if part is None or not part.duration_s:
            return False
        return row.case in (part.fillers if row.mode == FILLER else () if row.mode else part.cases)

    def _wants(self, row: RunRow, event: int, rounds: int) -> bool:
        part, case = self.part(event, row.component), self.case(event, row.case)
        if part is None or case is None or part.duration_s or case.unavailable or row.case not in part.cases:
            return False
        wanted = dict(wanted_results(part, case, self.at(event).system, rounds - 1))
        return row.repeat <= wanted.get(row.mode, 0)

    def limit_s(self, row: RunRow) -> float | None:
        """The time limit of a run by the plan in force when it was ordered; None if that plan lacks the case."""
        case = self.case(row.ordered_by, row.case)
        return case.shape.time_limit_s if case is not None else None


def _take_out_twice(record: Record, mine: _Plans, real: _Plans) -> None:
    """Remove results that existed already and were wanted again only because plans that are no longer in force did not want them
    for a while: they would not have been ordered. In a component that runs for a time, renumber them as later results instead.
    """
    first: dict[ResultKey, RunRow] = {}
    gone: dict[int, str] = {}
    later: dict[int, int] = {}  # result -> its new number
    last: dict[tuple[str, str, str], int] = {}
    for row in record.current():
        key = row.component, row.case, row.mode
        last[key] = max(row.repeat, last.get(key, 0))
    for row in sorted(record.current(), key=lambda one: (one.result, one.attempt)):
        before = first.setdefault(result_key(row), row)
        if row.result in gone or row.result in later or row.result == before.result:
            continue
        between = before.ordered_by, row.ordered_by
        rounds = 1 + _again(row.component, record)
        if all(between) and mine.want_throughout(row, *between, rounds) > real.want_throughout(row, *between, rounds):
            gone[row.result] = row.component
        elif all(between) and mine.run_throughout(row, *between) > real.run_throughout(row, *between):
            key = row.component, row.case, row.mode
            later[row.result] = last[key] = last[key] + 1
        else:
            first[result_key(row)] = row
    if later:
        record.runs = [replace(row, repeat=later.get(row.result, row.repeat)) for row in record.runs]
    if gone:
        names = list(gone.values())
        record.twice = {name: names.count(name) for name in names}
        record.runs = [row for row in record.runs if row.result not in gone]
        record.open = {run: row for run, row in record.open.items() if row.result not in gone}


def _leave_out_spared(record: Record, mine: _Plans, real: _Plans) -> None:
    """Remove runs that were spared only by a ladder that the plans left in force do not have: they are still to come."""
    record.runs = [
        row for row in record.runs if row.verdict != SPARED or mine.climbs(row) or not real.climbs(row)
    ]  # fmt: skip


def _leave_out_rounds(record: Record, whole: Record, real: _Plans) -> None:
    """Renumber results of components that ran again, where a round that is not asked for came before others that are: its results
    are numbered after all wanted ones, and those of later rounds take the numbers of the rounds before.
    """
    orders = {
        name: events
        for name, events in whole.again.items()
        if events[: len(kept := record.again.get(name, []))] != kept
    }
    numbers: dict[int, int] = {}
    for row in record.current():
        if row.component not in orders or row.result in numbers or not (once := real.once(row)):
            continue
        events, kept = orders[row.component], record.again.get(row.component, [])
        before, place = divmod(row.repeat - 1, once)
        if 0 < before <= len(events):
            asked = events[before - 1] in kept
            new = sum(event in kept for event in events[:before]) if asked else len(events) + before
            numbers[row.result] = new * once + place + 1
    if numbers:
        record.runs = [replace(row, repeat=numbers.get(row.result, row.repeat)) for row in record.runs]
        record.open = {
            run: replace(row, repeat=numbers.get(row.result, row.repeat)) for run, row in record.open.items()
        }


def _number_by_round(record: Record, whole: Record, mine: _Plans, real: _Plans) -> None:
    """Renumber results of components that ran several rounds. If the plans left in force want another number of results per round,
    a result keeps its round and its place in the round. A result without a free place in its round is numbered after all wanted
    results.
    """
    first: dict[int, RunRow] = {}
    for row in sorted(record.current(), key=lambda one: (one.result, one.attempt)):
        if whole.again.get(row.component):
            first.setdefault(row.result, row)
    moved = {
        result: (asked, did)
        for result, row in first.items()
        if 0 < (asked := mine.once(row)) != (did := real.once(row)) > 0
    }
    there = {result_key(row) for result, row in first.items() if result not in moved}
    numbers: dict[int, int] = {}
    for result, (asked, did) in moved.items():
        row = first[result]
        before, place = divmod(row.repeat - 1, did)
        placed = replace(row, repeat=before * asked + place + 1)
        if place >= asked or result_key(placed) in there:
            rounds = 1 + len(whole.again[row.component])
            placed = replace(row, repeat=rounds * asked + len(numbers) + 1)
        there.add(result_key(placed))
        numbers[result] = placed.repeat
    record.runs = (
        [replace(row, repeat=numbers.get(row.result, row.repeat)) for row in record.runs] if numbers else record.runs
    )
    record.open = {run: replace(row, repeat=numbers.get(row.result, row.repeat)) for run, row in record.open.items()}


def _judge_without_checks(record: Record, mine: _Plans, real: _Plans, answers: Answers) -> None:
    """Give runs that failed only a check of plans no longer in force the verdict without that check, from the record or else from
    the kept output. Runs that were not run because of that failure are still to come.
    """
    told = judge_from_outputs(record, mine, real, answers)
    found = {run: answer.verdict for run, answer in told.items()}
    found |= {
        row.run: word for row in record.current() if row.run not in told and (word := without_added(row, mine, real))
    }
    if not found:
        return
    record.computed = frozenset(found)
    take_as(record, {run: verdict for run, verdict in found.items() if verdict in WELL}, real)
    record.runs = [
        with_answer(row, told[row.run]) if row.run in told and not row.superseded_by else row for row in record.runs
    ]


def take_as(record: Record, verdicts: Mapping[str, str], plans: PlansInForce) -> None:
    """Purpose: give runs of a record other verdicts, with the right answer; runs that were *not_run* because these had failed are
    removed, as still to come.
    """
    waits = not_run_for(record, plans, (), (), verdicts)
    record.runs = [
        replace(row, verdict=verdicts[row.run], retried=False) if row.run in verdicts and not row.superseded_by else row
        for row in record.runs
        if row.seq not in waits
    ]


def _results(record: Record) -> Iterator[list[RunRow]]:
    """The attempts at each wanted result that has several attempts, in order."""
    found: dict[int, list[RunRow]] = {}
    for row in record.current():
        found.setdefault(row.result, []).append(row)
    yield from (sorted(rows, key=lambda row: row.attempt) for rows in found.values() if len(rows) > 1)


def _not_ordered(rows: list[RunRow], mine: _Plans, real: _Plans) -> set[str]:
    """The attempts after the first that the plans left in force would not have ordered, although the record's plans did."""
    spent: dict[str, int] = {}
    for place, (row, after) in enumerate(pairwise(rows), 1):
        spent[row.verdict] = spent.get(row.verdict, 0) + 1
        allowed, did = mine.times(row, after.ordered_by), real.times(row, after.ordered_by)
        if allowed is not None and after.ordered_by and allowed < spent[row.verdict] <= (did or 0):
            return {later.run for later in rows[place:]}
    return set()


def _count_warm_ups(record: Record, mine: _Plans, real: _Plans) -> None:
    """Count runs that were warm-ups only by plans no longer in force as the first results of their mode. The results after them get
    later numbers, and results beyond the wanted number are removed, because they would not have been ordered.
    """
    warm = {row.result for row in record.current() if _only_warms_up(row, record, mine, real)}
    if not warm:
        return
    modes = {(row.component, row.case, row.of) for row in record.runs if row.result in warm}
    first: dict[int, RunRow] = {}
    for row in record.runs:
        mode = row.of if row.result in warm else row.mode
        if (row.component, row.case, mode) in modes:
            first.setdefault(row.result, replace(row, mode=mode, of=""))
    repeats, gone = _numbered_anew(first, warm), set[int]()
    for result, row in first.items():
        wanted = mine.results(row, row.mode)[1] * (1 + _again(row.component, record))
        if row.repeat <= wanted < repeats[result]:
            gone.add(result)
    counted = [first[result].component for result in warm - gone]
    record.warmed = {name: counted.count(name) for name in counted}
    record.runs = [
        replace(row, mode=first[row.result].mode, of="", repeat=repeats[row.result]) if row.result in first else row
        for row in record.runs
        if row.result not in gone
    ]
    record.open = {run: row for run, row in record.open.items() if row.result not in gone}


def _again(component: str, record: Record) -> int:
    return len(record.again.get(component, ()))


def _only_warms_up(row: RunRow, record: Record, mine: _Plans, real: _Plans) -> bool:
    """Whether a run is a warm-up of a mode that the plans left in force have, but exceeds the warm-ups that they want."""
    if not row.of or not row.ordered_by:
        return False
    (asked, wanted), (did, _) = mine.results(row, row.of), real.results(row, row.of)
    rounds = 1 + _again(row.component, record)
    return bool(wanted) and asked * rounds < row.repeat <= did * rounds


def _numbered_anew(first: Mapping[int, RunRow], warm: Collection[int]) -> dict[int, int]:
    """Result -> its new repeat number, if these warm-ups count as results before those after them."""
    found: dict[int, int] = {}
    last: dict[tuple[str, str, str], tuple[int, int]] = {}  # (highest number so far, warm-ups included in it)
    for result in sorted(first):
        row = first[result]
        key = row.component, row.case, row.mode
        top, more = last.get(key, (0, 0))
        more += result in warm
        found[result] = top + 1 if result in warm else row.repeat + more
        last[key] = max(top, found[result]), more
    return found


def _cut_off(row: RunRow, mine: _Plans, real: _Plans) -> RunRow:
    if row.verdict not in COMPLETED or row.elapsed_s is None or not row.ordered_by:
        return row
    limit, was = mine.limit_s(row), real.limit_s(row)
    if limit and was and limit < row.elapsed_s <= was:
        return replace(
            row, verdict=_TIMEOUT, figures={}, reason=f"{row.reason}; longer than the time limit that was agreed to"
        )
    return row
