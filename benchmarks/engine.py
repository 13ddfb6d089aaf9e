"""What the engine costs per event, and how that grows with what waits. The bars: 10,000 waiting, 20,000 nodes: 0.3 ms; ten
times the waiting at most 1.5x per event.
"""

from __future__ import annotations

import sys
import time

import msgspec

from shakedown.engine import Policy, State, decide, evolve, index_plan
from shakedown.model.events import Event
from shakedown.model.nouns import Case, Cluster, Component, Document, Limits, NodeType, Partition, Shape, System, Test

PER_EVENT_S, GROWTH = 0.3e-3, 1.5


def document(waiting: int, nodes: int, tests: int = 50) -> Document:
    """``tests`` tests of one node each, so many repeats that ``waiting`` results wait behind a full machine."""
    partition = Partition("batch", "c", f"n[1-{nodes}]", nodes, "node")
    system = System(
        "big", (Cluster("c", "slurm", (partition,)),), (NodeType("node", cores=128),), budgets=(("fs", 1e9),)
    )
    shape = Shape(units=1, time_limit_s=3600.0)
    cases = tuple(Case(f"t{n}", f"t{n}", "c:batch", shape=shape, loads=(("fs", 1.0 + n),)) for n in range(tests))
    repeats = (waiting + 2 * nodes + 64) // tests + 1
    component = Component("stability", "stability", tuple(case.id for case in cases), repeats)
    made = tuple(Test(case.id) for case in cases)
    return Document("big", system, (component,), cases, made, limits=Limits())


def seconds_per_end(waiting: int, nodes: int) -> float:
    """Mean time of ``evolve`` + ``decide`` over everything that one job's end sets off; new orders come in batches, so that
    enough ends are played for the first batch to be among them."""
    state = State(plan=index_plan(document(waiting, nodes), Policy()))
    play(state, Event("campaign_start", value={}))
    play(state, Event("driver_start", value={}))
    settle(state)
    first = state.next_job
    jobs = list(state.jobs.values())[: nodes + 1000]
    start = time.perf_counter()
    for job in jobs:
        play(state, Event("job_report", job=job.id, value={"state": "completed", "source": "marks", "elapsed_s": 9.0}))
        settle(state)
        value = {"verdict": "passed", "component": "stability", "repeat": state.runs[job.run].repeat, "final": True}
        play(state, Event("verdict", case=job.case, run=job.run, job=job.id, value=value, reason="ok"))
        settle(state)
    seconds = (time.perf_counter() - start) / len(jobs)
    assert state.next_job > first, "no batch of new orders was among the ends"
    return seconds


def play(state: State, event: Event) -> None:
    evolve(state, msgspec.structs.replace(event, seq=state.seq + 1, time=state.time + 0.001))


def settle(state: State) -> None:
    while orders := decide(state, state.time).orders:
        for order in orders:
            play(state, order.event)
            if order.kind == "submit":
                play(state, Event("submit_accepted", job=order.event.job, value={"id": "1"}))


def main() -> int:
    few = min(seconds_per_end(1_000, 20_000) for _ in range(3))
    many = min(seconds_per_end(10_000, 20_000) for _ in range(3))
    print(f"1,000 waiting, 20,000 nodes    {few * 1e3:7.3f} ms a job end")
    print(f"10,000 waiting, 20,000 nodes   {many * 1e3:7.3f} ms a job end  at most {PER_EVENT_S * 1e3:g} ms")
    print(f"ten times the waiting          {many / few:7.2f}x             at most {GROWTH}x")
    return 0 if many <= PER_EVENT_S and many / few <= GROWTH else 1


if __name__ == "__main__":
    sys.exit(main())
