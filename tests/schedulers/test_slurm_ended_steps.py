"""Steps whose tasks srun calls killed: ended by their own script, which needed them no more, or lost."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fake_slurm import NO_ACCOUNTING, NO_DATABASE, Looker, record, row

from shakedown.schedulers.slurm.job_evidence import Asked

JOB = Asked("j000001", "7", 0, 0.0)
KILLED = "srun: error: n001: task 0: Killed\n"
ME = os.getuid()


@pytest.fixture
def looker(tmp_path: Path) -> Looker:
    """A job that ended with 0, in whose output srun says that a task was killed."""
    looker = Looker(tmp_path)
    looker.begin()
    looker.end(0)
    looker._write(looker.places.output(JOB.id, 0), f"GFlops 7\n{KILLED}")
    looker.slurm.queue[""] = [row(state="COMPLETED", nodes="n001", start=100, end=160)]
    return looker


def step(number: int, state: str, code: str = "0:0", start: int = 101, end: int = 150) -> str:
    return record(id=f"7.{number}", state=state, ExitCode=code, Start=str(start), End=str(end) if end else "Unknown")


def ended(looker: Looker, *steps: str) -> object:
    """The steps that are said to have been ended by their script."""

    def answer(where: str, command: list[str]) -> list[str]:
        return list(steps) if "--jobs=7" in command else []

    looker.slurm._memory = answer  # type: ignore[method-assign,assignment]
    report = looker.one(JOB)
    assert report is not None and (report.state, report.exit_status, report.doubt) == ("completed", 0, "")
    return report.output.get("ended_steps")


SERVER = step(0, "FAILED", "0:9", 101, 150)
CASES = {
    "a server that was killed after the measurement": ((SERVER, step(1, "COMPLETED", start=105, end=149)), ["0"]),
    "a server that its user cancelled": (
        (step(0, f"CANCELLED by {ME}", "0:9"), step(1, "COMPLETED", start=101)),
        ["0"],
    ),
    "a server whose task was killed": (
        (step(0, "CANCELLED", "0:9", 101, 150), step(1, "COMPLETED", start=105, end=149)),
        ["0"],
    ),
    "the only step, as Slurm calls it": ((step(0, "CANCELLED", "0:9"),), None),
    "a step before another, as Slurm calls it": (
        (step(0, "CANCELLED", "0:9", 101, 120), step(1, "COMPLETED", start=121, end=149)),
        None,
    ),
    "two of them": ((SERVER, step(1, f"CANCELLED by {ME}"), step(2, "COMPLETED", start=105, end=150)), ["0", "1"]),
    "a step that somebody else cancelled": (
        (step(0, f"CANCELLED by {ME + 1}"), step(1, "COMPLETED", start=105, end=149)),
        None,
    ),
    "the only step": ((step(0, "FAILED", "0:9"),), None),
    "the last step": ((step(0, "COMPLETED"), step(1, "FAILED", "0:9", 105, 149)), None),
    "a step before another": ((step(0, "FAILED", "0:9", 101, 120), step(1, "COMPLETED", start=121, end=149)), None),
    "one of two that began together": ((SERVER, step(1, "COMPLETED", start=101, end=149)), None),
    "beside one that failed": ((SERVER, step(1, "FAILED", "1:0", 105, 149)), None),
    "beside one that was lost": (
        (SERVER, step(1, "COMPLETED", start=105, end=149), step(2, "FAILED", "0:9", 150, 155)),
        None,
    ),
    "out of memory": ((step(0, "OUT_OF_MEMORY", "0:9"), step(1, "COMPLETED", start=105, end=149)), None),
    "of another start": ((step(0, f"CANCELLED by {ME}", start=50, end=60), step(1, "FAILED", "0:9")), None),
    "nothing": ((), None),
}


@pytest.mark.parametrize(("steps", "numbers"), CASES.values(), ids=CASES)
def test_which_killed_steps_a_script_ended_itself(
    looker: Looker, steps: tuple[str, ...], numbers: list[str] | None
) -> None:
    assert ended(looker, *steps) == numbers


def test_accounting_that_may_be_late_is_waited_for(looker: Looker) -> None:
    assert looker.look(JOB) == {}
    assert looker.look(JOB, after=11.0)[JOB.id].state == "completed"


@pytest.mark.parametrize("silent", [NO_ACCOUNTING, NO_DATABASE], ids=["off", "away"])
def test_where_there_is_no_accounting_the_words_of_srun_stand(looker: Looker, silent: object) -> None:
    looker.slurm.memory[""] = silent  # type: ignore[assignment]
    report = looker.look(JOB)[JOB.id]
    assert report.state == "completed" and "ended_steps" not in report.output


@pytest.mark.parametrize(
    "output", ["GFlops 7\n", f"my log: {KILLED}", "srun: error: n001: task 0: Exited with exit code 1\n"]
)
def test_jobs_without_such_words_cost_no_question(looker: Looker, output: str) -> None:
    looker._write(looker.places.output(JOB.id, 0), output)
    assert looker.look(JOB)[JOB.id].state == "completed"
    assert not looker.slurm.count("sacct")


def test_nor_do_jobs_that_failed_anyway(looker: Looker) -> None:
    looker.end(1)
    looker.slurm.queue[""] = [row(state="FAILED", exit=1 << 8, nodes="n001")]
    assert looker.look(JOB)[JOB.id].state == "failed"
    assert not looker.slurm.count("sacct")
