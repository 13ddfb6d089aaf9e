"""Read a campaign for a report: the frozen document in force and the record. The only file of this package that reads the log."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from shakedown.conductor.workers.settling import settle_campaign
from shakedown.metrics.judging.scorecard import Scorecard
from shakedown.metrics.rows.table import Record
from shakedown.model.errors import RecordError, UsageError
from shakedown.model.frozen import thaw
from shakedown.model.layout import Layout
from shakedown.model.nouns import Document


@dataclass(frozen=True, slots=True)
class CampaignRead:
    """The data of a report. ``digest`` is that of the frozen document in force.

    ``record_digest`` is the sha256 of the log's event lines in order: it stands for everything the report says. ``damage`` says
    where the record is not what was written, "" where it is undamaged.
    """

    layout: Layout
    document: Document
    digest: str
    record: Record
    record_digest: str
    damage: str = ""


def read_campaign(directory: Path, through: int | None = None) -> CampaignRead:
    """Purpose: read a campaign directory. ``through``: read only so many events, to see the campaign as it was then.

    Errors: UsageError where it is not a campaign, RecordError where its log or its frozen plan is damaged or missing.
    """
    layout = Layout(directory)
    from shakedown.events.campaigns import read_document
    from shakedown.events.chain import Unwhole, damage_of
    from shakedown.events.sealed_packs import packs_damage
    from shakedown.events.set_back import set_back_of

    damage = damage_of(layout)
    if damage is not None and not layout.log.is_dir():
        raise Unwhole(layout, damage)
    refuse_no_log(layout)
    record, record_digest = _fold(layout.log, through)
    wanted = plan_in_force(layout, record)
    document = thaw(read_document(layout, wanted))
    earlier = [digest for digest in record.documents if digest and digest != wanted]
    record.plans = {wanted: document} | {digest: thaw(read_document(layout, digest)) for digest in earlier}
    why = set_back_of(layout) if damage is None else ""
    damage = damage or packs_damage(layout)
    wrong = f"It {why}" if why else str(damage or "")
    return CampaignRead(layout, document, wanted, record, record_digest, wrong)


def plan_in_force(layout: Layout, record: Record) -> str:
    """Purpose: the digest of the frozen plan in force; for a campaign that has not begun, of its only plan.

    Errors: RecordError where there is no such plan.
    """
    return record.document or _only_document(layout)


def refuse_no_log(layout: Layout) -> None:
    """Raise UsageError where a directory is not a campaign."""
    if not layout.log.is_dir():
        raise UsageError(
            f"{layout.root} is not a campaign: it has no log",
            hint="name a directory campaigns/ID of a site, or go into the site and give the ID alone",
        )


def scorecard_of(read: CampaignRead) -> Scorecard:
    """Purpose: the scorecard, with the effect of every act. Errors: RecordError where a plan that was in force is missing."""
    return settle_campaign(read.layout, read.document, read.record)


def _fold(log: Path, through: int | None) -> tuple[Record, str]:
    """The log folded into rows, and the digest of its lines; only up to event ``through``, where that is given."""
    from shakedown.events.reader import Reader

    record, lines = Record(), hashlib.sha256()
    for event, line in Reader(log).lines():
        if through is not None and event.seq > through:
            break
        record.add(event)
        lines.update(line + b"\n")
    return record, lines.hexdigest()


def _only_document(layout: Layout) -> str:
    """The digest of the one document of a campaign whose log has not begun."""
    found = sorted(path.stem for path in layout.documents.glob("*.json"))
    if len(found) != 1:
        raise RecordError(f"the log of {layout.root} is empty and it holds {len(found)} frozen plans; one is needed")
    return found[0]
