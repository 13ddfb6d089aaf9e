"""Options of ``run`` that cannot be meant, and the exact words they are answered with."""

# An entry is a line, however long its answer is.
# ruff: noqa: E501

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shakedown.cli.ad_hoc import Options, refuse_mixed, wish_of
from shakedown.cli.dry_run import refuse_together
from shakedown.model.errors import UsageError
from shakedown.plans.ad_hoc import Failed, Wish, ad_hoc_document

TESTS = {
    "stream": "tags: [memory]\nparameters: {n: [1, 2], size: [small, large]}\nexclude: [{n: 2, size: large}]\nrun: {command: x}\n",
    "plain": "tags: [basic]\nrun: {command: x}\n",
    "base": "abstract: yes\nrun: {command: x}\n",
}
FAILED = Failed("p-1", "here", (("stream/n=1,size=small", "stream"),))
WISHES: list[tuple[dict[str, Any], str]] = [
    ({"tests": ("steam",)}, "there is no test 'steam'\nhint: did you mean 'stream'?"),
    ({"tests": ("zzz",)}, "there is no test 'zzz'\nhint: 'shakedown list tests' has them"),
    ({"tests": ("p",)}, "there is no test 'p'\nhint: 'p' is a plan: shakedown run p"),
    ({"tests": ("base",)}, "test 'base' is abstract and has no cases\nhint: name a test that extends it"),
    ({"tags": ("memry",)}, "no test has the tag 'memry'\nhint: did you mean 'memory'?"),
    ({"tags": ("zzz",)}, "no test has the tag 'zzz'\nhint: tags are: basic, memory"),
    ({"tests": ("stream",), "parameters": (("siz", "small"),)}, "test 'stream' has no parameter 'siz'\nhint: did you mean 'size'?"),
    ({"tests": ("stream",), "parameters": (("q", "1"),)}, "test 'stream' has no parameter 'q'\nhint: it has: n, size, toolchain"),
    ({"tests": ("plain", "stream"), "parameters": (("n", "1"),)}, "test 'plain' has no parameter 'n'\nhint: it has: toolchain"),
    ({"tests": ("stream",), "parameters": (("n", "4"),)}, "--param chooses among the cases of test 'stream', and none has n=4\nhint: in its cases n is 1, 2; a new value is added to 'parameters' in tests/stream.yaml"),
    ({"tests": ("stream",), "parameters": (("n", "1"), ("n", "4"))}, "--param chooses among the cases of test 'stream', and none has n=4\nhint: in its cases n is 1, 2; a new value is added to 'parameters' in tests/stream.yaml"),
    ({"tests": ("stream",), "parameters": (("n", "2"), ("size", "large"))}, "no case of test 'stream' has n=2 and size=large\nhint: in its cases n is 1, 2; size is small, large"),
    ({"tests": ("plain",), "parameters": (("toolchain", "gcc"),)}, "--param chooses among the cases of test 'plain', and none has toolchain=gcc\nhint: the test has no toolchain on this system"),
    ({"tests": ("stream",), "parameters": (("n", "1, 2"),)}, "--param chooses among the cases of test 'stream', and none has n=1, 2\nhint: name each value by itself: --param n=1 --param n=2"),
    ({"tests": ("stream",), "parameters": (("N", "1"),)}, "test 'stream' has no parameter 'N'\nhint: did you mean 'n'?"),
    ({"tests": ("plain",), "parameters": (("partition", "all"),)}, "test 'plain' has no parameter 'partition'\nhint: a partition is chosen with --partition"),
    ({"tests": ("plain",), "parameters": (("system", "here"),)}, "test 'plain' has no parameter 'system'\nhint: a system is chosen with --system"),
    ({"tests": ("plain",), "partitions": ("al",)}, "system here has no partition 'al'\nhint: did you mean 'all'?"),
    ({"tests": ("plain",), "partitions": ("batch",)}, "system here has no partition 'batch'\nhint: there are: all"),
    ({"tests": ("plain",), "system": "hree"}, "there is no system 'hree'\nhint: did you mean 'here'?"),
    ({"tests": ("plain",), "repeats": 0}, "--repeats 0 is less than 1, the least that is possible"),
    ({"tests": ("plain",), "repeats": 1000001}, "--repeats 1000001 is more than 1000000, the most that is possible"),
    ({"failed": Failed("p-1", "here", ())}, "nothing is chosen: no case of campaign p-1 has a last result that did not pass\nhint: name another campaign after --last-failed, or tests with --test"),
    ({"failed": FAILED, "tests": ("plain",)}, "nothing is chosen: no case that is asked for is one that failed last in campaign p-1\nhint: these failed: stream/n=1,size=small"),
    ({"failed": FAILED, "parameters": (("n", "2"),)}, "nothing is chosen: no case that is asked for is one that failed last in campaign p-1\nhint: these failed: stream/n=1,size=small"),
    ({"failed": FAILED, "system": "big"}, "campaign p-1 ran on system here, not on big\nhint: leave --system out: what failed is run again where it failed"),
    ({"failed": Failed("p-1", "here", (("stream/n=8,size=small", "stream"),))}, "campaign p-1 failed in case 'stream/n=8,size=small', which test 'stream' has no more\nhint: did you mean 'stream/n=2,size=small'?"),
    ({"failed": Failed("p-1", "here", (("old", "old"),))}, "campaign p-1 failed in test 'old', which the site has no more\nhint: name the others with --test"),
    ({"failed": Failed("p-1", "gone", (("plain", "plain"),))}, "there is no system 'gone'\nhint: there are: here"),
]  # fmt: skip


@pytest.mark.parametrize(("wish", "said"), WISHES)
def test_a_choice_that_cannot_be_is_one_sentence(wish: dict[str, Any], said: str, tmp_path: Path, here: Any) -> None:
    site = tmp_path / "site"
    for folder in ("tests", "plans"):
        (site / folder).mkdir(parents=True)
    (site / "site.yaml").write_text("site: s\n")
    (site / "plans/p.yaml").write_text("plan: p\nsystem: here\ncomponents: [{functionality: {tests: [plain]}}]\n")
    for name, text in TESTS.items():
        (site / f"tests/{name}.yaml").write_text(f"test: {name}\n{text}")
    with pytest.raises(UsageError) as told:
        ad_hoc_document(site, Wish(**wish), lambda: here)
    assert str(told.value) == said


def test_a_site_with_a_cluster_asks_where_named_tests_run(tmp_path: Path, here: Any) -> None:
    for folder in ("tests", "systems"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "site.yaml").write_text("site: s\n")
    (tmp_path / "tests/plain.yaml").write_text(f"test: plain\n{TESTS['plain']}")
    for name, scheduler in (("laptop", "local"), ("emu", "slurm"), ("big", "slurm")):
        nodes = "here" if scheduler == "local" else "n[1-2]"
        text = f"{{scheduler: {scheduler}, partitions: {{all: {{nodes: '{nodes}', type: t}}}}}}"
        (tmp_path / f"systems/{name}.yaml").write_text(
            f"system: {name}\nclusters: {{one: {text}}}\nnode_types: {{t: {{cores: 2}}}}\n"
        )
    with pytest.raises(UsageError) as told:
        ad_hoc_document(tmp_path, Wish(tests=("plain",)), lambda: here)
    assert str(told.value) == (
        "the site describes big and emu: say where the tests run\n"
        "hint: --system big submits them there; --system here runs them on this machine"
    )
    named = ad_hoc_document(tmp_path, Wish(tests=("plain",), system="emu"), lambda: here)
    assert named.system.name == "emu"
    for name in ("big", "emu"):
        (tmp_path / f"systems/{name}.yaml").unlink()
    assert ad_hoc_document(tmp_path, Wish(tests=("plain",)), lambda: here).system.name == "here"


MIXED = [
    ("p", {"tests": ("a",)}, "plan 'p' and --test do not go together\nhint: a plan says itself what is run: leave one of them out"),
    ("p", {"failed": ""}, "plan 'p' and --last-failed do not go together\nhint: a plan says itself what is run: leave one of them out"),
    ("p", {"tests": ("a",), "repeats": 2}, "plan 'p' and --test, --repeats do not go together\nhint: a plan says itself what is run: leave one of them out"),
    ("p", {"system": "s"}, "plan 'p' and --system do not go together\nhint: a plan says itself what is run: leave one of them out"),
    ("catalogue:survey", {"system": "s", "repeats": 2}, "plan 'catalogue:survey' and --repeats do not go together\nhint: a plan says itself what is run: leave one of them out"),
    (None, {}, "nothing is named to be run\nhint: name a plan, or tests: shakedown run --test NAME"),
    (None, {"parameters": ("n=1",)}, "--param chooses among tests, and none is named\nhint: name tests: --test NAME or --tag TAG"),
    (None, {"repeats": 0}, "--repeats is for named tests, and none is named\nhint: name tests: --test NAME or --tag TAG"),
    (None, {"system": "s"}, "--system is for named tests, and none is named\nhint: name tests: --test NAME or --tag TAG"),
]  # fmt: skip


@pytest.mark.parametrize(("plan", "options", "said"), MIXED)
def test_a_plan_or_tests_and_not_both_or_neither(plan: str | None, options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as told:
        refuse_mixed(plan, Options(**options))
    assert str(told.value) == said


WRITTEN = [
    ({"tests": ("a,,b",)}, "--test has an empty name\nhint: write names with ',' between them: --test one,other"),
    ({"tests": ("",)}, "--test has an empty name\nhint: write names with ',' between them: --test one,other"),
    ({"tags": (" ",)}, "--tag has an empty name\nhint: write names with ',' between them: --tag one,other"),
    ({"tests": ("a",), "parameters": ("n",)}, "--param 'n' is no parameter with a value\nhint: write NAME=VALUE, such as --param n=4"),
    ({"tests": ("a",), "parameters": ("n: 3",)}, "--param 'n: 3' is no parameter with a value\nhint: write NAME=VALUE, such as --param n=3"),
    ({"tests": ("a",), "parameters": ("=4",)}, "--param '=4' is no parameter with a value\nhint: write NAME=VALUE, such as --param n=4"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "said"), WRITTEN)
def test_what_cannot_be_read_is_one_sentence(options: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as told:
        wish_of(Options(**options), tmp_path)
    assert str(told.value) == said


@pytest.mark.parametrize(
    ("dry_run", "scripts", "driving", "said"),
    [
        (False, True, {}, "--scripts goes with --dry-run\nhint: 'shakedown show script CASE' prints the script of one case"),
        (True, False, {"--detach": True}, "--detach has no meaning with --dry-run: nothing is run\nhint: leave one of them out"),
        (True, True, {"--detach": False, "--report": True}, "--report has no meaning with --dry-run: nothing is run\nhint: leave one of them out"),
    ],
)  # fmt: skip
def test_options_of_a_dry_run(dry_run: bool, scripts: bool, driving: dict[str, bool], said: str) -> None:
    with pytest.raises(UsageError) as told:
        refuse_together(dry_run, scripts, driving)
    assert str(told.value) == said


def test_options_are_read_as_they_are_written(tmp_path: Path) -> None:
    options = Options(tests=("a,b", "a"), tags=("t",), parameters=("n=1", "w=x=y", "n=1", "e="), repeats=2)
    wish = wish_of(options, tmp_path)
    assert (wish.tests, wish.tags, wish.repeats) == (("a", "b"), ("t",), 2)
    assert wish.parameters == (("n", "1"), ("w", "x=y"), ("e", ""))
