"""Verdicts that result from a harder plan and might differ without it: ``Harder`` tells which, and in which way; ``at_best`` and
``at_worst`` make records in which all these runs pass or fail.

A run that was cut off by a shorter time limit might pass without it, or fail, or have a wrong answer, and so might the further
attempt that was not allowed; a run that did not meet an added check, figure or row might pass. Nobody knows.
So an outcome without that amendment is known only if it is the same with these verdicts as they are, with all of them passed,
and with the unknown ones failed or wrong, whatever they would have measured.
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
WAYS: tuple[Way, ...] = ("own", "judged", "attempt")  # of several ways that apply to a run, the first counts
WORST = ("incorrect", "failed")  # the possible verdicts of a run whose result nobody knows, besides passed


class Harder:
    """The requirements by which the later of two plans makes it harder for runs to pass. ``first``: (component, case, mode) -> how
    many of its first results would have been warm-ups under the earlier plan.
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
        """How a verdict of the later plan might differ under the earlier one. ``own``: the run would have continued, or another run
        would have taken its place, with unknown result; ``judged``: the same run may have passed; ``attempt``: the verdict stands,
        but another attempt would have followed. None: the verdict is the same.
        """
        cut_off = row.verdict == "timeout" and row.case in self._shorter
        if cut_off or row.repeat <= self._first.get((row.component, row.case, row.mode), 0):
            return "own"
        by = {"incorrect": self._checked, "performance": self._bounded}.get(row.verdict, ())
        if row.case in by:
            return "judged"
        return "attempt" if not row.retried and row.verdict in self._fewer.get(row.component, ()) else None


def at_best(record: Record, ways: Mapping[str, Way], plans: PlansInForce, mine: PlansInForce) -> frozenset[str]:
    """Purpose: change a record so that these runs, or their next attempts, passed, except runs whose verdict is known; return the
    names of the changed runs. Their figures are unknown then, and runs that need them are still to come. ``plans``: of the whole
    record; ``mine``: the plans left in force.
    """
    unknown, were = {run: way for run, way in ways.items() if run not in record.computed}, record.runs
    take_as(record, dict.fromkeys(unknown, "passed"), plans)
    before = {row.run: row for row in were if not row.superseded_by}
    stand = {run for run, way in unknown.items() if way == "attempt"}
    record.runs = [before[row.run] if row.run in stand and not row.superseded_by else row for row in record.runs]
    return _go_on(record, unknown, "passed", mine)


def at_worst(record: Record, ways: Mapping[str, Way], verdict: str, mine: PlansInForce) -> None:
    """Purpose: change a record so that those of these runs whose result nobody knows got the given verdict, with every further
    attempt that is left to them. The other arguments are those of ``at_best``.
    """
    _go_on(record, {run: way for run, way in ways.items() if run not in record.computed}, verdict, mine)


def _go_on(record: Record, unknown: Mapping[str, Way], verdict: str, mine: PlansInForce) -> frozenset[str]:
    """Give these runs that verdict and the attempts that then follow; return the names of all runs without measured values."""
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
    """The row of an attempt that never ran, with the verdict that it might have had."""
    number = row.attempt + 1
    run = f"{row.run.partition(' ')[0]} attempt {number}"
    return replace(row, run=run, verdict=verdict, attempt=number, retried=False, figures={}, elapsed_s=None, ruling="")


def _times(plans: PlansInForce, row: RunRow) -> int:
    """How often the plan in force attempts a run with this verdict again."""
    part = plans.part(row.seq, row.component)
    return next((one.times for one in part.retry if one.verdict == row.verdict), 0) if part is not None else 0


def _fewer_attempts(old: Component, new: Component) -> frozenset[str]:
    """The verdicts after which the later plan makes fewer attempts."""
    times = {one.verdict: one.times for one in new.retry}
    return frozenset(one.verdict for one in old.retry if times.get(one.verdict, 0) < one.times)


def _is_shorter(case: Case, before: Case) -> bool:
    limit, was = (one.shape.time_limit_s for one in (case, before))
    return 0 < limit < (was or limit + 1)


def _asks_more(old: Document, before: Case, new: Document, case: Case) -> bool:
    """Whether the later plan has a new check, or a figure that is new or read in another way."""
    tests = [
        next((test for test in plan.tests if test.name == one.test), None) for plan, one in ((old, before), (new, case))
    ]
    if tests[0] is None or tests[1] is None:
        return False
    was, now = tests[0].of(before), tests[1].of(case)
    return bool(set(now.checks) - set(was.checks)) or any(figure not in was.figures for figure in now.figures)


def _rows_that_judge(document: Document) -> dict[str, str]:
    """Contract row -> its content, for the rows whose bounds decide whether a run is judged performance."""
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
