"""GPU slots of this machine: each run is told its own, and no two runs are told the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shakedown.model.resources import Resources
from shakedown.schedulers.local_host.gpus import GpuSlots

if TYPE_CHECKING:
    from tests.schedulers.conftest import Machine

    MakeMachine = Callable[..., Machine]

SAY = 'echo "$CUDA_VISIBLE_DEVICES/$ROCR_VISIBLE_DEVICES"'


@pytest.fixture(autouse=True)
def nobody_shares_gpus_out(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"):
        monkeypatch.delenv(name, raising=False)


def gpus(count: int) -> Resources:
    return Resources(gpus_per_node=count)


def test_a_run_sees_the_gpus_that_it_asked_for_and_no_other(make_machine: MakeMachine) -> None:
    machine = make_machine(cores=4, gpus=4)
    assert machine.output(machine.run(SAY, resources=gpus(2))) == b"0,1/0,1\n"
    assert machine.output(machine.run(SAY)) == b"/\n"


def test_without_gpus_in_the_systems_file_nothing_is_said(make_machine: MakeMachine) -> None:
    machine = make_machine(cores=1)
    said = machine.run('echo "${CUDA_VISIBLE_DEVICES-unset}"')
    assert machine.output(said) == b"unset\n"


def test_runs_side_by_side_never_have_a_gpu_in_common(make_machine: MakeMachine, tmp_path: Path) -> None:
    """Five runs of two GPUs on four: two at a time, the others stand by and are told when they begin."""
    machine, go = make_machine(cores=8, gpus=4), tmp_path / "go"
    wait = f"{SAY}; while ! [ -e {go} ]; do sleep 0.01; done"
    orders = [machine.order(wait, resources=gpus(2)) for _ in range(5)]
    machine.submit(*orders)
    machine.until(lambda: all((found := machine.last(one)) and found.state == "running" for one in orders[:2]))
    assert [machine.last(one) for one in orders[2:]] == [None, None, None]
    go.touch()
    said = [machine.output(machine.ended(one)) for one in orders]
    assert {said[0], said[1]} == {b"0,1/0,1\n", b"2,3/2,3\n"}
    assert set(said) == {said[0], said[1]}


def test_a_process_that_left_its_group_keeps_the_gpu(make_machine: MakeMachine, tmp_path: Path) -> None:
    """What a run leaves behind, with nothing of its output, is dead before the next one has its GPU."""
    machine, pid = make_machine(cores=4, gpus=1), tmp_path / "pid"
    left = machine.order(f"setsid sh -c 'echo $$ >{pid}.new && mv {pid}.new {pid}; exec sleep 1000' </dev/null >/dev/null 2>&1 & "
                         f"while ! [ -e {pid} ]; do sleep 0.01; done", resources=gpus(1))  # fmt: skip
    after = machine.order(
        f"if kill -0 $(cat {pid}) 2>/dev/null; then echo lives; else echo dead; fi", resources=gpus(1)
    )
    machine.submit(left, after)
    assert machine.output(machine.ended(after)) == b"dead\n"


def test_more_gpus_than_there_are_is_refused(make_machine: MakeMachine) -> None:
    machine = make_machine(cores=4, gpus=2)
    (answer,) = machine.submit(machine.order("true", resources=gpus(3)))
    assert (answer.outcome, answer.message.partition(" needs ")[2]) == ("refused", "3 GPUs; this machine lets us use 2")


@pytest.mark.parametrize(
    ("environment", "names"),
    [
        ({}, ["0", "1", "2", "3"]),
        ({"CUDA_VISIBLE_DEVICES": "4,6"}, ["4", "6"]),
        ({"ROCR_VISIBLE_DEVICES": "GPU-1, GPU-2,3,4,5"}, ["GPU-1", "GPU-2", "3", "4"]),
        ({"CUDA_VISIBLE_DEVICES": ""}, []),
    ],
)
def test_devices_that_our_own_allocation_names(environment: dict[str, str], names: list[str]) -> None:
    slots = GpuSlots(4, environment)
    taken = slots.take(slots.count)
    assert taken is not None
    assert slots.names(taken) == ",".join(names)
    assert slots.take(1) is None
    slots.give_back(taken)
    assert slots.take(len(names)) == taken


def test_what_a_conductor_left_is_dead_before_its_gpus_are_used(make_machine: MakeMachine, tmp_path: Path) -> None:
    """The next conductor does not know which GPUs such a job has: it gives none out until the job is dead."""
    pid = tmp_path / "pid"
    dead = make_machine(cores=4, gpus=2)
    left = dead.order(f"trap '' TERM; echo $$ >{pid}.new && mv {pid}.new {pid}; sleep 1000", resources=gpus(1))
    dead.submit(left)
    dead.until(lambda: (found := dead.last(left)) is not None and found.state == "running" and pid.exists())
    machine = dead.forsake()
    try:
        machine.poll()
        look = (
            f"case $(cut -d' ' -f3 /proc/$(cat {pid})/stat 2>/dev/null) in '' | Z) echo dead ;; *) echo lives ;; esac"
        )
        after = machine.order(look, resources=gpus(1))
        machine.submit(after)
        assert machine.output(machine.ended(after)) == b"dead\n"
        report = machine.last(left)
        assert report is not None and report.state == "interrupted"
    finally:
        machine.end()
