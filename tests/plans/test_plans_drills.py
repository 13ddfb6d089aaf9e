"""Drills of a component: what is read, the criteria that come of them, and what ``check`` says of those that cannot be."""

from __future__ import annotations

from typing import Any

import pytest

from shakedown.metrics.judging.default_criteria import criteria_of
from shakedown.metrics.judging.wording import must_text
from shakedown.model.errors import UsageError

SITE = {
    "tests/a.yaml": "test: a\nrun: {command: x}\n",
    "tests/s.yaml": "test: s\nparameters: {n: [1, 2]}\nrun: {command: x}\n",
    "tests/c.yaml": "test: c\nrun: {command: x}\n",
}
ONE = (
    "{name: oss, about: fail one over, at: 20min, who: vendor, evidence: 2, settle: 5min, "
    'expect: {lost: 0, hole: "<= 120s", back: 10min}, clause: SOW 7}'
)


def plan_of(site: Any, drills: str, more: str = "duration: 1h, mix: {a: 100%}") -> Any:
    for name, text in SITE.items():
        site.write(name, text)
    kind = "stability" if "duration" in more else "functionality"
    return site.plan(f"plan: p\nsystem: here\ncomponents:\n  - {kind}: {{tests: [a], {more}, drills: {drills}}}\n")


def test_a_drill_is_read_with_its_bounds_as_they_were_written(site: Any) -> None:
    (component,) = plan_of(site, f"[{ONE}, {{name: own, at: 30min, test: c, expect: {{lost: 1}}}}]").components
    drill, own = component.drills
    assert (drill.name, drill.at_s, drill.who, drill.evidence, drill.settle_s) == ("oss", 1200.0, "vendor", 2, 300.0)
    assert (drill.lost, drill.hole_s, drill.back_s, drill.case, drill.clause) == (0, 120.0, 600.0, "", "SOW 7")
    assert (own.case, own.lost, own.hole_s, own.settle_s) == ("c", 1, None, 600.0)
    assert component.every_case == ("a", "c")
    told = [(one.name, must_text(one), one.clause) for one in criteria_of(component) if one.name.startswith("drill")]
    assert told == [
        ("drill oss: lost", "<= 0", "SOW 7"),
        ("drill oss: hole", "<= 120s", "SOW 7"),
        ("drill oss: back", "<= 10min", "SOW 7"),
        ("drill own: lost", "<= 1", ""),
    ]


@pytest.mark.parametrize(
    ("drills", "said"),
    [
        (
            "[{name: x, at: 2h, expect: {lost: 0}}]",
            "drill 'x' would come after its end: the component is over after 1 h 00 min",
        ),
        ("[{name: x, at: 1min, expect: {}}]", "drill 'x' expects nothing"),
        (
            "[{name: x, at: 1min, expect: {lost: 0}}, {name: x, at: 2min, expect: {lost: 0}}]",
            "there is a drill 'x' already",
        ),
        ("[{name: x, at: 1min, test: nope, expect: {lost: 0}}]", "no test 'nope'"),
        (
            "[{name: x, at: 1min, test: s, expect: {lost: 0}}]",
            "test 's' of drill 'x' has 2 cases, and a drill is done once",
        ),
        (
            "[{name: x, at: 1min, test: a, expect: {lost: 0}}]",
            "test 'a' of drill 'x' is among the component's other tests",
        ),
        (
            "[{name: x, at: 1min, test: c, evidence: 1, expect: {lost: 0}}]",
            "'evidence' of drill 'x' has no meaning beside test",
        ),
        ("[{name: x, at: 1min, expect: {hole: soon}}]", "soon"),
        ("[{name: x, expect: {lost: 0}}]", "'at' is missing"),
    ],
)
def test_what_cannot_be_is_told_once_with_a_way_out(site: Any, drills: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        plan_of(site, drills)
    told = str(caught.value)
    assert told.count("plans/p.yaml:4:") == 1 and said in told, told


def test_without_a_duration_there_is_no_moment(site: Any) -> None:
    with pytest.raises(UsageError, match="'drills' has no meaning without duration"):
        plan_of(site, f"[{ONE}]", "repeats: 2")
