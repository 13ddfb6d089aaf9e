"""The Builder port for this machine: each build is a process of its own, in a fresh copy of its source.

It is made in ``<key>.tmp-N`` and renamed to ``<key>`` when it is complete, so a directory with that name is always a whole build.
The process is named in ``<key>.process``, so that the next conductor can end what a dead one left behind, and start again.
"""

from __future__ import annotations

import errno
import os
import shlex
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

from shakedown.builds.telling import why_it_failed
from shakedown.events.plain_files import read_plain
from shakedown.model.layout import Layout
from shakedown.model.nouns import Build
from shakedown.model.ports import BuildReport
from shakedown.processes.identity import directory_token, identity, living_pid
from shakedown.processes.reactor import Reactor, Timer
from shakedown.processes.spawn import MARKER, Child, as_at_login, base_environment, marked, reap, spawn_shell
from shakedown.processes.tree import Ending, kill_tree

OUT_OF_OUR_HANDS = frozenset(  # what a person or the machine can mend: the build is tried again
    {
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EROFS,
        errno.EACCES,
        errno.EIO,
        errno.ESTALE,
        errno.ENOMEM,
        errno.EAGAIN,
        errno.EMFILE,
    }
)
_LITTLE_BYTES = 64 * 1024  # a file system with less than this is full
_GRACE_S, _PATIENCE_S = 2.0, 10.0


@dataclass(slots=True, eq=False)
class Building:
    """A build under way. ``because``: why it is being ended, "" while it runs by itself."""

    build: Build
    child: Child
    place: Path
    log: Path
    timer: Timer
    because: str = ""
    ending: Ending | None = None
    status: int | None = None
    elapsed_s: float | None = None


@dataclass(slots=True)
class LocalBuilder:
    """Starts builds, watches them and reports what became of them. Never waits."""

    layout: Layout
    reactor: Reactor
    _building: dict[str, Building] = field(default_factory=dict)
    _clearing: set[str] = field(default_factory=set)  # keys that wait for a dead conductor's build to be ended
    _news: list[BuildReport] = field(default_factory=list)
    _leaving: bool = False

    def start(self, builds: Sequence[Build]) -> None:
        """Start each build, unless it is complete or under way already."""
        for build in builds:
            if self.layout.build(build.key).is_dir():
                self._say(build, "done", "it was built before")
                self.reactor.poke()
            elif build.key not in self._building and build.key not in self._clearing:
                self._start_after_leftovers(build)

    def poll(self) -> Sequence[BuildReport]:
        """What changed since the last poll."""
        news, self._news = self._news, []
        return news

    def forsake(self) -> None:
        """Another conductor has the campaign now, and may have a build of the same name: only end our own processes."""
        self._leaving = True
        for building in self._building.values():
            building.timer.cancel()
            self.reactor.unwatch(building.child.pidfd)
            if building.elapsed_s is None:  # not collected yet: the number is still ours
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(building.child.pid, signal.SIGKILL)
        self._building.clear()
        self._clearing.clear()

    def close(self) -> None:
        """End all builds under way, and wait until they are dead. Their reports are lost; the next conductor builds again."""
        self._leaving = True
        for building in list(self._building.values()):
            self._end(building, "the conductor left", _GRACE_S)
        while self._building or self._clearing:  # an ending gives up by itself on what cannot be killed
            self.reactor.wait(self.reactor.now() + 0.05)

    # ---- starting ----

    def _start_after_leftovers(self, build: Build) -> None:
        """Start a build. If a dead conductor left one that still runs, that is ended first, since nobody would hear of its end."""
        stale = self._stale_places(build)
        name = ""
        with suppress(OSError):
            name = read_plain(self._process_file(build)).decode("ascii", "replace")
        if not stale and not name:
            self._start(build, [])
            return
        self._clearing.add(build.key)
        ending = Ending(self._marker(build), living_pid(name) or 0, grace_s=0.0, patience_s=_PATIENCE_S)
        kill_tree(self.reactor, ending, partial(self._start, build, stale))

    def _start(self, build: Build, stale: list[Path]) -> bool:
        """Start the process of a build. ``stale``: incomplete builds, which the new build's shell removes, so that a large tree
        does not delay the loop.
        """
        self._clearing.discard(build.key)
        if self._leaving:
            return False
        log = self.layout.builds / f"{build.key}.log"
        try:
            place = self._make_place(build)
            with log.open("wb") as output:
                script = _script(build, place, stale)
                child = spawn_shell(["-c", as_at_login() + script], self._environment(build), output.fileno())
        except (OSError, ValueError) as error:
            transient = isinstance(error, OSError) and error.errno in OUT_OF_OUR_HANDS
            self._say(build, "failed", f"it cannot be started: {_words(error)}", transient=transient)
            self.reactor.poke()
            return True
        name = identity(child.pid)
        with suppress(OSError):  # without it, a build that is left behind is found by its marker
            self._process_file(build).write_text(name)
        timer = self.reactor.call_later(build.time_limit_s, partial(self._time_is_up, build.key))
        building = self._building[build.key] = Building(build, child, place, log, timer)
        self.reactor.watch(child.pidfd, partial(self._ended, building))
        self._news.append(BuildReport(build.key, "started", identity=name))
        return True

    def _stale_places(self, build: Build) -> list[Path]:
        return sorted(self.layout.builds.glob(f"{build.key}.tmp-*")) if self.layout.builds.is_dir() else []

    def _make_place(self, build: Build) -> Path:
        """Make an empty directory for the copy that nobody used before. Raises OSError."""
        number = 1
        while True:
            place = self.layout.builds / f"{build.key}.tmp-{number}"
            try:
                place.mkdir(parents=True)
            except FileExistsError:
                number += 1
            else:
                return place

    def _environment(self, build: Build) -> dict[bytes, bytes]:
        own = {os.fsencode(name): os.fsencode(value) for name, value in build.environment}
        environment = base_environment() | {b"SHAKEDOWN_CAMPAIGN": os.fsencode(self.layout.root)} | own
        environment[MARKER.encode()] = marked(environment, self._marker(build))
        return environment

    def _marker(self, build: Build) -> str:
        return f"{directory_token(self.layout.root)}/build-{build.key[:16]}"

    def _process_file(self, build: Build) -> Path:
        return self.layout.builds / f"{build.key}.process"

    # ---- ending ----

    def _time_is_up(self, key: str) -> bool:
        building = self._building[key]
        self._end(building, f"it was ended at its time limit of {building.build.time_limit_s:g} s", _GRACE_S)
        return False

    def _end(self, building: Building, because: str, grace_s: float) -> object:
        """End all processes of a build. If it is being ended already, the first reason stays."""
        if building.ending is not None:
            return False
        building.because = because
        building.ending = Ending(self._marker(building.build), building.child.pid, grace_s, _PATIENCE_S)
        return kill_tree(self.reactor, building.ending, partial(self._tree_is_dead, building))

    def _ended(self, building: Building) -> object:
        """The first process of a build ended. Processes in the background are ended too: they would still write into the finished
        build.
        """
        building.elapsed_s = time.monotonic() - building.child.started
        building.timer.cancel()
        self.reactor.close_watched(building.child.pidfd)
        building.status = reap(building.child)
        return self._end(building, "", grace_s=0.0)

    def _tree_is_dead(self, building: Building) -> object:
        """All processes of a build are dead: rename it if it is complete, else find the line that says why it is not."""
        assert building.ending is not None
        if building.elapsed_s is None:
            self._first_process_is_dead(building, stuck=bool(building.ending.stuck))
        del self._building[building.build.key]
        with suppress(OSError):
            self._process_file(building.build).unlink()
        why, transient = building.because, False
        if not why and building.status == 0:
            why = self._rename(building)
            transient = bool(why)
        elif not why:
            why = why_it_failed(building.status, building.log)
            transient = has_no_room(self.layout)
        self._say(building.build, "failed" if why else "done", why, building.elapsed_s, transient)
        return True

    def _first_process_is_dead(self, building: Building, stuck: bool) -> None:
        """The end of the first process was not seen yet, or never will be."""
        building.timer.cancel()
        building.elapsed_s = time.monotonic() - building.child.started
        self.reactor.close_watched(building.child.pidfd)
        if not stuck:
            building.status = reap(building.child)

    def _rename(self, building: Building) -> str:
        try:
            building.place.rename(self.layout.build(building.build.key))
        except OSError as error:
            return f"it was built, but cannot be put in its place: {error.strerror}"
        return ""

    def _say(
        self,
        build: Build,
        state: Literal["done", "failed"],
        message: str,
        elapsed_s: float | None = None,
        transient: bool = False,
    ) -> None:
        log = self.layout.builds / f"{build.key}.log"
        self._news.append(
            BuildReport(build.key, state, message, str(log.relative_to(self.layout.root)), elapsed_s, "", transient)
        )


def has_no_room(layout: Layout) -> bool:
    """Purpose: whether the file system of the builds is full; then a failure says nothing about the build itself."""
    try:
        state = os.statvfs(layout.builds)
    except OSError:
        return False
    return state.f_bavail * state.f_frsize < _LITTLE_BYTES


def _script(build: Build, place: Path, stale: list[Path]) -> str:
    """The script of a build: remove incomplete builds, copy the source, and build in the copy. The first command that fails ends
    it.
    """
    lines = ["set -e"]
    lines += [f"rm -rf {shlex.quote(str(path))}" for path in stale]
    if build.source:
        lines.append(f"cp -a {shlex.quote(build.source)}/. {shlex.quote(str(place))}")
    return "\n".join([*lines, f"cd {shlex.quote(str(place))}", build.script, ""])


def _words(error: OSError | ValueError) -> str:
    if not isinstance(error, OSError):
        return f"{error} in its script or environment"
    return f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror)
