"""Files that do not go together, and things in a site directory that are no files: a sentence each."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from shakedown.model.errors import UsageError
from shakedown.plans import find_site, read_plan

BODY = 'test: a\nrun: {command: "true"}\n'
SYSTEM = """\
system: c5
clusters: {c5: {scheduler: slurm, partitions: {batch: {nodes: "n[1-8]", type: rome}}}}
node_types: {rome: {cores: 8}}
toolchains: {intel: {cc: icc}}
budgets: {f2/mdt: 8, f2/bandwidth: 40 GB/s}
"""

# ---- several files together ------------------------------------------------------------------------------------------


def test_two_of_one_name(told: Any) -> None:
    files = {
        "tests/a.yaml": BODY,
        "tests/b.yaml": BODY,
        "systems/c.yaml": SYSTEM,
        "systems/d.yaml": SYSTEM,
        "plans/a.yaml": "plan: p\nsystem: here\ncomponents: [{site: {tests: [a]}}]\n",
        "plans/b.yaml": "plan: p\nsystem: here\ncomponents: [{site: {tests: [a]}}]\n",
    }
    assert told(files).splitlines() == [
        "error: plans/b.yaml: there is a plan 'p' already",
        "hint: it is in plans/a.yaml",
        "error: systems/d.yaml: there is a system 'c5' already",
        "hint: it is in systems/c.yaml",
        "error: tests/b.yaml:1:7: there is a test 'a' already",
        "hint: it is in tests/a.yaml:1",
    ]


def test_tests_that_extend_each_other(told: Any) -> None:
    files = {f"tests/{name}.yaml": f"test: {name}\nextends: {base}\n" for name, base in ("ab", "bc", "ca")}
    assert told(files) == "error: tests/c.yaml:2:10: tests extend each other in a circle: a -> b -> c -> a"


def test_a_chain_too_long_to_follow(told: Any) -> None:
    files = {f"tests/t{n}.yaml": f"test: t{n}\nextends: t{n + 1}\n" for n in range(60)}
    said = told({**files, "tests/t60.yaml": "test: t60\nrun: {command: x}\n"})
    assert said.startswith("error: tests/t") and said.endswith(": more than 50 tests extend each other in a row")


def test_components_that_wait_for_each_other(told: Any) -> None:
    plan = (
        "plan: p\nsystem: here\ncomponents:\n"
        "  - vendor: {tests: [a], after: site}\n  - site: {tests: [a], after: [stability]}\n"
        "  - stability: {tests: [a], after: vendor}\n"
    )
    assert told({"plans/p.yaml": plan, "tests/a.yaml": BODY}) == (
        "error: plans/p.yaml:5:31: components wait for each other in a circle: site -> stability -> vendor -> site"
    )


def test_a_plan_of_an_abstract_test(told: Any) -> None:
    plan = "plan: p\nsystem: here\ncomponents: [{site: {tests: [a]}}]\n"
    assert told({"plans/p.yaml": plan, "tests/a.yaml": "test: a\nabstract: yes\n"}) == (
        "error: plans/p.yaml:3:30: test 'a' is abstract and has no cases\nhint: name a test that extends it"
    )


def test_a_plan_without_components(told: Any) -> None:
    assert told({"plans/p.yaml": "plan: p\nsystem: here\ncomponents: []\n"}) == (
        "error: plans/p.yaml:3:13: components is empty\nhint: it is a list of components"
    )


def test_components_without_their_dashes(told: Any) -> None:
    assert told({"plans/p.yaml": "plan: p\nsystem: here\ncomponents:\n  site: {tests: [a]}\n"}) == (
        "error: plans/p.yaml:4:3: components is a list of components, not a map\nhint: begin each item with '- '"
    )


def test_a_name_that_nearly_ends_in_yaml(told: Any) -> None:
    assert told({"tests/a.yml": BODY}) == (
        "error: tests/a.yml: a file that ends in .yml is not read\nhint: rename it to a.yaml"
    )


def test_a_test_in_json_and_data_in_json(told: Any) -> None:
    assert told({"tests/a.json": '{"test": "a", "run": {"command": "x"}}', "tests/b.json": '{"rate": 3}'}) == (
        "error: tests/a.json: a file that ends in .json is not read\nhint: rename it to a.yaml"
    )


def test_a_name_in_capitals(told: Any) -> None:
    assert told({"tests/a.YAML": BODY}) == (
        "error: tests/a.YAML: a file that ends in .YAML is not read\nhint: rename it to a.yaml"
    )


def test_a_directory_in_place_of_a_file(told: Any) -> None:
    assert told({"tests/a.yaml/README": "nothing\n"}) == (
        "error: tests/a.yaml: this is a directory, and its name is that of a file\nhint: rename it, or take it away"
    )


def test_a_broken_system_is_not_also_missed_everywhere(told: Any) -> None:
    plan = "plan: p\nsystem: c5\ncomponents: [{site: {tests: [a]}}]\n"
    test = BODY + "where: {partitions: [batch]}\nloads: {f2/mdt: 1}\nparameters: {toolchain: [intel]}\n"
    files = {"systems/c5.yaml": "system: c5\ncluster: {}\n", "plans/p.yaml": plan, "tests/a.yaml": test}
    assert {line.split(":")[1] for line in told(files).splitlines() if line.startswith("error")} == {" systems/c5.yaml"}


def test_sums_that_are_not_there_or_no_sums(told: Any) -> None:
    test = BODY + "check:\n  - files match golden: {glob: '*.nc', sums: s}\n"
    assert told({"tests/a.yaml": test}) == (
        "error: tests/a.yaml:4:46: the sums s cannot be read: No such file or directory\n"
        "hint: make it with: sha256sum *.nc > s"
    )
    assert told({"tests/a.yaml": test, "tests/s": "abc\n"}) == (
        "error: tests/a.yaml:4:46: s: line 1 is not a line of sha256sum\n"
        "hint: it holds a sum of 64 digits and a file's name"
    )
    assert told({"tests/a.yaml": test, "tests/s": "0" * 64 + "  b.txt\n"}) == (
        "error: tests/a.yaml:4:46: s: no file in it fits *.nc\nhint: nothing would be compared"
    )


# ---- the file system -------------------------------------------------------------------------------------------------


def test_odd_things_that_are_called_yaml(told: Any, tmp_path: Path) -> None:
    tests = tmp_path / "site" / "tests"
    (tests / "directory.yaml").mkdir(parents=True)
    os.mkfifo(tests / "pipe.yaml")
    (tests / "nowhere.yaml").symlink_to("not-there")
    (tests / "round").symlink_to(tests)
    assert told({"tests/a.yaml": BODY}).splitlines() == [
        "error: tests/directory.yaml: this is a directory, and its name is that of a file",
        "hint: rename it, or take it away",
        "error: tests/nowhere.yaml: the file cannot be read: No such file or directory",
        "error: tests/pipe.yaml: the file cannot be read: it is not a regular file",
    ]


def test_a_site_file_that_is_a_directory(tmp_path: Path, here: Any) -> None:
    (tmp_path / "site.yaml").mkdir()
    with pytest.raises(UsageError, match=f"no site.yaml in {tmp_path} or above it"):
        find_site(tmp_path)
    with pytest.raises(UsageError, match="is not a directory"):
        find_site(tmp_path / "nowhere")


def test_a_plan_that_is_not_there(tmp_path: Path, here: Any) -> None:
    (tmp_path / "site.yaml").write_text("site: s\n")
    with pytest.raises(UsageError) as caught:
        read_plan(tmp_path, "p", lambda: here)
    assert str(caught.value) == "there is no plan 'p'\nhint: plans/ holds none yet"


def test_control_characters_never_reach_the_terminal(told: Any) -> None:
    said = told({"tests/a.yaml": 'test: "\\e[2J"\n"\\e]0;x\\a": 1\nrun: {command: "\\0"}\n'})
    assert "\x1b" not in said and "\a" not in said
    assert "'\\x1b[2J' cannot be the test's name" in said


def test_messages_stay_short_whatever_is_in_them(told: Any) -> None:
    said = told({"tests/a.yaml": f"test: a\nrun: {'x' * 100_000}\n{'k' * 1000}: 1\n"})
    assert max(map(len, said.splitlines())) < 700
