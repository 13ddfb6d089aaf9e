"""Rates of the file system as bars: medians over the runs of a case, with the range from the lowest to the highest."""

from __future__ import annotations

from typing import Any

from shakedown.metrics.statistics import median
from shakedown.metrics.words import plural
from shakedown.model.units import show_bytes
from shakedown.report.figures.outputs_read import CasePictures
from shakedown.report.figures.records import IoRate
from shakedown.report.figures.style import ACCENT, FAINT, INK, Drawing, draw, label, short_number
from shakedown.report.words import file_name, one_line

PANELS_LIMIT, BARS_LIMIT = 4, 24  # at most, in one figure and in one panel
FEW = 8  # bars that fit half the page


def draw_io(number: int, case: CasePictures) -> Drawing:
    """Purpose: the rates of one case, one panel per unit."""
    units = list(dict.fromkeys(rate.unit for rate in case.rates))
    sizes = {rate.transfer for rate in case.rates if rate.transfer}
    panels = [_bars([rate for rate in case.rates if rate.unit == unit], len(sizes) > 1) for unit in units]
    shown = [panel[:BARS_LIMIT] for panel in panels[:PANELS_LIMIT]]
    lines, left = sum(map(len, shown)), sum(map(len, panels)) - sum(map(len, shown))
    wide = lines > FEW

    def paint(figure: Any) -> None:
        ratios = [len(panel) + 1 for panel in shown]
        column = figure.subplots(len(shown), 1, height_ratios=ratios, squeeze=False)[:, 0]
        for axes, panel, unit in zip(column, shown, units, strict=False):
            _paint_bars(axes, panel, unit, 40 if wide else 34)

    caption = f"Medians of {plural(case.rate_runs, 'run')}; the thin line goes from the least to the most."
    caption += f" Transfers of {show_bytes(sizes.pop())}." if len(sizes) == 1 else ""
    caption += f" {left} more rates are not drawn." if left else ""
    title, name = f"Input and output: {one_line(case.case, 60)}", f"io-{number:02d}-{file_name(case.case)}"
    return draw(name, title, caption, 0.55 * len(shown) + 0.22 * lines + 0.2, paint, wide)


def _bars(rates: list[IoRate], sized: bool) -> list[tuple[str, list[float]]]:
    """(name, values) of each operation, in the order of appearance. ``sized``: the size of a transfer is part of the name."""
    bars: dict[str, list[float]] = {}
    for rate in rates:
        size = f", {show_bytes(rate.transfer)}" if sized and rate.transfer else ""
        bars.setdefault(f"{rate.operation} {rate.mode}".strip() + size, []).append(rate.value)
    return list(bars.items())


def _paint_bars(axes: Any, bars: list[tuple[str, list[float]]], unit: str, letters: int) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    middles = [median(values) for _, values in bars]
    places = range(len(bars))
    colours = [
        ACCENT if name.startswith("write") else "#7fa8c4" if name.startswith("read") else FAINT for name, _ in bars
    ]
    axes.barh(places, middles, height=0.62, color=colours)
    most = max((max(values) for _, values in bars), default=0.0) or 1.0
    for place, (_, values) in enumerate(bars):
        if len(values) > 1:
            axes.plot([min(values), max(values)], [place, place], color=INK, linewidth=0.8, solid_capstyle="butt")
        axes.text(max(values) + 0.01 * most, place, short_number(middles[place]), va="center", fontsize=6.5)
    axes.set_yticks(places, [label(name, letters) for name, _ in bars], color=INK)
    axes.invert_yaxis()
    axes.set_xlim(0, most * 1.2)
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_formatter(FuncFormatter(short_number))
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.set_xlabel(label(unit, 20))
