"""Tests that build on others: what is taken over, what replaces, and where errors then point."""

from __future__ import annotations

from typing import Any

import pytest

from shakedown.model.errors import FileProblems
from shakedown.plans import read_site

BASE = """\
test: base
abstract: true
about: what all have
tags: [common]
parameters: {size: [1, 2]}
run: {time_limit: 2h, environment: {A: from-base, B: from-base}, command: "echo base"}
check: ['output contains "one"']
figures: {speed: {json: s, unit: GB/s}, extra: {json: e}}
"""


def test_maps_merge_deeply_and_all_else_replaces(site: Any) -> None:
    site.test(BASE, "tests/base.yaml").test(
        "test: a\nextends: base\nparameters: {size: [3], mode: [x]}\nrun: {environment: {B: own}, command: echo own}\n"
        "tags: [own]\nfigures: {speed: {unit: MB/s}}\n"
    )
    listing = site.listing()
    (case,) = listing.cases
    assert case.id == "a/size=3,mode=x"
    assert case.environment == (("A", "from-base"), ("B", "own"))
    assert (case.script, case.shape.time_limit_s) == ("echo own", 7200.0)
    (test,) = listing.tests
    assert (test.about, test.tags) == ("what all have", ("own",))
    assert [(figure.name, figure.json, figure.unit) for figure in test.figures] == [
        ("speed", "s", "MB/s"),
        ("extra", "e", ""),
    ]
    assert [check.text for check in test.checks] == ['output contains "one"', "exit is 0"]
    assert listing.abstract == (("base", "what all have", "tests/base.yaml"),)


def test_checks_can_be_added_instead_of_replaced(site: Any) -> None:
    site.test(BASE, "tests/base.yaml")
    site.test("test: middle\nextends: base\ncheck+: ['output lacks \"two\"']\n", "tests/middle.yaml")
    site.test("test: a\nextends: middle\ncheck+: ['file x exists']\n")
    tests = {test.name: test for test in site.listing().tests}
    assert [check.kind for check in tests["a"].checks] == ["contains", "lacks", "exists", "exit"]
    assert [check.kind for check in tests["middle"].checks] == ["contains", "lacks", "exit"]


def test_checks_added_to_none_are_the_checks(site: Any) -> None:
    site.test("test: a\nrun: {command: x}\ncheck+: ['file x exists']\n")
    (test,) = site.listing().tests
    assert [check.kind for check in test.checks] == ["exists", "exit"]


def test_paths_stay_relative_to_the_file_that_writes_them(site: Any) -> None:
    site.write("tests/common/src/Makefile", "all:\n")
    site.write("tests/common/in.txt", "x")
    site.test(
        "test: base\nabstract: true\nbuild: {source: src, run: make}\nrun: {files: [in.txt], command: x}\n",
        "tests/common/base.yaml",
    )
    site.test("test: a\nextends: base\n", "tests/elsewhere/a.yaml")
    listing = site.listing()
    assert listing.cases[0].files == (("in.txt", str(site.path / "tests/common/in.txt")),)
    assert listing.builds[0].source == str(site.path / "tests/common/src")


def test_an_error_is_shown_once_in_the_file_that_holds_it(site: Any) -> None:
    site.test(BASE.replace("{json: s,", "{jsn: s,"), "tests/base.yaml")
    for name in "abc":
        site.test(f"test: {name}\nextends: base\n", f"tests/{name}.yaml")
    with pytest.raises(FileProblems) as caught:
        site.cases()
    unknown = [problem for problem in caught.value.problems if "jsn" in problem.message]
    assert [str(problem) for problem in unknown] == [
        "error: site/tests/base.yaml:8:19: unknown key 'jsn' in figures.speed\nhint: did you mean 'json'?"
    ]


def test_a_value_that_is_wrong_only_here_points_into_the_extended_file(site: Any) -> None:
    site.test(BASE.replace('"echo base"', '"echo {nodez}"'), "tests/base.yaml").test("test: a\nextends: base\n")
    with pytest.raises(FileProblems) as caught:
        site.cases()
    (problem,) = caught.value.problems
    assert (problem.path, problem.line, problem.column) == ("site/tests/base.yaml", 6, 75)


def test_a_test_of_the_site_hides_the_packages_and_can_extend_it(
    site: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from shakedown.plans import finding

    monkeypatch.setattr(finding, "CATALOGUE_TESTS", str(tmp_path / "shipped"))
    (tmp_path / "shipped").mkdir()
    (tmp_path / "shipped" / "hello.yaml").write_text("test: hello\nabout: shipped\nrun: {command: echo shipped}\n")
    (tmp_path / "shipped" / "other.yaml").write_text("test: other\nrun: {command: echo other}\n")
    site.test("test: hello\nextends: hello\nrun: {time_limit: 1min}\n")
    listing = site.listing()
    assert [(test.name, test.about, test.path) for test in listing.tests] == [
        ("hello", "shipped", "tests/a.yaml"),
        ("other", "", "catalogue:other.yaml"),
    ]
    assert (listing.cases[0].script, listing.cases[0].shape.time_limit_s) == ("echo shipped", 60.0)
    document = site.plan("plan: p\nsystem: here\ncomponents: [{site: {tests: [hello]}}]\n")
    assert [source.path for source in document.sources] == ["plans/p.yaml", "catalogue:hello.yaml", "tests/a.yaml"]


def test_a_broken_file_is_not_also_missed(site: Any) -> None:
    site.test("test: [", "tests/base.yaml").test("test: a\nextends: base\n")
    problems = read_site(site.path).found_problems()
    assert {problem.path for problem in problems} == {"site/tests/base.yaml"}
