"""What a load on the network does to others, as a table: table II of paper 004 from the figures of a run."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import pytest

from shakedown.metrics import statistics
from shakedown.metrics.cases import CaseSummary, FigureSummary
from shakedown.metrics.congestion import Congestion, congestion_of
from shakedown.model.nouns import Case, Component, FigureSpec, Test
from shakedown.report import write_report

Better = Literal["lower", "higher"]

if TYPE_CHECKING:
    from tests.report.conftest import CampaignBuilder

# quantity: unit, better, isolated and congested averages as paper 004 prints them; 99th percentiles, which it does not print
TABLE_II: dict[str, tuple[str, Better, float, float, float, float]] = {
    "latency": ("us", "lower", 2.6, 2.8, 3.0, 6.0),
    "bandwidth": ("MiB/s/rank", "higher", 1688.0, 1693.0, 1500.0, 500.0),
    "allreduce": ("us", "lower", 42.3, 43.0, 50.0, 75.0),
}
IMPACTS = {"latency": (1.0769, 2.0), "bandwidth": (0.99705, 3.0), "allreduce": (1.01655, 1.5)}
SUFFIXES = ("", "_congested", "_p99", "_congested_p99")


def figures() -> dict[str, float]:
    return {
        f"{name}{suffix}": value
        for name, (_, _, *values) in TABLE_II.items()
        for suffix, value in zip(SUFFIXES, values, strict=True)
    }


def specs() -> tuple[FigureSpec, ...]:
    return tuple(
        FigureSpec(f"{name}{suffix}", unit=unit, better=better)
        for name, (unit, better, *_) in TABLE_II.items()
        for suffix in SUFFIXES
    )


def summary(*names: str, **values: float) -> CaseSummary:
    """A case whose figures have one value each; figures of ``names`` have none."""
    shown = [
        FigureSummary(FigureSpec(name, unit="us", better="lower"), numbers, statistics.describe(numbers), None, (), 0)
        for name, numbers in [*((name, (value,)) for name, value in values.items()), *((name, ()) for name in names)]
    ]
    return CaseSummary("main", Case("c", "c", ""), 1, 1, 1, 1, 0, 0, (), (), tuple(shown))


def test_the_report_has_averages_99th_percentiles_and_impacts(new: Callable[..., CampaignBuilder]) -> None:
    builder = new(tests=(Test("hello", figures=specs()),), components=(Component("net", "performance", ("hello",), 3),))
    for repeat, factor in enumerate((0.5, 1.0, 4.0), 1):  # the median is that of the paper, the mean is not
        builder.run("hello", "net", repeat=repeat, figures={name: factor * value for name, value in figures().items()})
    builder.end()
    page = write_report(builder.save())
    with (page.parent / "report/tables/congestion.csv").open() as file:
        rows = {row["quantity"]: row for row in csv.DictReader(file)}
    assert list(rows) == list(TABLE_II)
    for name, (unit, better, *values) in TABLE_II.items():
        row = rows[name]
        assert (row["unit"], row["better"], row["n"], row["component"]) == (unit, better, "3", "net")
        columns = ("isolated", "congested", "isolated_p99", "congested_p99")
        assert [float(row[column]) for column in columns] == pytest.approx(values)
        found = [float(row["impact"]), float(row["impact_p99"])]
        assert found == pytest.approx(IMPACTS[name], rel=1e-4)
    text = page.read_text()
    section = text[text.index('<h2 id="congestion">') :].partition("<h2 ")[2]
    line = re.search(r">latency</span></b>.*?</tr>", section)
    assert line and re.findall(r'<td class="n">([^<]*)</td>', line.group()) == [
        *("3", "2.6", "2.8", "1.1\N{NO-BREAK SPACE}×", "3", "6", "2\N{NO-BREAK SPACE}×"),
    ]
    assert '<a href="#congestion">Congestion</a>' in text


def test_a_report_without_such_figures_has_no_such_table(new: Callable[..., CampaignBuilder]) -> None:
    builder = new(
        tests=(Test("hello", figures=(FigureSpec("latency", unit="us", better="lower"),)),),
        components=(Component("net", "performance", ("hello",), 1),),
    )
    builder.run("hello", "net", figures={"latency": 2.0})
    builder.end()
    assert 'id="congestion"' not in write_report(builder.save()).read_text()


def test_rows_of_a_table_are_quantities_of_their_own_whichever_way_the_figure_is_called() -> None:
    found = list(
        congestion_of([summary(**{"latency[Name=a]": 2.0, "congested_latency[Name=a]": 3.0, "latency[Name=b]": 9.0})])
    )
    assert found == [Congestion("main", "c", "", "a", "us", "lower", 1, 2.0, 3.0)]
    assert (found[0].impact, found[0].impact_p99) == (1.5, None)


@pytest.mark.parametrize(
    "case",
    [
        summary("latency_congested", latency=2.0),  # it was not measured under the load
        summary("latency", latency_congested=2.0),
        summary(latency=2.0),
        summary(latency_p99=2.0, latency_congested_p99=3.0),  # percentiles alone are no row
    ],
)
def test_what_lacks_one_of_both_is_no_row(case: CaseSummary) -> None:
    assert list(congestion_of([case])) == []


def test_an_impact_of_nothing_is_none() -> None:
    assert Congestion("m", "c", "", "q", "us", "lower", 1, 0.0, 3.0).impact is None
    assert Congestion("m", "c", "", "q", "MB/s", "higher", 1, 3.0, 0.0).impact is None
