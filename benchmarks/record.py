"""How fast the record is written durably and read back. The bar: 100,000 events a second written."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from shakedown.events.chain import damage_of
from shakedown.events.lease import Lease
from shakedown.events.opening import open_log
from shakedown.events.reader import read_events
from shakedown.model.events import Event
from shakedown.model.layout import Layout

EVENTS, BATCH, BAR = 200_000, 512, 100_000.0


def main() -> int:
    written = max(measure()[0] for _ in range(3))
    read = max(measure()[1] for _ in range(3))
    print(f"written, durable every {BATCH} events  {written:12,.0f} events/s  at least {BAR:,.0f}")
    print(f"read back                        {read:12,.0f} events/s")
    print(f"checked by every reader          {min(measure()[2] for _ in range(3)) * 1e3:12,.1f} ms for 100,000 events")
    return 0 if written >= BAR else 1


def measure() -> tuple[float, float, float]:
    with tempfile.TemporaryDirectory(prefix="shakedown-record-") as folder:
        layout = Layout(Path(folder))
        value = {"verdict": "passed", "component": "memory", "repeat": 1, "elapsed_s": 1.25, "figures": {"triad": 17.1}}
        events = [
            Event(
                "verdict",
                n,
                1.6e9 + n,
                case="stream/threads=2",
                run=f"r{n:06d}",
                value=value,
                reason="every check held",
            )
            for n in range(1, EVENTS + 1)
        ]
        with Lease.acquire(layout) as lease:
            log, _ = open_log(layout.log, lease)
            start = time.perf_counter()
            for first in range(0, EVENTS, BATCH):
                log.append(events[first : first + BATCH])
                log.commit()
            wrote = time.perf_counter() - start
            start = time.perf_counter()
            assert damage_of(layout) is None  # of the longest that it takes: no seal closes the segment yet
            checked = (time.perf_counter() - start) * 100_000 / EVENTS
            log.close()
        start = time.perf_counter()
        assert sum(1 for _ in read_events(layout.log)) == EVENTS
        return EVENTS / wrote, EVENTS / (time.perf_counter() - start), checked


if __name__ == "__main__":
    sys.exit(main())
