"""Builds as rows of the record. ``HANDLERS`` at the end maps events to handlers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from shakedown.metrics.rows.facts import number
from shakedown.metrics.rows.rows import BuildRow
from shakedown.model.events import Event

if TYPE_CHECKING:
    from shakedown.metrics.rows.record_rows import RecordRows


def _build_order(record: RecordRows, event: Event) -> None:
    record.builds[event.build] = BuildRow(event.build, "ordered", event.time, seq=event.seq)


def _build_start(record: RecordRows, event: Event) -> None:
    row = record.builds.get(event.build) or BuildRow(event.build, "ordered", event.time)
    record.builds[event.build] = replace(row, state="started", seq=event.seq)


def _build_end(record: RecordRows, event: Event) -> None:
    row = record.builds.get(event.build) or BuildRow(event.build, "ordered", event.time)
    record.builds[event.build] = replace(
        row,
        state=str(event.value.get("state", "failed")),
        ended=event.time,
        elapsed_s=number(event.value.get("elapsed_s")),
        log=str(event.value.get("log", "")),
        reason=event.reason,
        seq=event.seq,
    )


HANDLERS: dict[str, Callable[[RecordRows, Event], None]] = {
    "build_order": _build_order,
    "build_start": _build_start,
    "build_end": _build_end,
}
