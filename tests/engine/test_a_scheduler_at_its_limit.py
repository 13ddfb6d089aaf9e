"""A scheduler that takes no more jobs for now is tried with one, then with two, then with four."""

from __future__ import annotations

from collections import Counter

from engine_by_hand import ByHand
from msgspec.structs import replace
from stage import small_document

from shakedown.engine import State, evolve, index_plan
from shakedown.model.events import Event

LIMIT = "AssocMaxSubmitJobLimit"


def campaign(tests: int = 30) -> ByHand:
    document = small_document(tests=tests, repeats=1, nodes=8, budgets={})
    rest = replace(document.components[1], cases=tuple(case.id for case in document.cases[3:tests]), after=())
    hand = ByHand(State(plan=index_plan(replace(document, components=(rest,)))))
    hand.play("campaign_start")
    hand.play("driver_start")
    return hand


def ordered(hand: ByHand, until: float | None = None) -> list[str]:
    """Time goes on to a moment; the jobs that are ordered then."""
    if until is not None:
        hand.state.time = max(hand.state.time, until)
    before = set(hand.state.jobs)
    hand.settle()
    return [job for job in hand.state.jobs if job not in before]


def answered(hand: ByHand, jobs: list[str], room: int) -> None:
    """The scheduler takes the first so many of these and refuses the others for now."""
    for place, job in enumerate(jobs):
        name = "submit_accepted" if place < room else "submit_deferred"
        more = {"value": {"id": job}} if place < room else {"reason": LIMIT, "run": hand.state.jobs[job].run}
        evolve(hand.state, Event(name, hand.state.seq + 1, hand.state.time, job=job, **more))  # all in one moment


def test_one_job_is_tried_then_two_then_four() -> None:
    hand = campaign()
    first = ordered(hand)
    assert len(first) > 8
    answered(hand, first, 4)
    assert ordered(hand) == [], "nothing before its time"
    (shut,) = hand.state.pools.backoffs.values()
    one = ordered(hand, shut.until + 5)
    assert len(one) == 1
    assert ordered(hand, shut.until + 7) == [], "its answer is waited for"
    answered(hand, one, 1)
    two = ordered(hand)
    assert len(two) == 2
    answered(hand, two, 2)
    four = ordered(hand)
    assert len(four) == 4
    answered(hand, four, 0)
    assert ordered(hand) == []
    assert hand.state.pools.backoffs[next(iter(hand.state.pools.backoffs))].most == 1


def test_a_scheduler_with_room_for_one_is_not_asked_a_hundred_times() -> None:
    """One job ends each ten seconds, for ten minutes: sixty places. The refusals stay a few for each place."""
    hand, said = campaign(200), Counter[str]()
    alive = ordered(hand)
    answered(hand, alive, 8)
    alive = [job for job in alive if job in hand.state.jobs]
    for _ in range(60):
        end = alive.pop(0)
        run = hand.state.jobs[end].run
        hand.play("job_report", job=end, run=run, value={"state": "running", "source": "marks"})
        hand.play("job_report", job=end, run=run, value={"state": "completed", "source": "marks", "exit": 0})
        value = {"verdict": "passed", "component": "rest", "repeat": 1, "attempt": 1}
        hand.play("verdict", job=end, run=run, case=hand.state.runs[run].case, value=value)
        start = hand.state.time
        for second in range(10):
            jobs = ordered(hand, start + second)
            room = max(0, 8 - len(alive))
            answered(hand, jobs, room)
            alive += jobs[:room]
            said.update(taken=len(jobs[:room]), refused=len(jobs[room:]))
    assert said["taken"] >= 45 and said["refused"] <= 3 * said["taken"], said


def test_what_was_refused_has_its_turn_before_what_was_never_ordered() -> None:
    hand = campaign()
    first = ordered(hand)
    refused = [hand.state.jobs[job].run for job in first[4:]]
    answered(hand, first, 4)
    due = max(entry.not_before for entry in hand.state.waiting.delayed)
    again = ordered(hand, due)
    assert [hand.state.jobs[job].run for job in again] == [refused[0]]


def test_nothing_is_said_to_be_refused_while_it_takes_jobs() -> None:
    hand = campaign()
    first = ordered(hand)
    answered(hand, first, 4)
    (shut,) = hand.state.pools.backoffs.values()
    assert shut.strikes == 1
    answered(hand, ordered(hand, shut.until + 5), 1)
    assert shut.strikes == 0 and not [one for one in hand.state.pools.backoffs.values() if one.until > hand.state.time]


def test_a_scheduler_that_answers_again_is_tried_at_once() -> None:
    hand = campaign()
    first = ordered(hand)
    answered(hand, first, 2)
    report = {"source": "queue", "id": first[0]}
    for state in ("no_answer", "queued"):
        (shut,) = hand.state.pools.backoffs.values()
        assert shut.until > hand.state.time
        assert ordered(hand) == []
        evolve(
            hand.state,
            Event("job_report", hand.state.seq + 1, hand.state.time, job=first[0], value={"state": state} | report),
        )
    (shut,) = hand.state.pools.backoffs.values()
    assert shut.until == hand.state.time
    assert len(ordered(hand)) == 1
