"""One driver's session with a campaign: lease, log, ports, loop, and leaving in good order.

``drive`` is the table of contents. The twin replaces only the ports; everything else is the same loop.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from shakedown import __version__
from shakedown.conductor.commands.registry import commands_for
from shakedown.conductor.driver.baselines import look_at_baselines
from shakedown.conductor.driver.conditions import Conditions
from shakedown.conductor.driver.conductor import Conductor
from shakedown.conductor.driver.disk_room import Room
from shakedown.conductor.driver.left_jobs import clear_left
from shakedown.conductor.driver.loop import log_asked, loop
from shakedown.conductor.driver.ports import RealPorts, open_ports
from shakedown.conductor.driver.shutdown import LEAVE, Interruptions, heard, leave, leave_on_full_disk
from shakedown.conductor.driver.snapshots import Snapshots, read_state
from shakedown.conductor.driver.startup import begin
from shakedown.conductor.record.documents import Documents
from shakedown.conductor.record.going_on import CLOSED, WAY_OUT, is_closed, refuse_unknown
from shakedown.conductor.record.registering import enter
from shakedown.conductor.workers.settling import settle_campaign
from shakedown.engine import State, index_plan
from shakedown.engine.state.phases import CampaignPhase
from shakedown.events.campaigns import refuse_rehearsal
from shakedown.events.identity import user_name
from shakedown.events.lease import Lease
from shakedown.events.opening import Tail
from shakedown.events.reader import read_events
from shakedown.events.set_back import refuse_other
from shakedown.events.writer import DiskFull
from shakedown.model.errors import LeaseHeld
from shakedown.model.events import Event
from shakedown.model.layout import Layout
from shakedown.processes.spawn import keep_to_ourselves

if TYPE_CHECKING:
    from shakedown.conductor.commands.fingerprints import Fingerprints
    from shakedown.processes.reactor import Reactor


@dataclass(slots=True)
class Outcome:
    """How a session ended: the state it left, whether the campaign is finished, and, if not, why the session ended (``left``)."""

    state: State
    finished: bool
    left: str = ""


@dataclass(slots=True)
class Watchers:
    """Functions that a session calls: for every event, at every idle moment, with sentences for the person, and once when it has
    begun.
    """

    event: Callable[[State, Event], None] | None = None
    idle: Callable[[], float] | None = None
    say: Callable[[str], None] = field(default=lambda text: None)
    started: Callable[[], None] = field(default=lambda: None)


def drive(layout: Layout, watchers: Watchers, take_over: bool = False) -> Outcome:
    """Purpose: take the lease of a campaign and drive it until it is over or the conductor is asked to leave. Nothing is added to a
    campaign that is over and sealed.

    Errors: LeaseHeld where somebody else drives it; RecordError where the record is damaged or cannot be written.
    """
    from shakedown.conductor.commands.fingerprints import Fingerprints, probe_of

    refuse_rehearsal(layout, "driven")
    refuse_other(layout)
    if is_closed(layout):
        return _closed(layout, watchers)
    keep_to_ourselves()
    with Lease.acquire(layout, take_over=take_over) as lease:
        documents = Documents(layout)
        snapshots = Snapshots(layout, documents)
        log, tail, state = snapshots.open_and_fold(lease, partial(refuse_unknown, layout))
        document = documents.newest(state)
        with open_ports(layout, document, log, lease, watchers.idle) as real:
            conductor = Conductor(state, real.ports, watchers.event, commands_for(documents), documents)
            conductor.reread = lambda: read_events(layout.log)
            room = Room(layout, real.clock.log, watchers.say, state.time)
            conductor.noticed = lambda: [*real.clock.awake.events(), *room.met(conductor)]
            reactor = cast("Reactor", real.clock.clock)
            reactor.calendar.not_before(state.time)
            reactor.woke = lease.check
            if state.plan is None:
                state.plan = index_plan(document)
            real.collector.failures = lambda: conductor.state.index.document.failures
            fingerprints = Fingerprints(layout, probe_of(layout, document, reactor))
            conductor.commands |= {"fingerprint": fingerprints.command}
            real.clock.at_rest = lambda: snapshots.consider(conductor.state, log, partial(_log_durably, conductor))
            driver = _driver(layout, lease.epoch, document.record_environment)
            conditions = Conditions(layout, document, driver["environment"])
            driver |= conditions.begin(state)
            real.clock.idle_look = lambda now: conditions.consider(conductor, now)
            driver |= {"replaced": lease.replaced} if lease.replaced else {}
            with closing(fingerprints):
                start = documents.start_value(state) | (
                    {} if state.phase else {"register": enter(layout, document, settle=settle_campaign)}
                )
                again = snapshots.take_away()
                try:
                    return _session(
                        conductor, start, driver, tail, watchers, real, fingerprints, room, conditions, again
                    )
                except LeaseHeld:
                    real.forsake()
                    raise


def _closed(layout: Layout, watchers: Watchers) -> Outcome:
    """The outcome for a campaign that is over and sealed; if something of it was to run, also say why nothing is started."""
    state = read_state(layout, Documents(layout))[0]
    if state.phase != CampaignPhase.ENDED:
        watchers.say(f"nothing of {layout.root.name} is started: {CLOSED}\nhint: {WAY_OUT}")
    return Outcome(state, finished=True)


def _session(
    conductor: Conductor,
    start: dict[str, Any],
    driver: dict[str, Any],
    tail: Tail,
    watchers: Watchers,
    real: RealPorts,
    fingerprints: Fingerprints,
    room: Room,
    conditions: Conditions,
    refused: Sequence[str] = (),
) -> Outcome:
    """Run the loop with signals handled, then finish. ``refused``: snapshots that contradict the log."""
    end_runs = real.end_runs
    interruptions = Interruptions(watchers.say, jobs_go_on=end_runs is None)
    real.clock.log.say, real.clock.log.give_up = watchers.say, lambda: interruptions.level >= LEAVE

    def stop(conductor: Conductor) -> bool:
        room.look(conductor)
        return interruptions.should_stop(conductor)

    with heard(interruptions):
        try:
            before, goes_on = conductor.state, conductor.state.phase != CampaignPhase.ENDED
            environment, inputs = before.driver.environment, before.driver.inputs
            begin(conductor, start, driver, conductor.state.index.document)
            if goes_on:
                conditions.compare(conductor, environment, inputs)
            watchers.started()
            if tail.cut_bytes:
                _say_torn(conductor, tail)
            _say_refused(conductor, refused)
            site = conditions.layout.root.parent.parent
            look_at_baselines(conductor, site)
            fingerprints.take(conductor)
            loop(conductor, stop)
            left = (
                "" if conductor.state.phase == CampaignPhase.ENDED else leave(conductor, end_runs, interruptions.signal)
            )
            _settle(conductor, fingerprints, real, watchers)
            if goes_on:
                conditions.look_again(conductor, late=conductor.state.phase == CampaignPhase.ENDED)
                look_at_baselines(conductor, site)
            known = {} if conditions.digest == conductor.state.driver.inputs else {"inputs": conditions.digest}
            conductor.log("driver_stop", value=known, reason=left or "the campaign is over")
            conductor.commit()
        except DiskFull as full:
            left = leave_on_full_disk(conductor, end_runs, full)
    return Outcome(conductor.state, conductor.state.phase == CampaignPhase.ENDED, left)


def _settle(conductor: Conductor, fingerprints: Fingerprints, real: RealPorts, watchers: Watchers) -> None:
    """What is still under way beside the runs comes to its end, and nothing of a campaign that is over stays at the scheduler."""
    fingerprints.settle(conductor)
    clear_left(conductor, real.clear, watchers.say)
    log_asked(conductor)


def _log_durably(conductor: Conductor, event: str, value: dict[str, Any]) -> None:
    conductor.log(event, value=value)
    conductor.commit()


def _say_refused(conductor: Conductor, snapshots: Sequence[str]) -> None:
    for name in snapshots:
        why = f"{name} is not what the log leads to: the state was folded from the log, and the snapshot is made again"
        conductor.log("finding", value={"kind": "snapshot_refused", "snapshot": name}, reason=why)


def _say_torn(conductor: Conductor, tail: Tail) -> None:
    why = (
        f"the last driver left {tail.cut_bytes} bytes of an unfinished line in {tail.cut_from}; they were never durable"
    )
    conductor.log("finding", value={"kind": "torn_line", "bytes": tail.cut_bytes}, reason=why)


def _driver(layout: Layout, epoch: int, more_names: tuple[str, ...]) -> dict[str, Any]:
    """Who drives, for the log: enough to find the process, and to see whether two sessions ran the same version."""
    from shakedown.conductor.record.environments import keep_environment, select

    chosen = select(os.environ, more_names)
    environment = keep_environment(layout, chosen)
    driver = {"host": socket.gethostname(), "user": user_name(os.getuid()), "pid": os.getpid()}
    driver |= {"version": __version__, "python": sys.version.split()[0]}
    return {"epoch": epoch, "driver": driver, "environment": environment, "not_stored": len(chosen.not_stored)}
