"""Words of other tools are answered with keys that there are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

from shakedown.model.errors import FileProblems
from shakedown.plans.schema.other_words import RUN_WORDS, TEST_WORDS
from shakedown.plans.schema.test import TEST

IN_A_PLAN = {"repeats", "retries"}


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
    ],
)
def test_a_word_of_another_tool_is_answered_with_ours(site: Any, line: str, hint: str) -> None:
    site.write("tests/t.yaml", f"test: t\n{line}\nrun: {{command: x}}\n")
    with pytest.raises(FileProblems) as failed:
        site.listing()
    (problem,) = failed.value.problems
    assert problem.message == f"unknown key '{line.partition(':')[0]}'" and problem.hint == hint
