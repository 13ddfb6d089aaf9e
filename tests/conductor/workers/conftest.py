"""A campaign directory with packs, and a collector that is driven as the conductor drives it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from shakedown.conductor.workers.collector import WorkerCollector
from shakedown.conductor.workers.run_reader import ReadingLimits
from shakedown.model.layout import Layout
from shakedown.model.nouns import Case, Pairs, Test
from shakedown.model.ports import CollectOrder, Evidence
from shakedown.processes.reactor import Reactor

PATIENCE_S = 30.0  # a machine may be busy; no test waits for so long unless something is wrong


@dataclass
class Room:
    """A campaign on disk, a reactor and a collector."""

    layout: Layout
    reactor: Reactor = field(default_factory=Reactor)
    collectors: list[WorkerCollector] = field(default_factory=list)
    count: int = 0

    def open(self, workers: int = 2, **limits: Any) -> WorkerCollector:
        self.collectors.append(WorkerCollector(self.layout, self.reactor, workers, ReadingLimits(**limits)))
        return self.collectors[-1]

    def packed(self, data: bytes) -> dict[str, Any]:
        """The pointer to an output that was just appended to the one pack."""
        path = self.layout.packs / "000001.pack"
        path.parent.mkdir(exist_ok=True)
        with path.open("ab") as file:
            offset = file.tell()
            file.write(data)
        return {"pack": path.name, "offset": offset, "bytes": len(data)}

    def work(self) -> Path:
        """The directory of the run that is ordered next."""
        path = self.layout.work_directory(f"r{self.count + 1:06d}")
        path.mkdir(parents=True, exist_ok=True)
        return path

    def order(self, test: Test, output: dict[str, Any] | bytes = b"", files: Pairs = ()) -> CollectOrder:
        self.count += 1
        pointer = output if isinstance(output, dict) else self.packed(output) if output else {}
        return CollectOrder(f"r{self.count:06d}", Case("c", "t", "local:all", files=files), test, pointer)

    def collect(self, collector: WorkerCollector, orders: Sequence[CollectOrder]) -> dict[str, Evidence]:
        """Order all, then wait as the loop waits until all are there."""
        collector.start(orders)
        return self.until(collector, len(orders))

    def until(self, collector: WorkerCollector, count: int) -> dict[str, Evidence]:
        got: list[Evidence] = []
        end = time.monotonic() + PATIENCE_S
        while len(got) < count:
            assert time.monotonic() < end, f"only {len(got)} of {count} came back"
            self.reactor.wait(self.reactor.now() + 1)
            got.extend(collector.poll())
        assert len({evidence.run for evidence in got}) == len(got) == count
        return {evidence.run: evidence for evidence in got}

    def one(self, order: CollectOrder, **limits: Any) -> Evidence:
        return self.collect(self.open(workers=1, **limits), [order])[order.run]


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    layout = Layout(tmp_path / "campaign")
    layout.root.mkdir()
    made = Room(layout)
    yield made
    for collector in made.collectors:
        collector.close()
    made.reactor.close()
