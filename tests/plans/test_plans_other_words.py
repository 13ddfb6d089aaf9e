"""Words of other tools are answered with keys that there are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

from shakedown.model.errors import FileProblems
from shakedown.plans import read_plan
from shakedown.plans.schema.other_words import RUN_WORDS, TEST_WORDS
from shakedown.plans.schema.plan import PLAN
from shakedown.plans.schema.test import TEST

COMPONENT: Any = PLAN.keys["components"].kind.item.keys["performance"].kind  # type: ignore[attr-defined]
IN_A_PLAN = {"retries", *COMPONENT.keys}


@pytest.mark.parametrize(("words", "of_run"), [(RUN_WORDS, True), (TEST_WORDS, False)])
def test_each_hint_names_keys_that_there_are(words: Mapping[str, str], of_run: bool) -> None:
    run: Mapping[str, Any] = TEST.keys["run"].kind.keys  # type: ignore[attr-defined]
    for word, hint in words.items():
        assert word not in (run if of_run else TEST.keys), f"'{word}' is a key, and no word of another tool"
        named = set(re.findall(r"'(\w+)'|(\w+): ", hint)[0]) - {""}
        assert named and named <= {*TEST.keys, *run, *IN_A_PLAN}, hint


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("command: hostname", "write run: {command: ...}"),
        ("time_limit: 1h", "write run: {time_limit: ...}"),
        ("walltime: 1h", "write run: {time_limit: ...}"),
        ("description: a sentence", "here it is 'about'"),
        ("depends_on: other", "here it is 'needs'"),
        ("queue: batch", "write where: {partitions: [NAME]}"),
        ("ladder: nodes", "a component of a plan has ladder: it stands in a file of plans/"),
    ],
)
def test_a_word_of_another_tool_is_answered_with_ours(site: Any, line: str, hint: str) -> None:
    site.write("tests/t.yaml", f"test: t\n{line}\nrun: {{command: x}}\n")
    with pytest.raises(FileProblems) as failed:
        site.listing()
    (problem,) = failed.value.problems
    assert problem.message == f"unknown key '{line.partition(':')[0]}'" and problem.hint == hint


@pytest.mark.parametrize(
    ("plan", "of_component", "hint"),
    [
        ("scores: {}", True, "it stands beside components, not in one"),
        ("figures: {}", True, "a test has figures: it stands in a file of tests/"),
        ("criteria: {}", False, "write components: [{performance: {criteria: ...}}], with the kind that it is"),
    ],
)
def test_a_key_in_the_wrong_place_is_answered_with_the_right_one(
    site: Any, here: Any, plan: str, of_component: bool, hint: str
) -> None:
    more = f", {plan}" if of_component else ""
    beside = "" if of_component else f"{plan}\n"
    site.write("tests/t.yaml", "test: t\nrun: {command: x}\n")
    site.write("plans/p.yaml", f"plan: p\nsystem: here\n{beside}components:\n  - site: {{tests: [t]{more}}}\n")
    with pytest.raises(FileProblems) as failed:
        read_plan(site.path, "p", lambda: here)
    (problem,) = failed.value.problems
    assert (problem.message.split(" in ")[0], problem.hint) == (f"unknown key '{plan.split(':', maxsplit=1)[0]}'", hint)


def test_each_key_that_is_sent_to_another_place_is_one_there() -> None:
    assert set(COMPONENT.other_words) <= {*PLAN.keys, *TEST.keys}
    assert set(PLAN.other_words) >= {"criteria", "repeats", "mix"}
