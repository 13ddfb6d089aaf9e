"""Messages to and from a helper process through two pipes: MessagePack, each message after its length in four bytes.

``FramedPipe`` is the conductor's end; it only waits if it is asked to. A helper process reads its orders with ``Unpacker`` and
answers with ``write_all``. The process itself belongs to whoever started it.
"""

from __future__ import annotations

import contextlib
import os
import select
import struct
import time
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

import msgspec

PIECE = 1 << 16  # the most that is read or written at once, in bytes
_LENGTH = struct.Struct("<I")
_encoder = msgspec.msgpack.Encoder()
Message = TypeVar("Message")


class Watcher(Protocol):
    """Something that calls back when a descriptor is ready, such as the reactor."""

    def watch(self, descriptor: int, callback: Callable[[], object], writable: bool = False) -> None: ...

    def unwatch(self, descriptor: int) -> None: ...


def packed(message: object) -> bytes:
    """Purpose: a message as the bytes that go through a pipe."""
    data = _encoder.encode(message)
    return _LENGTH.pack(len(data)) + data


class Unpacker(Generic[Message]):
    """Splits a stream of bytes into messages. ``kind``: the type of the messages, as msgspec takes it."""

    def __init__(self, kind: object) -> None:
        self._decoder = msgspec.msgpack.Decoder(kind)
        self._data = bytearray()

    def feed(self, data: bytes) -> list[Message]:
        """Purpose: the messages that are now complete; the rest is kept for the next call."""
        self._data += data
        messages: list[Message] = []
        start = 0
        while len(self._data) - start >= _LENGTH.size:
            end = start + _LENGTH.size + _LENGTH.unpack_from(self._data, start)[0]
            if end > len(self._data):
                break
            messages.append(self._decoder.decode(memoryview(self._data)[start + _LENGTH.size : end]))
            start = end
        del self._data[:start]
        return messages


def write_all(descriptor: int, data: bytes) -> None:
    """Purpose: write everything, waiting for room. Raises BrokenPipeError where nobody reads."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


class FramedPipe(Generic[Message]):
    """The two pipes to one helper process, for the process that gives the orders.

    - ``orders``, ``answers``: descriptors to write to and to read from; ``close`` closes them
    - ``kind``: the type of the answers
    - ``readable``: called in the watcher's wait when answers have arrived, or when the helper has closed its end
    """

    def __init__(
        self, orders: int, answers: int, kind: object, watcher: Watcher, readable: Callable[[], object]
    ) -> None:
        self.orders, self.answers = orders, answers
        self.has_ended = False  # the helper closed its end, and everything that it wrote has been read
        self._unsent = bytearray()
        self._unpacker: Unpacker[Message] = Unpacker(kind)
        self._watcher = watcher
        os.set_blocking(orders, False)
        os.set_blocking(answers, False)
        watcher.watch(answers, readable)

    def add(self, message: object) -> None:
        """Add a message to those that are not sent yet. ``flush`` sends them."""
        self._unsent += packed(message)

    def send(self, message: object) -> None:
        """Send a message; what does not fit into the pipe now follows when there is room."""
        self.add(message)
        self.flush()

    def flush(self) -> bool:
        """Send what fits into the pipe now, and the rest when there is room. Returns False, which tells the reactor that this is no
        news.
        """
        blocked = False
        try:
            while self._unsent and not blocked:
                sent = os.write(self.orders, self._unsent[:PIECE])
                del self._unsent[:sent]
        except BlockingIOError:
            blocked = True
        except BrokenPipeError:
            self._unsent.clear()  # it has ended, which its other pipe tells with more detail
        self._watcher.unwatch(self.orders)
        if blocked:
            self._watcher.watch(self.orders, self.flush, writable=True)
        return False

    def receive(self) -> list[Message]:
        """Purpose: the messages that have arrived; returns at once. ``has_ended`` tells whether there can be more."""
        arrived: list[Message] = []
        with contextlib.suppress(BlockingIOError):
            while not self.has_ended:
                data = os.read(self.answers, PIECE)
                if data:
                    arrived += self._unpacker.feed(data)
                else:
                    self.has_ended = True
                    self._watcher.unwatch(self.answers)
        return arrived

    def wait(self, until: float) -> list[Message]:
        """Purpose: wait for messages until a monotonic time, and return as soon as any arrive; [] where none came or none can come.
        Messages that are not sent yet are sent meanwhile.
        """
        while not (arrived := self.receive()) and not self.has_ended:
            left = until - time.monotonic()
            if left <= 0:
                break
            poll = select.poll()
            poll.register(self.answers, select.POLLIN)
            if self._unsent:
                poll.register(self.orders, select.POLLOUT)
            poll.poll(left * 1000)
            self.flush()
        return arrived

    def close(self) -> None:
        """Close both pipes. A helper that reads its orders then ends."""
        for descriptor in (self.orders, self.answers):
            self._watcher.unwatch(descriptor)
            os.close(descriptor)
