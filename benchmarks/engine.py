"""What the engine costs per event, and how that grows with what waits. The bars: 10,000 waiting, 20,000 nodes: 0.3 ms; ten
times the waiting at most 1.5x per event; a live run at most 1 kB. For results that wait behind a full machine, for a mix behind
full targets, for a sweep and for packs.
"""

from __future__ import annotations

import gc
import sys
import time
import tracemalloc
from collections.abc import Callable

from engine_plans import Driven, mix, packs, repeats, sweep
from shakedown.model.nouns import Document

PER_EVENT_S, GROWTH, LIVE_BYTES = 0.3e-3, 1.5, 1024
ROUNDS = 3


def seconds_per_event(document: Document, ends: int) -> tuple[float, float]:
    """Mean time of ``evolve`` + ``decide`` of an event, and over everything that one run's end sets off; new orders come in
    batches, so that enough ends are played for the first batch to be among them."""
    driven = Driven(document)
    first, events, over = driven.state.campaign.next_job, driven.state.seq, 0
    gc.disable()
    start = time.perf_counter()
    while over < ends and driven.ready:
        over += driven.end_one()
    seconds = time.perf_counter() - start
    gc.enable()
    assert document.components[0].sweep or driven.state.campaign.next_job > first, (
        "no batch of new orders was among the ends"
    )
    return seconds / (driven.state.seq - events), seconds / over


def bytes_per_live_run(document: Document) -> float:
    """What Python's allocator gave for a campaign with all its jobs at the scheduler, beyond one that only waits, per live run."""
    tracemalloc.start()
    driven = Driven(document)
    gc.collect()
    full = tracemalloc.get_traced_memory()[0]
    live = len(driven.state.runs)
    driven.state.runs, driven.state.jobs = {}, {}
    gc.collect()
    rest = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return (full - rest) / live


def best(make: Callable[[], Document], ends: int) -> tuple[float, float]:
    return min(seconds_per_event(make(), ends) for _ in range(ROUNDS))


def main() -> int:
    few = best(lambda: repeats(1_000, 20_000), 21_000)
    times = {
        "10,000 waiting, 20,000 nodes": best(lambda: repeats(10_000, 20_000), 21_000),
        "a mix with budgets, targets, caps, stagger, 20,000 nodes": best(lambda: mix(20_000), 6_000),
        "a sweep of 5 tests over 20,000 nodes": best(lambda: sweep(20_000), 10_000),
        "packs of 250, 100,000 waiting": best(lambda: packs(100_000, 20_000), 10_000),
    }
    small = {
        "packs of 250, 100,000 waiting": best(lambda: packs(10_250, 20_000), 1_000),
        "a sweep of 5 tests over 20,000 nodes": best(lambda: sweep(2_000), 5_000),
        "a mix with budgets, targets, caps, stagger, 20,000 nodes": best(lambda: mix(2_000), 3_000),
        "10,000 waiting, 20,000 nodes": few,
    }
    met = True
    for name, (seconds, an_end) in times.items():
        growth = seconds / small[name][0]
        met = met and seconds <= PER_EVENT_S and growth <= GROWTH
        print(f"{name:<58} {seconds * 1e3:6.3f} ms an event ({an_end * 1e3:.3f} a run's end)  ", end="")
        print(f"at most {PER_EVENT_S * 1e3:g} ms; against a tenth {growth:.2f}x  at most {GROWTH}x")
    for name, document in (("a run of a job of its own", repeats(100, 5_000)), ("a run of a mix", mix(5_000))):
        size = bytes_per_live_run(document)
        met = met and size <= LIVE_BYTES
        print(f"{name:<58} {size:7.0f} bytes while it lives  at most {LIVE_BYTES}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
