"""Isolated and fill values beside those of the vendor and the contract; and how much better each is than the vendor's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shakedown.report.case_names import folded, telling_names
from shakedown.report.figures.declaration import ReportFigure
from shakedown.report.figures.style import ACCENT, FAINT, INK, Drawing, draw, label, legend_above, short_number
from shakedown.report.sides import Side, row_value
from shakedown.report.words import file_name, one_line, show_change

EACH_LIMIT, CASES_LIMIT = 8, 24  # figures, and cases in one
LEAST = 2  # values: one is a row of a table
COLOURS = {"isolated": ACCENT, "fill": "#9dbfd6", "": "#5d87a6"}
_NAMES = {"isolated": "isolated", "fill": "fill", "": "measured"}
_BASES = (("vendor", "D", "white"), ("contract", "|", "#b3261e"))  # basis, marker, its face


def draw_sides(sides: Sequence[Side]) -> tuple[list[Drawing], list[str]]:
    """Purpose: a figure for each component and figure of merit, and a sentence on those that are not drawn."""
    groups: dict[tuple[str, str], list[Side]] = {}
    for side in sides:
        if any(figure.summary for _, figure in side.modes):
            groups.setdefault((side.component, side.figure.name), []).append(side)
    told = [group for group in groups.values() if sum(map(_values_of, group)) >= LEAST]
    drawn = [_draw(number, group) for number, group in enumerate(told[:EACH_LIMIT], 1)]
    left = len(told) - len(drawn)
    return drawn, [f"{left} more comparisons of modes are not drawn; they are in tables/modes.csv"] if left else []


def _values_of(side: Side) -> int:
    return sum(figure.summary.count for _, figure in side.modes if figure.summary)


def _draw(number: int, group: list[Side]) -> Drawing:
    shown = group[:CASES_LIMIT]
    spec, component = group[0].figure, group[0].component
    what = "run time" if spec.name == "elapsed" else one_line(spec.name, 40)
    modes = [mode for mode in ("isolated", "fill", "") if any(side.numbers(mode) for side in shown)]
    names, common = telling_names([side.case for side in shown])
    compared = any(side.better(mode) is not None for side in shown for mode in modes)

    def paint(figure: Any) -> None:
        panels = figure.subplots(1, 2 if compared else 1, sharey=True, width_ratios=[1.5, 1] if compared else [1])
        axes = panels[0] if compared else panels
        _values(axes, shown, modes)
        axes.set_xlabel(label(f"{what}, {one_line(spec.unit, 16)}" if spec.unit else what))
        _names(axes, names)
        legend_above(figure, *axes.get_legend_handles_labels())
        if compared:
            _shares(panels[1], shown, modes)

    name = f"modes-{number:02d}-{file_name(component, 24)}-{file_name(spec.name, 40)}"
    title = f"Isolated, fill and vendor: {what}, {one_line(component, 40)}"
    return draw(name, title, _caption(group, compared, common), 0.6 + 0.36 * len(shown), paint)


def _caption(group: list[Side], compared: bool, common: str) -> str:
    text = "Means of the runs that count; lines are 95% intervals of the mean."
    if compared:
        text += " Right: difference from the vendor's number, positive is better"
        medians = any(side.held_against(mode) == "median" for side in group for mode, _ in side.modes)
        text += "; of medians where the vendor's row is on the median." if medians else "."
    text += f" All are of {one_line(common, 160)}." if common else ""
    left = len(group) - CASES_LIMIT
    return text + (f" The first {CASES_LIMIT} of {len(group)} cases are drawn." if left > 0 else "")


def _values(axes: Any, sides: list[Side], modes: list[str]) -> None:
    """Draw bars from zero with their intervals, a mark for each number of the vendor and for each bound of the contract."""
    most = 0.0
    for mode in modes:
        known = [(place, numbers) for place, side in enumerate(sides) if (numbers := side.numbers(mode))]
        places = [place + _shift(mode, modes) for place, _ in known]
        means = [numbers.mean for _, numbers in known]
        axes.barh(places, means, height=_thick(modes), color=COLOURS[mode], label=_NAMES[mode])
        for place, (_, numbers) in zip(places, known, strict=True):
            low, high = numbers.interval or (numbers.mean, numbers.mean)
            axes.plot([low, high], [place, place], color=INK, linewidth=0.9, solid_capstyle="butt")
            most = max(most, high, numbers.mean)
    for basis, marker, face in _BASES:
        marks = [(value, place) for place, side in enumerate(sides) for value in _numbers_of_basis(side, basis)]
        if marks:
            look = {"marker": marker, "s": 24 if marker == "D" else 150, "c": face, "linewidths": 0.9}
            edge = {"edgecolors": INK} if marker == "D" else {}
            axes.scatter([x for x, _ in marks], [y for _, y in marks], label=basis, zorder=4, **look, **edge)
            most = max(most, *(x for x, _ in marks))
    axes.set_xlim(0, 1.08 * most or 1.0)
    axes.xaxis.set_major_formatter(lambda value, place: short_number(value, place))


def _numbers_of_basis(side: Side, basis: str) -> list[float]:
    """The vendor's numbers or, for the contract, its bounds."""
    rows = [row for row in side.rows if row.basis == basis]
    found = (
        [row_value(row) for row in rows] if basis == "vendor" else [end for row in rows for end in (row.low, row.high)]
    )
    return list(dict.fromkeys(value for value in found if value is not None))


def _shares(axes: Any, sides: list[Side], modes: list[str]) -> None:
    """Draw how much better each value is than the vendor's number, in per cent, with the number at the bar's end."""
    found = []
    for mode in modes:
        for place, side in enumerate(sides):
            share = side.better(mode)
            if share is not None:
                found.append((place + _shift(mode, modes), 100 * share, COLOURS[mode]))
    axes.barh([y for y, _, _ in found], [x for _, x, _ in found], height=_thick(modes), color=[c for *_, c in found])
    reach = max(abs(x) for _, x, _ in found) or 1.0
    digits = 1 if reach >= 1 else 2
    for y, x, _ in found:
        beside = {"ha": "left" if x >= 0 else "right", "va": "center", "fontsize": 6.5}
        axes.text(x + (0.03 if x >= 0 else -0.03) * reach, y, show_change(x, digits), **beside)
    axes.axvline(0, color=INK, linewidth=0.7)
    axes.set_xlim(-1.35 * reach, 1.35 * reach)
    axes.set_xlabel("better than the vendor's number, %")
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0, colors=FAINT)


def _names(axes: Any, names: list[str]) -> None:
    axes.set_yticks(range(len(names)), [folded(name, 30) for name in names], color=INK)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)


def _thick(modes: list[str]) -> float:
    return 0.72 / len(modes)


def _shift(mode: str, modes: list[str]) -> float:
    """The offset of a mode's bar from the middle of its case."""
    return (modes.index(mode) - (len(modes) - 1) / 2) * _thick(modes)


FIGURES = (ReportFigure("modes and vendor", "sides", lambda m: draw_sides(m.evidence.sides)),)
