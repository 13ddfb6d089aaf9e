"""Making a file durable in a process of its own: for a large file the disk may take long, and the caller goes on meanwhile."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass

_ENDED = -1  # by a signal, or collected by somebody else: nobody knows what the disk said


@dataclass(slots=True)
class FileSync:
    """A sync that was begun. ``status``: 0 = done; an error number; -1 = not known; None = still under way."""

    pid: int
    status: int | None = None

    def is_over(self) -> bool:
        """Whether it has ended; does not wait."""
        if self.status is None:
            self._collect(os.WNOHANG)
        return self.status is not None

    def wait(self) -> int:
        """Wait for the end, and return the status."""
        if self.status is None:
            self._collect(0)
        return _ENDED if self.status is None else self.status

    def _collect(self, how: int) -> None:
        try:
            pid, status = os.waitpid(self.pid, how)
        except ChildProcessError:
            self.status = _ENDED
            return
        if pid == self.pid:
            self.status = max(_ENDED, os.waitstatus_to_exitcode(status))


def begin_sync(descriptor: int) -> FileSync | None:
    """Purpose: begin to sync a file. None where no process can be started; then the caller must sync it."""
    try:
        pid = os.fork()
    except OSError:
        return None
    if pid:
        return FileSync(pid)
    status = 255
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP):
            signal.signal(number, signal.SIG_IGN)  # a terminal tells the whole group; the conductor decides
        os.closerange(0, descriptor)  # locks and pipes of ours are not to be held by it
        os.closerange(descriptor + 1, os.sysconf("SC_OPEN_MAX"))
        os.fdatasync(descriptor)
        status = 0
    except OSError as error:
        status = error.errno or status
    finally:
        os._exit(status)
