"""What people and sites do that nobody expects: odd paths, copies, changed and held jobs, clocks, directories that vanish."""

from __future__ import annotations

import shutil
import signal
import struct
import subprocess
from pathlib import Path

import pytest
from slurm_campaigns import LIMIT_S, PATIENCE, Campaign, Payload
from slurm_cluster import Cluster
from stories import SHAKEDOWN

pytestmark = pytest.mark.slurm
IMPATIENT = PATIENCE.replace("lost_after: 40s", "lost_after: 5s").replace("dead_after: 5s", "dead_after: 2s")
PASSED = [("passed", "exit status 0")]
OWN_CONTROL = "control={campaign}/jobs/000/${{SLURM_JOB_NAME##*-}}\n"
CLOCK = Path(__file__).parent / "emulation/clock_step.c"


@pytest.mark.parametrize("name", ["sp ace 'q\" %j %%x $HOME `id`", "back\\slash %j \\\\x", "new\nline [1-3] ünïcødé"])
def test_a_directory_that_slurm_would_read_otherwise(accounting_cluster: Cluster, tmp_path: Path, name: str) -> None:
    with Campaign(accounting_cluster, tmp_path / name, [Payload("a", "n001", "pwd")]) as campaign:
        campaign.start()
        campaign.end()
        assert campaign.verdicts() == {"a": PASSED}
        assert len(list(campaign.root.glob("jobs/000/*/slurm.out"))) == 1, (
            "Slurm's own words are where they are looked for"
        )


def test_held_late_and_meddling_payloads(accounting_cluster: Cluster, tmp_path: Path) -> None:
    """A person holds a job; one runs far past its own limit, within Slurm's; one removes its claim, one makes its marks junk.

    Whoever writes his own marks does not pass by them.
    """
    early = "an end mark was there before its payload ended: somebody else wrote it"
    unknown = ("undetermined", f"could not be judged: {early}; the result is attempted again while there is time")
    payloads = [
        Payload("late", "n001", "sleep 16", limit="5s"),
        Payload("held", "n001", "true"),
        Payload("unclaimed", "n002", OWN_CONTROL + "rm $control/claim.0; exit 5"),
        Payload("junk", "n003", OWN_CONTROL + "head -c 300000 /dev/urandom >$control/marks.0"),
        Payload("liar", "n004", OWN_CONTROL + "touch $control/marks.99999; mkdir $control/claim.777; exit 6"),
    ]
    with Campaign(accounting_cluster, tmp_path / "site", payloads, patience=IMPATIENT) as campaign:
        accounting_cluster.fault("drain", "n001", "until one of its jobs is held")
        campaign.start()
        campaign.wait_until(lambda: campaign.job("held") and campaign.job("late"), "both are submitted")
        accounting_cluster.run("scontrol", "hold", campaign.job("held"))
        accounting_cluster.fault("resume", "n001")
        wanted = "held@n001: the scheduler has it in its queue: JobHeld"
        campaign.wait_until(lambda: wanted in campaign.command("status", "p-1").stdout, "status says that it is held")
        accounting_cluster.run("scontrol", "release", campaign.job("held"))
        campaign.end()
        assert campaign.verdicts() == {
            "late": PASSED,
            "held": PASSED,
            "unclaimed": [("failed", "exit status 5: its claim was changed or removed while it ran")],
            "junk": [unknown, unknown, ("failed", f"{early}; it is attempt 3, so that is taken for its own doing")],
            "liar": [("failed", "exit status 6")],
        }
        assert sorted(campaign.executions().values()) == [1, 1, 1, 1, 3], "the one that is not believed runs again"


def test_a_copy_of_a_running_campaign_touches_none_of_its_jobs(accounting_cluster: Cluster, tmp_path: Path) -> None:
    with Campaign(accounting_cluster, tmp_path / "site", [Payload("a", "n001", "sleep 6")]) as campaign:
        campaign.start()
        campaign.wait_running("a")
        shutil.copytree(campaign.site, tmp_path / "copy")
        for file in (
            tmp_path / "copy/campaigns/p-1/lease"
        ).iterdir():  # as if the copy had been made while nobody drove
            if file.name != "log-end":
                file.unlink()
        copied = subprocess.run(
            [*SHAKEDOWN, "resume", "p-1"],
            cwd=tmp_path / "copy",
            env=accounting_cluster.environment,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
        assert copied.returncode == 2
        assert f"is a copy of the campaign in {campaign.root}, and the jobs of both" in copied.stderr
        campaign.end()
        assert campaign.verdicts() == {"a": PASSED}


@pytest.mark.newer_slurm
def test_a_campaign_that_is_moved_while_a_pack_waits_spends_no_attempt(
    accounting_cluster: Cluster, tmp_path: Path
) -> None:
    """Slurm 22.05 cannot open the job's output where the campaign was, 24.11 makes a directory there, and no campaign is in it."""
    payloads = [Payload(name, "n001", "true") for name in ("a", "b", "c")]
    pack = "      pack: {runs: 3}\n"
    with Campaign(accounting_cluster, tmp_path / "site", payloads, more=pack) as campaign:
        accounting_cluster.fault("drain", "n001", "until the campaign is elsewhere")
        campaign.start()
        campaign.wait_until(lambda: len(campaign.events("submit_accepted")) == 1, "the pack waits")
        assert campaign.driver is not None
        campaign.driver.kill()
        campaign.driver.wait()
        campaign.root = campaign.root.rename(campaign.root.with_name("moved-1"))
        number = campaign.job("a") or campaign.events("submit_accepted")[0].value["id"]
        accounting_cluster.fault("resume", "n001")
        assert accounting_cluster.wait_for_job(str(number)) == "FAILED"
        campaign.start("resume", "moved-1")
        assert campaign.driver.wait(LIMIT_S) == 0, campaign.tale()
        assert campaign.verdicts() == dict.fromkeys(("a", "b", "c"), PASSED)
        assert campaign.executions() == {"a": 1, "b": 1, "c": 1}
        attempts = [event.value["attempt"] for event in campaign.events("submit_order")]
        assert set(attempts) == {1}
        assert not [event for event in campaign.events("finding") if event.value["kind"] == "queue_held"]


def test_a_conductor_that_was_stopped_finds_another_in_its_place(accounting_cluster: Cluster, tmp_path: Path) -> None:
    payloads = [Payload(name, "n001", "sleep 3") for name in ("a", "b", "c")]
    with Campaign(accounting_cluster, tmp_path / "site", payloads) as campaign:
        first = campaign.start()
        campaign.wait_running("a")
        first.send_signal(signal.SIGSTOP)
        try:
            campaign.start("resume", "p-1", "--take-over")
            campaign.wait_until(lambda: len(campaign.events("driver_start")) == 2, "the second drives")
        finally:
            first.send_signal(signal.SIGCONT)
        assert first.wait(LIMIT_S) == 2
        assert "this conductor lost campaign p-1" in (campaign.site / "said").read_text()
        campaign.end()
        assert campaign.verdicts() == dict.fromkeys(("a", "b", "c"), PASSED)
        assert set(campaign.executions().values()) == {1}


def test_the_conductors_clock_steps_and_its_directory_is_removed(accounting_cluster: Cluster, tmp_path: Path) -> None:
    library, offset, here = tmp_path / "clock.so", tmp_path / "offset", tmp_path / "here"
    offset.write_bytes(struct.pack("q", 0))
    compile_it = ["cc", "-shared", "-fPIC", f'-DOFFSET_FILE="{offset}"', str(CLOCK), "-o", str(library), "-ldl"]
    subprocess.run(compile_it, check=True)
    here.mkdir()

    def step(seconds: int) -> None:
        with offset.open("r+b") as file:
            file.write(struct.pack("q", seconds * 10**9))

    payloads = [Payload("a", "n001", "sleep 4"), Payload("b", "n001", "sleep 6"), Payload("c", "n001", "true")]
    with Campaign(accounting_cluster, tmp_path / "site", payloads) as campaign:
        campaign.driver = subprocess.Popen(
            [*SHAKEDOWN, "run", "p", "--site", str(campaign.site)],
            cwd=here,
            env={**accounting_cluster.environment, "LD_PRELOAD": str(library)},
            stdout=subprocess.DEVNULL,
            stderr=(campaign.site / "said").open("w"),
            text=True,
        )
        campaign.wait_running("a")
        here.rmdir()
        step(7200)
        campaign.wait_verdict("a")
        step(-7200)
        campaign.end()
        assert campaign.verdicts() == dict.fromkeys(("a", "b", "c"), PASSED)
        assert set(campaign.executions().values()) == {1}
