"""Jobs that wait although nodes that they fit are idle are told, once per stretch; what waits for anything else is not."""

from __future__ import annotations

from typing import Any

import pytest
from stability_plan import PATIENT, Filled, case, document, machine, play

from shakedown.engine.policy.idle_while_pending import EVERY_S, STANDS_S, WAITED_S, pending_beside
from shakedown.engine.state.records import UnusedNodes
from shakedown.engine.state.snapshot import freeze_state, thaw_state
from shakedown.model.nouns import Component, Document, Limits
from shakedown.twin import Fates, Lies, Others
from shakedown.twin.machine.jobs import SimulatedJob

HOUR = 3600.0
STEADY = Fates(mean_s=600.0, spread_s=60.0)
LIMIT = "QOSMaxJobsPerUserLimit (a limit binds, on jobs at once of a user)"


def plan(hours: float = 6.0, wide: int = 1, **more: Any) -> Document:
    cases = (case("some", 1, 900.0, load=0.0), case("others", wide, 900.0, load=0.0))
    part = Component(
        "long", "stability", ("some", "others"), duration_s=hours * HOUR, mix=(("some", 0.5), ("others", 0.5))
    )
    return document(machine(8, targets=False), cases, part, **more)


def told(campaign: Any) -> list[Any]:
    return [event for event in campaign.events("finding") if event.value["kind"] == "idle_while_pending"]


Spans = tuple[tuple[float, float], ...]


def played(
    document: Document,
    why: str,
    test: str = "others",
    spans: Spans = ((0.0, 1e9),),
    into: list[Filled] | None = None,
    **more: Any,
) -> Filled:
    """A campaign in which during some spans no job of a test may start, and the queue gives this reason for it."""
    campaign = Filled(document, fates=STEADY, lies=Lies(), policy=PATIENT, watched=False, **more)
    world, mine = campaign.world, []
    if into is not None:
        into.append(campaign)
    enter = world.enter

    def keep(job: SimulatedJob) -> None:
        now = world.clock.now() - world.began
        if job.case.id != test or not any(begin <= now < end for begin, end in spans):
            enter(job)
            return
        job.delayed = why
        mine.append(job)

    def let_go() -> bool:
        while mine:
            job = mine.pop()
            job.delayed = ""
            if job.state == "queued":
                enter(job)
        return True

    world.enter = keep  # type: ignore[method-assign]
    for _, end in spans:
        world.clock.at(world.began + end, let_go)
    campaign.run(20_000)
    return campaign


def test_it_is_told_once_with_how_long_how_many_and_the_schedulers_reason() -> None:
    campaign = played(plan(), LIMIT)
    (said,) = told(campaign)
    value = said.value
    assert (value["pool"], value["type"], value["notes"]) == (
        "c:batch",
        campaign.document.system.partitions()[0].type,
        [LIMIT],
    )
    assert value["idle"] >= 1
    assert value["count"] == len(value["jobs"]) >= 1
    assert said.time - value["since"] == pytest.approx(STANDS_S, abs=5.0)
    assert value["since"] - campaign.world.began <= WAITED_S + EVERY_S + STEADY.mean_s * 2
    assert f"{value['idle']} nodes of c:batch" in said.reason or "1 node of c:batch" in said.reason
    assert LIMIT in said.reason
    assert "look at that limit" in said.reason
    assert any(event.value.get("unused") for event in campaign.events("surveyed"))


def test_a_second_stretch_is_told_again() -> None:
    campaign = played(plan(4.0), LIMIT, spans=((0.0, HOUR), (1.5 * HOUR, 2.5 * HOUR)))
    first, second = told(campaign)
    assert first.time - campaign.world.began < HOUR
    assert second.value["since"] - campaign.world.began > 1.5 * HOUR
    assert {"c:batch": 0} in [event.value.get("unused") for event in campaign.events("surveyed")], (
        "they began: it is over"
    )
    assert not campaign.state.pools.unused


def test_patience_is_told_too_where_nothing_wider_waits() -> None:
    (said,) = told(played(plan(3.0), ""))
    assert said.value["notes"] == [""]
    assert "nothing but patience" in said.reason
    assert "backfill" in said.reason


@pytest.mark.parametrize(
    "why",
    [
        "JobHeldUser (it is held)",
        "JobHeldAdmin",
        "Dependency",
        "Licenses (licences that it needs are taken)",
        "Reservation (it waits for its reservation to begin)",
        "ReqNodeNotAvail, Reserved for maintenance (nodes that it needs are down, drained or reserved)",
        "somebody renamed it to x at the scheduler; JobHeldUser",
    ],
)
def test_what_waits_for_something_else_than_nodes_is_not_told(why: str) -> None:
    campaign = played(plan(3.0), why)
    assert told(campaign) == []


def test_what_waits_behind_a_wider_job_is_not_told_but_a_limit_is() -> None:
    """One node is somebody else's, so that the wide job waits: the others may be kept for it. A limit binds all the same."""

    class Enough(Exception):
        pass

    def stop(campaign: Any, wait: int) -> None:
        if campaign.clock.now() - campaign.world.began > HOUR:
            raise Enough

    for why, fits in (("", False), (LIMIT, True)):
        seen: list[Filled] = []
        with pytest.raises(Enough):
            others = Others(busy=(("n3", 0.0, 1e9),))
            played(plan(3.0, wide=8), why, test="some", others=others, script=stop, into=seen)
        state = seen[0].state_now()
        now = state.time + HOUR
        assert any(job.key is not None and job.key.units == 8 for job in pending_beside(state, "c:batch", 8, now))
        assert bool(pending_beside(state, "c:batch", 7, now)) is fits


def test_a_full_machine_and_one_that_its_budgets_hold_back_ask_nothing() -> None:
    """Nothing is looked up as long as nothing that may start waits beside nodes with no run of ours."""
    for limits in (Limits(), Limits(copies=(("some", 2), ("others", 2)))):
        campaign = play(plan(3.0, limits=limits), fates=STEADY, watched=False)
        assert told(campaign) == []
        assert campaign.events("surveyed") == []


def test_a_stretch_survives_a_snapshot() -> None:
    campaign = played(plan(1.0), LIMIT, spans=((0.0, 1800.0),))
    campaign.state.pools.unused = {"c:batch": UnusedNodes(5.0, 3, True)}
    again = thaw_state(freeze_state(campaign.state), campaign.state.index)
    assert again.pools.unused == campaign.state.pools.unused
