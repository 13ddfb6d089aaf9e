"""The campaign's file system is full under a pack: what each payload did is told by a file on another one."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from slurm_campaigns import Campaign, Payload
from slurm_cluster import Cluster
from slurm_disturbed import wait_until

pytestmark = pytest.mark.slurm
NODES = ("n001", "n002")
PASSED = ("passed", "exit status 0")
# A line at the start and one at the end of each payload: host, job, restart, run.
TOLD = (
    "echo {word} {name} $(cat /proc/sys/kernel/hostname) $SLURM_JOB_ID $SHAKEDOWN_RESTART $SHAKEDOWN_RUN >>{site}/truth"
)
FILL = "dd if=/dev/zero of={{campaign}}/ballast.{name} bs=4k 2>/dev/null"
FULL = "the campaign's file system was full or away when it ended"


@pytest.fixture
def small_site(fault_cluster: Cluster, tmp_path: Path) -> Iterator[Path]:
    """A site whose campaigns lie on a small file system, which the first two nodes see: they are booted with it."""
    site = tmp_path / "site"
    (site / "campaigns").mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", str(site / "campaigns")], check=True)
    try:
        for node in NODES:
            fault_cluster.fault("power-off", node)
            fault_cluster.fault("power-on", node)
        for node in NODES:
            fault_cluster.wait_for_node(node, "idle")
        yield site
    finally:
        subprocess.run(["umount", "-l", str(site / "campaigns")], check=True)
        for node in NODES:
            fault_cluster.fault("power-off", node)
            fault_cluster.fault("power-on", node)


def payload(site: Path, name: str, place: str, text: str) -> Payload:
    begin, end = (TOLD.format(word=word, name=name, site=site) for word in ("begin", "end"))
    return Payload(name, place, f"{begin}\n{text.format(name=name, site=site)}\ns=$?\n{end}\nexit $s")


def told(site: Path) -> list[str]:
    """Which payloads began and ended, by their own words."""
    file = site / "truth"
    return [" ".join(line.split()[:2]) for line in file.read_text().splitlines()] if file.exists() else []


def fills(site: Path, place: str) -> Payload:
    """At its first attempt it fills the disk and fails, as a program does whose output finds no room."""
    return payload(site, "fills", place, f"if [ $attempt = 1 ]; then {FILL}; touch {{site}}/full; false; fi")


def make_room(site: Path) -> None:
    for ballast in (site / "campaigns").glob("*/ballast.*"):
        ballast.unlink()


def test_a_pack_on_a_full_disk_while_nobody_drives(fault_cluster: Cluster, small_site: Path) -> None:
    """The first part fills it and fails. What was never claimed waits again and spends no attempt; resume says what to do."""
    site = small_site
    payloads = [fills(site, "n001"), *(payload(site, name, "n001", "true") for name in ("b", "c"))]
    pack = "      pack: {runs: 3, at_once: 1}\n"
    fault_cluster.fault("drain", "n001", "until nobody drives")
    with Campaign(fault_cluster, site, payloads, more=pack) as campaign:
        campaign.start()
        campaign.wait_until(lambda: campaign.events("submit_accepted"), "the pack waits")
        assert campaign.driver is not None
        campaign.driver.kill()
        campaign.driver.wait()
        fault_cluster.fault("resume", "n001")
        wait_until(lambda: (site / "full").exists() and not fault_cluster.squeue(), "the job is over")
        assert told(site) == ["begin fills", "end fills"]
        refused = campaign.command("resume", "p-1")
        assert refused.returncode == 4 and "No space left on device\nhint: make room" in refused.stderr, refused.stderr
        make_room(site)
        campaign.start("resume", "p-1")
        campaign.end()
        [first, second] = campaign.verdicts().pop("fills")
        assert first[0] == "undetermined" and FULL in first[1], campaign.tale()
        assert {second, *(one for name in ("b", "c") for one in campaign.verdicts()[name])} == {PASSED}, campaign.tale()
        attempts = {(campaign.name(event), event.value["attempt"]) for event in campaign.events("submit_order")}
        assert attempts == {("fills", 1), ("b", 1), ("c", 1), ("fills", 2)}
        assert sorted(told(site)) == sorted(
            ["begin fills", "end fills"] * 2 + ["begin b", "end b", "begin c", "end c"]
        ), "by the payloads' own words"
