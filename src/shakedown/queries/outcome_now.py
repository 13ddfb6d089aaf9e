"""The outcome of a campaign for its record so far, in the words of the scorecard and of the page: ``outcome_now``.

The result is kept beside the record until an event is added. For a long campaign that goes on, or was amended, it is not recomputed
for every command: the reply says where to find it. For a campaign that is over it is computed once.
"""

from __future__ import annotations

from contextlib import suppress

from msgspec import Struct

from shakedown.conductor.record.documents import Documents
from shakedown.conductor.workers.settling import settle_campaign
from shakedown.metrics.judging.scorecard import exit_status
from shakedown.model.errors import RecordError
from shakedown.queries.folds import Folds

LONG = 20_000  # events: of a longer campaign that goes on it is not worked out at each look
ELSEWHERE = "not worked out at each look at so long a campaign; it is said by: shakedown acts {campaign}"


class OutcomeNow(Struct, frozen=True):
    """``outcome``: the word, "" where it was not computed; ``summary``: the sentence on the whole; ``exit_status``: that of
    ``report``.
    """

    outcome: str
    summary: str
    exit_status: int


def outcome_now(folds: Folds) -> OutcomeNow | None:
    """Purpose: the outcome after the last event; None for a campaign that has not begun, or whose plans cannot be read (``verify``
    says why).
    """
    record = folds.record()
    if not record.document:
        return None
    lasting = not record.amended  # else kept outputs may decide, which somebody can remove
    if record.seq > LONG and not (record.ended is not None and lasting and folds.keeps):
        known = folds.kept_answer("outcome", OutcomeNow) if lasting else None
        return known or OutcomeNow("", ELSEWHERE.format(campaign=record.campaign), 4)
    with suppress(RecordError):
        return folds.answer("outcome", OutcomeNow, lambda: _settled(folds)) if lasting else _settled(folds)
    return None


def _settled(folds: Folds) -> OutcomeNow:
    record = folds.whole_record()
    card = settle_campaign(folds.layout, Documents(folds.layout)(record.document), record)
    return OutcomeNow(card.outcome, card.summary, exit_status(card))
