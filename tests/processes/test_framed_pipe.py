"""The pipe to a helper process: messages arrive whole and in order, however the bytes are cut, and nobody waits unasked."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shakedown.processes.framed_pipe import PIECE, FramedPipe, Unpacker, packed, write_all
from shakedown.processes.reactor import Reactor

LARGE = "x" * (4 * PIECE)  # more than a pipe holds


class Room:
    """A pipe, and the helper's two ends of it."""

    def __init__(self) -> None:
        self.reactor = Reactor()
        self.helper_reads, orders = os.pipe2(os.O_CLOEXEC)
        answers, self.helper_writes = os.pipe2(os.O_CLOEXEC)
        self.woken = 0
        self.pipe: FramedPipe[str] = FramedPipe(orders, answers, str, self.reactor, self._wake)

    def _wake(self) -> bool:
        self.woken += 1
        return True

    def say(self, *messages: str) -> None:
        write_all(self.helper_writes, b"".join(map(packed, messages)))

    def hang_up(self) -> None:
        os.close(self.helper_writes)
        self.helper_writes = -1

    def close(self) -> None:
        self.pipe.close()
        for descriptor in (self.helper_reads, self.helper_writes):
            if descriptor >= 0:
                os.close(descriptor)
        self.reactor.close()


@pytest.fixture
def room() -> Iterator[Room]:
    made = Room()
    yield made
    made.close()


@given(st.lists(st.text(max_size=40), max_size=8), st.data())
def test_messages_are_whole_and_in_order_wherever_the_bytes_are_cut(said: list[str], data: st.DataObject) -> None:
    stream = b"".join(map(packed, said))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    unpacker: Unpacker[str] = Unpacker(str)
    heard = [
        message
        for begin, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)
        for message in unpacker.feed(stream[begin:end])
    ]
    assert heard == said


def test_what_arrives_wakes_the_reactor_and_is_received_once(room: Room) -> None:
    assert room.pipe.receive() == [] and not room.pipe.has_ended
    room.say("one", "two")
    room.reactor.wait(room.reactor.now() + 60)
    assert room.woken == 1
    assert room.pipe.receive() == ["one", "two"]
    assert room.pipe.receive() == []


def test_the_end_is_told_after_the_last_message(room: Room) -> None:
    room.say("last")
    room.hang_up()
    assert room.pipe.receive() == ["last"] and room.pipe.has_ended
    assert room.pipe.receive() == [] and room.pipe.wait(time.monotonic() + 60) == []


def test_more_than_the_pipe_holds_is_sent_when_there_is_room(room: Room) -> None:
    """Sending returns at once; the reactor sends the rest while the helper reads."""
    room.pipe.send(LARGE)
    room.pipe.send("after it")
    unpacker: Unpacker[str] = Unpacker(str)
    heard: list[str] = []
    while len(heard) < 2:
        room.reactor.wait(room.reactor.now())
        heard += unpacker.feed(os.read(room.helper_reads, PIECE))
    assert heard == [LARGE, "after it"]


def test_a_wait_sends_what_is_left_and_returns_the_answer(room: Room) -> None:
    def helper() -> None:
        unpacker: Unpacker[str] = Unpacker(str)
        while not (heard := unpacker.feed(os.read(room.helper_reads, PIECE))):
            pass
        room.say(f"{len(heard[0])} letters")

    thread = threading.Thread(target=helper)
    thread.start()
    room.pipe.send(LARGE)
    assert room.pipe.wait(time.monotonic() + 60) == [f"{len(LARGE)} letters"]
    thread.join()


def test_a_wait_ends_at_its_time(room: Room) -> None:
    assert room.pipe.wait(time.monotonic()) == []
    assert not room.pipe.has_ended


def test_a_helper_that_is_gone_is_no_error_for_who_sends(room: Room) -> None:
    os.close(room.helper_reads)
    room.helper_reads = -1
    room.pipe.send("nobody hears this")
    room.hang_up()
    assert room.pipe.receive() == [] and room.pipe.has_ended
