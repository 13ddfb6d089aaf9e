"""A criterion on ``identical``: its files are recorded by a test, and its cases have the parameters that it compares across."""

from __future__ import annotations

from typing import Any

from yaml.nodes import Node

from shakedown.model.errors import did_you_mean
from shakedown.model.nouns import Test
from shakedown.model.recorded import recorded_checks
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.scalars import near_or_all
from shakedown.plans.schema.source_positions import place

IDENTICAL = "identical"
_PARTITION = "partition"


def check_identical(
    node: Node,
    name: str,
    entry: dict[str, Any],
    tests: list[Test],
    parameters: frozenset[str],
    problems: Problems,
) -> None:
    """Purpose: tell ``problems`` what a criterion on ``identical`` lacks. ``tests``: those that it is about."""
    if "files" not in entry:
        problems.at(node, f"'files' is missing in criteria.{name}", "files: the pattern that a test records")
    else:
        patterns = {check.subject for test in tests for check in recorded_checks(test)}
        wanted = entry["files"]
        if tests and wanted not in patterns:
            hint = did_you_mean(wanted, patterns) or f"add to the check of the test: - file {wanted} recorded"
            problems.at(
                place(node, "files"), f"criteria.{name}.files: no test of the component records '{wanted}'", hint
            )
    across = entry.get("across", ())
    for word in [across] if isinstance(across, str) else across:
        if word != _PARTITION and word not in parameters:
            said = f"criteria.{name}.across: no case of the component has a parameter '{word}'"
            problems.at(place(node, "across"), said, near_or_all(word, {*parameters, _PARTITION}))
