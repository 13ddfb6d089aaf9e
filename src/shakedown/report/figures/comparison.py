"""Figures of a comparison: a dot with its interval for each change, on a line for no change; and one figure over all campaigns."""

from __future__ import annotations

from typing import Any

from shakedown.metrics.comparing.compare import Comparison, Move
from shakedown.metrics.comparing.history import History, Line
from shakedown.metrics.rehearsed import BANNER
from shakedown.metrics.words import plural
from shakedown.report.case_names import folded
from shakedown.report.figures.style import FAINT, SEQUENCE, Drawing, draw, label, legend_above, short_number

ROWS_LIMIT = 40
LINES_LIMIT = 6
_ROW = 0.17  # inches
_LOOKS = {
    "worse": ("v", "#b3261e"),
    "changed": ("D", "#8a4a9e"),
    "better": ("^", "#2f6f9f"),
    "too few runs": ("o", "#9aa3ad"),
    "no change seen": ("o", "#4b5563"),
}
_MARKERS = ("o", "s", "^", "D", "v", "P")


# ---- a comparison ------------------------------------------------------------------------------------------------------


def draw_comparison(comparison: Comparison, rehearsed: bool = False) -> Drawing:
    """Purpose: the change of each figure in per cent with its interval, the worst first; at most forty.

    ``rehearsed``: some numbers come from a model, and the figure says so.
    """
    every = [move for move in comparison.moves if move.effect is not None]
    moves = every[:ROWS_LIMIT]

    def paint(figure: Any) -> None:
        axes = figure.add_subplot()
        for verdict, (marker, colour) in _LOOKS.items():
            _dots(axes, [(place, move) for place, move in enumerate(moves) if move.verdict == verdict], marker, colour)
        axes.axvline(0.0, color=FAINT, linewidth=0.9)
        for bound in (-comparison.least, comparison.least):
            axes.axvline(100 * bound, color=FAINT, linewidth=0.6, linestyle=(0, (4, 2)))
        axes.set_yticks(range(len(moves)), [_name(comparison, move) for move in moves])
        axes.set_ylim(len(moves) - 0.4, -0.6)
        axes.set_xlabel(f"change against {label(comparison.baseline, 40)}, %")
        axes.grid(visible=False, axis="y")
        handles, names = axes.get_legend_handles_labels()
        if handles:
            legend_above(figure, handles, names)

    caption = "Dots: change of the mean; bars: interval at 95 %. "
    caption += f"Dashed: the smallest change that matters, {100 * comparison.least:g} %."
    if len(every) > len(moves):
        caption += f" The first {len(moves)} of {plural(len(every), 'figure')}."
    title = f"{', '.join(comparison.groups[:3])} against {comparison.baseline}"
    return _marked(rehearsed, draw("comparison", title, caption, 0.9 + _ROW * max(4, len(moves)), paint))


def _marked(rehearsed: bool, drawing: Drawing) -> Drawing:
    if rehearsed:
        drawing.mark(f"in part a model: {BANNER}")
    return drawing


def _dots(axes: Any, rows: list[tuple[int, Move]], marker: str, colour: str) -> None:
    if not rows:
        return
    effects = [(place, move.effect) for place, move in rows if move.effect is not None]
    x = [100 * effect.share for _, effect in effects]
    ends = [effect.interval for _, effect in effects]
    errors = [[max(0.0, at - 100 * low) for at, (low, _) in zip(x, ends, strict=True)]]
    errors.append([max(0.0, 100 * high - at) for at, (_, high) in zip(x, ends, strict=True)])
    look = {"fmt": marker, "markersize": 4, "color": colour, "elinewidth": 0.9, "linestyle": "none"}
    axes.errorbar(x, [place for place, _ in effects], xerr=errors, label=rows[0][1].verdict, **look)


def _name(comparison: Comparison, move: Move) -> str:
    group = f", {move.after}" if len(comparison.groups) > 1 else ""
    return folded(f"{move.figure}: {move.subject}{group}", 52, 1)


# ---- a history ---------------------------------------------------------------------------------------------------------


def draw_history(history: History, rehearsed: bool = False) -> Drawing:
    """Purpose: medians with their intervals, campaign by campaign, one line per case (at most six); epochs and
    changes are marked.
    """
    names = _chosen(history)
    places = {
        key: place for place, key in enumerate(dict.fromkeys((one.campaign, one.epoch) for one in _ordered(history)))
    }
    unit = history.lines[0].unit if history.lines else ""

    def paint(figure: Any) -> None:
        axes = figure.add_subplot()
        for (subject, name), marker, colour in zip(names, _MARKERS, SEQUENCE, strict=False):
            mine = [one for one in _ordered(history) if (one.subject, one.figure) == (subject, name)]
            _series(
                axes, [(places[one.campaign, one.epoch], one) for one in mine], marker, colour, f"{name}: {subject}"
            )
            for change in history.changes:
                if (change.subject, change.figure) == (subject, name):
                    place = places[change.campaign, change.epoch]
                    axes.plot(
                        [place], [change.after_median], marker="o", markersize=11, fillstyle="none", color="#b3261e"
                    )
        for (_, epoch), place in places.items():
            if epoch > 1:
                axes.axvline(place - 0.5, color=FAINT, linewidth=0.8, linestyle=(0, (4, 2)))
        ticks = [label(f"{campaign}#{epoch}" if epoch > 1 else campaign, 18) for campaign, epoch in places]
        axes.set_xticks(range(len(places)), ticks, rotation=0 if len(ticks) <= 6 else 90)
        axes.set_ylabel(label(f"{history.figure}, {unit}".rstrip(", "), 40))
        axes.yaxis.set_major_formatter(short_number)
        if names:
            legend_above(figure, *axes.get_legend_handles_labels())

    caption = "Medians; bars: interval of the median at 95 %, else the lowest and the highest. "
    caption += "Dashed: an epoch began. Rings: a new level."
    every = len(dict.fromkeys((one.subject, one.figure) for one in history.lines))
    if every > len(names):
        caption += f" {len(names)} of {plural(every, 'line')}, those that changed first."
    return _marked(
        rehearsed,
        draw("history", f"{history.figure} over {plural(len(history.campaigns), 'campaign')}", caption, 2.8, paint),
    )


def _ordered(history: History) -> list[Line]:
    order = {campaign: place for place, campaign in enumerate(history.campaigns)}
    return sorted(history.lines, key=lambda one: (order[one.campaign], one.epoch))


def _chosen(history: History) -> list[tuple[str, str]]:
    """The (subject, figure) pairs to draw: those that changed first, then the others in order."""
    changed = [(one.subject, one.figure) for one in history.changes]
    return list(dict.fromkeys([*changed, *((one.subject, one.figure) for one in history.lines)]))[:LINES_LIMIT]


def _series(axes: Any, lines: list[tuple[int, Line]], marker: str, colour: str, name: str) -> None:
    x, y = [place for place, _ in lines], [one.median for _, one in lines]
    ends = [one.interval or (one.lowest, one.highest) for _, one in lines]
    errors = [
        [at - low for at, (low, _) in zip(y, ends, strict=True)],
        [high - at for at, (_, high) in zip(y, ends, strict=True)],
    ]
    look = {"markersize": 4, "linewidth": 1.0, "elinewidth": 0.8, "color": colour, "label": folded(name, 44, 2)}
    axes.errorbar(x, y, yerr=errors, marker=marker, **look)
