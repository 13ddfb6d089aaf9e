"""What one side alone may try, told event by event: each try stands on the page to sign with what it does to the outcome."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from acts_story import CASES, PARTIES, Acted, plan
from acts_tries import (
    amend,
    amend_out_and_in,
    backdated_restart,
    backdated_stop,
    change_after_bad_runs,
    days,
    done,
    drain_when_it_looks_good,
    loosened_bound,
    over,
    raised_enough,
    rule_on_slow_passes,
    speed,
    waiver_ahead,
)
from msgspec.structs import replace

from shakedown.audit.sealing import signed_words
from shakedown.metrics.judging.scorecard import Scorecard
from shakedown.model.layout import Layout
from shakedown.model.nouns import Component, Party
from shakedown.report.page.signature import render_signature_page

Tell = Callable[[Acted], None]
Changed = Callable[[Component], Component]


# ---- tries by Ada alone, beside those that ``acts_tries`` has; each is of a campaign that would be rejected ---------------


def rule_ones_own_failure(told: Acted) -> None:
    speed(told)
    told.say("ruled", {"as": "site", "by": "Ada"}, "mine", run="r000006")
    days(told)


def rename_the_component(told: Acted) -> None:
    speed(told)
    amend(told, lambda part: replace(part, name="faster"), by="Ada")
    days(told)


def rename_the_criterion(told: Acted) -> None:
    speed(told)
    amend(told, done(name="mostly", bound=0.5, must=">= 50%"), by="Ada")
    days(told)


def narrow_the_criterion(told: Acted) -> None:
    speed(told)
    amend(told, done(test="stream"), by="Ada")
    days(told)


def dilute_with_more_repeats(told: Acted) -> None:
    speed(told)
    amend(told, lambda part: replace(part, repeats=8), by="Ada")
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


BY_ANYBODY = [
    backdated_restart,
    drain_when_it_looks_good,
    amend_out_and_in,
    rule_on_slow_passes,
    change_after_bad_runs,
    loosened_bound,
    backdated_stop,
    raised_enough,
    waiver_ahead,
]
TRIES = [
    *(pytest.param(partial(tell, by="Ada"), id=tell.__name__) for tell in BY_ANYBODY),
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
    over(told)
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
        over(told)
        assert told.card().outcome == "rejected"
