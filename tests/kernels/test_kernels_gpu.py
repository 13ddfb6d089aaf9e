"""The gpu- kernels on devices of OpenMP: those that Clang makes of a host's cores have numbers and memory of their own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from once import made_once

from shakedown.kernels import find_mpicc, find_mpiexec, kernel_directory

from .conftest import RunKernel

pytestmark = pytest.mark.mpi

NAMES = ("gpu-copy", "gpu-gemm", "gpu-pairs", "gpu-stream")
SHORT = {
    "gpu-copy": ["--largest", "600", "--repeats", "2"],
    "gpu-gemm": ["--n", "40", "--repeats", "1"],
    "gpu-pairs": ["--size", "2KiB", "--iterations", "2"],
    "gpu-stream": ["--elements", "2000", "--repeats", "3"],
}
OFFLOAD = "-fopenmp-targets=x86_64-pc-linux-gnu"


@pytest.fixture(scope="session")
def clang() -> str:
    """The directory of Clang's libraries; skips where Clang makes no code for devices."""
    found = shutil.which("clang")
    where = Path(found).resolve().parent if found else Path()
    if found is None or not (where / "clang-offload-wrapper").exists():
        pytest.skip(
            "there is no clang that makes code for devices; scripts/slurm-packages installs clang and clang-tools"
        )
    return str(where.parent / "lib")


def build(where: Path, offload: str, *names: str) -> None:
    shutil.copytree(kernel_directory(), where, dirs_exist_ok=True)
    words = [f"CC_MPI={find_mpicc()}", "CFLAGS=-O1", "WARNINGS=-Werror -Wall -Wextra", f"OFFLOAD={offload}"]
    subprocess.run(["make", "-s", *words, *names], cwd=where, env={**os.environ, "MPICH_CC": "clang"}, check=True)


@pytest.fixture(scope="session")
def for_devices(clang: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_once(tmp_path_factory, "gpu-kernels", lambda place: build(place, OFFLOAD, *NAMES))


@pytest.fixture(scope="session")
def for_the_host(clang: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_once(tmp_path_factory, "gpu-kernels-host", lambda place: build(place, "", "gpu-stream"))


def run(program: Path, clang: str, *words: str, ranks: int = 2, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "LD_LIBRARY_PATH": clang, "OMP_NUM_THREADS": "1", **more}
    command = [str(find_mpiexec()), "-n", str(ranks), str(program), *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


def records_of(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("name", NAMES)
def test_each_rank_takes_a_device_of_its_own_and_the_result_says_where_it_ran(
    for_devices: Path, clang: str, name: str
) -> None:
    records = records_of(run(for_devices / name, clang, *SHORT[name], "--gpus", "4"))
    (result,) = [r for r in records if r["record"] == "result"]
    assert (result["ran_on"], result["devices"]) == ("device", 4)
    assert records[-1]["complete"] is True
    labels = [tuple(label.split(" ", 1)[1] for label in r["labels"]) for r in records if r["record"] == "nodes"]
    assert set(labels) <= {("rank 0 device 0", "rank 1 device 1")}
    assert bool(labels) == (name != "gpu-pairs")


@pytest.mark.parametrize("name", NAMES)
def test_a_self_check_passes_on_devices(for_devices: Path, clang: str, name: str) -> None:
    assert records_of(run(for_devices / name, clang, "--self-check", ranks=3))[-1]["complete"] is True


def test_copies_go_to_the_next_device_where_there_is_one(for_devices: Path, clang: str) -> None:
    records = records_of(run(for_devices / "gpu-copy", clang, *SHORT["gpu-copy"], "--smallest", "600"))
    ways = [(r["way"], r.get("memory")) for r in records if r["record"] == "copy"]
    pageable = [
        way for way, memory in ways if memory != "pinned"
    ]  # whether there is pinned memory is the OpenMP library's word
    assert pageable == ["to-device", "from-device", "on-device", "to-next"]
    (result,) = [r for r in records if r["record"] == "result"]
    assert result["within"]["to_next_gb_s"] > 0 and result["within"]["to_next_us"] > 0


def test_a_program_without_code_for_its_devices_says_so_and_fails_where_the_node_has_gpus(
    for_the_host: Path, clang: str
) -> None:
    done = run(for_the_host / "gpu-stream", clang, *SHORT["gpu-stream"], ranks=1)
    (result,) = [r for r in records_of(done) if r["record"] == "result"]
    assert result["ran_on"] == "host"
    assert "all numbers are of the cores of the host, and of no GPU" in done.stderr
    done = run(for_the_host / "gpu-stream", clang, *SHORT["gpu-stream"], "--gpus", "4", ranks=1)
    assert done.returncode == 1 and "and the node must have GPUs; build with OFFLOAD" in done.stderr
    assert '"record":"result"' not in done.stdout


def test_a_rank_without_a_device_beside_others_that_have_one_is_a_failure(
    for_devices: Path, clang: str, tmp_path: Path
) -> None:
    """As on a node whose GPU fell off the bus: the second rank's OpenMP is kept from its devices."""
    wrapper = tmp_path / "second"
    wrapper.write_text(
        f'#!/bin/sh\n[ "$PMI_RANK" != 1 ] || export OMP_TARGET_OFFLOAD=disabled\nexec {for_devices}/gpu-stream "$@"\n'
    )
    wrapper.chmod(0o755)
    done = run(wrapper, clang, *SHORT["gpu-stream"])
    assert done.returncode == 1
    assert "rank 1 on " in done.stderr and ", and other ranks have one; build with OFFLOAD" in done.stderr


def test_on_the_host_the_note_stands_once(run_kernel: RunKernel) -> None:
    outcome = run_kernel("gpu-gemm", *SHORT["gpu-gemm"], ranks=2, OMP_NUM_THREADS="1")
    notes = [s for s in outcome.sentences if "of the cores of the host, and of no GPU" in s]
    assert len(notes) == 1 and outcome.result["ran_on"] == "host", outcome.errors
