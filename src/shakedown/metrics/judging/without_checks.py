"""Verdicts that the record itself gives without checks that an amendment added: ``without_added``.

A verdict keeps each check that was evaluated and whether it held. So a run that only checks of a later plan found wrong passed
under the earlier plan, or was outside one of its contract rows. No verdict follows if the record does not show it: the earlier plan
has other checks of the output, figures are read in another way, a check was not evaluated, or the run was judged again.
"""

from __future__ import annotations

from shakedown.metrics.judging.plans_in_force import PlansInForce
from shakedown.metrics.rows.rows import RunRow
from shakedown.metrics.wanted import WARM_UP
from shakedown.model.contracts import holds, rows_of
from shakedown.model.nouns import Case, Document, Test


def without_added(row: RunRow, mine: PlansInForce, real: PlansInForce) -> str:
    """Purpose: the verdict on a run under the plans left in force, if it was incorrect by a check that only the plans of the whole
    record have; "" if that is not so, or nobody can tell.
    """
    if row.verdict != "incorrect" or row.supersedes or row.retried or row.problems:
        return ""
    case, now = mine.case(row.seq, row.case), real.case(row.seq, row.case)
    if case is None or now is None:
        return ""
    its, had = _test(mine.at(row.seq), case), _test(real.at(row.seq), now)
    if its is None or had is None or not _only_adds(its, had) or not _is_right(row, its):
        return ""
    return _against_rows(row, case, its, mine.at(row.seq))


def _test(document: Document, case: Case) -> Test | None:
    found = next((test for test in document.tests if test.name == case.test), None)
    return found.of(case) if found is not None else None


def _only_adds(before: Test, after: Test) -> bool:
    """Whether the later test only adds checks, none of the exit status, and has the same figures."""
    added = [check for check in after.checks if check not in before.checks]
    gone = any(check not in after.checks for check in before.checks)
    return bool(added) and not gone and before.figures == after.figures and all(one.subject != "exit" for one in added)


def _is_right(row: RunRow, test: Test) -> bool:
    """Whether every check of the test held, another check did not, and every required figure is present."""
    held = {text: word for text, word, _ in row.checks}
    mine = [check.text for check in test.checks if check.subject != "exit"]  # a wrong exit status means failed
    figures = {name.partition("[")[0] for name in row.figures}
    return (
        len(held) == len(row.checks)
        and all(held.get(text) is True for text in mine)
        and any(word is False for text, word in held.items() if text not in mine)
        and all(spec.name in figures for spec in test.figures if spec.required)
    )


def _against_rows(row: RunRow, case: Case, test: Test, document: Document) -> str:
    """ "passed", or "performance" if a value lies outside a row that judges runs; "" if the units differ."""
    units = {spec.name: spec.unit for spec in test.figures} | {"elapsed": "s"}
    values = dict(row.figures) | ({} if row.elapsed_s is None else {"elapsed": row.elapsed_s})
    for asked in rows_of(document, case):
        judges = asked.verdict and asked.statistic == "each" and asked.mode in ("", row.mode) and row.mode != WARM_UP
        if not judges or asked.figure not in values:
            continue
        if asked.unit and asked.unit != units.get(asked.figure.partition("[")[0], ""):
            return ""
        if not holds(asked, values[asked.figure]):
            return "performance"
    return "passed"
