"""How many nodes our runs held over time, test by test, compared with how many they should hold."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from shakedown.metrics.clock import Clock
from shakedown.metrics.node_hours import Nodes
from shakedown.metrics.overlap import Span, span_of
from shakedown.metrics.rows.rows import OpenRun, RunRow
from shakedown.metrics.rows.table import Record
from shakedown.metrics.stability import Stability
from shakedown.metrics.wanted import FILLER
from shakedown.model.nouns import Document
from shakedown.model.shared_nodes import different_nodes
from shakedown.report.figures.style import FAINT, INK, RULE, SEQUENCE, Drawing, capital, draw, label, legend_above
from shakedown.report.figures.time_axis import time_unit
from shakedown.report.words import file_name, show_time

STEPS = 400  # points of the staircase: each is the mean over its part of the time
TESTS_LIMIT = 6
OTHERS = "others"


def draw_usage(number: int, one: Stability, document: Document, record: Record, begin: float) -> list[Drawing]:
    """Purpose: one figure; [] where the clock has not run. ``begin`` is time zero."""
    clock = one.clock
    if clock is None or clock.end <= clock.begin:
        return []
    nodes = Nodes(document, record)
    mine = nodes.places(one.component)
    total = different_nodes([nodes.partitions[place] for place in mine if place in nodes.partitions])
    held = _held(one, nodes, record, clock, mine)
    scale, unit = time_unit(clock.end - begin)
    edges = [(clock.begin + (clock.end - clock.begin) * step / STEPS - begin) / scale for step in range(STEPS + 1)]

    def paint(figure: Any) -> None:
        axes = figure.add_subplot()
        handles, base = [], [0.0] * STEPS
        for place, (_, heights) in enumerate(held.items()):
            top = [low + height for low, height in zip(base, heights, strict=True)]
            look = {"facecolor": _colour(place, list(held)), "edgecolor": "white", "linewidth": 0.0}
            hatch = "////" if list(held)[place].startswith("filler") else None
            handles.append(
                axes.fill_between(edges, [*top, top[-1]], [*base, base[-1]], step="post", hatch=hatch, **look)
            )
            base = top
        for low, high in still(clock):
            axes.axvspan((low - begin) / scale, (high - begin) / scale, color=RULE, alpha=0.6, linewidth=0, zorder=3)
        axes.axhline(total, color=FAINT, linewidth=0.8)
        if one.component.fill.target < 1:
            axes.axhline(total * one.component.fill.target, color=INK, linewidth=0.9, linestyle=(0, (4, 2)), zorder=4)
        axes.set_xlim(edges[0], edges[-1])
        axes.set_ylim(0, 1.08 * max(total, *base))
        axes.set_ylabel("nodes held")
        axes.set_xlabel(f"{unit} since {show_time(begin)} UTC")
        legend_above(figure, handles, [label(name, 30) for name in held])

    caption = f"Each point is the mean over 1/{STEPS} of the time; the line is all {total} nodes"
    caption += ", the dashed one the plan's target." if one.component.fill.target < 1 else "."
    caption += " Grey: the clock stood still." if still(clock) else ""
    name = f"nodes-in-use-{number:02d}-{file_name(one.component.name, 40)}"
    return [draw(name, f"{capital(one.component.name)}: nodes in use by test", caption, 2.0, paint)]


def _held(one: Stability, nodes: Nodes, record: Record, clock: Clock, mine: set[str]) -> dict[str, list[float]]:
    """Test -> nodes held in each step: tests of the component first, then its fillers, then everything else that ran there."""
    most = sorted((share for share in one.shares if not share.filler), key=lambda share: -share.node_hours)
    named = {share.test for share in most[:TESTS_LIMIT]}
    order = [share.test for share in one.shares if not share.filler and share.test in named]
    sums: dict[str, list[float]] = {name: [0.0] * STEPS for name in order}
    rows: list[RunRow | OpenRun] = [*record.current(), *record.open.values()]
    live = Counter(run.job for run in record.open.values() if run.job and run.started is not None)
    for row in rows:
        case = nodes.cases.get(row.case)
        if case is None or case.partition not in mine:
            continue
        own = row.component == one.component.name
        name = (
            f"filler {case.test}" if own and row.mode == FILLER else case.test if own and case.test in named else OTHERS
        )
        span = _span(row, record.last)
        if span is None:
            continue
        parts = nodes.parts(row, span) if isinstance(row, RunRow) else [(span, 1 / max(1, live[row.job]))]
        for piece, share in parts:
            _add(sums.setdefault(name, [0.0] * STEPS), piece, share * nodes.held_by(row), clock)
    rest = [name for name in sums if name not in order]
    return {name: sums[name] for name in [*order, *sorted(rest, key=lambda name: (name == OTHERS, name))]}


def _span(row: RunRow | OpenRun, last: float) -> Span | None:
    """When a run ran; for a run that is still running, until now. None where it has not started."""
    if isinstance(row, RunRow):
        return span_of(row)
    return (row.started, max(row.started, last)) if row.started is not None else None


def _add(steps: list[float], span: Span, held: float, clock: Clock) -> None:
    """Add a run's nodes to the steps that it overlaps, weighted by the share of each step."""
    width = (clock.end - clock.begin) / STEPS
    low, high = ((min(max(time, clock.begin), clock.end) - clock.begin) / width for time in span)
    for step in range(math.floor(low), min(STEPS, math.ceil(high))):
        steps[step] += held * (min(high, step + 1) - max(low, step))


def still(clock: Clock) -> list[Span]:
    """The spans in which the clock was stopped between its beginning and its end."""
    ends = [clock.begin, *(time for span in clock.spans for time in span), clock.end]
    return [(low, high) for low, high in zip(ends[::2], ends[1::2], strict=True) if high > low]


def _colour(place: int, names: list[str]) -> str:
    if names[place] == OTHERS:
        return FAINT
    return "#c9ced4" if names[place].startswith("filler ") else SEQUENCE[place % len(SEQUENCE)]
