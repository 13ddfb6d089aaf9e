"""``status`` tells how often the scheduler was asked, and that it takes no job for now."""

from __future__ import annotations

from typing import Any

from shakedown.cli.status import _render
from shakedown.conductor.looking import _asked, _shut
from shakedown.engine import State
from shakedown.engine.evolve import evolve
from shakedown.engine.state import Shut
from shakedown.model.events import Event


def after(*events: Event) -> State:
    state = State(phase="running")
    for event in events:
        evolve(state, event)
    return state


def test_calls_are_counted_by_command_and_hour_of_this_driver() -> None:
    state = after(
        Event("driver_start", seq=1, time=1000.0),
        Event("asked", seq=2, time=1300.0, value={"squeue": 60, "sbatch": 100}),
        Event("asked", seq=3, time=1000.0 + 7200, value={"squeue": 1440, "sacct": 3, "sbatch": 100}),
    )
    assert _asked(state) == {
        "for_s": 7200.0,
        "total": 1543,
        "commands": {
            "sacct": {"count": 3, "per_hour": 1.5},
            "sbatch": {"count": 100, "per_hour": 50.0},
            "squeue": {"count": 1440, "per_hour": 720.0},
        },
    }


def test_another_driver_begins_at_nothing() -> None:
    state = after(
        Event("driver_start", seq=1, time=0.0),
        Event("asked", seq=2, time=300.0, value={"squeue": 60}),
        Event("driver_start", seq=3, time=9000.0),
    )
    assert _asked(state) == {}


def test_the_first_seconds_are_not_blown_up_to_an_hour() -> None:
    state = after(Event("driver_start", seq=1, time=0.0), Event("asked", seq=2, time=1.0, value={"squeue": 2}))
    assert _asked(state)["commands"] == {"squeue": {"count": 2, "per_hour": 120.0}}


def test_what_a_person_reads_fits_80_columns() -> None:
    state = after(Event("driver_start", seq=1, time=0.0))
    calls = {"sacct": 12, "sbatch": 1000, "scancel": 2, "scontrol": 31, "squeue": 7200, "sinfo": 9}
    evolve(state, Event("asked", seq=2, time=36000.0, value=calls))
    data: dict[str, Any] = {
        "campaign": "c",
        "phase": "running",
        "driver": "me",
        "components": [],
        "waiting": [],
        "asked": _asked(state),
    }
    lines = _render(data).splitlines()[-3:]
    assert lines == [
        "asked the scheduler 8254 times in 10 h 00 min:",
        "  sacct 12 (1 an hour), sbatch 1000 (100 an hour), scancel 2 (0 an hour)",
        "  scontrol 31 (3 an hour), sinfo 9 (1 an hour), squeue 7200 (720 an hour)",
    ]


def test_a_scheduler_that_takes_nothing_is_told() -> None:
    state = State(shut={"h3:batch": Shut(120.0, 3, "sbatch: error: AssocMaxSubmitJobLimit")})
    assert _shut(state) == [
        {"partition": "h3:batch", "reason": "sbatch: error: AssocMaxSubmitJobLimit", "refused": 3, "until": 120.0}
    ]
    data: dict[str, Any] = {"campaign": "c", "phase": "running", "driver": "me", "components": [], "waiting": []}
    told = _render({**data, "time": 108.4, "shut": _shut(state)}).splitlines()[-1]
    assert told == "h3:batch took no job, 3 times in a row; one is tried again in 12 s"
