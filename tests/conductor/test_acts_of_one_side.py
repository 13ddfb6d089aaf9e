"""What one side alone may try, told event by event: each try stands on the page to sign with what it does to the outcome."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from acts_story import CASES, PARTIES, Acted, plan
from msgspec.structs import replace

from shakedown.audit.sealing import signed_words
from shakedown.metrics.judging.scorecard import Scorecard
from shakedown.model.layout import Layout
from shakedown.model.nouns import Component, Party
from shakedown.report.page.signature import render_signature_page

Tell = Callable[[Acted], None]
Changed = Callable[[Component], Component]


def speed(told: Acted, bad: bool = True, rate: float = 100.0) -> None:
    """Two results of each case; the last one failed where it is ``bad``."""
    for repeat in (1, 2):
        for case in CASES:
            failed = bad and (case, repeat) == (CASES[-1], 2)
            told.run("speed", case, "failed" if failed else "passed", repeat, rate)


def days(told: Acted, bad: bool = False, count: int = 18) -> None:
    before = sum(event.event == "submit_order" and event.value["component"] == "days" for event in told.events)
    for number in range(1, count + 1):
        verdict = "failed" if bad and 3 <= number <= 6 else "passed"
        told.run("days", CASES[number % 2], verdict, before + number)


def finish(told: Acted) -> None:
    if not any(event.event == "drain_request" for event in told.events):
        told.now = max(told.now, 3000.0)
        told.say("finding", {"kind": "time_is_up", "component": "days"})
    evidence = [{"name": "log", "sha256": "ab" * 32, "bytes": 3}]
    said = {"component": "hands", "procedure": "diag", "met": True, "by": "Bo", "evidence": evidence}
    told.say("attested", said, "seen")
    told.end()


def amend(told: Acted, change: Changed) -> None:
    old = told.documents[told.record.document]
    first, *rest = old.components
    new = replace(old, components=(change(first), *rest), about=f"changed at {told.now}")
    told.say("amended", {"document": told.keep(new), "by": "Ada", "difference": ["x"]}, "more data")


def done(**fields: object) -> Changed:
    """The criterion ``done`` with other fields."""
    return lambda part: replace(part, criteria=(replace(part.criteria[0], **fields), *part.criteria[1:]))


# ---- the tries: each is by Ada alone, of a campaign that would be rejected -----------------------------------------------


def backdated_restart(told: Acted) -> None:
    speed(told, bad=False)
    days(told, bad=True, count=9)
    told.say("clock", {"component": "days", "act": "restart", "from": told.now - 25.0, "by": "Ada"}, "a new switch")
    days(told, count=18)


def drain_when_it_looks_good(told: Acted) -> None:
    speed(told, bad=False)
    days(told, count=5)
    told.say("drain_request", {"component": "days", "by": "Ada"}, "it looks good")


def amend_out_and_in(told: Acted) -> None:
    speed(told)
    amend(told, lambda part: replace(part, cases=part.cases[:2]))
    amend(told, lambda part: replace(part, cases=CASES))
    for repeat in (1, 2):
        told.run("speed", CASES[-1], "passed", repeat)
    days(told)


def rule_on_slow_passes(told: Acted) -> None:
    speed(told, bad=False, rate=80.0)
    for number in range(1, 7):
        told.say("ruled", {"as": "site", "by": "Ada"}, "a slow switch", run=f"r{number:06d}")
    days(told)


def change_after_a_bad_run(told: Acted) -> None:
    speed(told, bad=False, rate=80.0)
    told.say("changed", {"by": "Ada"}, "new firmware")
    days(told)


def loosen_a_bound(told: Acted) -> None:
    speed(told)
    amend(told, done(bound=0.5, must=">= 50%"))
    days(told)


def backdated_stop(told: Acted) -> None:
    speed(told, bad=False)
    days(told, bad=True, count=9)
    told.say("clock", {"component": "days", "act": "stop", "from": told.now - 90.0, "by": "Ada"}, "a stop")
    told.say("clock", {"component": "days", "act": "go on", "by": "Ada"}, "and on")
    days(told, count=9)


def raise_enough(told: Acted) -> None:
    speed(told)
    amend(told, done(enough=1000))
    days(told)


def waive_ahead(told: Acted) -> None:
    said = {"what": "criterion", "component": "speed", "name": "done", "restriction": "less", "by": "Ada"}
    told.say("waived", said, "in case")
    speed(told)
    days(told)


def rule_ones_own_failure(told: Acted) -> None:
    speed(told)
    told.say("ruled", {"as": "site", "by": "Ada"}, "mine", run="r000006")
    days(told)


def rename_the_component(told: Acted) -> None:
    speed(told)
    amend(told, lambda part: replace(part, name="faster"))
    days(told)


def rename_the_criterion(told: Acted) -> None:
    speed(told)
    amend(told, done(name="mostly", bound=0.5, must=">= 50%"))
    days(told)


def narrow_the_criterion(told: Acted) -> None:
    speed(told)
    amend(told, done(test="stream"))
    days(told)


def dilute_with_more_repeats(told: Acted) -> None:
    speed(told)
    amend(told, lambda part: replace(part, repeats=8))
    for repeat in range(3, 9):
        for case in CASES:
            told.run("speed", case, "passed", repeat)
    days(told)


def judge_again(told: Acted) -> None:
    speed(told)
    (row,) = [row for row in told.record.current() if row.verdict == "failed"]
    ids = {"component": row.component, "repeat": row.repeat, "attempt": 1, "supersedes": row.seq}
    again = ids | {"verdict": "passed", "figures": {"rate": 100.0}, "rejudged": {"by": "Ada", "because": "a check"}}
    told.say("verdict", again, "it passed", run=row.run, job=row.job, case=row.case)
    told.say("rejudged", {"by": "Ada", "examined": 6, "replaced": 1}, "a check")
    days(told)


TRIES = [
    backdated_restart,
    drain_when_it_looks_good,
    amend_out_and_in,
    rule_on_slow_passes,
    change_after_a_bad_run,
    loosen_a_bound,
    backdated_stop,
    raise_enough,
    waive_ahead,
    rule_ones_own_failure,
    rename_the_component,
    rename_the_criterion,
    narrow_the_criterion,
    dilute_with_more_repeats,
    judge_again,
]


def card_of(tell: Tell, parties: tuple[Party, ...]) -> tuple[Acted, Scorecard]:
    told = Acted(plan(parties))
    tell(told)
    finish(told)
    return told, told.card()


def page_of(told: Acted, card: Scorecard) -> str:
    document = told.documents[told.record.document]
    signed = signed_words(Layout(Path("campaigns/p-1")), document, card, "Ada", told.now)
    text = render_signature_page("0" * 64, told.record.seq + 1, signed).decode()
    return " ".join(re.sub("<[^>]*>", " ", text).split())


@pytest.mark.parametrize("tell", TRIES)
def test_nothing_that_one_side_tries_is_accepted_in_silence(tell: Tell) -> None:
    """Where the plan names no parties: it is not accepted, or the page names the act, and the outcome without it, or restricts."""
    told, card = card_of(tell, ())
    mine = [act for act in card.acts if act.by == "Ada"]
    page = page_of(told, card)
    assert mine and all(f"event {act.number}: Ada" in page for act in mine if act.differs or act.takes)
    if card.outcome in ("accepted", "accepted with restrictions"):
        told_so = [act for act in mine if act.without not in (card.outcome, "")] or card.restrictions
        assert told_so, card.summary
        assert page.count("Restrictions None.") == (not card.restrictions)


@pytest.mark.parametrize("tell", TRIES)
def test_no_outcome_hangs_on_what_one_side_tries(tell: Tell) -> None:
    """Where the plan names its parties: accepted only with a restriction, and never where it would be rejected without the act."""
    told, card = card_of(tell, PARTIES)
    assert card.outcome != "accepted", card.summary
    if card.outcome == "accepted with restrictions":
        assert all(act.without != "rejected" for act in card.acts if act.by == "Ada"), card.summary
        assert card.restrictions
    assert "Ada" in page_of(told, card)


def test_the_same_campaigns_without_the_tries_are_rejected() -> None:
    for bad_speed, bad_days, rate in ((True, False, 100.0), (False, True, 100.0), (False, False, 80.0)):
        told = Acted(plan(()))
        speed(told, bad_speed, rate)
        days(told, bad_days)
        finish(told)
        assert told.card().outcome == "rejected"
