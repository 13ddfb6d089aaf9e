"""Jobs that somebody changed at the scheduler while they waited or ran: what is said of it, and what their runs are worth."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from one_cluster_job import Story

from shakedown.engine.fold.evolve import evolve
from shakedown.engine.policy.job_recovery import attend
from shakedown.engine.state.job_limits import limit_s
from shakedown.engine.state.orders import Decision
from shakedown.engine.state.state import State
from shakedown.metrics.rows.table import fold_runs
from shakedown.model.job_terms import NO_LIMIT_S, Terms
from shakedown.model.resources import Resources
from shakedown.queries.why import _why_run

TAKEN = Terms(
    partition="batch", time_limit_s=360.0, nodes=1, tasks=1, cpus=1, sharing="nodes", qos="normal", account="acc"
)
NEEDS = {"resources": Resources(memory_bytes=100 * 2**20, constraint="fast", gpus_per_node=2, reservation="quiet")}
FITS = {"memory_bytes": 100 * 2.0**20, "features": "fast", "gpus": "gres:gpu:2", "reservation": "quiet"}


def ended(
    shape: dict[str, Any], before: Terms | None, now: Terms | None, state: str = "completed", **more: Any
) -> Story:
    story = Story(shape=shape, first={"terms": before} if before else {})
    status = {"completed": 0, "failed": 3}.get(state)
    story.said(state, 50.0, **{"exit_status": status, "elapsed_s": 49.0, "nodes": "n1", "terms": now} | more)
    return story


def findings(story: Story) -> list[str]:
    return [event.reason for event in story.events("finding")]


@pytest.mark.parametrize(
    ("shape", "before", "now", "words"),
    [
        ({"exclusive": True}, {"sharing": "none"}, {"sharing": "nodes"}, "other jobs could run on its nodes"),
        ({"exclusive": True}, {"sharing": "none"}, {"sharing": "cores"}, "other jobs could run on its nodes"),
        ({}, {}, {"sharing": "cores"}, "other jobs could run on its cores"),
        ({"cpus_per_task": 4}, {"cpus": 4}, {"cpus": 2}, "it ran with 2 cores, and asks for 4 cores"),
        ({"tasks_per_node": 4}, {"cpus": 4, "tasks": 4}, {"cpus": 4, "tasks": 2}, "with 2 tasks, and asks for 4 tasks"),
        (
            NEEDS,
            FITS,
            FITS | {"memory_bytes": 2.0**20},
            "it ran with 1.0 MiB of memory, and asks for 100.0 MiB of memory",
        ),
        (NEEDS, FITS, FITS | {"features": ""}, "features from fast to none"),
        (NEEDS, FITS, FITS | {"gpus": "gres:gpu:1"}, "generic resources from gres:gpu:2 to gres:gpu:1"),
        (NEEDS, FITS, FITS | {"reservation": ""}, "reservation from quiet to none"),
    ],
)
@pytest.mark.parametrize("state", ["completed", "failed", "timeout"])
def test_a_run_on_other_terms_is_no_result_of_its_case(
    shape: dict[str, Any], before: dict[str, Any], now: dict[str, Any], words: str, state: str
) -> None:
    story = ended(shape, replace(TAKEN, **before), replace(TAKEN, **before | now), state)
    assert story.end().value["state"] == "interrupted"
    (verdict,) = story.verdicts()
    assert verdict.value["verdict"] == "interrupted" and words in verdict.reason
    assert verdict.reason.endswith("somebody changed it at the scheduler")
    assert len(findings(story)) == 1 and "which does not say who" in findings(story)[0]


@pytest.mark.parametrize(
    ("shape", "before", "now", "said"),
    [
        ({}, {}, {"qos": "low"}, "quality of service from normal to low"),
        ({}, {}, {"account": "other"}, "account from acc to other"),
        ({}, {}, {"wants": "n1"}, "nodes that it must have from none to n1"),
        ({}, {}, {"partition": "debug"}, "partition from batch to debug"),
        ({}, {}, {"sharing": "none"}, "shared with other jobs from nodes to none"),
        ({}, {}, {"time_limit_s": 3600.0}, "time limit from 6 min 00 s to 1 h 00 min"),
        ({}, {}, {"time_limit_s": NO_LIMIT_S}, "time limit from 6 min 00 s to no limit"),
        ({}, {}, {"time_limit_s": 60.0}, "time limit from 6 min 00 s to 1 min 00 s"),
        ({}, {"memory_bytes": 2.0**30}, {"memory_bytes": 2.0**29}, "memory from 1.0 GiB to 512.0 MiB"),
    ],
)
def test_what_does_not_change_what_was_measured_is_said_and_counts(
    shape: dict[str, Any], before: dict[str, Any], now: dict[str, Any], said: str
) -> None:
    story = ended(shape, replace(TAKEN, **before), replace(TAKEN, **before | now))
    assert story.end().value["state"] == "completed"
    (finding,) = story.events("finding")
    assert finding.value["kind"] == "changed_at_scheduler" and (finding.job, finding.run) == ("j000001", "r000001")
    assert finding.reason == f"somebody changed it at the scheduler, which does not say who: {said}"


@pytest.mark.parametrize(
    ("shape", "before", "now"),
    [
        (
            {"exclusive": True},
            {"sharing": "none"},
            {"sharing": "none", "cpus": 16},
        ),  # all cores of its nodes are its own
        ({}, {"partition": "debug,batch"}, {}),  # the scheduler picked one
        ({"cpus_per_task": 4}, {"cpus": 2}, {"cpus": 2}),  # as it was taken: a rule of the site's
        ({}, {}, {"cpus": None, "nodes": None}),  # it is completing
    ],
)
def test_what_the_scheduler_does_by_itself_is_no_change(
    shape: dict[str, Any], before: dict[str, Any], now: dict[str, Any]
) -> None:
    story = ended(shape, replace(TAKEN, **before), replace(TAKEN, **now))
    assert (story.end().value["state"], findings(story)) == ("completed", [])


def test_a_job_with_its_nodes_alone_that_waits_again_is_told_with_the_least_that_it_asks_for() -> None:
    """It was first seen when it ran, with all cores of its node: put back into the queue it has one. Nobody changed it."""
    runs, waits = replace(TAKEN, cpus=16, sharing="none"), replace(TAKEN, cpus=1, sharing="none")
    story = Story(shape={"exclusive": True}, first={"terms": runs})
    story.said("queued", 20.0, terms=waits)
    story.said("running", 40.0, terms=runs)
    story.said("completed", 60.0, exit_status=0, elapsed_s=19.0, nodes="n1", terms=waits)
    assert (story.end().value["state"], findings(story)) == ("completed", [])


def test_a_job_that_shares_its_nodes_and_waits_with_fewer_cores_was_changed() -> None:
    story = Story(shape={"cpus_per_task": 16}, first={"terms": replace(TAKEN, cpus=16)})
    story.said("queued", 20.0, terms=replace(TAKEN, cpus=1))
    assert len(findings(story)) == 1 and "cores from 16 to 1" in findings(story)[0]


def test_a_scheduler_that_tells_no_terms_changed_none() -> None:
    story = ended({"exclusive": True}, None, None)
    assert (story.end().value["state"], findings(story)) == ("completed", [])
    assert all("terms" not in event.value for event in story.events("job_report"))


def test_terms_that_are_first_seen_when_it_is_over_may_be_those_on_which_the_scheduler_took_it() -> None:
    story = ended({"cpus_per_task": 4}, None, replace(TAKEN, cpus=2))
    assert story.end().value["state"] == "completed" and findings(story) == []


def test_nodes_that_a_partition_never_gives_alone_are_a_rule_of_the_site_s() -> None:
    story = ended({"exclusive": True}, replace(TAKEN, sharing="nodes"), replace(TAKEN, sharing="cores"))
    assert story.end().value["state"] == "interrupted"
    same = ended({"exclusive": True}, replace(TAKEN, sharing="nodes"), replace(TAKEN, sharing="nodes"))
    assert same.end().value["state"] == "completed"


@pytest.mark.parametrize(("attempt", "state"), [(1, "interrupted"), (2, "interrupted"), (3, "completed")])
def test_what_happens_at_each_attempt_is_a_rule_of_the_site_s(attempt: int, state: str) -> None:
    """Partitions that never give nodes alone say so only when a job begins. The finding tells it each time."""
    story = Story(shape={"exclusive": True}, first={"terms": replace(TAKEN, sharing="none")})
    story.conductor.state.runs["r000001"].attempt = attempt
    now = replace(TAKEN, sharing="nodes")
    story.said("completed", 50.0, exit_status=0, elapsed_s=49.0, nodes="n1", terms=now)
    assert story.end().value["state"] == state
    assert ["shared with other jobs from none to nodes" in told for told in findings(story)] == [True]


@pytest.mark.parametrize(
    ("nodes", "now", "words"),
    [
        ("g1", {}, "it ran on g1 of gpu, and asks for nodes of batch"),  # of another type
        (
            "x7",
            {"partition": "special"},
            "it ran on x7 of special, and asks for nodes of batch",
        ),  # which the plan does not know
        ("n2", {"partition": "debug"}, ""),  # one of its own
        ("n9", {"wants": "n9"}, "it ran on n9, and asks for nodes of batch"),  # to which somebody sent it
        ("n9", {}, ""),  # the partition grew
    ],
)
def test_a_run_on_nodes_of_another_partition_is_no_result_of_its_case(
    nodes: str, now: dict[str, Any], words: str
) -> None:
    story = ended({}, TAKEN, replace(TAKEN, **now), nodes=nodes)
    assert story.end().value["state"] == ("interrupted" if words else "completed")
    assert words in story.end().reason


def test_a_change_is_said_once_kept_in_the_record_and_told_by_why() -> None:
    story = Story(first={"terms": TAKEN})
    for at, qos in ((5.0, "low"), (6.0, "low"), (7.0, "normal")):
        story.said("running", at, terms=replace(TAKEN, qos=qos))
    story.said("running", 8.0)
    assert [event.value["altered"] for event in story.events("finding")] == [
        {"qos": ["normal", "low"]},
        {"qos": ["low", "normal"]},
    ]
    reports = story.events("job_report")
    assert [event.value.get("terms", {}).get("partition") for event in reports] == ["batch", None]
    state = State()
    state.plan = story.conductor.state.plan
    for event in story.campaign.log.events():
        evolve(state, event)
    assert state.jobs["j000001"].terms == state.jobs["j000001"].terms_now == TAKEN
    told = _why_run(state, fold_runs(story.campaign.log.events()), [], "r000001")
    assert sum("quality of service" in line for line in told) == 2


# ---- time limits -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "ran", "more", "words"),
    [
        (3600.0, 359.0, {}, ""),
        (
            3600.0,
            361.0,
            {},
            "it ran past its time limit of 5 min 00 s: it ran for 6 min 01 s, for somebody gave it 1 h 00 min",
        ),
        (NO_LIMIT_S, 4000.0, {}, "for somebody gave it no limit at the scheduler"),
        (3600.0, 500.0, {"halted_s": 200.0}, ""),  # it stood still meanwhile
        (None, 480.0, {}, ""),  # 5 min and 30 s in whole minutes, and a scheduler that was late
        (None, 481.0, {}, "it ran for 8 min 01 s, for it was not ended there at the scheduler"),
    ],
)
@pytest.mark.parametrize(
    "seen", [True, False]
)  # whether the limit was still the one that was asked for when it was first seen
@pytest.mark.parametrize("state", ["completed", "failed"])
def test_a_run_that_ran_past_its_own_time_limit_is_a_timeout(
    given: float | None, ran: float, more: dict[str, Any], words: str, state: str, seen: bool
) -> None:
    now = replace(TAKEN, time_limit_s=given) if given else None
    before, words = (
        (TAKEN if given else None, words) if seen else (now, words.replace("for somebody gave it", "for it has"))
    )
    kept = "interrupted" if more and state == "failed" else state
    story = ended({}, before, now, state, elapsed_s=ran, **more)
    assert story.end().value["state"] == ("timeout" if words else kept)
    verdicts = [event for event in story.verdicts() if words]
    assert [event.value["verdict"] for event in verdicts] == (["timeout"] if words else [])
    assert all(words in event.reason for event in verdicts)


@pytest.mark.parametrize(
    ("told", "attempt", "kept"),
    [
        ({}, 1, "interrupted"),
        ({}, 3, "timeout"),  # that is no accident any more
        ({"halted_s": 200.0}, 1, "completed"),  # accounting knows it
        ({"halted_s": 0.0}, 1, "timeout"),
        ({"halted_s": 19.0}, 1, "timeout"),  # too little to explain it
        ({"terms": replace(TAKEN, time_limit_s=3600.0)}, 1, "timeout"),  # a longer limit does
    ],
)
def test_a_run_past_its_limit_that_may_have_stood_still_unseen_is_a_timeout_only_where_that_is_known(
    told: dict[str, Any], attempt: int, kept: str
) -> None:
    """It was suspended while neither a conductor nor, later, the controller knew of it."""
    story = Story()
    story.conductor.state.runs["r000001"].attempt = attempt
    story.wait(500.0)
    story.conductor.log("driver_start")
    story.said("completed", 505.0, **{"exit_status": 0, "elapsed_s": 500.0, "nodes": "n1", "began": story.begin} | told)
    end = story.end()
    assert (end.value["state"], end.value.get("halted_s")) == (kept, told.get("halted_s") or None)
    words = "it ran for 8 min 20 s, and the scheduler did not end it; no conductor looked until "
    assert (words in end.reason) == (kept == "interrupted")
    verdict = next(iter(story.verdicts()), None)
    assert verdict is None or verdict.value["verdict"] == kept


def test_a_run_that_began_under_the_conductor_s_eyes_and_ran_past_its_limit_is_a_timeout() -> None:
    story = Story()
    story.wait(10.0)
    story.conductor.log("driver_start")
    story.said("completed", 520.0, exit_status=0, elapsed_s=500.0, nodes="n1", began=story.begin + 15.0)
    assert story.end().value["state"] == "timeout"


@pytest.mark.parametrize(
    ("limit", "elapsed", "verdict", "words"),
    [
        (
            60.0,
            None,
            "interrupted",
            "it at a time limit of 1 min 00 s, to which somebody lowered it, although it asks for 300 s",
        ),
        (
            60.0,
            61.0,
            "interrupted",
            "it at a time limit of 1 min 00 s, to which somebody lowered it, although it asks for 300 s",
        ),
        (330.0, 330.0, "timeout", "it was ended at its time limit of 300 s"),
        (
            3600.0,
            3601.0,
            "timeout",
            "its time limit of 1 h 00 min, which somebody gave it at the scheduler; it asks for 300 s",
        ),
    ],
)
def test_the_end_at_a_limit_that_somebody_changed(
    limit: float, elapsed: float | None, verdict: str, words: str
) -> None:
    story = ended({}, TAKEN, replace(TAKEN, time_limit_s=limit), "timeout", elapsed_s=elapsed)
    (said,) = story.verdicts()
    assert said.value["verdict"] == verdict and words in said.reason


def test_what_a_job_with_a_longer_limit_holds_is_held_until_that_limit() -> None:
    """It is judged lost, and may live on: until its own limit, and not that of its case, is past."""
    story = Story(first={"terms": TAKEN})
    story.said("running", 5.0, terms=replace(TAKEN, time_limit_s=36000.0))
    state = story.conductor.state
    job = state.jobs["j000001"]
    assert limit_s(state, job) == 36000.0 and job.charged
    story.said("node_fail", 50.0)
    for event in story.verdicts():
        story.conductor.log(event)
    story.said("absent", 60.0)
    patience = state.index.policy.dead_after_s
    for at, dead in ((300.0 + patience + 100.0, False), (36000.0 + patience + 100.0, True)):
        decision = Decision()
        attend(state, decision, story.begin + at)
        found = [order.event.value["kind"] for order in decision.orders if order.event.event == "finding"]
        assert ("believed_dead" in found) is dead
