"""A page as PDF. WeasyPrint typesets it with the fonts of matplotlib, so that no font of the machine is used.

Nothing is loaded except these fonts and what the page itself holds. The same page gives the same bytes: no date, no random id.
"""

from __future__ import annotations

import base64
import io
import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from shakedown.model.errors import UsageError
from shakedown.report.page.settled_block import parts_of

HINT = "install it with: pip install 'shakedown[pdf]', and on Debian: apt-get install libpango-1.0-0 libpangoft2-1.0-0"
_FACES = (  # names of our own: a machine may have other versions of the same fonts
    ("Report Sans", "normal", "normal", "DejaVuSans.ttf"),
    ("Report Sans", "bold", "normal", "DejaVuSans-Bold.ttf"),
    ("Report Sans", "normal", "italic", "DejaVuSans-Oblique.ttf"),
    ("Report Serif", "normal", "normal", "DejaVuSerif.ttf"),
    ("Report Serif", "bold", "normal", "DejaVuSerif-Bold.ttf"),
    ("Report Mono", "normal", "normal", "DejaVuSansMono.ttf"),
    ("Report Mono", "bold", "normal", "DejaVuSansMono-Bold.ttf"),
)
_STYLE = """
html { font-family: "Report Serif" !important; font-size: 8.4pt !important; }
h1, h2, h3, .kicker, table, dl, .verdict, nav, figure, .facts, .signatures, .small, .again, .tag, .missing ul, .failure .head {
  font-family: "Report Sans" !important;
}
@page { @bottom-left { font-family: "Report Sans" !important; } @bottom-right { font-family: "Report Sans" !important; } }
img.drawn { display: block; width: 100%; }
code, pre { font-family: "Report Mono" !important; }
table { font-size: 6.7pt !important; } th { font-size: 6.3pt !important; }
"""


def trouble() -> str:
    """Purpose: why no PDF can be made here; "" where one can."""
    try:
        import weasyprint  # noqa: F401
    except ImportError:
        return f"WeasyPrint, which makes the PDF, is not installed; {HINT}"
    except OSError as error:
        return f"WeasyPrint cannot load a library of the system ({str(error).splitlines()[0]}); {HINT}"
    return ""


def to_pdf(page: bytes) -> bytes:
    """Purpose: the PDF of a self-contained HTML page. Errors: UsageError where WeasyPrint or a library that it needs is missing."""
    why = trouble()
    if why:
        raise UsageError("no PDF can be made here: " + why.partition("; ")[0], hint=HINT)
    import weasyprint
    from weasyprint.text.fonts import FontConfiguration
    from weasyprint.urls import URLFetcher

    ours, strangers = (URLFetcher(allowed_protocols=allowed) for allowed in (("file",), ("data",)))
    with _steady():
        rendered = []
        for part in map(_pictures_apart, parts_of(page.decode())):  # each with fonts and style sheets of its own
            fonts = FontConfiguration()
            sheet = weasyprint.CSS(string=_faces() + _STYLE, font_config=fonts, url_fetcher=ours)
            html = weasyprint.HTML(string=part, url_fetcher=strangers)
            rendered.append(html.render(stylesheets=[sheet], font_config=fonts))
        stream = io.BytesIO()
        rendered[0].copy([sheet for document in rendered for sheet in document.pages]).write_pdf(stream)
    return stream.getvalue()


def pdf_text(content: bytes) -> str:
    """Purpose: the text of a PDF, page after page. Errors: UsageError where it cannot be read, or no PDF reader is installed."""
    try:
        import pypdfium2
    except ImportError as error:
        hint = "install it with: pip install 'shakedown[pdf]'; or hold report.html against the record"
        raise UsageError("no PDF can be read here: pypdfium2 is not installed", hint=hint) from error
    try:
        document = pypdfium2.PdfDocument(content)
        return "\n".join(page.get_textpage().get_text_bounded() for page in document)
    except pypdfium2.PdfiumError as error:
        raise UsageError(f"this PDF cannot be read: {error}") from error


_FIGURE = re.compile(r"(?<=</figcaption>)\s*(<svg\b.*?</svg>)", re.DOTALL)


def _pictures_apart(part: str) -> str:
    """A page with its figures as images: inline, each of their thousands of shapes would be matched with the page's style sheet."""

    def picture(found: re.Match[str]) -> str:
        data = base64.b64encode(found.group(1).encode()).decode()
        return f'<img class="drawn" alt="" src="data:image/svg+xml;base64,{data}">'

    return _FIGURE.sub(picture, part)


@contextmanager
def _steady() -> Iterator[None]:
    """Fix the time that the libraries write into fonts, and silence their warnings about style sheets."""
    before = os.environ.get("SOURCE_DATE_EPOCH")
    os.environ["SOURCE_DATE_EPOCH"] = "0"
    for name in ("weasyprint", "fontTools"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        if before is None:
            del os.environ["SOURCE_DATE_EPOCH"]
        else:
            os.environ["SOURCE_DATE_EPOCH"] = before


def _font_folder() -> Path:
    import matplotlib

    return Path(matplotlib.get_data_path()) / "fonts" / "ttf"


def _faces() -> str:
    folder = _font_folder()
    return "".join(
        f'@font-face {{ font-family: "{family}"; font-weight: {weight}; font-style: {slant};'
        f" src: url({(folder / file).as_uri()}); }}\n"
        for family, weight, slant, file in _FACES
    )
