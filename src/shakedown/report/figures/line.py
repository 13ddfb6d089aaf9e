"""What ran when: one lane per test, one line per run, and a mark where a run did not pass."""

from __future__ import annotations

from typing import Any

from shakedown.metrics.cases import CaseSummary
from shakedown.metrics.rows.rows import RunRow
from shakedown.report.figures.declaration import ReportFigure
from shakedown.report.figures.style import INK, MARKS, Drawing, draw, label
from shakedown.report.figures.time_axis import MANY, scatter, start_of, time_unit, verdict_legend
from shakedown.report.words import show_time

TESTS_LIMIT = 40
LEAST = 2  # runs: one is a row of a table


def draw_time_line(cases: tuple[CaseSummary, ...], begin: float) -> list[Drawing]:
    """Purpose: the whole campaign in one figure; [] where fewer than two runs were judged. ``begin`` is time zero."""
    tests: dict[str, list[RunRow]] = {}
    for case in cases:
        if case.rows:
            tests.setdefault(case.case.test, []).extend(case.rows)
    if sum(map(len, tests.values())) < LEAST:
        return []
    return [_time_line(tests, begin)]


def _time_line(groups: dict[str, list[RunRow]], begin: float) -> Drawing:
    span = max(start_of(row) + (row.elapsed_s or 0.0) for rows in groups.values() for row in rows) - begin
    scale, unit = time_unit(span)
    tests = list(groups)[:TESTS_LIMIT]
    more = f" The first {TESTS_LIMIT} of {len(groups)} tests are shown." if len(groups) > TESTS_LIMIT else ""

    def paint(figure: Any) -> None:
        axes = figure.add_subplot()
        many = sum(len(groups[test]) for test in tests) > MANY
        for place, test in enumerate(tests):
            _bars(axes, place, groups[test], begin, scale, many)
        axes.set_yticks(range(len(tests)), [label(test, 28) for test in tests], color=INK)
        axes.set_ylim(len(tests) - 0.4, -0.6)
        axes.set_xlim(0, max(span / scale, 1e-9) * 1.01)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel(f"{unit} since {show_time(begin)} UTC")
        verdict_legend(figure, [row for test in tests for row in groups[test]], [], lines=True)

    caption = "Each line is a run from its start to its end; marks are runs that did not pass, where they ended."
    return draw("time-line", "What ran when", caption + more, 0.9 + 0.24 * len(tests), paint)


def _bars(axes: Any, place: int, rows: list[RunRow], begin: float, scale: float, many: bool) -> None:
    """Draw the runs of one test, on as many lanes as ran at once, with marks for those that did not pass. ``many``: draw as a
    bitmap.
    """
    from matplotlib.collections import LineCollection

    lanes = _lanes(rows)
    depth = max(lanes.values(), default=0) + 1
    lines, bad = [], []
    for row in rows:
        height = place + (0.0 if depth == 1 else 0.56 * (lanes[row.run] / (depth - 1) - 0.5))
        left = (start_of(row) - begin) / scale
        right = left + (row.elapsed_s or 0.0) / scale
        lines.append([(left, height), (right, height)])
        if row.verdict != "passed":
            bad.append((row.verdict, right, height))
    width = min(3.0, max(0.5, 9.0 / depth))
    axes.add_collection(
        LineCollection(lines, colors=MARKS["passed"][1], linewidths=width, rasterized=many, capstyle="projecting")
    )
    for verdict in dict.fromkeys(name for name, _, _ in bad):
        points = [(x, y) for name, x, y in bad if name == verdict]
        scatter(axes, points, verdict, many)


def _lanes(rows: list[RunRow]) -> dict[str, int]:
    """Run -> its lane: the first one that is free when the run starts."""
    ends: list[float] = []
    lanes = {}
    for row in sorted(rows, key=lambda row: (start_of(row), row.seq)):
        start = start_of(row)
        place = next((place for place, end in enumerate(ends) if end <= start), len(ends))
        if place >= 32:
            place = row.seq % 32
        if place == len(ends):
            ends.append(0.0)
        ends[place] = start + (row.elapsed_s or 0.0)
        lanes[row.run] = place
    return lanes


FIGURES = (ReportFigure("time line", "line", lambda m: (draw_time_line(m.evidence.cases, m.begin), [])),)
