"""The seals of a record: their outcome, who made them and for which party, and later events, to warn a holder of an older page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from shakedown.metrics.judging.people import Act, acts_of
from shakedown.metrics.rows.rows import SealRow
from shakedown.metrics.rows.table import Record
from shakedown.metrics.words import plural
from shakedown.model.nouns import Party
from shakedown.model.speakers import party_of
from shakedown.report.words import show_time

_MOST_ACTS = 6  # acts that are named


class SealSeen(Struct, frozen=True):
    """A valid seal. ``events``: the seal covers events 1 to this one, its own event; ``party``: the party of ``by`` according to
    the plan, "" where the plan names none or gives that party keys; ``newest``: no later seal exists; ``closes``: every party
    agreed to it, and the record is judged up to it.
    """

    digest: str
    outcome: str
    by: str
    party: str
    sealed: float
    events: int
    newest: bool
    closes: bool = False

    @property
    def words(self) -> str:
        who = f"{self.by or 'somebody'}{f' for {self.party}' if self.party else ''}"
        place = "the newest seal" if self.newest else "an older seal"
        place += ", to which every party agreed" if self.closes else ""
        when = f"{show_time(self.sealed)} UTC"
        return f"{self.outcome or 'no outcome'}, sealed by {who} on {when}, events 1 to {self.events}: {place}"


def seals_seen(
    record: Record, holding: Sequence[str], parties_of: Mapping[str, Sequence[Party]], closed: int = 0
) -> list[SealSeen]:
    """Purpose: the valid seals that the log names, the oldest first. ``holding``: digests of the valid seals; ``parties_of``:
    digest of a seal -> the parties when it was made; ``closed``: event of the seal up to which the record is judged, 0 for none.
    """
    rows = [row for row in record.seals if row.digest in holding]
    return [_seen(row, parties_of.get(row.digest, ()), row is rows[-1], row.seq == closed) for row in rows]


def _seen(row: SealRow, parties: Sequence[Party], newest: bool, closes: bool) -> SealSeen:
    party = party_of(parties, row.by)
    side = (
        party.name if party is not None and not party.keys else ""
    )  # a party with keys signs with a key: see the signatures
    return SealSeen(row.digest, row.outcome, row.by, side, row.time, row.seq, newest=newest, closes=closes)


def sealed_right_after(record: Record, seals: Sequence[SealSeen], event: int) -> SealSeen | None:
    """Purpose: the seal that counts for the holder of a page that shows events up to ``event``, where it covers the page and all
    events in between are seals; None where it does not.
    """
    seal = _that_counts(seals)
    if seal is None or seal.events <= event:
        return None
    between = [row for row in record.seals if event < row.seq <= seal.events]
    return seal if len(between) == seal.events - event else None


def newer_than(record: Record, seals: Sequence[SealSeen], event: int) -> str:
    """Purpose: a warning for the holder of a page that shows events up to ``event``: the newest seal, and the acts after
    ``event``; "" where no seal is newer, or all events in between are seals. After a seal to which every party agreed no other one
    makes a page old.
    """
    seal = _that_counts(seals)
    if seal is None or seal.events <= event or sealed_right_after(record, seals, event) is not None:
        return ""
    return _stands(record, event, seal)


def without_effect_after(record: Record, seals: Sequence[SealSeen], event: int) -> list[str]:
    """Purpose: a sentence on the newest seal, where it came after one to which every party agreed and after a page that shows
    events up to ``event``; [] where there is none.
    """
    seal = _that_counts(seals)
    if seal is None or seal.newest or seals[-1].events <= event:
        return []
    return [
        f"{_stands(record, event, seals[-1])}; it has no effect, for every party agreed to the seal (event {seal.events})"
    ]


def _that_counts(seals: Sequence[SealSeen]) -> SealSeen | None:
    """The seal to which every party agreed, else the newest one."""
    return next((seal for seal in seals if seal.closes), seals[-1] if seals else None)


def _stands(record: Record, event: int, seal: SealSeen) -> str:
    who = f"{seal.by or 'somebody'}{f' for {seal.party}' if seal.party else ''}"
    acts = [act for act in acts_of(record) if event < act.number and (seal.newest or act.number < seal.events)]
    came = "; ".join(_act(act) for act in acts[:_MOST_ACTS]) or "no act of a person"
    more = f"; and {len(acts) - _MOST_ACTS} more" if len(acts) > _MOST_ACTS else ""
    between = plural(seal.events - event, "event")
    return (
        f"a newer seal stands: outcome {seal.outcome}, sealed by {who} on {show_time(seal.sealed)} UTC "
        f"({seal.digest[:16]}, {between} later); what came after: {came}{more}"
    )


def _act(act: Act) -> str:
    because = f": {act.because}" if act.because else ""
    return f"event {act.number}: {act.by or 'somebody'} {act.what}{because}"


def under_no_seal(record: Record, seals: Sequence[SealSeen]) -> list[str]:
    """Purpose: a sentence on acts of people after the newest seal, which the signed page does not show; [] where there are none."""
    acts = [act for act in acts_of(record) if seals and act.number > seals[-1].events]
    if not acts:
        return []
    more = f"; and {len(acts) - _MOST_ACTS} more" if len(acts) > _MOST_ACTS else ""
    return [
        f"{plural(len(acts), 'act')} after the newest seal: " + "; ".join(_act(act) for act in acts[:_MOST_ACTS]) + more
    ]
