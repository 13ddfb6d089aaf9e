"""What ``run`` and ``resume`` share: make a campaign, drive it here or in the background, show how it came out."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from shakedown.cli.output import emit, say
from shakedown.engine.state.phases import CampaignPhase
from shakedown.model.errors import UNDECIDED
from shakedown.model.layout import Layout

if TYPE_CHECKING:
    from shakedown.conductor.session import Outcome
    from shakedown.metrics.judging.scorecard import Scorecard
    from shakedown.model.nouns import Document, System
    from shakedown.rehearsal.rehearse import Rehearsed


def new_campaign(
    root: Path, document: Document, identifier: str | None, unavailable: str | None = None, quiet: bool = False
) -> Layout:
    """Purpose: freeze a plan and make the directory of a campaign for it in the site ``root``.

    ``unavailable``: what the command line says about cases that cannot run. Errors: UsageError where the plan may not start.
    """
    from shakedown.cli.unavailable import started
    from shakedown.conductor.driver.ports import clusters_of, refuse_cores_that_are_not_there, refuse_small_limits
    from shakedown.conductor.record.registering import enter, ready, refuse_used
    from shakedown.conductor.workers.settling import settle_campaign
    from shakedown.events.campaigns import create_campaign, new_identifier
    from shakedown.model.frozen import freeze

    document = started(document, unavailable, quiet)
    clusters_of(document)  # says what no campaign can be made of, before there is one
    refuse_cores_that_are_not_there(document)
    refuse_small_limits(document)
    used = {entry.campaign for entry in ready(root, settle_campaign).campaigns()}
    if identifier:
        refuse_used(root, identifier)
    name = identifier or new_identifier(root, document.plan, used=used)
    layout = create_campaign(root / "campaigns", name, freeze(document))
    enter(layout, document, root)
    return layout


def site_of(plan: str) -> Path | None:
    """Where to look for the site: from the plan's own file where one is named, else from here."""
    return Path(plan).resolve().parent if Path(plan).is_file() else None


def this_machine() -> System:
    from shakedown.machine import this_system

    return this_system()


def drive_and_show(
    layout: Layout,
    quiet: bool = False,
    as_json: bool = False,
    report: bool = False,
    take_over: bool = False,
    begun: Callable[[], None] = lambda: None,
) -> int:
    """Purpose: drive a campaign in this process, with progress; then its scorecard. The exit status is its outcome's.

    ``begun`` is called once it drives.
    """
    from shakedown.cli.progress import Progress
    from shakedown.conductor.session import drive
    from shakedown.metrics.judging.scorecard import exit_status

    with Progress(quiet=quiet) as progress:
        watchers = progress.watchers()
        watchers.started = begun
        outcome = drive(layout, watchers, take_over=take_over)
    if not outcome.finished:
        say(f"{outcome.left}\nhint: go on with: shakedown resume {how_to_name(layout)}")
    scorecard = _shown(layout, as_json)
    status = exit_status(scorecard) if outcome.finished else UNDECIDED
    if outcome.finished:
        _note_end(layout, scorecard.outcome)
    if report:
        from shakedown.report import write_report

        say(f"report: {write_report(layout.root, tell=say if not quiet else _nothing)}")
    elif not quiet:
        say(f"report: shakedown report {how_to_name(layout)}")
    return status


def _note_end(layout: Layout, how: str) -> None:
    """In the register of the site. That it cannot be written is said, and changes nothing that was measured."""
    from shakedown.conductor.record.registering import note_end

    trouble = note_end(layout, how)
    if trouble:
        say(f"note: how {layout.root.name} ended is not in the register of the site: {trouble}")


def _nothing(text: str) -> None:
    """Whoever asked for quiet hears nothing of what is being done."""


def how_to_name(layout: Layout) -> str:
    """The campaign's id where its site is found from here, else its path."""
    root = layout.root.resolve()
    try:
        here = Path.cwd().resolve()
    except FileNotFoundError:  # removed meanwhile
        return str(root)
    site = root.parent.parent
    return root.name if here == site or site in here.parents else os.path.relpath(root)


def show_scorecard(layout: Layout, outcome: Outcome | Rehearsed, as_json: bool) -> int:
    from shakedown.metrics.judging.scorecard import exit_status

    scorecard = _shown(layout, as_json)
    return exit_status(scorecard) if outcome.finished else UNDECIDED


def _shown(layout: Layout, as_json: bool) -> Scorecard:
    from shakedown.conductor.workers.settling import settled
    from shakedown.report.terminal import render_scorecard

    scorecard = settled(layout)
    emit(scorecard, as_json, lambda: render_scorecard(scorecard))
    return scorecard


def driver_needed(layout: Layout) -> str:
    """Purpose: what a campaign with work left needs: "resume" where nobody drives it, "take over" where its driver has hung for
    long, else "".

    Whoever is only silent is looked at twice. The runs of a hung driver on another host, that are processes of its own, nobody
    can end from here: that one is left alone.
    """
    from shakedown.events.lease import holder, stays_silent
    from shakedown.queries.status import look

    state, found = look(layout), holder(layout)
    if state.phase == CampaignPhase.ENDED:
        return ""
    if found is None or found.alive is False:
        return "resume"
    if found.gone:
        return "resume" if stays_silent(layout, found) else ""
    if found.ahead:
        return "take over" if stays_silent(layout, found) else ""
    runs_here = state.plan is not None and any(cluster.embedded for cluster in state.index.document.system.clusters)
    if not found.hung or (runs_here and found.alive is None):
        return ""
    return "take over" if stays_silent(layout, found) else ""
