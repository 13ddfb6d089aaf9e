"""Jobs whose names tell less than their numbers: names that somebody exchanged, and two jobs of one name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fake_slurm import NO_ACCOUNTING, TOKEN, FakeSlurm, Looker, cluster, record, row
from msgspec.structs import replace

from shakedown.model.layout import Layout
from shakedown.model.nouns import Case
from shakedown.model.ports import JobOrder
from shakedown.schedulers.cluster.job_places import JobPlaces, job_label
from shakedown.schedulers.slurm.accounting import by_restart
from shakedown.schedulers.slurm.dependencies import Chains
from shakedown.schedulers.slurm.job_evidence import Asked
from shakedown.schedulers.slurm.parsing import records
from shakedown.schedulers.slurm.runner import Ran
from shakedown.schedulers.slurm.submitter import Actor
from shakedown.schedulers.slurm.wire import Act, FromHelper

ONE, TWO = Asked("j000001", "7"), Asked("j000002", "8")


class Controller(FakeSlurm):
    """It knows in which directory each job works: ``works``, by number."""

    def __init__(self, works: dict[str, Path]) -> None:
        super().__init__()
        self.works = works

    def __call__(self, command: list[str], timeout_s: float) -> Ran:  # type: ignore[override]
        if command[:1] == ["scontrol"] and command[-2] == "job":
            super().__call__(command, timeout_s)
            place = self.works.get(command[-1])
            return (
                Ran(0, f"JobId={command[-1]} JobName=x WorkDir={place} Power=\n")
                if place
                else Ran(1, error="Invalid job id")
            )
        return super().__call__(command, timeout_s)

    def cancelled(self) -> list[str]:
        return [word for command in self.asked if command[0] == "scancel" for word in command[1:] if word.isdigit()]


@pytest.fixture
def looker(tmp_path: Path) -> Looker:
    places = JobPlaces(Layout(tmp_path))
    slurm = Controller({"7": places.control(ONE.id), "8": places.control(TWO.id), "9": places.control(ONE.id)})
    return Looker(tmp_path, slurm)


def exchanged(state: str = "PENDING", **cells: object) -> list[str]:
    """Somebody gave each of two jobs the other one's name."""
    return [row(TWO.id, "7", state, **cells), row(ONE.id, "8", state, **cells)]


# ---- names that were exchanged -------------------------------------------------------------------------------------------


def test_two_waiting_jobs_whose_names_were_exchanged_keep_their_numbers(looker: Looker) -> None:
    looker.slurm.queue[""] = exchanged()
    for _ in range(3):
        reports = looker.look(ONE, TWO, after=5.0)
        assert {job: (r.state, r.scheduler_id) for job, r in reports.items()} == {
            ONE.id: ("queued", "7"),
            TWO.id: ("queued", "8"),
        }
        assert reports[ONE.id].message == f"somebody renamed it to {job_label(TOKEN, TWO.id)} at the scheduler"
    assert looker.slurm.count("scontrol") == 2, "the controller is asked once of each"


def test_their_ends_are_their_own_and_nobody_doubts_them(looker: Looker) -> None:
    looker.begin(ONE.id, id="7")
    looker.end(0, ONE.id)
    looker.begin(TWO.id, id="8")
    looker.end(3, TWO.id)
    looker.slurm.queue[""] = [row(TWO.id, "7", "COMPLETED"), row(ONE.id, "8", "FAILED", exit=3 << 8)]
    reports = looker.settle(ONE, TWO)
    assert {job: (r.state, r.exit_status, r.doubt) for job, r in reports.items()} == {
        ONE.id: ("completed", 0, ""),
        TWO.id: ("failed", 3, ""),
    }


def test_so_are_they_in_accounting_and_in_the_list_of_finished_jobs(looker: Looker, tmp_path: Path) -> None:
    looker.slurm.memory[""] = [record(TWO.id, "7", "TIMEOUT"), record(ONE.id, "8", "NODE_FAIL", NodeList="n001")]
    for job in (ONE, TWO):
        looker.begin(job.id, id=job.scheduler_id)
    reports = looker.settle(ONE, TWO)
    assert {job: report.state for job, report in reports.items()} == {ONE.id: "timeout", TWO.id: "node_fail"}
    lines = [f"JobId={number} UserId=u(0) Name={job_label(TOKEN, job)} JobState={state} StartTime=1 EndTime=2 ExitCode=0:0\n"
             for number, job, state in (("7", TWO.id, "TIMEOUT"), ("8", ONE.id, "NODE_FAIL"))]  # fmt: skip
    (tmp_path / "jobcomp").write_text("".join(lines))
    looker.slurm.memory[""] = NO_ACCOUNTING
    looker.slurm.answers["scontrol"] = Ran(0, f"JobCompType = jobcomp/filetxt\nJobCompLoc = {tmp_path}/jobcomp\n")
    reports = Looker(looker.root, looker.slurm).settle(ONE, TWO)
    assert {job: report.state for job, report in reports.items()} == {ONE.id: "timeout", TWO.id: "node_fail"}


def test_a_record_of_another_number_is_not_ours_because_of_its_name_alone() -> None:
    label = job_label(TOKEN, ONE.id)
    both = records(
        "\n".join([record(ONE.id, "7", "COMPLETED"), record(TWO.id, "7", "FAILED"), record(ONE.id, "8", "FAILED")])
    )
    assert [one.state for one in by_restart(both, label, "7", lambda name, number: False)] == ["COMPLETED"], (
        "a number that was given twice"
    )
    assert [(one.id, one.name) for one in by_restart(both[1:], label, "7", lambda name, number: False)] == [
        ("7", job_label(TOKEN, TWO.id))
    ]
    other, own = (replace(one, submit=1000.0) for one in both[1:])
    assert by_restart([other, own], label, "7", lambda name, number: False, claimed_at=940.0) == (own,), (
        "submitted later: the number was given again"
    )
    assert by_restart([other, own], label, "7", lambda name, number: False, claimed_at=1060.0) == (other,)
    strange = records(record(ONE.id, "7", "FAILED").replace(label, "payroll"))
    assert by_restart(strange, label, "7", lambda name, number: False) == ()


def test_what_is_cancelled_is_the_job_and_not_the_name(looker: Looker) -> None:
    looker.slurm.queue[""] = exchanged()
    said: list[FromHelper] = []
    actor = Actor(Layout(looker.root), TOKEN, (cluster(),), looker.slurm, 20.0, said.append)
    actor._act(Act(1, "cancel", [ONE]))
    assert looker.slurm.cancelled() == ["7"]  # type: ignore[attr-defined]
    actor._act(Act(2, "hold", [TWO]))
    assert [command[-1] for command in looker.slurm.asked if "uhold" in command] == ["8"]


@pytest.mark.parametrize("what", ["cancel", "hold", "release"])
def test_nothing_is_done_to_the_job_that_a_lost_ones_number_was_given_to(looker: Looker, what: Any) -> None:
    """Nor is anything where the controller does not say whose the number is now: a lost one is asked about again."""
    looker.slurm.queue[""] = [row(TWO.id, "7", "RUNNING")]
    actor = Actor(Layout(looker.root), TOKEN, (cluster(),), looker.slurm, 20.0, list[FromHelper]().append)
    looker.slurm.works.clear()  # type: ignore[attr-defined]
    assert actor._tell(Act(1, what, [ONE]), {ONE.id}) == []
    looker.slurm.works["7"] = looker.places.control(TWO.id)  # type: ignore[attr-defined]
    assert actor._tell(Act(2, what, [ONE]), {ONE.id}) == []
    assert not [command for command in looker.slurm.asked if command[0] == "scancel" or "uhold" in command]
    assert actor._tell(Act(3, what, [replace(TWO, scheduler_id="7")]), {TWO.id}) == [TWO.id]


def test_what_follows_a_job_waits_for_no_other_that_was_given_its_number(looker: Looker) -> None:
    chains = Chains(TOKEN, looker.places, lambda _: [], {"7": TWO.id, "9;emu": TWO.id})
    after = JobOrder("j000003", "r3", Case("c", "t", "emu:batch"), after=(ONE.id, "7"))
    assert chains.number(after, cluster()) == ""
    assert chains.number(replace(after, after=(TWO.id, "7")), cluster()) == "7"
    assert chains.number(replace(after, after=(ONE.id, "8")), cluster()) == "8"
    assert chains.number(replace(after, after=(ONE.id, "9;emu")), cluster()) == ""


def test_where_the_controller_does_not_say_where_they_work_their_numbers_tell(looker: Looker) -> None:
    looker.slurm.works.clear()  # type: ignore[attr-defined]
    looker.slurm.queue[""] = exchanged()
    assert {job: report.scheduler_id for job, report in looker.look(ONE, TWO).items()} == {ONE.id: "7", TWO.id: "8"}


def test_a_number_that_a_controller_gave_to_a_second_job_of_ours(looker: Looker) -> None:
    """Its memory was set back: job 7 is another one of ours now, and works elsewhere."""
    looker.slurm.works["7"] = looker.places.control(TWO.id)  # type: ignore[attr-defined]
    looker.slurm.queue[""] = [row(TWO.id, "7", "RUNNING")]
    reports = looker.look(ONE, Asked(TWO.id, "7"))
    assert {job: report.state for job, report in reports.items()} == {TWO.id: "running"}


ENDS = ("CANCELLED by 0", "COMPLETED", "FAILED", "NODE_FAIL", "TIMEOUT", "REQUEUED")


@pytest.mark.parametrize("state", ENDS)
@pytest.mark.parametrize("other", ["begun", "waiting", "over before", "of another conductor"])
def test_the_end_of_the_second_job_of_a_number_is_not_that_of_the_first(looker: Looker, state: str, other: str) -> None:
    """The controller lost the first one and its number, and whatever comes of the second one is its own fate alone."""
    second = Asked(TWO.id, "7")
    if other in ("begun", "of another conductor"):
        looker.begin(TWO.id, id="7")
    if other in ("over before", "begun"):
        looker.slurm.queue[""] = [row(TWO.id, "7", "RUNNING")]
        looker.look(second)
        looker.slurm.queue[""] = []
    looker.slurm.memory[""] = [record(TWO.id, "7", state, NodeList="n014")]
    both = (ONE, second) if other == "waiting" else (ONE,)
    reports = looker.settle(*both)
    assert (reports[ONE.id].state, reports[ONE.id].nodes) == ("absent", ""), reports[ONE.id]
    assert reports[ONE.id].message == "the queue does not know it; accounting has no record of it; it left no marks"


def test_neither_is_it_in_the_list_of_finished_jobs(looker: Looker, tmp_path: Path) -> None:
    line = (
        f"JobId=7 UserId=u(0) Name={job_label(TOKEN, TWO.id)} JobState=CANCELLED StartTime=1 EndTime=2 ExitCode=0:0\n"
    )
    (tmp_path / "jobcomp").write_text(line)
    looker.slurm.memory[""] = NO_ACCOUNTING
    looker.slurm.answers["scontrol"] = Ran(0, f"JobCompType = jobcomp/filetxt\nJobCompLoc = {tmp_path}/jobcomp\n")
    report = looker.settle(ONE, Asked(TWO.id, "7"))[ONE.id]
    assert (report.state, report.message) == (
        "absent",
        "the queue does not know it; there is no accounting here; it left no marks",
    )


def test_a_second_job_whose_number_is_not_told_yet_keeps_its_own_row_and_record(looker: Looker) -> None:
    """The answer of its sbatch is on its way, and the controller does not say where a job works."""
    looker.slurm.works.clear()  # type: ignore[attr-defined]
    looker.slurm.queue[""] = [row(TWO.id, "7", "CANCELLED")]
    looker.slurm.memory[""] = [record(TWO.id, "7", "CANCELLED by 0")]
    reports = looker.settle(ONE, Asked(TWO.id))
    assert {job: report.state for job, report in reports.items()} == {ONE.id: "absent", TWO.id: "cancelled"}


# ---- two jobs of one name ------------------------------------------------------------------------------------------------


def test_the_second_job_of_a_name_is_cancelled_while_it_waits(looker: Looker) -> None:
    looker.slurm.queue[""] = [row(id="9", state="PENDING"), row(id="7", state="PENDING")]
    reports = looker.look(ONE)
    assert (reports[ONE.id].state, reports[ONE.id].scheduler_id) == ("queued", "7")
    assert looker.slurm.cancelled() == ["9"]  # type: ignore[attr-defined]


def test_of_two_jobs_of_a_name_the_one_stays_that_has_the_claim(looker: Looker) -> None:
    """What sbatch answered in the end is the number of the one that waits."""
    looker.begin(id="9")
    looker.slurm.queue[""] = [row(id="9", state="RUNNING"), row(id="7", state="PENDING")]
    report = looker.look(ONE)[ONE.id]
    assert (report.state, report.scheduler_id) == ("running", "9")
    assert looker.slurm.cancelled() == ["7"]  # type: ignore[attr-defined]
    looker.end(0)
    looker.slurm.queue[""] = [row(id="9", state="COMPLETED"), row(id="7", state="CANCELLED")]
    report = looker.settle(ONE)[ONE.id]
    assert (report.state, report.exit_status, report.doubt) == ("completed", 0, "")


def test_which_of_two_it_is_is_settled_before_one_is_cancelled(looker: Looker) -> None:
    looker.slurm.queue[""] = [row(id="9", state="PENDING"), row(id="7", state="PENDING")]
    report = looker.look(Asked(ONE.id, ""))[ONE.id]
    assert (report.state, report.scheduler_id) == ("queued", "7")
    assert looker.slurm.cancelled() == []  # type: ignore[attr-defined]


def test_one_that_runs_finds_the_claim_taken_by_itself_and_a_stranger_of_our_name_is_left_alone(looker: Looker) -> None:
    looker.slurm.queue[""] = [row(id="9", state="RUNNING"), row(id="7", state="PENDING")]
    looker.look(ONE)
    looker.slurm.queue[""] = [row(id="11", state="PENDING"), row(id="7", state="PENDING")]
    looker.look(ONE)
    assert looker.slurm.cancelled() == []  # type: ignore[attr-defined]


def test_one_that_waits_when_its_job_is_done_with_is_cancelled_too(looker: Looker) -> None:
    looker.begin(id="7")
    looker.end(0)
    looker.slurm.queue[""] = [row(id="9", state="PENDING"), row(TWO.id, "8")]
    looker.look(TWO)
    assert looker.slurm.cancelled() == ["9"]  # type: ignore[attr-defined]
