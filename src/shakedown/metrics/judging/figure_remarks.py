"""Remarks on figures: optional ones that no run gave, values that could not be read, and tables that may have been cut.

``of_figures`` is the way in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from shakedown.metrics.rows.rows import RunRow
from shakedown.metrics.rows.table import Record
from shakedown.metrics.words import plural
from shakedown.model.events import COMPLETED
from shakedown.model.figures import CUT_TABLE, figure_of
from shakedown.model.nouns import Document


def of_figures(document: Document, record: Record) -> list[str]:
    """Purpose: the remarks on figures that runs of the machine gave in part, or not at all. A rehearsal reads no output."""
    if record.rehearsal:
        return []
    return [*_never_measured(document, record), *_not_read(document, record), *_cut_tables(document, record)]


def _never_measured(document: Document, record: Record) -> list[str]:
    """Optional figures that no run gave though runs completed: a misspelt expression would be silent otherwise.

    A table gives one figure for each of its rows, called after it: lat[size=8].
    """
    optional = {test.name: [spec.name for spec in test.figures if not spec.required] for test in document.tests}
    wanted = {case.id: case.test for case in document.cases if optional.get(case.test)}
    seen: set[tuple[str, str]] = set()
    why: dict[tuple[str, str], str] = {}
    runs = Counter[str]()
    for row in record.current() if wanted else ():
        test = wanted.get(row.case, "")
        if not test:
            continue
        runs[test] += row.verdict in COMPLETED
        seen.update((test, name.partition("[")[0]) for name in row.figures)
        for problem in row.problems if row.verdict in COMPLETED else ():
            name, said = _of_figure(problem)
            why.setdefault((test, name), said)
    return [
        f"optional figure {name} of test {test} is in none of its {plural(count, 'run')} that completed"
        + (f": {why[test, name]}" if why.get((test, name)) else "")
        for test, count in runs.items()
        for name in optional[test]
        if count and (test, name) not in seen
    ]


def _not_read(document: Document, record: Record) -> list[str]:
    """Figures that some runs printed as what is no value. An incorrect run says so itself; any other would pass over it."""
    tests = {case.id: case.test for case in document.cases}
    ended, read = Counter[str](), set[tuple[str, str]]()
    runs: dict[tuple[str, str], list[str]] = {}
    for row in record.current():
        test = tests.get(row.case, "")
        if not test or row.verdict not in COMPLETED:
            continue
        ended[test] += 1
        read.update((test, figure_of(name)) for name in row.figures)
        found = dict(reversed([*_without_value(row)])) if row.verdict != "incorrect" else {}
        for name, said in found.items():
            runs.setdefault((test, name), []).append(f"{row.run}: {said}")
    needed = {(test.name, spec.name) for test in document.tests for spec in test.figures if spec.required}
    return [
        f"figure {name} of test {test} could not be read in {len(told)} of {plural(ended[test], 'run')} that completed,"
        f" and is in no number of them; the first is {told[0]}"
        + ("; it is required: 'shakedown rejudge' judges such runs incorrect" if (test, name) in needed else "")
        for (test, name), told in runs.items()
        if (test, name) in read | needed  # of an optional one that no run gave there is another remark
    ]


def _without_value(row: RunRow) -> Iterator[tuple[str, str]]:
    """(figure, why) of each value that a run lacks because what it printed could not be read."""
    for problem in row.problems:
        name, _, said = problem.removeprefix("figure ").partition(": ")
        if problem.startswith("figure ") and name not in row.figures and not said.startswith(CUT_TABLE):
            yield figure_of(name), said


def _cut_tables(document: Document, record: Record) -> list[str]:
    """Tables that a foreign line may have cut: of the rows behind it nothing is known, and no figure is missing."""
    tests = {case.id: case.test for case in document.cases}
    runs = Counter[tuple[str, str]]()
    first: dict[tuple[str, str], str] = {}
    for row in record.current():
        for problem in row.problems if row.verdict in COMPLETED and row.case in tests else ():
            name, said = _of_figure(problem)
            if name and said.startswith(CUT_TABLE):
                runs[tests[row.case], name] += 1
                first.setdefault((tests[row.case], name), f"in {row.run} {said}")
    return [
        f"figure {name} of test {test} may lack rows in {plural(count, 'run')}: {first[test, name]}"
        for (test, name), count in runs.items()
    ]


def _of_figure(problem: str) -> tuple[str, str]:
    """The name of the figure that a problem is of, without the tag of a row, and what it says; "" for any other problem."""
    if not problem.startswith("figure "):
        return "", ""
    name, _, said = problem.removeprefix("figure ").partition(": ")
    return name.partition("[")[0], said
