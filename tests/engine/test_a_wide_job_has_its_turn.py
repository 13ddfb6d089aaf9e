"""A scheduler that starts whatever fits starves a job that takes the whole machine, unless we stop feeding it narrow ones."""

from __future__ import annotations

import pytest
from engine_by_hand import ByHand
from stability_plan import case, document, machine

import shakedown.engine.constraints.blocking as blocking
from shakedown.engine import State, index_plan
from shakedown.model.nouns import Component, Limits

NODES, NARROW = 4, 60


class Greedy(ByHand):
    """The engine on a scheduler that starts each job for which there are nodes, the widest never before the others."""

    def __init__(self) -> None:
        cases = (case("wide", NODES, 60.0, load=0.0), case("narrow", 1, 60.0, load=0.0))
        wide = Component("first", "functionality", ("wide",), repeats=1)
        narrow = Component("second", "functionality", ("narrow",), repeats=NARROW)
        plan = document(machine(NODES, targets=False), cases, wide, narrow, limits=Limits(queued=6))
        super().__init__(State(plan=index_plan(plan)))
        self.running: list[str] = []
        self.began: list[str] = []  # tests, in the order in which their jobs began
        self.play("campaign_start")
        self.play("driver_start")

    def cycle(self) -> None:
        """What is ordered is accepted; what fits begins; the job that has run longest ends."""
        before = set(self.state.jobs)
        self.settle()
        for job in self.state.jobs.keys() - before:
            self.play("submit_accepted", job=job, value={"id": job})
        waiting = [job for job in self.state.jobs if job not in self.running]
        for job in sorted(waiting, key=lambda job: (self._width(job), job)):
            if sum(map(self._width, self.running)) + self._width(job) <= NODES:
                self.running.append(job)
                self.began.append(self.state.jobs[job].case.partition("@")[0])
                self._report(job, {"state": "running", "source": "marks"})
        if self.running:
            self._end(self.running.pop(0))

    def _width(self, job: str) -> int:
        return NODES if self.state.jobs[job].case.startswith("wide") else 1

    def _report(self, job: str, value: dict[str, object]) -> None:
        self.play("job_report", job=job, run=self.state.jobs[job].run, value=value)

    def _end(self, job: str) -> None:
        run = self.state.jobs[job].run
        self._report(job, {"state": "completed", "source": "marks", "exit": 0})
        one = self.state.runs[run]
        name = self.state.index.components[one.component].name
        value = {"verdict": "passed", "component": name, "repeat": one.repeat, "attempt": one.attempt}
        self.play("verdict", job=job, run=run, case=one.case, value=value)


def place_of_the_wide_one() -> int:
    """How many narrow ones began before it."""
    machine = Greedy()
    for _ in range(2 * NARROW):
        machine.cycle()
    assert sorted(machine.began) == ["narrow"] * NARROW + ["wide"], "all have run"
    return machine.began.index("wide")


def test_it_is_overtaken_so_often_and_no_more() -> None:
    """By four times its own width, and by what was at the scheduler by then."""
    assert 4 * NODES < place_of_the_wide_one() <= 4 * NODES + 6


def test_an_engine_that_keeps_nothing_for_it_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocking, "reservations", lambda state, now: {})
    assert place_of_the_wide_one() > NARROW - NODES
