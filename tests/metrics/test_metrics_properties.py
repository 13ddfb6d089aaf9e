"""What must hold of every campaign, tried on many made-up ones."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from record_rows import Book, criterion

from shakedown.metrics.judging.criteria import score
from shakedown.metrics.rows.table import Record
from shakedown.metrics.rulings import rates
from shakedown.model.events import PARTIES, Event
from shakedown.model.nouns import Case, Cluster, Component, Document, NodeType, Partition, System, Test

SHARES = ("passed / attempts", "passed / wanted", "correct / completed")
attempts = st.lists(
    st.tuples(
        st.sampled_from(("a", "b")),
        st.sampled_from(("passed", "passed", "failed", "incorrect", "performance", "node_fail")),
        st.sampled_from(("", *PARTIES)),
        st.floats(1, 100),
    ),
    max_size=12,
)
bounds = st.sampled_from(("= 100%", ">= 95%", ">= 50%", "< 30%", "<= 0%"))


def told(runs: list[Any], *criteria: Any, repeats: int = 12) -> Book:
    book = Book()
    book.component("c", "a", "b", repeats=repeats, criteria=criteria)
    for case, verdict, ruling, elapsed in runs:
        book.run("c", case, verdict, elapsed_s=elapsed, ruling="" if verdict == "passed" else ruling)
    return book


def events_of(runs: list[Any]) -> list[Event]:
    """The same as a log would tell it: orders and verdicts, here and there a retry."""
    told: list[tuple[str, dict[str, Any]]] = [
        ("campaign_start", {"value": {"campaign": "x", "plan": "p", "document": "d"}})
    ]
    for number, (case, verdict, _, elapsed) in enumerate(runs, 1):
        ids = {"component": "c", "repeat": number, "attempt": 1}
        told.append(("submit_order", {"run": f"r{number}", "case": case, "job": f"j{number}", "value": ids}))
        facts = ids | {"verdict": verdict, "elapsed_s": elapsed}
        told.append(("verdict", {"run": f"r{number}", "case": case, "value": facts}))
        if verdict == "node_fail":
            told.append(("retry", {"run": f"r{number}", "case": case, "value": ids | {"attempt": 2}}))
    return [Event(name, seq=seq, time=float(seq), **fields) for seq, (name, fields) in enumerate(told, 1)]


def plan() -> Document:
    system = System("s", (Cluster("c", "slurm", (Partition("b", "c", "n[1-8]", 8, "t"),)),), (NodeType("t"),))
    wishes = tuple(criterion(name, ">= 90%", name=name) for name in SHARES)
    wishes += (criterion("sd / mean", "<= 5%", of="elapsed", per="case"),)
    cases = tuple(Case(name, name, "c:b") for name in ("a", "b"))
    return Document(
        "p", system, (Component("c", "site", ("a", "b"), 12, criteria=wishes),), cases, (Test("a"), Test("b"))
    )


@given(attempts, st.lists(st.integers(0, 40), max_size=5))
def test_a_log_read_in_pieces_gives_the_same_scorecard(runs: list[Any], cuts: list[int]) -> None:
    """A follower scores in between, as often as it likes: looking changes nothing."""
    events, document = events_of(runs), plan()
    whole, pieces = Record(), Record()
    for event in events:
        whole.add(event)
    for place, event in enumerate(events):
        if place in cuts:
            score(document, pieces)
        pieces.add(event)
    assert score(document, whole) == score(document, pieces)


@given(attempts, st.randoms(use_true_random=False))
def test_the_order_of_verdicts_changes_no_number(runs: list[Any], chance: random.Random) -> None:
    wishes = (
        *(criterion(name, ">= 90%", name=name) for name in SHARES),
        criterion("value", "<= 50", of="elapsed", unit="s"),
    )
    turned = list(runs)
    chance.shuffle(turned)
    first, second = (told(order, *wishes).card().components[0].criteria for order in (runs, turned))
    assert [(k.outcome, k.measured, k.count, k.interval) for k in first] == [
        (k.outcome, k.measured, k.count, k.interval) for k in second
    ]


@given(attempts, st.sampled_from(SHARES), bounds)
def test_shares_lie_between_nothing_and_all_and_inside_their_interval(runs: list[Any], measure: str, must: str) -> None:
    found = told(runs, criterion(measure, must)).only()
    if found.measured is not None:
        assert 0 <= found.measured <= 1
        low, high = found.interval or (0.0, 1.0)
        assert 0 <= low <= found.measured <= high <= 1


@given(attempts, st.sampled_from(SHARES), st.sampled_from(sorted(PARTIES)))
def test_leaving_out_and_adding_back_gives_the_same(runs: list[Any], measure: str, party: str) -> None:
    """What stands beside a criterion that leaves out is what the criterion says that leaves nothing out."""
    plain = told(runs, criterion(measure, ">= 95%")).only()
    without = told(runs, criterion(measure, ">= 95%", leave_out=(f"ruled {party}",))).only()
    if without.left_out:
        assert (without.before, without.measured_before) == (plain.arithmetic, plain.measured)
        if measure != "correct / completed" and None not in (without.measured, plain.measured):
            assert (without.measured or 0) >= (plain.measured or 0)  # what is left out never passed
    else:
        assert (without.measured, without.outcome) == (plain.measured, plain.outcome)


@given(attempts)
def test_rates_add_up(runs: list[Any]) -> None:
    book = told(runs)
    *tests, whole = rates(book.document(), book.record)
    assert whole.attempts == sum(test.attempts for test in tests) == len(runs)
    for line in (*tests, whole):
        assert sum(rate.hits for _, rate in line.verdicts) == line.attempts
        assert line.passed_after.hits == line.passed_before.hits
        assert line.passed_after.count <= line.passed_before.count


mostly_passed = st.sampled_from(("passed", "passed", "passed", "failed", "incorrect"))
stories = st.lists(
    st.tuples(st.sampled_from(("a", "b")), mostly_passed, st.just(""), st.just(1.0)), min_size=2, max_size=8
)


@settings(max_examples=200)
@given(stories, bounds, st.sampled_from(("", "case")), st.integers(1, 3), st.booleans())
def test_what_is_decided_stays_decided(runs: list[Any], must: str, per: str, enough: int, until_time: bool) -> None:
    """While results are still to come, met and not met are said only where whatever comes leaves them so.

    Told run by run: each measure's outcome after each. Eight of each case are wanted, so something is always to come.
    """
    wishes = tuple(criterion(name, must, name=name, per=per, enough=enough) for name in SHARES)
    before: dict[str, str] = {}
    for length in range(len(runs) + 1):
        book = told(runs[:length], *wishes)
        if until_time:
            book.component("c", "a", "b", duration_s=1e9, criteria=wishes)
        for found in book.card(ended=False).components[0].criteria:
            if before.get(found.name) in ("met", "not met"):
                assert found.outcome == before[found.name], (found.name, length)
            before[found.name] = found.outcome
