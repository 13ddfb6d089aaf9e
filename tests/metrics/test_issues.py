"""The issue ledger: what opens an issue, what closes it, which ticket it names, and how many there are by month."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from shakedown.metrics import issues as ledger_module
from shakedown.metrics.issues import Issue, by_month, issues, ticket_in, told_issues
from shakedown.metrics.rows.table import fold_runs
from shakedown.metrics.time_spent import Out, TimeSpent
from shakedown.model.events import Event

DAY = 86400.0
BEGIN = 1_793_700_000.0  # 2026-11-03


def ledger(*told: tuple[str, float, dict[str, Any]], spent: TimeSpent | None = None) -> list[Issue]:
    """``told``: event, day, and its fields; ``value`` among them."""
    events = [Event("campaign_start", seq=1, time=BEGIN, value={"campaign": "c"})]
    for seq, (event, day, fields) in enumerate(told, 2):
        events.append(Event(event, seq=seq, time=BEGIN + day * DAY, **fields))
    return list(issues(fold_runs(events), spent))


def said(kind: str, reason: str = "", **value: Any) -> dict[str, Any]:
    return {"value": {"kind": kind, **value}, "reason": reason}


def test_incidents_are_closed_by_what_ends_them_and_by_nothing_else() -> None:
    found = ledger(
        ("finding", 1, said("queue_held", "3 jobs did not come to run", pool="c:a")),
        ("finding", 1.5, said("queue_released", pool="c:b")),
        ("finding", 2, said("queue_released", pool="c:a")),
        ("finding", 3, said("queue_held", pool="c:a")),
        ("finding", 4, said("node_left_out", "n1 is left out", nodes=["n1"])),
        ("included", 5, {"value": {"nodes": ["n1"], "by": "Ada"}}),
        ("paused", 6, {"value": {"component": "st", "cause": "site", "by": "Bo"}, "reason": "bug 770068"}),
        ("paused", 6, {"value": {"component": "st", "cause": "other", "by": "Bo"}}),
        ("continued", 7, {"value": {"component": "st", "by": "Cy"}}),
    )
    assert [(one.kind, one.severity, one.state, one.closed_by, one.ticket) for one in found] == [
        ("queue held", "major", "open", "", ""),
        ("queue held", "major", "closed", "the conductor", ""),
        ("pause for site", "major", "closed", "Cy", "770068"),
        ("node left out", "minor", "closed", "Ada", ""),
    ]
    assert found[2].opened_by == "Bo" and found[1].closed == BEGIN + 2 * DAY and found[1].events == (2, 4)


def test_a_node_that_a_held_queue_takes_back_in_is_left_out_no_longer() -> None:
    """It is more than that node: what is wrong is told of the queue from then on."""
    out = [("finding", day, said("node_left_out", nodes=[node], pool="c:a")) for day, node in ((1, "n1"), (1.5, "n2"))]
    held, released, let_in = (
        ("finding", 2, said("queue_held", pool="c:a", nodes=["n2"])),
        ("finding", 3, said("queue_released", pool="c:a")),
        ("finding", 4, said("node_let_in", nodes=["n1"], pool="c:a")),
    )
    found = ledger(*out, held, released, let_in)
    assert sorted((one.kind, one.opened - BEGIN, (one.closed or 0.0) - BEGIN) for one in found) == [
        ("node left out", DAY, 4 * DAY),
        ("node left out", 1.5 * DAY, 2 * DAY),
        ("queue held", 2 * DAY, 3 * DAY),
    ]


def test_a_load_that_nobody_measures_is_open_until_a_number_comes() -> None:
    """That there was none once more closes nothing, nor does a number of another budget."""

    def number(day: float, budget: str, value: float | None) -> tuple[str, float, dict[str, Any]]:
        return "observed", day, {"value": {"budget": budget, "number": value}, "reason": "no answer"}

    silent = ("finding", 2, said("observed_silent", "nobody says what is taken of mdt", budget="mdt"))
    (one,) = ledger(number(1, "mdt", 3.0), silent, number(3, "mdt", None), number(4, "ost", 1.0))
    assert (one.kind, one.severity, one.state) == ("load that is measured by nobody", "note", "open")
    (one,) = ledger(number(1, "mdt", 3.0), silent, number(3, "mdt", 2.0))
    assert (one.state, one.closed, one.closed_by) == ("closed", BEGIN + 3 * DAY, "the conductor")


def test_excluded_nodes_are_closed_when_the_last_of_them_has_work_again() -> None:
    first = ("excluded", 1, {"value": {"nodes": ["n1", "n2"], "by": "Ada"}, "reason": "ticket 17"})
    one, two = ({"value": {"nodes": [name], "by": "Bo"}} for name in ("n1", "n2"))
    assert [one.state for one in ledger(first, ("included", 2, one))] == ["open"]
    (done,) = ledger(first, ("included", 2, one), ("included", 3, two))
    assert (done.closed, done.closed_by, done.ticket, done.events) == (BEGIN + 3 * DAY, "Bo", "17", (2, 4))


def run(name: str, case: str, verdict: str, day: float) -> list[tuple[str, float, dict[str, Any]]]:
    ids = {"run": name, "case": case, "job": name}
    value = {"component": "st", "repeat": int(name[1:]), "attempt": 1}
    facts = value | {"verdict": verdict, "started": BEGIN + day * DAY, "elapsed_s": 60.0}
    return [("submit_order", day, ids | {"value": value}), ("verdict", day, ids | {"value": facts})]


def ruled(name: str, party: str, day: float) -> tuple[str, float, dict[str, Any]]:
    return ("ruled", day, {"run": name, "value": {"as": party, "by": "Ada"}, "reason": "a switch, INC-4711"})


def test_rulings_for_one_reason_are_one_issue_until_every_case_passed_again() -> None:
    told = [
        *run("r1", "a", "failed", 1),
        *run("r2", "b", "failed", 2),
        ruled("r1", "vendor", 3),
        ruled("r2", "vendor", 3),
    ]
    (issue,) = ledger(*told)
    assert (issue.kind, issue.state, issue.ticket, issue.severity) == ("ruling", "open", "INC-4711", "minor")
    assert issue.opened == BEGIN + DAY + 60 and "2 runs ruled vendor" in issue.what
    (half,) = ledger(*told, *run("r3", "a", "passed", 4))
    assert half.state == "open", "b has not passed again"
    (done,) = ledger(*told, *run("r3", "a", "passed", 4), *run("r4", "b", "passed", 5))
    assert done.closed == BEGIN + 5 * DAY + 60 and done.closed_by.startswith("r4 passed")
    (before,) = ledger(*run("r9", "a", "passed", 0.5), *told[:2], told[4])
    assert before.state == "open", "it passed before, and not since"


def test_the_ticket_that_was_attached_goes_before_what_words_may_mean() -> None:
    """The reason names another incident; a ticket that is taken back leaves the words."""

    def noted(name: str, ticket: str, day: float) -> tuple[str, float, dict[str, Any]]:
        return ("noted", day, {"run": name, "value": {"ticket": ticket, "by": "Bo"}, "reason": "asked the vendor"})

    told = [
        *run("r1", "a", "failed", 1),
        *run("r2", "b", "failed", 2),
        ruled("r1", "vendor", 3),
        ruled("r2", "vendor", 3),
    ]
    (one,) = ledger(*told, noted("r1", "CASE-9", 4))
    assert one.ticket == "CASE-9"
    (two,) = ledger(*told, noted("r1", "CASE-9", 4), noted("r2", "CASE-12", 5))
    assert two.ticket == "CASE-9, CASE-12"
    (back,) = ledger(*told, noted("r1", "CASE-9", 4), noted("r1", "none", 5))
    assert back.ticket == "INC-4711"


def test_a_ruling_that_was_taken_back_is_closed() -> None:
    (issue,) = ledger(*run("r1", "a", "failed", 1), ruled("r1", "site", 2), ruled("r1", "none", 3))
    assert issue.closed == BEGIN + 3 * DAY and "taken back" in issue.closed_by


def test_a_waiver_restricts_until_it_is_withdrawn() -> None:
    what = {"what": "criterion", "component": "st", "name": "bw", "restriction": "no large jobs", "by": "Ada"}
    waived = ("waived", 1.0, {"value": what, "reason": "see #17"})
    (stands,) = ledger(waived)
    assert (stands.restricts, stands.severity, stands.state, stands.ticket) == (True, "major", "open", "17")
    (gone,) = ledger(waived, ("withdrawn", 2, {"value": {"events": [2], "by": "Bo"}}))
    assert (gone.restricts, gone.state, gone.closed, gone.closed_by) == (
        False,
        "closed",
        BEGIN + 2 * DAY,
        "Bo withdrew it",
    )


def test_failed_nodes_are_in_it_and_those_that_did_not_come_back_stay_open() -> None:
    outs = (
        Out("c", "n1", BEGIN, BEGIN + 60, "down", failed=True),
        Out("c", "n2", BEGIN, BEGIN + 90, "down", failed=True, known=False),
        Out("c", "n3", BEGIN, BEGIN + 90, "excluded"),
    )
    spent = TimeSpent(BEGIN, BEGIN + 90, 3, 270_000_000, (), (), (), (), outs)
    assert [(one.what, one.state) for one in ledger(spent=spent)] == [("n2 failed", "open"), ("n1 failed", "closed")]


def test_months_count_what_was_opened_and_closed_with_none_left_out() -> None:
    every = [
        Issue("a", "", "minor", BEGIN, "", BEGIN + 100 * DAY),
        Issue("b", "", "minor", BEGIN, ""),
        Issue("c", "", "note", BEGIN + 100 * DAY, "", BEGIN + 100 * DAY),
    ]
    assert [(one.month, one.opened, one.closed, one.open) for one in by_month(every)] == [
        ("2026-11", 2, 0, 2),
        ("2026-12", 0, 0, 2),
        ("2027-01", 0, 0, 2),
        ("2027-02", 1, 2, 1),
    ]
    assert by_month([]) == ()


@pytest.mark.parametrize(
    ("text", "ticket"),
    [
        ("file system outage, ticket 17", "17"),
        ("bug 770068", "770068"),
        ("INC-1234: the switch", "INC-1234"),
        ("Ticket #42", "42"),
        ("seen in #99", "99"),
        ("3 jobs in a row on node c5n0007", ""),
        ("the CPU4000 was slow at 10:00", ""),
        ("INC0012345 is open", "INC0012345"),
        ("no such thing", ""),
    ],
)
def test_the_ticket_that_words_name(text: str, ticket: str) -> None:
    assert ticket_in(text) == ticket


def work_of(count: int) -> int:
    """How many steps of the ledger's own code it takes to settle so many rulings, each of another reason and replaced later; a case
    of which passed as often again.
    """
    told: list[tuple[str, float, dict[str, Any]]] = []
    for number in range(count):
        told += run(f"r{number}", "t/a", "failed", number / count)
    for number in range(count):
        ruling = {"value": {"as": "site", "by": "Ada"}, "run": f"r{number}", "reason": f"disk {number}"}
        told.append(("ruled", 2, ruling))
        if number % 2:
            told.append(("ruled", 3, {"value": {"as": "none", "by": "Ada"}, "run": f"r{number}"}))
    for number in range(count):
        told += run(f"p{number}", "t/a", "passed", 4 + number / count)
    events = [Event("campaign_start", seq=1, time=BEGIN, value={"campaign": "c"})]
    events += [Event(event, seq=seq, time=BEGIN + day * DAY, **more) for seq, (event, day, more) in enumerate(told, 2)]
    record, steps = fold_runs(events), 0

    def trace(frame: Any, event: str, _: object) -> Any:
        nonlocal steps
        if frame.f_code.co_filename != ledger_module.__file__:
            return None
        frame.f_trace_opcodes = True
        steps += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        found = told_issues(record)
    finally:
        sys.settrace(before)
    assert [one.state for one in found] == ["closed"] * count
    return steps


def test_the_ledger_takes_twice_the_work_for_twice_the_rulings() -> None:
    """It is made again in each what-if. Steps are counted, and not time."""
    assert work_of(80) < 2.3 * work_of(40)
