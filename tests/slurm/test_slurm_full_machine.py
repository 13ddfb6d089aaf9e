"""A machine that is kept full, seen node by node, and given many small runs, on a real Slurm; with what goes wrong meanwhile.

What is asserted is counted from the log and from the payloads' own words (``tests/support/full_machine.py``), by no engine.
"""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import pytest
from full_machine import ENDS, NEVER, Line, followed_twice, loads, longest_owed_hole, most_at_once, most_waiting
from slurm_cluster import Cluster
from slurm_full import MDTS, Full, a_test

pytestmark = pytest.mark.slurm

# ---- each node -----------------------------------------------------------------------------------------------------------

SEEN = "echo $SHAKEDOWN_RUN $(cat /proc/sys/kernel/hostname) >>{campaign}/../../seen; sleep 0.2"
SWEEP = "functionality:\n  tests: [see1, see2, see3, see4, see5]\n  sweep: {queued: 4}\n"
BUSY = ("n003", "n007", "n016")


def test_a_sweep_sees_each_node_once_and_the_busy_ones_last(accounting_cluster: Cluster, tmp_path: Path) -> None:
    cluster, nodes = accounting_cluster, accounting_cluster.nodes
    tests = {f"see{number}": a_test(f"see{number}", SEEN) for number in range(1, 6)}
    others = [cluster.sbatch("sleep 900", "-w", node, "--exclusive", "-J", "somebody") for node in BUSY]
    for other in others:
        cluster.wait_for_job(other, "RUNNING")
    with Full([cluster], tmp_path / "site", tests, SWEEP) as campaign:
        campaign.start()
        campaign.wait_judged(5 * (nodes - len(BUSY)))
        asked = len(campaign.events("surveyed"))
        assert len(campaign.jobs()) == nodes - len(BUSY), "no job is queued for a node that is in use"
        cluster.run("scancel", *others)
        campaign.end()
        jobs, where = campaign.jobs(), campaign.where()
        assert campaign.counted() == {"passed": 5 * nodes}
        assert len(jobs) == nodes
        assert 1 <= most_waiting(jobs.values()) <= 4
        orders = campaign.events("submit_order")
        numbers = {event.job: event.value["node"] for event in orders}
        assert sorted(numbers.values()) == list(range(1, nodes + 1))
        last = {f"n{numbers[job]:03d}" for job in list(jobs)[-len(BUSY) :]}
        assert last == set(BUSY)
        asked_for = {event.run: f"n{numbers[event.job]:03d}" for event in orders}
        said = dict(line.split() for line in (campaign.site / "seen").read_text().splitlines())
        assert said == where == asked_for
        assert Counter((event.value["node"], event.case) for event in orders).most_common(1)[0][1] == 1
        assert len(campaign.events("surveyed")) > asked, "they were seen to fall idle"


# ---- many small runs -----------------------------------------------------------------------------------------------------

CASES, ALLOCATIONS = 240, 4
PACK = f"""\
functionality:
  tests: [small]
  pack: {{runs: {CASES // ALLOCATIONS}, allocations: {ALLOCATIONS}, at_once: 1}}
"""


def test_a_killed_allocation_of_a_pack_loses_no_case(accounting_cluster: Cluster, tmp_path: Path) -> None:
    """Somebody kills one of four: what ran is attempted again, what had not begun waits on under its own run id."""
    numbers = ", ".join(map(str, range(CASES)))
    small = a_test("small", "sleep 0.15", more=f"parameters: {{n: [{numbers}]}}")
    with Full([accounting_cluster], tmp_path / "site", {"small": small}, PACK) as campaign:
        campaign.start()
        campaign.wait_until(lambda: campaign.killable(8), "an allocation is in the middle of its runs")
        victim = campaign.killable(8)
        accounting_cluster.run("scancel", campaign.slurm_id(victim))
        campaign.end()
        passed = Counter(event.case for event in campaign.judged() if event.value["verdict"] == "passed")
        assert len(passed) == CASES
        assert set(passed.values()) == {1}, "nothing is done twice"
        counted = campaign.counted()
        cut = [event for event in campaign.judged() if event.value["verdict"] == "interrupted"]
        assert counted == {"passed": CASES, **({"interrupted": len(cut)} if cut else {})}
        assert len(cut) <= 2, "one lane: the run that was cut, and one that had ended in the blink before"
        assert {event.job for event in cut} <= {victim}
        again = {event.case for event in campaign.events("submit_order") if event.value["attempt"] == 2}
        assert again == {event.case for event in cut}
        moved = Counter(event.run for event in campaign.events("submit_order"))
        waited_on = {run for run, count in moved.items() if count == 2}
        assert len(waited_on) >= 20, "the parts that had not begun went into another job"
        assert waited_on <= set(campaign.first_jobs()[victim])
        first = campaign.jobs()
        assert loads(first.values(), lambda job: "allocations")["allocations"] <= ALLOCATIONS
        assert len(first) <= ALLOCATIONS + 2
        ran = Counter(one.run for one in campaign.told())
        ended = {event.run for event in campaign.judged() if event.value["verdict"] == "passed"}
        assert set(ran.values()) == {1}
        assert ended <= set(ran) <= ended | {event.run for event in cut}, (
            "one may be cut before its payload's first word"
        )


# ---- a mix for a time ----------------------------------------------------------------------------------------------------

NODES = {"cm4": 1, "esm4-small": 1, "esm4-large": 1, "spear": 1, "shield": 2, "ufs": 1}
CAPS, PER_TARGET = {"cm4": 2, "shield": 2}, 2
MIX = {"cm4": 20, "esm4-small": 15, "esm4-large": 15, "spear": 15, "shield": 20, "ufs": 15}
SECONDS, RAMP_S, HOLE_S, REACH_S = 90.0, 8.0, 25.0, 25.0
NAP = f"sleep $((3 + $(od -An -N2 -tu2 /dev/urandom) % 3)).5\n{ENDS}"
STABILITY = f"""\
stability:
  duration: {SECONDS:.0f}s
  tests: [{", ".join(NODES)}]
  mix: {{{", ".join(f"{name}: {share}%" for name, share in MIX.items())}}}
  fill: {{ramp: {RAMP_S:.0f}s, survive: 20s}}
  limits: {{copies: {{{", ".join(f"{name}: {count}" for name, count in CAPS.items())}}}, stagger: 0.2s}}
  retry: {{node_fail: 2, interrupted: 2, lost: 1}}
"""


def test_a_mix_through_a_dead_node_a_dead_conductor_and_a_new_controller(
    fault_cluster: Cluster, tmp_path: Path
) -> None:
    tests = {name: a_test(name, NAP, nodes, more="loads: {f2/mdt: 1}") for name, nodes in NODES.items()}
    with Full([fault_cluster], tmp_path / "site", tests, STABILITY, amount=PER_TARGET) as campaign:
        campaign.start()
        struck = []
        campaign.wait_judged(12)
        struck.append(time.time())
        fault_cluster.fault("power-off", "n003")
        campaign.wait_judged(len(campaign.judged()) + 8)
        struck.append(time.time())
        campaign.kill()
        campaign.start("resume", "p-1", "--if-needed")
        campaign.wait_event("driver_start", 2)
        fault_cluster.fault("power-on", "n003")
        campaign.wait_judged(len(campaign.judged()) + 8)
        struck.append(time.time())
        fault_cluster.fault("stop-slurmctld")
        fault_cluster.fault("start-slurmctld")
        campaign.end()
        allowed(campaign)
        on_their_targets(campaign)
        back = [event.value for event in campaign.judged() if event.value["verdict"] == "cancelled"]
        assert not any("started" in value or "elapsed_s" in value for value in back), "what is taken back never began"
        allowed_ends = {"passed", "node_fail", "interrupted", "lost", "cancelled"}
        assert set(campaign.counted()) <= allowed_ends, campaign.counted()
        assert campaign.counted()["passed"] > 40
        without_holes(campaign, struck)


def allowed(campaign: Full) -> None:
    """At every instant: what may run by the log, and what ran by the payloads' own words."""
    jobs = campaign.jobs().values()
    on_targets, copies = loads(jobs, lambda job: job.target), loads(jobs, lambda job: job.test)
    assert set(on_targets) == set(MDTS)
    assert max(on_targets.values()) <= PER_TARGET, f"{on_targets}\n{campaign.tale()}"
    assert all(copies[test] <= cap for test, cap in CAPS.items()), f"{copies}\n{campaign.tale()}"
    assert not followed_twice(campaign.events())
    told = [one for one in campaign.told() if one.end < NEVER]
    really = most_at_once((one.place.split("/")[-4], one.run, one.begin, one.end) for one in told)
    assert set(really) == set(MDTS)
    assert max(really.values()) <= PER_TARGET, really
    runs = most_at_once((one.test, one.run, one.begin, one.end) for one in told)
    assert all(runs[test] <= cap for test, cap in CAPS.items()), runs


def on_their_targets(campaign: Full) -> None:
    """Each payload worked below the path of the target that the log says, the run's directory in the campaign leads there."""
    by_run = {run: job for job in campaign.jobs().values() for run in job.runs}
    for one in campaign.told():
        job: Line = by_run[one.run]
        assert Path(one.place).parent.parent == campaign.lustre / job.target / "acceptance", one
    kept = [event for event in campaign.judged() if event.value["verdict"] == "passed"]
    places = {one.run: one.place for one in campaign.told()}
    for event in kept[:5]:
        assert str((campaign.root / event.value["output"]["directory"]).resolve()) == places[event.run]


def without_holes(campaign: Full, struck: list[float]) -> None:
    """Between the ramp and the drain, and where no fault is near, each test that is owed its share runs at least so often."""
    began = campaign.events("submit_order")[0].time
    ends = [began + RAMP_S + 10.0, *(at + REACH_S for at in struck)]
    begins = [*struck, began + SECONDS - 10.0]
    told = [one for one in campaign.told() if one.end < NEVER]
    for test, share in MIX.items():
        for since, until in zip(ends, begins, strict=True):
            if until - since > HOLE_S:
                hole = longest_owed_hole(told, NODES, test, share / 100, since, until)
                assert hole <= HOLE_S, f"{test}\n{campaign.tale()}"


# ---- what people say -----------------------------------------------------------------------------------------------------

STEADY = "stability:\n  duration: 30min\n  tests: [short, other]\n  fill: {queue_ahead: 5s}\n"


def test_nothing_starts_while_it_is_paused_nor_on_a_node_that_is_excluded(
    fault_cluster: Cluster, tmp_path: Path
) -> None:
    tests = {name: a_test(name, f"sleep 1\n{ENDS}", more="loads: {f2/mdt: 1}") for name in ("short", "other")}
    with Full([fault_cluster], tmp_path / "site", tests, STEADY) as campaign:
        campaign.start()
        campaign.wait_judged(16)
        campaign.said("pause", "p-1", "--component", "stability")
        paused = campaign.wait_event("paused")
        campaign.wait_until(lambda: not fault_cluster.squeue(), "what ran has ended, what was queued is taken back")
        executed = len(campaign.told())
        theirs = fault_cluster.sbatch("sleep 5", f"-N{fault_cluster.nodes}", "--exclusive", "-J", "somebody")
        assert fault_cluster.wait_for_job(theirs) == "COMPLETED", "somebody has the whole machine meanwhile"
        assert len(campaign.told()) == executed
        campaign.said("resume", "p-1", "--component", "stability")
        goes_on = campaign.wait_event("continued")
        orders = campaign.events("submit_order")
        assert not [event for event in orders if paused.seq < event.seq < goes_on.seq], campaign.tale()
        campaign.said("exclude", "p-1", "n00[2-3]")
        excluded = campaign.wait_event("excluded")
        campaign.wait_until(lambda: runs_after(campaign, excluded.seq) >= 20, "it goes on without them")
        campaign.said("drain", "p-1", "--component", "stability")
        campaign.end(statuses=(4,))  # drained: its planned time was not run
        after = {event.run for event in campaign.events("submit_order") if event.seq > excluded.seq}
        used = {node for run, node in campaign.where().items() if run in after}
        before = {node for run, node in campaign.where().items() if run not in after}
        assert {"n002", "n003"} <= before, "they were in use before"
        assert used
        assert not {"n002", "n003"} & used
        assert set(campaign.counted()) <= {"passed", "cancelled"}, campaign.counted()


def runs_after(campaign: Full, seq: int) -> int:
    """How many runs that were ordered after an event have passed."""
    after = {event.run for event in campaign.events("submit_order") if event.seq > seq}
    return sum(event.run in after and event.value["verdict"] == "passed" for event in campaign.judged())


# ---- several clusters ----------------------------------------------------------------------------------------------------

YIELDING = """\
stability:
  duration: 30min
  tests: [here, there]
  yield_to: {{clusters: [{other}], when: {{pending: 3, until: 0}}, copies: {{here: 1}}}}
"""


def test_one_plan_over_two_clusters_makes_room_while_others_wait(
    two_clusters: tuple[Cluster, Cluster], tmp_path: Path
) -> None:
    one, other = two_clusters
    tests = {
        name: a_test(name, f"sleep 1.5\n{ENDS}", more=f'where: {{partitions: ["{cluster.name}:batch"]}}')
        for name, cluster in (("here", one), ("there", other))
    }
    component = YIELDING.format(other=other.name)
    with Full([one, other], tmp_path / "site", tests, component) as campaign:
        campaign.start()
        campaign.wait_judged(12)
        waiting = [other.sbatch("true", "--begin=now+1hour", "-J", "somebody") for _ in range(3)]
        campaign.wait_until(lambda: said_to_wait(campaign, other)[-1:] >= [3], "their jobs are seen to wait")
        seen = next(event for event in campaign.events("surveyed") if event.value["pending"].get(other.name) >= 3)
        campaign.wait_until(lambda: runs_after(campaign, seen.seq) >= 12, "it goes on with less")
        for identity in waiting:
            other.run("scancel", identity)
        campaign.wait_until(lambda: said_to_wait(campaign, other)[-1:] == [0], "they are seen to be gone")
        gone = campaign.events("surveyed")[-1]
        campaign.wait_until(lambda: copies_between(campaign, gone.time, NEVER) > 1, "it takes its room again")
        campaign.said("drain", "p-1", "--component", "stability")
        campaign.end(statuses=(4,))  # drained: its planned time was not run
        assert copies_between(campaign, 0.0, seen.time) > 1
        narrow = [
            job for job in campaign.jobs().values() if seen.time < job.may_start < gone.time and job.test == "here"
        ]
        assert narrow
        assert loads(narrow, lambda job: job.test)["here"] == 1, campaign.tale()
        assert {event.case.split("/")[0].split("@")[0] for event in campaign.judged()} == {"here", "there"}
        assert set(campaign.counted()) <= {"passed", "cancelled"}, campaign.counted()


def said_to_wait(campaign: Full, cluster: Cluster) -> list[int]:
    pending = [event.value.get("pending", {}) for event in campaign.events("surveyed")]
    return [each[cluster.name] for each in pending if cluster.name in each]


def copies_between(campaign: Full, since: float, until: float) -> int:
    """The most runs of ``here`` at once, of those that might start in this time."""
    jobs = [job for job in campaign.jobs().values() if since < job.may_start < until]
    return loads(jobs, lambda job: job.test).get("here", 0)
