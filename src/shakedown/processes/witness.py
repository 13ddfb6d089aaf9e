"""A second process that sees when a child ended, so that the time is known even if this process stood still.

The kernel tells that a child is dead, but not since when. While this process is awake it sees that at once. If it is stopped,
swapped out or delayed by a disk, it sees it only later, and the child's run time would be wrong. So another process watches the
children too. It uses no file, belongs to no terminal, and ends with us.

The witness may stand still as well (both are stopped, or the machine is paused). Then nobody saw the end; it is only known to lie
in the time in which nobody looked.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import struct
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shakedown.processes.reactor import Reactor

# A process id, when it was seen dead, and when it was last known to live (0: a moment before, -1: not known); or 0, when the
# witness noticed that it stood still itself, and for how long.
_MESSAGE = struct.Struct("<qdd")
_NOBODY_KNOWS = -1.0
_AGAIN_S = 0.1  # after a witness that was killed, or could not be started, before the next one
_ANSWER_S = 0.5  # how long it takes a witness at most that is awake to say what it sees
_TICK_S = 1.0  # how often the witness looks whether it stood still itself
_STILL_S = 2.0  # longer than that beyond a tick is standing still


@dataclass(slots=True, eq=False)
class Witness:
    """The process beside us, started when there is something to watch. All times are on the monotonic clock.

    If it cannot be started or was killed, it knows nothing: ``ended`` returns None. If it was killed, another one is started at the
    next opportunity; at once where there is a ``reactor``.
    """

    reactor: Reactor | None = None
    pid: int = 0
    _socket: socket.socket | None = None
    _not_before: float = 0.0  # when the next one may be started
    _silent: bool = False  # it did not answer when it was waited for
    _ends: dict[int, tuple[float, float]] = field(default_factory=dict)
    _watched: dict[int, int] = field(default_factory=dict)  # process id -> pidfd, which is its owner's
    _still: list[tuple[float, float]] = field(default_factory=list)  # (when it was noticed, seconds)

    def watch(self, pid: int, pidfd: int) -> None:
        """Begin to watch for the end of this child."""
        self._watched[pid] = pidfd
        if self._socket is not None:
            self._send(pid, pidfd)
        else:
            self._start()

    def ended(self, pid: int, waits: bool = False) -> tuple[float, float] | None:
        """Purpose: the earliest and latest time at which a dead child ended; None where the witness does not know (it may have been
        a moment ago). ``waits``: whether to give the witness a moment to answer.
        """
        self._hear()
        if waits and pid not in self._ends and pid in self._watched and self._socket is not None and not self._silent:
            self._wait_for(pid)
        self._watched.pop(pid, None)
        return self._ends.pop(pid, None)

    def _wait_for(self, pid: int) -> None:
        until = time.monotonic() + _ANSWER_S
        poll = select.poll()
        while self._socket is not None and pid not in self._ends:
            left = until - time.monotonic()
            if left <= 0:
                self._silent = True
                return
            poll.register(self._socket, select.POLLIN)
            poll.poll(left * 1000)
            self._hear()

    def stood_still_s(self, since: float) -> float:
        """Purpose: for how many seconds since then the witness stood still too, so that it was the whole machine and not only this
        process.
        """
        self._hear()
        return sum(seconds for noticed, seconds in self._still if noticed > since)

    def close(self) -> None:
        """End the witness."""
        self._watched.clear()
        self._not_before = float("inf")
        self._give_up()

    def _start(self) -> None:
        if time.monotonic() < self._not_before:
            return
        self._not_before = time.monotonic() + _AGAIN_S
        try:
            ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        except OSError:
            return
        try:
            self.pid = os.fork()
        except OSError:
            ours.close()
            its.close()
            return
        if self.pid == 0:
            try:
                _serve(its.detach())
            finally:
                os._exit(0)  # nothing of ours may run its last words there
        its.close()
        ours.setblocking(False)
        self._socket, self._silent = ours, False
        if self.reactor is not None:
            self.reactor.watch_end(ours.fileno(), self._was_killed)
        for pid, pidfd in list(self._watched.items()):
            self._send(pid, pidfd)

    def _send(self, pid: int, pidfd: int) -> None:
        if self._socket is None:
            return
        try:
            socket.send_fds(self._socket, [_MESSAGE.pack(pid, 0.0, 0.0)], [pidfd])
        except BlockingIOError:  # it stands still, and its queue is full: what is not told is not seen
            return
        except OSError:
            self._give_up()

    def _was_killed(self) -> bool:
        """The witness was killed: start another one for the children that are still watched."""
        self._hear()
        self._give_up()
        if self._watched and self.reactor is not None:
            self._start()
            if self._socket is None:
                self.reactor.call_later(max(0.0, self._not_before - time.monotonic()), self._start_again)
        return False

    def _start_again(self) -> bool:
        if self._socket is None and self._watched:
            self._start()
        return False

    def _give_up(self) -> None:
        if self._socket is not None:
            if self.reactor is not None:
                self.reactor.unwatch(self._socket.fileno())
            self._socket.close()
            self._socket = None
        if self.pid:
            with contextlib.suppress(OSError):  # one that stands still does not hear that we are gone
                os.kill(self.pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self.pid, 0)
            self.pid = 0

    def _hear(self) -> None:
        """Read what the witness has sent."""
        while self._socket is not None:
            try:
                data = self._socket.recv(_MESSAGE.size)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not data:
                self._give_up()
                return
            self._silent = False
            pid, when, other = _MESSAGE.unpack(data)
            if not pid:
                self._still.append((when, other))
            elif pid in self._watched:
                self._ends[pid] = (other or when, when)


# ---- in the other process ----------------------------------------------------------------------------------------------


def _serve(descriptor: int) -> None:
    """What the witness does: it gets processes to watch, and sends their ends. It keeps nothing of its parent but the socket."""
    with contextlib.suppress(OSError):
        os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP):
        signal.signal(number, signal.SIG_IGN)
    signal.set_wakeup_fd(-1)
    kept = os.dup2(descriptor, 3, inheritable=False) if descriptor != 3 else 3
    os.closerange(4, os.sysconf("SC_OPEN_MAX"))
    for standard in range(3):
        with contextlib.suppress(OSError):
            os.close(standard)
    with socket.socket(fileno=kept) as parent, contextlib.suppress(OSError), select.epoll() as epoll:
        epoll.register(parent, select.EPOLLIN)
        watched: dict[int, int] = {}  # pidfd -> process id
        fresh: set[int] = set()  # those that were not looked at yet: they may have been dead when they came
        while True:
            before = time.monotonic()
            ready = {number for number, _ in epoll.poll(_TICK_S if watched else -1)}
            now = time.monotonic()
            slept = bool(watched) and now - before > _TICK_S + _STILL_S
            if slept:
                parent.send(_MESSAGE.pack(0, now, now - before - _TICK_S))
                ready.update(
                    number for number, _ in epoll.poll(0)
                )  # the first look may have been before we stood still
            for pidfd in ready.intersection(watched):
                lived = _NOBODY_KNOWS if pidfd in fresh else before if slept else 0.0
                parent.send(_MESSAGE.pack(watched.pop(pidfd), now, lived))
                epoll.unregister(pidfd)
                os.close(pidfd)
            fresh.clear()
            if parent.fileno() in ready and not _take(parent, epoll, watched, fresh):
                return
            if fresh:  # what is not dead now was alive when it came: its end will be seen, also within the first tick
                fresh.intersection_update(number for number, _ in epoll.poll(0))


def _take(parent: socket.socket, epoll: select.epoll, watched: dict[int, int], fresh: set[int]) -> bool:
    """Take one more process to watch. False where the parent is gone."""
    data, descriptors, _, _ = socket.recv_fds(parent, _MESSAGE.size, 1)
    if not data:
        return False
    for descriptor in descriptors:
        watched[descriptor] = _MESSAGE.unpack(data)[0]
        epoll.register(descriptor, select.EPOLLIN)
        fresh.add(descriptor)
    return True
