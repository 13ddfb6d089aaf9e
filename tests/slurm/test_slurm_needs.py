"""A chain of tests on a real cluster: each job is submitted when what it needs has passed, and has the files of that run."""

from __future__ import annotations

from pathlib import Path

from slurm_cluster import Cluster

from shakedown.events.reader import read_events
from shakedown.model.events import Event

TESTS = {
    "make-mesh": """\
test: make-mesh
where: {partitions: [batch]}
parameters: {size: [3, 4]}
run: {time_limit: 2min, launch: {mpi: none}, command: "test {size} = 3 && seq {size} > mesh.txt"}
""",
    "solve": """\
test: solve
where: {partitions: [batch]}
needs: {test: make-mesh, files: ["*.txt"], into: mesh}
parameters: {size: [3, 4], how: [link, copy]}
run: {stage: "{how}", time_limit: 2min, launch: {mpi: none}, command: "wc -l < mesh/mesh.txt > {how}.txt; ls -l mesh"}
""",
    "compare": """\
test: compare
where: {partitions: [batch]}
needs:
  - {test: solve, where: {how: link}, files: [link.txt]}
  - {test: solve, where: {how: copy}, files: [copy.txt]}
parameters: {size: [3, 4]}
run: {time_limit: 2min, launch: {mpi: none}, command: "cat link.txt copy.txt"}
check: ['output contains "{size}"']
""",
}
PLAN = "plan: chain\nsystem: lab\ncomponents:\n  - functionality: {tests: [compare, solve, make-mesh]}\n"


def test_a_chain_runs_in_its_order_with_its_files(plain_cluster: Cluster, tmp_path: Path) -> None:
    site = tmp_path / "site"
    assert plain_cluster.shakedown("init", "site", "--name", "lab", cwd=tmp_path).returncode == 0
    for test, text in TESTS.items():
        (site / f"tests/{test}.yaml").write_text(text)
    (site / "plans/chain.yaml").write_text(PLAN)

    run = plain_cluster.shakedown("run", "chain", cwd=site)
    assert run.returncode == 1, run.stdout + run.stderr

    events = list(read_events(site / "campaigns/chain-1/log"))
    verdicts = {name(event): event for event in events if event.event == "verdict"}
    assert len(verdicts) == 8, run.stdout + run.stderr
    for case, event in verdicts.items():
        expected = "passed" if "size=3" in case else "failed" if case.startswith("make-mesh") else "not_run"
        assert event.value["verdict"] == expected, (case, event.reason)
    orders = {name(event): event for event in events if event.event == "submit_order"}
    assert sum("size=4" in case for case in orders) == 1, "only the mesh itself was submitted"
    for case, needs in (
        ("solve/size=3,how=link", ["make-mesh/size=3"]),
        ("compare/size=3", ["solve/size=3,how=link", "solve/size=3,how=copy"]),
    ):
        assert all(verdicts[needed].seq < orders[case].seq for needed in needs)
        assert given(orders[case]) == [verdicts[needed].run for needed in needs]
    for how in ("link", "copy"):
        there = verdicts[f"solve/size=3,how={how}"].value["output"]["directory"]
        mesh = site / "campaigns/chain-1" / there / "mesh/mesh.txt"
        assert mesh.read_text() == "1\n2\n3\n" and mesh.is_symlink() == (how == "link")


def name(event: Event) -> str:
    """Its case, without the partition."""
    return event.case.replace("@batch", "")


def given(order: Event) -> list[str]:
    """The runs whose files a run was given; each left some."""
    assert all(handed["files"] for handed in order.value["handed"])
    return [handed["run"] for handed in order.value["handed"]]
