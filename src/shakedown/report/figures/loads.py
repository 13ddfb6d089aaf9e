"""How much of each budget and of each of its targets our runs took and asked for over time, against what was allowed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shakedown.metrics.loads import Load
from shakedown.metrics.words import plural
from shakedown.report.figures.style import ACCENT, INK, SEQUENCE, Drawing, draw, label, short_number
from shakedown.report.figures.time_axis import time_unit
from shakedown.report.words import show_time

LIMIT = 16  # budgets and targets in the figure
MANY = 1500  # steps of all panels beyond which the lines are kept as a picture
_OVER = "#b3261e"
_OTHERS = SEQUENCE[2]


def draw_loads(loads: Sequence[Load], begin: float, end: float) -> list[Drawing]:
    """Purpose: one figure of all budgets that were used; [] where none was. ``begin`` is time zero."""
    shown = [load for load in loads if load.steps][:LIMIT]
    if not shown:
        return []
    last = max(end, *(load.steps[-1][0] for load in shown), *(load.ran[-1][0] for load in shown if load.ran))
    scale, unit = time_unit(last - begin)

    def paint(figure: Any) -> None:
        panels = figure.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
        many = sum(len(load.steps) for load in shown) > MANY
        for place, (axes, load) in enumerate(zip(panels, shown, strict=True)):
            _panel(axes, load, (begin, last), scale, many)
            axes.tick_params(axis="x", length=0 if place + 1 < len(shown) else 2)
        panels[-1].set_xlim(0, (last - begin) / scale)
        panels[-1].set_xlabel(f"{unit} since {show_time(begin)} UTC")

    left = len([load for load in loads if load.steps]) - len(shown)
    above = [load for load in shown if load.over > 0]
    caption = (
        "What runs took while they ran; dotted: with what was asked for and waited at the scheduler; dashed: the limit."
    )
    caption += (
        " Dash-dotted, in green: what others took, as it was observed." if any(load.others for load in shown) else ""
    )
    cut = [load for load in shown if any(amount > _highest(load) for _, amount in load.others)]
    if cut:
        names = ", ".join(
            f"{load.name} (up to {short_number(max(amount for _, amount in load.others))})" for load in cut
        )
        caption += f" More than all there is was observed, and is not drawn, of {names}."
    red = f" Red: more than allowed ran, on {len(above)} of {len(shown)}."
    caption += red if above else " Never more than allowed ran."
    caption += f" {plural(left, 'budget')} more are in tables/loads.csv." if left else ""
    return [draw("loads", "Load on budgets and targets", caption, 0.45 + 0.5 * len(shown), paint)]


def _highest(load: Load) -> float:
    """The upper end of a panel: the highest of what our runs asked for, what was allowed, and what others took of the total."""
    ours = [ran + more for _, ran, more in load.together()] + [amount for _, amount in load.limits]
    others = [amount for _, amount in load.others]
    return max(*ours, *(min(amount, load.total) if load.total else amount for amount in others))


def _panel(axes: Any, load: Load, span: tuple[float, float], scale: float, many: bool) -> None:
    begin, last = span
    rows = list(load.together())
    times = [(time - begin) / scale for time, _, _ in rows] + [(last - begin) / scale]
    amounts = [ran for _, ran, _ in rows] + [rows[-1][1]]
    asked = [ran + more for _, ran, more in rows] + [rows[-1][1] + rows[-1][2]]
    colour = _OVER if load.over > 0 else ACCENT
    axes.fill_between(times, amounts, step="post", color=colour, alpha=0.3, linewidth=0, rasterized=many)
    axes.step(times, amounts, where="post", color=colour, linewidth=0.7, rasterized=many)
    if asked != amounts:
        axes.step(times, asked, where="post", color=INK, linewidth=0.6, linestyle=":", rasterized=many)
    if load.others:
        seen = [((max(time, begin) - begin) / scale, amount) for time, amount in load.others]
        axes.step(
            [*(time for time, _ in seen), (last - begin) / scale], [*(amount for _, amount in seen), seen[-1][1]],
            where="post", color=_OTHERS, linewidth=0.8, linestyle=(0, (4, 1, 1, 1)), rasterized=many,
        )  # fmt: skip
    limits = [((max(time, begin) - begin) / scale, amount) for time, amount in load.limits]
    axes.step(
        [*(time for time, _ in limits), (last - begin) / scale],
        [*(amount for _, amount in limits), limits[-1][1]],
        where="post", color=INK, linewidth=0.9, linestyle=(0, (4, 2)),
    )  # fmt: skip
    highest = _highest(load)
    axes.set_ylim(0, 1.15 * highest or 1.0)
    axes.set_yticks([0, highest], ["0", short_number(highest)])
    axes.set_ylabel(label(load.name, 24), rotation=0, ha="right", va="center", color=INK)
