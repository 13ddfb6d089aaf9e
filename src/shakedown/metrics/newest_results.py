"""Of results that several plans wanted, those that count: what a plan did not want for a while is wanted anew after it."""

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
    """Purpose: the number of the result of each name that counts. What a plan wants again that the plan before it did not want it
    wants anew: only what runs anew counts, and until then nothing does (0). Without an amendment in between nothing wants a result
    twice, and the first one counts. ``rows``: those that are asked about; all that count where there are none.
    """
    amended = [epoch.number for epoch in record.epochs if epoch.opened_by == "amended"]
    newest: dict[ResultKey, tuple[int, int]] = {}  # number, and the epoch in which it was wanted
    asked = sorted(record.current() if rows is None else rows, key=lambda one: one.result)
    for row in asked:
        key = result_key(row)
        number, since = newest.get(key, (0, 0))
        if not number or (row.result > number and any(since < epoch <= row.epoch for epoch in amended)):
            newest[key] = row.result, row.epoch
    gone = _dropped(record, asked) if amended else ()
    return {key: 0 if number in gone else number for key, (number, _) in newest.items()}


def unwanted_rows(document: Document, record: Record) -> list[RunRow]:
    """Attempts that the plan in force no longer asks for: an amendment took their case, component, mode or repeat away."""
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


# ---- what a plan did not want for a while ----------------------------------------------------------------------------


def _dropped(record: Record, rows: Sequence[RunRow]) -> Collection[int]:
    """The numbers of results that a plan wanted, and one that was in force when they were closed, or came later, did not. A run
    that is live stays its result's. It is known only where the record has its plans beside it.
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
    """What one plan wants of each case of each component. ``until``: the event by which the next plan came into force."""

    def __init__(self, plan: Document, record: Record, until: float) -> None:
        self.plan, self.again = plan, {name: sum(at < until for at in events) for name, events in record.again.items()}
        self._parts = {part.name: part for part in plan.components}
        self._cases = {case.id: case for case in plan.cases}
        self._most: dict[tuple[str, str, str, str], float] = {}

    def want(self, row: RunRow) -> bool:
        """Whether the plan wants the result of a run. Warm-ups are in no count."""
        key = row.component, row.case, row.mode, row.of
        if key not in self._most:
            part, case = self._parts.get(row.component), self._cases.get(row.case)
            self._most[key] = self._most_of(part, case, row)
        return row.repeat <= self._most[key]

    def wants_what_is_spared(self, row: RunRow) -> bool:
        """Whether the plan wants a result that a ladder spared: it has no ladder there, so that it asks for each size."""
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
