"""When a process ended, seen by a process that is not stopped with us.

The kernel tells that a child is dead, and not since when. As long as this process is awake it sees that at once. Where it is
stopped, swapped out or held by a disk, it sees it when it goes on, and the child's run time would be ours. So another process
watches the children too. It touches no file, belongs to no terminal, and ends with us.
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

# A process id, when it ended, 0; or 0, when the witness noticed that it stood still itself, and for how long.
_MESSAGE = struct.Struct("<qdd")
_TICK_S = 1.0  # how often the witness looks whether it stood still itself
_STILL_S = 2.0  # longer than that beyond a tick is standing still


@dataclass(slots=True, eq=False)
class Witness:
    """The process beside us, started when there is something to see. All times are of the monotonic clock.

    Where it cannot be started, or was killed, nothing is known from it: ``ended`` says None.
    """

    pid: int = 0
    _socket: socket.socket | None = None
    _failed: bool = False
    _ends: dict[int, float] = field(default_factory=dict)
    _watched: set[int] = field(default_factory=set)
    _still: list[tuple[float, float]] = field(default_factory=list)  # (when it was noticed, seconds)

    def watch(self, pid: int, pidfd: int) -> None:
        """From now on the end of this child is seen."""
        if self._socket is None and not self._failed:
            self._start()
        if self._socket is None:
            return
        try:
            socket.send_fds(self._socket, [_MESSAGE.pack(pid, 0.0, 0.0)], [pidfd])
            self._watched.add(pid)
        except OSError:
            self._give_up()

    def ended(self, pid: int) -> float | None:
        """Purpose: when a child that is dead ended; None where that is not known (yet: then it was a moment ago)."""
        self._hear()
        self._watched.discard(pid)
        return self._ends.pop(pid, None)

    def stood_still_s(self, since: float) -> float:
        """Purpose: for how long the witness stood still, too, since then: it was the whole machine, and not this process alone."""
        self._hear()
        return sum(seconds for noticed, seconds in self._still if noticed > since)

    def close(self) -> None:
        """It ends when it hears no more of us."""
        self._give_up()
        if self.pid:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self.pid, 0)
            self.pid = 0

    def _start(self) -> None:
        self._failed = True
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
        self._socket, self._failed = ours, False

    def _give_up(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket, self._failed = None, True

    def _hear(self) -> None:
        """Take what it said."""
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
            pid, when, seconds = _MESSAGE.unpack(data)
            if not pid:
                self._still.append((when, seconds))
            elif pid in self._watched:
                self._ends[pid] = when


# ---- in the other process ----------------------------------------------------------------------------------------------


def _serve(descriptor: int) -> None:
    """Its whole life: processes to watch come in, ends go out. It keeps nothing of its parent but the socket."""
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
        while True:
            before = time.monotonic()
            ready = [number for number, _ in epoll.poll(_TICK_S if watched else -1)]
            now = time.monotonic()
            if watched and now - before > _TICK_S + _STILL_S:
                parent.send(_MESSAGE.pack(0, now, now - before - _TICK_S))
            for pidfd in (number for number in ready if number in watched):
                parent.send(_MESSAGE.pack(watched.pop(pidfd), now, 0.0))
                epoll.unregister(pidfd)
                os.close(pidfd)
            if parent.fileno() in ready and not _take(parent, epoll, watched):
                return


def _take(parent: socket.socket, epoll: select.epoll, watched: dict[int, int]) -> bool:
    """One more to watch; False where the parent is gone."""
    data, descriptors, _, _ = socket.recv_fds(parent, _MESSAGE.size, 1)
    if not data:
        return False
    for descriptor in descriptors:
        watched[descriptor] = _MESSAGE.unpack(data)[0]
        epoll.register(descriptor, select.EPOLLIN)
    return True
