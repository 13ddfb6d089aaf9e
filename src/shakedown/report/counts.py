"""For each test, how many runs it made and how many did not end well, by verdict (paper 004, figures 2 and 3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from shakedown.metrics.cases import CaseSummary
from shakedown.metrics.judging.populations import counts_as_passed
from shakedown.model.events import VERDICTS


@dataclass(slots=True)
class TestCount:
    """The attempts at one test's cases in one component; ``bad``: by verdict, those that neither passed nor ended as expected."""

    component: str
    test: str
    attempts: int = 0
    bad: Counter[str] = field(default_factory=Counter)

    def share(self, verdict: str) -> float:
        return self.bad[verdict] / self.attempts if self.attempts else 0.0


def count_tests(cases: Iterable[CaseSummary]) -> list[TestCount]:
    """Purpose: a count for each component and test that has attempts, in the order of the plan."""
    found: dict[tuple[str, str], TestCount] = {}
    for case in cases:
        if case.rows:
            key = (case.component, case.case.test)
            one = found.setdefault(key, TestCount(*key))
            one.attempts += len(case.rows)
            one.bad.update(row.verdict for row in case.rows if not counts_as_passed(row, case.case))
    return list(found.values())


def bad_verdicts(counts: Iterable[TestCount]) -> list[str]:
    """The verdicts of the runs that did not end well, in the order of the vocabulary; unknown words last."""
    seen = {verdict for one in counts for verdict in one.bad}
    return [verdict for verdict in VERDICTS if verdict in seen] + sorted(seen - set(VERDICTS))
