"""Detect a campaign directory that was replaced by an older copy: its log is undamaged, but the register of its site knows more.

The register has a line for each end and seal of a campaign, with the number of its events at that time. If the log is shorter, or
its events differ, it is not the log that the line was entered for. ``set_back_of`` is the main function.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from shakedown.events.chain import is_news_from_elsewhere, refuse_damaged
from shakedown.events.entered import begun_anew, disowned, site_of, vouched_by
from shakedown.events.looks import Looks
from shakedown.events.reader import first_event
from shakedown.events.recorded_name import campaign_name, name_in_register
from shakedown.events.register import ENDED, FOUND, SEALED, Entry, Register, read_register
from shakedown.events.seals import seals_of
from shakedown.events.segments import Span, blocks, sha256, spans
from shakedown.model.errors import RecordError
from shakedown.model.layout import Layout

WAY_OUT = "put the newer copy of the campaign back; where it is lost, begin another campaign: shakedown run PLAN"


class SetBack(RecordError):
    """The record is an older copy, or a different one, than the register of its site knows."""

    def __init__(self, layout: Layout, why: str) -> None:
        super().__init__(f"{campaign_name(layout)} {why}", hint=WAY_OUT)


def refuse_set_back(layout: Layout) -> None:
    """Raise SetBack where the register of the site knows more about a campaign than its log. Callers use it before they add to the
    log.
    """
    why = set_back_of(layout)
    if why:
        raise SetBack(layout, why)


def refuse_other(layout: Layout) -> None:
    """Raise RecordError where the log is damaged or set back. Callers use it before they add to the log."""
    refuse_damaged(layout)
    refuse_set_back(layout)


def set_back_of(layout: Layout, looks: Looks | None = None) -> str:
    """Purpose: what the register of the site says about a campaign and its log contradicts, as a sentence without its subject; ""
    where both agree, or where the register does not know this campaign. Changes nothing in the record.

    ``looks``: remembers undamaged segments; those that did not change since are not read again.

    Errors: RecordError where register or log cannot be read.
    """
    site = site_of(layout)
    register = read_register(site) if site is not None else None
    if register is None or register.damage or not _is_its_own(register, layout):
        return ""
    known = register.facts(name_in_register(layout), FOUND, ENDED, SEALED)
    return not_borne_out(layout, known, looks)


def another_entered(layout: Layout) -> str:
    """Purpose: a sentence that the register of the site has another campaign under this name; "" where it is this one, where it
    knows none, or where that cannot be read.
    """
    try:
        site, said = site_of(layout), vouched_by(layout)
        register = read_register(site) if site is not None and said is not None else None
    except (RecordError, OSError):
        return ""  # whoever reads the record or the register says what is wrong with it
    if register is None or said is None or register.damage or register.entered(name_in_register(layout)) is None:
        return ""
    if said.register != register.name and begun_anew(register):
        return ""
    why = disowned(register, said)
    return f"the register of the site is not the one that it was entered in: {why}" if why else ""


def not_borne_out(layout: Layout, known: Sequence[Entry], looks: Looks | None = None) -> str:
    """Purpose: as ``set_back_of``, for lines of the register that the caller read before the log."""
    known = [one for one in known if one.event]
    if not known:
        return ""
    furthest = max(known, key=lambda one: one.event)
    summed = max((one for one in known if one.log), key=lambda one: one.event, default=None)
    last, digest, named = _look(layout.log, summed.event if summed else 0, {one.event for one in known}, looks)
    if furthest.event > last:
        return "" if is_news_from_elsewhere(layout) else _shorter(furthest, last)
    if summed is not None and digest != summed.log:
        return _differs_in_words(summed)
    for one in known:
        if one.fact == SEALED and one.digest.encode() not in named.get(one.event, b""):
            return _differs_in_words(one)
        if one.fact == FOUND and one.digest and not (seals_of(layout) / f"{one.digest}.json").is_file():
            return f"{_SET_BACK}: its seal {one.digest[:16]}, which entry {one.entry} of the site's register names, is gone"
    return ""


_SET_BACK = "was set back to an older copy, or its log was changed"


def _shorter(one: Entry, last: int) -> str:
    return f"{_SET_BACK}: {_entry_in_words(one)}, and it has {last} now"


def _differs_in_words(one: Entry) -> str:
    return f"{_SET_BACK}: {_entry_in_words(one)}, and its first {one.event} events are others now"


_WHEN = {ENDED: "when it ended", SEALED: "when it was sealed"}


def _entry_in_words(one: Entry) -> str:
    """For example: entry 3 of the site's register says that it had 52 events when it ended (rejected)."""
    when = _WHEN.get(one.fact, "when it was found")
    outcome = f" ({one.outcome})" if one.outcome else ""
    return f"entry {one.entry} of the site's register says that it had {one.event} events {when}{outcome}"


def _is_its_own(register: Register, layout: Layout) -> bool:
    """Whether the register's lines under this name belong to this campaign: another record with the same name is
    reported as such.
    """
    known = register.entered(name_in_register(layout))
    if known is None or not layout.log.is_dir():
        return False
    said = vouched_by(layout)
    if said is not None and (said.register == register.name or not begun_anew(register)):
        return said.entry == known[1].entry and not disowned(register, said)
    if known[1].fact != FOUND:
        return False
    first = next(_lines(layout.log), b"")
    return first_event(layout.log) is not None and known[1].first in ("", sha256(first))


def _look(log: Path, through: int, wanted: set[int], looks: Looks | None) -> tuple[int, str, dict[int, bytes]]:
    """The number of events in a log, the sha256 of all lines up to one of them, and the wanted lines (number -> line). Decodes
    nothing.
    """
    found = spans(log)
    if looks is None or not found:
        return _read(found, through, wanted)
    reaching = [span for span in found if span.header.first <= max(through, *wanted)]
    name, before = f"lines to {through} and {sorted(wanted)}", [span.path.stat() for span in reaching]
    known = looks.said(name, *before)
    if known is not None:
        last = found[-1].header.first - 1 + sum(block.count(b"\n") for _, block in blocks(found[-1]))
        lines = [one.partition(" ") for one in known[1:]]
        return last, known[0], {int(seq): bytes.fromhex(line) for seq, _, line in lines}
    last, digest, named = _read(found, through, wanted)
    said = [digest, *(f"{seq} {line.hex()}" for seq, line in named.items())]
    looks.note(name, before, [span.path.stat() for span in reaching], said)
    looks.save()
    return last, digest, named


def _read(found: Sequence[Span], through: int, wanted: set[int]) -> tuple[int, str, dict[int, bytes]]:
    seq, hashed, named = 0, hashlib.sha256(), dict[int, bytes]()
    for span in found:
        for _, block in blocks(span):
            count = block.count(b"\n")
            mine = [one for one in wanted if seq < one <= seq + count]
            lines = block.split(b"\n") if mine or seq < through < seq + count else []
            named |= {one: lines[one - seq - 1] for one in mine}
            if seq + count <= through:
                hashed.update(block)
            elif seq < through:
                hashed.update(b"".join(line + b"\n" for line in lines[: through - seq]))
            seq += count
    return seq, hashed.hexdigest(), named


def _lines(log: Path) -> Iterator[bytes]:
    for span in spans(log):
        for _, block in blocks(span):
            yield from block.split(b"\n")[:-1]
