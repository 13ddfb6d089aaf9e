"""What could not be judged: neither for nor against a test, judged again by itself, and no campaign is over with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from stage import TROUBLE, Campaign, random_deaths, small_document

from shakedown.conductor.commands.registry import commands_for
from shakedown.conductor.driver.conductor import Conductor
from shakedown.conductor.driver.disk_room import Room
from shakedown.conductor.driver.loop import hear
from shakedown.conductor.driver.shutdown import TRIES, stays_undetermined
from shakedown.conductor.driver.startup import fold
from shakedown.engine import decide
from shakedown.engine.state.full_disk import full_in_its_time, note_room
from shakedown.engine.state.jobs import Job, Run
from shakedown.metrics.judging.criteria import score
from shakedown.metrics.judging.scorecard import exit_status
from shakedown.metrics.rows.table import Record, fold_runs
from shakedown.model.errors import MET, UNDECIDED
from shakedown.model.events import Event
from shakedown.model.failures import NO_ROOM_CLASSES, Failure
from shakedown.model.layout import Layout
from shakedown.model.nouns import Check, Document, Test
from shakedown.model.ports import CheckResult, Collector, CollectOrder, Evidence, Ports
from shakedown.plans.failures import shipped_failures

TROUBLED = Evidence("r000001", (CheckResult("output contains done", None, "EIO"),), trouble="Input/output error")
WELL = Evidence("r000001", (CheckResult("output contains done", True),))
WRONG = Evidence("r000001", (CheckResult("output contains done", False, "it is nowhere"),))


def one_case(gate: bool = False, local: bool = False) -> Document:
    """One case with one check; ``gate``: another component waits for its component."""
    document = small_document(tests=1, repeats=1, budgets={}, local=local)
    test = Test("t0", checks=(Check("contains", "output", "done", "output contains done"),))
    components = document.components if gate else document.components[:1]
    return msgspec.structs.replace(document, components=components, tests=(test, *document.tests[1:]))


class Arrived:
    """A collector that has something to say, once."""

    def __init__(self, *things: Any) -> None:
        self.things = list(things)

    def poll(self) -> list[Any]:
        things, self.things = self.things, []
        return things


@dataclass
class Stage:
    """A campaign of one run that came to its end; nobody drives it on but the test."""

    campaign: Campaign = field(default_factory=lambda: Campaign(one_case()))

    def __post_init__(self) -> None:
        self.conductor: Conductor = self.campaign._conductor(100)
        self.conductor.watch = None
        self.conductor.commands = commands_for(self.campaign.documents.__getitem__)
        self.conductor.log("campaign_start", value={"campaign": "toy", "document": next(iter(self.campaign.documents))})
        self.conductor.log("driver_start")
        self.decide()
        self.conductor.log("submit_accepted", job="j000001", value={"id": "7"})
        ended = {"state": "completed", "source": "marks", "exit": 0, "elapsed_s": 5.0, "nodes": "n1"}
        self.conductor.log("job_report", job="j000001", run="r000001", value=ended)
        self.decide()

    def decide(self) -> list[str]:
        found = decide(self.conductor.state, self.conductor.state.time)
        return [self.conductor.log(order.event).event for order in found.orders]

    def arrives(self, evidence: Evidence) -> None:
        self.conductor.ports.collector = Arrived(evidence)  # type: ignore[assignment]
        hear(self.conductor)

    def later(self, seconds: float) -> None:
        clock = self.campaign.clock
        clock.wait(clock.now() + seconds)
        self.conductor.state.time = clock.now()

    def verdicts(self) -> list[Event]:
        self.conductor.commit()
        return self.campaign.events("verdict")

    def record(self) -> Record:
        self.conductor.commit()
        return fold_runs(self.campaign.log.events())


def test_what_cannot_be_read_is_judged_again_and_then_counts_as_its_first_verdict() -> None:
    stage = Stage()
    stage.arrives(TROUBLED)
    (first,) = stage.verdicts()
    assert (first.value["verdict"], first.value["exit"], first.value["elapsed_s"]) == ("undetermined", 0, 5.0)
    assert "final" not in first.value
    assert first.reason == (
        "could not be judged: Input/output error; it is judged again by itself when that has passed; "
        "if it stays: shakedown rejudge"
    )
    assert stage.decide() == []  # not at once
    stage.later(2.0)
    assert stage.decide() == ["check_start"]
    stage.arrives(TROUBLED)
    assert len(stage.verdicts()) == 1  # no news
    stage.later(10.0)
    assert stage.decide() == ["check_start"]
    stage.arrives(WELL)
    _, second = stage.verdicts()
    assert (second.value["verdict"], second.value["supersedes"], second.value["was"]) == (
        "passed",
        first.seq,
        "undetermined",
    )
    assert stage.decide() == ["campaign_end"]
    assert stage.campaign.events("retry") + stage.campaign.events("given_up") == []
    assert stage.conductor.state.tallies[0].verdicts == {"passed": 1}
    scorecard = score(stage.campaign.document, stage.record())
    assert (exit_status(scorecard), scorecard.components[0].attempts) == (MET, 1)


@pytest.mark.parametrize("gate", [False, True])
def test_while_it_stays_nothing_is_over_and_nothing_is_met_or_not(gate: bool) -> None:
    stage = Stage(Campaign(one_case(gate)))
    stage.arrives(TROUBLED)
    state = stage.conductor.state
    for _ in range(TRIES):
        assert stays_undetermined(state) == ""
        stage.later(300.0)
        assert "check_start" in stage.decide()
        stage.arrives(TROUBLED)
    assert stays_undetermined(state) == (
        "1 run could not be judged (r000001); 'shakedown why r000001' says why, and resume judges again"
    )
    component = score(stage.campaign.document, stage.record()).components[0]
    assert (component.attempts, component.judged, component.to_come, component.given_up) == (0, 0, 1, 0)
    assert component.undetermined == ("r000001",)
    assert [item.outcome for item in component.criteria] == ["undecided"]
    stage.conductor.log("driver_start")  # whoever resumes it looks at once
    assert stage.decide() == ["check_start"]


def test_a_cancelled_one_is_over_and_the_outcome_stays_undecided() -> None:
    stage = Stage()
    stage.arrives(TROUBLED)
    stage.conductor.log("cancel_request", value={"runs": ["r000001"]}, reason="the file system is gone for good")
    assert stage.decide() == ["given_up"]
    assert stage.decide() == ["campaign_end"]
    scorecard = score(stage.campaign.document, stage.record())
    assert exit_status(scorecard) == UNDECIDED
    assert "1 run undetermined (r000001)" in scorecard.summary


def test_a_check_that_was_seen_not_to_hold_is_wrong_whatever_else_could_not_be_read() -> None:
    stage = Stage()
    stage.arrives(msgspec.structs.replace(WRONG, trouble="Input/output error"))
    assert [event.value["verdict"] for event in stage.verdicts()] == ["incorrect"]


def test_trouble_that_hides_nothing_changes_nothing() -> None:
    stage = Stage()
    stage.arrives(msgspec.structs.replace(WELL, trouble="Input/output error"))
    assert [event.value["verdict"] for event in stage.verdicts()] == ["passed"]


# ---- whole campaigns ---------------------------------------------------------------------------------------------------


@dataclass
class Troubled:
    """A collector before a disk that gives errors for a while: each run is unreadable a few times, some many times."""

    inner: Collector
    seed: int
    left: dict[str, int]
    asked: list[CollectOrder] = field(default_factory=list)

    def start(self, orders: Sequence[CollectOrder]) -> None:
        self.inner.start(orders)

    def poll(self) -> list[Evidence]:
        return [self._spoilt(evidence) for evidence in self.inner.poll()]

    def _spoilt(self, evidence: Evidence) -> Evidence:
        left = self.left.setdefault(evidence.run, Random(f"{self.seed} {evidence.run}").choice((0, 0, 1, 3, 9)))
        if not left:
            return evidence
        self.left[evidence.run] = left - 1
        checks = tuple(CheckResult(check.text, None, "EIO") for check in evidence.checks)
        return Evidence(evidence.run, checks, trouble="Input/output error")


@pytest.mark.parametrize("local", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_campaigns_with_outputs_that_cannot_be_read_for_a_while_come_out_as_without(seed: int, local: bool) -> None:
    """Under crashes and a state that is thrown away, too; the oracle watches every event."""
    left: dict[str, int] = {}

    def spoil(ports: Ports) -> Ports:
        ports.collector = Troubled(ports.collector, seed, left)
        return ports

    def verdicts(campaign: Campaign) -> Counter[tuple[str, str]]:
        return Counter((row.case, row.verdict) for row in fold_runs(campaign.log.events()).current())

    document = small_document(tests=3, repeats=3)
    fates: dict[str, Any] = {} if local else {"fates": TROUBLE}
    plain = Campaign(document, seed, local=local, **fates).run()
    spoilt = Campaign(document, seed, local=local, change_ports=spoil, amnesia=seed % 2 == 0, **fates).run()
    assert verdicts(spoilt) == verdicts(plain)
    assert any(event.value["verdict"] == "undetermined" for event in spoilt.events("verdict"))
    crashed = Campaign(document, seed, local=local, change_ports=spoil, dies=random_deaths(seed), **fates).run()
    assert crashed.state.phase == "ended"
    assert fold(crashed.log.events(), crashed.documents.__getitem__, crashed.policy) == crashed.state
    assert not any(row.verdict == "undetermined" for row in fold_runs(crashed.log.events()).current())


# ---- a disk that was full while it ran -----------------------------------------------------------------------------------


def _on_a_full_disk(
    began: float, elapsed: float, spell: tuple[float, float | None], evidence: Evidence = WRONG
) -> Stage:
    """One run whose output its job wrote; times in seconds after its order."""
    stage = Stage.__new__(Stage)
    stage.campaign = Campaign(one_case())
    conductor = stage.conductor = stage.campaign._conductor(100)
    conductor.watch, conductor.commands = None, commands_for(stage.campaign.documents.__getitem__)
    conductor.log("campaign_start", value={"campaign": "toy", "document": next(iter(stage.campaign.documents))})
    conductor.log("driver_start")
    stage.decide()
    conductor.log("submit_accepted", job="j000001", value={"id": "7"})
    ordered, times = (
        conductor.state.time,
        sorted([(spell[0], "disk_full"), (spell[1], "disk_has_room")], key=lambda at: at[0] or 1e9),
    )
    value = {"state": "completed", "source": "marks", "exit": 0, "elapsed_s": elapsed, "began": ordered + began}
    value["output"] = {"file": "outputs/o", "bytes": 0, "directory": "work/d"}
    ends = False
    for at, kind in times:
        if not ends and (at is None or at > began + elapsed):
            stage.later(max(0.0, ordered + began + elapsed - conductor.state.time))
            conductor.log("job_report", job="j000001", run="r000001", value=value)
            ends = True
        if at is not None:
            stage.later(max(0.0, ordered + at - conductor.state.time))
            conductor.log("finding", value={"kind": kind}, reason="the file system is full")
    if not ends:
        stage.later(max(0.0, ordered + began + elapsed - conductor.state.time))
        conductor.log("job_report", job="j000001", run="r000001", value=value)
    stage.decide()
    stage.arrives(evidence)
    return stage


@pytest.mark.parametrize(
    ("began", "elapsed", "spell", "verdict"),
    [
        (10.0, 10.0, (15.0, 18.0), "undetermined"),
        (10.0, 10.0, (5.0, 12.0), "undetermined"),
        (10.0, 10.0, (18.0, None), "undetermined"),
        (10.0, 10.0, (5.0, 7.0), "incorrect"),
        (10.0, 10.0, (30.0, 40.0), "incorrect"),
    ],
    ids=["within", "as it began", "until now", "before", "after"],
)
def test_a_disk_that_was_full_in_its_time_speaks_for_a_run(
    began: float, elapsed: float, spell: tuple[float, float | None], verdict: str
) -> None:
    stage = _on_a_full_disk(began, elapsed, spell)
    (event,) = stage.verdicts()
    assert event.value["verdict"] == verdict
    assert ("the disk was full while it ran" in event.reason) == (verdict == "undetermined")
    if verdict == "undetermined":
        assert "retry" in stage.decide()
        stage.conductor.commit()
        (again,) = stage.campaign.events("retry")
        assert again.value["attempt"] == 2


def test_what_cannot_be_read_on_a_full_disk_is_judged_again_and_then_attempted_again() -> None:
    """First it cannot be read at all; when it can be, it is not all there."""
    stage = _on_a_full_disk(10.0, 10.0, (15.0, 18.0), TROUBLED)
    stage.later(2.0)
    stage.decide()
    stage.arrives(WRONG)
    first, second = stage.verdicts()
    assert (first.value.get("gone"), second.value.get("gone")) == (None, True)
    assert second.value["supersedes"] == first.seq
    assert "retry" in stage.decide()


def test_a_run_that_has_its_answer_passes_though_the_disk_was_full() -> None:
    (event,) = _on_a_full_disk(10.0, 10.0, (15.0, 18.0), WELL).verdicts()
    assert event.value["verdict"] == "passed"


SAYS_SO = msgspec.structs.replace(WRONG, failure=Failure("disk-full", "file-system-error", "No space left on device"))


@pytest.mark.parametrize(
    ("local", "room_at", "full", "room", "evidence", "verdict"),
    [
        (True, 19.9, 21.0, 30.0, WRONG, "undetermined"),
        (True, 20.1, 21.0, 30.0, WRONG, "incorrect"),
        (True, 5.0, 6.0, 9.8, WRONG, "incorrect"),
        (True, 5.0, 6.0, 9.95, WRONG, "undetermined"),
        (True, 20.1, 21.0, 30.0, SAYS_SO, "undetermined"),
        (True, 22.1, 23.0, 30.0, SAYS_SO, "incorrect"),
        (False, 20.1, 21.0, 30.0, WRONG, "undetermined"),
        (False, 22.1, 23.0, 30.0, WRONG, "incorrect"),
        (False, 5.0, 6.0, 7.9, WRONG, "incorrect"),
        (False, 5.0, 6.0, 8.1, WRONG, "undetermined"),
    ],
)
def test_a_run_is_hurt_by_a_full_disk_only_where_their_times_meet(
    local: bool, room_at: float, full: float, room: float, evidence: Evidence, verdict: str
) -> None:
    """It runs from the 10th to the 20th second after its order; on this machine our own clock says so, else another one."""
    conductor = Campaign(one_case(local=local), local=local)._conductor(100)
    conductor.watch = None
    conductor.log("campaign_start", value={"campaign": "toy"})
    start = conductor.state.time
    run, job = Run("r000001", "t0", 0, 1, 1, "j000001"), Job("j000001", "r000001", "t0", 0, start)
    conductor.state.jobs[job.id] = job
    run.started = start + 10.0
    note_room(conductor.state, start + full, True, start + room_at)
    note_room(conductor.state, start + room, False)
    conductor.state.time = start + 60.0
    says_so = evidence.failure is not None
    assert bool(full_in_its_time(conductor.state, run, 10.0, says_so)) == (verdict == "undetermined")


def test_what_is_ordered_once_there_is_room_is_never_hurt() -> None:
    """Though the clock of the file server, by which it began, is behind ours."""
    conductor = Campaign(one_case())._conductor(100)
    conductor.watch = None
    conductor.log("campaign_start", value={"campaign": "toy"})
    start = conductor.state.time
    note_room(conductor.state, start + 6.0, True, start + 5.0)
    note_room(conductor.state, start + 8.0, False)
    conductor.state.jobs["j000001"] = Job("j000001", "r000001", "t0", 0, start + 8.0)
    run = Run("r000001", "t0", 0, 1, 1, "j000001", started=start + 8.5)
    conductor.state.time = start + 10.0
    assert full_in_its_time(conductor.state, run, 1.0) == ""


def test_the_classes_that_speak_of_a_full_disk_are_shipped() -> None:
    assert {one.name for one in shipped_failures()} >= NO_ROOM_CLASSES


def test_a_full_disk_that_the_record_met_is_told_though_there_is_room_by_now(tmp_path: Path) -> None:
    """A quota that held for a moment, or a wait for room: no look at the disk ever saw it."""
    campaign = Campaign(one_case(local=True), local=True)
    conductor = campaign._conductor(100)
    conductor.watch = None
    conductor.log("campaign_start", value={"campaign": "toy"})
    log: Any = SimpleNamespace(full=False, room_at=90.0, met_full=None)
    said: list[str] = []
    room = Room(Layout(tmp_path), log, said.append, known_at=conductor.state.time)
    room.look(conductor)
    assert said == []
    log.met_full = 42.0
    (finding,) = room.met(conductor)
    assert (finding.value, log.met_full) == ({"kind": "disk_full", "room_at": 42.0}, None)
    conductor.log(finding)
    assert conductor.state.driver.no_room
    room._next = 0.0
    room.look(conductor)
    assert not conductor.state.driver.no_room
    assert conductor.state.driver.full[0][0] == 42.0
    assert [text.partition(";")[0].rpartition(" ")[2] for text in said] == ["record", "again"]
