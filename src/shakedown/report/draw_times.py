"""The campaign in time: what ran when, and for each test the run time against the start time.

Run time against start time is the first thing an acceptance team looks at: a machine that wears out, a file system that
fills, a job that doubles, all show in it.
"""

from __future__ import annotations

from typing import Any

from shakedown.metrics.cases import CaseSummary
from shakedown.metrics.rows import RunRow
from shakedown.metrics.statistics import median
from shakedown.metrics.words import plural
from shakedown.model.units import show_duration
from shakedown.report.drawing import FAINT, INK, MARKS, SEQUENCE, Drawing, draw, label
from shakedown.report.words import file_name, one_line, show_time

MANY = 1500  # points beyond which a figure holds a picture of them instead of each
TESTS_LIMIT = 24  # run-time figures in one report
_UNITS = (
    (2 * 86400.0, 86400.0, "days"),
    (2 * 3600.0, 3600.0, "hours"),
    (180.0, 60.0, "minutes"),
    (0.0, 1.0, "seconds"),
)

Runs = dict[str, list[RunRow]]  # of one test, by case; a case that several components run is one


def draw_times(cases: tuple[CaseSummary, ...], begin: float) -> tuple[list[Drawing], list[str]]:
    """Purpose: the time line, then a figure a test; and a sentence for tests that are not drawn. ``begin`` is time zero."""
    tests = _by_test(cases)
    if not tests:
        return [], []
    span = max(_start(row) + (row.elapsed_s or 0.0) for runs in tests.values() for row in _rows(runs)) - begin
    timed = {test: runs for test, runs in tests.items() if any(row.elapsed_s is not None for row in _rows(runs))}
    most = set(sorted(timed, key=lambda test: -len(_rows(timed[test])))[:TESTS_LIMIT])
    shown = sorted((test for test in timed if test in most), key=lambda test: len(timed[test]) == 1)  # wide ones first
    drawings = [_run_times(number, test, timed[test], begin) for number, test in enumerate(shown, 1)]
    left = len(timed) - len(shown)
    said = f"the run times of {left} tests with fewer runs are not drawn; they are in tables/runs.csv"
    return [_time_line(tests, begin, span), *drawings], [said] if left else []


def _by_test(cases: tuple[CaseSummary, ...]) -> dict[str, Runs]:
    tests: dict[str, Runs] = {}
    for case in cases:
        if case.rows:
            tests.setdefault(case.case.test, {}).setdefault(case.case.id, []).extend(case.rows)
    return tests


def _rows(runs: Runs) -> list[RunRow]:
    return [row for rows in runs.values() for row in rows]


def _start(row: RunRow) -> float:
    return row.time if row.started is None else row.started


def _unit(span: float) -> tuple[float, str]:
    return next((scale, name) for least, scale, name in _UNITS if span >= least)


# ---- what ran when ---------------------------------------------------------------------------------------------------


def _time_line(groups: dict[str, Runs], begin: float, span: float) -> Drawing:
    scale, unit = _unit(span)
    tests = list(groups)[:40]
    more = f" The first 40 of {len(groups)} tests are shown." if len(groups) > 40 else ""

    def paint(figure: Any) -> None:
        axes = figure.add_subplot()
        for place, test in enumerate(tests):
            _bars(axes, place, _rows(groups[test]), begin, scale)
        axes.set_yticks(range(len(tests)), [label(test, 28) for test in tests], color=INK)
        axes.set_ylim(len(tests) - 0.4, -0.6)
        axes.set_xlim(0, max(span / scale, 1e-9) * 1.01)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel(f"{unit} since {show_time(begin)} UTC")
        _legend(axes, [row for test in tests for row in _rows(groups[test])], [], lines=True)

    caption = "Each line is a run from its start to its end; marks are runs that did not pass, where they ended."
    return draw("time-line", "What ran when", caption + more, 0.9 + 0.24 * len(tests), paint)


def _bars(axes: Any, place: int, rows: list[RunRow], begin: float, scale: float) -> None:
    """The runs of one test, on as many lanes as ran at once, and marks for what did not pass."""
    from matplotlib.collections import LineCollection

    lanes = _lanes(rows)
    depth = max(lanes.values(), default=0) + 1
    lines, bad = [], []
    for row in rows:
        height = place + (0.0 if depth == 1 else 0.56 * (lanes[row.run] / (depth - 1) - 0.5))
        left = (_start(row) - begin) / scale
        right = left + (row.elapsed_s or 0.0) / scale
        lines.append([(left, height), (right, height)])
        if row.verdict != "passed":
            bad.append((row.verdict, right, height))
    width = min(3.0, max(0.5, 9.0 / depth))
    many = len(lines) > MANY
    axes.add_collection(
        LineCollection(lines, colors=MARKS["passed"][1], linewidths=width, rasterized=many, capstyle="projecting")
    )
    for verdict in dict.fromkeys(name for name, _, _ in bad):
        points = [(x, y) for name, x, y in bad if name == verdict]
        _scatter(axes, points, verdict, many)


def _lanes(rows: list[RunRow]) -> dict[str, int]:
    """Each run's lane: the first that is free when it starts."""
    ends: list[float] = []
    lanes = {}
    for row in sorted(rows, key=lambda row: (_start(row), row.seq)):
        start = _start(row)
        place = next((place for place, end in enumerate(ends) if end <= start), len(ends))
        if place >= 32:
            place = row.seq % 32
        if place == len(ends):
            ends.append(0.0)
        ends[place] = start + (row.elapsed_s or 0.0)
        lanes[row.run] = place
    return lanes


# ---- run time against start time -------------------------------------------------------------------------------------


def _run_times(number: int, test: str, group: Runs, begin: float) -> Drawing:
    rows = _rows(group)
    starts = [_start(row) - begin for row in rows]
    scale, unit = _unit(max(starts))
    several = len(group) > 1
    coloured = several and len(group) <= len(SEQUENCE)

    def paint(figure: Any) -> None:
        axes = figure.add_subplot()
        for place, mine in enumerate(group.values()):
            _case(axes, mine, SEQUENCE[place] if coloured else "", begin, scale, len(rows) > MANY)
        _limits(axes, [start / scale for start in starts], [row.elapsed_s for row in rows if row.elapsed_s is not None])
        axes.set_xlabel(f"start, {unit} since the campaign began")
        axes.set_ylabel("run time, s")
        _legend(axes, rows, list(group) if coloured else [], columns=5 if several else 3)

    never = sum(row.elapsed_s is None for row in rows)
    caption = f"{plural(len(rows) - never, 'run')}; {'each line is' if several else 'the line is'} the median of correct runs."
    if never:
        caption += f" {never} without a run time stand on the axis."
    return draw(f"run-time-{number:02d}-{file_name(test)}", one_line(test, 60), caption, 1.8, paint, wide=several)


def _limits(axes: Any, starts: list[float], values: list[float]) -> None:
    """A little room around the points; the run time from zero, unless all values are close together far from it."""
    room = 0.04 * (max(starts) - min(starts)) or 0.5
    axes.set_xlim(max(0.0, min(starts) - room) if min(starts) > room else -room / 4, max(starts) + room)
    low, high = min(values), max(values)
    if low > 0.6 * high > 0:
        room = 0.15 * (high - low) or 0.05 * high
        axes.set_ylim(low - room, high + room)
    else:
        axes.set_ylim(0, 1.06 * high or 1.0)


def _case(axes: Any, runs: list[RunRow], colour: str, begin: float, scale: float, many: bool) -> None:
    """The runs of a case where they started, as high as they took; those without a run time on the axis."""
    for verdict in dict.fromkeys(row.verdict for row in runs):
        rows = [row for row in runs if row.verdict == verdict]
        timed = [((_start(row) - begin) / scale, row.elapsed_s) for row in rows if row.elapsed_s is not None]
        never = [((_start(row) - begin) / scale, 0.0) for row in rows if row.elapsed_s is None]
        own = colour if verdict == "passed" else ""
        _scatter(axes, timed, verdict, many, own)
        if never:
            _scatter(axes, never, verdict, many, own, transform=axes.get_xaxis_transform())
    values = [row.elapsed_s for row in runs if row.verdict == "passed" and row.elapsed_s is not None]
    if values:
        axes.axhline(median(values), color=colour or MARKS["passed"][1], linewidth=0.7, linestyle=(0, (4, 2)), zorder=1)


def _scatter(
    axes: Any, points: list[tuple[float, float]], verdict: str, many: bool, colour: str = "", **more: Any
) -> None:
    shape, own = MARKS.get(verdict, ("1", FAINT))
    plain = verdict == "passed"
    axes.scatter(
        [x for x, _ in points],
        [y for _, y in points],
        marker=shape,
        s=9 if plain else 26,
        c=colour or own,
        alpha=0.75 if plain else 1.0,
        linewidths=0 if plain else 0.5,
        edgecolors="none" if plain or shape in "_1" else "white",
        zorder=2 if plain else 3,
        clip_on=False,
        rasterized=many,
        **more,
    )


def _legend(axes: Any, rows: list[RunRow], cases: list[str], columns: int = 6, lines: bool = False) -> None:
    """Above the axes: a colour a case, a mark a verdict. One kind of run needs none. ``lines``: runs are lines here."""
    from matplotlib.lines import Line2D

    verdicts = [name for name in MARKS if any(row.verdict == name for row in rows)]
    handles = [Line2D([], [], color=SEQUENCE[i], marker="o", markersize=3, linewidth=0.7) for i in range(len(cases))]
    names = [label(case, 36) for case in cases]
    for verdict in verdicts if verdicts != ["passed"] else []:
        shape, colour = MARKS[verdict]
        if verdict == "passed" and lines:
            handles.append(Line2D([], [], color=colour, linewidth=2))
        elif verdict != "passed" or not cases:
            handles.append(Line2D([], [], color=colour, marker=shape, markersize=4.5, linewidth=0))
        else:
            continue
        names.append(verdict)
    if handles:
        place = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderpad": 0.2}
        axes.legend(handles, names, ncols=columns, columnspacing=1.2, handletextpad=0.4, **place)


def span_text(begin: float | None, end: float | None) -> str:
    """From when to when, and how long that is."""
    if begin is None or end is None:
        return "not begun"
    return f"{show_time(begin)} to {show_time(end)} UTC, {show_duration(max(0.0, end - begin))}"
