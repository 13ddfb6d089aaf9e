"""The guide's own kernel: what it shows compiles without a warning, runs, and notices a wrong result."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from shakedown.kernels import find_mpicc, find_mpiexec, kernel_directory

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "write-a-kernel.md"


@pytest.mark.mpi
def test_the_kernel_of_the_guide_works(tmp_path: Path) -> None:
    (source,) = re.findall(r"```c\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    copy = tmp_path / "c"
    shutil.copytree(kernel_directory(), copy)
    (copy / "pingpong.c").write_text(source)
    subprocess.run(["make", "-s", "-C", str(copy), f"CC_MPI={find_mpicc()}", "pingpong"], check=True)

    def run(*options: str, ranks: int = 2) -> subprocess.CompletedProcess[str]:
        command = [str(find_mpiexec()), "-n", str(ranks), str(copy / "pingpong"), *options]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    done = run("--self-check")
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert next(r for r in records if r["record"] == "result")["latency"]["us"] > 0
    assert records[-1]["complete"] is True
    alone = run("--self-check", ranks=1)  # as test_a_self_check_passes asks of every kernel
    (said,) = [r for r in map(json.loads, alone.stdout.splitlines()) if r["record"] == "self-check"]
    assert said["passed"] is True and said["checks"] > 10
    wrong = run("--self-check-fault")
    assert wrong.returncode == 1 and "the ball came back as 400 after 100 round trips" in wrong.stderr
