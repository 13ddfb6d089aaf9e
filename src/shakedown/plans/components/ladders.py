"""Read the ladder of a component: the parameter that grows, and the figure that must not become worse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from yaml.nodes import Node

from shakedown.model.errors import did_you_mean
from shakedown.model.ladders import Ladder, rungs_of, size_of
from shakedown.model.nouns import Case, Test
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.scalars import listed
from shakedown.plans.schema.source_positions import place

ELAPSED = "elapsed"


def read_ladder(
    node: Node, entry: dict[str, Any], cases: Sequence[Case], tests: Sequence[Test], problems: Problems
) -> Ladder | None:
    """Purpose: the ladder of a component with these cases; None where it has none, or where what is wrong is told. ``node``: the
    component's.
    """
    written = entry.get("ladder")
    if not written or not cases:
        return None
    values = written if isinstance(written, dict) else {"along": written}
    along, slower = values["along"], values.get("slower")
    at = place(node, "ladder", "along") if isinstance(written, dict) else place(node, "ladder")
    before = len(problems)
    for words, hint in _wrong_sizes(along, cases):
        problems.at(at, words, hint)
    higher = _direction(place(node, "ladder", "slower"), slower["figure"], tests, problems) if slower else None
    if len(problems) > before:
        return None
    return Ladder(along, slower["figure"], slower["by"], bool(higher)) if slower else Ladder(along)


def of_one_size(ladder: Ladder, cases: Sequence[Case]) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """Purpose: advice on a ladder with only one size: keys, message, hint."""
    for rungs in rungs_of(ladder, cases):
        if len(rungs) == 1:
            words = f"ladder: {rungs[0].case} is the only size of its kind that can run here"
            hint = f"a ladder looks for the size from which on a test fails: give {ladder.along} several values"
            yield ("ladder",), words, hint


def _wrong_sizes(along: str, cases: Sequence[Case]) -> Iterator[tuple[str, str]]:
    """Why these cases are no sizes of a ladder, with a hint; once for each test."""
    told: set[str] = set()
    for case in cases:
        if case.test in told or size_of(Ladder(along), case) is not None:
            continue
        told.add(case.test)
        names = [name for name, _ in case.parameters]
        if along in names:
            value = dict(case.parameters)[along]
            yield f"ladder: {along} is '{value}' in {case.id}, which is no number", "sizes are numbers: 1, 2, 4"
        elif names:
            hint = did_you_mean(along, names) or f"it has: {', '.join(names)}"
            yield f"ladder: test '{case.test}' has no parameter '{along}'", hint
        else:
            yield f"ladder: test '{case.test}' has no parameters", f"parameters: {{{along}: [1, 2, 4]}}"


def _direction(at: Node, figure: str, tests: Sequence[Test], problems: Problems) -> bool | None:
    """Whether more of the figure is better; None, with a problem, where a test lacks the figure or its direction."""
    if figure == ELAPSED:
        return False
    found: dict[str, str] = {}
    for test in tests:
        spec = next((spec for spec in test.figures if spec.name == figure), None)
        if spec is None:
            names = [ELAPSED, *(spec.name for spec in test.figures)]
            hint = did_you_mean(figure, names) or f"it has: {', '.join(names)}"
            problems.at(place(at, "figure"), f"ladder: test '{test.name}' has no figure '{figure}'", hint)
        elif not spec.better:
            message = f"ladder: figure '{figure}' of test '{test.name}' does not say what is better"
            problems.at(
                place(at, "figure"), message, f"write {listed(('better: higher', 'better: lower'))} at the figure"
            )
        else:
            found[spec.better] = test.name
    if len(found) > 1:
        both = f"in '{found['higher']}' more of '{figure}' is better, in '{found['lower']}' less"
        problems.at(place(at, "figure"), f"ladder: {both}", "give each a component of its own")
    return found.keys() == {"higher"} if found else None
