"""Runs by test, and the share of each test's runs that did not end well, stacked by verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shakedown.metrics.words import plural, show_share
from shakedown.report.counts import TestCount, bad_verdicts
from shakedown.report.figures.declaration import ReportFigure
from shakedown.report.figures.style import ACCENT, FAINT, INK, MARKS, Drawing, draw, label, legend_above
from shakedown.report.words import file_name, one_line

LEAST = 10  # runs of a component below which a table says it as well
TESTS_LIMIT = 40  # bars in one figure
_HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "----", "++++")  # tell verdicts apart in grey


def draw_counts(counts: Sequence[TestCount]) -> list[Drawing]:
    """Purpose: for each component a figure of the runs by test, and one of those that did not end well, where there are any."""
    drawings = []
    for number, component in enumerate(dict.fromkeys(one.component for one in counts), 1):
        mine = [one for one in counts if one.component == component]
        if sum(one.attempts for one in mine) >= LEAST:
            drawings.append(_runs(number, component, mine))
            if any(one.bad.total() for one in mine):
                drawings.append(_failures(number, component, mine))
    return drawings


def _runs(number: int, component: str, counts: list[TestCount]) -> Drawing:
    shown, said = _shown(counts)

    def paint(figure: Any) -> None:
        from matplotlib.ticker import MaxNLocator

        axes = figure.add_subplot()
        most = max(one.attempts for one in shown)
        axes.barh(range(len(shown)), [one.attempts for one in shown], height=0.6, color=ACCENT)
        for place, one in enumerate(shown):
            axes.text(one.attempts + 0.015 * most, place, str(one.attempts), va="center", fontsize=7)
        _frame(axes, shown, 1.14 * most)
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        axes.set_xlabel("runs")

    caption = f"{plural(sum(one.attempts for one in counts), 'run')} judged, whatever the verdict.{said}"
    name = f"runs-by-test-{number:02d}-{file_name(component)}"
    return draw(name, f"Runs by test: {one_line(component, 40)}", caption, _height(shown), paint, wide=False)


def _failures(number: int, component: str, counts: list[TestCount]) -> Drawing:
    shown, said = _shown(counts)
    verdicts = bad_verdicts(shown)

    def paint(figure: Any) -> None:
        axes = figure.add_subplot()
        lefts = [0.0] * len(shown)
        for place, verdict in enumerate(verdicts):
            shares = [100 * one.share(verdict) for one in shown]
            hatch = _HATCHES[place % len(_HATCHES)]
            look = {"color": MARKS.get(verdict, ("", FAINT))[1], "hatch": hatch, "edgecolor": "white", "linewidth": 0.0}
            axes.barh(range(len(shown)), shares, left=lefts, height=0.6, label=label(verdict, 20), **look)
            lefts = [left + share for left, share in zip(lefts, shares, strict=True)]
        most = max(lefts) or 1.0
        for place, one in enumerate(shown):
            text = f"{show_share(lefts[place] / 100)} ({one.bad.total()})"
            axes.text(lefts[place] + 0.015 * most, place, text, va="center", fontsize=7)
        _frame(axes, shown, 1.42 * most)
        axes.set_xlabel("share of the test's runs, %")
        legend_above(figure, *axes.get_legend_handles_labels())

    caption = f"Runs that neither passed nor ended as the plan expects, by verdict; in brackets how many.{said}"
    name = f"failures-by-test-{number:02d}-{file_name(component)}"
    title = f"What did not pass, by test: {one_line(component, 40)}"
    return draw(name, title, caption, _height(shown), paint, wide=False)


def _shown(counts: list[TestCount]) -> tuple[list[TestCount], str]:
    """The tests with most runs, in the order of the plan, and a sentence on the tests that are left out."""
    most = sorted(counts, key=lambda one: -one.attempts)[:TESTS_LIMIT]
    left = len(counts) - len(most)
    return [
        one for one in counts if one in most
    ], f" Not drawn: {plural(left, 'test')} with fewer runs." if left else ""


def _height(shown: list[TestCount]) -> float:
    return 0.55 + 0.23 * len(shown)


def _frame(axes: Any, shown: list[TestCount], most: float) -> None:
    axes.set_yticks(range(len(shown)), [label(one.test, 24) for one in shown], color=INK)
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.set_xlim(0, most)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)


FIGURES = (ReportFigure("counts", "counts", lambda m: (draw_counts(m.evidence.counts), [])),)
