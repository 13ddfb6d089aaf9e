"""When jobs are looked at: at a steady pace, and once sooner where one has just ended and Slurm cannot tell yet how."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from fake_slurm import TOKEN, Looker, cluster, record, row

from shakedown.model.ports import JobReport
from shakedown.schedulers.slurm import poll_loop
from shakedown.schedulers.slurm.job_evidence import Asked
from shakedown.schedulers.slurm.poll_loop import Looking
from shakedown.schedulers.slurm.wire import Look, Seen, Setup

JOBS: Any = {"j000001": SimpleNamespace(id="j000001", scheduler_id="7", restart=0)}
LONG = JobReport("j000001", "running", "queue", "7")
SHORT = JobReport("j000001", "completed", "marks", "7", elapsed_s=1.0)


class Clock:
    """A reactor whose time goes on when it is told to."""

    def __init__(self) -> None:
        self.time, self.due = 0.0, list[tuple[float, Callable[[], object]]]()

    def now(self) -> float:
        return self.time

    def call_later(self, after: float, call: Callable[[], object]) -> Any:
        entry = (self.time + after, call)
        self.due.append(entry)

        def cancel() -> None:
            if entry in self.due:
                self.due.remove(entry)

        return SimpleNamespace(cancel=cancel)

    def go_to(self, until: float) -> None:
        while ready := [entry for entry in self.due if entry[0] <= until]:
            entry = min(ready, key=lambda one: one[0])
            self.due.remove(entry)
            self.time = entry[0]
            entry[1]()
        self.time = until


class Told:
    """The helper: it answers each look at once. ``unsure``: whether jobs have just ended; ``report``: what it says of them."""

    def __init__(self, clock: Clock, news: Callable[[], object]) -> None:
        self.clock, self.news = clock, news
        self.looks, self.glances, self.unsure, self.report = list[float](), list[float](), False, LONG
        self.answer: Seen | None = None
        self.has_ended = False

    def send(self, look: Look) -> None:
        (self.glances if look.marks_only else self.looks).append(self.clock.time)
        self.answer = Seen(look.number, [self.report], last=True, ended=self.unsure)
        self.clock.call_later(0.0, self.news)

    def take(self) -> list[Seen]:
        answer, self.answer = self.answer, None
        return [answer] if answer else []


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def told(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Told:
    """The helper of a conductor that looks every five seconds."""
    made: list[Told] = []

    def helper(_: Setup, reactor: Any, news: Callable[[], object]) -> Told:
        made.append(Told(reactor, news))
        return made[0]

    monkeypatch.setattr(poll_loop, "Helper", helper)
    setup = Setup("look", b"/campaign", TOKEN, (cluster(),), 20.0)
    Looking(setup, clock, 5.0, 60.0, lambda _: None).poll(JOBS)  # type: ignore[arg-type]
    return made[0]


def test_while_jobs_run_they_are_looked_at_every_five_seconds(clock: Clock, told: Told) -> None:
    clock.go_to(21)
    assert told.looks == [0, 5, 10, 15, 20]


def test_an_end_of_which_slurm_does_not_know_yet_is_looked_at_two_seconds_later(clock: Clock, told: Told) -> None:
    clock.go_to(4)
    told.unsure = True
    clock.go_to(6)
    told.unsure = False
    clock.go_to(13)
    assert told.looks == [0, 5, 7, 12]


def test_ends_without_a_pause_do_not_bring_two_looks_in_a_row_forward(clock: Clock, told: Told) -> None:
    """A machine on which some job is always ending is not asked every other second."""
    told.unsure = True
    clock.go_to(22)
    assert told.looks == [0, 5, 7, 12, 14, 19, 21]


def test_short_jobs_are_glanced_at_and_looked_at_when_one_ends(clock: Clock, told: Told) -> None:
    told.report = SHORT
    clock.go_to(5.5)
    told.unsure = True
    clock.go_to(7.5)
    assert (told.looks, told.glances) == ([0, 5, 7], [6])


# ---- what a look says of itself ----


def looks_again(looker: Looker) -> bool:
    return looker.asker.look([Asked("j000001", "7")], lambda _: None)


@pytest.mark.parametrize(
    ("state", "again"), [("RUNNING", False), ("COMPLETING", True), ("COMPLETED", False), ("TIMEOUT", False)]
)
def test_a_look_says_whether_an_end_is_still_to_be_told(looker: Looker, state: str, again: bool) -> None:
    looker.begin()
    if state in ("COMPLETING", "COMPLETED"):
        looker.end()
    looker.slurm.queue[""] = [row(state=state)]
    assert looks_again(looker) == again


def test_a_job_that_accounting_still_calls_running_is_looked_at_again_for_as_long_as_sources_may_lag(
    looker: Looker,
) -> None:
    looker.begin()
    looker.end()
    looker.slurm.memory[""] = [record(state="RUNNING")]
    assert looks_again(looker)
    looker.now += 11
    assert not looks_again(looker), "what is not told by now is waited for at the usual pace"


@pytest.fixture
def looker(tmp_path: Any) -> Looker:
    return Looker(tmp_path)
