"""Events of the simulated machine at planned or drawn times: node failures, load of others, hanging targets, maintenance."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from shakedown.model.scenario import Maintenance, Neighbour, Scenario
from shakedown.model.shared_nodes import names_in
from shakedown.model.windows import is_open, next_change
from shakedown.twin.machine.accidents import die
from shakedown.twin.machine.allocator import bits
from shakedown.twin.machine.nodes import one_each
from shakedown.twin.machine.queue_order import Closing
from shakedown.twin.machine.storage import Place, Storage

if TYPE_CHECKING:
    from shakedown.twin.machine.laws import SimulatedMachine
    from shakedown.twin.machine.nodes import Room


def arrange_calendar(world: SimulatedMachine, scenario: Scenario, storage: Storage) -> None:
    """Purpose: schedule all timed events of the scenario on the clock."""
    _wear_out(world, scenario.nodes.mtbf_s, scenario.nodes.repair_s)
    for neighbour in scenario.others:
        _work_weekly(world, neighbour, storage)
    _hang_targets(world, scenario, storage)
    for window in scenario.maintenance:
        _maintain(world, window)


def _at(world: SimulatedMachine, when: float, happen: Callable[[], bool]) -> None:
    """Schedule an event; an event that is due now happens at once, before the conductor looks at the machine."""
    if when <= world.clock.now():
        happen()
    else:
        world.clock.at(when, happen)


# ---- nodes -------------------------------------------------------------------------------------------------------------


def _wear_out(world: SimulatedMachine, mtbf_s: float, repair_s: float) -> None:
    """Schedule failures of nodes: times between failures are exponential, drawn for (node, number of its earlier failures).
    A node does not fail while it is down."""
    if not mtbf_s or world.local:
        return
    for node in dict.fromkeys(name for room in world.rooms.values() for name in room.names):
        _fail_next(world, node, 0, world.began, mtbf_s, repair_s)


def _fail_next(world: SimulatedMachine, node: str, before: int, since: float, mtbf_s: float, repair_s: float) -> None:
    wait = -mtbf_s * math.log(1.0 - world.draw("wear", node, before).random())

    def fail() -> bool:
        world.node_failures += 1
        _fail_next(world, node, before + 1, world.clock.now() + repair_s, mtbf_s, repair_s)
        return die(world, node, repair_s)

    world.clock.at(since + wait, fail, recurring=True)


# ---- others ------------------------------------------------------------------------------------------------------------


def _work_weekly(world: SimulatedMachine, neighbour: Neighbour, storage: Storage) -> None:
    """Schedule the load of others in their hours of each week."""
    if is_open(neighbour, world.clock.now()):
        _load(world, neighbour, storage, 1.0)
    _at_next(world, neighbour, storage)


def _at_next(world: SimulatedMachine, neighbour: Neighbour, storage: Storage) -> None:
    when = next_change(neighbour, world.clock.now())
    if when is None:
        return  # always

    def change() -> bool:
        _load(world, neighbour, storage, 1.0 if is_open(neighbour, when) else -1.0)
        _at_next(world, neighbour, storage)
        return world.local

    world.clock.at(when, change, recurring=True)


def _load(world: SimulatedMachine, neighbour: Neighbour, storage: Storage, sign: float) -> None:
    for budget, amount in neighbour.loads:
        for place in storage.places_of(budget):
            storage.add(place, sign * amount)
    world.noticed(None)


def pending_on(neighbours: tuple[Neighbour, ...], cluster: str, now: float) -> int:
    """Purpose: the number of waiting jobs of others on a cluster at a time (seconds since 1970)."""
    return sum(one.pending for one in neighbours if one.cluster == cluster and is_open(one, now))


# ---- targets that hang ---------------------------------------------------------------------------------------------------


def _hang_targets(world: SimulatedMachine, scenario: Scenario, storage: Storage) -> None:
    for terms in scenario.metadata:
        for hang in terms.hangs:
            for place in storage.places_of(terms.budget):
                if hang.target in ("", place[1]):
                    begin = world.began + hang.after_s
                    _at(world, begin, functools.partial(_hang, world, storage, place, 1))
                    _at(world, begin + hang.lasts_s, functools.partial(_hang, world, storage, place, -1))


def _hang(world: SimulatedMachine, storage: Storage, place: Place, more: int) -> bool:
    storage.hang(place, more)
    return world.local


# ---- maintenance -----------------------------------------------------------------------------------------------------------


def _maintain(world: SimulatedMachine, window: Maintenance) -> None:
    """Close the nodes during the maintenance; from its announcement on, no job starts that could run into it."""
    begin = world.began + window.after_s
    end = begin + window.lasts_s
    for room in one_each(world.rooms):
        nodes = room.pool.all
        if window.nodes:
            nodes = bits(room.number, names_in(window.nodes))
        closing = Closing(begin, end, nodes)
        announced = world.began if window.announced_s is None else max(world.began, begin - window.announced_s)
        _at(world, announced, functools.partial(_announce, world, room, closing))
        _at(world, begin, functools.partial(_begin, world, room, closing, window.running == "killed"))
        _at(world, end, functools.partial(_finish, world, room, closing))


def _announce(world: SimulatedMachine, room: Room, closing: Closing) -> bool:
    room.pool.closings.append(closing)
    return world.local


def _begin(world: SimulatedMachine, room: Room, closing: Closing, kill: bool) -> bool:
    room.pool.close(closing.nodes)
    room.noticed(world.clock.now())
    if kill:
        for job in [job for job in world.by_ticket.values() if job.state == "running"]:
            if world.rooms[job.pool].pool is room.pool and job.nodes & closing.nodes:
                world.cancel(job.name)
    world.noticed(None)
    return world.local


def _finish(world: SimulatedMachine, room: Room, closing: Closing) -> bool:
    room.pool.closings.remove(closing)
    room.pool.open(closing.nodes)
    world.noticed(None)
    world.look_at(room)
    return world.local
