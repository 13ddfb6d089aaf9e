"""Planned dates against kept ones: when a component is over, by how much it is late, and that only ``late`` judges by it."""

from __future__ import annotations

from typing import Any

import pytest
from acts_story import CASES, Acted, plan
from msgspec.structs import replace

from shakedown.metrics.deadlines import Deadline, deadlines
from shakedown.metrics.judging.asked_less import asks_less
from shakedown.metrics.judging.criteria import score
from shakedown.metrics.judging.in_effect import in_effect
from shakedown.metrics.rows.table import fold_runs
from shakedown.model.judging import Criterion
from shakedown.model.nouns import Document, Procedure
from shakedown.plans.schema.plan import _moment
from shakedown.plans.schema.scalars import InvalidValue


def kept_by(story: Any, planned: float, procedures: tuple[Procedure, ...] = ()) -> tuple[Deadline, str]:
    document = story.document()
    (part,) = document.components
    document = replace(document, components=(replace(part, deadline=planned, procedures=procedures),))
    record = fold_runs(story.events)
    (found,) = deadlines(document, record)
    without = score(replace(document, components=(replace(part, procedures=procedures),)), record)
    card = score(document, record)
    assert replace(card, missed_dates=(), summary=without.summary) == without, "nothing is judged by it"
    assert card.summary.startswith(without.summary) and bool(card.missed_dates) == (found.late_s > 0)
    return found, without.outcome


def test_it_is_over_when_its_last_result_is_in_and_late_by_what_lies_beyond(story: Any) -> None:
    story.repeats = 2
    story.run("t/a")
    story.run("t/a", repeat=2)
    over = max(row.over or row.time for row in fold_runs(story.events).current())
    assert kept_by(story, over)[0] == Deadline("main", over, over, 0.0, over, 0.0)
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
    assert kept_by(story, 1e10, asked)[0] == Deadline("main", 1e10, attested, 0.0, 1e10, 0.0)


def test_what_never_began_is_over_when_it_was_first_judged(story: Any) -> None:
    run = story.run("t/a", "build_failed")
    first = fold_runs(story.events).last
    value = {"component": "main", "repeat": 1, "attempt": 1, "verdict": "build_failed", "supersedes": 3, "by": "Ada"}
    story.add("verdict", run=run, case="t/a", value=value, reason="judged again")
    assert kept_by(story, 1e10)[0].kept == first < fold_runs(story.events).last


def test_a_component_of_which_nothing_can_run_is_never_late(story: Any) -> None:
    """As of any other criterion, nobody is judged: the acceptance is restricted, and not rejected for ever."""
    document = dated(story, 1.0, IN_TIME)
    (part,) = document.components
    document = replace(document, components=(replace(part, cases=()),))
    story.end()
    (found,) = score(document, fold_runs(story.events)).components[0].criteria
    assert found.outcome != "not met" and "no case of it can run here" in found.reason


def test_a_run_of_what_an_amendment_took_out_makes_nothing_late(story: Any) -> None:
    story.run("t/a")
    over = fold_runs(story.events).last
    document = dated(story, over, IN_TIME)
    story.run("t/gone")
    story.end()
    record = fold_runs(story.events)
    (found,) = deadlines(document, record)
    assert (found.state, found.late_s) == ("kept", 0.0)
    (judged,) = score(document, record).components[0].criteria
    assert judged.outcome == "met"


# ---- dates that are moved ----------------------------------------------------------------------------------------------


def with_dates(story: Any, *dates: float | None) -> tuple[Deadline, ...]:
    """Of a story whose plan was amended between these dates of its component; None: it has none."""
    plans = {letter * 64: dated(story, date) for letter, date in zip("defg", dates, strict=False)}
    for digest in list(plans)[1:]:
        story.add("amended", value={"document": digest, "components": ["main"], "difference": [], "by": "Ada"})
    record = fold_runs(story.events)
    record.plans = plans
    return deadlines(list(plans.values())[-1], record)


def dated(story: Any, date: float | None, *criteria: Criterion) -> Document:
    document: Document = story.document()
    (part,) = document.components
    return replace(document, components=(replace(part, deadline=date, criteria=criteria),))


def test_a_date_that_is_moved_stands_beside_the_first_one(story: Any) -> None:
    story.run("t/a")
    over = 1003.0  # the time of the verdict, the third event
    assert with_dates(story, 1000.0, 1001.0, 2000.0) == (Deadline("main", 2000.0, over, 0.0, 1000.0, 3.0),)
    (moved,) = with_dates(story, 1000.0, 1001.0, 2000.0)
    (as_it_was,) = with_dates(story, 1000.0, 1000.0)
    assert (moved.moved, moved.state, as_it_was.moved, as_it_was.state) == (True, "kept", False, "missed")


def test_what_an_amendment_without_effect_did_is_left_out() -> None:
    """The vendor alone moves the date and takes out the case that is late; the plan asks for the site's consent."""
    document = plan(consent=("amend",))
    speed, *rest = document.components
    dated = replace(document, components=(replace(speed, deadline=1012.0, repeats=1), *rest))
    told = Acted(dated)
    over = [told.now - 1.0 for case in CASES if told.run("speed", case)]
    after = replace(dated, components=(replace(speed, deadline=9e9, repeats=1, cases=CASES[:1]), *rest))
    number = told.say("amended", {"document": told.keep(after), "by": "Bo", "difference": ["later"]}, "it is late")

    def found() -> Deadline:
        newest = told.documents[told.record.document]
        judged = in_effect(newest, told.record, told.documents.__getitem__, lambda: told.events)
        return deadlines(*judged)[0]

    assert (found().planned, found().kept, found().first, found().state) == (1012.0, over[-1], 1012.0, "missed")
    told.agree(number, "Ada")
    assert (found().planned, found().kept, found().first, found().state) == (9e9, over[0], 1012.0, "kept")


def test_a_date_that_is_taken_away_stays(story: Any) -> None:
    story.run("t/a")
    (gone,) = with_dates(story, 1000.0, None)
    assert (gone.planned, gone.first, gone.late_s, gone.late_of_first_s) == (None, 1000.0, 0.0, 3.0)
    assert (gone.state, gone.moved) == ("taken away", True)
    record = fold_runs(story.events)
    record.plans = {"d" * 64: dated(story, 1000.0)}
    without = replace(dated(story, None), components=())
    assert deadlines(without, record) == (Deadline("main", None, None, 0.0, 1000.0, 0.0),), "nor with its component"


# ---- the measure -------------------------------------------------------------------------------------------------------

IN_TIME = Criterion("in time", "late", "<=", 0.0, unit="h")


@pytest.mark.parametrize(
    ("repeats", "planned", "outcome", "measured"),
    [
        (1, 1003.0, "met", 0.0),
        (1, 1002.0, "not met", 1 / 3600),
        (2, 1002.0, "not met", 2 / 3600),  # not over: late until the last event, the end of the campaign
        (2, 1e10, "undecided", 0.0),
    ],
)
def test_a_late_date_decides_where_a_criterion_says_so(
    story: Any, repeats: int, planned: float, outcome: str, measured: float
) -> None:
    story.repeats = repeats
    story.run("t/a")
    story.end()
    (found,) = score(dated(story, planned, IN_TIME), fold_runs(story.events)).components[0].criteria
    assert found.outcome == outcome and found.measured == pytest.approx(measured, abs=1e-12)


def test_it_is_a_measure_of_procedures_too(story: Any) -> None:
    story.run("t/a")
    document = dated(story, 1005.0, IN_TIME)
    (part,) = document.components
    document = replace(document, components=(replace(part, procedures=(Procedure("diag"),)),))
    value = {"component": "main", "procedure": "diag", "met": True, "by": "Ada", "evidence": []}
    for _ in range(3):  # each replaces the one before; the last one is event 6, at 1006
        story.add("attested", value=value, reason="seen")
    found = {item.name: item for item in score(document, fold_runs(story.events)).components[0].criteria}
    assert found["in time"].measured == pytest.approx(1 / 3600) and found["in time"].outcome == "not met"


def test_a_later_date_asks_for_less_where_a_criterion_is_on_it(story: Any) -> None:
    story.run("t/a")
    taken = ("the deadline of main as it was",)
    before = dated(story, 1000.0, IN_TIME)
    assert asks_less(before, dated(story, 1001.0, IN_TIME)) == taken
    assert asks_less(before, dated(story, 999.0, IN_TIME)) == ()
    assert asks_less(before, dated(story, None)) == (*taken, "criterion in time of main")
    assert asks_less(dated(story, 1000.0), dated(story, 1001.0)) == (), "dates alone decide nothing"


@pytest.mark.parametrize(
    ("text", "said"),
    [("tomorrow", "'tomorrow' is no moment"), ("2026-12-01T18:00", "'2026-12-01T18:00' does not say in which zone")],
)
def test_a_deadline_is_a_moment_with_its_zone(text: str, said: str) -> None:
    """Every form that the hint names is one that can be written."""
    with pytest.raises(InvalidValue, match=said) as refused:
        _moment(text)
    forms = [word for word in str(refused.value.hint).split() if word.startswith("2026")]
    assert [_moment(form) for form in forms] == [1796148000.0, 1796144400.0] and "for Z" not in str(refused.value.hint)
    assert _moment("2026-12-01T18:00+01:00") == _moment("2026-12-01T17:00Z") == 1796144400.0
