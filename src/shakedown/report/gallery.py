"""Every figure of a report, by the section it stands in. ``hang`` is the table of contents."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from shakedown.metrics.rehearsed import BANNER
from shakedown.report.draw_counts import draw_counts
from shakedown.report.draw_line import draw_time_line
from shakedown.report.draw_machine import draw_machine
from shakedown.report.draw_nodes import draw_nodes
from shakedown.report.draw_pairs import NodeMedian, node_medians
from shakedown.report.draw_sides import draw_sides
from shakedown.report.draw_stability import draw_stability
from shakedown.report.draw_times import draw_times
from shakedown.report.drawing import Drawing
from shakedown.report.evidence import Evidence
from shakedown.report.gathering import gather


@dataclass(frozen=True, slots=True)
class Pictures:
    """Figures that are painted when they are asked for. ``troubles``: a sentence for what is not drawn."""

    line: list[Drawing]
    sides: list[Drawing]
    counts: list[Drawing]
    times: list[Drawing]
    machine: list[Drawing]
    nodes: list[NodeMedian]
    node_map: list[Drawing]
    troubles: list[str]
    stability: list[Drawing] = field(default_factory=list)

    @property
    def all(self) -> list[Drawing]:
        return [*self.line, *self.stability, *self.sides, *self.counts, *self.times, *self.node_map, *self.machine]


def hang(root: Path, evidence: Evidence) -> Pictures:
    """Purpose: what there is to draw; ``root`` is the campaign's directory, where kept outputs are."""
    begin = evidence.record.started or 0.0
    gathered = gather(root, evidence.document, evidence.cases)
    sides, said_of_sides = draw_sides(evidence.sides)
    times, said_of_times = draw_times(evidence.document, evidence.cases, evidence.record.epochs, begin)
    machine, said_of_machine = draw_machine(gathered.cases)
    pictures = Pictures(
        line=draw_time_line(evidence.cases, begin),
        sides=sides,
        counts=draw_counts(evidence.counts),
        times=times,
        machine=machine,
        nodes=node_medians(gathered.cases),
        node_map=draw_nodes(evidence.nodes),
        stability=draw_stability(evidence.document, evidence.record, evidence.stability, evidence.loads, begin),
        troubles=[*gathered.troubles, *said_of_sides, *said_of_times, *said_of_machine],
    )
    if evidence.record.rehearsal:
        for drawing in pictures.all:
            drawing.mark(f"model: {BANNER}")
    return pictures
