"""Who agreed to what: which acts all parties stand by, which are one-sided, and which agreements count for nothing.

``weigh`` is the table of contents. Where a plan gives a party keys, only a signature by one of them is that party's word: whoever
may write to a campaign can write any name. Where it gives names alone, the name is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

from shakedown.metrics.judging.people import Act
from shakedown.metrics.rows.rows import AgreementRow
from shakedown.metrics.rows.table import Record
from shakedown.model.nouns import Document, Party
from shakedown.model.speakers import names_another, party_of, party_of_key

NEVER = frozenset({"agree"})  # an agreement needs none itself
SETTLED = frozenset({"accepted", "accepted with restrictions", "rejected"})  # outcomes that parties can stay with


class Signed(Struct, frozen=True):
    """What a signature under an agreement is worth: ``key`` (type and key) that really signed what the record says, "" where none
    did, and then ``why``. ``fingerprint``: of the key, as ssh-keygen shows it.
    """

    key: str = ""
    fingerprint: str = ""
    why: str = ""


class Agreement(Struct, frozen=True):
    """An agreement that counts: by whom, for which party, when, and with which key ("" where by name)."""

    party: str
    by: str
    time: float
    event: int
    fingerprint: str = ""


class Consent(Struct, frozen=True):
    """``agreed``: act -> the agreements to it that count. ``party``: act -> the party of who did it, "" where that is neither.
    ``missing``: act -> the parties whose word is missing; () where all agreed. ``void``: acts that have no effect until they did.
    ``told``: agreements, and changes of keys, that count for nothing, in sentences. ``counted``: agreement -> whom it speaks for.
    ``closed``: the last seal of an outcome that every party agreed to, 0 without one: what came after it needs all of them.
    """

    parties: tuple[Party, ...] = ()
    agreed: Mapping[int, tuple[Agreement, ...]] = {}
    party: Mapping[int, str] = {}
    missing: Mapping[int, tuple[str, ...]] = {}
    void: frozenset[int] = frozenset()
    told: tuple[str, ...] = ()
    counted: Mapping[int, str] = {}
    closed: int = 0

    def worth(self, event: int) -> tuple[str, ...]:
        """What an agreement is worth, in words; () of what is none."""
        said = self.counted.get(event)
        return (said,) if said else ()


def weigh(
    record: Record,
    acts: Sequence[Act],
    document_of: Callable[[str], Document],
    signatures: Mapping[int, Signed],
    spared: int = 0,
) -> Consent:
    """Purpose: what was agreed. ``signatures``: event of an agreement -> what its signature is worth; ``spared``: an agreement that
    is left out of account.
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
        if missing[act.number] and (act.kind in terms.consent_at(act) or 0 < terms.closed < act.number):
            void.add(act.number)
    told, closed = tuple(terms.told), terms.closed
    return Consent(terms.parties, agreed, party, missing, frozenset(void), told, terms.worth, closed)


def acts_between(acts: Iterable[Act], seal: int, until: int) -> list[int]:
    """Purpose: what people did after a seal, other than agree: it is no longer what they would sign."""
    return sorted(act.number for act in acts if seal < act.number < until and act.kind not in NEVER)


def _without_parties(record: Record) -> list[str]:
    return [
        f"event {row.seq}: {row.by or 'somebody'} agreed, and the plan names no parties: it counts for nothing"
        for row in record.agreements
    ]


class _Terms:
    """The parties and the consent that is asked for, as they change with amendments: only by the word of whom they were before."""

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
        self.consent: list[tuple[int, tuple[str, ...]]] = [(0, first.consent if first is not None else ())]
        self._rows = [row for row in record.agreements if row.seq != spared]
        self._ends = {row.seq: row.by for row in record.acts if row.event == "continued"}  # of pauses, by whom
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
        self.closed = max((number for number in self.seals if self._closes(number)), default=0)

    def _closes(self, number: int) -> bool:
        """Whether every party stands by a seal, and its outcome is one to stay with. Who made it stands by it, where by name."""
        agreed = {said.party for said in self.counted.get(number, ())}
        made = party_of(self.parties, self.seals[number].by)
        agreed |= {made.name} if made is not None and not made.keys else set()
        return self.seals[number].outcome in SETTLED and agreed >= {party.name for party in self.parties}

    # ---- amendments --------------------------------------------------------------------------------------------------------

    def _amended(self, number: int, document: Document) -> None:
        """Who the parties are, and what consent is asked for, is no one party's to change."""
        if not self.parties:
            self.parties = document.parties
            self.consent.append((number, document.consent))
        elif document.parties != self.parties or set(document.consent) != set(self.consent[-1][1]):
            self._open[number] = document

    def _waits(self, document: Document) -> str:
        """Why what an amendment says of the parties does not count yet."""
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
        """An amendment that all whom it concerns agreed to changes who they are, and what they are asked for."""
        for number, document in list(self._open.items()):
            new = {party.name: party for party in document.parties}
            concerned = {party.name for party in self.parties if new.get(party.name) != party}
            other = set(self.consent[-1][1]) != set(document.consent)
            if other or not concerned or set(new) - {party.name for party in self.parties}:
                concerned = {party.name for party in self.parties}
            if concerned <= {agreement.party for agreement in self.counted.get(number, ())}:
                self.parties = document.parties
                self.consent.append((self._now, document.consent))
                del self._open[number]

    # ---- agreements --------------------------------------------------------------------------------------------------------

    def _take(self, row: AgreementRow) -> None:
        """Count an agreement for each act that it names, or say why it counts for nothing."""
        self._now = row.seq
        party, fingerprint, why = self._party_of(row)
        for number, digest in row.acts if not why else ():
            act = self.seals.get(number) or self.acts.get(number)
            if act is None or number >= row.seq or (isinstance(act, Act) and act.kind in NEVER):
                self._nothing(row, f"there is no act {number} before it")
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
        """The party that an agreement speaks for, the fingerprint of its key, and why it counts for nothing."""
        if row.signature:
            signed = self.signatures.get(row.seq, Signed(why="its signature was not checked"))
            if not signed.key:
                return "", "", signed.why or "the signature does not hold"
            found = party_of_key(self.parties, signed.key)
            why = names_another(self.parties, row.by, found) if found else "its key is of neither party"
            return ("", "", why) if why else (found, signed.fingerprint, "")
        name = self._named(row.by)
        if not name:
            return "", "", f"the plan names no party that {row.by or 'nobody'} speaks for"
        if any(party.keys for party in self.parties if party.name == name):
            return "", "", f"it is not signed, and the plan gives {name} keys"
        return name, "", ""

    def _named(self, by: str) -> str:
        party = party_of(self.parties, by)
        return party.name if party is not None else ""

    # ---- acts ----------------------------------------------------------------------------------------------------------------

    def of(self, act: Act) -> tuple[Agreement, ...]:
        """The first agreement of each party that stands for all of the act."""
        first: dict[str, Agreement] = {}
        for agreement in self.counted.get(act.number, ()):
            if not self._ended_after(act, agreement):
                first.setdefault(agreement.party, agreement)
        return tuple(first.values())

    def _ended_after(self, act: Act, agreement: Agreement) -> bool:
        """Whether a pause was still open when it was agreed to, and another side ended it: how long it would be, and what its end
        does to a clock, was not agreed to.
        """
        later = [number for number in act.events if number in self._ends and number > agreement.event]
        late = any(self._named(self._ends[number]) != agreement.party for number in later)
        if late:
            self.told.append(
                f"event {agreement.event}: the agreement by {agreement.by or 'somebody'} to event {act.number} was given while the"
                f" pause was open, and does not stand for its end (event {later[-1]})"
            )
        return late

    def side(self, act: Act) -> str:
        return self._named(act.by)

    def lacks(self, act: Act, agreed: Sequence[Agreement]) -> tuple[str, ...]:
        """The parties whose word is missing. Who did it stands by it, where their party has no keys to say so with."""
        said = {agreement.party for agreement in agreed}
        said |= {party.name for party in self.parties if party.name == self.side(act) and not party.keys}
        return tuple(party.name for party in self.parties if party.name not in said)

    def consent_at(self, act: Act) -> tuple[str, ...]:
        """What was asked for just before the act was said: an amendment does not excuse itself."""
        return next(kinds for since, kinds in reversed(self.consent) if since < act.number)
