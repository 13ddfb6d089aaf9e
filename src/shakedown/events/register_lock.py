"""The lock of a site's register: on the file itself, or a file beside it where locks do not work."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from shakedown.model.errors import RecordError

PATIENCE_S = 30.0
_STEP_S = 0.02


@contextmanager
def hold(handle: int, path: Path) -> Iterator[None]:
    """Purpose: hold the lock of an open file. ``path``: its name. Errors: RecordError where another process holds
    it for too long.
    """
    if _lock(handle, path):
        try:
            yield
        finally:
            fcntl.flock(handle, fcntl.LOCK_UN)
        return
    beside = path.with_name(f"{path.name}.lock")
    _make(beside)
    try:
        yield
    finally:
        with suppress(OSError):
            beside.unlink()


def _lock(handle: int, path: Path) -> bool:
    """Lock an open file. Returns False where this file system has no locks."""
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() > until:
                raise RecordError(
                    f"{path} is locked by another process for {PATIENCE_S:.0f} s",
                    hint="it may be stopped: 'fuser -v' on its host names it; then give the command again",
                ) from error
            time.sleep(_STEP_S)
        except OSError:
            return False
        else:
            return True


def _make(beside: Path) -> None:
    """Create a file that only one process can create. A killed process leaves it, and no other host can tell, so a person must
    delete it.
    """
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        except FileExistsError as error:
            if time.monotonic() > until:
                raise RecordError(
                    f"{beside} is there for {PATIENCE_S:.0f} s: another process holds the register, or was killed",
                    hint=f"it says who made it; where that process is gone, remove it: rm {beside}",
                ) from error
            time.sleep(_STEP_S)
        except OSError as error:
            raise RecordError(f"{beside} cannot be made: {error.strerror}") from error
        else:
            os.write(handle, f"{os.uname().nodename} {os.getpid()}\n".encode())
            os.close(handle)
            return
