"""The outcome with and without every act, computed again by a program that reads only the log and the frozen plans."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import ends_story
import harder_story
import out_and_in_story
import pytest
import recompute_acts as script
import steps_story
from acts_story import CASES, PARTIES, Acted, drawn, plan
from msgspec.structs import replace

from shakedown.metrics.judging.ends import Ends, not_run_for
from shakedown.metrics.judging.late_orders import times_up
from shakedown.metrics.judging.people import acts_of
from shakedown.metrics.judging.plans_in_force import PlansInForce
from shakedown.metrics.judging.scorecard import NOT_KNOWN, Scorecard
from shakedown.metrics.judging.settlement import settle
from shakedown.metrics.judging.without import copied
from shakedown.metrics.judging.without_checks import without_added
from shakedown.metrics.rows.table import fold_runs
from shakedown.model.judging import Criterion

SEEDS = 100


@lru_cache(maxsize=1)
def _told(story: Callable[..., Acted], seed: int, **more: Any) -> Acted:
    """A campaign, which takes as long to tell as to settle: told once for its card and its own test, then forgotten."""
    return story(seed, **more)


@cache
def _card(story: Callable[..., Acted], seed: int, **more: Any) -> Scorecard:
    """How a campaign came out: worked out once for its own test, and for the test of what is in all campaigns."""
    return _told(story, seed, **more).card()


def test_it_shares_no_code_with_the_package() -> None:
    for path in Path(script.__file__).parent.glob("recompute_*.py"):
        if path.name != "recompute_compared.py":
            text = path.read_text(encoding="utf-8")
            assert "shakedown" not in text and "msgspec" not in text, path.name


@pytest.mark.parametrize("amending", [False, True], ids=["all acts", "amendments"])
@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_campaigns(seed: int, amending: bool) -> None:
    _comes_out_the_same(drawn, seed, amending=amending)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_campaigns_in_which_acts_are_said_again(seed: int) -> None:
    _comes_out_the_same(drawn, seed, twice=True)


@pytest.mark.parametrize("seed", range(3 * SEEDS))
def test_random_campaigns_whose_plan_becomes_harder(seed: int) -> None:
    _comes_out_the_same(harder_story.drawn, seed)


def test_some_of_them_hang_on_how_runs_would_have_come_out() -> None:
    takes = [line for seed in range(3 * SEEDS) for act in _card(harder_story.drawn, seed).acts for line in act.takes]
    assert sum(line.startswith("how ") and line.endswith(" would have come out") for line in takes) > 5
    assert sum("the next attempt after" in line for line in takes) > 2


@pytest.mark.parametrize("seed", range(3 * SEEDS))
def test_random_campaigns_whose_plan_becomes_harder_and_that_ask_for_values(seed: int) -> None:
    _comes_out_the_same(harder_story.drawn, seed, valued=True)


@pytest.mark.parametrize("seed", range(3 * SEEDS))
def test_random_campaigns_that_people_end_and_take_up_again(seed: int) -> None:
    _comes_out_the_same(ends_story.drawn, seed)


@pytest.mark.parametrize("seed", range(3 * SEEDS))
def test_random_campaigns_in_which_cases_are_taken_out_and_put_in_again(seed: int) -> None:
    _comes_out_the_same(out_and_in_story.drawn, seed)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_campaigns_in_which_live_runs_are_taken_out_and_put_in_again(seed: int) -> None:
    _comes_out_the_same(out_and_in_story.drawn, seed, live=True)


@pytest.mark.parametrize("seed", range(3 * SEEDS))
def test_random_campaigns_with_set_ups_clean_ups_and_drills(seed: int) -> None:
    _comes_out_the_same(steps_story.drawn, seed)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_campaigns_whose_interrupts_people_rule_again_and_again(seed: int) -> None:
    """Without all rulings fewer interrupts may count than with the first ones alone."""
    _comes_out_the_same(_interrupted, seed)


@pytest.mark.parametrize("seed", range(SEEDS // 2))
def test_random_campaigns_in_which_words_are_taken_back(seed: int) -> None:
    """What was withdrawn counts again without the withdrawal: with what it takes away, and as it is in a log that lacks it."""
    told, card = _told(_taken_back, seed), _card(_taken_back, seed)
    _comes_out_the_same(_taken_back, seed)
    for act, events in ((act, one.events) for act, one in zip(card.acts, told.acts, strict=True)):
        if act.standing != "no effect" and act.kind != "agree":
            assert (act.number, act.without) == (act.number, _of_a_log_that_lacks(told, events))


def _of_a_log_that_lacks(told: Acted, events: tuple[int, ...]) -> str:
    left = [event for event in told.events if event.seq not in events]
    card = settle(told.documents[told.record.document], fold_runs(left), told.documents.__getitem__, lambda: left)
    return card.undisputed or card.outcome


def test_outcomes_hang_on_words_that_are_taken_back() -> None:
    cards = [_card(_taken_back, seed) for seed in range(SEEDS // 2)]
    acts = [act for card in cards for act in card.acts if act.kind == "withdraw"]
    assert sum(act.differs and act.without == "accepted with restrictions" for act in acts) > 5
    assert {card.outcome for card in cards} >= {"disputed", "rejected", "accepted with restrictions"}
    rejected = [card for card in cards if card.outcome == "rejected" and card.without_acts == "rejected"]
    assert any(act.kind == "withdraw" and act.differs for card in rejected for act in card.acts)


def _taken_back(seed: int) -> Acted:
    """Two runs of six fail; people rule them, waive what is not met, and take that back, more than once."""
    draw = random.Random(f"taken back {seed}")
    whole = plan(PARTIES if seed % 2 else (), draw.choice([(), (), ("withdraw",), ("rule",)]) if seed % 2 else ())
    done = Criterion("done", "passed / attempts", ">=", 0.9, "%", must=">= 90%", leave_out=("ruled site",))
    told = Acted(replace(whole, components=(replace(whole.components[0], criteria=(done,)),)))
    for place in range(6):
        told.run("speed", CASES[place // 2], "failed" if place < 2 else "passed", place % 2 + 1)
    told.end()
    for _ in range(draw.randrange(2, 12)):
        by, kind = (
            draw.choice(["Ada", "Bo"]),
            draw.choice(["ruled", "ruled", "waived", "withdrawn", "withdrawn", "agreed"]),
        )
        gone = told.record.withdrawn
        acts = [act for act in told.acts if act.kind in ("rule", "waive") and not gone.keys() & {*act.events}]
        others = [act for act in told.acts if act.kind != "agree"]
        if kind == "ruled":
            for run in draw.choice([["r000001"], ["r000002"], ["r000001", "r000002"]]):
                word = {
                    "as": draw.choice(["site", "site", "vendor", "none"]),
                    "by": by,
                    "together": f"t{told.now // 9}",
                }
                told.say("ruled", word, "a disk", run=run)
        elif kind == "waived":
            told.say(
                "waived",
                {"what": "criterion", "component": "speed", "name": "done", "restriction": "less", "by": by},
                "so",
            )
        elif kind == "withdrawn" and acts:
            told.say("withdrawn", {"events": list(draw.choice(acts).events), "by": by}, "no longer")
        elif kind == "agreed" and others:
            told.agree(draw.choice(others).number, by)
    return told


@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_campaigns_whose_plan_is_put_back(seed: int) -> None:
    """What one side amends, and amends back before the other one agreed to it, is nobody's word any more."""
    _comes_out_the_same(_put_back, seed)


def test_outcomes_do_not_hang_on_what_is_put_back() -> None:
    cards = [_card(_put_back, seed) for seed in range(SEEDS)]
    hanging = [card for card in cards if any(act.differs and act.standing == "one-sided" for act in card.acts)]
    assert sum(card.outcome in ("accepted", "rejected") for card in hanging) > 3
    assert sum(card.outcome == "disputed" for card in hanging) > 5


def _put_back(seed: int) -> Acted:
    """Two runs of six fail; each side amends bounds, repeats and what else is asked, there and back, and agrees or does not."""
    draw = random.Random(f"put back {seed}")
    bounds = [Criterion("done", "passed / attempts", ">=", at, "%", must=f">= {at:.0%}") for at in (0.5, 0.6, 0.9)]
    every = Criterion("every", "passed / wanted", "=", 1.0, "%", must="= 100%")
    first = replace(plan().components[0], criteria=(draw.choice(bounds),))
    told = Acted(replace(plan(PARTIES, draw.choice([(), (), ("amend",)])), components=(first,)))
    for place in range(6):
        told.run("speed", CASES[place // 2], "failed" if place < 2 else "passed", place % 2 + 1)
    parts, one = [first], draw.choice(["Ada", "Bo"])
    for _ in range(draw.randrange(2, 6)):
        now = parts[-1]
        others = (
            draw.choice(parts),
            replace(now, criteria=(draw.choice(bounds), *now.criteria[1:])),
            replace(now, criteria=(now.criteria[0], every)),
            replace(now, repeats=draw.choice([2, 3])),
        )
        parts.append(draw.choice((first, *others)))
        by = one if draw.random() < 0.8 else draw.choice(["Ada", "Bo"])
        document = told.keep(replace(told.documents[told.record.document], components=(parts[-1],)))
        number = told.say("amended", {"document": document, "difference": ["speed"], "by": by}, "so")
        if draw.random() < 0.1:
            told.agree(number, "Ada" if by == "Bo" else "Bo")
    told.end()
    return told


@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_campaigns_in_which_caps_and_exclusions_are_lifted(seed: int) -> None:
    _comes_out_the_same(_lifted, seed)


def test_some_of_what_is_lifted_left_nothing_behind_and_some_is_not_known() -> None:
    cards = [_card(_lifted, seed) for seed in range(SEEDS)]
    acts = [act for card in cards for act in card.acts if act.kind in ("cap", "exclude", "amend")]
    assert min(sum(act.without == NOT_KNOWN for act in acts), sum(act.without != NOT_KNOWN for act in acts)) > 20
    assert sum(bool(card.acts) and card.without_acts == "accepted" for card in cards) > 5


def _lifted(seed: int) -> Acted:
    """Six runs, one after the other; between an order and a verdict people cap, exclude, amend what steers, and lift that, or do so
    too late.
    """
    draw = random.Random(f"lifted {seed}")
    consent = draw.choice([(), ("cap", "exclude"), ("amend",)])
    told = Acted(replace(plan(PARTIES, consent), components=plan().components[:1]))
    first = told.documents[told.record.document]
    stops = told.keep(replace(first, components=(replace(first.components[0], stop_after=1),)))
    words: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
        "capped": ("capped", {"test": "stream", "copies": 1}, {"test": "stream", "copies": None}),
        "excluded": ("included", {"nodes": ["n1"]}, {"nodes": ["n1"]}),
        "excluded ": ("included", {"nodes": ["n2", "n3"]}, {"nodes": ["n2", "n3"]}),
        "amended": ("amended", {"document": stops}, {"document": told.keep(first)}),
    }
    for place in range(6):
        run = told.order("speed", CASES[place // 2], place % 2 + 1)
        for _ in range(draw.choice([0, 0, 1, 2])):
            by, word = draw.choice(["Ada", "Bo"]), draw.choice(list(words))
            back, value, lifted = words[word]
            told.say(word.strip(), value | {"by": by}, "a mistake")
            told.now += draw.choice([0.0, 0.0, 0.0, 100.0])
            if draw.random() < 0.9:
                told.say(back, lifted | {"by": by}, "it was")
        if draw.random() < 0.2:
            told.order("speed", CASES[2], 9)
        told.judge(run, draw.choice(["passed"] * 19 + ["failed"]))
    told.end()
    return told


def test_interrupts_are_ruled_away_by_several_rulings_together() -> None:
    cards = [_card(_interrupted, seed) for seed in range(SEEDS)]
    assert sum(any(act.together for act in card.acts) for card in cards) > 5


def _interrupted(seed: int) -> Acted:
    draw = random.Random(f"interrupts {seed}")
    often = Criterion("often", "mean time to interrupt", ">=", 300.0, "s", must=">= 300 s")
    whole = plan(PARTIES if seed % 2 else ())
    told = Acted(replace(whole, components=(replace(whole.components[1], criteria=(often,)),)))
    runs = [told.run("days", CASES[0], draw.choice(["passed", "failed", "node_fail"]), n) for n in range(1, 5)]
    for _ in range(draw.randrange(2, 8)):
        word = {"as": draw.choice(["vendor", "excused", "excused", "none"]), "by": draw.choice(["Ada", "Bo"])}
        for run in draw.sample(runs, draw.choice([1, 2])):
            told.say("ruled", word | {"together": f"t{len(told.events) // 3}"}, "a link", run=run)
    told.now += 600.0
    told.say("finding", {"kind": "time_is_up", "component": "days"})
    told.end()
    return told


def _comes_out_the_same(story: Callable[..., Acted], seed: int, **more: Any) -> None:
    told, card = _told(story, seed, **more), _card(story, seed, **more)
    again = script.settle(told.lines, told.plans)
    idle = ("withdrawn", "no effect")
    live = {str(act.number): act.without for act in card.acts if act.kind != "agree" and act.standing not in idle}
    assert live == again["without"]
    assert (card.outcome, card.without_acts or card.outcome) == (again["outcome"], again["without_acts"])
    assert sorted(act.number for act in card.acts if act.takes) == again["takes"]
    assert {str(act.number): sorted(act.missing) for act in card.acts if act.missing} == again["missing"]


def test_the_campaigns_have_everything_in_them() -> None:
    """Every kind of act, every standing, and outcomes that hang on acts: else the comparison says little."""
    cards = [_card(drawn, seed, amending=False) for seed in range(SEEDS)]
    acts = [act for card in cards for act in card.acts]
    kinds = {act.kind for act in acts}
    assert kinds >= {
        "rule",
        "waive",
        "change",
        "clock",
        "pause",
        "cap",
        "amend",
        "agree",
        "withdraw",
        "attest",
        "drain",
        "cancel",
        "rejudge",
    }
    assert {act.standing for act in acts} >= {"agreed", "one-sided", "no effect", "withdrawn", ""}
    assert {card.outcome for card in cards} >= {"disputed", "rejected", "incomplete"}
    assert any(card.outcome.startswith("accepted") for card in cards)
    assert {act.without for act in acts} >= {"rejected", "incomplete", "accepted with restrictions", NOT_KNOWN}
    reasons = [item.reason for card in cards for part in card.components for item in part.criteria]
    assert any("which nobody declared" in reason for reason in reasons)
    assert any(len(act.events) > 1 for act in acts_of(drawn(1).record)) or len(acts) > 60


def test_the_campaigns_that_people_end_hang_on_that() -> None:
    """Runs that would have been attempted again, results that needed one that is still to come, ends that two acts share."""
    told = [ends_story.drawn(seed) for seed in range(2 * SEEDS)]
    found = {"again": 0, "not run": 0, "short": 0, "only together": 0}
    for one in told:
        record, acts = one.record, acts_of(one.record)
        ends = Ends(record, acts, one.documents.__getitem__, times_up(record, one.documents.__getitem__))
        enders = [act.number for act in acts if act.kind in ("drain", "cancel")]
        undone = ends.undone(enders)
        found["again"] += bool(undone.again)
        found["short"] += bool(undone.cut_short)
        found["not run"] += bool(not_run_for(record, ends.plans, undone.events, undone.again))
        alone = set().union(*(ends.undone([number]).events for number in enders))
        found["only together"] += bool(undone.events - alone)
    assert min(found.values()) > 5, found
    cards = [_card(ends_story.drawn, seed) for seed in range(2 * SEEDS)]
    assert {card.outcome for card in cards} >= {"disputed", "rejected", "incomplete"}
    assert any(card.outcome.startswith("accepted") for card in cards)
    assert {act.without for card in cards for act in card.acts if act.kind == "drain"} >= {"rejected", "incomplete"}


def _known_without_checks(told: Acted) -> bool:
    """Whether the record tells of some run how it came out without the checks of an amendment."""
    document_of = told.documents.__getitem__
    record, real = told.record, PlansInForce(told.record, document_of)
    mine = copied(record)
    mine.documents, mine.epochs = record.documents[:1], record.epochs[:1]
    return any(without_added(row, PlansInForce(mine, document_of), real) for row in record.current())


def test_runs_are_live_when_the_plan_is_amended_and_outcomes_hang_on_that() -> None:
    told = [out_and_in_story.drawn(seed, live=True) for seed in range(SEEDS)]
    amended = [[event.seq for event in one.events if event.event == "amended"] for one in told]
    lived = [
        any(
            row.ordered_by < number < row.seq and row.verdict == "failed"
            for row in one.record.runs
            for number in numbers
        )
        for one, numbers in zip(told, amended, strict=True)
    ]
    assert sum(lived) > SEEDS // 4
    cards = [_card(out_and_in_story.drawn, seed, live=True) for seed, has in enumerate(lived) if has]
    assert {card.outcome for card in cards} >= {"disputed", "rejected", "accepted with restrictions"}


def test_attempts_are_lost_while_a_case_is_out_and_outcomes_hang_on_that() -> None:
    told = [out_and_in_story.drawn(seed, live=True) for seed in range(SEEDS)]
    every = [
        (
            one,
            Ends(one.record, one.acts, one.documents.__getitem__, {}),
            [act.number for act in one.acts if act.kind == "amend"],
        )
        for one in told
    ]
    again = [ends.undone(frozenset(amends)).again for _, ends, amends in every]
    assert sum(map(bool, again)) > 2
    cards = [
        _card(out_and_in_story.drawn, seed, live=True) for seed, runs in zip(range(SEEDS), again, strict=True) if runs
    ]
    assert any(act.kind == "amend" and act.without == "incomplete" for card in cards for act in card.acts)


def test_the_campaigns_in_which_cases_come_back_hang_on_that() -> None:
    """Results that were wanted again only by an act, and disputes about what is counted in the place of what both took away."""
    cards = [_card(out_and_in_story.drawn, seed) for seed in range(3 * SEEDS)]
    remarks = [remark for card in cards for remark in card.remarks]
    assert sum("wanted again by acts that have no effect" in remark for remark in remarks) > 5
    beside = [card for card in cards if card.outcome == "disputed" and "has not agreed to event" in card.summary]
    assert len(beside) > 5
    assert {card.outcome for card in cards} >= {"disputed", "rejected", "accepted with restrictions"}


def test_the_campaigns_with_set_ups_and_drills_have_everything_in_them() -> None:
    cards = [_card(steps_story.drawn, seed) for seed in range(SEEDS)]
    names = ("set up", "clean up", "drill oss: lost", "drill oss: hole")
    came = {(item.name, item.outcome) for card in cards for part in card.components for item in part.criteria}
    assert {(name, word) for name in names for word in ("met", "not met")} <= came
    acts = [act for card in cards for act in card.acts]
    assert {act.kind for act in acts if act.takes} >= {"drill", "rule", "clock"}
    assert {card.outcome for card in cards} >= {"disputed", "rejected", "incomplete", "accepted"}


def test_acts_that_are_said_again_cover_each_other() -> None:
    """None of them takes anything alone, of several kinds, and the outcome hangs on them together."""
    cards = [_card(drawn, seed, twice=True) for seed in range(SEEDS)]
    sets = [[one for one in card.acts if one.number in act.together] for card in cards for act in card.acts]
    kinds = [{act.kind for act in acts} for acts in sets if acts]
    assert {"rule"} in kinds and {"clock"} in kinds and any(len(some) > 1 for some in kinds)
    alone = [card for card in cards if not any(act.takes and not act.together for act in card.acts)]
    assert any(card.restrictions and any(act.together for act in card.acts) for card in alone)


def test_the_campaigns_whose_plan_becomes_harder_hang_on_that() -> None:
    """Verdicts that came by a harder plan, known and not known; warm-ups that count, those of void amendments among them."""
    told = [harder_story.drawn(seed) for seed in range(3 * SEEDS)]
    cards = [_card(harder_story.drawn, seed) for seed in range(3 * SEEDS)]
    assert {card.outcome for card in cards} >= {"disputed", "rejected", "accepted", "accepted with restrictions"}
    known = [_known_without_checks(one) for one in told]
    assert sum(known) > 10
    remarks = [remark for card in cards for remark in card.remarks]
    assert sum("counted as the first of their mode" in remark for remark in remarks) > 5
    takes = [what for card in cards for act in card.acts for what in act.takes]
    assert sum("they warm up now" in what for what in takes) > 10
    assert sum(act.without == NOT_KNOWN and not act.takes for card in cards for act in card.acts) > 20


def test_campaigns_that_ask_for_values_hang_on_what_nobody_measured() -> None:
    """Where consent is missing they are disputed by it; some are known all the same."""
    cards = [_card(harder_story.drawn, seed, valued=True) for seed in range(3 * SEEDS)]
    amends = [act for card in cards for act in card.acts if act.kind == "amend"]
    assert {act.without for act in amends} >= {NOT_KNOWN, "accepted", "accepted with restrictions", "rejected"}
    hung = [act for act in amends if any("would have measured" in what for what in act.takes)]
    assert len(hung) > 40 and {act.without for act in hung} == {NOT_KNOWN}
    assert {card.outcome for card in cards} >= {"disputed", "rejected", "accepted", "accepted with restrictions"}
