"""The counts that tests on real clusters go by: they find what they are for, and nothing in a log that is in order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from full_machine import (
    Told,
    executed_twice,
    followed_twice,
    holes,
    jobs_of,
    loads,
    longest_owed_hole,
    most_at_once,
    most_waiting,
    told_by_payloads,
)

from shakedown.model.events import Event


def order(at: float, number: int, target: str = "mdt0", **value: Any) -> Event:
    value = {"component": "c", "repeat": 1, "attempt": 1, "targets": {"f2/mdt": target}} | value
    return Event("submit_order", time=at, case="t", run=f"r{number}", job=f"j{number}", value=value)


def said(at: float, number: int, event: str, **value: Any) -> Event:
    return Event(event, time=at, run=f"r{number}", job=f"j{number}", value=value)


def report(at: float, number: int, state: str) -> Event:
    return said(at, number, "job_report", state=state)


def on_targets(events: list[Event]) -> dict[str, int]:
    return loads(jobs_of(events).values(), lambda job: job.target)


def test_two_that_may_start_at_once_load_twice_and_one_after_the_other_once() -> None:
    assert on_targets([order(0, 1), order(1, 2)]) == {"mdt0": 2}
    assert on_targets([order(0, 1), report(5, 1, "completed"), order(5, 2)]) == {"mdt0": 1}
    assert on_targets([order(0, 1, "mdt0"), order(1, 2, "mdt1")]) == {"mdt0": 1, "mdt1": 1}


def test_a_held_job_loads_from_its_release_and_a_job_that_may_live_loads_on() -> None:
    held = [order(0, 1, held=True), order(1, 2)]
    assert on_targets([*held, report(3, 2, "completed")]) == {"mdt0": 1}
    assert on_targets([*held, said(2, 1, "release_order", targets={"f2/mdt": "mdt0"})]) == {"mdt0": 2}
    alive = said(2, 1, "verdict", verdict="node_fail", alive=True)
    assert on_targets([order(0, 1), report(1, 1, "node_fail"), alive, order(3, 2)]) == {"mdt0": 2}
    assert on_targets([order(0, 1), alive, said(3, 1, "finding", dead=True), order(3, 2)]) == {"mdt0": 1}


def test_a_follower_takes_a_place_and_two_followers_are_told() -> None:
    chain = [order(0, 1), order(1, 2, after="j1"), order(2, 3, after="j2")]
    assert on_targets(chain) == {"mdt0": 1}
    assert followed_twice(chain) == []
    assert followed_twice([*chain, order(3, 4, after="j2")]) == ["j2"]
    assert followed_twice([*chain, said(3, 3, "claim_taken"), order(4, 4, after="j2")]) == []


def test_what_waits_is_neither_running_nor_over() -> None:
    events = [
        order(0, 1),
        order(1, 2),
        report(2, 1, "running"),
        order(3, 3),
        said(4, 3, "submit_deferred"),
        order(5, 4),
    ]
    assert most_waiting(jobs_of(events).values()) == 2
    assert most_waiting(jobs_of(events[:1]).values()) == 1


def test_a_job_of_several_runs_is_over_when_all_are_judged() -> None:
    first = order(0, 1, parts=2, part=1)
    second = Event("submit_order", time=0, case="t", run="r9", job="j1", value=first.value | {"part": 2})
    judged = [said(3, 1, "verdict", verdict="passed")]
    part = Event("job_report", time=2, run="r1", job="j1", value={"state": "completed", "part": 1})
    assert jobs_of([first, second, part, *judged])["j1"].over == float("inf")
    other = Event("verdict", time=4, run="r9", job="j1", value={"verdict": "passed"})
    assert jobs_of([first, second, *judged, other])["j1"].over == 4


def test_ends_come_before_begins_and_one_who_comes_twice_counts_once() -> None:
    assert most_at_once([("a", "x", 0, 1), ("a", "y", 1, 2)]) == {"a": 1}
    assert most_at_once([("a", "x", 0, 2), ("a", "x", 1, 3), ("a", "y", 2.5, 3)]) == {"a": 2}


def test_holes() -> None:
    assert holes([(0, 5), (12, 20)], 1, 30) == [(5, 12), (20, 30)]
    assert holes([(2, 5), (4, 6)], 0, 7) == [(0, 2), (6, 7)]
    assert holes([(3, 9)], 4, 7) == []
    assert holes([], 0, 7) == [(0, 7)]


def test_a_test_that_had_more_than_its_share_may_rest_and_one_that_fell_out_may_not() -> None:
    ran = [Told("a", "r0", "", 0.0, 10.0), *(Told("b", f"r{n}", "", 5.0 * n, 5.0 * n + 5.0) for n in range(8))]

    def hole(share: float, nodes: int = 1) -> float:
        return longest_owed_hole(ran, {"a": nodes, "b": 1}, "a", share, 0.0, 40.0)

    assert hole(0.0) == 0.0, "it is owed nothing"
    assert hole(0.3) == 15.0, "10 s of 35 s are less than 30 %: from 25 s on it is owed"
    assert hole(0.6) == 30.0, "it is owed all the time"
    assert hole(0.5, nodes=4) == 0.0, "40 node-seconds of 80 are its half"
    assert longest_owed_hole(ran, {"a": 1, "b": 1}, "b", 0.9, 0.0, 60.0) == 20.0, "to the end of what is looked at"
    assert longest_owed_hole(ran[1:], {"b": 1}, "a", 0.1, 0.0, 40.0) == 35.0, "it never ran at all"


def test_payloads_that_begin_twice_are_told(tmp_path: Path) -> None:
    file = tmp_path / "executed"
    file.write_text("cm4 r1 1.5 /a b\nend r1 3.5 /a b\nufs r2 2.0 /c\ncm4 r1 4.0 /a b\n")
    told = told_by_payloads(file)
    assert (told[0].test, told[0].place, told[0].begin, told[0].end) == ("cm4", "/a b", 1.5, 3.5)
    assert executed_twice(told) == ["r1"]
    assert told[1].end == float("inf")
