"""Every figure of a report, by its section. ``draw_all`` is the table of contents.

``declared_figures`` finds what the files of this folder declare, and what installed packages declare.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from shakedown.metrics.rehearsed import BANNER
from shakedown.model.entry_points import declared_in_packages
from shakedown.report.evidence import Evidence
from shakedown.report.figures.declaration import GROUP, SECTIONS, Drawn, Material, ReportFigure, Section
from shakedown.report.figures.outputs_read import gather
from shakedown.report.figures.pairs import NodeMedian, node_medians
from shakedown.report.figures.style import Drawing


@dataclass(frozen=True, slots=True)
class Pictures:
    """Figures that are painted when they are needed. ``troubles``: a sentence on each that is not drawn."""

    nodes: list[NodeMedian]
    troubles: list[str]
    line: list[Drawing]
    sides: list[Drawing]
    counts: list[Drawing]
    times: list[Drawing]
    machine: list[Drawing]
    node_map: list[Drawing]
    stability: list[Drawing] = field(default_factory=list)
    time_spent: list[Drawing] = field(default_factory=list)
    scaling: list[Drawing] = field(default_factory=list)
    toolchains: list[Drawing] = field(default_factory=list)
    scores: list[Drawing] = field(default_factory=list)
    issues: list[Drawing] = field(default_factory=list)

    @property
    def all(self) -> list[Drawing]:
        sections = (
            self.scores,
            self.issues,
            self.line,
            self.stability,
            self.time_spent,
            self.sides,
            self.scaling,
            self.toolchains,
            self.counts,
            self.times,
            self.node_map,
            self.machine,
        )
        return [drawing for section in sections for drawing in section]


def draw_all(root: Path, evidence: Evidence) -> Pictures:
    """Purpose: all figures; ``root`` is the campaign's directory, which holds the kept outputs."""
    material = Material(evidence, gather(root, evidence.document, evidence.cases), evidence.record.started or 0.0)
    drawn: dict[Section, list[Drawing]] = {section: [] for section in SECTIONS}
    troubles = list(material.gathered.troubles)
    for declared in declared_figures():
        drawings, said = _drawn(declared, material)
        drawn[declared.section] += drawings
        troubles += said
    pictures = Pictures(nodes=node_medians(material.gathered.cases), troubles=troubles, **drawn)
    if evidence.record.rehearsal:
        for drawing in pictures.all:
            drawing.mark(f"model: {BANNER}")
    return pictures


def _drawn(declared: ReportFigure, material: Material) -> Drawn:
    """Draw one declared figure. One that comes from another package may fail; the report then says so."""
    if declared in _ours():
        return declared.draw(material)
    try:
        return declared.draw(material)
    except Exception as error:  # noqa: BLE001 - the code of another package may raise anything
        return [], [f"figure {declared.name}, of a package of the site: {type(error).__name__}: {error}"]


@cache
def declared_figures() -> tuple[ReportFigure, ...]:
    """Purpose: every declared figure, in the order of the report.

    Errors: UsageError where a package declares something that is not a figure.
    """
    theirs = declared_in_packages(GROUP, ReportFigure, "figure of a report", _names(), _wrong_section)
    return tuple(sorted((*_ours(), *theirs.values()), key=lambda one: (one.order, one.name)))


def _names() -> tuple[str, ...]:
    return tuple(figure.name for figure in _ours())


def _wrong_section(figure: ReportFigure) -> str:
    known = figure.section in SECTIONS
    return "" if known else f"stands in the section '{figure.section}'; there are " + ", ".join(SECTIONS)


@cache
def _ours() -> tuple[ReportFigure, ...]:
    """The figures that the files of this folder declare."""
    found: list[ReportFigure] = []
    for file in pkgutil.iter_modules([str(Path(__file__).parent)]):
        if not file.ispkg:
            found += getattr(importlib.import_module(f"shakedown.report.figures.{file.name}"), "FIGURES", ())
    return tuple(found)
