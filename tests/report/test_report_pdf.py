"""The report as PDF: the same words, the same bytes, nothing from elsewhere, and a clear sentence where it cannot be made."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from shakedown.cli.main import cli
from shakedown.model.errors import UsageError
from shakedown.report.page import pdf
from shakedown.report.writing import make_report

if TYPE_CHECKING:
    from tests.report.conftest import CampaignBuilder

needs_weasyprint = pytest.mark.skipif("pdf.trouble()", reason="WeasyPrint or a library of it is missing")


def words_of(data: bytes) -> list[str]:
    """The text of each page."""
    import pypdfium2

    return [page.get_textpage().get_text_bounded() for page in pypdfium2.PdfDocument(data)]


@needs_weasyprint
def test_it_holds_what_the_page_holds(acceptance: Path) -> None:
    pages = words_of((acceptance / "report.pdf").read_bytes())
    first, text = pages[0], " ".join(" ".join(pages).split())
    assert "Rejected" in first and "2 criteria of 9 not met" in first
    for words in ("For the vendor: The Vendor Company", "it matches no case of the plan", "libfabric 1.15.2 -> 1.20.1"):
        assert words in text
    digest = json.loads((acceptance / "log/000001.jsonl").read_bytes().split(b"\n")[1])["value"]["document"]
    for number, page in enumerate(pages, 1):
        assert f"{number} / {len(pages)}" in page and f"plan {digest[:16]}" in page, (
            "every page says what it belongs to"
        )
    assert (
        hashlib.sha256((acceptance / "report.pdf").read_bytes()).hexdigest()
        in (acceptance / "report/SHA256SUMS").read_text()
    )


@needs_weasyprint
def test_no_page_is_nearly_empty_and_nothing_is_cut_off(acceptance: Path) -> None:
    import numpy
    import pypdfium2

    pages = list(pypdfium2.PdfDocument((acceptance / "report.pdf").read_bytes()))
    for number, page in enumerate(pages, 1):
        dark = page.render(scale=1).to_numpy().min(axis=2) < 200
        rows, columns = numpy.flatnonzero(dark.any(axis=1)), numpy.flatnonzero(dark.any(axis=0))
        assert dark.mean() > 0.005 or number == len(pages), number
        assert rows[0] > 20 and columns[0] > 20 and columns[-1] < dark.shape[1] - 20, f"page {number} keeps its margins"


def uncompressed(data: bytes) -> bytes:
    """What the streams of a PDF hold."""
    found = []
    for match in re.finditer(rb"stream\r?\n(.*?)endstream", data, re.DOTALL):
        with contextlib.suppress(zlib.error):
            found.append(zlib.decompress(match[1]))
    return b"".join(found)


MAKE = """
import sys
from pathlib import Path
from shakedown.report.writing import make_report
make_report(Path(sys.argv[1]), pdf=True)
"""


@needs_weasyprint
def test_another_process_another_day_and_other_fonts_make_the_same_bytes(
    small: CampaignBuilder, tmp_path: Path
) -> None:
    small.run("hello", "main")
    small.end()
    campaign = small.save()
    make_report(campaign, pdf=True)
    moved = tmp_path / "else where"
    shutil.copytree(campaign, moved, ignore=shutil.ignore_patterns("report*"))
    fonts = tmp_path / "fonts.conf"
    fonts.write_text('<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig></fontconfig>')
    changed = {"TZ": "Asia/Kathmandu", "PYTHONHASHSEED": "7", "SOURCE_DATE_EPOCH": "1", "FONTCONFIG_FILE": str(fonts)}
    subprocess.run([sys.executable, "-c", MAKE, str(moved)], cwd="/", env=os.environ | changed, check=True)
    first, second = ((place / "report.pdf").read_bytes() for place in (campaign, moved))
    fonts_used = set(re.findall(rb"[A-Z]{6}\+([A-Za-z]+)", first + uncompressed(first)))
    assert fonts_used == {b"Report"}, "none is of the machine"
    assert b"CreationDate" not in first and first.startswith(b"%PDF")
    assert first == second


@needs_weasyprint
def test_a_page_gets_nothing_from_elsewhere(tmp_path: Path) -> None:
    secret = tmp_path / "secret.svg"
    secret.write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="300"><rect width="300" height="300"/></svg>'
    )
    page = f"<p>plain</p><img src='{secret.as_uri()}'><link rel=stylesheet href='{secret.as_uri()}'>"
    assert pdf.to_pdf(page.encode()) == pdf.to_pdf(page.replace("secret.svg", "missing.s").encode())
    assert os.environ.get("SOURCE_DATE_EPOCH") is None or os.environ["SOURCE_DATE_EPOCH"] != "0"


def without(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """As if WeasyPrint could not be imported."""

    class Refusing:
        def find_spec(self, name: str, *more: Any) -> None:
            if name == "weasyprint":
                raise error

    monkeypatch.delitem(sys.modules, "weasyprint", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Refusing(), *sys.meta_path])


HOW = "install it with: pip install 'shakedown[pdf]', and on Debian: apt-get install libpango-1.0-0 libpangoft2-1.0-0"


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (ImportError("no"), "WeasyPrint, which makes the PDF, is not installed"),
        (OSError("cannot load library 'libpango'\nmore"),
         "WeasyPrint cannot load a library of the system (cannot load library 'libpango')"),
    ],
)  # fmt: skip
def test_where_it_cannot_be_made_the_rest_is_and_the_way_out_is_said(
    small: CampaignBuilder,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: Exception,
    why: str,
) -> None:
    small.run("hello", "main")
    small.end()
    campaign = small.save()
    without(monkeypatch, error)
    assert cli.main(["report", str(campaign)], standalone_mode=False) == 0
    said = capsys.readouterr()
    assert said.err == f"drawing 1 figure ...\nno report.pdf: {why}; {HOW}\n"
    assert (campaign / "report.html").is_file() and not (campaign / "report.pdf").exists()
    with pytest.raises(UsageError) as caught:
        cli.main(["report", "--pdf", str(campaign)], standalone_mode=False)
    assert str(caught.value) == f"no PDF can be made here: {why}\nhint: {HOW}"


@needs_weasyprint
def test_a_report_without_one_takes_an_old_one_away(small: CampaignBuilder) -> None:
    campaign = small.save()
    make_report(campaign, pdf=True)
    assert (campaign / "report.pdf").is_file()
    make_report(campaign)
    assert not (campaign / "report.pdf").exists(), "it would tell of a record that is no more"


def test_figures_are_pictures_of_the_pdf_and_the_words_around_them_stay() -> None:
    """A shape in the page itself is styled by its style sheet, one by one; other drawings of the page, such as strips, stay."""
    strip = '<table><td><svg class="strip"><circle/></svg></td></table>'
    page = f'{strip}<figure><figcaption>A</figcaption>\n<svg viewBox="0 0 9 9"><g/></svg></figure>'
    apart = pdf._pictures_apart(page)
    assert apart.count("data:image/svg+xml;base64,") == 1 and apart.count("<svg") == 1
    assert "<figcaption>A</figcaption>" in apart
