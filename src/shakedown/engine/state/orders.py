"""Orders: what ``decide`` wants done, each with the event that makes it durable before it is carried out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from shakedown.engine.state.jobs import Job
from shakedown.engine.state.state import State, run_name
from shakedown.model.events import Event

BATCH = 256  # orders of one kind in one decision: bounds the loop's step, the rest follows in the next

OrderKind = Literal["record", "build", "submit", "cancel", "claim", "claim_part", "release", "hold", "collect"]


@dataclass(frozen=True, slots=True)
class Order:
    """One thing to do: its event is made durable first, then ``payload`` is carried out by a port ("record": nothing more)."""

    kind: OrderKind
    event: Event
    payload: Any = None


@dataclass(slots=True)
class Decision:
    """The orders, and when to decide again even if nothing happens (None: only when something happens).

    ``claims_again``: jobs whose claim is to be taken by an order that the record has already; ``parts_again``: those of whose parts
    it is. What comes of it is recorded once something does: a file system that is away for an hour is no news every few seconds.
    """

    orders: list[Order] = field(default_factory=list)
    wake_at: float | None = None
    runs_named: int = 0
    claims_again: list[Job] = field(default_factory=list)
    parts_again: list[Job] = field(default_factory=list)

    def record(self, event: Event) -> None:
        self.orders.append(Order("record", event))

    def claim(self, job: Job, why: str) -> None:
        """Have a job's claim taken, so that it never starts."""
        if job.requests.claim_unknown:
            self.claims_again.append(job)
        else:
            self.orders.append(Order("claim", Event("claim_order", job=job.id, run=job.run, reason=why), job))

    def wake(self, when: float) -> None:
        self.wake_at = when if self.wake_at is None else min(self.wake_at, when)

    def new_run(self, state: State) -> str:
        """An id that no run has, nor any other run of this decision."""
        self.runs_named += 1
        return run_name(state.campaign.next_run + self.runs_named - 1)
