"""The Builder port for the machine we stand on: each build is a process of its own in a fresh copy of its source.

It is made in ``<key>.tmp-N`` and renamed to ``<key>`` when it is complete: a directory of that name is a whole build, always.
The process is named in ``<key>.process``, so that the next conductor ends what a dead one left behind and starts again.
"""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from shakedown.model.layout import Layout
from shakedown.model.nouns import Build
from shakedown.model.ports import BuildReport
from shakedown.processes.identity import identity, is_alive, living_pid
from shakedown.processes.reactor import Reactor, Timer
from shakedown.processes.spawn import MARKER, Child, base_environment, reap, spawn_shell
from shakedown.processes.tree import Ending, kill_tree

_TAIL_BYTES = 16 * 1024  # of a failed build's log that its telling line is looked for in
_TELLING = ("error", "fatal", "undefined", "not found", "no such file", "cannot", "failed", "***")
_MESSAGE = 200
_GRACE_S, _PATIENCE_S = 2.0, 10.0


@dataclass(slots=True)
class Building:
    """A build under way."""

    build: Build
    child: Child
    place: Path
    log: Path
    timer: Timer | None = None
    ended_because: str = ""


@dataclass(slots=True)
class LocalBuilder:
    """Starts builds, watches them, says what became of them. Never waits."""

    layout: Layout
    reactor: Reactor
    _building: dict[str, Building] = field(default_factory=dict)
    _news: list[BuildReport] = field(default_factory=list)
    _endings: int = 0  # process trees that are being ended

    def start(self, builds: Sequence[Build]) -> None:
        """Start each, unless it is complete already, or under way."""
        for build in builds:
            if self.layout.build(build.key).is_dir():
                self._news.append(BuildReport(build.key, "done", "it was built before", self._log_name(build)))
                self.reactor.poke()
            elif build.key not in self._building:
                self._start_after_leftovers(build)

    def poll(self) -> Sequence[BuildReport]:
        """What changed since the last poll."""
        news, self._news = self._news, []
        return news

    def close(self) -> None:
        """End what is under way and wait until it is dead; its reports are lost, the next conductor builds it again."""
        for building in list(self._building.values()):
            self._end(building, "the conductor left")
        end = time.monotonic() + _GRACE_S + _PATIENCE_S
        while (self._building or self._endings) and time.monotonic() < end:
            self.reactor.wait(self.reactor.now() + 0.05)

    # ---- starting --------------------------------------------------------------------------------------------------------

    def _start_after_leftovers(self, build: Build) -> None:
        """A live build of a dead conductor is ended first: nobody would hear of its end."""
        left = self._process_file(build)
        with suppress(OSError):
            name = left.read_text()
            if is_alive(name):
                ending = Ending(self._marker(build), group=living_pid(name) or 0, grace_s=0.0, patience_s=_PATIENCE_S)
                kill_tree(self.reactor, ending, lambda: self._start(build))
                return
        self._start(build)

    def _start(self, build: Build) -> bool:
        place = self._free_place(build)
        log = self.layout.builds / f"{build.key}.log"
        try:
            place.mkdir(parents=True)
            with log.open("wb") as output:
                child = spawn_shell(["-c", _script(build, place)], self._environment(build), output.fileno())
        except OSError as error:
            why = f"it cannot be started: {error.filename or place}: {error.strerror}"
            self._news.append(BuildReport(build.key, "failed", why, self._log_name(build)))
            self.reactor.poke()
            return True
        name = identity(child.pid)
        with suppress(OSError):  # without it a build that is left behind is only found by its marker
            self._process_file(build).write_text(name)
        building = self._building[build.key] = Building(build, child, place, log)
        building.timer = self.reactor.call_later(build.time_limit_s, lambda: self._time_is_up(building))
        self.reactor.watch(child.pidfd, lambda: self._over(building))
        self._news.append(BuildReport(build.key, "started", identity=name))
        return True

    def _free_place(self, build: Build) -> Path:
        number = 1
        while (place := self.layout.builds / f"{build.key}.tmp-{number}").exists():
            number += 1
        return place

    def _environment(self, build: Build) -> dict[bytes, bytes]:
        own = {os.fsencode(name): os.fsencode(value) for name, value in build.environment}
        return base_environment() | own | {MARKER.encode(): self._marker(build).encode()}

    def _marker(self, build: Build) -> str:
        return f"{self.layout.root.stat().st_ino:x}/build-{build.key[:16]}"

    def _process_file(self, build: Build) -> Path:
        return self.layout.builds / f"{build.key}.process"

    def _log_name(self, build: Build) -> str:
        return f"builds/{build.key}.log"

    # ---- ending ----------------------------------------------------------------------------------------------------------

    def _time_is_up(self, building: Building) -> bool:
        self._end(building, f"it was ended at its time limit of {building.build.time_limit_s:g} s")
        return False

    def _end(self, building: Building, why: str) -> None:
        building.ended_because = building.ended_because or why
        ending = Ending(
            self._marker(building.build), group=building.child.pid, grace_s=_GRACE_S, patience_s=_PATIENCE_S
        )
        self._endings += 1
        kill_tree(self.reactor, ending, self._tree_is_dead)

    def _tree_is_dead(self) -> bool:
        self._endings -= 1
        return False

    def _over(self, building: Building) -> bool:
        """Its process ended: rename what is complete, or find the line that says why it is not."""
        self.reactor.close_watched(building.child.pidfd)
        status = reap(building.child)
        elapsed = time.monotonic() - building.child.started
        if building.timer is not None:
            building.timer.cancel()
        del self._building[building.build.key]
        with suppress(OSError):
            self._process_file(building.build).unlink()
        why = building.ended_because or (_why(status, building.log) if status else _rename(building, self.layout))
        state: Literal["failed", "done"] = "failed" if why else "done"
        self._news.append(BuildReport(building.build.key, state, why, self._log_name(building.build), elapsed))
        return True


def _script(build: Build, place: Path) -> str:
    """Copy the source and build in the copy. The copy is the shell's work, so that a large tree never holds up the loop."""
    directory = shlex.quote(str(place))
    copy = f"cp -a {shlex.quote(build.source)}/. {directory} || exit\n" if build.source else ""
    return f"set -e\n{copy}cd {directory}\n{build.script}\n"


def _rename(building: Building, layout: Layout) -> str:
    try:
        building.place.rename(layout.build(building.build.key))
    except OSError as error:
        return f"it was built, but cannot be put in its place: {error.strerror}"
    return ""


def _why(status: int, log: Path) -> str:
    """The exit status and the most telling line of the log's end: the first that names an error, else the last."""
    how = f"exit status {status}" if status > 0 else f"signal {-status}"
    try:
        with log.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
            lines = [line.strip() for line in file.read().decode("utf-8", "replace").splitlines() if line.strip()]
    except OSError:
        lines = []
    telling = next(
        (line for line in lines if any(word in line.lower() for word in _TELLING)), lines[-1] if lines else ""
    )
    shown = "".join(c if c.isprintable() else " " for c in telling)[:_MESSAGE]
    return f"{how}: {shown}" if shown else how
