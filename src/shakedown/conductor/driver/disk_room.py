"""Room on the disks of a campaign: where there is none, nothing new is submitted until there is again. Both are recorded once.

``Room`` looks and records it, so that the engine knows. ``PatientLog`` waits where the record itself has no room, or cannot be
reached for a while.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from shakedown.conductor.driver.conductor import Conductor
from shakedown.events.lease import Lease
from shakedown.events.segment_file import RecordAway
from shakedown.events.segments import Position
from shakedown.events.writer import DiskFull, LogWriter
from shakedown.model.events import Event
from shakedown.model.layout import Layout
from shakedown.model.ports import Clock
from shakedown.model.units import show_bytes

LEAST_BYTES = 256 << 10  # less than this free on a file system: nothing new is begun there
ENOUGH_BYTES = 1 << 20  # so much free again: it goes on
LOOK_EVERY_S = 0.25
AWAY_S = 600.0  # for which a record that is out of reach is waited for, as the directory of jobs is
_WAIT_S = 1.0


class PatientLog:
    """The Log port of a session: on a full disk, ``commit`` waits for room instead of failing.

    It also waits up to ten minutes for a record that cannot be reached; nothing is written before it is certain that the record is
    still ours and unchanged. Meanwhile running jobs are still watched, but nothing is decided or carried out; ``waits`` is true,
    and no queued job may start. ``give_up``: whether a person wants to leave; then DiskFull or RecordAway is raised. ``met_full``:
    the time of the last event written before the disk was full, until that is recorded; None where it was not full.
    """

    def __init__(self, log: LogWriter, lease: Lease, clock: Clock) -> None:
        self.give_up: Callable[[], bool] = lambda: False
        self.say: Callable[[str], None] = lambda text: None
        self.waits = False
        self.met_full: float | None = None
        self._log, self._lease, self._clock = log, lease, clock

    @property
    def full(self) -> bool:
        return self._log.full

    @property
    def room_at(self) -> float:
        """The time of the last event that was written while there was room."""
        return self._log.room_at

    def append(self, events: Sequence[Event]) -> None:
        self._log.append(events)

    def flush(self) -> None:
        self._patiently(self._log.flush)

    def commit(self) -> None:
        self._patiently(self._log.commit)

    def tick(self, now: float) -> float | None:
        wanted: list[float | None] = []
        self._patiently(lambda: wanted.append(self._log.tick(now)))
        return wanted[-1] if wanted else now + _WAIT_S

    def position(self) -> Position:
        return self._log.position()

    def _patiently(self, work: Callable[[], object]) -> None:
        """Do the work as soon as there is room for it. If only the reserve had room, all of the work was done."""
        since: float | None = None
        while True:
            try:
                work()
                break
            except DiskFull as full:
                self.met_full = full.room_at if self.met_full is None else self.met_full
                if full.durable:
                    break
                if self.give_up():
                    raise
                if not self.waits:
                    self.say(f"{full.message}\nhint: make room there; it goes on by itself (Ctrl-C leaves)")
                    self._lease.say_why_it_waits(full.message)
                self.waits = True
            except RecordAway as away:
                now = time.monotonic()
                since = now if since is None else since
                if self.give_up() or now - since >= AWAY_S:
                    raise
                if not self.waits:
                    self.say(
                        f"{away.message}\nhint: it goes on by itself if it is back within ten minutes (Ctrl-C leaves)"
                    )
                self.waits = True
            with suppress(RecordAway):
                self._lease.beat(self._clock.now())
            self._clock.wait(self._clock.now() + _WAIT_S)
        if self.waits:
            self.waits = False
            self._lease.say_why_it_waits("")


class Room:
    """Checks whether there is room where the campaign writes: its record, outputs, claims, and directories of runs.

    A disk was full at most from the last time that it is known to have had room until the first look that finds some; the findings
    say both. ``known_at``: when there was last known to be room before this conductor, by the record's clock.
    """

    def __init__(
        self, layout: Layout, log: PatientLog, say: Callable[[str], None] = lambda text: None, known_at: float = 0.0
    ) -> None:
        self._log, self._say = log, say
        self._places = (layout.root, layout.log, layout.packs, layout.outputs, layout.work)
        self._next, self._room_at = 0.0, known_at

    def look(self, conductor: Conductor) -> None:
        """Purpose: record a finding when a disk is full, and another one when it no longer is."""
        for event in self.met(conductor):
            conductor.log(event)
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + LOOK_EVERY_S
        known = conductor.state.driver.no_room
        why = self._why(ENOUGH_BYTES if known else LEAST_BYTES)
        if why and not known:
            conductor.log(self._full(why, min(self._room_at, self._log.room_at) if self._log.full else self._room_at))
        elif known and not why:
            conductor.log("finding", value={"kind": "disk_has_room"}, reason="there is room again; it goes on")
            self._say("there is room again; it goes on")
        if not why:
            self._room_at = conductor.ports.clock.now()

    def met(self, conductor: Conductor) -> list[Event]:
        """Purpose: a finding, where the record itself met a full disk since the last look, even if there is room again. It must
        come before runs of that time are judged.
        """
        since, self._log.met_full = self._log.met_full, None
        if since is None:
            return []
        self._next = time.monotonic() + LOOK_EVERY_S  # so long it is full at least
        if conductor.state.driver.no_room:
            return []
        return [self._full(f"the file system of {self._places[1]} is full: it took no more of the record", since)]

    def _full(self, why: str, room_at: float) -> Event:
        self._say(f"{why}; nothing new is submitted until there is room (what runs goes on)")
        return Event("finding", value={"kind": "disk_full", "room_at": round(room_at, 6)}, reason=why)

    def _why(self, least: int) -> str:
        for place in self._places:
            why = no_room(place, least)
            if why:
                return why
        return (
            f"the file system of {self._places[1]} is full (its record has the reserve left)" if self._log.full else ""
        )


def no_room(place: Path, least: int) -> str:
    """Purpose: why a directory's file system takes nothing new; "" where it does, or cannot be asked. ``least``: bytes that must be
    free.
    """
    try:
        found = os.statvfs(place)
    except OSError:
        return ""
    free = found.f_bavail * found.f_frsize
    if free < least:
        return f"the file system of {place} is full ({show_bytes(free)} are free)"
    if found.f_files and not found.f_favail:
        return f"the file system of {place} is full (no more files)"
    return ""
