"""How tests scale, from the record: a series for each component, test, mode and combination of the other parameters.

Start reading at ``scaled``; the formulas are in ``model.scaling``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from shakedown.metrics import statistics
from shakedown.metrics.comparing.two_samples import Effect, effect_of
from shakedown.metrics.judging.populations import CaseRuns, Population
from shakedown.model.nouns import Case, Component, Document, Test
from shakedown.model.scaling import (
    Measurement,
    Point,
    Scaling,
    falls_below,
    fitted_serial,
    points_of,
    size_in,
    speed_of,
    work_of,
)

LOW = 0.8  # a series is reported where its efficiency falls below this


class Step(Struct, frozen=True):
    """One size of a series. ``interval``: of the efficiency at 95 %, None if the smallest size or this one has fewer than three
    values. ``to_come``: results still wanted at this size; ``point``: None if nothing was measured. ``least`` and ``most``: of the
    values.
    """

    case: str
    size: float
    to_come: int
    point: Point | None = None
    interval: tuple[float, float] | None = None
    count: int = 0
    median: float | None = None
    least: float | None = None
    most: float | None = None


class Series(Struct, frozen=True):
    """A test at several sizes, all else equal. ``label``: the properties that distinguish it from other series of the test.

    ``serial``: the fitted serial share of the work; ``falls``: where the efficiency falls below ``low`` for good, as the measured
    size and as the size where a line between the two sizes crosses ``low``.
    """

    component: str
    test: str
    mode: str
    label: str
    along: str
    kind: str
    figure: str
    unit: str
    higher: bool
    steps: tuple[Step, ...]
    serial: float | None = None
    falls: tuple[float, float] | None = None
    low: float = LOW
    source: str = ""

    @property
    def name(self) -> str:
        """The test and its distinguishing properties: "lammps, toolchain=gcc"."""
        return f"{self.test}, {self.label}" if self.label else self.test

    @property
    def misfit(self) -> str:
        """Why the fitted serial share is no share, or "": noise around perfect scaling is not told."""
        if self.serial is None or -0.05 <= self.serial <= 1.0:
            return ""
        if self.serial > 1.0:
            return "above 100% the law does not fit: larger sizes are slower than the smallest one"
        return "below 0% the law does not fit: larger sizes are faster than in proportion"

    @property
    def points(self) -> list[Point]:
        return [step.point for step in self.steps if step.point is not None]

    def at(self, size: float) -> Step | None:
        """The step at a size; 0 stands for the largest size."""
        if not size:
            return self.steps[-1] if self.steps else None
        return next((step for step in self.steps if step.size == size), None)


def scaled(document: Document, people: Mapping[str, Population], low: float = LOW, source: str = "") -> list[Series]:
    """Purpose: every series of a campaign, in the order of the plan. ``low``: the efficiency below which a series is reported."""
    tests = {test.name: test for test in document.tests}
    return [
        series
        for component in document.components
        for series in of_component(component, people[component.name], tests, low, source)
    ]


def of_component(
    component: Component, population: Population, tests: Mapping[str, Test], low: float = LOW, source: str = ""
) -> list[Series]:
    """Purpose: the series of one component, for its cases that can run here."""
    found = []
    for test in dict.fromkeys(case.case.test for case in population.cases):
        scaling = tests[test].scaling if test in tests else None
        if scaling is None:
            continue
        mine = [case for case in population.cases if case.case.test == test]
        unit = next((spec.unit for spec in tests[test].figures if spec.name == scaling.figure), "s")
        alike = _alike(scaling, mine)
        shown = _telling(alike)
        for mode in [str(one.name) for one in component.modes] or [""]:
            for others, cases in alike.items():
                words = ", ".join(f"{name}={value}" for name, value in others if name in shown)
                about = (component.name, test, mode, f"{words}, {mode}".strip(", ") if mode else words)
                found.append(_series(about, scaling, unit, [case.of_mode(mode) for case in cases], low, source))
    return found


Others = tuple[tuple[str, str], ...]  # everything that identifies a case except its size


def _alike(scaling: Scaling, cases: Iterable[CaseRuns]) -> dict[Others, list[CaseRuns]]:
    """The cases grouped so that those of a group differ only in size."""
    found: dict[Others, list[CaseRuns]] = {}
    for runs in cases:
        if size_in(dict(runs.case.parameters), scaling.along) is not None:
            found.setdefault(_others(scaling, runs.case), []).append(runs)
    return found


def _others(scaling: Scaling, case: Case) -> Others:
    own = {name: value for name, value in case.parameters if name != scaling.along}
    return tuple({**own, "toolchain": case.toolchain, "partition": case.partition.rpartition(":")[2]}.items())


def _telling(alike: Iterable[Others]) -> set[str]:
    """The names of the properties in which the series of a test differ."""
    values: dict[str, set[str]] = {}
    for others in alike:
        for name, value in others:
            values.setdefault(name, set()).add(value)
    return {name for name, found in values.items() if len(found) > 1}


def _series(
    about: tuple[str, str, str, str],
    scaling: Scaling,
    unit: str,
    cases: list[CaseRuns],
    low: float,
    source: str,
) -> Series:
    sized = sorted(
        ((size_in(dict(runs.case.parameters), scaling.along) or 0.0, runs) for runs in cases), key=lambda one: one[0]
    )
    values = {size: [value for _, value in runs.values(scaling.figure) if value > 0] for size, runs in sized}
    measured = [
        Measurement(size, statistics.median(values[size]), work_of(scaling, runs.case.id, size), len(values[size]))
        for size, runs in sized
        if values[size]
    ]
    smallest = sized[0][0] if sized else 0.0
    points = {point.size: point for point in points_of(scaling, measured)} if values.get(smallest) else {}
    steps = []
    for size, runs in sized:
        own = values[size]
        speeds = [
            [_speed(scaling, of, value) for value in values[of.size]] for of in measured if of.size in (smallest, size)
        ]
        effect = effect_of(speeds[0], speeds[-1]) if len(speeds) == 2 else None
        point = points.get(size)
        told = (statistics.median(own), min(own), max(own)) if own else (None, None, None)
        steps.append(Step(runs.case.id, size, runs.to_come, point, _interval(effect, point), len(own), *told))
    found = [step.point for step in steps if step.point is not None]
    component, test, mode, label = about
    return Series(
        component, test, mode, label, scaling.along, scaling.kind, scaling.figure, unit, scaling.higher,
        tuple(steps), fitted_serial(scaling, found), falls_below(found, low) if found else None, low, source,
    )  # fmt: skip


def _speed(scaling: Scaling, of: Measurement, value: float) -> float:
    return speed_of(scaling, Measurement(of.size, value, of.work, 1))


def _interval(effect: Effect | None, point: Point | None) -> tuple[float, float] | None:
    if effect is None or point is None:
        return None
    low, high = effect.interval
    return (1.0 + low) / point.ideal, (1.0 + high) / point.ideal
