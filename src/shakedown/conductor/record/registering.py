"""What is entered in the register of a site, and when: a campaign before it begins, its end, its seals; and campaigns found there
before.

``ready`` is called before a campaign is made, ``enter`` before its first event, ``note_end`` and ``note_seal`` after theirs. If a
process is killed in between, a line is missing: the next one adds it, and until then ``verify --register`` reports it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from shakedown.conductor.record.documents import Documents
from shakedown.conductor.record.register_words import first_line, history
from shakedown.conductor.record.settling import settle_log
from shakedown.events.campaigns import CAMPAIGNS, campaigns_in, read_document, rehearsal_of
from shakedown.events.entered import (
    begun_anew,
    disowned,
    identity_of,
    keep_entry,
    outside_words,
    read_entry,
    read_vouched,
    site_of,
    vouched_by,
)
from shakedown.events.reader import Reader, read_events
from shakedown.events.recorded_name import campaign_name, name_in_register
from shakedown.events.register import (
    BEGUN,
    ENDED,
    FOUND,
    LOST,
    OPENED,
    SEALED,
    OpenRegister,
    Register,
    damaged,
    new_name,
    open_register,
    read_register,
    register_path,
)
from shakedown.metrics.judging.scorecard import Scorecard
from shakedown.metrics.rows.rows import SealRow
from shakedown.metrics.rows.table import Record, fold_runs
from shakedown.model.errors import RecordError, ShakedownError, UsageError
from shakedown.model.frozen import thaw
from shakedown.model.layout import Layout
from shakedown.model.nouns import Document

Settle = Callable[[Layout, Document, Record], Scorecard]
IN_NO_SITE = (
    "it began in no site directory, so in no register: nobody can tell how many campaigns of its plan there were"
)


def ready(site: Path, settle: Settle = settle_log) -> Register:
    """Purpose: the register of a site, ready for another campaign. If there is none, it is opened; campaigns that it does not have
    are entered as found. ``settle``: gives the scorecard of such a campaign. Errors: RecordError where the register is damaged, is
    not the one that a campaign was entered in, or cannot be written.
    """
    strangers = _strangers(site, refuse_another(site), settle)
    with open_register(site) as register:
        if register.found.damage:
            raise damaged(register.found)
        if not register.found.entries:
            register.add(OPENED, register=new_name())
        for said in strangers:
            if register.found.entered(said["campaign"]) is None:
                register.add(FOUND, **said)
        return register.found


def refuse_another(site: Path) -> Register:
    """Purpose: the register as it is. Raises RecordError where it is damaged, or is not the one that a campaign was entered in."""
    register, why = read_vouched(site)
    if register.damage:
        raise damaged(register)
    if why:
        raise RecordError(f"the register of this site, {register_path(site)}, is not what it was: {why}", hint=LOST)
    return register


def begin_anew(site: Path, by: str, because: str, settle: Settle = settle_log) -> Register:
    """Purpose: a new register in place of one that is lost or damaged, as a person ordered. The old file is renamed. ``settle``: as
    in ``ready``. Errors: UsageError where nothing is wrong with the present one; RecordError where it cannot be written.
    """
    register, why = read_vouched(site)
    if register.entries and not register.damage and not why:
        raise UsageError(
            f"nothing is wrong with {register.path}", hint="a register is begun anew only where it is lost or damaged"
        )
    before = ""
    if register.path.exists():
        content = register.path.read_bytes()
        before = hashlib.sha256(content).hexdigest()
        register.path.replace(register.path.with_name(f"register-{before[:8]}.jsonl"))
    strangers = _strangers(site, Register(register.path), settle, all_of_them=True)
    with open_register(site) as opened:
        if not opened.found.entries:
            opened.add(OPENED, register=new_name(), by=by, because=because, before=before)
        for said in strangers:
            opened.add(FOUND, **said)
        return opened.found


def refuse_used(site: Path, identifier: str) -> None:
    """Raises UsageError where a campaign with this name was entered before, whatever became of it. Upper and lower case count as
    the same.
    """
    known = read_register(site).alike(identifier)
    if known is not None:
        name = identifier if known.campaign == identifier else f"{known.campaign}, which reads like {identifier},"
        raise UsageError(
            f"the name {name} was used before: entry {known.entry} of {register_path(site)}",
            hint="a name is used once, so that it means one campaign on every page: give another one with --id",
        )


# ---- one campaign ------------------------------------------------------------------------------------------------------------


def enter(layout: Layout, document: Document, site: Path | None = None, settle: Settle = settle_log) -> dict[str, Any]:
    """Purpose: enter a campaign that has not begun, once. Returns what its first event says of the register. ``site``: where it
    lies; ``settle``: as in ``ready``. Errors: UsageError where its name was used before; RecordError where the register is damaged
    or cannot be written.
    """
    site = site or site_of(layout)
    if site is None:
        return _outside(layout)
    ready(site, settle)
    identity, name = identity_of(layout), layout.root.absolute().name
    with open_register(site) as register:
        place = _entry_of(register, layout, document, identity)
        found = register.found
        vouching = {"register": found.name, "entry": place + 1, "sha256": found.sums[place]}
        vouching["words"] = history(site, found, name)[:600]
    keep_entry(layout, {"identity": identity, "campaign": name, **vouching})
    return vouching


def _outside(layout: Layout) -> dict[str, Any]:
    """What a campaign says that begins where there is no register. If it has noted an entry, it repeats that; only the register can
    confirm it.
    """
    said = read_entry(layout)
    if not said.get("entry") or said.get("campaign") != layout.root.absolute().name:
        return {"words": IN_NO_SITE}
    kept = {key: said[key] for key in ("register", "entry", "sha256") if key in said}
    return kept | {"words": outside_words(said["entry"])}


def _entry_of(register: OpenRegister, layout: Layout, document: Document, identity: str) -> int:
    """The position of the campaign's line: an existing one, if a process was killed after adding it; else a new one."""
    name = layout.root.absolute().name
    known = register.found.entered(name)
    if known is None:
        refuse_used(register.found.path.parent, name)  # another one that reads like it
        digest = next((path.stem for path in sorted(layout.documents.glob("*.json"))), "")
        said = {"campaign": name, "plan": document.plan, "document": digest, "identity": identity}
        return register.add(BEGUN, **said, ad_hoc=bool(document.ad_hoc)).entry - 1
    if known[1].identity != identity:
        refuse_used(register.found.path.parent, name)
    return known[0]


def note_end(layout: Layout, outcome: str) -> str:
    """Purpose: enter how a campaign ended, once. Returns why that is not possible, "" where it is."""
    site = _entered_in(layout)
    if site is None:
        return ""
    event, log = _end_of(layout)
    name = name_in_register(layout)
    try:
        with open_register(site) as register:
            facts = register.found.facts(name, ENDED)
            if event and not any((one.event, one.log, one.outcome) == (event, log, outcome) for one in facts):
                register.add(ENDED, campaign=name, outcome=outcome, event=event, log=log)
    except ShakedownError as error:
        return str(error)
    return ""


def note_seal(layout: Layout, row: SealRow) -> None:
    """Purpose: enter a seal, once. Errors: RecordError where the register cannot be written."""
    site = _entered_in(layout)
    name = name_in_register(layout)
    if site is None:
        return
    with open_register(site) as register:
        if not any(one.digest == row.digest for one in register.found.facts(name, SEALED, FOUND)):
            register.add(SEALED, campaign=name, outcome=row.outcome, event=row.seq, digest=row.digest, by=row.by)


def head_for_a_seal(layout: Layout) -> dict[str, Any]:
    """Purpose: what a seal says of the register: its last line and, in words, which campaign this is; {} where the register does
    not have it. Errors: RecordError where the register cannot be written; then nothing is sealed yet.
    """
    site = site_of(layout)
    said = vouched_by(layout)
    if site is None:
        return (
            {"words": "the register of its site is not here: how other campaigns of the plan ended is not known"}
            if said
            else {}
        )
    register = read_register(site)
    of_before = said is not None and said.register != register.name and begun_anew(register)
    why = disowned(register, said) if said is not None and not of_before else ""
    if register.damage or why:
        return {"words": f"THE REGISTER OF THE SITE IS NOT WHAT IT WAS: {register.damage or why}"[:600]}
    if register.entered(name_in_register(layout)) is None:
        return {}
    with open_register(site) as opened:
        head = opened.found.head
    return head | {"words": history(site, register, name_in_register(layout))[:600]}


def _entered_in(layout: Layout) -> Path | None:
    """The site whose register has exactly this campaign; None where none has, or this is a copy."""
    site = site_of(layout)
    if site is None or name_in_register(layout) != campaign_name(layout):
        return None
    register, said = read_register(site), vouched_by(layout)
    if said is not None and (said.register == register.name or not begun_anew(register)):
        return None if register.damage or disowned(register, said) else site
    known = register.entered(name_in_register(layout))
    return site if known is not None and known[1].first == first_line(layout) != "" else None


def _end_of(layout: Layout) -> tuple[int, str]:
    """The number of the last event that ended the campaign, and the sha256 of all event lines up to it."""
    hashed, seq, digest = hashlib.sha256(), 0, ""
    for event, line in Reader(layout.log).lines():
        hashed.update(line + b"\n")
        if event.event == "campaign_end":
            seq, digest = event.seq, hashed.hexdigest()
    return seq, digest


# ---- what was there before ---------------------------------------------------------------------------------------------------


def _strangers(site: Path, register: Register, settle: Settle, all_of_them: bool = False) -> list[dict[str, Any]]:
    """Entries for campaigns that the register does not have, the oldest first. Campaigns that say that they were entered are left
    out, unless ``all_of_them``: then a register is begun anew, so what they say of the old one does not matter.
    """
    found: list[tuple[float, dict[str, Any]]] = []
    for path in campaigns_in(site / CAMPAIGNS):
        layout = Layout(path)
        try:
            entered = vouched_by(layout) is not None and not all_of_them
            first = first_line(layout)
            copied = any(one.first == first for one in register.campaigns())
            rehearsed = first != "" and rehearsal_of(layout) is not None  # it was brought here: it is no campaign
            if first and not (entered or copied or rehearsed) and register.entered(name_in_register(layout)) is None:
                found.append(_found(layout, settle))
        except (ShakedownError, OSError):
            found.append((0.0, {"campaign": path.name, "outcome": "damaged"}))
    return [said for _, said in sorted(found, key=lambda pair: (pair[0], pair[1]["campaign"]))]


def _found(layout: Layout, settle: Settle) -> tuple[float, dict[str, Any]]:
    """When a campaign began, and the fields of its line."""
    record = fold_runs(read_events(layout.log))
    said: dict[str, Any] = {"campaign": name_in_register(layout), "plan": record.plan, "document": record.document}
    said |= {"first": first_line(layout), "event": record.seq, "ad_hoc": _is_ad_hoc(layout, record)}
    if record.seals:
        said["digest"] = record.seals[-1].digest
    if record.ended is not None:
        end, log = _end_of(layout)
        outcome = settle(layout, Documents(layout)(record.document), record).outcome
        said |= {"outcome": outcome, "event": end, "log": log}
    return record.started or 0.0, said


def _is_ad_hoc(layout: Layout, record: Record) -> bool:
    """Whether its tests were named on the command line. Raises RecordError where its plan cannot be read."""
    return bool(record.document and thaw(read_document(layout, record.document)).ad_hoc)
