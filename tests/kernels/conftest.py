"""All kernels, built once for the room, and a way to run one and to read what it said."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from built_kernels import built_kernels

from shakedown.kernels import find_mpiexec, kernel_names

Record = dict[str, Any]
TIME_LIMIT = 60  # seconds, for a run that hangs; no test waits for it
OF_THE_LAUNCHER = f"\n{'=' * 83}\n=   BAD TERMINATION"


@dataclass(frozen=True)
class Outcome:
    """How a kernel ended. Reading ``records`` asserts that every line of its output is a JSON object.

    MPICH's launcher tells of ranks that died on standard output too, behind what they wrote: that is none of the kernel's.
    """

    status: int
    output: str
    errors: str

    @property
    def records(self) -> list[Record]:
        own = self.output.partition(OF_THE_LAUNCHER)[0] if self.status else self.output
        records = [json.loads(line) for line in own.splitlines()]
        assert all(isinstance(r["record"], str) for r in records)
        return records

    def kind(self, record: str) -> list[Record]:
        return [r for r in self.records if r["record"] == record]

    @property
    def result(self) -> Record:
        """All result records as one."""
        return {key: value for r in self.kind("result") for key, value in r.items()}

    @property
    def sentences(self) -> list[str]:
        return [line for line in self.errors.splitlines() if line.startswith(("error:", "note:"))]


RunKernel = Callable[..., Outcome]


def taking_turns(ranks: int) -> list[str]:
    """What stands before the launcher where there are more ranks than cores: these take turns, and do so on one core.

    On several, a rank that waits spins on one of them while the awaited one has its turn on another: twice the processor time for
    the same messages. The kernels take the way of crowded ranks in both cases. Each worker of the tests has a core of its own.
    """
    cores = sorted(os.sched_getaffinity(0))
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    return ["taskset", "-c", str(cores[worker % len(cores)])] if ranks > len(cores) else []


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """All of them, built once for all workers."""
    place = built_kernels(tmp_path_factory)
    return {name: place / name for name in kernel_names()}


@pytest.fixture(scope="session")
def run_kernel(programs: dict[str, Path]) -> RunKernel:
    def run(
        name: str,
        *arguments: str | Path,
        ranks: int = 1,
        output: Path | None = None,
        cores: Sequence[int] = (),
        **variables: str,
    ) -> Outcome:
        launcher = [str(find_mpiexec()), "-n", str(ranks)] if output is None else []
        command = [*launcher, str(programs[name]), *map(str, arguments)]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("OMP_")} | variables
        command[:0] = ["taskset", "-c", ",".join(map(str, cores))] if cores else taking_turns(ranks)
        with (output or Path(os.devnull)).open("w") as sink:
            done = subprocess.run(
                command,
                stdout=subprocess.PIPE if output is None else sink,
                stderr=subprocess.PIPE,
                text=True,
                timeout=TIME_LIMIT,
                env=environment,
                check=False,
            )
        return Outcome(done.returncode, done.stdout or "", done.stderr)

    return run
