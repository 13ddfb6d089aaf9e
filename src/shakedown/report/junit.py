"""The scorecard and the runs as JUnit XML, for continuous integration systems. ``to_junit`` is the table of contents.

One suite holds the outcome of the campaign, one the criteria, one the contract rows, and one each component's results. What is
undecided or to come is *skipped*, what is not met, disputed or ended wrong is a *failure*, what ended for an external reason is an
*error*. A waived criterion and an acceptance with restrictions are skipped and show what they are restricted by: a green mark would
hide it. The outcome is more than its criteria: each of them can be met, and the whole hang on what one party did alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from xml.etree import ElementTree

from msgspec import Struct

from shakedown.metrics.judging.contract import RowScore
from shakedown.metrics.judging.populations import counts_as_passed
from shakedown.metrics.judging.scorecard import CriterionScore, Scorecard
from shakedown.metrics.judging.settled_words import late_words
from shakedown.metrics.rows.rows import RunRow
from shakedown.metrics.rows.table import Record
from shakedown.model.events import SPARED
from shakedown.model.nouns import Document
from shakedown.report.words import harmless, one_line

_NOT_ITS_OWN = frozenset({"node_fail", "interrupted", "submit_failed", "cancelled", "lost", "not_run", "undetermined"})
_LONGEST = 300  # characters of a message; the whole text stands within the element


class _Outcome(Struct, frozen=True):
    """One test case: ``state`` is "", failure, error or skipped. ``said`` is the text of its output."""

    name: str
    state: str = ""
    kind: str = ""
    message: str = ""
    seconds: float = 0.0
    said: str = ""


def to_junit(document: Document, record: Record, scorecard: Scorecard, damage: str = "") -> bytes:
    """Purpose: the whole campaign as one XML file, the same bytes for the same record. ``damage``: what is wrong
    with the record.
    """
    suites = [
        ("record", [_Outcome("is whole", "error" if damage else "", "damaged", damage)]),
        ("outcome", [_outcome(scorecard)]),
        ("criteria", [_criterion(part.name, one) for part in scorecard.components for one in part.criteria]),
        ("contract", [_row(one) for one in scorecard.contract.rows] if scorecard.contract else []),
        *((part.name, list(_results(part.name, document, record))) for part in document.components),
    ]
    root = ElementTree.Element("testsuites", name=one_line(scorecard.campaign))
    _count(root, [one for _, found in suites for one in found])
    for name, found in suites:
        if not found:
            continue
        suite = ElementTree.SubElement(root, "testsuite", name=one_line(name))
        _count(suite, found)
        for outcome in found:
            _add(suite, name, outcome)
    ElementTree.indent(root)
    text: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _count(element: ElementTree.Element, found: list[_Outcome]) -> None:
    states = Counter(one.state for one in found)
    element.set("tests", str(len(found)))
    for key, state in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        element.set(key, str(states[state]))
    element.set("time", f"{sum(one.seconds for one in found):.3f}")


def _add(suite: ElementTree.Element, name: str, outcome: _Outcome) -> None:
    case = ElementTree.SubElement(
        suite, "testcase", classname=one_line(name), name=one_line(outcome.name), time=f"{outcome.seconds:.3f}"
    )
    if outcome.state:
        mark = ElementTree.SubElement(case, outcome.state, message=one_line(outcome.message, _LONGEST))
        if outcome.kind:
            mark.set("type", outcome.kind)
        mark.text = harmless(outcome.message)
    if outcome.said:
        ElementTree.SubElement(case, "system-out").text = harmless(outcome.said)


# ---- what was judged -------------------------------------------------------------------------------------------------


def _outcome(scorecard: Scorecard) -> _Outcome:
    """The outcome as of the record that is judged: what came after a seal that every party agreed to is in no JUnit file."""
    after, summary = scorecard.after_seal, scorecard.summary
    if after is not None:
        summary = summary.removesuffix(late_words(after.words, after.is_one, after.seal))
    if scorecard.outcome == "accepted":
        return _Outcome("is accepted", said=summary)
    if scorecard.outcome in ("rejected", "disputed"):
        return _Outcome("is accepted", "failure", scorecard.outcome, summary)
    restricted = scorecard.restrictions if scorecard.outcome == "accepted with restrictions" else ()
    return _Outcome("is accepted", "skipped", "", "\n".join((summary, *restricted)))


def _criterion(component: str, one: CriterionScore) -> _Outcome:
    name = f"{component}: {one.name}"
    if one.outcome == "waived":
        return _Outcome(name, "skipped", "", f"{one.outcome_words}: {one.waiver}", said=one.arithmetic)
    if one.outcome == "undecided":
        return _Outcome(name, "skipped", "", f"undecided: {one.reason or one.arithmetic}")
    if one.outcome == "not met":
        return _Outcome(name, "failure", "not met", one.arithmetic)
    return _Outcome(name, said=one.arithmetic)


def _row(one: RowScore) -> _Outcome:
    row = one.row
    name = f"{row.name} {row.test} {row.figure} {row.must}"
    if one.waived:
        return _Outcome(name, "skipped", "", f"{one.outcome_words}: {one.waiver}", said=one.arithmetic)
    if one.outcome == "not met":
        return _Outcome(name, "failure", "not met", one.arithmetic)
    if one.outcome in ("undecided", "unjudged"):
        return _Outcome(name, "skipped", "", f"{one.outcome}: {one.reason or one.arithmetic}")
    return _Outcome(name, said=one.arithmetic)


# ---- what ran --------------------------------------------------------------------------------------------------------


def _results(component: str, document: Document, record: Record) -> Iterator[_Outcome]:
    """Every wanted result once, by its last attempt; then the open runs, and cases that cannot run."""
    expected = {case.id: case for case in document.cases}
    attempts: dict[int, list[RunRow]] = {}
    for row in record.current():
        if row.component == component:
            attempts.setdefault(row.result, []).append(row)
    open_results = {row.result for row in record.open.values()}
    for result, rows in attempts.items():
        last = rows[-1]
        name = _name(last.case, last.mode, last.repeat)
        told = "\n".join(_attempt(row) for row in rows)
        case = expected.get(last.case)
        if last.verdict == SPARED:
            yield _Outcome(name, "skipped", "", f"spared: {last.reason}", said=told)
        elif result in open_results:
            yield _Outcome(name, "skipped", "", "another attempt is to come", said=told)
        elif last.verdict == "passed" or (case is not None and counts_as_passed(last, case)):
            yield _Outcome(name, seconds=last.elapsed_s or 0.0, said=told)
        else:
            state = "error" if last.verdict in _NOT_ITS_OWN else "failure"
            words = "\n".join(part for part in (f"{last.verdict}: {last.reason}", last.excerpt) if part)
            yield _Outcome(name, state, last.verdict, words, last.elapsed_s or 0.0, told)
    for run in record.open.values():
        if run.component == component and run.result not in attempts:
            yield _Outcome(_name(run.case, run.mode, run.repeat), "skipped", "", "it is not over yet")
    for missing in record.unavailable.values():
        if missing.component == component:
            yield _Outcome(missing.case, "skipped", "", f"unavailable: {missing.reason}")


def _name(case: str, mode: str, repeat: int) -> str:
    return " ".join(part for part in (case, mode, f"#{repeat}") if part)


def _attempt(row: RunRow) -> str:
    figures: Iterable[str] = (f"{name}={value!r}" for name, value in row.figures.items())
    words = " ".join(figures) if row.verdict == "passed" else row.reason
    return f"{row.run}, attempt {row.attempt}: {row.verdict} {words}".rstrip()
