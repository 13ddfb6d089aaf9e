"""The page that both sides sign: what was sealed, its outcome, its restrictions, the digest, and places to sign.

It is made from the seal's own words and digest alone, prints on one page, and loads nothing.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from shakedown.events.signatures import BAD, UNCHECKED, Signature
from shakedown.metrics.words import plural
from shakedown.report.words import show_time

MOST_RESTRICTIONS = 8  # that are spelt out; the report has them all
MOST_PARTIES = 4
MOST_SIGNATURES = 3
MOST_ACTS = 8  # that are spelt out
_MOST_MISSING = 3  # runs whose outputs are gone that are named
_LONGEST, _LONGEST_NAME = 150, 70  # characters: the page must stay one
_LONGEST_RESTRICTION = 420  # where all of them fit so
_LONGEST_SUMMARY = 420  # of the sentence on the whole, where at most two parties sign and few keys have signed
_LONGEST_HISTORY = 260  # of what the site's register says
_LONGEST_ACT, _LONGEST_REASON, _LONGEST_STANDING = 90, 40, 66
_TABLE_MM = 24.0  # of the table of acts beside its rows, and one restriction
_ROOM_MM = (9.5, 22.0, 54.0)  # for restrictions and acts: with more than two parties, with signatures, else
_LINE_MM, _ACT_MM = (
    (2.0, 3.7, 84),
    (0.7, 2.9, 62),
)  # of a restriction and of an act: between them, a line, characters of a line
_EMPTY = (("vendor", ""), ("site", ""))  # where no contract names the parties


def render_signature_page(
    digest: str,
    event: int,
    signed: Mapping[str, Any],
    signatures: Sequence[Signature] = (),
    sides: Mapping[str, str] | None = None,
) -> bytes:
    """Purpose: the page as HTML. ``digest``: that of the seal; ``event``: its event number; ``signed``: what the seal says in
    words; ``signatures``: those that people made with keys; ``sides``: file of a signature -> the party that owns its key.
    """
    contracts = [str(title) for title in signed.get("contracts", [])]
    title = contracts[0] if len(contracts) == 1 else f"Acceptance of {signed.get('system', '')}"
    parties = [(str(role), str(name)) for role, name in signed.get("parties", [])][:MOST_PARTIES] or list(_EMPTY)
    acts = [act for act in signed.get("acts", []) if isinstance(act, Mapping)]
    restrictions = [str(line) for line in signed.get("restrictions", [])]
    spare = _spare(title, str(signed.get("summary", "")), len(signatures))
    beside = str(signed.get("beside", ""))  # a seal of an older version has none
    few, rows, longest, room = _rooms_beside(beside, restrictions, acts, len(parties), bool(signatures), spare)
    body = [
        f"<h1>{_text(title, 2 * _LONGEST_NAME)}</h1>",
        _facts(signed, contracts),
        f'<p class="outcome">{_text(_capital(str(signed.get("outcome", ""))))}</p>',
        f"<p>{_summary(str(signed.get('summary', '')), len(parties), len(signatures))}</p>",
        "" if signed.get("finished") else '<p class="open">The campaign is not over: how it comes out is open.</p>',
        _restrictions(restrictions, few, longest),
        f'<p class="small" style="margin: 0; line-height: 1.15">{_cut(beside, room)}.</p>' if beside else "",
        _acts(acts, signed, rows),
        _digest(digest, event, str(signed.get("campaign", "")), kept_words(signed.get("outputs"))),
        _signatures(signatures, len(parties), sides or {}, bool(acts)),
        _places(parties),
    ]
    return _PAGE.format(title=_text(title), body="\n".join(filter(None, body))).encode()


def _summary(sentence: str, parties: int, signatures: int) -> str:
    """The summary sentence, cut to the room there is; a cut sentence says where the rest is."""
    longest = _LONGEST_SUMMARY if parties <= 2 and signatures <= 1 else _LONGEST
    return _cut(sentence, longest)


def _cut(sentence: str, longest: int) -> str:
    """As much of a sentence as fits; a cut sentence says where the rest is."""
    if len(sentence) <= longest:
        return _text(sentence, longest)
    rest = " ... (the rest in the report)"
    return _text(f"{sentence[: longest - len(rest)].rsplit(' ', 1)[0].rstrip(' ,;:')}{rest}", longest)


def _facts(signed: Mapping[str, Any], contracts: Sequence[str]) -> str:
    when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(float(signed.get("sealed_at", 0.0))))
    epochs, register = signed.get("epochs", 1), _register(signed)
    one_row = bool(register)  # there is less room for rows then
    name = f"{signed.get('plan', '')}{' (ad hoc)' if signed.get('ad_hoc') else ''}"
    plan = f"{name[:_LONGEST_NAME]}, epochs {epochs}" if one_row else name
    rows = [
        ("Campaign", signed.get("campaign", "")),
        ("Plan", plan),
        ("System", signed.get("system", "")),
        ("Contracts", ", ".join(contracts) if len(contracts) > 1 else ""),
        ("Epochs", "" if one_row else epochs),
        ("Sealed", f"{when}, by {signed.get('sealed_by', '')}"),
    ]
    longest = _LONGEST_NAME + (15 if one_row else 0)
    cells = "".join(
        f"<dt>{name}</dt><dd>{_text(str(value), longest if name == 'Plan' else _LONGEST_NAME)}</dd>"
        for name, value in rows
        if value not in ("", None)
    )
    return f"<dl>{cells}</dl>{register}"


def _register(signed: Mapping[str, Any]) -> str:
    """Which campaign of its plan this is, how the others ended, and the line of the site's register that the seal names."""
    said = signed.get("register")
    if not isinstance(said, Mapping):
        return ""
    sum_ = str(said.get("sha256", ""))[:16]
    vouched = f" Register {said.get('register', '')}, entry {said.get('entry', '')}: {sum_}." if sum_ else ""
    words = _text(_capital(str(said.get("words", ""))), _LONGEST_HISTORY)
    return f'<p class="small register">{words}.{_text(vouched)}</p>'


def _spare(title: str, summary: str, signatures: int) -> float:
    """Millimetres that are free for restrictions and acts because title and summary are short and there is one
    signature, not two.
    """
    found = 7.0 * (3 - -(-min(len(title), 2 * _LONGEST_NAME) // 42)) + 4.6 * (6 - -(-len(summary) // 84))
    return max(0.0, found + (7.0 if signatures == 1 else 0.0))


def _rooms(
    restrictions: Sequence[str], acts: Sequence[Mapping[str, Any]], parties: int, signed: bool, spare: float
) -> tuple[int, int, int]:
    """How many restrictions and how many acts fit the page, and how long a restriction may be: uncut ones where that hides no more
    of them than cut ones would.
    """
    if not acts:
        room = MOST_RESTRICTIONS if parties <= 2 else MOST_RESTRICTIONS // 4
        room = room // 2 if signed else room
        lines = sum(_lines(line, _LONGEST_RESTRICTION) for line in restrictions[:room])
        return room, 0, _LONGEST_RESTRICTION if lines <= room * _lines("x" * _LONGEST, _LONGEST) else _LONGEST
    cut, whole = (
        _fitting(restrictions, acts, parties, signed, spare, longest) for longest in (_LONGEST, _LONGEST_RESTRICTION)
    )
    fits = whole[:2] == cut[:2] and whole[2] >= 0
    return (*whole[:2], _LONGEST_RESTRICTION) if fits else (*cut[:2], _LONGEST)


def _rooms_beside(
    beside: str,
    restrictions: Sequence[str],
    acts: Sequence[Mapping[str, Any]],
    parties: int,
    signed: bool,
    spare: float,
) -> tuple[int, int, int, int]:
    """As ``_rooms``, plus the length of the line beside the criteria, which takes the room of a restriction. Where there is room
    for one only, each of the two gets a single line.
    """
    if not beside:
        return (*_rooms(restrictions, acts, parties, signed, spare), 0)
    few, rows, longest = _rooms([beside[:_LONGEST], *restrictions], acts, parties, signed, spare)
    return (few - 1, rows, longest, _LONGEST) if few > 1 else (1, rows, int(_LINE_MM[2]), int(_LINE_MM[2]))


def _lines(text: str, longest: int) -> int:
    """How many lines a restriction takes on the page."""
    return -(-min(len(text), longest) // _LINE_MM[2])


def _fitting(
    restrictions: Sequence[str],
    acts: Sequence[Mapping[str, Any]],
    parties: int,
    signed: bool,
    spare: float,
    longest: int,
) -> tuple[int, int, float]:
    """How many restrictions and acts fit by the lines that they take (at least one act where there is room for acts, then
    restrictions, then acts), and the millimetres that are left; negative where not even that fits.
    """
    left = _ROOM_MM[0 if parties > 2 else 1 if signed else 2] + spare
    heights = [_height(act) for act in acts[:MOST_ACTS]]
    shown = 0 if parties > 2 and left < heights[0] + _TABLE_MM else 1
    left -= heights[0] + (_TABLE_MM if parties > 2 else 0) if shown else 0
    count = 0
    for line in restrictions[:MOST_RESTRICTIONS]:
        height = _LINE_MM[0] + _LINE_MM[1] * _lines(line, longest)
        if left < height and count:
            break
        left -= height
        count += 1
    while shown and shown < len(heights) and left >= heights[shown]:
        left -= heights[shown]
        shown += 1
    return count, shown, left


def _acts(acts: Sequence[Mapping[str, Any]], signed: Mapping[str, Any], room: int) -> str:
    """The acts of people, those first that the outcome depends on."""
    if not acts:
        return ""
    count, without = int(signed.get("acts_in_all", len(acts))), _text(str(signed.get("without_acts", "")))
    if not room:
        return f'<p class="small">What people did: {plural(count, "act")}; without all of them: {without}.</p>'
    more = count - min(room, len(acts))
    rest = f" And {more} more, in the report." if more > 0 else ""
    rows = "".join(_act(act) for act in acts[:room])
    head = "<tr><th>Act</th><th>By whose word</th><th>Outcome without it</th></tr>"
    told = f'<p class="small">Without all of these acts: {without}.{rest}</p>'
    return f"<h2>What people did</h2><table>{head}{rows}</table>{told}"


def _act(act: Mapping[str, Any]) -> str:
    without = _text(str(act.get("without", ""))) or "as it is"
    standing = _text(str(act.get("standing", "")), _LONGEST_STANDING)
    return f"<tr><td>{_act_text(act)}</td><td>{standing}</td><td>{without}</td></tr>"


def _height(act: Mapping[str, Any]) -> float:
    """The height of an act's row, in millimetres."""
    standing = min(len(str(act.get("standing", ""))), _LONGEST_STANDING)
    lines = max(-(-len(_act_text(act)) // _ACT_MM[2]), -(-standing // 22), 2)
    return _ACT_MM[0] + _ACT_MM[1] * lines


def _act_text(act: Mapping[str, Any]) -> str:
    said = _day(act.get("said", 0.0))
    if "as_of" in act:
        back = _day(act["as_of"])
        said, back = (said, back) if said != back else (show_time(float(act["said"])), show_time(float(act["as_of"])))
        said += f", BACKDATED to {back}"
    because = _text(str(act.get("because", "")), _LONGEST_REASON)
    takes = f"; takes away {_text(str(act.get('takes', '')), _LONGEST_REASON)}" if act.get("takes") else ""
    return f"{_text(str(act.get('what', '')), _LONGEST_ACT)} ({said}: {because}){takes}"


def _day(time_said: Any) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(float(time_said)))


def _restrictions(lines: Sequence[str], room: int, longest: int) -> str:
    """The restrictions, as many as fit the page beside the places to sign."""
    if not lines:
        return "<h2>Restrictions</h2><p>None.</p>"
    items = "".join(f"<li>{_cut(line, longest)}</li>" for line in lines[:room])
    more = len(lines) - room
    rest = f"<p>and {more} more, in the report.</p>" if more > 0 else ""
    return f"<h2>Restrictions</h2><ol>{items}</ol>{rest}"


def kept_words(outputs: Any) -> str:
    """Purpose: how many outputs of the runs existed at the time of sealing, and which were missing. ``outputs``: as in the seal; a
    seal of an older version does not have it.
    """
    if not isinstance(outputs, Mapping):
        return "kept outputs that were there"
    of, kept, missing = (
        int(outputs.get("of", 0)),
        int(outputs.get("kept", 0)),
        [str(m) for m in outputs.get("missing", [])],
    )
    if kept == of:
        return f"all {of} kept outputs" if of else "no outputs: none was kept"
    more = of - kept - len(missing[:_MOST_MISSING])
    names = ", ".join(missing[:_MOST_MISSING]) + (f" and {more} more" if more > 0 else "")
    return f"{kept} of {of} kept outputs (GONE: {names})"


def _digest(digest: str, event: int, campaign: str, outputs: str) -> str:
    groups = " ".join(f"<span>{escape(digest[at : at + 8])}</span>" for at in range(0, len(digest), 8))
    small = ' class="small"' if "GONE" in outputs else ""
    return (
        f'<h2>Digest of the seal (SHA-256)</h2><p class="digest">{groups}</p>'
        f"<p{small}>It stands for the whole record up to event {event}: the log, the frozen plans, evidence, fingerprints and"
        f" {_text(outputs, _LONGEST)}. Check a copy with <code>shakedown verify {_text(campaign, _LONGEST_NAME)} --digest"
        f" {escape(digest[:16])}</code></p>"
    )


def _signatures(signatures: Sequence[Signature], parties: int, sides: Mapping[str, str], acts: bool = False) -> str:
    """The signatures made with keys, as many as fit, those of parties first. An invalid signature is marked as invalid."""
    if not signatures:
        return ""
    signatures = sorted(signatures, key=lambda one: one.file not in sides)
    room = 1 if parties > 2 else MOST_SIGNATURES - (len(signatures) > MOST_SIGNATURES)
    room = min(room, 2) if acts else room
    words = [signature_words(one, sides.get(one.file, "")) for one in signatures[:room]]
    lines = [f"<li>{_text(text, _LONGEST + _LONGEST_NAME)}</li>" for text in words]
    more = len(signatures) - room
    rest = f"<p>and {more} more.</p>" if more > 0 and not acts else ""
    head = f" ({more} more in the report)" if more > 0 and acts else ""
    return f"<h2>Signed with keys{head}</h2><ol>{''.join(lines)}</ol>{rest}"


def signature_words(one: Signature, side: str = "") -> str:
    """Purpose: a signature in words: signer, time and key, and whether it is invalid or was not checked.

    ``side``: the party that owns the key according to the plan.
    """
    key = f"{one.key_type} key {one.fingerprint}"
    by = one.by if len(one.by) <= _LONGEST_NAME else f"{one.by[: _LONGEST_NAME - 3]}..."
    by = f"{by or 'somebody'} for {side}" if side and one.holds else by
    words = f"{by or 'somebody'}, {one.at}, with the {key}" if one.fingerprint else f"the file {one.file}"
    if one.status == BAD:
        return f"{words}: NO VALID SIGNATURE: {one.why}"
    return f"{words} (not checked: {one.why})" if one.status == UNCHECKED else words


def _places(parties: Sequence[tuple[str, str]]) -> str:
    boxes = "".join(
        f'<div class="party"><p><b>For {_text(role, _LONGEST_NAME)}</b>{": " + _text(name, _LONGEST_NAME) if name else ""}</p>'
        '<p class="line">Name</p><p class="line">Place and date</p><p class="line">Signature</p></div>'
        for role, name in parties
    )
    return f'<div class="parties">{boxes}</div>'


def _text(text: str, longest: int = _LONGEST) -> str:
    """Text of unknown origin without markup or control characters, cut to a length."""
    short = text if len(text) <= longest else f"{text[: longest - 3]}..."
    return escape("".join(c if c.isprintable() else " " for c in short))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
@page {{ size: A4; margin: 14mm 16mm; }}
body {{ font: 10pt/1.35 "DejaVu Serif", Georgia, serif; color: #111; max-width: 178mm; margin: 12mm auto; }}
@media print {{ body {{ margin: 0 auto; }} }}
h1 {{ font-size: 17pt; line-height: 1.2; margin: 0 0 3mm; overflow-wrap: anywhere; }}
h2 {{ font-size: 10.5pt; margin: 4mm 0 1mm; }}
p, li {{ margin: 1mm 0; overflow-wrap: anywhere; }}
dl {{ display: grid; grid-template-columns: 26mm 1fr; margin: 0; }}
dt {{ color: #555; }} dd {{ margin: 0; overflow-wrap: anywhere; }}
.outcome {{ font-size: 15pt; font-weight: bold; border: 1.5pt solid #111; padding: 2mm 4mm; margin: 4mm 0 2mm; }}
.open {{ font-weight: bold; }}
ol {{ margin: 0; padding-left: 6mm; font-size: 8.5pt; line-height: 1.2; }}
.digest {{ font: 12.5pt/1.5 "DejaVu Sans Mono", monospace; display: grid; gap: 0 6mm; }}
.digest {{ grid-template-columns: repeat(4, max-content); }}
code {{ font: 9pt "DejaVu Sans Mono", monospace; }}
table {{ border-collapse: collapse; width: 100%; font-size: 7pt; line-height: 1.15; }}
th, td {{ text-align: left; vertical-align: top; border-bottom: 0.4pt solid #999; padding: 0.3mm 2mm 0.3mm 0; }}
td {{ overflow-wrap: anywhere; }}
.small {{ font-size: 7.5pt; }}
.register {{ line-height: 1.15; }} .register ~ h2 {{ margin-top: 2.4mm; }} .register ~ .outcome {{ margin-top: 2.4mm; }}
.register ~ .digest {{ line-height: 1.3; }}
.parties {{ display: grid; grid-template-columns: 1fr 1fr; gap: 3mm 10mm; margin-top: 3mm; }}
.party {{ break-inside: avoid; }} .party p:first-child {{ min-height: 10mm; }}
.line {{ border-top: 0.6pt solid #111; margin-top: 6.5mm; font-size: 8pt; line-height: 1.1; color: #555; }}
</style></head><body>
{body}
</body></html>
"""
