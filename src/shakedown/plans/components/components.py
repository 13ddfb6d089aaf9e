"""Read the components of a plan: their cases, repeats, order and criteria."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from msgspec.structs import replace
from yaml.nodes import MappingNode, Node

from shakedown.model.baselines import Baseline
from shakedown.model.errors import did_you_mean
from shakedown.model.events import SPARED, UNDETERMINED, VERDICTS
from shakedown.model.nouns import Case, Component, Drill, Retry, Test
from shakedown.model.units import show_duration
from shakedown.plans.cases.cases import Resolved, resolve
from shakedown.plans.components.component_filling import (
    check_filler,
    read_clock,
    read_drill,
    read_fill,
    read_pack,
    read_phases,
    read_sweep,
)
from shakedown.plans.components.component_parts import check_together, read_mix, read_modes, read_procedures
from shakedown.plans.components.criteria import read_criteria
from shakedown.plans.components.ladders import read_ladder
from shakedown.plans.context import Context
from shakedown.plans.limits import check_limits, read_limits
from shakedown.plans.narrowing import Room, read_windows, read_yields
from shakedown.plans.schema.expressions import ExpressionError, Value, fill
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.source_positions import key_place, place

_NEVER_RETRIED = ("passed", "incorrect", "performance", "build_failed", "not_run", SPARED, "cancelled", UNDETERMINED)
_BESIDE = ("system", "partition", "toolchain")


def read_components(
    root: MappingNode, written: list[tuple[str, Any]], selector: Selector, zone: str = "UTC"
) -> tuple[Component, ...]:
    """Purpose: the components in their order; what is wrong goes to the selector's problems. ``zone``: of times that name none."""
    problems = selector.context.problems
    names = [entry.get("name", kind) for kind, entry in written]
    components = []
    for number, (kind, entry) in enumerate(written):
        path = ("components", number, kind)
        if names.index(names[number]) < number:
            at = place(root, *path, "name") if "name" in entry else key_place(root, *path)
            problems.at(at, f"there is a component '{names[number]}' already", "give it a name of its own")
        kept = {key: value for key, value in entry.items() if value is not False}  # 'sweep: no' is no sweep
        components.append(_component(place(root, *path), kind, kept, names, names[number], selector, zone))
    _check_order(root, components, problems)
    return tuple(components)


def _component(
    node: Node, kind: str, entry: dict[str, Any], names: list[str], name: str, selector: Selector, zone: str
) -> Component:
    """Read one component; its cases first, because its other keys refer to their tests."""
    problems = selector.context.problems
    without_meaning = check_together(node, kind, entry, problems)
    entry = {key: value for key, value in entry.items() if key not in without_meaning}
    cases = selector.select(place(node, "tests"), entry.get("tests", []))
    tests = selector.tests_of(cases)
    lost = selector.lost(entry.get("tests", _named_elsewhere(entry)), tests)
    resolved = [selector.tests[test] for test in tests]
    component = Component(
        name=name,
        kind=cast(Any, kind),
        cases=tuple(cases),
        repeats=entry.get("repeats", 1),
        after=_after(place(node, "after"), entry.get("after", ()), name, names, problems),
        criteria=read_criteria(
            place(node, "criteria"),
            entry.get("criteria", {}),
            resolved,
            entry,
            problems,
            lost,
            [selector.cases[case] for case in cases],
            selector.baselines,
        ),
        retry=_retries(place(node, "retry"), entry.get("retry", {}), problems),
        modes=read_modes(place(node, "modes"), entry.get("modes"), problems),
        procedures=read_procedures(place(node, "procedures"), entry.get("procedures", []), problems),
        gate=entry.get("gate", "over"),
        mix=read_mix(place(node, "mix"), entry.get("mix"), tests, problems, lost),
        about=entry.get("about", ""),
        stop_after=entry.get("stop_after", 0),
        deadline=entry.get("deadline"),
    )
    return _filled(node, entry, component, selector, zone)


def _filled(node: Node, entry: dict[str, Any], component: Component, selector: Selector, zone: str) -> Component:
    """The component with the keys for filling the machine, limits, windows, yields, drills, sweep, pack and ladder."""
    context = selector.context
    problems = context.problems
    fillers = _fillers(node, entry, selector, selector.tests_of(component.cases))
    cases = [selector.cases[name] for name in component.cases]
    every = [*cases, *(selector.cases[name] for name in fillers)]
    tests = selector.tests_of([case.id for case in every])
    set_up, clean_up = (_steps(node, key, entry, selector, tests) for key in ("set_up", "clean_up"))
    written = [*entry.get("tests", []), *_listed(entry.get("filler", []))]
    room = Room(context, [*tests, *selector.lost(written, tests)], zone)
    limits = read_limits(place(node, "limits"), entry.get("limits", {}), context)
    check_limits(place(node, "limits"), "component", limits, room.tests, every, context)
    phases, duration_s = read_phases(node, entry, problems)
    return replace(
        component,
        duration_s=duration_s,
        fillers=fillers,
        set_up=set_up,
        clean_up=clean_up,
        limits=limits,
        fill=read_fill(place(node, "fill"), entry.get("fill", {}), duration_s, problems),
        windows=read_windows(place(node, "windows"), entry.get("windows", []), room),
        yields=read_yields(place(node, "yield_to"), entry.get("yield_to", []), room),
        clock=read_clock(place(node, "clock"), entry.get("clock", {}), problems),
        phases=phases,
        drills=_drills(node, entry, selector, duration_s, [case.id for case in every] + [*set_up, *clean_up]),
        sweep=read_sweep(node, entry, cases, context),
        pack=read_pack(node, entry, cases, context),
        ladder=read_ladder(node, entry, cases, [selector.tests[test] for test in tests], problems),
    )


def _named_elsewhere(entry: dict[str, Any]) -> list[Any]:
    """The tests that the mix and criteria name in a component without ``tests``; only the missing ``tests`` is reported."""
    criteria = entry.get("criteria") or {}
    asked = [criterion["test"] for criterion in criteria.values() if isinstance(criterion.get("test"), str)]
    return [*(entry.get("mix") or {}), *asked] if "procedures" not in entry else []


def _fillers(node: Node, entry: dict[str, Any], selector: Selector, tests: list[str]) -> tuple[str, ...]:
    at = place(node, "filler")
    fillers = selector.select(at, _listed(entry.get("filler", [])))
    check_filler(at, selector.tests_of(fillers), tests, selector.context.problems)
    return tuple(fillers)


def _steps(node: Node, key: str, entry: dict[str, Any], selector: Selector, tests: list[str]) -> tuple[str, ...]:
    """The cases of a set-up or a clean-up. Reports tests that are also in ``tests``, the component's tests and fillers."""
    cases = selector.select(place(node, key), _listed(entry.get(key, [])))
    for test in selector.tests_of(cases):
        if test in tests:
            said = f"test '{test}' is in {key} and among the component's other tests"
            hint = "it comes first, and once" if key == "set_up" else "it comes last, and once"
            selector.context.problems.at(place(node, key), said, f"{hint}: leave it out of the others, or of {key}")
    return tuple(cases)


def _drills(
    node: Node, entry: dict[str, Any], selector: Selector, duration_s: float, taken: list[str]
) -> tuple[Drill, ...]:
    """The drills in the order of the file. ``taken``: the cases that the component runs anyway, so that no drill may use them."""
    problems, found = selector.context.problems, dict[str, Drill]()
    for number, written in enumerate(entry.get("drills", ())):
        at, name = place(node, "drills", number), written["name"]
        if name in found:
            problems.at(
                place(at, "name"), f"there is a drill '{name}' already", "give it a name of its own", f"drill {name}"
            )
        if duration_s and written["at"] >= duration_s:
            over = f"the component is over after {show_duration(duration_s)}"
            problems.at(place(at, "at"), f"drill '{name}' would come after its end: {over}", "name an earlier moment")
        if not written["expect"]:
            problems.at(place(at, "expect"), f"drill '{name}' expects nothing", "expect: lost, hole or back")
        if written.get("test") and written.get("evidence"):
            said = f"'evidence' of drill '{name}' has no meaning beside test"
            problems.at(key_place(at, "evidence"), said, "its run is in the record, with its output")
        found[name] = read_drill(written, _drill_case(at, written, selector, taken))
    return tuple(found.values())


def _drill_case(at: Node, written: dict[str, Any], selector: Selector, taken: list[str]) -> str:
    """The id of the one case that does a drill; "" where a person does it."""
    if "test" not in written:
        return ""
    problems, test = selector.context.problems, written["test"]
    cases = selector.select(place(at), [test])
    if len(cases) > 1:
        said = f"test '{test}' of drill '{written['name']}' has {len(cases)} cases, and a drill is done once"
        problems.at(place(at, "test"), said, "name a test with one case")
    elif cases and cases[0] in taken:
        said = f"test '{test}' of drill '{written['name']}' is among the component's other tests"
        problems.at(place(at, "test"), said, "a drill is done by a test of its own")
    return cases[0] if cases else ""


def _listed(written: Any) -> list[Any]:
    return written if isinstance(written, list) else [written]


class Selector:
    """Turns selections into cases; each test is resolved once."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.tests: dict[str, Test] = {}
        self.cases: dict[str, Case] = {}
        self.resolved: dict[tuple[str, frozenset[str]], Resolved | None] = {}
        self.named_only = named_only_of(context)
        self.asked: dict[str, None] = {}  # tests that are named, whether they can be read or not
        self.baselines: dict[str, Baseline] = {}  # of the plan, by name

    def select(self, node: Node, selections: list[Any]) -> list[str]:
        """The ids of the cases that a list of selections names, each once, in its order."""
        chosen: dict[str, None] = {}
        for number, selection in enumerate(selections):
            at = place(node, number)
            cases: Iterable[Case]
            if isinstance(selection, dict):
                cases = self._where(at, selection)
            elif selection.startswith("tag:"):
                cases = self._tagged(at, selection.removeprefix("tag:"))
            else:
                cases = self._test(at, selection)
            chosen.update(dict.fromkeys(case.id for case in cases))
        return list(chosen)

    def lost(self, selections: list[Any], tests: Iterable[str]) -> frozenset[str]:
        """The tests that these selections may mean but that gave no case; the reason is reported elsewhere."""
        named = {one["test"] if isinstance(one, dict) else one for one in selections}
        tagged = any(name.startswith("tag:") for name in named)
        unread = [test.name for test in self.context.library.tests.values() if not test.good] if tagged else []
        return frozenset({*named, *unread, *(self.context.library.broken if tagged else ())} - set(tests))

    def tests_of(self, cases: Iterable[str]) -> list[str]:
        """The tests of these cases, each once, in the order of the cases."""
        return list(dict.fromkeys(self.cases[case].test for case in cases))

    def _test(self, at: Node, name: str, named: frozenset[str] = frozenset()) -> tuple[Case, ...]:
        """The cases of a test on the usual partitions, and on those that are ``named``."""
        self.asked[name] = None
        test = self.context.library.tests.get(name)
        if test is None:
            self.context.library.missing(name, self.context.problems, at)
            return ()
        if test.abstract:
            self.context.problems.at(at, f"test '{name}' is abstract and has no cases", "name a test that extends it")
            return ()
        if not test.good:
            return ()  # what is wrong with it is said at its own place
        if (name, named) not in self.resolved:
            resolved = self.resolved[name, named] = resolve(test, self.context, named)
            if resolved is not None:
                self.tests[name] = resolved.test
                self.cases.update((case.id, case) for case in resolved.cases)
        found = self.resolved[name, named]
        return found.cases if found else ()

    def _tagged(self, at: Node, tag: str) -> Iterable[Case]:
        tests = self.context.library.tests.values()
        named = [test.name for test in tests if tag in test.values.get("tags", ()) and not test.abstract]
        library = self.context.library
        whole = not (library.broken or library.nameless) and all(test.good or test.abstract for test in tests)
        if not named and whole:
            tags = {tag for test in tests for tag in test.values.get("tags", ())}
            near = did_you_mean(tag, tags) or f"tags are: {', '.join(sorted(tags)) or 'none'}"
            self.context.problems.at(at, f"no test has the tag '{tag}'", near)
        return [case for name in named for case in self._test(at, name)]

    def _where(self, at: Node, selection: dict[str, Any]) -> list[Case]:
        """The cases of a test that match the selection's parameters."""
        asked = selection["where"].get("partition", ())
        named = frozenset([asked] if isinstance(asked, str) else asked)
        cases = self._test(place(at, "test"), selection["test"], named & self.named_only)
        if not cases:
            return []
        known = {*(name for name, _ in cases[0].parameters), *_BESIDE}
        for name in selection["where"]:
            if name not in known:
                near = did_you_mean(name, known) or f"it has: {', '.join(sorted(known))}"
                message = f"test '{selection['test']}' has no parameter '{name}'"
                self.context.problems.at(key_place(at, "where", name), message, near, f"name {name}")
                return []
        try:
            kept = [case for case in cases if self.fits(case, selection["where"])]
        except ExpressionError as error:
            self.context.problems.at(place(at, "where"), f"where: {error}", error.hint)
            return []
        if not kept:
            hint = _values_of(cases, selection["where"])
            wanted = ", ".join(f"{name}={value}" for name, value in selection["where"].items())
            self.context.problems.at(place(at, "where"), f"no case of test '{selection['test']}' has {wanted}", hint)
        return kept

    def fits(self, case: Case, where: Mapping[str, str | list[str]]) -> bool:
        """Whether a case has these parameters, partition and toolchain. Raises ExpressionError."""
        stage = next(stage for stage in self.context.stages if stage.id == case.partition)
        facts = {**_facts(case, self.context.machine.system.name), **dict(case.parameters)}
        return all(_is_any_of(name, facts, case, wanted, stage.names) for name, wanted in where.items())


def named_only_of(context: Context) -> frozenset[str]:
    """Purpose: the partitions that cases run on only where somebody names them, by both of their names."""
    return frozenset(name for stage in context.stages if stage.within for name in (stage.partition.name, stage.id))


def _is_any_of(
    name: str, facts: dict[str, str], case: Case, wanted: str | list[str], names: Mapping[str, Value]
) -> bool:
    """Whether a case has one of the wanted values; a partition may be written with or without its cluster."""
    own = {facts.get(name), case.partition if name == "partition" else facts.get(name)}
    return any(fill(text, names) in own for text in ([wanted] if isinstance(wanted, str) else wanted))


def _facts(case: Case, system: str) -> dict[str, str]:
    return {"system": system, "partition": case.partition.rpartition(":")[2], "toolchain": case.toolchain}


def _values_of(cases: Iterable[Case], where: dict[str, Any]) -> str:
    every = [{**_facts(case, "here"), **dict(case.parameters)} for case in cases]
    shown = [f"{name} is {', '.join(dict.fromkeys(facts[name] for facts in every))}" for name in where]
    return f"in its cases {'; '.join(shown)}"


def _after(node: Node, written: str | list[str], own: str, names: list[str], problems: Problems) -> tuple[str, ...]:
    after = [written] if isinstance(written, str) else list(written)
    for number, name in enumerate(after):
        if name not in names:
            near = did_you_mean(name, names) or f"components are: {', '.join(names)}"
            problems.at(place(node, number), f"there is no component '{name}'", near)
        elif name == own:
            problems.at(place(node, number), f"component '{name}' comes after itself")
    return tuple(after)


def _retries(node: Node, written: dict[str, tuple[int, float]], problems: Problems) -> tuple[Retry, ...]:
    retries = []
    for verdict, (times, backoff_s) in written.items():
        if verdict not in VERDICTS:
            near = did_you_mean(verdict, VERDICTS) or f"verdicts are: {', '.join(VERDICTS)}"
            problems.at(key_place(node, verdict), f"there is no verdict '{verdict}'", near)
        elif verdict in _NEVER_RETRIED:
            stands = "it is judged again by itself" if verdict == UNDETERMINED else "such a verdict stands"
            problems.at(key_place(node, verdict), f"'{verdict}' is never attempted again", stands)
        retries.append(Retry(verdict, times, backoff_s))
    return tuple(retries)


def _check_order(root: MappingNode, components: list[Component], problems: Problems) -> None:
    """Report components that wait for themselves, directly or through others."""
    after = {c.name: tuple(name for name in c.after if name != c.name) for c in components}
    for number, component in enumerate(components):
        circle = _circle(component.name, after)
        if circle and circle[0] == min(circle):  # told once, not once for each that is in it
            at = place(root, "components", number, component.kind, "after")
            problems.at(at, f"components wait for each other in a circle: {' -> '.join(circle)}")


def _circle(start: str, after: dict[str, tuple[str, ...]]) -> list[str]:
    """The path from a component back to itself, or an empty list."""
    ways, seen = [[start]], set()
    while ways:
        way = ways.pop()
        for name in after.get(way[-1], ()):
            if name == start and len(way) > 1:
                return [*way, start]
            if name not in seen:
                seen.add(name)
                ways.append([*way, name])
    return []
