"""Scaling: numbers that follow by hand or from a law that the test knows; the criterion; what is not known yet."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from shakedown.cli.compare import percent
from shakedown.cli.scaling import _render
from shakedown.metrics.judging.criteria import score
from shakedown.metrics.judging.populations import populations
from shakedown.metrics.rows.table import fold_runs
from shakedown.metrics.scaling import Series, scaled
from shakedown.model.errors import UsageError
from shakedown.model.nouns import Document
from shakedown.model.scaling import Measurement, Scaling, falls_below, fitted_serial, points_of

STRONG = Scaling("n", "strong")
WEAK = Scaling("n", "weak")
RATE = Scaling("n", "weak", "triad", higher=True)


def timed(scaling: Scaling, *pairs: tuple[float, float]) -> Any:
    work = {size: size if scaling.kind == "weak" else 1.0 for size, _ in pairs}
    return points_of(scaling, [Measurement(size, value, work[size], 1) for size, value in pairs])


def test_strong_and_weak_scaling_and_rates_by_hand() -> None:
    """100 s on 1, 28 s on 4: 100 / 28 = 3.571 of 4. The same work for each node, 110 s: 4 x 100 / 110 = 3.636 of 4."""
    _, strong = timed(STRONG, (1, 100.0), (4, 28.0))
    assert strong.speedup == pytest.approx(100 / 28) and strong.efficiency == pytest.approx(0.892857, abs=1e-6)
    assert strong.serial == pytest.approx((0.28 - 0.25) / 0.75)
    _, weak = timed(WEAK, (4, 110.0), (1, 100.0))  # whatever the order they come in
    assert weak.speedup == pytest.approx(4 * 100 / 110) and weak.efficiency == pytest.approx(100 / 110)
    assert weak.serial == pytest.approx((4 - 400 / 110) / 3)
    _, rate = timed(RATE, (2, 50.0), (8, 150.0))  # from two on: 3 times the rate on 4 times the size
    assert (rate.speedup, rate.ideal, rate.efficiency) == (3.0, 4.0, 0.75)


def test_work_that_grows_otherwise_counts_as_the_test_says() -> None:
    """A cube of twice the length is eight times the work; on 8 nodes it takes 10 % longer."""
    _, point = points_of(STRONG, [Measurement(1, 10.0, 1000.0, 1), Measurement(8, 11.0, 8000.0, 1)])
    assert point.speedup == pytest.approx(80 / 11) and point.efficiency == pytest.approx(10 / 11)


@given(st.floats(0.0, 0.9), st.sampled_from([[1, 2, 4, 8], [2, 4, 16], [1, 3, 9, 27, 81], [4, 5]]))
def test_the_serial_share_of_a_program_that_keeps_to_a_law_is_found(share: float, sizes: list[int]) -> None:
    base = sizes[0]
    amdahl = timed(STRONG, *((size, 100.0 * (share + (1 - share) * base / size)) for size in sizes))
    assert fitted_serial(STRONG, amdahl) == pytest.approx(share, abs=1e-9)
    assert all(point.serial == pytest.approx(share, abs=1e-9) for point in amdahl[1:])
    gustafson = [(size, size / (size / base - share * (size / base - 1))) for size in sizes]
    weak = timed(WEAK, *gustafson)
    assert fitted_serial(WEAK, weak) == pytest.approx(share, abs=1e-9)
    assert all(point.serial == pytest.approx(share, abs=1e-9) for point in weak[1:])


def test_the_fitted_share_is_that_of_least_squares() -> None:
    """Held against a search over ten thousand shares."""
    points = timed(STRONG, (1, 100.0), (2, 56.0), (4, 31.0), (8, 19.5))

    def off(share: float) -> float:
        return math.fsum((1 / p.speedup - share - (1 - share) / p.ideal) ** 2 for p in points)

    best = min((number / 10_000 for number in range(10_001)), key=off)
    assert fitted_serial(STRONG, points) == pytest.approx(best, abs=1e-4)


def test_where_it_falls_off_is_the_size_from_which_it_stays_below() -> None:
    """90 % at 2, 70 % at 4, 85 % at 8, 60 % at 16: it comes back at 8, so 16 it is; halfway down in efficiency is halfway in
    the logarithm.
    """
    points = timed(RATE, (1, 1.0), (2, 1.8), (4, 2.8), (8, 6.8), (16, 9.6))
    size, about = falls_below(points, 0.725) or (0, 0)
    assert size == 16 and about == pytest.approx(math.sqrt(8 * 16))
    assert falls_below(points, 0.5) is None
    size, about = falls_below(timed(RATE, (1, 1.0), (2, 1.0)), 1.0) or (0, 0)
    assert size == 2 and about == pytest.approx(1.0)


# ---- campaigns ---------------------------------------------------------------------------------------------------------


def campaign(story: Any, scaling: Scaling = STRONG) -> Document:
    document: Document = story.document()
    tests = tuple(replace(test, scaling=scaling) for test in document.tests)
    return replace(document, tests=tests)


def of(story: Any, scaling: Scaling = STRONG) -> list[Series]:
    document = campaign(story, scaling)
    return scaled(document, populations(document, fold_runs(story.events)))


def sizes(story: Any, values: dict[int, list[float]], figure: str = "elapsed", **others: str) -> None:
    for size, numbers in values.items():
        parameters = (("n", str(size)), *others.items())
        words = ",".join(f"{name}={value}" for name, value in parameters)
        story.case(f"solve/{words}", parameters=parameters)
        story.values(f"solve/{words}", numbers, figure)


def test_cases_that_differ_in_their_size_alone_are_a_series(story: Any) -> None:
    story.repeats = 3
    for how, slow in (("a", 1.0), ("b", 1.2)):
        sizes(story, {4: [30.0 * slow, 29.0 * slow, 31.0 * slow], 1: [100.0, 101.0, 99.0]}, how=how)
    first, second = of(story)
    assert (first.name, second.name) == ("solve, how=a", "solve, how=b")
    assert [step.size for step in first.steps] == [1, 4]
    assert first.steps[1].point is not None and second.steps[1].point is not None
    assert first.steps[1].point.speedup == pytest.approx(100 / 30)  # of the medians
    assert second.steps[1].point.efficiency == pytest.approx(100 / 36 / 4)
    low, high = first.steps[1].interval or (0, 0)
    assert low < 100 / 30 / 4 < high and high - low < 0.15


def test_a_rate_is_a_speed_and_the_values_of_failed_runs_count_nowhere(story: Any) -> None:
    story.repeats = 3
    sizes(story, {1: [10.0, 10.0], 2: [19.0, 19.0]}, "triad")
    story.run("solve/n=2", "failed", repeat=3, figures={"triad": 5.0})
    story.run("solve/n=1", "incorrect", repeat=3, figures={"triad": 99.0})
    (series,) = of(story, RATE)
    assert series.points[1].efficiency == pytest.approx(0.95) and series.points[1].count == 2
    assert series.unit == "GB/s" and series.steps[1].interval is None  # two values are too few


def test_the_criterion_takes_the_worst_series_at_its_size(story: Any) -> None:
    sizes(story, {1: [100.0], 2: [52.0], 4: [40.0]}, how="a")
    sizes(story, {1: [100.0], 2: [60.0], 4: [30.0]}, how="b")
    story.must("efficiency", ">=", 0.84, unit="%", must=">= 84%", at=2.0)
    story.must("efficiency", ">=", 0.60, unit="%", must=">= 60%")
    story.must("efficiency", ">=", 0.9, unit="%", must=">= 90%", at=1.0)
    document = campaign(story)
    at_two, largest, smallest = score(document, fold_runs(story.events)).components[0].criteria
    assert at_two.outcome == "not met" and at_two.measured == pytest.approx(100 / 60 / 2)
    words = "solve, how=b at n=2: 1.667 times the speed / 2 times the n = 83.3%; the worst of 2 series, must >= 84%"
    assert at_two.arithmetic == words
    assert largest.outcome == "met" and largest.measured == pytest.approx(0.625)
    assert smallest.outcome == "met" and smallest.measured == 1.0
    assert [(one.count, one.rests_on) for one in (at_two, largest, smallest)] == [(1, 2), (1, 2), (1, 1)]


@pytest.mark.parametrize("missing", [1, 4])
def test_it_is_undecided_while_a_size_that_it_takes_is_to_come(story: Any, missing: int) -> None:
    story.repeats = 2
    values = {1: [100.0, 100.0], 2: [50.0], 4: [26.0, 26.0]}
    values[missing] = values[missing][:1]
    sizes(story, values)
    story.must("efficiency", ">=", 0.5, unit="%", must=">= 50%")
    document = campaign(story)
    (criterion,) = score(document, fold_runs(story.events)).components[0].criteria
    assert criterion.outcome == "undecided" and ", 1 to come" in criterion.arithmetic


def test_what_waits_for_a_size_in_between_decides_nothing(story: Any) -> None:
    story.repeats = 2
    sizes(story, {1: [100.0, 100.0], 2: [50.0], 4: [26.0, 26.0]})
    story.must("efficiency", ">=", 0.5, unit="%", must=">= 50%")
    (criterion,) = score(campaign(story), fold_runs(story.events)).components[0].criteria
    assert criterion.outcome == "met"


def test_a_size_without_a_value_is_told(story: Any) -> None:
    sizes(story, {1: [100.0], 4: [25.0]})
    story.case("solve/n=8", parameters=(("n", "8"),))
    story.run("solve/n=8", "failed")
    story.must("efficiency", ">=", 0.5, unit="%", must=">= 50%")
    story.add("campaign_end", value={"counts": {}})
    (criterion,) = score(campaign(story), fold_runs(story.events)).components[0].criteria
    assert (
        criterion.outcome == "undecided" and criterion.reason == "no run of solve/n=8 gave a value of elapsed above 0"
    )


@pytest.mark.parametrize(
    ("times", "said"),
    [
        ({1: 100.0, 2: 52.0, 4: 28.0}, "efficiency stays at or above 80.0% at every size measured"),
        ({1: 100.0, 2: 80.0, 4: 28.0}, "efficiency is below 80.0% between, and at or above it at the largest size"),
    ],
)
def test_that_it_does_not_fall_off_is_said_of_what_was_measured(story: Any, times: dict[int, float], said: str) -> None:
    from shakedown.cli.scaling import _render

    sizes(story, {size: [seconds] for size, seconds in times.items()})
    (series,) = of(story)
    assert said in _render(series)


@pytest.mark.parametrize(
    ("at_4", "said"),
    [(400.0, "above 100% the law does not fit"), (10.0, "below 0% the law does not fit"), (30.0, ""), (24.9, "")],
)
def test_a_serial_share_that_is_no_share_is_called_none(story: Any, at_4: float, said: str) -> None:
    sizes(story, {1: [100.0], 4: [at_4]})
    (series,) = of(story)
    assert series.misfit.startswith(said) and bool(series.misfit) == bool(said)
    text = _render(series)
    assert (series.misfit in text) and text.endswith(series.misfit or "(Amdahl)")


@pytest.mark.parametrize(
    ("text", "hint"), [("80", "write 80%"), ("0", "write 80%"), ("much", "write 80%"), ("62.5", "write 62.5%")]
)
def test_an_efficiency_without_a_per_cent_sign_is_told_with_it(text: str, hint: str) -> None:
    with pytest.raises(UsageError) as refused:
        percent(text, "--below", "efficiency")
    assert str(refused.value.hint).startswith(f"{hint};")
    with pytest.raises(UsageError) as refused:
        percent("x")
    assert str(refused.value.hint).startswith("write 2%;")
