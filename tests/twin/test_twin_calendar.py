"""What happens by the calendar: nodes wear out, others work by the hour, maintenance takes nodes."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import msgspec
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st
from machine_simulated import DAY, HOUR, Rig, plan_of, taking
from stability_plan import BUDGET, case, machine

from shakedown.model.ports import Wanted
from shakedown.model.scenario import Bandwidth, Maintenance, Metadata, Neighbour, Nodes, Scenario
from shakedown.model.windows import is_open, next_time, time_of_week
from shakedown.twin import NothingWillHappen
from shakedown.twin.machine.calendar import pending_on
from shakedown.twin.machine.machine import simulate

LINK = "f2/bandwidth"

# ---- nodes ---------------------------------------------------------------------------------------------------------------


def failures(seed: int, nodes: int = 100, mtbf_s: float = 100 * DAY, days: float = 20.0) -> int:
    plan = plan_of([case("t", 1, 100.0)], system=machine(nodes))
    found = simulate(plan, Scenario(nodes=Nodes(mtbf_s=mtbf_s, repair_s=0.001)), seed)
    until = found.clock.now() + days * DAY
    while found.clock.now() < until:
        found.clock.wait(until)
    return found.world.node_failures


def test_as_many_nodes_fail_as_poisson_says() -> None:
    """100 nodes of 100 days for 20 days: 20 on average; 60 machines, by the dispersion test and by their sum."""
    counts = [failures(seed) for seed in range(60)]
    assert scipy.stats.poisson(60 * 20).cdf(sum(counts)) == pytest.approx(0.5, abs=0.499)
    mean = sum(counts) / len(counts)
    dispersion = sum((count - mean) ** 2 for count in counts) / mean
    assert 0.001 < scipy.stats.chi2(len(counts) - 1).cdf(dispersion) < 0.999


def test_a_node_that_is_down_does_not_fail() -> None:
    """With a repair as long as its life a node fails half as often."""
    plan = plan_of([case("t", 1, 100.0)], system=machine(100))
    found = simulate(plan, Scenario(nodes=Nodes(mtbf_s=DAY, repair_s=DAY)), 5)
    until = found.clock.now() + 20 * DAY
    while found.clock.now() < until:
        found.clock.wait(until)
    assert found.world.node_failures == pytest.approx(1000, rel=0.1)


def test_the_job_on_it_is_lost_and_the_node_comes_back_after_its_repair() -> None:
    rig = Rig(taking(100 * DAY, nodes=Nodes(mtbf_s=5 * DAY, repair_s=6 * HOUR)), (case("t", 8, 200 * DAY),))
    rig.order("a")
    rig.until(100 * DAY)
    assert rig.state("a") == "node_fail"
    (node,) = rig.job("a").failed_nodes
    end = rig.span("a")[1]
    again = Rig(taking(100 * DAY, nodes=Nodes(mtbf_s=5 * DAY, repair_s=6 * HOUR)), (case("t", 8, 200 * DAY),))
    again.order("a")
    idle = []
    for later in (1.0, 6 * HOUR - 1, 6 * HOUR + 1):
        again.until(end + later)
        survey = again.machine.scheduler.survey(Wanted(idle=("c:batch",)))
        idle.append(int(node[1:]) in survey.idle["c:batch"])  # type: ignore[union-attr]
    assert idle == [False, False, True]


def test_nodes_that_fail_for_ever_do_not_hide_a_conductor_who_waits_for_nothing() -> None:
    rig = Rig(taking(100.0, nodes=Nodes(mtbf_s=DAY)))
    with pytest.raises(NothingWillHappen):
        rig.clock.wait(None)


# ---- weeks ---------------------------------------------------------------------------------------------------------------


@given(st.integers(0, 3_000_000_000))
def test_the_time_of_the_week_is_the_calendars(now: int) -> None:
    when = datetime.fromtimestamp(now, UTC)
    assert time_of_week(now) == when.weekday() * DAY + when.hour * HOUR + when.minute * 60 + when.second


@given(st.integers(0, 3_000_000_000), st.integers(0, 604_799), st.integers(0, 604_799))
def test_the_next_time_is_within_a_week_and_windows_go_over_its_end(now: int, begin: int, end: int) -> None:
    when = next_time(now, begin)
    assert now <= when < now + 7 * DAY
    assert time_of_week(when) == begin
    inside = (time_of_week(now) - begin) % (7 * DAY) < ((end - begin) % (7 * DAY) or 7 * DAY)
    assert is_open(Neighbour("c", begin, end), now) == inside


def test_a_rehearsal_begins_when_it_is_said_to() -> None:
    rig = Rig(taking(1.0, begins_s=8 * HOUR))
    assert datetime.fromtimestamp(rig.began, UTC).strftime("%a %H:%M:%S") == "Mon 08:00:00"


def test_it_begins_by_the_clocks_on_the_wall_of_its_zone() -> None:
    rig = Rig(taking(1.0, begins_s=8 * HOUR, zone="America/New_York"))
    shown = datetime.fromtimestamp(rig.began, ZoneInfo("America/New_York")).strftime("%a %H:%M:%S")
    assert shown == "Mon 08:00:00"


def test_others_keep_their_hours_over_a_change_of_the_clocks() -> None:
    """Berlin leaves summer time on 25 October 2026; the twin's jobs that wait come at nine on the wall before and after."""
    berlin = ZoneInfo("Europe/Berlin")
    others = tuple(nine_to_five(day, pending=3, zone="Europe/Berlin") for day in range(7))
    for day in range(20, 31):
        nine = datetime(2026, 10, day, 9, tzinfo=berlin).timestamp()
        five = datetime(2026, 10, day, 17, tzinfo=berlin).timestamp()
        seen = [pending_on(others, "c3", moment) for moment in (nine - 1, nine, five - 1, five)]
        assert seen == [0, 3, 3, 0], day


# ---- others --------------------------------------------------------------------------------------------------------------


def nine_to_five(day: int = 0, **fields: object) -> Neighbour:
    return Neighbour("c3", day * DAY + 9 * HOUR, day * DAY + 17 * HOUR, **fields)  # type: ignore[arg-type]


def test_production_on_other_clusters_stretches_the_share_that_moves_data_in_its_hours() -> None:
    """They take 60 of 40 GB/s and we 20: data moves at half its pace, in two of the four hours of the run's share of 0.2."""
    one = case("t", 1, DAY, load=0.0)
    busy = (msgspec.structs.replace(one, loads=((LINK, 20e9),)),)
    scenario = taking(
        4 * HOUR,
        begins_s=7 * HOUR,
        bandwidth=(Bandwidth(LINK, 40e9, share=0.2),),
        others=(nine_to_five(loads=((LINK, 60e9),)),),
    )
    rig = Rig(scenario, busy)
    rig.order("a")
    rig.until(DAY)
    assert rig.lasted("a") == pytest.approx(2 * HOUR + 2 * HOUR * (0.8 + 0.2 * 2.0))


def test_production_loads_every_target() -> None:
    metadata = (Metadata(BUDGET, sigma=0.5, kappa=0.0, healthy=1.0, share=1.0),)
    scenario = taking(HOUR, begins_s=10 * HOUR, metadata=metadata, others=(nine_to_five(loads=((BUDGET, 2.0),)),))
    rig = Rig(scenario, (case("t", 1, DAY),))
    for target in ("mdt0", "mdt3"):
        rig.order(target, target=target)
    rig.until(DAY)
    assert [rig.lasted(target) for target in ("mdt0", "mdt3")] == pytest.approx([2 * HOUR] * 2)


def test_the_hours_come_again_each_week_and_end_each_time() -> None:
    rig = Rig(
        taking(1.0, begins_s=0.0, bandwidth=(Bandwidth(LINK, 1.0),), others=(nine_to_five(2, loads=((LINK, 7.0),)),))
    )
    (resource,) = rig.world.physics.storage.resources.values()  # type: ignore[union-attr]
    for week in range(3):
        for hours, load in ((2 * 24 + 8.9, 0.0), (2 * 24 + 9.1, 7.0), (2 * 24 + 16.9, 7.0), (2 * 24 + 17.1, 0.0)):
            rig.until(week * 7 * DAY + hours * HOUR)
            assert resource.load == load


def test_their_waiting_jobs_are_seen_in_their_hours() -> None:
    rig = Rig(taking(1.0, begins_s=8 * HOUR, others=(nine_to_five(pending=40), nine_to_five(pending=2))))
    said = []
    for hours in (0.5, 1.5, 8.5, 9.5):
        rig.until(hours * HOUR)
        survey = rig.machine.scheduler.survey(Wanted(pending=("c3", "c4")))
        said.append(survey.pending)  # type: ignore[union-attr]
    assert said == [{"c3": count, "c4": 0} for count in (0, 42, 42, 0)]


# ---- maintenance ---------------------------------------------------------------------------------------------------------


def test_nothing_starts_that_could_run_into_an_announced_maintenance() -> None:
    """Eight nodes, four of them closed from 1000 s to 1500 s; jobs of two nodes that may take 300 s."""
    window = Maintenance(1000.0, 500.0, nodes="n[1-4]")
    rig = Rig(taking(290.0, maintenance=(window,)), (case("t", 2, 300.0),))
    for number in range(24):
        rig.order(f"j{number}")
    rig.until(4000)
    spans = {one.job: (*rig.span(one.job), one.nodes) for one in rig.world.executions}
    assert len(spans) == 24
    assert {rig.state(name) for name in spans} == {"completed"}
    for begin, end, nodes in spans.values():
        assert not (nodes & 0b1111) or end <= 1000 or begin >= 1500
    begins = sorted({begin for begin, _, _ in spans.values()})
    assert begins[0] == 0.0
    assert 1500.0 in begins, "the nodes are taken again at once"
    assert any(1000 < begin < 1500 for begin in begins), "the other nodes go on"


@pytest.mark.parametrize(("running", "state", "end"), [("killed", "cancelled", 1000.0), ("left", "completed", 1200.0)])
def test_a_sudden_maintenance_kills_what_runs_or_leaves_it(running: str, state: str, end: float) -> None:
    window = Maintenance(1000.0, 500.0, announced_s=0.0, running=running)  # type: ignore[arg-type]
    rig = Rig(taking(1200.0, maintenance=(window,)), (case("t", 8, 2000.0),))
    rig.order("a")
    rig.order("b")
    rig.until(5000)
    assert (rig.state("a"), rig.span("a")[1]) == (state, end)
    assert rig.span("b")[0] == 1500.0, "nobody starts before its end"


def test_the_first_that_waits_keeps_its_nodes_until_after_the_maintenance() -> None:
    """All eight nodes are wanted for 600 s, and there are only 500 s left: they are had after it, and short jobs pass."""
    window = Maintenance(500.0, 100.0)
    cases = (case("wide", 8, 600.0), case("short", 1, 400.0), case("long", 1, 700.0))
    rig = Rig(taking(390.0, "wide", "short", "long", maintenance=(window,)), cases)
    for name in ("wide", "short", "long"):
        rig.order(name, of=name)
    rig.until(5000)
    assert [rig.span(name)[0] for name in ("wide", "short", "long")] == [600.0, 0.0, 990.0]


def test_nobody_takes_the_nodes_that_it_will_find_after_a_maintenance_of_others() -> None:
    """Nodes 1 to 4 are closed from 500 s to 600 s; at 600 s all eight are had, if nothing longer began on the others."""
    window = Maintenance(500.0, 100.0, nodes="n[1-4]")
    cases = (case("wide", 8, 600.0), case("short", 1, 400.0), case("long", 1, 700.0))
    rig = Rig(taking(390.0, "wide", "short", "long", maintenance=(window,)), cases)
    for name in ("wide", "short", "long"):
        rig.order(name, of=name)
    rig.until(5000)
    assert [rig.span(name)[0] for name in ("wide", "short", "long")] == [600.0, 0.0, 990.0]


def test_a_node_that_is_repaired_during_maintenance_stays_closed() -> None:
    window = Maintenance(100.0, 900.0)
    rig = Rig(taking(50.0, maintenance=(window,), nodes=Nodes(deaths=(("n1", 50.0, 200.0),))), (case("t", 1, 60.0),))
    rig.until(300)
    rig.order("a")
    rig.until(5000)
    assert rig.span("a")[0] == 1000.0
