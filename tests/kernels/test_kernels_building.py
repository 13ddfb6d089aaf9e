"""The sources: they compile from a plain copy, and --help says what the descriptions say."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from shakedown.kernels import describe_kernels, find_mpicc, kernel_directory, kernel_names, shared_options

from .conftest import RunKernel

pytestmark = pytest.mark.mpi


def test_make_in_a_copy_with_mpicc_on_path_leaves_the_program_there(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(kernel_directory(), copy)
    path = f"{find_mpicc().parent}:{os.environ['PATH']}"
    subprocess.run(["make", "-s", "CFLAGS=-O0", "hello"], cwd=copy, check=True, env={**os.environ, "PATH": path})
    assert os.access(copy / "hello", os.X_OK)
    assert not (copy / "stream").exists()


def test_a_new_file_is_a_new_kernel_that_make_knows(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(kernel_directory(), copy)
    shutil.copy(copy / "hello.c", copy / "another.c")
    done = subprocess.run(["make", "-n", f"CC_MPI={find_mpicc()}", "another"], cwd=copy, capture_output=True, text=True)
    assert done.returncode == 0 and "-o another another.c" in done.stdout


@pytest.mark.parametrize("name", kernel_names())
def test_help_shows_what_the_description_says(run_kernel: RunKernel, name: str) -> None:
    (described,) = describe_kernels([name])
    help_text = run_kernel(name, "--help", ranks=2).output
    assert described.about in help_text
    assert re.findall(r"^  (--[\w-]+)", help_text, re.MULTILINE) == [
        o.name for o in (*described.options, *shared_options())
    ]
    for option in described.options:
        assert option.about in help_text
