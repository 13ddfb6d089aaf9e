"""Verdicts that came by a harder plan, and might be others without it: ``Harder`` says which and how, ``at_best`` and ``at_worst``
are records in which all of them are.

A run that was cut off by a shorter time limit might pass without it, or fail, or have a wrong answer, and so might the further
attempt that was not let start; one that did not meet a check, a figure or a row that an amendment added might pass. Nobody knows.
So an outcome without that amendment is known only where it is the same with these verdicts as they are, with all of them passed,
and with those that nobody knows failed, or wrong; whatever they measured then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Literal

from msgspec.structs import replace

from shakedown.metrics.judging.beyond import take_as
from shakedown.metrics.judging.plans_in_force import PlansInForce
from shakedown.metrics.rows.rows import RunRow
from shakedown.metrics.rows.table import Record
from shakedown.model.contracts import content
from shakedown.model.nouns import Case, Component, Document

Way = Literal["own", "judged", "attempt"]
WAYS: tuple[Way, ...] = ("own", "judged", "attempt")  # where a run is in several ways, the first one is meant
WORST = ("incorrect", "failed")  # what a run may come to that nobody knows, beside passing


class Harder:
    """What makes it harder for runs to pass by the later of two plans. ``first``: (component, case, mode) -> how many of its first
    results would have been warm-ups by the earlier one.
    """

    def __init__(self, old: Document, new: Document) -> None:
        parts, cases = {part.name: part for part in new.components}, {case.id: case for case in new.cases}
        pairs = [(part, parts[part.name]) for part in old.components if part.name in parts]
        self._fewer = {two.name: fewer for one, two in pairs if (fewer := _fewer_attempts(one, two))}
        both = [(case, cases[case.id]) for case in old.cases if case.id in cases]
        self._shorter = {one.id for one, two in both if _is_shorter(two, one)}
        self._checked = {one.id for one, two in both if _asks_more(old, one, new, two)}
        rows = [_rows_that_judge(document) for document in (old, new)]
        self._bounded = {
            one.id for one, two in both if not _judged_by(rows[1], two) <= _judged_by(rows[0], one)
        }  # fmt: skip
        self._first = dict(_first_results(old, pairs))

    def __bool__(self) -> bool:
        return any((self._fewer, self._shorter, self._checked, self._bounded, self._first))

    def way(self, row: RunRow) -> Way | None:
        """How a verdict that was given by the later plan might be another by the earlier one: ``own`` where the run would have gone
        on, or another one would have come in its place, and nobody knows to what; ``judged`` where it may have passed as it was;
        ``attempt`` where it stands, and another attempt would have followed. None where it is the same.
        """
        cut_off = row.verdict == "timeout" and row.case in self._shorter
        if cut_off or row.repeat <= self._first.get((row.component, row.case, row.mode), 0):
            return "own"
        by = {"incorrect": self._checked, "performance": self._bounded}.get(row.verdict, ())
        if row.case in by:
            return "judged"
        return "attempt" if not row.retried and row.verdict in self._fewer.get(row.component, ()) else None


def at_best(record: Record, ways: Mapping[str, Way], plans: PlansInForce, mine: PlansInForce) -> frozenset[str]:
    """Purpose: take these runs of a record to have passed, or their next attempt, but for those whose verdict is known; those that
    were taken so. What they measured is not known then, and what needs them is still to come. ``plans``: of the whole record;
    ``mine``: those that are left in force.
    """
    unknown, were = {run: way for run, way in ways.items() if run not in record.computed}, record.runs
    take_as(record, dict.fromkeys(unknown, "passed"), plans)
    before = {row.run: row for row in were if not row.superseded_by}
    stand = {run for run, way in unknown.items() if way == "attempt"}
    record.runs = [before[row.run] if row.run in stand and not row.superseded_by else row for row in record.runs]
    return _go_on(record, unknown, "passed", mine)


def at_worst(record: Record, ways: Mapping[str, Way], verdict: str, mine: PlansInForce) -> None:
    """Purpose: take those of these runs of which nobody knows to what they came to have come to a verdict, with every further
    attempt that is left to them. The rest is as in ``at_best``.
    """
    _go_on(record, {run: way for run, way in ways.items() if run not in record.computed}, verdict, mine)


def _go_on(record: Record, unknown: Mapping[str, Way], verdict: str, mine: PlansInForce) -> frozenset[str]:
    """Give runs that verdict, and the attempts that follow by the plans left in force; the names of all that nobody measured."""
    spent = Counter((row.result, row.verdict) for row in record.current() if row.run not in unknown)
    newest: dict[int, int] = {}
    for row in record.current():
        newest[row.result] = max(row.attempt, newest.get(row.result, 0))
    found: list[RunRow] = []
    names = set(unknown)
    for row in record.runs:
        way = unknown.get(row.run) if not row.superseded_by else None
        if way is None:
            found.append(row)
            continue
        own = way == "own" or (way == "judged" and verdict == "passed")
        last = replace(row, verdict=verdict, retried=False, figures={}, elapsed_s=None) if own else row
        spent[last.result, last.verdict] += 1
        is_last = row.attempt == newest[row.result]
        while is_last and last.verdict != "passed" and _times(mine, last) >= spent[last.result, last.verdict]:
            found.append(replace(last, retried=True))
            last = _attempt_after(last, verdict)
            spent[last.result, last.verdict] += 1
            names.add(last.run)
        found.append(last)
    record.runs = found
    record._place = {row.run: place for place, row in enumerate(record.runs) if not row.superseded_by}
    return frozenset(names)


def _attempt_after(row: RunRow, verdict: str) -> RunRow:
    """An attempt that nobody made, with what it might have come to."""
    number = row.attempt + 1
    run = f"{row.run.partition(' ')[0]} attempt {number}"
    return replace(row, run=run, verdict=verdict, attempt=number, retried=False, figures={}, elapsed_s=None, ruling="")


def _times(plans: PlansInForce, row: RunRow) -> int:
    """How often the plan in force attempts again what ends like this run."""
    part = plans.part(row.seq, row.component)
    return next((one.times for one in part.retry if one.verdict == row.verdict), 0) if part is not None else 0


def _fewer_attempts(old: Component, new: Component) -> frozenset[str]:
    """The verdicts after which it is attempted again less often."""
    times = {one.verdict: one.times for one in new.retry}
    return frozenset(one.verdict for one in old.retry if times.get(one.verdict, 0) < one.times)


def _is_shorter(case: Case, before: Case) -> bool:
    limit, was = (one.shape.time_limit_s for one in (case, before))
    return 0 < limit < (was or limit + 1)


def _asks_more(old: Document, before: Case, new: Document, case: Case) -> bool:
    """A check that was not there, or a figure that has to be in the output now or is read otherwise."""
    tests = [
        next((test for test in plan.tests if test.name == one.test), None) for plan, one in ((old, before), (new, case))
    ]
    if tests[0] is None or tests[1] is None:
        return False
    was, now = tests[0].of(before), tests[1].of(case)
    return bool(set(now.checks) - set(was.checks)) or any(figure not in was.figures for figure in now.figures)


def _rows_that_judge(document: Document) -> dict[str, str]:
    """Row -> what it asks, of those outside of which a run is judged performance."""
    return {row.name: repr(content(row)) for one in document.contracts for row in one.rows if row.verdict}


def _judged_by(rows: dict[str, str], case: Case) -> set[tuple[str, str]]:
    sides = dict(case.sides)
    return {(rows[name], sides.get(name, "")) for name in case.rows if name in rows}


def _first_results(
    old: Document, pairs: list[tuple[Component, Component]]
) -> Iterator[tuple[tuple[str, str, str], int]]:
    cases = {case.id: case for case in old.cases}
    for before, part in pairs:
        warm = {mode.name: mode.warm_up for mode in part.modes}
        for mode in before.modes:
            fewer = mode.warm_up - warm.get(mode.name, mode.warm_up)
            for name in before.cases if fewer > 0 else ():
                if name in cases:
                    yield (part.name, name, mode.name), fewer * old.system.copies(mode, cases[name])
