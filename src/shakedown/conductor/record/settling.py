"""Settling a campaign on disk from its log alone: the scorecard with all acts, with signatures under agreements checked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import takewhile

from shakedown.conductor.record.documents import Documents
from shakedown.events.agreements import agreed_text, who_signed
from shakedown.events.reader import read_events
from shakedown.events.seals import read_seal, seals_of
from shakedown.metrics.judging.closed import sealed_record, until
from shakedown.metrics.judging.consent import Consent, Signed, weigh
from shakedown.metrics.judging.from_outputs import Evaluate
from shakedown.metrics.judging.in_effect import in_effect
from shakedown.metrics.judging.people import acts_of
from shakedown.metrics.judging.scorecard import Scorecard
from shakedown.metrics.judging.settlement import settle
from shakedown.metrics.rows.table import Record, fold_runs
from shakedown.model.events import Event
from shakedown.model.layout import Layout
from shakedown.model.nouns import Document, Party


def settle_log(layout: Layout, document: Document, record: Record, evaluate: Evaluate | None = None) -> Scorecard:
    """Purpose: the scorecard of a campaign, with what it would be without each act of people, and who agreed to them. ``evaluate``:
    judges runs by another plan from their kept outputs; without it, that is not known.
    """

    reread = _reread(layout, record)
    return settle(document, record, Documents(layout), reread, signatures_under(record), evaluate)


def as_judged(layout: Layout, document: Document, record: Record, seal: int = 0) -> tuple[Document, Record]:
    """Purpose: the plan that a campaign is judged by, and its record without the acts that have no effect, with the plans that were
    in force beside it. ``document``: the newest plan; ``seal``: that of ``as_sealed``, where the record is one up to a seal.
    Errors: RecordError where a plan is missing.
    """
    reread = _reread(layout, record, seal)
    return in_effect(document, record, Documents(layout), reread, signatures_under(record))


def as_sealed(layout: Layout, record: Record) -> tuple[Document, Record, int] | None:
    """Purpose: the plan and the record up to the seal that every party agreed to, and that seal, where what came after it does not
    count; None where the whole record is judged. Errors: RecordError where a plan is missing.
    """
    if not (record.seals and record.agreements):
        return None
    consent = consent_of(layout, record)
    before = sealed_record(record, consent, _reread(layout, record))
    if before is None:
        return None
    documents = Documents(layout)
    before.plans = {digest: documents(digest) for digest in before.documents if digest}
    return documents(before.document), before, consent.closed


def _reread(layout: Layout, record: Record, seal: int = 0) -> Callable[[], Iterator[Event]]:
    """Reads the events of a record again; a campaign may go on meanwhile. ``seal``: only those up to it that are judged."""

    def reread() -> Iterator[Event]:
        events = takewhile(lambda event: event.seq <= record.seq, read_events(layout.log))
        return until(seal, events) if seal else events

    return reread


def consent_of(layout: Layout, record: Record) -> Consent:
    """Purpose: who agreed to what, as far as the record says."""
    return weigh(record, acts_of(record), Documents(layout), signatures_under(record))


def signatures_under(record: Record) -> Mapping[int, Signed]:
    """Purpose: number of an agreement -> the result of checking its signature, which must be under the very words in the record."""
    found = {}
    for row in record.agreements:
        if row.signature:
            text = agreed_text(record.identity, row.acts, row.by, row.reason, row.at)
            found[row.seq] = Signed(*who_signed(text, row.signature))
    return found


def parties_at(layout: Layout, through: int | None = None) -> tuple[Party, ...]:
    """Purpose: the parties that count, now or at the event ``through``. An amendment of parties or keys counts once everybody
    concerned has agreed.
    """
    record = fold_runs(event for event in read_events(layout.log) if through is None or event.seq <= through)
    return consent_of(layout, record).parties if record.document else ()


def parties_of_seals(layout: Layout, digests: Collection[str]) -> Mapping[str, tuple[Party, ...]]:
    """Purpose: digest of a seal -> the parties that counted when it was made. A key of that time signs for its party, whatever keys
    come later. Errors: RecordError.
    """
    record = fold_runs(read_events(layout.log))
    documents = Documents(layout)
    named = {documents(digest).parties for digest in record.documents if digest}
    if len(named) <= 1:
        return dict.fromkeys(digests, next(iter(named), ()))
    return {digest: parties_at(layout, read_seal(seals_of(layout) / f"{digest}.json").through) for digest in digests}


def plan_in_effect(layout: Layout, record: Record) -> Document:
    """Purpose: the plan that the campaign is judged by: the newest one, without amendments that lack a required consent."""
    return Documents(layout)(record.documents[amendment_in_effect(record, consent_of(layout, record).void)])


def amendment_in_effect(record: Record, void: Collection[int]) -> int:
    """Purpose: the index in ``record.documents`` of the newest plan whose amendment is not in ``void``."""
    amended = [act.number for act in acts_of(record) if act.kind == "amend"]
    return max((place for place, number in enumerate(amended, 1) if number not in void), default=0)
