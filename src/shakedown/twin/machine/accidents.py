"""Events at planned times: deaths of nodes, jobs of other users, and signals that end what runs."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from shakedown.twin.machine.allocator import Need
from shakedown.twin.machine.nodes import one_each

if TYPE_CHECKING:
    from shakedown.twin.machine.laws import SimulatedMachine
    from shakedown.twin.machine.nodes import Room


def arrange(world: SimulatedMachine) -> None:
    """Purpose: schedule the deaths of nodes and the jobs of other users on the clock."""
    for node, after_s, repair_s in world.fates.deaths:
        world.clock.at(world.began + after_s, functools.partial(die, world, node, repair_s))
    for number, (node, since, until) in enumerate(world.others.busy, 1):
        arrive = functools.partial(_arrive, world, -number, node, until - max(since, 0.0))
        if since <= 0:
            arrive()  # they were there before us
        else:
            world.clock.at(world.began + since, arrive)
    for since in world.lies.signalled:
        world.clock.at(world.began + since, functools.partial(_kill, world))
    for _, since, _ in world.others.pending:
        world.clock.at(world.began + since, functools.partial(_tell, world))


def take_down(world: SimulatedMachine, room: Room, number: int, repair_s: float) -> None:
    """Purpose: close a node to jobs until it is repaired."""
    bit = 1 << (number - 1)
    room.pool.close(bit)
    room.noticed(world.clock.now())

    def repaired() -> bool:
        room.pool.open(bit)
        world.noticed(None)
        world.look_at(room)
        return world.local

    world.clock.at(world.clock.now() + repair_s, repaired)


def _rooms_with(world: SimulatedMachine, node: str) -> list[Room]:
    found = [room for room in one_each(world.rooms) if node in room.number]
    if not found:
        raise ValueError(f"no partition of {world.document.system.name} has a node {node}")
    return found


def die(world: SimulatedMachine, node: str, repair_s: float) -> bool:
    """Purpose: take a node down and end the job on it. Returns whether the conductor would notice this by itself."""
    for room in _rooms_with(world, node):
        bit = 1 << (room.number[node] - 1)
        hit = [
            job
            for job in world.by_ticket.values()
            if job.state == "running" and world.rooms[job.pool].pool is room.pool and job.nodes & bit
        ]
        for job in hit:
            world.lose_node(job, job.case.shape.time_limit_s - (world.clock.now() - job.started), node, repair_s)
        if not hit:
            take_down(world, room, room.number[node], repair_s)
    world.noticed(None)
    return world.local


def _kill(world: SimulatedMachine) -> bool:
    """End all jobs of ours that run."""
    for job in [job for job in world.by_ticket.values() if job.state == "running"]:
        if job.state == "running" and job.ticket:  # the end of another may have begun and ended it since
            world.end(job, "interrupted", None)
    return world.local


def _arrive(world: SimulatedMachine, ticket: int, node: str, lasts_s: float) -> bool:
    """Queue another user's job for a node, ahead of all our waiting jobs; it ends at its planned time."""
    for room in _rooms_with(world, node):
        world.theirs[ticket] = world.clock.now() + lasts_s
        room.pool.queue(ticket, Need(1, lasts_s, room.number[node]))
        world.look_at(room)
    return world.local


def _tell(world: SimulatedMachine) -> bool:
    world.noticed(None)
    return world.local
