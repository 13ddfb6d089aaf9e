"""A snapshot and the tail of the log are the whole state, whatever plans were in force before."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest
from stage import small_document

from shakedown.conductor.driver.snapshots import Snapshots
from shakedown.conductor.driver.startup import fold_one
from shakedown.conductor.record.documents import Documents
from shakedown.engine import State, decide, evolve
from shakedown.engine.state.state import FOLD_VERSION
from shakedown.events.campaigns import create_campaign, write_document
from shakedown.events.lease import Lease
from shakedown.events.looks import Looks
from shakedown.events.opening import open_log
from shakedown.events.snapshots import load
from shakedown.events.writer import LogWriter
from shakedown.model.events import Event
from shakedown.model.frozen import freeze
from shakedown.model.nouns import Component, Document
from shakedown.queries.folds import Folds
from shakedown.queries.status import status


@dataclass
class OnDisk:
    """Events put into a campaign's log and folded, one a second, and orders without ports."""

    documents: Documents
    log: LogWriter
    state: State = field(default_factory=State)

    def play(self, event: Event) -> None:
        placed = msgspec.structs.replace(event, seq=self.state.seq + 1, time=self.state.time + 1.0)
        self.log.append([placed])
        fold_one(self.state, placed, self.documents)

    def settle(self) -> None:
        while orders := decide(self.state, self.state.time).orders:
            for order in orders:
                self.play(order.event)
                if order.kind == "build":
                    self.play(Event("build_end", build=order.event.build, value={"state": "done"}))


def wanting(*cases: str) -> bytes:
    """A frozen plan with one component, of these cases, and nothing else in it."""
    plain: Document = small_document(tests=2, repeats=1, budgets={})
    return freeze(
        msgspec.structs.replace(
            plain,
            components=(Component("only", "functionality", cases),),
            cases=tuple(case for case in plain.cases if case.id in cases),
            tests=tuple(test for test in plain.tests if test.name in cases),
        )
    )


def test_after_an_amendment_it_knows_the_cases_of_runs_that_go_on(tmp_path: Path) -> None:
    """t1 runs when an amendment takes it out of the plan; a conductor that begins with a snapshot hears of its end."""
    layout = create_campaign(tmp_path, "c-1", wanting("t0", "t1"))
    documents = Documents(layout)
    snapshots = Snapshots(layout, documents, every=1)
    with Lease.acquire(layout) as lease:
        log, _ = open_log(layout.log, lease)
        campaign = OnDisk(documents, log)
        campaign.play(Event("campaign_start", value=documents.start_value(campaign.state)))
        campaign.play(Event("driver_start"))
        campaign.settle()
        assert {run.case for run in campaign.state.runs.values()} == {"t0", "t1"}
        amended = write_document(layout, wanting("t0"))
        campaign.play(Event("amended", value={"document": amended, "components": ["only", "no longer wanted"]}))
        snapshots.consider(campaign.state, log, lambda name, value: campaign.play(Event(name, value=value)))
        log.close()
    assert load(layout.log, FOLD_VERSION) is not None, "there is a snapshot to begin with"

    again = Snapshots(layout, Documents(layout)).load_and_fold()
    assert again == campaign.state
    job = next(job for job in again.jobs.values() if job.case == "t1")
    ended = {"state": "completed", "source": "marks", "elapsed_s": 1.0}
    evolve(again, Event("job_report", again.seq + 1, again.time + 1.0, job=job.id, value=ended))
    orders = decide(again, again.time).orders
    assert [order.event.run for order in orders if order.kind == "collect"] == [job.run]
    assert again.index.cases == campaign.state.index.cases


def test_a_snapshot_that_does_not_follow_from_the_log_is_told_and_made_again(tmp_path: Path) -> None:
    """Somebody changed the state in it, digest and all; and one that the log vouches for is held against the log by verify."""
    layout = create_campaign(tmp_path, "c-1", wanting("t0", "t1"))
    documents = Documents(layout)
    with Lease.acquire(layout) as lease:
        log, _ = open_log(layout.log, lease)
        campaign = OnDisk(documents, log)
        campaign.play(Event("campaign_start", value=documents.start_value(campaign.state)))
        campaign.settle()
        say = lambda name, value: campaign.play(Event(name, value=value))  # noqa: E731
        Snapshots(layout, documents, every=1).consider(campaign.state, log, say)
        log.close()
    (path,) = (layout.log / "snapshots").iterdir()
    fresh = Snapshots(layout, Documents(layout))
    assert fresh.load_and_fold() == campaign.state and fresh.saved and fresh.do_not_follow() == []

    head, _, data = path.read_bytes().partition(b"\n")
    raw = msgspec.msgpack.decode(data)
    state = msgspec.msgpack.decode(raw["state"])
    state["state"]["epoch"] = 7
    other = msgspec.msgpack.encode(raw | {"state": msgspec.msgpack.encode(state)})
    made = msgspec.json.decode(head) | {"bytes": len(other), "sha256": hashlib.sha256(other).hexdigest()}
    path.write_bytes(msgspec.json.encode(made) + b"\n" + other)

    again = Snapshots(layout, Documents(layout))
    assert again.do_not_follow() == [path.name]
    assert again.load_and_fold() == campaign.state
    assert status(layout)["snapshots_refused"] == [path.name]
    assert again.take_away() == [path.name] and not path.exists()
    assert again.saved == 0, "so that the next one is due at once"


def test_a_state_with_a_number_of_more_than_64_bits_is_folded_each_time(tmp_path: Path) -> None:
    """A record that was changed may hold one; every command still reads it, and says what it says without a snapshot."""
    layout = create_campaign(tmp_path, "c-1", wanting("t0"))
    documents = Documents(layout)
    snapshots = Snapshots(layout, documents, every=1)
    with Lease.acquire(layout) as lease:
        log, _ = open_log(layout.log, lease)
        campaign = OnDisk(documents, log)
        campaign.play(Event("campaign_start", value=documents.start_value(campaign.state)))
        campaign.play(Event("capped", value={"test": "t0", "copies": 2**64}, reason="much"))
        assert campaign.state.overrides.caps == {"t0": 2**64}
        snapshots.consider(campaign.state, log, lambda event, value: pytest.fail("nothing is saved"))
        log.close()
    assert Folds(layout, Looks(layout), worth=0).state()[0].overrides.caps == {"t0": 2**64}
