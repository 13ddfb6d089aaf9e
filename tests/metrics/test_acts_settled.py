"""What acts take away, what the outcome is without each, and what hangs on one side's word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from acts_story import CASES, PARTIES, Acted, plan
from msgspec.structs import replace

import shakedown.cli.steer as steer
from shakedown.metrics.judging.criteria import score
from shakedown.metrics.judging.people import acts_of
from shakedown.metrics.judging.scorecard import NOT_KNOWN, ActScore, Scorecard, exit_status
from shakedown.metrics.judging.without import Variants, copied, fold_without
from shakedown.metrics.rows.table import fold_runs
from shakedown.model.events import ACTS, CONSENT
from shakedown.model.judging import Criterion
from shakedown.model.nouns import Document, Procedure, Retry
from shakedown.model.wording import wording_of


def begun(document: Document | None = None, verdicts: str = "pppppp") -> Acted:
    """Two runs of each case of ``speed``, in the order of the plan; p passed, f failed, i incorrect."""
    told = Acted(document or plan())
    words = {"p": "passed", "f": "failed", "i": "incorrect"}
    for place, letter in enumerate(verdicts):
        told.run("speed", CASES[place % 3], words[letter], place // 3 + 1)
    return told


def finished(told: Acted, by: str = "Bo") -> Acted:
    """The stability part for its time, the procedure attested and agreed to, the end."""
    told.run("days", CASES[0], repeat=9)
    told.now += 600.0
    told.say("finding", {"kind": "time_is_up", "component": "days"})
    evidence = [{"name": "log", "sha256": "ab" * 32, "bytes": 3}]
    said = {"component": "hands", "procedure": "diag", "met": True, "evidence": evidence, "by": by}
    number = told.say("attested", said, "seen")
    told.end()
    if told.documents[told.record.document].parties:
        told.agree(number, "Ada")
    return told


def act(card: Scorecard, kind: str) -> ActScore:
    return next(one for one in card.acts if one.kind == kind)


def waive(told: Acted, by: str = "Ada", name: str = "done", component: str = "speed") -> int:
    said = {"what": "criterion", "component": component, "name": name, "restriction": "no large jobs", "by": by}
    return told.say("waived", said, "firmware in May")


def test_a_campaign_in_which_nobody_did_anything_is_its_scorecard() -> None:
    told = begun()
    told.end()
    assert told.card() == score(plan(), told.record)
    assert told.card().acts == ()


def test_without_a_waiver_it_is_rejected_and_one_side_alone_is_disputed() -> None:
    told = finished(begun(verdicts="pppppf"))
    number = waive(told)
    card = told.card()
    assert (act(card, "waive").without, act(card, "waive").standing) == ("rejected", "one-sided")
    assert act(card, "waive").difference == ("done of speed is not met instead of not met, waived",)
    assert (card.outcome, card.undisputed, exit_status(card)) == ("disputed", "accepted with restrictions", 4)
    assert card.summary == (
        f"disputed: accepted with restrictions if the waiver by Ada (event {number}) counts, rejected if it does not; vendor has"
        " not agreed to it"
    )
    told.agree(number, "Bo")
    card = told.card()
    assert (card.outcome, exit_status(card), act(card, "waive").standing) == ("accepted with restrictions", 0, "agreed")
    assert [one.without for one in card.acts if one.kind == "agree"] == ["disputed", "disputed"]


def test_who_did_it_cannot_agree_to_it_for_the_other_side() -> None:
    told = finished(begun(verdicts="pppppf"))
    number = waive(told, by="Ada")
    told.agree(number, "Ada")
    told.agree(number, "Somebody")
    card = told.card()
    assert (card.outcome, act(card, "waive").missing) == ("disputed", ("vendor",))
    assert card.told == (
        f"event {number + 2}: the agreement by Somebody counts for nothing: the plan names no party that Somebody speaks for",
    )


def test_an_act_of_neither_side_needs_both() -> None:
    told = finished(begun(verdicts="pppppf"))
    number = waive(told, by="Mallory")
    assert act(told.card(), "waive").missing == ("site", "vendor")
    told.agree(number, "Ada")
    told.agree(number, "bo")
    assert act(told.card(), "waive").standing == "agreed"


def test_consent_that_is_asked_for_and_missing_leaves_an_act_without_effect() -> None:
    told = finished(begun(plan(consent=("waive",)), "pppppf"))
    number = waive(told)
    card = told.card()
    assert (card.outcome, act(card, "waive").standing) == ("rejected", "no effect")
    assert any("has no effect until vendor has agreed to it" in text for text in card.remarks)
    told.agree(number, "Bo")
    assert told.card().outcome == "accepted with restrictions"


def test_runs_that_a_ruling_takes_from_a_criterion_restrict() -> None:
    told = finished(begun(plan(parties=()), "pppppf"))
    told.say("ruled", {"as": "site", "by": "Ada"}, "outage", run="r000006")
    card = told.card()
    found = act(card, "rule")
    assert (card.outcome, found.without) == ("accepted with restrictions", "rejected")
    assert found.takes == ("1 of the 6 that done of speed would count",)
    assert card.restrictions[-1] == (
        f"the ruling by Ada (event {found.number}) takes away 1 of the 6 that done of speed would count: Ada ruled r000006 as site,"
        " because outage"
    )
    assert card.summary.startswith("accepted with restrictions (1 act of people took something away): ")


def test_a_ruling_on_several_runs_is_one_act() -> None:
    told = finished(begun(verdicts="ppppff"))
    for run in ("r000005", "r000006"):
        told.say("ruled", {"as": "site", "by": "Ada", "together": "t"}, "outage", run=run)
    found = act(told.card(), "rule")
    assert found.what == "ruled r000005, r000006 as site"
    number = told.agree(found.number, "Bo")
    assert act(told.card(), "rule").standing == "agreed"
    told.say("ruled", {"as": "site", "by": "Ada", "together": "t"}, "outage", run="r000004")
    card = told.card()
    assert act(card, "rule").standing == "one-sided"
    assert card.told[0].startswith(
        f"event {number}: the agreement by Bo counts for nothing: what it agrees to is not what event"
    )


def test_a_backdated_restart_is_marked_and_takes_time_and_runs() -> None:
    told = begun(plan(parties=()))
    told.run("days", CASES[0], "failed")
    back = told.now
    told.run("days", CASES[0], repeat=2)
    told.say("clock", {"component": "days", "act": "restart", "from": back + 0.5, "by": "Bo"}, "a new start")
    found = act(finished(told).card(), "clock")
    assert (found.backdated, found.as_of) == (True, back + 0.5)
    assert found.takes[0] == "1 run of days" and found.takes[1].endswith("of clock time of days")
    assert found.without == "rejected"


def test_what_a_pause_or_a_cap_came_to_is_not_known() -> None:
    told = begun(plan(parties=()))
    told.run("days", CASES[0])
    told.say("capped", {"test": "stream", "copies": 1, "by": "Ada"}, "too loud")
    told.say("paused", {"component": "days", "cause": "maintenance", "by": "Ada"}, "cooling")
    told.now += 50.0
    told.say("continued", {"component": "days", "by": "Ada"}, "done")
    card = finished(told).card()
    assert [(one.kind, one.without) for one in card.acts][:2] == [("cap", NOT_KNOWN), ("pause", NOT_KNOWN)]
    assert act(card, "pause").what == "paused days (maintenance) until it was resumed"
    assert act(card, "pause").takes == (), "it was not backdated, and what would have run in these 50 s is not known"
    assert (act(card, "cap").takes, card.outcome) == ((), "accepted")


def test_without_a_pause_that_started_a_clock_anew_it_is_as_it_stood() -> None:
    """Whether or not the event says what the pause did to the clock: the plan says it for its cause."""
    for consent, outcome in (((), "disputed"), (("pause",), "disputed")):
        told = begun(replace(plan(), consent=consent))
        told.run("days", CASES[0], "failed")
        number = told.say("paused", {"component": "days", "cause": "vendor", "by": "Bo"}, "new firmware")
        told.now += 50.0
        told.say("continued", {"component": "days", "by": "Bo"}, "done")
        card = finished(told).card()
        assert card.outcome == outcome
        assert act(card, "pause").takes == (() if consent else ("1 run of days", "12.0 s of clock time of days"))
        told.agree(number, "Ada")
        card = told.card()
        assert (card.outcome, act(card, "pause").without) == ("accepted with restrictions", "rejected")


def amended(told: Acted, new: Document, by: str = "Bo") -> int:
    return told.say("amended", {"document": told.keep(new), "by": by, "difference": ["so"]}, "so")


def test_without_more_attempts_the_further_ones_count_nowhere() -> None:
    for consent, outcome in (((), "disputed"), (("amend",), "rejected")):
        old = replace(plan(), consent=consent)
        speed, *rest = old.components
        speed = replace(speed, criteria=(Criterion("all", "passed / wanted", "=", 1.0, "%", must="= 100%"),))
        old = replace(old, components=(speed, *rest))
        told = Acted(old)
        amended(told, replace(old, components=(replace(speed, retry=(Retry("failed", 1),)), *rest)))
        for place in range(6):
            told.run("speed", CASES[place % 3], "passed" if place else "failed", place // 3 + 1)
            if not place:
                told.say("retry", {"component": "speed", "repeat": 1, "attempt": 2}, run="r000001", case=CASES[0])
                told.run("speed", CASES[0], attempt=2)
        card = finished(told).card()
        assert card.outcome == outcome
        if not consent:
            assert act(card, "amend").without == "rejected"
        else:
            assert "1 further attempt of speed, allowed by acts that have no effect: not counted" in card.remarks


def test_without_a_longer_time_limit_what_took_longer_timed_out() -> None:
    old = plan()
    told = Acted(old)
    shape = replace(old.cases[0].shape, time_limit_s=120.0)
    amended(told, replace(old, cases=(replace(old.cases[0], shape=shape), *old.cases[1:])))
    for place in range(6):
        told.run("speed", CASES[place % 3], repeat=place // 3 + 1, lasts=90.0 if place == 0 else 10.0)
    card = finished(told).card()
    assert (card.outcome, act(card, "amend").without) == ("disputed", "rejected")


def test_what_only_other_cases_ran_by_is_known() -> None:
    """A check of linpack is gone, and no run of linpack comes after that."""
    told = begun()
    tests = tuple(replace(test, checks=()) if test.name == "linpack" else test for test in plan().tests)
    amended(told, replace(plan(), tests=tests))
    card = finished(told).card()
    assert act(card, "amend").without == "accepted"
    amended(told, plan())
    told.end()
    assert act(told.card(), "amend").takes == (), "nothing came by it, and all of it is asked for again"


def test_a_pause_of_the_plan_is_no_act() -> None:
    told = begun()
    told.say("paused", {"component": "days", "phase": "second"}, "between two phases")
    told.say("excluded", {"nodes": ["c3n1"], "runs": ["r000001"]}, "it failed twice")
    told.say("continued", {"component": "days"}, "the phase begins")
    assert acts_of(told.record) == ()


def test_a_drain_takes_what_was_to_come_and_the_planned_time_stays_open() -> None:
    told = begun(plan(parties=PARTIES))
    told.run("days", CASES[0])
    told.say("drain_request", {"component": "days", "by": "Ada"}, "it looks good")
    evidence = [{"name": "log", "sha256": "ab" * 32, "bytes": 3}]
    said = {"component": "hands", "procedure": "diag", "met": True, "evidence": evidence, "by": "Bo"}
    number = told.say("attested", said, "seen")
    told.end()
    told.agree(number, "Ada")
    card = told.card()
    assert exit_status(card) == 4
    assert (act(card, "drain").without, act(card, "drain").takes) == ("incomplete", ("what was still to come of days",))


def put_aside(told: Acted, case: str, repeat: int = 2) -> None:
    """A result that waits is judged cancelled: nothing new is ordered."""
    told.runs += 1
    ids = {"component": "speed", "repeat": repeat, "attempt": 1, "verdict": "cancelled", "final": True}
    told.say("verdict", ids, "nothing new is ordered", run=f"r{told.runs:06d}", case=case)


def speed_alone(right: bool = True, **more: Any) -> Document:
    """One component, that wants a number of results."""
    (speed, *_) = plan().components
    asked = Criterion("right", "correct / completed", "=", 1.0, "%", must="= 100%")
    speed = replace(speed, criteria=(asked,) if right else speed.criteria[:1])
    return replace(plan(), components=(speed,), contracts=(), **more)


def drained_short(document: Document, value: dict[str, Any]) -> Acted:
    """Of six results three are right, and somebody wants no more."""
    told = begun(document, "ppp")
    told.say("drain_request", {"by": "Bo"} | value, "enough")
    for case in CASES:
        put_aside(told, case)
    told.end()
    return told


@pytest.mark.parametrize("value", [{}, {"component": "speed"}], ids=["campaign", "component"])
def test_a_drain_of_results_that_were_wanted_takes_them_away(value: dict[str, Any]) -> None:
    """It is weighed as a cancellation of them is, with a time to run for and without."""
    for consent in ((), ("drain",)):
        card = drained_short(speed_alone(consent=consent), value).card()
        drain = act(card, "drain")
        assert (drain.without, drain.takes) == ("incomplete", ("what was still to come of speed",))
        assert (card.outcome, exit_status(card), len(card.restrictions)) == ("disputed", 4, 1)
    told = drained_short(speed_alone(), value)
    told.agree(act(told.card(), "drain").number, "Ada")
    assert told.card().outcome == "accepted with restrictions"
    alone = drained_short(speed_alone(parties=()), value).card()
    assert (alone.outcome, act(alone, "drain").without) == ("accepted with restrictions", "incomplete")


def test_a_drain_that_gets_a_campaign_rejected_is_disputed() -> None:
    card = drained_short(speed_alone(right=False), {}).card()
    assert (card.undisputed, card.outcome, act(card, "drain").without) == ("rejected", "disputed", "incomplete")


def test_a_drain_takes_nothing_that_was_ended_before_it_or_elsewhere() -> None:
    """By a cancellation, a case that is given up, or a drain of another component."""
    before: tuple[tuple[str, dict[str, Any]], ...] = (
        ("cancel_request", {"cases": [CASES[0]], "by": "Ada"}),
        ("case_stopped", {"component": "speed"}),
    )
    for event, value in (*before, ("", {})):
        told = begun(speed_alone(), "pppppp")
        told.say("again", {"component": "speed", "by": "Ada"}, "once more")
        for case in CASES[1:]:
            for repeat in (3, 4):
                told.run("speed", case, repeat=repeat)
        if event:
            told.say(event, value, "it fails", case=CASES[0] if event == "case_stopped" else "")
        told.say("drain_request", {"component": "speed" if event else "days", "by": "Bo"}, "enough")
        for repeat in (3, 4):
            put_aside(told, CASES[0], repeat)
        told.end()
        assert act(told.card(), "drain").takes == (), event


def test_what_was_drained_and_run_all_the_same_is_not_taken_away() -> None:
    """The plan is amended after it: what was put aside is wanted anew, and the second drain takes what is left then."""
    told = begun(speed_alone(), "ppp")
    told.say("drain_request", {"by": "Bo"}, "enough")
    for case in CASES:
        put_aside(told, case)
    again = told.keep(replace(speed_alone(), about="go on"))
    told.say("amended", {"document": again, "by": "Ada", "difference": ["go on"]}, "go on")
    for case in CASES[:2]:
        told.run("speed", case, repeat=2)
    last = told.say("drain_request", {"by": "Bo"}, "enough")
    put_aside(told, CASES[2])
    told.end()
    card = told.card()
    assert card.outcome == "disputed"
    assert {one.number: bool(one.takes) for one in card.acts if one.kind == "drain"} == {8: False, last: True}


FOUND: tuple[tuple[str, dict[str, Any]], ...] = (
    ("fingerprint", {"digest": "bb"}),
    ("finding", {"kind": "conditions_changed"}),
)


@pytest.mark.parametrize("consent", [(), ("change", "amend")])
@pytest.mark.parametrize(("event", "value"), FOUND, ids=["fingerprint", "conditions"])
def test_a_change_that_is_only_found_needs_one_that_all_stand_by(
    event: str, value: dict[str, Any], consent: tuple[str, ...]
) -> None:
    """Found, it leaves the outcome open; declared and run again, it is disputed until the other party agrees."""
    (speed,) = speed_alone().components
    last = Criterion("all", "passed / attempts", "=", 1.0, "%", must="= 100%", epochs="last")
    told = Acted(speed_alone(consent=consent))
    told.documents[told.record.document] = replace(
        told.documents[told.record.document], components=(replace(speed, criteria=(last,)),)
    )
    told.say("fingerprint", {"digest": "aa"}, "at first")
    for place, case in enumerate(CASES):
        told.run("speed", case, "passed" if place else "failed")
    told.say(event, value, "a knob was turned")
    for case in CASES:
        told.run("speed", case, repeat=2)
    told.end()
    card = told.card()
    assert (card.outcome, exit_status(card)) == ("incomplete", 4)
    assert "which nobody declared" in card.summary
    number = told.say("changed", {"by": "Bo"}, "the knob was mine")
    told.say("again", {"component": "speed", "by": "Bo"}, "with the knob")
    for case in CASES:
        for repeat in (3, 4):
            told.run("speed", case, repeat=repeat)
    told.end()
    assert (told.card().outcome, exit_status(told.card())) == ("disputed" if not consent else "incomplete", 4)
    told.agree(number, "Ada")
    told.agree(next(one.number for one in told.card().acts if one.kind == "again"), "Ada")
    assert told.card().outcome == "accepted with restrictions"


def test_a_drain_after_the_time_was_up_takes_nothing() -> None:
    told = begun(plan(parties=()))
    told.run("days", CASES[0])
    told.now += 600.0
    told.say("finding", {"kind": "time_is_up", "component": "days"})
    told.say("drain_request", {"component": "days", "by": "Ada"}, "anyway")
    told.end()
    assert (act(told.card(), "drain").without, act(told.card(), "drain").takes) == (
        "incomplete",
        (),
    )  # hands is not attested
    assert told.card().outcome == "incomplete"


def test_an_amendment_that_takes_a_case_out_is_undone() -> None:
    told = begun(plan(parties=()), "ppfppf")
    old = plan(parties=())
    speed, *rest = old.components
    told.say(
        "amended",
        {"document": told.keep(replace(old, components=(replace(speed, cases=CASES[:2]), *rest))), "by": "Bo"},
        "x",
    )
    found = act(finished(told).card(), "amend")
    assert found.without == "rejected"
    assert found.takes == ("1 case of speed", "2 runs of speed")


def test_a_bound_that_is_loosened_is_taken_away() -> None:
    first = plan(parties=())
    speed, *rest = first.components
    speed = replace(speed, criteria=(speed.criteria[0], speed.criteria[2]))  # no figure of the last epoch
    old = replace(first, components=(speed, *rest))
    told = begun(old, "pppppf")
    loose = replace(speed.criteria[0], bound=0.5, must=">= 50%")
    new = replace(old, components=(replace(speed, criteria=(loose, *speed.criteria[1:])), *rest))
    told.say("amended", {"document": told.keep(new), "by": "Bo"}, "x")
    card = finished(told).card()
    assert act(card, "amend").takes == ("the bound >= 90% of criterion done of speed: now >= 50%",)
    assert (card.outcome, act(card, "amend").without) == ("accepted with restrictions", "rejected")


def test_what_was_withdrawn_has_no_effect_and_stays() -> None:
    told = finished(begun(plan(parties=()), "ppppff"))
    first = waive(told)
    told.say("ruled", {"as": "site", "by": "Ada"}, "outage", run="r000006")
    told.say("ruled", {"as": "vendor", "by": "Ada"}, "no, a node", run="r000006")
    last = len(told.events)
    told.say("withdrawn", {"events": [first], "by": "Ada"}, "a mistake")
    told.say("withdrawn", {"events": [last], "by": "Ada"}, "the outage it was")
    record, card = told.record, told.card()
    assert (record.waivers, record.withdrawn) == ([], {first: last + 1, last: last + 2})
    assert record.row_of("r000006").ruling == "site"  # type: ignore[union-attr]
    assert [one.standing for one in card.acts] == ["", "withdrawn", "", "withdrawn", "", ""]
    assert [one.withdrawn_by for one in card.acts] == [0, last + 1, 0, last + 2, 0, 0]
    assert card.acts[4].without == "accepted with restrictions" and card.outcome == "rejected"
    assert card.acts[4].what == f"withdrew event {first}: waived criterion done of speed: no large jobs"


def test_an_attestation_binds_to_the_text_that_it_was_given_for() -> None:
    told = begun(plan(parties=()))
    old = plan(parties=())
    procedure = old.components[2].procedures[0]
    evidence = [{"name": "log", "sha256": "ab" * 32, "bytes": 3}]
    said: dict[str, Any] = {"component": "hands", "procedure": "diag", "met": True, "evidence": evidence, "by": "Bo"}
    told.say("attested", said | {"wording": wording_of(procedure)}, "seen")
    assert told.card().components[2].outcome == "accepted"
    hands = replace(old.components[2], procedures=(Procedure("diag", "every node, twice", "vendor", 1),))
    told.say("amended", {"document": told.keep(replace(old, components=(*old.components[:2], hands))), "by": "Bo"}, "x")
    (criterion,) = told.card().components[2].criteria
    assert (criterion.outcome, criterion.reason) == (
        "undecided",
        "not attested yet: diag; attested before the plan asked for something else: diag",
    )


# ---- records without acts ------------------------------------------------------------------------------------------------


def test_words_are_taken_out_of_rows_as_folding_without_them_would() -> None:
    """The short way, through the rows, and the long one, through the log, lead to the same scorecard."""
    from acts_story import drawn

    compared = 0
    for seed in range(20):
        told = drawn(seed)
        acts = [act for act in acts_of(told.record) if act.kind in ("rule", "waive", "attest", "clock")]
        variants = Variants(told.record, acts_of(told.record), lambda told=told: told.events)  # type: ignore[misc]
        folded = fold_without(told.events, [act.dropped for act in acts])
        document = told.documents[told.record.document]
        for one, record in zip(acts, folded, strict=True):
            assert score(document, variants.without({one.number})) == score(document, record), (seed, one.what)
            compared += 1
    assert compared > 30


def test_what_is_folded_without_leaves_the_record_as_it_was() -> None:
    told = finished(begun(verdicts="pppppf"))
    waive(told)
    record = told.record
    before = copied(record)
    Variants(record, acts_of(record), lambda: told.events).without([act.number for act in acts_of(record)])
    assert record == before == fold_runs(told.events)


@pytest.mark.parametrize("times", [5, 9])
def test_the_log_is_read_once_for_all_acts(times: int) -> None:
    """However many acts need it, and twice more to see whether they, and parts of them, cover each other; words beside the record
    need it not at all.
    """
    from shakedown.metrics.judging.settlement import settle

    told = begun(plan(parties=()), "pppppf")
    for place in range(times):
        said = told.keep(replace(plan(parties=()), about=f"words {place}"))
        told.say("amended", {"document": said, "by": "Ada", "difference": ["about"]}, "words")
        told.say("ruled", {"as": "site", "by": "Ada"}, "outage", run="r000006")
        waive(told)
    finished(told)
    reads: list[int] = []

    def reread() -> Any:
        reads.append(1)
        return told.events

    record = told.record
    card = settle(told.documents[record.document], record, told.documents.__getitem__, reread)
    assert (len(card.acts), len(reads)) == (3 * times + 1, 3)


def test_acts_that_cover_each_other_restrict_together() -> None:
    """A ruling said twice: neither is missed alone, and both are named; so it is with whoever says it, and with their consent."""
    told = finished(begun(plan(parties=()), "pppppf"))
    numbers = [told.say("ruled", {"as": "site", "by": by}, "a disk", run="r000006") for by in ("Ada", "Ada", "Bo")]
    card = told.card()
    first = next(one for one in card.acts if one.number == numbers[0])
    assert (card.outcome, card.without_acts) == ("accepted with restrictions", "rejected")
    assert [one.without for one in card.acts if one.kind == "rule"] == ["accepted with restrictions"] * 3
    assert first.takes == ("1 of the 6 that done of speed would count",)
    assert first.together == tuple(numbers)
    assert f"together with events {numbers[1]}, {numbers[2]}: Ada ruled" in card.restrictions[-1]


def _excused(*times: str) -> Acted:
    """Two failures that Ada ruled the vendor's, by which the mean time to interrupt is missed; then others excuse both of them."""
    often = Criterion("often", "mean time to interrupt", ">=", 400.0, "s", must=">= 400 s")
    speed, days, *rest = plan(parties=()).components
    told = begun(replace(plan(parties=()), components=(speed, replace(days, criteria=(often,)), *rest)))
    runs = [told.run("days", CASES[0], "failed", repeat) for repeat in (1, 2)]
    for place, (by, word) in enumerate([("Ada", "vendor"), *((by, "excused") for by in times)]):
        for run in runs:
            told.say("ruled", {"as": word, "by": by, "together": f"t{place}"}, "a link", run=run)
    return finished(told)


def test_rulings_that_each_excuse_the_same_interrupts_restrict_together() -> None:
    """Without all rulings there are no interrupts either: nobody said then that they are the vendor's."""
    missed, once, twice = (_excused(*times).card() for times in ((), ("Bo",), ("Bo", "Cy")))
    assert (missed.outcome, once.outcome, twice.outcome) == (
        "rejected",
        "accepted with restrictions",
        "accepted with restrictions",
    )
    takes = [[act.takes for act in card.acts if act.kind == "rule"] for card in (once, twice)]
    said = ("2 of the 2 that often of days would count",)
    assert takes == [[(), said], [(), said, ()]]
    first = next(act for act in twice.acts if act.takes)
    assert len(first.together) == 2 and first.together[0] == first.number
    without = [act.without for act in twice.acts if act.kind == "rule"]
    assert without == ["accepted", "accepted with restrictions", "accepted with restrictions"]


def test_what_two_one_sided_acts_hold_together_is_disputed() -> None:
    """Two waivers of one criterion; what all of one side come to is hidden by a ruling of the same side that makes them needed."""
    told = finished(begun(verdicts="pppppf"))
    number = told.say("ruled", {"as": "site", "by": "Bo"}, "a disk", run="r000006")
    told.agree(number, "Ada")
    told.say("ruled", {"as": "none", "by": "Ada"}, "no disk", run="r000006")
    numbers = [waive(told), waive(told)]
    card = told.card()
    assert (card.outcome, card.undisputed) == ("disputed", "accepted with restrictions")
    assert card.summary == (
        f"disputed: accepted with restrictions if the waiver by Ada (event {numbers[0]}) and the waiver by Ada (event"
        f" {numbers[1]}) count, rejected if none of them does and the ruling by Ada (event {numbers[0] - 1}) counts, accepted with"
        " restrictions without all 3; vendor has not agreed to them"
    )


def test_a_rejection_that_hangs_on_two_acts_names_both() -> None:
    """Only the last epoch counts, and two declared changes put the run that failed into one of its own."""
    late = Criterion("late", "passed / attempts", ">=", 0.8, "%", must=">= 80%", epochs="last")
    speed, *rest = plan(parties=()).components
    told = begun(replace(plan(parties=()), components=(replace(speed, criteria=(late,)), *rest)), "ppppp")
    numbers = [told.say("changed", {"by": by}, "firmware") for by in ("Ada", "Bo")]
    told.run("speed", CASES[2], "failed", 2)
    one, two = (
        f"the declared change by {by} (event {number})" for by, number in zip(("Ada", "Bo"), numbers, strict=True)
    )
    assert f"; without {one}, {two} together it is accepted" in finished(told).card().summary


def test_a_signal_is_no_act_of_a_person() -> None:
    told = begun(plan(parties=()))
    told.say("stop_request", {"signal": "SIGINT"}, "Ctrl-C")
    told.say("stop_request", {"request": "q1", "who": "ada"}, "for today")
    told.end()
    assert [one.because for one in told.card().acts if one.kind == "stop"] == ["for today"]


def exclude(told: Acted, by: str = "Bo") -> int:
    return told.say("excluded", {"nodes": ["n1"], "by": by}, "it is slow")


def test_what_one_party_did_with_an_effect_that_nobody_knows_is_said_in_the_outcome() -> None:
    """The vendor takes a slow node out: nobody can compute what would have come, and the sentence says so until the site agrees."""
    told = begun()
    number = exclude(told)
    finished(told, by="Bo")
    card = told.card()
    words = (
        f"; nobody can tell how it would have come out without the exclusion of nodes by Bo (event {number}), and site has not"
        " agreed to it"
    )
    assert (act(card, "exclude").without, act(card, "exclude").standing) == (NOT_KNOWN, "one-sided")
    assert card.outcome == "accepted" and card.summary.endswith(words) and act(card, "exclude").matters
    told.agree(number, "Ada")
    card = told.card()
    assert card.outcome == "accepted" and "nobody can tell" not in card.summary and not act(card, "exclude").matters


def test_where_the_plan_asks_for_consent_to_such_an_act_the_outcome_is_disputed_without_it() -> None:
    told = begun(replace(plan(), consent=("exclude",)))
    number = exclude(told)
    finished(told, by="Bo")
    card = told.card()
    assert (card.outcome, card.undisputed, exit_status(card)) == ("disputed", "accepted", 4)
    assert card.summary == (
        f"disputed: accepted if every party agrees to the exclusion of nodes by Bo (event {number}), as the plan demands; nobody"
        " can tell how it would have come out without it; site has not agreed to it"
    )
    assert act(card, "exclude").standing == "one-sided", "it had its effect on the machine, which no consent undoes"
    told.agree(number, "Ada")
    card = told.card()
    assert (card.outcome, exit_status(card)) == ("accepted", 0)
    assert next(one for one in reversed(card.acts) if one.kind == "agree").without == "disputed"


def test_a_plan_may_ask_for_consent_to_every_kind_of_act_but_an_agreement() -> None:
    """Every command by which people do something to a campaign is a kind of act, and each waits for the other party."""
    commands = {path.stem for path in Path(steer.__file__).parent.glob("[a-z]*.py")} - {"override", "requests"}
    commands -= {"note"}  # it says whose failure a run was, and changes no outcome
    assert set(CONSENT) == set(ACTS.values()) - {"agree"}
    assert commands - {"agree"} <= set(CONSENT)


@pytest.mark.parametrize("kind", ["stop_request", "included", "continued", "capped"])
def test_without_consent_to_what_nobody_can_compute_the_outcome_is_disputed(kind: str) -> None:
    word = ACTS[kind]
    values: dict[str, dict[str, object]] = {
        "stop_request": {"request": "stop"},
        "included": {"nodes": ["n1"]},
        "capped": {"test": "x"},
    }
    for consent, outcome in (((), "accepted"), ((word,), "disputed")):
        told = begun(replace(plan(), consent=consent))
        number = told.say(
            kind, values.get(kind, {}) | {"by": "Bo"}, "so", case="stream/a" if kind == "continued" else ""
        )
        finished(told, by="Bo")
        assert told.card().outcome == outcome
        told.agree(number, "Ada")
        assert told.card().outcome == "accepted"


def test_without_consent_to_a_drain_that_took_something_even_an_incomplete_outcome_is_disputed() -> None:
    """The planned time stays undecided with it and without it, and yet nobody may end it alone."""
    for consent, outcome in (((), "incomplete"), (("drain",), "disputed")):
        told = begun(replace(plan(), consent=consent))
        told.run("days", CASES[0])
        number = told.say("drain_request", {"component": "days", "by": "Ada"}, "it looks good")
        told.end()
        assert told.card().outcome == outcome
        assert act(told.card(), "drain").standing == "one-sided", "no consent undoes it"
        told.agree(number, "Bo")
        assert told.card().outcome == "incomplete"


def test_a_drain_that_took_nothing_disputes_nothing() -> None:
    told = begun(replace(plan(), consent=("drain",)))
    told.run("days", CASES[0], repeat=9)
    told.now += 600.0
    told.say("finding", {"kind": "time_is_up", "component": "days"})
    told.say("drain_request", {"component": "days", "by": "Ada"}, "anyway")
    evidence = [{"name": "log", "sha256": "ab" * 32, "bytes": 3}]
    said = {"component": "hands", "procedure": "diag", "met": True, "evidence": evidence, "by": "Bo"}
    number = told.say("attested", said, "seen")
    told.end()
    told.agree(number, "Ada")
    assert told.card().outcome == "accepted"


def test_a_withdrawal_without_the_consent_that_it_needs_takes_nothing_back() -> None:
    told = finished(begun(replace(plan(), consent=("withdraw",)), "pppppf"))
    waiver = waive(told)
    told.agree(waiver, "Bo")
    gone = told.say("withdrawn", {"events": [waiver], "by": "Ada"}, "no longer")
    card = told.card()
    assert (card.outcome, act(card, "waive").standing) == ("accepted with restrictions", "agreed")
    assert act(card, "withdraw").standing == "no effect"
    told.agree(gone, "Bo")
    assert (told.card().outcome, act(told.card(), "waive").standing) == ("rejected", "withdrawn")
    assert act(told.card(), "waive").withdrawn_by == gone


def test_running_again_without_the_consent_that_it_needs_counts_nowhere() -> None:
    """Of six attempts one failed, 83 %; the vendor runs it all again, and 11 of 12 would do."""
    for consent, outcome in (((), "disputed"), (("again",), "rejected")):
        told = begun(replace(plan(), consent=consent), "pppppf")
        number = told.say("again", {"component": "speed", "by": "Bo"}, "new cables")
        for place in range(6):
            told.run("speed", CASES[place % 3], "passed", place // 3 + 3)
        finished(told)
        assert told.card().outcome == outcome
        told.agree(number, "Ada")
        assert told.card().outcome == "accepted"


def of_all_epochs(consent: tuple[str, ...] = ()) -> Document:
    document = plan(consent=consent)
    parts = [
        replace(part, criteria=tuple(replace(one, epochs="all") for one in part.criteria))
        for part in document.components
    ]
    return replace(document, components=tuple(parts))


def closed(told: Acted, **more: Any) -> int:
    """The site alone has the part of the days wait until that of the speed is met."""
    document = told.documents[told.record.document]
    parts = tuple(replace(part, **more) if part.name == "days" else part for part in document.components)
    value = {"document": told.keep(replace(document, components=parts)), "by": "Ada", "difference": ["it waits"]}
    return told.say("amended", value, "first things first")


@pytest.mark.parametrize("more", [{"gate": "met", "after": ("speed",)}, {"after": ("speed",)}, {"gate": "met"}])
@pytest.mark.parametrize("consent", [(), ("amend",)])
def test_a_gate_that_one_party_closes_is_weighed_as_a_pause_is(consent: tuple[str, ...], more: dict[str, Any]) -> None:
    """Nothing of what it holds back was ordered, or all of it later: nobody knows how it would have come out, and it says so."""
    told = begun(of_all_epochs(consent))
    number = closed(told, **more)
    finished(told, by="Bo")
    card = told.card()
    assert [act.without for act in card.acts if act.number == number] == ["not known"]
    assert f"the amendment by Ada (event {number})" in card.summary and "vendor has not agreed" in card.summary
    assert (card.outcome == "disputed") == bool(consent), card.summary
    told.agree(number, "Bo")
    assert "nobody can tell" not in told.card().summary and told.card().outcome != "disputed"


def test_a_gate_that_is_closed_when_all_has_come_holds_nothing_back() -> None:
    told = finished(begun(of_all_epochs()))
    number = closed(told, gate="met", after=("speed",))
    told.end()
    assert [act.without for act in told.card().acts if act.number == number] == ["accepted"]
