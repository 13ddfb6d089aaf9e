"""A campaign to write into, a lease that is always ours, and events by the dozen."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from shakedown.events.campaigns import create_campaign
from shakedown.events.opening import open_log
from shakedown.events.writer import LogWriter
from shakedown.model.errors import LeaseHeld
from shakedown.model.events import Event
from shakedown.model.layout import Layout

Events = Callable[..., list[Event]]
Open = Callable[..., LogWriter]


class EasyLease:
    """A lease without files: ours until ``lost`` is set."""

    def __init__(self, epoch: int = 1) -> None:
        self.epoch = epoch
        self.lost = False

    def check(self) -> None:
        if self.lost:
            raise LeaseHeld("the lease is another's")


def make_events(count: int, after: int = 0) -> list[Event]:
    """Events ``after + 1`` to ``after + count``, as a campaign of quick runs would log them."""
    return [
        Event(
            "job_report",
            seq=n,
            time=1000.0 + n,
            run=f"r{n:06d}",
            value={"state": "completed", "exit": 0},
            reason="done",
        )
        for n in range(after + 1, after + count + 1)
    ]


@pytest.fixture
def events() -> Events:
    return make_events


@pytest.fixture
def lease() -> EasyLease:
    return EasyLease()


@pytest.fixture(scope="module")
def no_syncs() -> Iterator[None]:
    """For tests that open hundreds of logs and do not care about power cuts: nothing waits for the disk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)
        patch.setattr(os, "fdatasync", lambda handle: None)
        yield


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return create_campaign(tmp_path / "campaigns", "laptop-1", b'{"plan":"laptop"}')


@pytest.fixture
def directory(layout: Layout) -> Path:
    return layout.log


@pytest.fixture
def open_writer(directory: Path) -> Iterator[Open]:
    """Opens writers with small segments and a small reserve, and leaves none open."""
    opened: list[LogWriter] = []

    def opening(lease: EasyLease | None = None, segment_bytes: int = 2000, reserve_bytes: int = 4096) -> LogWriter:
        writer, _ = open_log(directory, lease or EasyLease(), segment_bytes=segment_bytes, reserve_bytes=reserve_bytes)
        opened.append(writer)
        return writer

    yield opening
    for writer in opened:
        writer._segment.close()
