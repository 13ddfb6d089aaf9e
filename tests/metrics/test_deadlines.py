"""Planned dates against kept ones: when a component is over, by how much it is late, and that nothing is judged by it."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from shakedown.metrics.deadlines import Deadline, deadlines
from shakedown.metrics.judging.criteria import score
from shakedown.metrics.rows.table import fold_runs
from shakedown.model.nouns import Procedure
from shakedown.plans.schema.plan import _moment
from shakedown.plans.schema.scalars import InvalidValue


def kept_by(story: Any, planned: float, procedures: tuple[Procedure, ...] = ()) -> tuple[Deadline, str]:
    document = story.document()
    (part,) = document.components
    document = replace(document, components=(replace(part, deadline=planned, procedures=procedures),))
    record = fold_runs(story.events)
    (found,) = deadlines(document, record)
    without = score(replace(document, components=(replace(part, procedures=procedures),)), record)
    assert score(document, record) == without, "nothing is judged by it"
    return found, without.outcome


def test_it_is_over_when_its_last_result_is_in_and_late_by_what_lies_beyond(story: Any) -> None:
    story.repeats = 2
    story.run("t/a")
    story.run("t/a", repeat=2)
    over = max(row.over or row.time for row in fold_runs(story.events).current())
    assert kept_by(story, over)[0] == Deadline("main", over, over, 0.0)
    late, _ = kept_by(story, over - 90.0)
    assert (late.kept, late.late_s, late.state) == (over, 90.0, "missed")


def test_what_is_not_over_is_late_as_of_the_last_event(story: Any) -> None:
    story.repeats = 2
    story.run("t/a")
    last = fold_runs(story.events).last
    early, _ = kept_by(story, last + 60.0)
    late, _ = kept_by(story, last - 60.0)
    assert (early.kept, early.late_s, early.state) == (None, 0.0, "to come")
    assert (late.kept, late.late_s, late.state) == (None, 60.0, "missed")


def test_a_procedure_is_waited_for(story: Any) -> None:
    story.run("t/a")
    asked = (Procedure("diag"),)
    assert kept_by(story, 1e10, asked)[0].state == "to come"
    value = {"component": "main", "procedure": "diag", "met": True, "by": "Ada", "evidence": []}
    story.add("attested", value=value, reason="seen")
    attested = fold_runs(story.events).last
    assert kept_by(story, 1e10, asked)[0] == Deadline("main", 1e10, attested, 0.0)


@pytest.mark.parametrize(
    ("text", "said"),
    [("tomorrow", "'tomorrow' is no moment"), ("2026-12-01T18:00", "'2026-12-01T18:00' does not say in which zone")],
)
def test_a_deadline_is_a_moment_with_its_zone(text: str, said: str) -> None:
    with pytest.raises(InvalidValue, match=said):
        _moment(text)
    assert _moment("2026-12-01T18:00+01:00") == _moment("2026-12-01T17:00Z") == 1796144400.0
