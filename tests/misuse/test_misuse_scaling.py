"""What is wrong with how a test scales, or with a criterion about it, is told once, with its place."""

from __future__ import annotations

from typing import Any

import pytest

TEST = """test: t
parameters: {n: [1, 2, 4], how: [a, b]}
run: {time_limit: 1min, command: "echo rate {n}"}
figures: {rate: {regex: 'rate (?P<value>[0-9]+)', unit: op/s, better: higher}, size: {regex: 'rate (?P<value>[0-9]+)', unit: B}}
scaling: SCALING
"""
PLAN = """plan: p
system: here
components:
  - functionality:
      tests: [t]
      criteria: {scales: {measure: efficiency, must: '>= 80%', AT}}
"""


@pytest.mark.parametrize(
    ("scaling", "at", "said"),
    [
        ("{along: m, kind: strong}", "at: 2", "scaling: the test has no parameter 'm'"),
        ("{along: how, kind: strong}", "at: 2", "scaling: how is 'a' in t/n=1,how=a, which is no number above 0"),
        ("{along: n}", "at: 2", "'kind' is missing"),
        ("{along: n, kind: week}", "at: 2", "did you mean 'weak'?"),
        ("{along: n, kind: weak, figure: rat}", "at: 2", "did you mean 'rate'?"),
        ("{along: n, kind: weak, figure: size}", "at: 2", "figure 'size' does not say what is better"),
        ("{along: n, kind: weak, work: '{n - 1}'}", "at: 2", "'0' is no amount of work"),
        ("{along: n, kind: weak, work: '{m}'}", "at: 2", "'m'"),
        ("{along: n, kind: weak}", "at: 3", "criteria.scales.at: no case of the component has the size 3"),
        ("{along: n, kind: weak}", "at: 0", "'0' is no size"),
        ("{along: n, kind: weak}", "of: rate", "'of' has no meaning for measure 'efficiency'"),
    ],
)
def test_it_is_told_once(told: Any, scaling: str, at: str, said: str) -> None:
    text = told({"tests/t.yaml": TEST.replace("SCALING", scaling), "plans/p.yaml": PLAN.replace("AT", at)})
    assert said in text and text.count("error: ") == 1


def test_the_run_time_may_be_named(told: Any) -> None:
    scaling = "{along: n, kind: weak, figure: elapsed}"
    text = told({"tests/t.yaml": TEST.replace("SCALING", scaling), "plans/p.yaml": PLAN.replace("AT", "at: 2")})
    assert "error: " not in text


def test_a_criterion_about_tests_that_do_not_say_how_they_scale_is_refused(told: Any) -> None:
    text = told({"tests/t.yaml": TEST.replace("scaling: SCALING\n", ""), "plans/p.yaml": PLAN.replace("AT", "at: 2")})
    assert "criteria.scales: test 't' does not say how it scales" in text and text.count("error: ") == 1
