"""The last step of a campaign that is over: what the scheduler still has of it is cancelled, recorded and said."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from shakedown.conductor.driver.conductor import Conductor
from shakedown.conductor.driver.left_jobs import clear_left
from shakedown.engine.state.phases import CampaignPhase
from shakedown.engine.state.state import State
from shakedown.model.errors import LeaseHeld
from shakedown.model.events import Event
from shakedown.model.ports import LeftJob, LeftJobs

JOBS = (LeftJob("84", "emu", "j000001", True), LeftJob("97", "emu", "j000009", False, "n001"))


class Clock:
    def now(self) -> float:
        return 1.0


@dataclass
class Log:
    """Knows what was done in which order."""

    done: list[str] = field(default_factory=list)
    lost: bool = False

    def append(self, events: object) -> None: ...

    def commit(self) -> None:
        self.done.append("commit")
        if self.lost:
            raise LeaseHeld("somebody else drives it")


@dataclass
class Ports:
    log: Log = field(default_factory=Log)
    clock: Clock = field(default_factory=Clock)


@dataclass
class Ending:
    """A campaign that submitted jobs, at its end."""

    phase: CampaignPhase = CampaignPhase.ENDED
    ports: Ports = field(default_factory=Ports)
    said: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        state = State()
        state.phase, state.campaign.next_job = self.phase, 10
        self.conductor = Conductor(state, cast("Any", self.ports))

    def clear(self, found: LeftJobs) -> list[Event]:
        """The events of the step."""

        def cancel() -> LeftJobs:
            self.ports.log.done.append("cancel")
            return found

        clear_left(self.conductor, cancel, self.said.append)
        return self.conductor.pending


def test_what_is_left_is_cancelled_after_a_look_at_the_lease() -> None:
    ending = Ending()
    [event] = ending.clear(LeftJobs(JOBS, calls={"squeue": 1, "scancel": 1}))
    assert ending.ports.log.done == ["commit", "cancel"]
    assert event.value == {"kind": "left_at_scheduler", "jobs": ["84", "97"], "kept": []}
    words = "2 jobs whose runs are over were at the scheduler at the end of the campaign: 84 waiting, 97 running; all cancelled"
    assert event.reason == words
    assert ending.said == [words]
    assert ending.conductor.more_calls == {"squeue": 1, "scancel": 1}, "status counts what Slurm was asked"


def test_what_scancel_did_not_take_is_for_a_person() -> None:
    [event] = Ending().clear(LeftJobs(JOBS, ("97",)))
    assert event.reason.endswith("; scancel did not take 97: cancel it by hand")


def test_a_scheduler_that_does_not_answer_is_no_empty_one() -> None:
    [event] = Ending().clear(LeftJobs(trouble="emu: Unable to contact slurm controller"))
    assert (
        event.reason
        == "whether the scheduler has jobs of it cannot be told (emu: Unable to contact slurm controller); resume asks again"
    )


def test_where_nothing_is_left_nothing_is_written() -> None:
    assert Ending().clear(LeftJobs(calls={"squeue": 1})) == []


def test_a_campaign_that_goes_on_keeps_its_jobs() -> None:
    ending = Ending(CampaignPhase.RUNNING)
    assert ending.clear(LeftJobs(JOBS)) == []
    assert ending.ports.log.done == []


def test_who_lost_the_lease_cancels_nothing() -> None:
    ending = Ending(ports=Ports(Log(lost=True)))
    with pytest.raises(LeaseHeld):
        ending.clear(LeftJobs(JOBS))
    assert ending.ports.log.done == ["commit"]
