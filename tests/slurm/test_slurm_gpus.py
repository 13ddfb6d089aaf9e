"""GPUs by GRES on a real cluster: ``init`` finds them, a test asks for them, and each rank is given its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from slurm_cluster import Cluster

TEST = """\
test: own-gpus
where: {partitions: [batch]}
parameters: {mode: [emulated]}
run:
  tasks_per_node: 2
  gpus_per_task: "{node.gpus // 2}"
  constraint: "{mode}"
  memory: 1 GiB
  options: [--comment=tried]
  directives: ["#BB create_persistent name=x"]
  time_limit: 2min
  launch: {mpi: none}
  command: |
    {launch} sh -c 'echo "rank $SLURM_PROCID has $CUDA_VISIBLE_DEVICES"'
    scontrol -o show job $SLURM_JOB_ID
check:
  - output contains "rank 0 has 0,1"
  - output contains "rank 1 has 2,3"
  - output matches "TresPerNode=gres[:/]gpu:4"
  - output contains "Features={mode} "
  - output contains "Comment=tried "
  - output contains "MinMemoryNode=1G "
"""
TOO_MANY = 'test: too-many\nwhere: {partitions: [batch]}\nrun: {gpus_per_node: 5, command: "true"}\n'
PLAN = "plan: gpus\nsystem: SYSTEM\ncomponents:\n  - functionality: {tests: [own-gpus]}\n"


@pytest.mark.newer_slurm
def test_each_rank_is_given_gpus_of_its_own(gpu_cluster: Cluster, tmp_path: Path) -> None:
    site = tmp_path / "site"
    gpu_cluster.said("init", "site", "--name", "lab", cwd=tmp_path)
    assert "gpus: {count: 4, model: a100}" in (site / "systems/lab.yaml").read_text()
    (site / "tests/own-gpus.yaml").write_text(TEST)
    (site / "tests/too-many.yaml").write_text(TOO_MANY)
    (site / "plans/gpus.yaml").write_text(PLAN.replace("SYSTEM", "lab"))
    listed = gpu_cluster.said("list", "cases", "--system", "lab", "--test", "too-many", cwd=site)
    assert "it takes 5 GPUs of a node" in " ".join(listed.split())

    said = gpu_cluster.said("run", "gpus", cwd=site)

    assert "1 passed / 1 wanted" in said, said
