"""Figures against a parameter of their test, as curves: run time against threads, rate against the size of a transfer (paper 004,
section VII; paper 002, figures 6 to 8).

A parameter with at least three numeric values gives a picture for each figure of the test, with a curve for each combination of the
other parameters, toolchain and partition. Where several parameters change together, such as ranks and threads of a full node, the
first is the axis. The parameter that a test scales along has figures of its own. If there are too many curves for one picture,
there is a picture for each value of a parameter, as paper 004 has one for each number of atoms; along a second axis only the first
curves are drawn.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from shakedown.metrics.cases import ELAPSED, CaseSummary, FigureSummary
from shakedown.metrics.words import plural, some
from shakedown.model.nouns import Case, Document
from shakedown.model.units import parse_quantity
from shakedown.report.figures.curves import FEWEST, Curve, Picture, draw_picture
from shakedown.report.figures.declaration import Drawn, Material, ReportFigure
from shakedown.report.figures.style import SEQUENCE
from shakedown.report.words import one_line

PICTURES_LIMIT = 18  # in one report
_MOST_PARTS = 6  # pictures that one becomes
_TOLD = 6  # values of what goes with the axis that a caption names
_TICKS = 10  # places along an axis, up to which each is named

Others = tuple[tuple[str, str], ...]


def draw_parameters(document: Document, cases: Sequence[CaseSummary]) -> Drawn:
    """Purpose: a picture for each figure and parameter that has curves, and a sentence on those that are not drawn."""
    scaled = {(test.name, test.scaling.along) for test in document.tests if test.scaling is not None}
    pictures = list(pictures_along(cases, scaled))
    drawn = [draw_picture(f"along-{place:02d}", picture) for place, picture in enumerate(pictures[:PICTURES_LIMIT], 1)]
    left = len(pictures) - len(drawn)
    said = f"not drawn: {plural(left, 'figure')} more against parameters; tables/figures.csv has every value"
    return drawn, [said] if left else []


def pictures_along(cases: Sequence[CaseSummary], scaled: Collection[tuple[str, str]]) -> Iterator[Picture]:
    """Purpose: every picture, in the order of the plan. ``scaled``: (test, parameter) pairs that are drawn elsewhere."""
    for (component, test), group in groupby(cases, lambda one: (one.component, one.case.test)):
        mine = list(group)
        taken = {name for name, _ in mine[0].case.parameters if (test, name) in scaled}
        drawn = bool(taken)
        for name, _ in mine[0].case.parameters:
            axis = None if name in taken else _axis(name, [one.case for one in mine])
            if axis is not None:
                found = list(_of_axis(component, test, axis, mine))
                yield from (part for one in found for part in ([one.of(one.curves)] if drawn else _parts(one)))
                taken |= axis.together if found else set()
                drawn = drawn or bool(found)


@dataclass(frozen=True, slots=True)
class _Axis:
    """A parameter as an axis. ``places``: value as written -> number in ``unit``; ``together``: the parameters that change with it,
    itself included.
    """

    name: str
    unit: str
    places: dict[str, float]
    together: frozenset[str]

    @property
    def ticks(self) -> tuple[float, ...]:
        """Every place on the axis where there are few, else ()."""
        places = tuple(sorted(set(self.places.values())))
        return places if len(places) <= _TICKS else ()


def _axis(name: str, cases: Sequence[Case]) -> _Axis | None:
    """The axis of a parameter; None where a case has no such number, or there are fewer than three numbers."""
    rows = [dict(case.parameters) for case in cases]
    words = list(dict.fromkeys(row.get(name, "") for row in rows))
    try:
        amounts = [parse_quantity(word) for word in words]
        unit = amounts[0].unit
        places = {word: one.to(unit) for word, one in zip(words, amounts, strict=True)}
    except ValueError:
        return None
    if len(set(places.values())) < FEWEST:
        return None
    return _Axis(name, unit, places, frozenset(other for other in rows[0] if _go_together(name, other, rows)))


def _go_together(name: str, other: str, rows: Sequence[dict[str, str]]) -> bool:
    """Whether two parameters always change together: each value of one has exactly one value of the other."""
    pairs = {(row.get(name, ""), row.get(other, "")) for row in rows}
    return len(pairs) == len({first for first, _ in pairs}) == len({second for _, second in pairs})


@dataclass(slots=True)
class _Uncut:
    """A picture before it is split into several: its curves by their other parameters."""

    picture: Picture
    curves: dict[Others, Curve]

    def of(self, curves: dict[Others, Curve], where: str = "") -> Picture:
        """The picture of some of the curves, each named by what differs between them."""
        names = _names(self.picture.test, curves)
        named = [Curve(words, sorted(one.points)) for words, one in zip(names, curves.values(), strict=True)]
        return replace(self.picture, curves=named, where=where)


def _parts(uncut: _Uncut) -> list[Picture]:
    """One picture where its curves can be told apart, else one for each value of the parameter that splits them best."""
    curves, cuts = uncut.curves, []
    for name in dict(next(iter(curves))) if len(curves) > len(SEQUENCE) else ():
        groups: dict[str, dict[Others, Curve]] = {}
        for others, curve in curves.items():
            groups.setdefault(dict(others)[name], {})[others] = curve
        cuts.append((name, groups))
    apart = [cut for cut in cuts if 1 < len(cut[1]) <= _MOST_PARTS]
    if not apart:
        return [uncut.of(curves)]
    name, groups = min(apart, key=lambda cut: (max(len(SEQUENCE), *map(len, cut[1].values())), len(cut[1])))
    return [uncut.of(mine, f"{name}={value}") for value, mine in groups.items()]


def _of_axis(component: str, test: str, axis: _Axis, cases: Sequence[CaseSummary]) -> Iterator[_Uncut]:
    """A picture for each figure of the test; for its run time only where the test has no other figure."""
    curves: dict[tuple[str, str], dict[Others, Curve]] = {}
    for one in cases:
        place = axis.places[dict(one.case.parameters)[axis.name]]
        for figure in _figures(one):
            if figure.summary is not None:
                key = (figure.spec.name, figure.spec.unit)
                others = (*_others(one.case, axis.together), ("mode", figure.mode))
                curve = curves.setdefault(key, {}).setdefault(others, Curve(""))
                curve.points.append((place, figure.summary.median, figure.summary.lowest, figure.summary.highest))
    column = f"{axis.name}, {axis.unit}" if axis.unit else axis.name
    beside = _beside(axis, [one.case for one in cases])
    for (name, unit), found in curves.items():
        shown = {others: curve for others, curve in found.items() if len(curve.points) >= FEWEST}
        if shown:
            yield _Uncut(Picture(component, test, name, column, unit, [], beside, axis.ticks), shown)


def _figures(case: CaseSummary) -> list[FigureSummary]:
    """The figures of the case's test that have one value in a run; its run time where the test has no figures."""
    own = [one for one in case.figures if one.spec.name != ELAPSED.name]
    return [one for one in own if "[" not in one.spec.name] if own else list(case.figures)


def _others(case: Case, together: frozenset[str]) -> Others:
    """The parameters, toolchain and partition of a case, without the axis and what changes with it."""
    own = tuple((name, value) for name, value in case.parameters if name not in together)
    return (*own, ("toolchain", case.toolchain), ("partition", case.partition.rpartition(":")[2]))


def _names(test: str, found: Collection[Others]) -> list[str]:
    """The name of each curve: the parameters in which the curves differ."""
    values: dict[str, set[str]] = {}
    for name, value in (pair for others in found for pair in others):
        values.setdefault(name, set()).add(value)
    return [
        ", ".join(f"{name}={value}" for name, value in dict(others).items() if len(values[name]) > 1 and value) or test
        for others in found
    ]


def _beside(axis: _Axis, cases: Sequence[Case]) -> str:
    """What changes with the axis, for the caption: " With it: tasks 128, 64, 32."."""
    found = []
    for name in sorted(axis.together - {axis.name}):
        values = list(dict.fromkeys(dict(case.parameters)[name] for case in cases))
        found.append(f"{one_line(name, 30)} {one_line(some(values, _TOLD), 60)}")
    return f" With it: {'; '.join(found)}." if found else ""


def _of_report(material: Material) -> Drawn:
    return draw_parameters(material.evidence.document, material.evidence.cases)


FIGURES = (ReportFigure("figures against parameters", "sides", _of_report, order=65),)
