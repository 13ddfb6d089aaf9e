"""What ``loader`` reports: times over ranks, symbols, calls and bytes of the libraries that it carries, and of Python modules."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shakedown.kernels import kernel_directory

from .conftest import RunKernel

pytestmark = pytest.mark.mpi

FUNCTIONS, CHAIN = 200, 10  # as the Makefile has it
RANKS = 3


def called_by(library: int) -> int:
    """The one before, and the one with half of its number, where these are two."""
    return len({library - 1, library // 2}) if library > 0 else 0


def calls(libraries: int) -> int:
    return sum(1 + FUNCTIONS // CHAIN * (CHAIN + called_by(library)) for library in range(libraries))


def symbols(libraries: int) -> int:
    return sum(FUNCTIONS + FUNCTIONS // CHAIN * called_by(library) for library in range(libraries))


@pytest.fixture
def loaded(run_kernel: RunKernel, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    def load(*options: str, ranks: int = RANKS, **variables: str) -> dict[str, Any]:
        small = ["--libraries", "5", "--modules", "3", "--repeats", "3"]
        outcome = run_kernel("loader", "--directory", tmp_path, *small, *options, ranks=ranks, **variables)
        assert outcome.status == 0, outcome.errors
        assert list(tmp_path.iterdir()) == []
        nodes = outcome.kind("nodes")
        return outcome.result | {"nodes": nodes, "said": outcome.sentences, "each": outcome.kind("load")}

    return load


def test_symbols_calls_and_bytes_are_those_of_the_libraries(
    loaded: Callable[..., dict[str, Any]], programs: dict[str, Path]
) -> None:
    result = loaded()
    assert (result["libraries"], result["functions"], result["modules"]) == (5, FUNCTIONS, 3)
    assert result["calls"] == calls(5) == 5 + 20 * (10 * 5 + 0 + 1 + 1 + 2 + 2)
    assert (result["symbols_at_load"], result["symbols_by_visit"]) == (0, symbols(5))
    assert result["mb"] == pytest.approx(RANKS * result["library_mb"])
    sizes = carried(programs["loader"])
    assert result["library_mb"] == pytest.approx(sum(sizes[:5]) / 1e6) and len(sizes) == 32


def carried(program: Path) -> list[int]:
    """The sizes of the libraries that a program carries, by the lines that stand before them."""
    data = program.read_bytes()
    begin = data.index(b"shakedown-loader 32 200\n")
    text = data[begin : begin + 2000].split(b"\x7fELF")[0]
    return [int(line) for line in text.split(b"\n")[1:-1]]


def test_all_symbols_are_found_at_the_load_where_that_is_asked_for(loaded: Callable[..., dict[str, Any]]) -> None:
    result = loaded("--binding", "now")
    assert (result["symbols_at_load"], result["symbols_by_visit"]) == (symbols(5), 0)


def test_times_are_of_the_fastest_mean_and_slowest_rank_and_of_the_job(loaded: Callable[..., dict[str, Any]]) -> None:
    result = loaded()
    for turn in ("first", "again"):
        for part in ("load", "visit", "python"):
            names = (f"fastest_{part}_s", f"mean_{part}_s", f"slowest_{part}_s", f"{part}_s")
            fastest, mean, slowest, job = (result[turn][name] for name in names)
            assert 0 < fastest <= mean * 1.000001 and mean <= slowest * 1.000001 and slowest <= job * 1.000001
        assert result[turn]["mb_s"] == pytest.approx(result["mb"] / result[turn]["load_s"], rel=1e-6)
        assert 0 < result[turn]["slowest_import_s"] < result[turn]["slowest_python_s"]
        assert 0 < result[turn]["slowest_call_s"] < result[turn]["slowest_python_s"]


def test_the_first_time_stands_alone_and_the_others_are_a_mean(loaded: Callable[..., dict[str, Any]]) -> None:
    result = loaded()
    assert [each["repeat"] for each in result["each"]] == [0, 1, 2]
    first, second, third = ({k: v for k, v in each.items() if k not in ("record", "repeat")} for each in result["each"])
    assert first == pytest.approx(result["first"])
    rates = ("mb_s",)  # of the mean time, not the mean of rates
    means = {key: (value + third[key]) / 2 for key, value in second.items() if key not in rates}
    assert {key: value for key, value in result["again"].items() if key not in rates} == pytest.approx(means)


def test_each_node_has_its_slowest_rank(loaded: Callable[..., dict[str, Any]]) -> None:
    result = loaded("--fake-nodes", "2")
    (nodes,) = result["nodes"]
    assert (nodes["name"], nodes["unit"], len(nodes["labels"])) == ("load", "s", 2)
    assert max(nodes["values"]) == pytest.approx(result["first"]["slowest_load_s"])


def test_each_node_can_have_a_directory_of_its_own(run_kernel: RunKernel, tmp_path: Path) -> None:
    """What a node's own disk needs: each pretended node writes its own, and all of them are removed."""
    options = ["--libraries", "2", "--modules", "1", "--repeats", "1", "--fake-nodes", "2", "--each-node"]
    outcome = run_kernel("loader", "--directory", tmp_path, *options, ranks=4)
    assert outcome.status == 0, outcome.errors
    assert list(tmp_path.iterdir()) == []


def test_without_an_interpreter_only_libraries_are_loaded_and_it_is_said(loaded: Callable[..., dict[str, Any]]) -> None:
    result = loaded("--python", "no-such-python")
    assert result["modules"] == 0 and result["python"] == "none" and "import_s" not in str(result["first"])
    assert (
        "note: loader: there is no program 'no-such-python' that can be started: no Python modules are imported"
        in result["said"]
    )


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("exit 3", "cannot import the modules"),
        (
            "[ -f said ] || { touch said; exit 0; }; echo 0.1 0.1 7 9",
            "Python modules up to 0: its calls gave the sum 7, and must give ",
        ),
    ],
)
def test_an_interpreter_that_fails_is_named_and_nothing_is_left(
    run_kernel: RunKernel, tmp_path: Path, script: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\n{script}\n")
    python.chmod(0o755)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path)
    options = ["--libraries", "1", "--modules", "1", "--python", str(python)]
    outcome = run_kernel("loader", "--directory", tmp_path / "here", *options, ranks=1)
    assert outcome.status == 1
    (said,) = [line for line in outcome.sentences if line.startswith("error:")]
    assert sentence in said
    assert list((tmp_path / "here").iterdir()) == []


def test_a_number_of_functions_that_makes_no_whole_chains_is_refused_by_make(tmp_path: Path) -> None:
    source = (kernel_directory() / "loader.awk").read_text()
    (tmp_path / "loader.awk").write_text(source)
    command = ["awk", "-v", "library=0", "-v", "functions=15", "-f", "loader.awk"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 1 and "LOADER_FUNCTIONS=15: give a multiple of 10" in done.stderr


def test_the_first_library_of_twenty_functions_is_this(tmp_path: Path) -> None:
    """The numbers that loader.c computes again, by steps of their own."""
    command = ["awk", "-v", "library=3", "-v", "functions=20", "-f", str(kernel_directory() / "loader.awk")]
    text = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=True).stdout
    numbers = [(3 * 7919 + f * 104729) % 1009 for f in range(20)]
    assert [f"return {number}" in text for number in numbers] == [True] * 20
    ninth = f"return {numbers[8]} + shakedown_loader_0003_00009(calls) + shakedown_loader_0002_00019(calls)"
    assert f"{ninth} + shakedown_loader_0001_00009(calls);" in text
    assert text.count("(calls);") == 20 and text.count("++*calls;") == 21
