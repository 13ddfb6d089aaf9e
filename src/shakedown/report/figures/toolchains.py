"""Toolchains: how fast each is compared with the first one, test by test (paper 004, IV.C and VII)."""

from __future__ import annotations

from typing import Any

from shakedown.metrics.toolchains import Matrix, Speed
from shakedown.report.case_names import folded
from shakedown.report.figures.declaration import Drawn, Material, ReportFigure
from shakedown.report.figures.style import FAINT, SEQUENCE, Drawing, draw, legend_above

MOST = 24  # tests in one figure
_MARKERS = ("o", "s", "^", "D", "v", "P")


def draw_toolchains(material: Material) -> Drawn:
    """Purpose: one figure for each figure of merit that several toolchains have, run time first."""
    names = dict.fromkeys(
        speed.figure for one in material.evidence.toolchains for column in one.columns for speed in column.speeds
    )
    drawings: list[Drawing] = []
    left_out: list[str] = []
    for figure in names:
        rows = [one for one in material.evidence.toolchains if len(_speeds(one, figure)) > 1]
        if rows:
            drawings.append(figure_of(f"toolchains-{len(drawings) + 1:02d}", figure, rows[:MOST]))
        if len(rows) > MOST:
            left_out.append(f"toolchains: {len(rows) - MOST} more tests are not drawn; tables/toolchains.csv has all")
    return drawings, left_out


def _speeds(one: Matrix, figure: str) -> dict[str, Speed]:
    return {column.toolchain: speed for column in one.columns for speed in column.speeds if speed.figure == figure}


def figure_of(name: str, figure: str, matrices: list[Matrix]) -> Drawing:
    """Purpose: a line for each test, a mark for each toolchain: its speed as a multiple of the first one's."""
    chains = list(dict.fromkeys(column.toolchain for one in matrices for column in one.columns))

    def paint(canvas: Any) -> None:
        axes = canvas.subplots()
        axes.axvline(1.0, color=FAINT, linestyle=(0, (4, 2)), linewidth=0.9)
        for number, chain in enumerate(chains):
            found = [(row, _speeds(one, figure).get(chain)) for row, one in enumerate(matrices)]
            points = [(speed.times, row) for row, speed in found if speed is not None]
            if points:
                marker, colour = _MARKERS[number % len(_MARKERS)], SEQUENCE[number % len(SEQUENCE)]
                axes.plot(
                    *zip(*points, strict=True), marker=marker, linestyle="", markersize=5, color=colour, label=chain
                )
        axes.set_yticks(range(len(matrices)), [folded(one.name, 34, 2) for one in matrices])
        axes.set_ylim(len(matrices) - 0.5, -0.5)
        axes.set_xlabel("times as fast as the first toolchain")
        legend_above(canvas, *axes.get_legend_handles_labels())

    what = "run time" if figure == "elapsed" else figure
    caption = "Medians. To the right of the dashed line it is faster; one whose build failed has no mark."
    return draw(name, f"Toolchains: {what}", caption, 1.1 + 0.28 * len(matrices), paint)


FIGURES = (ReportFigure("toolchains", "toolchains", draw_toolchains),)
