"""Campaigns in virtual time whose runs do what a script says: the real engine and loop, made-up run times, figures, faults.

``Played`` is a campaign of ``stage.py`` with a ``Part`` for each run; ``save`` leaves it on disk as a conductor would have.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from stage import Campaign

from shakedown.conductor.commands.fingerprints import fingerprint_event
from shakedown.events.lines import encode_event
from shakedown.events.segments import first_header
from shakedown.machine.fingerprint_here import Answers
from shakedown.model.frozen import digest, freeze
from shakedown.model.layout import Layout
from shakedown.model.nouns import Build
from shakedown.model.ports import BuildReport, CheckResult, CollectOrder, Evidence, Ports
from shakedown.twin import SimulatedBuilder, SimulatedCollector, World
from shakedown.twin.machine.world import SimulatedJob


@dataclass(frozen=True)
class Asked:
    """A run as it was ordered; ``number`` counts the runs of its component and test from 1."""

    run: str
    test: str
    component: str
    mode: str
    number: int


@dataclass(frozen=True)
class Part:
    """What a run does. ``state``: completed, failed, timeout, node_fail; ``wrong``: its golden files differ."""

    lasts_s: float
    figures: tuple[tuple[str, float], ...] = ()
    state: str = "completed"
    wrong: bool = False


Script = Callable[[Asked], Part]


class ScriptedWorld(World):
    """The simulated machine, where the script says what becomes of a job and when."""

    part_of: Callable[[str], Part]

    def _live_on(self, job: SimulatedJob) -> None:
        part, limit = self.part_of(job.order.run), job.order.case.shape.time_limit_s
        after = limit if part.state == "timeout" else min(part.lasts_s, limit)
        status = {"completed": 0, "failed": 1}.get(part.state)
        self._later(job, after, part.state, status, after)


class ScriptedCollector(SimulatedCollector):
    """Evidence as the script has it: every check holds, but those on golden files where the answer is wrong."""

    world: ScriptedWorld

    def _evidence(self, order: CollectOrder) -> Evidence:
        part = self.world.part_of(order.run)
        checks = tuple(
            CheckResult(
                check.text,
                not (part.wrong and check.kind == "golden"),
                "RESTART/coupler.res differs" if part.wrong else "",
            )
            for check in order.test.checks
            if check.kind != "exit"
        )
        return Evidence(order.run, checks, part.figures)


class ScriptedBuilder(SimulatedBuilder):
    """Builds fail whose script holds one of the words ``unbuildable``."""

    def __init__(self, world: World, unbuildable: Sequence[str]) -> None:
        super().__init__(world)
        self.unbuildable = unbuildable

    def start(self, builds: Sequence[Build]) -> None:
        for build in builds:
            bad = any(word in build.script for word in self.unbuildable)
            self._news.append(BuildReport(build.key, "started", identity="simulated"))
            end = BuildReport(build.key, "failed" if bad else "done", "error: as scripted" if bad else "", "", 30.0)
            self.world.clock.at(self.world.clock.now() + 30.0, functools.partial(self._over, end))

    def _over(self, end: BuildReport) -> bool:
        self._news.append(end)
        return True


@dataclass
class Played(Campaign):
    """A campaign by a script. ``machines``: (time after the start, node -> facts); each is a fingerprint taken then.

    The scheduler is asked every ``poll_s``; builds fail whose script holds a word of ``unbuildable``.
    """

    root: Path = field(default_factory=Path)
    parts: Script = field(default=lambda asked: Part(60.0))
    machines: Sequence[tuple[float, dict[str, dict[str, str]]]] = ()
    unbuildable: Sequence[str] = ()
    poll_s: float = 120.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.world = ScriptedWorld(self.document, self.seed, self.clock, self.fates, self.lies, self.local)
        self.world.part_of = self._part
        self.oracle.at_rest = lambda state: None  # type: ignore[method-assign]  # tests/invariants look at every moment
        self.layout = Layout(self.root)
        self.told = 0
        self._known: dict[str, Part] = {}
        self._counts: dict[tuple[str, str], int] = {}
        self._begin = self.clock.now()
        self._tests = {case.id: case.test for case in self.document.cases}
        play, self.change_ports = self.change_ports, self._with_script
        self._others = play
        own, self.script = self.script, self._operator
        self._own = own
        self.root.mkdir(parents=True, exist_ok=True)
        for after, _ in self.machines:
            self.clock.at(self._begin + after, lambda: True)

    def _with_script(self, ports: Ports) -> Ports:
        ports.collector, ports.builder = ScriptedCollector(self.world), ScriptedBuilder(self.world, self.unbuildable)
        ports.scheduler.poll_s = self.poll_s
        return self._others(ports)

    def _part(self, run: str) -> Part:
        if run not in self._known:
            mine = self.conductor.state.runs[run]
            component = self.document.components[mine.component].name
            key = (component, self._tests[mine.case])
            self._counts[key] = self._counts.get(key, 0) + 1
            asked = Asked(run, self._tests[mine.case], component, mine.mode, self._counts[key])
            self._known[run] = self.parts(asked)
        return self._known[run]

    def _operator(self, campaign: Campaign, wait: int) -> None:
        """Takes the fingerprints that are due, then does what the campaign's own operator does."""
        while self.told < len(self.machines) and self.clock.now() >= self._begin + self.machines[self.told][0]:
            texts = {node: _said(facts) for node, facts in self.machines[self.told][1].items()}
            self.conductor.log(
                fingerprint_event(self.layout, self.conductor.state.campaign.fingerprint, Answers(texts))
            )
            self.told += 1
        if self._own is not None:
            self._own(campaign, wait)

    def save(self) -> Path:
        """The campaign as a directory: log, frozen plans, facts of the fingerprints."""
        for folder in (self.layout.log, self.layout.documents, self.layout.packs):
            folder.mkdir(parents=True, exist_ok=True)
        for document in self.documents.values():
            self.layout.document(digest(freeze(document))).write_bytes(freeze(document))
        header = msgspec.json.encode(first_header(1)) + b"\n"
        (self.layout.log / "000001.jsonl").write_bytes(header + b"".join(map(encode_event, self.log.events())))
        return self.root

    def rows(self) -> list[dict[str, Any]]:
        """The log as plain data."""
        return [msgspec.json.decode(line) for line in self.log.durable]

    def plans(self) -> dict[str, dict[str, Any]]:
        return {name: msgspec.json.decode(freeze(document)) for name, document in self.documents.items()}


def _said(facts: dict[str, str]) -> str:
    return "".join(f"{key}\t{value}\n" for key, value in facts.items()) + "fingerprint\tcomplete\n"
