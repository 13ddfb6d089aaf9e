"""Jobs of several runs, places on targets, and where a job may go, on a real Slurm."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from msgspec import structs
from slurm_cluster import Cluster
from slurm_port import Port, View, port

from shakedown.model.nouns import Case
from shakedown.model.ports import JobOrder, ReleaseOrder, Wanted

pytestmark = pytest.mark.slurm
ONE_OF_THREE = {"r001000": "completed", "r001001": "running", "r001002": "running"}


def states(opened: Port, job: View) -> dict[str, str]:
    """What was said last of each part."""
    return {key.partition("/")[2]: report.state for key, report in opened.said.items() if key.startswith(f"{job.id}/")}


def test_six_parts_in_two_lanes_one_of_them_beyond_its_time(accounting_cluster: Cluster, tmp_path: Path) -> None:
    log = tmp_path / "log"
    scripts = [f"echo + $SHAKEDOWN_RUN >>{log}; sleep 0.5; echo - $SHAKEDOWN_RUN >>{log}"] * 4
    with port(tmp_path / "c", accounting_cluster) as opened:
        job = opened.pack(accounting_cluster.name, 1, ["sleep 300", *scripts, "exit 7"], 2, limits={0: 3.0})
        end = opened.wait(job, "completed")
        assert (end.exit_status, end.output) == (0, {})
        told = states(opened, job)
        assert list(told.values()).count("completed") == 4
        assert (told["r001000"], told["r001005"]) == ("timeout", "failed")
        assert opened.said[f"{job.id}/r001005"].exit_status == 7
        last = max(n for n, (_, part, _) in enumerate(opened.story) if part)
        assert next(state for _, part, state in opened.story[last:] if not part) == "completed", "parts come first"
        began = [report.began for key, report in opened.said.items() if "/" in key]
        assert all(time is not None and end.began is not None and time >= end.began for time in began)
        output = opened.said[f"{job.id}/r001001"].output
        assert (tmp_path / "c" / output["directory"]).is_dir() and output["bytes"] == 0
    alive = 0
    for line in log.read_text().splitlines():
        alive += 1 if line.startswith("+") else -1
        assert 0 <= alive <= 2


def test_a_killed_allocation_loses_no_part_and_its_nodes_are_named(fault_cluster: Cluster, tmp_path: Path) -> None:
    name = fault_cluster.name
    with port(tmp_path / "c", fault_cluster) as opened:
        job = opened.pack(name, 1, ["echo quick", "sleep 600", "sleep 600", "echo late", "echo later"], 2, node=3)
        wide = Case("wide", "t", f"{name}:batch", script="sleep 600")
        wide = structs.replace(wide, shape=structs.replace(wide.shape, nodes=2))
        pair = opened.submit(JobOrder("j000002", "r2", wide, exclude=("n001", "n002", "n003", "n006", "n007", "n008")))
        opened.wait_until(lambda: states(opened, job) == ONE_OF_THREE, "two parts run, and one is over")
        opened.wait(pair, "running")
        assert (opened.said[job.id].nodes, opened.said[pair.id].nodes) == ("n003", "n[004-005]")
        for node in ("n003", "n005"):
            fault_cluster.fault("power-off", node)
        assert opened.wait(job, "node_fail").failed_nodes == ("n003",)
        assert opened.wait(pair, "node_fail").failed_nodes == ("n005",)
        assert states(opened, job) == ONE_OF_THREE
        runs = [f"r00100{n}" for n in range(5)]
        assert opened.scheduler.take_parts(job, runs) == runs[3:]
        assert opened.scheduler.take_parts(job, runs) == runs[3:], "asked again, as after a crash"
        for node in ("n003", "n005"):
            fault_cluster.fault("power-on", node)


def test_a_node_that_is_booted_under_a_part_of_a_job_on_several_nodes(fault_cluster: Cluster, tmp_path: Path) -> None:
    """Slurm does not miss it, the step's errors are thrown away, and the part ends with 0. The parts before and after passed."""
    seen, others = tmp_path / "seen", tuple(f"n{number:03}" for number in (1, 2, 3, 6, 7, 8))
    step = f"srun -N2 -n2 sh -c 'echo on $SLURMD_NODENAME >>{seen}; sleep 15' 2>/dev/null || true"
    with port(tmp_path / "c", fault_cluster) as opened:
        job = opened.pack(fault_cluster.name, 1, ["srun -N2 -n2 true", step, "true"], nodes=2, exclude=others)
        opened.wait_until(lambda: seen.exists() and "on n005" in seen.read_text(), "the step runs on both nodes")
        began = int(seen.stat().st_mtime)
        opened.wait_until(lambda: time.time() > began + 1, "the next second, for Slurm counts in seconds")
        fault_cluster.fault("power-off", "n005")
        fault_cluster.fault("power-on", "n005")
        assert opened.wait(job, "completed").failed_nodes == ()
        assert states(opened, job) == {"r001000": "completed", "r001001": "node_fail", "r001002": "completed"}
        assert opened.said[f"{job.id}/r001001"].failed_nodes == ("n005",)


def test_parts_of_a_cancelled_job_have_no_end_and_the_rest_can_be_taken(
    accounting_cluster: Cluster, tmp_path: Path
) -> None:
    payload = "trap 'exit 0' TERM; sleep 300 & wait"
    with port(tmp_path / "c", accounting_cluster) as opened:
        job = opened.pack(accounting_cluster.name, 1, ["true", payload, payload, "true"], 2)
        opened.wait_until(lambda: states(opened, job) == ONE_OF_THREE, "two parts run, and one is over")
        assert opened.scheduler.cancel([job]) == [job.id]
        opened.wait(job, "cancelled")
        told = states(opened, job)
        begun = told.pop(
            "r001003", ""
        )  # Slurm signals a job's processes one by one: a lane may be told a moment too late
        assert told == ONE_OF_THREE and begun in ("", "running")
        wanted = [] if begun else ["r001003"]
        assert opened.scheduler.take_parts(job, ["r001001", "r001003"]) == wanted


def test_nodes_by_number_and_jobs_one_after_the_other(any_cluster: Cluster, tmp_path: Path) -> None:
    name = any_cluster.name
    with port(tmp_path / "c", any_cluster) as opened:
        first = opened.order(name, 1, script="sleep 2; hostname", node=4)
        held = opened.order(name, 2, held=True)
        second = opened.order(name, 3, script="hostname", after=(first.id, first.scheduler_id), node=2)
        assert opened.wait(second, "queued").message in ("Dependency", "")
        opened.wait(first, "completed")
        opened.wait(second, "completed")
        nameless = opened.order(name, 4, after=(held.id, ""))
        opened.wait(nameless, "queued")
        over = opened.order(name, 5, after=(first.id, first.scheduler_id))
        never = opened.order(name, 6, after=("j000099", "999999"))
        assert opened.wait(over, "completed") and opened.wait(never, "completed")
        assert any_cluster.job(nameless.scheduler_id).get("Dependency", "").startswith("afterany:")
        assert opened.scheduler.cancel([held, nameless])
        (answer,) = opened.scheduler.submit([JobOrder("j7", "r7", Case("c", "t", f"{name}:batch"), node=99)])
        assert answer.message == f"run r7 cannot be started: {name}:batch has no node number 99"
        kept = {path.stem: path.read_text().strip() for path in (tmp_path / "c/outputs").rglob("*.out")}
        assert (kept["j000001.0"], kept["j000003.0"]) == ("n004", "n002")


def test_a_held_run_gets_its_target_when_it_is_released(accounting_cluster: Cluster, tmp_path: Path) -> None:
    name = accounting_cluster.name
    for target in ("mdt0", "mdt1"):
        (tmp_path / "f2" / target).mkdir(parents=True)
    (tmp_path / "deck").write_text("atoms\n")
    with port(tmp_path / "c", accounting_cluster, licence_names=(("f2/mdt@mdt1", "mds"),)) as opened:
        jobs: dict[str, View] = {}
        cases: dict[str, Case] = {}
        for number, stage in enumerate(("link", "copy", "per-target"), 1):
            cases[stage] = Case(
                stage,
                "t",
                f"{name}:batch",
                script="pwd -P; cat in.put; echo done >result",
                files=(("in.put", str(tmp_path / "deck")),),
                work=f"{tmp_path}/f2/{{mdt}}/acceptance",
                targets=(("mdt", "f2/mdt"),),
                loads=(("f2/mdt", 1.0),),
                stage=stage,  # type: ignore[arg-type]
            )
            jobs[stage] = opened.submit(JobOrder(f"j00000{number}", f"r{number}", cases[stage], held=True))
        now = structs.replace(cases["copy"], id="now")
        free = opened.submit(JobOrder("j000004", "r4", now, targets=(("f2/mdt", "mdt1"),)))
        opened.wait(free, "completed")
        assert "mds:1" in str(accounting_cluster.job(free.scheduler_id))
        orders = [
            ReleaseOrder(job.id, job.run, cases[stage], job.scheduler_id, targets=(("f2/mdt", "mdt1"),))
            for stage, job in jobs.items()
        ]
        lost = structs.replace(orders[0], targets=(("f2/mdt", "mdt7"),))
        assert set(opened.scheduler.release([lost, *orders[1:]])) == {order.id for order in orders[1:]}
        opened.said.clear()
        why = opened.wait(jobs["link"], "queued").message
        assert why.startswith("it is still held: ") and "mdt7 does not exist" in why
        assert opened.scheduler.release(orders[:1]) == [jobs["link"].id]
        for job in (*jobs.values(), free):
            report = opened.wait(job, "completed")
            place = tmp_path / "c" / report.output["directory"]
            real = place.readlink()
            assert real.parent.parent == tmp_path / "f2/mdt1/acceptance"
            assert (place / "result").read_text() == "done\n"
            assert (tmp_path / "c" / report.output["file"]).read_text() == f"{real}\natoms\n"


def test_idle_nodes_and_jobs_that_wait(accounting_cluster: Cluster, tmp_path: Path) -> None:
    name = accounting_cluster.name
    accounting_cluster.fault("drain", "n002", "bad DIMM")
    accounting_cluster.sbatch("sleep 300", "-w", "n003", "--exclusive")
    accounting_cluster.sbatch("true", "-H", "--array=1-7")
    with port(tmp_path / "c", accounting_cluster) as opened:
        opened.order(name, 1, held=True)
        wanted = Wanted(idle=(f"{name}:batch",), pending=(name, "ghost"))
        free = {1, *range(4, 17)}
        while set(opened.survey(wanted).idle[f"{name}:batch"]) != free:
            pass
        found = opened.survey(wanted)
        assert found.pending == {name: 7} and "ghost" in found.trouble["ghost"]
        opened.jobs.clear()
        assert opened.survey(wanted).pending == {name: 7}, "without any job of ours"
    accounting_cluster.fault("resume", "n002")
