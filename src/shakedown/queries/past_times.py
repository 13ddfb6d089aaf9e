"""How long a case took in the newest campaigns of the site: the expected time of the next run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from shakedown.conductor.record.documents import Documents
from shakedown.engine import State
from shakedown.events.campaigns import CAMPAIGNS, campaigns_in
from shakedown.events.chain import damage_of
from shakedown.events.recorded_name import campaign_name
from shakedown.metrics.run_times import run_times
from shakedown.model.errors import ShakedownError
from shakedown.model.layout import Layout
from shakedown.model.nouns import Case, Document
from shakedown.queries.status import look_at_runs

MOST_CAMPAIGNS = 10  # the newest ones that are looked at
LARGEST_LOG = 50_000_000  # bytes; a longer log takes more time to read than a person waits


class PastTime(Struct, frozen=True):
    """``mean_s``: the mean of the case's runs, without the tail; ``source``: the campaign and how many runs."""

    mean_s: float
    source: str


def past_times(site: Path, document: Document) -> dict[str, PastTime]:
    """Purpose: case -> its time in the newest campaign that has one, on the same system with the same shape.

    A record that cannot be read, or is too long to be read while a person waits, is skipped.
    """
    wanted = {case.id: case for case in document.cases if not case.unavailable}
    found: dict[str, PastTime] = {}
    for layout in _newest(site):
        if len(found) == len(wanted):
            break
        for case, time in _times(layout, document.system.name, wanted).items():
            found.setdefault(case, time)
    return found


def _newest(site: Path) -> Iterator[Layout]:
    """The newest campaigns by the time of their last event."""
    layouts = [Layout(path) for path in campaigns_in(site / CAMPAIGNS)]
    aged = sorted(((_written(layout), campaign_name(layout), layout) for layout in layouts), reverse=True)
    yield from (layout for when, _, layout in aged[:MOST_CAMPAIGNS] if when)


def _written(layout: Layout) -> float:
    """When the log was last written, in seconds since 1970; 0 where there is no log, or it is too large."""
    try:
        files = [file.stat() for file in layout.log.iterdir() if file.is_file()]
    except OSError:
        return 0.0
    small = sum(file.st_size for file in files) <= LARGEST_LOG
    return max((file.st_mtime for file in files), default=0.0) if small else 0.0


def _times(layout: Layout, system: str, wanted: dict[str, Case]) -> dict[str, PastTime]:
    try:
        if damage_of(layout) is not None:
            return {}
        record = look_at_runs(layout)
        documents = Documents(layout)
        document = documents(record.document) if record.document else documents.newest(State())
    except (ShakedownError, OSError):
        return {}
    if document.system.name != system or record.rehearsal:
        return {}
    same = {case.id for case in document.cases if case.id in wanted and case.shape == wanted[case.id].shape}
    times = run_times(record.current(), campaign_name(layout))
    return {case: PastTime(time.mean_s, time.source) for case, time in times if case in same}
