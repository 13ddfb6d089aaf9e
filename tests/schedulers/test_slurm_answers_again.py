"""A scheduler that was away: what is asked of it meanwhile, and how soon its first answer is heard."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_slurm import DOWN, NO_DATABASE, Looker, cluster, record

from shakedown.model.ports import Wanted
from shakedown.schedulers.slurm.job_evidence import Asked
from shakedown.schedulers.slurm.runner import Ran

JOB = Asked("j000001", "7")
HANGS = Ran(1, error="squeue: error: timed out", timed_out=True)


@pytest.fixture
def looker(tmp_path: Path) -> Looker:
    looker = Looker(tmp_path)
    looker.begin()
    return looker


def looks(looker: Looker, times: int) -> list[str]:
    """What is said of the job at so many looks, five seconds apart."""
    told = (looker.look(JOB, after=5.0).get("j000001") for _ in range(times))
    return [report.state for report in told if report is not None]


@pytest.mark.parametrize("away", [DOWN, HANGS], ids=["no connection", "no answer in time"])
def test_what_a_controller_that_is_back_does_not_know_is_told_at_its_first_answer(looker: Looker, away: Ran) -> None:
    looker.slurm.queue[""] = away
    looker.slurm.memory[""] = [record(state="RUNNING")]
    assert set(looks(looker, 60)) == {"no_answer"}
    looker.slurm.queue[""] = []
    assert looks(looker, 1) == ["absent"]


def test_an_accounting_that_is_back_is_heard_within_half_a_minute(looker: Looker) -> None:
    looker.slurm.memory[""] = NO_DATABASE
    assert set(looks(looker, 200)) == {"no_answer"}
    looker.slurm.memory[""] = [record(state="CANCELLED by 1000", Start=1_000_000, NodeList="n001")]
    assert looks(looker, 7)[-1] == "cancelled"


def test_one_answer_of_an_accounting_that_is_back_has_all_jobs_asked_about_again(looker: Looker) -> None:
    others = [Asked(f"j{number:06d}", str(number)) for number in range(8, 12)]
    looker.slurm.memory[""] = NO_DATABASE
    for number, other in enumerate(others):
        looker.begin(other.id, id=other.scheduler_id)
        looker.look(*others[: number + 1], after=7.0)
    for _ in range(100):
        looker.look(*others, after=5.0)
    looker.slurm.memory[""] = [
        record(job.id, job.scheduler_id, "TIMEOUT", Start=1_000_000, NodeList="n001") for job in others
    ]
    told = set[str]()
    first = 0
    for number in range(8):
        told |= {job for job, report in looker.look(*others, after=5.0).items() if report.state == "timeout"}
        first = first or (number if told else 0)
        if told and number > first:
            break
    assert told == {job.id for job in others}


def test_a_controller_that_does_not_answer_is_asked_two_things_a_look(looker: Looker) -> None:
    """Of five questions that hang each would put off by so much the first answer that it gives."""
    looker.slurm.queue[""] = HANGS
    looker.slurm.answers = dict.fromkeys(("sinfo", "scontrol", "sdiag"), HANGS)
    looker.begin(restart=1)  # a start that Slurm does not know of: its controller would be asked how late it is
    looker.look(JOB)
    looker.slurm.asked.clear()
    looker.now += 30.0
    looker.asker.look([JOB], lambda _: None, Wanted(idle=("emu:batch",), pending=("emu",)))
    assert [command[0] for command in looker.slurm.asked if command[0] != "sacct"] == ["squeue", "sinfo"]


def test_a_controller_that_cannot_be_reached_is_asked_one_thing_a_look(looker: Looker) -> None:
    looker.slurm.queue[""] = DOWN
    looker.asker.look([JOB], lambda _: None, Wanted(idle=("emu:batch",), pending=("emu",)))
    assert [command[0] for command in looker.slurm.asked if command[0] != "sacct"] == ["squeue"]


def test_one_command_that_hangs_keeps_no_other_from_being_asked(looker: Looker) -> None:
    """The queue's command alone is ill, as behind a wrapper: another one is asked where finished jobs are listed."""
    looker.slurm.queue[""] = HANGS
    looker.asker.ask.begin()
    for name in ("squeue", "scontrol", "squeue", "sdiag"):
        looker.asker.ask([name], 1.0)
    assert [command[0] for command in looker.slurm.asked] == ["squeue", "scontrol", "sdiag"]


def test_another_cluster_is_asked_all_the_same(tmp_path: Path) -> None:
    looker = Looker(tmp_path, clusters=(cluster("a"), cluster("b")))
    looker.slurm.queue = {"a": DOWN, "b": []}
    looker.asker.ask.begin()
    for name in ("a", "b"):
        looker.asker.ask(["squeue", f"--clusters={name}"], 1.0)
        looker.asker.ask(["sdiag", f"--clusters={name}"], 1.0)
    assert [command for command in looker.slurm.asked if command[0] == "sdiag"] == [["sdiag", "--clusters=b"]]
    looker.asker.ask.begin()
    looker.slurm.queue["a"] = []
    assert looker.asker.ask(["squeue", "--clusters=a"], 1.0).status == 0
