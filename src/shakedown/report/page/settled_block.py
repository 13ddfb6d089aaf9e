"""The outcome, restrictions, acts and signatures in front of a page that a site's template lays out. No template can change them.

``framed`` is the table of contents. It is used only where a site has templates. Three things protect the block:

- It comes first, and nothing of the site is used to make it. An unclosed tag of a template can swallow only what follows.
- Each of its elements resets every property in its own ``style`` with ``!important``: no selector of a style sheet beats that.
  Pseudo-elements, which have no ``style``, are reset in the first cascade layer: ``!important`` there beats all later rules.
- The site's content is inside one element that confines it by ``contain`` and puts it below the block by ``z-index``. The name of
  that element is a digest of its content, so nothing in it can close it. The content policy of the page allows no script.

A PDF has the block on pages of its own, set without the site's style sheet: ``parts_of``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from shakedown.metrics.judging.scorecard import ActScore, Scorecard
from shakedown.metrics.words import plural
from shakedown.report.page.filters import sentence, sign, tone
from shakedown.report.page.first_pages import Tested
from shakedown.report.page.what_is_signed import what_is_signed
from shakedown.report.terminal import standing_words
from shakedown.report.words import ad_hoc_words, one_line, show_time

MOST = 100  # restrictions and acts that are spelt out; the tables hold all
FONT = "sans-serif"  # a generic name: no style sheet can give it another font
_COLOURS = {"good": "#1d6b43", "bad": "#a3201a", "open": "#8a5a00"}
_RESET = (
    "all: initial !important; direction: ltr !important; unicode-bidi: isolate !important;"
    " transition: none !important; animation: none !important;"
)
_TEXT = (
    f" font-family: {FONT} !important; color: #111 !important; background: #fff !important; overflow-wrap: anywhere !important;"
    " text-align: left !important;"
)
_ROOT = f"{_RESET} display: block !important; font-size: 15px !important;"
_BODY = f"{_RESET} display: block !important; min-width: 0 !important;"
_TOP = (
    " page: shakedown-settled !important; position: relative !important; z-index: 2147483647 !important;"
    " box-sizing: border-box !important; width: 100% !important;"
)
_FACE = (
    "display: block !important; position: relative !important; z-index: 0 !important; isolation: isolate !important;"
    " contain: layout paint !important; margin: 0 auto !important; float: none !important; inset: auto !important;"
    " transform: none !important; translate: none !important; rotate: none !important; scale: none !important;"
    " offset: none !important; zoom: 1 !important; content: normal !important; transition: none !important;"
    " animation: none !important;"
)
_BOXES = ("top-left-corner", "top-left", "top-center", "top-right", "top-right-corner", "bottom-left-corner", "bottom-left",
          "bottom-center", "bottom-right", "bottom-right-corner", "left-top", "left-middle", "left-bottom", "right-top",
          "right-middle", "right-bottom")  # fmt: skip
_OURS = ("html", "body", "[data-settled]", "[data-settled] *")
_NONE = "content: none !important; display: none !important;"
_LINE = (
    "color: #111 !important; background: none !important; font: inherit !important; letter-spacing: normal !important;"
    " word-spacing: normal !important; text-transform: none !important; text-decoration: none !important; opacity: 1 !important;"
    " text-shadow: none !important; float: none !important; margin: 0 !important; padding: 0 !important; border: 0 !important;"
)
_FACE_STYLE = """
.page { color: var(--ink); background: var(--paper); max-width: 62rem; padding: 2rem 3.6rem 4rem; box-sizing: border-box;
  font: 15px/1.5 Charter, "Bitstream Charter", "Iowan Old Style", Georgia, "Liberation Serif", serif; }
@media print { .page { max-width: none; padding: 0; font-size: 10pt; } }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
_META = re.compile(r"<meta\b[^>]*>?", re.IGNORECASE)
_PLAIN_META = re.compile(r"""<meta(?:\s+[a-z-]+="[^"<>]*")*\s*/?>""", re.IGNORECASE)
_EQUIV = re.compile(r"http-equiv\s*=\s*\"([^\"]*)\"", re.IGNORECASE)
_INVOKERS = re.compile(r"(?i)\b(popovertarget|commandfor|interestfor|interesttarget)(?=\s*=)")
_PARTS = re.compile(r"(?s)\A(.*?)<(face-[0-9a-f]{64}) [^>]*>\n(.*)\n</\2>\n</body>\n</html>\n\Z")


def framed(page: str, facts: Mapping[str, Any]) -> str:
    """Purpose: a page that a site's template laid out, with the block in front of it.

    ``facts``: the values for the page's own template, see ``page.page_facts``.
    """
    face = _INVOKERS.sub(r"off-\1", page)  # nothing is put above the page by a click
    name = f"face-{hashlib.sha256(face.encode('utf-8', 'backslashreplace')).hexdigest()}"
    whole = f'<{name} class="page" style="{_FACE}">\n{face}\n</{name}>\n</body>\n</html>\n'
    return _head(facts) + _block(facts) + whole


def parts_of(page: str) -> list[str]:
    """Purpose: the documents of the page's PDF: the block and the site's content, or the page alone where it has no block."""
    found = _PARTS.match(page)
    if found is None:
        return [page]
    block = found[1].replace(f"font-family: {FONT}", "font-family: 'Report Sans'")
    return [f"{block}</body>\n</html>\n", found[3]]


def strange_meta(page: str) -> str:
    """Purpose: a tag of a site's page that could lead a reader to another page, or ""."""
    for match in _META.finditer(page):
        plain = _PLAIN_META.match(page, match.start())
        if plain is None or any(value != "Content-Security-Policy" for value in _EQUIV.findall(plain[0])):
            return one_line(match[0], 80)
    return ""


# ---- the block -------------------------------------------------------------------------------------------------------


def _head(facts: Mapping[str, Any]) -> str:
    scorecard: Scorecard = facts["scorecard"]
    title = f"{_outcome(scorecard)}: {one_line(scorecard.plan)} on {one_line(scorecard.system)}"
    return f"""<!DOCTYPE html>
<html lang="en" style="{_ROOT}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{_first_layer()}</style>
<style>{_FACE_STYLE}</style>
</head>
<body style="{_BODY}" class="" id="" dir="ltr">
"""


def _first_layer() -> str:
    """Rules that are ``!important`` in the first layer beat all others, and nothing can be added to a layer without a name."""
    pseudo = [
        f"{one}::{kind} {{ {_NONE} }}" for one in _OURS for kind in ("before", "after", "scroll-button(*)", "marker")
    ]
    pseudo += [f"{one}::{kind} {{ {_LINE} }}" for one in _OURS for kind in ("first-line", "first-letter")]
    boxes = " ".join(f"@{box} {{ content: none !important; }}" for box in _BOXES)
    sheet = f"@page shakedown-settled {{ size: A4 !important; margin: 14mm !important; {boxes} }}"
    return "@layer {\n" + "\n".join([*pseudo, sheet]) + "\n}"


def _block(facts: Mapping[str, Any]) -> str:
    scorecard: Scorecard = facts["scorecard"]
    colour = _COLOURS[tone(scorecard.outcome)]
    band = _element(
        f"{sign(scorecard.outcome)} {_outcome(scorecard)}: {one_line(scorecard.plan)} on {one_line(scorecard.system)},"
        f" campaign {one_line(scorecard.campaign)}",
        f"display: flex !important; position: sticky !important; top: 0 !important; font-size: 15px !important; font-weight: 700"
        f" !important; padding: 8px 24px !important; border-bottom: 3px solid {colour} !important;",
        mark=True,
    )
    lines = "\n".join(_lines(facts))
    style = f"padding: 10px 24px 20px !important; border-bottom: 12px solid {colour} !important;"
    return f'{band}\n<div data-settled="" style="{_style(style, top=True)}">\n{lines}\n</div>\n'


def _lines(facts: Mapping[str, Any]) -> Iterator[str]:
    scorecard: Scorecard = facts["scorecard"]
    if scorecard.rehearsal:
        yield _element(f"Rehearsal. {sentence(one_line(scorecard.rehearsal))}", _BOLD)
    if scorecard.ad_hoc:
        yield _element(f"{sentence(one_line(ad_hoc_words(scorecard.ad_hoc), 600))}", _BOLD)
    yield _element(_outcome(scorecard), "font-size: 26px !important; font-weight: 700 !important;")
    yield _element(sentence(one_line(scorecard.summary, 1000)), "font-size: 15px !important;")
    yield _element(facts["advice"], _BOLD)
    register = facts["record"].register
    if register and not scorecard.rehearsal:
        yield _element(f"By the register of the site: {one_line(register, 600)}.", _PLAIN)
    yield _element(_where(facts["site_templates"]), _SMALL)
    yield _heading("What was tested")
    yield from _listed(
        [_tested(one) for one in facts["tested"]], "The plan has no components.", "tables/components.csv"
    )
    yield from _missing_in_html(facts["missing"])
    yield _heading("Restrictions")
    yield from _listed(scorecard.restrictions, "None.", "tables/restrictions.csv")
    if facts["beside"]:
        yield _element(f"{facts['beside']}.", _PLAIN)
    if scorecard.acts_judged:
        yield _heading("What people did")
        yield from _listed([_act(act) for act in scorecard.acts_judged], "", "tables/acts.csv")
        yield _element(f"Without all of these acts: {scorecard.without_acts}.{_undisputed(scorecard)}", _PLAIN)
    if scorecard.after_seal is not None:
        yield _heading("After the joint seal")
        yield _element(f"{sentence(scorecard.after_seal.sentence)}", _PLAIN)
        yield from _listed([_act(act) for act in scorecard.acts_after_seal], "", "tables/after-seal.csv")
    yield _heading("What is signed")
    yield from _signed(facts)


def _tested(one: Tested) -> str:
    parts = [
        f"{one.component}: {one.outcome}",
        one.what,
        f"{one.passed} of {one.wanted} wanted results passed" if one.wanted else "",
        f"did not pass: {one.others}" if one.others else "",
        f"{one.met} of {one.asked} criteria met" if one.asked else "",
    ]
    return one_line("; ".join(filter(None, parts)), 600)


def _missing_in_html(missing: list[tuple[str, str]]) -> Iterator[str]:
    if missing:
        yield _heading("What is not met, undecided or not judged")
        yield from _listed(
            [f"{word}: {text}" for word, text in missing], "", "tables/criteria.csv and tables/contract-rows.csv"
        )


def _where(templates: list[tuple[str, str]]) -> str:
    files = ", ".join(f"{one_line(name)} ({digest[:16]})" for name, digest in templates)
    return (
        "This part is made from the record alone. It stands once, here at the beginning. What follows below the thick line is laid"
        f" out by {files} of the site; where it says otherwise, this part holds."
    )


def _act(act: ActScore) -> str:
    back = f", as of {show_time(act.as_of)} (backdated)" if act.backdated and act.as_of is not None else ""
    party = f" ({act.party})" if act.party else ""
    parts = [
        f"event {act.number}, {show_time(act.said)}{back}: {act.by or 'somebody'}{party} {act.what}",
        f"because {act.because}" if act.because else "",
        standing_words(act) if act.standing else "",
        f"takes away {act.takes_words}" if act.takes else "",
        "without it: as it is" if act.standing in ("withdrawn", "no effect") else f"without it: {act.without}",
    ]
    return one_line("; ".join(filter(None, parts)), 1200)


def _undisputed(scorecard: Scorecard) -> str:
    return f" If both sides stood by every act: {scorecard.undisputed}." if scorecard.undisputed else ""


def _signed(facts: Mapping[str, Any]) -> Iterator[str]:
    scorecard = facts["scorecard"]
    digests = facts["record_digest"], facts["plan_digest"]
    said = what_is_signed(facts["record"], *digests, scorecard.outcome, after=scorecard.after_seal)
    for words, digest in said:
        yield _element(f"{words}: {digest}." if digest else f"{words}.", _PLAIN)
    for words, digest in facts["signatures"]:
        yield _element(f"Signed: {one_line(words, 300)}: the seal {digest[:16]}", _PLAIN)
    for role, name in facts["parties"] if not scorecard.rehearsal else ():
        yield _element(f"For the {one_line(role)}{': ' + one_line(name, 160) if name else ''}", _SPACED)
        yield _element("Name, function, place, date, signature", _RULED)


def _outcome(scorecard: Scorecard) -> str:
    word = scorecard.outcome.capitalize()
    return f"Rehearsal, no measurement: {word}" if scorecard.rehearsal else word


# ---- elements --------------------------------------------------------------------------------------------------------

_PLAIN = "font-size: 12.5px !important; padding: 1px 0 !important; break-inside: avoid !important;"
_SMALL = "font-size: 11.5px !important; padding: 4px 0 !important;"
_BOLD = "font-size: 14px !important; font-weight: 700 !important; padding: 4px 0 !important;"
_SPACED = f"{_BOLD} padding: 10px 0 26px !important; break-after: avoid !important;"
_RULED = "font-size: 10.5px !important; border-top: 1px solid #111 !important;"


def _heading(text: str) -> str:
    return _element(text, "font-size: 14px !important; font-weight: 700 !important; padding: 10px 0 2px !important;")


def _listed(lines: tuple[str, ...] | list[str], nothing: str, table: str) -> Iterator[str]:
    if not lines and nothing:
        yield _element(nothing, _PLAIN)
    for number, line in enumerate(lines[:MOST], 1):
        yield _element(f"{number}. {sentence(one_line(line, 1200))}", _PLAIN)
    if len(lines) > MOST:
        yield _element(f"And {plural(len(lines) - MOST, 'more', 'more')}; all are in {table}.", _PLAIN)


def _element(text: str, style: str, mark: bool = False) -> str:
    marked = ' data-settled=""' if mark else ""
    return f'<div{marked} style="{_style(style, top=mark)}">{escape(text)}</div>'


def _style(more: str, top: bool = False) -> str:
    return f"{_RESET}{_TEXT} display: block !important; line-height: 1.4 !important;{_TOP if top else ''} {more}"
