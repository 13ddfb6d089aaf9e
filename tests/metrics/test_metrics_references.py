"""Contract rows proposed from history: median, spread, count, and a bound that the history itself would pass."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from shakedown.metrics.references import Proposal, Tolerance, propose
from shakedown.model.nouns import Document, FigureSpec

THREE, FIVE_PERCENT = Tolerance(3), Tolerance(5, percent=True)


def rows(*stories: Any, tolerance: Tolerance = THREE, figure: str = "triad") -> tuple[Proposal, ...]:
    found = propose([(story.document(), story.record()) for story in stories], tolerance).rows
    return tuple(item for item in found if item.figure == figure)


def only(*stories: Any, **fields: Any) -> Proposal:
    (item,) = rows(*stories, **fields)
    return item


def test_a_row_has_median_spread_count_and_reach(story: Any) -> None:
    story.repeats = 5
    story.values("a/1", [10.0, 11.0, 12.0, 13.0, 14.0])
    item = only(story)
    assert (item.test, item.where, item.unit, item.mode) == ("a", (("system", "box"),), "GB/s", "")
    assert (item.count, item.median, item.lowest, item.highest) == (5, 12.0, 10.0, 14.0)
    assert item.spread == pytest.approx(1.4826)
    assert item.about == "n 5, median 12 GB/s, spread 1.483 GB/s, 10..14 GB/s; c1 epoch 1"


def test_the_bound_is_on_the_bad_side_alone(story: Any) -> None:
    story.repeats = 5
    for repeat, value in enumerate([10.0, 11.0, 12.0, 13.0, 14.0], 1):
        story.run("a/1", repeat=repeat, figures={"triad": value, "errors": value}, elapsed_s=value)
    assert only(story).must == "12 GB/s -4.45 GB/s"  # higher is better
    assert only(story, figure="elapsed").must == "12 s +4.45 s"  # lower is better
    assert only(story, figure="errors").must == "12 +-4.45"  # no direction
    assert [only(story, figure=name, tolerance=FIVE_PERCENT).must for name in ("triad", "elapsed", "errors")] == [
        "12 GB/s -5%",
        "12 s +5%",
        "12 +-5%",
    ]


def test_a_spread_is_never_less_than_a_hundredth_of_the_median(story: Any) -> None:
    story.repeats = 5
    story.values("a/1", [100.0] * 5)
    item = only(story)
    assert (item.spread, item.must) == (0.0, "100 GB/s -3 GB/s")


def test_a_figure_in_per_cent_is_bounded_by_a_share_of_its_value(story: Any) -> None:
    story.repeats = 5
    story.values("a/1", [80.0] * 5)
    document: Document = story.document()
    spec = FigureSpec("triad", unit="%", better="higher")
    document = replace(document, tests=(replace(document.tests[0], figures=(spec,)),))
    (item,) = [item for item in propose([(document, story.record())], THREE).rows if item.figure == "triad"]
    assert item.must == "80% -3%"


def test_only_passed_runs_in_force_count(story: Any) -> None:
    story.repeats = 4
    story.run("a/1", "passed", 1, figures={"triad": 10.0})
    story.run("a/1", "performance", 2, figures={"triad": 99.0})
    story.run("a/1", "incorrect", 3, figures={"triad": 99.0})
    old = story.run("a/1", "passed", 4, figures={"triad": 99.0})
    value = {"component": "main", "repeat": 4, "attempt": 1, "verdict": "failed", "supersedes": len(story.events)}
    story.add("verdict", run=old, case="a/1", value=value | {"figures": {}}, reason="judged again")
    assert (only(story).count, only(story).median) == (1, 10.0)


def test_few_runs_and_outliers_are_said(story: Any) -> None:
    story.repeats = 7
    story.values("a/1", [10.0, 10.1, 10.2, 9.9, 9.8, 10.0, 20.0])
    story.values("b/1", [1.9, 2.0])
    of_a, of_b = rows(story)
    assert of_a.warnings == ("1 outlier: r000007 20 GB/s",)
    assert of_b.warnings == ("only 2 runs",)
    assert of_b.about.endswith("; c1 epoch 1; only 2 runs")


def test_a_bound_that_asks_for_nothing_is_said(story: Any) -> None:
    story.repeats = 5
    story.values("a/1", [1.0, 5.0, 9.0, 13.0, 17.0])
    assert only(story).warnings == ("so wide a spread that the least asked for is below 0",)
    assert only(story, tolerance=FIVE_PERCENT).warnings == ()


def test_cases_without_a_passed_run_are_named(story: Any) -> None:
    story.run("a/1", "failed")
    story.values("b/1", [1.0])
    found = propose([(story.document(), story.record())], THREE)
    assert found.without == ("c1: no run of a/1 passed",)


def test_several_campaigns_are_one_sample_and_each_is_named_with_its_epochs(story: Any) -> None:
    other = type(story)()
    other.events[0].value["campaign"] = "c2"
    story.repeats = other.repeats = 3
    story.values("a/1", [1.0, 2.0])
    other.values("a/1", [3.0])
    other.add("amended", value={"document": "e" * 64})
    other.run("a/1", repeat=2, figures={"triad": 4.0})
    item = only(story, other)
    assert (item.count, item.origins) == (4, ("c1 epoch 1", "c2 epochs 1, 2"))


def test_an_outlier_among_several_campaigns_says_which_one_it_is_of(story: Any) -> None:
    """Each campaign has a run r000001."""
    other = type(story)()
    other.events[0].value["campaign"] = "c2"
    story.repeats = other.repeats = 4
    story.values("a/1", [10.0, 10.1, 10.2, 9.9])
    other.values("a/1", [10.0, 10.1, 20.0, 9.8])
    assert only(story, other).warnings == ("1 outlier: c2 r000003 20 GB/s",)


def test_cases_are_told_apart_by_their_parameters(story: Any) -> None:
    story.case("a/1", parameters=(("n", "1"),), toolchain="gcc")
    story.case("a/2", parameters=(("n", "2"), ("toolchain", "gcc")), toolchain="gcc")
    story.values("a/1", [1.0])
    story.values("a/2", [2.0])
    assert [item.where for item in rows(story)] == [
        (("system", "box"), ("toolchain", "gcc"), ("n", "1")),
        (("system", "box"), ("n", "2"), ("toolchain", "gcc")),
    ]
