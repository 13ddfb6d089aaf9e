"""Ranks in containers on a real cluster: each rank in one of its own, started by srun on several nodes, and MPI between them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from container_images import NAME, make_image
from slurm_cluster import Cluster

TEST = """\
test: inside
where: {partitions: [batch]}
build: {kernel: pairs}
run:
  nodes: 2
  tasks_per_node: 1
  container: {image: IMAGE, with: charliecloud, mounts: [/usr, "PREFIX"]}
  launch: {mpi: mpich}
  environment: {USER: root}
  time_limit: 3min
  command: |
    {launch} sh -c 'echo "$SLURMD_NODENAME: $(cat /etc/os-release)"'
    {launch} {build}/pairs --size 1KiB --window 1 --iterations 2
    {container} sh -c 'ls /var || echo "no directory of the node"'
check:
  - 'output matches "(?m)^n001: PRETTY_NAME=.IMAGES-OWN.$"'
  - 'output matches "(?m)^n002: PRETTY_NAME=.IMAGES-OWN.$"'
  - output contains "no directory of the node"
figures:
  bandwidth: {json: send.mean_mb_s, unit: MB/s, better: higher}
"""
PLAN = "plan: p\nsystem: lab\ncomponents:\n  - functionality: {tests: [inside]}\n"


def test_ranks_on_two_nodes_run_in_an_image(gpu_cluster: Cluster, tmp_path: Path) -> None:
    site = tmp_path / "site"
    image = make_image(tmp_path / "image", Path(sys.prefix), site, Path.home())
    gpu_cluster.said("init", "site", "--name", "lab", cwd=tmp_path)
    text = TEST.replace("IMAGES-OWN", NAME).replace("IMAGE", str(image)).replace("PREFIX", sys.prefix)
    (site / "tests/inside.yaml").write_text(text)
    (site / "plans/p.yaml").write_text(PLAN)

    said = gpu_cluster.said("run", "p", cwd=site)

    assert "1 passed / 1 wanted" in said, said
    (run,) = json.loads(gpu_cluster.said("runs", "--json", cwd=site))["judged"]
    assert run["figures"]["bandwidth"] > 0, "MPI between the containers of two nodes moved data"
