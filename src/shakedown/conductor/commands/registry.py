"""Commands that operators may give to a running campaign: each becomes one event, or a refusal that says why."""

from __future__ import annotations

import re
from typing import Any

from shakedown.conductor.commands.override_times import checked_from, when_said
from shakedown.conductor.commands.refusals import refusal
from shakedown.conductor.driver.conductor import Commands, Conductor
from shakedown.engine.state.moments import moment
from shakedown.engine.state.phases import CampaignPhase
from shakedown.model.errors import UsageError, did_you_mean
from shakedown.model.events import Event
from shakedown.model.nouns import Component, Document, Drill
from shakedown.model.ports import Command
from shakedown.model.wording import wording_of, wording_of_drill


def cancel(conductor: Conductor, command: Command) -> Event:
    """Cancel runs, cases or everything. A run or case that does not exist leads to a refusal, so that nothing is
    ignored silently.
    """
    state, value = conductor.state, command.value
    if state.phase == CampaignPhase.ENDED:
        return refusal(command, "the campaign is over; there is nothing left to cancel")
    runs, cases = value.get("runs", []), value.get("cases", [])
    if not (_are_names(runs) and _are_names(cases)):
        return refusal(command, "its runs or cases are not a list of names")
    waiting_runs = {entry.void_run for entry in state.waiting.every()}
    strange = [run for run in runs if run not in state.runs and run not in waiting_runs]
    strange += [case for case in cases if case not in state.index.cases]
    if strange or not (runs or cases or value.get("all")):
        why = f"not live in this campaign: {', '.join(strange)}" if strange else "it names nothing to cancel"
        return refusal(command, why)
    asked: dict[str, Any] = {"request": command.request, "who": command.who, "runs": runs, "cases": cases}
    asked["by"] = str(value.get("by") or "")[:100]
    asked["all"] = bool(value.get("all"))
    return Event("cancel_request", value={k: v for k, v in asked.items() if v}, reason=command.reason or "cancelled")


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) and name for name in value)


def stop(conductor: Conductor, command: Command) -> Event:
    """Submit nothing new; let running jobs end; then the conductor leaves."""
    return Event("stop_request", value={"request": command.request, "who": command.who}, reason=command.reason)


def attest(conductor: Conductor, command: Command) -> Event:
    """A person says whether a procedure was met. The digests of the evidence files, which are kept beside the
    record, go with it.
    """
    index, value = conductor.state.index, command.value
    component, name = str(value.get("component", "")), str(value.get("procedure", ""))
    number = index.component_number.get(component)
    procedures = index.components[number].procedures if number is not None else ()
    procedure = next((found for found in procedures if found.name == name), None)
    if procedure is None:
        return refusal(command, f"the plan in force has no procedure '{name[:100]}' in component '{component[:100]}'")
    try:
        evidence = [_evidence(file) for file in value.get("evidence", [])]
    except (KeyError, TypeError, ValueError):
        return refusal(command, "its evidence is not a list of names, digests and sizes")
    met = value.get("met")
    if not isinstance(met, bool):
        return refusal(command, "it does not say whether the procedure was met or not")
    if met and len({file["sha256"] for file in evidence}) < procedure.evidence:
        files = f"{procedure.evidence} evidence file{'s' if procedure.evidence > 1 else ''}"
        return refusal(command, f"{name} asks for {files}, and {len(evidence)} came with it")
    said: dict[str, Any] = {"component": component, "procedure": name, "met": met, "wording": wording_of(procedure)}
    said |= {"by": str(value.get("by") or command.who)[:100], "evidence": evidence}
    return Event("attested", value=said | {"request": command.request, "who": command.who}, reason=command.reason)


def drill(conductor: Conductor, command: Command) -> Event:
    """A person says that a drill began or ended, perhaps a while ago, with evidence files kept beside the record."""
    state, value = conductor.state, command.value
    try:
        component, wanted = drill_of(state.index.document, str(value.get("component", "")), str(value.get("drill", "")))
        number = state.index.component_number[component.name]
        now = conductor.ports.clock.now()
        at = checked_from(state, number, _said_at(command, now) if value.get("from") is None else value["from"], now)
    except UsageError as error:
        return refusal(command, error.message + (f"; {error.hint}" if error.hint else ""))
    act = str(value.get("act", ""))
    progress = state.clocks.drills.get(component.name, {}).get(wanted.name)
    if act not in ("begun", "ended"):
        return refusal(command, f"'{act[:40]}' is nothing that a drill does; there are begun and ended")
    if act == "ended" and (progress is None or progress.begun is None):
        return refusal(command, f"nobody has said that drill {wanted.name} began; say that first, with --at")
    if act == "ended" and progress is not None and progress.begun is not None and at < progress.begun:
        return refusal(command, f"drill {wanted.name} began on {moment(progress.begun)}, after {moment(at)}")
    try:
        evidence = [_evidence(file) for file in value.get("evidence", [])]
    except (KeyError, TypeError, ValueError):
        return refusal(command, "its evidence is not a list of names, digests and sizes")
    if act == "ended" and len({file["sha256"] for file in evidence}) < wanted.evidence:
        files = f"{wanted.evidence} evidence file{'s' if wanted.evidence > 1 else ''}"
        return refusal(command, f"drill {wanted.name} asks for {files}, and {len(evidence)} came with it")
    said: dict[str, Any] = {"component": component.name, "drill": wanted.name, "act": act, "from": at}
    said |= {"wording": wording_of_drill(wanted), "by": str(value.get("by") or command.who)[:100], "evidence": evidence}
    said |= {"request": command.request, "who": command.who} | when_said(command)
    return Event("drilled", value=said, reason=command.reason)


def _said_at(command: Command, now: float) -> float:
    """When a person gave the command: a conductor that is busy or was stopped hears it later."""
    said = command.value.get("asked") if command.said is None else command.said
    return min(now, float(said)) if isinstance(said, int | float) and not isinstance(said, bool) else now


def drill_of(document: Document, component: str, name: str) -> tuple[Component, Drill]:
    """Purpose: the drill that a command names, and its component. Errors: UsageError that lists what there is, also for a drill
    that a test carries out by itself.
    """
    with_some = {found.name: found for found in document.components if found.drills}
    if component not in with_some:
        hint = did_you_mean(component, with_some) or f"with drills there are: {', '.join(with_some) or 'none'}"
        raise UsageError(f"the plan in force has no component '{component[:100]}' with drills", hint=hint)
    drills = {found.name: found for found in with_some[component].drills}
    if name not in drills:
        hint = did_you_mean(name, drills) or f"it has: {', '.join(drills)}"
        raise UsageError(f"component {component} has no drill '{name[:100]}'", hint=hint)
    if drills[name].case:
        said = f"drill {name} of component {component} is done by its test {drills[name].case}"
        raise UsageError(said, hint="its run says when it began and ended")
    return with_some[component], drills[name]


def _evidence(file: Any) -> dict[str, Any]:
    """The log's entry for one evidence file. Raises ValueError, KeyError or TypeError for anything else."""
    digest, name = str(file["sha256"]), str(file["name"])
    if re.fullmatch(r"[0-9a-f]{64}", digest) is None:
        raise ValueError(digest)
    return {"name": name[:60], "sha256": digest, "bytes": int(file["bytes"])}


OPERATOR_COMMANDS: Commands = {"cancel": cancel, "stop": stop, "attest": attest, "drill": drill}


def commands_for(documents: Any, driven: bool = True) -> Commands:
    """All commands, for a campaign with these documents. ``driven``: whether a conductor carries them out."""
    from shakedown.conductor.commands.agreeing import agreeing_commands
    from shakedown.conductor.commands.amend import amend_command
    from shakedown.conductor.commands.noting import NOTING_COMMANDS
    from shakedown.conductor.commands.overrides import STANDING_COMMANDS
    from shakedown.conductor.commands.rulings import PEOPLES_COMMANDS

    mine = {"amend": amend_command(documents, driven)} | agreeing_commands(documents)
    return OPERATOR_COMMANDS | PEOPLES_COMMANDS | NOTING_COMMANDS | STANDING_COMMANDS | mine
