"""A rehearsal: the one loop and the unchanged engine on a simulated machine in virtual time. It leaves a campaign like any other.

``rehearse`` is the table of contents. Nothing of the day, the host or the process comes into the log: the same plan, scenario and
seed give the same bytes. Nothing real is run: no job, no build, no program of the site.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

import shakedown
from shakedown.conductor.documents import Documents
from shakedown.conductor.driving import begin
from shakedown.conductor.faults import Troubles
from shakedown.conductor.loop import Conductor, loop
from shakedown.conductor.operators import commands_for
from shakedown.conductor.rehearsed_losses import Losses
from shakedown.conductor.rehearsed_people import RehearsedPeople
from shakedown.conductor.snapshots import Snapshots
from shakedown.engine import State, explain, index_plan
from shakedown.engine.explain import waits_for_people
from shakedown.events.lease import Lease
from shakedown.events.opening import open_log
from shakedown.events.reader import read_events
from shakedown.events.segment_file import unwritable
from shakedown.events.writer import LogWriter
from shakedown.metrics.limits import Limits, limits_of, sentence
from shakedown.metrics.rehearsed import in_words
from shakedown.metrics.words import plural
from shakedown.model.events import Event
from shakedown.model.frozen import digest as digest_of
from shakedown.model.frozen import freeze, thaw
from shakedown.model.layout import Layout
from shakedown.model.nouns import Document
from shakedown.model.ports import Ports
from shakedown.model.scenario import RunTime, Scenario
from shakedown.model.units import show_duration
from shakedown.twin.clock import NothingWillHappen
from shakedown.twin.machine import Machine, simulate
from shakedown.twin.ports import SimulatedBuilder, SimulatedCollector
from shakedown.twin.scheduler import SimulatedScheduler

DRIVER = {"machine": "simulated", "time": "virtual"}  # what is said of a driver: the same of each
SILENT_S = 400 * 86400.0  # a rehearsal in which nothing happens for so long will not end
SAME_INSTANT = 100_000  # and one that turns so often without an event is our fault
SCENARIO_FILE = "scenario.json"
POLL_S = 5.0  # how often the scheduler is asked
POLL_IN_OUTAGES_S = 60.0  # and where it has to be asked although nothing happens, as it may not answer


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What is rehearsed beside the plan. ``seed``: of the machine's draws."""

    troubles: Troubles
    seed: int = 0
    open_gates: bool = False

    @property
    def scenario(self) -> Scenario:
        return self.troubles.scenario


class ConductorDies(Exception):
    """The conductor is gone at this moment; everything it had logged before it waited is in the record."""


@dataclass(slots=True)
class Rehearsed:
    """How it came out. ``left``: what it waited for where it did not come to its end; ``limits``: of each component that had time;
    ``times``: case -> how long its runs take, with the source.
    """

    state: State
    finished: bool
    left: str
    limits: tuple[Limits, ...]
    times: dict[str, RunTime] = field(default_factory=dict)


@dataclass(slots=True)
class Onlooker:
    """Whom a rehearsal shows how far it is: ``look`` is called with the state and the virtual seconds that have passed."""

    look: Callable[[State, float], None] = field(default=lambda state, passed_s: None)


def rehearse(layout: Layout, rehearsal: Rehearsal, onlooker: Onlooker | None = None) -> Rehearsed:
    """Purpose: rehearse the plan that is frozen in a campaign's directory, from its start to its end.

    Errors: RecordError where it cannot be written.
    """
    machine = machine_of(Documents(layout).newest(State()), rehearsal)
    stage = Stage(
        layout,
        rehearsal,
        machine,
        RehearsedPeople(layout, rehearsal.open_gates),
        Losses(machine.world),
        onlooker or Onlooker(),
        [(machine.clock.now() + after, away) for after, away in rehearsal.troubles.crashes],
    )
    with _few_collections():
        while True:
            with Lease.acquire(layout) as lease:
                log, _ = open_log(layout.log, lease, eager=False)
                try:
                    return _session(stage, log, lease)
                except ConductorDies:
                    machine.world.conductor_died()
                finally:
                    log.close()
            _nobody_drives(stage)


@dataclass(slots=True)
class Stage:
    """What outlives a conductor: the machine, the people, the books, and when conductors die: (time, how long nobody drives)."""

    layout: Layout
    rehearsal: Rehearsal
    machine: Machine
    people: RehearsedPeople
    losses: Losses
    onlooker: Onlooker
    crashes: list[tuple[float, float]]
    began: float = 0.0


def machine_of(document: Document, rehearsal: Rehearsal) -> Machine:
    """Purpose: the simulated machine, with a scheduler that misleads as the faults say."""
    machine = simulate(document, rehearsal.scenario, rehearsal.seed)
    machine.world.lies = rehearsal.troubles.lies
    return reborn(machine)


def reborn(machine: Machine) -> Machine:
    """Purpose: the same machine with ports of a new conductor, to which everything is news; builds died with the old one."""
    world = machine.world
    poll_s = POLL_S if not world.lies.outage else POLL_IN_OUTAGES_S
    scheduler = SimulatedScheduler(world, poll_s, quiet=True)
    return replace(machine, scheduler=scheduler, builder=SimulatedBuilder(world), collector=SimulatedCollector(world))


def _nobody_drives(stage: Stage) -> None:
    """The machine goes on by itself until somebody resumes the campaign."""
    at, away = stage.crashes.pop(0)
    clock = stage.machine.clock
    clock.at(at + away, lambda: True)
    while clock.now() < at + away:
        clock.wait(at + away)
    stage.losses.nobody_drove()
    stage.machine = reborn(stage.machine)


def _session(stage: Stage, log: LogWriter, lease: Lease) -> Rehearsed:
    """One conductor's life: as ``session.drive``, on other ports."""
    layout, machine, people, losses = stage.layout, stage.machine, stage.people, stage.losses
    documents = Documents(layout)
    state = Snapshots(layout, documents).load_and_fold()
    document = documents.newest(state)
    if state.plan is None:
        state.plan = index_plan(document)
    clock = RehearsalClock(stage, lease)
    ports = Ports(clock, machine.scheduler, machine.builder, machine.collector, log, people)
    conductor = Conductor(state, ports, losses.hear, commands_for(documents))
    conductor.reread = lambda: _reread(log, layout)
    start = _start_value(documents, document, state, keep_scenario(layout, stage.rehearsal))
    why = in_words(start["rehearsal"])
    begin(conductor, start, {"epoch": lease.epoch, "driver": DRIVER}, document, why)
    left = ""
    try:
        loop(conductor, clock.should_stop)
        left = clock.left
    except NothingWillHappen:
        left = what_it_waits_for(conductor.state)
    limits = limits_of(document, losses.books)
    _tell_limits(conductor, limits)
    conductor.log("driver_stop", reason=left or "the campaign is over")
    conductor.commit()
    return Rehearsed(conductor.state, conductor.state.phase == "ended", left, limits, machine.times)


def _tell_limits(conductor: Conductor, limits: tuple[Limits, ...]) -> None:
    """What limited each component stands in the record: whoever reads it later sees it too."""
    for found in limits:
        lost = [[limit.cause, round(limit.node_hours, 3), limit.key] for limit in found.limits]
        value = {"kind": "limits", "component": found.component, "node_hours": round(found.node_hours, 3)}
        conductor.log("finding", value=value | {"worked": round(found.worked, 3), "lost": lost}, reason=sentence(found))


@dataclass(slots=True)
class RehearsalClock:
    """The machine's clock, which also lets people speak, looks up for whoever watches, and ends what would never end."""

    stage: Stage
    lease: Lease
    left: str = ""
    _seq: int = 0
    _since: float = 0.0
    _turns: int = 0

    def now(self) -> float:
        return self.stage.machine.clock.now()

    def wait(self, until: float | None) -> None:
        if self.stage.people.waiting:
            return
        self.lease.beat(time.monotonic())
        clock, dies = self.stage.machine.clock, self.stage.crashes[0][0] if self.stage.crashes else None
        if dies is None:
            clock.wait(until)
            return
        clock.wait(dies if until is None else min(until, dies))
        if clock.now() >= dies:
            raise ConductorDies

    def should_stop(self, conductor: Conductor) -> bool:
        """Called once a turn, when everything is decided: whether nothing will come any more."""
        state, now, stage = conductor.state, self.now(), self.stage
        stage.began = stage.began or now
        stage.losses.look(state)
        stage.onlooker.look(state, now - stage.began)
        if stage.people.attend(state):
            return False
        self.left = waits_for_people(state, now) or self._endless(state, now)
        return bool(self.left)

    def _endless(self, state: State, now: float) -> str:
        if state.seq != self._seq:
            self._seq, self._since, self._turns = state.seq, now, 0
        self._turns += 1
        if now - self._since < SILENT_S and self._turns < SAME_INSTANT:
            return ""
        return what_it_waits_for(state)


def what_it_waits_for(state: State) -> str:
    """Purpose: a sentence on what a plan waits for that nothing will bring about."""
    count, shown = 0, dict[str, None]()
    for waiting in explain(state, now=state.time):
        count += waiting.count
        shown.setdefault(waiting.text)
    if not count:
        missing = [
            f"{component.name}: {', '.join(state.unattested(number))}"
            for number, component in enumerate(state.index.components)
            if state.unattested(number)
        ]
        return f"nothing more will happen, and it is not over: {'; '.join(missing) or 'no result is open'}"
    words = "; ".join(list(shown)[:3]) + (f"; and {len(shown) - 3} other reasons" if len(shown) > 3 else "")
    results = "1 result waits" if count == 1 else f"{count} results wait"
    return f"nothing more will happen: {results} for ever: {words}"


# ---- what is kept ----------------------------------------------------------------------------------------------------


def keep_scenario(layout: Layout, rehearsal: Rehearsal) -> dict[str, Any]:
    """Purpose: keep the machine that is rehearsed on beside the frozen plan; returns what the log says of the rehearsal."""
    data = msgspec.json.encode(rehearsal.scenario, order="deterministic")
    path = layout.root / SCENARIO_FILE
    try:
        path.write_bytes(msgspec.json.format(data, indent=2) + b"\n")
    except OSError as error:
        raise unwritable(path, error) from error
    said: dict[str, Any] = {"seed": rehearsal.seed, "scenario": rehearsal.scenario.name, "digest": digest_of(data)}
    said |= {"faults": list(rehearsal.troubles.words)} if rehearsal.troubles.words else {}
    return {"rehearsal": said | ({"open_gates": True} if rehearsal.open_gates else {})}


def _start_value(documents: Documents, document: Document, state: State, said: dict[str, Any]) -> dict[str, Any]:
    """The campaign goes by its plan's name: its number says how often it was rehearsed, which is not what happens in it."""
    return documents.start_value(state) | {"campaign": document.plan} | said


def _reread(log: LogWriter, layout: Layout) -> Iterator[Event]:
    log.flush()
    return read_events(layout.log)


@contextmanager
def _few_collections() -> Iterator[None]:
    """A rehearsal makes much that lives for a moment and hardly a cycle: looking for garbage costs a tenth of its time."""
    before = gc.get_threshold()
    gc.set_threshold(200_000, 50, 1000)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def in_short(state: State, machine_s: float) -> str:
    """Purpose: how long it took on the machine, and how much there was, in words."""
    return f"{show_duration(machine_s)} on the machine, {plural(state.next_run - 1, 'run')}"


def portable(document: Document, site: Path) -> Document:
    """Purpose: the plan without the places where the site and this package happen to be: nothing of them is run, and a rehearsal is
    the same in another directory.
    """
    text = freeze(document)
    for place, name in ((site.resolve(), b"site"), (Path(shakedown.__file__).resolve().parent, b"shakedown")):
        path = msgspec.json.encode(str(place))[1:-1]
        if len(path) > 1:
            text = text.replace(path + b"/", name + b"/").replace(path + b'"', name + b'"')
    return thaw(text)
