"""Scores: each part's own number with the means and its bound (paper 001, the charts of capability improvement and SSP)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shakedown.metrics.scores.results import PartResult, ScoreResult
from shakedown.metrics.words import plural, show_score
from shakedown.model.scores import COMPONENT
from shakedown.report.case_names import folded
from shakedown.report.figures.declaration import Drawn, Material, ReportFigure
from shakedown.report.figures.style import ACCENT, FAINT, INK, Drawing, draw, label, legend_above, short_number
from shakedown.report.words import file_name, one_line

SCORES_LIMIT, PARTS_LIMIT = 8, 30  # figures in a report, and parts in one
LEAST = 2  # parts: one is a row of a table
_WIDE_RANGE = 20.0  # the greatest part over the least, from which on the axis is logarithmic
_DASHES = ((0, (4, 2)), (0, (1, 2)), (0, (6, 2, 1, 2)), "-")


def draw_scores(material: Material) -> Drawn:
    """Purpose: one figure for each score that has a number and several parts, and a sentence on those that are not drawn."""
    card = material.evidence.scorecard
    bounds = {
        item.name: item.bound for one in card.components if one.name == COMPONENT for item in one.criteria if item.must
    }
    told = [score for score in card.scores if score.value is not None and len(_shown(score)) >= LEAST]
    drawn = [figure_of(number, score, bounds) for number, score in enumerate(told[:SCORES_LIMIT], 1)]
    left = len(told) - len(drawn)
    return drawn, [f"{left} scores more are not drawn; they are in tables/scores.csv"] if left else []


def _shown(score: ScoreResult) -> list[tuple[PartResult, float]]:
    return [(part, part.result) for part in score.parts if part.result is not None]


def figure_of(number: int, score: ScoreResult, bounds: Mapping[str, float]) -> Drawing:
    """Purpose: a dot for each part; lines for the numbers beside the score; a tick where a part has a bound of its own.

    ``bounds``: name (SCORE or SCORE.PART) -> the bound of that score or part.
    """
    rows = _shown(score)[:PARTS_LIMIT]
    values = [value for _, value in rows]

    def paint(figure: Any) -> None:
        axes = figure.add_subplot()
        axes.hlines(range(len(rows)), min(values), values, color=FAINT, linewidth=0.8)
        axes.plot(values, range(len(rows)), marker="o", markersize=4.5, linestyle="", color=ACCENT, label="part")
        own = [
            (bounds[name], row)
            for row, (part, _) in enumerate(rows)
            if (name := f"{score.name}.{part.label}") in bounds
        ]
        if own:
            look = {"marker": "|", "markersize": 11, "linestyle": "", "color": "#b3261e"}
            axes.plot(*zip(*own, strict=True), label="must of the part", **look)
        for (name, value), dashes in zip(_lines(score), _DASHES, strict=False):
            axes.axvline(value, color=INK, linestyle=dashes, linewidth=0.9, label=f"{name} {show_score(value)}")
        if min(values) > 0 and max(values) >= _WIDE_RANGE * min(values):
            _logarithmic(axes)
        axes.set_yticks(range(len(rows)), [folded(part.label, 40, 1) for part, _ in rows])
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_xlabel(label(score.part_name))
        axes.grid(visible=False, axis="y")
        legend_above(figure, *axes.get_legend_handles_labels())

    name = f"score-{number:02d}-{file_name(score.name, 40)}"
    return draw(name, f"Score {one_line(score.name, 60)}", _caption(score, rows), 0.7 + 0.17 * max(4, len(rows)), paint)


def _lines(score: ScoreResult) -> list[tuple[str, float]]:
    """The numbers beside the score that are comparable with its parts: the means."""
    return [(name, value) for name, value in score.beside if "mean" in name]


def _logarithmic(axes: Any) -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axes.set_xscale("log")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.xaxis.set_major_formatter(FuncFormatter(short_number))


def _caption(score: ScoreResult, rows: list[tuple[PartResult, float]]) -> str:
    assert score.value is not None, "the caller draws no other"
    text = f"{one_line(score.name, 60)} is {show_score(score.value, score.unit)}"
    if score.must:
        text += f", must {one_line(score.must, 60)}"
    left = len(_shown(score)) - len(rows)
    more = f" tables/scores.csv has {plural(left, 'part')} more." if left else ""
    given = f" Given by the plan, not measured: {one_line(', '.join(score.given), 120)}." if score.given else ""
    return f"{text}.{given}{more}"


FIGURES = (ReportFigure("scores", "scores", draw_scores),)
