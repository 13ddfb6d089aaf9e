"""The runner of the tests: a second attempt alone, told; and red where it must be red."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts/run-tests"
PASSES = "def test_fine():\n    assert True\n"
FLAKY = """\
from pathlib import Path
def test_flaky():
    marker = Path(__file__).with_name("seen")
    seen = marker.exists()
    marker.touch()
    assert seen, "the first time it fails"
"""
BROKEN = "def test_broken():\n    assert 1 == 2\n"


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script as a module, on a suite of two parts in a directory of its own."""
    loader = importlib.machinery.SourceFileLoader("run_tests", str(SCRIPT))
    spec = importlib.util.spec_from_loader("run_tests", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(__import__("sys").modules, "run_tests", module)
    loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "PARTS", {"one": ["one", "-n", "2"], "two": ["two"]})
    monkeypatch.setattr("sys.argv", ["run-tests"])
    (tmp_path / "Makefile").write_text("lint types arrows:\n\t@echo $@ is fine\n")
    monkeypatch.delenv("SHAKEDOWN_TESTS_STRICT", raising=False)
    # Plugins that none of these sessions wants: to import them takes longer than all else.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p xdist.plugin")
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    for part in ("one", "two"):
        (tmp_path / part).mkdir()
        (tmp_path / part / f"test_{part}.py").write_text(PASSES)
    return module


def test_all_is_green(runner: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert runner.main() == 0
    said = capsys.readouterr().out
    assert "one: green: 1 passed" in said and "two: green: 1 passed" in said
    assert "code: green: lint, types, arrows: in order" in said and "code  | types is fine" in said


def test_code_that_is_wrong_is_red_and_all_of_it_is_told(
    runner: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first mistake hides no other one, and the tests run all the same."""
    (tmp_path / "Makefile").write_text("lint arrows:\n\t@echo $@ is wrong; exit 1\ntypes:\n\t@echo fine\n")

    assert runner.main() == 1
    said = capsys.readouterr().out
    assert "code  | lint is wrong" in said and "code  | fine" in said and "code  | arrows is wrong" in said
    last = said[said.index("all in") :]
    assert "code: RED: make lint arrows: failed" in last and "one: green: 1 passed" in last


def test_what_passes_alone_is_green_and_told(
    runner: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "one/test_flaky.py").write_text(FLAKY)

    assert runner.main() == 0
    said = capsys.readouterr().out
    assert "PASSED ONLY AT ITS SECOND ATTEMPT, alone: one/test_flaky.py::test_flaky" in said
    assert "the first time it fails" in said[said.index("The first attempt's failures:") :]
    assert "one: green; 1 passed only at the second attempt: one/test_flaky.py::test_flaky" in said


def test_what_changed_is_compiled_once_and_not_by_each_command(
    runner: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    (tmp_path / "src/package").mkdir(parents=True)
    (tmp_path / "src/package/module.py").write_text("NUMBER = 7\n")
    runner.compile_all()
    [compiled] = (tmp_path / "src/package/__pycache__").iterdir()
    assert compiled.name.startswith("module.")


def test_a_test_file_is_rewritten_once_and_not_by_each_worker(
    runner: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two files, as a process a core makes some of them; a third one has an error, which is left for the parts to tell."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    tests = tmp_path / "tests"
    tests.mkdir()
    (tests / "conftest.py").write_bytes((SCRIPT.parents[1] / "tests/conftest.py").read_bytes())
    monkeypatch.setenv("PYTHONPATH", str(SCRIPT.parents[1] / "tests/support"))
    names = ("test_a", "test_b", "test_c")
    for name, text in zip(names, (PASSES, FLAKY, "import nothing_of_the_kind\n"), strict=True):
        (tests / f"{name}.py").write_text(text)
    assert not any(runner.is_rewritten(tests / f"{name}.py") for name in names)
    runner.rewrite_all()
    assert all(runner.is_rewritten(tests / f"{name}.py") for name in names)

    began: list[list[str]] = []
    monkeypatch.setattr(runner.subprocess, "Popen", lambda words, **options: began.append(words))
    runner.rewrite_all()
    assert began == []


def test_a_part_that_computes_lets_others_go_before(
    runner: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = os.getpriority(os.PRIO_PROCESS, 0)
    monkeypatch.setattr(runner, "NICE", {"one": 2})
    for part, more in (("one", 2), ("two", 0)):
        asked = f"os.getpriority(os.PRIO_PROCESS, 0) == {min(own + more, 19)}"
        (tmp_path / part / "test_more.py").write_text(f"import os\ndef test_nice():\n    assert {asked}\n")
    assert runner.main() == 0


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (BROKEN, "two: RED at both attempts: two/test_more.py::test_broken"),
        ("import nothing_of_the_kind\n", "two: RED:"),
        ("".join(f"def test_{n}():\n    assert False\n" for n in range(21)), "two: RED: 21 failed"),
    ],
)
def test_what_fails_is_red(
    text: str, told: str, runner: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "two/test_more.py").write_text(text)

    assert runner.main() == 1
    said = capsys.readouterr().out
    assert told in said and "one: green" in said


def test_no_test_at_all_is_red(runner: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "two/test_two.py").unlink()

    assert runner.main() == 1
    assert "two: RED" in capsys.readouterr().out


def test_a_word_that_is_no_part_is_refused(
    runner: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["run-tests", "three"])

    assert runner.main() == 2
    assert "there is no part 'three'; there are code, one, two" in capsys.readouterr().err


def test_a_second_attempt_that_is_not_listed_is_red_where_that_is_asked_for(
    runner: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SHAKEDOWN_TESTS_STRICT", "1")
    monkeypatch.setattr(runner, "SECOND_ATTEMPTS", tmp_path / "listed.txt")
    (tmp_path / "one/test_flaky.py").write_text(FLAKY)
    assert runner.main() == 1
    said = capsys.readouterr().out
    assert "one: RED: passed only at the second attempt, and not listed: one/test_flaky.py::test_flaky" in said

    (tmp_path / "one/seen").unlink()
    (tmp_path / "listed.txt").write_text("one/test_flaky.py::* it is flaky on purpose\n")
    assert runner.main() == 0
    assert "(known: it is flaky on purpose)" in capsys.readouterr().out


AT_ONCE = """\
import pytest
def pytest_terminal_summary(terminalreporter):
    for number in range({count}):
        name = f"tests/slurm/test_x.py::test_slow[a b-{{number}}]"
        terminalreporter.section(f"PASSED ONLY AT ITS SECOND ATTEMPT: {{name}}", sep="!")
"""


@pytest.mark.parametrize(
    ("count", "listed", "strict", "told"),
    [
        (
            1,
            "",
            "1",
            "two: RED: passed only at the second attempt, and not listed: tests/slurm/test_x.py::test_slow[a b-0]",
        ),
        (1, "", "", "two: green: 1 passed"),
        (5, "tests/slurm/* late", "1", "two: green: 1 passed"),
        (
            6,
            "tests/slurm/* late",
            "1",
            "two: RED: 6 tests passed only at the second attempt, more than 5: tests/slurm/",
        ),
    ],
)
def test_second_attempts_of_tests_on_a_cluster_count_too(
    count: int,
    listed: str,
    strict: str,
    told: str,
    runner: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """They have it at once, on a cluster of their own, so that pytest knows of no failure."""
    monkeypatch.setenv("SHAKEDOWN_TESTS_STRICT", strict)
    monkeypatch.setattr(runner, "SECOND_ATTEMPTS", tmp_path / "listed.txt")
    (tmp_path / "listed.txt").write_text(f"{listed}\n")
    (tmp_path / "two/conftest.py").write_text(AT_ONCE.format(count=count))
    monkeypatch.setattr(runner, "PARTS", {"two": ["two"]})

    assert runner.main() == int("RED" in told)
    assert told in capsys.readouterr().out


def test_the_words_of_tests_on_a_cluster_are_those_that_are_looked_for() -> None:
    text = (SCRIPT.parents[1] / "tests/slurm/conftest.py").read_text()
    assert 'how = "PASSED ONLY AT ITS SECOND ATTEMPT" if report.passed' in text
    assert 'section(f"{how}: {report.nodeid}", sep="!"' in text


LEAVES = """\
import subprocess
def test_leaves():
    subprocess.Popen(["sleep", "302"], start_new_session=True)
"""


@pytest.mark.parametrize(("strict", "status"), [("", 0), ("1", 1)])
def test_processes_that_were_left_are_told_last(
    strict: str,
    status: int,
    runner: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("SHAKEDOWN_TESTS_STRICT", strict)
    monkeypatch.setenv("SHAKEDOWN_TESTS_PATIENCE", "0.1")
    monkeypatch.setenv("PYTHONPATH", str(SCRIPT.parents[1] / "tests/support"))
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p left_processes\n")
    (tmp_path / "one/test_leaves.py").write_text(LEAVES)
    monkeypatch.setattr(runner, "PARTS", {"one": ["one"]})

    assert runner.main() == status
    said = capsys.readouterr().out
    assert "sleep 302" in said
    assert "1 processes outlived the tests that started them" in said[said.index("all in") :]


def test_temporary_files_lie_in_memory_that_nobody_else_sees_and_that_ends_with_the_tests(tmp_path: Path) -> None:
    """As root, with memory to spare; elsewhere it says that there is none, and the tests use the disk."""
    script = tmp_path / "probe.py"
    script.write_text(
        "import importlib.machinery, importlib.util, os, subprocess, sys\n"
        f"loader = importlib.machinery.SourceFileLoader('run_tests', {str(SCRIPT)!r})\n"
        "module = importlib.util.module_from_spec(importlib.util.spec_from_loader('run_tests', loader))\n"
        "sys.modules['run_tests'] = module\n"
        "loader.exec_module(module)\n"
        "made = module.in_memory()\n"
        "kind = subprocess.run(['stat', '-f', '-c', '%T', made or '/'], capture_output=True, text=True).stdout.strip()\n"
        "print(made, kind, module.part_of('unit', made).words[-1], module.IN_MEMORY in os.environ, *sys.argv[1:])\n"
    )
    done = subprocess.run([sys.executable, str(script), "a word"], capture_output=True, text=True, check=True)
    if not done.stdout.startswith("/"):
        pytest.skip("no memory to spare, or not root")
    made, kind, base, rest = done.stdout.split(maxsplit=3)
    assert (kind, base, rest) == ("tmpfs", f"{made}/unit", "False a word\n")
    assert not Path(made).exists() and made not in Path("/proc/mounts").read_text()
