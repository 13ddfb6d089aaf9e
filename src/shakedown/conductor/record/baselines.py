"""Campaigns that plans have as baselines: read, refused where they may still change, and compared with what was frozen of them."""

from __future__ import annotations

from pathlib import Path

from shakedown.conductor.record.documents import Documents
from shakedown.events.campaigns import CAMPAIGNS, REHEARSALS, campaigns_in, read_document, rehearsal_of
from shakedown.events.chain import refuse_damaged
from shakedown.events.reader import read_events
from shakedown.events.seal_check import check_seals
from shakedown.metrics.comparing.baselines import baseline_of
from shakedown.metrics.comparing.cells import Source
from shakedown.metrics.judging.what_if import plans_of
from shakedown.metrics.rows.table import Record, fold_runs
from shakedown.model.baselines import AWAY, CHANGED, SAME, Baseline, Past
from shakedown.model.errors import ShakedownError, UsageError, did_you_mean, there_are
from shakedown.model.frozen import thaw
from shakedown.model.layout import Layout


def past_of(site: Path) -> Past:
    """Purpose: a function that reads campaigns of a site as baselines. Its errors: UsageError where there is no such campaign or
    epoch, or where it may still change; RecordError where its record is damaged.
    """
    return lambda campaign, epoch: read_baseline(site, campaign, epoch)


def read_baseline(site: Path, campaign: str, epoch: int) -> Baseline:
    """Purpose: what a campaign measured, in one epoch (0 = in all), with the digest of the newest seal that holds."""
    layout = Layout(site / CAMPAIGNS / campaign)
    known, rehearsed = ([path.name for path in campaigns_in(site / folder)] for folder in (CAMPAIGNS, REHEARSALS))
    if campaign in rehearsed or (campaign in known and rehearsal_of(layout) is not None):
        raise UsageError(
            f"{campaign} is a rehearsal: its numbers come from a model of the machine",
            hint="name a campaign that ran; 'shakedown compare' holds rehearsals against campaigns",
        )
    if campaign not in known:
        hint = did_you_mean(campaign, known) or (there_are(known, 5, newest=True) if known else "there is none yet")
        raise UsageError(f"there is no campaign '{campaign}' in {layout.root.parent}", hint=hint)
    refuse_damaged(layout)
    record = fold_runs(read_events(layout.log))
    record.plans = plans_of(record, Documents(layout))
    _refuse_moving(record, campaign, epoch)
    seals = check_seals(layout)
    if seals.damage is not None:
        raise UsageError(
            f"{campaign} is not as it was sealed: {seals.damage}", hint=f"'shakedown verify {campaign}' says more"
        )
    found = baseline_of(_source(layout, record, campaign, epoch), seals.digests[-1] if seals.digests else "")
    if not found.cases:
        of = f"epoch {epoch} of {campaign}" if epoch else campaign
        raise UsageError(f"no run of {of} was judged", hint="name a campaign, or an epoch, that has runs")
    return found


def _refuse_moving(record: Record, campaign: str, epoch: int) -> None:
    """A campaign to which runs may still be added is no baseline, since later runs would be compared with something else."""
    numbers = [row.number for row in record.epochs]
    if epoch and epoch not in numbers:
        had = f"epochs {numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else "one epoch"
        raise UsageError(f"campaign {campaign} has no epoch {epoch}: it had {had}", hint="name one that it had")
    if record.ended is None and epoch in (0, record.epoch):
        earlier = f", or an earlier epoch: 1 to {record.epoch - 1}" if record.epoch > 1 else ""
        raise UsageError(
            f"campaign {campaign} is not over, and a baseline must not move", hint=f"wait until it is over{earlier}"
        )


def _source(layout: Layout, record: Record, campaign: str, epoch: int) -> Source:
    """The source of a baseline. The runs of an epoch count by the plan that was in force then."""
    digest = record.document
    if epoch:
        amended = sum(row.opened_by == "amended" and row.number <= epoch for row in record.epochs)
        digest = record.documents[min(amended, len(record.documents) - 1)]
    return Source(campaign, thaw(read_document(layout, digest)), record, epoch)


def look_at(site: Path, baseline: Baseline) -> tuple[str, str]:
    """Purpose: whether the campaign of a baseline still gives what was frozen of it: same, changed or away; and a sentence."""
    whose = f"baseline {baseline.name}: "
    try:
        now = read_baseline(site, baseline.campaign, baseline.epoch)
    except (ShakedownError, OSError) as error:
        there = (site / CAMPAIGNS / baseline.campaign).is_dir()
        said = error.message if isinstance(error, ShakedownError) else str(error.strerror)
        return (CHANGED if there else AWAY), f"{whose}{said}"
    if now.digest != baseline.digest:
        values = f"values {baseline.digest[:16]} -> {now.digest[:16]}"
        return CHANGED, f"{whose}{baseline.campaign} no longer says what was frozen of it: {values}"
    return SAME, f"{whose}{baseline.campaign} is as it was frozen"
