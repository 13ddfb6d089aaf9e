"""How often runs passed, by test and by verdict, before and after rulings. Start reading at ``rates``.

Before: every attempt. After: without attempts that did not pass and were ruled not to be the vendor's (but the site's, the
application's, the harness's, or excused). Verdicts do not change; a ruling on a run that passed changes no rate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from shakedown.metrics.judging.populations import CaseRuns, count_verdicts, counts_as_passed, populations
from shakedown.metrics.rows.rows import RunRow
from shakedown.metrics.rows.table import Record
from shakedown.metrics.statistics import Interval, share_interval
from shakedown.model.nouns import Document

VENDOR = "vendor"


class Rate(Struct, frozen=True):
    """``hits`` of ``count``, with Wilson's interval at 95 %; ``share`` and ``interval`` are None if ``count`` is 0."""

    hits: int
    count: int

    @property
    def share(self) -> float | None:
        return self.hits / self.count if self.count else None

    @property
    def interval(self) -> Interval | None:
        return share_interval(self.hits, self.count)


class RatesOfTest(Struct, frozen=True):
    """The attempts at one test's cases in one component; ``test`` is "" for all tests of the component together.

    ``verdicts``: each as a share of all attempts. ``ruled``: the number of attempts by ruling.
    """

    component: str
    test: str
    attempts: int
    passed_before: Rate
    passed_after: Rate
    verdicts: tuple[tuple[str, Rate], ...]
    ruled: tuple[tuple[str, int], ...]

    @property
    def failed_before(self) -> Rate:
        return _others(self.passed_before)

    @property
    def failed_after(self) -> Rate:
        return _others(self.passed_after)


def rates(document: Document, record: Record) -> tuple[RatesOfTest, ...]:
    """Purpose: a line for each test and component in the order of the plan, and after each component's tests a line for all."""
    people = populations(document, record)
    found = []
    for component in document.components:
        cases = people[component.name].cases
        names = list(dict.fromkeys(case.case.test for case in cases))
        found += [_rates(component.name, name, [case for case in cases if case.case.test == name]) for name in names]
        found += [_rates(component.name, "", cases)] if cases else []
    return tuple(found)


def somebody_elses(row: RunRow) -> bool:
    """Whether the run was ruled, and not as the vendor's."""
    return row.ruling not in ("", VENDOR)


def _rates(component: str, test: str, cases: Sequence[CaseRuns]) -> RatesOfTest:
    rows = [row for case in cases for row in case.rows]
    fine = {row.run for case in cases for row in case.rows if counts_as_passed(row, case.case)}
    after = [row for row in rows if row.run in fine or not somebody_elses(row)]
    verdicts = count_verdicts(rows)
    return RatesOfTest(
        component=component,
        test=test,
        attempts=len(rows),
        passed_before=Rate(len(fine), len(rows)),
        passed_after=Rate(len(fine), len(after)),
        verdicts=tuple((verdict, Rate(count, len(rows))) for verdict, count in verdicts.items()),
        ruled=tuple(sorted(Counter(row.ruling for row in rows if row.ruling).items())),
    )


def _others(rate: Rate) -> Rate:
    return Rate(rate.count - rate.hits, rate.count)
