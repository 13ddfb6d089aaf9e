"""What ``check`` says of the cases of a plan that cannot run, at the place where the plan names their test."""

from __future__ import annotations

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from shakedown.model.nouns import Component, Document
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.source_positions import place
from shakedown.plans.unavailable import WAY, Lost, lost_cases, some

_START = f"the plan does not start with it: mend it, or leave it out; {WAY}"


def tell_lost(root: MappingNode, document: Document, file: str, told: Problems) -> list[tuple[str, Lost]]:
    """Purpose: a warning for each reason at each place; returns the cases, each with the file of the plan."""
    lost = lost_cases(document)
    tests = {case.id: case.test for case in document.cases}
    numbers = {component.name: number for number, component in enumerate(document.components)}
    together: dict[tuple[int, int, str, str], tuple[Node, list[str]]] = {}
    for one in lost:
        component = document.components[numbers[one.component]]
        node = place(root, "components", numbers[one.component], component.kind)
        at = _named_at(place(node, _key_of(component, one.case)), tests[one.case])
        key = (at.start_mark.line, at.start_mark.column, one.component, one.reason)
        together.setdefault(key, (at, []))[1].append(one.case)
    for (_, _, name, reason), (at, cases) in together.items():
        hint = "the acceptance will be restricted by it" if lost[0].restrict else _START
        told.at(at, f"{name}: {some(cases)} cannot run: {reason}", hint)
    return [(file, one) for one in lost]


def _key_of(component: Component, case: str) -> str:
    """The key of a component that names the test of a case."""
    lists = {"filler": component.fillers, "set_up": component.set_up, "clean_up": component.clean_up}
    return next((key for key, cases in lists.items() if case in cases and case not in component.cases), "tests")


def _named_at(node: Node, test: str) -> Node:
    """The entry of a list of tests that names a test; the list itself where a tag does."""
    for entry in node.value if isinstance(node, SequenceNode) else [node]:
        named = place(entry, "test")
        if isinstance(named, ScalarNode) and named.value == test:
            return entry if isinstance(entry, ScalarNode) else named
    return node
