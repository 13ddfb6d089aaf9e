"""Which case a case needs, what becomes of it where that is unavailable, and what is run for a test that is named alone."""

from __future__ import annotations

from typing import Any

from shakedown.model.nouns import Document, Need
from shakedown.plans.ad_hoc import Wish, ad_hoc_document

PLAN = "plan: p\nsystem: here\nunavailable: restrict\ncomponents: [{functionality: {tests: [solve, make-mesh]}}]\n"


def needs(document: Document) -> dict[str, list[str]]:
    return {case.id: [need.case for need in case.needs] for case in document.cases}


def test_cases_go_with_those_of_the_same_parameters(site: Any) -> None:
    site.test("test: make-mesh\nparameters: {size: [1, 2], order: [high]}\nrun: {command: x}\n")
    site.test(
        "test: solve\nneeds: make-mesh\nparameters: {size: [1, 2], solver: [cg, gmres]}\nrun: {command: x}\n",
        "tests/b.yaml",
    )
    found = needs(site.plan(PLAN))
    assert found["solve/size=2,solver=gmres"] == ["make-mesh/size=2,order=high"]
    assert found["solve/size=2,solver=cg"] == ["make-mesh/size=2,order=high"]
    assert found["make-mesh/size=1,order=high"] == []


def test_what_needs_an_unavailable_case_is_unavailable(site: Any) -> None:
    site.test("test: make-mesh\nneeds: {programs: [no-such-program]}\nrun: {command: x}\n")
    site.test("test: solve\nneeds: make-mesh\nrun: {command: x}\n", "tests/b.yaml")
    (reason,) = [case.unavailable for case in site.plan(PLAN).cases if case.id == "solve"]
    assert reason == "it needs make-mesh, which is unavailable: no-such-program is not installed here"


def test_a_test_that_is_named_alone_brings_what_it_needs(site: Any, here: Any) -> None:
    site.test("test: make-mesh\nparameters: {size: [1, 2, 3]}\nrun: {command: x}\n")
    site.test("test: solve\nneeds: make-mesh\nparameters: {size: [1, 2, 3]}\nrun: {command: x}\n", "tests/b.yaml")
    wish = Wish(tests=("solve",), parameters=(("size", "2"),))
    document = ad_hoc_document(site.path, wish, lambda: here)
    assert [case.id for case in document.cases] == ["make-mesh/size=2", "solve/size=2"]
    assert document.cases[1].needs == (Need("make-mesh/size=2"),)
    both = Wish(tests=("make-mesh", "solve"), parameters=(("size", "3"),))
    assert [case.id for case in ad_hoc_document(site.path, both, lambda: here).cases] == [
        "make-mesh/size=3",
        "solve/size=3",
    ]
