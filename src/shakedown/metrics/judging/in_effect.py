"""A campaign as it is judged: the plan and the record without the acts that lack a required consent and so have no effect."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from shakedown.metrics.judging.consent import Signed
from shakedown.metrics.judging.ends import Ends
from shakedown.metrics.judging.from_outputs import Answers
from shakedown.metrics.judging.late_orders import times_up
from shakedown.metrics.judging.people import acts_of, known_agains
from shakedown.metrics.judging.quiet import without_effect
from shakedown.metrics.judging.what_if import Documents, WhatIf, plans_of
from shakedown.metrics.judging.without import Variants
from shakedown.metrics.rows.table import Record
from shakedown.model.events import Event
from shakedown.model.nouns import Document


def in_effect(
    document: Document,
    record: Record,
    document_of: Documents,
    reread: Callable[[], Iterable[Event]],
    signatures: Mapping[int, Signed] | None = None,
) -> tuple[Document, Record]:
    """Purpose: the plan that a campaign is judged by, and its record, with the plans that were in force attached. ``document``: the
    newest plan; the other arguments are those of ``settle``. If no plan asks for consent, the result is the newest plan and the
    record.

    Errors: those of ``document_of``, where a plan is missing.
    """
    plans = plans_of(record, document_of)
    if any(plan.consent for plan in plans.values()) or (record.seals and record.agreements):
        acts = without_effect(known_agains(acts_of(record), document), record)
        variants = Variants(record, acts, reread, Ends(record, acts, document_of, times_up(record, document_of)))
        what_if = WhatIf(document, record, document_of, variants, acts, signatures or {}, Answers(None))
        document, record = what_if.as_judged()
    record.plans = plans
    return document, record
