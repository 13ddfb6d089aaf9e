"""What a measure may look at beside its population: the plan, the record, the component, the units of figures."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from shakedown.metrics.table import Record
from shakedown.model.nouns import Component, Document, FigureSpec

ELAPSED = FigureSpec("elapsed", unit="s", better="lower")  # every run has it


class Around(Struct, frozen=True):
    """``figures``: (test, figure) -> how it is measured, without ``elapsed``, which every test has."""

    document: Document
    record: Record
    component: Component
    figures: Mapping[tuple[str, str], FigureSpec] = {}

    def figure(self, test: str, name: str) -> FigureSpec:
        """A figure of a test; one of no unit and no direction where the test has none of that name."""
        return ELAPSED if name == "elapsed" else self.figures.get((test, name)) or FigureSpec(name)


def figures_of(document: Document) -> dict[tuple[str, str], FigureSpec]:
    """Every figure of every test."""
    return {(test.name, figure.name): figure for test in document.tests for figure in test.figures}
