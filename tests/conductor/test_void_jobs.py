"""Jobs whose claim the conductor took leave the queue at once, as nothing may be polled from then on."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

from shakedown.conductor.driver.conductor import Conductor
from shakedown.conductor.driver.loop import _claim
from shakedown.engine import Order
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
