"""The history of a machine: utilisation over time, and the work of jobs by size and by account or area."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from shakedown.exchange.usage import Group, Usage, widest
from shakedown.metrics.words import so_many
from shakedown.report.figures.style import ACCENT, Drawing, draw, label

_BARS = 8


def draw_history(found: Usage) -> Drawing:
    """Purpose: the figure of a history: bars over time above, shares of the work below."""
    by_people = found.areas or tuple(one for one in found.accounts if one.name)

    def paint(figure: Any) -> None:
        above, below = figure.subfigures(2, 1, height_ratios=[1, 1.2])
        _over_time(above.subplots(), found)
        left, right = below.subplots(1, 2)
        _shares(left, found.sizes, f"by {found.unit} of a job")
        shown = by_people or found.states
        title = "by area" if found.areas else "by account" if by_people else "by state"
        _shares(right, widest(shown, _BARS), title)

    caption = (
        f"{found.source}: {so_many(found.records, 'record', 'records')}; "
        f"{found.capacity:,.0f} {found.unit} ({found.counted}); utilisation "
        f"{found.utilisation:.1%}."
    )
    return draw("history", "The history of the machine", caption, 4.2, paint)


def _over_time(axes: Any, found: Usage) -> None:
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num

    days = 86_400.0
    begins = [date2num(datetime.fromtimestamp(one.begin_s, UTC)) for one in found.periods]  # type: ignore[no-untyped-call]
    wide = [(one.end_s - one.begin_s) / days for one in found.periods]
    axes.bar(begins, [100 * one.utilisation for one in found.periods], width=wide, align="edge", color=ACCENT)
    locator = AutoDateLocator()  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
    axes.set_ylabel("utilisation, %")
    axes.set_ylim(bottom=0)
    axes.grid(axis="x", visible=False)


def _shares(axes: Any, groups: Sequence[Group], title: str) -> None:
    names = [label(one.name or "(none)", 24) for one in groups]
    axes.barh(range(len(groups)), [100 * one.share for one in groups], color=ACCENT, height=0.7)
    axes.set_yticks(range(len(groups)), names)
    axes.invert_yaxis()
    axes.set_xlabel("share of the work, %")
    axes.set_title(title)
    axes.grid(axis="y", visible=False)
