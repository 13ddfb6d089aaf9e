"""Commands where nobody drives a campaign: those that need no scheduler are carried out and recorded by the process that was asked.

It holds the lease meanwhile, as a driver does. Commands that need a driver (cancel, stop) stay in the inbox for the next one.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from shakedown.conductor.commands.refusals import refusal
from shakedown.conductor.commands.registry import commands_for
from shakedown.conductor.driver.conductor import Commands, Conductor
from shakedown.conductor.driver.heard_words import unfit_words
from shakedown.conductor.driver.snapshots import Snapshots
from shakedown.conductor.record.documents import Documents
from shakedown.events.inbox import FileInbox
from shakedown.events.lease import Lease
from shakedown.events.reader import read_events
from shakedown.model.events import Event
from shakedown.model.layout import Layout
from shakedown.model.ports import Command, Ports

FOR_DRIVERS = ("cancel", "stop")


class _Nothing(Struct):
    """A port for everything that is not used here: there is nothing to submit, build or collect."""

    poll_s: float = 0.0

    def submit(self, orders: Sequence[Any]) -> Sequence[Any]:
        return ()

    def poll(self, jobs: Any = None) -> Sequence[Any]:
        return ()

    def start(self, things: Sequence[Any]) -> None:
        return None

    def cancel(self, jobs: Sequence[Any]) -> Sequence[str]:
        return ()

    def release(self, orders: Sequence[Any]) -> Sequence[str]:
        return ()

    def hold(self, jobs: Sequence[Any]) -> Sequence[str]:
        return ()

    def take_parts(self, job: Any, runs: Sequence[str]) -> Sequence[str]:
        return ()

    def survey(self, wanted: Any) -> None:
        return None

    def take_claim(self, job: Any) -> bool:
        return False

    def calls(self) -> Mapping[str, int]:
        return {}


class _WallClock:
    """The time of day. Nobody waits here."""

    def now(self) -> float:
        return time.time()

    def wait(self, until: float | None) -> None:
        return None


def carry_out(layout: Layout, more: Commands | None = None) -> list[Event]:
    """Purpose: carry out the commands in the inbox that need no driver. Returns the events that were recorded, also refusals.

    ``more``: commands besides those that every driver knows. Without commands nothing is touched. Errors: LeaseHeld where somebody
    drives; RecordError.
    """
    if all(command.what in FOR_DRIVERS for command in FileInbox(layout).poll()):
        return []
    with Lease.acquire(layout) as lease:
        documents = Documents(layout)
        log, _, state = Snapshots(layout, documents).open_and_fold(lease)
        try:
            inbox, nothing, clock = FileInbox(layout), _Nothing(), _WallClock()
            ports = Ports(clock, nothing, nothing, nothing, log, inbox)
            conductor = Conductor(
                state, ports, commands=commands_for(documents, driven=False) | (more or {}), documents=documents
            )
            conductor.reread = lambda: read_events(layout.log)
            if state.plan is None:
                return []
            return _hear(conductor)
        finally:
            log.close()


def _hear(conductor: Conductor) -> list[Event]:
    """Carry out the commands. Each is logged durably before its file is removed."""
    events, done = [], []
    for command in conductor.ports.inbox.poll():
        if command.what in FOR_DRIVERS:
            continue
        event = _event(conductor, command) or refusal(command, f"'{command.what}' needs a driver")
        events.append(conductor.log(event))
        done.append(command.request)
    if done:
        conductor.commit()
        conductor.ports.inbox.acknowledge(done)
    return events


def _event(conductor: Conductor, command: Command) -> Event | None:
    if command.what == "refused":
        return refusal(command, command.reason)
    if unfit := unfit_words(conductor, command):
        return refusal(command, unfit)
    answer = conductor.commands.get(command.what)
    return answer(conductor, command) if answer else refusal(command, f"'{command.what}' is no command")
