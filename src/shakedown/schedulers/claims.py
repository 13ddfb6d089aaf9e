"""Claims and work directories: what a job finds on disk before it starts, and tidying up when it is over."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from dataclasses import dataclass, field
from pathlib import Path

from shakedown.events.plain_files import read_plain
from shakedown.model.errors import ShakedownError
from shakedown.model.layout import Layout
from shakedown.model.nouns import Pairs
from shakedown.schedulers.copied_inputs import copy_input
from shakedown.schedulers.linked_inputs import deepest_first, link_input, made_links
from shakedown.schedulers.made_directories import make_directory
from shakedown.schedulers.output_archive import NO_ROOM

# What passes by itself or when somebody makes room: worth another try.
TRANSIENT = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.ENOMEM, errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.EINTR, errno.ESTALE}
)

# What a file system answers that knows no hard links, or has no room for one more of a file.
_NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV})

CONDUCTOR = "conductor"  # what a claim says that no job holds


class CannotStart(ShakedownError):
    """A job cannot be started now. ``transient``: it may work later; ``no_room``: it works once the disk has room again."""

    def __init__(self, message: str, transient: bool = False, no_room: bool = False) -> None:
        super().__init__(message)
        self.transient, self.no_room = transient, no_room


@dataclass(slots=True)
class Workplace:
    """The claims and work directories of one campaign.

    Directories that hold a thousand others are made once and remembered. ``forsaken``: another conductor works here, so nothing is
    tidied up any more.
    """

    layout: Layout
    forsaken: bool = False  # another conductor works here: nothing is tidied any more
    _made: set[str] = field(default_factory=set)
    _spare: dict[str, None] = field(default_factory=dict)  # empty directories of runs that are over
    _mode: int = 0  # of a directory as it is made here
    _let_go: int = -1  # a descriptor
    _were_let_go: frozenset[str] | None = None  # by conductors before us

    def prepare(self, run: str, place: str, files: Pairs, claim: str = "", copied: bool = False) -> None:
        """Purpose: make the run's empty directory, link or copy (``copied``) its input files into it, and make a directory for the
        claim if one is named. Raises CannotStart with a sentence.
        """
        try:
            if claim:
                self._parent(claim)
                _refuse_strange(claim)
            self._parent(place)
            self._make(place)
            if copied:
                for name, target in files:
                    copy_input(Path(target), Path(place, name))
                return
            for name, target in deepest_first(files):
                _link(place, name, target)
        except OSError as error:
            raise cannot_start(run, error, self.layout) from error

    def check_files(self, files: Pairs) -> None:
        """Purpose: check that input files exist and that their names stay inside the run's directory. Raises OSError."""
        for name, target in files:
            if Path(name).is_absolute() or ".." in Path(name).parts:
                raise OSError(errno.EINVAL, "the name of an input file leads out of the run's directory", name)
            if not Path(target).exists():
                raise OSError(errno.ENOENT, "an input file is missing", target)

    def tidy(self, place: str, files: Pairs) -> None:
        """Purpose: remove the directory of a run that wrote no file. Links to input files, and directories made for them, do not
        count as its files; a file that the run put in the place of such a link does.
        """
        if self.forsaken:
            return
        with contextlib.suppress(OSError):
            made = made_links(place, files)
            if made is not None:
                links, folders = made
                for link in links:
                    os.unlink(link)  # noqa: PTH108
                for folder in reversed(folders):
                    os.rmdir(folder)  # noqa: PTH106
                self._spare[place] = None

    def tidy_up(self) -> None:
        """Remove the empty directories that are kept for other runs."""
        for place in self._spare if not self.forsaken else ():
            with contextlib.suppress(OSError):  # somebody put something there in the meantime
                Path(place).rmdir()
        self._spare.clear()

    def _make(self, place: str) -> None:
        """Make an empty directory; if there is a spare one, by renaming it.

        Removing a directory for each new one is slow: ext4 does not reuse an inode for some seconds after it was freed, and
        searches past all of these.
        """
        self._spare.pop(place, None)  # the run's own, of an order that was taken back: it must not be another's as well
        if self._spare:
            spare, _ = self._spare.popitem()
            with contextlib.suppress(OSError):
                if os.stat(spare).st_mode == self._mode:  # noqa: PTH116
                    os.rename(spare, place)  # noqa: PTH104
                    return
        try:
            os.mkdir(place)  # noqa: PTH102
        except FileExistsError:
            pass
        except FileNotFoundError:  # the directory that was made for it is gone: a file system that removes what is old
            make_directory(place, self.layout.root)
        self._mode = self._mode or os.stat(place).st_mode  # noqa: PTH116

    def write_script(self, job: str, restart: int, script: str) -> Path:
        """Purpose: write the script to a file, where it is too long to be an argument. Raises OSError."""
        path = self._script(job, restart)
        path.write_text(script, encoding="utf-8", errors="surrogateescape")
        return path

    def remove_script(self, job: str, restart: int) -> None:
        if not self.forsaken:
            self._script(job, restart).unlink(missing_ok=True)

    def _script(self, job: str, restart: int) -> Path:
        claim = self.layout.claim(job, restart)
        return claim.with_name(f"{claim.name}.sh")

    def take_claim(self, job: str, restart: int) -> bool:
        """Purpose: take a job's claim for the conductor, so that the job can never start. False where the job has it. Raises
        CannotStart where the disk does not show it.
        """
        if make_claim(self.layout.claim(job, restart), job, self.layout):
            return True
        return self.claim_holder(job, restart) == CONDUCTOR  # a conductor that died before it could say so took it

    def claim_holder(self, job: str, restart: int) -> str | None:
        """Purpose: what the claim says: the process id of the job's shell, "conductor", or "" if nothing can be read; None: there
        is no claim.
        """
        try:
            return read_plain(self.layout.claim(job, restart)).decode("utf-8", "replace").strip()
        except FileNotFoundError:
            return None
        except OSError:
            return ""

    def note_let_go(self, job: str, restart: int) -> None:
        """Purpose: write down that a job was allowed to start, so that it may have run whatever its claim says later. The note
        outlives this process.
        """
        line = b"%s.%d\n" % (job.encode(), restart)
        with contextlib.suppress(OSError):  # then its claim alone tells
            if self._let_go < 0:
                flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
                self._let_go = os.open(self.layout.let_go, flags, 0o666)
            os.write(self._let_go, line)

    def was_let_go(self, job: str, restart: int) -> bool:
        """Purpose: whether an earlier conductor allowed a job to start."""
        if self._were_let_go is None:
            try:
                self._were_let_go = frozenset(read_plain(self.layout.let_go).decode("ascii", "replace").split("\n"))
            except OSError:
                self._were_let_go = frozenset()
        return f"{job}.{restart}" in self._were_let_go

    def close(self) -> None:
        if self._let_go >= 0:
            os.close(self._let_go)
            self._let_go = -1

    def _parent(self, path: str) -> None:
        parent = path.rpartition("/")[0]
        if parent not in self._made:
            make_directory(parent, self.layout.root)
            self._made.add(parent)


def _refuse_strange(claim: str) -> None:
    """A shell would take a pipe or a device for a claim that nobody has, so these are refused. Raises OSError."""
    try:
        mode = os.lstat(claim).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        raise OSError(errno.EEXIST, "something that is no regular file is in the place of its claim", claim)


def is_full(place: str) -> bool:
    """Purpose: whether a directory's file system has no room at all. False where it cannot be asked."""
    try:
        found = os.statvfs(place)
    except OSError:
        return False
    return (found.f_blocks > 0 and found.f_bavail == 0) or (found.f_files > 0 and found.f_favail == 0)


def make_claim(path: Path, job: str, layout: Layout) -> bool:
    """Purpose: make a claim for the conductor, whole or not at all. False where there is one already. Raises CannotStart where the
    disk does not show it.

    The words are first written into a file of another name, which is then linked to the name of the claim. So a kill in between
    leaves no empty claim, which could be anybody's. As with O_EXCL, linking fails where the name is taken.
    """
    try:
        make_directory(path.parent, layout.root)
        return not os.path.lexists(path) and _link_claim(path)
    except OSError as error:
        raise CannotStart(f"the claim of job {job} cannot be taken: {_because(error, layout)}") from error


def _link_claim(path: Path) -> bool:
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")  # what a kill leaves of it is never opened again
    try:
        _write_new(draft)
        os.link(draft, path)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS or not draft.exists():
            raise
        return _claim_without_links(path)
    finally:
        with contextlib.suppress(OSError):
            draft.unlink()
    return True


def _claim_without_links(path: Path) -> bool:
    """Make the claim on a file system without hard links. There, a kill at the wrong moment may leave an empty claim."""
    try:
        _write_new(path)
    except FileExistsError:
        return False
    return True


def _write_new(path: Path) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        os.write(descriptor, f"{CONDUCTOR}\n".encode())
    finally:
        os.close(descriptor)


def cannot_start(run: str, error: OSError, layout: Layout) -> CannotStart:
    """The error for a run that the operating system would not let start, with its reason."""
    if error.errno == errno.E2BIG:
        return CannotStart(f"run {run} cannot be started: its environment is larger than this system allows")
    return CannotStart(
        f"run {run} cannot be started: {_because(error, layout)}", error.errno in TRANSIENT, error.errno in NO_ROOM
    )


def _because(error: OSError, layout: Layout) -> str:
    if not error.filename:
        return str(error.strerror)
    path = Path(os.fsdecode(error.filename2 or error.filename))
    place = path.relative_to(layout.root) if path.is_relative_to(layout.root) else path
    return f"{error.strerror} ({_printable(str(place))})"


def _printable(name: str) -> str:
    """A name as one line that can be recorded, even if it is not UTF-8 or contains line ends."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


def _link(place: str, name: str, target: str) -> None:
    """Make an input file or input directory appear in the run's directory."""
    if "/" in name:
        Path(place, name).parent.mkdir(parents=True, exist_ok=True)
    link_input(f"{place}/{name}", os.path.normpath(target))
