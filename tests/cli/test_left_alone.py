"""What is said of this machine's own cores once no conductor is there, and by the one that leaves."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from engine_by_hand import begun
from msgspec.structs import replace
from stage import small_document

from shakedown.conductor.driver.shutdown import Interruptions
from shakedown.engine import State
from shakedown.engine.policy.explain import Waiting
from shakedown.metrics.rows.table import fold_runs
from shakedown.model.events import Event
from shakedown.model.layout import Layout
from shakedown.queries import status as asked
from shakedown.queries.status import _live, _waiting, is_left_alone, live_runs


def here() -> State:
    """A campaign on this machine's cores whose conductor died: one job is queued, others were never ordered."""
    plan = small_document(tests=1, repeats=6)
    clusters = tuple(replace(cluster, scheduler="local") for cluster in plan.system.clusters)
    plan = replace(plan, system=replace(plan.system, clusters=clusters), builds=())
    hand = begun(plan)
    hand.play("submit_accepted", job="j000001", value={"id": "7"})
    return hand.state


def test_what_was_queued_here_waits_for_a_conductor_and_for_nothing_else() -> None:
    state = here()
    run = next(iter(state.runs))
    assert "the scheduler has it in its queue" in _live(state, run)["doing"]
    left = _live(state, run, alone=True)
    assert left["phase"] == "waiting" and left["doing"].startswith(
        "it waits for a conductor: the queue of this machine"
    )


def test_our_own_cores_are_not_full_where_nobody_drives(monkeypatch: pytest.MonkeyPatch) -> None:
    state = here()
    case = next(iter(state.index.cases))
    full = Waiting("c", case, 3, "room", "local:all is full, and enough waits at its scheduler")
    gate = Waiting("c", case, 2, "gate:first", "component first is not over")
    monkeypatch.setattr(asked, "explain", lambda *told: [full, gate])
    assert [one["reason"] for one in _waiting(state, False)] == [full.text, gate.text]
    assert [one["reason"] for one in _waiting(state, True)] == [
        "it waits for a conductor: shakedown resume goes on",
        gate.text,
    ]


def test_a_campaign_without_a_lease_is_left_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    state = here()
    monkeypatch.setattr(asked, "rehearsal_of", lambda layout: None)
    assert is_left_alone(Layout(tmp_path), state)


def test_runs_that_were_taken_back_before_they_began_are_not_live(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ids = {"component": "c", "repeat": 1, "attempt": 1}
    orders = [
        Event("submit_order", n, 1.0, case="a", run=f"r{n}", job=f"j{n}", value=ids | {"repeat": n}) for n in (1, 2)
    ]
    record = fold_runs(orders)
    monkeypatch.setattr(asked, "look", lambda layout, folds: SimpleNamespace(runs={"r2": None}))
    assert [row.run for row in live_runs(Layout(tmp_path), record)] == ["r2"]


@pytest.mark.parametrize(
    ("queued", "words"), [(44, "2 running jobs may end; 44 wait for the next resume"), (0, "2 running jobs may end")]
)
def test_who_leaves_says_that_only_what_runs_here_may_end(queued: int, words: str) -> None:
    phases = ["running"] * 2 + ["queued"] * queued
    jobs = {str(number): SimpleNamespace(phase=phase) for number, phase in enumerate(phases)}
    state = SimpleNamespace(jobs=jobs, runs={}, driver=SimpleNamespace(stopping=""), only_undetermined=False)
    state.agenda, state.builds_running = SimpleNamespace(undetermined={}), lambda: False
    conductor: Any = SimpleNamespace(state=state, log=lambda *told, **more: None)
    said: list[str] = []
    interruptions = Interruptions(said.append)
    interruptions.signalled(2, None)
    interruptions.should_stop(conductor)
    assert said == [f"nothing new is submitted; {words} (Ctrl-C again to leave at once)"]
