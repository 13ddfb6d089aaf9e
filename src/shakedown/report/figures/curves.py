"""Figures of merit that have a number for each row of a table, as curves: latency against message size, rate against threads.

A table whose rows differ in one number gives a picture for each test and figure, with a curve for each case: the median over its
runs, and the range from the lowest to the highest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from shakedown.checks.numbers import number
from shakedown.metrics.cases import CaseSummary, FigureSummary
from shakedown.metrics.words import plural
from shakedown.model.figures import figure_of
from shakedown.report.case_names import telling_names
from shakedown.report.figures.declaration import Drawn, Material, ReportFigure
from shakedown.report.figures.style import SEQUENCE, Drawing, draw, label, legend_above, short_number
from shakedown.report.words import file_name, one_line

CURVES_LIMIT = 12  # pictures in one report
FEWEST = 3  # places along the axis that make a curve
_WIDE_RANGE = 30.0  # the highest over the lowest, from which on an axis is logarithmic


@dataclass(slots=True)
class Curve:
    """One case in one mode. Each point: place along the axis, median, lowest and highest."""

    name: str
    points: list[tuple[float, float, float, float]] = field(default_factory=list)


@dataclass(slots=True)
class Picture:
    """One figure of one test in one component, against the column that its rows differ in, or against a parameter. ``beside``: in
    words, what else changes with that parameter; ``ticks``: places along the axis that get a label, () = matplotlib chooses;
    ``where``: what all of its curves have in common, "" where the picture has every curve.
    """

    component: str
    test: str
    figure: str
    column: str
    unit: str
    curves: list[Curve] = field(default_factory=list)
    beside: str = ""
    ticks: tuple[float, ...] = ()
    where: str = ""

    @property
    def points(self) -> list[tuple[float, float, float, float]]:
        return [point for curve in self.curves for point in curve.points]


def draw_curves(cases: Sequence[CaseSummary]) -> tuple[list[Drawing], list[str]]:
    """Purpose: a picture for each test and figure that has curves, and a sentence on those that are not drawn."""
    pictures = [picture for picture in _pictures(cases) if picture.curves]
    drawings = [
        draw_picture(f"curve-{number:02d}", picture) for number, picture in enumerate(pictures[:CURVES_LIMIT], 1)
    ]
    left = len(pictures) - len(drawings)
    said = f"the curves of {left} figures more are not drawn; they are in tables/figures.csv"
    return drawings, [said] if left else []


def _pictures(cases: Sequence[CaseSummary]) -> Iterator[Picture]:
    found: dict[tuple[str, str, str, str], Picture] = {}
    for case in cases:
        for (figure, column, mode), rows in _tables(case).items():
            curve = Curve(f"{case.case.id}, {mode}" if mode else case.case.id, sorted(rows))
            if len(curve.points) < FEWEST:
                continue
            key = (case.component, case.case.test, figure, column)
            unit = next(one.spec.unit for one in case.figures if figure_of(one.spec.name) == figure)
            found.setdefault(key, Picture(*key, unit)).curves.append(curve)
    return iter(found.values())


def _tables(case: CaseSummary) -> dict[tuple[str, str, str], list[tuple[float, float, float, float]]]:
    """(figure, column, mode) -> the points of one case, for tables whose rows differ in one number."""
    found: dict[tuple[str, str, str], list[tuple[float, float, float, float]]] = {}
    for one in case.figures:
        tag = _tag(one)
        if tag is not None and one.summary is not None:
            column, place = tag
            numbers = one.summary
            key = (figure_of(one.spec.name), column, one.mode)
            found.setdefault(key, []).append((place, numbers.median, numbers.lowest, numbers.highest))
    return found


def _tag(figure: FigureSummary) -> tuple[str, float] | None:
    """The column and the number of ``lat[size=8]``; None where the rows differ in words, or in several columns."""
    _, bracket, rest = figure.spec.name.partition("[")
    column, equals, text = rest.removesuffix("]").partition("=")
    place = number(text) if bracket and equals else ""
    return None if isinstance(place, str) else (column, place)


def draw_picture(prefix: str, picture: Picture) -> Drawing:
    """Purpose: one picture, with its first curves. ``prefix``: the beginning of its file name."""
    names, common = telling_names([curve.name for curve in picture.curves])
    shown = picture.curves[: len(SEQUENCE)]

    def paint(figure: Any) -> None:
        axes = figure.add_subplot()
        for place, curve in enumerate(shown):
            x, middle, low, high = (list(values) for values in zip(*curve.points, strict=True))
            axes.fill_between(x, low, high, color=SEQUENCE[place], alpha=0.18, linewidth=0)
            axes.plot(x, middle, color=SEQUENCE[place], marker="osD^v*"[place], markersize=2.8, linewidth=1.0)
        _scale(axes.xaxis, axes.set_xscale, [point[0] for point in picture.points])
        if picture.ticks:
            axes.set_xticks(picture.ticks)
            axes.set_xticks([], minor=True)
        _scale(axes.yaxis, axes.set_yscale, [point[1] for point in picture.points])
        axes.set_xlabel(label(picture.column))
        axes.set_ylabel(label(f"{picture.figure}, {picture.unit}" if picture.unit else picture.figure))
        if len(shown) > 1:
            legend_above(figure, list(axes.get_lines()), [label(name) for name in names[: len(shown)]])

    title = f"{one_line(picture.figure, 30)} of {one_line(picture.test, 40)} in {one_line(picture.component, 30)}"
    title += f", {one_line(picture.where, 60)}" if picture.where else ""
    what = f"{one_line(picture.figure, 30)} against {one_line(picture.column, 30)}: median of the runs that count"
    left = len(picture.curves) - len(shown)
    more = f" tables/figures.csv has {plural(left, 'case')} more." if left else ""
    caption = (
        f"{what}, and their range.{picture.beside}{f' All cases: {common}.' if common and len(shown) > 1 else ''}{more}"
    )
    name = f"{prefix}-{file_name(picture.test, 40)}-{file_name(picture.figure, 30)}"
    return draw(name, title, caption, 1.9, paint)


def _scale(axis: Any, set_scale: Any, values: Sequence[float]) -> None:
    """Use a logarithmic axis for values that span decades; where there is a zero, the part below the least value is linear."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    above = [value for value in values if value > 0]
    if above and min(values) >= 0 and max(above) / min(above) >= _WIDE_RANGE:
        if min(values) == 0:
            set_scale("symlog", linthresh=min(above))
        else:
            set_scale("log")
        axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(FuncFormatter(short_number))


def _of_report(material: Material) -> Drawn:
    return draw_curves(material.evidence.cases)


FIGURES = (ReportFigure("curves over the rows of tables", "sides", _of_report, order=60),)
