"""The context that a measure may use besides its population: the plan, the record, the component, the units of figures."""

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
    """The context of a measure. ``figures``: (test, figure) -> its specification, without ``elapsed``, which every test has.
    ``clocks``: component -> its clock, and ``held``: the nodes that runs hold, if already computed. ``rows_waived``: waived
    contract rows count as met. ``people``: the population of every component, if several are judged together. ``everything``:
    set-ups and clean-ups that an amendment removed and wanted again count too.
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
        """The nodes that each run holds, computed if not given."""
        return self.held or Nodes(self.document, self.record)

    @property
    def clock(self) -> Clock | None:
        """The component's clock; None where it has not run."""
        known = self.clocks
        return known[self.component.name] if known else component_clock(self.component, self.record)

    @property
    def no_clock(self) -> str:
        """Why there is no clock time, in words."""
        if self.component.clock.start == "declared" and began(self.component, self.record) is None:
            return "the clock has not been started"
        return "the clock has not run: nothing of the component is judged"

    def figure(self, test: str, name: str) -> FigureSpec:
        """A figure of a test; if the test has none of that name, one without unit and direction."""
        if name == ELAPSED.name:
            return ELAPSED
        spec = self.figures.get((test, figure_of(name)))
        return FigureSpec(name) if spec is None else spec.named(name)

    def has(self, test: str, name: str) -> bool:
        """Whether a test has a figure of this name, or a table with this row."""
        return (test, figure_of(name)) in self.figures


def arounds(document: Document, record: Record, people: Mapping[str, Population] | None = None) -> list[MeasureContext]:
    """Purpose: the context of measures for every component, in the order of the plan; shared data are computed once."""
    figures, clocks = figures_of(document), clocks_of(document, record)
    nodes = Nodes(document, record)
    return [
        MeasureContext(document, record, component, figures, clocks, nodes, people=people or {})
        for component in document.components
    ]


def figures_of(document: Document) -> dict[tuple[str, str], FigureSpec]:
    """(test, figure) -> its specification, for every figure of every test."""
    return {(test.name, figure.name): figure for test in document.tests for figure in test.figures}
