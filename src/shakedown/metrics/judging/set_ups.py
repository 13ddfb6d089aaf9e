"""The measures ``set up`` and ``clean up``: tests before and after all other tests of a component, which must pass.

They are implied criteria of a component that has such tests. These runs count in no other number.
"""

from __future__ import annotations

from msgspec import Struct

from shakedown.metrics.judging.populations import Population, counts_as_passed
from shakedown.metrics.judging.scope import MeasureContext
from shakedown.metrics.judging.scorecard import Measured
from shakedown.metrics.newest_results import newest_results
from shakedown.metrics.rows.rows import CLEAN_UP, SET_UP, RunRow
from shakedown.metrics.rows.table import Record
from shakedown.metrics.wanted import result_key
from shakedown.metrics.words import plural, show_share, some
from shakedown.model.events import UNDETERMINED
from shakedown.model.judging import Criterion
from shakedown.model.nouns import Case, Component, Document


class StepScore(Struct, frozen=True):
    """One set-up or clean-up of a component, in one of its rounds. ``run``: its last attempt, "" if there is none; ``verdict``: of
    that attempt. ``passed``: None while it is open.
    """

    component: str
    mode: str
    case: str
    round: int
    run: str = ""
    verdict: str = ""
    passed: bool | None = None


def step_rows(component: Component, record: Record, everything: bool = False) -> list[RunRow]:
    """Purpose: the runs of the set-ups and clean-ups that a component wants. If an amendment removed one and another amendment
    restored it, only its new runs count; ``everything``: earlier runs count too.
    """
    cases = {SET_UP: component.set_up, CLEAN_UP: component.clean_up}
    if not any(cases.values()):
        return []
    rows = [row for row in record.current() if row.component == component.name and row.case in cases.get(row.mode, ())]
    newest = newest_results(record, rows)
    return [row for row in rows if everything or row.result == newest[result_key(row)]]


def steps_of(component: Component, document: Document, record: Record, everything: bool = False) -> list[StepScore]:
    """Purpose: every set-up and clean-up that a component wants and that can run here, in the order of the plan. ``everything``:
    one that an amendment removed and another restored appears once for each time that it ran.
    """
    cases = {case.id: case for case in document.cases}
    rounds = 1 + len(record.again.get(component.name, ()))
    found: dict[tuple[str, str, int], dict[int, list[RunRow]]] = {}
    for row in step_rows(component, record, everything):
        found.setdefault((row.mode, row.case, row.repeat), {}).setdefault(row.result, []).append(row)
    wanted = [(SET_UP, name) for name in component.set_up] + [(CLEAN_UP, name) for name in component.clean_up]
    return [
        _score(component, mode, cases[name], round_, rows, record)
        for mode, name in wanted
        if name in cases and not cases[name].unavailable
        for round_ in range(1, rounds + 1)
        for rows in (*found.get((mode, name, round_), {}).values(),) or ([],)
    ]


def _score(component: Component, mode: str, case: Case, round_: int, rows: list[RunRow], record: Record) -> StepScore:
    if not rows:
        return StepScore(component.name, mode, case.id, round_)
    last = max(rows, key=lambda row: (row.attempt, row.seq))
    passed: bool | None = any(counts_as_passed(row, case) or row.verdict == "performance" for row in rows)
    if not passed and (last.retried or last.verdict == UNDETERMINED) and record.ended is None:
        passed = None
    return StepScore(component.name, mode, case.id, round_, last.run, last.verdict, passed)


def set_ups_passed(criterion: Criterion, population: Population, around: MeasureContext) -> Measured:
    """The measure ``set up``: set-ups that passed, of all set-ups."""
    return _passed(criterion, around, SET_UP)


def clean_ups_passed(criterion: Criterion, population: Population, around: MeasureContext) -> Measured:
    """The measure ``clean up``: clean-ups that passed, of all clean-ups."""
    return _passed(criterion, around, CLEAN_UP)


def _passed(criterion: Criterion, around: MeasureContext, mode: str) -> Measured:
    """The share of steps of one mode that passed; steps that are still open may pass later."""
    every = steps_of(around.component, around.document, around.record, around.everything)
    steps = [step for step in every if step.mode == mode]
    if not steps:
        return Measured(None, 0, "", reason=f"no {mode} of it can run on this system", restricted=True)
    well, known = sum(step.passed is True for step in steps), sum(step.passed is not None for step in steps)
    if not known:
        return Measured(None, 0, "", reason=f"{plural(len(steps), mode)} to come")
    share, most = well / len(steps), (well + len(steps) - known) / len(steps)
    text = f"{well} passed / {plural(len(steps), mode)} = {show_share(share, criterion.bound)}"
    bad = [f"{step.case} {step.verdict} as {step.run}" for step in steps if step.passed is False]
    text += f" ({some(bad)})" if bad else ""
    text += f", {len(steps) - known} to come" if known < len(steps) else ""
    return Measured(share, known, text, share, most)
