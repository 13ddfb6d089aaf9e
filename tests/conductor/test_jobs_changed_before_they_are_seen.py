"""Jobs that somebody changed between submission and the first look at the queue, and what a site's rules make of every job."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from one_cluster_job import Story

from shakedown.engine.fold.evolve import evolve
from shakedown.engine.state.snapshot import freeze_state, thaw_state
from shakedown.engine.state.state import State
from shakedown.model.job_terms import ALONE, BESIDE, NO_LIMIT_S, ON_SHARED_CORES, Terms
from shakedown.model.ports import JobReport

ASKED: dict[str, Any] = {
    "partition": "batch", "nodes": 1, "tasks": 1, "cpus": 1, "wants": "", "features": "", "reservation": "", "gpus": "",
    "time_limit_s": 360.0, "sharing": ALONE,
}  # fmt: skip
TAKEN = Terms(
    partition="batch", time_limit_s=360.0, nodes=1, tasks=1, cpus=4, sharing=ALONE, qos="normal", account="acc"
)
CHANGES = {
    "time limit": ({"time_limit_s": 3600.0}, "time limit from 6 min 00 s to 1 h 00 min"),
    "no time limit": ({"time_limit_s": NO_LIMIT_S}, "time limit from 6 min 00 s to no limit"),
    "partition": ({"partition": "debug"}, "partition from batch to debug"),
    "nodes": ({"wants": "n2"}, "nodes that it must have from none to n2"),
    "shared nodes": ({"sharing": BESIDE}, "shared with other jobs from none to nodes"),
    "shared cores": ({"sharing": ON_SHARED_CORES}, "shared with other jobs from none to cores"),
    "reservation": ({"reservation": "x"}, "reservation from none to x"),
    "features": ({"features": "slow"}, "features from none to slow"),
}
BEFORE = "somebody changed it at the scheduler before it was first seen there, which does not say who: "


def said(number: int, state: str, **terms: Any) -> JobReport:
    more: dict[str, Any] = {"exit_status": 0, "elapsed_s": 49.0, "nodes": "n1"} if state == "completed" else {}
    return JobReport(f"j{number:06d}", state, "queue", f"{6 + number}", terms=replace(TAKEN, **terms), **more)


def story(jobs: int, **more: Any) -> Story:
    return Story(shape={"exclusive": True}, asked=ASKED, jobs=jobs, begun=False, **more)


def findings(told: Story) -> list[tuple[str, str, str]]:
    return [(event.value["kind"], event.job, event.reason) for event in told.events("finding")]


def ends(told: Story) -> dict[str, str]:
    return {
        e.job: e.value["state"]
        for e in told.events("job_report")
        if e.value["state"] in ("completed", "interrupted", "timeout")
    }


@pytest.mark.parametrize(("changed", "words"), CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("place", [1, 3], ids=["first", "last"])
def test_a_job_that_is_first_seen_on_other_terms_than_those_beside_it_was_changed(
    changed: dict[str, Any], words: str, place: int
) -> None:
    told = story(3)
    told.look([said(number, "queued", **(changed if number == place else {})) for number in (1, 2, 3)], 2.0)
    job = f"j{place:06d}"
    assert findings(told) == [("changed_at_scheduler", job, BEFORE + words)]
    (event,) = told.events("finding")
    assert (event.run, event.case) == (f"r{place:06d}", "t0") and event.value["before_seen"] is True
    told.look([said(number, "queued", **(changed if number == place else {})) for number in (1, 2, 3)], 4.0)
    assert len(findings(told)) == 1, "it is said once"


@pytest.mark.parametrize("when", ["while it waits", "when it is over"])
def test_a_run_beside_others_that_was_to_be_alone_is_no_result_though_it_was_changed_before_it_was_seen(
    when: str,
) -> None:
    told = story(2)
    if when == "while it waits":
        told.look([said(1, "queued", sharing=BESIDE), said(2, "queued")], 2.0)
    told.look([said(1, "completed", sharing=BESIDE), said(2, "completed")], 50.0)
    assert ends(told) == {"j000001": "interrupted", "j000002": "completed"}
    assert findings(told) == [("changed_at_scheduler", "j000001", f"{BEFORE}shared with other jobs from none to nodes")]


def test_a_limit_that_was_lowered_before_it_was_seen_is_known_for_one() -> None:
    told = story(2)
    told.look([said(1, "queued", time_limit_s=60.0), said(2, "queued")], 2.0)
    told.look([structs_timeout(60.0)], 70.0)
    (verdict,) = told.verdicts()
    assert verdict.value["verdict"] == "interrupted" and "to which somebody lowered it" in verdict.reason


def structs_timeout(limit: float) -> JobReport:
    return JobReport(
        "j000001", "timeout", "queue", "7", terms=replace(TAKEN, time_limit_s=limit), elapsed_s=61.0, nodes="n1"
    )


def test_what_a_rule_of_the_site_s_makes_of_every_job_is_told_once_and_interrupts_nothing() -> None:
    told = story(3)
    rule: dict[str, Any] = {"sharing": BESIDE, "time_limit_s": 1800.0}
    told.look([said(number, "queued", **rule) for number in (1, 2)], 2.0)
    told.look([said(3, "queued", **rule)], 20.0)
    told.look([said(number, "completed", **rule) for number in (1, 2, 3)], 50.0)
    assert ends(told) == dict.fromkeys(("j000001", "j000002", "j000003"), "completed")
    ((kind, job, why),) = findings(told)
    assert (kind, job) == ("site_rule", "")
    assert why == (
        "jobs of c:batch, such as j000001, are taken on other terms than they ask for: time limit from 6 min 00 s to 30 min 00 s, "
        "shared with other jobs from none to nodes; this counts as a rule of the site"
    )


def test_what_was_taken_for_a_rule_is_a_change_once_another_job_is_taken_as_it_asks() -> None:
    told = story(2)
    told.look([said(1, "running", sharing=BESIDE)], 2.0)
    assert [kind for kind, *_ in findings(told)] == ["site_rule"]
    told.look([said(2, "queued")], 12.0)
    assert findings(told)[1:] == [
        ("changed_at_scheduler", "j000001", f"{BEFORE}shared with other jobs from none to nodes")
    ]
    told.look([said(1, "completed", sharing=BESIDE)], 50.0)
    assert ends(told) == {"j000001": "interrupted"}


def test_a_rule_that_is_new_is_one_from_the_third_look_on_and_its_jobs_are_not_accused_once_it_is_lifted() -> None:
    told = story(6)
    told.look([said(1, "queued")], 2.0)
    for number in (2, 3, 4, 5):
        told.look([said(number, "queued", sharing=BESIDE)], 10.0 * number)
    assert [(kind, job) for kind, job, _ in findings(told)] == [
        ("changed_at_scheduler", "j000002"),
        ("changed_at_scheduler", "j000003"),
    ]
    told.look([said(6, "queued")], 90.0)
    told.look([said(4, "completed", sharing=BESIDE)], 99.0)
    assert ends(told) == {"j000004": "completed"} and len(findings(told)) == 2


@pytest.mark.parametrize(
    "of_a_class",
    [{"nodes": 8, "tasks": 8, "cpus": 8}, {"tasks": 4}, {"cpus": 4}, {"memory_bytes": 1e9}, {"gpus": "gpu:4"}, {"features": "fat"},
     {"time_limit_s": 720.0}, {"more": "licenses=scratch:1"}, {"wants": "n3"}],
    ids=str,
)  # fmt: skip
def test_a_rule_that_meets_jobs_of_a_class_interrupts_none_of_them(of_a_class: dict[str, Any]) -> None:
    told = story(5, more=dict.fromkeys((2, 4), of_a_class))
    rule: dict[str, Any] = {"sharing": BESIDE, "partition": "debug"} | {
        k: v for k, v in of_a_class.items() if k != "more"
    }
    for number in (1, 2, 3, 4, 5):
        told.look([said(number, "queued", **(rule if number in (2, 4) else {}))], 10.0 * number)
    told.look([said(number, "completed", **rule) for number in (2, 4)], 99.0)
    assert ends(told) == dict.fromkeys(("j000002", "j000004"), "completed")
    assert [(kind, job) for kind, job, _ in findings(told)] == [("site_rule", "")]


def test_a_job_that_somebody_changed_is_found_among_those_of_its_class() -> None:
    told = story(4, more={number: {"nodes": 8} for number in (2, 3, 4)})
    looks = [
        said(1, "queued"),
        *(said(n, "queued", nodes=8, **({"sharing": BESIDE} if n == 3 else {})) for n in (2, 3, 4)),
    ]
    told.look(looks, 2.0)
    assert findings(told) == [("changed_at_scheduler", "j000003", f"{BEFORE}shared with other jobs from none to nodes")]


def test_a_job_of_a_sweep_that_was_sent_to_another_node_is_found_though_no_other_asks_for_its_node() -> None:
    told = story(3, more={number: {"wants": f"n{number}"} for number in (1, 2, 3)})
    told.look([said(number, "queued", wants="n4" if number == 2 else f"n{number}") for number in (1, 2, 3)], 2.0)
    assert findings(told) == [("changed_at_scheduler", "j000002", f"{BEFORE}nodes that it must have from n2 to n4")]


def test_a_rule_that_meets_jobs_now_and_then_is_one_from_the_third_look_on() -> None:
    """It looks at something that is not ours to see, such as how full a partition is."""
    told = story(8)
    for number in range(1, 9):
        told.look([said(number, "queued", **({} if number % 2 else {"sharing": BESIDE}))], 10.0 * number)
    assert [(kind, job) for kind, job, _ in findings(told)] == [
        ("changed_at_scheduler", "j000002"),
        ("changed_at_scheduler", "j000004"),
    ]
    told.look([said(number, "completed", sharing=BESIDE) for number in (6, 8)], 99.0)
    assert ends(told) == dict.fromkeys(("j000006", "j000008"), "completed")


def test_each_thing_that_rules_make_of_jobs_is_told_once() -> None:
    told = story(4, more={2: {"nodes": 8}, 3: {"nodes": 9}, 4: {"nodes": 10}})
    told.look([said(1, "queued")], 2.0)
    told.look([said(2, "queued", nodes=8, partition="debug")], 12.0)
    told.look([said(3, "queued", nodes=9, partition="debug")], 22.0)
    told.look([said(4, "queued", nodes=10, partition="large")], 32.0)
    assert [why.partition("debug")[1] or why.partition("large")[1] for _, _, why in findings(told)] == [
        "debug",
        "large",
    ]


def test_a_run_that_comes_to_a_limit_that_a_rule_gives_every_job_of_its_class_is_a_timeout_at_once() -> None:
    told = story(4)
    for number in (1, 2, 3, 4):
        told.look([said(number, "queued", time_limit_s=60.0)], 10.0 * number)
    told.look([structs_timeout(60.0)], 99.0)
    (verdict,) = told.verdicts()
    assert verdict.value["verdict"] == "timeout", verdict.reason


def test_many_jobs_that_somebody_changed_at_one_go_are_no_rule() -> None:
    told = story(5)
    told.look([said(number, "queued", **({"partition": "debug"} if number < 5 else {})) for number in range(1, 6)], 2.0)
    assert {job for kind, job, _ in findings(told) if kind == "changed_at_scheduler"} == {
        f"j{n:06d}" for n in range(1, 5)
    }


def test_more_than_was_asked_for_and_what_is_not_told_is_no_change() -> None:
    told = story(2)
    more = {"cpus": 64, "tasks": 2, "partition": "", "time_limit_s": None, "nodes": None, "sharing": ""}
    told.look([said(1, "queued", **more), said(2, "queued")], 2.0)
    assert findings(told) == []


def test_jobs_whose_orders_are_not_known_are_compared_with_nothing() -> None:
    told = Story(shape={"exclusive": True}, jobs=2, begun=False)
    told.look([said(1, "queued", sharing=BESIDE), said(2, "queued")], 2.0)
    assert findings(told) == []


def test_it_is_all_in_the_record_and_in_its_snapshots() -> None:
    told = story(3)
    told.look([said(1, "queued", partition="debug"), said(2, "queued"), said(3, "queued", sharing=BESIDE)], 2.0)
    told.conductor.commit()
    live = told.conductor.state
    state = State()
    state.plan = live.plan
    for event in told.campaign.log.events():
        evolve(state, event)
    assert state.pools == live.pools and state.jobs == live.jobs
    assert state.jobs["j000001"].terms is not None and state.jobs["j000001"].terms.partition == "batch"
    assert thaw_state(freeze_state(live), live.index).pools == live.pools
