"""When each test had a live run: a time without one is a gap in its line, and the longest gap has a label."""

from __future__ import annotations

from typing import Any

from shakedown.metrics.overlap import Span, span_of
from shakedown.metrics.rows.table import Record
from shakedown.metrics.stability import Stability
from shakedown.metrics.wanted import FILLER
from shakedown.model.clocks import Spans, merged
from shakedown.model.nouns import Document
from shakedown.model.units import show_duration
from shakedown.report.figures.style import ACCENT, INK, RULE, Drawing, capital, draw, label
from shakedown.report.figures.time_axis import time_unit
from shakedown.report.figures.usage import still
from shakedown.report.words import file_name, show_time

TESTS_LIMIT = 40
_HOLE = "#b3261e"


def draw_holes(number: int, one: Stability, document: Document, record: Record, begin: float) -> list[Drawing]:
    """Purpose: one figure; [] where the clock has not run. ``begin`` is time zero."""
    clock = one.clock
    shares = [share for share in one.shares if not share.filler][:TESTS_LIMIT]
    if clock is None or clock.end <= clock.begin or not shares:
        return []
    live = _live(one, document, record)
    scale, unit = time_unit(clock.end - begin)

    def paint(figure: Any) -> None:
        axes = figure.add_subplot()
        axes.set_xlim((clock.begin - begin) / scale, (clock.end - begin) / scale)
        for low, high in still(clock):
            axes.axvspan((low - begin) / scale, (high - begin) / scale, color=RULE, linewidth=0, zorder=0)
        for place, share in enumerate(shares):
            bars = [((low - begin) / scale, (high - low) / scale) for low, high in live.get(share.test, [])]
            axes.broken_barh(bars, (place - 0.26, 0.52), facecolors=ACCENT, linewidth=0, zorder=2)
            if share.hole is not None:
                ends = [(moment - begin) / scale for moment in (share.hole.begin, share.hole.end)]
                axes.plot(ends, [place, place], color=_HOLE, linewidth=1.4, marker="|", markersize=6, zorder=4)
                _name(axes, place, share.hole.seconds, ends)
        axes.set_yticks(range(len(shares)), [label(share.test, 28) for share in shares], color=INK)
        axes.set_ylim(len(shares) - 0.3, -0.6)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel(f"{unit} since {show_time(begin)} UTC")

    caption = "Blue: a run of the test, of whatever verdict, was live. Red: the longest hole, and how long it is by the clock."
    caption += " Grey: the clock stood still." if still(clock) else ""
    name = f"holes-{number:02d}-{file_name(one.component.name, 40)}"
    return [draw(name, f"{capital(one.component.name)}: holes by test", caption, 0.65 + 0.26 * len(shares), paint)]


def _name(axes: Any, place: int, seconds: float, ends: list[float]) -> None:
    """Write the length of a gap below it, on the side that is farther from the edge of the figure."""
    left = ends[1] < sum(axes.get_xlim()) / 2
    look = {"fontsize": 6, "color": _HOLE, "ha": "left" if left else "right", "va": "top"}
    axes.text(ends[0] if left else ends[1], place + 0.28, show_duration(seconds), **look)


def _live(one: Stability, document: Document, record: Record) -> dict[str, Spans]:
    """Test -> the spans in which it had a live run, without fillers."""
    tests = {case.id: case.test for case in document.cases}
    spans: dict[str, list[Span]] = {}
    for row in record.current():
        span = span_of(row)
        if row.component == one.component.name and row.mode != FILLER and span is not None and row.case in tests:
            spans.setdefault(tests[row.case], []).append(span)
    for run in record.open.values():
        if run.component == one.component.name and run.mode != FILLER and run.started is not None and run.case in tests:
            spans.setdefault(tests[run.case], []).append((run.started, max(run.started, record.last)))
    return {test: merged(mine) for test, mine in spans.items()}
