"""Accounts of the node time of a rehearsal: how much was used, and why nodes were idle.

The simulated machine gives the use of the nodes; the engine gives the reasons for idle nodes, at intervals that grow during the
rehearsal. The questions to the engine change neither the campaign nor its log. Only nodes of partitions on which cases of the plan
run are counted. A node in several partitions is counted once.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property

from shakedown.engine import State
from shakedown.engine.policy.idle import Cause, why_idle
from shakedown.engine.state.phases import CampaignPhase
from shakedown.metrics.limits import Books, Nodes, idle_by_cause
from shakedown.model.events import COMPLETED, Event
from shakedown.twin.machine.figures import took
from shakedown.twin.machine.nodes import Room, one_each
from shakedown.twin.machine.world import World

_CLOSE = 400  # the engine is asked again after 1 / _CLOSE of the elapsed time...
_MUCH = 50  # ... or when the number of idle nodes has changed by 1 / _MUCH of all nodes
_RIGHT = "passed"


@dataclass
class _Ground:
    """The nodes of partitions of the plan that share a pool. ``name``: names of these partitions; ``mask``: the nodes, as bits.

    ``idle``, ``down``: numbers of idle and down nodes at the last look; ``causes``: why nodes were idle; ``asked``,
    ``asked_idle``: time of the last question to the engine, and the number of idle nodes then.
    """

    rooms: list[Room]
    name: str
    mask: int
    idle: int = 0
    down: int = 0
    causes: list[Cause] = field(default_factory=list)
    asked: float = float("-inf")
    asked_idle: int = -1

    @cached_property
    def count(self) -> int:
        return self.mask.bit_count()

    def idle_now(self) -> int:
        return (self.rooms[0].pool.idle & self.mask).bit_count()

    def down_now(self) -> int:
        return (self.rooms[0].pool.closed & self.mask).bit_count()


@dataclass
class Losses:
    """The account of one rehearsal. ``look`` is called once a turn, after all decisions; ``hear`` is called for every event.
    ``longest``: case -> its longest passed run, in seconds. ``overran``: cases with a run that reached its time limit.
    """

    world: World
    began: float = 0.0
    at: float = 0.0
    component: str = ""
    books: Books = field(default_factory=Books)
    longest: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    overran: dict[str, None] = field(default_factory=dict)

    @cached_property
    def grounds(self) -> list[_Ground]:
        """The nodes that the plan can use, grouped by the pool that their partitions share."""
        used = {case.partition for case in self.world.document.cases if not case.unavailable}
        rooms = {name: room for name, room in self.world.rooms.items() if name in used} or self.world.rooms
        found = []
        for first in one_each(rooms):
            mine = [room for room in rooms.values() if room.pool is first.pool]
            mask = 0
            for room in mine:
                mask |= room.mask
            found.append(_Ground(mine, " + ".join(room.name for room in mine), mask))
        return found

    def look(self, state: State) -> None:
        """Account for the time since the last look, then note the present state of the nodes."""
        now = self.world.clock.now()
        if not self.began:
            self.began = self.at = now
        if now > self.at:
            for ground in self.grounds:
                self._enter(ground, now)
            self.books.seconds += now - self.at
        self.at = now
        for ground in self.grounds:
            self._see(state, ground, now)

    def nobody_drove(self) -> None:
        """Account for a time without a conductor: nodes that were idle since the last look are put down to its absence."""
        now = self.world.clock.now()
        for ground in self.grounds:
            ground.causes = [Cause(self.component, "away", 1.0)]
            self._enter(ground, now)
            ground.idle, ground.causes, ground.asked = ground.idle_now(), [], float("-inf")
        self.books.seconds += now - self.at
        self.at = now

    def hear(self, state: State, event: Event) -> None:
        """Account for the node time of a run when its verdict comes: useful if it passed, else lost."""
        if event.event != "verdict" or event.value.get("supersedes"):
            return
        books = self.books
        if event.value.get("verdict") == "build_failed" and state.index.cases[event.case].expect != "build_failed":
            books.unbuilt += 1
        if not event.job:
            return
        run = state.runs.get(event.run)
        elapsed, healthy = took(self.world, event.run)
        elapsed = elapsed or float(event.value.get("elapsed_s") or 0.0)
        case = state.index.cases[event.case]
        name = state.index.components[run.component].name if run is not None else self.component
        taken, verdict = elapsed * case.shape.units, str(event.value.get("verdict", ""))
        if verdict in COMPLETED and healthy and elapsed > healthy * 1.001:
            books.lose(name, "slowed", (elapsed - healthy) * case.shape.units)
        books.runs += 1
        nodes = self._of(case.partition)
        if verdict == _RIGHT:
            books.right += taken
            self.longest[case.id] = max(self.longest[case.id], elapsed)
        else:
            books.lose(name, f"verdict:{verdict}", taken)
            if verdict == "timeout" and case.expect != verdict:
                self.overran[case.id] = None
        if nodes is not None:
            nodes.worked += taken if verdict == _RIGHT else 0.0

    def _of(self, partition: str) -> Nodes | None:
        for ground in self.grounds:
            if any(room.name == partition for room in ground.rooms):
                return self.books.nodes.setdefault(ground.name, Nodes(ground.count))
        return None

    # ---- since the last look ---------------------------------------------------------------------------------------------

    def _enter(self, ground: _Ground, now: float) -> None:
        lasted, books = now - self.at, self.books
        books.capacity += ground.count * lasted
        nodes = books.nodes.setdefault(ground.name, Nodes(ground.count))
        nodes.capacity += ground.count * lasted
        if ground.down:
            books.lose(self.component, "down", ground.down * lasted)
        idle = _idle_between(ground, self.at, now)
        known = min(idle, ground.idle * lasted)
        causes = [(cause.component, cause.cause, cause.weight) for cause in ground.causes]
        for component, cause, amount in idle_by_cause(causes, self.component, known, idle - known):
            books.lose(component, cause, amount)

    # ---- as it stands now ------------------------------------------------------------------------------------------------

    def _see(self, state: State, ground: _Ground, now: float) -> None:
        ground.idle, ground.down = ground.idle_now(), ground.down_now()
        if not ground.idle:
            ground.causes = []
            return
        near = now - ground.asked < (now - self.began) / _CLOSE
        if near and ground.causes and abs(ground.idle - ground.asked_idle) * _MUCH <= ground.count:
            return
        if state.phase == CampaignPhase.RUNNING:
            ground.causes = self._why(state, ground, now)
            self.component = ground.causes[0].component
        ground.asked, ground.asked_idle = now, ground.idle

    def _why(self, state: State, ground: _Ground, now: float) -> list[Cause]:
        """Causes of idle nodes: asked for each partition with idle nodes, weighted by its number of idle nodes."""
        found: list[Cause] = []
        idle = {room.name: room.idle.bit_count() for room in ground.rooms if room.idle}
        for name, count in idle.items():
            narrowest, licences = _waiting(self.world, name)
            causes = why_idle(state, name, count, narrowest, now, licences)
            found += [Cause(one.component, one.cause, one.weight * count / sum(idle.values())) for one in causes]
        return found


def _waiting(world: World, pool: str) -> tuple[int, tuple[str, ...]]:
    """(Units of the smallest job that waits for nodes of a pool, 0 if none waits; licences that other waiting jobs lack)."""
    narrowest, licences = 0, dict[str, None]()
    held = world.rooms[pool].pool.licences
    for job in world.by_ticket.values():
        if job.state != "queued" or job.pool != pool:
            continue
        if job.need is None or held.fit(job.need):
            units = job.case.shape.units
            narrowest = min(narrowest, units) if narrowest else units
        else:
            licences |= dict.fromkeys(
                name for name, amount in job.need.licences if held.free.get(name, amount) < amount - 1e-9
            )
    return narrowest, tuple(licences)


def _idle_between(ground: _Ground, since: float, now: float) -> float:
    """Idle node-seconds between two looks."""
    room, changes = ground.rooms[0], []
    for at, nodes in reversed(room.idle_before):
        if at <= since:
            break
        changes.append((at, (nodes & ground.mask & ~room.pool.closed).bit_count()))
    total, before, last = 0.0, ground.idle, since
    for at, count in reversed(changes):
        total += before * (at - last)
        before, last = count, at
    return total + before * (now - last)
