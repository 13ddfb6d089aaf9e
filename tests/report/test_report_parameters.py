"""Figures against a parameter of their test: which are drawn, with which curves, through which points."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from shakedown.metrics.judging.criteria import score
from shakedown.metrics.rows.table import fold_runs
from shakedown.metrics.scaling import Series, Step
from shakedown.model.nouns import Case, Component, FigureSpec, Test
from shakedown.model.scaling import Measurement, Scaling, points_of
from shakedown.report.evidence import find_evidence
from shakedown.report.figures.curves import Picture
from shakedown.report.figures.parameters import draw_parameters, pictures_along
from shakedown.report.figures.scaling import figure_of
from shakedown.report.figures.style import style

if TYPE_CHECKING:
    from tests.report.conftest import CampaignBuilder

RATE = FigureSpec("rate", unit="GB/s", better="higher")


def pictures(
    new: Callable[..., CampaignBuilder],
    rows: Sequence[Mapping[str, str]],
    figures: tuple[FigureSpec, ...] = (RATE,),
    along: str = "",
    chains: Sequence[str] = ("",),
) -> tuple[list[Picture], Any]:
    """Of one test with these parameters; the k-th case runs for 10 k and 10 k + 2 s, and its rate is k."""
    pairs = list(itertools.product(chains, rows))
    names = [f"t/{number}" for number in range(1, len(pairs) + 1)]
    cases = [
        Case(name, "t", "local:all", chain, tuple(row.items())) for name, (chain, row) in zip(names, pairs, strict=True)
    ]
    test = Test("t", figures=figures, scaling=Scaling(along, "strong") if along else None)
    builder = new(tests=(test,), cases=tuple(cases), components=(Component("main", "performance", tuple(names), 2),))
    for number, name in enumerate(names, 1):
        for repeat in (1, 2):
            seconds = 10.0 * number + 2 * (repeat - 1)
            builder.run(
                name, "main", repeat=repeat, seconds=seconds, figures={"rate": float(number)} if figures else {}
            )
    builder.end()
    record = fold_runs(builder.events)
    evidence = find_evidence(builder.document, record, score(builder.document, record))
    drawn = draw_parameters(builder.document, evidence.cases)
    return list(pictures_along(evidence.cases, {("t", along)})), drawn


def threads(*counts: int, **more: str) -> list[dict[str, str]]:
    return [{"threads": str(count), **more} for count in counts]


def test_a_figure_against_threads_with_a_curve_for_each_toolchain(new: Callable[..., CampaignBuilder]) -> None:
    (found,), (drawn, said) = pictures(new, threads(8, 1, 2), chains=("gcc", "clang"))
    assert (found.figure, found.column, found.unit) == ("rate", "threads", "GB/s")
    assert [(curve.name, [point[:2] for point in curve.points]) for curve in found.curves] == [
        ("toolchain=gcc", [(1.0, 2.0), (2.0, 3.0), (8.0, 1.0)]),  # in the order of the axis, not of the plan
        ("toolchain=clang", [(1.0, 5.0), (2.0, 6.0), (8.0, 4.0)]),
    ]
    assert [one.file for one in drawn] == ["along-01-t-rate"] and said == []
    assert b"<svg" in drawn[0].in_format("svg")


def test_the_run_time_where_a_test_has_no_figure(new: Callable[..., CampaignBuilder]) -> None:
    (found,), _ = pictures(new, threads(1, 2, 4), figures=())
    assert (found.figure, found.unit) == ("elapsed", "s")
    assert found.curves[0].points == [(1.0, 11.0, 10.0, 12.0), (2.0, 21.0, 20.0, 22.0), (4.0, 31.0, 30.0, 32.0)]


def test_ranks_and_threads_of_a_full_node_are_one_axis(new: Callable[..., CampaignBuilder]) -> None:
    """Paper 004, VII.C: 128 ranks of one thread to 2 of 64. The second parameter follows the first and is told."""
    rows = [{"ranks": str(128 // count), "threads": str(count)} for count in (1, 4, 16, 64)]
    (found,), (drawn, _) = pictures(new, rows)
    assert found.column == "ranks" and [point[0] for point in found.curves[0].points] == [2.0, 8.0, 32.0, 128.0]
    assert "With it: threads 1, 4, 16, 64." in drawn[0].caption


def test_sizes_with_units_are_numbers_of_one_unit(new: Callable[..., CampaignBuilder]) -> None:
    (found,), _ = pictures(new, [{"transfer": size} for size in ("64 KiB", "1 MiB", "16 MiB")])
    assert found.column == "transfer, KiB"
    assert [point[0] for point in found.curves[0].points] == [64.0, 1024.0, 16384.0]


def test_two_free_parameters_give_a_picture_each(new: Callable[..., CampaignBuilder]) -> None:
    rows = [{"n": str(n), "threads": str(count)} for n in (1, 2, 3) for count in (1, 2, 4)]
    found, _ = pictures(new, rows)
    assert [(one.column, len(one.curves)) for one in found] == [("n", 3), ("threads", 3)]
    assert [curve.name for curve in found[1].curves] == ["n=1", "n=2", "n=3"]


@pytest.mark.parametrize(
    "rows",
    [
        threads(1, 2),  # two places are no curve
        [{"compiler": name} for name in ("gcc", "clang", "icx")],
        [{"size": size} for size in ("1 MiB", "2 MiB", "3 s")],
        [{"n": str(n), "m": str(m)} for n, m in ((1, 1), (2, 1), (3, 2), (1, 2))],  # nothing else alike at three places
    ],
)
def test_what_is_no_curve_is_not_drawn(new: Callable[..., CampaignBuilder], rows: list[dict[str, str]]) -> None:
    assert pictures(new, rows)[1] == ([], [])


def test_what_a_test_scales_along_has_its_own_figure(new: Callable[..., CampaignBuilder]) -> None:
    assert pictures(new, threads(1, 2, 4), along="threads")[1] == ([], [])


def test_more_curves_than_can_be_told_apart_are_a_picture_for_each_size(new: Callable[..., CampaignBuilder]) -> None:
    """Paper 004, figures 14 to 16: six builds of LAMMPS, a figure for each number of atoms."""
    rows = [
        {"threads": str(count), "package": f"p{build}", "atoms": atoms}
        for count in (1, 2, 4)
        for build in range(6)
        for atoms in ("6.9", "16.3", "32")
    ]
    found, (drawn, said) = pictures(new, rows)
    along = [one for one in found if one.column == "threads"]
    assert [one.where for one in along] == ["atoms=6.9", "atoms=16.3", "atoms=32"]
    assert all([curve.name for curve in one.curves] == [f"package=p{build}" for build in range(6)] for one in along)
    assert [one.title for one in drawn[:3]] == [f"rate of t in main, {one.where}" for one in along]
    (over,) = [one for one in found if one.column == "atoms"]  # along a second axis all are one picture
    assert len(over.curves) == 18 and said == []


def test_a_parameter_of_many_values_makes_no_row_of_pictures(new: Callable[..., CampaignBuilder]) -> None:
    rows = [row for build in range(9) for row in threads(1, 2, 4, package=f"p{build}")]
    (found,), _ = pictures(new, rows)
    assert (found.where, len(found.curves)) == ("", 9)


def test_a_figure_of_scaling_shows_what_was_measured() -> None:
    """Two compilers scale alike, and one takes twice as long: speed-up and efficiency cannot tell."""
    series = []
    for name, factor in (("gcc", 1.0), ("classic", 2.0)):
        sizes = [Measurement(size, factor * 100.0 / size, 1.0, 1) for size in (1.0, 2.0, 4.0)]
        steps = [Step("t", point.size, 0, point) for point in points_of(Scaling("n", "strong"), sizes)]
        series.append(Series("main", "t", "", f"pe={name}", "n", "strong", "time", "s", False, tuple(steps)))
    with style():
        measured, speedup, _ = figure_of("scaling-01-t", series)._figure.axes
        lines = [list(line.get_ydata()) for line in measured.get_lines()]
        assert measured.get_ylabel() == "time, s" and speedup.get_ylabel() == "speed-up over the smallest"
    assert lines == [[100.0, 50.0, 25.0], [200.0, 100.0, 50.0]]


def test_an_axis_of_values_that_hardly_differ_has_numbers() -> None:
    """84 to 96 ms over 2 to 16 nodes: a logarithmic axis has a number at 64 and at 128."""
    for values, scale in (((84.0, 88.0, 92.0, 96.0), "linear"), ((16.0, 32.0, 64.0, 128.0), "log")):
        sizes = [Measurement(2.0**at, value, 1.0, 1) for at, value in enumerate(values, 1)]
        steps = [Step("t", point.size, 0, point) for point in points_of(Scaling("n", "weak"), sizes)]
        series = [Series("main", "t", "", "", "n", "weak", "time", "ms", False, tuple(steps))]
        with style():
            measured = figure_of("scaling-01-t", series)._figure.axes[0]
            low, high = measured.get_ylim()
            numbers = [number for number in measured.get_yticks() if low <= number <= high]
        assert (measured.get_xscale(), measured.get_yscale()) == ("log", scale) and len(numbers) >= 3
