"""Read the key ``scaling`` of a test: the parameter that grows, how the work grows, and the figure to compare."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from shakedown.model.errors import did_you_mean
from shakedown.model.nouns import Case, Test
from shakedown.model.scaling import Scaling, size_in
from shakedown.plans.cases.figure_specs import ELAPSED
from shakedown.plans.library import Definition
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.source_positions import place


def with_scaling(
    noun: Test, test: Definition, cases: Sequence[Case], work: Sequence[tuple[str, float]], problems: Problems
) -> Test:
    """Purpose: the test with how it scales, where its file says so; what is wrong goes to ``problems``. ``work``: (case,
    amount of work), by the file's expression.
    """
    written = test.values.get("scaling")
    if written is None:
        return noun
    along, figure, before = written["along"], written.get("figure", ELAPSED), len(problems)
    _check_along(test, along, cases, problems)
    higher = _direction(noun, test, figure, problems)
    if len(problems) > before:
        return noun
    return replace(noun, scaling=Scaling(along, written["kind"], figure, higher, tuple(work)))


def _check_along(test: Definition, along: str, cases: Sequence[Case], problems: Problems) -> None:
    names = list(test.values.get("parameters", {}))
    at = place(test.root, "scaling", "along")
    if along not in names:
        hint = did_you_mean(along, names) or (
            f"it has: {', '.join(names)}" if names else "parameters: {nodes: [1, 2, 4]}"
        )
        problems.at(at, f"scaling: the test has no parameter '{along}'", hint)
        return
    for case in cases:
        if size_in(dict(case.parameters), along) is None:
            value = dict(case.parameters).get(along, "")
            problems.at(
                at, f"scaling: {along} is '{value}' in {case.id}, which is no number above 0", "such as 1, 2, 4"
            )
            return


def _direction(noun: Test, test: Definition, figure: str, problems: Problems) -> bool:
    """Whether more of the figure is better."""
    if figure == ELAPSED:
        return False
    at = place(test.root, "scaling", "figure")
    spec = next((spec for spec in noun.figures if spec.name == figure), None)
    if spec is None:
        names = [ELAPSED, *(spec.name for spec in noun.figures)]
        hint = did_you_mean(figure, names) or f"it has: {', '.join(names)}"
        problems.at(at, f"scaling: the test has no figure '{figure}'", hint)
    elif not spec.better:
        hint = "better: higher (a rate of the whole run) or better: lower (a time)"
        problems.at(at, f"scaling: figure '{figure}' does not say what is better", hint)
    elif spec.has_rows:
        problems.at(
            at, f"scaling: figure '{figure}' has a number for each row of its table", "take a figure of one number"
        )
    return spec is not None and spec.better == "higher"
