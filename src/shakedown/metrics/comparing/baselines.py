"""The measurements of a campaign, or of one of its epochs, as a plan freezes them as a baseline for later runs."""

from __future__ import annotations

from collections.abc import Iterator

from shakedown.metrics.cases import ELAPSED
from shakedown.metrics.comparing.cells import Source
from shakedown.metrics.judging.populations import CaseRuns, counts_as_passed, populations
from shakedown.model.baselines import Baseline, BaselineCase, Sample, content_digest, where_of
from shakedown.model.figures import FigureSpec, with_rows
from shakedown.model.nouns import Case, Document


def baseline_of(source: Source, seal: str = "") -> Baseline:
    """Purpose: every case in each of its modes, with the values that judging uses. ``seal``: the digest of the campaign's newest
    seal.

    Runs of an epoch count by the plan in force in that epoch, whatever later plans require.
    """
    people = populations(source.document, source.record, everything=bool(source.epoch))
    cases = tuple(
        one
        for component, population in people.items()
        for runs in population.cases
        for mode, _ in runs.wanted
        if (one := _case(source, component, runs.of_mode(mode), mode)).judged
    )
    campaign = source.record.campaign
    return Baseline(
        source.label,
        campaign,
        source.epoch,
        content_digest(campaign, source.epoch, cases),
        seal,
        len({case.partition for case in source.document.cases}) <= 1,
        cases,
    )


def _case(source: Source, component: str, runs: CaseRuns, mode: str) -> BaselineCase:
    mine = runs.keep(lambda row: row.epoch == source.epoch) if source.epoch else runs
    case = mine.case
    failures = tuple(row.run for row in mine.rows if not counts_as_passed(row, case))
    samples = tuple(
        Sample(spec.name, spec.unit, tuple(value for _, value in pairs), tuple(row.run for row, _ in pairs))
        for spec in _specs(source.document, mine)
        if (pairs := mine.values(spec.name))
    )
    where = where_of(case.toolchain, case.parameters)
    return BaselineCase(
        case.test, component, where, case.partition, mode, len(mine.rows), len(failures), failures, samples
    )


def _specs(document: Document, runs: CaseRuns) -> Iterator[FigureSpec]:
    case: Case = runs.case
    figures = next((test.of(case).figures for test in document.tests if test.name == case.test), ())
    seen = (name for row in runs.rows for name in row.figures)
    yield from (ELAPSED, *with_rows(figures, seen))
