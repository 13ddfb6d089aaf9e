"""Orders: what ``decide`` wants done. Each comes with the event that makes it durable before it is carried out."""

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
    """One thing to do: the event is made durable first, then a port carries out ``payload``. An order "record" is
    the event alone.
    """

    kind: OrderKind
    event: Event
    payload: Any = None


@dataclass(slots=True)
class Decision:
    """The orders, and when to decide again even if nothing happens (``wake_at``; None: only when something happens).

    ``claims_again``: jobs whose claim is to be taken by an order that is in the record already; ``parts_again``: the same for parts
    of jobs. The result is recorded once there is one, so a file system that is away for an hour does not fill the record.
    """

    orders: list[Order] = field(default_factory=list)
    wake_at: float | None = None
    runs_named: int = 0
    claims_again: list[Job] = field(default_factory=list)
    parts_again: list[Job] = field(default_factory=list)

    def record(self, event: Event) -> None:
        self.orders.append(Order("record", event))

    def claim(self, job: Job, why: str) -> None:
        """Order that a job's claim is taken, so that the job never starts."""
        if job.requests.claim_unknown:
            self.claims_again.append(job)
        else:
            self.orders.append(Order("claim", Event("claim_order", job=job.id, run=job.run, reason=why), job))

    def wake(self, when: float) -> None:
        """Ask for another decision at ``when``, in seconds since 1970, or earlier."""
        self.wake_at = when if self.wake_at is None else min(self.wake_at, when)

    def new_run(self, state: State) -> str:
        """A name that no run has, and no other new run of this decision."""
        self.runs_named += 1
        return run_name(state.campaign.next_run + self.runs_named - 1)
