"""Who agreed to what: which acts all parties accept, which are one-sided, and which agreements do not count.

Start reading at ``weigh``. Where a plan lists keys for a party, only a signature by one of them counts as that party's
agreement, because anybody who can write to a campaign can write any name. Where it lists names alone, the name is accepted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from msgspec import Struct

from shakedown.metrics.judging.people import Act
from shakedown.metrics.rows.rows import AgreementRow
from shakedown.metrics.rows.table import Record
from shakedown.model.nouns import Document, Party
from shakedown.model.speakers import names_another, party_of, party_of_key

NEVER = frozenset({"agree"})  # kinds of acts that need no agreement: an agreement itself
SETTLED = frozenset({"accepted", "accepted with restrictions", "rejected"})  # outcomes that can close a campaign


class Signed(Struct, frozen=True):
    """The result of checking a signature. ``key``: the key (type and key) that signed what the record says, "" if the signature
    does not hold; ``why``: the reason then. ``fingerprint``: of the key, as ssh-keygen shows it.
    """

    key: str = ""
    fingerprint: str = ""
    why: str = ""


class Agreement(Struct, frozen=True):
    """An agreement that counts: the person, the party, the time, the event, and the key's fingerprint ("" if by name)."""

    party: str
    by: str
    time: float
    event: int
    fingerprint: str = ""


class Consent(Struct, frozen=True):
    """What was agreed. ``agreed``: act -> the agreements to it that count. ``party``: act -> the party of the person who did it, ""
    if neither. ``missing``: act -> the parties that have not agreed; () if all have. ``void``: acts without effect until all have
    agreed. ``told``: sentences on agreements, and on changes of keys, that do not count. ``counted``: agreement -> the party it
    speaks for. ``joint``: the seals of an outcome that every party agreed to; acts after the first of them need the agreement of
    all. ``closed``: the one of them up to which the record is judged, 0 without one; ``reopening``: the acts to which every party
    agreed after it.
    """

    parties: tuple[Party, ...] = ()
    agreed: Mapping[int, tuple[Agreement, ...]] = {}
    party: Mapping[int, str] = {}
    missing: Mapping[int, tuple[str, ...]] = {}
    void: frozenset[int] = frozenset()
    told: tuple[str, ...] = ()
    counted: Mapping[int, str] = {}
    joint: tuple[int, ...] = ()
    closed: int = 0
    reopening: tuple[int, ...] = ()

    def worth(self, event: int) -> tuple[str, ...]:
        """Whether an agreement counts and for which party, in words; () if it is no agreement."""
        said = self.counted.get(event)
        return (said,) if said else ()


def weigh(
    record: Record,
    acts: Sequence[Act],
    document_of: Callable[[str], Document],
    signatures: Mapping[int, Signed],
    spared: int = 0,
) -> Consent:
    """Purpose: what was agreed. ``signatures``: event of an agreement -> the result of checking its signature; ``spared``: an
    agreement to ignore.
    """
    terms = _Terms(record, acts, document_of, signatures, spared)
    if not terms.named:
        return Consent(told=tuple(_without_parties(record)))
    party, missing, agreed, void = {}, {}, {}, set()
    for act in acts:
        if act.kind in NEVER:
            continue
        mine = terms.of(act)
        party[act.number], agreed[act.number] = terms.side(act), mine
        missing[act.number] = terms.lacks(act, mine)
        if missing[act.number] and (act.kind in terms.consent_at(act) or terms.sealed_before(act.number)):
            void.add(act.number)
    told, closed = tuple(terms.told), terms.closed
    again = tuple(act.number for act in acts if act.kind not in NEVER and terms.opens_again(act))
    return Consent(
        terms.parties, agreed, party, missing, frozenset(void), told, terms.worth, terms.joint, closed, again
    )


def acts_between(acts: Iterable[Act], seal: int, until: int) -> list[int]:
    """Purpose: acts between a seal and an event, other than agreements: because of them, the seal no longer covers the campaign."""
    return sorted(act.number for act in acts if seal < act.number < until and act.kind not in NEVER)


def _without_parties(record: Record) -> list[str]:
    return [
        f"event {row.seq}: {row.by or 'somebody'} agreed, and the plan names no parties: it counts for nothing"
        for row in record.agreements
    ]


class _Terms:
    """The parties and the required consent, as amendments change them: only with the agreement of the parties before the change."""

    def __init__(
        self,
        record: Record,
        acts: Sequence[Act],
        document_of: Callable[[str], Document],
        signatures: Mapping[int, Signed],
        spared: int,
    ) -> None:
        self.acts, self.signatures = {act.number: act for act in acts}, signatures
        self.seals = {row.seq: row for row in record.seals}
        self.told: list[str] = []
        self.counted: dict[int, list[Agreement]] = {}
        self.worth: dict[int, str] = {}
        documents = [document_of(digest) for digest in record.documents if digest]
        first = documents[0] if documents else None
        self.parties = first.parties if first is not None else ()
        self.named = any(document.parties for document in documents)
        named = next((document.parties for document in documents if document.parties), ())
        self._since: list[tuple[int, tuple[Party, ...]]] = [(0, named)]  # event -> the parties that count from then on
        self.consent: list[tuple[int, tuple[str, ...]]] = [(0, first.consent if first is not None else ())]
        self._rows = [row for row in record.agreements if row.seq != spared]
        self._ends = {row.seq: row.by for row in record.acts if row.event == "continued"}  # ends of pauses -> by whom
        self._strange: list[tuple[AgreementRow, int]] = []  # agreements to what is no act before them
        self._open: dict[int, Document] = {}  # amendments whose parties are not in force yet
        amendments = iter(documents[1:])
        changes = {row.seq: next(amendments, None) for row in record.acts if row.event == "amended"}
        for number in sorted([*changes, *(row.seq for row in self._rows)]):
            document = changes.get(number)
            if document is not None:
                self._amended(number, document)
            else:
                for row in self._rows:
                    if row.seq == number:
                        self._take(row)
        self.told += [f"event {number}: {self._waits(document)}" for number, document in self._open.items()]
        self.joint = tuple(number for number in self.seals if self._closes(number))
        self.closed = 0
        for seal in self.joint:
            if not self.closed or any(self.opens_again(act, seal) for act in acts if act.kind not in NEVER):
                self.closed = seal  # else it only says again what the one before closed
        for row, number in self._strange:
            if not 0 < self.closed < number < row.seq:  # acts after that seal may be left out of this record
                self._nothing(row, f"there is no act {number} before it")

    def _closes(self, number: int) -> bool:
        """Whether every party of then agreed to a seal whose outcome can close a campaign. The party that made the seal, by name,
        agrees to it.
        """
        agreed, parties = {said.party for said in self.counted.get(number, ())}, self._at(number)
        made = party_of(parties, self.seals[number].by)
        agreed |= {made.name} if made is not None and not made.keys else set()
        return self.seals[number].outcome in SETTLED and agreed >= {party.name for party in parties}

    # ---- amendments --------------------------------------------------------------------------------------------------------

    def _amended(self, number: int, document: Document) -> None:
        """Note an amendment that changes the parties or the required consent; no party can change these alone."""
        if not self.parties:
            self.parties = document.parties
            self.consent.append((number, document.consent))
        elif document.parties != self.parties or set(document.consent) != set(self.consent[-1][1]):
            self._open[number] = document

    def _waits(self, document: Document) -> str:
        """Why an amendment's changes of the parties or the consent do not count yet."""
        if document.parties == self.parties:
            return (
                "the amendment asks for consent to other kinds of acts, and not every party has agreed to it: what was asked for"
                " before counts"
            )
        return (
            "the amendment gives the parties other names or keys, and those that were named before have not agreed to it: those"
            " from before count"
        )

    def _adopt(self) -> None:
        """Put amendments of the parties or the consent in force once all parties that they concern have agreed."""
        for number, document in list(self._open.items()):
            new = {party.name: party for party in document.parties}
            concerned = {party.name for party in self.parties if new.get(party.name) != party}
            other = set(self.consent[-1][1]) != set(document.consent)
            if other or not concerned or set(new) - {party.name for party in self.parties}:
                concerned = {party.name for party in self.parties}
            if concerned <= {agreement.party for agreement in self.counted.get(number, ())}:
                self.parties = document.parties
                self._since.append((self._now, document.parties))
                self.consent.append((self._now, document.consent))
                del self._open[number]

    def _at(self, event: int) -> tuple[Party, ...]:
        """The parties that counted at an event. Those of before have spoken, whoever speaks for them later."""
        return next(parties for since, parties in reversed(self._since) if since < event)

    # ---- agreements --------------------------------------------------------------------------------------------------------

    def _take(self, row: AgreementRow) -> None:
        """Count an agreement for each act that it names, or note why it does not count."""
        self._now = row.seq
        party, fingerprint, why = self._party_of(row)
        for number, digest in row.acts if not why else ():
            act = self.seals.get(number) or self.acts.get(number)
            if act is None or number >= row.seq or (isinstance(act, Act) and act.kind in NEVER):
                self._strange.append((row, number))
            elif number in self.seals and (since := acts_between(self.acts.values(), number, row.seq)):
                self._nothing(row, f"event {since[0]} came between that seal and it; seal it again")
            elif act.digest != digest:
                self._nothing(row, f"what it agrees to is not what event {number} of this campaign says")
            else:
                said = Agreement(party, row.by, row.time, row.seq, fingerprint)
                self.counted.setdefault(number, []).append(said)
                self.worth[row.seq] = f"counts for {party}" + (
                    f", with the key {fingerprint}" if fingerprint else ", by name"
                )
        if why:
            self._nothing(row, why)
        elif not row.acts:
            self._nothing(row, "it names no act")
        self._adopt()

    def _nothing(self, row: AgreementRow, why: str) -> None:
        self.worth.setdefault(row.seq, f"counts for nothing: {why}")
        self.told.append(f"event {row.seq}: the agreement by {row.by or 'somebody'} counts for nothing: {why}")

    def _party_of(self, row: AgreementRow) -> tuple[str, str, str]:
        """(party that an agreement speaks for, fingerprint of its key, why it does not count)."""
        if row.signature:
            signed = self.signatures.get(row.seq, Signed(why="its signature was not checked"))
            if not signed.key:
                return "", "", signed.why or "the signature does not hold"
            found = party_of_key(self.parties, signed.key)
            why = names_another(self.parties, row.by, found) if found else "its key is of neither party"
            return ("", "", why) if why else (found, signed.fingerprint, "")
        name = self._named(row.by, row.seq)
        if not name:
            return "", "", f"the plan names no party that {row.by or 'nobody'} speaks for"
        if any(party.keys for party in self.parties if party.name == name):
            return "", "", f"it is not signed, and the plan gives {name} keys"
        return name, "", ""

    def _named(self, by: str, event: int) -> str:
        party = party_of(self._at(event), by)
        return party.name if party is not None else ""

    # ---- acts ----------------------------------------------------------------------------------------------------------------

    def of(self, act: Act) -> tuple[Agreement, ...]:
        """The first agreement of each party that covers the whole act."""
        first: dict[str, Agreement] = {}
        for agreement in self.counted.get(act.number, ()):
            if not self._ended_after(act, agreement) and not self._came_late(act, agreement):
                first.setdefault(agreement.party, agreement)
        return tuple(first.values())

    def sealed_before(self, number: int) -> bool:
        """Whether a seal that every party agreed to came before an event."""
        return bool(self.joint) and self.joint[0] < number

    def opens_again(self, act: Act, until: float = math.inf) -> bool:
        """Whether every party agreed to an act after the seal that closed the campaign. ``until``: before that event."""
        if not 0 < self.closed < until or act.number > until:
            return False
        said = [one for one in self.counted.get(act.number, ()) if self.closed < one.event < until]
        if act.number > self.closed:
            counts = (one for one in said if not self._is_cut_off(act, one) and not self._late_after(act, one))
            return not self.lacks(act, [*counts])
        return self._is_all({one.party for one in said})

    def _is_all(self, parties: Collection[str]) -> bool:
        return set(parties) >= {party.name for party in self.parties}

    def _late_after(self, act: Act, agreement: Agreement) -> int:
        """The seal that every party agreed to between an act and an agreement to it that not every party gave then, 0 for none: one
        party cannot take up alone what that seal had left without effect.
        """
        seal = next((seal for seal in self.joint if act.number < seal), 0)
        if not 0 < seal < agreement.event:
            return 0
        return 0 if self._is_all({one.party for one in self.counted[act.number] if one.event > seal}) else seal

    def _came_late(self, act: Act, agreement: Agreement) -> bool:
        """Whether there is such a seal; it is told."""
        seal = self._late_after(act, agreement)
        if seal:
            self.told.append(
                f"event {agreement.event}: the agreement by {agreement.by or 'somebody'} to event {act.number} came after the seal"
                f" (event {seal}) that every party agreed to, and has no effect until all agree to it after that seal"
            )
        return bool(seal)

    def _ended_after(self, act: Act, agreement: Agreement) -> bool:
        """Whether a pause was still open when it was agreed to, and another side ended it later: the agreement then does not cover
        the pause's length, or the effect of its end on a clock.
        """
        late = self._is_cut_off(act, agreement)
        if late:
            later = [number for number in act.events if number in self._ends and number > agreement.event]
            self.told.append(
                f"event {agreement.event}: the agreement by {agreement.by or 'somebody'} to event {act.number} was given while the"
                f" pause was open, and does not stand for its end (event {later[-1]})"
            )
        return late

    def _is_cut_off(self, act: Act, agreement: Agreement) -> bool:
        later = [number for number in act.events if number in self._ends and number > agreement.event]
        return any(self._named(self._ends[number], number) != agreement.party for number in later)

    def side(self, act: Act) -> str:
        """The party for which an act was done, by the names that counted then."""
        return self._named(act.by, act.number)

    def lacks(self, act: Act, agreed: Sequence[Agreement]) -> tuple[str, ...]:
        """The parties that have not agreed. The party of the person who did the act agrees to it, if that party has no keys."""
        said = {agreement.party for agreement in agreed}
        said |= {party.name for party in self._at(act.number) if party.name == self.side(act) and not party.keys}
        return tuple(party.name for party in self.parties if party.name not in said)

    def consent_at(self, act: Act) -> tuple[str, ...]:
        """The kinds of acts that needed consent just before the act: an amendment cannot exempt itself."""
        return next(kinds for since, kinds in reversed(self.consent) if since < act.number)
