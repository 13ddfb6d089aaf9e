"""``shakedown kernels`` as a person types it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from shakedown.kernels import cache_directory, kernel_names


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, programs: dict[str, Path]) -> Path:
    """A cache in which every program is: for what a run says, where it is nothing that it was built first."""
    home = tmp_path_factory.mktemp("filled")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(home))
        place = cache_directory()
    place.mkdir(parents=True)
    for program in programs.values():
        shutil.copy2(program, place)
    return home


def shakedown(cache: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from shakedown.cli.main import main; main()", "kernels", *words]
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=False)


def test_list_shows_every_kernel_with_its_options(cache: Path) -> None:
    said = shakedown(cache, "list")
    assert said.returncode == 0
    for name in kernel_names():
        assert f"\n{name}: " in f"\n{said.stdout}"
    assert "--elements N" in said.stdout and "of every kernel:\n  --budget SECONDS" in said.stdout


def test_list_as_json(cache: Path) -> None:
    data = json.loads(shakedown(cache, "list", "--json").stdout)
    assert [k["name"] for k in data["kernels"]] == list(kernel_names())
    assert "--budget" in [o["name"] for o in data["shared_options"]]


@pytest.mark.mpi
def test_build_prints_the_programs_it_made(cache: Path, tmp_path: Path) -> None:
    said = shakedown(cache, "build", "hello", "--into", str(tmp_path / "out"), "--json")
    assert json.loads(said.stdout) == {"hello": str(tmp_path / "out" / "hello")}
    assert os.access(tmp_path / "out" / "hello", os.X_OK)
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["hello"]


@pytest.mark.mpi
def test_run_builds_what_it_needs_and_sums_up(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    said = shakedown(cache, "run", "hello", "-n", "3", "--", "--expect", "3")
    assert (cache_directory() / "hello").is_file()
    assert said.returncode == 0, said.stderr
    assert said.stdout.splitlines()[0] == "rank" and "cores_per_rank" in said.stdout


@pytest.mark.mpi
def test_run_passes_records_and_the_status_on(cache: Path) -> None:
    said = shakedown(cache, "run", "hello", "--json")
    assert [json.loads(line)["record"] for line in said.stdout.splitlines()] == [
        "start",
        "rank",
        "rank",
        "result",
        "end",
    ]
    assert shakedown(cache, "run", "hello", "--", "--self-check-fault").returncode == 1
    wrong = shakedown(cache, "run", "hello", "--", "--expct", "2")
    assert (wrong.returncode, wrong.stderr) == (
        2,
        "error: hello: there is no option '--expct'; did you mean '--expect'? See hello --help\n",
    )


REFUSED = [
    (("stream", "--", "--threads", "100000"), 2, "100000 threads are too many for a rank"),
    (("pairs", "-n", "1"), 2, "needs at least 2 ranks"),
    (("hello", "--", "--expect", "3"), 1, "3 ranks were expected, and this job has 2"),
    (("io", "--", "--block", "1000KiB"), 2, "is not a multiple of the transfer"),
    (("io", "--", "--directory", "/nonexistent"), 2, "No such file or directory"),
]


@pytest.mark.mpi
@pytest.mark.parametrize(("words", "status", "sentence"), REFUSED)
def test_more_time_is_no_way_out_where_a_kernel_refused(
    filled: Path, words: tuple[str, ...], status: int, sentence: str
) -> None:
    said = shakedown(filled, "run", *words)
    (line,) = said.stderr.splitlines()
    assert said.returncode == status and sentence in line


@pytest.mark.mpi
def test_more_time_is_the_way_out_where_the_budget_was_too_short(filled: Path) -> None:
    said = shakedown(
        filled, "run", "noise", "-n", "1", "--", "--budget", "0.001", "--samples", "20", "--quantum", "100"
    )
    assert said.returncode == 1
    assert said.stderr.splitlines()[-1] == (
        "not complete: it was stopped, or its budget was too short; give more time with -- --budget SECONDS"
    )


@pytest.mark.mpi
def test_a_directory_that_cannot_be_made_is_wrong_use(cache: Path) -> None:
    said = shakedown(cache, "build", "--into", "/proc/x", "hello")
    assert said.returncode == 2
    assert said.stderr.startswith(
        "error: cannot build kernels in /proc/x: No such file or directory\nhint: name a directory"
    )


def test_a_wrong_name_is_a_sentence_and_status_2(cache: Path) -> None:
    said = shakedown(cache, "run", "helllo")
    assert (said.returncode, said.stdout) == (2, "")
    assert said.stderr == "error: there is no kernel 'helllo'\nhint: did you mean 'hello'?\n"
