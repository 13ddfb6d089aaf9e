"""The class of a failure where outputs are read: with the package's classes and a site's, within its limits."""

from __future__ import annotations

from tests.conductor.workers.conftest import Room

from shakedown.conductor.workers.run_reader import ReadingLimits
from shakedown.model.failures import FailureClass, FailureLine
from shakedown.model.nouns import Check, Test

PLAIN = Test("t")
ASKS = Test("t", checks=(Check("contains", "output", "done", 'output contains "done"'),))
SEGFAULT = b"step 1\nsrun: error: n001: task 0: Segmentation fault\nsrun: Terminating StepId=1.0\n"
OURS = FailureClass("no-sea", "program-error", "", "", (FailureLine(99, "here", ("cell ... is dry",)),))


def test_the_evidence_has_what_the_most_telling_line_says(room: Room) -> None:
    failure = room.one(room.order(PLAIN, SEGFAULT)).failure
    assert failure is not None
    assert (failure.name, failure.line) == ("segmentation-fault", "srun: error: n001: task 0: Segmentation fault")


def test_an_output_that_says_nothing_has_no_class(room: Room) -> None:
    for output in (b"", b"\n\n", b"done\n"):
        failure = room.one(room.order(PLAIN, output)).failure
        assert failure is not None and (failure.name, failure.line) == ("unclassified", "")


def test_a_line_far_before_the_end_is_found_where_a_check_does_not_hold(room: Room) -> None:
    behind = b"step 2\n" * 300_000
    for test in (PLAIN, ASKS):
        failure = room.one(room.order(test, SEGFAULT + behind)).failure
        assert failure is not None and failure.name == "segmentation-fault", test


def test_binary_output_does_no_harm(room: Room) -> None:
    failure = room.one(room.order(PLAIN, bytes(range(256)) * 400 + b"\nBus error\n" + b"\xff" * 1000)).failure
    assert failure is not None and failure.name == "bus-error"


def test_the_classes_of_a_site_come_along_and_change(room: Room) -> None:
    collector = room.open(workers=1)
    first = room.order(PLAIN, b"FATAL: cell 3 is dry\n")
    assert room.collect(collector, [first])[first.run].failure.name == "unclassified"  # type: ignore[union-attr]
    collector.failures = lambda: (OURS,)
    second = room.order(PLAIN, b"FATAL: cell 4 is dry\n")
    assert room.collect(collector, [second])[second.run].failure.name == "no-sea"  # type: ignore[union-attr]
    collector.failures = tuple
    third = room.order(PLAIN, b"FATAL: cell 5 is dry\n")
    assert room.collect(collector, [third])[third.run].failure.name == "unclassified"  # type: ignore[union-attr]


def test_a_pattern_that_explodes_costs_its_time_and_no_more(room: Room) -> None:
    evil = FailureClass("evil", "unknown", "", "", (FailureLine(99, "here", (), (r"(x+x+)+y",)),))
    collector = room.open(workers=1, classify=0.3)
    collector.failures = lambda: (evil,)
    orders = [room.order(PLAIN, b"x" * 60 + b" error\n"), room.order(PLAIN, b"done\n")]
    got = room.collect(collector, orders)
    assert [got[order.run].failure.name for order in orders] == ["unclassified"] * 2  # type: ignore[union-attr]
    assert "a part of the output" in got[orders[0].run].problems[-1]
    assert got[orders[1].run].problems == ()
    assert ReadingLimits().classify < 60
