"""The measure ``planned time``: whether the clock of a component has run for the duration that the plan requires.

It is an implied criterion of every component with a duration. If a drain, a stop, a restart or a cancellation shortened the time,
it is undecided: nobody can say what the machine would have done in the missing time.
"""

from __future__ import annotations

import math

from shakedown.metrics.clock import TAKES_UP, enough, words_of
from shakedown.metrics.judging.at_bound import duration_at
from shakedown.metrics.judging.populations import Population
from shakedown.metrics.judging.scope import MeasureContext
from shakedown.metrics.judging.scorecard import Measured
from shakedown.metrics.rows.table import Record
from shakedown.metrics.words import some
from shakedown.model.judging import Criterion
from shakedown.model.nouns import Component
from shakedown.model.units import show_duration

_SHORTENS = ("stop", "restart")


def planned_time(criterion: Criterion, population: Population, around: MeasureContext) -> Measured:
    """How long the clock has run since it was last started, against the planned duration, in seconds."""
    clock = around.clock
    if clock is None:
        return Measured(None, 0, "", reason=around.no_clock, whole=True)
    ran, planned = duration_at(clock.ran, criterion.bound)
    text = f"the clock ran {ran} of {planned}"
    if enough(clock.ran, criterion.bound):
        value = max(clock.ran, criterion.bound)
        return Measured(clock.ran, 1, text, value, math.inf if population.unfinished else value, whole=True)
    if population.unfinished:
        return Measured(clock.ran, 1, f"{text}, more to come", whole=True)
    taken = some(_taken(around.component, around.record))
    missing = show_duration(criterion.bound - clock.ran)
    why = f"{missing} of the planned time were not run" + (f": {taken}" if taken else "")
    return Measured(clock.ran, 1, text, reason=why, whole=True)


def _taken(component: Component, record: Record) -> list[str]:
    """The acts that shortened the time, with people's reasons: "drained by A. Smith (it looks good)"."""
    found = [
        _said(f"the clock was {'stopped' if word.act == 'stop' else 'started anew'}", word.by, word.why)
        for word in words_of(component, record)
        if word.act in _SHORTENS and word.kind not in TAKES_UP
    ]
    for row in (*record.standing, *record.of_kind("cancel_request")):
        named, value = str(row.value.get("component") or ""), row.value
        by = str(value.get("by") or value.get("who") or "")
        if row.seq <= record.amended:
            continue
        if row.kind == "drain_request" and named in ("", component.name):
            found.append(_said("drained", by, row.reason))
        elif row.kind == "cancel_request" and value.get("all"):
            found.append(_said("cancelled", by, row.reason))
    return found


def _said(what: str, by: str, why: str) -> str:
    return what + (f" by {by}" if by else "") + (f" ({why})" if why else "")
