"""Why a sweep waits: the nodes that others use are named, and a bound is named only where it is reached."""

from __future__ import annotations

from typing import Any

from stability_plan import Filled, play, sweep_of_five

from shakedown.engine.policy.explain import explain
from shakedown.engine.state.phases import NOT_BEGUN
from shakedown.twin import Fates, Lies, Others

SHORT = Fates(mean_s=20.0, spread_s=5.0)
LONG = Others(busy=(("n3", 0.0, 5000.0), ("n4", 0.0, 900.0)))


def seen_in(plan: Any, **more: Any) -> tuple[Filled, list[tuple[str, str, int]]]:
    """A campaign that was played; of each reason that is told at its waits the key, the words, and how many jobs had not begun."""
    seen: list[tuple[str, str, int]] = []

    def look(campaign: Any, wait: int) -> None:
        state = campaign.conductor.state
        if state.plan is not None:
            unbegun = sum(job.phase in NOT_BEGUN for job in state.jobs.values())
            found = explain(state, now=campaign.clock.now())
            seen.extend((waiting.key, waiting.text, unbegun) for waiting in found)

    return play(plan, fates=SHORT, seed=3, script=look, **more), seen


def test_the_nodes_that_others_use_are_named() -> None:
    campaign, seen = seen_in(sweep_of_five(nodes=8), others=LONG)
    words = {text for key, text, _ in seen if key == "busy:c:batch"}
    head, tail = "no node of c:batch that it still wants is idle", "; each is seen when it is"
    assert {f"{head}: it waits for n3, n4{tail}", f"{head}: it waits for n3{tail}"} <= words
    recorded = {event.reason for event in campaign.events("waiting")}
    assert "no node of c:batch that it still wants is idle; each is seen when it is" in recorded
    assert not any("it waits for n" in reason for reason in recorded), "the record keeps no names of one moment"


def test_a_bound_that_is_not_reached_is_not_named() -> None:
    """The scheduler refused jobs for a time, and is tried with one: the sweep's own bound has nothing to do with it."""
    _, seen = seen_in(sweep_of_five(nodes=8, queued=3), lies=Lies(refused=0.5, lost_submit=0.4))
    bound = [unbegun for _, text, unbegun in seen if text.startswith("at most 3 of its jobs wait at the scheduler")]
    assert not [unbegun for unbegun in bound if unbegun < 3]
    assert any("took no job for a time (" in text and "it is asked for no more than 1" in text for _, text, _ in seen)
