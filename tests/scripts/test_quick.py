"""``make quick``: which tests belong to a change."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts/run-tests"
FILES = {
    "src/shakedown/engine/a.py": "",
    "src/shakedown/engine/__init__.py": "",
    "tests/support/helper.py": "",
    "tests/engine/test_a.py": "from shakedown.engine.a import thing\n",
    "tests/engine/test_part.py": "from shakedown.engine import other, a\n",
    "tests/engine/test_helper.py": "import helper\n",
    "tests/engine/test_other.py": "from shakedown.engine.b import a\n",
    "tests/slurm/test_a_there.py": "from shakedown.engine.a import thing\n",
}


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script on a small clone whose main has all files."""
    loader = importlib.machinery.SourceFileLoader("run_tests", str(SCRIPT))
    spec = importlib.util.spec_from_loader("run_tests", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(__import__("sys").modules, "run_tests", module)
    loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", ".")
    git(tmp_path, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "all")
    git(tmp_path, "checkout", "-q", "-b", "work")
    return module


def git(place: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=place, check=True)


def test_without_a_change_there_is_only_the_core(script: ModuleType) -> None:
    assert script.changed("main") == [] and script.tests_of([]) == []


def test_a_changed_module_brings_the_tests_that_import_it(script: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "src/shakedown/engine/a.py").write_text("changed = 1\n")
    files = script.changed("main")
    assert files == ["src/shakedown/engine/a.py"]
    assert script.tests_of(files) == ["tests/engine/test_a.py", "tests/engine/test_part.py"]


def test_a_new_test_and_the_users_of_a_changed_helper_belong_to_it(script: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "tests/support/helper.py").write_text("changed = 1\n")
    (tmp_path / "tests/engine/test_new.py").write_text("")
    assert script.tests_of(script.changed("main")) == ["tests/engine/test_helper.py", "tests/engine/test_new.py"]


def test_a_base_that_is_not_there_is_told(script: ModuleType) -> None:
    with pytest.raises(SystemExit, match="hint: name what to compare with"):
        script.changed("nowhere")


def test_the_core_is_there(script: ModuleType) -> None:
    root = SCRIPT.parents[1]
    assert all((root / place).exists() for place in script.CORE)


def test_a_reason_belongs_to_names_that_match(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = tmp_path / "listed.txt"
    listed.write_text("# tests/* no reason at all\ntests/slurm/* daemons\ntests/a.py::test_b[x] one\ntests/bare.py\n")
    monkeypatch.setattr(script, "SECOND_ATTEMPTS", listed)
    assert script.known_reason("tests/slurm/test_x.py::test_y[1]") == "daemons"
    assert script.known_reason("tests/a.py::test_b[x]") == "one"
    assert script.known_reason("tests/a.py::test_b[y]") == script.known_reason("tests/bare.py") == ""


def test_the_list_has_a_reason_in_each_line(script: ModuleType) -> None:
    for line in (SCRIPT.parents[1] / "tests/second_attempts.txt").read_text().splitlines():
        pattern, _, reason = line.partition(" ")
        assert line.startswith("#") or (len(reason) > 10 and pattern.startswith("tests/")), line
