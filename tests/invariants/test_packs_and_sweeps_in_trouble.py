"""Packs and sweeps under crashes at every port call, lies, killed jobs, dying nodes and people: no part is lost or doubled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from stability_plan import Filled, Wish, at_times, case, document, machine, packed, play, small_stability, sweep_of_five
from stage import random_deaths

from shakedown.engine.state.job_index import job_index_of, same
from shakedown.engine.state.state import State
from shakedown.model.events import Event
from shakedown.model.filling import Fill, Pack, Sweep
from shakedown.model.nouns import Component, Document, Limits, Retry
from shakedown.model.ports import JobReport
from shakedown.twin import Fates, Lies

TIMES = {"small": (2.0, 1.0)} | {f"see{number}": (20.0, 5.0) for number in range(1, 6)}
TROUBLE = Fates(failed=0.05, node_fail=0.02, requeued=0.03, repair_s=60.0, deaths=(("n2", 15.0, 90.0),), tests=TIMES)
LIES = Lies(timed_out=0.1, lost_submit=0.1, late_submit=0.05, late_s=40.0, stale_s=6.0, marks_late_s=4.0, purge_s=60.0)

AGAIN = tuple(Retry(verdict, times=50, backoff_s=5.0) for verdict in ("node_fail", "failed", "lost", "timeout"))


def small_pack(runs: int = 40, **more: Any) -> Document:
    return packed(runs=runs, allocations=4, at_once=2, nodes=4, **more)


def small_sweep(**more: Any) -> Document:
    return sweep_of_five(nodes=4, queued=2, retry=AGAIN, **more)


PLANS: dict[str, Callable[[], Document]] = {"pack": small_pack, "sweep": small_sweep}


class Counted(Filled):
    """The counts beside the state are held against the jobs after every event."""

    def __post_init__(self) -> None:
        super().__post_init__()
        watch = self.oracle.watch

        def watched(state: State, event: Event) -> None:
            watch(state, event)
            assert same(state.job_index, job_index_of(state.jobs.values())), f"after {event.event}"

        self.oracle.watch = watched  # type: ignore[method-assign]


def run(plan: Document, fates: Fates | None = None, **options: Any) -> Filled:
    campaign = Counted(plan, fates=fates or Fates(tests=TIMES), **({"quiet": False} | options))
    campaign.run(60_000)
    nothing_is_lost(campaign)
    return campaign


def nothing_is_lost(campaign: Filled) -> None:
    """Each run has one verdict, each part was executed once at most, and it came to an end."""
    assert campaign.state.phase == "ended"
    ordered = {event.run for event in campaign.events("submit_order")}
    judged = Counter(event.run for event in campaign.events("verdict"))
    assert set(judged) >= ordered
    assert set(judged.values()) <= {1}
    executed = Counter(one.run for one in campaign.world.executions if one.part)
    assert set(executed.values()) <= {1}


def calls_of(plan: Document) -> int:
    """How often a port is called, before and after."""
    campaign = Counted(plan, fates=Fates(tests=TIMES), quiet=False)
    campaign.run(60_000)
    return campaign.plan.passed


@pytest.mark.parametrize("kind", PLANS)
def test_a_crash_at_every_port_call(kind: str) -> None:
    plan = PLANS[kind]() if kind == "sweep" else small_pack(12)
    calls = calls_of(plan)
    for number in range(1, calls + 1, max(1, calls // 150)):
        campaign = run(plan, dies=lambda name, count, number=number: count == number)
        assert campaign.crashes == 1, number


@pytest.mark.parametrize("kind", PLANS)
@pytest.mark.parametrize("seed", range(6))
def test_lies_dying_nodes_and_crashes(kind: str, seed: int) -> None:
    run(PLANS[kind](), fates=TROUBLE, lies=LIES, seed=seed, dies=random_deaths(seed, 0.005, most=6))


@pytest.mark.parametrize("kind", PLANS)
def test_processes_that_go_on_after_their_node_was_given_up(kind: str) -> None:
    run(PLANS[kind](), fates=TROUBLE, lies=Lies(alive_after_node_fail=1.0, marks_lost=0.05), seed=3)


@pytest.mark.parametrize("kind", PLANS)
def test_allocations_killed_from_outside(kind: str) -> None:
    def kill(campaign: Any, wait: int) -> None:
        live = [name for name, jobs in campaign.world.jobs.items() if jobs[-1].state == "running"]
        if live and wait % 7 == 0 and wait < 60:
            campaign.world.cancel(live[0])

    campaign = run(PLANS[kind](), script=kill)
    reasons = Counter(e.reason for e in campaign.events("verdict") if e.value["verdict"] == "interrupted")
    assert set(reasons) == {"someone else cancelled its job at the scheduler while it ran"}
    begun = {e.run for e in campaign.events("job_report") if e.run and e.value["state"] == "running"}
    cut = {e.run for e in campaign.events("verdict") if e.value["verdict"] == "interrupted"}
    assert cut <= begun, "what had not begun goes on in another job under its own id"


@pytest.mark.parametrize("kind", PLANS)
@pytest.mark.parametrize("what", ["run", "case", "everything"])
def test_a_person_cancels_in_the_middle(kind: str, what: str) -> None:
    def cancel(campaign: Any, wait: int) -> None:
        runs = campaign.conductor.state.runs
        if wait < 6 or not runs:
            return
        first = next(reversed(runs.values()))
        said: dict[str, dict[str, Any]] = {
            "run": {"runs": [first.id]},
            "case": {"cases": [first.case]},
            "everything": {"all": True},
        }
        campaign.ask("cancel", **said[what])
        campaign.script = None

    campaign = run(PLANS[kind](), script=cancel)
    verdicts = Counter(event.value["verdict"] for event in campaign.events("verdict"))
    assert verdicts["cancelled"] > 0
    if what != "everything":
        assert verdicts["passed"] > verdicts["cancelled"]


@pytest.mark.parametrize("kind", PLANS)
def test_an_amendment_in_the_middle(kind: str) -> None:
    plan = PLANS[kind]()

    def amend(campaign: Any, wait: int) -> None:
        if wait == 8:
            component = msgspec.structs.replace(plan.components[0], cases=plan.components[0].cases[1:])
            campaign.amend(msgspec.structs.replace(plan, components=(component,)))

    campaign = run(plan, script=amend, dies=random_deaths(5, 0.01, most=3))
    assert campaign.amended


@pytest.mark.parametrize("kind", PLANS)
def test_of_a_scheduler_that_takes_nothing_for_a_while_the_parts_go_together_again(kind: str) -> None:
    campaign = run(PLANS[kind](), lies=Lies(refused=0.5), seed=2)
    assert campaign.events("submit_deferred")
    sizes = Counter(event.value["parts"] for event in campaign.events("submit_order"))
    assert max(sizes) == min(sizes), sizes


def test_retries_of_a_sweep_wait_for_their_node_and_stay_within_the_bound() -> None:
    """The oracle holds the bound; each retry is for the node of its result."""
    plan = small_sweep()
    campaign = run(plan, fates=Fates(node_fail=0.3, repair_s=40.0, tests=TIMES), seed=4)
    for event in campaign.events("submit_order"):
        assert event.value["node"] == (event.value["repeat"] - 1) % 4 + 1


def test_a_sweep_loads_what_any_of_its_tests_does() -> None:
    """One test of the five works on a target: of the jobs, no more go on at once than it has room for."""
    names = ("plain", "writes")
    cases = (case("plain", 1, 60.0, load=0.0), case("writes", 1, 60.0))
    sweep = Component("sweep", "functionality", names, sweep=Sweep(4))
    plan = document(machine(16, per_target=1.0), cases, sweep)
    campaign = run(plan, fates=Fates(mean_s=20.0, spread_s=2.0))
    assert all(event.value["targets"] for event in campaign.events("submit_order"))
    assert most_jobs_at_once(campaign) == 4


def test_a_pack_has_no_more_side_by_side_than_its_budget_allows() -> None:
    names = tuple(f"w{number}" for number in range(20))
    cases = tuple(msgspec.structs.replace(case(name, 1, 30.0), test="writes") for name in names)
    pack = Component("packed", "functionality", names, pack=Pack(runs=10, at_once=8))
    plan = document(machine(4, per_target=3.0), cases, pack)
    campaign = run(plan, fates=Fates(mean_s=5.0, spread_s=1.0))
    assert {event.value["at_once"] for event in campaign.events("submit_order")} == {3}


def test_a_pack_obeys_the_copies_of_its_test() -> None:
    plan = msgspec.structs.replace(small_pack(), limits=Limits(copies=(("small", 1),)))
    campaign = run(plan)
    assert {event.value["at_once"] for event in campaign.events("submit_order")} == {1}
    assert most_jobs_at_once(campaign) == 1


def most_jobs_at_once(campaign: Filled) -> int:
    live, most = set[str](), 0
    for event in campaign.events():
        if event.event == "job_report" and event.value["state"] == "running":
            live.add(event.job)
        elif event.event == "job_report" and not event.value.get("part") and event.value["state"] == "completed":
            live.discard(event.job)
        most = max(most, len(live))
    return most


def test_followers_give_their_place_back_when_a_budget_is_narrowed() -> None:
    """Nobody who waits for another job's end begins when that one's place is gone."""
    acts = ((100.0, "budget", {"budget": "f2/mdt", "amount": 0.0, "by": "Ada"}),)
    more = (250.0, "budget", {"budget": "f2/mdt", "amount": None, "by": "Ada"})
    wish = Wish(per_target=2.0, fill=Fill(survive_s=180.0), minutes=8.0, filler=False)
    campaign = play(small_stability(wish), times=None, script=at_times(*acts, more))
    assert campaign.state.phase == "ended"
    began = campaign.world.began
    lowered = [event for event in campaign.events("claim_order") if 100 <= event.time - began < 110]
    assert lowered and all("load f2/mdt@" in event.reason for event in lowered)
    assert all("with more than it holds now" in event.reason for event in lowered)
    late = [one for one in campaign.world.executions if began + 110 < one.start < began + 245]
    assert not late


class Booted:
    """A scheduler that says of the third end of a part that a node was booted under it."""

    def __init__(self, scheduler: Any) -> None:
        self.scheduler, self.ends, self.poll_s = scheduler, 0, scheduler.poll_s

    def __getattr__(self, name: str) -> Any:
        return getattr(self.scheduler, name)

    def poll(self, jobs: Any) -> list[JobReport]:
        return [self._told(report) for report in self.scheduler.poll(jobs)]

    def _told(self, report: JobReport) -> JobReport:
        self.ends += bool(report.run) and report.state == "completed"
        if self.ends != 3 or not report.run or report.state != "completed":
            return report
        why = "n2 was booted while it ran"
        return msgspec.structs.replace(
            report, state="node_fail", exit_status=None, failed_nodes=("n2",), dead=True, message=why
        )


def test_a_part_whose_node_was_booted_is_charged_to_it_and_its_job_goes_on() -> None:
    def lie(ports: Any) -> Any:
        ports.scheduler = Booted(ports.scheduler)
        return ports

    campaign = Counted(small_pack(), fates=Fates(tests=TIMES), quiet=False, change_ports=lie)
    campaign.run(60_000)
    nothing_is_lost(campaign)
    (charged,) = [event for event in campaign.events("verdict") if event.value["verdict"] == "node_fail"]
    assert charged.reason == "a node it ran on failed: n2 was booted while it ran"
    assert (charged.value["failed_nodes"], charged.value.get("alive")) == (["n2"], None)
    others = [event for event in campaign.events("verdict") if event.job == charged.job and event.run != charged.run]
    assert {event.value["verdict"] for event in others} == {"passed"}
    assert Counter(event.value["verdict"] for event in campaign.events("verdict"))["passed"] == 40


class EndedEarly:
    """A scheduler that says of the first job with a run under way that it is over, as somebody's word for it; it is."""

    def __init__(self, scheduler: Any, state: str, message: str = "") -> None:
        self.scheduler, self.state, self.message, self.poll_s = scheduler, state, message, scheduler.poll_s
        self.begun: dict[str, str] = {}
        self.told = ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.scheduler, name)

    def poll(self, jobs: Any) -> list[JobReport]:
        found: list[JobReport] = []
        for report in self.scheduler.poll(jobs):
            if report.run and report.state == "running":
                self.begun[report.job] = report.run
            if not self.told and report.job in self.begun and not report.run and report.state == "running":
                self.told = report.job
            if report.job != self.told:
                found.append(report)
            elif not report.run:
                found.append(JobReport(report.job, self.state, report.source, message=self.message, elapsed_s=5.0))
        return found


@pytest.mark.parametrize(
    ("state", "verdict", "reason"),
    [
        (
            "timeout",
            "interrupted",
            "the scheduler ended its job at a time limit after 5 s, which is less than its runs may take",
        ),
        ("cancelled", "interrupted", "someone else cancelled its job at the scheduler while it ran: by user id 0"),
    ],
)
def test_what_ran_in_a_job_that_somebody_cut_short_is_attempted_again(state: str, verdict: str, reason: str) -> None:
    schedulers: list[EndedEarly] = []

    def lie(ports: Any) -> Any:
        schedulers.append(EndedEarly(ports.scheduler, state, "by user id 0" if state == "cancelled" else ""))
        ports.scheduler = schedulers[-1]
        return ports

    campaign = Counted(small_pack(), fates=Fates(tests=TIMES), quiet=False, change_ports=lie)
    campaign.run(60_000)
    (told,) = {one.told for one in schedulers if one.told}
    verdicts = [
        event for event in campaign.events("verdict") if event.job == told and event.value["verdict"] != "passed"
    ]
    assert {(event.value["verdict"], event.reason) for event in verdicts} == {(verdict, reason)}
    counts = Counter(event.value["verdict"] for event in campaign.events("verdict"))
    assert counts["timeout"] == 0 and counts[verdict] == len(verdicts) >= 1
    again = {event.run for event in campaign.events("submit_order") if event.value["attempt"] == 2}
    assert len(again) == len(verdicts)
