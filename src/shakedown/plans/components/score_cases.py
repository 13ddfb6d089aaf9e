"""Find the one case and component behind a part of a score; exactly one, so that nobody can choose afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from yaml.nodes import Node

from shakedown.model.errors import did_you_mean
from shakedown.model.nouns import Case, Component, System
from shakedown.plans.components.components import Selector
from shakedown.plans.schema.expressions import ExpressionError
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.source_positions import place


class Plan(Struct, frozen=True):
    """The parts of a plan that scores are checked against."""

    components: tuple[Component, ...]
    selector: Selector
    system: System

    @property
    def problems(self) -> Problems:
        return self.selector.context.problems


def find_case(node: Node, written: dict[str, Any], where: str, plan: Plan) -> tuple[Component, Case, str] | None:
    """Purpose: the one component, case and mode behind a part; None where that is a fault, which is told."""
    test, problems, own = written["test"], plan.problems, written.get("component", "")
    names = [component.name for component in plan.components]
    if own and own not in names:
        near = did_you_mean(own, names) or f"components are: {', '.join(names)}"
        problems.at(place(node, "component"), f"there is no component '{own}'", near)
        return None
    mine = [one for one in plan.components if own in ("", one.name)]
    runs = [(one, plan.selector.cases[case]) for one in mine for case in one.cases]
    of_test = [(one, case) for one, case in runs if case.test == test]
    if not of_test:
        tests = list(dict.fromkeys(case.test for _, case in runs))
        near = did_you_mean(test, tests) or f"tests of the plan are: {', '.join(tests)}"
        if not len(problems):  # else a test may be missing because of what is told already
            problems.at(place(node, "test"), f"no component {f'called {own} ' if own else ''}runs test '{test}'", near)
        return None
    asked = dict(written.get("where", {})) | ({"partition": where} if where else {})
    try:
        found = [(one, case) for one, case in of_test if plan.selector.fits(case, asked)]
    except ExpressionError as error:
        problems.at(place(node, "where"), f"where: {error}", error.hint)
        return None
    if len(found) != 1:
        _tell_which(node, asked, of_test, found, problems)
        return None
    component, case = found[0]
    mode = _mode(node, written, component, problems)
    return None if mode is None else (component, case, mode)


def _tell_which(
    node: Node,
    asked: Mapping[str, str],
    of_test: Sequence[tuple[Component, Case]],
    found: Sequence[tuple[Component, Case]],
    problems: Problems,
) -> None:
    """Report that a part matches several cases, where it must match one."""
    where = ", ".join(f"{name}={value}" for name, value in asked.items())
    if not found:
        cases = ", ".join(dict.fromkeys(case.id for _, case in of_test[:4]))
        problems.at(place(node, "where"), f"no case of test '{of_test[0][1].test}' has {where}", f"there are: {cases}")
        return
    if len({case.id for _, case in found}) > 1:
        cases = ", ".join(dict.fromkeys(case.id for _, case in found[:4]))
        said = f"a part is about one case, and test '{found[0][1].test}' has several: {cases}"
        problems.at(place(node, "test"), said, "where: {PARAMETER: VALUE} says which; partition and toolchain too")
        return
    names = ", ".join(component.name for component, _ in found)
    problems.at(
        place(node, "test"), f"several components run {found[0][1].id}: {names}", "component: the one that counts"
    )


def _mode(node: Node, written: dict[str, Any], component: Component, problems: Problems) -> str | None:
    modes = [mode.name for mode in component.modes]
    if "mode" in written:
        if written["mode"] in modes:
            return str(written["mode"])
        problems.at(
            place(node, "mode"),
            f"component {component.name} has no mode '{written['mode']}'",
            f"modes: {', '.join(modes) or 'none'}",
        )
        return None
    if len(modes) > 1:
        problems.at(
            node, f"component {component.name} has several modes: {', '.join(modes)}", "mode: the one that counts"
        )
        return None
    return modes[0] if modes else ""
