"""Judging again by a plan that was never in force takes what was agreed away: each such act restricts the acceptance."""

from __future__ import annotations

import pytest

from shakedown.metrics.judging.wording import judged_by_another_plan, restrictions
from shakedown.metrics.rows.table import Record, fold_runs
from shakedown.model.events import Event

FIRST, SECOND, OTHER = "a" * 64, "b" * 64, "c" * 64


def record_of(document: str, replaced: int = 2) -> Record:
    value = {"by": "Eve", "examined": 4, "replaced": replaced, "kept": 4 - replaced}
    if document:
        value["document"] = document
    start = Event("campaign_start", seq=1, time=1.0, value={"campaign": "p-1", "plan": "p", "document": FIRST})
    amended = Event("amended", seq=2, time=2.0, value={"document": SECOND, "who": "Ada"}, reason="a longer run")
    return fold_runs([start, amended, Event("rejudged", seq=3, time=3.0, value=value, reason="it is nicer")])


def test_verdicts_of_another_plan_are_a_restriction_with_a_name() -> None:
    (said,) = restrictions((), record_of(OTHER))
    assert said == (
        "2 verdicts replaced by those of another plan (cccccccccccccccc), which was not in force: judged again by Eve,"
        " because it is nicer"
    )


@pytest.mark.parametrize("document", ["", FIRST, SECOND])
def test_judging_again_by_a_plan_that_was_in_force_restricts_nothing(document: str) -> None:
    assert restrictions((), record_of(document)) == []


def test_where_no_verdict_was_replaced_nothing_was_taken_away() -> None:
    assert judged_by_another_plan(record_of(OTHER, replaced=0)) == []
