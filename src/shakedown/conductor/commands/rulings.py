"""What people say of a campaign: whose failure a run was, that something was changed, that something is accepted as it is.

Each command becomes one event, or a refusal that says why. The ``why_not_...`` functions are also called before a command is put
into the inbox, so that a person hears at once if it names something that does not exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from shakedown.conductor.commands.refusals import refusal
from shakedown.conductor.driver.conductor import Commands, Conductor
from shakedown.conductor.driver.gates import gates_that_open
from shakedown.engine import State
from shakedown.engine.state.state import run_name
from shakedown.metrics.issues import Issue, told_issues
from shakedown.metrics.judging.default_criteria import criteria_of
from shakedown.metrics.judging.wording import measure_text, must_text
from shakedown.metrics.rows.table import fold_runs
from shakedown.metrics.words import some
from shakedown.model.contracts import content
from shakedown.model.errors import did_you_mean, there_are
from shakedown.model.events import PARTIES, Event
from shakedown.model.nouns import Component, Document
from shakedown.model.ports import Command
from shakedown.model.waived import conditions_digest, gate_digest, issue_digest, waived_criterion, waived_row

WITHDRAWN = "none"  # the word that takes a ruling back
WAIVABLE = ("criterion", "gate", "row", "conditions", "issue")
LONGEST = 300  # characters of a restriction


def rule(conductor: Conductor, command: Command) -> Event:
    """Record whose failure a run was, beside its verdict. A later ruling replaces it; ``none`` takes it back."""
    run, party = str(command.value.get("run", "")), str(command.value.get("as", ""))
    why = why_not_rule(conductor.state, run, party)
    if why:
        return refusal(command, why)
    return Event("ruled", run=run, value={"as": party} | who_asked(command), reason=command.reason)


def why_not_rule(state: State, run: str, party: str) -> str:
    """Purpose: why there can be no such ruling; "" where there can."""
    if party not in (*PARTIES, WITHDRAWN):
        return f"'{party[:40]}' is no party; there are {', '.join(PARTIES)}, and {WITHDRAWN} takes a ruling back"
    return why_not_judged(state, run, "a ruling")


def why_not_judged(state: State, run: str, what: str) -> str:
    """Purpose: why the run has no verdict that ``what`` could stand beside; "" where it has one. ``what``: in words."""
    if not _was_ordered(state, run):
        return f"there is no run '{run[:40]}' in this campaign"
    live = state.runs.get(run)
    waiting = any(entry.void_run == run for entry in state.waiting.every())
    if waiting or (live is not None and not live.verdict):
        return f"{run} is not judged yet; {what} stands beside a verdict"
    return ""


def _was_ordered(state: State, run: str) -> bool:
    digits = run[1:]
    ours = run[:1] == "r" and digits.isdecimal() and digits.isascii() and len(digits) < 16
    return ours and 0 < int(digits) < state.campaign.next_run and run == run_name(int(digits))


def change(conductor: Conductor, command: Command) -> Event:
    """Record that the machine or its environment was changed: a new epoch begins."""
    if not command.reason.strip():
        return refusal(command, "it does not say what was changed")
    return Event("changed", value=who_asked(command), reason=command.reason)


def waive(conductor: Conductor, command: Command) -> Event:
    """Accept a criterion, a gate or a contract row as it is, with a restriction. A change of conditions, or an issue, may be
    accepted without one.
    """
    value = command.value
    what, component, name = (str(value.get(key, "")) for key in ("what", "component", "name"))
    if what == "conditions":
        return _waive_conditions(conductor, command, name)
    if what == "issue":
        return _waive_issue(conductor, command, name)
    why = why_not_waive(conductor.state.index.document, what, component, name)
    restriction = str(value.get("restriction", "")).strip()
    why = why or ("" if restriction else "it names no restriction to go with what is waived")
    if why:
        return refusal(command, why)
    said: dict[str, Any] = {"what": what, "component": component, "name": name, "restriction": restriction[:LONGEST]}
    said |= _as_it_is(conductor.state.index.document, what, component, name)
    event = Event("waived", value={k: v for k, v in said.items() if v} | who_asked(command), reason=command.reason)
    if what != "gate":
        return event
    return replace(event, value=event.value | {"opens": component in gates_that_open(conductor, event)})


def _waive_conditions(conductor: Conductor, command: Command, name: str) -> Event:
    changes = changes_in(conductor.reread())
    why = why_not_waive_conditions(changes, name)
    if why:
        return refusal(command, why)
    said = {
        "what": "conditions",
        "name": name,
        "restriction": str(command.value.get("restriction", "")).strip()[:LONGEST],
    }
    said |= {"digest": conditions_digest(changes[name].value), "asked": changes[name].reason[:LONGEST]}
    return Event("waived", value={k: v for k, v in said.items() if v} | who_asked(command), reason=command.reason)


def _waive_issue(conductor: Conductor, command: Command, name: str) -> Event:
    every = issues_in(conductor.reread())
    why = why_not_waive_issue(every, name)
    if why:
        return refusal(command, why)
    one = every[name]
    said = {"what": "issue", "name": name, "restriction": str(command.value.get("restriction", "")).strip()[:LONGEST]}
    said |= {"digest": issue_digest(one.kind, one.what), "asked": f"{one.kind}: {one.what}"[:LONGEST]}
    return Event("waived", value={k: v for k, v in said.items() if v} | who_asked(command), reason=command.reason)


def issues_in(events: Iterable[Event]) -> dict[str, Issue]:
    """Purpose: the issues in a log that a person can accept, by the numbers of the events that opened them."""
    return {str(one.number): one for one in told_issues(fold_runs(events))}


def why_not_waive_issue(every: Mapping[str, Issue], name: str) -> str:
    """Purpose: why there is no such open issue to accept; "" where there is."""
    if name in every and every[name].closed is None:
        return ""
    if name in every:
        return f"issue {name} is closed: {every[name].closed_by}"
    known = [number for number, one in every.items() if one.closed is None]
    there = f"open ones are: {some(known, 12)}" if known else "none is open that a person could accept"
    return f"event {name[:20]} opened no issue; {there}"


def changes_in(events: Iterable[Event]) -> dict[str, Event]:
    """Purpose: the findings of a log that conditions of the runs changed, by the numbers of their events."""
    found = (event for event in events if event.event == "finding" and event.value.get("kind") == "conditions_changed")
    return {str(event.seq): event for event in found}


def why_not_waive_conditions(changes: Mapping[str, Event], name: str) -> str:
    """Purpose: why there is no such change to accept; "" where there is."""
    if name in changes:
        return ""
    known = f"there are: {', '.join(changes)}" if changes else "nothing changed under this campaign"
    return f"event {name[:20]} is no finding that conditions of the runs changed; {known}"


def _as_it_is(document: Document, what: str, component: str, name: str) -> dict[str, Any]:
    """What is asked for now, as a digest and in words: after an amendment, another criterion may have the same name."""
    if what == "gate":
        return {"digest": gate_digest(document, component)}
    if what == "row":
        row = next(row for contract in document.contracts for row in contract.rows if row.name == name)
        return {"row": content(row), "digest": waived_row(document, row)}
    found = next(one for one in document.components if one.name == component)
    criterion = next(one for one in criteria_of(found) if one.name == name)
    asked = f"{measure_text(criterion)}, must {must_text(criterion)}"
    return {"digest": waived_criterion(document, found, criterion), "asked": asked[:LONGEST]}


def why_not_waive(document: Document, what: str, component: str, name: str) -> str:
    """Purpose: why the plan in force has no such thing to waive; "" where it has."""
    if what not in WAIVABLE:
        return f"'{what[:40]}' cannot be waived; {', '.join(WAIVABLE)} can"
    components = {found.name: found for found in document.components}
    if component not in components:
        return _unknown_name("the plan in force", "component", component, list(components))
    if what == "gate":
        awaited = {first for other in document.components if other.gate == "met" for first in other.after}
        return "" if component in awaited else f"nothing in the plan in force waits until {component} is met"
    if what == "criterion":
        return _no_criterion(components[component], name)
    return _no_row(document, components[component], name)


def _no_row(document: Document, component: Component, name: str) -> str:
    """Why a row cannot be waived for a component: a waiver of a row that asks nothing of the component would have no effect."""
    rows = [row.name for contract in document.contracts for row in contract.rows]
    if name not in rows:
        return _unknown_name("the plan in force", "contract row", name, rows)
    force = {case.id for case in document.cases if name in case.rows}
    asked = [found.name for found in document.components if not force.isdisjoint(found.cases)]
    if component.name in asked:
        return ""
    others = f"it does of: {', '.join(asked)}" if asked else "it is in force for no case of the plan"
    return f"row {name} asks nothing of component {component.name}; {others}"


def _no_criterion(component: Component, name: str) -> str:
    names = [criterion.name for criterion in criteria_of(component)]
    return "" if name in names else _unknown_name(f"component {component.name}", "criterion", name, names)


def _unknown_name(where: str, what: str, name: str, known: list[str]) -> str:
    near = did_you_mean(name, known) or there_are(known, says="there are:")
    return f"{where} has no {what} '{name[:100]}'; {near}"


def who_asked(command: Command) -> dict[str, Any]:
    """Purpose: who answers for a command, who left the request, and the request's id."""
    asked = {"by": str(command.value.get("by") or command.who)[:100], "request": command.request, "who": command.who}
    return asked | together(command)


def together(command: Command) -> dict[str, Any]:
    """Purpose: a token that all events of one command share, where it takes several events."""
    token = str(command.value.get("together") or "")[:32]
    return {"together": token} if token else {}


PEOPLES_COMMANDS: Commands = {"rule": rule, "change": change, "waive": waive}
