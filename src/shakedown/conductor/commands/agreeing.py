"""Agreeing to acts of others, and withdrawing one's own: each becomes one event, or a refusal that says why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from shakedown.conductor.commands.refusals import refusal
from shakedown.conductor.driver.conductor import Commands, Conductor
from shakedown.conductor.driver.gates import gates_that_open, rows_of, waivers_of_gates
from shakedown.conductor.record.settling import signatures_under
from shakedown.events.agreements import MOST_ACTS, agreed_text, who_signed
from shakedown.metrics.judging.consent import SETTLED, Signed, acts_between, weigh
from shakedown.metrics.judging.people import Act, acts_of
from shakedown.metrics.rows.table import Record
from shakedown.model.errors import UsageError, there_are
from shakedown.model.events import Event
from shakedown.model.nouns import Document, Party
from shakedown.model.ports import Command
from shakedown.model.speakers import names_another, party_of, party_of_key

CAN_BE_WITHDRAWN = ("waive", "rule")
Pairs = Sequence[tuple[int, str]]


def find_acts(
    record: Record,
    numbers: Sequence[int],
    kinds: Sequence[str] = (),
    campaign: str = "",
    elsewhere: Callable[[int], str] = lambda number: "",
) -> list[Act]:
    """Purpose: the acts with these event numbers, in their order.

    ``kinds``: only these kinds are allowed; without it, all but agreements. ``campaign``: whose record it is, for messages.
    ``elsewhere``: for a number, the way out if another campaign has such an act, or "". Errors: UsageError that lists what there
    is.
    """
    of = f" of {campaign}" if campaign else ""
    acts = {number: act for act in acts_of(record) for number in act.events}
    found = []
    for number in dict.fromkeys(numbers):
        act = acts.get(number)
        if act is None:
            known = [str(one.number) for one in acts_of(record)]
            hint = elsewhere(number) or there_are(known, newest=True, says=f"acts{of} are:" if of else "there are")
            raise UsageError(f"event {number}{of} is no act of a person", hint=hint)
        if (kinds and act.kind not in kinds) or act.kind == "agree":
            what = "withdrawn" if kinds else "agreed to"
            others = f"what can be is: {', '.join(kinds)}" if kinds else "it is an agreement itself"
            raise UsageError(f"event {number}, {act.kind}, cannot be {what}", hint=others)
        found.append(act)
    return list({act.number: act for act in found}.values())


def agreeable(record: Record, numbers: Sequence[int], campaign: str, elsewhere: Callable[[int], str]) -> Pairs:
    """Purpose: for these event numbers, which are of seals or acts, the number and the digest of what is agreed to. Errors: those
    of ``find_acts``.
    """
    seals = {row.seq: row.digest for row in record.seals}
    acts = find_acts(record, [one for one in numbers if one not in seals], campaign=campaign, elsewhere=elsewhere)
    mine = [(one, seals[one]) for one in dict.fromkeys(numbers) if one in seals]
    return [*mine, *((act.number, act.digest) for act in acts)]


def why_not_agree(parties: Sequence[Party], record: Record, pairs: Pairs, by: str, signed: Signed | None) -> str:
    """Purpose: why such an agreement would have no effect; "" where it would. ``parties``: those that count now. ``signed``: None
    where the agreement is not signed.
    """
    if not parties:
        return "the plan in force names no parties; 'parties: {site: [...], vendor: [...]}' in it does"
    digests = {act.number: act.digest for act in acts_of(record)} | {row.seq: row.digest for row in record.seals}
    for number, digest in pairs:
        if digests.get(number) != digest:
            return (
                f"event {number} is no act and no seal of this campaign, or says something else than what was agreed to"
            )
    seals = {row.seq: row.outcome for row in record.seals}
    for number in (one for one, _ in pairs if one in seals):
        if seals[number] not in SETTLED:
            way_out = "agree to the acts that it hangs on, and seal it again"
            return f"the seal of event {number} has the outcome {seals[number]}, which closes nothing: {way_out}"
        since = acts_between(acts_of(record), number, record.seq + 1)
        if since:
            return f"event {since[0]} came after the seal of event {number}, so that nobody agrees to it any more: seal it again"
    if signed is None:
        mine = party_of(parties, by)
        if mine is None:
            known = "; ".join(f"{party.name}: {', '.join(party.people) or 'keys'}" for party in parties)
            return f"{by} speaks for no party of the plan ({known})"
        if mine.keys:
            return f"{by} speaks for {mine.name}, and the plan gives {mine.name} keys: sign it with --sign KEY"
    elif not signed.key:
        return signed.why or "the signature does not hold"
    else:
        found = party_of_key(parties, signed.key)
        if not found:
            return f"the key {signed.fingerprint} is of no party of the plan: an agreement signed with it counts for nothing"
        named = names_another(parties, by, found)
        if named:
            way_out = f"give --by the name of who holds the key {signed.fingerprint}"
            return f"{named}: an agreement signed so counts for nothing; {way_out}"
    return ""


def _agree(documents: Callable[[str], Document]) -> Callable[[Conductor, Command], Event]:
    def agree(conductor: Conductor, command: Command) -> Event:
        value, record = command.value, rows_of(conductor)
        said = value.get("acts")
        pairs = [(int(one[0]), str(one[1])) for one in said] if _are_pairs(said) and isinstance(said, list) else []
        by, at = str(value.get("by") or command.who)[:100], str(value.get("signed_at") or "")[:40]
        if not pairs or len(pairs) > MOST_ACTS:
            return refusal(command, f"it names {len(pairs)} acts; one to {MOST_ACTS} go into one agreement")
        armour = str(value.get("signature") or "")
        signed = None
        if armour:
            signed = Signed(*who_signed(agreed_text(record.identity, pairs, by, command.reason, at), armour))
        parties = weigh(record, acts_of(record), documents, signatures_under(record)).parties
        why = why_not_agree(parties, record, pairs, by, signed)
        if why or len(armour) > 2600:
            return refusal(command, why or "its signature is too long to be kept")
        kept: dict[str, Any] = {"acts": [list(pair) for pair in pairs], "by": by, "signed_at": at, "signature": armour}
        kept |= {"key": signed.fingerprint if signed else "", "gates": {}}
        event = Event("agreed", value=_filled(kept, command), reason=command.reason)
        gates = gates_that_open(conductor, event)
        return Event("agreed", value=_filled(kept | {"gates": gates}, command), reason=command.reason)

    return agree


def _filled(said: Mapping[str, Any], command: Command) -> dict[str, Any]:
    return {key: word for key, word in said.items() if word} | {"request": command.request, "who": command.who}


def _are_pairs(said: Any) -> bool:
    return isinstance(said, list) and all(
        isinstance(one, list) and len(one) == 2 and isinstance(one[0], int) and not isinstance(one[0], bool)
        for one in said
    )


def withdraw(conductor: Conductor, command: Command) -> Event:
    """Take back earlier acts. They stay in the record."""
    from shakedown.conductor.commands.refusals import refusal

    record, numbers = rows_of(conductor), command.value.get("events")
    if not isinstance(numbers, list) or not all(isinstance(one, int) and not isinstance(one, bool) for one in numbers):
        return refusal(command, "it names no events to withdraw")
    try:
        acts = find_acts(record, numbers, CAN_BE_WITHDRAWN)
    except UsageError as error:
        return refusal(command, f"{error.message}; {error.hint}" if error.hint else error.message)
    gone = [act.number for act in acts if act.number in record.withdrawn]
    if gone or not acts:
        return refusal(command, f"event {gone[0]} is withdrawn already" if gone else "it names no events to withdraw")
    events = sorted(number for act in acts for number in act.events)
    said: dict[str, Any] = {"events": events, "by": str(command.value.get("by") or command.who)[:100]}
    kept = {row.component for row in waivers_of_gates(conductor) if row.seq not in events}
    shut = {row.component for row in record.waivers if row.what == "gate" and row.seq in events} - kept
    said["gates"] = sorted(shut)
    return Event("withdrawn", value=_filled(said, command), reason=command.reason)


def agreeing_commands(documents: Callable[[str], Document]) -> Commands:
    """The commands of this file."""
    return {"agree": _agree(documents), "withdraw": withdraw}
