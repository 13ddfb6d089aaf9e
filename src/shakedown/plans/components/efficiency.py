"""A criterion on ``efficiency``: its tests say how they scale, and have the size that it is asked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from yaml.nodes import Node

from shakedown.model.nouns import Case, Test
from shakedown.model.scaling import size_in
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.source_positions import place

EFFICIENCY = "efficiency"


def check_efficiency(
    node: Node, name: str, entry: dict[str, Any], tests: Sequence[Test], cases: Sequence[Case], problems: Problems
) -> None:
    """Purpose: tell ``problems`` what a criterion on ``efficiency`` lacks. ``tests``: those that it is about; ``cases``: all
    there are.
    """
    scaled = {test.name: test.scaling for test in tests if test.scaling is not None}
    if tests and not scaled:
        which = f"test '{tests[0].name}' does not say" if len(tests) == 1 else "no test of the component says"
        problems.at(
            node, f"criteria.{name}: {which} how it scales", "scaling: {along: nodes, kind: strong} in the test"
        )
        return
    wanted, every = entry.get("at"), set()
    for case in cases:
        scaling = scaled.get(case.test)
        size = size_in(dict(case.parameters), scaling.along) if scaling is not None else None
        every |= {size} if size is not None else set()
    if wanted is not None and scaled and wanted not in every:
        sizes = ", ".join(f"{size:g}" for size in sorted(every))
        problems.at(
            place(node, "at"),
            f"criteria.{name}.at: no case of the component has the size {wanted:g}",
            f"sizes are: {sizes}",
        )
