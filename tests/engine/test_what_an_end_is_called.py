"""The words of a verdict on a run that does not count: who ended it, and whether it began."""

from __future__ import annotations

from one_cluster_job import Story

from shakedown.model.job_terms import ALONE, BESIDE, Terms

TERMS = Terms(partition="batch", sharing=ALONE)


def test_a_run_that_came_to_its_own_end_on_other_terms_was_not_ended_from_outside() -> None:
    story = Story(shape={"exclusive": True}, first={"terms": TERMS})
    story.said(
        "completed", 49.0, exit_status=0, elapsed_s=49.0, nodes="n1", terms=Terms(partition="batch", sharing=BESIDE)
    )
    (verdict,) = story.verdicts()
    assert (verdict.value["verdict"], "cause" in verdict.value) == ("interrupted", False)
    assert verdict.reason == (
        "it is no result of its case: other jobs could run on its nodes, and it asks to have them alone: "
        "somebody changed it at the scheduler"
    )


def test_a_run_that_stood_still_and_came_to_its_own_end_was_not_ended_from_outside() -> None:
    story = Story(figures=True)
    story.said("running", 10.0, halted="suspended", message="it is suspended")
    story.said("running", 70.0)
    story.said("completed", 100.0, exit_status=0, elapsed_s=95.0, nodes="n1")
    (verdict,) = story.verdicts()
    assert verdict.reason.startswith("it is no result of its case: it stood still for 1 min")


def test_a_run_that_was_preempted_was_ended_from_outside() -> None:
    story = Story()
    story.said("interrupted", 10.0, message="it was preempted by other work")
    (verdict,) = story.verdicts()
    assert verdict.reason == "it was ended from outside: it was preempted by other work"


def test_a_job_that_the_scheduler_took_was_not_refused_by_it() -> None:
    """One that is held against it is not held against its queue: the queue is held after several in a row."""
    story = Story(begun=False)
    story.said(
        "refused",
        10.0,
        message="Slurm started it on n1 and it ended with exit status 97 (FAILED) before it took its claim",
    )
    (verdict,) = story.verdicts()
    assert verdict.value["verdict"] == "submit_failed"
    assert verdict.reason.startswith("nothing shows that it ran: Slurm started it on n1")


def test_a_job_that_the_scheduler_did_not_take_was_refused_by_it() -> None:
    story = Story(begun=False)
    job = story.conductor.state.jobs["j000001"]
    job.scheduler_id = ""
    story.conductor.log("submit_refused", job=job.id, run=job.run, reason="Invalid account")
    (verdict,) = story.verdicts()
    assert verdict.reason == "the scheduler refused it: Invalid account"
