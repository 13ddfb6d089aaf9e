"""Compare how the tests of several campaigns scale: other systems, other toolchains, a rehearsal with the machine."""

from __future__ import annotations

from collections.abc import Sequence

from shakedown.metrics.judging.populations import populations
from shakedown.metrics.scaling import Series, scaled
from shakedown.model.errors import UsageError, did_you_mean
from shakedown.queries.comparisons import Asked, read_sources


def look_at_scaling(asked: Sequence[Asked], low: float, tests: Sequence[str] = ()) -> list[Series]:
    """Purpose: every series of these campaigns, or only of ``tests``. ``low``: the efficiency that counts as the lower limit.

    Errors: UsageError where no test of them says how it scales, or none has that name.
    """
    found: list[Series] = []
    known: set[str] = set()
    for source in read_sources(list(asked)):
        name = source.label if len(asked) > 1 else ""
        people = populations(source.document, source.record, everything=bool(source.epoch))
        known |= {test.name for test in source.document.tests}
        found += scaled(source.document, people, low, name)
    every = list(dict.fromkeys(one.test for one in found))
    for test in tests:
        if test not in every:
            hint = did_you_mean(test, every) or (f"there are: {', '.join(every)}" if every else "")
            why = "does not say how it scales" if test in known else "is in none of them"
            raise UsageError(f"test '{test}' {why}", hint=hint or _HOW)
    if not found:
        raise UsageError("no test of it says how it scales", hint=_HOW)
    return [one for one in found if not tests or one.test in tests]


_HOW = "add to the test: scaling: {along: nodes, kind: strong}"
