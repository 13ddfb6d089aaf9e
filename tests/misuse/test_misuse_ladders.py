"""What is wrong with the ladder of a component is told once, with its place."""

from __future__ import annotations

from typing import Any

import pytest

TEST = """test: t
parameters: {n: [1, 2, 4], how: [a, b]}
run: {time_limit: 1min, command: "echo rate {n}"}
figures: {rate: {regex: 'rate (?P<value>[0-9]+)', unit: op/s, better: higher}, size: {regex: 'rate (?P<value>[0-9]+)', unit: B}}
"""
PLAN = "plan: p\nsystem: here\ncomponents:\n  - functionality:\n      tests: [t]\n      KEYS\n"


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("ladder: m", "ladder: test 't' has no parameter 'm'"),
        ("ladder: how", "ladder: how is 'a' in t/n=1,how=a, which is no number"),
        ("ladder: {along: n, slower: {figure: rat, by: 20%}}", "did you mean 'rate'?"),
        (
            "ladder: {along: n, slower: {figure: size, by: 20%}}",
            "figure 'size' of test 't' does not say what is better",
        ),
        ("ladder: {along: n, slower: {figure: rate, by: 0%}}", "'0%' is not a share above zero"),
        ("ladder: {along: n, slower: {figure: rate}}", "'by' is missing"),
        ("ladder: n\n      pack: yes", "'pack' has no meaning beside ladder"),
        ("criteria: {up: {measure: largest size, must: '>= 2'}}", "criteria.up: the component has no ladder"),
    ],
    ids=["no parameter", "no number", "no figure", "no direction", "nothing worse", "no share", "a pack", "no ladder"],
)
def test_what_is_wrong_with_a_ladder_is_told_once(told: Any, keys: str, said: str) -> None:
    text = told({"tests/t.yaml": TEST, "plans/p.yaml": PLAN.replace("KEYS", keys)})
    assert said in text and text.count("error: ") == 1


NEEDS = """test: u
needs: t
parameters: {n: [1, 2, 4], how: [a, b]}
run: {time_limit: 1min, command: "echo u"}
"""


def test_a_need_of_a_size_that_a_ladder_may_spare_is_refused(told: Any) -> None:
    plan = PLAN.replace("KEYS", "ladder: n") + "  - site:\n      tests: [u]\n"
    text = told({"tests/t.yaml": TEST, "tests/u.yaml": NEEDS, "plans/p.yaml": plan})
    assert (
        "u/n=1,how=a needs t/n=1,how=a of component 'functionality', whose ladder runs only the sizes that it needs"
        in text
    )
    assert text.count("error: ") == 1
