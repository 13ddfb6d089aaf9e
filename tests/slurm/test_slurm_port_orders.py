"""The port's own orders on a real Slurm: jobs that are held until they are released, and clusters that are named (``-M``)."""

from __future__ import annotations

from pathlib import Path

import pytest
from slurm_cluster import Cluster
from slurm_port import port

pytestmark = pytest.mark.slurm


def test_a_held_job_starts_when_it_is_released_and_not_before(any_cluster: Cluster, tmp_path: Path) -> None:
    with port(tmp_path / "c", any_cluster) as opened:
        held, free = opened.order(any_cluster.name, 1, held=True), opened.order(any_cluster.name, 2)
        assert opened.wait(free, "completed").exit_status == 0
        assert opened.wait(held, "queued").message == "JobHeldUser (it is held)"
        assert opened.release(held) == [held.id]
        assert opened.wait(held, "completed").exit_status == 0
        kept = sorted((tmp_path / "c/outputs").rglob("*.out"))
        assert [path.read_text() for path in kept] == ["r000001\n", "r000002\n"]


def test_a_job_that_waits_may_be_kept_from_nodes_and_let_go_to_them_again(any_cluster: Cluster, tmp_path: Path) -> None:
    """As one is that probes a held queue: when it is released, and once more while it waits for the nodes that are left."""
    names = [f"n{number:03d}" for number in range(1, any_cluster.nodes + 1)]
    with port(tmp_path / "c", any_cluster) as opened:
        taken = any_cluster.sbatch("sleep 600", "--exclusive", "--nodelist=n002")
        any_cluster.wait_for_job(taken, "RUNNING")
        held = opened.order(any_cluster.name, 2, held=True)
        assert opened.wait(held, "queued").message == "JobHeldUser (it is held)"
        all_but_two = tuple(name for name in names if name != "n002")
        assert opened.release(held, exclude=all_but_two) == [held.id]
        opened.wait_until(lambda: opened.said[held.id].message != "JobHeldUser (it is held)", "it waits for n002")
        assert any_cluster.job(held.scheduler_id)["ExcNodeList"] != "(null)"
        assert opened.release(held, exclude=tuple(names[:3])) == [held.id]
        assert opened.wait(held, "completed").nodes in names[3:]
        any_cluster.run("scancel", taken)


def test_clusters_are_named_where_there_are_several_and_one_that_is_not_there_holds_up_no_other(
    accounting_cluster: Cluster, tmp_path: Path
) -> None:
    name = accounting_cluster.name
    with port(tmp_path / "c", accounting_cluster, "ghost") as opened:
        free, held = opened.order(name, 1), opened.order(name, 2, held=True)
        assert free.scheduler_id.endswith(f";{name}") and held.scheduler_id.endswith(f";{name}")
        assert opened.wait(free, "completed").exit_status == 0
        assert opened.release(held) == [held.id]
        assert opened.wait(held, "completed").exit_status == 0
        waits = opened.order(name, 3, held=True)
        opened.wait(waits, "queued")
        assert opened.scheduler.cancel([waits]) == [waits.id]
        opened.wait(waits, "cancelled")
