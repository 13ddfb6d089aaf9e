"""A filler takes what is idle beside a wide job that waits, and is over before that can be expected to begin."""

from __future__ import annotations

from statistics import mean
from typing import Any

import msgspec
import pytest
from engine_by_hand import ByHand, begun
from stability_plan import Filled, case, document, machine, play

from shakedown.engine import explain, index_plan
from shakedown.model.filling import Fill
from shakedown.model.nouns import Case, Component, Document, Limits

NODES = 100
TIMES = {"narrow": (600.0, 60.0), "wide": (900.0, 60.0), "filler": (50.0, 8.0)}


def plan(filler: str = "filler", limit_s: float = 60.0, hours: float = 6.0, other_limit_s: float = 0.0) -> Document:
    """One test of 80 nodes, one of 20 of which two may run at once, and what fills the rest."""
    cases: tuple[Case, ...] = (
        case("narrow", 20, 3600.0, load=0.0),
        case("wide", 80, 3600.0, load=0.0),
        case("filler", 1, limit_s, load=0.0),
    )
    others: tuple[Component, ...] = ()
    if other_limit_s:
        cases += (case("other", 40, other_limit_s, load=0.0),)
        others = (Component("beside", "performance", ("other",)),)
    mix = (("narrow", 0.3), ("wide", 0.7))
    fillers = (filler,) if filler else ()
    steady = Component(
        "steady", "stability", ("narrow", "wide"), duration_s=hours * 3600.0, mix=mix, fillers=fillers, fill=Fill()
    )
    return document(machine(NODES, targets=False), cases, steady, *others, limits=Limits(copies=(("narrow", 2),)))


def work(campaign: Filled, test: str) -> float:
    """Node-seconds."""
    nodes = {one.id: one.shape.nodes for one in campaign.document.cases}
    runs = [one for one in campaign.world.executions if one.case == test]
    return float(nodes[test] * sum((one.end or one.start) - one.start for one in runs))


def waits(campaign: Filled) -> float:
    """For how long wide runs wait, on the mean."""
    ordered = {event.job: event.time for event in campaign.events() if event.event == "submit_order"}
    waited = [float(one.start - ordered[one.job]) for one in campaign.world.executions if one.case == "wide"]
    return mean(waited)


@pytest.mark.parametrize("seed", [1, 2])
def test_what_is_idle_beside_a_wide_job_is_filled_and_the_wide_job_is_not_late(seed: int) -> None:
    campaign = play(plan(), TIMES, seed=seed, watched=False)
    bare = play(plan(filler="", hours=6.0), TIMES, seed=seed, watched=False)
    whole = NODES * 6 * 3600.0
    idle = 1.0 - sum(work(campaign, test) for test in ("narrow", "wide")) / whole
    assert work(campaign, "filler") / whole > 0.6 * idle, "most of what the mix leaves idle"
    assert waits(campaign) < waits(bare) + 120.0, "two runs of the filler"


def late(campaign: Filled) -> list[float]:
    """For how long each wide run was kept waiting by fillers: since nothing but them was in its way, first come first served."""
    nodes = {one.id: one.shape.nodes for one in campaign.document.cases}
    ordered = {event.job: event.time for event in campaign.events() if event.event == "submit_order"}
    own = [one for one in campaign.world.executions if one.case != "filler"]

    def in_the_way(wide: Any, at: float) -> int:
        runs = [one for one in own if one.start <= at and (one.end is None or one.end > at)]
        first = [one for one in own if one.start > at and ordered[one.job] < ordered[wide.job]]
        return sum(nodes[one.case] for one in (*runs, *first))

    found = []
    for wide in (one for one in own if one.case == "wide"):
        ends = sorted(one.end for one in own if one.end is not None and ordered[wide.job] < one.end <= wide.start)
        could = (at for at in (ordered[wide.job], *ends) if in_the_way(wide, at) + nodes["wide"] <= NODES)
        found.append(wide.start - next(could, wide.start))
    return found


@pytest.mark.parametrize(
    ("seed", "narrow_s", "wide_s", "filler_s"),
    [(1, 1500.0, 300.0, 50.0), (3, 600.0, 900.0, 20.0), (5, 1500.0, 900.0, 120.0)],
)
def test_no_wide_run_waits_for_more_than_one_run_of_a_filler(
    seed: int, narrow_s: float, wide_s: float, filler_s: float
) -> None:
    """That is for runs that end sooner than any before them; hardly any wide run waits for a filler at all."""
    times = {"narrow": (narrow_s, 60.0), "wide": (wide_s, 60.0), "filler": (filler_s, filler_s / 6)}
    campaign = play(plan(limit_s=2 * filler_s), times, seed=seed, watched=False)
    fillers = [one for one in campaign.world.executions if one.case == "filler" and one.end is not None]
    waited = late(campaign)
    assert len(waited) > 15 and len(fillers) > 500
    assert max(waited) <= max((one.end or one.start) - one.start for one in fillers) + 10.0, (
        "and until that is heard of"
    )
    assert sum(waited) / len(waited) < filler_s / 4


def beside(filler_limit_s: float) -> ByHand:
    """Two narrow runs have 40 nodes, a wide one waits for 80; what of the filler is ordered is ordered."""
    hand = begun(plan(limit_s=filler_limit_s))
    for job in [job for job in hand.state.jobs.values() if job.case == "narrow"]:
        hand.play("submit_accepted", job=job.id, value={"id": job.id[1:]})
        hand.play("job_report", job=job.id, run=job.run, value={"state": "running", "source": "queue"})
    hand.settle()
    return hand


def ordered(hand: ByHand, case_id: str) -> int:
    return sum(job.case == case_id for job in hand.state.jobs.values())


def test_nodes_that_a_waiting_wide_job_leaves_idle_are_filled() -> None:
    hand = beside(filler_limit_s=60.0)
    assert ordered(hand, "narrow") == 2 and ordered(hand, "wide") >= 1
    assert ordered(hand, "filler") == 60


def test_a_filler_that_would_not_be_over_in_time_says_what_it_waits_for() -> None:
    """Its runs take up to two hours, and the narrow ones are over in one."""
    hand = beside(filler_limit_s=7200.0)
    assert ordered(hand, "filler") == 0
    waiting = {one.case: one for one in explain(hand.state, "filler", hand.state.time)}
    assert waiting["filler"].key == "reserved:c:batch"
    assert "drains for" in waiting["filler"].text and "a run of this filler takes up to 2 h" in waiting["filler"].text


@pytest.mark.parametrize(("other_limit_s", "fills"), [(1000.0, 0), (7200.0, 40)])
def test_a_job_of_another_component_may_have_its_nodes_until_its_time_limit(other_limit_s: float, fills: int) -> None:
    """It is ordered in the same decision and has 40 nodes, one narrow run has 20: the wide one begins when both are over."""
    hand = begun(plan(limit_s=5000.0, other_limit_s=other_limit_s))
    assert [job.case for job in hand.state.jobs.values()][:3] == ["other", "narrow", "wide"]
    assert ordered(hand, "filler") == fills


def test_an_amendment_keeps_the_fillers() -> None:
    """What fills the machine goes on filling it, with the results that were ordered and those that come next."""
    before = plan()
    hand = begun(before)
    waiting = {(entry.mode, entry.case) for entry in hand.state.waiting.every()}
    assert ("filler", "filler") in waiting
    hand.state.plan = index_plan(msgspec.structs.replace(before, about="amended"), before=hand.state.index)
    names = [component.name for component in hand.state.index.components]
    hand.play("amended", value={"document": "d" * 64, "components": names}, reason="more of it")
    hand.settle()
    assert {(entry.mode, entry.case) for entry in hand.state.waiting.every()} == waiting
