"""Builds in jobs: submitted once, found again, tried again, and never in silence. The scheduler is one of the test's own making."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from shakedown.builds.choosing import with_builds_in_jobs
from shakedown.builds.job_builder import BuildJob, JobBuilder, job_id
from shakedown.builds.sharing import SharedScheduler
from shakedown.model.layout import Layout
from shakedown.model.nouns import Build, Cluster, NodeType, Partition, Patience, System
from shakedown.model.ports import BuildReport, JobOrder, JobReport, JobView, ReleaseOrder, SubmitAnswer, Survey, Wanted
from shakedown.schedulers.cluster.job_places import JobPlaces, campaign_token, job_label, job_of_label
from shakedown.schedulers.cluster.job_script import payload_script

PATIENCE = Patience(poll_s=5.0, grace_s=60.0, lost_after_s=600.0, no_answer_s=3600.0)
SYSTEM = System(
    "c5",
    (
        Cluster("c5", "slurm", (Partition("batch", "c5", "n[1-4]", 4, "t"),), patience=PATIENCE),
        Cluster("desk", "local", (Partition("all", "desk", "localhost", 1, "t"),)),
    ),
    (NodeType("t", cores=4),),
)


@dataclass
class Slurm:
    """A scheduler that says what it is told to say, and remembers what it was asked."""

    layout: Layout
    poll_s: float = 5.0
    answer: SubmitAnswer | None = None
    orders: list[JobOrder] = field(default_factory=list)
    looks: list[set[str]] = field(default_factory=list)
    says: dict[str, JobReport] = field(default_factory=dict)
    claims_free: bool = True
    claimed: list[str] = field(default_factory=list)

    def submit(self, orders: Sequence[JobOrder]) -> Sequence[SubmitAnswer]:
        self.orders += orders
        for order in orders:
            JobPlaces(self.layout).prepare(order)
        return [self.answer or SubmitAnswer(order.job, "accepted", str(100 + len(self.orders))) for order in orders]

    def poll(self, jobs: Mapping[str, JobView]) -> Sequence[JobReport]:
        self.looks.append({*jobs})
        return [report for job, report in self.says.items() if job in jobs]

    def take_claim(self, job: JobView) -> bool:
        self.claimed.append(job.id)
        return self.claims_free

    def cancel(self, jobs: Sequence[JobView]) -> Sequence[str]:
        return [job.id for job in jobs]

    def hold(self, jobs: Sequence[JobView]) -> Sequence[str]:
        return [job.id for job in jobs]

    def release(self, orders: Sequence[ReleaseOrder]) -> Sequence[str]:
        return [order.id for order in orders]

    def take_parts(self, job: JobView, runs: Sequence[str]) -> Sequence[str]:
        return []

    def survey(self, wanted: Wanted) -> Survey | None:
        return None

    def calls(self) -> Mapping[str, int]:
        return {"squeue": len(self.looks)}


@dataclass
class Clock:
    time: float = 1000.0

    def now(self) -> float:
        return self.time

    def wait(self, until: float | None) -> None:
        raise AssertionError("a builder never waits")


@dataclass
class Room:
    """A campaign with a builder; ``again`` is the next driver's."""

    layout: Layout
    slurm: Slurm
    clock: Clock
    builder: JobBuilder

    def again(self) -> None:
        self.builder = JobBuilder(self.layout, SYSTEM, SharedScheduler(self.slurm), self.clock)

    def hear(self, state: str = "", **facts: Any) -> list[BuildReport]:
        """A poll after as long as it takes for the scheduler to be asked; it says this of the newest job."""
        if state:
            job = facts.pop("job", None) or next(reversed([*self.builder._building]))
            self.slurm.says = {job: JobReport(job, state, "queue", **facts)}
        reports: list[BuildReport] = []
        for _ in range(3):
            reports += self.builder.poll()
            self.clock.time += 2 * self.slurm.poll_s
        self.slurm.says = {}
        return reports

    def run(self) -> int:
        """Carry out the newest order as its job would."""
        payload = payload_script(self.slurm.orders[-1].case, self.layout)
        return subprocess.run(["/bin/sh", "-c", payload], timeout=60, check=False, cwd=self.layout.root).returncode


@pytest.fixture
def room(tmp_path: Path) -> Room:
    layout = Layout(tmp_path / "campaigns" / "it's 1")
    layout.root.mkdir(parents=True)
    slurm, clock = Slurm(layout), Clock()
    return Room(layout, slurm, clock, JobBuilder(layout, SYSTEM, SharedScheduler(slurm), clock))


def build(script: str = "true", key: str = "ab" * 32, **more: Any) -> Build:
    return Build(key, "it", more.pop("source", ""), script, where="job", partition="c5:batch", **more)


def only(reports: Sequence[BuildReport]) -> BuildReport:
    assert len(reports) == 1, reports
    return reports[0]


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


# ---- one build -------------------------------------------------------------------------------------------------------


def test_a_build_is_one_job_and_then_a_directory(room: Room, tmp_path: Path) -> None:
    source = tmp_path / "the source"
    source.mkdir()
    (source / "a.txt").write_text("hello")
    spec = build('cp a.txt "$NAME"; echo built', source=str(source), environment=(("NAME", "b.txt"),), cpus=3)
    room.builder.start([spec])
    started = only(room.builder.poll())
    assert (started.state, started.identity) == ("started", "job 101")
    (order,) = room.slurm.orders
    assert (order.case.partition, order.case.shape.cpus_per_task, order.case.shape.time_limit_s) == (
        "c5:batch",
        3,
        1800.0,
    )
    assert order.case.shape.nodes == order.case.shape.tasks_per_node == 1
    assert room.run() == 0
    assert not room.layout.build(spec.key).exists()
    done = only(room.hear("completed", exit_status=0, elapsed_s=2.5))
    assert (done.state, done.message, done.elapsed_s, done.log) == ("done", "", 2.5, f"builds/{spec.key}.log")
    assert (room.layout.build(spec.key) / "b.txt").read_text() == "hello"
    assert (room.layout.root / done.log).read_text() == "built\n"
    assert names(room.layout.builds) == [spec.key, f"{spec.key}.log"]
    assert room.hear() == []


def test_its_job_bears_a_name_that_is_ours(room: Room) -> None:
    token = campaign_token(room.layout)
    room.builder.start([build()])
    label = job_label(token, room.slurm.orders[0].job)
    assert job_of_label(token, label) == room.slurm.orders[0].job == job_id("ab" * 32, 1)
    assert job_id("ab" * 32, 1) != job_id("ab" * 32, 2) != job_id("cd" * 32, 1)


def test_what_is_built_already_is_not_built(room: Room) -> None:
    room.layout.build(build().key).mkdir(parents=True)
    room.builder.start([build()])
    assert only(room.builder.poll()).message == "it was built before"
    assert room.slurm.orders == []


def test_starting_it_twice_submits_it_once(room: Room) -> None:
    room.builder.start([build()])
    room.builder.start([build()])
    assert len(room.slurm.orders) == 1


def test_waiting_in_the_queue_is_no_news(room: Room) -> None:
    room.builder.start([build()])
    assert only(room.builder.poll()).state == "started"
    assert room.hear("queued") == room.hear("running") == []


# ---- failures --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("report", "message", "transient"),
    [
        ({"state": "timeout"}, "job 101 was ended at its time limit of 1800 s", False),
        ({"state": "cancelled", "message": "by uid 0"}, "job 101 was cancelled: by uid 0", False),
        ({"state": "node_fail", "message": "NodeDown"}, "the node of job 101 failed: NodeDown", True),
        ({"state": "interrupted", "message": "preempted"}, "job 101 ended as interrupted: preempted", True),
        ({"state": "refused", "message": "JobLaunchFailure"}, "job 101 never ran: JobLaunchFailure", True),
    ],
)
def test_ends_that_are_no_builds(room: Room, report: dict[str, Any], message: str, transient: bool) -> None:
    room.builder.start([build()])
    room.builder.poll()
    failed = only(room.hear(**report))
    assert (failed.state, failed.message, failed.transient) == ("failed", message, transient)


def test_a_failed_build_says_the_line_that_tells(room: Room) -> None:
    room.builder.start([build("echo 'a.c:1: error: no such thing'; echo 'make: leaving'; exit 2; echo no")])
    room.builder.poll()
    status = room.run()
    assert status == 2
    failed = only(room.hear("failed", exit_status=status))
    assert (failed.message, failed.transient) == ("exit status 2: a.c:1: error: no such thing", False)
    assert not room.layout.build(build().key).exists()


def test_the_first_command_that_fails_ends_it(room: Room) -> None:
    room.builder.start([build("false\ntouch never")])
    assert room.run() == 1


def test_a_source_that_the_node_does_not_see_fails_the_build(room: Room) -> None:
    room.builder.start([build("touch never", source="/no/such/directory")])
    room.builder.poll()
    failed = only(room.hear("failed", exit_status=room.run()))
    assert "/no/such/directory" in failed.message


@pytest.mark.parametrize("transient", [True, False])
def test_a_refusal_is_told_with_its_reason(room: Room, transient: bool) -> None:
    room.slurm.answer = SubmitAnswer("", "refused", transient=transient, message="invalid partition specified: batch")
    room.builder.start([build()])
    failed = only(room.builder.poll())
    assert failed.message == "its job was refused: invalid partition specified: batch"
    assert failed.transient is transient


def test_a_campaign_that_cannot_be_written_to_is_tried_again(room: Room) -> None:
    room.layout.builds.write_text("a file where the directory ought to be")
    room.builder.start([build()])
    failed = only(room.builder.poll())
    assert (failed.state, failed.transient) == ("failed", True)
    assert failed.message == f"it cannot be started: {room.layout.builds}: File exists"
    assert room.slurm.orders == []


def test_another_attempt_is_another_job_and_clears_what_the_last_left(room: Room) -> None:
    room.builder.start([build("touch half; false")])
    room.builder.poll()
    room.run()
    only(room.hear("node_fail"))
    room.builder.start([build("true")])
    assert [order.job for order in room.slurm.orders] == [job_id(build().key, 1), job_id(build().key, 2)]
    assert room.run() == 0
    room.builder.poll()
    assert only(room.hear("completed", exit_status=0)).state == "done"
    assert names(room.layout.builds) == [build().key, f"{build().key}.log"]


# ---- after a crash ---------------------------------------------------------------------------------------------------


def test_the_next_driver_adopts_the_job_instead_of_building_twice(room: Room) -> None:
    room.builder.start([build()])
    job = room.slurm.orders[0].job
    room.again()
    room.builder.start([build()])
    assert len(room.slurm.orders) == 1
    started = only(room.hear("running", scheduler_id="77"))
    assert (started.state, started.identity) == ("started", "job 77")
    room.run()
    assert only(room.hear("completed", job=job, exit_status=0)).state == "done"


def test_a_job_that_ended_while_nobody_looked_counts(room: Room) -> None:
    room.builder.start([build()])
    room.run()
    room.again()
    room.builder.start([build()])
    assert only(room.hear("completed", exit_status=0)).state == "done"


def test_a_submission_in_doubt_is_replaced_only_when_it_can_never_run(room: Room) -> None:
    room.slurm.answer = SubmitAnswer("", "unknown", message="sbatch took too long")
    room.builder.start([build()])
    job = room.slurm.orders[0].job
    assert room.hear("absent") == []
    assert room.slurm.claimed == []  # not within the grace
    room.clock.time += PATIENCE.grace_s
    gone = only(room.hear("absent"))
    assert (gone.message, gone.transient) == (f"its job ({job}) vanished before it ran", True)
    assert room.slurm.claimed == [job]


def test_a_claimed_job_that_nobody_knows_is_lost_much_later(room: Room) -> None:
    room.builder.start([build()])
    room.builder.poll()
    room.slurm.claims_free = False
    room.hear("absent")
    room.clock.time += PATIENCE.grace_s
    assert room.hear("absent") == []
    room.clock.time += PATIENCE.lost_after_s
    lost = only(room.hear("absent"))
    assert lost.transient
    assert lost.message.startswith("job 101 was lost: nobody knew of it for")


def test_no_answer_is_not_absence(room: Room) -> None:
    room.builder.start([build()])
    room.builder.poll()
    room.hear("no_answer")
    room.clock.time += PATIENCE.lost_after_s
    assert room.hear("no_answer") == []
    assert room.slurm.claimed == []
    room.hear("running")  # somebody knows it: patience begins anew
    room.clock.time += PATIENCE.no_answer_s
    assert room.hear("no_answer") == []
    room.clock.time += PATIENCE.no_answer_s
    assert only(room.hear("no_answer")).transient


# ---- politeness, and who builds what ---------------------------------------------------------------------------------


def test_runs_and_builds_are_asked_for_in_one_look(room: Room) -> None:
    shared, job = room.builder.scheduler, job_id(build().key, 1)
    room.builder.start([build()])
    room.slurm.says = {
        "j000001": JobReport("j000001", "running", "queue"),
        job: JobReport(job, "node_fail", "queue"),
    }
    for _ in range(5):
        room.builder.poll()
        room.clock.time += room.slurm.poll_s
        reports = shared.poll({"j000001": BuildJob("j000001", "r000001")})
        assert [report.job for report in reports] == ["j000001"]
    assert len(room.slurm.looks) == 5
    assert room.slurm.looks[0] == {"j000001", job}
    assert room.slurm.looks[-1] == {"j000001"}


def test_without_runs_the_scheduler_is_asked_for_builds_alone(room: Room) -> None:
    room.builder.start([build()])
    for _ in range(100):
        room.builder.poll()
        room.clock.time += 0.5
    assert 5 <= len(room.slurm.looks) <= 11
    assert room.slurm.looks[0] == {job_id(build().key, 1)}


def test_nothing_is_asked_where_nothing_is_built(room: Room) -> None:
    room.clock.time += 100
    assert room.builder.poll() == []
    assert room.slurm.looks == []


@dataclass
class Here:
    started: list[Build] = field(default_factory=list)

    def start(self, builds: Sequence[Build]) -> None:
        self.started += builds

    def poll(self) -> Sequence[BuildReport]:
        return [BuildReport(build.key, "done") for build in self.started]


def test_each_build_goes_where_it_is_to_be_done(room: Room) -> None:
    here = Here()
    builder, scheduler = with_builds_in_jobs(room.layout, SYSTEM, here, room.slurm, room.clock)
    login = Build("1" * 64, "login", "", "true")
    local = Build("2" * 64, "local", "", "true", where="job", partition="desk:all")
    builder.start([login, build(), local])
    assert here.started == [login, local]
    assert [order.job for order in room.slurm.orders] == [job_id(build().key, 1)]
    assert [report.state for report in builder.poll()] == ["done", "done", "started"]
    assert scheduler.calls() == {"squeue": 0}
