"""What the scheduler says of nodes and of other people's jobs: late, and not always true."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shakedown.model.ports import Survey, Wanted
from shakedown.twin.machine.calendar import pending_on

if TYPE_CHECKING:
    from shakedown.twin.machine.world import World

SILENT = "no source answers"


def look_around(world: World, wanted: Wanted, silent: bool) -> Survey:
    """Purpose: idle nodes of pools and jobs that wait on clusters, as they were ``stale_s`` ago. ``silent``: nobody answers."""
    survey = Survey()
    when = world.clock.now() - world.lies.stale_s
    for pool in wanted.idle:
        if silent or pool not in world.rooms:
            survey.trouble[pool] = SILENT if silent else "there is no such partition"
        else:
            survey.idle[pool] = _idle(world, pool, when)
            survey.out[pool] = _out(world, pool)
    for pool in wanted.unused:
        if silent or pool not in world.rooms:
            survey.trouble[pool] = SILENT if silent else "there is no such partition"
        else:
            room = world.rooms[pool]
            idle = room.idle_at(when) & ~room.pool.closed & ~room.pool.kept(world.clock.now())
            survey.unused[pool] = room.places(idle & room.mask)
    for pool in wanted.silent:
        if silent or pool not in world.rooms:
            survey.trouble[pool] = SILENT if silent else "there is no such partition"
        else:  # a node that fails there ends its jobs at once: only what is down is silent
            survey.silent[pool] = tuple(number for numbers in _out(world, pool).values() for number in numbers)
    for cluster in wanted.pending:
        if silent:
            survey.trouble[cluster] = SILENT
        else:
            survey.pending[cluster] = world.others.waiting(cluster, when - world.began) + _neighbours(
                world, cluster, when
            )
    return survey


def _out(world: World, pool: str) -> dict[str, tuple[int, ...]]:
    """The partition's nodes that are down; not those that are closed for a maintenance that was announced."""
    room, now = world.rooms[pool], world.clock.now()
    out = room.pool.closed & room.mask
    for closing in room.pool.closings:
        out &= ~closing.nodes if closing.begin <= now else out
    return {"down": room.places(out)} if out else {}


def _neighbours(world: World, cluster: str, when: float) -> int:
    return 0 if world.physics is None else pending_on(world.physics.scenario.others, cluster, when)


def _idle(world: World, pool: str, when: float) -> tuple[int, ...]:
    """The partition's idle nodes by their numbers; some that are in use look idle."""
    room = world.rooms[pool]
    idle = room.idle_at(when) & ~room.pool.closed
    if world.lies.idle_untrue:
        minute = int(world.clock.now() // 60)
        for place, number in enumerate(room.own, 1):
            if world.chance(world.lies.idle_untrue, "idle", pool, place, minute):
                idle |= 1 << (number - 1)
    return room.places(idle & room.mask)
