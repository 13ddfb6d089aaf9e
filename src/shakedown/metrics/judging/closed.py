"""A campaign whose outcome every party closed by agreeing to its seal: what came after it decides nothing, and stands beside it.

``closed_at`` says which seal that is; what is judged then is the record up to it, ``sealed_record``. Once an act of later has every
party's agreement, the whole record is judged again, without what lacks one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec.structs import replace

from shakedown.metrics.judging.consent import Consent
from shakedown.metrics.judging.people import Act
from shakedown.metrics.judging.scorecard import ActScore, AfterSeal, Scorecard
from shakedown.metrics.judging.settled_words import NO_EFFECT, late_words, reopened_words, void_words
from shakedown.metrics.rows.table import Record, fold_runs
from shakedown.model.events import Event

_GOES_ON = frozenset(
    {"submit_order", "requeued", "retry", "amended", "again"}
)  # a campaign that was over has work again


def closed_at(consent: Consent) -> int:
    """Purpose: the seal up to which a record is judged, or 0: it is not closed, or every party agreed to something after it."""
    return 0 if consent.reopening else consent.closed


def until(seal: int, events: Iterable[Event]) -> Iterator[Event]:
    """Purpose: the events that are judged: those up to the seal, and who agreed later to what was done before it. Where the record
    does not say yet that the campaign is over, so does the end that comes next.
    """
    over = False
    for event in events:
        ends = event.event == "campaign_end"
        if event.seq <= seal:
            over = ends or (over and event.event not in _GOES_ON)
        if event.seq <= seal or event.event == "agreed" or (ends and not over):
            over = over or ends
            yield event


def sealed_record(record: Record, consent: Consent, reread: Callable[[], Iterable[Event]]) -> Record | None:
    """Purpose: the record up to the seal that every party agreed to; None where the whole record is judged."""
    seal = closed_at(consent)
    before = fold_runs(until(seal, reread())) if seal else None
    return before if before is not None and before.events < record.events else None


def with_later(card: Scorecard, acts: Sequence[Act], consent: Consent, before: Record, whole: Record) -> Scorecard:
    """Purpose: the scorecard of the sealed record ``before`` with what came after it in the ``whole`` one, which has no effect."""
    known = {act.number for act in card.acts}
    late = tuple(_without_effect(act, consent, card.outcome) for act in acts if act.number not in known)
    every = tuple(sorted((*card.acts, *late), key=lambda act: act.number))
    after = _after(consent.closed, before, whole, len(late))
    what = f"the record up to the seal (event {consent.closed}) is judged, to which every party agreed; after it came {after.words}"
    summary = card.summary + late_words(after.words, after.is_one, consent.closed)
    return replace(
        card, acts=every, remarks=(*card.remarks, what, *void_words(late, ())), summary=summary, after_seal=after
    )


def with_reopening(card: Scorecard, consent: Consent) -> Scorecard:
    """Purpose: the scorecard of a whole record; it says by which acts a record that a seal had closed was opened again."""
    words = reopened_words(consent.reopening, consent.closed)
    return replace(card, remarks=(*card.remarks, words)) if words else card


def _after(seal: int, before: Record, whole: Record, acts: int) -> AfterSeal:
    later = [row for row in whole.current() if row.seq > seal]
    again = sum(before.row_of(row.run) is not None for row in later)
    ordered = sum(row.seq > seal for row in whole.open.values())
    return AfterSeal(
        seal=seal,
        through=whole.seq,
        events=whole.events - before.events,
        runs=len(later) - again + ordered,
        again=again,
        findings=sum(note.seq > seal for note in whole.of_kind("finding")),
        acts=acts,
        seals=sum(row.seq > seal for row in whole.seals),
    )


def _without_effect(act: Act, consent: Consent, outcome: str) -> ActScore:
    return ActScore(
        number=act.number,
        kind=act.kind,
        what=act.what,
        by=act.by,
        said=act.said,
        because=act.because,
        without=outcome,
        component=act.component,
        as_of=act.as_of,
        backdated=act.backdated,
        party=consent.party.get(act.number, ""),
        standing=NO_EFFECT,
        missing=consent.missing.get(act.number, ()),
        digest=act.digest,
    )
