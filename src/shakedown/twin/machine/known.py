"""The known figures of a rehearsal: given by its scenario or by a past campaign. All other figures are made up.

A run time derived from a contract row or from a share of the walltime is not known, because it meets the row by construction.
"""

from __future__ import annotations

from shakedown.model.nouns import Document
from shakedown.model.scenario import Scenario
from shakedown.twin.machine.run_times import ELAPSED, is_run_time

_MOST = 3000  # characters of all names in the record: where there are more, those that do not fit count as made up


def known_figures(document: Document, scenario: Scenario) -> list[str]:
    """Purpose: "TEST.FIGURE" for each figure that is known for all cases of its test, in the order of the plan."""
    timed = {name for name, _ in scenario.times}
    measured = {(name, figure) for name, figure, _ in scenario.figures}
    found: list[str] = []
    for test in document.tests:
        cases = [case for case in document.cases if case.test == test.name and not case.unavailable]
        whole = bool(cases) and all(case.id in timed or test.name in timed for case in cases)
        found += [f"{test.name}.{ELAPSED}"] if whole else []
        for figure in test.figures:
            own = all((case.id, figure.name) in measured or (test.name, figure.name) in measured for case in cases)
            if cases and (own or (whole and is_run_time(figure.name, figure.unit))):
                found.append(f"{test.name}.{figure.name}")
    while len("".join(found)) + 3 * len(found) > _MOST:
        found.pop()
    return found
