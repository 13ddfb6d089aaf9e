"""A score in the report: on the page, in the terminal, and in a table that it can be computed from by hand."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from shakedown.metrics.judging.criteria import score
from shakedown.metrics.requirements import requirements
from shakedown.metrics.rows.table import fold_runs
from shakedown.metrics.scores.inputs import Input
from shakedown.metrics.scores.results import needs_words, result_of
from shakedown.model.judging import Contract, ContractRow, Criterion
from shakedown.model.nouns import Case, Component, Test
from shakedown.model.scores import Load, Score, ScorePart
from shakedown.report import write_report
from shakedown.report.figures.scores import draw_scores, figure_of
from shakedown.report.terminal import render_scorecard

if TYPE_CHECKING:
    from tests.report.conftest import CampaignBuilder

    from shakedown.metrics.judging.scorecard import Scorecard

pytestmark = pytest.mark.usefixtures("without_figures")
NAMES = ("minife", "amg")


@pytest.fixture
def told(new: Callable[..., CampaignBuilder]) -> CampaignBuilder:
    """minife takes 4 s, then 2 s, and amg 16 s; 8 Tflop on two nodes, of a system of 16: rates 1 and 1/4, mean 1/2, SSP 8."""
    parts = [ScorePart(name, "main", name, name, tflop=8.0, load=Load(nodes=2)) for name in NAMES]
    bound = Criterion("ssp", "score", ">=", 16.0, "TFLOP/s", of="ssp", must=">= 16", inputs="1" * 64, clause="7.2 <b>")
    builder = new(
        components=(Component("main", "performance", NAMES, 2), Component("scores", "scores", (), criteria=(bound,))),
        cases=tuple(Case(name, name, "local:all") for name in NAMES),
        tests=tuple(Test(name) for name in NAMES),
        scores=(Score("ssp", "ssp", tuple(parts), "TFLOP/s", (("", 16.0),), about="the <score>", clause="7.2 <b>"),),
    )
    for case, repeat, seconds in (("minife", 1, 4.0), ("minife", 2, 2.0), ("amg", 1, 16.0), ("amg", 2, 16.0)):
        builder.run(case, "main", repeat=repeat, seconds=seconds)
    builder.end()
    return builder


def test_a_score_rests_on_as_many_values_whoever_asks_for_it(told: CampaignBuilder) -> None:
    """The plan's bound and a contract row ask for the same number, of two parts with two runs each: each rests on two values."""
    row = ContractRow(
        "deal:1", "deal", "scores", "ssp", ">= 4 TFLOP/s", "contract", low=4.0, unit="TFLOP/s", clause="7.2"
    )
    document, record = replace(told.document, contracts=(Contract("deal", (row,)),)), fold_runs(told.events)
    found = requirements(document, record, score(document, record))
    counts = {one.kind: one.count for one in found if "ssp" in (one.name, one.what)}
    assert counts == {"score": 2, "contract row": 2}


def test_a_bound_on_a_part_stands_among_what_is_asked_for(told: CampaignBuilder) -> None:
    """The score of 8 is met and minife alone is not, and that rejects: the clause has a line for each, as the table does."""
    whole = told.document.components[-1].criteria[0]
    bounds = (
        replace(whole, bound=1.0, must=">= 1"),
        *(replace(whole, name=f"ssp.{name}", of=f"ssp.{name}", bound=least, must=f">= {least:g}", inputs="") for name, least in
          (("minife", 20.0), ("amg", 0.2))),
    )  # fmt: skip
    asked = replace(told.document.components[-1], criteria=bounds)
    document, record = replace(told.document, components=(told.document.components[0], asked)), fold_runs(told.events)
    card = score(document, record)
    found = [
        (one.clause, one.kind, one.name, one.outcome, one.count) for one in requirements(document, record, card)[:3]
    ]
    assert found == [
        ("7.2 <b>", "score", "ssp", "met", 2),
        ("7.2 <b>", "part of a score", "ssp.minife", "not met", 1),
        ("7.2 <b>", "part of a score", "ssp.amg", "met", 1),
    ]
    (minife,) = (one for one in requirements(document, record, card) if one.name == "ssp.minife")
    assert minife.what == "minife: Tflop/s on a node" and minife.margin == pytest.approx((16 - 20) / 20)


def test_the_page_has_the_score_its_runs_and_what_it_needs(told: CampaignBuilder) -> None:
    campaign = told.save()
    write_report(campaign)
    page = (campaign / "report.html").read_text()
    begin = page.index('<h2 id="scores">')
    section = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page[begin : page.index("<h2", begin + 1)]))
    for said in (
        *("8 TFLOP/s", "must &gt;= 16", "Geometric mean 0.5", "r000001", "r000003", "the &lt;score&gt;"),
        *(
            "Every part would have to be 100% faster",
            "alone it would have to be 300% faster",
            "10% faster: 8.39 TFLOP/s",
        ),
    ):
        assert said in section, said
    assert '<a href="#scores">' in page
    assert "The interval of a score at 95 % is that of what all repeats say" in page


def test_a_score_that_is_high_enough_says_so_of_the_whole_and_not_of_its_parts(told: CampaignBuilder) -> None:
    """A part may miss a bound of its own all the same. Sustained performance has the share of each application."""
    record = fold_runs(told.events)
    (component,) = (part for part in told.document.components if part.name == "scores")
    easy = replace(component, criteria=(replace(component.criteria[0], bound=8.0, must=">= 8"),))
    others = tuple(part for part in told.document.components if part.name != "scores")
    document = replace(told.document, components=(*others, easy))
    (found,) = score(document, record).scores
    said = " ".join(render_scorecard(score(document, record)).split())
    assert needs_words(found) == "as a whole it is fast enough" and needs_words(found) in said
    assert "every part" not in said
    assert sum(part.share or 0.0 for part in found.parts) == pytest.approx(1)


def test_a_part_has_a_share_of_the_sum_where_an_arithmetic_mean_decides() -> None:
    old = Load(size=1.0)
    parts = tuple(ScorePart(name, "main", name, name, baseline=old, baseline_value=8.0, given=4.0) for name in NAMES)
    parts = (parts[0], replace(parts[1], given=2.0))
    inputs = [Input(part, part.given) for part in parts]
    shares = {
        mean: [part.share for part in result_of(Score("ci", "ci", parts, mean=mean), None, inputs).parts]
        for mean in ("arithmetic", "geometric", "harmonic")
    }
    assert shares == {"arithmetic": [2 / 6, 4 / 6], "geometric": [None, None], "harmonic": [None, None]}


def test_the_table_gives_the_score_again(told: CampaignBuilder) -> None:
    campaign = told.save()
    write_report(campaign)
    with (campaign / "report/tables/scores.csv").open() as file:
        rows = list(csv.DictReader(file))
    rates = [float(row["tflop"]) / (float(row["nodes"]) * float(row["part_value"])) for row in rows]
    assert rates == [1.0, 0.25] == [float(row["result"]) for row in rows]
    assert math.prod(rates) ** 0.5 * float(rows[0]["system_nodes"]) == pytest.approx(float(rows[0]["value"]))
    assert [(row["part"], row["run"], row["runs"], row["settled"]) for row in rows] == [
        ("minife", "r000001", "2", "yes"),
        ("amg", "r000003", "2", "yes"),
    ]
    with (campaign / "report/tables/recipes.csv").open() as file:
        recipe = next(row["computed_from"] for row in csv.DictReader(file) if row["criterion"] == "ssp")
    assert recipe.startswith("scores.csv, rows with score = ssp")


def test_the_terminal_has_it_part_by_part(told: CampaignBuilder) -> None:
    text = render_scorecard(score(told.document, fold_runs(told.events)))
    assert max(map(len, text.splitlines())) <= 80
    said: Any = " ".join(text.split())
    assert "score ssp (ssp): 8 TFLOP/s, 95 % 1.052229 TFLOP/s to 86.01708 TFLOP/s, must >= 16" in said
    assert (
        "minife: 4 s (r000001), Tflop/s on a node 1; 10% faster: 8.39 TFLOP/s; alone it would have to be 300% faster"
        in said
    )
    assert "NOT MET ssp: ssp = 8 TFLOP/s (geometric mean 0.5); it hangs on minife r000001, amg r000003" in said


def test_the_figure_has_a_dot_for_each_part_and_the_means(told: CampaignBuilder) -> None:
    """What a chart of capability improvement shows (paper 001): each application, the mean, and its own bound."""
    record = fold_runs(told.events)
    card = score(told.document, record)
    (drawing,), said = draw_scores(material(card))
    assert (drawing.file, said) == ("score-01-ssp", [])
    assert drawing.caption == "ssp is 8 TFLOP/s, must >= 16."
    svg = drawing.in_format("svg").decode()
    for word in ("minife", "amg", "geometric mean 0.5", "Tflop/s on a node"):
        assert word in svg, word
    assert "must of the part" not in svg
    bound = drawn_with(card, {"ssp.amg": 0.5})
    assert "must of the part" in bound


def drawn_with(card: Scorecard, bounds: dict[str, float]) -> str:
    return figure_of(1, card.scores[0], bounds).in_format("svg").decode()


def material(card: Scorecard) -> Any:
    return SimpleNamespace(evidence=SimpleNamespace(scorecard=card))


def test_one_part_is_a_row_and_a_score_without_a_number_has_no_figure(told: CampaignBuilder) -> None:
    card = score(told.document, fold_runs(told.events))
    (found,) = card.scores
    for one in (replace(found, parts=found.parts[:1]), replace(found, value=None)):
        assert draw_scores(material(replace(card, scores=(one,)))) == ([], [])


def test_a_plan_without_scores_has_no_section(new: Callable[..., CampaignBuilder], tmp_path: Path) -> None:
    builder = new()
    builder.run("hello", "main")
    builder.end()
    campaign = builder.save()
    write_report(campaign)
    page = (campaign / "report.html").read_text()
    assert 'id="scores"' not in page
    assert "The interval of a score" not in page
