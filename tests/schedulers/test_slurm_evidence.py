"""What is reported of a job, from what its sources say or do not say."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fake_slurm import DOWN, NO_ACCOUNTING, NO_DATABASE, TOKEN, FakeSlurm, Looker, cluster, record, row

from shakedown.model.ports import JOB_STATES, JobReport
from shakedown.schedulers.output_sums import damage_of_output
from shakedown.schedulers.slurm.job_evidence import Asked
from shakedown.schedulers.slurm.runner import Ran
from shakedown.schedulers.slurm.versions import SEPARATOR

JOB = Asked("j000001", "7", 0, 0.0)


@pytest.fixture
def looker(tmp_path: Path) -> Looker:
    return Looker(tmp_path)


# ---- alive ----


def test_a_waiting_job_and_why_it_waits(looker: Looker) -> None:
    looker.slurm.queue[""] = [row(state="PENDING", reason="JobHeldUser")]
    report = looker.one(JOB, settled=False)
    assert report is not None and (report.state, report.message, report.began) == (
        "queued",
        "JobHeldUser (it is held)",
        None,
    )


@pytest.mark.parametrize("reason", ["Priority", "Resources"])
def test_a_reason_that_asks_for_patience_alone_is_not_told(looker: Looker, reason: str) -> None:
    looker.slurm.queue[""] = [row(state="PENDING", reason=reason)]
    report = looker.one(JOB, settled=False)
    assert report is not None and (report.state, report.message) == ("queued", "")
    looker.slurm.queue[""] = [row(state="CANCELLED", reason=reason)]
    looker.slurm.memory[""] = [record(state="CANCELLED by 1000")]
    report = looker.one(JOB, settled=False)
    assert report is not None and (report.state, report.message) == ("cancelled", "by user id 1000")


def test_a_running_job_costs_one_squeue_and_no_look_at_files(looker: Looker) -> None:
    looker.slurm.queue[""] = [row(nodes="n[001-002]", start=1795337739)]
    report = looker.one(JOB, settled=False)
    assert report is not None and (report.state, report.nodes, report.began) == ("running", "n[001-002]", 1795337739.0)
    assert [command[0] for command in looker.slurm.asked] == ["squeue"]


def test_however_many_jobs_one_squeue_and_one_sacct(looker: Looker) -> None:
    jobs = [Asked(f"j{n:06}", str(n)) for n in range(1, 401)]
    looker.slurm.queue[""] = [row(job.id, job.scheduler_id) for job in jobs[:200]]
    looker.slurm.memory[""] = [record(job.id, job.scheduler_id, "TIMEOUT") for job in jobs[200:]]
    reports = looker.look(*jobs)
    assert len(reports) == 400
    assert (looker.slurm.count("squeue"), looker.slurm.count("sacct")) == (1, 1)


@pytest.mark.parametrize(
    ("told", "halted_s"), [("00:03:20", 200.0), ("1-00:00:00", 86400.0), ("00:00:00", 0.0), ("", None)]
)
def test_accounting_tells_for_how_long_a_job_was_suspended_that_the_controller_forgot(
    looker: Looker, told: str, halted_s: float | None
) -> None:
    looker.begin()
    looker.end(0)
    looker.slurm.memory[""] = [record(Start="1795337000", End="1795337739", Suspended=told)]
    report = looker.one(JOB)
    assert report is not None and (report.state, report.halted_s) == ("completed", halted_s)


@pytest.mark.parametrize("state", ["SUSPENDED", "COMPLETING", "STAGE_OUT"])
def test_still_running_for_us(looker: Looker, state: str) -> None:
    looker.begin()
    looker.slurm.queue[""] = [row(state=state)]
    report = looker.one(JOB)
    assert report is not None and report.state == "running"
    assert looker.slurm.count("sacct") == 0


def test_an_unknown_state_is_told(looker: Looker) -> None:
    looker.slurm.queue[""] = [row(state="GONE_FISHING")]
    report = looker.one(JOB)
    assert report is not None and report.state == "unknown" and "'GONE_FISHING'" in report.message


# ---- ended by itself ----


def test_the_end_mark_is_believed_first(looker: Looker) -> None:
    looker.begin()
    looker.end(0)
    os.utime(looker.places.claim(JOB.id, 0), (0, 50.75))
    looker.slurm.queue[""] = [row(state="NODE_FAIL", nodes="n001", start=50, end=60)]
    report = looker.one(JOB, settled=False)
    assert report is not None
    assert (report.state, report.source, report.exit_status, report.elapsed_s) == ("completed", "marks", 0, 2.5)
    assert (report.began, report.over, report.nodes) == (50.75, 60.0, "n001"), (
        "when it took its claim, to the millisecond"
    )
    assert report.output["directory"] == "work/000/j000001.0"
    assert looker.slurm.count("sacct") == 0


def test_an_end_mark_is_enough_while_nobody_answers(looker: Looker) -> None:
    looker.begin()
    looker.end(3)
    looker.slurm.queue[""], looker.slurm.memory[""] = DOWN, NO_DATABASE
    report = looker.one(JOB, settled=False)
    assert report is not None and (report.state, report.exit_status) == ("failed", 3)


def test_what_killed_it_is_waited_for(looker: Looker) -> None:
    looker.begin()
    looker.end(137)
    looker.slurm.queue[""] = [row(state="COMPLETING")]
    assert (report := looker.one(JOB, settled=False)) is not None and report.state == "running"
    looker.slurm.queue[""] = [row(state="OUT_OF_MEMORY")]
    assert (report := looker.one(JOB, settled=False)) is not None
    assert (report.state, report.exit_status, report.message) == ("failed", 137, "it ran out of memory")


@pytest.mark.parametrize(
    ("word", "state"),
    [("TIMEOUT", "timeout"), ("NODE_FAIL", "node_fail"), ("PREEMPTED", "interrupted")],
)
@pytest.mark.parametrize("source", ["queue", "memory"])
def test_a_payload_that_slurm_killed_before_its_script_was_told(
    looker: Looker, word: str, state: str, source: str
) -> None:
    """Slurm signals a job's processes one after the other; the payload's end may be written before the script hears of it."""
    looker.begin()
    looker.end(143)
    if source == "queue":
        looker.slurm.queue[""] = [row(state=word)]
    else:
        looker.slurm.memory[""] = [record(state=word)]
    report = looker.one(JOB, settled=False)
    assert report is not None and report.state == state


def test_a_payload_that_a_signal_killed_and_nobody_knows_more(looker: Looker) -> None:
    looker.begin()
    looker.end(139)
    assert looker.one(JOB, settled=False) is None, "accounting may be late"
    report = looker.one(JOB)
    assert report is not None and (report.state, report.exit_status) == ("failed", 139)


def test_a_claim_of_the_conductor_is_no_sign_of_life(looker: Looker) -> None:
    assert looker.places.take_claim("j000001", 0)
    report = looker.one(JOB)
    assert report is not None and report.state == "absent"


def test_a_glance_sees_end_marks_and_leaves_their_word_to_a_look(looker: Looker) -> None:
    looker.begin()
    looker.end(0)
    looker.begin("j000002")
    looker.begin("j000003")
    looker.end(139, "j000003")
    reports: list[JobReport] = []
    assert looker.asker.glance([JOB, Asked("j000002"), Asked("j000004")], reports.extend)
    assert looker.asker.glance([Asked("j000003")], reports.extend)
    assert not looker.asker.glance([Asked("j000002"), Asked("j000004")], reports.extend)
    assert (reports, looker.slurm.asked) == ([], []), "who wrote the marks only Slurm can tell"


# ---- ended by others ----


def test_a_time_limit(looker: Looker) -> None:
    looker.begin()
    looker.end(143, told="TERM")
    looker.slurm.queue[""] = [row(state="TIMEOUT", reason="TimeLimit", nodes="n001")]
    report = looker.one(JOB, settled=False)
    assert report is not None and (report.state, report.elapsed_s, report.exit_status) == ("timeout", 2.5, None)


def test_a_lost_node_is_named_and_explained_once(looker: Looker) -> None:
    looker.begin(nodes="n[001,007]")
    looker.slurm.queue[""] = [row(state="NODE_FAIL", reason="NodeDown", nodes="n[001,007]")]
    said = "\x1f".join(("n001", "mixed", "none")) + "\n" + "\x1f".join(("n007", "down*", "Not responding")) + "\n"
    looker.slurm.answers["sinfo"] = Ran(0, said)
    report = looker.one(JOB, settled=False)
    assert report is not None and (report.state, report.nodes) == ("node_fail", "n[001,007]")
    assert report.message == "Slurm lost a node of n[001,007]; n007 is down* (Not responding)"
    looker.look(JOB, after=5.0)
    assert looker.slurm.count("sinfo") == 1


def test_a_job_that_lost_a_node_is_dead_once_all_its_nodes_answer_again(looker: Looker) -> None:
    looker.begin()
    looker.slurm.queue[""] = [row(state="NODE_FAIL", nodes="n001")]
    looker.slurm.answers["sinfo"] = Ran(0, "n001\x1fdown*\x1fNot responding\n")
    assert looker.look(JOB)["j000001"].state == "node_fail"
    assert looker.look(JOB, after=40.0)["j000001"].state == "node_fail"
    looker.slurm.answers["sinfo"] = Ran(0, "n001\x1fdrained\x1fafter a crash\n")
    assert looker.look(JOB, after=5.0)["j000001"].state == "node_fail"
    assert looker.slurm.count("sinfo") == 2
    report = looker.look(JOB, after=40.0)["j000001"]
    assert report.state == "interrupted" and "answer again" in report.message


def test_someone_elses_scancel_says_who(looker: Looker) -> None:
    looker.begin()
    looker.slurm.queue[""] = [row(state="CANCELLED", nodes="n001")]
    looker.slurm.memory[""] = [record(state="RUNNING")]
    assert looker.one(JOB, settled=False) is None
    looker.slurm.memory[""] = [record(state="CANCELLED by 1000", ExitCode="0:15")]
    report = looker.one(JOB, settled=False)
    assert report is not None and (report.state, report.message) == ("cancelled", "by user id 1000")


def test_cancelled_while_it_waited_without_accounting(looker: Looker) -> None:
    looker.slurm.queue[""] = [row(state="CANCELLED")]
    looker.slurm.memory[""] = NO_ACCOUNTING
    report = looker.one(JOB, settled=False)
    assert report is not None and report.state == "cancelled"


def test_why_a_job_waited_is_not_told_as_why_it_was_cancelled(looker: Looker) -> None:
    looker.slurm.queue[""] = [row(state="CANCELLED", reason="JobHeldUser")]
    looker.slurm.memory[""] = NO_ACCOUNTING
    report = looker.one(JOB, settled=False)
    assert report is not None and report.message == "while it waited: JobHeldUser (it is held)"


@pytest.mark.parametrize("known", ["by its claim", "by accounting alone"])
@pytest.mark.parametrize("who", ["CANCELLED by 0", "RUNNING"])
def test_cancelled_while_a_controller_that_lost_its_memory_had_it_wait_again(
    looker: Looker, known: str, who: str
) -> None:
    """Why it waited then, a node that was drained, says nothing of it."""
    if known == "by its claim":
        looker.begin(nodes="n002")
    looker.slurm.queue[""] = [row(state="CANCELLED", reason="ReqNodeNotAvail, UnavailableNodes:n001")]
    looker.slurm.memory[""] = [record(state=who, NodeList="n002", Start=1_000_000)]
    report = looker.one(JOB)
    by = "by user id 0; " if who.startswith("CANCELLED") else ""
    said = f"{by}it had begun on n002; the controller forgot that, and had it wait again"
    assert report is not None and (report.state, report.message) == ("cancelled", said)
    assert not report.launch_failure


def test_preempted_for_good(looker: Looker) -> None:
    looker.begin()
    looker.slurm.queue[""] = [row(state="PREEMPTED")]
    report = looker.one(JOB, settled=False)
    assert report is not None and (report.state, report.message) == ("interrupted", "it was preempted by other work")


def test_killed_without_an_end_mark(looker: Looker) -> None:
    looker.begin()
    looker.slurm.queue[""] = [row(state="FAILED", reason="JobLaunchFailure", exit="9")]
    assert looker.one(JOB, settled=False) is None, "its end mark may be on its way"
    report = looker.one(JOB)
    assert report is not None and (report.state, report.exit_status, report.cause) == ("interrupted", None, "killed")
    assert report.message == "its job script was ended by signal 9 (SIGKILL), and how its payload ended is not known"


def test_a_kill_for_want_of_memory_is_no_kill_from_outside(looker: Looker) -> None:
    looker.begin()
    looker.slurm.queue[""] = [row(state="OUT_OF_MEMORY", exit="9")]
    report = looker.one(JOB)
    assert report is not None and (report.state, report.message) == ("failed", "it ran out of memory")


@pytest.mark.parametrize("source", ["queue", "memory"])
def test_told_to_end_and_slurm_forgot_why(looker: Looker, source: str) -> None:
    """A requeue that a killed controller forgot: it calls the job failed, and the end mark says that it was told to end."""
    looker.begin()
    looker.end(143, told="TERM")
    if source == "queue":
        looker.slurm.queue[""] = [row(state="FAILED", reason="NonZeroExitCode", exit="143")]
    else:
        looker.slurm.memory[""] = [record(state="FAILED", ExitCode="143:0")]
    report = looker.one(JOB)
    assert report is not None and (report.state, report.cause) == ("interrupted", "killed")
    assert report.message == "it was told to end (TERM), and no source says by whom"


def test_a_job_that_never_began_was_refused(looker: Looker) -> None:
    looker.slurm.queue[""] = [row(state="FAILED", reason="JobLaunchFailure", exit="53", nodes="n001")]
    report = looker.one(JOB, settled=False)
    assert report is not None and report.state == "refused"
    assert report.message == (
        "Slurm started it on n001 and it ended (FAILED) before it took its claim; "
        "its output file or work directory could not be opened"
    )


@pytest.mark.parametrize("source", ["queue", "memory"])
@pytest.mark.parametrize(
    ("word", "reason", "why"),
    [
        ("NODE_FAIL", "None", "its partition or its nodes may have been removed"),
        ("DEADLINE", "DeadLine", "its deadline passed"),
    ],
)
def test_a_job_that_was_ended_while_it_waited_never_ran(
    looker: Looker, word: str, reason: str, why: str, source: str
) -> None:
    """A partition that goes away takes its waiting jobs along as NODE_FAIL: no node of theirs failed, for they had none."""
    if source == "queue":
        looker.slurm.queue[""] = [row(state=word, reason=reason)]
    else:
        looker.slurm.memory[""] = [record(state=word, NodeList="None assigned")]
    assert looker.one(JOB, settled=False) is None, "its claim may be on its way"
    report = looker.one(JOB)
    assert report is not None
    assert (report.state, report.message) == ("refused", f"Slurm ended it while it waited ({word}); {why}")
    looker.begin()
    report = looker.one(JOB)
    assert report is not None and report.state == ("node_fail" if word == "NODE_FAIL" else "timeout"), "it had begun"


@pytest.mark.parametrize(("status", "state"), [(0, "completed"), (4, "failed")])
def test_a_payload_that_removed_its_claim_and_marks_did_run(looker: Looker, status: int, state: str) -> None:
    """Its script makes the output once it has its claim, so that one is there is proof; Slurm then says how it ended."""
    looker.places.output(JOB.id, 0).parent.mkdir(parents=True)
    looker.places.output(JOB.id, 0).write_text("done")
    looker.slurm.queue[""] = [row(state="COMPLETED" if not status else "FAILED", exit=status << 8, nodes="n001")]
    report = looker.one(JOB)
    assert report is not None and (report.state, report.exit_status, report.nodes) == (state, status, "n001")
    assert report.output["file"] == "outputs/000/j000001.0.out" and report.output["bytes"] == 4


def test_a_second_start_of_a_forgetful_controller_is_no_failure_of_the_test(looker: Looker) -> None:
    looker.begin()
    looker.slurm.queue[""] = [row(state="FAILED", reason="NonZeroExitCode", exit=97 << 8, nodes="n001")]
    assert looker.one(JOB, settled=False) is None, "the first start may still write its end mark"
    report = looker.one(JOB)
    assert report is not None and (report.state, report.exit_status) == ("interrupted", None)
    assert report.message.startswith("Slurm started it a second time")


def test_an_end_of_a_start_that_is_younger_than_the_claim_is_no_end_of_the_first_one(looker: Looker) -> None:
    """A controller that lost its memory ended the job, and could not start it a second time: FAILED with exit status 1."""
    looker.begin()

    def ended(start: int) -> list[str]:
        return [row(state="FAILED", reason="NonZeroExitCode", exit=1 << 8, nodes="n001", start=start)]

    looker.slurm.queue[""] = ended(start=4102444800)
    assert looker.one(JOB, settled=False) is None, "the first start may still write its end mark"
    report = looker.one(JOB)
    assert report is not None and (report.state, report.exit_status) == ("interrupted", None)
    assert report.message == (
        "Slurm started it a second time, as a controller does that lost its memory; that start ended without a claim of its own, "
        "and the first one left no end mark"
    )
    looker.slurm.queue[""] = ended(start=1000)
    own = looker.one(JOB)
    assert own is not None and (own.state, own.exit_status) == ("failed", 1), "its own end: its claim is younger"


def test_a_start_of_accounting_that_is_younger_than_the_claim(looker: Looker) -> None:
    looker.begin()
    looker.slurm.memory[""] = [
        record(state="FAILED", ExitCode="1:0", NodeList="n002", Start=4102444800, End=4102444801)
    ]
    report = looker.one(JOB)
    assert report is not None and report.state == "running", "on n001 the first start may go on"


def test_a_claim_that_could_not_be_written_is_not_told_as_a_second_start(looker: Looker) -> None:
    """On a full file system the claim is made and stays empty: the script gives up, and nobody has the place."""
    looker.begin()
    looker.places.claim("j000001", 0).write_bytes(b"")
    looker.slurm.queue[""] = [row(state="FAILED", reason="NonZeroExitCode", exit=97 << 8, nodes="n001")]
    report = looker.one(JOB)
    assert report is not None and report.state == "refused"
    assert report.message.startswith("it could not write its claim, and ended without running")


def test_an_end_mark_counts_though_the_payload_removed_the_claim(looker: Looker) -> None:
    looker.begin()
    looker.end(5)
    looker.places.claim("j000001", 0).unlink()
    looker.slurm.queue[""] = [row(state="FAILED", reason="NonZeroExitCode", exit=5 << 8, nodes="n001")]
    report = looker.one(JOB)
    assert report is not None and (report.state, report.exit_status, report.elapsed_s) == ("failed", 5, 2.5)


def test_a_payload_may_end_with_the_same_status(looker: Looker) -> None:
    looker.begin()
    looker.end(97)
    looker.slurm.queue[""] = [row(state="FAILED", reason="NonZeroExitCode", exit=97 << 8)]
    report = looker.one(JOB, settled=False)
    assert report is not None and (report.state, report.exit_status) == ("failed", 97)


def test_trouble_on_the_node_is_a_refusal(looker: Looker) -> None:
    looker.begin()
    looker.end(trouble="place")
    report = looker.one(JOB, settled=False)
    assert report is not None and report.state == "refused" and "could not be opened" in report.message


# ---- out of the queue, and accounting ----


def test_sacct_that_cannot_be_run_for_a_moment_is_asked_again(looker: Looker) -> None:
    """A program directory that is away, or a machine without processes to spare, is not a site without accounting."""
    looker.slurm.memory[""] = busy = Ran(
        127, error="sacct cannot be run: Resource temporarily unavailable", for_now=True
    )
    report = looker.one(JOB)
    assert report is not None and (report.state, report.message) == (
        "no_answer",
        f"sacct: {busy.error}",
    )
    looker.slurm.memory[""] = Ran(127, error="sacct cannot be run: No such file or directory")
    report = looker.look(JOB, after=60.0)[JOB.id]
    assert report.state == "absent" and "there is no accounting here" in report.message
    looker.begin()
    looker.slurm.memory[""] = [record(state="TIMEOUT", NodeList="n001")]
    assert looker.look(JOB, after=600.0)[JOB.id].state == "timeout"


@pytest.mark.parametrize("state", ["FAILED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY"])
def test_why_a_job_once_waited_is_not_why_it_ended(looker: Looker, state: str) -> None:
    """Accounting keeps the last reason for which it waited."""
    looker.begin()
    looker.slurm.memory[""] = [record(state=state, NodeList="n001", Start=50, End=90, Reason="ReqNodeNotAvail")]
    report = looker.one(JOB)
    assert report is not None and report.source == "accounting"
    assert "ReqNodeNotAvail" not in report.message


def test_ended_while_we_were_away(looker: Looker) -> None:
    looker.slurm.memory[""] = [record(state="PREEMPTED", NodeList="n001", Start=50, End=90)]
    report = looker.one(JOB, settled=False)
    assert report is not None
    assert (report.state, report.source, report.began, report.over) == ("interrupted", "accounting", 50.0, 90.0)
    looker.begin()
    os.utime(looker.places.claim(JOB.id, 0), (0, 51.5))
    report = looker.one(JOB, settled=False)
    assert report is not None and (report.began, report.over) == (51.5, 90.0), "its claim knows better when it began"


def test_accounting_does_not_tell_some_exit_statuses(looker: Looker) -> None:
    looker.begin()
    looker.slurm.memory[""] = [record(state="FAILED", ExitCode="11:0")]
    report = looker.one(JOB)
    assert report is not None and report.exit_status == 11
    assert report.message == "accounting does not tell exit status 11 from 139"


def test_accounting_is_late(looker: Looker) -> None:
    looker.begin()
    assert looker.one(JOB, settled=False) is None, "a record may be some seconds late"
    looker.slurm.memory[""] = [record(state="NODE_FAIL", NodeList="n001")]
    report = looker.look(JOB, after=5.0)["j000001"]
    assert report.state == "node_fail"


def test_no_record_at_all(looker: Looker) -> None:
    looker.begin()
    report = looker.one(JOB)
    assert report is not None and report.state == "absent"
    assert report.message == (
        "the queue does not know it; accounting has no record of it; it began on n001 and left no end mark"
    )
    places = looker.places
    assert looker.places.layout.root / report.output["file"] == places.output(JOB.id, 0), (
        "it may be all that is left of it"
    )
    assert looker.places.layout.root / report.output["directory"] == places.directory(JOB.id, 0)


def test_of_a_job_that_never_began_nothing_is_left(looker: Looker) -> None:
    report = looker.one(JOB)
    assert report is not None and report.state == "absent" and report.output == {}


def test_a_record_that_ran_away(looker: Looker) -> None:
    looker.begin()
    looker.slurm.memory[""] = [record(state="RUNNING")]
    report = looker.one(JOB)
    assert report is not None and report.state == "absent"
    assert "accounting still calls it RUNNING" in report.message


def test_a_job_that_stays_away_is_asked_for_less_and_less_often(looker: Looker) -> None:
    looker.begin()
    for _ in range(3600 // 5):
        looker.look(JOB, after=5.0)
    assert looker.slurm.count("squeue") == 720
    assert looker.slurm.count("sacct") < 20


def test_nobody_answers(looker: Looker) -> None:
    looker.begin()
    looker.slurm.queue[""], looker.slurm.memory[""] = DOWN, NO_DATABASE
    report = looker.one(JOB)
    assert report is not None and report.state == "no_answer"
    assert "squeue: slurm_load_jobs error: Unable to contact" in report.message and "sacct: " in report.message


def test_accounting_alone_does_not_answer(looker: Looker) -> None:
    looker.slurm.memory[""] = NO_DATABASE
    report = looker.one(JOB)
    assert report is not None and (report.state, report.source) == ("no_answer", "accounting")


def test_accounting_answers_while_the_controller_does_not(looker: Looker) -> None:
    looker.begin()
    looker.slurm.queue[""] = DOWN
    looker.slurm.memory[""] = [record(state="TIMEOUT")]
    report = looker.one(JOB, settled=False)
    assert report is not None and report.state == "timeout"
    looker.slurm.memory[""] = [record(state="RUNNING")]
    assert (report := looker.one(JOB)) is not None and report.state == "no_answer"


def test_an_id_that_somebody_else_had_before_is_not_ours(looker: Looker) -> None:
    looker.slurm.queue[""] = [row(name="payroll", state="FAILED")]
    looker.slurm.memory[""] = [record(JobName="payroll", state="FAILED")]
    report = looker.one(JOB)
    assert report is not None and report.state == "absent"


def test_a_waiting_job_that_somebody_renamed_is_told_and_kept(looker: Looker) -> None:
    """It has the number that it was accepted with, and works where we told it to; a stranger's with that number does not."""
    looker.slurm.queue[""] = [row(state="PENDING", name="payroll", reason="Priority")]
    looker.slurm.answers["scontrol"] = Ran(
        0, f"JobId=7 JobName=payroll WorkDir={looker.places.control(JOB.id)} StdErr=x\n"
    )
    report = looker.one(JOB)
    assert report is not None and report.state == "queued"
    assert report.message == "somebody renamed it to payroll at the scheduler"
    assert looker.slurm.count("scontrol") == 1, "once for all looks"
    looker.slurm.queue[""] = [row(state="PENDING", name="other")]
    looker.slurm.answers["scontrol"] = Ran(0, "JobId=7 JobName=other WorkDir=/home/other StdErr=x\n")
    report = looker.look(JOB, after=100.0).get(JOB.id)
    assert report is not None and report.state == "absent"


def test_a_running_job_that_somebody_renamed_is_not_lost(looker: Looker) -> None:
    """Its claim tells its id, and the job with that id began before the claim was written, on the same node."""
    looker.begin()
    os.utime(looker.places.claim(JOB.id, 0), (0, 51.5))
    looker.slurm.queue[""] = [row(name="other", nodes="n001", start=51)]
    report = looker.one(JOB)
    assert report is not None and (report.state, report.nodes) == ("running", "n001")
    looker.slurm.queue[""] = [row(name="other", nodes="n001", start=51, state="TIMEOUT")]
    report = looker.one(JOB)
    assert report is not None and report.state == "timeout"


@pytest.mark.parametrize(("nodes", "start"), [("n001", 60), ("n002", 51), ("n001", 0)])
def test_a_stranger_with_the_id_of_ours_is_not_taken_for_ours_renamed(looker: Looker, nodes: str, start: int) -> None:
    looker.begin()
    os.utime(looker.places.claim(JOB.id, 0), (0, 51.5))
    looker.slurm.queue[""] = [row(name="payroll", nodes=nodes, start=start)]
    report = looker.one(JOB)
    assert report is not None and report.state == "absent"


# ---- without accounting ----


def without_accounting(looker: Looker, jobcomp: str = "") -> None:
    looker.slurm.memory[""] = NO_ACCOUNTING
    path = looker.root / "jobcomp.log"
    path.write_text(jobcomp)
    kind = "jobcomp/filetxt" if jobcomp else "jobcomp/none"
    looker.slurm.answers["scontrol"] = Ran(0, f"JobCompLoc              = {path}\nJobCompType             = {kind}\n")


def test_the_list_of_finished_jobs(looker: Looker) -> None:
    looker.begin()
    line = f"JobId=7 UserId=root(0) Name=sd-{TOKEN}-j000001 JobState=NODE_FAIL NodeList=n001 ExitCode=0:0 \n"
    without_accounting(looker, line)
    report = looker.one(JOB, settled=False)
    assert report is not None and (report.state, report.nodes) == ("node_fail", "n001")
    asked = looker.slurm.count("sacct")
    looker.look(JOB, after=60.0)
    assert looker.slurm.count("sacct") == asked, "that there is no accounting is asked once"


def test_slurms_last_words_in_the_jobs_own_output(looker: Looker) -> None:
    looker.begin()
    without_accounting(looker)
    looker.slurm_says(
        "slurmstepd-n001: error: *** JOB 7 ON n001 CANCELLED AT 2026-11-21T08:30:06 DUE TO TIME LIMIT ***\n"
    )
    report = looker.one(JOB)
    assert report is not None and (report.state, report.source) == ("timeout", "marks")


def test_nothing_is_left_but_its_claim(looker: Looker) -> None:
    looker.begin()
    without_accounting(looker)
    report = looker.one(JOB)
    assert report is not None and report.state == "absent" and "there is no accounting here" in report.message


def test_told_to_end_and_nobody_knows_why(looker: Looker) -> None:
    looker.begin()
    looker.end(143, told="TERM")
    without_accounting(looker)
    assert (report := looker.one(JOB)) is not None and report.state == "absent"
    report = looker.look(JOB, after=60.0)["j000001"]
    assert report.state == "interrupted" and "told to end (TERM)" in report.message


# ---- submissions of which nobody knows ----

UNSURE = Asked("j000001", "", 0, 0.0)


def test_an_unsure_submission_is_found_by_its_name(looker: Looker) -> None:
    looker.slurm.queue[""] = [row(id="99", state="PENDING")]
    report = looker.one(UNSURE, settled=False)
    assert report is not None and (report.state, report.scheduler_id) == ("queued", "99")


def test_or_by_its_name_in_accounting(looker: Looker) -> None:
    looker.slurm.memory[""] = [record(id="99", state="CANCELLED by 0")]
    report = looker.one(UNSURE, settled=False)
    assert report is not None and report.state == "cancelled"


def test_or_by_its_claim(looker: Looker) -> None:
    looker.begin(id="99")
    looker.end(0)
    assert looker.one(UNSURE, settled=False) is None, "accounting may be late"
    report = looker.one(UNSURE)
    assert report is not None and (report.state, report.scheduler_id) == ("completed", "99")


def test_an_unsure_submission_that_nobody_knows_is_absent_only_when_all_were_asked(looker: Looker) -> None:
    assert (report := looker.one(UNSURE, settled=False)) is not None and report.state == "absent"
    looker.slurm.memory[""] = NO_DATABASE
    assert (report := looker.one(UNSURE)) is not None and report.state == "no_answer"


def test_ids_and_names_take_turns_and_nobody_is_forgotten(looker: Looker) -> None:
    other = Asked("j000002", "8")
    seen: dict[str, str] = {}
    for _ in range(6):
        before = looker.slurm.count("sacct")
        seen |= {job: report.state for job, report in looker.look(UNSURE, other, after=3.0).items()}
        assert looker.slurm.count("sacct") - before <= 1
    assert seen == {"j000001": "absent", "j000002": "absent"}


def test_of_two_with_our_name_the_one_with_the_claim_counts(looker: Looker) -> None:
    looker.slurm.queue[""] = [row(id="98", state="FAILED", exit=97 << 8), row(id="99", state="COMPLETING")]
    looker.begin(id="99")
    report = looker.one(UNSURE, settled=False)
    assert report is not None and (report.state, report.scheduler_id) == ("running", "99")


# ---- restarts ----


def test_a_restart_after_a_lost_node(looker: Looker) -> None:
    looker.begin()
    looker.slurm.queue[""] = [row(state="PENDING", reason="BeginTime", restart=1)]
    looker.slurm.memory[""] = [
        record(state="NODE_FAIL", NodeList="n007", Submit=10),
        record(state="PENDING", Submit=20),
    ]
    report = looker.one(JOB, settled=False)
    assert report is not None and (report.state, report.restart, report.nodes) == ("requeued", 1, "n007")
    assert report.message == "Slurm lost a node of n007" and report.cause == "node_fail"


def test_after_that_it_waits_under_its_new_restart(looker: Looker) -> None:
    looker.begin()
    looker.slurm.queue[""] = [row(state="PENDING", reason="BeginTime", restart=1)]
    report = looker.one(Asked("j000001", "7", 1), settled=False)
    assert report is not None and (report.state, report.restart) == ("queued", 1)


def test_preempted_and_queued_again(looker: Looker) -> None:
    looker.slurm.queue[""] = [row(state="PENDING", restart=1)]
    looker.slurm.memory[""] = [record(state="PREEMPTED", Submit=10)]
    report = looker.one(JOB, settled=False)
    assert report is not None and report.message == "it was preempted by other work"
    assert report.cause == "interrupted"


def test_killed_and_queued_again_is_not_the_payloads_own_end(looker: Looker) -> None:
    looker.begin()
    looker.end(143)
    looker.slurm.queue[""] = [row(state="PENDING", restart=1)]
    looker.slurm.memory[""] = [record(state="REQUEUED", Submit=10)]
    report = looker.one(JOB, settled=False)
    assert report is not None and (report.state, report.restart) == ("requeued", 1)
    assert not looker.slurm.count("scancel"), "the restart is wanted"


def test_what_a_start_wrote_before_it_was_queued_again_is_told(looker: Looker) -> None:
    looker.begin()
    output = looker.places.output(JOB.id, 0)
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text("step 1 of 9\n")
    looker.slurm.queue[""] = [row(state="PENDING", restart=1)]
    looker.slurm.memory[""] = [record(state="PREEMPTED", Submit=10, Start=20, End=65)]
    report = looker.one(JOB, settled=False)
    assert report is not None and (report.state, report.over) == ("requeued", 65.0)
    assert report.output["bytes"] == 12 and report.began is None, "its start was told when it ran"


def test_why_it_was_queued_again_by_the_list_of_finished_jobs(looker: Looker) -> None:
    looker.begin()
    looker.slurm.queue[""] = [row(state="PENDING", restart=1)]
    without_accounting(looker, f"JobId=7 Name=sd-{TOKEN}-j000001 JobState=NODE_FAIL NodeList=n001 ExitCode=0:0 \n")
    report = looker.one(JOB, settled=False)
    assert report is not None and (report.state, report.cause, report.nodes) == ("requeued", "node_fail", "n001")


SAMPLES = Path(__file__).resolve().parents[1] / "machines" / "slurm" / "samples"


def test_the_list_of_finished_jobs_tells_that_a_job_had_begun_that_was_cancelled_while_it_waited_again(
    looker: Looker,
) -> None:
    label = f"sd-{TOKEN}-j000001"
    line = "JobId=7 Name={} JobState={} StartTime=2026-11-29T21:3{}:48 NodeList={} ExitCode=0:0\n"
    first, second = line.format(label, "COMPLETED", 8, "n002"), line.format(label, "CANCELLED", 9, "(null)")
    without_accounting(looker, first + second)
    looker.slurm.queue[""] = [row(state="CANCELLED", reason="ReqNodeNotAvail, UnavailableNodes:n001")]
    report = looker.one(JOB)
    said = "it had begun on n002; the controller forgot that, and had it wait again"
    assert report is not None and (report.state, report.message) == ("cancelled", said)


@pytest.fixture(params=["jobcomp_starts.log", "24.11/jobcomp_starts.log"], ids=["22.05", "24.11"])
def captured(request: pytest.FixtureRequest, looker: Looker) -> Looker:
    """A list of finished jobs as Slurm wrote it, of jobs that were put back into the queue in several ways."""
    without_accounting(looker, (SAMPLES / request.param).read_text().replace("ceef7ae7", TOKEN))
    return looker


def test_a_start_that_failed_to_launch_is_told_from_the_one_that_ran_elsewhere(captured: Looker) -> None:
    job = Asked("j000021", "1")
    captured.begin("j000021", restart=1, id="1", nodes="n003")
    captured.end(0, "j000021", restart=1)
    report = captured.one(job, settled=False)
    assert report is not None and (report.state, report.restart, report.nodes) == ("requeued", 1, "n001")
    assert (report.cause, report.launch_failure) == ("node_fail", True)
    assert report.message == "launch failure on n001: Slurm took it back before it took its claim"


def test_a_start_that_was_preempted_is_told_although_the_job_runs_again_on_the_same_node(captured: Looker) -> None:
    captured.begin("j000034", restart=0, id="6", nodes="n004")
    captured.begin("j000034", restart=1, id="6", nodes="n004")
    captured.slurm.queue[""] = [row("j000034", "6", restart=1, nodes="n004")]
    report = captured.one(Asked("j000034", "6"), settled=False)
    assert report is not None and (report.state, report.restart, report.cause) == ("requeued", 1, "interrupted")
    assert report.message == "it was preempted by other work"


def test_a_start_that_was_put_back_and_one_that_was_cancelled_while_it_waited(captured: Looker) -> None:
    captured.begin("j000032", id="4", nodes="n002")
    report = captured.one(Asked("j000032", "4"))
    assert report is not None and (report.state, report.restart, report.nodes) == ("requeued", 1, "n002")
    report = captured.one(Asked("j000032", "4", 1))
    assert report is not None and (report.state, report.restart, report.nodes) == ("cancelled", 1, "")


def test_a_start_that_was_over_when_it_was_put_back_has_two_lines(captured: Looker) -> None:
    job = Asked("j000031", "3")
    captured.begin("j000031", id="3")
    captured.end(0, "j000031")
    captured.slurm.queue[""] = [row("j000031", "3", "PENDING", restart=1)]
    report = captured.one(job)
    assert report is not None and (report.state, report.cause, report.again) == ("completed", "", 1)
    captured.slurm.queue[""] = []
    report = captured.one(Asked("j000031", "3", 1))
    assert report is not None and report.state == "refused" and "ended well on n001" in report.message


@pytest.mark.parametrize("last", ["NODE_FAIL", "CANCELLED"])
def test_a_list_whose_older_part_was_put_away_tells_no_wrong_start(looker: Looker, last: str) -> None:
    """Of three starts it has two. Nobody can tell which ones they are, unless the last one is an end that nothing follows."""
    looker.begin()
    looker.begin(restart=2)
    line = f"JobId=7 Name=sd-{TOKEN}-j000001 JobState={{}} StartTime=2026-11-28T23:{{}}:00 NodeList=n00{{}} ExitCode=0:0 \n"
    without_accounting(looker, line.format("NODE_FAIL", 10, 2) + line.format(last, 11, 1))
    for number in (0, 1):
        report = looker.one(Asked("j000001", "7", number), settled=False)
        assert report is not None and (report.state, report.restart) == ("requeued", 2)
        assert (report.cause, report.launch_failure, report.failed_nodes) == ("", False, ())
    report = looker.one(Asked("j000001", "7", 2))
    assert report is not None and report.state == ("absent" if last == "NODE_FAIL" else "cancelled")


@pytest.mark.parametrize(("state", "cause"), [("down*", "node_fail"), ("idle", "")])
def test_why_it_was_queued_again_by_the_state_of_its_node(looker: Looker, state: str, cause: str) -> None:
    """Nobody says why; the node that it ran on is down."""
    looker.begin()
    looker.slurm.queue[""] = [row(state="PENDING", restart=1)]
    looker.slurm.memory[""] = NO_ACCOUNTING
    looker.slurm.answers["sinfo"] = Ran(0, SEPARATOR.join(("n001", state, "Not responding")) + "\n")
    report = looker.one(JOB, settled=False)
    assert report is not None and (report.state, report.restart, report.cause) == ("requeued", 1, cause)
    assert report.failed_nodes == (("n001",) if cause else ())


def test_nodes_of_which_a_new_controller_has_not_heard_did_not_fail(looker: Looker) -> None:
    looker.begin(nodes="n[001-003]")
    looker.slurm.queue[""] = [row(state="NODE_FAIL", nodes="n[001-003]")]
    states = (("n001", "down*", "Not responding"), ("n002", "unknown*", "none"), ("n003", "unknown", "none"))
    looker.slurm.answers["sinfo"] = Ran(0, "".join(SEPARATOR.join(line) + "\n" for line in states))
    report = looker.one(JOB, settled=False)
    assert report is not None and (report.state, report.failed_nodes) == ("node_fail", ("n001",))
    assert report.message == "Slurm lost a node of n[001-003]; n001 is down* (Not responding)"


def test_a_restart_without_accounting(looker: Looker) -> None:
    looker.slurm.queue[""] = [row(state="RUNNING", restart=2)]
    looker.slurm.memory[""] = NO_ACCOUNTING
    report = looker.one(JOB, settled=False)
    assert report is not None and (report.state, report.restart) == ("requeued", 2)


def test_a_restart_that_a_controller_forgot_is_told_although_the_start_before_stays_in_the_queue(
    looker: Looker,
) -> None:
    """The controller was rolled back and starts the job as before: that finds its claim taken, and is shown for MinJobAge then."""
    looker.begin()
    again = Asked("j000001", "7", 1)
    looker.slurm.queue[""] = [row(state="RUNNING", restart=0)]
    assert looker.look(again) == {} and looker.look(again, after=300.0) == {}
    looker.slurm.queue[""] = [row(state="FAILED", exit=97, restart=0)]
    looker.slurm.memory[""] = [record(state="REQUEUED", Submit=10), record(state="PENDING", Submit=20)]
    report = looker.one(again)
    assert report is not None and (report.state, report.restart) == ("absent", 1)
    assert report.message.startswith(
        "the queue knows a start before it alone, which is over; accounting still calls it PENDING; "
    )


def test_a_job_of_which_something_else_is_said_is_asked_about_at_once(looker: Looker) -> None:
    """While nothing new is said the pauses grow up to ten minutes; what a source says now may be news to accounting too."""
    looker.slurm.memory[""] = [record(state="RUNNING")]
    for _ in range(60):
        looker.look(JOB, after=10.0)
    asked = looker.slurm.count("sacct")
    assert asked < 12
    looker.begin()
    looker.slurm.memory[""] = [record(state="TIMEOUT", NodeList="n001")]
    report = looker.look(JOB, after=10.0)["j000001"]
    assert (report.state, looker.slurm.count("sacct")) == ("timeout", asked + 1)


def test_a_restart_that_only_the_marks_and_accounting_remember(looker: Looker) -> None:
    looker.begin()
    looker.begin(restart=1)
    looker.end(0, restart=1)
    looker.slurm.memory[""] = [record(state="REQUEUED", Submit=10), record(Submit=20)]
    report = looker.one(JOB, settled=False)
    assert report is not None and (report.state, report.restart) == ("requeued", 1)
    report = looker.one(Asked("j000001", "7", 1), settled=False)
    assert report is not None and (report.state, report.restart, report.elapsed_s) == ("completed", 1, 2.5)


def test_a_change_of_size_is_no_restart(looker: Looker) -> None:
    looker.begin()
    looker.slurm.memory[""] = [record(state="RESIZING", Submit=10), record(state="TIMEOUT", Submit=20)]
    report = looker.one(JOB, settled=False)
    assert report is not None and (report.state, report.restart) == ("timeout", 0)


def test_a_restart_of_work_that_is_done_is_taken_out_of_the_queue(looker: Looker) -> None:
    looker.begin()
    looker.end(0)
    looker.slurm.queue[""] = [row(state="PENDING", restart=1)]
    looker.slurm.memory[""] = [
        record(state="NODE_FAIL", NodeList="n001", Submit=10),
        record(state="PENDING", Submit=20),
    ]
    report = looker.one(JOB, settled=False)
    assert report is not None and (report.state, report.restart) == ("completed", 0)
    assert (report.again, report.cause, report.failed_nodes) == (1, "node_fail", ("n001",)), "why it was is not lost"
    assert ["scancel", "7"] in looker.slurm.asked


def test_a_restart_that_ran_while_nobody_looked_is_another_run(looker: Looker) -> None:
    """Its node was out of reach and went on to its end, and meanwhile the job ran elsewhere: Slurm's word on the first start."""
    looker.begin()
    looker.end(0)
    looker.begin(restart=1, nodes="n002")
    looker.slurm.queue[""] = [row(state="RUNNING", restart=1, nodes="n002")]
    looker.slurm.memory[""] = [
        record(state="NODE_FAIL", NodeList="n001", Submit=10),
        record(state="RUNNING", Submit=20),
    ]
    report = looker.one(JOB, settled=False)
    assert report is not None and (report.state, report.restart, report.cause) == ("requeued", 1, "node_fail")
    report = looker.one(Asked("j000001", "7", 1), settled=False)
    assert report is not None and (report.state, report.restart, report.nodes) == ("running", 1, "n002")
    assert not looker.slurm.count("scancel")


def test_a_restart_that_has_a_node_is_given_time_to_take_its_claim(looker: Looker) -> None:
    looker.begin()
    looker.end(0)
    looker.slurm.queue[""] = [row(state="RUNNING", restart=1, nodes="n002")]
    looker.slurm.memory[""] = [record(state="REQUEUED", NodeList="n001", Submit=10), record(state="RUNNING", Submit=20)]
    assert looker.one(JOB, settled=False) is None
    report = looker.one(JOB)
    assert report is not None and (report.state, report.again, report.cause) == ("completed", 1, "")
    assert ["scancel", "7"] in looker.slurm.asked, "it could only find the end mark"


def test_a_restart_that_found_the_work_done(looker: Looker) -> None:
    """Whether we knew of it as a run or not: nothing was run, and the end before it counts."""
    looker.begin()
    looker.end(0)
    looker.end(restart=1, trouble="over")
    looker.slurm.queue[""] = [row(state="FAILED", restart=1, nodes="n002", exit=97 << 8)]
    looker.slurm.memory[""] = [record(state="REQUEUED", NodeList="n001", Submit=10), record(state="FAILED", Submit=20)]
    report = looker.one(JOB, settled=False)
    assert report is not None and (report.state, report.exit_status, report.again) == ("completed", 0, 1)
    report = looker.one(Asked("j000001", "7", 1), settled=False)
    assert report is not None and report.state == "void" and "did nothing" in report.message


def test_a_claim_of_another_machine_is_none(looker: Looker) -> None:
    """Somebody ran the script by hand, with all that Slurm tells a job: what it left is nobody's result."""
    looker.slurm.queue[""] = [row(state="COMPLETED", nodes="n[001-002]")]
    path = looker.places.claim(JOB.id, 0)
    path.parent.mkdir(parents=True)
    path.write_text("job=7 host=login1 uptime=100.00 pid=9 nodes=n[001-002] node=login1 .\n")
    looker.end(0)
    report = looker.one(JOB, settled=False)
    assert report is not None and report.state == "refused"
    assert report.message.startswith("its claim was taken on login1, which is none of its nodes (n[001-002])")
    path.write_text("job=7 host=n2.site.example uptime=100.00 pid=9 nodes=n[001-002] node=n002 .\n")
    report = looker.one(JOB, settled=False)
    assert report is not None and report.state == "completed"


def test_a_start_that_was_lost_is_asked_about_alone(looker: Looker) -> None:
    """Its job went on elsewhere and is judged; it is dead by its own end mark, or once its nodes answer again."""
    looker.begin()
    looker.begin(restart=1, nodes="n002")
    looker.end(0, restart=1)
    looker.slurm.queue[""] = [row(state="COMPLETED", restart=1, nodes="n002")]
    lost = Asked("j000001", "7", 0, lost=True)
    report = looker.one(lost, settled=False)
    assert report is not None and (report.state, report.restart, report.nodes) == ("node_fail", 0, "n001")
    looker.slurm.answers["sinfo"] = Ran(0, SEPARATOR.join(("n001", "idle", "none")) + "\n")
    assert looker.look(lost, after=40.0)["j000001"].state == "interrupted"
    looker.end(143, told="TERM")
    assert looker.look(lost, after=40.0)["j000001"].state == "completed"


# ---- launches that failed ----


@pytest.mark.parametrize(
    ("told", "how"),
    [
        ({"state": "CANCELLED"}, "Slurm cancelled it before it took its claim"),
        ({"state": "TIMEOUT"}, "it came to its time limit before it took its claim"),
        ({"state": "NODE_FAIL"}, "Slurm lost the node before it took its claim"),
        ({"state": "FAILED", "exit": str(127 << 8)}, "it ended with exit status 127 (FAILED) before it took its claim"),
        ({"state": "LAUNCH_FAILED"}, "Slurm could not launch it"),
    ],
    ids=lambda told: told["state"] if isinstance(told, dict) else "",
)
def test_a_job_with_a_node_that_never_took_its_claim_is_a_failure_of_the_node(
    looker: Looker, told: dict[str, str], how: str
) -> None:
    looker.slurm_says("Error running slurm prolog: 1\n")
    looker.slurm.queue[""] = [row(nodes="n002", **told)]
    looker.slurm.memory[""] = [record(state="CANCELLED by 0", NodeList="n002")]
    looker.slurm.answers["sinfo"] = Ran(0, SEPARATOR.join(("n002", "drained", "Prolog error")) + "\n")
    assert looker.one(JOB, settled=False) is None, "its claim may be on its way"
    report = looker.one(JOB)
    assert report is not None and (report.state, report.launch_failure) == ("node_fail", True)
    assert report.message == (
        f"launch failure on n002: {how}; Error running slurm prolog: 1; n002 is drained (Prolog error)"
    )
    assert report.failed_nodes == ("n002",)
    assert looker.places.claim_holder(JOB.id, 0) == "conductor", "nothing of it can come later"


def test_of_several_nodes_the_one_that_slurm_drained_failed_to_launch(looker: Looker) -> None:
    looker.slurm_says("")
    looker.slurm.queue[""] = [row(state="CANCELLED", nodes="n[001-003]")]
    looker.slurm.memory[""] = [record(state="CANCELLED by 0", NodeList="n[001-003]")]
    lines = [("n001", "idle", "none"), ("n002", "drained", "Prolog error"), ("n003", "idle", "none")]
    looker.slurm.answers["sinfo"] = Ran(0, "".join(SEPARATOR.join(line) + "\n" for line in lines))
    report = looker.one(JOB)
    assert report is not None and (report.launch_failure, report.failed_nodes) == (True, ("n002",))


@pytest.mark.parametrize(("later_s", "failed"), [(20.0, ("n001", "n002")), (400.0, ("n002",)), (-7200.0, ("n002",))])
def test_a_node_that_is_drained_for_something_else_later_did_not_fail_to_launch(
    looker: Looker, later_s: float, failed: tuple[str, ...]
) -> None:
    looker.slurm_says("")
    looker.slurm.queue[""] = []
    looker.slurm.memory[""] = [record(state="CANCELLED by 0", NodeList="n[001-003]", Start=1_000_000, End=1_000_010)]
    drained = ("n001", "drained", "a fan", str(int(1_000_010 + later_s)))
    lines = [drained, ("n002", "drained", "Prolog error", "1000012"), ("n003", "idle", "none", "Unknown")]
    looker.slurm.answers["sinfo"] = Ran(0, "".join(SEPARATOR.join(line) + "\n" for line in lines))
    report = looker.one(JOB)
    assert report is not None and (report.launch_failure, report.failed_nodes) == (True, failed)
    assert ("a fan" in report.message) is ("n001" in failed)


def test_a_launch_that_failed_and_was_tried_again_by_slurm(looker: Looker) -> None:
    """The next start takes the claim of the one before, which it finds free; so it is told by what it wrote."""
    looker.slurm.queue[""] = [row(state="RUNNING", restart=1, nodes="n003")]
    looker.slurm.memory[""] = [record(state="REQUEUED", NodeList="n002", Submit=10), record(state="RUNNING", Submit=20)]
    looker.begin(restart=1, nodes="n003")
    looker.begin(restart=0, nodes="n003")
    report = looker.one(JOB, settled=False)
    assert report is not None and (report.state, report.restart, report.cause) == ("requeued", 1, "node_fail")
    assert report.launch_failure and report.message.startswith("launch failure on n002: Slurm took it back")


@pytest.mark.parametrize(
    ("told", "words", "state"),
    [
        ({"state": "CANCELLED by 1000", "NodeList": "n002"}, "", "cancelled"),
        ({"state": "CANCELLED by 0"}, "", "cancelled"),
        (
            {"state": "CANCELLED by 0", "NodeList": "n002"},
            "slurmstepd: error: *** JOB 7 ON n002 CANCELLED AT X ***",
            "cancelled",
        ),
        ({"state": "FAILED", "NodeList": "n002", "ExitCode": "97:0"}, "", "refused"),
        ({"state": "PREEMPTED", "NodeList": "n002"}, "", "interrupted"),
    ],
    ids=["by a person", "without a node", "after its script was started", "the script gave up itself", "preempted"],
)
def test_what_is_no_failure_to_launch(looker: Looker, told: dict[str, str], words: str, state: str) -> None:
    looker.slurm_says(f"{words}\n")
    looker.slurm.memory[""] = [record(**told)]
    report = looker.one(JOB)
    assert report is not None and (report.state, report.launch_failure) == (state, False)


def test_a_start_that_was_cancelled_while_it_waited_was_no_launch(looker: Looker) -> None:
    """Slurm leaves it the nodes of the start before, and in accounting even its times."""
    asked = Asked(JOB.id, "7", 1)
    looker.slurm.queue[""] = [row(state="CANCELLED", restart=1, nodes="n004", reason="ReqNodeNotAvail")]
    looker.slurm.memory[""] = [
        record(state="NODE_FAIL", NodeList="n004", Submit=10),
        record(state="CANCELLED by 0", NodeList="n004", Submit=20),
    ]
    report = looker.one(asked)
    assert report is not None and (report.state, report.launch_failure) == ("cancelled", False)
    looker.slurm.queue[""] = []
    report = looker.one(asked)
    assert report is not None and (report.state, report.launch_failure) == ("cancelled", False)


def test_a_claim_that_is_taken_at_the_last_moment_is_no_failure_to_launch(looker: Looker) -> None:
    looker.slurm.queue[""] = [row(state="NODE_FAIL", nodes="n002")]
    assert looker.one(JOB, settled=False) is None
    looker.begin(nodes="n002")
    report = looker.one(JOB)
    assert report is not None and (report.state, report.launch_failure) == ("node_fail", False)


def test_what_the_conductor_claimed_is_taken_out_of_the_queue_and_nothing_else(looker: Looker) -> None:
    assert looker.places.take_claim("j000001", 0)
    others = [row(id="8", name="payroll", state="PENDING"), row("j000002", "9", "PENDING"), row("j000003", "10")]
    looker.slurm.queue[""] = [row(state="PENDING"), *others]
    looker.look()
    assert [command for command in looker.slurm.asked if command[0] == "scancel"] == [["scancel", "7"]]


def test_a_start_that_has_run_and_waits_again_is_taken_out_of_the_queue(looker: Looker) -> None:
    """A controller came back with an older state: the job that is done with waits again, beside one that never ran."""
    looker.begin()
    looker.end(0)
    looker.slurm.queue[""] = [row(state="PENDING"), row("j000002", "8", "PENDING")]
    looker.look(Asked("j000002", "8"))
    assert [command for command in looker.slurm.asked if command[0] == "scancel"] == [["scancel", "7"]]


def test_a_job_that_is_done_with_and_still_called_running_has_a_minute(looker: Looker) -> None:
    """Its nodes may be slow to be cleared. After a controller came back with an older state they never are."""
    looker.begin()
    looker.end(0)
    looker.slurm.queue[""] = [row(state="RUNNING")]
    other = Asked("j000002", "8")
    looker.look(other)
    looker.look(other, after=59.0)
    assert not looker.slurm.count("scancel")
    looker.look(other, after=1.0)
    assert ["scancel", "7"] in looker.slurm.asked


def test_a_job_without_an_end_mark_is_never_taken_for_a_ghost(looker: Looker) -> None:
    looker.begin()
    looker.slurm.queue[""] = [row(state="RUNNING")]
    for _ in range(3):
        looker.look(Asked("j000002", "8"), after=100.0)
    assert not looker.slurm.count("scancel")


# ---- several clusters, files ----


def test_several_clusters(tmp_path: Path) -> None:
    slurm = FakeSlurm(queue={"a": [], "b": [row(id="7", state="RUNNING")]}, memory={"a": [], "b": []})
    looker = Looker(tmp_path, slurm, (cluster("a"), cluster("b")))
    report = looker.one(UNSURE, settled=False)
    assert report is not None and (report.state, report.scheduler_id) == ("running", "7;b")
    slurm.queue = {"a": DOWN, "b": [row(id="7", state="TIMEOUT")]}
    report = looker.one(Asked("j000001", "7;b"), settled=False)
    assert report is not None and (report.state, report.scheduler_id) == ("timeout", "7;b")


def test_a_silent_cluster_makes_only_its_own_jobs_unsure(tmp_path: Path) -> None:
    slurm = FakeSlurm(queue={"a": DOWN, "b": []}, memory={"a": NO_DATABASE, "b": []})
    looker = Looker(tmp_path, slurm, (cluster("a"), cluster("b")))
    reports = looker.settle(Asked("j000001", "7;a"), Asked("j000002", "7;b"))
    assert {job: report.state for job, report in reports.items()} == {"j000001": "no_answer", "j000002": "absent"}


def test_files_that_cannot_be_read_are_no_answer(looker: Looker, monkeypatch: pytest.MonkeyPatch) -> None:
    def stale(*_: object) -> None:
        raise OSError(116, "Stale file handle")

    monkeypatch.setattr("shakedown.schedulers.slurm.poller.read_marks", stale)
    report = looker.one(JOB)
    assert report is not None and report.state == "no_answer"
    assert report.message == "its files cannot be read: Stale file handle"
    looker.slurm.queue[""] = [row(state="COMPLETED")]
    assert (report := looker.one(JOB)) is not None and report.state == "no_answer"


def test_every_report_is_one_that_the_engine_knows(looker: Looker) -> None:
    looker.begin()
    states = ("PENDING", "RUNNING", "COMPLETED", "FAILED", "REVOKED", "SPECIAL_EXIT", "BOOT_FAIL", "REQUEUED", "?", "")
    for state in states:
        looker.slurm.queue[""] = [row(state=state)]
        report = looker.one(JOB)
        assert report is not None and report.state in JOB_STATES


# ---- a claim without words ----


def test_a_job_that_waits_does_not_run_because_its_claim_is_empty(looker: Looker) -> None:
    """Who made it was ended before it wrote. The queue knows better, once a job that writes it just now had the time."""
    looker.begin()
    looker.places.claim(JOB.id, 0).write_bytes(b"")
    looker.slurm.queue[""] = [row(state="PENDING", id="8")]
    young = looker.one(JOB, settled=False)
    assert young is not None and young.state == "running"
    report = looker.one(JOB)
    assert report is not None and report.state == "queued"


def test_of_an_empty_claim_nobody_says_that_its_job_began(looker: Looker) -> None:
    looker.begin()
    looker.places.claim(JOB.id, 0).write_bytes(b"")
    report = looker.one(JOB)
    assert report is not None and (report.state, report.message) == (
        "absent",
        "the queue does not know it; accounting has no record of it; its claim is there without a word: its maker ended "
        "before it wrote, and nobody knows whether the job began",
    )


# ---- outputs that nobody reads to judge the run ----


@pytest.mark.parametrize("state", ["TIMEOUT", "NODE_FAIL", "CANCELLED by 1000", "PREEMPTED"])
@pytest.mark.parametrize("large", [False, True])
def test_what_a_run_left_that_was_ended_from_outside_has_its_sums_and_is_on_the_disk(
    looker: Looker, state: str, large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shakedown.schedulers.output_sums._END_BYTES", 8 if large else 1 << 20)
    synced: list[str] = []
    sync = os.fdatasync

    def watched(descriptor: int) -> None:
        synced.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
        sync(descriptor)

    monkeypatch.setattr(os, "fdatasync", watched)
    looker.begin()
    output = looker.places.output(JOB.id, 0)
    output.parent.mkdir(parents=True)
    output.write_bytes(b"it came as far as this line\n")
    looker.slurm.queue[""] = []
    looker.slurm.memory[""] = [record(state=state)]
    report = looker.one(JOB)
    assert report is not None and report.state in ("timeout", "node_fail", "cancelled", "interrupted")
    assert report.output["ends" if large else "crc"]
    assert str(output) in synced
    assert damage_of_output(looker.root, report.output) is None
    output.write_bytes(b"It came as far as this line\n")
    assert damage_of_output(looker.root, report.output) is not None


def test_a_run_that_is_read_to_judge_it_has_its_sums_from_its_reader(looker: Looker) -> None:
    looker.begin()
    looker.end(3)
    output = looker.places.output(JOB.id, 0)
    output.parent.mkdir(parents=True)
    output.write_bytes(b"it failed\n")
    looker.slurm.queue[""] = [row(state="FAILED", nodes="n001", start=50, end=60)]
    report = looker.one(JOB)
    assert report is not None and (report.state, "crc" in report.output) == ("failed", False)
