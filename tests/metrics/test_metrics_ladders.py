"""Ladders, from the plan's file to the page: which sizes run, which are spared, what comes of it.

The truth is a threshold that the test knows and the program does not: every size up to it holds, every size above it fails.
"""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest
from engine_by_hand import ByHand, begun
from hypothesis import given
from hypothesis import strategies as st
from stage import small_document

from shakedown.engine import explain, index_plan
from shakedown.engine.state.snapshot import freeze_state, thaw_state
from shakedown.metrics.judging.asked_less import asks_less, steers_runs
from shakedown.metrics.judging.criteria import score
from shakedown.metrics.judging.people import acts_of
from shakedown.metrics.judging.scorecard import Scorecard
from shakedown.metrics.judging.settlement import settle
from shakedown.metrics.ladders import LadderRow, ladders_of
from shakedown.metrics.rows.table import fold_runs
from shakedown.model.judging import Criterion
from shakedown.model.ladders import Ladder, Rung, climb
from shakedown.model.nouns import Component, Document, Party

replace = msgspec.structs.replace


def ladder_plan(
    sizes: list[int], repeats: int = 1, ladder: Ladder | None = None, flavours: int = 1, must: float = 1.0
) -> Document:
    """A component of one ladder for each flavour, sizes not in their order."""
    plan = small_document(tests=1, repeats=repeats)
    model = plan.cases[0]
    cases = tuple(
        replace(
            model,
            id=f"t/n={size},flavour={flavour}",
            test=model.test,
            parameters=(("n", str(size)), ("flavour", str(flavour))),
            build="",
        )
        for flavour in range(flavours)
        for size in sorted(sizes, key=lambda size: (size * 7) % 11)
    )
    up = Criterion("up", "largest size", ">=", must)
    names = tuple(case.id for case in cases)
    first = Component("ladder", "functionality", names, repeats, criteria=(up,), ladder=ladder or Ladder("n"))
    return replace(plan, cases=cases, components=(first,), builds=())


class Climbing:
    """A campaign that is driven by hand; ``holds`` says of a size and a repeat how it ends, ``rate`` what it measures."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.hand: ByHand = begun(document)
        self.ran: list[str] = []

    def to_the_end(self, verdict_of: Any, rate_of: Any = lambda size: 1.0) -> list[str]:
        """Every job runs to its end as soon as it is ordered; the cases that ran, in their order."""
        while self.hand.state.runs:
            run = next(iter(self.hand.state.runs.values()))
            size = int(dict(self.hand.state.index.cases[run.case].parameters)["n"])
            verdict, job = verdict_of(size, run.repeat), run.job
            self.ran.append(run.case)
            self.hand.play("submit_accepted", job=job, value={"id": "7"})
            word = "completed" if verdict == "passed" else "failed"
            self.hand.play("job_report", job=job, run=run.id, value={"state": word, "source": "marks"})
            self.hand.settle()
            value = {"verdict": verdict, "component": "ladder", "repeat": run.repeat, "attempt": run.attempt}
            value |= {"elapsed_s": 1.0, "figures": {"rate": rate_of(size)}, "final": verdict == "passed"}
            self.hand.play("verdict", case=run.case, run=run.id, job=job, value=value, reason="so it was")
            self.hand.settle()
        return self.ran


def judged(climbing: Climbing) -> tuple[Any, list[LadderRow]]:
    record = fold_runs(climbing.hand.log)
    card = score(climbing.document, record)
    return card.components[0], ladders_of(climbing.document.components[0], climbing.document, record)


def up_to(threshold: int) -> Any:
    return lambda size, repeat: "passed" if size <= threshold else "failed"


def sizes_of(cases: list[str]) -> list[int]:
    return [int(case.split("n=")[1].split(",")[0]) for case in cases]


# ---- what runs -------------------------------------------------------------------------------------------------------


def test_the_smallest_comes_first_then_the_largest_then_the_middle_of_what_is_left() -> None:
    climbing = Climbing(ladder_plan([1, 2, 4, 8, 16, 32, 64, 128]))
    assert sizes_of(climbing.to_the_end(up_to(16))) == [1, 128, 8, 32, 16]
    component, (row,) = judged(climbing)
    assert (row.holds, row.fails, row.over, row.ran) == ("16", "32", True, 5)
    assert [rung.state for rung in row.rungs] == [
        "holds",
        "spared",
        "spared",
        "holds",
        "holds",
        "fails",
        "spared",
        "fails",
    ]
    assert row.in_words().startswith("t0/flavour=0 holds up to n=16, not at n=32 (r00000")
    assert (component.wanted, component.passed, component.to_come) == (5, 3, 0)
    assert dict(component.verdicts) == {"passed": 3, "failed": 2}  # what is spared is in no count


def test_one_that_holds_everywhere_takes_two_sizes_and_one_that_fails_at_once_takes_one() -> None:
    assert sizes_of(Climbing(ladder_plan([1, 2, 4, 8, 16])).to_the_end(up_to(16))) == [1, 16]
    climbing = Climbing(ladder_plan([2, 4, 8, 16]))
    assert sizes_of(climbing.to_the_end(up_to(1))) == [2]
    component, (row,) = judged(climbing)
    assert row.outcome == "does not hold at n=2, the smallest size" and component.outcome == "rejected"


def test_sizes_that_cannot_run_here_are_in_no_ladder_and_told() -> None:
    plan = ladder_plan([1, 2, 4, 8])
    cannot = {"t/n=4,flavour=0", "t/n=8,flavour=0"}
    cases = tuple(replace(case, unavailable="too large" if case.id in cannot else "") for case in plan.cases)
    climbing = Climbing(replace(plan, cases=cases))
    assert sizes_of(climbing.to_the_end(up_to(8))) == [1, 2]
    (row,) = judged(climbing)[1]
    assert row.outcome in (
        f"holds at every size that can run here ({told} cannot), up to n=2" for told in ("4, 8", "8, 4")
    )


def test_each_combination_of_the_other_parameters_is_a_ladder_of_its_own() -> None:
    climbing = Climbing(ladder_plan([1, 2, 3, 4], flavours=2, must=3))
    climbing.to_the_end(up_to(3))
    component, rows = judged(climbing)
    assert [row.label for row in rows] == ["t0/flavour=0", "t0/flavour=1"] and {row.holds for row in rows} == {"3"}
    assert component.criteria[0].outcome == "met" and component.criteria[0].measured == 3


def test_a_size_fails_with_any_of_its_repeats_and_holds_with_all() -> None:
    climbing = Climbing(ladder_plan([1, 2, 3, 4, 5], repeats=3))
    ran = climbing.to_the_end(lambda size, repeat: "failed" if size >= 4 and repeat == 2 else "passed")
    assert {size: sizes_of(ran).count(size) for size in set(sizes_of(ran))} == {1: 3, 5: 3, 3: 3, 4: 3}
    _, (row,) = judged(climbing)
    assert (row.holds, row.fails) == ("3", "4")


def test_a_failure_that_is_retried_decides_nothing() -> None:
    climbing = Climbing(ladder_plan([1, 2, 3]))
    failed: list[int] = []

    def once_lost(size: int, repeat: int) -> str:
        if size == 3 and not failed:
            failed.append(size)
            return "node_fail"
        return "passed"

    assert sizes_of(climbing.to_the_end(once_lost)) == [1, 3, 3]
    assert judged(climbing)[1][0].outcome == "holds at every size, up to n=3"


@pytest.mark.parametrize("higher", [True, False], ids=["higher is better", "lower is better"])
def test_a_size_that_is_too_much_slower_fails_although_it_passed(higher: bool) -> None:
    ladder, off = Ladder("n", "rate", 0.2, higher), -1.0 if higher else 1.0
    climbing = Climbing(ladder_plan([1, 2, 4, 8, 16], ladder=ladder))
    climbing.to_the_end(lambda size, repeat: "passed", lambda size: 100.0 + (off * 20.1 if size >= 8 else 0.0))
    component, (row,) = judged(climbing)
    assert (row.holds, row.fails) == ("4", "8") and component.passed == component.wanted == 4
    assert next(rung.why for rung in row.rungs if rung.size == "8") == "rate is too far off"

    just = Climbing(ladder_plan([1, 2, 4, 8, 16], ladder=ladder))
    just.to_the_end(lambda size, repeat: "passed", lambda size: 100.0 + (off * 20.0 if size >= 8 else 0.0))
    assert judged(just)[1][0].holds == "16"  # a fifth worse is not more than a fifth

    better = Climbing(ladder_plan([1, 2, 4, 8, 16], ladder=ladder))
    better.to_the_end(lambda size, repeat: "passed", lambda size: 100.0 - (off * 60.0 if size >= 8 else 0.0))
    assert judged(better)[1][0].holds == "16"


@given(st.integers(1, 90), st.data())
def test_whatever_the_threshold_it_is_found_and_in_few_steps(count: int, data: st.DataObject) -> None:
    """Two sizes, and one for each halving of what lies between."""
    threshold = data.draw(st.integers(0, count))
    rungs = [Rung(str(number), str(number)) for number in range(1, count + 1)]
    known: dict[str, Any] = {}
    while True:
        found = climb(rungs, lambda rung: known.get(rung.case, "open"))
        if found.next is None:
            break
        assert found.next.case not in known and found.next.case in found.between
        known[found.next.case] = "holds" if int(found.next.size) <= threshold else "fails"
    assert (int(found.holds.size) if found.holds else 0) == threshold
    assert (int(found.fails.size) if found.fails else count + 1) == threshold + 1
    assert len(known) <= 2 + max(0, math.ceil(math.log2(max(1, count - 1))))


@given(st.integers(0, 12), st.integers(1, 3), st.integers(1, 9))
def test_what_the_engine_ordered_is_what_the_record_says(threshold: int, repeats: int, seen: int) -> None:
    """A state that went through a snapshot after any verdict decides alike."""
    climbing, verdicts = Climbing(ladder_plan(list(range(1, 13)), repeats=repeats)), 0

    def through_a_snapshot(size: int, repeat: int) -> str:
        nonlocal verdicts
        verdicts += 1
        if verdicts == seen:
            before = climbing.hand.state
            climbing.hand.state = thaw_state(freeze_state(before), before.index)
        return "passed" if size <= threshold else "failed"

    ran = set(sizes_of(climbing.to_the_end(through_a_snapshot)))
    component, (row,) = judged(climbing)
    assert {int(rung.size) for rung in row.rungs if rung.state in ("holds", "fails")} == ran
    assert (row.holds, row.fails) == (str(threshold or ""), str(threshold + 1) if threshold < 12 else "")
    assert component.to_come == 0 and component.wanted == repeats * len(ran)
    assert climbing.hand.state.tallies[0].over


# ---- what is said ------------------------------------------------------------------------------------------------------


def test_what_waits_says_which_size_comes_first_and_what_is_spared_says_why() -> None:
    climbing = Climbing(ladder_plan([1, 2, 4, 8]))
    (waiting,) = [one for one in explain(climbing.hand.state) if one.case == "t/n=8,flavour=0"]
    assert waiting.text == "t/n=1,flavour=0 #1 of component ladder comes first, as r000001"
    assert sizes_of(climbing.to_the_end(up_to(2))) == [1, 8, 2, 4]
    assert not [event for event in climbing.hand.log if event.value.get("verdict") == "spared"]

    climbing = Climbing(ladder_plan([1, 2, 4, 8, 16]))
    assert sizes_of(climbing.to_the_end(up_to(2))) == [1, 16, 4, 2]
    (spared,) = [event for event in climbing.hand.log if event.value.get("verdict") == "spared"]
    holds, fails = "t/n=1,flavour=0 holds", "t/n=4,flavour=0 does not (r000003 was judged failed)"
    assert spared.case == "t/n=8,flavour=0" and spared.reason == f"its ladder does not need it: {holds} and {fails}"


def test_while_it_is_climbed_the_bound_is_undecided_until_nothing_can_change_it() -> None:
    """Of 1, 2, 4, 8, 16 the smallest holds: 16 may still hold. When 16 fails, no bound of 16 can be met any more."""
    outcomes = []
    climbing = Climbing(ladder_plan([1, 2, 4, 8, 16], must=16))
    outcomes.append(judged(climbing)[0].criteria[0].outcome)

    def note(size: int, repeat: int) -> str:
        outcomes.append(judged(climbing)[0].criteria[0].outcome)
        return "passed" if size <= 4 else "failed"

    climbing.to_the_end(note)
    assert outcomes == ["undecided", "undecided", "undecided", "not met", "not met"]


def test_a_size_that_is_cancelled_does_not_hold() -> None:
    climbing = Climbing(ladder_plan([1, 2, 4, 8]))
    climbing.hand.play("cancel_request", value={"cases": ["t/n=8,flavour=0"], "by": "Bo"}, reason="no")
    climbing.hand.settle()
    climbing.to_the_end(up_to(8))
    _, (row,) = judged(climbing)
    assert (row.holds, row.fails) == ("4", "8") and row.in_words().endswith("cancelled): 4 of 4 sizes ran")


def test_of_a_size_that_fails_the_run_that_did_not_end_as_expected_is_named() -> None:
    """The test is to fail. Where one of its repeats times out, the other one, which failed as it should, is not to blame."""
    plan = ladder_plan([1, 2, 4], repeats=2)
    plan = replace(plan, cases=tuple(replace(case, expect="failed") for case in plan.cases))
    climbing = Climbing(plan)
    climbing.to_the_end(lambda size, repeat: "timeout" if size >= 4 and repeat == 2 else "failed")
    (row,) = judged(climbing)[1]
    largest = next(rung for rung in row.rungs if rung.size == "4")
    assert (row.holds, row.fails) == ("2", "4") and largest.why.endswith(" timeout") and largest.runs == 2


def test_run_again_it_is_climbed_anew_and_all_climbs_count() -> None:
    """A later climb that holds up to the largest size does not hide the one that failed."""
    climbing = Climbing(ladder_plan([1, 2, 4, 8, 16], must=4))
    climbing.to_the_end(up_to(2))
    assert judged(climbing)[1][0].holds == "2"
    climbing.hand.play("again", value={"component": "ladder", "by": "Bo"}, reason="mended")
    climbing.hand.settle()
    before = len(climbing.ran)
    climbing.to_the_end(up_to(16))
    assert sizes_of(climbing.ran[before:]) == [1, 16]
    component, rows = judged(climbing)
    assert [(row.round, row.holds) for row in rows] == [(1, "2"), (2, "16")]
    (up,) = [item for item in component.criteria if item.name == "up"]
    assert (up.outcome, up.measured) == ("not met", 2)
    assert up.arithmetic == (
        "t0/flavour=0, round 1 holds up to n=2, not at n=4; t0/flavour=0, round 2 holds at every size, up to n=16, must >= 4"
    )


def test_a_climb_that_a_changed_verdict_left_open_still_says_what_failed_in_it() -> None:
    """16 was judged again, and fails: nobody can say whether 8 holds. Run again it is known that all hold, and that 16 failed."""
    climbing = Climbing(ladder_plan([1, 2, 4, 8, 16]))
    climbing.to_the_end(up_to(16))
    (largest,) = [event for event in climbing.hand.log if event.event == "verdict" and event.case == "t/n=16,flavour=0"]
    value = dict(largest.value) | {"verdict": "failed", "supersedes": largest.seq, "was": "passed"}
    climbing.hand.play("verdict", case=largest.case, run=largest.run, value=value, reason="seen again")
    climbing.hand.play("again", value={"component": "ladder", "by": "Bo"}, reason="to see")
    climbing.hand.settle()
    assert judged(climbing)[0].criteria[0].outcome == "undecided"
    climbing.to_the_end(up_to(16))
    component, rows = judged(climbing)
    assert [row.holds for row in rows] == ["1", "16"] and rows[0].lost
    assert component.criteria[0].measured == 8


def test_a_verdict_that_changes_leaves_open_what_was_spared_by_the_old_one() -> None:
    """1 and 16 held, so that the others were spared. Where 16 is judged again, and fails, 4 would be needed."""
    climbing = Climbing(ladder_plan([1, 2, 4, 8, 16]))
    climbing.to_the_end(up_to(16))
    (largest,) = [event for event in climbing.hand.log if event.event == "verdict" and event.case == "t/n=16,flavour=0"]
    value = dict(largest.value) | {"verdict": "failed", "supersedes": largest.seq, "was": "passed"}
    climbing.hand.play("verdict", case=largest.case, run=largest.run, value=value, reason="seen again")
    component, (row,) = judged(climbing)
    assert row.lost and row.outcome == "holds up to n=1, not at n=16; no more is known"
    assert component.criteria[0].outcome == "undecided"


@pytest.mark.parametrize(
    ("before", "after", "taken"),
    [
        (None, Ladder("n"), "the sizes that the ladder of ladder spares"),
        (Ladder("n"), Ladder("flavour"), "the sizes that the ladder of ladder spares"),
        (Ladder("n", "rate", 0.1), Ladder("n"), "what a size must reach on the ladder of ladder"),
        (Ladder("n", "rate", 0.1), Ladder("n", "rate", 0.2), "what a size must reach on the ladder of ladder"),
        (Ladder("n", "rate", 0.1), Ladder("n", "elapsed", 0.1), "what a size must reach on the ladder of ladder"),
        (Ladder("n", "rate", 0.2), Ladder("n", "rate", 0.1), ""),
        (Ladder("n"), None, ""),
    ],
    ids=["a new ladder", "another one", "no figure", "a looser one", "another figure", "a tighter one", "none"],
)
def test_an_amendment_of_a_ladder_takes_away_what_it_spares(
    before: Ladder | None, after: Ladder | None, taken: str
) -> None:
    plan = ladder_plan([1, 2, 4])
    old, new = (replace(plan, components=(replace(plan.components[0], ladder=one),)) for one in (before, after))
    assert asks_less(old, new) == ((taken,) if taken else ())
    assert steers_runs(old, new)


# ---- beside amendments without effect --------------------------------------------------------------------------------


class Amended(Climbing):
    """A campaign of two parties whose plan asks for consent to amendments; nobody agrees to one."""

    def __init__(self, document: Document, consent: tuple[str, ...] = ("amend",)) -> None:
        parties = (Party("site", ("Ada",)), Party("vendor", ("Bo",)))
        document = replace(document, parties=parties, consent=consent)
        super().__init__(document)
        self.plans = {"d" * 64: document}
        start = {"campaign": "p-1", "plan": "p", "document": "d" * 64, "seed": 1}
        self.hand.log[0] = replace(self.hand.log[0], value=start)

    def amend(self, **changed: Any) -> None:
        """The component of the plan of the beginning with these keys changed."""
        (part,) = self.document.components
        after = replace(self.document, about=f"{len(self.plans)}", components=(replace(part, **changed),))
        before, digest = self.hand.state.index, f"{len(self.plans)}" * 64
        self.plans[digest], self.hand.state.plan = after, index_plan(after, before=before)
        value = {"document": digest, "components": [one.name for one in before.components], "by": "Bo"}
        self.hand.play("amended", value=value | {"returns": True}, reason="so")
        self.hand.settle()

    def again(self) -> None:
        """Both parties stand by it."""
        self.hand.play("again", value={"component": "ladder", "by": "Ada"}, reason="to see")
        act = acts_of(fold_runs(self.hand.log))[-1]
        self.hand.play("agreed", value={"acts": [[act.number, act.digest]], "by": "Bo"})
        self.hand.settle()

    def settled(self) -> tuple[Scorecard, list[str]]:
        """The scorecard, and how its ladders came out."""
        if self.hand.state.phase != "ended":
            self.hand.play("campaign_end", value={"counts": {}})
        record = fold_runs(self.hand.log)
        card = settle(self.plans[record.document], record, self.plans.__getitem__, lambda: self.hand.log)
        return card, [row.outcome for row in card.components[0].ladders]


@pytest.mark.parametrize("when", ["at first", "after the first climb"])
def test_a_second_climb_counts_beside_an_amendment_without_effect_that_has_more_results_in_each(when: str) -> None:
    """The vendor alone doubles the repeats; run again, the ladder holds at the smallest size only."""
    climbing = Amended(ladder_plan([1, 2, 4, 8], must=2))
    if when != "at first":
        climbing.to_the_end(up_to(8))
    climbing.amend(repeats=2)
    climbing.to_the_end(up_to(8))
    climbing.again()
    climbing.to_the_end(up_to(1))
    card, outcomes = climbing.settled()
    assert outcomes == ["holds at every size, up to n=8", "holds up to n=1, not at n=2"]
    assert card.outcome == "rejected"


def test_a_climb_whose_middle_was_spared_comes_out_by_another_size_that_ran() -> None:
    """The largest size is out while the ladder is climbed again, and in after that: of the others only 4 ran in that climb."""
    climbing = Amended(ladder_plan([1, 2, 4, 8], must=2))
    climbing.to_the_end(up_to(8))
    climbing.amend(cases=tuple(name for name in climbing.document.components[0].cases if "n=8" not in name))
    climbing.again()
    climbing.to_the_end(up_to(4))
    climbing.amend()
    climbing.to_the_end(up_to(4))
    card, outcomes = climbing.settled()
    assert outcomes == ["holds at every size, up to n=8", "holds up to n=4, not at n=8"]
    assert card.outcome == "accepted"


def test_what_a_ladder_without_effect_spared_is_to_come_and_no_failure() -> None:
    plain = ladder_plan([1, 2, 4, 8])
    every = Criterion("all", "passed / wanted", ">=", 1.0)
    climbing = Amended(replace(plain, components=(replace(plain.components[0], ladder=None, criteria=(every,)),)))
    climbing.amend(ladder=Ladder("n"))
    climbing.to_the_end(up_to(8))
    card, _ = climbing.settled()
    (found,) = card.components[0].criteria
    assert (found.outcome, card.outcome) == ("undecided", "disputed")
    assert found.arithmetic.startswith("3 passed / 4 wanted = 75.0%, 1 to come")


@pytest.mark.parametrize("ended", [False, True], ids=["while it is climbed", "after its end"])
def test_what_a_ladder_spared_is_wanted_again_where_an_amendment_takes_the_ladder_back(ended: bool) -> None:
    """One side adds a ladder, and takes it back: each size is asked for as at first, and those that were spared run."""
    plain = ladder_plan([1, 2, 4, 8])
    every = Criterion("all", "passed / wanted", ">=", 1.0)
    climbing = Amended(replace(plain, components=(replace(plain.components[0], ladder=None, criteria=(every,)),)), ())
    climbing.amend(ladder=Ladder("n"))
    climbing.to_the_end(up_to(8))
    if ended:
        climbing.hand.play("campaign_end", value={"counts": {}})
    climbing.amend()
    record = fold_runs(climbing.hand.log)
    record.plans = dict(climbing.plans)
    (part,) = score(climbing.plans[record.document], record).components
    assert (part.to_come, part.criteria[0].arithmetic[:19]) == (1, "3 passed / 4 wanted")
    assert climbing.hand.state.tallies[0].waiting + climbing.hand.state.tallies[0].in_flight == 1
    climbing.to_the_end(up_to(8))
    card, _ = climbing.settled()
    assert card.components[0].criteria[0].arithmetic.startswith("4 passed / 4 wanted = 100%")
    assert sorted(sizes_of(climbing.ran)) == [1, 2, 4, 8]


def test_a_size_below_that_failed_counts_before_one_above_that_holds() -> None:
    words = {"1": "holds", "2": "fails", "4": "spared", "8": "holds", "16": "fails"}
    rungs = [Rung(size, size) for size in words]
    climbed = climb(rungs, lambda rung: words[rung.size])  # type: ignore[arg-type,return-value]
    assert (climbed.holds, climbed.fails, climbed.lost) == (rungs[0], rungs[1], None)
    words["2"] = "spared"
    climbed = climb(rungs, lambda rung: words[rung.size])  # type: ignore[arg-type,return-value]
    assert (climbed.holds, climbed.fails, climbed.lost) == (rungs[3], rungs[4], None)
    words["8"] = "spared"
    assert climb(rungs, lambda rung: words[rung.size]).lost == rungs[2]  # type: ignore[arg-type,return-value]
