"""The live page over many events: how long the index takes, and each view afterwards. The bars: 1 s and 0.3 s.

    benchmarks/live.py [RUNS] [CAMPAIGNS]

Each run has three events: its order, its start, its verdict.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from shakedown.events.lease import Lease
from shakedown.events.opening import open_log
from shakedown.live.indexing import Indexer
from shakedown.live.views import Views
from shakedown.model.events import Event
from shakedown.model.layout import Layout
from shakedown.store.index import Index, sqlite_url
from shakedown.store.reading import Filter

FIRST_S, FILTERED_S = 1.0, 0.3


def main() -> int:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    campaigns = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    with tempfile.TemporaryDirectory(prefix="shakedown-live-") as folder:
        site = Path(folder)
        for number in range(campaigns):
            _write(site / "campaigns" / f"p-{number + 1}", f"p-{number + 1}", runs // campaigns)
        index = Index(sqlite_url(site / "index.sqlite"))
        start = time.process_time()
        indexer = Indexer(site, index)
        indexer.refresh()
        took = time.process_time() - start
        print(
            f"{runs:,} runs of {campaigns} campaigns into the index {took:8.2f} s of processor, {3 * runs / took:,.0f} events/s"
        )
        start = time.perf_counter()
        fresh = Views(Indexer(site, Index(sqlite_url(site / "index.sqlite"))))
        fresh.indexer.refresh()
        fresh.overview()
        first = time.perf_counter() - start
        views = Views(indexer)
        filtered = max(_best(lambda wanted=wanted: views.stream(wanted)) for wanted in _filters())  # type: ignore[misc]
        page = _best(lambda: views.campaign("p-1"))
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"a new server until its first view            {first:8.3f} s, at most {FIRST_S}")
        print(f"a filtered stream, the slowest of {len(_filters())}          {filtered:8.3f} s, at most {FILTERED_S}")
        print(f"the page of a campaign                       {page:8.3f} s, at most {FIRST_S}")
        print(f"memory, at most                              {memory:8.0f} MiB")
    return 0 if first <= FIRST_S and filtered <= FILTERED_S and page <= FIRST_S else 1


def _filters() -> list[Filter]:
    return [
        Filter(),
        Filter(bad=True),
        Filter(campaign="p-1", patterns={"case": "threads=(2|4)$"}),
        Filter(campaign="p-1", patterns={"nodes": "c000[1-3]", "state": "passed"}, sort="elapsed"),
        Filter(patterns={"reason": "exit status [1-9]"}),
    ]


def _best(work: Callable[[], Any]) -> float:
    def once() -> float:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    return min(once() for _ in range(3))


def _write(root: Path, name: str, runs: int) -> None:
    layout = Layout(root)
    layout.root.mkdir(parents=True)
    start = Event("campaign_start", 1, 1.6e9, value={"campaign": name, "plan": "p", "document": "0" * 64})
    with Lease.acquire(layout) as lease:
        log, _ = open_log(layout.log, lease)
        log.append([start])
        seq = 1
        for number in range(runs):
            log.append(_events(seq, number))
            seq += 3
            if number % 512 == 0:
                log.flush()
        log.commit()
        log.close()


def _events(seq: int, number: int) -> list[Event]:
    at, run, job, case = 1.6e9 + number * 66, f"r{number:06d}", f"j{number:06d}", f"stream/threads={number % 32}"
    bad = number % 50 == 0
    value: dict[str, Any] = {"component": "memory", "repeat": number, "attempt": 1}
    ended = {"verdict": "failed" if bad else "passed", "elapsed_s": 60 + number % 7, "started": at, "exit": int(bad)}
    more = {"figures": {"triad": 17.0 + number % 5}, "nodes": f"c{number % 5000:04d}"}
    why = f"exit status {number % 7 + 1}" if bad else "exit status 0, 2 checks hold"
    return [
        Event("submit_order", seq + 1, at, case=case, run=run, job=job, value=value),
        Event("job_report", seq + 2, at, run=run, job=job, value={"state": "running"}),
        Event("verdict", seq + 3, at + 66, case=case, run=run, job=job, value=value | ended | more, reason=why),
    ]


if __name__ == "__main__":
    sys.exit(main())
