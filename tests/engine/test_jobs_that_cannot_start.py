"""Jobs that wait for a person: said once for each pool and reason, after a while, with the way out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from stage import Campaign, small_document

from shakedown.conductor.driver.conductor import Conductor
from shakedown.conductor.driver.loop import log_reports
from shakedown.engine import decide
from shakedown.engine.fold.evolve import evolve
from shakedown.engine.policy.explain import explain_run
from shakedown.engine.policy.stuck_jobs import what_it_needs
from shakedown.engine.state.phases import JobPhase, Step
from shakedown.model.events import Event
from shakedown.model.ports import JobReport
from shakedown.queries.status import _scheduler_notes
from shakedown.schedulers.slurm.pending import in_words, way_out

WALL = "QOSMaxWallDurationPerJobLimit (a limit of its quality of service binds)"
LIMIT = "the limit has to be raised, or the test must ask for less"


class Story:
    """Jobs that a cluster has accepted."""

    def __init__(self) -> None:
        self.campaign = Campaign(small_document(tests=1, repeats=1, budgets={}))
        self.conductor: Conductor = self.campaign._conductor(100)
        self.conductor.watch = None
        self.conductor.log("campaign_start", value={"campaign": "toy"})
        self.conductor.log("driver_start")
        self.decided()
        for job in list(self.conductor.state.jobs):
            self.conductor.log("submit_accepted", job=job, value={"id": job[1:]})
        self.begin = self.campaign.clock.now()

    def decided(self) -> list[Event]:
        """What is decided now, and logged."""
        now = max(self.conductor.state.time, self.campaign.clock.now())
        return [self.conductor.log(order.event) for order in decide(self.conductor.state, now).orders]

    def said(
        self, at: float, message: str = WALL, stuck: str = LIMIT, for_good: bool = True, **more: Any
    ) -> list[Event]:
        self.campaign.clock._now = self.begin + at
        said: dict[str, Any] = {"state": "queued", "source": "queue", "message": message, "stuck": stuck} | more
        jobs = list(self.conductor.state.jobs)
        log_reports(self.conductor, [JobReport(job, **said, for_good=for_good) for job in jobs])
        return [event for event in self.decided() if event.event == "finding"]


@pytest.mark.parametrize(
    ("for_good", "after", "how"), [(True, 600.0, "it cannot"), (False, 3600.0, "perhaps it cannot")]
)
def test_it_is_said_once_after_a_while(for_good: bool, after: float, how: str) -> None:
    story = Story()
    assert story.said(1.0, for_good=for_good) == []
    assert story.said(after, for_good=for_good) == []
    (found,) = story.said(after + 1.0, for_good=for_good)
    assert found.value["kind"] == "cannot_start"
    assert found.value["about"] == "c:batch QOSMaxWallDurationPerJobLimit"
    assert f"{WALL}; {how} start before somebody acts: {LIMIT}" in found.reason
    assert story.said(10 * after, for_good=for_good) == []


NODES = "ReqNodeNotAvail, UnavailableNodes:n1 (nodes that it needs are down, drained or reserved)"
BRING = "somebody has to bring its nodes back: shakedown nodes, sinfo -R, scontrol show reservation"


def test_what_waits_for_nodes_that_jobs_of_ours_have_sends_nobody_to_mend_any() -> None:
    """A node is left out, so that jobs are kept from it. Slurm may call that nodes that are not available."""
    story = Story()
    story.conductor.log(
        "finding", value={"kind": "node_left_out", "nodes": ["n1"], "pool": "c:batch", "why": "read-only"}
    )
    story.said(1.0, message=NODES, stuck=BRING, for_good=False)
    (job,) = story.conductor.state.jobs.values()
    alone = what_it_needs(story.conductor.state, job)
    ours = "it may not have n1, which this campaign gives no work (shakedown include NODES)"
    assert alone == f"{NODES}; perhaps it cannot start before somebody acts: {BRING}; {ours}"

    other = replace(job, id="j000099", run="r000099", phase=JobPhase.RUNNING)
    story.conductor.state.jobs[other.id] = other
    said = what_it_needs(story.conductor.state, job)
    waits = "it may only wait for nodes other than n1 that jobs of ours have now"
    assert said == f"{NODES}; {waits}; if it still waits when these are over: {BRING}"


def test_the_nodes_that_the_campaign_itself_keeps_from_it_are_named() -> None:
    story = Story()
    story.conductor.log("excluded", value={"nodes": ["n2", "n3"], "by": "Ada"}, reason="their fans")
    story.said(1.0, message=NODES, stuck=BRING, for_good=False)
    job = next(iter(story.conductor.state.jobs.values()))
    ours = "it may not have n2, n3, which this campaign gives no work (shakedown include NODES)"
    assert what_it_needs(story.conductor.state, job).endswith(f"{BRING}; {ours}")


def test_the_engine_wakes_up_for_it() -> None:
    story = Story()
    story.said(1.0)
    wake_at = decide(story.conductor.state, story.begin + 2.0).wake_at
    assert wake_at is not None and wake_at <= story.begin + 601.0


def test_a_limit_that_was_raised_is_no_finding() -> None:
    story = Story()
    story.said(1.0)
    story.said(300.0, message="Priority", stuck="")
    assert story.said(700.0) == [], "it has waited for it since now"


def test_silence_changes_nothing_and_why_says_what_has_to_be_done() -> None:
    story = Story()
    story.said(1.0)
    run = next(iter(story.conductor.state.runs))
    assert LIMIT in explain_run(story.conductor.state, run, story.begin + 2.0)
    story.said(5.0, state="no_answer", message="squeue hangs", stuck="")
    assert len(story.said(700.0)) == 1


def test_a_job_that_we_hold_ourselves_waits_for_nobody() -> None:
    story = Story()
    for job in story.conductor.state.jobs.values():
        job.requests.hold = Step.TAKEN
    assert story.said(1.0, message="JobHeldUser", stuck="scontrol release lets it go") == []
    assert story.said(4000.0, message="JobHeldUser", stuck="scontrol release lets it go") == []


@pytest.mark.parametrize(
    ("ask", "step", "said"),
    [
        ("hold", Step.TAKEN, "we hold it, for the queue of c:batch was held; it is let go by itself"),
        ("release", Step.ORDERED, "we held it, and are letting it go now"),
        ("release", Step.WANTED, "we held it, and are letting it go now"),
    ],
)
def test_nobody_is_sent_to_release_what_we_hold(ask: str, step: Step, said: str) -> None:
    story = Story()
    for job in story.conductor.state.jobs.values():
        setattr(job.requests, ask, step)
    story.said(1.0, message=in_words("JobHeldUser"), stuck=way_out("JobHeldUser")[0])
    state = story.conductor.state
    told = " ".join(
        [
            explain_run(state, next(iter(state.runs)), story.begin + 2.0),
            *(row["why"] for row in _scheduler_notes(state)),
        ]
    )
    assert said in told and "scontrol" not in told


def test_what_was_said_of_our_own_hold_is_forgotten_once_it_is_let_go() -> None:
    story = Story()
    (job, *_) = story.conductor.state.jobs.values()
    job.requests.release = Step.ORDERED
    story.said(1.0, message="JobHeldUser", stuck="scontrol release lets it go")
    evolve(story.conductor.state, Event("released", story.conductor.state.seq + 1, story.begin + 2.0, job=job.id))
    assert job.id not in story.conductor.state.agenda.stuck and not job.report.note


def test_what_may_pass_is_waited_for_while_something_of_the_pool_runs() -> None:
    """A limit on all jobs of a user: each waits until others are over."""
    story = Story()
    story.said(1.0, for_good=False)
    first = next(iter(story.conductor.state.jobs.values()))
    others = dict(story.conductor.state.jobs)
    busy = type(first)("j999999", "r999999", first.case, first.component, 0.0, phase=JobPhase.RUNNING, key=first.key)
    story.conductor.state.jobs["j999999"] = busy
    assert [
        order for order in decide(story.conductor.state, story.begin + 4000.0).orders if order.event.event == "finding"
    ] == []
    story.conductor.state.jobs = others
    assert [
        order for order in decide(story.conductor.state, story.begin + 4000.0).orders if order.event.event == "finding"
    ]
