"""Where a cluster takes few jobs of ours at once, those that wait at it for a word leave room for those that can start."""

from __future__ import annotations

from msgspec.structs import replace
from stability_plan import SMALL_TIMES, Filled, Wish, play, small_stability

from shakedown.model.filling import Fill
from shakedown.model.nouns import Document

NODES = 16


def with_most_jobs(plan: Document, most: int) -> Document:
    clusters = tuple(replace(cluster, most_jobs=most) for cluster in plan.system.clusters)
    return replace(plan, system=replace(plan.system, clusters=clusters))


def held_at_most(campaign: Filled) -> tuple[int, int]:
    """The most jobs of ours that the cluster had at once, and the most that waited there for their release."""
    alive, held, most, stored = set[str](), set[str](), 0, 0
    for event in campaign.events():
        if event.event == "submit_order":
            alive.add(event.job)
            held |= {event.job} if event.value.get("held") else set()
        elif event.event == "release_order":
            held.discard(event.job)
        elif event.event in ("verdict", "claim_taken", "submit_deferred"):
            alive.discard(event.job)
            held.discard(event.job)
        most, stored = max(most, len(alive)), max(stored, len(held))
    return most, stored


def test_jobs_that_are_held_leave_room_for_those_that_can_start() -> None:
    """Few tests may run at once for their budget: much is kept in store of them, and the machine is to be full all the same."""
    wish = Wish(minutes=30, per_target=2.0, fill=Fill(target=0.95, queue_ahead_s=3600.0), filler=True)
    plan = with_most_jobs(small_stability(wish), 20)
    campaign = play(plan, SMALL_TIMES, watched=False)
    most, stored = held_at_most(campaign)
    assert most <= 20 and 1 <= stored <= 10
    nodes = {case.id: case.shape.nodes for case in plan.cases}
    ran = sum(((one.end or one.start) - one.start) * nodes[one.case] for one in campaign.world.executions)
    assert ran / (NODES * 30 * 60) > 0.85, "the filler and the tests without a budget have their places"
