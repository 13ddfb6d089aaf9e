"""The first epoch from which a criterion counts runs, and who opened it. ``least_epoch`` and ``declared_epoch`` are the way in.

If people declare a change or amend the plan, that is an act, and is weighed as one. A changed fingerprint, or changed inputs,
programs or settings, are found, and nobody vouches for them: such an epoch alone decides nothing.
"""

from __future__ import annotations

from shakedown.metrics.rows.rows import EpochRow
from shakedown.metrics.rows.table import Record
from shakedown.model.events import OPENS_EPOCH
from shakedown.model.judging import Criterion

_DECLARED = frozenset({"campaign_start", *OPENS_EPOCH})
_FOUND = {"fingerprint": "found by the fingerprint", "finding": "found by the conductor"}


def least_epoch(criterion: Criterion, record: Record) -> int:
    """Purpose: the first epoch whose runs a criterion counts."""
    if criterion.epochs == "last":
        return record.epoch
    return int(criterion.epochs) if criterion.epochs.isdigit() else 1


def declared_epoch(criterion: Criterion, record: Record) -> int:
    """Purpose: as ``least_epoch``, but only declared epochs exclude runs. A plan amended after an epoch began knew its number."""
    least = least_epoch(criterion, record)
    opened = epoch_numbered(least, record)
    if opened is None or opened.opened_by in _DECLARED or (criterion.epochs != "last" and opened.seq < record.amended):
        return least
    declared = [row.number for row in record.epochs if row.number < least and row.opened_by in _DECLARED]
    return max(declared, default=1)


def epoch_numbered(number: int, record: Record) -> EpochRow | None:
    """Purpose: the row of the event that opened an epoch; None if the epoch has not begun."""
    return next((row for row in record.epochs if row.number == number), None)


def opened_words(epoch: EpochRow) -> str:
    """Purpose: who opened an epoch, and why ("opened by Ada: new cables"); for an undeclared epoch, how it was found."""
    why = f": {epoch.reason}" if epoch.reason else ""
    if epoch.opened_by in _DECLARED:
        return f"opened by {epoch.by or epoch.opened_by}{why}"
    how = _FOUND.get(epoch.opened_by, f"found by {epoch.opened_by}")
    return f"which nobody declared ({how}, event {epoch.seq}{why})"
