"""The port with its two processes, over commands that a test wrote: answers, hang-ups, deaths."""

from __future__ import annotations

import contextlib
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
from shakedown.model.ports import JobOrder, JobReport, Wanted
from shakedown.processes.reactor import Reactor
from shakedown.schedulers.claims import CONDUCTOR
from shakedown.schedulers.cluster.job_places import JobPlaces, holder_of
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
        self.calls, self.pids = root / "calls", root / "pids"
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
        draft.write_text(f"#!/bin/sh\necho {name} >>{self.calls}\necho $$ >>{self.pids}\n{script}\n")
        draft.chmod(draft.stat().st_mode | stat.S_IXUSR)
        draft.replace(self.commands / name)

    def open(
        self, command_s: float = 20.0, look_s: float = 60.0, patience_s: float = 30.0, act_s: float = PATIENCE_S
    ) -> SlurmScheduler:
        quick = cluster(patience=Patience(poll_s=0.05))
        layout = Layout(self.campaign)
        scheduler = SlurmScheduler(layout, self.reactor, [quick], command_s, look_s, patience_s, act_s=act_s)
        self._schedulers.append(scheduler)
        return scheduler

    def open_and_warm(self, patience_s: float) -> SlurmScheduler:
        """A port whose acting process is up: how long that takes to start on a busy machine is not what a test is about."""
        scheduler = self.open(patience_s=patience_s)
        end = time.monotonic() + PATIENCE_S
        while not scheduler.take_claim(View("j000099")):
            assert time.monotonic() < end
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
        for pid in self.pids.read_text().split() if self.pids.exists() else ():  # commands that hang outlive the port
            with contextlib.suppress(OSError):
                if Path(f"/proc/{pid}/cmdline").read_bytes() == b"sleep\x001000\0":
                    os.kill(int(pid), signal.SIGKILL)


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


@pytest.mark.parametrize("said", ["nope", "Slurm temporarily unable to accept job"])
def test_a_job_that_was_refused_can_start_no_more_and_one_that_runs_was_not_refused(site: Site, said: str) -> None:
    """A wrapper of the site may hand a job to Slurm and then say that it could not: what replaces the job must run alone."""
    site.write("sbatch", f'echo "sbatch: error: {said}" >&2; exit 1')
    scheduler = site.open()
    assert [answer.outcome for answer in scheduler.submit(orders(1))] == ["refused"]
    claim = site.campaign / "jobs/000/j000001/claim.0"
    assert holder_of(claim.read_bytes()) == CONDUCTOR
    begun = site.campaign / "jobs/000/j000002"
    takes = f'echo "job=7 host=n001 uptime=1.00 pid=9 nodes=n001 ." >{begun}/claim.0'
    site.write("sbatch", f'{takes}; echo "sbatch: error: {said}" >&2; exit 1')
    (answer,) = scheduler.submit(orders(2)[1:])
    assert (answer.outcome, answer.message) == ("unknown", said)


def test_an_sbatch_that_hangs_may_have_been_accepted_and_the_rest_was_not_tried(site: Site) -> None:
    site.write("sbatch", "exec sleep 1000")
    scheduler = site.open_and_warm(patience_s=1.0)
    started, waited = time.monotonic(), site.reactor.waited_s
    answers = scheduler.submit(orders(20))
    assert time.monotonic() - started < PATIENCE_S
    assert site.reactor.waited_s - waited > 0.5, "nearly all of the second counts as a wait on purpose"
    unknown = [answer for answer in answers if answer.outcome == "unknown"]
    assert len(unknown) == site.count("sbatch") > 0
    assert all(answer.transient for answer in answers if answer.outcome != "unknown")


def test_what_it_says_late_is_reported(site: Site) -> None:
    site.write(
        "sbatch", f"n=0; while [ ! -e {site.campaign}/go ] && [ $n -lt 600 ]; do sleep 0.1; n=$((n + 1)); done; echo 7"
    )
    scheduler = site.open_and_warm(patience_s=0.5)
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
    site.write("squeue", "exec sleep 1000")
    report = site.wait(scheduler, {"j000001": View("j000001", scheduler_id="7")}, lambda r: r.state == "no_answer")
    assert report.message == "asking Slurm or reading the jobs' files hung for 0.5 s"
    site.write("squeue", queue_of("RUNNING").format(token=site.campaign / "token"))
    again = site.open()
    site.wait(again, {"j000001": View("j000001")}, lambda r: r.state == "running")


def test_a_command_that_hangs_is_given_up(site: Site) -> None:
    scheduler = site.open(command_s=0.3)
    site.write("squeue", "exec sleep 1000")
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


def test_an_answer_is_waited_for_as_long_as_the_port_is_told_and_without_one_nobody_can_tell(site: Site) -> None:
    scheduler = site.open(act_s=0.0)
    assert scheduler.take_claim(View("j000001")) is None
    scheduler.act_s = PATIENCE_S
    assert (
        scheduler.take_claim(View("j000002")) is True
    )  # another one: the helper may have been ended amid the claim of the first


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


# ---- one after the other -------------------------------------------------------------------------------------------------

PROBLEM = """case "$*" in
*dependency=*) echo "sbatch: error: Batch job submission failed: Job dependency problem" >&2; exit 1;;
*) echo 8;;
esac"""
AFTER = JobOrder("j000002", "r000002", CASE, after=("j000001", "7"))


def test_a_job_after_one_that_slurm_no_longer_knows_is_submitted_without_it(site: Site) -> None:
    site.write("sbatch", PROBLEM)
    (answer,) = site.open().submit([AFTER])
    assert (answer.outcome, answer.scheduler_id) == ("accepted", "8")


def test_a_job_after_one_that_may_still_run_is_tried_again_later(site: Site) -> None:
    site.write("sbatch", PROBLEM)
    scheduler = site.open()
    site.write("squeue", queue_of("RUNNING").format(token=site.campaign / "token"))
    (answer,) = scheduler.submit([AFTER])
    assert (answer.outcome, answer.transient) == ("refused", True)
    site.write("squeue", "echo away >&2; exit 1")
    (answer,) = scheduler.submit([AFTER])
    assert (answer.outcome, answer.transient) == ("refused", True), "silence is no proof"
    mark = site.campaign / "jobs/000/j000001/marks.0"
    mark.parent.mkdir(parents=True)
    mark.write_text("began=1.00 ended=2.00 status=0 told= .\n")
    (mark.parent / "claim.0").write_text("job=7 host=n001 uptime=1.00 pid=9 nodes=n001 .\n")
    assert scheduler.submit([AFTER])[0].outcome == "accepted"


def test_the_one_before_is_found_by_its_name_and_is_on_the_same_cluster(site: Site) -> None:
    site.write("sbatch", f'echo "$*" >>{site.campaign}/given; echo 8')
    scheduler = site.open()
    nameless = JobOrder("j000002", "r000002", CASE, after=("j000001", ""))
    (answer,) = scheduler.submit([nameless])
    assert answer.transient
    assert answer.message == "run r000002 is to start after job j000001, which Slurm on emu does not know now"
    site.write("squeue", queue_of("RUNNING").format(token=site.campaign / "token"))
    assert scheduler.submit([nameless])[0].outcome == "accepted"
    assert "--dependency=afterany:7 " in (site.campaign / "given").read_text()
    (answer,) = scheduler.submit([JobOrder("j000003", "r000003", CASE, after=("j000001", "7;other"))])
    assert (answer.outcome, answer.transient) == ("refused", False)
    assert "Slurm knows no order between clusters" in answer.message


# ---- several runs, and what is looked up besides ---------------------------------------------------------------------------


def test_parts_are_taken_once_and_only_those_that_have_not_begun(site: Site) -> None:
    scheduler = site.open()
    begun = site.campaign / "jobs/000/j000001/parts/r000002"
    begun.parent.mkdir(parents=True)
    begun.write_text("job=7 host=n001 uptime=1.00 restart=0 lane=9 .\n")
    runs = ["r000001", "r000002", "r000003"]
    for _ in range(2):
        assert scheduler.take_parts(View("j000001"), runs) == ["r000001", "r000003"]


def test_a_survey_needs_no_jobs_and_comes_once(site: Site) -> None:
    site.write("sinfo", "printf 'idle\\037n[002-003]\\nallocated\\037n001\\n'")
    scheduler = site.open()
    wanted = Wanted(idle=("emu:batch",))
    found, end = scheduler.survey(wanted), time.monotonic() + PATIENCE_S
    while found is None and time.monotonic() < end:
        site.reactor.wait(site.reactor.now() + 1.0)
        found = scheduler.survey(wanted)
    assert found is not None and found.idle == {"emu:batch": (2, 3)}
    asked = site.count("squeue")
    assert scheduler.survey(Wanted()) is None and site.count("squeue") == asked


def test_a_job_that_is_done_with_can_start_no_more(site: Site) -> None:
    """With an end mark of its own or without one: whoever requeues it, its claim is taken."""
    scheduler = site.open()
    scheduler.submit([JobOrder(job, "r000001", CASE) for job in ("j000001", "j000002", "j000003")])
    jobs = {job: View(job, scheduler_id=str(number)) for number, job in enumerate(("j000001", "j000002", "j000003"), 1)}
    places = JobPlaces(Layout(site.campaign))
    for job in jobs:
        places.claim(job, 0).write_text("job=1 host=n001 uptime=1.00 pid=9 nodes=n001 node=n001 .\n")
    places.marks("j000002", 0).write_text("began=1.00 ended=2.00 status=0 told= .\n")
    scheduler.poll(jobs)
    del jobs["j000001"], jobs["j000002"]
    scheduler.close()

    assert places.claim_holder("j000001", 1) == "conductor"
    assert places.claim_holder("j000002", 1) == "conductor", "a payload may empty the end mark later"
    assert places.claim_holder("j000003", 1) is None, "it is still open"
