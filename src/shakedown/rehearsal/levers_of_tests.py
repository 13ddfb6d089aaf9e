"""Levers on tests: shorter time limits, longer ones for runs that reached their limit, an added test or filler of one node."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator

from msgspec.structs import replace

from shakedown.metrics.words import some
from shakedown.model.nouns import Case, Component, Document
from shakedown.model.settings_in_words import setting
from shakedown.model.units import show_duration
from shakedown.rehearsal.loosened import Change

_ROOM = 1.1  # times the longest run
_SHORTER = 0.95  # a new limit must be below this share of the time limit
NARROW = "of-one-node"

Made = tuple[str, str, Change]


def shorter_limits(document: Document, longest: dict[str, float]) -> Iterator[Made]:
    """Purpose: a lever that sets time limits to 1.1 times the longest run, where the present limit is clearly longer."""
    asked = {}
    for case in document.cases:
        seconds = 60.0 * math.ceil(longest.get(case.id, 0.0) * _ROOM / 60)
        if 0 < seconds < case.shape.time_limit_s * _SHORTER:
            asked[case.id] = seconds
    asked = {name: seconds for test in _whole(document, asked).values() for name, seconds in test.items()}
    if asked:
        yield "walltime", _limits_to_paste(document, asked), _limited(asked)


def longer_limits(document: Document, overran: Collection[str], times: float) -> tuple[str, str, Change]:
    """Purpose: multiply the time limit of the tests in ``overran`` by ``times``, at most up to the limit of their partition."""
    most = {f"{one.cluster}:{one.name}": one.time_limit_s or math.inf for one in document.system.partitions()}
    asked = {
        case.id: min(60.0 * math.ceil(case.shape.time_limit_s * times / 60), most.get(case.partition, math.inf))
        for case in document.cases
        if case.id in overran and case.shape.time_limit_s > 0
    }
    longest: dict[str, float] = {}  # a test has one time limit
    for case in document.cases:
        if case.id in asked:
            longest[case.test] = max(longest.get(case.test, 0.0), asked[case.id])
    asked = {
        case.id: max(case.shape.time_limit_s, min(longest[case.test], most.get(case.partition, math.inf)))
        for case in document.cases
        if case.test in longest
    }
    return f"run.time_limit of {some(list(longest))}", _limits_to_paste(document, asked), _limited(asked)


def _whole(document: Document, asked: dict[str, float]) -> dict[str, dict[str, float]]:
    """Tests that can use a shorter limit in all their available cases -> case -> the new limit, which is the largest of the test's

    cases because a test has one time limit. Tests where this is not clearly below the present limit of each case are left out.
    """
    found: dict[str, dict[str, float]] = {}
    for test in dict.fromkeys(case.test for case in document.cases):
        mine = [case for case in document.cases if case.test == test and not case.unavailable]
        if not mine or any(case.id not in asked for case in mine):
            continue
        longest = max(asked[case.id] for case in mine)
        if all(longest < case.shape.time_limit_s * _SHORTER for case in mine):
            found[test] = {case.id: longest for case in mine}
    return found


def _limits_to_paste(document: Document, asked: dict[str, float]) -> str:
    """The setting for each test, with the largest limit of its cases, ready to paste into the plan."""
    tests: dict[str, float] = {}
    for case in document.cases:
        if case.id in asked:
            tests[case.test] = max(tests.get(case.test, 0.0), asked[case.id])
    keys = ("run", "time_limit")
    return "; ".join(setting(f"test {test}", keys, show_duration(seconds)) for test, seconds in tests.items())


def _limited(asked: dict[str, float]) -> Change:
    def limited(case: Case) -> Case:
        return replace(case, shape=replace(case.shape, time_limit_s=asked[case.id])) if case.id in asked else case

    return lambda plan: replace(plan, cases=tuple(map(limited, plan.cases)))


def filler(document: Document) -> Iterator[Made]:
    """Purpose: a lever that adds a filler of one node to components that have a duration but neither filler nor sweep."""
    bare = [one.name for one in document.components if one.duration_s and not one.fillers and not one.sweep]
    if bare:
        text = f"a filler of one node in {', '.join(bare)} (filler)"
        yield "filler", text, lambda plan: _with_narrow(plan, bare, lambda one, names: replace(one, fillers=names))


def narrow(document: Document, idle: float) -> Iterator[Made]:
    """Purpose: a lever that adds a test of one node to each mix without one; its share is the share of idle nodes ``idle``."""
    units = {case.id: case.shape.units for case in document.cases}
    wide = [
        one.name
        for one in document.components
        if one.duration_s and not one.sweep and min((units[name] for name in one.cases), default=1) > 1
    ]
    if not wide or not 0 < idle < 1:
        return

    def mixed(one: Component, names: tuple[str, ...]) -> Component:
        tests = {case.id: case.test for case in document.cases}
        own = list(dict.fromkeys(tests[name] for name in one.cases))
        before = dict(one.mix) or dict.fromkeys(own, 1.0 / len(own))
        mix = {test: share * (1 - idle) for test, share in before.items()} | dict.fromkeys(names, idle / len(names))
        return replace(one, cases=(*one.cases, *names), mix=tuple(mix.items()))

    text = f"a test of one node in the mix of {', '.join(wide)}, with {idle:.0%} of its node-hours"
    yield "wide", text, lambda plan: _with_narrow(plan, wide, mixed)


def _with_narrow(
    plan: Document, bare: list[str], changed: Callable[[Component, tuple[str, ...]], Component]
) -> Document:
    """The plan with a one-node test for each partition of the components ``bare``, made from their smallest case there."""
    components, cases, tests = [], list(plan.cases), list(plan.tests)
    for number, one in enumerate(plan.components):
        mine = [case for case in plan.cases if case.id in one.cases and not case.unavailable]
        if one.name not in bare or not mine:
            components.append(one)
            continue
        new: list[Case] = []
        for place in dict.fromkeys(case.partition for case in mine):
            like = min((case for case in mine if case.partition == place), key=lambda case: case.shape.units)
            name = f"{NARROW}-{number}-{len(new)}"
            shape = replace(like.shape, nodes=1, units=1)
            new.append(replace(like, id=name, test=name, shape=shape, loads=(), build="", rows=(), expect=""))
            tests.append(replace(next(test for test in plan.tests if test.name == like.test), name=name))
        cases += new
        components.append(changed(one, tuple(case.id for case in new)))
    return replace(plan, components=tuple(components), cases=tuple(cases), tests=tuple(tests))
