"""Planned dates against kept ones: when each component was to be over by the plan, and when it was. Nothing is judged by it."""

from __future__ import annotations

from msgspec import Struct

from shakedown.metrics.judging.populations import Population, populations
from shakedown.metrics.rows.table import Record
from shakedown.metrics.wanted import UNCOUNTED
from shakedown.model.nouns import Component, Document


class Deadline(Struct, frozen=True):
    """A component with a deadline. ``planned`` and ``kept`` in seconds since 1970, None while it is not over.

    ``late_s``: by how many seconds it was over too late; of one that is not over, how late it is by the last event of the record.
    """

    component: str
    planned: float
    kept: float | None
    late_s: float

    @property
    def state(self) -> str:
        """kept, missed, or to come."""
        if self.late_s > 0:
            return "missed"
        return "to come" if self.kept is None else "kept"


def deadlines(document: Document, record: Record) -> tuple[Deadline, ...]:
    """Purpose: every component of the plan that has a deadline, in the order of the plan."""
    asked = [component for component in document.components if component.deadline is not None]
    people = populations(document, record) if asked else {}
    return tuple(_deadline(component, people[component.name], record) for component in asked)


def _deadline(component: Component, population: Population, record: Record) -> Deadline:
    planned = component.deadline or 0.0
    kept = _over_since(component, population, record)
    return Deadline(component.name, planned, kept, max(0.0, (record.last if kept is None else kept) - planned))


def _over_since(component: Component, population: Population, record: Record) -> float | None:
    """When the last of its results was in and the last of its procedures was attested; None while something is to come."""
    said = [record.attestations.get((component.name, item.name)) for item in component.procedures]
    if population.unfinished or any(row is None for row in said):
        return None
    times = [
        row.over or row.time
        for row in record.current()
        if row.component == component.name and row.mode not in UNCOUNTED
    ]
    times += [row.time for row in said if row is not None]
    return max(times, default=None)
