"""Tests that are named on the command line become a plan: which cases, how often, and what they must satisfy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shakedown.model.errors import FileProblems, UsageError
from shakedown.model.frozen import freeze, thaw
from shakedown.model.nouns import Document
from shakedown.plans.ad_hoc import Failed, Wish, ad_hoc_document
from shakedown.plans.unavailable import started_with

SYSTEM = """\
system: big
clusters:
  one: {scheduler: slurm, partitions: {batch: {nodes: "n[1-8]", type: t}, fat: {nodes: "f[1-2]", type: t}, half: {nodes: "n[1-4]", type: t}}}
  two: {scheduler: slurm, partitions: {batch: {nodes: "m[1-4]", type: t}}}
node_types: {t: {cores: 16}}
"""  # noqa: E501
TESTS = {
    "grid": "tags: [io, quick]\nparameters: {n: [1, 2, 4], word: [plain, 'a {{b}}, c=d']}\nrun: {command: 'echo {n}'}\n",
    "plain": "tags: [quick]\nrun: {command: x}\n",
    "base": "abstract: yes\ntags: [quick]\nrun: {command: x}\n",
}

Chosen = Callable[..., Document]


@pytest.fixture
def chosen(site: Any, here: Any) -> Chosen:
    site.write("systems/big.yaml", SYSTEM)
    for name, text in TESTS.items():
        site.write(f"tests/{name}.yaml", f"test: {name}\n{text}")

    def choose(**wish: Any) -> Document:
        usual = {} if "failed" in wish else {"system": "here"}
        return ad_hoc_document(site.path, Wish(**{**usual, **wish}), lambda: here)

    return choose


def cases(document: Document) -> list[str]:
    assert [case.id for case in document.cases] == list(document.components[0].cases)
    return list(document.components[0].cases)


def test_a_named_test_is_run_whole_and_every_result_must_pass(chosen: Chosen) -> None:
    document = chosen(tests=("grid",), repeats=3)

    (component,) = document.components
    assert (document.plan, document.system.name, component.repeats) == ("adhoc-grid", "here", 3)
    assert len(cases(document)) == 6
    assert [(c.name, c.measure, c.must) for c in component.criteria] == [
        ("correct", "correct / completed", "= 100%"),
        ("passed", "passed / wanted", "= 100%"),
    ]
    assert document.ad_hoc == "--test grid --system here --repeats 3"
    assert thaw(freeze(document)) == document
    assert [source.path for source in document.sources] == ["tests/grid.yaml"]


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        (Wish(tests=("grid",), system="emu"), "--test grid --system emu"),
        (Wish(tests=("grid",), system="here", repeats=3), "--test grid --system here --repeats 3"),
        (Wish(failed=Failed("spring-1", "emu", ()), system="emu"), "--last-failed spring-1"),
    ],
)
def test_the_words_of_a_choice_are_a_command_that_chooses_the_same(wish: Wish, words: str) -> None:
    """Where a site describes several systems the command is refused without the one that was named."""
    assert wish.words == words


def test_a_plan_of_a_file_is_not_ad_hoc(chosen: Chosen, site: Any) -> None:
    assert site.plan("plan: p\nsystem: here\ncomponents: [{functionality: {tests: [plain]}}]\n").ad_hoc == ""


@pytest.mark.parametrize(
    ("parameters", "kept"),
    [
        ([("n", "2")], ["grid/n=2,word=plain", "grid/n=2,word=a {b}, c=d"]),
        ([("n", "2"), ("word", "plain")], ["grid/n=2,word=plain"]),
        ([("n", "4"), ("word", "plain"), ("n", "1")], ["grid/n=1,word=plain", "grid/n=4,word=plain"]),
        ([("word", "a {b}, c=d"), ("n", "1")], ["grid/n=1,word=a {b}, c=d"]),
    ],
)
def test_parameters_choose_cases(parameters: list[tuple[str, str]], kept: list[str], chosen: Chosen) -> None:
    assert cases(chosen(tests=("grid",), parameters=tuple(parameters))) == kept


def test_tags_add_to_named_tests_and_abstract_ones_have_no_cases(chosen: Chosen) -> None:
    assert {case.partition("/")[0] for case in cases(chosen(tags=("quick",)))} == {"grid", "plain"}
    both = chosen(tests=("plain",), tags=("io",))
    assert [test.name for test in both.tests] == ["plain", "grid"]
    assert (both.plan, both.ad_hoc) == ("adhoc-plain-tag-io", "--test plain --tag io --system here")


@pytest.mark.parametrize(
    ("partitions", "kept"),
    [
        ((), ["one:batch", "one:fat", "two:batch"]),
        (("fat",), ["one:fat"]),
        (("batch",), ["one:batch", "two:batch"]),
        (("two:batch",), ["two:batch"]),
        (("half",), ["one:half"]),
        (("one:half", "fat"), ["one:fat", "one:half"]),
    ],
)
def test_partitions_choose_cases_also_those_that_are_used_only_where_named(
    partitions: tuple[str, ...], kept: list[str], chosen: Chosen
) -> None:
    document = chosen(tests=("plain",), system="big", partitions=partitions)
    assert sorted(case.partition for case in document.cases) == kept
    assert document.system.name == "big"


def test_failed_cases_are_run_again_on_their_system_and_no_others(chosen: Chosen) -> None:
    ids = [case.id for case in chosen(tests=("plain",), system="big", partitions=("half", "batch")).cases]
    half = next(name for name in ids if name.endswith("half"))
    failed = Failed("spring-1", "big", ((half, "plain"), ("grid/n=4,word=plain@fat", "grid")))
    again = chosen(failed=failed)
    assert again.system.name == "big"
    assert cases(again) == [half, "grid/n=4,word=plain@fat"]
    assert (again.plan, again.ad_hoc) == ("adhoc-last-failed", "--last-failed spring-1")
    assert cases(chosen(failed=failed, tests=("grid",))) == ["grid/n=4,word=plain@fat"]
    assert cases(chosen(failed=failed, partitions=("half",), tests=("plain",))) == [half]


def test_only_failed_cases_of_one_test_are_run_again(chosen: Chosen) -> None:
    failed = Failed("p-1", "here", tuple((f"grid/n={n},word=a {{b}}, c=d", "grid") for n in (4, 1)))
    assert cases(chosen(failed=failed)) == ["grid/n=1,word=a {b}, c=d", "grid/n=4,word=a {b}, c=d"]
    assert cases(chosen(failed=failed, parameters=(("n", "4"),))) == ["grid/n=4,word=a {b}, c=d"]


def test_faults_of_plans_do_not_matter_and_those_of_tests_do(chosen: Chosen, site: Any) -> None:
    site.write("plans/broken.yaml", "plan: [\n")
    assert cases(chosen(tests=("plain",))) == ["plain"]
    site.write("tests/broken.yaml", "test: broken\nrun: {comand: x}\n")
    with pytest.raises(FileProblems, match=r"tests/broken.yaml:2:7: unknown key 'comand'"):
        chosen(tests=("plain",))


def test_a_name_that_no_campaign_can_have_is_never_made(chosen: Chosen, site: Any) -> None:
    names = [f"a{'-long' * 10}{number}" for number in range(4)] + ["c++"]
    for number, name in enumerate(names):
        site.write(f"tests/x{number}.yaml", f"test: {name}\nrun: {{command: x}}\n")
    assert chosen(tests=("c++",)).plan == "adhoc-c--"
    plan = chosen(tests=tuple(names)).plan
    assert plan.startswith("adhoc-a-long") and plan.endswith("-and-more")
    assert len(plan) <= 60


def test_cases_that_cannot_run_are_refused_with_the_way_out_that_there_is(chosen: Chosen, site: Any) -> None:
    site.write("tests/huge.yaml", "test: huge\ntags: [quick]\nrun: {nodes: 9, command: x}\n")
    document = chosen(tags=("quick",))
    with pytest.raises(UsageError, match="plan adhoc-tag-quick does not start: 1 of its 8 cases cannot run") as told:
        started_with(document, None)
    assert told.value.hint == "'--unavailable restrict' runs the rest without them, with restrictions"
    assert started_with(document, "restrict").unavailable == "restrict"


def test_nothing_is_made_on_disk(chosen: Chosen, site: Any) -> None:
    def files() -> set[Path]:
        return set(site.path.rglob("*"))

    before = files()
    chosen(tests=("grid",))
    assert files() == before
