"""``status`` tells how often the scheduler was asked, and that it takes no job for now."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from shakedown.cli.status import _components, _nodes, _over, _render
from shakedown.engine import State
from shakedown.engine.constraints.budgets import ReservedLoads, budget_reason
from shakedown.engine.constraints.overrides import in_force
from shakedown.engine.fold.evolve import evolve
from shakedown.engine.state.jobs import Job
from shakedown.engine.state.phases import CampaignPhase, JobPhase
from shakedown.engine.state.plan import index_plan
from shakedown.engine.state.records import Pools, SubmitBackoff, Tally
from shakedown.model.events import Event
from shakedown.model.layout import Layout
from shakedown.model.nouns import Case, Cluster, Component, Document, NodeType, Partition, Shape, System, Test
from shakedown.model.ports import LeftJob, LeftJobs
from shakedown.queries.nodes_now import jobs_now
from shakedown.queries.status import _budgets, _calls, _closed_pools, _scheduler_calls
from shakedown.schedulers.slurm.nodes_out import nodes_out
from shakedown.schedulers.slurm.runner import Ran


def after(*events: Event) -> State:
    state = State(phase=CampaignPhase.RUNNING)
    for event in events:
        evolve(state, event)
    return state


def test_calls_are_counted_by_command_and_hour() -> None:
    state = after(
        Event("driver_start", seq=1, time=1000.0),
        Event("asked", seq=2, time=1300.0, value={"squeue": 60, "sbatch": 100}),
        Event("asked", seq=3, time=1000.0 + 7200, value={"squeue": 1440, "sacct": 3, "sbatch": 100}),
    )
    assert _scheduler_calls(state) == {
        "for_s": 7200.0,
        "total": 1543,
        "this_driver": _calls({"squeue": 1440, "sacct": 3, "sbatch": 100}, 7200.0),
        "commands": {
            "sacct": {"count": 3, "per_hour": 1.5},
            "sbatch": {"count": 100, "per_hour": 50.0},
            "squeue": {"count": 1440, "per_hour": 720.0},
        },
    }


def test_wanted_says_that_it_has_cancelled_results_too() -> None:
    counts = dict.fromkeys(("wanted", "closed", "in_flight", "waiting", "unavailable"), 2)
    for verdict, is_said in (("cancelled", True), ("passed", False)):
        shown = _components({"components": [{"name": "main", "verdicts": {verdict: 2}} | counts]})
        assert ("wanted has what was cancelled, too" in shown) is is_said


def test_the_calls_of_all_drivers_are_counted() -> None:
    state = after(
        Event("driver_start", seq=1, time=0.0),
        Event("asked", seq=2, time=300.0, value={"squeue": 60}),
        Event("driver_start", seq=3, time=9000.0),
    )
    assert (_scheduler_calls(state)["total"], _scheduler_calls(state)["this_driver"]["total"]) == (60, 0)
    evolve(state, Event("asked", seq=4, time=9000.0 + 3300, value={"squeue": 40, "sacct": 2}))
    assert _scheduler_calls(state)["commands"] == {
        "sacct": {"count": 2, "per_hour": 2.0},
        "squeue": {"count": 100, "per_hour": 100.0},
    }
    assert _scheduler_calls(state)["for_s"] == 3600.0
    assert _scheduler_calls(state)["this_driver"]["total"] == 42


def test_nodes_that_are_out_since_when_and_why() -> None:
    """Each set of nodes once, though it is printed for every partition; those of no partition of ours are nobody's."""
    lines = [
        ("idle", "Unknown", "none", "n[001-002]"),
        ("down*", "1795337739", "Not responding", "n003"),
        ("down*", "1795337739", "Not responding", "n003"),
        ("drained", "1795337700", "Prolog error", "n004,x007"),
        ("mixed", "Unknown", "none", "n009"),
    ]

    def run(command: Any, timeout_s: float) -> Ran:
        return Ran(0, "".join("\x1f".join(line) + "\n" for line in lines))

    cluster = Cluster("emu", "slurm", (Partition("batch", "emu", "n[001-009]", 9, "node"),))
    out, trouble = nodes_out([cluster], run, 5.0)  # type: ignore[arg-type]
    assert trouble == ""
    told = _nodes({"count": 2, "trouble": "", "out": [msgspec.to_builtins(one) for one in out]})
    assert told == [
        "2 nodes are down or drained:",
        "  n003: down* since 2026-11-22 08:55:39 UTC: Not responding",
        "  n004: drained since 2026-11-22 08:55:00 UTC: Prolog error",
    ]


def test_jobs_whose_runs_are_over_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """One is over, one open, one ordered since the state was read, one builds: while it goes on, the first is named."""
    left = [LeftJob("7", "emu", "j000001", True), LeftJob("8", "emu", "j000002", False, "n001")]
    left += [LeftJob("9", "emu", "j000003", True), LeftJob("10", "emu", "b000001", True)]
    monkeypatch.setattr("shakedown.queries.nodes_now.call", lambda *_: LeftJobs(tuple(left)))
    state = with_a_cluster()
    state.campaign.next_job, state.jobs = 3, {"j000002": Job("j000002", "r000002", "c", 0, 0.0)}
    assert [job.number for job in jobs_now(Layout(Path("c")), state)] == ["7"]
    told = _over({"phase": "running", "campaign": "c-1", "over": [msgspec.to_builtins(left[0])]})
    assert told[0] == "1 job whose run is over is at the scheduler: 7 waiting; no run of it comes again"
    state.phase = CampaignPhase.ENDED
    assert len(jobs_now(Layout(Path("c")), state)) == 4, "of a campaign that is over nothing is to be there"
    assert (
        "shakedown resume c-1 cancels them"
        in _over({"phase": "ended", "campaign": "c-1", "over": [msgspec.to_builtins(job) for job in left]})[1]
    )


def with_a_cluster() -> State:
    state = State(phase=CampaignPhase.RUNNING)
    partition = Partition("batch", "emu", "n[001-009]", 9, "node")
    system = System("emu", (Cluster("emu", "slurm", (partition,)),), (NodeType("node", 4),))
    state.plan = index_plan(Document("p", system, (), (), ()))
    return state


def test_the_first_seconds_are_not_blown_up_to_an_hour() -> None:
    state = after(Event("driver_start", seq=1, time=0.0), Event("asked", seq=2, time=1.0, value={"squeue": 2}))
    assert _scheduler_calls(state)["commands"] == {"squeue": {"count": 2, "per_hour": 120.0}}


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
        "asked": _scheduler_calls(state),
    }
    lines = _render(data).splitlines()[-3:]
    assert lines == [
        "asked the scheduler 8254 times in 10 h 00 min:",
        "  sacct 12 (1 an hour), sbatch 1000 (100 an hour), scancel 2 (0 an hour)",
        "  scontrol 31 (3 an hour), sinfo 9 (1 an hour), squeue 7200 (720 an hour)",
    ]


def test_a_scheduler_that_takes_nothing_is_told() -> None:
    state = State(pools=Pools({"h3:batch": SubmitBackoff(120.0, 3, "sbatch: error: AssocMaxSubmitJobLimit")}))
    assert _closed_pools(state) == [
        {"partition": "h3:batch", "reason": "sbatch: error: AssocMaxSubmitJobLimit", "refused": 3, "until": 120.0}
    ]
    data: dict[str, Any] = {"campaign": "c", "phase": "running", "driver": "me", "components": [], "waiting": []}
    told = _render({**data, "time": 108.4, "shut": _closed_pools(state)}).splitlines()[-1]
    assert told == "h3:batch took no job, 3 times in a row; one is tried again in 12 s"


def test_budgets_are_said_in_the_units_that_they_were_written_in() -> None:
    system = System(
        "m",
        (Cluster("c", "local", (Partition("p", "c", "localhost", 1, "n"),)),),
        (NodeType("n", cores=4),),
        budgets=(("f2/mdt", 8.0), ("band", 40e9)),
        targeted=(("f2/mdt", ("a", "b")),),
        budget_units=(("band", "GB/s"),),
    )
    document = Document("p", system, (), (), ())
    state = State(plan=index_plan(document), phase=CampaignPhase.RUNNING)
    state.usage.loads["band"] = 12.5e9
    said = "12.5 GB/s of 40 GB/s taken"
    assert _budgets(state)["band"] == {"taken": 12.5e9, "asked": 0.0, "limit": 40e9, "said": said}


def test_what_waits_at_the_scheduler_is_asked_for_and_not_taken() -> None:
    """Slurm hands the licence out itself: five jobs are queued for two, and two run."""
    shape = Shape(nodes=1)
    case = Case("c", "t", "h3:batch", shape=shape, loads=(("band", 10e9),))
    system = System(
        "m",
        (Cluster("h3", "slurm", (Partition("batch", "n", "n[1-8]", 8, "n"),), licences=(("band", 20e9),)),),
        (NodeType("n", cores=4),),
        budgets=(("band", 20e9),),
        budget_units=(("band", "GB/s"),),
    )
    document = Document("p", system, (Component("ft", "functionality", ("t",)),), (case,), (Test("t"),))
    state = State(plan=index_plan(document), phase=CampaignPhase.RUNNING)
    for number in range(5):
        phase = JobPhase.RUNNING if number < 2 else JobPhase.QUEUED
        name = f"j00000{number}"
        state.jobs[name] = Job(name, f"r00000{number}", "c", 0, 0.0, phase=phase, loads=case.loads, charged=True)
    state.usage.loads["band"] = 50e9
    band = _budgets(state)["band"]
    assert (band["taken"], band["asked"]) == (20e9, 30e9)
    assert band["said"] == "20 GB/s of 20 GB/s taken, 30 GB/s more asked for"


def test_what_nobody_drives_is_not_called_running() -> None:
    data = {
        "campaign": "p-1",
        "phase": "running",
        "driver": "",
        "rehearsal": "",
        "components": [],
        "waiting": [],
        "events": 3,
    }
    lines = _render(data | {"time": 0.0}).splitlines()
    assert lines[0].startswith("p-1: not over; nobody drives it; as of event ")
    assert lines[-1] == "hint: go on with: shakedown resume p-1"


def test_what_waits_for_a_budget_says_it_in_its_unit_and_tells_what_runs_from_what_waits() -> None:
    """Nodes stand idle for a budget of ours: one run takes it, another one may start and waits at the scheduler."""
    case = Case("c", "t", "h3:batch", shape=Shape(nodes=1), loads=(("band", 15e9),))
    system = System(
        "m",
        (Cluster("h3", "slurm", (Partition("batch", "h3", "n[1-8]", 8, "n"),)),),
        (NodeType("n", cores=4),),
        budgets=(("band", 40e9),),
        budget_units=(("band", "GB/s"),),
    )
    document = Document("p", system, (Component("ft", "functionality", ("t",)),), (case,), (Test("t"),))
    state = State(plan=index_plan(document), phase=CampaignPhase.RUNNING)
    for number, phase in enumerate((JobPhase.RUNNING, JobPhase.QUEUED)):
        name = f"j00000{number}"
        state.jobs[name] = Job(name, f"r00000{number}", "c", 0, 0.0, phase=phase, loads=case.loads, charged=True)
    state.usage.loads["band"] = 30e9
    reason = budget_reason(state, state.index.class_of(0, "c", ""), ReservedLoads(), 0.0)
    assert reason is not None
    assert reason.text == "band: 15 GB/s of 40 GB/s is taken, 15 GB/s more asked for, and it needs 15 GB/s"
    state.overrides.amounts["band"] = 20e9
    state.tallies = [Tally() for _ in state.index.components]
    assert any("budget band holds at most 20 GB/s" in said for said in in_force(state, 0.0))
