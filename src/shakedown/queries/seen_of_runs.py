"""The findings of the record about one run, as lines for ``shakedown why``. Pure."""

from __future__ import annotations

from shakedown.metrics.rows.rows import RunRow
from shakedown.metrics.rows.table import Record

_AT_THE_SCHEDULER = frozenset({"changed_at_scheduler", "halted", "goes_on"})


def seen_at_the_scheduler(record: Record, run: str) -> list[str]:
    """Purpose: what people did to the run's job at the scheduler, as far as it was noticed, in the order of the log."""
    return [note.reason for note in record.notes if note.run == run and note.value.get("kind") in _AT_THE_SCHEDULER]


def no_run_time(record: Record, row: RunRow) -> str:
    """Purpose: why a run that ran to its end has no run time, and which counts still include it."""
    told = (note.reason for note in record.notes if note.run == row.run and note.value.get("kind") == "end_unseen")
    why = "its run time is not known: its job left no readings of one clock at its beginning and at its end"
    counts = f"it counts as {row.verdict}, and in no number that is made of run times"
    return f"  {next(told, why)}; {counts}"
