"""A campaign that had ended, was amended, and has the plan again by which it had ended: nothing is left to do by it."""

from __future__ import annotations

from shakedown.metrics.judging.people import ENDS_EARLY
from shakedown.metrics.judging.populations import populations
from shakedown.metrics.judging.without import copied
from shakedown.metrics.rows.table import Record
from shakedown.model.nouns import Document


def as_it_ended(document: Document, record: Record) -> Record:
    """Purpose: the record as it had ended, where amendments after its end put the very plan back, nothing was ordered meanwhile and
    no result is to come; else the record itself. Nobody has to resume it before it is judged.
    """
    over = record.over
    if record.ended is not None or over is None or over.document != record.document:
        return record
    if any(row.kind in ENDS_EARLY for row in record.acts):
        return record  # an amendment takes up again what was drained or cancelled
    again = copied(record)
    again.ended, again.unavailable, again.time_up = over.ended, over.unavailable.copy(), over.time_up.copy()
    left = any(one.to_come - one.cut_off for one in populations(document, again).values())
    return record if left else again
