"""Standing orders in the twin: the real engine and loop, the oracle watching, and what really ran as the witness."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from stage import ALL_LIES, TROUBLE, Campaign, people, random_deaths, small_document

from shakedown.engine import explain
from shakedown.engine.constraints.component_clock import ends_at
from shakedown.engine.constraints.overrides import clusters_watched, in_force, narrowed, withdrawn
from shakedown.engine.policy.explain import waits_for_people
from shakedown.model.events import Event
from shakedown.model.filling import ClockTerms, Phase, Window, Yield
from shakedown.model.nouns import Component, Document, Limits, Retry
from shakedown.twin import Fates, SimulatedScheduler

HOUR, DAY = 3600.0, 86400.0
STEADY = Fates(mean_s=100, spread_s=20)
structs = msgspec.structs.replace


def plan_of(*components: Component, limits: Limits | None = None, **options: Any) -> Document:
    plain = small_document(tests=3, **({"budgets": {}} | options))
    return structs(plain, components=components, limits=limits or Limits())


def lasting(**options: Any) -> Component:
    return Component("long", "stability", ("t0", "t1"), **({"duration_s": 2 * HOUR} | options))


class Timetable:
    """An operator who says things at given times after the campaign's begin, and looks at given times."""

    def __init__(self, *acts: tuple[float, str | Callable[..., None], dict[str, Any]]) -> None:
        self.acts = list(acts)
        self.began: float | None = None

    def __call__(self, campaign: Campaign, wait: int) -> None:
        now = campaign.clock.now()
        if self.began is None:
            self.began = now
            for after, _, _ in self.acts:
                campaign.clock.at(now + after, lambda: True)
        while self.acts and now >= self.began + self.acts[0][0]:
            _, what, value = self.acts.pop(0)
            if callable(what):
                what(campaign, **value)
            else:
                campaign.ask(what, by="Ada", **value)


@pytest.fixture(autouse=True)
def no_surveys(monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits on other clusters is said by these tests, and not by the machine."""
    monkeypatch.setattr(SimulatedScheduler, "survey", lambda self, wanted: None)


def survey(campaign: Campaign, **pending: int) -> None:
    """The scheduler says how many jobs wait on other clusters."""
    campaign.conductor.commands["survey"] = lambda _, command: Event("surveyed", value={"pending": pending})
    campaign.ask("survey")


def orders(campaign: Campaign) -> list[float]:
    """When jobs were ordered, after the first of them."""
    found = [event.value["now"] for event in campaign.events("submit_order")]
    return [when - found[0] for when in found]


def ups(campaign: Campaign) -> list[Any]:
    return [event for event in campaign.events("finding") if event.value["kind"] == "time_is_up"]


# ---- pauses and clocks -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cause", "stands"), [("maintenance", True), ("site", True), ("machine", False), ("other", False)]
)
def test_a_pause_orders_nothing_and_its_cause_says_what_the_clock_does(cause: str, stands: bool) -> None:
    table = Timetable((1000, "pause", {"component": "long", "cause": cause}), (4000, "continue", {"component": "long"}))
    campaign = Campaign(plan_of(lasting()), fates=STEADY, script=table).run()

    (paused,), (continued,), (up,) = campaign.events("paused"), campaign.events("continued"), ups(campaign)
    assert (paused.value["cause"], paused.value["clock"]) == (cause, "stops" if stands else "runs")
    assert (paused.value["by"], paused.reason) == ("Ada", "so it was seen")
    first = campaign.events("submit_order")[0].time
    between = [when for when in orders(campaign) if paused.time < first + when < continued.time]
    assert between == []
    held = continued.time - paused.time if stands else 0.0
    assert up.time == pytest.approx(first + 2 * HOUR + held, abs=1)
    assert max(orders(campaign)) > 2 * HOUR + held - 200


def test_why_it_waits_names_who_since_when_and_the_way_out() -> None:
    seen: list[str] = []

    def look(campaign: Campaign) -> None:
        state = campaign.state_now()
        seen.extend({waiting.text for waiting in explain(state, now=campaign.clock.now())})
        seen.append(waits_for_people(state, campaign.clock.now()))
        seen.extend(in_force(state, campaign.clock.now()))
        seen.append(withdrawn(state, "long"))

    table = Timetable(
        (1000, "pause", {"component": "long", "cause": "site"}),
        (2500, look, {}),
        (3000, "continue", {"component": "long"}),
    )
    Campaign(plan_of(lasting()), fates=STEADY, script=table).run()
    since = datetime.fromtimestamp(1_600_000_000 + 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    said = f"component long is paused by Ada since {since} (site): so it was seen; shakedown resume --component long"
    assert set(seen) == {said}


def test_a_vendors_change_starts_the_clock_anew() -> None:
    table = Timetable(
        (3000, "pause", {"component": "long", "cause": "vendor"}), (5000, "continue", {"component": "long"})
    )
    campaign = Campaign(plan_of(lasting()), fates=STEADY, script=table).run()
    (continued,), (up,) = campaign.events("continued"), ups(campaign)
    assert up.time == pytest.approx(continued.time + 2 * HOUR, abs=1)


def test_an_hour_of_maintenance_that_is_said_late_is_given_back() -> None:
    """At 3000 s it is said that the clock stood still from 1000 s to 2200 s."""
    began = 1_600_000_000.0
    table = Timetable(
        (3000, "clock", {"component": "long", "act": "stop", "from": began + 1000, "cause": "maintenance"}),
        (3000, "clock", {"component": "long", "act": "go on", "from": began + 2200}),
    )
    campaign = Campaign(plan_of(lasting()), fates=STEADY, script=table).run()
    first = campaign.events("submit_order")[0].time
    assert ups(campaign)[0].time == pytest.approx(first + 2 * HOUR + 1200, abs=1)
    assert max(orders(campaign)) > 2 * HOUR + 1000


def test_a_declared_clock_starts_when_a_person_says_so() -> None:
    seen: list[str] = []

    def look(campaign: Campaign) -> None:
        seen.append(waits_for_people(campaign.state_now(), campaign.clock.now()))

    terms = ClockTerms(start="declared")
    table = Timetable((500, look, {}), (1000, "clock", {"component": "long", "act": "start"}))
    campaign = Campaign(plan_of(lasting(clock=terms)), fates=STEADY, script=table).run()
    (said,) = campaign.events("clock")
    assert campaign.events("submit_order")[0].time >= said.time
    assert ups(campaign)[0].time == pytest.approx(said.time + 2 * HOUR, abs=1)
    assert seen == ["the clock of component long is started by a person: shakedown clock start --component long"]


def test_a_restart_begins_the_time_and_the_shares_at_nothing() -> None:
    seen: list[dict[str, float]] = []

    def look(campaign: Campaign) -> None:
        seen.append(dict(campaign.state_now().clocks.mixes["long"].work))

    table = Timetable((3000, "clock", {"component": "long", "act": "restart"}), (3001, look, {}))
    campaign = Campaign(plan_of(lasting()), fates=STEADY, script=table).run()
    (said,) = campaign.events("clock")
    assert seen == [{}]
    assert ups(campaign)[0].time == pytest.approx(said.time + 2 * HOUR, abs=1)


def test_parts_end_on_the_second_and_wait_for_a_person() -> None:
    seen: list[Any] = []

    def look(campaign: Campaign) -> None:
        seen.append(ends_at(campaign.state_now(), 0, campaign.clock.now()))

    long = lasting(phases=(Phase("idle fabric", 1800.0), Phase("loaded", 5400.0)))
    table = Timetable((4000, look, {}), (6000, "continue", {"component": "long"}))
    campaign = Campaign(plan_of(long), fates=STEADY, script=table).run()
    (paused,), (continued,), (up,) = campaign.events("paused"), campaign.events("continued"), ups(campaign)
    first = campaign.events("submit_order")[0].time
    assert paused.value == {"component": "long", "phase": "idle fabric", "from": first + 1800.0, "clock": "stops"}
    way_out = "shakedown resume --component long"
    assert paused.reason == f"part 1 of 2, idle fabric, of component long is over; {way_out}"
    assert up.time == pytest.approx(continued.time + 5400, abs=1)
    assert seen == [None], "its clock stands still"


def test_a_part_that_ended_while_nobody_drove_ended_when_it_did() -> None:
    """Whoever comes back after the part's end says so as of then; the part after it has its whole time."""
    long = lasting(phases=(Phase("one", 1800.0), Phase("two", 5400.0)))
    campaign = Campaign(
        plan_of(long),
        seed=3,
        fates=TROUBLE,
        lies=ALL_LIES,
        dies=random_deaths(3, 0.02),
        amnesia=True,
        script=Timetable((9000, "continue", {"component": "long"})),
    ).run()
    assert campaign.crashes > 3
    (paused,) = campaign.events("paused")
    first = campaign.events("submit_order")[0].value["now"]
    assert paused.value["from"] == pytest.approx(first + 1800.0, abs=60)


# ---- windows, yields, caps, budgets ------------------------------------------------------------------------------------


def test_nothing_is_ordered_in_a_closed_window_and_it_goes_on_at_its_end() -> None:
    """The campaign begins on Sunday 12:26:40 UTC; the window is from 13:00 to 14:00."""
    window = Window("Sun 13:00 to Sun 14:00", 6 * DAY + 13 * HOUR, 6 * DAY + 14 * HOUR, closed=True)
    seen: list[str] = []

    def look(campaign: Campaign) -> None:
        seen.extend({waiting.text for waiting in explain(campaign.state_now(), now=campaign.clock.now())})

    begin = 1_600_000_000.0 + 2000
    document = plan_of(lasting(windows=(window,), duration_s=3 * HOUR))
    campaign = Campaign(document, fates=STEADY, script=Timetable((3000, look, {}))).run()
    times = [event.value["now"] for event in campaign.events("submit_order")]
    assert [when for when in times if begin <= when < begin + HOUR] == []
    assert begin + HOUR in times, "on the second"
    assert seen == [
        "component long orders nothing in the window Sun 13:00 to Sun 14:00, until Sun 2020-09-13 14:00 UTC"
    ]
    assert ups(campaign)[0].time == pytest.approx(times[0] + 3 * HOUR, abs=1), "its clock runs on"


def test_the_least_of_plan_windows_yields_and_people_holds() -> None:
    window = Window("always", 0.0, 0.0, budgets=(("fs/mdt", 1.5),), copies=(("t0", 3), ("t1", 7)))
    word = Yield(("c3", "c4"), pending=50, until=10, budgets=(("fs/mdt", 1.0),))
    long = lasting(windows=(window,), yields=(word,))
    campaign = Campaign(plan_of(long, budgets={"fs/mdt": 2.0}), fates=STEADY)
    seen: list[dict[str, float]] = []

    def look(campaign: Campaign) -> None:
        seen.append(narrowed(campaign.state_now(), 0, campaign.clock.now()))
        assert clusters_watched(campaign.state_now()) == ("c3", "c4")

    campaign.script = Timetable(
        (10, look, {}),
        (20, "cap", {"test": "t0", "copies": 2}),
        (30, "budget", {"budget": "fs/mdt", "amount": "1.2"}),
        (40, look, {}),
        (50, survey, {"c3": 49, "c4": 0}),
        (55, look, {}),
        (60, survey, {"c3": 0, "c4": 50}),
        (65, look, {}),
        (70, survey, {"c4": 11}),
        (75, look, {}),
        (80, survey, {"c4": 10}),
        (85, look, {}),
        (90, "cap", {"test": "t0"}),
        (100, look, {}),
    )
    campaign.run()
    plain = {"fs/mdt": 1.5, "copies:t0": 3.0, "copies:t1": 7.0}
    people = plain | {"fs/mdt": 1.2, "copies:t0": 2.0}
    yielding = people | {"fs/mdt": 1.0}
    assert seen == [plain, people, people, yielding, yielding, people, people | {"copies:t0": 3.0}]


def test_a_component_that_yields_wholly_waits_until_the_queues_are_short() -> None:
    word = Yield(("c3",), pending=50, until=10, closed=True)
    seen: list[str] = []

    def look(campaign: Campaign) -> None:
        seen.extend({waiting.text for waiting in explain(campaign.state_now(), now=campaign.clock.now())})

    table = Timetable((1000, survey, {"c3": 60}), (2500, look, {}), (3000, survey, {"c3": 10}))
    campaign = Campaign(plan_of(lasting(yields=(word,))), fates=STEADY, script=table).run()
    assert seen == [
        "component long leaves room for the jobs that wait on other clusters (60 on c3), until no more than 10 wait there"
    ]
    told = [event.time for event in campaign.events("surveyed")]
    times = [event.value["now"] for event in campaign.events("submit_order")]
    assert [when for when in times if told[0] < when < told[1]] == []
    assert any(when >= told[1] for when in times)


def test_a_cap_of_none_at_all_says_who_and_how_it_is_lifted() -> None:
    """With a cap in the plan the load is counted already; the engine asks the same of every test."""
    limits = Limits(copies=(("t0", 3),))
    seen: list[str] = []

    def look(campaign: Campaign) -> None:
        seen.extend({waiting.text for waiting in explain(campaign.state_now(), "t0", campaign.clock.now())})

    table = Timetable((1000, "cap", {"test": "t0", "copies": 0}), (2000, look, {}), (3000, "cap", {"test": "t0"}))
    campaign = Campaign(plan_of(lasting(), limits=limits), fates=STEADY, script=table).run()
    capped, lifted = campaign.events("capped")
    assert (capped.value["copies"], lifted.value.get("copies")) == (0, None)
    (said,) = seen
    assert said.startswith("t0 is capped at 0 at once by Ada on 2020-09-13")
    assert said.endswith("so it was seen; shakedown cap t0 none lifts it; 0 are live")
    between = [e.case for e in campaign.events("submit_order") if capped.time <= e.value["now"] < lifted.time]
    assert between and set(between) == {"t1"}


def together(campaign: Campaign, case: str, begin: float, end: float) -> int:
    """The most executions of a case at once between two times, by what really ran."""
    ran = [(e.start, e.end) for e in campaign.world.executions if e.case == case and e.end is not None]
    moments = [begin, *(start for start, _ in ran if begin <= start < end)]
    return max(sum(start <= moment < over for start, over in ran) for moment in moments)


@pytest.mark.parametrize("amnesia", [False, True])
def test_a_cap_that_no_plan_knew_holds_from_when_it_is_said_until_it_is_lifted(amnesia: bool) -> None:
    """What runs ends by itself; from then on there is one at a time."""
    long = lasting(duration_s=4000.0)
    table = Timetable((1000, "cap", {"test": "t0", "copies": "1"}), (2500, "cap", {"test": "t0"}))
    campaign = Campaign(plan_of(long), fates=STEADY, script=table, amnesia=amnesia).run()
    capped, lifted = campaign.events("capped")
    longest = max(e.end - e.start for e in campaign.world.executions if e.end is not None)
    assert together(campaign, "t0", capped.time - 500, capped.time) > 1
    assert together(campaign, "t0", capped.time + longest, lifted.time) == 1
    assert together(campaign, "t0", lifted.time, lifted.time + 1000) > 1


def test_a_budget_that_a_person_shrinks_kills_nothing_and_is_never_exceeded_again() -> None:
    document = plan_of(lasting(duration_s=4000.0), budgets={"fs/mdt": 3.0})
    table = Timetable((1000, "budget", {"budget": "fs/mdt", "amount": "1"}), (2500, "budget", {"budget": "fs/mdt"}))
    campaign = Campaign(document, fates=STEADY, script=table).run()
    shrunk, back = campaign.events("budget_set")
    longest = max(e.end - e.start for e in campaign.world.executions if e.end is not None)
    assert together(campaign, "t0", shrunk.time - 500, shrunk.time) > 1
    assert together(campaign, "t0", shrunk.time + longest, back.time) == 1
    assert {event.value["verdict"] for event in campaign.events("verdict")} == {"passed"}
    assert campaign.events("cancel_order") == []


# ---- the end -----------------------------------------------------------------------------------------------------------


def test_a_drained_component_that_runs_for_a_time_is_over_early() -> None:
    table = Timetable((2000, "drain", {"component": "long"}))
    campaign = Campaign(plan_of(lasting()), fates=STEADY, script=table).run()
    (up,), (said,) = ups(campaign), campaign.events("drain_request")
    assert up.time == said.time
    assert up.reason.startswith("component long was drained by Ada on 2020-09-13")
    assert up.reason.endswith("so it was seen; nothing new of it is ordered")
    assert [when for when in campaign.events("submit_order") if when.value["now"] >= said.time] == []
    assert {event.value["verdict"] for event in campaign.events("verdict")} == {"passed"}, "what ran ended by itself"


@pytest.mark.parametrize("seed", range(6))
def test_a_drained_campaign_ends_and_says_of_each_result_why(seed: int) -> None:
    """With everything that goes wrong, at any point: what was never ordered is cancelled with the reason, nothing is lost."""
    document = structs(small_document(tests=4, repeats=6, seed=seed), limits=Limits())
    table = Timetable((150.0 * seed, "drain", {}))
    campaign = Campaign(
        document, seed=seed, fates=TROUBLE, lies=ALL_LIES, dies=random_deaths(seed, 0.01), amnesia=seed % 2 == 0
    )
    campaign.script = table
    campaign.run()
    assert campaign.state.phase == "ended"
    (said,) = campaign.events("drain_request")
    cancelled = [e for e in campaign.events("verdict") if e.value["verdict"] == "cancelled" and not e.job]
    assert cancelled or seed > 3
    assert all(e.reason.startswith("the campaign was drained by Ada on 2020-09-13") for e in cancelled)
    late = [e for e in campaign.events("submit_order") if e.time > said.time]
    assert late == []


def test_an_amendment_takes_a_drain_back() -> None:
    long = lasting()
    document = plan_of(long)

    def amend(campaign: Campaign) -> None:
        campaign.amend(structs(document, about="go on"))
        campaign.clock.at(campaign.clock.now(), lambda: True)

    table = Timetable((2000, "drain", {}), (2100, amend, {}))
    campaign = Campaign(document, fates=STEADY, script=table).run()
    assert len(ups(campaign)) == 2
    assert max(orders(campaign)) > 2 * HOUR - 200
    assert campaign.state.overrides.draining == {}


# ---- nodes and cases that fail -----------------------------------------------------------------------------------------


def test_a_case_that_fails_so_often_in_a_row_stops_and_the_rest_of_it_is_cancelled() -> None:
    part = Component("part", "functionality", ("t0", "t1"), repeats=20, stop_after=3, retry=(Retry("failed", 1),))
    document = plan_of(part, limits=Limits(queued=6))
    campaign = Campaign(document, fates=Fates(mean_s=50, spread_s=10, failed=1.0)).run()
    stops = {event.case: event for event in campaign.events("case_stopped")}
    assert set(stops) == {"t0", "t1"}
    judged = {event.run: event for event in campaign.events("verdict")}
    for case, event in stops.items():
        runs = event.value["runs"]
        assert len(runs) >= 3
        assert all(judged[run].case == case and judged[run].value["verdict"] == "failed" for run in runs)
        told = ", ".join(f"{run} failed" for run in runs)
        assert event.reason == (
            f"{case} did not pass {len(runs)} times in a row ({told}), and stop_after of component part is 3; "
            "what waits of it is cancelled"
        )
        late = [e for e in campaign.events("submit_order") if e.case == case and e.seq > event.seq]
        assert late == []
        cancelled = [e for e in campaign.events("verdict") if e.case == case and e.value["verdict"] == "cancelled"]
        assert cancelled and all(e.reason == event.reason for e in cancelled)
    assert campaign.state.phase == "ended"


def test_what_passes_between_keeps_a_case_going() -> None:
    part = Component("part", "functionality", ("t0",), repeats=40, stop_after=6)
    campaign = Campaign(plan_of(part), seed=2, fates=Fates(mean_s=50, spread_s=10, failed=0.3)).run()
    assert campaign.events("case_stopped") == []
    verdicts = [event.value["verdict"] for event in campaign.events("verdict")]
    assert verdicts.count("failed") > 6


def test_in_a_mix_a_stopped_case_waits_until_it_is_continued() -> None:
    seen: list[str] = []
    broken = {"t0": True}

    def look(campaign: Campaign) -> None:
        state = campaign.state_now()
        seen.extend({waiting.key for waiting in explain(state, "t0", campaign.clock.now())})
        broken["t0"] = False

    long = lasting(stop_after=4, duration_s=3 * HOUR)
    table = Timetable((5000, look, {}), (5100, "continue", {"component": "long", "case": "t0"}))
    campaign = Campaign(plan_of(long), fates=Fates(mean_s=100, spread_s=20, failed=0.999), script=table).run()
    assert seen == ["stopped:t0"]
    stops = [event for event in campaign.events("case_stopped") if event.case == "t0"]
    (continued,) = campaign.events("continued")
    assert stops[0].reason.endswith("; shakedown resume --case t0")
    between = [e for e in campaign.events("submit_order") if e.case == "t0" and stops[0].time < e.time < continued.time]
    assert between == []
    assert [e for e in campaign.events("submit_order") if e.case == "t0" and e.time >= continued.time]
    assert len(stops) == 2, "it counts anew, and failed again"


def test_standing_orders_under_everything_that_goes_wrong() -> None:
    """Pauses, drains and stops at odd moments, with crashes and lies; the oracle watches every event."""
    ended: list[str] = []
    for seed in range(6):
        first = Component("first", "functionality", ("t0", "t1"), repeats=3, stop_after=2 + seed % 3)
        long = lasting(duration_s=1500.0, after=("first",), phases=(Phase("a", 500.0), Phase("b", 1000.0)))
        acts = [
            (100.0 + 37 * seed, "pause", {"component": "first", "cause": "machine"}),
            (600.0 + 11 * seed, "continue", {"component": "first"}),
            (7000.0, "continue", {"component": "long"}),
            (7100.0 + 50 * seed, "pause", {"component": "long", "cause": "vendor"}),
            (7900.0, "continue", {"component": "long"}),
            (11000.0, "continue", {"component": "long"}),
            (15000.0, "drain", {}),
        ]
        table = Timetable(*[act for act in acts if seed % 4 or act[1] != "drain"])

        def operator(campaign: Campaign, wait: int, table: Timetable = table) -> None:
            table(campaign, wait)
            people(campaign, wait)

        campaign = Campaign(
            plan_of(first, long, limits=Limits(exclude_after=2)),
            seed=seed,
            fates=TROUBLE,
            lies=ALL_LIES,
            dies=random_deaths(seed, 0.01),
            amnesia=seed % 3 == 0,
            script=operator,
        ).run()
        ended.append(campaign.state.phase)
        assert all(value == 0 for value in (*campaign.state.usage.jobs.values(), *campaign.state.usage.units.values()))
    assert ended == ["ended"] * 6
