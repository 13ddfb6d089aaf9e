"""The port with its two processes, over commands that a test wrote: answers, hang-ups, deaths."""

from __future__ import annotations

import os
import signal
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from fake_slurm import cluster

from shakedown.model.layout import Layout
from shakedown.model.nouns import Case, Patience, Shape
from shakedown.model.ports import JobOrder, JobReport
from shakedown.processes.reactor import Reactor
from shakedown.schedulers.slurm import SlurmScheduler

PATIENCE_S = 60.0
CASE = Case("c", "t", "emu:batch", shape=Shape(time_limit_s=30.0), script="true")


@dataclass
class View:
    id: str
    run: str = "r000001"
    scheduler_id: str = ""
    restart: int = 0


class Site:
    """Commands in a folder of their own, and a scheduler that finds them first."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.commands = root / "bin"
        self.commands.mkdir()
        self.calls = root / "calls"
        self.campaign = root / "campaign"
        self.campaign.mkdir()
        self.reactor = Reactor()
        monkeypatch.setenv("PATH", f"{self.commands}:{os.environ['PATH']}")
        for name in ("squeue", "sacct", "scancel", "scontrol", "sinfo", "sbatch"):
            self.write(name, "exit 0")
        self._schedulers: list[SlurmScheduler] = []

    def write(self, name: str, script: str) -> None:
        """A command of Slurm. Renamed into place: it may be running."""
        draft = self.commands / f".{name}"
        draft.write_text(f"#!/bin/sh\necho {name} >>{self.calls}\n{script}\n")
        draft.chmod(draft.stat().st_mode | stat.S_IXUSR)
        draft.replace(self.commands / name)

    def open(self, command_s: float = 20.0, look_s: float = 60.0, patience_s: float = 30.0) -> SlurmScheduler:
        quick = cluster(patience=Patience(poll_s=0.05))
        scheduler = SlurmScheduler(Layout(self.campaign), self.reactor, [quick], command_s, look_s, patience_s)
        self._schedulers.append(scheduler)
        return scheduler

    def wait(self, scheduler: SlurmScheduler, jobs: dict[str, View], until: Callable[[JobReport], bool]) -> JobReport:
        """Poll as the loop does, until there is such a report."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            for report in scheduler.poll(jobs):
                if until(report):
                    return report
            self.reactor.wait(self.reactor.now() + 1.0)
        raise AssertionError("no such report came")

    def count(self, name: str) -> int:
        return self.calls.read_text().split().count(name) if self.calls.exists() else 0

    def close(self) -> None:
        for scheduler in self._schedulers:
            scheduler.close()
        self.reactor.close()


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    site = Site(tmp_path, monkeypatch)
    yield site
    site.close()


def orders(count: int) -> list[JobOrder]:
    return [JobOrder(f"j{number:06}", f"r{number:06}", CASE) for number in range(1, count + 1)]


def queue_of(state: str) -> str:
    """A squeue that shows each of our jobs that was submitted."""
    return f"exec printf '7\\037sd-'\"$(cat {{token}})\"'-j000001\\037{state}\\037None\\037n001\\0370\\0370\\03750\\03760\\037\\n'"


def test_a_batch_is_submitted_and_everyone_answered_for_himself(site: Site) -> None:
    site.write(
        "sbatch", 'for word; do :; done; case $word in *j000003*) echo "sbatch: error: nope" >&2; exit 1;; esac; echo 7'
    )
    answers = site.open().submit(orders(5))
    assert [answer.outcome for answer in answers] == ["accepted", "accepted", "refused", "accepted", "accepted"]
    assert [answer.job for answer in answers] == [order.job for order in orders(5)]
    assert answers[2].message == "nope" and not answers[2].transient


def test_when_nobody_is_there_the_rest_is_not_asked_for(site: Site) -> None:
    site.write("sbatch", 'echo "sbatch: error: Unable to contact slurm controller (connect failure)" >&2; exit 1')
    scheduler = site.open()
    answers = scheduler.submit(orders(50))
    assert all(answer.outcome == "refused" and answer.transient for answer in answers)
    assert site.count("sbatch") <= 8
    assert scheduler.calls()["sbatch"] == site.count("sbatch")


def test_an_sbatch_that_hangs_may_have_been_accepted_and_the_rest_was_not_tried(site: Site) -> None:
    site.write("sbatch", "sleep 1000")
    started = time.monotonic()
    answers = site.open(patience_s=1.0).submit(orders(20))
    assert time.monotonic() - started < PATIENCE_S
    unknown = [answer for answer in answers if answer.outcome == "unknown"]
    assert len(unknown) == site.count("sbatch") > 0
    assert all(answer.transient for answer in answers if answer.outcome != "unknown")


def test_what_it_says_late_is_reported(site: Site) -> None:
    site.write("sbatch", f"while [ ! -e {site.campaign}/go ]; do sleep 0.1; done; echo 7")
    scheduler = site.open(patience_s=0.5)
    first, second = scheduler.submit(orders(2))
    assert {first.outcome, second.outcome} == {"unknown"}
    scheduler.cancel([View("j000009")])  # it goes on answering meanwhile
    (site.campaign / "go").touch()
    report = site.wait(scheduler, {"j000001": View("j000001")}, lambda r: r.scheduler_id == "7")
    assert (report.job, report.state) == ("j000001", "queued")


def test_a_directory_that_cannot_be_made_is_a_refusal_of_that_order(site: Site) -> None:
    (site.campaign / "jobs").write_text("in the way")
    site.write("sbatch", "echo 7")
    (answer,) = site.open().submit(orders(1))
    assert answer.outcome == "refused" and "r000001" in answer.message
    assert site.count("sbatch") == 0


def test_a_look_arrives_by_itself(site: Site) -> None:
    scheduler = site.open()
    site.write("squeue", queue_of("RUNNING").format(token=site.campaign / "token"))
    report = site.wait(scheduler, {"j000001": View("j000001")}, lambda r: True)
    assert (report.state, report.scheduler_id, report.nodes, report.began) == ("running", "7", "n001", 50.0)
    assert scheduler.calls()["squeue"] >= 1


def test_a_look_that_hangs_is_no_answer_and_the_next_one_finds_out(site: Site) -> None:
    scheduler = site.open(look_s=0.5, command_s=1000.0)
    site.write("squeue", "sleep 1000")
    report = site.wait(scheduler, {"j000001": View("j000001", scheduler_id="7")}, lambda r: r.state == "no_answer")
    assert report.message == "asking Slurm or reading the jobs' files hung for 0.5 s"
    site.write("squeue", queue_of("RUNNING").format(token=site.campaign / "token"))
    again = site.open()
    site.wait(again, {"j000001": View("j000001")}, lambda r: r.state == "running")


def test_a_command_that_hangs_is_given_up(site: Site) -> None:
    scheduler = site.open(command_s=0.3)
    site.write("squeue", "sleep 1000")
    site.write("sacct", "echo away >&2; exit 1")
    report = site.wait(scheduler, {"j000001": View("j000001", scheduler_id="7")}, lambda r: r.state == "no_answer")
    assert "squeue gave no answer for 0.3 s" in report.message and "away" in report.message


def test_helpers_that_are_killed_are_replaced(site: Site) -> None:
    scheduler = site.open()
    site.write("sbatch", "echo 7")
    site.write("squeue", queue_of("RUNNING").format(token=site.campaign / "token"))
    jobs = {"j000001": View("j000001")}
    scheduler.submit(orders(1))
    site.wait(scheduler, jobs, lambda r: r.state == "running")
    for helper in (scheduler._looking._helper, scheduler._actor):
        assert helper is not None
        os.kill(helper.pid, signal.SIGKILL)
    site.wait(scheduler, jobs, lambda r: r.state == "running")
    end = time.monotonic() + PATIENCE_S
    while scheduler.submit(orders(1))[0].outcome != "accepted":
        assert time.monotonic() < end


def test_only_what_bears_our_name_is_cancelled(site: Site) -> None:
    scheduler = site.open()
    site.write("scancel", f'echo "$@" >>{site.campaign}/cancelled')
    lines = queue_of("RUNNING").format(token=site.campaign / "token").removeprefix("exec ")
    site.write(
        "squeue",
        lines + "\n" + lines.replace("'7", "'8").replace("'sd-'", "'payroll-'").replace("\\037sd-", "\\037pay-"),
    )
    assert list(scheduler.cancel([View("j000001", scheduler_id="8"), View("j000002", scheduler_id="9")])) == ["j000001"]
    assert (site.campaign / "cancelled").read_text() == "7\n"


def test_a_cancellation_that_nobody_took(site: Site) -> None:
    scheduler = site.open()
    site.write("squeue", queue_of("RUNNING").format(token=site.campaign / "token"))
    site.write("scancel", 'echo "scancel: error: Unable to contact slurm controller (connect failure)" >&2; exit 8')
    assert list(scheduler.cancel([View("j000001", scheduler_id="7")])) == []


def test_a_claim_is_taken_once(site: Site) -> None:
    scheduler = site.open()
    assert scheduler.take_claim(View("j000001"))
    assert scheduler.take_claim(View("j000001")), "a conductor that died before it could say so took it"
    claim = site.campaign / "jobs" / "000" / "j000002" / "claim.0"
    claim.parent.mkdir(parents=True)
    claim.write_text("job=7 host=n001 uptime=1.00 pid=9 nodes=n001 .\n")
    assert not scheduler.take_claim(View("j000002"))


def test_helpers_end_with_the_conductor(site: Site) -> None:
    scheduler = site.open()
    scheduler.take_claim(View("j000001"))
    assert scheduler._actor is not None
    pid = scheduler._actor.pid
    scheduler.close()
    end = time.monotonic() + PATIENCE_S
    while Path(f"/proc/{pid}").exists():
        assert time.monotonic() < end
        time.sleep(0.01)
