"""How a session is told to leave, and what it does before it leaves.

Local runs do not outlive their conductor. A cluster's jobs do: they are left where they are, and the person is told so.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType

from shakedown.conductor.driver.conductor import Conductor
from shakedown.conductor.driver.loop import act, hear, log_reports
from shakedown.engine import State
from shakedown.engine.policy.explain import waits_for_people
from shakedown.engine.state.phases import JobPhase
from shakedown.events.writer import DiskFull
from shakedown.model.ports import JobReport

TRIES = 5  # to judge what could not be judged, before a conductor leaves that has nothing else to do: half a minute
HURRY, LEAVE = 1, 2  # Ctrl-C once: submit nothing new; twice: leave
_SIGNALS = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)
SAID = {  # signal -> why the conductor leaves, in words
    "SIGINT": "Ctrl-C at the conductor",
    "SIGQUIT": "Ctrl-\\ at the conductor",
    "SIGTERM": "the conductor was told to end (SIGTERM)",
    "SIGHUP": "the conductor's terminal is gone (SIGHUP)",
}

EndRuns = Callable[[], Sequence[JobReport]] | None  # None: jobs go on without us


@dataclass(slots=True)
class Interruptions:
    """What signals asked for. The first Ctrl-C (or Ctrl-\\) lets runs end; the second, SIGTERM or a hang-up make the conductor
    leave at once.
    """

    say: Callable[[str], None]
    jobs_go_on: bool = False
    level: int = 0
    told: int = 0
    signal: str = ""  # the last one
    people: str = ""  # what was said that people have to do

    def signalled(self, number: int, frame: FrameType | None) -> None:
        self.level = self.level + 1 if number in (signal.SIGINT, signal.SIGQUIT) else LEAVE
        self.signal = signal.Signals(number).name

    def should_stop(self, conductor: Conductor) -> bool:
        """Whether to leave the loop. Called once a turn; also tells the person, once, what happens."""
        state = conductor.state
        if self.level >= LEAVE:
            return True
        if self.level == HURRY and self.told < HURRY:
            self.told = HURRY
            conductor.log("stop_request", value={"signal": self.signal}, reason=SAID[self.signal])
            again = "leave at once; they go on without us" if self.jobs_go_on else "leave at once"
            may_end = f"{_jobs(state)} may end" if self.jobs_go_on else _jobs_that_may_end(state)
            self.say(f"nothing new is submitted; {may_end} (Ctrl-C again to {again})")
        self._ask_people(state)
        if stays_undetermined(state):
            return True
        open_runs = len(state.runs) > len(state.agenda.undetermined)
        return bool(state.driver.stopping) and not (state.jobs or open_runs or state.builds_running())

    def _ask_people(self, state: State) -> None:
        """Tell the person once what must be done before anything goes on."""
        asked = "" if state.jobs or state.driver.stopping else waits_for_people(state, state.time)
        if asked and asked != self.people:
            self.say(f"nothing goes on before people act: {asked}\nhint: Ctrl-C leaves; shakedown resume goes on later")
        self.people = asked


@contextmanager
def heard(interruptions: Interruptions) -> Iterator[None]:
    """While this context lasts, signals go to ``interruptions``. A hang-up that is ignored (nohup) stays ignored."""
    numbers = [number for number in _SIGNALS if not (number == signal.SIGHUP and _is_deaf(number))]
    before = {number: signal.signal(number, interruptions.signalled) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _is_deaf(number: signal.Signals) -> bool:
    return signal.getsignal(number) == signal.SIG_IGN


def stays_undetermined(state: State) -> str:
    """Purpose: why a campaign that has nothing else to do is left: runs that were tried often enough still cannot be judged; else
    "".
    """
    if not state.only_undetermined or any(again.tries < TRIES for again in state.agenda.undetermined.values()):
        return ""
    names, count = list(state.agenda.undetermined), len(state.agenda.undetermined)
    some = ", ".join(names[:3]) + (f" and {count - 3} more" if count > 3 else "")
    of = "1 run" if count == 1 else f"{count} runs"
    return f"{of} could not be judged ({some}); 'shakedown why {names[0]}' says why, and resume judges again"


def leave(conductor: Conductor, end_runs: EndRuns, signal_name: str = "") -> str:
    """Purpose: put in order what is still open. Returns why the session ends, in words.

    Local runs are ended, known to be dead, recorded as interrupted, and attempted again later. A cluster's jobs stay as they are.
    """
    state = conductor.state
    undetermined = "" if state.driver.stopping else stays_undetermined(state)
    if undetermined:
        return undetermined
    reports = end_runs() if end_runs is not None and state.jobs else ()
    ended = sum(report.state == "interrupted" for report in reports)
    if not state.driver.stopping or ended:
        _say_leaving(conductor, signal_name, ended)
    if end_runs is None:
        return state.driver.stopping + _jobs_left_in_words(state)
    if state.jobs:
        log_reports(conductor, reports)
        hear(conductor)
        act(conductor)
    return state.driver.stopping


def _say_leaving(conductor: Conductor, signal_name: str, ended: int) -> None:
    """Record why the conductor leaves, and how many runs it ended. (That nothing new is to be submitted ends no run.)"""
    before, said = conductor.state.driver.stopping, SAID.get(signal_name, "the conductor was told to leave at once")
    once_more = ", a second time" if before == said else ""
    words = f"{once_more}: {ended} {'run was' if ended == 1 else 'runs were'} ended while running" if ended else ""
    value = ({"signal": signal_name} if signal_name else {}) | ({"ended": ended} if ended else {})
    conductor.log("stop_request", value=value, reason=f"{said}{words}")


def leave_on_full_disk(conductor: Conductor, end_runs: EndRuns, full: DiskFull) -> str:
    """Purpose: leave on a full disk: local runs are ended, a cluster's jobs are not. The reserve of the record is
    used to say why.
    """
    if end_runs is not None:
        end_runs()
    conductor.log("finding", value={"kind": "disk_full", "room_at": round(full.room_at, 6)}, reason=full.message)
    with suppress(DiskFull):
        conductor.commit()
    if end_runs is not None:
        return f"{full.message}; what ran was ended and is tried again"
    return full.message + _jobs_left_in_words(conductor.state)


def _jobs_left_in_words(state: State) -> str:
    """What becomes of the jobs that are left behind, in words."""
    if not state.jobs:
        return ""
    return f"; {_jobs(state)} at the scheduler: they go on without us, and whoever resumes the campaign picks them up"


def _jobs_that_may_end(state: State) -> str:
    """How many jobs may end, in words. On this machine only running jobs do: queued ones never begin without the conductor."""
    running = sum(job.phase == JobPhase.RUNNING for job in state.jobs.values())
    waiting = len(state.jobs) - running
    ends = f"{running} running {'job' if running == 1 else 'jobs'} may end"
    return f"{ends}; {waiting} {'waits' if waiting == 1 else 'wait'} for the next resume" if waiting else ends


def _jobs(state: State) -> str:
    """How many jobs there are, and how many of them run, in words."""
    running = sum(job.phase == JobPhase.RUNNING for job in state.jobs.values())
    count = len(state.jobs)
    return f"{count} {'job' if count == 1 else 'jobs'} ({running} running)"
