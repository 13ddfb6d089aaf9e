"""Jobs on several nodes that ended because of one of them: what srun wrote and what the controller says of the nodes tell which."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from fake_slurm import DOWN, NO_ACCOUNTING, TOKEN, FakeSlurm, Looker, record, row
from msgspec import structs

from shakedown.model.steps import Step, broken_step
from shakedown.schedulers.cluster.marks import read_marks
from shakedown.schedulers.slurm.evidence import weigh
from shakedown.schedulers.slurm.job_evidence import Asked, Found
from shakedown.schedulers.slurm.parsing import QueueRow
from shakedown.schedulers.slurm.runner import Ran

JOB = Asked("j000001", "7", since=1000.0)
ABORTED = "srun: Job step aborted: Waiting up to 5 seconds for job step to finish."
PROLOG = "srun: error: Task launch for StepId=7.0 failed on node n002: Job prolog failed"


def nodes(*lines: str) -> dict[str, Ran]:
    """What ``scontrol show node`` prints."""
    return {"scontrol": Ran(0, "".join(f"NodeName={line} LastBusyTime=1\n" for line in lines))}


def looker(tmp_path: Path, output: str, told: dict[str, Ran], **cells: object) -> Looker:
    """A job of n001 and n002 that began at 1000.5 s and whose payload wrote this."""
    state = str(cells.pop("state", "COMPLETED"))
    about: dict[str, Any] = {"nodes": "n[001-002]", "start": 1000, "end": 1030} | cells
    slurm = FakeSlurm({"": [row(state=state, **about)]}, answers=told)
    found = Looker(tmp_path, slurm)
    found.begin(nodes="n[001-002]")
    path = found.places.output("j000001", 0)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(output)
    return found


@pytest.mark.parametrize("status", [0, 1])
def test_a_node_that_was_booted_under_a_step(tmp_path: Path, status: int) -> None:
    told = nodes("n001 BootTime=900 SlurmdStartTime=901", "n002 BootTime=4102444800 SlurmdStartTime=4102444800")
    found = looker(tmp_path, f"hello\n{ABORTED}\n", told, end=4102444801)
    found.end(status)
    report = found.one(JOB)
    assert report is not None
    assert (report.state, report.failed_nodes, report.dead) == ("node_fail", ("n002",), True)
    assert report.message.startswith(f"n002 was booted while the job ran; {ABORTED}")


NOTHING_YET = nodes("n001 BootTime=900 State=IDLE", "n002 BootTime=900 State=IDLE")


@pytest.mark.parametrize(("status", "waits"), [(0, (0, 11, 30, 18.9)), (1, (0, 9))], ids=["it says 0", "it says 1"])
def test_a_boot_that_slurm_registers_after_the_jobs_end_is_asked_for_again(
    tmp_path: Path, status: int, waits: tuple[float, ...]
) -> None:
    """Nothing is said before; a run whose payload says 0 would pass, so it is asked about for longer."""
    found = looker(tmp_path, f"hello\n{ABORTED}\n", dict(NOTHING_YET), end=4102444801)
    found.end(status)
    for seconds in waits:
        assert found.look(JOB, after=seconds) == {}
    found.slurm.answers |= nodes("n001 BootTime=900", "n002 BootTime=4102444800 SlurmdStartTime=4102444830")
    report = found.look(JOB, after=11.0)["j000001"]
    assert (report.state, report.failed_nodes, report.dead) == ("node_fail", ("n002",), True)
    assert report.message.startswith(f"n002 was booted while the job ran; {ABORTED}")


@pytest.mark.parametrize(("status", "state", "after"), [(0, "completed", 61.0), (1, "failed", 11.0)])
def test_a_step_that_no_node_explains_is_the_payloads_own(
    tmp_path: Path, status: int, state: str, after: float
) -> None:
    """``srun --kill-on-bad-exit`` writes the same words. The controller is asked at most once in five seconds."""
    found = looker(tmp_path, f"hello\n{ABORTED}\n", dict(NOTHING_YET), end=4102444801)
    found.end(status)
    found.look(JOB)
    for _ in range(4):
        assert found.look(JOB, after=1.0) == {}
    assert found.slurm.count("scontrol") == 1
    report = found.look(JOB, after=after - 4.0)["j000001"]
    assert (report.state, report.exit_status, report.failed_nodes) == (state, status, ())
    assert found.slurm.count("scontrol") == 2


@pytest.mark.parametrize(
    ("state", "charged"), [("IDLE*", True), ("DOWN+NOT_RESPONDING", True), ("IDLE+POWERED_DOWN+NOT_RESPONDING", False)]
)
def test_a_node_that_is_still_away_is_charged(tmp_path: Path, state: str, charged: bool) -> None:
    told = nodes("n001 BootTime=900 State=IDLE", f"n002 BootTime=900 State={state}")
    found = looker(tmp_path, f"{ABORTED}\n", told, end=4102444801)
    found.end(0)
    assert found.look(JOB) == {}
    report = found.look(JOB, after=61.0)["j000001"]
    assert report.failed_nodes == (("n002",) if charged else ())
    assert report.state == ("node_fail" if charged else "completed")
    assert report.message.startswith("n002 has not answered since a step of the job was given up; srun: ") is charged


def test_a_node_whose_prolog_failed_when_a_step_began(tmp_path: Path) -> None:
    """Slurm cancels the job as user 0 and drains the node; nobody cancelled anything."""
    told = nodes("n001 BootTime=900", "n002 BootTime=900 Reason=Prolog error [root@4102444800]")
    found = looker(tmp_path, "", told, state="CANCELLED", end=4102444801)
    found.end(143, told="TERM")
    found.slurm.memory = {"": [record(state="CANCELLED by 0", NodeList="n[001-002]")]}
    report = found.one(JOB)
    assert report is not None
    assert (report.state, report.failed_nodes, report.launch_failure) == ("node_fail", ("n002",), True)
    assert report.message.startswith("launch failure on n002: ")


def test_srun_names_the_node_where_nobody_else_does(tmp_path: Path) -> None:
    """The node was given back meanwhile, and there is no accounting."""
    found = looker(tmp_path, f"{PROLOG}\n{ABORTED}\n", nodes("n001 BootTime=9", "n002 BootTime=9"), state="CANCELLED")
    found.end(143, told="TERM")
    found.slurm.memory = {"": NO_ACCOUNTING}
    report = found.one(JOB)
    assert report is not None
    assert (report.state, report.failed_nodes, report.launch_failure) == ("node_fail", ("n002",), True)


@pytest.mark.parametrize(
    ("state", "by", "output", "reason"),
    [
        ("CANCELLED", "1000", "", "Prolog error [root@4102444800]"),
        ("CANCELLED", "0", "", "dust [root@4102444800]"),
        ("CANCELLED", "0", "", "Prolog error [root@900]"),
    ],
    ids=["a person cancelled it", "drained for something else", "drained long before"],
)
def test_what_is_no_nodes_fault_stays_what_it_is(tmp_path: Path, state: str, by: str, output: str, reason: str) -> None:
    found = looker(
        tmp_path, output, nodes("n001 BootTime=9", f"n002 BootTime=9 Reason={reason}"), state=state, end=4102444801
    )
    found.end(143, told="TERM")
    found.slurm.memory = {"": [record(state=f"{state} by {by}", NodeList="n[001-002]")]}
    report = found.one(JOB)
    assert report is not None
    assert (report.state, report.failed_nodes) == ("cancelled", ())


def quiet(tmp_path: Path, told: dict[str, Ran], state: str = "COMPLETED") -> Looker:
    """A payload that ended with 0 and wrote nothing of a node; its claim is of 4102444700, by the file system's clock."""
    found = looker(tmp_path, "hello\n", told, state=state, start=4102444700, end=4102444800)
    os.utime(found.places.claim("j000001", 0), (0, 4102444702.0))
    found.end(0)
    return found


@pytest.mark.parametrize(
    ("booted", "charged"), [(4102444702, ()), (4102444703, ("n002",)), (4102444800, ("n002",)), (4102444801, ())]
)
def test_a_node_that_was_booted_under_a_payload_that_says_nothing(
    tmp_path: Path, booted: int, charged: tuple[str, ...]
) -> None:
    """Started by mpirun, or with its errors thrown away. A node that is booted before it began, or once it is over, is none."""
    found = quiet(tmp_path, nodes("n001 BootTime=900 State=IDLE", f"n002 BootTime={booted} State=IDLE"))
    report = found.look(JOB)["j000001"]
    assert (report.state, report.failed_nodes) == ("node_fail" if charged else "completed", charged)
    assert report.message == ("n002 was booted while the job ran" if charged else "")


def test_the_node_that_wrote_the_end_mark_was_there_until_the_end(tmp_path: Path) -> None:
    """It lost power right after it, and Slurm calls the job running until it hears of that."""
    found = quiet(tmp_path, nodes("n001 BootTime=4102444790 State=IDLE", "n002 BootTime=900 State=IDLE"))
    claim = found.places.claim("j000001", 0)
    claim.write_text(claim.read_text().replace(" .\n", " node=n001 .\n"))
    os.utime(claim, (0, 4102444702.0))
    assert found.look(JOB)["j000001"].state == "completed"


def test_when_the_time_limit_would_be_is_no_end(tmp_path: Path) -> None:
    """A controller that was rolled back takes a job that came to its end for one that runs."""
    found = quiet(tmp_path, {}, state="RUNNING")
    marks = read_marks(found.places, "j000001")
    row_of = QueueRow("7", "another name", "RUNNING", nodes="n[001-002]", start=4102444700.0, end=4102444820.0)
    report = weigh(Found(JOB, marks=marks, row=row_of))
    assert report is not None and (report.state, report.over) == ("running", None), (
        "its mark may be of anybody's making"
    )
    report = weigh(Found(JOB, marks=marks, row=structs.replace(row_of, state="STAGE_OUT"), doubt_s=61.0))
    assert report is not None and (report.state, report.over) == ("completed", None)
    report = weigh(Found(JOB, marks=marks, row=structs.replace(row_of, state="COMPLETED")))
    assert report is not None and (report.state, report.over) == ("completed", 4102444820.0)


def test_nothing_is_said_before_every_node_has_answered(tmp_path: Path) -> None:
    """Slurm calls a job COMPLETING until then: the boot of a node that is away is registered by the time that it is over."""
    found = quiet(tmp_path, dict(NOTHING_YET), state="COMPLETING")
    for seconds in (0, 11, 30):
        assert found.look(JOB, after=seconds) == {}
    found.slurm.queue = {"": [row(nodes="n[001-002]", start=4102444700, end=4102444800, state="COMPLETED")]}
    found.slurm.answers |= nodes("n001 BootTime=900", "n002 BootTime=4102444750")
    assert found.look(JOB, after=1.0) == {}, "it was asked a second ago: that answer may be older than the last node's"
    assert found.look(JOB, after=9.0)["j000001"].failed_nodes == ("n002",)


@pytest.mark.parametrize(("state", "charged"), [("IDLE*", ("n002",)), ("IDLE+COMPLETING", ())])
def test_a_node_that_never_answered_since_the_jobs_end(tmp_path: Path, state: str, charged: tuple[str, ...]) -> None:
    """An epilog may take long; a node that is away did not see the job's end."""
    told = nodes("n001 BootTime=900 State=IDLE", f"n002 BootTime=900 State={state}")
    found = quiet(tmp_path, told, state="COMPLETING")
    assert found.look(JOB) == {}
    report = found.look(JOB, after=61.0)["j000001"]
    assert (report.state, report.failed_nodes) == ("node_fail" if charged else "completed", charged)


def test_many_jobs_are_one_question_and_a_controller_that_tells_nothing_is_not_waited_for(tmp_path: Path) -> None:
    slurm = FakeSlurm()
    found = Looker(tmp_path, slurm)
    jobs = [Asked(f"j{number:06}", str(number), since=1000.0) for number in range(1, 6)]
    slurm.queue[""] = [row(job.id, job.scheduler_id, "COMPLETED", nodes="n[001-002]", start=1000) for job in jobs]
    for job in jobs:
        found.begin(job.id, id=job.scheduler_id, nodes="n[001-002]")
        found.end(0, job.id)
    reports = found.look(*jobs)
    assert {report.state for report in reports.values()} == {"completed"} and len(reports) == 5
    assert [command[-1] for command in slurm.asked if command[0] == "scontrol"] == ["n[001-002]"]
    found.asker.look([], lambda _: None)
    assert slurm.count("scontrol") == 1


def test_a_controller_that_is_away_is_waited_for(tmp_path: Path) -> None:
    found = quiet(tmp_path, {"scontrol": DOWN})
    assert found.look(JOB) == {}
    found.slurm.queue = {"": DOWN}
    assert found.look(JOB, after=300.0) == {}
    assert found.look(JOB, after=301.0)["j000001"].state == "completed"


def test_a_job_on_one_node_asks_nothing(tmp_path: Path) -> None:
    found = looker(tmp_path, "hello\n", nodes("n001 BootTime=4102444800"), nodes="n001", end=4102444801)
    found.begin()
    found.end(0)
    report = found.look(JOB)["j000001"]
    assert report.state == "completed"
    assert found.slurm.count("scontrol") == 0


@pytest.mark.parametrize(("boot", "state"), [(4102444800, "node_fail"), (900, "timeout")])
def test_a_job_on_one_node_that_was_booted_under_it_was_not_ended_by_its_time_limit(
    tmp_path: Path, boot: int, state: str
) -> None:
    """The controller was away while the node was, and takes the job for one that runs."""
    told = nodes(f"n001 BootTime={boot} SlurmdStartTime={boot}")
    found = looker(tmp_path, "hello\n", told, nodes="n001", state="TIMEOUT", end=4102444801)
    found.begin()
    report = found.one(JOB)
    assert report is not None and report.state == state
    assert report.failed_nodes == (("n001",) if state == "node_fail" else ())


def test_a_job_that_lost_nodes_while_it_ran_is_not_what_was_asked_for(tmp_path: Path) -> None:
    """``scontrol update jobid=7 numnodes=1``."""
    found = looker(tmp_path, "hello\n", {}, nodes="n001")
    found.end(0)
    report = found.one(JOB)
    assert report is not None
    assert report.state == "interrupted"
    assert report.message == "n002 was taken from it at the scheduler while it ran on n[001-002]"


def test_a_job_that_is_completing_is_shown_with_the_nodes_that_are_not_clean_yet(tmp_path: Path) -> None:
    found = looker(tmp_path, "hello\n", {}, state="COMPLETING", nodes="n001")
    found.end(0)
    assert found.look(JOB) == {}, "its nodes may have been booted under it"
    found.slurm.queue = {"": [row(state="COMPLETED", nodes="n[001-002]", start=1000, end=1030)]}
    report = found.look(JOB, after=60.0)["j000001"]
    assert (report.state, report.message) == ("completed", "")


@pytest.mark.parametrize(
    ("line", "nodes"),
    [
        (PROLOG, ("n002",)),
        (ABORTED, ()),
        ("slurmstepd-n001: error: Prolog failure on node n[002-003]", ("n002", "n003")),
        ("srun: error: Unable to create step for job 9: Invalid job", ()),
        ("my program says: srun: Job step aborted", None),
        ("", None),
    ],
)
def test_the_words_of_a_step_that_was_given_up(line: str, nodes: tuple[str, ...] | None) -> None:
    assert broken_step(f"hello\n{line}\nbye\n") == (None if nodes is None else Step(line, nodes))


def started_twice(tmp_path: Path) -> Looker:
    """It began on n001; a controller that was rolled back began it again on n003, where it found its claim taken."""
    slurm = FakeSlurm({"": [row(state="FAILED", nodes="n003", exit=97 << 8)]})
    found = Looker(tmp_path, slurm)
    claim = found.places.claim("j000001", 0)
    claim.parent.mkdir(parents=True)
    claim.write_text("job=7 host=n001 uptime=100.00 pid=9 nodes=n001 node=n001 .\n")
    return found


def test_a_start_that_a_rolled_back_controller_copied_is_waited_for(tmp_path: Path) -> None:
    found = started_twice(tmp_path)
    report = found.one(JOB)
    assert report is not None
    assert (report.state, report.nodes) == ("running", "n001")
    assert report.message.endswith("the first one is waited for")
    found.end(0)
    report = found.one(JOB)
    assert report is not None
    assert (report.state, report.exit_status, report.nodes) == ("completed", 0, "n001")


def test_a_copied_start_that_slurmd_ended_is_over(tmp_path: Path) -> None:
    found = started_twice(tmp_path)
    found.slurm_says("slurmstepd-n001: error: *** REASON: Resources ***\nclaim.0: File exists\n")
    report = found.one(JOB)
    assert report is not None
    assert (report.state, report.nodes) == ("interrupted", "n001")


# ---- a start that was put back into the queue while nobody looked --------------------------------------------------------------


@pytest.mark.parametrize("listed", [False, True], ids=["no list of finished jobs", "the later start is on the list"])
@pytest.mark.parametrize(
    ("restart", "reasons", "charged"), [(1, (100, 101, 99), "n001"), (1, (100, 100, 99), ""), (2, (100, 101, 99), "")]
)
def test_a_launch_failure_is_charged_to_the_node_that_was_drained_in_that_moment(
    tmp_path: Path, restart: int, reasons: tuple[int, ...], charged: str, listed: bool
) -> None:
    """The job went on elsewhere and passed: that node is not charged. Of two nodes, or of two restarts, nobody can tell."""
    drained = zip(("n001", "n002", "n003"), reasons, strict=True)
    told = "".join(f"NodeName={node} Reason=Prolog error [root@{at}]\n" for node, at in drained if at != 99)
    finished = tmp_path / "jobcomp.log"
    finished.write_text(f"JobId=7 Name=sd-{TOKEN}-j000001 JobState=COMPLETED NodeList=n004 ExitCode=0:0 \n")
    job = f"JobId=7 SubmitTime=100 Restarts={restart}\n"
    if listed:
        job += f"JobCompLoc              = {finished}\nJobCompType             = jobcomp/filetxt\n"
    slurm = FakeSlurm({"": []}, memory={"": NO_ACCOUNTING}, answers={"scontrol": Ran(0, job + told)})
    found = Looker(tmp_path, slurm)
    found.slurm_says("slurmd: error: Error running slurm prolog: 1\n")
    found.begin(restart=restart, nodes="n004")
    found.end(0, restart=restart)
    report = found.one(JOB)
    assert report is not None and (report.state, report.restart, report.cause) == ("requeued", restart, "node_fail")
    assert (report.launch_failure, report.nodes) == (True, charged)
    assert report.failed_nodes == ((charged,) if charged else ())


@pytest.mark.parametrize(("at", "charged"), [(100, "n001"), (104, "n001"), (106, ""), (94, "")])
def test_where_slurmd_writes_nothing_of_its_prolog_the_moment_tells(tmp_path: Path, at: int, charged: str) -> None:
    """Slurm 24.11 writes nothing into the output of a job whose prolog failed."""
    told = f"JobId=7 SubmitTime=100 Restarts=1\nNodeName=n001 Reason=Prolog error [root@{at}]\n"
    slurm = FakeSlurm({"": []}, memory={"": NO_ACCOUNTING}, answers={"scontrol": Ran(0, told)})
    found = Looker(tmp_path, slurm)
    found.begin(restart=1, nodes="n004")
    found.end(0, restart=1)
    report = found.one(JOB)
    assert report is not None and (report.state, report.restart, report.nodes) == ("requeued", 1, charged)
    assert (report.launch_failure, report.cause) == ((True, "node_fail") if charged else (False, ""))
    assert report.message == (
        "launch failure on n001: Slurm took it back before it took its claim; Prolog error" if charged else ""
    )
