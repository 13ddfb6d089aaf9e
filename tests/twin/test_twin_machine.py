"""The simulated machine: held and chained jobs, licences, jobs of parts, dying nodes, other people; and what is said of them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
import pytest
from oracle_nodes import unfolded
from stability_plan import BUDGET, MDTS, case, document, machine

from shakedown.model.nouns import Case, Component, Shape
from shakedown.model.ports import JobOrder, JobReport, Part, ReleaseOrder, Wanted
from shakedown.twin import Fates, Lies, Others, SimulatedScheduler, VirtualClock, World
from shakedown.twin.machine.clock import START


class Bench:
    """A machine, its scheduler, and a driver who looks at what he ordered."""

    def __init__(self, nodes: int = 4, cases: tuple[Case, ...] = (), **options: Any) -> None:
        system = options.pop("system", machine(nodes))
        poll = {name: options.pop(name) for name in ("poll_s", "quiet") if name in options}
        self.cases = {one.id: one for one in cases or (case("t", 1, 300.0), case("wide", 4, 300.0))}
        plan = document(system, tuple(self.cases.values()), Component("c", "site", tuple(self.cases)))
        self.clock = VirtualClock()
        options.setdefault("fates", Fates(mean_s=100.0, spread_s=0.0))
        self.world = World(plan, 1, self.clock, **options)
        self.scheduler = SimulatedScheduler(self.world, **poll)
        self.views: dict[str, Any] = {}

    def order(self, name: str, of: str = "t", **fields: Any) -> str:
        """Submit a job; the scheduler's id."""
        order = JobOrder(name, f"r-{name}", self.cases[of], **fields)
        (answer,) = self.scheduler.submit([order])
        self.views[name] = ReleaseOrder(name, order.run, order.case, answer.scheduler_id)
        return answer.scheduler_id

    def until(self, seconds: float) -> None:
        """Let time go on to so many seconds after the start."""
        while self.clock.now() < START + seconds:
            self.clock.wait(START + seconds)

    def polled(self) -> list[JobReport]:
        return self.scheduler.poll(self.views)

    def state(self, name: str) -> str:
        return [report.state for report in self.polled() if report.job == name and not report.run][-1]

    def report(self, name: str) -> JobReport:
        return [report for report in self.polled() if report.job == name and not report.run][-1]


def test_jobs_have_nodes_that_are_said_as_slurm_says_them() -> None:
    bench = Bench()
    bench.order("a")
    bench.order("b", node=4)
    bench.order("c", exclude=("n1", "n2"))
    bench.until(1)
    assert [bench.report(name).nodes for name in "abc"] == ["n1", "n4", "n3"]
    bench.until(101)
    assert bench.report("b") == JobReport(
        "b", "completed", "marks", "2", exit_status=0, elapsed_s=100.0, nodes="n4", began=START
    )


def test_a_held_job_waits_for_its_release() -> None:
    bench = Bench()
    bench.order("a", held=True)
    bench.until(500)
    assert (bench.report("a").state, bench.report("a").message) == ("queued", "JobHeldUser")
    assert bench.scheduler.release([msgspec.structs.replace(bench.views["a"], targets=((BUDGET, "mdt2"),))]) == ["a"]
    assert bench.state("a") == "running"
    assert bench.world.jobs["a"][0].targets == {BUDGET: "mdt2"}


@pytest.mark.parametrize(
    ("lies", "taken", "state"),
    [
        (Lies(release_lost=1.0), [], "queued"),
        (Lies(release_unheard=1.0), [], "running"),
        (Lies(release_s=30.0), ["a"], "queued"),
        (Lies(outage=1.0), [], "no_answer"),
    ],
)
def test_a_release_may_be_lost_unheard_or_late(lies: Lies, taken: list[str], state: str) -> None:
    bench = Bench(lies=Lies() if lies.outage else lies)
    bench.order("a", held=True)
    bench.world.lies = lies
    assert bench.scheduler.release([bench.views["a"]]) == taken
    assert bench.state("a") == state
    if lies.release_s:
        bench.until(31)
        assert bench.state("a") == "running"


def test_a_follower_starts_when_the_one_before_it_is_over_however_it_ended() -> None:
    bench = Bench()
    first = bench.order("a")
    second = bench.order("b", after=("a", first))
    bench.order("c", after=("b", second))
    bench.until(50)
    assert (bench.state("b"), bench.report("b").message) == ("queued", "Dependency")
    bench.scheduler.cancel([bench.views["a"]])
    assert bench.state("b") == "running"
    bench.until(160)
    assert bench.state("c") == "running"
    assert [one.job for one in bench.world.executions] == ["a", "b", "c"]


def test_what_waits_or_is_held_can_be_cancelled() -> None:
    bench = Bench(1)
    bench.order("a")
    bench.order("b")
    bench.order("c", held=True)
    follower = bench.order("d", after=("b", "2"))
    bench.scheduler.cancel([bench.views[name] for name in "bc"])
    assert [bench.state(name) for name in "abc"] == ["running", "cancelled", "cancelled"]
    bench.until(101)
    assert bench.state("d") == "running", f"{follower} waited for the end of b, whichever"
    assert {one.job for one in bench.world.executions} == {"a", "d"}


def test_a_licence_of_a_target_is_what_a_job_waits_for() -> None:
    names = tuple((f"{BUDGET}@{mdt}", f"f2_{mdt}") for mdt in MDTS)
    bench = Bench(system=machine(4, licences=(("f2_mdt0", 1.0), ("f2_mdt1", 1.0)), licence_names=names))
    for name, mdt in (("a", "mdt0"), ("b", "mdt0"), ("c", "mdt1"), ("d", "mdt3")):
        bench.order(name, targets=((BUDGET, mdt),))
    assert [bench.state(name) for name in "abcd"] == ["running", "queued", "running", "running"]
    bench.until(101)
    assert bench.state("b") == "running"


# ---- jobs of parts ---------------------------------------------------------------------------------------------------------


def pack(bench: Bench, name: str, parts: int, at_once: int, limit_s: float = 1000.0) -> tuple[str, ...]:
    """Order one job of several runs; their names."""
    runs = tuple(f"{name}{number}" for number in range(parts))
    whole = Case("pack", "t", "c:batch", shape=Shape(exclusive=True, time_limit_s=limit_s))
    parts_of = tuple(Part(run, bench.cases["t"]) for run in runs)
    order = JobOrder(name, runs[0], whole, parts=parts_of, at_once=at_once)
    (answer,) = bench.scheduler.submit([order])
    bench.views[name] = ReleaseOrder(name, runs[0], whole, answer.scheduler_id)
    return runs


def test_parts_run_side_by_side_and_are_told_before_the_end_of_their_job() -> None:
    bench = Bench()
    runs = pack(bench, "p", 5, at_once=2)
    bench.until(1)
    assert [(report.run, report.state) for report in bench.polled()] == [
        (runs[0], "running"),
        (runs[1], "running"),
        ("", "running"),
    ]
    bench.until(300.5)
    reports = bench.polled()
    assert [(report.run, report.state, report.exit_status) for report in reports] == [
        *((run, "completed", 0) for run in runs),
        ("", "completed", 0),
    ]
    assert [(report.began, report.elapsed_s, report.nodes) for report in reports[2:4]] == [
        (START + 100, 100.0, "n1")
    ] * 2
    assert [(report.run, report.state) for report in bench.polled()] == [("", "completed")], "each thing is said once"
    anew = SimulatedScheduler(bench.world).poll(bench.views)
    assert len(anew) == 6, "to a new driver everything is news"
    assert Counter(one.run for one in bench.world.executions) == dict.fromkeys(runs, 1)


def test_a_part_that_was_taken_never_begins() -> None:
    bench = Bench()
    runs = pack(bench, "p", 4, at_once=1)
    bench.until(150)
    assert bench.scheduler.take_parts(bench.views["p"], runs) == [runs[2], runs[3]]
    assert bench.scheduler.take_parts(bench.views["p"], runs) == [runs[2], runs[3]], "they are the conductor's"
    bench.until(201)
    assert bench.state("p") == "completed"
    assert [one.run for one in bench.world.executions] == [*runs[:2]]


def test_a_killed_allocation_leaves_what_was_done_and_what_never_began() -> None:
    bench = Bench()
    runs = pack(bench, "p", 4, at_once=1)
    bench.until(150)
    bench.world.cancel("p")
    reports = bench.polled()
    assert [(report.run, report.state) for report in reports] == [
        (runs[0], "completed"),
        (runs[1], "running"),
        ("", "cancelled"),
    ]
    bench.until(1000)
    assert [one.run for one in bench.world.executions] == [*runs[:2]]
    assert not bench.world.live
    assert bench.scheduler.take_parts(bench.views["p"], runs) == [*runs[2:]]


def test_parts_that_hang_come_to_their_own_limits_and_the_job_to_its_end() -> None:
    bench = Bench(fates=Fates(mean_s=100.0, spread_s=0.0, timeout=1.0))
    runs = pack(bench, "p", 2, at_once=2, limit_s=700.0)
    bench.until(701)
    reports = bench.polled()
    assert [(report.run, report.state) for report in reports] == [
        *((run, "timeout") for run in runs),
        ("", "completed"),
    ]


# ---- nodes and other people ------------------------------------------------------------------------------------------------


def test_a_node_that_dies_takes_its_job_along_and_is_given_to_nobody_until_it_is_repaired() -> None:
    bench = Bench(2, fates=Fates(mean_s=100.0, spread_s=0.0, deaths=(("n1", 50.0, 500.0),)))
    for name in "abc":
        bench.order(name)
    bench.until(60)
    report = bench.report("a")
    assert (report.state, report.failed_nodes, report.nodes) == ("node_fail", ("n1",), "n1")
    assert [bench.state(name) for name in "bc"] == ["running", "queued"]
    survey = bench.scheduler.survey(Wanted(idle=("c:batch",)))
    assert survey is not None and survey.idle == {"c:batch": ()}
    bench.until(350)
    survey = bench.scheduler.survey(Wanted(idle=("c:batch",)))
    assert survey is not None and survey.idle == {"c:batch": (2,)}, "down, not idle"
    bench.until(551)
    survey = bench.scheduler.survey(Wanted(idle=("c:batch",)))
    assert survey is not None and survey.idle == {"c:batch": (1, 2)}


def test_slow_and_bad_nodes() -> None:
    fates = Fates(mean_s=100.0, spread_s=0.0, slow_nodes={"n2": 1.5}, bad_nodes={"n3": 1.0})
    bench = Bench(fates=fates)
    for name in "abcd":
        bench.order(name)
    bench.until(400)
    assert [bench.report(name).elapsed_s for name in "abd"] == [100.0, 150.0, 100.0]
    assert (bench.state("c"), bench.report("c").exit_status) == ("failed", 1)


def test_a_bad_node_may_fail_as_a_node() -> None:
    bench = Bench(fates=Fates(mean_s=100.0, spread_s=0.0, bad_nodes={"n2": 1.0}, bad_as="node_fail", repair_s=60.0))
    bench.order("w", "wide")
    bench.until(101)
    assert (bench.report("w").state, bench.report("w").failed_nodes) == ("node_fail", ("n2",))


def test_other_people_take_nodes_and_queue_elsewhere() -> None:
    others = Others(busy=(("n1", 0.0, 200.0), ("n2", 50.0, 300.0)), pending=(("c3", 100.0, 60), ("c3", 200.0, 5)))
    bench = Bench(others=others)
    for name in "abcd":
        bench.order(name)
    wanted = Wanted(idle=("c:batch",), pending=("c3", "c4"))
    said = []
    for at in (10, 150, 250, 350):
        bench.until(at)
        survey = bench.scheduler.survey(wanted)
        assert survey is not None
        said.append((survey.idle["c:batch"], survey.pending))
    assert said == [
        ((), {"c3": 0, "c4": 0}),
        ((4,), {"c3": 60, "c4": 0}),
        ((1, 3, 4), {"c3": 5, "c4": 0}),
        ((1, 2, 3, 4), {"c3": 5, "c4": 0}),
    ]
    assert [unfolded(bench.report(name).nodes) for name in "abcd"] == [["n2"], ["n3"], ["n4"], ["n3"]]


def test_what_is_said_of_nodes_is_late_and_not_always_true() -> None:
    bench = Bench(lies=Lies(stale_s=30.0, idle_untrue=0.5))
    bench.order("w", "wide")
    bench.until(20)
    late = bench.scheduler.survey(Wanted(idle=("c:batch",)))
    assert late is not None and late.idle["c:batch"] == (1, 2, 3, 4)
    untrue = set()
    for minute in range(1, 30):
        bench.world.lies = Lies(idle_untrue=0.5)
        bench.until(60.0 * minute)
        if bench.world.live:
            survey = bench.scheduler.survey(Wanted(idle=("c:batch",)))
            untrue.add(survey.idle["c:batch"] if survey else ())
    assert untrue != {()}
    silent = Bench(lies=Lies(outage=1.0)).scheduler.survey(Wanted(idle=("c:batch",), pending=("c3",)))
    assert silent is not None and set(silent.trouble) == {"c:batch", "c3"} and not silent.idle
    assert bench.scheduler.survey(Wanted()) is None


def test_jobs_behind_a_large_one_wait_for_the_next_cycle() -> None:
    bench = Bench(cycle_s=30.0)
    bench.order("a")
    bench.until(1)
    bench.order("w", "wide")
    bench.order("b")
    assert [bench.state(name) for name in "awb"] == ["running", "queued", "queued"]
    bench.until(31)
    assert bench.state("b") == "queued", "it could take longer than until the large one may start"


@pytest.mark.parametrize("lies", [Lies(), Lies(stale_s=12.0, marks_late_s=7.0, accounting_late_s=40.0, marks_lost=0.3)])
def test_a_quiet_scheduler_says_the_same_at_the_same_polls(lies: Lies) -> None:
    """What one that is asked every 5 s says, as far as it is new, says one that wakes the clock, and at no other time."""

    def news(quiet: bool) -> list[tuple[float, JobReport]]:
        bench = Bench(3, fates=Fates(failed=0.2, node_fail=0.2, requeued=0.2), lies=lies, poll_s=5.0, quiet=quiet)
        for number in range(12):
            bench.order(f"j{number}")
        bench.order("h", held=True)
        last: dict[str, JobReport] = {}
        said = []
        while bench.clock.now() < START + 1500:
            for report in bench.polled():
                if last.get(report.job) != report:
                    last[report.job] = report
                    said.append((bench.clock.now() - START, report))
            bench.clock.wait(START + 1500 if quiet else bench.clock.now() + 5.0)
        return said

    loud = news(quiet=False)
    assert len(loud) > 30
    assert sorted(news(quiet=True), key=_by_time_and_job) == sorted(loud, key=_by_time_and_job)


def test_a_new_driver_hears_what_the_one_before_did_not_live_to_hear() -> None:
    """It asks between the end of a job and the time at which that shows."""
    bench = Bench(lies=Lies(stale_s=12.0, marks_late_s=7.0), poll_s=5.0, quiet=True)
    bench.order("a")
    bench.until(102)
    bench.scheduler = SimulatedScheduler(bench.world, 5.0, quiet=True)
    assert bench.state("a") == "running"
    while bench.clock.now() < START + 400:
        bench.clock.wait(START + 400)
        if bench.polled():
            break
    assert bench.clock.now() == START + 110


def _by_time_and_job(said: tuple[float, JobReport]) -> tuple[float, str]:
    return said[0], said[1].job


def test_the_same_seed_gives_the_same_machine() -> None:
    def ran() -> list[Any]:
        bench = Bench(4, fates=Fates(failed=0.2, node_fail=0.2, requeued=0.2, repair_s=100.0, bad_nodes={"n2": 0.3}))
        for number in range(30):
            bench.order(f"j{number}", "wide" if number % 7 == 0 else "t")
        bench.until(5000)
        return bench.world.executions

    assert ran() == ran()
