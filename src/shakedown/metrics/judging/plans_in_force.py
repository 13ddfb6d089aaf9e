"""The plans of a record with the events at which they came into force."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

from shakedown.metrics.rows.table import Record
from shakedown.model.nouns import Case, Component, Document


class PlansInForce:
    """The plan in force at each event, with its components and cases by name."""

    def __init__(self, record: Record, document_of: Callable[[str], Document]) -> None:
        self.since = [epoch.seq for epoch in record.epochs if epoch.opened_by == "amended"]
        self.documents = [document_of(digest) for digest in record.documents if digest]
        self._parts = [{part.name: part for part in document.components} for document in self.documents]
        self._cases = [{case.id: case for case in document.cases} for document in self.documents]

    def at(self, event: int) -> Document:
        return self.documents[self._place(event)]

    def part(self, event: int, name: str) -> Component | None:
        """A component of the plan in force at an event; None if that plan has no component of this name."""
        return self._parts[self._place(event)].get(name)

    def case(self, event: int, name: str) -> Case | None:
        """A case of the plan in force at an event; None if that plan has no case of this name."""
        return self._cases[self._place(event)].get(name)

    def _place(self, event: int) -> int:
        return min(bisect_right(self.since, event), len(self.documents) - 1)
