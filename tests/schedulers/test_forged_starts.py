"""Marks of a start that Slurm does not know of, claims that name the conductor, outputs that are gone: what a payload can make."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_slurm import DOWN, NO_ACCOUNTING, NO_DATABASE, Looker, record, row

from shakedown.model.ports import JobReport
from shakedown.schedulers.cluster.job_script import FOUL_MARKS
from shakedown.schedulers.slurm.job_evidence import Asked
from shakedown.schedulers.slurm.runner import Ran

JOB = Asked("j000001", "7", 0, 0.0)
FORGED = "there are marks of its restart 1, and Slurm knows of none: somebody else wrote them"


@pytest.fixture
def looker(tmp_path: Path) -> Looker:
    """The job ran and failed; its payload, or another one, made marks of a restart that ended well."""
    looker = Looker(tmp_path)
    looker.begin()
    looker.end(1)
    looker.begin(restart=1)
    looker.end(0, restart=1)
    return looker


def told(report: JobReport | None) -> tuple[str, int, int | None, str]:
    assert report is not None and report.output.get("doubt", "") == report.doubt
    return report.state, report.restart, report.exit_status, report.doubt


@pytest.mark.parametrize("trouble", ["", "over"])
def test_a_start_that_the_queue_does_not_count(looker: Looker, trouble: str) -> None:
    looker.end(0, restart=1, trouble=trouble)
    looker.slurm.queue[""] = [row(state="FAILED", exit=1 << 8)]
    assert looker.look(JOB) == {}, "it may have been put back since the queue was asked"
    assert told(looker.look(JOB, after=11.0)[JOB.id]) == ("failed", 0, 1, FORGED)


def test_a_start_that_accounting_does_not_count(looker: Looker) -> None:
    looker.slurm.memory[""] = [record(state="FAILED", ExitCode="1:0")]
    assert looker.look(JOB) == {}
    assert told(looker.look(JOB, after=11.0)[JOB.id]) == ("failed", 0, 1, FORGED)


def test_a_job_without_an_end_mark_of_its_own(looker: Looker) -> None:
    looker.places.marks(JOB.id, 0).unlink()
    looker.slurm.queue[""] = [row(state="TIMEOUT")]
    assert told(looker.one(JOB)) == ("timeout", 0, None, FORGED)


def test_of_several_starts_those_count_that_slurm_knows(looker: Looker) -> None:
    looker.begin(restart=5)
    looker.end(0, restart=5)
    looker.slurm.queue[""] = [row(state="COMPLETED", restart=1)]
    looker.slurm.memory[""] = [record(state="NODE_FAIL", Submit=1), record(state="COMPLETED", Submit=2)]
    said = told(looker.one(JOB))
    assert said[:2] == ("requeued", 1)
    doubt = "there are marks of its restart 5, and Slurm knows of restart 1: somebody else wrote them"
    assert told(looker.one(Asked(JOB.id, "7", 1))) == ("completed", 1, 0, doubt)


def test_a_start_that_slurm_counts_is_one(looker: Looker) -> None:
    for queue, memory in (
        ([row(state="COMPLETED", restart=1)], []),
        ([], [record(state="REQUEUED", Submit=1), record(state="COMPLETED", Submit=2)]),
    ):
        looker.slurm.queue[""], looker.slurm.memory[""] = queue, memory
        report = Looker(looker.root, looker.slurm).one(JOB)
        assert report is not None and (report.state, report.restart, report.doubt) == ("requeued", 1, "")


LATE = {"lost": "NODE_FAIL", "put back": "REQUEUED", "cancelled": "CANCELLED by 0", "not over yet": "RUNNING"}


def kept(messages: int) -> Ran:
    """What sdiag prints of messages that the controller keeps for its database."""
    return Ran(
        0, f"Server thread count:  1\nAgent queue size:    3\nDBD Agent queue size: {messages}\n\nJobs submitted: 9\n"
    )


@pytest.mark.parametrize("state", LATE.values(), ids=LATE)
def test_a_start_that_accounting_tells_late_is_one(looker: Looker, state: str) -> None:
    """The controller has forgotten the job, and keeps a thousand messages for its database."""
    looker.slurm.answers["sdiag"] = kept(1000)
    looker.slurm.memory[""] = [record(state=state, Submit=1)]
    for _ in range(40):
        assert looker.look(JOB, after=5.0) == {}
    looker.slurm.memory[""] = [record(state=state, Submit=1), record(state="COMPLETED", Submit=2)]
    reports = [report for _ in range(40) for report in looker.look(JOB, after=5.0).values()]
    assert {(report.state, report.restart, report.doubt) for report in reports} == {("requeued", 1, "")}


@pytest.mark.parametrize("state", LATE.values(), ids=LATE)
def test_a_start_is_none_that_accounting_does_not_count_once_it_has_all(looker: Looker, state: str) -> None:
    """That there is nothing left to be told is of use once accounting is asked again."""
    looker.slurm.memory[""] = [record(state=state, Submit=1)]
    looker.slurm.answers["sdiag"] = kept(1)
    looker.settle(JOB)
    looker.slurm.answers["sdiag"] = kept(0)
    said = [looker.look(JOB, after=5.0).get(JOB.id) for _ in range(8)]
    first = next(report for report in said if report is not None)
    assert first.doubt.endswith(FORGED) and said[0] is None


def test_where_nobody_says_how_late_accounting_is_it_has_a_minute(looker: Looker) -> None:
    looker.slurm.memory[""] = [record(state="NODE_FAIL", Submit=1)]
    said = [looker.look(JOB, after=5.0).get(JOB.id) for _ in range(20)]
    assert not any(said[:12])
    assert {report.doubt for report in said if report is not None} == {FORGED}


def test_a_count_that_is_not_asked_for_at_each_look_is_waited_for(looker: Looker) -> None:
    """After a while accounting is asked now and then only. What it said before still stands."""
    looker.slurm.answers["sdiag"] = kept(5)
    looker.slurm.memory[""] = [record(state="NODE_FAIL", Submit=1)]
    for _ in range(200):
        assert looker.look(JOB, after=1.0) == {}
    assert looker.slurm.count("sacct") < 60


@pytest.mark.parametrize("silent", [NO_ACCOUNTING, NO_DATABASE], ids=["off", "away"])
@pytest.mark.parametrize("queue", ["empty", "down"])
def test_a_start_is_one_where_nobody_can_be_asked(looker: Looker, silent: object, queue: str) -> None:
    looker.slurm.queue[""] = DOWN if queue == "down" else []
    looker.slurm.memory[""] = silent  # type: ignore[assignment]
    report = looker.one(JOB)
    assert report is not None and (report.state, report.restart, report.doubt) == ("requeued", 1, "")


def test_a_job_that_was_put_back_while_the_files_were_read(looker: Looker) -> None:
    """The queue is asked first. A moment later it knows."""
    looker.slurm.queue[""] = [row(state="COMPLETING")]
    assert looker.look(JOB) == {}
    looker.slurm.queue[""] = [row(state="COMPLETED", restart=1)]
    report = looker.look(JOB, after=11.0)[JOB.id]
    assert (report.state, report.restart, report.doubt) == ("requeued", 1, "")


# ---- a claim that names the conductor ------------------------------------------------------------------------------------

CHANGED = "its claim was changed or removed while it ran"


@pytest.fixture
def conductors(tmp_path: Path) -> Looker:
    """A job whose claim says that the conductor has it."""
    looker = Looker(tmp_path)
    looker._write(looker.places.claim(JOB.id, 0), "conductor\n")
    return looker


def test_a_payload_that_writes_the_conductor_into_its_claim(conductors: Looker) -> None:
    """It ran to its end: no node failed to launch it."""
    conductors.end(0)
    conductors.slurm.queue[""] = [row(state="FAILED", exit=FOUL_MARKS << 8, nodes="n001")]
    assert told(conductors.one(JOB)) == ("completed", 0, 0, CHANGED)


def test_an_output_shows_that_it_ran(conductors: Looker) -> None:
    conductors._write(conductors.places.output(JOB.id, 0), "")
    conductors.slurm.queue[""] = [row(state="FAILED", exit=9, nodes="n001")]
    report = conductors.one(JOB)
    assert report is not None and not report.launch_failure
    assert (report.state, report.cause) == ("interrupted", "killed")


def test_a_payload_that_removes_all_that_there_is_of_its_job(tmp_path: Path) -> None:
    looker = Looker(tmp_path)
    looker.slurm.queue[""] = [row(state="FAILED", exit=FOUL_MARKS << 8, nodes="n001")]
    report = looker.one(JOB)
    assert report is not None and not report.launch_failure
    doubt = "its payload ended, and its claim and its marks are gone: somebody removed them"
    assert told(report) == ("failed", 0, FOUL_MARKS, doubt)


def test_a_claim_that_the_conductor_took_is_one(conductors: Looker) -> None:
    conductors.slurm.queue[""] = [row(state="FAILED", exit=9, nodes="n001")]
    report = conductors.one(JOB)
    assert report is not None and report.launch_failure and not report.doubt
