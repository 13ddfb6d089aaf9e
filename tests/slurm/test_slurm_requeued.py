"""Jobs that Slurm starts again while nobody looks, or when all is over: what is done is done once, and nothing runs unrecorded."""

from __future__ import annotations

import signal
from pathlib import Path

from slurm_campaigns import Campaign, Payload
from slurm_cluster import Cluster

PASSED = ("passed", "exit status 0")


def shown(campaign: Campaign, name: str, key: str) -> str:
    """What Slurm says of the newest job of a test."""
    words = campaign.cluster.run("scontrol", "-o", "show", "job", campaign.job(name)).split()
    return next(word.partition("=")[2] for word in words if word.startswith(f"{key}="))


def is_over(campaign: Campaign, name: str, restart: int) -> bool:
    return int(shown(campaign, name, "Restarts")) >= restart and shown(campaign, name, "JobState") in (
        "COMPLETED",
        "FAILED",
    )


def test_a_node_that_was_out_of_reach_while_nobody_looked(fault_cluster: Cluster, tmp_path: Path) -> None:
    """The conductor is gone, slurmd too; the payloads go on. One ends before its restart begins, the other does not."""
    cluster = fault_cluster
    payloads = [
        Payload(
            "outlived", "batch", "until [ -e {campaign}/../../go ]; do sleep 0.2; done", requeue=True, limit="3min"
        ),
        Payload("overtaken", "batch", "[ $attempt -gt 1 ] || sleep 120", requeue=True, limit="3min"),
        Payload("status", "batch", "exit 3", requeue=True),
    ]
    with Campaign(cluster, tmp_path / "site", payloads) as campaign:
        campaign.start()
        campaign.wait_running()
        campaign.wait_verdict("status")
        driver = campaign.driver
        assert driver is not None
        driver.send_signal(signal.SIGTERM)
        driver.wait(60)
        campaign.driver = None
        lost = {shown(campaign, name, "NodeList") for name in ("outlived", "overtaken")}
        for node in lost:
            cluster.fault("kill-slurmd", node)
        campaign.wait_until(lambda: shown(campaign, "outlived", "Restarts") == "1", "Slurm gave the node up")
        (campaign.site / "go").touch()
        for name in ("outlived", "overtaken"):
            campaign.wait_until(lambda name=name: is_over(campaign, name, 1), f"{name} was started again")  # type: ignore[misc]
        for node in lost:
            cluster.fault("start-slurmd", node)
        campaign.start("resume", "p-1")
        campaign.end()

        verdicts = campaign.verdicts()
        assert verdicts["outlived"] == [PASSED], campaign.tale()
        assert [verdict for verdict, _ in verdicts["overtaken"]] == ["node_fail", "passed"], campaign.tale()
        [again] = [event for event in campaign.events("finding") if event.value["kind"] == "started_again"]
        assert again.value["cause"] == "node_fail" and set(again.value["failed_nodes"]) <= lost
        assert campaign.executions() == {"outlived": 1, "overtaken": 2, "status": 1}

        campaign.driver = None
        restarts = {name: int(shown(campaign, name, "Restarts")) + 1 for name in campaign.payloads}
        for name in restarts:
            cluster.run("scontrol", "requeue", campaign.job(name))
        for name, restart in restarts.items():
            campaign.wait_until(
                lambda name=name, restart=restart: is_over(campaign, name, restart),  # type: ignore[misc]
                f"{name} was started once more",
            )
        assert campaign.executions() == {"outlived": 1, "overtaken": 2, "status": 1}, "nothing is done twice"


def test_a_job_that_is_requeued_has_its_input_directory_as_the_site_has_it(
    plain_cluster: Cluster, tmp_path: Path
) -> None:
    """Its first start writes into it, and puts a file in the place of one."""
    command = """ls -R case >found
echo $attempt >case/out; echo $attempt >case/100/new; mv case/100/new case/100/U
touch {campaign}/../../written
[ $attempt -gt 1 ] || sleep 100"""
    payload = Payload("solve", "n002", command, requeue=True, limit="3min")
    with Campaign(plain_cluster, tmp_path / "site", [payload], retry="interrupted: 1") as campaign:
        case = campaign.site / "tests/in/case"
        (case / "100").mkdir(parents=True)
        (case / "100/U").write_text("initial\n")
        test = campaign.site / "tests/solve.yaml"
        test.write_text(test.read_text().replace("run:\n", "run:\n  files: [in/case]\n"))
        campaign.start()
        campaign.wait_until(lambda: (campaign.site / "written").exists(), "its first start has written")
        campaign.cluster.run("scontrol", "requeue", campaign.job("solve"))
        campaign.end()
        back = ("interrupted", "the scheduler put it back into the queue (restart 1)")
        assert campaign.verdicts()["solve"] == [back, PASSED], campaign.tale()
        written = sorted((campaign.root / "work").glob("**/case/100/U"))
        assert [path.read_text() for path in written] == ["1\n", "2\n"]
        found = [path.read_text() for path in (campaign.root / "work").glob("**/found")]
        assert found == ["case:\n100\n\ncase/100:\nU\n"] * 2
        assert [path.name for path in sorted(case.glob("**/*"))] == ["100", "U"]
        assert (case / "100/U").read_text() == "initial\n"
