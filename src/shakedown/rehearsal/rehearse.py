"""A rehearsal: the conductor loop and the unchanged engine on a simulated machine in virtual time. Its result is a normal campaign.

Start reading at ``rehearse``. The log holds nothing of the date, the host or the process: the same plan, scenario and seed give the
same bytes. A rehearsal runs no real job, build or program of the site.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

import shakedown
from shakedown.conductor.commands.registry import commands_for
from shakedown.conductor.driver.conductor import Conductor
from shakedown.conductor.driver.loop import loop
from shakedown.conductor.driver.snapshots import Snapshots
from shakedown.conductor.driver.startup import begin
from shakedown.conductor.record.documents import Documents
from shakedown.engine import State, index_plan
from shakedown.engine.state.phases import CampaignPhase
from shakedown.events.lease import Lease
from shakedown.events.lines import without_surrogates
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
from shakedown.model.scenario import RunTime
from shakedown.model.units import show_duration
from shakedown.rehearsal.losses import Losses
from shakedown.rehearsal.people import RehearsedPeople
from shakedown.rehearsal.virtual_session import (
    ConductorDies,
    Onlooker,
    Rehearsal,
    RehearsalClock,
    Stage,
    what_it_waits_for,
)
from shakedown.twin.machine.clock import NothingWillHappen
from shakedown.twin.machine.known import known_figures
from shakedown.twin.machine.machine import Machine, simulate
from shakedown.twin.machine.observing import SimulatedObserver
from shakedown.twin.machine.ports import SimulatedBuilder, SimulatedCollector
from shakedown.twin.machine.scheduler import SimulatedScheduler

DRIVER = {
    "machine": "simulated",
    "time": "virtual",
}  # facts about the driver in the record: the same for every rehearsal
SCENARIO_FILE = "scenario.json"
_MOST_CAUSES = 20  # causes that are kept in the record
POLL_S = 5.0  # interval of polls of the scheduler
POLL_IN_OUTAGES_S = 60.0  # interval if the scheduler may not answer, so that polls are needed even when nothing changes


@dataclass(slots=True)
class Rehearsed:
    """The result of a rehearsal. ``left``: what it waited for, if it did not finish; ``limits``: None if it lasted no time;
    ``times``: case -> how long its runs take, with the source; ``longest``: case -> the longest of its runs that passed, in
    seconds; ``builds``: how long builds take, by build or test, where somebody says so. ``overran``: cases with a run that reached
    its time limit.
    """

    state: State
    finished: bool
    left: str
    limits: Limits | None
    times: dict[str, RunTime] = field(default_factory=dict)
    longest: dict[str, float] = field(default_factory=dict)
    builds: tuple[tuple[str, float], ...] = ()
    overran: tuple[str, ...] = ()


def rehearse(layout: Layout, rehearsal: Rehearsal, onlooker: Onlooker | None = None) -> Rehearsed:
    """Purpose: rehearse the plan that is frozen in a campaign's directory, from its start to its end.

    Errors: RecordError if the campaign's record cannot be written.
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


def machine_of(document: Document, rehearsal: Rehearsal) -> Machine:
    """Purpose: the simulated machine, with the misleading scheduler answers that the faults ask for."""
    machine = simulate(document, rehearsal.scenario, rehearsal.seed)
    machine.world.lies = rehearsal.troubles.lies
    return reborn(machine)


def reborn(machine: Machine) -> Machine:
    """Purpose: the same machine with fresh ports for a new conductor. Running builds are lost with the old conductor."""
    world = machine.world
    poll_s = POLL_S if not world.lies.outage else POLL_IN_OUTAGES_S
    scheduler = SimulatedScheduler(world, poll_s, quiet=True)
    return replace(machine, scheduler=scheduler, builder=SimulatedBuilder(world), collector=SimulatedCollector(world))


def _nobody_drives(stage: Stage) -> None:
    """Let the machine run without a conductor until the campaign is resumed."""
    at, away = stage.crashes.pop(0)
    clock = stage.machine.clock
    clock.at(at + away, lambda: True)
    while clock.now() < at + away:
        clock.wait(at + away)
    stage.losses.nobody_drove()
    stage.machine = reborn(stage.machine)


def _session(stage: Stage, log: LogWriter, lease: Lease) -> Rehearsed:
    """One session of a conductor, like ``session.drive`` but with simulated ports."""
    layout, machine, people, losses = stage.layout, stage.machine, stage.people, stage.losses
    documents = Documents(layout)
    state = Snapshots(layout, documents).load_and_fold()
    document = documents.newest(state)
    if state.plan is None:
        state.plan = index_plan(document)
    clock = RehearsalClock(stage, lease)
    observer = SimulatedObserver(machine.world, document, stage.rehearsal.scenario.others)
    ports = Ports(clock, machine.scheduler, machine.builder, machine.collector, log, people, observer=observer)
    conductor = Conductor(state, ports, losses.hear, commands_for(documents), documents)
    conductor.reread = lambda: _reread(log, layout)
    said = keep_scenario(layout, stage.rehearsal, known_figures(document, stage.rehearsal.scenario))
    start = _start_value(documents, document, state, said)
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
    builds = stage.rehearsal.scenario.builds.times
    conductor.log("driver_stop", reason=left or "the campaign is over")
    conductor.commit()
    return Rehearsed(
        conductor.state,
        conductor.state.phase == CampaignPhase.ENDED,
        left,
        limits,
        machine.times,
        dict(losses.longest),
        builds,
        tuple(losses.overran),
    )


def _tell_limits(conductor: Conductor, found: Limits | None) -> None:
    """What limited the plan stands in the record: whoever reads it later sees it too."""
    if found is None:
        return
    lost = [[limit.cause, round(limit.node_hours, 3), limit.key] for limit in found.limits]
    parts = [[one.name, round(one.node_hours, 3), round(one.worked, 3)] for one in found.partitions]
    value = {"kind": "limits", "component": found.component, "node_hours": round(found.node_hours, 3)}
    value |= {"worked": round(found.worked, 3), "lost": lost[:_MOST_CAUSES]}
    value |= {"partitions": parts} if 1 < len(parts) <= _MOST_CAUSES else {}
    conductor.log("finding", value=value, reason=sentence(found))


# ---- what is kept ----------------------------------------------------------------------------------------------------


def keep_scenario(layout: Layout, rehearsal: Rehearsal, known: list[str]) -> dict[str, Any]:
    """Purpose: keep the machine that is rehearsed on beside the frozen plan; returns what the log says of the rehearsal.

    ``known``: the figures that somebody vouches for.
    """
    data = msgspec.json.encode(rehearsal.scenario, order="deterministic")
    path = layout.root / SCENARIO_FILE
    try:
        path.write_bytes(msgspec.json.format(data, indent=2) + b"\n")
    except OSError as error:
        raise unwritable(path, error) from error
    said: dict[str, Any] = {"seed": rehearsal.seed, "scenario": rehearsal.scenario.name, "digest": digest_of(data)}
    said |= {"modelled": known}
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
    return f"{show_duration(machine_s)} on the machine, {plural(state.campaign.next_run - 1, 'run')}"


def portable(document: Document, site: Path) -> Document:
    """Purpose: the plan without the places where the site and this package happen to be: nothing of them is run, and a rehearsal is
    the same in another directory.
    """
    text = freeze(document)
    for place, name in ((site.resolve(), b"site"), (Path(shakedown.__file__).resolve().parent, b"shakedown")):
        path = msgspec.json.encode(without_surrogates(str(place)))[1:-1]
        if len(path) > 1:
            text = text.replace(path + b"/", name + b"/").replace(path + b'"', name + b'"')
    return thaw(text)
