"""The contract of a scheduler port on a real Slurm: the clauses in which played commands could differ from it most.

The whole contract runs on played commands (``tests/schedulers/contract``).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from scheduler_bench import Bench, kill_helpers, without_hurry
from scheduler_contract import CONTRACT
from slurm_cluster import Cluster

from shakedown.model.nouns import Cluster as Described
from shakedown.model.nouns import Partition, Patience
from shakedown.model.ports import Scheduler


class EmulatedBench(Bench):
    """Shakedown's port on a cluster that a test was lent."""

    scheduler_name = "slurm"

    def cluster(self) -> Described:
        return Described(
            "c", "slurm", (Partition("batch", "c", "n[001-008]", 8, "node"),), patience=Patience(poll_s=0.5)
        )

    def open(self) -> Scheduler:
        without_hurry(super().open())
        return self.port

    def kill(self) -> None:
        kill_helpers(self.port)
        super().kill()

    def close(self) -> None:
        for number in range(1, 10):
            self.go(number)
        super().close()


@pytest.mark.newer_slurm
@pytest.mark.parametrize(
    "name",
    [
        "a_job_is_adopted_by_its_name_after_a_crash",
        "a_job_that_is_submitted_held_begins_when_it_is_released",
        "a_job_that_ended_while_nobody_was_there_is_told",
    ],
)
def test_the_contract_holds_on_a_real_slurm(name: str, plain_cluster: Cluster, tmp_path: Path) -> None:
    bench = EmulatedBench(tmp_path)
    try:
        CONTRACT[name].tried(bench)
    finally:
        bench.close()
