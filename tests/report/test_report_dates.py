"""Figures of planned dates against kept ones, and of issues by month."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from shakedown.metrics.deadlines import Deadline
from shakedown.metrics.issues import Issue
from shakedown.report.figures.dates import draw_dates, draw_issues

DAY = 86_400.0
KEPT = Deadline("delivery", 10 * DAY, 9 * DAY, 0.0, 10 * DAY, 0.0)
MISSED = Deadline("performance", 20 * DAY, 25 * DAY, 5 * DAY, 15 * DAY, 10 * DAY)
OPEN = Deadline("stability", 40 * DAY, None, 0.0, 40 * DAY, 0.0)


def material(deadlines: tuple[Deadline, ...] = (), issues: tuple[Issue, ...] = ()) -> Any:
    return SimpleNamespace(
        evidence=SimpleNamespace(deadlines=deadlines, issues=issues, record=SimpleNamespace(last=30 * DAY))
    )


def test_each_component_is_a_line_with_what_was_planned_moved_and_kept() -> None:
    (drawing,), said = draw_dates(material((KEPT, MISSED, OPEN)))
    assert (drawing.file, said) == ("planned-dates", [])
    svg = drawing.in_format("svg").decode()
    for word in ("delivery", "performance", "stability", "first planned", "planned", "over", "not over yet"):
        assert f"<!-- {word} -->" in svg or f">{word}<" in svg, word


def test_only_what_there_is_stands_in_the_legend() -> None:
    svg = draw_dates(material((KEPT, KEPT)))[0][0].in_format("svg").decode()
    assert "first planned" not in svg and "not over yet" not in svg


def test_one_date_and_one_month_are_rows() -> None:
    assert draw_dates(material((MISSED,))) == ([], [])
    assert draw_issues(material(issues=(issue(1, None), issue(3, 5)))) == ([], [])


def issue(opened: float, closed: float | None) -> Issue:
    return Issue("pause", "x", "major", opened * DAY, "Ada", None if closed is None else closed * DAY)


def test_issues_by_month() -> None:
    (drawing,), said = draw_issues(material(issues=(issue(1, 40), issue(35, None))))
    assert (drawing.file, said) == ("issues-by-month", [])
    svg = drawing.in_format("svg").decode()
    assert "1970-01" in svg and "1970-02" in svg and "open at its end" in svg


def test_more_dates_than_fit_are_told() -> None:
    (_,), (said,) = draw_dates(material((KEPT,) * 33))
    assert said == "3 planned dates more are not drawn; they are in tables/deadlines.csv"
