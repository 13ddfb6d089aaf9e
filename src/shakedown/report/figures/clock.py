"""A component's clock over time: when it ran and stopped, pauses, windows, excluded nodes, and where it was restarted."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from shakedown.metrics.clock import Clock, Word
from shakedown.metrics.overlap import Span
from shakedown.metrics.rows.table import Record
from shakedown.metrics.stability import Stability
from shakedown.model import clocks
from shakedown.model.errors import UsageError
from shakedown.model.filling import Window
from shakedown.model.units import show_duration
from shakedown.model.windows import open_in
from shakedown.report.figures.style import ACCENT, FAINT, INK, RULE, Drawing, capital, draw, label
from shakedown.report.figures.time_axis import time_unit
from shakedown.report.words import file_name, one_line, show_time

WORDS_LIMIT = 12  # told in one figure
WINDOWS_LIMIT = 4  # rows of windows in one figure
_PALE, _CAUSES = "#b9cfdf", {"maintenance": "#a38a1b", "site": "#8a4a9e", "vendor": "#c8641e", "machine": "#b3261e"}
Row = tuple[str, list[tuple[Span, str, str]]]  # name, (span, colour, hatch)


def draw_clock(number: int, one: Stability, record: Record, begin: float) -> list[Drawing]:
    """Purpose: one figure; [] where the clock has not run. ``begin`` is time zero."""
    clock = one.clock
    if clock is None:
        return []
    start = min(
        [clock.begin, *(word.at for word in one.words), record.first_orders.get(one.component.name, clock.begin)]
    )
    span = (start, max(clock.end, clock.begin + 1.0))
    rows = [row for row in _rows(one, clock, record, span) if row[1] or row[0] == "clock"]
    scale, unit = time_unit(span[1] - begin)

    def paint(figure: Any) -> None:
        axes = figure.add_subplot()
        for place, (_, bars) in enumerate(rows):
            for (low, high), colour, hatch in bars:
                at, width = (low - begin) / scale, (high - low) / scale
                look = {"facecolors": colour, "edgecolor": "white" if hatch else colour, "linewidth": 0.3}
                axes.broken_barh([(at, width)], (place - 0.3, 0.6), hatch=hatch, **look)
        for word in [word for word in one.words if word.act in clocks.BEGINS][-WORDS_LIMIT:]:
            at = (word.at - begin) / scale
            axes.plot([at], [-0.42], marker="v", color=INK, markersize=5, clip_on=False, zorder=4)
            axes.axvline(at, color=INK, linewidth=0.8, zorder=3)
        axes.set_yticks(range(len(rows)), [label(name, 28) for name, _ in rows], color=INK)
        axes.set_ylim(len(rows) - 0.5, -0.75)
        axes.set_xlim((span[0] - begin) / scale - 1e-9, (span[1] - begin) / scale * 1.002 + 1e-9)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel(f"{unit} since {show_time(begin)} UTC")

    name = f"clock-{number:02d}-{file_name(one.component.name, 40)}"
    title = f"{capital(one.component.name)}: its clock"
    return [draw(name, title, _caption(one, clock), 0.62 + 0.26 * len(rows), paint)]


def _caption(one: Stability, clock: Clock) -> str:
    asked = one.component.duration_s
    text = f"It ran {show_duration(clock.ran)} of the {show_duration(asked)} that it is to run."
    begins = [word for word in one.words if word.act in clocks.BEGINS]
    text += " Triangles: it was started" + (
        ", or started anew; what lies before the last one is pale." if len(begins) > 1 else "."
    )
    text += " Pauses and stops by their cause."
    closed = any(window.closed for window in one.component.windows)
    return text + (" In closed windows nothing new was ordered, and the clock ran on." if closed else "")


def _rows(one: Stability, clock: Clock, record: Record, span: Span) -> list[Row]:
    earlier = [(piece, _PALE, "") for piece in _before(one.words, clock)]
    causes = dict.fromkeys(word.cause or "other" for word in one.words if word.act == "stop")
    stopped = _stopped(one.words, clock)
    rows: list[Row] = [("clock", [*earlier, *((piece, ACCENT, "") for piece in clock.spans)])]
    for cause in causes:
        mine = [(piece, _CAUSES.get(cause, FAINT), "////") for piece, why in stopped if why == cause]
        rows.append((f"stopped: {one_line(cause, 16)}", mine))
    paused = [(piece, FAINT, "") for piece in _pauses(one, record, span)]
    windows = _windows(one.component.windows, span)
    return [
        *rows,
        ("paused", paused),
        *windows,
        ("nodes excluded", [(piece, INK, "") for piece in _excluded(record, span)]),
    ]


def _windows(windows: tuple[Window, ...], span: Span) -> list[Row]:
    """A row for each window, closed ones (in which nothing is ordered) first; windows beyond the limit share one row."""
    rows = [_window(window, span) for window in sorted(windows, key=lambda window: not window.closed)]
    rows = [row for row in rows if row[1] or "unknown zone" in row[0]]
    if len(rows) <= WINDOWS_LIMIT:
        return rows
    rest = rows[WINDOWS_LIMIT - 1 :]
    together = [bar for _, bars in rest for bar in bars]
    return [*rows[: WINDOWS_LIMIT - 1], (f"{len(rest)} more windows", together)]


def _window(window: Window, span: Span) -> Row:
    """The row of one window. Where this machine does not know the window's time zone, the row says so and has no bars."""
    try:
        look = (INK, "xxxx") if window.closed else (RULE, "....")
        pieces = [(piece, *look) for piece in open_in(window, *span)]
    except UsageError:
        return f"window in unknown zone {one_line(window.zone, 18)}", []
    return f"{'closed' if window.closed else 'window'}: {one_line(window.text, 18)}", pieces


def _before(words: tuple[Word, ...], clock: Clock) -> list[Span]:
    """When the clock ran before it was last started."""
    acts = [(word.at, word.act) for word in words]
    begins = sorted({at for at, act in acts if act in clocks.BEGINS and at < clock.begin})
    found: list[Span] = []
    for begin, end in pairwise([*begins, clock.begin]):
        found += clocks.running([act for act in acts if begin <= act[0] < end], end)
    return found


def _stopped(words: tuple[Word, ...], clock: Clock) -> list[tuple[Span, str]]:
    """Each span in which the clock was stopped, with its cause."""
    found, since = [], None
    for word in words:
        if word.act == "stop" and since is None:
            since = word
        elif word.act != "stop" and since is not None:
            found.append(((since.at, word.at), since.cause or "other"))
            since = None
    if since is not None and since.at < clock.end:
        found.append(((since.at, clock.end), since.cause or "other"))
    return [(span, cause) for span, cause in found if span[1] > span[0]]


def _pauses(one: Stability, record: Record, span: Span) -> list[Span]:
    """The spans in which the component ordered nothing new because a person, or a phase, had paused it."""
    found, since = [], None
    for row in record.standing:
        if row.value.get("component") == one.component.name and not row.case:
            if row.kind == "paused" and since is None:
                since = row.time
            elif row.kind == "continued" and since is not None:
                found.append((since, row.time))
                since = None
    return [*found, (since, span[1])] if since is not None and since < span[1] else found


def _excluded(record: Record, span: Span) -> list[Span]:
    """The spans in which at least one node was excluded."""
    found: list[Span] = []
    out: set[str] = set()
    since = 0.0
    for row in record.standing:
        names = row.value.get("nodes")
        named = set(map(str, names)) if isinstance(names, list) else {str(names or "")}
        if row.kind == "excluded":
            since = row.time if not out else since
            out |= named
        elif row.kind == "included" and out:
            out -= named
            found += [(since, row.time)] if not out else []
    return [*found, (since, span[1])] if out and since < span[1] else found
