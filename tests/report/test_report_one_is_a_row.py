"""One value is a row of a table, no figure: there is nothing to compare it with."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from shakedown.metrics import statistics
from shakedown.metrics.cases import FigureSummary
from shakedown.metrics.ladders import LadderRow, RungRow
from shakedown.model.judging import ContractRow
from shakedown.model.nouns import Component, FigureSpec, Test
from shakedown.report import write_report
from shakedown.report.figures.ladders import draw_ladders
from shakedown.report.figures.machine import draw_machine
from shakedown.report.figures.outputs_read import CasePictures
from shakedown.report.figures.records import IoRate
from shakedown.report.figures.vendor_comparison import draw_sides
from shakedown.report.sides import Side

if TYPE_CHECKING:
    from tests.report.conftest import CampaignBuilder

RATE = FigureSpec("rate", unit="GB/s", better="higher")
VENDOR = ContractRow("k:1", "k", "a", "rate", ">= 10 GB/s", "vendor", low=10.0, unit="GB/s", statistic="mean")


@pytest.mark.parametrize("runs", [1, 2])
def test_a_report_of_one_run_has_no_figure_of_runs(new: Callable[..., CampaignBuilder], runs: int) -> None:
    """Where the time went is drawn from one run on: it has a bar for each stretch of time."""
    builder = new(
        tests=(Test("hello", figures=(RATE,)),), components=(Component("main", "functionality", ("hello",), runs),)
    )
    for repeat in range(1, runs + 1):
        builder.run("hello", "main", repeat=repeat, seconds=60.0, figures={"rate": 3.25})
    builder.end()
    page = write_report(builder.save()).read_text()
    drawn = set(re.findall(r'href="report/figures/([^"]+)\.svg"', page))
    assert (drawn == {"time-spent"}) == (runs == 1) and "<figure" in page
    assert "3.25" in page, "the number is a row"


def side(case: str, *values: float) -> Side:
    measured = FigureSummary(RATE, values, statistics.describe(values), None, (), 0)
    return Side("main", case, RATE, (("", measured),), (VENDOR,), None)


def test_modes_and_vendor() -> None:
    assert draw_sides([side("a", 9.0)]) == ([], [])
    assert len(draw_sides([side("a", 9.0, 9.5)])[0]) == 1
    assert len(draw_sides([side("a", 9.0), side("b", 8.0)])[0]) == 1, "two cases can be compared"


def test_rates_of_a_file_system() -> None:
    rates = tuple(IoRate(name, "shared", 0, "MB/s", 100.0) for name in ("write", "read"))
    drawn = [len(draw_machine([CasePictures("a", "r1", rates=rates[:count], rate_runs=1)])[0]) for count in (1, 2)]
    assert drawn == [0, 1]


def test_ladders() -> None:
    def drawn(*sizes: str) -> int:
        rungs = tuple(RungRow(**rung(size)) for size in sizes)
        ladder = LadderRow("main", "t", "t", "nodes", sizes[-1], "", True, False, rungs)
        return len(draw_ladders(material(ladder))[0])

    assert [drawn("1"), drawn("1", "2")] == [0, 1]


def rung(size: str) -> dict[str, Any]:
    return {"case": f"t/nodes={size}", "size": size, "state": "holds"}


def material(ladder: LadderRow) -> Any:
    from types import SimpleNamespace

    component = SimpleNamespace(name="main", ladders=(ladder,))
    return SimpleNamespace(evidence=SimpleNamespace(scorecard=SimpleNamespace(components=(component,))))
