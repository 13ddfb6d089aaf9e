"""Records that more happened to than runs: acts, amendments, standing orders, snapshots, signatures; and packs of a cluster.

``make`` is the way in. Each story is told in a site that ``record_damages`` has made, by commands, as people would.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

KINDS = ("acted", "signed", "paused", "packed", "packs left")
OF_A_CLUSTER = ("packed", "packs left")
SEALED = ("sealed", "signed")
TIMEOUT_S = 240.0
PLAN = """plan: p
system: here
contract: deal
parties: {site: [Ada], vendor: [Bo]}
consent: [clock]
components:
  - functionality:
      tests: [ok, bad]
      repeats: 2
      criteria:
        passed: {measure: passed / wanted, must: "= 100%"}
        most: {measure: passed / attempts, must: ">= 100%", leave_out: [ruled site]}
  - performance:
      tests: [ok, slow]
      repeats: 3
      criteria: {rate: {measure: value, of: rate, statistic: median, must: ">= 1 MB/s", enough: 3}}
  - vendor:
      procedures: [{name: diag, about: every node, who: vendor, evidence: 1}]
"""
CONTRACT = """contract: deal
title: Supply of the machine
parties: {vendor: Iron, site: The Centre}
columns: [test, where, figure, must, basis]
rows:
  - [ok, {}, elapsed, "<= 60 s", contract]
  - [slow, {}, rate, ">= 3 MB/s", contract]
"""
# Snapshots are made every 100,000 events; here as often as small campaigns have some.
OFTEN = (
    "import sys; from shakedown.conductor.driver.snapshots import Snapshots; Snapshots.__init__.__defaults__ = (40,); "
    "from shakedown.cli.main import main; sys.argv = ['shakedown', *sys.argv[1:]]; main()"
)
WHO = ("--because", "so it was seen", "--by")


def can_have(kind: str) -> bool:
    """Whether this machine lets such a record come about."""
    if kind not in OF_A_CLUSTER:
        return shutil.which("ssh-keygen") is not None or kind != "signed"
    import slurm_cluster

    return not slurm_cluster.why_not()


def make(kind: str, site: Path) -> None:
    """Purpose: the record of that kind, as campaign p-1 of the site. Raises AssertionError where a command does not do its part."""
    if kind in OF_A_CLUSTER:
        _packs(site, leave=kind == "packs left")
        return
    (site / "contracts").mkdir()
    (site / "contracts/deal.yaml").write_text(CONTRACT)
    (site / "plans/p.yaml").write_text(PLAN)
    if kind == "paused":
        _paused(site)
    else:
        _acted(site)
    if kind == "signed":
        for name in ("ada", "bo"):
            key = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(site / name)]
            subprocess.run(key, check=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=TIMEOUT_S)
            _say(site, "seal", "p-1", "--by", name.title(), "--sign", str(site / name))


def _say(site: Path, *words: str, statuses: tuple[int, ...] = (0, 1, 4)) -> str:
    command = [sys.executable, "-c", OFTEN, *words]
    environment = os.environ | {"XDG_CACHE_HOME": str(site / ".cache"), "COLUMNS": "200"}
    done = subprocess.run(
        command, cwd=site, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    if done.returncode not in statuses:
        raise AssertionError(f"{' '.join(words)}: {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def _acted(site: Path) -> None:
    """Two runs are ruled, one ruling is taken back; a waiver, an amendment, a change, another look; then a second campaign."""
    _say(site, "run", "p", "-q")
    (site / "diag.log").write_text("all nodes: 4711 of 4711\n")
    _say(site, "attest", "vendor", "diag", "--met", "--evidence", "diag.log", *WHO, "Bo")
    _say(site, "resume", "p-1", "-q")
    _say(site, "rule", "r000002", "r000004", "--as", "site", *WHO, "Ada")
    _say(site, "waive", "functionality", "passed", "--restriction", "no bad", *WHO, "Ada")
    _say(site, "agree", _number(site, "waived"), *WHO, "Bo")
    _say(site, "change", *WHO, "Ada")
    plan = site / "plans/p.yaml"
    plan.write_text(plan.read_text().replace(">= 1 MB/s", ">= 2 MB/s").replace("repeats: 3", "repeats: 4"))
    _say(site, "amend", "p", "--campaign", "p-1", *WHO, "Ada")
    _say(site, "resume", "p-1", "-q")
    _say(site, "rule", "r000001", "--as", "harness", *WHO, "Ada")
    _say(site, "withdraw", "p-1", _number(site, "ruled"), *WHO, "Ada")
    _say(site, "rejudge", "--campaign", "p-1", *WHO, "Ada")
    _say(site, "report", "p-1", "--no-pdf")
    plan.write_text(PLAN)
    ran = (site / "truth").read_text()
    _say(site, "run", "p", "-q")
    (site / "truth").write_text(ran)  # both campaigns have a run r000001


def _number(site: Path, name: str) -> str:
    """The newest event of that name in p-1."""
    from shakedown.events.reader import read_events

    return str([event.seq for event in read_events(site / "campaigns/p-1/log") if event.event == name][-1])


def _paused(site: Path) -> None:
    """Its conductor is killed; a component is paused, a test capped, another component drained; nobody drives it since.

    It has more repeats than a busy machine ends before the conductor asks for evidence the third time: a component that is over is
    not drained.
    """
    plan = site / "plans/p.yaml"
    plan.write_text(PLAN.replace("repeats: 2", "repeats: 12"))
    crashing = [sys.executable, str(Path(__file__).with_name("crash_points.py"))]
    words = [*crashing, "collector.start:before", "3", "run", "p", "-q"]
    subprocess.run(words, cwd=site, capture_output=True, timeout=TIMEOUT_S, check=False)
    _say(site, "pause", "p-1", "--component", "performance", "--cause", "site", *WHO, "Ada")
    _say(site, "cap", "p-1", "ok", "1", *WHO, "Ada")
    _say(site, "drain", "p-1", "--component", "functionality", *WHO, "Ada")


def _packs(site: Path, leave: bool) -> None:
    """Two allocations of a Slurm of emulated nodes. ``leave``: the conductor is killed once parts have ended."""
    import slurm_cluster
    from slurm_campaigns import Campaign, Payload

    truth = "echo $SHAKEDOWN_RUN >>{campaign}/../../truth"
    for place in ("tests", "plans", "systems"):
        shutil.rmtree(site / place)
    (site / "site.yaml").unlink()
    payloads = (
        Payload("ok", "batch", f"{truth}; echo rate 17.25; echo 7 >answer"),
        Payload("bad", "batch", f"{truth}; echo 42 is wrong; exit 3"),
        Payload("slow", "batch", f"{truth}; sleep 1; echo rate 3.5"),
    )
    cluster = slurm_cluster.Cluster(site.parent / f"slurm-{site.name.replace(' ', '-')}", nodes=2).up()
    try:
        more = "      pack: {runs: 12, at_once: 2, allocations: 2}\n"
        with Campaign(cluster, site, payloads, repeats=6, more=more) as campaign:
            driver = campaign.start("run", "p", "-q")
            if leave:
                campaign.wait_until(lambda: len(campaign.events("verdict")) >= 4, "parts have ended", TIMEOUT_S)
                driver.kill()
            driver.wait(TIMEOUT_S)
    finally:
        cluster.down()
