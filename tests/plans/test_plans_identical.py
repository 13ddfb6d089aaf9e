"""Criteria on identical files: the test records them, the cases have the parameters, and what is wrong is told at its place."""

from __future__ import annotations

from typing import Any

import pytest

from shakedown.model.errors import ShakedownError
from shakedown.model.judging import Criterion

SYSTEM = """\
system: box
clusters: {box: {scheduler: local, partitions: {all: {nodes: n1, type: t}}}}
node_types: {t: {cores: 4}}
"""
TEST = """\
test: m
parameters: {n: [2, 3]}
run: {command: "echo {n}"}
check: [file out/*.nc recorded]
"""
PLAN = """\
plan: p
system: box
components:
  - functionality:
      tests: [m]
      criteria:
        same: {measure: identical, files: out/*.nc, across: [n], must: "= 100%"}
"""


@pytest.fixture
def room(site: Any) -> Any:
    site.write("systems/box.yaml", SYSTEM)
    site.test(TEST, "tests/m.yaml")
    return site


def test_the_criterion_is_frozen_as_it_is_written(room: Any) -> None:
    plan = room.plan(PLAN)
    [criterion] = plan.components[0].criteria
    assert criterion == Criterion("same", "identical", "=", 1.0, "%", must="= 100%", files="out/*.nc", across=("n",))
    [check, _] = plan.tests[0].checks
    assert (check.kind, check.subject) == ("recorded", "out/*.nc")


@pytest.mark.parametrize(
    ("before", "after", "said", "hint"),
    [
        ("files: out/*.nc, ", "", "'files' is missing in criteria.same", "files: the pattern that a test records"),
        ("out/*.nc", "out/*.nx", "no test of the component records 'out/*.nx'", "did you mean 'out/*.nc'?"),
        ("out/*.nc", "x", "no test of the component records 'x'", "add to the check of the test: - file x recorded"),
        ("[n]", "[m]", "no case of the component has a parameter 'm'", "there are: n, partition"),
        (
            "identical",
            "passed / attempts",
            "'files' has no meaning for measure 'passed / attempts'",
            "it goes with identical",
        ),
        ("= 100%", ">= 3 s", "criteria.same.must: ", ""),
        ("across: [n]", "per: case", "'per' has no meaning for measure 'identical'", "it goes with"),
        ("across: [n]", "leave_out: outliers", "'leave_out' has no meaning for measure 'identical'", "it goes with"),
    ],
)
def test_a_wrong_criterion_is_told(room: Any, before: str, after: str, said: str, hint: str) -> None:
    with pytest.raises(ShakedownError) as told:
        room.plan(PLAN.replace(before, after, 1))
    assert said in str(told.value)
    assert hint in str(told.value)
    assert "plans/p.yaml:" in str(told.value)


def test_a_test_records_few_patterns(room: Any) -> None:
    checks = ", ".join(f"file out{number} recorded" for number in range(5))
    room.test(TEST.replace("file out/*.nc recorded", checks), "tests/m.yaml")
    with pytest.raises(ShakedownError, match="a test records at most 4 patterns of files"):
        room.plan(PLAN)
    room.test(TEST.replace("recorded", "recorded now"), "tests/m.yaml")
    with pytest.raises(ShakedownError, match="nothing can follow 'recorded'"):
        room.plan(PLAN)
