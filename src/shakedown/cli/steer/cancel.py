"""``shakedown cancel``: the only command that cancels; it leaves a wish in the inbox, the driver carries it out."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from shakedown.cli.naming import campaign_option, said_with_option
from shakedown.cli.output import emit, json_option, printable, site_option
from shakedown.engine.state.phases import CampaignPhase
from shakedown.model.errors import UsageError

if TYPE_CHECKING:
    from shakedown.model.layout import Layout


@click.command()
@click.argument("subjects", nargs=-1, metavar="[RUN|CASE]...")
@campaign_option
@click.option("--all", "everything", is_flag=True, help="Cancel the whole campaign.")
@click.option("--by", "who", default=None, help="Who decided it; without it the user whose command it is.")
@click.option("--because", required=True, help="Why; it is kept in the record.")
@site_option
@json_option
def command(
    subjects: tuple[str, ...],
    campaign: str | None,
    everything: bool,
    who: str | None,
    because: str,
    site: str | None,
    as_json: bool,
) -> int:
    """Cancel runs, cases, or with --all the whole campaign."""
    from shakedown.cli.record import find_whole_campaign
    from shakedown.cli.steer.requests import kept_words, leave_wish, refuse_alike, tell_of_nobody
    from shakedown.model.layout import Layout
    from shakedown.model.near_names import near_case
    from shakedown.queries.status import look

    if subjects and everything:
        hint = f"where it is the campaign, name it so: shakedown cancel --all --campaign {shlex.quote(subjects[0])}"
        raise UsageError(f"--all cancels the whole campaign: '{subjects[0]}' beside it says nothing", hint=hint)
    if not subjects and not everything:
        raise UsageError("name runs or cases to cancel, or --all", hint="shakedown runs lists them")
    by = {} if who is None else {"by": kept_words("--by", who)}
    because = kept_words("--because", because)
    layout = Layout(find_whole_campaign(Path(site) if site else None, campaign))
    state = look(layout)
    refuse_alike(state, by.get("by", ""))
    tell_of_nobody(layout, state, by.get("by", ""))
    if state.phase == CampaignPhase.ENDED:
        raise UsageError(f"{layout.root.name} is over; there is nothing left to cancel")
    cases = [name for name in subjects if state.plan is not None and name in state.index.cases]
    runs = [name for name in subjects if name not in cases]
    strange = [name for name in runs if name not in state.runs]
    if strange:
        _refuse_what_is_over(layout, strange[0])
        every = [(case.id, case.test) for case in state.index.document.cases] if state.plan is not None else []
        other = said_with_option(layout.root, strange[0])
        hint = other or near_case(strange[0], every, state.runs) or "shakedown status lists live runs"
        raise UsageError(f"{layout.root.name} has no live run and no case '{strange[0]}'", hint=hint)
    data = leave_wish(layout, "cancel", {"all": everything, "runs": runs, "cases": cases} | by, because)
    words = "all of it" if everything else ", ".join(subjects)
    emit(data, as_json, lambda: printable(f"to be cancelled in {layout.root.name}: {words}; {data['said']}"))
    return 0


def _refuse_what_is_over(layout: Layout, run: str) -> None:
    """Errors: UsageError for a run that has its verdict; the hint names the run that is at the same result now."""
    from shakedown.queries.folds import Folds

    record = Folds(layout).whole_record()
    row = next((row for row in record.current() if row.run == run), None)
    if row is None:
        return
    now = next((other for other, live in record.open.items() if live.result == row.result), None)
    hint = f"{now} is the next attempt at its result" if now else f"shakedown why {run} says how it came out"
    raise UsageError(f"{run} of {layout.root.name} is over ({row.verdict}): there is nothing left to cancel", hint=hint)
