"""check, list, show and schema as they are typed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from shakedown import machine
from shakedown.cli.main import cli, main
from shakedown.model.errors import FileProblems, UsageError


@pytest.fixture(autouse=True)
def this_machine(monkeypatch: pytest.MonkeyPatch, here: Any) -> None:
    monkeypatch.setattr(machine, "this_system", lambda: here)


def shakedown(*words: str) -> str:
    """What a command prints. What it raises is raised: main() makes a sentence and a status of it."""
    result = CliRunner().invoke(cli, list(words), standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    assert isinstance(result.output, str)
    return result.output


def asked(*words: str) -> Any:
    return json.loads(shakedown(*words, "--json"))


@pytest.fixture
def inside(example: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """We are somewhere inside the site."""
    monkeypatch.chdir(example.path / "tests")
    example.write(
        "tests/missing.yaml", "test: missing\nneeds: {programs: [nix], get: 'get nix'}\nrun: {command: nix}\n"
    )
    return example


# ---- check -----------------------------------------------------------------------------------------------------------


def test_check_says_what_it_checked(inside: Any) -> None:
    said = "checked 5 tests, 6 cases, 2 contracts, 1 plan, on this machine and 1 system: nothing is wrong\n"
    *warnings, last = shakedown("check").splitlines(keepends=True)
    assert last == said
    place = next(number for number, line in enumerate(warnings) if "is no licence" in line)
    warning, hint = warnings[place : place + 2]
    assert warning.startswith("warning: plans/phase2.yaml:40:44: mixed: f2/bandwidth is no licence of cluster c5: ")
    assert hint.startswith("hint: with licences")


def test_check_tells_every_fault_at_once(inside: Any) -> None:
    inside.write("tests/one.yaml", "test: one\nrunn: {command: x}\n")
    inside.write("plans/two.yaml", "plan: two\nsystem: here\ncomponents: [{site: {tests: [sream]}}]\n")
    with pytest.raises(FileProblems) as caught:
        shakedown("check")
    assert caught.value.status == 2
    assert str(caught.value).splitlines() == [
        "error: plans/two.yaml:3:30: there is no test 'sream'",
        "hint: did you mean 'stream'?",
        "error: tests/one.yaml:2:1: unknown key 'runn'",
        "hint: did you mean 'run'?",
    ]


def test_the_command_ends_with_2_and_talks_on_standard_error(
    inside: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    inside.write("tests/one.yaml", "test: one\nrunn: {command: x}\n")
    monkeypatch.setattr("sys.argv", ["shakedown", "check"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "error: tests/one.yaml:2:1: unknown key 'runn'\nhint: did you mean 'run'?\n"


def test_check_of_one_file_tells_its_faults_alone(inside: Any) -> None:
    inside.write("tests/one.yaml", "test: one\nrunn: {command: x}\n")
    unseen = "\nnot shown: 1 fault of other files\n"
    assert shakedown("check", "cm4.yaml").endswith(f"nothing is wrong in cm4.yaml{unseen}")
    with pytest.raises(FileProblems):
        shakedown("check", "one.yaml")
    with pytest.raises(FileProblems):
        shakedown("check", "one")  # by its name
    assert shakedown("check", "cm4").endswith(f"nothing is wrong in cm4{unseen}")
    with pytest.raises(UsageError, match=r"src/Makefile is no file of the site"):
        shakedown("check", "src/Makefile")


def test_check_of_a_plan_tells_what_keeps_it_from_starting(inside: Any) -> None:
    inside.write("tests/one.yaml", "test: one\nrunn: {command: x}\n")
    inside.write("tests/two.yaml", "test: two\nrun: {command: x}\n")
    for name, test in (("p", "one"), ("q", "nothing")):
        inside.write(
            f"plans/{name}.yaml", f"plan: {name}\nsystem: here\ncomponents: [functionality: {{tests: [{test}]}}]\n"
        )
    with pytest.raises(FileProblems) as told:
        shakedown("check", "p")
    assert [problem.path for problem in told.value.problems] == ["tests/one.yaml"], "and nothing of other plans"


def test_check_as_json_lists_the_problems(inside: Any) -> None:
    inside.write("tests/one.yaml", "test: one\nrunn: {command: x}\n")
    result = CliRunner().invoke(cli, ["check", "--json"], standalone_mode=False)
    assert result.return_value == 2
    (problem,) = json.loads(result.output)["problems"]
    assert problem == {
        "path": "tests/one.yaml",
        "line": 2,
        "column": 1,
        "message": "unknown key 'runn'",
        "hint": "did you mean 'run'?",
    }


def test_paths_in_messages_can_be_followed_from_where_one_stands(inside: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    inside.write("tests/one.yaml", "test: one\nrunn: {command: x}\n")
    monkeypatch.chdir(inside.path.parent)
    with pytest.raises(FileProblems, match=r"^error: example/tests/one\.yaml:2:1"):
        shakedown("check", "--site", "example")


# ---- list ------------------------------------------------------------------------------------------------------------


def test_tests_are_listed_with_their_cases(inside: Any) -> None:
    assert [line.split()[:2] for line in shakedown("list", "--system", "c5").splitlines()] == [
        ["TEST", "CASES"],
        ["cm4", "3"],
        ["minisweep", "1"],
        ["missing", "1"],
        ["stream", "1"],
        ["climate-defaults", "abstract"],
    ]


def test_cases_are_listed_with_what_is_missing(inside: Any) -> None:
    lines = shakedown("list", "cases", "--test", "missing").splitlines()
    assert lines[1].split("  ")[-1] == "unavailable: nix is not installed here; get it with: get nix"
    assert lines[-1] == "1 case, 1 unavailable"


def test_cases_that_are_expected_to_fail_say_so(inside: Any) -> None:
    listed = shakedown("list", "cases", "--system", "c5", "--tag", "climate")
    assert "expected: build_failed, newer standards" in listed
    assert "64 nodes" in listed


def test_cases_of_a_plan(inside: Any) -> None:
    cases = asked("list", "cases", "--plan", "phase2")
    assert [case["id"] for case in cases][:2] == ["stream", "cm4/threads=1,toolchain=intel-classic"]
    with pytest.raises(UsageError, match="--plan and --system do not go together"):
        shakedown("list", "cases", "--plan", "phase2", "--system", "c5")


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (("list", "test"), "there is no list of 'test'", "did you mean 'tests'?"),
        (("list", "--test", "cm5"), "there is no test 'cm5'", "did you mean 'cm4'?"),
        (("list", "--tag", "climat"), "no test has the tag 'climat'", "did you mean 'climate'?"),
        (("list", "--test", "cm4", "--tag", "memory"), "test 'cm4' has no tag 'memory'", None),
        (("list", "--system", "c6"), "there is no system 'c6'", "there are: here, c5"),
        (("list", "--plan", "phase3"), "there is no plan 'phase3'", "did you mean 'c5-phase2'?"),
        (("show", "tets", "cm4"), "nothing of the kind 'tets' can be shown", "did you mean 'test'?"),
        (("show", "test", "cm5"), "there is no test 'cm5'", "did you mean 'cm4'?"),
        (("show", "case", "cm4"), "test 'cm4' has 3 cases", None),
        (("show", "case"), "which case is to be shown?", None),
        (("show", "script", "missing"), "missing cannot run here: nix is not installed here", None),
        (("show", "system", "c6"), "there is no system 'c6'", None),
        (("schema", "tests"), "there is no kind of file 'tests'", "did you mean 'test'?"),
    ],
)
def test_what_is_not_there_is_said(inside: Any, words: tuple[str, ...], message: str, hint: str | None) -> None:
    with pytest.raises(UsageError) as caught:
        shakedown(*words)
    assert caught.value.message.startswith(message)
    assert hint is None or caught.value.hint == hint


def test_systems_and_plans_are_listed(inside: Any) -> None:
    assert "c5:batch (1920 x 128 cores)" in shakedown("list", "systems")
    assert [system["name"] for system in asked("list", "systems")] == ["here", "c5"]
    (plan,) = asked("list", "plans")
    assert plan["components"] == [
        "vendor",
        "first-look",
        "performance",
        "mixed",
        "stability",
        "every-node",
        "sizes",
        "site",
    ]


# ---- show ------------------------------------------------------------------------------------------------------------


def test_an_abstract_test_is_shown_with_its_figures_and_the_path_of_its_file(inside: Any) -> None:
    name = "climate-defaults"
    shown = shakedown("show", "test", name)
    assert f"another test says 'extends: {name}'" in shown
    told = asked("show", "test", name)
    assert told["cases"] == [] and f"test: {name}" in Path(told["file"]).read_text()
    assert all(figure["name"] in shown for figure in told["test"]["figures"])


def test_a_case_is_shown_in_full(inside: Any) -> None:
    shown = shakedown("show", "case", "cm4/threads=2,toolchain=intel-oneapi", "--system", "c5")
    for text in ("OMP_NUM_THREADS = 2", "f2/mdt = 1", "64 x 64 tasks x 2 cores", "make CC=cc FC=ftn", "build_failed"):
        assert text in shown
    data = asked("show", "case", "cm4/threads=2,toolchain=intel-oneapi", "--system", "c5")
    assert data["build"]["key"] == data["case"]["build"]


def test_the_script_is_the_one_that_runs(inside: Any) -> None:
    inside.write("tests/hello.yaml", "test: hello\nrun: {command: 'echo hello > {campaign}/x'}\n")
    script = shakedown("show", "script", "hello")
    assert script.splitlines()[-1] == "echo hello > CAMPAIGN/x"
    assert "CAMPAIGN/claims/000/j000001.claim.0" in script


def test_tests_systems_and_plans_are_shown(inside: Any) -> None:
    assert "residual" in shakedown("show", "test", "cm4")
    assert "a machine made for tests" in shakedown("show", "system")
    assert "12.5 GB/s" in shakedown("show", "system", "c5")
    shown = shakedown("show", "plan", "phase2")
    assert "f2/bandwidth = 2e+10" in shown
    assert "steady: sd / mean elapsed <= 20%" in shown
    assert asked("show", "plan", "phase2")["plan"] == "c5-phase2"


def test_what_people_wrote_cannot_play_with_the_terminal(inside: Any) -> None:
    inside.write("tests/odd.yaml", 'test: odd\nabout: "\\e[31mred"\nrun: {command: "echo \\e[0m"}\n')
    assert "\x1b" not in shakedown("list") + shakedown("show", "test", "odd") + shakedown("show", "script", "odd")


def test_without_a_site_the_way_to_one_is_told(tmp_path: Any) -> None:
    with pytest.raises(UsageError) as caught:
        shakedown("list")
    assert caught.value.message == f"no site.yaml in {tmp_path} or above it"
    assert caught.value.hint is not None and caught.value.hint.startswith("'shakedown init' makes a site directory")
    assert "its file system may be away" in caught.value.hint


def test_schemas_are_printed(tmp_path: Any) -> None:
    assert json.loads(shakedown("schema", "test"))["title"] == "Shakedown: a test's file"
    assert json.loads(shakedown("schema", "contract"))["required"] == ["contract", "columns", "rows"]
    assert len(json.loads(shakedown("schema"))["anyOf"]) == 7


def test_unknown_options_are_clicks_to_tell(inside: Any) -> None:
    with pytest.raises(click.UsageError):
        shakedown("list", "--tset", "x")


def test_the_systems_of_the_package_are_listed_without_a_site(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "here" in [one["name"] for one in asked("list", "systems")]
    for words in (("list", "tests"), ("list", "systems", "--site", str(tmp_path))):
        with pytest.raises(UsageError, match=r"no site\.yaml"):
            shakedown(*words)
