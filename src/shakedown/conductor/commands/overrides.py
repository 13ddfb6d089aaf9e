"""Overrides by people: pause, continue, cap, budget, exclude, include, drain, clock, again. Each becomes one event, or a refusal.

``order`` is the table of contents. It is also called before a command is put into the inbox, so that a person hears at once what
cannot be done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from shakedown.conductor.commands.override_amounts import amount_of, check_budget, copies_of
from shakedown.conductor.commands.override_times import act_on_clock, checked_from, when_said
from shakedown.conductor.commands.refusals import refusal
from shakedown.conductor.commands.rulings import together
from shakedown.conductor.driver.conductor import Commands, Conductor
from shakedown.conductor.record.going_on import CLOSED, WAY_OUT, closed_by
from shakedown.engine import State, evolve
from shakedown.engine.constraints.component_clock import acts_of, idle_since
from shakedown.engine.state.keys import CaseKey
from shakedown.engine.state.nodes_out import failed_nodes
from shakedown.engine.state.phases import CampaignPhase
from shakedown.engine.state.retirement import drained
from shakedown.model.clocks import ran
from shakedown.model.errors import UsageError, did_you_mean, there_are
from shakedown.model.events import Event
from shakedown.model.filling import CAUSES
from shakedown.model.near_names import near_node
from shakedown.model.nouns import Component
from shakedown.model.ports import Command
from shakedown.model.shared_nodes import nodes_of

MOST_NODES = 50  # in one command: an event stays small

Value = dict[str, Any]


def order(state: State, now: float, what: str, value: Value, reason: str) -> Event:
    """Purpose: the event that a command becomes at ``now``. Errors: UsageError, with the way out, where it cannot
    be carried out.
    """
    if not reason.strip():
        raise UsageError("it does not say why")
    if state.phase == CampaignPhase.ENDED and what not in ("clock", "again"):
        raise UsageError("the campaign is over; nothing of it is ordered any more")
    return msgspec.structs.replace(_ORDERS[what](state, now, value), reason=reason)


def refuse_closed(what: str, events: Iterable[Event]) -> None:
    """Purpose: refuse commands that would run something again in a campaign that is over and sealed. ``events``: its log, read only
    for ``again``. Errors: UsageError with the way out.
    """
    if what == "again" and closed_by(events):
        raise UsageError(f"the campaign is closed: {CLOSED}", hint=WAY_OUT)


def check_all(state: State, now: float, what: str, values: Sequence[Value], reason: str) -> list[Event]:
    """Purpose: the events that these commands become, one after the other. ``state`` is changed: the events are folded into it.
    Errors: UsageError.
    """
    events = []
    for value in values:
        event = order(state, now, what, value, reason)
        events.append(event)
        evolve(state, msgspec.structs.replace(event, seq=state.seq + 1, time=max(now, state.time)))
    return events


def standing_orders(commands: Iterable[Command]) -> list[Command]:
    """Purpose: those of the commands that are standing orders."""
    return [command for command in commands if command.what in _ORDERS]


def after_orders(state: State, orders: Iterable[Command]) -> State:
    """Purpose: the state once these orders are heard that still wait in the inbox; so a person can take one back at once.
    ``state`` is folded on: it is no longer that of the log.
    """
    for command in orders:
        with suppress(UsageError):  # the conductor will say so, or it has heard the order meanwhile
            check_all(state, max(state.time, command.said or 0.0), command.what, [command.value], command.reason)
    return state


# ---- components --------------------------------------------------------------------------------------------------------


def _pause(state: State, now: float, value: Value) -> Event:
    """Nothing new of a component is ordered. What its clock does is as the plan says for the cause."""
    component = component_of(state, value)
    number = state.index.component_number[component.name]
    if component.name in state.overrides.paused:
        raise UsageError(f"component {component.name} is paused already: {state.overrides.paused[component.name].why}")
    _refuse_finished(state, number)
    cause = str(value.get("cause") or "other")
    _check_cause(cause)
    said: Value = {"component": component.name, "cause": cause}
    if component.duration_s:
        said["clock"] = component.clock.act_for(cause)
    if value.get("from") is not None:
        said["from"] = checked_from(state, number, value["from"], now)
    return Event("paused", value=said)


def _refuse_finished(state: State, number: int) -> None:
    name = state.index.components[number].name
    why = drained(state, number)
    if why:
        raise UsageError(f"{why}; it comes to its end", hint="amend the plan to take it up again")
    if state.tallies[number].over:
        raise UsageError(f"component {name} is over; there is nothing left to order")


def _check_cause(cause: str) -> None:
    if cause not in CAUSES:
        near = did_you_mean(cause, CAUSES) or f"there are {', '.join(CAUSES)}"
        raise UsageError(f"'{cause[:40]}' is no cause", hint=near)


def _continue(state: State, now: float, value: Value) -> Event:
    """A paused component, or a case that was stopped, goes on."""
    component = component_of(state, value)
    case = str(value.get("case") or "")
    if case:
        if CaseKey(component.name, case) not in state.overrides.stopped:
            raise UsageError(
                f"case {case[:200]} of component {component.name} is not stopped", hint=_stopped_ones(state)
            )
        return Event("continued", case=case, value={"component": component.name})
    if component.name not in state.overrides.paused:
        why = drained(state, state.index.component_number[component.name])
        hint = f"{why}; amend the plan to take it up again" if why else "shakedown status says what holds it"
        raise UsageError(f"component {component.name} is not paused", hint=hint)
    return Event("continued", value={"component": component.name})


def _stopped_ones(state: State) -> str:
    cases = [key.case for key in state.overrides.stopped]
    return f"stopped are: {', '.join(cases[:10])}" if cases else "no case is stopped"


def _drain(state: State, now: float, value: Value) -> Event:
    """A component, or the whole campaign, comes to its end."""
    if not value.get("component"):
        if "" in state.overrides.draining:
            raise UsageError(f"{state.overrides.draining['']}; it drains already")
        return Event("drain_request")
    component = component_of(state, value)
    _refuse_finished(state, state.index.component_number[component.name])
    return Event("drain_request", value={"component": component.name})


def _clock(state: State, now: float, value: Value) -> Event:
    """An act on the clock of a component that runs for a time."""
    component = component_of(state, value)
    cause = str(value.get("cause") or "")
    if cause:
        _check_cause(cause)
    said = act_on_clock(state, state.index.component_number[component.name], value, now)
    said |= {"cause": cause} if cause else {}
    return Event("clock", value={"component": component.name} | said)


def _run_again(state: State, now: float, value: Value) -> Event:
    """A component that is over is run again."""
    component = component_of(state, value)
    number = state.index.component_number[component.name]
    if component.sweep is not None:
        raise UsageError(
            f"component {component.name} is a sweep", hint="amend the plan: one round more (sweep: {rounds: ...})"
        )
    if not component.cases:
        raise UsageError(
            f"component {component.name} runs nothing; its procedures are attested again: shakedown attest"
        )
    roll = state.clocks.mixes.get(component.name)
    if not (state.tallies[number].over or state.phase == CampaignPhase.ENDED):
        hint = "what it wants is still to come; cancel or drain it first, or wait"
        raise UsageError(f"component {component.name} is not over", hint=hint)
    said: Value = {"component": component.name}
    if component.duration_s and roll is not None:
        until = idle_since(state, number, now)
        if ran(acts_of(state, number), now if until is None else until) >= component.duration_s - 1e-3:
            said["clock"] = "restart"
        elif until is not None:
            said["stopped"] = until  # what lies between its end and now is no time of it
    return Event("again", value=said)


def component_of(state: State, value: Value) -> Component:
    """Purpose: the component of the plan in force that a command names. Errors: UsageError."""
    name = str(value.get("component", ""))
    known = {found.name: found for found in state.index.document.components}
    if name not in known:
        near = did_you_mean(name, known) or there_are(list(known), says="there are:")
        raise UsageError(f"the plan in force has no component '{name[:100]}'", hint=near)
    return known[name]


# ---- caps, budgets, nodes ----------------------------------------------------------------------------------------------


def _cap(state: State, now: float, value: Value) -> Event:
    """Limit how many runs of a test go on at once, or return to the plan's own number."""
    test = str(value.get("test", ""))
    known = [found.name for found in state.index.document.tests]
    if test not in known:
        near = did_you_mean(test, known) or there_are(known, says="its tests are:")
        raise UsageError(f"the plan in force runs no test '{test[:100]}'", hint=near)
    if value.get("copies") is None:
        if test not in state.overrides.caps:
            raise UsageError(f"{test} is not capped")
        return Event("capped", value={"test": test})
    return Event("capped", value={"test": test, "copies": copies_of(state, test, value["copies"])})


def _budget(state: State, now: float, value: Value) -> Event:
    """Limit a budget, or return to the plan's own amount."""
    name = str(value.get("budget", ""))
    check_budget(state, name)
    if value.get("amount") is None:
        if name not in state.overrides.amounts:
            raise UsageError(f"budget {name} was not changed; it has the plan's own amount")
        return Event("budget_set", value={"budget": name})
    return Event("budget_set", value={"budget": name, "amount": amount_of(state, name, value["amount"])})


def _exclude(state: State, now: float, value: Value) -> Event:
    """Exclude nodes: they get no more work."""
    nodes = _nodes_in(value)
    known, local = _nodes_of(state)
    for node in nodes:
        if node in local and node not in known:
            raise UsageError(
                f"{node} is the only node of its cluster, so it cannot be excluded",
                hint="pause the component: shakedown pause",
            )
        if node not in known:
            name = state.index.document.system.name
            raise UsageError(f"system {name} has no node '{node[:100]}'", hint=near_node(node, known | local))
    fresh = [node for node in nodes if node not in state.overrides.excluded]
    if not fresh:
        raise UsageError(f"{nodes[0]} is excluded already: {state.overrides.excluded[nodes[0]]}")
    return Event("excluded", value={"nodes": fresh})


def _include(state: State, now: float, value: Value) -> Event:
    """Give excluded nodes work again; their failures count from zero."""
    nodes = _nodes_in(value)
    out = {**state.overrides.excluded, **state.pools.left_out}
    strange = [node for node in nodes if node not in out]
    if strange:
        if pool := _held_for(state, strange[0]):
            raise UsageError(
                f"{strange[0]} is not excluded: holding the queue of {pool} took it back in, for it was not this node alone",
                hint="the queue goes on as soon as one job begins: shakedown status says why none does",
            )
        excluded = list(out)
        near = near_node(strange[0], excluded, "excluded are:") if excluded else "no node is"
        raise UsageError(f"{strange[0][:100]} is not excluded", hint=near)
    return Event("included", value={"nodes": nodes})


def _held_for(state: State, node: str) -> str:
    """The pool whose queue is held because jobs ended on this node and others; "" where there is none."""
    guards = state.pools.guards
    return next((pool for pool in guards if guards[pool].since and node in failed_nodes(state, pool)), "")


def _nodes_in(value: Value) -> list[str]:
    """The names of nodes in a command, each once. Errors: UsageError for anything else, or for too many."""
    nodes = value.get("nodes")
    if not isinstance(nodes, list) or not nodes or not all(isinstance(node, str) and node for node in nodes):
        raise UsageError("its nodes are not a list of names")
    if len(nodes) > MOST_NODES:
        raise UsageError(f"it names {len(nodes)} nodes; at most {MOST_NODES} go into one command")
    return list(dict.fromkeys(nodes))


def _nodes_of(state: State) -> tuple[set[str], set[str]]:
    """The names of a system's nodes: those among which a scheduler can choose, and those where it cannot."""
    choice: set[str] = set()
    alone: set[str] = set()
    for cluster in state.index.document.system.clusters:
        for partition in cluster.partitions:
            (alone if cluster.embedded else choice).update(map(str, nodes_of(partition)))
    return choice, alone


# ---- commands ----------------------------------------------------------------------------------------------------------


_ORDERS: dict[str, Callable[[State, float, Value], Event]] = {
    "pause": _pause,
    "continue": _continue,
    "cap": _cap,
    "budget": _budget,
    "exclude": _exclude,
    "include": _include,
    "drain": _drain,
    "clock": _clock,
    "again": _run_again,
}


def _command(what: str) -> Callable[[Conductor, Command], Event]:
    def carry_out(conductor: Conductor, command: Command) -> Event:
        now = max(conductor.state.time, conductor.ports.clock.now())
        try:
            refuse_closed(what, conductor.reread())
            event = order(conductor.state, now, what, command.value, command.reason)
        except UsageError as error:
            return refusal(command, f"{error.message}; {error.hint}" if error.hint else error.message)
        asked = {"by": str(command.value.get("by") or command.who)[:100]}
        asked |= {"request": command.request, "who": command.who} | together(command)
        asked |= when_said(command) if "from" in event.value else {}
        return msgspec.structs.replace(event, value=event.value | asked)

    return carry_out


STANDING_COMMANDS: Commands = {what: _command(what) for what in _ORDERS}
