"""The results that a result needs before it may run, under the plan in force."""

from __future__ import annotations

from collections.abc import Iterator

from shakedown.metrics.rows.rows import RunRow
from shakedown.metrics.rows.table import Record
from shakedown.metrics.wanted import mode_key, wanted_results
from shakedown.model.nouns import Case, Component, Document


def needed_results(document: Document, row: RunRow, record: Record) -> Iterator[tuple[str, str, str, int]]:
    """Purpose: the needed results of a run's result, as (component, mode by ``mode_key``, case, repeat).

    A needed result has the same repeat and mode in the same component; in an earlier component, that component's first mode. If
    fewer repeats are wanted there, the last repeat is needed.
    """
    cases = {case.id: case for case in document.cases}
    names = [part.name for part in document.components]
    if row.case not in cases or row.component not in names:
        return
    before = document.components[: names.index(row.component) + 1]
    for need in cases[row.case].needs:
        home = next((part for part in reversed(before) if need.case in part.cases), None)
        if home is None or need.case not in cases:
            continue
        first = next((str(mode.name) for mode in home.modes), "")
        mode = mode_key(row) if home.name == row.component else first
        last = _last(document, home, cases[need.case], mode, row, record)
        yield home.name, mode, need.case, min(row.repeat, last) if last else row.repeat


def _last(document: Document, home: Component, case: Case, mode: str, row: RunRow, record: Record) -> int:
    times = 0 if home.duration_s else sum(event < row.seq for event in record.again.get(home.name, ()))
    return dict(wanted_results(home, case, document.system, times)).get(mode, 0)
