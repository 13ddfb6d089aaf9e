"""Set-up and clean-up of a component: what is read, and what ``check`` says of those that cannot be."""

from __future__ import annotations

from typing import Any

import pytest

from shakedown.model.errors import UsageError
from shakedown.model.nouns import Need

SITE = {
    "tests/a.yaml": "test: a\nrun: {command: x}\n",
    "tests/s.yaml": "test: s\nparameters: {n: [1, 2]}\nrun: {command: x}\n",
    "tests/c.yaml": "test: c\nrun: {command: x}\n",
    "tests/b.yaml": "test: b\nneeds: {test: c, files: [out.txt]}\nrun: {command: x}\n",
    "tests/d.yaml": "test: d\nneeds: a\nrun: {command: x}\n",
}


def plan_of(site: Any, component: str, kind: str = "functionality") -> Any:
    for name, text in SITE.items():
        site.write(name, text)
    return site.plan(f"plan: p\nsystem: here\ncomponents:\n  - {kind}: {{{component}}}\n")


def test_all_cases_of_the_named_tests_are_read(site: Any) -> None:
    document = plan_of(
        site, "tests: [a], set_up: [s], clean_up: {test: s, where: {n: 2}}".replace("{test", "[{test") + "]"
    )
    (component,) = document.components
    assert (component.cases, component.set_up, component.clean_up) == (("a",), ("s/n=1", "s/n=2"), ("s/n=2",))
    assert [case.id for case in document.cases] == ["a", "s/n=1", "s/n=2"]
    assert component.every_case == ("a", "s/n=1", "s/n=2", "s/n=2")


def test_one_name_needs_no_list_and_a_mix_has_no_share_of_it(site: Any) -> None:
    document = plan_of(site, "tests: [a], duration: 1h, mix: {a: 100%}, set_up: s, clean_up: c", "stability")
    assert document.components[0].set_up == ("s/n=1", "s/n=2") and document.components[0].clean_up == ("c",)


def test_a_test_may_be_handed_files_of_a_set_up(site: Any) -> None:
    document = plan_of(site, "tests: [b], duration: 1h, set_up: c", "stability")
    (needing,) = [case for case in document.cases if case.id == "b"]
    assert needing.needs == (Need("c", ("out.txt",)),)


@pytest.mark.parametrize(
    ("component", "kind", "said"),
    [
        ("tests: [a], set_up: [sss]", "functionality", "no test 'sss'"),
        ("tests: [a], set_up: [a]", "functionality", "test 'a' is in set_up and among the component's other tests"),
        ("tests: [a], clean_up: [a]", "functionality", "test 'a' is in clean_up and among the component's other tests"),
        ("tests: [a], sweep: yes, set_up: [s]", "functionality", "'sweep' has no meaning beside set_up"),
        ("tests: [a], pack: yes, clean_up: [s]", "functionality", "'pack' has no meaning beside clean_up"),
        ("procedures: [{name: x}], set_up: [s]", "vendor", "'set_up' has no meaning without tests"),
        ("tests: [a], set_up: [d]", "functionality", "d of set_up needs a, which begins no sooner than it does"),
        ("tests: [a], clean_up: [b, c]", "functionality", "b of clean_up needs c, which begins no sooner than it does"),
        ("tests: [a], set_up: [b]", "functionality", "b needs c, which no component has"),
    ],
)
def test_what_cannot_be_is_told_once_with_a_way_out(site: Any, component: str, kind: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        plan_of(site, component, kind)
    told = str(caught.value)
    assert told.count("plans/p.yaml:4:") == 1 and said in told, told
