"""Other ports of the twin: a log in memory with a durable length, a builder and a collector in virtual time, an inbox."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from shakedown.model.events import Event
from shakedown.model.nouns import Build
from shakedown.model.ports import BuildReport, CheckResult, CollectOrder, Command, Evidence
from shakedown.model.recorded import recorded_checks, summed
from shakedown.twin.machine.figures import figures_of
from shakedown.twin.machine.physics import Physics
from shakedown.twin.machine.world import World


class MemoryLog:
    """The Log port in memory: ``durable`` survives a crash, ``written`` may or may not."""

    def __init__(self) -> None:
        self.durable: list[bytes] = []
        self.written: list[bytes] = []
        self._encoder = msgspec.json.Encoder()

    def append(self, events: Sequence[Event]) -> None:
        self.written += [self._encoder.encode(event) for event in events]

    def commit(self) -> None:
        self.durable += self.written
        self.written = []

    def cut(self, survivors: int = 0) -> None:
        """A crash: of the lines that were written but not yet durable, only the first ``survivors`` are kept."""
        self.durable += self.written[:survivors]
        self.written = []

    def events(self) -> list[Event]:
        return [msgspec.json.decode(line, type=Event) for line in self.durable]

    def bytes(self) -> bytes:
        return b"".join(line + b"\n" for line in self.durable)


class SimulatedBuilder:
    """The Builder port: each build takes the time that fate gives it, or the laws, which have login slots. Builds die with their
    driver. The random seed is the build's name and place, not its key, so that a changed script does not change the outcome.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self._news: list[BuildReport] = []
        self._tries: dict[str, int] = {}
        self._lots: dict[str, str] = {}  # key -> what its luck is drawn by

    def start(self, builds: Sequence[Build]) -> None:
        for build in builds:
            self._lots.setdefault(build.key, f"{build.name} {len(self._lots) + 1}")
            if self.world.physics is not None:
                self._wait_for_slot(build, self.world.physics)
                continue
            self._news.append(BuildReport(build.key, "started", identity="simulated"))
            self._finish_later(build)

    def _finish_later(self, build: Build) -> None:
        draw = self.world.draw("build", self._lots[build.key])
        lasts = self.world.fates.build_s * (0.5 + draw.random())
        failed = draw.random() < self.world.fates.build_failed

        def finish() -> bool:
            log = f"builds/{build.key}.log"
            if failed:
                self._news.append(BuildReport(build.key, "failed", "make: *** [all] Error 2", log, lasts))
            else:
                self._news.append(BuildReport(build.key, "done", "", log, lasts))
            return True

        self.world.clock.at(self.world.clock.now() + lasts, finish)

    def _wait_for_slot(self, build: Build, physics: Physics) -> None:
        tries = self._tries[build.key] = self._tries.get(build.key, 0) + 1
        outcome = physics.build_times.outcome(build, self.world.draw("build", self._lots[build.key], tries))

        def begin() -> bool:
            self._news.append(BuildReport(build.key, "started", identity="simulated"))
            return True

        def finish() -> None:
            state: Literal["done", "failed"] = "failed" if outcome.fault else "done"
            log = f"builds/{build.key}.log"
            self._news.append(BuildReport(build.key, state, outcome.fault, log, outcome.lasts_s))

        physics.slots.ask(outcome.lasts_s, begin, finish)

    def poll(self) -> list[BuildReport]:
        news, self._news = self._news, []
        return news


class SimulatedCollector:
    """The Collector port: evidence comes after a while; some runs are wrong, as fate has it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._news: list[Evidence] = []

    def start(self, orders: Sequence[CollectOrder]) -> None:
        for order in orders:
            self._finish_later(order)

    def _finish_later(self, order: CollectOrder) -> None:
        def finish() -> bool:
            self._news.append(self._evidence(order))
            return True

        self.world.clock.at(self.world.clock.now() + self.world.fates.collect_s, finish)

    def _evidence(self, order: CollectOrder) -> Evidence:
        draw = self.world.draw("evidence", order.run)
        right = draw.random() >= self.world.fates.incorrect
        checks = tuple(CheckResult(check.text, right, "") for check in order.test.checks)
        recorded = {check.subject: summed({check.subject: "0" * 64}) for check in recorded_checks(order.test) if right}
        left: dict[str, dict[str, str] | str] = {pattern: {pattern: "0" * 64} for pattern in order.handing}
        if self.world.physics is not None:
            return Evidence(order.run, checks, figures_of(self.world, order, draw), recorded=recorded, left=left)
        figures = tuple((figure.name, round(100 + draw.gauss(0, 2), 3)) for figure in order.test.figures)
        return Evidence(order.run, checks, figures, recorded=recorded, left=left)

    def poll(self) -> list[Evidence]:
        news, self._news = self._news, []
        return news


class MemoryInbox:
    """The Inbox port in memory; ``post`` is the operator."""

    def __init__(self) -> None:
        self.waiting: list[Command] = []

    def post(self, what: str, who: str = "operator", reason: str = "", **value: object) -> None:
        self.waiting.append(Command(f"q{len(self.waiting) + 1}", what, who, dict(value), reason))

    def poll(self) -> list[Command]:
        return list(self.waiting)

    def acknowledge(self, requests: Sequence[str]) -> None:
        self.waiting = [command for command in self.waiting if command.request not in requests]
