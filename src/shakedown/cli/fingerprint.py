"""``shakedown fingerprint``: settings, firmware and libraries of the machine as they are now."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from shakedown.cli.naming import campaign_argument
from shakedown.cli.output import emit, json_option, printable, site_option, table
from shakedown.model.errors import MET, NOT_MET, UNDECIDED, RecordError, UsageError
from shakedown.model.events import machine_changed
from shakedown.model.layout import Layout


@click.command()
@campaign_argument
@click.option(
    "--against",
    metavar="CAMPAIGN",
    help="Hold it against the last one of this campaign, and record nothing: exit status 0 as it was, 1 changed, 4 not known.",
)
@click.option("--by", "who", default="", help="Who asked for it; kept in the record of CAMPAIGN.")
@click.option("--because", default="", help="Why; kept in the record of CAMPAIGN.")
@site_option
@json_option
def command(campaign: str | None, against: str | None, who: str, because: str, site: str | None, as_json: bool) -> int:
    """Take the machine's fingerprint: printed, or, with CAMPAIGN, recorded there; a change opens a new epoch."""
    if against is not None:
        if campaign or who or because:
            raise UsageError("--against records nothing: leave out the campaign, --by and --because")
        return _against(against, site, as_json)
    if campaign is None:
        if who or because:
            raise UsageError(
                "--by and --because are kept in the record of a campaign", hint="name one: fingerprint CAMPAIGN"
            )
        return _here(as_json)
    from shakedown.cli.steer.requests import find_started, kept_if_said
    from shakedown.conductor.commands.asking import record_wishes
    from shakedown.conductor.commands.fingerprints import answer_now

    who, because = kept_if_said("--by", who), kept_if_said("--because", because)
    layout, state = find_started(site, campaign, "take a fingerprint for", who, act=False)
    data = record_wishes(layout, "fingerprint", [{"by": who}], because, {"fingerprint": answer_now(layout)})
    if not data["recorded"]:
        emit(data, as_json, lambda: printable(data["said"]))
        return 0
    event = _last(layout, data["recorded"][0])
    if event.event != "fingerprint":
        raise RecordError(event.reason)
    data |= {
        "fingerprint": event.value,
        "reason": event.reason,
        "changed": machine_changed(event.value, state.campaign.fingerprint),
    }
    emit(data, as_json, lambda: printable("\n".join(_recorded(data))))
    return 0


def _last(layout: Layout, seq: int) -> Any:
    from shakedown.events.reader import read_events

    return next(event for event in read_events(layout.log, after=seq - 1) if event.seq == seq)


def _recorded(data: dict[str, Any]) -> list[str]:
    value = data["fingerprint"]
    lines = [
        data["reason"],
        *value.get("between_nodes", []),
        *value.get("since_last", []),
        *value.get("unanswered", []),
    ]
    return [*lines, *(["a new epoch begins"] if data["changed"] else []), f"facts: {value['facts_file']}", data["said"]]


def _against(name: str, site: str | None, as_json: bool) -> int:
    """Whether the machine that a campaign ran on is as that campaign found it last."""
    from shakedown.cli.record import find_whole_campaign
    from shakedown.conductor.commands.fingerprints import ask_now, no_probe, read_facts_file
    from shakedown.machine.fingerprint_facts import describe_machine, in_words
    from shakedown.report.reading import read_campaign

    read = read_campaign(find_whole_campaign(Path(site) if site else None, name))
    rows = read.record.fingerprints
    before = read_facts_file(read.layout, rows[-1].digest) if rows else None
    answers = ask_now(read.layout, read.document) if before is not None else None
    if before is None or answers is None:
        gone = "the facts of its last fingerprint are gone" if rows else "it has no fingerprint"
        why = no_probe(read.document.system) if before is not None else gone
        emit({"changed": None, "why": why}, as_json, lambda: printable(f"not known: {why}"))
        return UNDECIDED
    found = describe_machine(answers.texts, answers.silent, before)
    known = not found.nothing and not found.unanswered
    changed = bool(found.since_last) or (None if not known else False)
    lines = [in_words(found, True), *found.since_last, *found.unanswered]
    emit(
        {"changed": changed, "since_last": found.since_last, "unanswered": found.unanswered},
        as_json,
        lambda: printable("\n".join(lines)),
    )
    return NOT_MET if changed else MET if known else UNDECIDED


def _here(as_json: bool) -> int:
    """Of the machine we stand on, printed and kept nowhere."""
    from shakedown.conductor.commands.fingerprints import ask_now
    from shakedown.machine.fingerprint_facts import describe_machine

    answers = ask_now()
    found = describe_machine(answers.texts, answers.silent) if answers else None
    if found is None or found.nothing:
        raise UsageError("; ".join(found.unanswered) if found else "nobody can be asked")
    facts = {node: group.facts for group in found.groups for node in group.nodes}
    lines = [[key, value] for group in found.groups for key, value in group.facts.items()]
    emit(
        {"digest": found.digest, "nodes": facts},
        as_json,
        lambda: f"{table(['fact', 'value'], lines)}\nsha256 {found.digest}",
    )
    return 0
