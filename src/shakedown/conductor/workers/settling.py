"""Settling a campaign on disk, using the outputs that it keeps: the scorecard with all acts on it."""

from __future__ import annotations

from shakedown.conductor.record.documents import Documents
from shakedown.conductor.record.settling import settle_log
from shakedown.conductor.workers.kept_outputs import KeptOutputs
from shakedown.events.reader import read_events
from shakedown.metrics.judging.scorecard import Scorecard
from shakedown.metrics.rows.table import Record, fold_runs
from shakedown.model.layout import Layout
from shakedown.model.nouns import Document


def settle_campaign(layout: Layout, document: Document, record: Record) -> Scorecard:
    """Purpose: the scorecard of a campaign, with what it would be without each act of people, and who agreed to them. Runs that
    must be judged by another plan are judged from their kept outputs.
    """
    return settle_log(layout, document, record, None if record.rehearsal else KeptOutputs(layout))


def settled(layout: Layout) -> Scorecard:
    """Purpose: the same scorecard, read from the campaign's log. Errors: RecordError."""
    record = fold_runs(read_events(layout.log))
    return settle_campaign(layout, Documents(layout)(record.document), record)
