"""Scores of a plan: published ones from their published inputs to the printed digits; and what a plan may not say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shakedown.conductor.record.differences import differences
from shakedown.metrics.judging.asked_less import asks_less
from shakedown.metrics.judging.criteria import exit_status, score
from shakedown.metrics.rows.table import fold_runs
from shakedown.model.errors import FileProblems
from shakedown.model.events import Event
from shakedown.model.laws import complexity, parse_law
from shakedown.report.tables.scores import SCORES, score_rows
from shakedown.report.terminal import render_scorecard

if TYPE_CHECKING:
    from tests.plans.conftest import SiteRoom

    from shakedown.metrics.judging.scorecard import Scorecard
    from shakedown.metrics.scores.results import ScoreResult

TEST = "test: a\nrun: {command: 'true'}\nfigures: {rate: {regex: 'r=(?P<value>\\d+)', unit: GB/s, better: higher}}\n"
HEAD = "plan: p\nsystem: here\ncomponents: [{performance: {tests: [a], repeats: 2}}]\nscores:\n"

# Sustained system performance of Hopper and Trinity: application, Tflop, nodes and seconds on Hopper, then nodes, proposed and
# measured seconds on Trinity's second phase, and the printed Pi of each.
SSP = """
miniFE    1065.151   2048 92.4299   0.0056 3840 7.7   0.03602 7.2     0.0385
miniGhost 3350.20032 2048 95.97     0.0170 768  29.6  0.14737 33.95   0.1285
AMG       1364.51    2048 151.187   0.0044 768  165   0.01077 160.36  0.0111
UMT       18409.4    2048 1514.28   0.0059 769  552   0.04337 467.26  0.0512
SNAP      4729.66    2048 1013.1    0.0023 768  216   0.02851 212.0   0.0290
miniDFT   9180.11    417  906.24    0.0243 47   1020  0.19149 471.62  0.4142
GTC       19911.348  800  2286.822  0.0109 150  2396  0.0554  2118.73 0.0627
MILC      15036.5    1024 1124.802  0.0131 384  882   0.0444  631.27  0.0620
"""
ROWS = [line.split() for line in SSP.split("\n") if line]

CI = """
  ci:
    kind: ci
    must: ">= 4"
    each: ">= 4"
    parts:
      nalu: {time: 0.689, nodes: 4096, tasks: 262144, baseline: {time: 1.15, nodes: 8192, tasks: 131072}}
      partisn:
        {time: 332.047, law: n, size: 6480 * 262144 * 2, baseline: {time: 209.4, size: 2880 * 32768 * 4}}
      qbox: {time: 4227.45, law: n^3, size: 6000, baseline: {time: 1663 s, size: 1600}}
"""


def card(site: SiteRoom, scores: str) -> Scorecard:
    """The scorecard of a campaign in which the plan's component passed and every value of the scores is given."""
    document = site.test(TEST).plan(HEAD + scores)
    start = Event(
        "campaign_start", seq=1, time=1.0, value={"campaign": "c", "plan": "p", "document": "d" * 64, "seed": 1}
    )
    events, ids = [start], {"component": "performance", "attempt": 1}
    for number in (1, 2):
        about = ids | {"repeat": number}
        events += [
            Event(
                "submit_order",
                seq=2 * number,
                time=2.0,
                run=f"r{number}",
                job=f"j{number}",
                case=document.cases[0].id,
                value=about,
            ),
            Event(
                "verdict",
                seq=2 * number + 1,
                time=3.0,
                run=f"r{number}",
                case=document.cases[0].id,
                value=about | {"verdict": "passed"},
            ),
        ]
    return score(document, fold_runs([*events, Event("campaign_end", seq=9, time=9.0, value={"counts": {}})]))


def ssp(nodes: int, columns: tuple[int, int], must: str = "") -> str:
    """The text of a score of the table: which columns have the nodes and the seconds."""
    parts = [
        f"      {row[0]}: {{tflop: {row[1]}, nodes: {row[columns[0]]}, time: {row[columns[1]]}}}\n" for row in ROWS
    ]
    return f"  ssp:\n    kind: ssp\n    nodes: {nodes}\n{must and f'    must: {must!r}' + chr(10)}    parts:\n{''.join(parts)}"


@pytest.mark.parametrize(
    ("nodes", "columns", "printed", "digits", "rates", "decimals"),
    [
        (6384, (2, 3), 52.1212, 4, 4, 4),
        (9984, (5, 8), 580.92, 2, 9, 4),
        (9984, (5, 6), 489.0, 0, 7, 5),
    ],
    ids=["hopper", "trinity", "trinity proposed"],
)
def test_ssp_as_published(
    site: SiteRoom, nodes: int, columns: tuple[int, int], printed: float, digits: int, rates: int, decimals: int
) -> None:
    """To every printed digit, and the rate of each application; 489 is printed without the decimals of 489.33."""
    result = card(site, ssp(nodes, columns)).scores[0]
    assert result.value is not None
    assert round(result.value, digits) == printed
    assert [round(part.result or 0, decimals) for part in result.parts] == [float(row[rates]) for row in ROWS]
    assert result.unit == "TFLOP/s"


def test_what_was_proposed_stands_beside_what_is_achieved(site: SiteRoom) -> None:
    """Trinity's table (000, page 18): 489 proposed and 580.92 achieved; each part by how much it is over or under its proposal."""
    text = ssp(9984, (5, 8))
    for row in ROWS:
        text = text.replace(f"time: {row[8]}}}", f"time: {row[8]}, proposed: {row[6]} s}}", 1)
    found = card(site, text)
    result = found.scores[0]
    assert result.proposed == pytest.approx(489.33, abs=0.005)
    assert result.over == pytest.approx(580.924 / 489.33 - 1, abs=1e-4)
    parts = {part.part.name: part.over for part in result.parts}
    assert parts == {row[0]: pytest.approx(float(row[6]) / float(row[8]) - 1) for row in ROWS}
    assert min(value or 0.0 for value in parts.values()) < 0 < max(value or 0.0 for value in parts.values())
    said = " ".join(render_scorecard(found).split())
    assert "proposed 489.3256 TFLOP/s, 18.7% better" in said
    assert "proposed 7.7 s, 6.94% better" in said and "% worse" in said
    rows = list(score_rows(found))
    assert [row[SCORES.index("proposed")] for row in rows] == [pytest.approx(float(row[6])) for row in ROWS]


def test_without_a_proposal_of_each_part_there_is_none_of_the_score(site: SiteRoom) -> None:
    text = ssp(9984, (5, 8)).replace("time: 7.2}", "time: 7.2, proposed: 7.7 s}", 1)
    result = card(site, text).scores[0]
    assert (result.proposed, result.over, result.proposals) == (None, None, True)
    assert [part.over is None for part in result.parts].count(False) == 1


def test_ssp_of_other_counts_of_nodes_is_another_number(site: SiteRoom) -> None:
    """Only 9,984 nodes give what is printed: 9,975, which another table has, gives 580.40."""
    assert card(site, ssp(9975, (5, 8))).scores[0].value == pytest.approx(580.40, abs=0.005)


def test_an_ssp_target_is_a_criterion_and_the_outcome_hangs_on_it(site: SiteRoom) -> None:
    reached = card(site, ssp(9984, (5, 8), ">= 489 TFLOP/s"))
    assert (reached.outcome, exit_status(reached)) == ("accepted", 0)
    assert [(part.name, part.kind) for part in reached.components][-1] == ("scores", "scores")
    missed = card(site, ssp(9984, (5, 8), ">= 600"))
    assert (missed.outcome, exit_status(missed)) == ("rejected", 1)
    assert "scores: ssp" in missed.summary
    (criterion,) = missed.components[-1].criteria
    assert criterion.arithmetic.startswith("ssp = 580.9237 TFLOP/s (geometric mean 0.05818547)")
    assert any(
        note.startswith("score ssp has values that the plan gives and nobody measured") for note in missed.remarks
    )
    assert "given by the plan, not measured: miniFE, miniGhost, AMG, UMT and 4 more" in criterion.arithmetic


def test_what_an_ssp_target_needs(site: SiteRoom) -> None:
    """600 / 580.924 of every application; of one alone the eighth power of it. One that is 10 % faster adds 1.1^(1/8)."""
    result = card(site, ssp(9984, (5, 8), ">= 600")).scores[0]
    assert result.value is not None
    assert result.needs == pytest.approx(600 / result.value)
    assert [part.needs for part in result.parts] == pytest.approx([(600 / result.value) ** 8] * 8)
    assert [part.if_faster for part in result.parts] == pytest.approx([result.value * 1.1 ** (1 / 8)] * 8)
    assert sum(part.share or 0 for part in result.parts) == pytest.approx(1)


def test_ssp_of_partitions_of_unlike_nodes_is_the_sum(site: SiteRoom) -> None:
    """100 nodes at sqrt(1 x 4) = 2 Tflop/s each; one partition alone is what the machine of the tests has."""
    text = "  ssp:\n    kind: ssp\n    nodes: {all: 100}\n    parts:\n"
    text += "      x: {tflop: 10, nodes: 2, time: 5 s}\n      y: {tflop: 80, nodes: 2, time: 10 s}\n"
    result = card(site, text).scores[0]
    assert result.value == pytest.approx(200)
    assert [part.label for part in result.parts] == ["x@all", "y@all"]


def test_ci_as_published_with_all_three_means(site: SiteRoom) -> None:
    """The mean 9.36 hides that Nalu failed: its own bound does not."""
    scorecard = card(site, CI)
    result = scorecard.scores[0]
    assert [round(part.result or 0, 2) for part in result.parts] == [1.67, 5.68, 20.74]
    means = {name: round(value, 2) for name, value in result.beside}
    assert means == {
        "arithmetic mean": 9.36,
        "geometric mean": 5.81,
        "harmonic mean": 3.64,
        "least": 1.67,
        "greatest": 20.74,
    }
    assert result.least == "nalu"
    outcomes = {criterion.name: criterion.outcome for criterion in scorecard.components[-1].criteria}
    assert outcomes == {"ci": "met", "ci.nalu": "not met", "ci.partisn": "met", "ci.qbox": "met"}
    assert scorecard.outcome == "rejected"


@pytest.mark.parametrize(("mean", "value"), [("arithmetic", 9.36), ("geometric", 5.81), ("harmonic", 3.64)])
def test_the_bound_is_on_the_mean_that_the_plan_names(site: SiteRoom, mean: str, value: float) -> None:
    text = CI.replace("kind: ci", f"kind: ci\n    mean: {mean}").replace('    each: ">= 4"\n', "")
    scorecard = card(site, text)
    assert round(scorecard.scores[0].value or 0, 2) == value
    assert scorecard.outcome == ("rejected" if mean == "harmonic" else "accepted")


def test_weights_of_several_figures(site: SiteRoom) -> None:
    """66 % of 2 s and 34 % of 1 s are 1.66 s; half of that is twice as good."""
    text = "  ci:\n    kind: ci\n    parts:\n      x: {time: 0.83, baseline: {time: 1.66}}\n"
    assert card(site, text).scores[0].value == pytest.approx(2.0)
    split = "test: a\nrun: {command: 'true'}\nfigures:\n  solve: {regex: 's=(?P<value>\\d+)', unit: s}\n"
    split += "  make: {regex: 'm=(?P<value>\\d+)', unit: ms}\n"
    text = "  ci:\n    kind: ci\n    parts:\n      x: {test: a, figure: {solve: 66%, make: 34%},\n"
    text += "          baseline: {time: {solve: 2, make: 1}}}\n"
    document = site.test(split).plan(HEAD + text)
    (part,) = document.scores[0].parts
    assert part.figures == (("solve", 0.66), ("make", 0.34))
    assert part.baseline_value == pytest.approx(1.66)


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ("  s: {kind: spp, parts: {x: {time: 1}}}\n", "'spp' is not one of ssp, ci, geometric"),
        ("  s: {kind: ssp, nodes: 4, parts: {}}\n", "has no part"),
        ("  s: {kind: ssp, nodes: 4, parts: {x: {time: 1, tflop: 1}}}\n", "how many nodes its time is of"),
        ("  s: {kind: ssp, parts: {x: {time: 1, tflop: 1, nodes: 1}}}\n", "how many nodes the system has"),
        ("  s: {kind: ssp, nodes: 4, parts: {x: {time: 1, nodes: 1}}}\n", "'tflop' is missing"),
        ("  s: {kind: ssp, nodes: {big: 4}, parts: {x: {time: 1, nodes: 1, tflop: 1}}}\n", "no partition 'big'"),
        ("  s: {kind: ssp, nodes: 4, mean: harmonic, parts: {x: {test: a, tflop: 1}}}\n", "'mean' has no meaning"),
        (
            "  s: {kind: ssp, nodes: 4, parts: {x: {time: 1, nodes: 1, tflop: 1, proposed: soon}}}\n",
            "part x: 'soon' is no amount in s",
        ),
        ("  s: {kind: ssp, nodes: 4, must: '<= 4', parts: {x: {test: a, tflop: 1}}}\n", "more is better"),
        ("  s: {kind: ssp, nodes: 4, must: '>= 4 GB/s', parts: {x: {test: a, tflop: 1}}}\n", "no amount of a score"),
        ("  s: {kind: ssp, nodes: 4, must: '>= 1,5', parts: {x: {test: a, tflop: 1}}}\n", "has a decimal comma"),
        ("  s: {kind: ssp, nodes: 4, parts: {x: {test: b, tflop: 1}}}\n", "no component runs test 'b'"),
        ("  s: {kind: ssp, nodes: 4, parts: {x: {test: a, figure: rate, tflop: 1}}}\n", "must be a run time"),
        ("  s: {kind: ssp, nodes: 4, parts: {x: {test: a, time: 4, tflop: 1, nodes: 1}}}\n", "a time is given"),
        ("  s: {kind: ci, parts: {x: {test: a}}}\n", "'baseline' is missing"),
        ("  s: {kind: ci, parts: {x: {test: a, law: n^3, baseline: {time: 4, size: 3}}}}\n", "asks for size of it"),
        ("  s: {kind: ci, parts: {x: {test: a, law: m^3, baseline: {time: 4}}}}\n", "a law knows no 'm'"),
        ("  s: {kind: ci, parts: {x: {test: a, figure: {elapsed: 50%}, baseline: {time: 4}}}}\n", "make 50% together"),
        ("  s: {kind: geometric, parts: {x: {test: a}}}\n", "lower is better, and a mean of it says nothing"),
        ("  s: {kind: geometric, parts: {x: {test: a, figure: rat}}}\n", "has no figure 'rat'"),
        ("  s: {kind: geometric, parts: {x: {test: a, figure: rate, unit: s}}}\n", "must be in s"),
        ("  s: {kind: geometric, parts: {x: {figure: rate}}}\n", "names no test"),
        ("  s: {kind: ssp, nodes: 4, parts: {x: {test: a, tflop: 1, where: {n: '{m}'}}}}\n", "where: "),
        ("  s: {kind: ssp, nodes: 4, parts: {x: {test: a, tflop: 1, where: {n: 3}}}}\n", "no case of test 'a' has n=3"),
        ("  s: {kind: ssp, nodes: 4, parts: {x: {test: a, tflop: 1, mode: fill}}}\n", "has no mode 'fill'"),
        ("  s: {kind: ssp, nodes: 4, parts: {x: {test: a, tflop: -1}}}\n", "'-1' is no amount"),
        (
            "  s: {kind: ssp, nodes: 4, must: '>= 1', parts: {x: {test: a, tflop: 1, component: b}}}\n",
            "no component 'b'",
        ),
        ("  s: {kind: ci, parts: {x: {test: a, law: n^^3, baseline: {time: 4}}}}\n", "no law of complexity"),
        (
            "  s: {kind: ci, parts: {x: {test: a, law: log(n), size: 1, baseline: {time: 4, size: 1}}}}\n",
            "no value above 0",
        ),
    ],
)
def test_what_a_plan_may_not_say_of_a_score(site: SiteRoom, scores: str, said: str) -> None:
    with pytest.raises(FileProblems, match=said.replace("(", r"\(")) as caught:
        site.test(TEST).plan(HEAD + scores)
    assert len({problem.message for problem in caught.value.problems}) <= 2


@pytest.mark.parametrize(
    ("law", "value"),
    [
        ("n^3", 512.0),
        ("n * tasks / threads", 16.0),
        ("n^2 * log(tasks)", 64 * 1.3862943611198906),
        ("2 * n^1/3", 4.0),
        ("n^-1", 0.125),
    ],
)
def test_laws_of_complexity(law: str, value: float) -> None:
    assert complexity(law, {"n": 8, "tasks": 4, "threads": 2}) == pytest.approx(value)


@pytest.mark.parametrize("text", ["", "n^", "n n", "n ** 2", "exp(n)", "n^1000", "0 * n", "n" * 300, "log(n)^1/2 *"])
def test_what_is_no_law(text: str) -> None:
    with pytest.raises(ValueError, match="law"):
        parse_law(text)


def test_a_law_without_a_value_says_so() -> None:
    """A logarithm below 0 has no root."""
    with pytest.raises(ValueError, match="no value above 0"):
        complexity("log(n)^0.5", {"n": 0.5})


def test_a_part_is_about_one_case(site: SiteRoom) -> None:
    two = TEST + "parameters: {n: [1, 2]}\n"
    text = "  s: {kind: geometric, parts: {x: {test: a, figure: rate}}}\n"
    with pytest.raises(FileProblems, match="a part is about one case"):
        site.test(two).plan(HEAD + text)
    document = site.plan(HEAD + text.replace("test: a,", "test: a, where: {n: 2},"))
    assert document.scores[0].parts[0].case == "a/n=2"


def test_a_score_without_a_bound_is_shown_and_decides_nothing(site: SiteRoom) -> None:
    scorecard = card(site, ssp(6384, (2, 3)))
    assert [part.name for part in scorecard.components] == ["performance"]
    assert scorecard.outcome == "accepted"
    result: ScoreResult = scorecard.scores[0]
    assert (result.must, result.needs) == ("", None)


def test_other_inputs_ask_for_something_else(site: SiteRoom) -> None:
    """An amendment that makes an application count for more takes the criterion as it was away, and says what it changed."""
    text = (
        "  s: {kind: ssp, nodes: 4, must: '>= 1', parts: {x: {test: a, tflop: 1}, y: {time: 4, nodes: 2, tflop: 3}}}\n"
    )
    before = site.test(TEST).plan(HEAD + text)
    after = site.plan(HEAD + text.replace("tflop: 3", "tflop: 30"))
    assert asks_less(before, after) == ("criterion s of scores as it was: it measures something else now",)
    assert differences(before, after) == [
        "component scores is changed: criterion s is changed",
        "score s is changed: part y is changed: tflop 3.0 -> 30.0",
    ]
    lower = site.plan(HEAD + text.replace(">= 1", ">= 0.5"))
    assert asks_less(before, lower) == ("the bound >= 1 of criterion s of scores: now >= 0.5",)
    named = site.plan(HEAD + text.replace("kind: ssp", "kind: ssp, about: a sentence"))
    assert asks_less(before, named) == ()


def test_a_plan_with_scores_has_no_other_component_of_that_name(site: SiteRoom) -> None:
    text = "plan: p\nsystem: here\ncomponents: [{performance: {name: scores, tests: [a]}}]\nscores:\n"
    text += "  s: {kind: ssp, nodes: 4, must: '>= 1', parts: {x: {test: a, tflop: 1}}}\n"
    with pytest.raises(FileProblems, match="a component is called 'scores'"):
        site.test(TEST).plan(text)
