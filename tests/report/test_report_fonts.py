"""The fonts in the PDF of a figure: the glyphs that it shows and nothing on how they are set, which takes long to cut down."""

from __future__ import annotations

import io
import re
import zlib
from typing import Any

import pytest

from shakedown.report.figures.style import SHAPING, Drawing, fonts_without_shaping


def drawn() -> Drawing:
    def paint(figure: Any) -> None:
        figure.add_subplot().set_title("office, fi and ffl")

    return Drawing("f", "a title", "a caption", 2.0, paint)


def fonts_in(pdf: bytes) -> list[Any]:
    """The TrueType fonts of a PDF, bold and plain."""
    fonttools = pytest.importorskip("fontTools.ttLib")
    streams = [found[1] for found in re.finditer(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL)]
    data = [zlib.decompress(one) for one in streams if one[:1] == b"\x78"]
    return [fonttools.TTFont(io.BytesIO(one)) for one in data if one.startswith(b"\0\1\0\0")]


def test_fonts_hold_glyphs_and_no_tables_on_how_they_are_set() -> None:
    fonts = fonts_in(drawn().pdf)
    assert len(fonts) >= 2 and all("glyf" in font for font in fonts)
    assert not [table for font in fonts for table in SHAPING if table in font]


def test_what_fonttools_does_for_others_is_as_before() -> None:
    options = pytest.importorskip("fontTools.subset").Options
    before = list(options().drop_tables)
    with pytest.raises(ZeroDivisionError), fonts_without_shaping():
        assert {*SHAPING} <= {*options().drop_tables}
        raise ZeroDivisionError
    assert options().drop_tables == before


def test_a_fonttools_that_says_it_elsewhere_draws_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    options = pytest.importorskip("fontTools.subset").Options
    usual = options._drop_tables_default
    monkeypatch.delattr(options, "_drop_tables_default")
    with fonts_without_shaping():
        assert not hasattr(options, "_drop_tables_default")
    monkeypatch.setattr(options, "_drop_tables_default", usual, raising=False)
    assert fonts_in(drawn().pdf)
