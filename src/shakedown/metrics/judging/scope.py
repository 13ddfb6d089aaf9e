"""What a measure may look at beside its population: the plan, the record, the component, the units of figures."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from shakedown.metrics.clock import Clock, began, clocks_of, component_clock
from shakedown.metrics.judging.populations import Population
from shakedown.metrics.node_hours import Nodes
from shakedown.metrics.rows.table import Record
from shakedown.model.figures import figure_of
from shakedown.model.nouns import Component, Document, FigureSpec

ELAPSED = FigureSpec("elapsed", unit="s", better="lower")  # every run has it


class MeasureContext(Struct, frozen=True):
    """``figures``: (test, figure) -> how it is measured, without ``elapsed``, which every test has. ``clocks``: component -> its
    clock, and ``held``: what runs hold, where somebody has worked these out. ``rows_waived``: contract rows that are waived are to
    be taken as met. ``people``: the population of every component, where several are judged together. ``everything``: what an
    amendment took out of the set-ups and clean-ups and wanted again counts too.
    """

    document: Document
    record: Record
    component: Component
    figures: Mapping[tuple[str, str], FigureSpec] = {}
    clocks: Mapping[str, Clock | None] = {}
    held: Nodes | None = None
    rows_waived: bool = False
    people: Mapping[str, Population] = {}
    everything: bool = False

    @property
    def nodes(self) -> Nodes:
        """What each run holds of the machine."""
        return self.held or Nodes(self.document, self.record)

    @property
    def clock(self) -> Clock | None:
        """The component's clock; None where it has not run."""
        known = self.clocks
        return known[self.component.name] if known else component_clock(self.component, self.record)

    @property
    def no_clock(self) -> str:
        """Why there is no clock time."""
        if self.component.clock.start == "declared" and began(self.component, self.record) is None:
            return "the clock has not been started"
        return "the clock has not run: nothing of the component is judged"

    def figure(self, test: str, name: str) -> FigureSpec:
        """A figure of a test; one of no unit and no direction where the test has none of that name."""
        if name == ELAPSED.name:
            return ELAPSED
        spec = self.figures.get((test, figure_of(name)))
        return FigureSpec(name) if spec is None else spec.named(name)

    def has(self, test: str, name: str) -> bool:
        """Whether a test has a figure, or a table whose row it is."""
        return (test, figure_of(name)) in self.figures


def arounds(document: Document, record: Record, people: Mapping[str, Population] | None = None) -> list[MeasureContext]:
    """Purpose: what measures may look at, for every component in the order of the plan; shared things are worked out once."""
    figures, clocks = figures_of(document), clocks_of(document, record)
    nodes = Nodes(document, record)
    return [
        MeasureContext(document, record, component, figures, clocks, nodes, people=people or {})
        for component in document.components
    ]


def figures_of(document: Document) -> dict[tuple[str, str], FigureSpec]:
    """Every figure of every test."""
    return {(test.name, figure.name): figure for test in document.tests for figure in test.figures}
