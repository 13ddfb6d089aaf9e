"""What runs take of a budget, and what jobs that wait at the scheduler only ask for."""

from __future__ import annotations

from typing import Any

import msgspec

from shakedown.metrics.loads import loads
from shakedown.metrics.rows.table import fold_runs
from shakedown.model.events import Event
from shakedown.model.nouns import Case, Cluster, Component, Document, NodeType, Partition, Shape, System, Test
from shakedown.report.figures.loads import _highest as highest
from shakedown.report.figures.loads import draw_loads

structs = msgspec.structs.replace


def plan(licences: float = 2.0) -> Document:
    cluster = Cluster("h3", "slurm", (Partition("batch", "n", "n[1-8]", 8, "n"),), licences=(("md", licences),))
    system = System("m", (cluster,), (NodeType("n", cores=4),), budgets=(("md", licences),))
    case = Case("c", "t", "h3:batch", shape=Shape(nodes=1), loads=(("md", 1.0),))
    return Document("p", system, (Component("ft", "functionality", ("t",)),), (case,), (Test("t"),))


def log(runs: list[tuple[float, float | None, float | None]]) -> list[Event]:
    """Of each run: when it was ordered, began and ended."""
    told: list[tuple[float, str, int, dict[str, Any]]] = []
    for number, (ordered, began, ended) in enumerate(runs, 1):
        told.append((ordered, "submit_order", number, {"component": "ft", "repeat": number}))
        if began is not None:
            told.append((began, "job_report", number, {"state": "running"}))
        if began is not None and ended is not None:  # it is heard of half a second later
            value = {
                "component": "ft",
                "repeat": number,
                "verdict": "passed",
                "started": began,
                "elapsed_s": ended - began,
            }
            told.append((ended + 0.5, "job_report", number, {"state": "completed"}))
            told.append((ended + 0.6, "verdict", number, value))
    events = [Event("campaign_start", 1, 0.0)]
    for seq, (time, name, number, value) in enumerate(sorted(told, key=lambda one: one[:3]), 2):
        events.append(Event(name, seq, time, case="c", run=f"r{number:06d}", job=f"j{number:06d}", value=value))
    return events


def test_jobs_that_wait_at_the_scheduler_take_nothing() -> None:
    """Five are queued for two licences; the third begins the moment that the first ends, before anybody hears of that end."""
    runs = [(1.0, 2.0, 10.0), (1.0, 2.0, 12.0), (1.0, 10.1, 20.0), (1.0, 12.1, 22.0), (1.0, None, None)]
    (load,) = loads(plan(), fold_runs(log(runs)))
    assert (load.most, load.over) == (2.0, 0.0)
    rows = list(load.together())
    assert rows[0] == (1.0, 0.0, 5.0) and (2.0, 2.0, 3.0) in rows
    assert max(ran + asked for _, ran, asked in rows) == 5.0


def test_what_ran_beyond_the_limit_is_told() -> None:
    (load,) = loads(plan(1.0), fold_runs(log([(1.0, 2.0, 10.0), (1.0, 4.0, 12.0)])))
    assert load.most == 2.0 and round(load.over, 6) == 6.0


def test_what_others_took_stands_beside_what_ran() -> None:
    """Numbers by when they were asked for; a trouble without a number is none, and what is no number is left out."""
    events = log([(1.0, 2.0, 10.0)])
    for at, said in ((3.0, 0.5), (6.0, 1.5), (7.0, "much")):
        value = {"budget": "md", "number": 25.0, "full": 100.0, "ours": 1.0, "beside": said, "at": at - 0.5}
        events.append(Event("observed", len(events) + 1, at + 10.0, value=value))
    events.append(Event("observed", len(events) + 1, 18.0, value={"budget": "md"}, reason="exit status 1"))
    events.append(Event("observed", len(events) + 1, 19.0, value={"budget": "other", "beside": 1.0, "at": 1.0}))
    record = fold_runs(events)
    (load,) = loads(plan(), record)
    assert load.others == ((2.5, 0.5), (5.5, 1.5))
    (drawing,) = draw_loads([load], 0.0, 20.0)
    assert "in green: what others took" in drawing.caption
    assert "More than all" not in drawing.caption
    wrong = structs(load, others=((2.5, 0.5), (5.5, 2000.0)))
    (clipped,) = draw_loads([wrong], 0.0, 20.0)
    assert "More than all there is was observed, and is not drawn, of md (up to 2" in clipped.caption
    assert highest(wrong) == highest(load) == 2.0, "the lines of ours stay as large as they were"
    (without,) = draw_loads([structs(load, others=())], 0.0, 20.0)
    assert "others" not in without.caption and drawing.svg != without.svg
