"""The requirements of a contract in the order of its clauses: criteria, contract rows, scores and procedures in one matrix.

Start reading at ``requirements``. Each requirement has the measured value, its margin to the bound, and the outcome.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from shakedown.metrics.judging.contract import RowScore
from shakedown.metrics.judging.procedures import standing_of
from shakedown.metrics.judging.relabelled import first_texts
from shakedown.metrics.judging.scorecard import CriterionScore, Scorecard
from shakedown.metrics.rows.table import Record
from shakedown.metrics.scores.results import PartResult, ScoreResult
from shakedown.model.nouns import Document
from shakedown.model.waived import row_digest

_ATTESTED = {
    "met": "met",
    "not met": "not met",
    "evidence": "undecided: too few files of evidence",
    "wording": "undecided: attested before the plan asked for something else",
    "": "undecided: not attested",
}
_IN_POINTS = {"share": 1.0, "%": 100.0}  # unit -> how many of it a whole has
SCORES = "scores"  # the component that stands for the plan's scores


class Requirement(Struct, frozen=True):
    """One requirement. ``what``: its description; ``must``: the bound as written; ``measured``: the calculation in words.

    ``margin``: the distance inside the bound (the nearer of two), below 0 if outside, as a share of the bound; with ``points``, the
    measured value is a share itself, or in per cent, and the margin a difference of shares. None without a number, or if the
    bound is 0 and no share. ``margins``: (bound, margin) of each bound, if there are two. ``count``: the number of runs or values
    behind it. ``text``: the clause's text; ``first_text``: its text when the campaign began, if ``changed_by`` amended it.
    """

    clause: str
    kind: str
    component: str
    name: str
    what: str
    must: str
    measured: str
    outcome: str
    count: int = 0
    margin: float | None = None
    points: bool = False
    waiver: str = ""
    reason: str = ""
    text: str = ""
    margins: tuple[tuple[str, float], ...] = ()
    first_text: str = ""
    changed_by: str = ""


def requirements(document: Document, record: Record, scorecard: Scorecard) -> tuple[Requirement, ...]:
    """Purpose: every requirement, by clause ("4.2" before "4.10"); those without a clause come last, in the plan's order. A
    requirement with a clause but without a text gets the text of a contract row of the same clause.
    """
    every = [
        *_criteria(scorecard),
        *_scores(scorecard),
        *_rows(scorecard, first_texts(record)),
        *_procedures(document, record),
    ]
    texts: dict[str, Requirement] = {}
    for one in every:
        if one.text:
            texts.setdefault(one.clause, one)
    told = [_with_text(one, texts.get(one.clause)) for one in every]
    return tuple(sorted(told, key=lambda one: (not one.clause, clause_order(one.clause))))


def _with_text(one: Requirement, of: Requirement | None) -> Requirement:
    if one.text or one.first_text or of is None:
        return one
    return replace(one, text=of.text, first_text=of.first_text, changed_by=of.changed_by)


def clause_order(clause: str) -> tuple[tuple[int, int, str], ...]:
    """Purpose: the sort key of a clause: numbers as numbers, words as words, whatever separates them."""
    parts = re.findall(r"\d+|[^\W\d]+", clause)
    return tuple((0, int(part), "") if part.isdigit() else (1, 0, part.casefold()) for part in parts)


def _criteria(scorecard: Scorecard) -> Iterator[Requirement]:
    for component in scorecard.components:
        if component.name == SCORES:
            continue
        for item in component.criteria:
            yield Requirement(
                clause=item.clause,
                kind="criterion",
                component=component.name,
                name=item.name,
                what=item.measure,
                must=item.must,
                measured=item.arithmetic.replace(f", must {item.must}", ""),
                outcome="not judged" if item.restricted else item.outcome_words,
                count=item.rests_on,
                margin=_margin(item),
                points=item.unit in _IN_POINTS,
                waiver=f"{item.waiver} (by {item.waived_by})" if item.waiver else "",
                reason=item.reason,
            )


def _margin(item: CriterionScore) -> float | None:
    """The margin of a criterion's number inside its bound."""
    if item.measured is None:
        return None
    sign = item.must.strip()[:1]
    off = item.measured - item.bound if sign == ">" else item.bound - item.measured if sign == "<" else None
    if off is None:
        off = -abs(item.measured - item.bound)
    return _share_of(off, item.bound, item.unit)


def _share_of(off: float, bound: float, unit: str) -> float | None:
    """A distance from a bound as a share of it; of numbers that are shares themselves the distance, 0.01 for a point."""
    if unit in _IN_POINTS:
        return off / _IN_POINTS[unit]
    return off / abs(bound) if bound else None


def _scores(scorecard: Scorecard) -> Iterator[Requirement]:
    """Each score with a bound, then the bounds on its parts: one may be missed where the score is met."""
    outcomes = {
        item.name: item for component in scorecard.components if component.name == SCORES for item in component.criteria
    }
    for score in scorecard.scores:
        if score.must:
            yield _score(score, outcomes.get(score.name))
        for part in score.parts:
            item = outcomes.get(f"{score.name}.{part.label}")
            if item is not None:
                yield _part(score, part, item)


def _score(score: ScoreResult, item: CriterionScore | None) -> Requirement:
    asked = Requirement(
        clause=score.clause,
        kind="score",
        component=SCORES,
        name=score.name,
        what=score.about or score.kind,
        must=score.must,
        measured="",
        outcome="undecided",
        reason=score.reason,
    )
    return _with_outcome(asked, item) if item else asked


def _part(score: ScoreResult, part: PartResult, item: CriterionScore) -> Requirement:
    asked = Requirement(
        clause=item.clause,
        kind="part of a score",
        component=SCORES,
        name=item.name,
        what=f"{part.label}: {score.part_name}",
        must=item.must,
        measured="",
        outcome="",
        reason=item.reason,
    )
    return _with_outcome(asked, item)


def _with_outcome(asked: Requirement, item: CriterionScore) -> Requirement:
    return replace(
        asked,
        measured=item.arithmetic.replace(f", must {item.must}", ""),
        outcome="not judged" if item.restricted else item.outcome_words,
        count=item.rests_on,
        margin=_margin(item),
        waiver=f"{item.waiver} (by {item.waived_by})" if item.waiver else "",
    )


def _rows(scorecard: Scorecard, first: Mapping[str, tuple[str, str]]) -> Iterator[Requirement]:
    for score in scorecard.contract.rows if scorecard.contract else ():
        row = score.row
        where = ", ".join(f"{name}={'|'.join(values)}" for name, values in row.where)
        what = "run time" if row.figure == "elapsed" else row.figure
        margins = _row_margins(score)
        first_text, by = first.get(row_digest(row), (row.text, ""))
        yield Requirement(
            clause=row.clause,
            kind=f"{row.basis} row",
            component=row.test,
            name=row.name,
            what=f"{what}{f' where {where}' if where else ''}",
            must=row.must,
            measured=score.arithmetic,
            outcome=score.outcome_words,
            count=score.rests_on,
            margin=min((share for _, share in margins), default=None),
            points=row.unit in _IN_POINTS,
            waiver=f"{score.waiver} (by {score.waived_by})" if score.waived else "",
            reason=score.reason,
            text=row.text,
            margins=margins if len(margins) > 1 else (),
            first_text=(first_text or "nothing") if first_text != row.text else "",
            changed_by=by,
        )


def _row_margins(score: RowScore) -> tuple[tuple[str, float], ...]:
    """The margin to each bound, the lower one first; for a row on each run, with the worst value for that bound."""
    found = []
    for word, bound, measured, side in (
        ("lower", score.row.low, score.least, 1),
        ("upper", score.row.high, score.most, -1),
    ):
        if bound is None or measured is None:
            continue
        share = _share_of(side * (measured - bound), bound, score.row.unit)
        if share is not None:
            found.append((word, share))
    return tuple(found)


def _procedures(document: Document, record: Record) -> Iterator[Requirement]:
    for component in document.components:
        for item in component.procedures:
            said = record.attestations.get((component.name, item.name))
            yield Requirement(
                clause=item.clause,
                kind="procedure",
                component=component.name,
                name=item.name,
                what=item.about or item.name,
                must=f"attested{f' by {item.who}' if item.who else ''}",
                measured=f"by {said.by}: {said.reason}" if said is not None else "",
                outcome=_ATTESTED[standing_of(item, said)],
                count=len(said.evidence) if said is not None else 0,
            )
