"""Verdicts that came by a harder plan, and might be better without it: ``Harder`` says which, ``at_best`` is a record in which all
of them are.

A run that was cut off by a shorter time limit, or did not meet a check, a figure or a row that an amendment added, might pass
without it, and so might the further attempt that it did not let start. Nobody knows which of them would have. So an outcome
without that amendment is known only where it is the same with these verdicts as they are and with all of them passed, whatever they
measured then.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from msgspec.structs import replace

from shakedown.metrics.judging.beyond import take_as
from shakedown.metrics.judging.plans_in_force import PlansInForce
from shakedown.metrics.rows.rows import RunRow
from shakedown.metrics.rows.table import Record
from shakedown.model.contracts import content
from shakedown.model.nouns import Case, Component, Document


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

    def concerns(self, row: RunRow) -> bool:
        """Whether a verdict that was given by the later plan might be another by the earlier one."""
        return (
            (row.verdict == "timeout" and row.case in self._shorter)
            or (row.verdict == "incorrect" and row.case in self._checked)
            or (row.verdict == "performance" and row.case in self._bounded)
            or (not row.retried and row.verdict in self._fewer.get(row.component, ()))
            or row.repeat <= self._first.get((row.component, row.case, row.mode), 0)
        )


def at_best(record: Record, runs: Collection[str], plans: PlansInForce) -> frozenset[str]:
    """Purpose: take these runs of a record to have passed, but for those whose verdict is known; those that were taken so. What
    they measured is not known then, and what needs them is still to come. ``plans``: of the whole record.
    """
    unknown = set(runs) - record.computed
    take_as(record, dict.fromkeys(unknown, "passed"), plans)
    record.runs = [
        replace(row, retried=False, figures={}, elapsed_s=None) if row.run in unknown else row for row in record.runs
    ]
    record._place = {row.run: place for place, row in enumerate(record.runs) if not row.superseded_by}
    return frozenset(unknown)


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
