"""A run that a harder plan kept from passing would have measured something, and nobody knows what: an outcome without that plan is
known only where it does not hang on it.
"""

from __future__ import annotations

from typing import Any

import pytest
from acts_story import PARTIES, Acted
from msgspec.structs import replace

from shakedown.metrics.judging.scorecard import NOT_KNOWN, ActScore, Scorecard
from shakedown.model.judging import Contract, ContractRow, Criterion
from shakedown.model.nouns import (
    Case,
    Cluster,
    Component,
    Document,
    FigureSpec,
    NodeType,
    Partition,
    Retry,
    Shape,
    System,
    Test,
)
from shakedown.model.scores import Score, ScorePart

LONGEST = Criterion("longest", "value", "<=", 15.0, of="elapsed", statistic="max", unit="s", must="<= 15 s")
LEAST = Criterion("least", "value", ">=", 90.0, of="rate", statistic="min", must=">= 90")
ALL = Criterion("all", "passed / attempts", "=", 1.0, "%", must="= 100%")
SOME = Criterion("some", "passed / attempts", ">=", 0.5, "%", must=">= 50%")
ROW = ContractRow("c:1", "c", "r", "rate", ">= 90", "contract", low=90.0)


def plan(
    *criteria: Criterion, wide: tuple[Criterion, ...] = (SOME,), rows: tuple[ContractRow, ...] = (), **more: Any
) -> Document:
    """The component speed has these criteria, and wide others of its own; three results each, of a test each."""
    system = System("c", (Cluster("c", "slurm", (Partition("batch", "c", "n[1-4]", 4, "node"),)),), (NodeType("node"),))
    tests = tuple(Test(name, figures=(FigureSpec("rate", "", "higher"),)) for name in ("r", "s"))
    names = tuple(row.name for row in rows)
    cases = tuple(
        Case(name, name, "c:batch", shape=Shape(time_limit_s=60.0), rows=names if name == "r" else ())
        for name in ("r", "s")
    )
    again = (Retry("failed", 1),)
    parts = (
        Component("speed", "performance", ("r",), 3, criteria=criteria, retry=again),
        Component("wide", "performance", ("s",), 3, criteria=wide),
    )
    contracts = (Contract("c", rows=rows),) if rows else ()
    return Document("p", system, parts, cases, tests, contracts=contracts, parties=PARTIES, **more)


def shorter(document: Document) -> Document:
    return replace(document, cases=tuple(replace(case, shape=Shape(time_limit_s=20.0)) for case in document.cases))


def once_only(document: Document) -> Document:
    return replace(document, components=tuple(replace(part, retry=()) for part in document.components))


def told(
    document: Document, after: Document, verdict: str = "timeout", rate: float = 100.0, first: float = 10.0
) -> Scorecard:
    """The vendor alone amends the plan after one result of each component; then the second of speed does not pass by that."""
    campaign = Acted(document)
    campaign.run("speed", "r", lasts=first)
    campaign.run("wide", "s", lasts=12.0, rate=rate)
    campaign.say("amended", {"document": campaign.keep(after), "by": "Bo", "difference": ["it"]}, "it is enough")
    campaign.run("speed", "r", verdict, 2, lasts=20.0)
    for repeat in (2, 3):
        campaign.run("wide", "s", "passed", repeat)
    campaign.run("speed", "r", "passed", 3)
    campaign.end()
    return campaign.card()


def amendment(card: Scorecard) -> ActScore:
    return next(act for act in card.acts if act.kind == "amend")


def test_a_shorter_time_limit_hides_no_slow_result() -> None:
    document = plan(LONGEST)
    card = told(document, shorter(document))
    assert amendment(card).without == NOT_KNOWN
    assert "nobody can tell how it would have come out without the amendment by Bo (event 6)" in card.summary
    assert amendment(card).takes == ("what r000003 would have measured",)
    assert card.outcome == "accepted with restrictions"
    assert amendment(told(plan(SOME), shorter(plan(SOME)))).without == "accepted"  # no values are asked for


RIGHT = Criterion("right", "correct / completed", "=", 1.0, "%", must="= 100%")


def test_a_run_that_was_cut_off_might_have_had_a_wrong_answer() -> None:
    """All that came to its end is right, since nobody waited for the one that did not."""
    document = plan(RIGHT)
    card = told(document, shorter(document))
    assert (card.outcome, amendment(card).without) == ("accepted with restrictions", NOT_KNOWN)
    assert amendment(card).takes == ("how r000003 would have come out",)
    asked = plan(RIGHT, consent=("amend",))
    assert told(asked, shorter(asked)).outcome == "disputed"


def test_a_run_that_was_cut_off_might_have_passed_and_then_enough_would_have_come_to_their_end() -> None:
    """The other way: with it there are enough to judge by, and nothing else was wrong; and it might have failed as well."""
    document = plan(replace(RIGHT, enough=3))
    card = told(document, shorter(document))
    assert (card.outcome, amendment(card).without, amendment(card).takes) == (
        "incomplete",
        NOT_KNOWN,
        ("how r000003 would have come out",),
    )


def test_every_attempt_that_would_have_followed_might_have_failed() -> None:
    """Two of three attempts passed with what was cut off; with two attempts more that fail it is two of five."""
    for bound, without in ((0.5, NOT_KNOWN), (0.4, "accepted")):
        share = Criterion("share", "passed / attempts", ">=", bound, "%", must="so many")
        document = plan(share)
        document = replace(
            document,
            components=(replace(document.components[0], retry=(Retry("failed", 2),)), *document.components[1:]),
        )
        assert amendment(told(document, shorter(document))).without == without, bound


def test_a_date_might_be_missed_by_what_a_run_would_have_lasted() -> None:
    """It was over at 1096 s; the run that was cut off might have lasted its minute."""
    on_time = Criterion("on_time", "late", "<=", 0.0, unit="s", must="<= 0 s")
    for date, without in ((1100.0, NOT_KNOWN), (1170.0, "accepted"), (1050.0, "rejected")):
        document = plan(on_time)
        parts = (replace(document.components[0], deadline=date), *document.components[1:])
        document = replace(document, components=parts)
        assert amendment(told(document, shorter(document))).without == without, date


def test_with_consent_that_is_missing_it_is_disputed() -> None:
    document = plan(LONGEST, consent=("amend",))
    card = told(document, shorter(document))
    assert (card.outcome, card.without_acts) == ("disputed", NOT_KNOWN)
    counted = plan(SOME, consent=("amend",))
    assert told(counted, shorter(counted)).outcome == "accepted"


def test_a_further_attempt_that_was_not_made_might_have_measured_less() -> None:
    document = plan(LEAST)
    card = told(document, once_only(document), "failed")
    assert amendment(card).without == NOT_KNOWN
    asks = plan(LEAST, consent=("amend",))
    assert told(asks, once_only(asks), "failed").outcome == "disputed"


SCORE = Score("s", "geometric", (ScorePart("r", "speed", "r", "r", figures=(("rate", 1.0),), unit=""),))
OF_VALUES = {
    "the median": plan(replace(LEAST, statistic="median")),
    "the least": plan(LEAST),
    "too few values": plan(replace(LEAST, enough=3)),
    "the spread": plan(Criterion("spread", "sd / mean", "<=", 0.1, "%", of="rate", must="<= 10%")),
    "the worst case": plan(replace(LEAST, per="case")),
    "rows met": plan(Criterion("rows", "rows met", "=", 1.0, "%", must="= 100%"), rows=(ROW,)),
    "a row of the contract": plan(SOME, rows=(ROW,)),
    "node-hours": plan(Criterion("hours", "node-hours", ">=", 0.0, must=">= 0")),
    "a row on a median": plan(SOME, rows=(replace(ROW, statistic="median"),)),
}


@pytest.mark.parametrize("what", OF_VALUES)
def test_whatever_looks_at_values_leaves_it_open(what: str) -> None:
    document = OF_VALUES[what]
    assert amendment(told(document, shorter(document))).without == NOT_KNOWN


def test_a_score_leaves_it_open_in_whatever_component_it_is_judged() -> None:
    asked = Criterion("score", "score", ">=", 90.0, of="s", must=">= 90")
    for criterion, rows in ((asked, ()), (SOME, (replace(ROW, test="scores", figure="s"),))):
        document = plan(SOME, wide=(criterion,), rows=rows, scores=(SCORE,))
        card = told(document, shorter(document))
        assert card.outcome == "accepted with restrictions"
        assert amendment(card).without == NOT_KNOWN


def test_what_other_runs_measured_is_known() -> None:
    """Criteria of the other component, and a row on its test, do not look at what was cut off."""
    document = plan(SOME, wide=(LONGEST, LEAST))
    assert amendment(told(document, shorter(document))).without == "accepted"
    document = plan(SOME, rows=(replace(ROW, test="s"),))
    document = replace(
        document, cases=tuple(replace(case, rows=("c:1",) if case.id == "s" else ()) for case in document.cases)
    )
    assert amendment(told(document, shorter(document))).without == "accepted"


def test_what_is_not_met_whatever_it_measured_rejects() -> None:
    """By another component; or by a value that stands, where the greatest, the least or each counts."""
    document = plan(LONGEST, wide=(LEAST,))
    assert amendment(told(document, shorter(document), rate=50.0)).without == "rejected"
    document = plan(LONGEST)
    assert amendment(told(document, shorter(document), first=18.0)).without == "rejected"
    mean = plan(replace(LONGEST, statistic="mean"))
    assert amendment(told(mean, shorter(mean), first=28.0)).without == NOT_KNOWN
    rows = Criterion("rows", "rows met", "=", 1.0, "%", must="= 100%")
    low = replace(ROW, name="c:2", figure="elapsed", must="<= 15 s", low=None, high=15.0)
    document = plan(rows, rows=(ROW, low))
    assert amendment(told(document, shorter(document), first=18.0)).without == "rejected"


def test_a_commitment_that_is_broken_anyway_restricts() -> None:
    low = replace(ROW, figure="elapsed", must="<= 15 s", low=None, high=15.0)
    document = plan(SOME, rows=(low,))
    assert amendment(told(document, shorter(document), first=18.0)).without == "accepted with restrictions"
