"""Check the needs of a plan's cases: a needed case is in the same or an earlier component, with a fixed number of results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from yaml.nodes import MappingNode, Node

from shakedown.model.nouns import Case, Component
from shakedown.plans.cases.cases import resolve
from shakedown.plans.cases.needs import Joiner
from shakedown.plans.components.components import Selector
from shakedown.plans.schema.source_positions import place


def join_needs(
    root: MappingNode, components: Sequence[Component], cases: Iterable[Case], selector: Selector
) -> list[Case] | None:
    """Purpose: the cases with their needs; None where a need cannot be met, with the selector's problems saying why."""
    before = len(selector.context.problems)
    joiner = Joiner(selector.context, lambda test: _cases_of(test, selector))
    joined = {case.id: joiner.join(case) for case in cases}
    for number, component in enumerate(components):
        at = place(root, "components", number, component.kind, "tests")
        for name in (*component.cases, *component.fillers):
            for need in joined[name].needs:
                _check(at, number, components, joined[name], need.case, selector)
        _check_steps(place(root, "components", number, component.kind), number, components, joined, selector)
    return list(joined.values()) if len(selector.context.problems) == before else None


def _cases_of(test: str, selector: Selector) -> list[Case]:
    """The cases of a test that the plan's components resolved; for a test outside the plan, its own cases."""
    found = {
        case.id: case
        for (name, _), resolved in selector.resolved.items()
        if name == test and resolved is not None
        for case in resolved.cases
    }
    definition = selector.context.library.tests.get(test)
    if not found and definition is not None and definition.good and not definition.abstract:
        resolved = resolve(definition, selector.context)
        found = {case.id: case for case in resolved.cases} if resolved is not None else {}
    return list(found.values())


def _check_steps(
    node: Node, number: int, components: Sequence[Component], joined: Mapping[str, Case], selector: Selector
) -> None:
    """Check that cases needed by a set-up or a clean-up run before it."""
    own = components[number]
    for key, cases, too_late in (
        ("set_up", own.set_up, {*own.cases, *own.fillers, *own.clean_up} - {*own.set_up}),
        ("clean_up", own.clean_up, {*own.clean_up} - {*own.set_up}),
    ):
        for case, need in ((joined[name], need.case) for name in cases for need in joined[name].needs):
            if need in too_late:
                said = f"component '{own.name}': {case.id} of {key} needs {need}, which begins no sooner than it does"
                hint = "put what comes before into set_up too" if key == "set_up" else "make one test of both"
                selector.context.problems.at(place(node, key), said, hint, f"need of {own.name} {case.test}")
            else:
                _check(place(node, key), number, components, case, need, selector)


def _check(at: Node, number: int, components: Sequence[Component], case: Case, needed: str, selector: Selector) -> None:
    problems, own = selector.context.problems, components[number]
    before = [one for one in components[: number + 1] if needed in one.cases or needed in one.set_up]
    says = f"component '{own.name}': {case.id} needs {needed}"
    if not before:
        later = next((one.name for one in components if needed in one.cases), "")
        where = f"which only component '{later}' has, and that stands after it" if later else "which no component has"
        hint = (
            "move that component before this one" if later else "add it to tests of this component, or of one before it"
        )
        problems.at(at, f"{says}, {where}", hint, f"need of {own.name} {case.test}")
        return
    home = before[-1]
    if (home.duration_s or home.sweep is not None) and needed not in home.set_up:
        kind = "runs for a time" if home.duration_s else "is a sweep"
        message = f"{says} of component '{home.name}', which {kind}: its runs have no one after another to wait for"
        hint = "put the needed test into a component before it that wants a number of results"
        problems.at(at, message, hint, f"need of {own.name} {case.test}")
    elif home.ladder is not None:
        message = (
            f"{says} of component '{home.name}', whose ladder runs only the sizes that it needs, and may spare this one"
        )
        hint = "put the needed test into a component before it that has no ladder"
        problems.at(at, message, hint, f"need of {own.name} {case.test}")
    elif home is not own and own.name in _all_after(home.name, {one.name: one.after for one in components}):
        message = f"{says} of component '{home.name}', which begins only after '{own.name}'"
        problems.at(at, message, f"leave 'after' of component '{home.name}' out", f"need of {own.name} {case.test}")


def _all_after(name: str, after: Mapping[str, tuple[str, ...]]) -> set[str]:
    """All components that a component comes after, directly or through others."""
    found: set[str] = set()
    todo = [name]
    while todo:
        for one in after.get(todo.pop(), ()):
            if one not in found:
                found.add(one)
                todo.append(one)
    return found
