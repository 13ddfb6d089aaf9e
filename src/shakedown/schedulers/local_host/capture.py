"""The output of one run while it comes: from a pipe into memory, and into a file of its own once it is large.

Standard output and error share the pipe, so their order is kept. However fast a job writes, each call here reads a limited amount.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import zlib
from typing import Any

from shakedown.model.layout import Layout
from shakedown.processes.file_sync import FileSync, begin_sync
from shakedown.schedulers.made_directories import make_directory
from shakedown.schedulers.output_archive import NO_ROOM, PackWriter

SPILL_BYTES = 64 << 10  # more than this does not stay in memory
KEEP_BYTES = 4 << 30  # more than this is not kept at all
_SYNCED_BYTES = (
    64 << 20
)  # a larger file takes a disk long: a process waits for it, else nobody would be listened to meanwhile
HELD_BYTES = 16 << 20  # what is kept of it in memory while the disk does not take it
_MOST_TRIES = 10  # half a second lies between two
_CHUNK_BYTES = 1 << 20  # read in one call at most; also how large the pipe of a talkative job is made


class Capture:
    """The output of one run. ``descriptor``: the pipe's reading end, which the owner closes. ``seen``: bytes that the run wrote;
    ``kept``: how many of them are kept.
    """

    __slots__ = (
        "_chunks",
        "_crc",
        "_file",
        "_held",
        "_keep",
        "_layout",
        "_pipe_bytes",
        "_run",
        "_sync",
        "_tries",
        "_trouble",
        "descriptor",
        "kept",
        "seen",
    )

    def __init__(self, descriptor: int, layout: Layout, run: str, keep_bytes: int = KEEP_BYTES) -> None:
        """``keep_bytes``: the most that is kept; everything after that is read and dropped."""
        os.set_blocking(descriptor, False)
        self.descriptor = descriptor
        self.seen = 0  # bytes that the run wrote
        self.kept = 0  # bytes of them that we have
        self._layout = layout
        self._run = run
        self._keep = keep_bytes
        self._chunks: list[bytes] = []
        self._file = -1
        self._crc = 0  # of what is in the file
        self._pipe_bytes = SPILL_BYTES
        self._trouble = ""  # why the disk did not take something
        self._tries = 0  # of a disk that is not full and takes nothing all the same
        self._held = bytearray()  # that which it did not take
        self._sync: FileSync | None = None  # under way, of a large file

    def read_some(self) -> bool | None:
        """Purpose: read what is there. True: more may follow at once; None: nothing is there now; False: the output has ended."""
        try:
            data = os.read(self.descriptor, self._pipe_bytes)
        except BlockingIOError:
            return None
        if not data:
            return False
        self.seen += len(data)
        self._keep_data(data)
        return True

    def drain(self) -> bool:
        """Purpose: read what an ended run left in the pipe. False where some process still has the pipe open."""
        limit = self.seen + 2 * _CHUNK_BYTES  # a survivor may write as fast as we read
        state = self.read_some()
        while state and self.seen < limit:
            state = self.read_some()
        return state is False

    def is_held(self) -> bool:
        """Purpose: whether the disk does not have all of a large output yet, for a run that ended. Tries again to write it."""
        if self._held:
            self._try_again()
        if self._tries > _MOST_TRIES:
            self._held.clear()
        return bool(self._held) or self._is_being_synced()

    def finish(self, packs: PackWriter) -> tuple[dict[str, Any], str]:
        """Purpose: the pointer to the kept output, and a sentence where that is not all of it or not safe; "" otherwise."""
        unsure = ""
        if self._file >= 0:
            unsure = self._synced()  # a loss of power must not leave less than the verdict points to
            os.close(self._file)
            self._file = -1
            path = self._layout.output(self._run).relative_to(self._layout.root)
            output: dict[str, Any] = {"file": str(path), "bytes": self.kept, "crc": f"{self._crc:08x}"}
            if self._trouble:
                output["lost"] = self._trouble
        elif self.kept:
            output = packs.append(b"".join(self._chunks))
        else:
            output = {}
        if self.seen == self.kept:
            return output, unsure
        why = self._trouble or "that is the most that is kept of one run"
        said = f"of {self.seen} bytes of output the first {self.kept} were kept: {why}"
        return output, f"{said}; {unsure}" if unsure else said

    def _is_being_synced(self) -> bool:
        """Whether a large file is still being written to disk. Only for a run that ended, so that nothing is added to it."""
        if self._file < 0 or self.kept <= _SYNCED_BYTES:
            return False
        if self._sync is None:
            self._sync = begin_sync(self._file)
        return self._sync is not None and not self._sync.is_over()

    def _synced(self) -> str:
        """A sentence where the disk does not confirm that it has the whole file; "" where it does."""
        try:
            status = self._sync.wait() if self._sync is not None else -1
            if status < 0:  # nobody waited for it, or who did was ended
                os.fdatasync(self._file)
            elif status:
                raise OSError(status, os.strerror(status))
        except OSError as error:
            return f"a loss of power may take its output: the disk does not confirm that it has it: {error.strerror}"
        return ""

    def _keep_data(self, data: bytes) -> None:
        room = self._keep - self.kept - len(self._held)
        if room < len(data):
            data = data[:room]
        if not data or (self._trouble and not self._held):
            return
        if self._file < 0 and not self._held and self.kept + len(data) <= SPILL_BYTES:
            self._chunks.append(data)
            self.kept += len(data)
        elif self._file < 0 or self._held:
            self._hold(data)
        else:
            try:
                data = data[self._write(data) :]
            except OSError as error:
                self._trouble = str(error.strerror)
            if data:
                self._hold(data)

    def _hold(self, data: bytes) -> None:
        """Keep in memory what the disk does not take. What exceeds the limit is lost, with everything after it."""
        self._held += data
        if not self._trouble or len(self._held) > HELD_BYTES:
            self._try_again()
        if len(self._held) > HELD_BYTES:
            self._held.clear()

    def _try_again(self) -> None:
        """Try to write what is kept in memory. What the disk still does not take stays there."""
        try:
            if self._file < 0:
                self._spill()
            while self._held:
                del self._held[: self._write(bytes(self._held[:_CHUNK_BYTES]))]
            self._trouble, self._tries = "", 0
        except OSError as error:
            self._trouble = str(error.strerror)
            self._tries += error.errno not in NO_ROOM

    def _write(self, data: bytes) -> int:
        """Write to the file and return how many bytes it took. Raises OSError."""
        written = os.write(self._file, data)
        self.kept += written
        self._crc = zlib.crc32(data[:written], self._crc)
        return written

    def _spill(self) -> None:
        """The run writes much: give its output a file, and its pipe more room, so that it waits less often."""
        path = self._layout.output(self._run)
        make_directory(path.parent, self._layout.root)
        path.unlink(
            missing_ok=True
        )  # of a driver that was killed, or a link that the run made: nothing is written through it
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        chunks, self._chunks, self.kept, self._crc = self._chunks, [], 0, 0
        self._held[:0] = b"".join(chunks)
        self._pipe_bytes = _CHUNK_BYTES
        with contextlib.suppress(OSError):  # a user may hold only so many large pipes
            fcntl.fcntl(self.descriptor, fcntl.F_SETPIPE_SZ, _CHUNK_BYTES)
