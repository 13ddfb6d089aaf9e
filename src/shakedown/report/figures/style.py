"""The style of all figures, and how they become bytes: the same bytes each time, readable on screen, in print and in grey.

Only matplotlib's own fonts, styles and settings are used, never the user's; files contain no date and no random id.
"""

from __future__ import annotations

import io
import logging
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from shakedown.metrics.words import show_number
from shakedown.report.words import one_line

FORMATS = ("svg", "pdf", "png")
DPI = 200
WIDTH, HALF = 7.0, 3.42  # inches: the text width of the page, and half of it
LEGEND_LETTERS = 44  # of one line of a legend: more are wider than half a page
SHAPING = ("GSUB", "GPOS", "GDEF", "BASE", "MATH", "JSTF", "kern")  # tables of a font
MARK = 0.14  # inches that a figure grows by what is written below it
INK, FAINT, RULE = "#1d2733", "#66717d", "#d5dae0"
ACCENT = "#1f5f8b"
SEQUENCE = ("#1f5f8b", "#c8641e", "#3c8b5a", "#8a4a9e", "#a38a1b", "#4b5563")  # up to six cases beside each other
# Of runs that passed; none of them is the shape of another verdict. A second and a third round of colours has another one.
_SHAPES = ("o", "^", "<")
MOST_LOOKS = len(SEQUENCE) * len(_SHAPES)

# verdict -> (marker, colour): the shape tells them apart in grey
MARKS: dict[str, tuple[str, str]] = {
    "passed": ("o", "#2f6f9f"),
    "failed": ("X", "#b3261e"),
    "incorrect": ("D", "#8e1b5b"),
    "performance": ("v", "#b7791f"),
    "timeout": (">", "#c8641e"),
    "node_fail": ("s", "#111111"),
    "interrupted": ("P", "#6b7280"),
    "build_failed": ("p", "#6b3f1d"),
    "not_run": ("x", "#6b7280"),
    "spared": (".", "#d5dae0"),
    "submit_failed": ("h", "#6b3f1d"),
    "cancelled": ("_", "#6b7280"),
    "lost": ("*", "#6b7280"),
    "undetermined": ("$?$", "#6b7280"),
}

_SETTINGS: dict[str, Any] = {
    "font.family": ["DejaVu Sans"],
    "font.size": 7.5,
    "axes.titlesize": 8,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 7.5,
    "axes.labelcolor": INK,
    "axes.edgecolor": FAINT,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": RULE,
    "grid.linewidth": 0.4,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "text.color": INK,
    "text.parse_math": False,  # names of tests may hold dollars
    "text.usetex": False,
    "legend.frameon": False,
    "legend.fontsize": 7,
    "figure.constrained_layout.use": True,
    "figure.dpi": DPI,  # of what is drawn as a picture: bitmaps and thousands of points
    "svg.fonttype": "path",
    "svg.hashsalt": "shakedown",
    "pdf.fonttype": 42,
    "pdf.compression": 6,
}


class Drawing:
    """A figure. ``file`` is its name without suffix; ``wide``: as wide as the page, else half of it; ``height`` in inches.

    It is painted on first use: ``svg``, ``pdf`` and ``png`` are files, ``inline`` is the SVG for a page.
    """

    def __init__(
        self, file: str, title: str, caption: str, height: float, paint: Callable[[Any], None], wide: bool = True
    ) -> None:
        self.file, self.title, self.caption, self.height, self.wide = file, title, caption, height, wide
        self._paint = paint

    def mark(self, words: str) -> None:
        """Write a small line below the whole figure, in each of its formats: for example that it shows a model."""
        paint = self._paint

        def paint_and_mark(figure: Any) -> None:
            paint(figure)
            figure.set_figheight(figure.get_figheight() + MARK)
            figure.supxlabel(words, x=0.995, ha="right", fontsize=6, color=FAINT)

        self._paint = paint_and_mark

    @cached_property
    def svg(self) -> bytes:
        return self._printed("svg", {"Date": None, "Creator": None, "Title": one_line(self.title)})

    @cached_property
    def pdf(self) -> bytes:
        return self._printed("pdf", {"CreationDate": None, "Title": one_line(self.title)})

    @cached_property
    def png(self) -> bytes:
        return self._printed("png", {"Software": None, "Title": one_line(self.title)})

    @cached_property
    def inline(self) -> str:
        return inline_svg(self.svg.decode(), self.file)

    def in_format(self, name: str) -> bytes:
        """The bytes of the figure in one of FORMATS."""
        data: bytes = getattr(self, name)
        return data

    @cached_property
    def _figure(self) -> Any:
        """The painted figure with its final layout, for all formats: the layout is half of the time that a figure takes."""
        from matplotlib.figure import Figure
        from matplotlib.ticker import FixedLocator

        figure: Any = Figure(figsize=(WIDTH if self.wide else HALF, self.height))
        self._paint(figure)
        figure.get_layout_engine().execute(figure)
        sticking = _sticking_out(figure)
        for axis in (
            sticking
        ):  # axes of another size have other numbers beside them: each layout would be for those of the one before
            axis.set_major_locator(FixedLocator(axis.get_majorticklocs()))
        if sticking:
            figure.get_layout_engine().execute(figure)
        figure.set_layout_engine("none")
        return figure

    def _printed(self, name: str, metadata: dict[str, str | None]) -> bytes:
        import importlib

        backend = importlib.import_module(f"matplotlib.backends.backend_{'agg' if name == 'png' else name}")
        data = io.BytesIO()
        with style(), fonts_without_shaping():
            self._figure.set_dpi(DPI)  # the formats before may have changed it
            getattr(backend.FigureCanvas(self._figure), f"print_{name}")(data, metadata=metadata)
        return data.getvalue()


@contextmanager
def fonts_without_shaping() -> Iterator[None]:
    """Purpose: within this context, fonts in a PDF are cut down without their shaping tables (which say how glyphs are combined).

    No PDF reader uses those tables, as each glyph has a fixed place; cutting them down takes half of the time of a report.
    """
    import importlib

    options: Any = importlib.import_module("fontTools.subset").Options
    usual: list[str] | None = getattr(options, "_drop_tables_default", None)
    if usual is None:  # a fontTools that says it elsewhere: the PDF takes longer
        yield
        return
    options._drop_tables_default = [*usual, *SHAPING]
    try:
        yield
    finally:
        options._drop_tables_default = usual


def _sticking_out(figure: Any) -> list[Any]:
    """The axes whose name is partly outside of the figure."""
    sides = [axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis) if axis.label.get_text()]
    for axis in sides:
        axis.get_tightbbox()  # moves the name to where the numbers beside it leave it
    boxes, whole = [axis.label.get_window_extent() for axis in sides], figure.bbox
    return [axis for axis, box in zip(sides, boxes, strict=True) if box.x0 < whole.x0 or box.y0 < whole.y0]


@contextmanager
def style() -> Iterator[None]:
    """Purpose: the context in which figures are painted: matplotlib's defaults, our settings, its own fonts. Restores all
    afterwards.
    """
    import matplotlib
    from matplotlib import font_manager

    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    manager, bundled = font_manager.fontManager, str(matplotlib.get_data_path())
    fonts = manager.ttflist
    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # glyphs that a font lacks are drawn as boxes; nobody need be told
        matplotlib.rcdefaults()
        settings: Any = matplotlib.rcParams
        settings.update(_SETTINGS)
        manager.ttflist = [font for font in fonts if font.fname.startswith(bundled)]
        try:
            yield
        finally:
            manager.ttflist = fonts


def draw(
    file: str, title: str, caption: str, height: float, paint: Callable[[Any], None], wide: bool = True
) -> Drawing:
    """Purpose: a figure as wide as the page (or half of it), ``height`` inches high. ``paint`` is called when the
    figure is needed.
    """
    return Drawing(file, title, caption, height, paint, wide)


def inline_svg(text: str, name: str) -> str:
    """An SVG file's root element for a page: no prologue or metadata, unique ids, as wide as its container."""
    body = text[text.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", body, flags=re.DOTALL)
    body = re.sub(r'(\sid="|href="#|url\(#)', rf"\g<1>{name}-", body)
    head, rest = body.split(">", 1)
    head = re.sub(r'\s(?:width|height|version|xmlns:xlink)="[^"]*"', "", head)
    return f'{head} xmlns:xlink="http://www.w3.org/1999/xlink" aria-hidden="true" focusable="false">{rest}'.strip()


def legend_above(figure: Any, handles: list[Any], names: list[str]) -> None:
    """Place a legend above all axes, in as many columns as fit. The figure becomes higher: the axes keep their width and height."""
    look = {"columnspacing": 1.2, "handletextpad": 0.4, "handlelength": 1.4, "borderpad": 0.3, "borderaxespad": 0.3}
    for columns in range(len(names), 0, -1):
        legend = figure.legend(handles, names, ncols=columns, loc="outside upper left", **look)
        place = legend.get_window_extent()
        if columns == 1 or place.width <= figure.bbox.width:
            figure.set_figheight(figure.get_figheight() + place.height / figure.dpi)
            break
        legend.remove()


def look_of(place: int) -> tuple[str, str]:
    """Colour and shape for one of up to ``MOST_LOOKS`` cases in one figure."""
    return SEQUENCE[place % len(SEQUENCE)], _SHAPES[place // len(SEQUENCE)]


def label(text: str, limit: int = 48) -> str:
    """A name of unknown origin as a label: one line, short, and never hidden because of a leading underscore."""
    plain = one_line(text, limit)
    return f"\u2009{plain}" if plain.startswith("_") else plain


def capital(name: str) -> str:
    """A name of unknown origin as the beginning of a title, with a capital letter."""
    text = one_line(name, 40)
    return text[:1].upper() + text[1:]


def short_number(value: float, _: int | None = None) -> str:
    """A number on an axis or a bar: 0.5, 200, 8034, 10 k, 1.89 M."""
    for size, factor, letter in ((1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k")):
        if abs(value) >= size:
            return f"{show_number(value / factor, 3)} {letter}"
    return show_number(value, 4 if value >= 1000 else 3)


def rounded_colours(values: int) -> list[Any]:
    """A number of colours from dark to light that keep their order in grey."""
    import matplotlib

    scale = matplotlib.colormaps["viridis"]
    return [scale(0.85 * place / max(values - 1, 1)) for place in range(values)]
