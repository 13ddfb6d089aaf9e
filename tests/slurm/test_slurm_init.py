"""``shakedown init`` on a real cluster: what it writes passes ``check``, in each configuration of Slurm."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from slurm_cluster import Cluster


@pytest.mark.newer_slurm
def test_what_init_writes_of_any_cluster_passes_check(any_cluster: Cluster, tmp_path: Path) -> None:
    from shakedown.plans import read_system

    done = any_cluster.shakedown("init", "site", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    checked = any_cluster.shakedown("check", cwd=tmp_path / "site")
    assert checked.returncode == 0, checked.stderr + checked.stdout
    system = read_system(tmp_path / "site" / "systems" / f"{answer['system']}.yaml")
    names = {partition.name: partition for partition in system.partitions()}
    assert list(names) == ["batch", "low", "urgent", "debug"]
    assert names["debug"].count == 2
    assert names["debug"].time_limit_s == 1800
    assert system.node_types[0].cores == 16
    assert system.clusters[0].licences == (("mds", 8.0), ("scratch", 4.0))
    cases = any_cluster.shakedown("list", "cases", "--plan", "first", cwd=tmp_path / "site").stdout
    assert "hello-world/greeting=hello@batch" in cases
    assert "only where a test or a plan names them: low (nodes of batch)" in cases


def test_a_limit_on_jobs_is_found(limited_cluster: Cluster, tmp_path: Path) -> None:
    done = limited_cluster.shakedown("init", "site", cwd=tmp_path)
    assert "at most 20 jobs at once" in done.stdout, done.stderr


def test_a_drained_node_is_part_of_the_machine_and_said(fault_cluster: Cluster, tmp_path: Path) -> None:
    fault_cluster.fault("drain", "n002")
    done = fault_cluster.shakedown("init", "site", "--name", "lab", cwd=tmp_path)
    assert "look at out of service now: n002: idle+drain (" in done.stdout, done.stderr
    text = (tmp_path / "site/systems/lab.yaml").read_text()
    assert '"n[001-008]"' in text
    assert "#   n002: idle+drain (" in text


def test_a_controller_that_is_gone(fault_cluster: Cluster, tmp_path: Path) -> None:
    fault_cluster.fault("kill-slurmctld")
    done = fault_cluster.shakedown("init", "site", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: Slurm does not answer: 'scontrol show config': ")
    assert done.stderr.endswith("or describe this machine alone with: shakedown init --local\n")
    assert not (tmp_path / "site").exists()
