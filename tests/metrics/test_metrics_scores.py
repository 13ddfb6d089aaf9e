"""Scores over measured runs: the run of record, what is missing, the interval, waivers, rehearsals and given values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from shakedown.metrics.judging.criteria import score
from shakedown.metrics.rows.rows import EpochRow
from shakedown.model.judging import Criterion
from shakedown.model.nouns import Component, Document
from shakedown.model.scores import Load, Score, ScorePart
from shakedown.model.waived import criterion_digest
from shakedown.report.tables.scores import SCORES, score_rows

if TYPE_CHECKING:
    from tests.metrics.conftest import Story

    from shakedown.metrics.judging.scorecard import Scorecard


def part(name: str, **fields: Any) -> ScorePart:
    """An application of 12 Tflop on two nodes, measured by the run time of the case of its name."""
    usual: dict[str, Any] = {"component": "main", "case": name, "test": name, "tflop": 12.0, "load": Load(nodes=2)}
    return ScorePart(name, **usual | fields)


SSP = Score("ssp", "ssp", (part("a"), part("b")), unit="TFLOP/s", nodes=(("", 10.0),))


def judged(story: Story, asked: Score, bound: float = 0.0, ended: bool = True) -> Scorecard:
    """The story with a score, and its bound where there is one."""
    if ended:
        story.end()
    document = replace(story.document(), scores=(asked,))
    if bound:
        criterion = Criterion(
            asked.name, "score", ">=", bound, unit=asked.unit, of=asked.name, must=f">= {bound:g}", inputs="1" * 64
        )
        document = replace(
            document, components=(*document.components, Component("scores", "scores", (), criteria=(criterion,)))
        )
    return score(document, story.record())


def test_the_run_of_record_is_the_first_and_not_the_best(story: Story) -> None:
    """a: 3 s first, then 1 s; b: 12 s. Rates 2 and 0.5 Tflop/s a node, mean 1, of ten nodes 10."""
    story.repeats = 2
    story.values("a", [3.0, 1.0], "elapsed")
    story.values("b", [12.0, 6.0], "elapsed")
    card = judged(story, SSP, 10.0)
    (result,) = card.scores
    assert result.value == pytest.approx(10.0)
    assert result.hangs_on == ("a r000001", "b r000003")
    criterion = card.components[-1].criteria[0]
    assert (criterion.outcome, card.outcome) == ("met", "accepted")
    assert criterion.measured == pytest.approx(10.0)
    assert criterion.arithmetic == "ssp = 10 TFLOP/s (geometric mean 1); it hangs on a r000001, b r000003, must >= 10"


def test_a_run_that_failed_is_not_of_record_and_its_retry_is(story: Story) -> None:
    story.repeats = 1
    run = story.run("a", "node_fail", elapsed_s=1.0)
    story.add("retry", run=run, case="a", value={"component": "main", "repeat": 1, "attempt": 2})
    story.run("a", attempt=2, elapsed_s=3.0)
    story.run("b", elapsed_s=12.0)
    assert judged(story, SSP).scores[0].hangs_on == ("a r000002", "b r000003")


@pytest.mark.parametrize(("take", "seconds"), [("record", 3.0), ("median", 1.5), ("mean", 11 / 6)])
def test_the_plan_says_which_value_counts(story: Story, take: Any, seconds: float) -> None:
    """a takes 3, 1 and 1.5 s; b always 12."""
    story.repeats = 3
    story.values("a", [3.0, 1.0, 1.5], "elapsed")
    story.values("b", [12.0] * 3, "elapsed")
    card = judged(story, replace(SSP, take=take), 10.0)
    found = card.scores[0]
    (criterion,) = card.components[-1].criteria
    assert (criterion.count, criterion.rests_on) == (2, 2 if take == "record" else 6)
    assert found.parts[0].value == pytest.approx(seconds)
    assert found.value == pytest.approx(10 * (6 / seconds * 0.5) ** 0.5)


def test_a_score_is_undecided_while_a_run_is_to_come_and_names_it(story: Story) -> None:
    story.repeats = 2
    story.values("a", [3.0, 1.0], "elapsed")
    story.values("b", [12.0], "elapsed")
    card = judged(story, SSP, 10.0, ended=False)
    criterion = card.components[-1].criteria[0]
    assert (criterion.outcome, criterion.reason) == ("undecided", "1 result still to come of b")
    assert card.scores[0].settled is False


def test_a_score_without_a_value_names_the_part_and_why(story: Story) -> None:
    story.values("a", [3.0], "elapsed")
    story.runs("b", "f")
    card = judged(story, SSP, 10.0)
    criterion = card.components[-1].criteria[0]
    assert (criterion.outcome, criterion.measured, card.components[-1].outcome) == ("undecided", None, "incomplete")
    assert criterion.reason == "1 value missing: b: no run of b that completed correctly gave a value of elapsed"
    assert card.scores[0].parts[0].value == 3.0


def test_a_part_that_cannot_run_leaves_it_undecided_and_all_of_them_not_judged(story: Story) -> None:
    story.values("a", [3.0], "elapsed")
    story.case("b", unavailable="no compiler")
    card = judged(story, SSP, 10.0)
    assert card.components[-1].criteria[0].reason == "1 value missing: b: b is unavailable: no compiler"
    assert card.outcome == "incomplete"
    alone = replace(SSP, parts=(part("b"),))
    assert (
        score(
            replace(
                story.document(),
                scores=(alone,),
                components=(
                    *story.document().components,
                    Component(
                        "scores", "scores", (), criteria=(Criterion("ssp", "score", ">=", 1.0, of="ssp", must=">= 1"),)
                    ),
                ),
            ),
            story.record(),
        )
        .components[-1]
        .criteria[0]
        .restricted
    )


def test_the_interval_is_of_the_repeats_and_always_the_same(story: Story) -> None:
    """a: 3 and 12 s, in logarithms 6 s with an error of ln(2); b: 12 s without any. By hand: the rates are 1 and 0.5, and the score
    moves half as much as a does; t of one degree of freedom is 12.706.
    """
    story.repeats = 2
    story.values("a", [3.0, 12.0], "elapsed")
    story.values("b", [12.0, 12.0], "elapsed")
    first, again = judged(story, SSP).scores[0], judged(story, SSP, ended=False).scores[0]
    middle, half = 10 * math.sqrt(0.5), 12.7062 * math.log(2) / 2
    assert first.interval == pytest.approx((middle / math.exp(half), middle * math.exp(half)), rel=1e-4)
    assert again.interval == first.interval


@pytest.mark.parametrize("take", ["record", "mean"])
def test_the_interval_is_of_all_repeats_not_of_the_run_of_record(story: Story, take: Any) -> None:
    """The first run of each is far slower than the nine others: the score of the runs of record lies outside."""
    story.repeats = 10
    story.values("a", [20.0, *(12.0 + 0.01 * n for n in range(9))], "elapsed")
    story.values("b", [20.0, *(12.0 + 0.01 * n for n in range(9))], "elapsed")
    found = judged(story, replace(SSP, take=take)).scores[0]
    assert found.value is not None and found.interval is not None
    low, high = found.interval
    assert (low < found.value < high) == (take == "mean")
    assert low < 10 * 6 / 12.6 < high


def test_a_part_with_one_value_leaves_no_interval(story: Story) -> None:
    story.repeats = 2
    story.values("a", [3.0], "elapsed")
    story.values("b", [12.0, 12.5], "elapsed")
    assert judged(story, SSP).scores[0].interval is None
    given = replace(SSP, parts=(part("a", given=3.0), part("b")))
    assert judged(story, given, ended=False).scores[0].interval is not None  # what the plan gives has no error


def test_a_geometric_score_takes_groups_first_and_references(story: Story) -> None:
    """Group x: 2 and 8, mean 4; group y: a time of 5 s against 45 s, 9. The score is 6."""
    story.run("a", figures={"triad": 2.0})
    story.run("b", figures={"triad": 8.0})
    story.run("c", elapsed_s=5.0)
    rate: dict[str, Any] = {"figures": (("triad", 1.0),), "unit": "GB/s", "better": "higher", "group": "x"}
    asked = Score("io", "geometric", (part("a", **rate), part("b", **rate), part("c", reference=45.0, group="y")))
    (result,) = judged(story, asked).scores
    assert result.value == pytest.approx(6.0)
    assert dict(result.beside) == pytest.approx({"x": 4.0, "y": 9.0})
    megabytes = replace(
        asked, parts=tuple(replace(one, unit="MB/s") if one.group == "x" else one for one in asked.parts)
    )
    assert judged(story, megabytes, ended=False).scores[0].parts[1].value == pytest.approx(8000.0)


def test_a_score_that_is_not_met_can_be_waived(story: Story) -> None:
    story.values("a", [3.0], "elapsed")
    story.values("b", [12.0], "elapsed")
    asked = Criterion("ssp", "score", ">=", 11.0, unit="TFLOP/s", of="ssp", must=">= 11", inputs="1" * 64)
    said = {"what": "criterion", "component": "scores", "name": "ssp", "restriction": "half price", "by": "Ada"}
    story.add("waived", value=said | {"digest": criterion_digest(asked)}, reason="agreed")
    card = judged(story, SSP, 11.0)
    criterion = card.components[-1].criteria[0]
    assert (criterion.outcome, criterion.beneath, card.outcome) == ("waived", "not met", "accepted with restrictions")
    other = replace(asked, inputs="2" * 64)
    assert criterion_digest(other) != criterion_digest(asked), "a waiver does not hold for other inputs"


def test_in_a_rehearsal_a_score_is_not_modelled_unless_its_times_are(story: Story) -> None:
    story.values("a", [3.0], "elapsed")
    story.values("b", [12.0], "elapsed")
    start = story.events[0]
    known = {"modelled": ["a.elapsed"], "seed": 1}
    story.events[0] = replace(start, value=start.value | {"rehearsal": known})
    card = judged(story, SSP, 10.0)
    criterion = card.components[-1].criteria[0]
    assert (criterion.outcome, card.scores[0].value) == ("undecided", None)
    assert criterion.reason.startswith("not modelled: nobody says what b.elapsed is on this machine")
    known["modelled"] = ["a.elapsed", "b.elapsed"]
    assert judged(story, SSP, 10.0, ended=False).scores[0].value == pytest.approx(10.0)


def test_a_version_without_the_kind_says_so(story: Story) -> None:
    story.values("a", [3.0], "elapsed")
    asked = Score("s", "of tomorrow", (part("a"),))
    card = judged(story, asked, 1.0)
    assert card.components[-1].criteria[0].reason == "this version does not know the kind of score 'of tomorrow'"


def test_the_table_has_what_it_takes_to_compute_the_score_by_hand(story: Story) -> None:
    story.values("a", [3.0], "elapsed")
    story.values("b", [12.0], "elapsed")
    rows = [dict(zip(SCORES, row, strict=True)) for row in score_rows(judged(story, SSP, 10.0))]
    product = 1.0
    for row in rows:
        product *= float(str(row["tflop"])) / (float(str(row["nodes"])) * float(str(row["part_value"])))
    assert product ** (1 / len(rows)) * float(str(rows[0]["system_nodes"])) == pytest.approx(rows[0]["value"])
    assert [row["run"] for row in rows] == ["r000001", "r000002"]


def test_a_score_whose_inputs_were_changed_is_told_in_words_and_as_it_was_by_its_own_inputs(story: Story) -> None:
    """Both take 10 s on 2 nodes of 10, 12 Tflop each: 6 TFLOP/s. With three times the count it is three times as much."""
    story.values("a", [10.0], "elapsed")
    story.values("b", [10.0], "elapsed")
    before = _bounded(story, SSP, "1" * 64)
    more = replace(SSP, parts=(replace(SSP.parts[0], tflop=36.0, load=Load(nodes=1)), SSP.parts[1]))
    after = _bounded(story, more, "2" * 64)
    story.end()
    record = story.record()
    record.epochs.append(EpochRow(2, "amended", "Bo", "counted anew", seq=9))
    (found,) = score(after, record, earlier=(before,)).restrictions
    alone = score(before, record).components[-1].criteria[0]
    assert alone.outcome == "not met" and alone.arithmetic
    assert found.startswith("scores: ssp was changed (part a: load.nodes 2 -> 1, part a: tflop 12 -> 36), by Bo: ")
    assert found.endswith(f"as it was it would be not met ({alone.arithmetic})")


def _bounded(story: Story, asked: Score, inputs: str) -> Document:
    document = replace(story.document(), scores=(asked,))
    bound = Criterion("ssp", "score", ">=", 7.0, unit="TFLOP/s", of="ssp", must=">= 7", inputs=inputs)
    return replace(document, components=(*document.components, Component("scores", "scores", (), criteria=(bound,))))
