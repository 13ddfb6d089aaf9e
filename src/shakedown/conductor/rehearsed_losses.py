"""The books of a rehearsal: what nodes did at every moment, and why they did nothing, by component.

What happened is taken from the machine itself; why nodes were idle is asked of the engine, at moments that lie close at first and
further apart as the rehearsal goes on. Asking alters nothing: neither the campaign nor its log depend on it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from shakedown.engine import State
from shakedown.engine.idle import Cause, why_idle
from shakedown.metrics.limits import Books
from shakedown.model.events import COMPLETED, Event
from shakedown.twin.figures import took
from shakedown.twin.nodes import Room
from shakedown.twin.world import World

_CLOSE = 400  # the engine is asked again after this part of the time that has passed...
_MUCH = 50  # ... or when the idle nodes have changed by this part of all
_RIGHT = "passed"


@dataclass(slots=True)
class _PoolBooks:
    """One pool since it was looked at last. ``causes``: why its ``idle`` nodes were idle then; ``asked``: when, at how many."""

    idle: int = 0
    down: int = 0
    causes: list[Cause] = field(default_factory=list)
    asked: float = float("-inf")
    asked_idle: int = -1


@dataclass(slots=True)
class Losses:
    """``look`` is called once a turn, when everything is decided; ``hear`` for every event."""

    world: World
    began: float = 0.0
    at: float = 0.0
    component: str = ""
    pools: dict[str, _PoolBooks] = field(default_factory=dict)
    books: dict[str, Books] = field(default_factory=dict)
    slowed: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def look(self, state: State) -> None:
        """The time since the last look is over: enter it, and see how it stands now."""
        now = self.world.clock.now()
        if not self.began:
            self.began = self.at = now
        if now > self.at:
            for name, room in self.world.rooms.items():
                self._enter(room, self.pools.setdefault(name, _PoolBooks()), now)
        self.at = now
        for name, room in self.world.rooms.items():
            self._see(state, name, room, self.pools.setdefault(name, _PoolBooks()), now)

    def nobody_drove(self) -> None:
        """The conductor was away since the last look: what fell idle meanwhile did so for want of one."""
        now = self.world.clock.now()
        for name, room in self.world.rooms.items():
            pool = self.pools.setdefault(name, _PoolBooks())
            pool.causes = [Cause(self.component, "away", 1.0)]
            self._enter(room, pool, now)
            pool.idle, pool.causes, pool.asked = (room.pool.idle & ~room.pool.closed).bit_count(), [], float("-inf")
        self.at = now

    def hear(self, state: State, event: Event) -> None:
        """What a run took of the machine, and whether it was for something."""
        if event.event != "verdict" or event.value.get("supersedes"):
            return
        if event.value.get("verdict") == "build_failed" and state.index.cases[event.case].expect != "build_failed":
            self._books(str(event.value.get("component", ""))).unbuilt += 1
        if not event.job:
            return
        run = state.runs.get(event.run)
        elapsed, healthy = took(self.world, event.run)
        elapsed = elapsed or float(event.value.get("elapsed_s") or 0.0)
        case = state.index.cases[event.case]
        name = state.index.components[run.component].name if run is not None else self.component
        books, taken, verdict = self._books(name), elapsed * case.shape.units, str(event.value.get("verdict", ""))
        if verdict in COMPLETED and healthy and elapsed > healthy * 1.001:
            books.slowed += (elapsed - healthy) * case.shape.units
        books.runs += 1
        if verdict == _RIGHT:
            books.right += taken
        else:
            books.wrong[verdict] = books.wrong.get(verdict, 0.0) + taken

    def _books(self, component: str) -> Books:
        return self.books.setdefault(component, Books(component))

    # ---- since the last look ---------------------------------------------------------------------------------------------

    def _enter(self, room: Room, pool: _PoolBooks, now: float) -> None:
        lasted, capacity = now - self.at, room.pool.count
        books = self._books(self.component)
        books.capacity += capacity * lasted
        books.down += pool.down * lasted
        books.seconds[room.name] = books.seconds.get(room.name, 0.0) + lasted
        idle = _idle_between(room, pool.idle, self.at, now)
        known = min(idle, pool.idle * lasted)
        for cause in pool.causes:
            self._books(cause.component).lose(cause.cause, known * cause.weight)
        more = idle - known
        if not pool.causes:
            books.lose("ahead", idle)
        elif more > 0:
            only = pool.causes[0].cause
            books.lose(only if only.startswith(("drain:", "tail", "ramp", "wide", "away")) else "ahead", more)

    # ---- as it stands now ------------------------------------------------------------------------------------------------

    def _see(self, state: State, name: str, room: Room, pool: _PoolBooks, now: float) -> None:
        closed = room.pool.closed
        pool.idle, pool.down = (room.pool.idle & ~closed).bit_count(), closed.bit_count()
        if not pool.idle:
            pool.causes = []
            return
        near = now - pool.asked < (now - self.began) / _CLOSE
        if near and pool.causes and abs(pool.idle - pool.asked_idle) * _MUCH <= room.pool.count:
            return
        queued = _narrowest(self.world, name)
        if state.phase == "running":
            pool.causes = why_idle(state, name, pool.idle, queued, now)
            self.component = pool.causes[0].component
        pool.asked, pool.asked_idle = now, pool.idle


def _narrowest(world: World, pool: str) -> int:
    """The units of the narrowest job that waits for nodes of a pool; 0 = none does."""
    waiting = [job for job in world.by_ticket.values() if job.state == "queued" and job.pool == pool]
    return min((job.case.shape.units for job in waiting), default=0)


def _idle_between(room: Room, idle: int, since: float, now: float) -> float:
    """Node-seconds that were idle between two looks. ``idle``: how many were at the first."""
    changes = []
    for at, nodes in reversed(room.idle_before):
        if at <= since:
            break
        changes.append((at, (nodes & ~room.pool.closed).bit_count()))
    total, before, last = 0.0, idle, since
    for at, count in reversed(changes):
        total += before * (at - last)
        before, last = count, at
    return total + before * (now - last)
