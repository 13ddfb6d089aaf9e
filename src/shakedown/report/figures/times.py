"""Run time against start time, for each test of each component (paper 004, figures 4 to 9).

An acceptance team looks at this figure first: it shows a machine that wears out, a file system that fills up, a job that takes
twice as long. It also shows the limits of the contract, the mean, outliers and the beginnings of epochs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from shakedown.metrics.cases import CaseSummary
from shakedown.metrics.rows.rows import EpochRow, RunRow
from shakedown.metrics.words import plural
from shakedown.model.contracts import rows_of
from shakedown.model.nouns import Document
from shakedown.report.case_names import telling_names
from shakedown.report.figures.declaration import Drawn, Material, ReportFigure
from shakedown.report.figures.style import INK, MARKS, MOST_LOOKS, Drawing, draw, label, look_of
from shakedown.report.figures.time_axis import MANY, scatter, start_of, time_unit, verdict_legend
from shakedown.report.words import file_name, one_line

TESTS_LIMIT = 24  # figures in one report
LEAST = 2  # runs: one is a row of a table
EPOCHS_LIMIT = 12  # lines in one figure
_LIMIT = {"contract": ("#b3261e", (0, (1, 1))), "vendor": (INK, (0, (6, 2, 1, 2)))}  # basis -> colour, dashes


@dataclass(slots=True)
class Series:
    """The runs of one case in one mode, with their mean and the runs that are outliers. ``limit_s``: the case's walltime."""

    name: str
    rows: list[RunRow]
    mean: float | None = None
    outliers: frozenset[str] = frozenset()
    limit_s: float = 0.0

    def height(self, row: RunRow) -> float | None:
        """How long a run took, in seconds; None where that is not known. A run that the scheduler ended at its walltime took the
        walltime.
        """
        return self.limit_s or None if row.elapsed_s is None and row.verdict == "timeout" else row.elapsed_s


@dataclass(slots=True)
class Group:
    """The content of one figure: one test in one component. ``limits``: (basis, value) of contract rows on the run time."""

    component: str
    test: str
    series: list[Series] = field(default_factory=list)
    limits: dict[tuple[str, float], None] = field(default_factory=dict)

    @property
    def rows(self) -> list[RunRow]:
        return [row for one in self.series for row in one.rows]

    @property
    def timed(self) -> list[float]:
        return [row.elapsed_s for row in self.rows if row.elapsed_s is not None]

    @property
    def heights(self) -> list[float]:
        """The run times of all runs that have one."""
        return [height for one in self.series for row in one.rows if (height := one.height(row)) is not None]


def draw_times(
    document: Document, cases: Sequence[CaseSummary], epochs: Sequence[EpochRow], begin: float
) -> tuple[list[Drawing], list[str]]:
    """Purpose: a figure for each component and test with several timed runs, and a sentence on those beyond the limit. ``begin`` is
    time zero.
    """
    timed = [group for group in _groups(document, cases) if group.timed and len(group.heights) >= LEAST]
    most = sorted(timed, key=lambda group: -len(group.rows))[:TESTS_LIMIT]
    shown = sorted((group for group in timed if group in most), key=lambda group: len(group.series) <= 2)  # wide first
    drawings = [_draw(number, group, epochs, begin) for number, group in enumerate(shown, 1)]
    left = len(timed) - len(shown)
    said = f"not drawn: the run times of {plural(left, 'test')} with fewer runs; tables/runs.csv has them"
    return drawings, [said] if left else []


def _groups(document: Document, cases: Sequence[CaseSummary]) -> list[Group]:
    groups: dict[tuple[str, str], Group] = {}
    for case in cases:
        if not case.rows:
            continue
        key = (case.component, case.case.test)
        group = groups.setdefault(key, Group(*key))
        group.series += _series(case)
        modes = {"", *(figure.mode for figure in case.figures)}
        for row in rows_of(document, case.case):
            if row.figure == "elapsed" and row.basis in _LIMIT and row.mode in modes:
                group.limits |= {(row.basis, bound): None for bound in (row.low, row.high) if bound is not None}
    return list(groups.values())


def _series(case: CaseSummary) -> list[Series]:
    """One series for a case, or one for each of its modes."""
    found = []
    for figure in case.figures:
        if figure.spec.name == "elapsed":
            rows = [row for row in case.rows if not figure.mode or row.mode == figure.mode]
            name = f"{case.case.id}, {figure.mode}" if figure.mode else case.case.id
            mean = figure.summary.mean if figure.summary else None
            outliers = frozenset(outlier.run for outlier in figure.outliers)
            found.append(Series(name, rows, mean, outliers, case.case.shape.time_limit_s))
    return [one for one in found if one.rows]


# ---- one figure --------------------------------------------------------------------------------------------------------


def _draw(number: int, group: Group, epochs: Sequence[EpochRow], begin: float) -> Drawing:
    starts = [start_of(row) - begin for row in group.rows]
    scale, unit = time_unit(max(starts))
    names, common = telling_names([one.name for one in group.series])
    several, wide = len(group.series) > 1, len(group.series) > 2
    coloured = several and len(group.series) <= MOST_LOOKS
    inside = [one for one in epochs if one.number > 1 and min(starts) <= one.time - begin <= max(starts)]
    opened = inside[:EPOCHS_LIMIT]

    def paint(figure: Any) -> None:
        axes = figure.add_subplot()
        _frame(axes, [start / scale for start in starts], [*group.heights, *(value for _, value in group.limits)])
        for place, one in enumerate(group.series):
            _runs(axes, one, look_of(place) if coloured else None, begin, scale, len(group.rows) > MANY)
        for (basis, value), _ in group.limits.items():
            axes.axhline(value, color=_LIMIT[basis][0], linestyle=_LIMIT[basis][1], linewidth=0.9, zorder=1)
        for epoch in opened:
            _epoch(axes, epoch, (epoch.time - begin) / scale)
        axes.xaxis.set_major_locator(_few_places(axes.get_xlim(), wide))
        axes.set_xlabel(f"start, {unit} since the campaign began")
        axes.set_ylabel("run time, s")
        verdict_legend(figure, group.rows, names if coloured else [])

    title = f"{one_line(group.test, 40)} in {one_line(group.component, 30)}"
    name = f"run-time-{number:02d}-{file_name(group.component, 24)}-{file_name(group.test, 40)}"
    return draw(name, title, _caption(group, len(inside), common if coloured else ""), 1.9, paint, wide)


def _few_places(span: tuple[float, float], wide: bool) -> Any:
    """A locator for as many ticks as there is room for: a short span late in a campaign needs labels with many digits."""
    from matplotlib.ticker import MaxNLocator

    long = span[1] > 50 * (span[1] - span[0])
    return MaxNLocator((4 if long else 8) if wide else (2 if long else 5))


def _caption(group: Group, opened: int, common: str) -> str:
    never, ended = len(group.rows) - len(group.heights), len(group.heights) - len(group.timed)
    each = "each dashed line is" if len(group.series) > 1 else "the dashed line is"
    text = f"{plural(len(group.timed), 'run')}; {each} the mean of correct runs."
    text += " Outliers are circled." if any(one.outliers for one in group.series) else ""
    bases = list(dict.fromkeys(basis for basis, _ in group.limits))
    text += " Dotted: limits of the contract." if "contract" in bases else ""
    text += " Dash-dotted: the vendor's." if "vendor" in bases else ""
    text += " Vertical lines: an epoch begins" if opened else ""
    text += f"; the first {EPOCHS_LIMIT} of {opened}." if opened > EPOCHS_LIMIT else "." if opened else ""
    text += f" All are of {one_line(common, 160)}." if common not in ("", group.test) else ""
    if len(group.series) > MOST_LOOKS:
        text += f" Its {len(group.series)} cases are too many to tell apart here; tables/runs.csv names the case of each run."
    text += f" {ended} that were ended at their walltime stand at it." if ended else ""
    return text + (f" {never} without a run time stand on the axis." if never else "")


def _frame(axes: Any, starts: list[float], values: list[float]) -> None:
    """Set the limits of the axes with some room around the points; run times from zero, unless all are close together and far from
    it.
    """
    room = 0.04 * (max(starts) - min(starts)) or 0.5
    axes.set_xlim(max(0.0, min(starts) - room) if min(starts) > room else -room / 4, max(starts) + room)
    low, high = min(values), max(values)
    if low > 0.6 * high > 0:
        room = 0.15 * (high - low) or 0.05 * high
        axes.set_ylim(low - room, high + room)
    else:
        axes.set_ylim(0, 1.06 * high or 1.0)


def _runs(axes: Any, one: Series, look: tuple[str, str] | None, begin: float, scale: float, many: bool) -> None:
    """Draw the runs at their start and run time; those without a known run time on the axis; outliers circled."""
    for verdict in dict.fromkeys(row.verdict for row in one.rows):
        rows = [row for row in one.rows if row.verdict == verdict]
        placed = [((start_of(row) - begin) / scale, one.height(row)) for row in rows]
        timed = [(start, height) for start, height in placed if height is not None]
        never = [(start, 0.0) for start, height in placed if height is None]
        own = look if verdict == "passed" else None
        scatter(axes, timed, verdict, many, own)
        if never:
            scatter(axes, never, verdict, many, own, transform=axes.get_xaxis_transform())
    far = [
        ((start_of(row) - begin) / scale, row.elapsed_s)
        for row in one.rows
        if row.run in one.outliers and row.elapsed_s is not None
    ]
    if far:
        ring = {"s": 44, "facecolors": "none", "edgecolors": "#b3261e", "linewidths": 0.7, "zorder": 4}
        axes.scatter([x for x, _ in far], [y for _, y in far], rasterized=many, clip_on=False, **ring)
    if one.mean is not None:
        axes.axhline(
            one.mean, color=look[0] if look else MARKS["passed"][1], linewidth=0.7, linestyle=(0, (4, 2)), zorder=1
        )


def _epoch(axes: Any, epoch: EpochRow, place: float) -> None:
    axes.axvline(place, color=INK, linewidth=0.7, zorder=1)
    look = {"fontsize": 6, "rotation": 90, "va": "top", "ha": "right", "textcoords": "offset points", "zorder": 5}
    words = label(f"epoch {epoch.number}, {epoch.opened_by}", 30)
    axes.annotate(words, (place, 1.0), (-1.5, -1), xycoords=axes.get_xaxis_transform(), **look)


def _times(material: Material) -> Drawn:
    evidence = material.evidence
    return draw_times(evidence.document, evidence.cases, evidence.record.epochs, material.begin)


FIGURES = (ReportFigure("run times", "times", _times),)
