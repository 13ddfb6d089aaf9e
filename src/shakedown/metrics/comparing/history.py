"""One figure over all campaigns of a site: the values of each campaign, case by case, and the places where the level changed.

Start reading at ``history_of``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from msgspec import Struct

from shakedown.metrics import statistics
from shakedown.metrics.comparing.cells import Source, cells_of
from shakedown.metrics.comparing.chances import LEVEL
from shakedown.metrics.comparing.change_points import change_points
from shakedown.metrics.comparing.compare import Verdict
from shakedown.metrics.comparing.names import subject_names
from shakedown.metrics.comparing.two_samples import Effect, effect_of, trimmed_means
from shakedown.metrics.rows.rows import RunRow
from shakedown.model.figures import FigureSpec, Pairs, figure_of


class Line(Struct, frozen=True):
    """A figure of one case in one epoch of one campaign. ``interval``: of the median; None for fewer than six values."""

    campaign: str
    epoch: int
    subject: str
    figure: str
    unit: str
    count: int
    median: float
    interval: tuple[float, float] | None
    lowest: float
    highest: float
    began: float
    cases: tuple[str, ...] = ()


class Change(Struct, frozen=True):
    """A new level, which begins with ``run`` of ``campaign``; ``after``: the last run before it, as (campaign, run).

    ``effect``: the new level against the one before, computed from the trimmed means. Medians and trimmed means are in the figure's
    unit.
    """

    subject: str
    figure: str
    unit: str
    campaign: str
    epoch: int
    run: str
    after: tuple[str, str]
    time: float
    before_median: float
    after_median: float
    before_mean: float
    after_mean: float
    effect: Effect
    verdict: Verdict


class EpochMark(Struct, frozen=True):
    """When an epoch of a campaign began, and what opened it."""

    campaign: str
    epoch: int
    opened_by: str
    reason: str
    time: float


class History(Struct, frozen=True):
    """A figure's history. ``campaigns``: in the order in which they began; ``changes``: the new levels; ``epochs``: where epochs
    began.
    """

    figure: str
    campaigns: tuple[str, ...]
    lines: tuple[Line, ...]
    changes: tuple[Change, ...]
    epochs: tuple[EpochMark, ...]
    least: float
    level: float


class _Value(NamedTuple):
    source: Source
    row: RunRow
    value: float


class _Series(Struct):
    """The values of one figure of one case in one mode, in the order in which the runs began."""

    subject: Pairs
    spec: FigureSpec
    values: list[_Value]


def history_of(
    figure: str, sources: Sequence[Source], least: float, wanted: Callable[[Pairs, Sequence[str]], bool]
) -> History:
    """Purpose: the history of a figure (of each of its rows, if it is a table) over campaigns in the order in which they began.

    ``wanted``: whether a case is included, from its subject and its case ids.
    """
    series = _series(figure, sources, wanted)
    names = subject_names(one.subject for one in series)
    level = LEVEL / max(1, len(series))
    lines = [line for one in series for line in _lines(one, names[one.subject])]
    changes = [change for one in series for change in _changes(one, names[one.subject], level, least)]
    marks = [
        EpochMark(one.label, epoch.number, epoch.opened_by, epoch.reason, epoch.time)
        for one in sources
        for epoch in one.record.epochs
    ]
    order = tuple(one.label for one in sources)
    return History(figure, order, tuple(lines), tuple(changes), tuple(marks), least, LEVEL)


def _series(figure: str, sources: Sequence[Source], wanted: Callable[[Pairs, Sequence[str]], bool]) -> list[_Series]:
    found: dict[tuple[Pairs, str], _Series] = {}
    groups = cells_of(sources, "campaign")
    for source in sources:
        for subject, cell in groups.get(source.label, {}).items():
            for name, pairs in cell.values.items():
                if figure in (name, figure_of(name)) and pairs and wanted(subject, tuple(cell.cases)):
                    one = found.setdefault((subject, name), _Series(subject, cell.specs[name], []))
                    ordered = sorted(pairs, key=lambda pair: _began(pair[0]))
                    one.values += [_Value(source, row, value) for row, value in ordered]
    return list(found.values())


def _began(row: RunRow) -> float:
    return row.time if row.started is None else row.started


def _lines(series: _Series, name: str) -> list[Line]:
    groups: dict[tuple[str, int], list[_Value]] = {}
    for value in series.values:
        groups.setdefault((value.source.label, value.row.epoch), []).append(value)
    lines = []
    for (campaign, epoch), mine in groups.items():
        ordered = sorted(one.value for one in mine)
        middle, interval = statistics.median(ordered), statistics.median_interval(ordered)
        cases = tuple(dict.fromkeys(one.row.case for one in mine))
        about = campaign, epoch, name, series.spec.name, series.spec.unit, len(ordered)
        lines.append(
            Line(*about, middle, interval, ordered[0], ordered[-1], min(_began(one.row) for one in mine), cases)
        )
    return lines


def _changes(series: _Series, name: str, level: float, least: float) -> list[Change]:
    numbers = [one.value for one in series.values]
    places = change_points(numbers, level, least)
    borders = [0, *places, len(numbers)]
    found = []
    for number, place in enumerate(places, 1):
        before, after = numbers[borders[number - 1] : place], numbers[place : borders[number + 1]]
        effect = effect_of(before, after, least)
        if effect is not None:
            here, last = series.values[place], series.values[place - 1]
            found.append(
                Change(
                    name,
                    series.spec.name,
                    series.spec.unit,
                    here.source.label,
                    here.row.epoch,
                    here.row.run,
                    (last.source.label, last.row.run),
                    _began(here.row),
                    statistics.median(before),
                    statistics.median(after),
                    *trimmed_means(before, after),
                    effect,
                    _verdict(series.spec.better, effect.share),
                )
            )
    return found


def _verdict(better: str, share: float) -> Verdict:
    if not better:
        return "changed"
    return "worse" if (share > 0) is (better == "lower") else "better"
