"""Criteria on a change: runs against another campaign, an earlier epoch or values of the plan, as ``compare`` compares them."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from msgspec.structs import replace

from shakedown.metrics.comparing.baselines import baseline_of
from shakedown.metrics.comparing.cells import Source, cells_of, pairs_of
from shakedown.metrics.comparing.compare import compare
from shakedown.metrics.comparing.two_samples import effect_of
from shakedown.metrics.judging.criteria import score
from shakedown.metrics.judging.scorecard import CriterionScore
from shakedown.metrics.judging.since import looks_of_plan
from shakedown.metrics.rows.table import fold_runs
from shakedown.model.baselines import Baseline, BaselineCase, Sample, content_digest
from shakedown.model.figures import FigureSpec
from shakedown.model.judging import Criterion
from shakedown.model.nouns import Document

TRIAD = [100.3, 101.2, 99.1, 100.5, 99.4, 100.2, 99.8, 100.1]


def given(*cases: BaselineCase) -> Baseline:
    return Baseline("before", digest=content_digest("", 0, cases), cases=cases)


def rate(values: list[float], unit: str = "GB/s", case: str = "a") -> Baseline:
    return given(BaselineCase(case, samples=(Sample("triad", unit, tuple(values)),)))


def judged(
    story: Any, baseline: Baseline | None, *criteria: Criterion, ended: bool = True, repeats: int = 8
) -> tuple[CriterionScore, ...]:
    """The criteria of a story, held against a baseline."""
    story.repeats = repeats
    story.criteria = [replace(one, inputs=baseline.digest) if baseline and not one.inputs else one for one in criteria]
    if ended:
        story.end()
    document = replace(story.document(), baselines=(baseline,) if baseline is not None else ())
    return score(document, story.record()).components[0].criteria


def on_triad(bound: float = 0.02, **more: Any) -> Criterion:
    fields = {"of": "triad", "since": "before", "unit": "%", "must": f"<= {bound:.0%}"} | more
    return Criterion("rate", "change since", "<=", bound, **fields)


def one(story: Any, baseline: Baseline | None, criterion: Criterion, **more: Any) -> CriterionScore:
    return judged(story, baseline, criterion, **more)[0]


def slower(share: float) -> list[float]:
    return [value * (1 - share) for value in TRIAD]


def test_a_rate_that_fell_is_not_met_and_says_by_how_much_and_on_which_runs(story: Any) -> None:
    story.values("a/1", slower(0.08))
    found = one(story, rate(TRIAD), on_triad())
    assert found.outcome == "not met" and found.measured == pytest.approx(0.08)
    assert "triad of a/1: 100.1 GB/s -> 92.07 GB/s, 8.0% worse" in found.arithmetic
    assert (
        "8 runs (r000001, r000002, r000003 and 5 more) against 8 runs of baseline before of the plan"
        in found.arithmetic
    )


def test_a_rate_that_rose_is_no_change_for_the_worse(story: Any) -> None:
    story.values("a/1", slower(-0.3))
    found = one(story, rate(TRIAD), on_triad())
    assert found.outcome == "met" and found.measured == pytest.approx(-0.3)


def test_of_a_time_longer_is_worse_and_of_a_figure_without_direction_any_change_is(story: Any) -> None:
    story.case("a/1")
    for repeat, value in enumerate(TRIAD, 1):
        story.run("a/1", repeat=repeat, elapsed_s=value * 1.08, figures={"errors": value * 0.92})
    samples = tuple(Sample(name, unit, tuple(TRIAD)) for name, unit in (("elapsed", "s"), ("errors", "")))
    criteria = [on_triad(of="elapsed"), replace(on_triad(of="errors"), name="errors")]
    found = judged(story, given(BaselineCase("a", samples=samples)), *criteria)
    assert [each.outcome for each in found] == ["not met", "not met"]
    assert [each.measured for each in found] == pytest.approx([0.08, 0.08])


def test_values_are_taken_in_the_unit_of_the_figure(story: Any) -> None:
    story.values("a/1", TRIAD)
    found = one(story, rate([value * 1000 for value in TRIAD], "MB/s"), on_triad())
    assert found.outcome == "met" and found.measured == pytest.approx(0.0, abs=1e-12)


def test_what_may_be_chance_is_undecided_and_says_how_many_runs_would_do(story: Any) -> None:
    noisy = [100.0, 90.0, 110.0, 95.0]
    story.values("a/1", [value * 0.95 for value in noisy])
    found = one(story, rate(noisy), on_triad(), repeats=4)
    assert found.outcome == "undecided" and found.measured == pytest.approx(0.05)
    assert "too few runs of a/1: the change may be chance; about" in found.reason


def test_no_change_among_noise_is_undecided_where_one_that_matters_could_hide(story: Any) -> None:
    noisy = [100.0, 90.0, 110.0, 95.0]
    story.values("a/1", noisy)
    found = one(story, rate(noisy), on_triad(), repeats=4)
    assert found.outcome == "undecided" and found.measured == 0
    assert "a change of 2.0% could hide; about 254 on each side would do" in found.reason
    effect = effect_of(noisy, noisy, 0.02)
    assert effect is not None and math.ceil(4 * (effect.reach / 0.02) ** 2) == 254  # as compare tells it


@pytest.mark.parametrize("side", ["before", "after"])
def test_fewer_than_three_runs_on_a_side_say_nothing(story: Any, side: str) -> None:
    values = (TRIAD[:2], TRIAD) if side == "before" else (TRIAD, TRIAD[:2])
    story.values("a/1", values[1])
    found = one(story, rate(values[0]), on_triad(), repeats=len(values[1]))
    assert (
        found.outcome == "undecided" and "one side of a/1 has 2 values of triad, and 3 are the fewest" in found.reason
    )


def test_while_repeats_are_missing_it_is_undecided_however_bad_they_are(story: Any) -> None:
    story.values("a/1", slower(0.5))
    found = one(story, rate(TRIAD), on_triad(), repeats=9, ended=False)
    assert found.outcome == "undecided" and found.measured == pytest.approx(0.5) and "1 to come" in found.arithmetic


def test_values_of_another_mode_or_component_are_named_where_there_are_none_of_this_one(story: Any) -> None:
    story.values("a/1", TRIAD)
    (known,) = rate(TRIAD).cases
    for other, words in (
        (replace(known, mode="fill"), "in mode fill"),
        (replace(known, component="earlier"), "of component earlier"),
        (replace(known, component="earlier", mode="isolated"), "of component earlier in mode isolated"),
    ):
        found = one(story, replace(rate(TRIAD), cases=(other,)), on_triad())
        assert found.outcome == "undecided"
        assert f"what it is held against has no value of triad of a/1; it has some {words}" in found.reason


def test_a_case_that_nothing_is_known_of_leaves_it_undecided_and_is_named(story: Any) -> None:
    story.values("a/1", TRIAD)
    story.values("b/1", TRIAD)
    found = one(story, rate(TRIAD), on_triad())
    assert found.outcome == "undecided" and "what it is held against has no value of triad of b/1" in found.reason


def test_one_case_that_is_worse_decides_beside_one_that_is_undecided(story: Any) -> None:
    story.values("a/1", slower(0.2))
    story.values("b/1", TRIAD)
    found = one(story, rate(TRIAD), on_triad())
    assert found.outcome == "not met" and [(part.case, part.outcome) for part in found.cases] == [
        ("a/1", "not met"),
        ("b/1", "undecided"),
    ]


def test_enough_is_asked_of_each_side_of_each_case(story: Any) -> None:
    story.values("a/1", slower(0.08))
    found = one(story, rate(TRIAD[:5]), on_triad(enough=6))
    assert found.outcome == "undecided" and found.reason == "5 of the 6 that are enough to judge"
    assert found.cases[0].reason == "one side of a/1 has 5 of the 6 that are enough to judge"


# ---- as compare does ---------------------------------------------------------------------------------------------------


def test_effect_and_corrected_chance_are_those_of_compare(story: Any) -> None:
    """Of one criterion over three cases: ``compare`` looks at as many figures of the same campaigns."""
    campaigns = []
    for share in (0.0, 0.05):
        new = type(story)()
        new.repeats = 8
        for name in "123":
            new.case(f"a/{name}", parameters=(("n", name),))
            new.values(f"a/{name}", slower(share if name == "2" else 0.0))
        new.end()
        campaigns.append(Source(f"c{share}", new.document(), new.record()))
    figures = (FigureSpec("triad", unit="GB/s", better="higher"),)
    before = baseline_of(campaigns[0])
    criterion = replace(on_triad(since=before.name), inputs=before.digest)
    (part,) = campaigns[1].document.components
    document = replace(campaigns[1].document, components=(replace(part, criteria=(criterion,)),), baselines=(before,))
    (asked,) = looks_of_plan(document, campaigns[1].record)
    cells = cells_of(campaigns, "campaign")
    moves = [move for move in compare(pairs_of(cells, "c0.0", False), "campaign", "c0.0", 0.02).moves if move.effect]
    told = {move.cases[0]: move for move in moves if move.figure == figures[0].name}
    assert len(asked.looked.looks) == len(told) == 3
    for look in asked.looked.looks:
        move = told[look.case]
        assert move.effect is not None and move.worse_by == look.worse_by and move.effect.chance == look.chance
        assert look.outcome == {"worse": "not met", "no change seen": "met"}[move.verdict]
        assert look.corrected == min(1.0, (look.chance or 0.0) * 3)


def test_chances_are_corrected_for_all_criteria_of_the_plan(story: Any) -> None:
    story_of = type(story)
    corrected = []
    for many in (1, 5):
        new = story_of()
        new.values("a/1", slower(0.02))
        new.repeats, new.criteria = (
            8,
            [replace(on_triad(0.01), name=f"k{n}", inputs=rate(TRIAD).digest) for n in range(many)],
        )
        new.end()
        asked = looks_of_plan(replace(new.document(), baselines=(rate(TRIAD),)), new.record())
        assert len(asked) == many and asked[0].looked.compared == many
        corrected.append(asked[0].looked.looks[0].corrected)
    assert corrected[1] == pytest.approx(5 * (corrected[0] or 0.0))


def test_equal_campaigns_are_hardly_ever_called_changed_and_a_slow_one_is_found(story: Any) -> None:
    noise, wrong, found = random.Random(1), 0, 0
    for slow in (0.0, 0.05):
        for _ in range(60):
            new = type(story)()
            cases = []
            for name in range(10):
                new.case(f"a/{name}", parameters=(("n", str(name)),))
                share = slow if name == 3 else 0.0
                new.values(f"a/{name}", [100 * (1 - share) * (1 + noise.gauss(0, 0.02)) for _ in range(20)])
                values = tuple(100 * (1 + noise.gauss(0, 0.02)) for _ in range(20))
                cases.append(BaselineCase("a", where=(("n", str(name)),), samples=(Sample("triad", "GB/s", values),)))
            outcome = one(new, given(*cases), on_triad(0.02), repeats=20)
            hit = outcome.outcome == "not met"
            wrong += hit and (not slow or "of a/3" not in outcome.arithmetic)
            found += bool(slow and hit)
    assert wrong <= 1 and found >= 57


# ---- what it is held against -------------------------------------------------------------------------------------------


def test_a_baseline_whose_record_was_changed_or_is_away_is_never_met(story: Any) -> None:
    story.values("a/1", TRIAD)
    for state in ("changed", "away"):
        value = {"kind": "baseline", "baseline": "before", "campaign": "p-1", "state": state}
        seq = story.add("finding", value=value, reason=f"baseline before: p-1 is {state}")
        found = one(story, rate(TRIAD), on_triad(), ended=False)
        assert found.outcome == "undecided" and found.reason == f"baseline before: p-1 is {state} (event {seq})"
    story.add("finding", value={"kind": "baseline", "baseline": "before", "state": "same"}, reason="as it was frozen")
    assert one(story, rate(TRIAD), on_triad()).outcome == "met"


def test_another_baseline_than_the_criterion_was_written_for_is_never_met(story: Any) -> None:
    story.values("a/1", TRIAD)
    found = one(story, rate(TRIAD), on_triad(inputs="f" * 64))
    assert found.outcome == "undecided" and "is not the one that the criterion was written for" in found.reason
    found = one(story, None, on_triad())
    assert found.outcome == "undecided" and found.reason == "the plan in force has no baseline before"


def test_a_campaign_is_named_with_its_seal_or_with_the_digest_of_its_values() -> None:
    assert Baseline("b", "p-1", 2, "a" * 64, seal="b" * 64).words == f"epoch 2 of p-1 (sealed {'b' * 16})"
    assert Baseline("b", "p-1", 0, "a" * 64).words == f"p-1 (not sealed, values {'a' * 16})"


def test_the_same_values_have_one_digest_and_one_value_more_has_another(story: Any) -> None:
    story.values("a/1", TRIAD)
    story.end()
    first = baseline_of(Source("p", story.document(), story.record()))
    story.add("driver_start", value={"epoch": 2, "driver": {}})
    again = baseline_of(Source("p", story.document(), story.record()))
    assert first == again
    story.repeats = 9
    story.run("a/1", repeat=9, figures={"triad": 99.0})
    assert baseline_of(Source("p", story.document(), story.record())).digest != first.digest


# ---- epochs ------------------------------------------------------------------------------------------------------------


def epochs(story: Any, share: float, counts: str = "all") -> CriterionScore:
    """Eight runs, a change that somebody declares, and eight runs more."""
    for repeat, value in enumerate(TRIAD, 1):
        story.run("a/1", repeat=repeat, figures={"triad": value})
    story.add("changed", value={"what": "BIOS", "by": "Ada"}, reason="new BIOS")
    for repeat, value in enumerate(slower(share), 9):
        story.run("a/1", repeat=repeat, figures={"triad": value})
    return one(story, None, on_triad(since="epoch 1", epochs=counts), repeats=16)


@pytest.mark.parametrize("counts", ["all", "last", "2"])
def test_an_epoch_is_held_against_an_earlier_one(story: Any, counts: str) -> None:
    found = epochs(story, 0.08, counts)
    assert found.outcome == "not met" and found.measured == pytest.approx(0.08) and found.count == 8
    assert "8 runs (r000009, r000010, r000011 and 5 more) against 8 runs (r000001," in found.arithmetic
    assert "of epoch 1 of this campaign" in found.arithmetic


def test_before_the_next_epoch_has_begun_nothing_is_said(story: Any) -> None:
    story.values("a/1", TRIAD)
    found = one(story, None, on_triad(since="epoch 1"))
    assert found.outcome == "undecided" and found.reason == "epoch 2 has not begun"


# ---- failures ----------------------------------------------------------------------------------------------------------


def failing(story: Any, failed: int, before: tuple[int, int] = (0, 12), bound: float = 0.05) -> CriterionScore:
    story.runs("a/1", "f" * failed + "p" * (12 - failed), figures={})
    criterion = Criterion("runs", "failures since", "<=", bound, since="before", must=f"<= {bound:.0%}")
    return one(story, given(BaselineCase("a", judged=before[1], failed=before[0])), criterion, repeats=12)


@pytest.mark.parametrize(
    ("failed", "before", "outcome"),
    [
        (0, (0, 12), "met"),
        (1, (1, 12), "met"),
        (0, (6, 12), "met"),
        (2, (0, 12), "undecided"),  # it may be chance
        (10, (0, 12), "not met"),
        (12, (0, 3), "not met"),  # from none to all
        (12, (0, 2), "undecided"),
    ],
)
def test_failures_are_compared_as_shares(story: Any, failed: int, before: tuple[int, int], outcome: str) -> None:
    found = failing(story, failed, before)
    assert found.outcome == outcome
    if before[1] > 2:
        assert found.measured == pytest.approx(failed / 12 - before[0] / before[1])


def test_failures_say_which_runs_failed(story: Any) -> None:
    text = failing(story, 10).arithmetic
    assert (
        "a/1: 0 of 12 runs failed -> 10 of 12, 83.3% more" in text and "(r000001, r000002, r000003 and 7 more)" in text
    )


def test_a_story_without_such_criteria_has_no_looks(story: Any) -> None:
    story.values("a/1", TRIAD)
    document: Document = story.document()
    assert looks_of_plan(document, fold_runs(story.events)) == []
