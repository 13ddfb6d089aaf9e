"""A campaign whose outcome every party closed by agreeing to its seal: what came after it decides nothing, and stands beside it.

``closed_at`` says which seal that is; what is judged then is the record up to it. Once an act of later has every party's agreement,
the whole record is judged again, without what lacks one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from shakedown.metrics.judging.consent import NEVER, Consent
from shakedown.metrics.judging.people import Act
from shakedown.metrics.judging.scorecard import ActScore, Scorecard
from shakedown.metrics.judging.settled_words import NO_EFFECT, late_words, void_words
from shakedown.metrics.words import plural
from shakedown.model.events import Event

_KEPT = frozenset({"agreed", "campaign_end"})  # who agrees later to what was done before; and that it is over


def closed_at(consent: Consent, acts: Iterable[Act]) -> int:
    """Purpose: the seal up to which a record is judged, or 0: it is not closed, or every party agreed to something after it."""
    later = [act for act in acts if act.number > consent.closed and act.kind not in NEVER]
    return consent.closed if all(consent.missing.get(act.number) for act in later) else 0


def until(seal: int, events: Iterable[Event]) -> Iterator[Event]:
    """Purpose: the events that are judged."""
    return (event for event in events if event.seq <= seal or event.event in _KEPT)


def with_later(card: Scorecard, acts: Sequence[Act], consent: Consent, events: int) -> Scorecard:
    """Purpose: the scorecard of the sealed record with what was done after it, which has no effect. ``events``: how many are left
    out of account.
    """
    known = {act.number for act in card.acts}
    late = tuple(_without_effect(act, consent, card.outcome) for act in acts if act.number not in known)
    every = tuple(sorted((*card.acts, *late), key=lambda act: act.number))
    came = f"{plural(events, 'event')} came after it" + (f", {len(late)} of them what people did" if late else "")
    what = f"the record up to the seal (event {consent.closed}) is judged, to which every party agreed: {came}"
    remarks = (*card.remarks, what, *void_words(late, ()))
    words = late_words([act.number for act in late], consent.closed)
    return replace(card, acts=every, remarks=remarks, summary=card.summary + words)


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
