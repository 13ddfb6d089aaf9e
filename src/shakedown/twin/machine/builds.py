"""Builds on the login nodes of the simulated machine: a queue in front of a few slots, how long they take, and which ones fail."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from shakedown.model.nouns import Build, Document
from shakedown.model.scenario import Builds
from shakedown.twin.machine.clock import VirtualClock

_LEAST_SHARE = 0.01  # of the mean: no build takes less


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a build: its duration in seconds, and why it fails ("" = it succeeds)."""

    lasts_s: float
    fault: str = ""


@dataclass(slots=True)
class LoginSlots:
    """The queue for login slots, first come, first served. ``slots``: builds at once, 0 = no limit. ``most``: the most so far."""

    clock: VirtualClock
    slots: int
    notices: bool
    busy: int = 0
    most: int = 0
    waiting: deque[tuple[float, Callable[[], bool], Callable[[], None]]] = field(default_factory=deque)

    def ask(self, lasts_s: float, begin: Callable[[], bool], finish: Callable[[], None]) -> None:
        """Request a slot for a build. ``begin`` is called when a slot is free and returns whether the build is still wanted;
        ``finish`` is called at its end."""
        self.waiting.append((lasts_s, begin, finish))
        self._go_on()

    def _go_on(self) -> None:
        while self.waiting and (not self.slots or self.busy < self.slots):
            lasts_s, begin, finish = self.waiting.popleft()
            if begin():
                self._run(lasts_s, finish)

    def _run(self, lasts_s: float, finish: Callable[[], None]) -> None:
        self.busy += 1
        self.most = max(self.most, self.busy)

        def over() -> bool:
            self.busy -= 1
            finish()
            self._go_on()
            return True

        self.clock.at(self.clock.now() + lasts_s, over)


class BuildTimes:
    """Durations of builds from the scenario, looked up by the build's name or by the tests and toolchains that use it."""

    def __init__(self, document: Document, terms: Builds) -> None:
        self.terms, self.builds = terms, {build.key: build for build in document.builds}
        self._times = dict(terms.times)
        self._words: dict[str, set[str]] = {build.key: {build.name} for build in document.builds}
        for case in document.cases:
            if case.build in self._words:
                self._words[case.build] |= {case.test, case.toolchain}

    def outcome(self, build: Build, lot: random.Random) -> Outcome:
        """The outcome of one build."""
        words = self._words.get(build.key, {build.name})
        lasts = self._lasts(words, lot)
        part = lasts * lot.random()
        fails = lot.random() < self.terms.failing
        broken = next((word for word in self.terms.broken if word in words), "")
        if broken:
            return Outcome(part, f"{broken} does not build here")
        if fails:
            return Outcome(part, "make: *** [all] Error 2")
        if lasts > build.time_limit_s:
            return Outcome(build.time_limit_s, "it was ended at its time limit")
        return Outcome(lasts)

    def of_case(self, test: str, key: str, lot: random.Random) -> float:
        """Seconds that a harness builds before a job of a test."""
        return self._lasts({test} | self._words.get(key, set()), lot)

    def _lasts(self, words: set[str], lot: random.Random) -> float:
        mean = next((seconds for name, seconds in self._times.items() if name in words), self.terms.mean_s)
        return max(mean * _LEAST_SHARE, lot.gauss(mean, self.terms.spread_s)) if self.terms.spread_s else mean
