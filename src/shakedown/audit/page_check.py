"""Compares a page that somebody holds with the record: a report (HTML or PDF), or the page to sign.

``check_page`` is the table of contents. The page names, by a digest, the record that it was made from. The page is made again
from the record as of then, and must be the same. A page is made from the record alone, so a difference means that the page was
altered by hand, or made by another version.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from msgspec import Struct

from shakedown import __version__
from shakedown.conductor.record.settling import parties_of_seals
from shakedown.conductor.record.signing import signed_for
from shakedown.events.plain_files import read_plain
from shakedown.events.reader import Reader
from shakedown.events.recorded_name import campaign_name
from shakedown.events.seals import read_seal, seals_of
from shakedown.events.signatures import signatures_of
from shakedown.metrics.words import plural
from shakedown.model.errors import UsageError
from shakedown.model.layout import Layout
from shakedown.report.page.page_text import differences, lines_of_page
from shakedown.report.page.signature import render_signature_page
from shakedown.report.page.site_templates import digests, templates_of
from shakedown.report.writing import page_again

_LARGEST = 256 << 20  # bytes of a page
_DIGEST = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
_GROUPS = re.compile(rb'<p class="digest">(.*?)</p>', re.DOTALL)
_GENERATOR = re.compile(rb'(<meta name="generator" content="Shakedown )([^"<]*)(">)')
_TEMPLATES = re.compile(rb"templates/report\.(?:html|css)")
_MOST = 8  # differences that are reported
# Sections that no template of a site may leave out.
PROTECTED = ("'Scorecard'", "'What people did'", "'Restrictions'", "'What is signed'")
REGISTER = "By the register of the site: "


class PageCheck(Struct):
    """How a page compares with the record. ``through``: the last event that the page shows; ``differs``: sentences on parts of the
    page that do not follow from the record.
    """

    file: str
    kind: str
    through: int
    differs: list[str] = []
    checked: list[str] = []
    unchecked: list[str] = []


def check_page(layout: Layout, file: Path, site: Path | None = None) -> PageCheck:
    """Purpose: compare a page with the record. ``site``: the site whose templates made the page, if it is not the campaign's own
    site.

    Errors: UsageError where the page cannot be read, or is no page of this campaign.
    """
    content = _content(file)
    if content.startswith(b"%PDF"):
        found = _check_pdf(layout, file, content, site)
    elif _GROUPS.search(content):
        found = _check_signature_page(layout, file, content)
    else:
        found = _check_report(layout, file, content, site)
    if not found.differs:
        found.checked.append(f"{file.name}: {found.kind} of events 1 to {found.through}, as the record gives it")
    return found


def _content(file: Path) -> bytes:
    try:
        content = read_plain(file, _LARGEST + 1)
    except OSError as error:
        raise UsageError(f"the page {file} cannot be read: {error.strerror}") from error
    if len(content) > _LARGEST:
        raise UsageError(f"{file} is larger than {_LARGEST >> 20} MiB: it is no page of a report")
    return content


# ---- the page to sign --------------------------------------------------------------------------------------------------------


def _check_signature_page(layout: Layout, file: Path, content: bytes) -> PageCheck:
    groups = _GROUPS.search(content)
    digest = b"".join(re.sub(rb"<[^>]*>", b"", groups[1] if groups else b"").split()).decode("ascii", "replace").lower()
    path = seals_of(layout) / f"{digest}.json"
    if not re.fullmatch("[0-9a-f]{64}", digest) or not path.is_file():
        raise UsageError(
            f"{file} is no page of {campaign_name(layout)}: it has no seal {digest[:16]}",
            hint="name the campaign that it was made from; 'shakedown verify' lists its seals",
        )
    seal = read_seal(path)
    signatures = signatures_of(layout, [digest])
    sides = signed_for(parties_of_seals(layout, [digest])[digest], signatures)
    pages = [
        render_signature_page(digest, seal.through + 1, seal.signed, signatures[:count], sides)
        for count in range(len(signatures), -1, -1)  # the page may have been printed before the last signatures
    ]
    found = PageCheck(str(file), "the page to sign", seal.through + 1)
    if content not in pages:
        nearest = min(pages, key=lambda page: len(list(_text_differences(page, content))))
        found.differs = _told(nearest, content)
    return found


# ---- the report --------------------------------------------------------------------------------------------------------------


def _check_report(layout: Layout, file: Path, content: bytes, site: Path | None) -> PageCheck:
    found = PageCheck(str(file), "the report", _through(layout, file, content))
    templates, theirs = _templates(layout, content, site)
    if theirs:
        found.differs.append(theirs)
        return found
    wanted = page_again(layout.root, found.through, content.decode("utf-8", "replace"), templates)
    made_by = _GENERATOR.search(content)
    version = made_by[2] if made_by else b""
    if _without_version(wanted) == _without_version(content):
        if templates is not None:
            found.differs = _left_out(layout, found.through, content)
        return found
    found.differs = _told(wanted, content)
    if version and version.decode("utf-8", "replace") != __version__:
        by = version.decode("utf-8", "replace")[:40]
        found.differs.append(
            f"it says that Shakedown {by} made it, and this is {__version__}: hold it against that one too"
        )
    return found


def _without_version(page: bytes) -> bytes:
    return _GENERATOR.sub(rb"\1\3", page).replace(f"Shakedown {__version__}".encode(), b"Shakedown")


def _through(layout: Layout, file: Path, content: bytes) -> int:
    """The last event of the record that the page was made from: the page names the digest of all lines up to that event."""
    named, found = {digest.decode() for digest in _DIGEST.findall(content)}, 0
    hashed = hashlib.sha256()
    for event, line in Reader(layout.log).lines():
        hashed.update(line + b"\n")
        if hashed.hexdigest() in named:
            found = event.seq
    if not found:
        raise UsageError(
            f"{file} is no report of {campaign_name(layout)}: no record digest on it is one that this campaign ever had",
            hint="name the campaign that it was made from; a page of a rehearsal, or one without its digest, cannot be checked",
        )
    return found


def _templates(layout: Layout, content: bytes, site: Path | None) -> tuple[Path | None, str]:
    """The folder of site templates that the page was made with, None for none; and a sentence where the templates here are not the
    same.
    """
    if not _TEMPLATES.search(content):
        return None, ""
    folder = templates_of(layout.root, site)
    lacking = [name for name, digest in digests(folder) if digest.encode() not in content] if folder else ["templates/"]
    if lacking or not digests(folder):
        return None, (
            "it was made with templates of a site that are not here as they were: whether they alone make the difference cannot "
            "be told (name their site with --site, or hold a page against the record that 'shakedown report' makes without them)"
        )
    return folder, ""


def _left_out(layout: Layout, through: int, content: bytes) -> list[str]:
    """Sentences on what the site's own templates leave out: the parts that settle the contract must be on every page."""
    ours = page_again(layout.root, through, content.decode("utf-8", "replace"), None)
    there = {line for _, line in lines_of_page(content.decode("utf-8", "replace"))}
    lines = [
        (section, line)
        for section, line in lines_of_page(ours.decode())
        if (section in PROTECTED or line.startswith(REGISTER)) and line not in there
    ]
    more = [f"and {plural(len(lines) - _MOST, 'line')} more"] if len(lines) > _MOST else []
    return [f"its templates leave out, in {section}: {line[:200]}" for section, line in lines[:_MOST]] + more


def _text_differences(wanted: bytes, there: bytes) -> list[str]:
    pages = (lines_of_page(page.decode("utf-8", "replace")) for page in (wanted, there))
    return list(differences(*pages))


def _told(wanted: bytes, there: bytes) -> list[str]:
    """The differences as sentences: differences of text, or else the first place where markup, style or a figure differs."""
    lines = _text_differences(wanted, there)
    if not lines:
        pairs = zip(wanted, there, strict=False)
        at = next((place for place, pair in enumerate(pairs) if pair[0] != pair[1]), min(len(wanted), len(there)))
        line = there[:at].count(b"\n") + 1
        where = f"from line {line} on (byte {at})"
        return [
            f"it says what the record gives, and its markup, style or a figure is another one, {where}: that was altered, or "
            "another version of Shakedown or of matplotlib made it"
        ]
    more = [f"and {plural(len(lines) - _MOST, 'difference')} more"] if len(lines) > _MOST else []
    return [*lines[:_MOST], *more]


# ---- the PDF -----------------------------------------------------------------------------------------------------------------


def _check_pdf(layout: Layout, file: Path, content: bytes, site: Path | None) -> PageCheck:
    """Check a PDF: its text must be the same, and also its bytes, because an object drawn over a text hides that text."""
    from shakedown.report.page.pdf import pdf_text, to_pdf

    text = pdf_text(content)
    found = PageCheck(str(file), "the report", _through(layout, file, "".join(text.split()).encode() + text.encode()))
    templates, theirs = _templates(layout, text.encode(), site)
    if theirs:
        found.differs.append(theirs)
        return found
    wanted = to_pdf(page_again(layout.root, found.through, text, templates))
    if wanted == content:
        return found
    pairs = [[("the PDF", line) for line in one.splitlines() if line.strip()] for one in (pdf_text(wanted), text)]
    lines = list(differences(*pairs))
    found.differs = lines[:_MOST] or [
        "its text is what the record gives, and its bytes are not: it was set by other versions of WeasyPrint or Pango, or its "
        "looks were altered; 'shakedown report --pdf' makes it again"
    ]
    return found
