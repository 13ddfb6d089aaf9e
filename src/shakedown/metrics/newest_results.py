"""The counting results among those that several plans wanted: a result that a plan dropped for a while is wanted anew later."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from math import inf

from shakedown.metrics.rows.rows import CLEAN_UP, DRILL, SET_UP, STEPS, RunRow
from shakedown.metrics.rows.table import Record
from shakedown.metrics.wanted import (
    FILLER,
    WARM_UP,
    ResultKey,
    is_asked,
    is_warm_up,
    result_key,
    times_again,
    wanted_results,
)
from shakedown.model.events import SPARED, UNDETERMINED
from shakedown.model.nouns import Case, Component, Document


def newest_results(record: Record, rows: Iterable[RunRow] | None = None) -> dict[ResultKey, int]:
    """Purpose: wanted result -> the number under which it counts. A result that a plan wants again after the plan before it did not
    is wanted anew: only new runs count, and 0 stands for none yet. Without an amendment in between, the first result of a name
    counts. ``rows``: the rows to examine; all rows in force if None.
    """
    amended = [epoch.number for epoch in record.epochs if epoch.opened_by == "amended"]
    newest: dict[ResultKey, tuple[int, int]] = {}  # (number, the epoch in which it was wanted)
    asked = sorted(record.current() if rows is None else rows, key=lambda one: one.result)
    for row in asked:
        key = result_key(row)
        number, since = newest.get(key, (0, 0))
        if not number or (row.result > number and any(since < epoch <= row.epoch for epoch in amended)):
            newest[key] = row.result, row.epoch
    gone = _dropped(record, asked) if amended else ()
    return {key: 0 if number in gone else number for key, (number, _) in newest.items()}


def unwanted_rows(document: Document, record: Record) -> list[RunRow]:
    """Attempts that the plan in force no longer wants, because an amendment removed their case, component, mode or repeat."""
    cases = {case.id: case for case in document.cases}

    def wanted_now(component: Component, case: Case) -> dict[str, int]:
        return dict(wanted_results(component, case, document.system, times_again(component, record)))

    wanted = {
        (component.name, name): (
            component,
            wanted_now(component, cases[name]),
        )
        for component in document.components
        for name in component.cases
        if name in cases
    }
    newest = newest_results(record)
    beside = {
        (component.name, mode): cases
        for component in document.components
        for mode, cases in (
            (FILLER, component.fillers),
            (SET_UP, component.set_up),
            (CLEAN_UP, component.clean_up),
        )
    }
    drills = {(component.name, drill.case, of) for component in document.components for drill in component.drills
              for of in (drill.name, "")}  # fmt: skip

    def unwanted(row: RunRow) -> bool:
        if row.mode == DRILL:
            return (row.component, row.case, row.of) not in drills
        if row.mode == FILLER or row.mode in STEPS:
            kept = row.case in beside.get((row.component, row.mode), ())
            return not kept or (row.mode in (SET_UP, CLEAN_UP) and row.result != newest[result_key(row)])
        asked = wanted.get((row.component, row.case))
        return asked is None or not (is_warm_up(row, asked[0]) or is_asked(row, *asked, newest))

    return list(filter(unwanted, record.current()))


# ---- results that a plan did not want for a while ------------------------------------------------------------------------


def _dropped(record: Record, rows: Sequence[RunRow]) -> Collection[int]:
    """The numbers of results that one plan wanted, but a plan in force when they were closed, or later, did not. A live run keeps
    its result. Empty unless the record has its plans attached.
    """
    plans = [record.plans.get(digest) for digest in record.documents if digest]
    since = [epoch.seq for epoch in record.epochs if epoch.opened_by == "amended"]
    if len(plans) != len(since) + 1 or None in plans:
        return ()
    known = [
        PlanWants(plan, record, until) for plan, until in zip(plans, (*since, inf), strict=True) if plan is not None
    ]
    first = {row.run: row.seq for row in reversed(record.runs) if row.verdict != UNDETERMINED}
    live = {run.result for run in record.open.values()}
    attempts: dict[int, list[RunRow]] = {}
    for row in rows:
        attempts.setdefault(row.result, []).append(row)
    found = set()
    for number, mine in attempts.items():
        last = max(mine, key=lambda row: row.attempt)
        if number in live or last.verdict == UNDETERMINED:
            continue
        ordered = min(row.ordered_by or row.seq for row in mine)
        closed = max(first.get(last.run, last.seq), record.given_up.get(last.run, 0))
        begin, end = (bisect_right(since, event) for event in (ordered, closed))
        words = [plan.want(last) for plan in known[begin:]]
        if last.verdict == SPARED and any(plan.wants_what_is_spared(last) for plan in known[end:]):
            found.add(number)
        if any(not word and any(words[:place]) for place, word in enumerate(words) if begin + place >= end):
            found.add(number)
    return found


class PlanWants:
    """The results that one plan wants, by component and case. ``until``: the event at which the next plan came into force."""

    def __init__(self, plan: Document, record: Record, until: float) -> None:
        self.plan, self.again = plan, {name: sum(at < until for at in events) for name, events in record.again.items()}
        self._parts = {part.name: part for part in plan.components}
        self._cases = {case.id: case for case in plan.cases}
        self._most: dict[tuple[str, str, str, str], float] = {}

    def want(self, row: RunRow) -> bool:
        """Whether the plan wants the result of a run. Warm-ups are always wanted if their case is."""
        key = row.component, row.case, row.mode, row.of
        if key not in self._most:
            part, case = self._parts.get(row.component), self._cases.get(row.case)
            self._most[key] = self._most_of(part, case, row)
        return row.repeat <= self._most[key]

    def wants_what_is_spared(self, row: RunRow) -> bool:
        """Whether the plan wants a result that a ladder spared, because the plan has no ladder there and wants each size."""
        part = self._parts.get(row.component)
        return part is not None and part.ladder is None and self.want(row)

    def _most_of(self, part: Component | None, case: Case | None, row: RunRow) -> float:
        if part is None or case is None or case.unavailable:
            return 0
        rounds = 1 + self.again.get(part.name, 0)
        if row.mode == WARM_UP:
            return inf
        if row.mode in (SET_UP, CLEAN_UP):
            return rounds if case.id in (part.set_up if row.mode == SET_UP else part.clean_up) else 0
        if row.mode == DRILL:
            return inf if any((one.case, one.name) == (case.id, row.of) for one in part.drills) else 0
        if case.id not in (part.fillers if row.mode == FILLER else part.cases):
            return 0
        if row.mode == FILLER:
            return inf
        wanted = dict(wanted_results(part, case, self.plan.system, rounds - 1))
        return inf if part.duration_s and row.mode in wanted else wanted.get(row.mode, 0)
