"""``shakedown attest``: a person says that a procedure was met or not, with the files that show it."""

from __future__ import annotations

from pathlib import Path

import click

from shakedown.cli.naming import campaign_of, names_after_campaign
from shakedown.cli.output import emit, json_option, printable, site_option
from shakedown.cli.steer.requests import evidence_option, one_of_two, said_by
from shakedown.model.errors import UsageError, did_you_mean
from shakedown.model.nouns import Document, Procedure


@click.command()
@names_after_campaign("[CAMPAIGN] COMPONENT PROCEDURE")
@one_of_two("met", "not-met", "How it came out.")
@said_by("Who attests it.", "What was done and seen; it is kept in the record.")
@evidence_option
@site_option
@json_option
def command(
    names: tuple[str, ...],
    met: bool,
    who: str,
    because: str,
    files: tuple[str, ...],
    site: str | None,
    as_json: bool,
) -> int:
    """Attest PROCEDURE of COMPONENT as met or not met; evidence files are copied into the campaign.

    Without CAMPAIGN it is the newest one.
    """
    from shakedown.cli.steer.requests import enough_evidence, find_started, kept_lines
    from shakedown.conductor.commands.asking import record_wishes
    from shakedown.events.evidence import keep_evidence

    campaign, (component, procedure) = campaign_of(names, 2, "attest [CAMPAIGN] COMPONENT PROCEDURE ...")
    layout, state = find_started(site, campaign, "attest", who)
    wanted = _find(state.index.document, component, procedure)
    if met:
        enough_evidence(procedure, wanted.evidence, files)
    kept = keep_evidence(layout, [Path(name) for name in files])
    value = {"component": component, "procedure": procedure, "met": met, "by": who, "evidence": kept}
    data = record_wishes(layout, "attest", [value], because)
    words = f"{who} attests {procedure} of component {component} as {'met' if met else 'not met'}; {data['said']}"
    emit(data | {"met": met, "evidence": kept}, as_json, lambda: printable("\n".join([*kept_lines(kept), words])))
    return 0


def _find(document: Document, component: str, procedure: str) -> Procedure:
    """The procedure that is meant. Errors: UsageError with what there is instead."""
    with_some = {found.name: found for found in document.components if found.procedures}
    if component not in with_some:
        hint = did_you_mean(component, with_some) or f"with procedures there are: {', '.join(with_some) or 'none'}"
        raise UsageError(f"the plan in force has no component '{component}' with procedures", hint=hint)
    procedures = {found.name: found for found in with_some[component].procedures}
    if procedure not in procedures:
        hint = did_you_mean(procedure, procedures) or f"it has: {', '.join(procedures)}"
        raise UsageError(f"component {component} has no procedure '{procedure}'", hint=hint)
    return procedures[procedure]
