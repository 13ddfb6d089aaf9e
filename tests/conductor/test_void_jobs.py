"""Jobs whose claim the conductor took leave the queue at once, as nothing may be polled from then on."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

from shakedown.conductor.driver.conductor import Conductor
from shakedown.conductor.driver.loop import _claim, _claim_again
from shakedown.engine import Decision, Order
from shakedown.engine.state.jobs import JobRequests
from shakedown.model.events import Event


class Queue:
    """A scheduler where ``j2`` has begun, and ``j3`` was never heard of."""

    def __init__(self) -> None:
        self.cancelled: list[list[str]] = []

    def take_claim(self, job: Any) -> bool:
        return bool(job.id != "j2")

    def cancel(self, jobs: Sequence[Any]) -> list[str]:
        self.cancelled.append([job.id for job in jobs])
        return []


def claim(*numbers: int) -> tuple[Queue, list[tuple[str, str]]]:
    queue, said = Queue(), []
    conductor = SimpleNamespace(
        ports=SimpleNamespace(scheduler=queue), log=lambda event, **ids: said.append((event, ids["job"]))
    )
    jobs = [SimpleNamespace(id=f"j{n}", scheduler_id="" if n == 3 else str(n)) for n in numbers]
    orders = [Order("claim", Event("claim_order", job=job.id, run=f"r{job.id}"), job) for job in jobs]
    _claim(cast(Conductor, conductor), orders)
    return queue, said


def test_taken_jobs_are_cancelled_together() -> None:
    queue, said = claim(1, 2, 3, 4)
    assert queue.cancelled == [["j1", "j4"]]
    assert said == [("claim_taken", "j1"), ("claim_found", "j2"), ("claim_taken", "j3"), ("claim_taken", "j4")]


def test_nothing_is_asked_where_nothing_of_ours_waits_there() -> None:
    assert claim(2, 3)[0].cancelled == []
    assert claim()[0].cancelled == []


def test_a_claim_of_which_nobody_can_tell_is_tried_again_and_told_once_somebody_can() -> None:
    """Every few seconds, and not at each turn of the loop; where one cannot be told, the others are not waited for."""
    answers, tried, said = iter([None, None, True, False, True]), list[tuple[float, str]](), list[tuple[str, str]]()
    cancelled: list[str] = []

    def take_claim(job: Any) -> bool | None:
        tried.append((now, job.id))
        return next(answers)

    scheduler = SimpleNamespace(take_claim=take_claim, cancel=lambda jobs: cancelled.extend(job.id for job in jobs))
    conductor = SimpleNamespace(
        ports=SimpleNamespace(scheduler=scheduler),
        next_claims=0.0,
        log=lambda event, **ids: said.append((event, ids["job"])),
    )
    news: list[float] = []
    for now in (100.0, 101.0, 104.9, 105.0, 109.0, 110.0):
        decision = Decision()
        for n in (1, 2, 3):
            requests = JobRequests(claim_unknown=True)
            decision.claim(
                cast(Any, SimpleNamespace(id=f"j{n}", run=f"r{n}", scheduler_id=str(n), requests=requests)), ""
            )
        assert not decision.orders, "the order is in the record"
        if _claim_again(cast(Conductor, conductor), decision, now):
            news.append(now)
        assert decision.wake_at == conductor.next_claims > now
    assert tried == [(100.0, "j1"), (105.0, "j1"), (110.0, "j1"), (110.0, "j2"), (110.0, "j3")]
    assert said == [("claim_taken", "j1"), ("claim_found", "j2"), ("claim_taken", "j3")]
    assert (news, cancelled) == ([110.0], ["j1", "j3"])
