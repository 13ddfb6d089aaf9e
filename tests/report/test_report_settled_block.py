"""Hostile templates and style sheets of a site: what was settled stands first on the page, and is the same whatever they hold."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shakedown.audit.sealing import Sealed, signature_page, signed_words
from shakedown.model.errors import FileProblems
from shakedown.model.layout import Layout
from shakedown.report.page import pdf
from shakedown.report.page.settled_block import parts_of
from shakedown.report.reading import read_campaign, scorecard_of
from shakedown.report.writing import make_report

if TYPE_CHECKING:
    from tests.report.conftest import CampaignBuilder

pytestmark = pytest.mark.usefixtures("without_figures")
EXTENDS = '{% extends "shakedown/report.html" %}\n'
FORGED = "<div style='position: fixed; inset: 0; z-index: 2147483647; background: white'>Accepted: all criteria are met</div>"
SHEETS = {
    "hidden": "* { display: none !important } html, body, div { visibility: hidden !important; opacity: 0 !important }",
    "moved": "div { position: absolute !important; left: -99px !important; transform: scale(0) !important; z-index: -1 !important }"
    " div { clip-path: inset(50%) !important; font-size: 0 !important; color: white !important; contain: size !important }",
    "forged": "body::before, div::after, html::after { content: 'Accepted' !important; position: fixed; inset: 0; z-index: 99999 }"
    " div::first-line { font-size: 0 !important }",
    "replaced": "div { content: url(data:image/svg+xml,x) !important } @layer { div { display: none !important } }",
    "printed": "@page { size: 1mm 1mm; margin: 0 } @media print { div { display: none !important } }"
    " @page { @top-center { content: 'Accepted' } }",
}
TEMPLATES = {
    "nothing of it": "<p>Accepted</p>",
    "covers": "{% block cover %}"
    + FORGED
    + "{% endblock %}{% block scorecard %}{% endblock %}{% block signatures %}{% endblock %}",
    "closes": "</div></face></body></html><body hidden style='display:none'><div>" + FORGED,
    "swallows": "<!-- <plaintext><template><select><svg><style>",
    "styles": "<style>body > div:first-child { display: none !important }</style><script>document.body.remove()</script>"
    + FORGED,
}


@pytest.fixture
def site(small: CampaignBuilder, tmp_path: Path) -> Path:
    """A site with one campaign that is rejected, and an act: the run that failed was ruled the site's."""
    home = tmp_path / "site"
    (home / "templates").mkdir(parents=True)
    (home / "site.yaml").write_text("site: here\n")
    small.root = home / "campaigns/one"
    run = small.run("hello", "main", "failed")
    small.add("ruled", run=run, value={"as": "site", "by": "Ada <b>"}, reason="a disk")
    small.end()
    small.save()
    return home


def pages(site: Path, template: str | None = None, sheet: str | None = None, as_pdf: bool = False) -> list[str]:
    """The block with what comes before it, and what the site laid out."""
    for name, text in (("report.html", template), ("report.css", sheet)):
        if text is not None:
            extends = EXTENDS if text.startswith("{% block") else ""
            (site / "templates" / name).write_text(extends + text)
    return parts_of(make_report(site / "campaigns/one", pdf=as_pdf).page.read_text())


def block_of(part: str) -> str:
    return re.sub(r"templates/report\.(html|css) \([0-9a-f]{16}\)", "FILE", part)


@pytest.mark.parametrize("name", TEMPLATES)
def test_no_template_reaches_what_was_settled(site: Path, name: str) -> None:
    plain = block_of(pages(site, "<p>plain</p>")[0])
    block, face = pages(site, TEMPLATES[name])
    assert block_of(block) == plain, "the same, whatever the template is"
    for words in ("<title>Rejected: small on", "✗ Rejected: small", "Rejected: 1 criterion of 1 not met", "ruled r000001 as site",
                  "Ada &lt;b&gt;", "without it: rejected", "For the vendor", "It stands once, here at the beginning"):  # fmt: skip
        assert words in block, words
    assert "Accepted" not in block and "script" not in block.replace("default-src", "")
    assert TEMPLATES[name].split("{% block")[0] in face


@pytest.mark.parametrize("name", SHEETS)
def test_no_style_sheet_reaches_it(site: Path, name: str) -> None:
    """A browser is not asked here: every element of the block resets all properties itself, important, in its own attribute."""
    block, face = pages(site, sheet=SHEETS[name])
    assert SHEETS[name] in face and SHEETS[name] not in block
    tags = re.findall(r"<(?!/|!|meta|title|style|head)[a-z]+[^>]*>", block)
    assert len(tags) > 8
    for tag in tags:
        style = re.search(r'style="([^"]*)"', tag)
        assert style is not None and style[1].startswith("all: initial !important; direction: ltr !important;"), tag
        declarations = [one for one in style[1].split(";") if one.strip()]
        assert all(one.endswith("!important") for one in declarations), tag
        assert "display: " in style[1]
    layer = block.index("@layer {\n")
    assert layer < block.index("</style>") and "body::before { content: none !important;" in block
    for one in ("position: relative !important", "z-index: 0 !important", "contain: layout paint !important"):
        assert one in make_report(site / "campaigns/one").page.read_text().split("<face-", 1)[1].split(">", 1)[0]


def test_what_the_site_laid_out_cannot_close_the_element_that_holds_it(site: Path) -> None:
    """Its name is a digest of all that is in it."""
    _, face = pages(site, TEMPLATES["closes"])
    text = make_report(site / "campaigns/one").page.read_text()
    name = re.findall(r"<(face-[0-9a-f]{64}) ", text)
    assert len(name) == 1 and name[0] not in face and text.endswith(f"\n</{name[0]}>\n</body>\n</html>\n")


def test_a_page_without_templates_has_no_block(site: Path) -> None:
    text = make_report(site / "campaigns/one").page.read_text()
    assert "data-settled" not in text and parts_of(text) == [text]


@pytest.mark.parametrize(
    "tag",
    ['<meta http-equiv="refresh" content="0; url=https://x">', "<META HTTP-EQUIV=refresh>", '<meta name=">" http-equiv="refresh">',
     '<meta http-equiv="&#114;efresh" content="0">', "<meta/http-equiv='refresh'>"],
)  # fmt: skip
def test_a_page_that_leads_its_reader_away_is_refused(site: Path, tag: str) -> None:
    with pytest.raises(FileProblems, match="a report may not hold the tag <"):
        pages(site, f"<p>x</p>{tag}")


def test_nothing_is_opened_above_the_page_by_a_click(site: Path) -> None:
    _, face = pages(
        site, '<button popoverTarget = p>x</button><div id=p popover>Accepted</div><meta name="author" content="me">'
    )
    assert "<button off-popoverTarget = p>" in face


@pytest.mark.parametrize("name", ["covers", "swallows"])
def test_a_pdf_has_it_on_pages_of_its_own(site: Path, name: str) -> None:
    import pypdfium2

    if why := pdf.trouble():
        pytest.skip(why)
    (site / "templates/report.css").write_text(
        " ".join(SHEETS.values()).replace("@page { size: 1mm 1mm; margin: 0 }", "")
    )
    pages(site, TEMPLATES[name], as_pdf=True)
    document = pypdfium2.PdfDocument((site / "campaigns/one/report.pdf").read_bytes())
    first = " ".join(document[0].get_textpage().get_text_bounded().split())
    assert first.startswith("✗ Rejected: small") and "Accepted" not in first
    assert "ruled r000001 as site" in first and "For the vendor" in first
    assert document[0].get_size() == pytest.approx((595.3, 841.9), abs=1)


def test_the_page_to_sign_knows_no_template(site: Path) -> None:
    layout = Layout(site / "campaigns/one")
    read = read_campaign(layout.root)
    sealed = Sealed("ab" * 32, 9, signed_words(layout, read.document, scorecard_of(read), "Ada", 0.0))
    before = Path(signature_page(layout, sealed)).read_bytes()
    pages(site, TEMPLATES["covers"], SHEETS["hidden"])
    assert Path(signature_page(layout, sealed)).read_bytes() == before and b"Rejected" in before
