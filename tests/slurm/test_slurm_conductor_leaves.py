"""The conductor of a cluster's campaign is killed at named points, told to leave, hung up on: every job goes on, and runs once."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from crash_points import CRASHING, deadly_sbatch
from slurm_cluster import Cluster
from stories import SHAKEDOWN

from shakedown.events.lease import holder
from shakedown.events.reader import read_events
from shakedown.model.events import Event
from shakedown.model.layout import Layout

pytestmark = pytest.mark.slurm
RUNS = 6
# Each run says that it was executed, by its job, which the scheduler gives one number whatever becomes of us.
NAPS = """test: nap
parameters: {n: [1, 2, 3, 4, 5, 6]}
run: {command: 'echo "$SLURM_JOB_NAME {n}" >> {campaign}/../../executed; LASTS; echo done {n} > result', time_limit: 5min}
check:
  - file result contains "done"
"""
TOLD = "until [ -e {campaign}/../../go ]; do sleep 0.2; done"  # a run that ends when the test says so
PLAN = """plan: p
system: emu
components:
  - functionality:
      tests: [nap]
      criteria: {correct: {measure: correct / completed, must: "= 100%"}}
"""


class Campaign:
    """A site on a cluster, and its one campaign."""

    def __init__(self, cluster: Cluster, site: Path, lasts: str = "sleep 1") -> None:
        self.cluster, self.site, self.root = cluster, site, site / "campaigns/p-1"
        site.mkdir()
        self.command(*SHAKEDOWN, "init", ".", check=True)
        [system] = (site / "systems").iterdir()
        text = system.read_text().replace("# patience: {poll: 5s, grace: 60s,", "patience: {poll: 1s, grace: 3s,")
        assert "grace: 3s" in text
        system.write_text(text)
        (site / "tests/nap.yaml").write_text(NAPS.replace("LASTS", lasts))
        (site / "plans/p.yaml").write_text(PLAN.replace("emu", system.stem))

    def command(self, *words: str, check: bool = False, path: Path | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words, cwd=self.site, env=self._environment(path), capture_output=True, text=True, check=check, timeout=300
        )

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*SHAKEDOWN, *words],
            cwd=self.site,
            env=self._environment(None),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def _environment(self, path: Path | None) -> dict[str, str]:
        environment = self.cluster.environment
        return environment | {"PATH": f"{path}:{environment['PATH']}"} if path else environment

    def events(self, name: str = "") -> list[Event]:
        log = self.root / "log"
        return [event for event in read_events(log) if name in ("", event.event)] if log.exists() else []

    def executed(self) -> Counter[str]:
        file = self.site / "executed"
        return Counter(file.read_text().splitlines()) if file.exists() else Counter()

    def let_go(self) -> None:
        """Runs that last until they are told end now."""
        (self.site / "go").touch()

    def finish(self) -> None:
        """Resume it to its end: every run judged once, executed once, nothing of ours left at the scheduler."""
        done = self.command(*SHAKEDOWN, "resume", "p-1")
        assert done.returncode == 0, done.stderr
        verdicts = Counter(event.run for event in self.events("verdict"))
        assert set(verdicts.values()) == {1}
        passed = Counter(event.case for event in self.events("verdict") if event.value["verdict"] == "passed")
        assert sorted(passed.values()) == [1] * RUNS, [event.reason for event in self.events("verdict")]
        assert set(self.executed().values()) == {1}
        assert len({line.split()[1] for line in self.executed()}) == RUNS
        assert len(self.executed()) == len(self.events("verdict")), "a run that was judged again was executed again"
        assert self.cluster.squeue() == {}
        assert self.command(*SHAKEDOWN, "log", "p-1", "--verify").returncode == 0


def wait_until(holds: Callable[[], object]) -> None:
    end = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("point", "count"),
    [
        ("log.commit:before", 2),
        ("log.commit:after", 2),
        ("scheduler.submit:before", 1),
        ("scheduler.submit:after", 1),
        ("scheduler.submit:after", 2),
        ("scheduler.poll:after", 2),
        ("collector.start:before", 1),
        ("collector.start:after", 1),
        ("collector.poll:after", 4),
    ],
)
def test_killed_at_a_port_call(plain_cluster: Cluster, tmp_path: Path, point: str, count: int) -> None:
    campaign = Campaign(plain_cluster, tmp_path / "site")
    killed = campaign.command(*CRASHING, point, str(count), "run", "p")
    assert killed.returncode in (-signal.SIGKILL, 0), killed.stderr
    if killed.returncode == 0:
        assert (point, count) == ("scheduler.submit:after", 2), "all were submitted at once"
        return
    campaign.finish()


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("count", [1, 3])
def test_killed_around_one_sbatch(accounting_cluster: Cluster, tmp_path: Path, when: str, count: int) -> None:
    campaign = Campaign(accounting_cluster, tmp_path / "site")
    real = shutil.which("sbatch")
    assert real is not None
    calls = deadly_sbatch(tmp_path / "bin", real, campaign.root, when, count)  # type: ignore[arg-type]
    killed = campaign.command(*SHAKEDOWN, "run", "p", path=tmp_path / "bin")
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert len(list(calls.iterdir())) >= count
    campaign.finish()


def test_killed_after_the_claim_and_away_until_all_is_over(forgetful_cluster: Cluster, tmp_path: Path) -> None:
    """What ended meanwhile is forgotten by Slurm's queue; the marks tell."""
    campaign = Campaign(forgetful_cluster, tmp_path / "site")
    process = campaign.start("run", "p")
    wait_until(lambda: len(campaign.executed()) >= 2)
    process.kill()
    process.communicate()
    wait_until(lambda: len(campaign.executed()) == len(campaign.events("submit_order")))
    wait_until(lambda: not forgetful_cluster.squeue("-t", "all"))
    campaign.finish()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_told_to_leave_it_leaves_at_once_and_the_jobs_go_on(
    plain_cluster: Cluster, tmp_path: Path, number: signal.Signals
) -> None:
    campaign = Campaign(plain_cluster, tmp_path / "site", lasts=TOLD)
    process = campaign.start("run", "p")
    wait_until(lambda: sum(e.value.get("state") == "running" for e in campaign.events("job_report")) == RUNS)
    process.send_signal(number)
    _, said = process.communicate(timeout=100)

    assert process.returncode == 4
    words = "6 jobs (6 running) at the scheduler: they go on without us, and whoever resumes the campaign picks them up"
    assert words in said
    assert "shakedown resume p-1" in said
    assert campaign.events("driver_stop")[0].reason.endswith(words)
    assert set(plain_cluster.squeue().values()) == {"RUNNING"}
    assert len(plain_cluster.squeue()) == RUNS
    assert campaign.events("verdict") == []
    assert campaign.events("cancel_order") == []
    held = holder(Layout(campaign.root))
    assert held is None, "the lease is free at once"
    campaign.let_go()
    campaign.finish()


def test_ctrl_c_once_waits_for_the_jobs_twice_leaves_them(plain_cluster: Cluster, tmp_path: Path) -> None:
    campaign = Campaign(plain_cluster, tmp_path / "site", lasts=TOLD)
    process = campaign.start("run", "p")
    wait_until(lambda: sum(e.value.get("state") == "running" for e in campaign.events("job_report")) == RUNS)
    process.send_signal(signal.SIGINT)
    wait_until(lambda: campaign.events("stop_request"))
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=100)
    assert process.returncode == 4
    assert "6 jobs (6 running) may end (Ctrl-C again to leave at once; they go on without us)" in said

    process = campaign.start("resume", "p-1")
    wait_until(lambda: len(campaign.events("driver_start")) == 2)
    process.send_signal(signal.SIGINT)
    resumed = campaign.events("driver_start")[-1].seq
    wait_until(lambda: campaign.events("stop_request")[-1].seq > resumed)
    assert campaign.events("verdict") == []
    campaign.let_go()
    process.communicate(timeout=100)
    assert process.returncode == 0, "with the last job the plan was over"
    campaign_is_over = campaign.command(*SHAKEDOWN, "resume", "p-1", "--if-needed")
    assert (campaign_is_over.returncode, campaign_is_over.stderr) == (0, "")
    assert set(campaign.executed().values()) == {1}


def test_a_run_is_shown_and_exported_with_all_that_it_left(plain_cluster: Cluster, tmp_path: Path) -> None:
    campaign = Campaign(plain_cluster, tmp_path / "site")
    assert campaign.command(*SHAKEDOWN, "run", "p").returncode == 0
    run = campaign.events("verdict")[0].run
    shown = campaign.command(*SHAKEDOWN, "show", "run", run).stdout
    assert "# ---- job.sh" in shown
    assert "# ---- payload.sh" in shown
    assert f"files: {campaign.root}/work/000/j00000" in shown

    exported = campaign.command(*SHAKEDOWN, "export", run, str(tmp_path / "out"))
    assert exported.returncode == 0, exported.stderr
    job = campaign.events("verdict")[0].job
    kept = campaign.root / "jobs/000" / job / "job.sh"
    assert (tmp_path / "out/job.sh").read_text() == kept.read_text(), "what ran is what is shown"
    [payload] = {path.read_text() for path in (campaign.root / "payloads").iterdir()} & {
        (tmp_path / "out/payload.sh").read_text()
    }
    assert "sleep 1" in payload
    assert {path.name for path in (tmp_path / "out").iterdir()} >= {"output", "environment", "events.jsonl"}
    assert os.listdir(campaign.root / "work/000")  # noqa: PTH208
