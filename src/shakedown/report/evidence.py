"""The data behind a report's tables, figures and pages, computed once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shakedown.conductor.record.settling import as_judged, as_sealed
from shakedown.diagnosis.node_report import NodesExamined, examine_nodes
from shakedown.metrics.availability import Availability, availability
from shakedown.metrics.cases import CaseSummary, FigureSummary, summarise
from shakedown.metrics.congestion import Congestion, congestion_of
from shakedown.metrics.deadlines import Deadline, deadlines
from shakedown.metrics.issues import Issue, issues
from shakedown.metrics.judging.populations import measured_value, populations
from shakedown.metrics.judging.scorecard import Scorecard
from shakedown.metrics.judging.since import Asked, looks_of_plan
from shakedown.metrics.loads import Load, loads
from shakedown.metrics.rows.rows import NoteRow, RunRow
from shakedown.metrics.rows.table import Record
from shakedown.metrics.rulings import RatesOfTest, rates
from shakedown.metrics.scaling import Series, scaled
from shakedown.metrics.stability import Stability, stability
from shakedown.metrics.time_spent import TimeSpent
from shakedown.metrics.toolchains import Matrix, toolchains_of
from shakedown.metrics.utilisation import Utilisation, utilisation
from shakedown.metrics.window_spells import WindowSpell, window_spells
from shakedown.model.nouns import Document
from shakedown.report.counts import TestCount, count_tests
from shakedown.report.reading import CampaignRead, scorecard_of
from shakedown.report.sides import Side, side_by_side
from shakedown.report.time_spent import spent_time


@dataclass(frozen=True, slots=True)
class Evidence:
    """A campaign in numbers, and how it was judged. ``spent`` and ``availability``: None where it has not begun. ``record``: up to
    the seal that every party agreed to, where that closed it; ``whole`` is the whole record then, and None otherwise.
    """

    document: Document
    record: Record
    scorecard: Scorecard
    cases: tuple[CaseSummary, ...]
    sides: tuple[Side, ...]
    counts: list[TestCount]
    rates: tuple[RatesOfTest, ...]
    utilisation: tuple[Utilisation, ...]
    nodes: NodesExamined
    stability: tuple[Stability, ...] = ()
    loads: tuple[Load, ...] = ()
    windows: tuple[WindowSpell, ...] = ()
    scaling: tuple[Series, ...] = ()
    changes: tuple[Asked, ...] = ()
    toolchains: tuple[Matrix, ...] = ()
    congestion: tuple[Congestion, ...] = ()
    spent: TimeSpent | None = None
    availability: Availability | None = None
    issues: tuple[Issue, ...] = ()
    deadlines: tuple[Deadline, ...] = ()
    whole: Record | None = None

    @property
    def orders(self) -> list[NoteRow]:
        """The orders of people and of the plan during the campaign, and the times when windows of the plan were open, sorted by
        time.
        """
        return sorted([*self.record.standing, *(spell.as_order() for spell in self.windows)], key=lambda row: row.time)

    @property
    def variation(self) -> list[tuple[CaseSummary, FigureSummary]]:
        """The run times of each case in each mode, where there are values (paper 004, table IV)."""
        pairs = [(case, figure) for case in self.cases for figure in case.figures]
        return [(case, figure) for case, figure in pairs if figure.spec.name == "elapsed" and figure.summary]


def find_evidence(
    document: Document,
    record: Record,
    scorecard: Scorecard,
    spent: TimeSpent | None = None,
    judged: tuple[Document, Record] | None = None,
    whole: Record | None = None,
) -> Evidence:
    """Purpose: everything that follows from the rows. ``spent``: where the time went, as ``report.time_spent`` reads it;
    ``judged``: the plan and the record that it is judged by, where some acts have no effect; ``whole``: as of ``Evidence``.
    """
    plan, counted = judged or (document, record)
    cases, people = summarise(plan, counted), populations(plan, counted)
    return Evidence(
        document=document,
        record=record,
        scorecard=scorecard,
        cases=cases,
        sides=side_by_side(plan, counted, cases),
        counts=count_tests(cases),
        rates=rates(plan, counted),
        utilisation=utilisation(plan, counted),
        nodes=examine_nodes(document, record),
        stability=stability(plan, counted),
        loads=loads(document, record),
        windows=window_spells(document, record),
        scaling=tuple(scaled(plan, people)),
        changes=tuple(looks_of_plan(plan, counted)),
        toolchains=tuple(toolchains_of(plan, people, counted)),
        congestion=tuple(congestion_of(cases)),
        spent=spent,
        availability=availability(record, spent),
        issues=issues(record, spent, document),
        deadlines=deadlines(plan, counted),
        whole=whole,
    )


def evidence_of(read: CampaignRead) -> Evidence:
    """Purpose: the same of a campaign on disk, with where its time went. Errors: RecordError."""
    sealed = as_sealed(read.layout, read.record)
    document, record, seal = sealed or (read.document, read.record, 0)
    spent = spent_time(read.layout, document, record, seal)
    judged = as_judged(read.layout, document, record, seal)
    return find_evidence(document, record, scorecard_of(read), spent, judged, read.record if sealed else None)


def counted_values(case: CaseSummary, figure: FigureSummary) -> Iterator[tuple[RunRow, float]]:
    """The runs whose values are in a figure's summary, each with its value, in the order of the summary."""
    aside = {run for run, _ in figure.aside}
    for row in case.rows:
        value = measured_value(row, figure.spec.name)
        if value is not None and row.run not in aside and (not figure.mode or row.mode == figure.mode):
            yield row, value
