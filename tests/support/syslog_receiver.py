"""A receiver of syslog for tests: it reads RFC 5424 strictly, by a grammar of its own, over TCP (RFC 6587), TLS and UDP."""

from __future__ import annotations

import re
import socket
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

# RFC 5424, section 6. Only what a sender may send: the message with its byte order mark, UTF-8, without control characters.
_PRINT = "[!-~]"
_NAME = r"[!#-<>-\\^-~]{1,32}"  # visible ASCII but '=', ']' and '"'
_VALUE = r'(?:[^"\\\]]|\\["\\\]])*'
_MESSAGE = re.compile(
    r"<(?P<pri>0|[1-9][0-9]{0,2})>1 "
    r"(?P<time>[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?(?:Z|[+-][0-9]{2}:[0-9]{2})) "
    rf"(?P<host>{_PRINT}{{1,255}}) (?P<app>{_PRINT}{{1,48}}) (?P<process>{_PRINT}{{1,128}}) (?P<kind>{_PRINT}{{1,32}}) "
    rf'(?P<data>-|(?:\[{_NAME}(?: {_NAME}="{_VALUE}")*\])+)'
    "(?: \ufeff(?P<text>.*))?",
    re.DOTALL,
)
_PAIR = re.compile(rf' ({_NAME})="({_VALUE})"', re.DOTALL)


@dataclass(frozen=True)
class Message:
    facility: int
    severity: int
    time: datetime
    host: str
    app: str
    process: str
    kind: str
    sd_id: str
    data: dict[str, str]
    text: str

    @property
    def seq(self) -> int:
        return int(self.data["seq"])


def parsed(message: bytes) -> Message:
    """Read a message; AssertionError where it is none."""
    text = message.decode("utf-8")
    assert not re.search("[\x00-\x1f\x7f-\x9f]", text), repr(text)
    found = _MESSAGE.fullmatch(text)
    assert found is not None, repr(text)
    assert int(found["pri"]) <= 191
    assert found["data"].count("[" + found["data"][1:].partition(" ")[0] + " ") == 1
    pairs = [(name, re.sub(r'\\(["\\\]])', r"\1", value)) for name, value in _PAIR.findall(found["data"])]
    assert len(dict(pairs)) == len(pairs)
    facility, severity = divmod(int(found["pri"]), 8)
    when = datetime.fromisoformat(found["time"])
    words = found["host"], found["app"], found["process"], found["kind"], found["data"][1:].partition(" ")[0]
    return Message(facility, severity, when, *words, dict(pairs), found["text"])


def framed(stream: bytes) -> tuple[list[bytes], bytes]:
    """The whole messages of a stream that counts octets, and what is left."""
    found = []
    while match := re.match(rb"([1-9][0-9]*) ", stream):
        end = match.end() + int(match[1])
        if len(stream) < end:
            break
        found.append(stream[match.end() : end])
        stream = stream[end:]
    assert re.fullmatch(rb"|[1-9][0-9]*|[1-9][0-9]* <.*", stream, re.DOTALL), stream[:80]
    return found, stream


@dataclass
class Connection:
    """What came over one connection. ``whole``: it was read to its end."""

    messages: list[Message] = field(default_factory=list)
    whole: bool = False


class TcpReceiver:
    """Takes one connection after the other.

    ``dies_after``: for each of the next connections, how many messages are read before it is closed; -1: closed before anything is
    read; None: read to its end. ``heard`` is called after each read, with the connection. ``stays_open``: the end is not answered.
    ``says`` is sent to whoever connects.
    """

    def __init__(self, tls: ssl.SSLContext | None = None, port: int = 0) -> None:
        self.dies_after: list[int | None] = []
        self.connections: list[Connection] = []
        self.heard: Callable[[Connection], None] = lambda _: None
        self.stays_open, self.says, self._tls = False, b"", tls
        self._kept: list[socket.socket] = []
        self._listening = socket.create_server(("127.0.0.1", port), backlog=8)
        self.port = self._listening.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    @property
    def got(self) -> list[Message]:
        return [message for connection in self.connections for message in connection.messages]

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join(10)
        for line in self._kept:
            line.close()

    def _serve(self) -> None:
        while True:
            try:
                line, _ = self._listening.accept()
                if self._tls is not None:
                    line = self._tls.wrap_socket(line, server_side=True)
            except ssl.SSLError:
                continue
            except OSError:
                return
            self._read(line, self.dies_after.pop(0) if self.dies_after else None)

    def _read(self, line: socket.socket, most: int | None) -> None:
        connection = Connection()
        self.connections.append(connection)
        if self.says:
            line.sendall(self.says)
        rest = b""
        while most is None or 0 <= len(connection.messages) < most:
            block = line.recv(4096 if most is None else 64)
            if not block:
                assert rest == b""
                connection.whole = True
                break
            found, rest = framed(rest + block)
            connection.messages += [parsed(message) for message in found][: None if most is None else most]
            self.heard(connection)
        if self.stays_open:
            self._kept.append(line)
            return
        line.close()


class UdpReceiver:
    """Takes datagrams; ``got`` holds the messages that came, ``sizes`` their bytes."""

    def __init__(self) -> None:
        self._line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._line.bind(("127.0.0.1", 0))
        self._line.settimeout(0.3)
        self.port = self._line.getsockname()[1]
        self.sizes: list[int] = []

    def got(self) -> list[Message]:
        """What lies there; it ends when nothing comes for a moment."""
        found = []
        try:
            while True:
                datagram = self._line.recv(65536)
                self.sizes.append(len(datagram))
                found.append(parsed(datagram))
        except TimeoutError:
            return found

    def close(self) -> None:
        self._line.close()
