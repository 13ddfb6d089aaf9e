"""What came after the seal that every party agreed to, which counts for nothing: a part of the report and a table of their own."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from shakedown.metrics.rows.table import Record
from shakedown.report.evidence import Evidence
from shakedown.report.tables.csv_files import Cell

AFTER_SEAL = ("event", "what", "time", "said", "by", "because", "run", "component", "case", "verdict")


class Later(Struct, frozen=True):
    """A run, a finding, an act or a seal after that seal. ``said``: what happened, in words."""

    event: int
    what: str
    time: float
    said: str
    by: str = ""
    because: str = ""
    run: str = ""
    component: str = ""
    case: str = ""
    verdict: str = ""


def came_after(evidence: Evidence) -> list[Later]:
    """Purpose: what came after the seal up to which the record is judged, in the order of the log; [] where all of it is judged."""
    after, whole = evidence.scorecard.after_seal, evidence.whole
    if after is None or whole is None:
        return []
    found = [*_acts(evidence), *_from_record(whole, after.seal)]
    return sorted(found, key=lambda one: one.event)


def after_rows(evidence: Evidence) -> Iterator[tuple[Cell, ...]]:
    """Purpose: the lines of its table."""
    for one in came_after(evidence):
        yield (
            one.event, one.what, one.time, one.said, one.by, one.because, one.run, one.component, one.case, one.verdict,
        )  # fmt: skip


def _acts(evidence: Evidence) -> Iterator[Later]:
    for act in evidence.scorecard.acts_after_seal:
        yield Later(act.number, "act", act.said, act.what, act.by, act.because, component=act.component)


def _from_record(whole: Record, seal: int) -> Iterator[Later]:
    for row in whole.current():
        if row.seq > seal:
            place = {"run": row.run, "component": row.component, "case": row.case, "verdict": row.verdict}
            yield Later(row.seq, "run", row.time, row.reason or row.verdict, **place)
    for run in whole.open.values():
        if run.seq > seal:
            place = {"run": run.run, "component": run.component, "case": run.case}
            yield Later(run.seq, "run", run.ordered, "it is not over yet", **place)
    for note in whole.of_kind("finding"):
        if note.seq > seal:
            kind = str(note.value.get("kind", "")).replace("_", " ")
            component = str(note.value.get("component", ""))
            yield Later(
                note.seq, "finding", note.time, note.reason or kind, run=note.run, component=component, case=note.case
            )
    for one in whole.seals:
        if one.seq > seal:
            yield Later(one.seq, "seal", one.time, f"{one.outcome}: the seal {one.digest[:16]}", one.by)
