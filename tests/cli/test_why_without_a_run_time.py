"""``why`` says of a run that ran to its end why it has no run time, and what it counts in."""

from __future__ import annotations

import pytest

from shakedown.engine import State
from shakedown.metrics.rows.table import fold_runs
from shakedown.model.events import Event
from shakedown.queries.why import _why_run

UNSEEN = "it ended between 2 s and 9 s after its start, while the conductor and its watcher stood still: its run time is not known"
COUNTS = "; it counts as passed, and in no number that is made of run times"


def lines(verdict: str, *more: Event, elapsed_s: float | None = None) -> list[str]:
    ids = {"component": "c", "repeat": 1, "attempt": 1}
    value = ids | {"verdict": verdict} | ({} if elapsed_s is None else {"elapsed_s": elapsed_s})
    events = [
        Event("submit_order", seq=1, time=1.0, run="r1", job="j1", case="a", value=ids),
        *more,
        Event("verdict", seq=3, time=9.0, run="r1", case="a", reason="every check held", value=value),
    ]
    record = fold_runs(events)
    return _why_run(State(), record, [row for row in record.runs if row.run == "r1"], "r1")


def test_nobody_saw_its_end() -> None:
    finding = Event("finding", seq=2, time=8.0, run="r1", job="j1", reason=UNSEEN, value={"kind": "end_unseen"})
    other = Event("finding", seq=2, time=8.0, run="r2", job="j2", reason="another's", value={"kind": "end_unseen"})
    assert lines("passed", other, finding)[-1] == f"  {UNSEEN}{COUNTS}"


def test_its_marks_do_not_tell() -> None:
    (last,) = lines("passed")[1:]
    assert last == (
        f"  its run time is not known: its job left no readings of one clock at its beginning and at its end{COUNTS}"
    )


@pytest.mark.parametrize(("verdict", "elapsed_s"), [("passed", 2.0), ("node_fail", None), ("cancelled", None)])
def test_others_say_nothing_of_it(verdict: str, elapsed_s: float | None) -> None:
    assert not any("run time is not known" in line for line in lines(verdict, elapsed_s=elapsed_s))
