"""The papers' derived numbers: each comes out as printed, or has a reason; and how the command shows them."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from shakedown.catalogue.paper_numbers import papers
from shakedown.cli.main import cli
from shakedown.machine import this_system
from shakedown.metrics.rows.table import fold_runs
from shakedown.metrics.scores.results import results_of
from shakedown.model.errors import UsageError
from shakedown.plans import read_plan
from shakedown.queries.papers import Recomputed, recomputed

EXAMPLE = Path(__file__).parents[2] / "examples/papers"


@pytest.fixture(scope="module")
def numbers() -> tuple[Recomputed, ...]:
    return recomputed()


def test_a_number_comes_out_as_printed_or_has_a_reason(numbers: tuple[Recomputed, ...]) -> None:
    assert {one.paper for one in numbers} == {"000", "001", "002", "003", "004"}
    assert len(numbers) > 150
    assert [one.what for one in numbers if one.differs and not one.because] == []
    assert [one.what for one in numbers if not one.differs and one.because] == []
    assert all(one.where for one in numbers if one.printed)


@pytest.mark.parametrize(
    ("paper", "what", "printed", "computed"),
    [
        ("001", "Hopper, sustained system performance, 6,384 nodes", "52.1212", 52.12124),
        ("001", "Trinity, sustained system performance, 9,984 nodes", "580.92", 580.9237),
        ("001", "Trinity, target of the sustained system performance", "489", 489.3256),
        ("001", "Nalu, capability improvement", "1.67", 1.15 / 0.689),
        ("001", "PARTISN, capability improvement", "5.68", 9 * 209.4 / 332.047),
        ("001", "Qbox, capability improvement", "20.74", 3.75**3 * 1663 / 4227.45),
        ("000", "capability improvement, the arithmetic mean of the three", "9.36", 9.363169),
        ("001", "Trinity, miniDFT in December: Tflop/s of a node", "0.4142", 9180.11 / (47 * 471.62)),
        ("003", "asci-q: archive, disk and tape", "2.138 GB/s", 2.138),
    ],
)
def test_what_the_papers_settle_on(
    paper: str, what: str, printed: str, computed: float, numbers: tuple[Recomputed, ...]
) -> None:
    (one,) = [one for one in numbers if (one.paper, one.what) == (paper, what)]
    assert (one.printed, one.differs) == (printed, False)
    assert one.computed == pytest.approx(computed, rel=1e-6)


@pytest.mark.parametrize(
    ("what", "printed", "computed", "reason"),
    [
        ("jobs of the ten days", "4017", 3757, "260 are missing"),
        ("Trinity, sustained system performance, of the 9,975", "580.92", 580.400, "9,984 nodes (paper 000)"),
        ("trinity: loss of write bandwidth", "7%", 100 * (1 - 772 / 806), "neither is 7"),
        ("c5: F2", "37.5 PB", 6 * 12 * 0.489, "6 x 12 x 489 TB"),
        ("asci-q: tape drives", "74", 36 + 20 + 16, "36 + 20 + 16"),
        ("sequoia: SPARTA", "4.7", 4.8, "three times 1.6"),
    ],
)
def test_what_does_not_add_up(
    what: str, printed: str, computed: float, reason: str, numbers: tuple[Recomputed, ...]
) -> None:
    (one,) = [one for one in numbers if one.what.startswith(what)]
    assert (one.printed, one.differs) == (printed, True)
    assert one.computed == pytest.approx(computed, rel=1e-5)
    assert reason in one.because


def test_the_machine_that_the_ten_days_filled(numbers: tuple[Recomputed, ...]) -> None:
    """Computed by hand from Table IV: mean x jobs x nodes of each test, over 1,920 nodes and 240 hours."""
    table = next(paper for paper in papers() if paper.paper == "004").tables["stability"]
    rows = [[float(cell) for cell in row] for row in table.rows.values()]
    hours = math.fsum(nodes * mean * jobs / 3600 for nodes, mean, _, jobs in rows)
    (one,) = [one for one in numbers if one.what.startswith("share of 1,920 nodes")]
    assert one.computed == pytest.approx(100 * hours / (1920 * 240)) == pytest.approx(47.0, abs=0.05)


# ---- the command -----------------------------------------------------------------------------------------------------


def papers_command(*words: str) -> Result:
    return CliRunner().invoke(cli, ["papers", *words], standalone_mode=False, catch_exceptions=True)


def test_a_paper_is_a_table_with_its_reasons() -> None:
    said = papers_command("004").output
    lines = said.splitlines()
    assert lines[0] == "004  Balancing Load in More Ways than One (Melesse Vergara et al.)"
    at = next(number for number, line in enumerate(lines) if line.startswith("!  jobs of the ten days"))
    assert lines[at].split()[-2:] == ["4017", "3,757"]
    assert lines[at + 1].strip().startswith("IV.E; Table IV: the table has 3,757")
    assert max(map(len, lines)) <= 80
    assert "003  " not in said


def test_only_what_differs() -> None:
    whole, some = papers_command().output, papers_command("--differs").output
    assert whole.splitlines()[-1] == some.splitlines()[-1]  # the count is of all of them
    rows = [line for line in some.splitlines() if line.startswith(("!  ", "   ")) and not line.startswith("     ")]
    marked = [line for line in rows if line.startswith("!")]
    assert len(marked) == sum(line.startswith("!") for line in whole.splitlines()) > 20


def test_as_data() -> None:
    found = json.loads(papers_command("002", "--json").output)
    assert found["titles"]["002"].startswith("Transitioning Users")
    assert {one["paper"] for one in found["numbers"]} == {"002"}
    (one,) = [one for one in found["numbers"] if one["what"].startswith("bytes of a transfer")]
    assert (one["printed"], one["computed"], one["how"]) == ("1024576", 1048576.0, "")


def test_a_paper_that_is_none() -> None:
    error = papers_command("005").exception
    assert isinstance(error, UsageError)
    assert str(error) == "there is no paper '005'\nhint: there are: 000, 001, 002, 003, 004"


def test_the_example_has_the_scores_to_the_printed_digits() -> None:
    """Every value is given by its plan, so its scores need no run."""
    document = read_plan(EXAMPLE, "papers", this_system)
    scores = {one.name: one.value for one in results_of(document, {}, fold_runs([]))}
    assert {name: round(value or 0.0, 4) for name, value in scores.items()} == {
        "ssp-hopper": 52.1212,
        "ssp-trinity": 580.9237,
        "ssp-proposed": 489.3256,
        "ci-trinity": 9.3632,
    }
