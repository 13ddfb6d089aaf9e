"""A reactor, and processes that are known to be gone when the test is over."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator

import pytest

from shakedown.processes.reactor import Reactor
from shakedown.processes.spawn import MARKER, Child, base_environment, spawn_shell
from shakedown.processes.tree import Ending

Start = Callable[[str, str], Child]
Until = Callable[[Callable[[], object]], None]


@pytest.fixture
def reactor() -> Iterator[Reactor]:
    reactor = Reactor()
    yield reactor
    reactor.close()


@pytest.fixture
def until(reactor: Reactor) -> Until:
    """Wait until something is so; the test fails where it is not so within a minute."""

    def wait(condition: Callable[[], object]) -> None:
        end = reactor.now() + 60
        while not condition():
            assert reactor.now() < end, "it did not happen"
            reactor.wait(reactor.now() + 0.01)

    return wait


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a script with a marker. Whatever bears one of the markers is killed at the end."""
    markers: set[str] = set()

    def run(script: str, marker: str) -> Child:
        markers.add(marker)
        environment = base_environment() | {MARKER.encode(): marker.encode()}
        output = os.open(os.devnull, os.O_WRONLY)
        try:
            return spawn_shell(["-c", script], environment, output)
        finally:
            os.close(output)

    yield run
    for marker in markers:
        ending = Ending(marker, grace_s=0.0)
        while (pause := ending.step()) is not None:
            time.sleep(pause)
