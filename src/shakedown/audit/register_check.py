"""Checks the register of a site: its chain, each entry against the campaigns on disk, and what the campaigns say about the
register.

``verify_register`` is the table of contents. Reports each campaign that is gone, renamed, copied, changed or cut, and each
entry that the register lacks although a campaign or a seal says that it existed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from shakedown.conductor.record.register_words import (
    GONE,
    NOT_BEGUN,
    OTHER,
    Standing,
    claim_at,
    first_line,
    in_all,
    place_of,
    standings,
)
from shakedown.events.campaigns import CAMPAIGNS, campaigns_in, rehearsal_of
from shakedown.events.chain import damage_of
from shakedown.events.entered import Vouched, begun_anew, disowned, outside_words, read_entry, site_of, vouched_by
from shakedown.events.reader import Reader
from shakedown.events.register import ENDED, FOUND, SEALED, Entry, Register, read_register
from shakedown.events.set_back import set_back_of
from shakedown.metrics.words import plural
from shakedown.model.errors import RecordError
from shakedown.model.layout import Layout


class RegisterVerified(Struct):
    """The result of a check of a register. ``troubles``: sentences, each with the campaign or entry it is about; ``remarks``:
    sentences on harmless facts.
    """

    register: str
    path: str
    entries: int
    whole: bool = True
    troubles: list[str] = []
    remarks: list[str] = []
    campaigns: list[Standing] = []
    summary: str = ""


class _Told(Struct):
    """What a campaign's log says and the register should contain. ``ends``: end event -> sha256 of all lines up to it."""

    document: str = ""
    plan: str = ""
    seals: list[tuple[str, str, dict[str, Any]]] = []  # digest, outcome, what the seal says of the register
    ends: dict[int, str] = {}
    events: int = 0
    at: dict[int, str] = {}  # event that the register names -> sha256 of all lines up to it
    seal_events: list[int] = []


def verify_register(site: Path) -> RegisterVerified:
    """Purpose: check the register of a site against its campaigns. Errors: RecordError where the register cannot be read.

    Campaigns may begin and end during the check, so a check that finds trouble is repeated once: temporary trouble is then
    gone.
    """
    found = _look(site)
    return found if found.whole else _look(site)


def _look(site: Path) -> RegisterVerified:
    register = read_register(site)
    found = RegisterVerified(register.name, str(register.path), len(register.entries))
    there = campaigns_in(site / CAMPAIGNS)
    if register.damage:
        found.troubles.append(f"{register.path.name}: {register.damage}")
    elif not register.entries:
        _no_register(found, there)
    found.remarks += _of_the_file(register)
    for path in there if register.entries else ():
        found.troubles += _campaign(register, Layout(path))
    for entry in register.campaigns():
        found.troubles += _entered(site, register, entry, found)
    found.campaigns = standings(site, register)
    found.summary = in_all(found.campaigns)
    found.whole = not found.troubles
    return found


def own_entry(layout: Layout) -> tuple[list[str], list[str], list[str]]:
    """Purpose: check the entry of one campaign in the register of its site. Returns sentences: what was checked, what was not,
    what is wrong.
    """
    site, said = site_of(layout), _said(layout)
    why = set_back_of(layout)
    if why:
        return [], [], [f"this campaign {why}"]
    if said is None:
        return [], [], []
    if site is None:
        return [], [f"the register of its site is not here: it was entry {said.entry} of {said.register}"], []
    register = read_register(site)
    if register.name and said.register != register.name and begun_anew(register):
        return [], [f"the register of its site was begun anew: it was entry {said.entry} of {said.register}"], []
    name = layout.root.absolute().name
    wrong = register.damage or disowned(register, said)
    if wrong:
        return [], [], [f"the register of the site is not the one that it was entered in: {wrong}"]
    if said.campaign != name:
        return [], [], [f"this is campaign {said.campaign}, {_became(register, layout, said.campaign)}"]
    if not claims_rightly(register, said):
        return [], [], [f"{_CLAIM}: {said.words}"]
    identity = read_entry(layout).get("identity", "")
    if identity and identity != register.entries[said.entry - 1].identity:
        return [], [], [f"the identity in its entry.json is not that of entry {said.entry} of the register"]
    return [f"register: entry {said.entry} of {said.register}, as its first event and entry.json say"], [], []


_CLAIM = "what its first event says of other campaigns is not what the register had then"


def claims_rightly(register: Register, said: Vouched) -> bool:
    """Purpose: whether the first event of a campaign says the same about other campaigns as the register said then.

    A campaign that began outside of its site says that it did, and makes no statement about others.
    """
    entry = register.entries[said.entry - 1]
    outside = said.words == outside_words(said.entry)
    # another campaign may have been entered between this entry and this campaign's first event
    later = (one.entry for one in register.campaigns() if one.entry >= entry.entry)
    return outside or any(said.words.startswith(claim_at(register, entry.entry, upto)) for upto in later)


def _no_register(found: RegisterVerified, there: list[Path]) -> None:
    for path in there:
        said = _said(Layout(path))
        if said is not None:
            found.troubles.append(f"the register is gone: {path.name} was entered in it as entry {said.entry}")
    if not found.troubles:
        found.remarks.append("there is no register yet: the next 'shakedown run' opens one, and enters what it finds")


def _of_the_file(register: Register) -> Iterator[str]:
    if register.torn:
        yield f"{plural(register.torn, 'byte')} at its end are no whole line: the next line that is added says so"
    for entry in register.entries:
        if entry.torn:
            yield f"entry {entry.entry} follows {plural(entry.torn, 'byte')} of a line that was never finished"
    if begun_anew(register):
        first = register.entries[0]
        yield f"this register was begun anew by {first.by}: {first.because}"


def _said(layout: Layout) -> Vouched | None:
    try:
        return vouched_by(layout)
    except (RecordError, OSError):
        return None


# ---- directories in campaigns/ ---------------------------------------------------------------------------------------------------


def _campaign(register: Register, layout: Layout) -> Iterator[str]:
    """Sentences on what is wrong with a campaign directory, by the register."""
    name = layout.root.name
    damage = damage_of(layout)
    if damage is not None:
        yield f"{name}: its record is damaged: {damage}"
        return
    said = _said(layout)
    if said is not None:
        if said.register != register.name and begun_anew(register):
            return
        why = disowned(register, said)
        if why:
            called = f"this is a campaign {said.campaign}, and " if said.campaign != name else ""
            yield f"{name}: {called}the register is not the one that it was entered in: {why}"
            return
        if said.campaign != name:
            yield f"{name}: this is campaign {said.campaign}, {_became(register, layout, said.campaign)}"
        elif not claims_rightly(register, said):
            yield f"{name}: {_CLAIM}: {said.words}"
        return
    first = first_line(layout)
    if not first or register.entered(name) is not None or rehearsal_of(layout) is not None:
        return
    same = next((one.campaign for one in register.campaigns() if one.first == first), "")
    if same:
        yield f"{name}: this is campaign {same}, {_became(register, layout, same)}"
    else:
        why = "it was brought here, or an older version made it; the next 'shakedown run' enters it as found"
        yield f"{name}: it is not in the register: {why}"


def _became(register: Register, layout: Layout, name: str) -> str:
    entry = register.entered(name)
    where = layout.root.parent.parent
    if entry is not None and place_of(where, register, entry[1]) not in (GONE, OTHER):
        return "copied"
    return "renamed, or a copy whose original is gone"


# ---- what the register says ----------------------------------------------------------------------------------------------------


def _entered(site: Path, register: Register, entry: Entry, found: RegisterVerified) -> Iterator[str]:
    """Sentences on what the register says of one campaign and that is not true."""
    name, place = entry.campaign, place_of(site, register, entry)
    if place == NOT_BEGUN:
        found.remarks.append(f"{name}: it was entered and has not begun: 'shakedown resume {name}' begins it")
    if place == GONE:
        standing = next(one for one in standings(site, register) if one.campaign == name)
        yield f"{name}: it is gone: {standing.words}"
    if place == OTHER:
        yield f"{name}: another record lies under its name than the one that was entered"
    if place in (GONE, OTHER, NOT_BEGUN) or damage_of(Layout(site / CAMPAIGNS / name)) is not None:
        return
    told = _read(Layout(site / CAMPAIGNS / name), {one.event for one in register.facts(name, ENDED, FOUND)})
    if entry.document and entry.document != told.document:
        yield f"{name}: it was entered with another frozen plan"
    yield from _cut_or_changed(register, name, told)
    yield from _not_noted(register, entry, told)
    yield from _heads(register, name, told)


def _cut_or_changed(register: Register, name: str, told: _Told) -> Iterator[str]:
    digests = {digest: outcome for digest, outcome, _ in told.seals}
    for one in register.facts(name, FOUND, SEALED, ENDED):
        if one.event > told.events:
            became = "its log was cut, or it was set back to an older copy, and may have gone on from there"
            yield f"{name}: entry {one.entry} says that it had {one.event} events, and it has {told.events} now: {became}"
        elif one.log and told.at.get(one.event) != one.log:
            became = "it was set back to an older copy and went on from there, or its log was changed"
            yield f"{name}: its first {one.event} events are not those that it ended with (entry {one.entry}): {became}"
        elif one.digest and one.digest not in digests:
            yield f"{name}: its seal {one.digest[:16]} (entry {one.entry}) is gone"
        elif one.fact == SEALED and digests[one.digest] != one.outcome:
            yield f"{name}: it was sealed as '{one.outcome}' (entry {one.entry}), and its log says '{digests[one.digest]}'"


def _not_noted(register: Register, entry: Entry, told: _Told) -> Iterator[str]:
    """Sentences on seals and a campaign end that the register lacks: it is an older copy, or a command was interrupted."""
    name, known = entry.campaign, {one.digest for one in register.facts(entry.campaign, FOUND, SEALED)}
    before = entry.event if entry.fact == FOUND else 0
    either = "this is an older copy of it, or the command was interrupted"
    for (digest, _, _), event in zip(told.seals, told.seal_events, strict=True):
        if digest not in known and event > before:
            yield f"{name}: the register lacks its seal {digest[:16]}: {either}; 'shakedown seal {name}' enters it"
    last = max(told.ends, default=0)
    if last and last not in {one.event for one in register.facts(name, ENDED, FOUND)}:
        yield f"{name}: the register lacks how it ended: {either}; 'shakedown resume {name}' enters it"


def _heads(register: Register, name: str, told: _Told) -> Iterator[str]:
    """Sentences on register entries that a seal names and that are missing or changed."""
    for digest, _, head in told.seals:
        entry, wanted = head.get("entry"), head.get("sha256")
        if not isinstance(entry, int) or not wanted or head.get("register") != register.name:
            continue
        there = register.sums[entry - 1] if 0 < entry <= len(register.sums) else ""
        if there != wanted:
            why = "ends before" if not there else "is another one up to"
            yield f"{name}: the register {why} entry {entry}, which its seal {digest[:16]} vouches for"


def _read(layout: Layout, wanted: set[int]) -> _Told:
    told, hashed = _Told(), hashlib.sha256()
    for event, line in Reader(layout.log).lines():
        hashed.update(line + b"\n")
        told.events = event.seq
        if event.seq in wanted:
            told.at[event.seq] = hashed.hexdigest()
        if event.event == "campaign_start":
            told.document, told.plan = str(event.value.get("document", "")), str(event.value.get("plan", ""))
        elif event.event == "campaign_end":
            told.ends[event.seq] = hashed.hexdigest()
        elif event.event == "sealed":
            head = event.value.get("register")
            said = head if isinstance(head, dict) else {}
            told.seals.append((str(event.value.get("digest", "")), str(event.value.get("outcome", "")), said))
            told.seal_events.append(event.seq)
    return told
