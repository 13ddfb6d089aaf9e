"""What a worker may read of a run: its kept output, and the files that it left inside the run's and the campaign's directories.

Whatever a test left there must neither block the worker nor mislead it: a fifo, a device, a link to somewhere else, a terabyte.
``RunReader`` is where to begin; for everything that cannot be read there is a sentence.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from shakedown.checks.text import (
    LINE_LIMIT,
    NOT_AS_WRITTEN,
    Contents,
    Missing,
    Text,
    cut,
    decode,
    excerpt,
    joined,
    printable,
)
from shakedown.conductor.workers.whole_files import read_all, read_reference
from shakedown.events.plain_files import LINK_CHARACTERS, link_of
from shakedown.model.layout import Layout
from shakedown.model.nouns import Pairs
from shakedown.model.recorded import Recorded
from shakedown.model.steps import lost_ranks
from shakedown.schedulers.linked_inputs import is_linked_below
from shakedown.schedulers.output_sums import (
    UNSURE,
    make_durable,
    needs_sums,
    sums_of_marks,
    sums_of_parts,
)

Read = TypeVar("Read")

MOST_JOINED = 100  # files that one pattern of a check or a figure may find
MOST_LEFT, LEFT_CHARACTERS = (
    16,
    400,
)  # files that a run hands on, and what their names may take: they stand in its verdict
TOO_MANY_LEFT = (
    f"a run hands on at most {MOST_LEFT} files, with {LEFT_CHARACTERS} characters of names; pack them into one (tar)"
)
_PATTERN = re.compile(r"[*?\[]")
_CHUNK = 1 << 20
_EXCERPT_BYTES = 16 << 10
_LAUNCHER_BYTES = 64 << 10  # where a launcher's words are looked for, if nothing else asked for the whole output
_KINDS = {
    stat.S_IFIFO: "a fifo",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
    stat.S_IFDIR: "a directory",
    stat.S_IFLNK: "a link to itself",
}


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """How much of one run a worker reads, and how long it may take. Sizes in bytes (``line``: characters), times in seconds.

    Times are processor time, so that a machine which is busy, swaps or waits for disks takes nothing away from a run. Only ``wall``
    is elapsed time: a worker that exceeds it was stopped or waits for something, which says nothing about the run.
    """

    scanned: int = 64 << 20  # of one output or file; of a larger one the beginning and the end are read
    line: int = LINE_LIMIT  # of one line handed to a regular expression
    seconds: float = 5.0  # for everything that one run asks for
    quick: float = 0.5  # for one check or figure, before all others had their turn
    excerpt: float = 0.5  # for the last lines of an output that nothing else asked for
    handing: float = 40.0  # for the sums of files that other runs are given
    classify: float = 40.0  # for the line that tells most of a failure: reached by a pattern that explodes alone
    grace: float = 2.0  # what a worker may be late before it is replaced
    wall: float = 120.0  # from the beginning to the end of one run, whatever the worker waits for
    memory: int = 2 << 30  # what a worker may take more than it began with
    files: int = 10_000  # that one golden glob may find


@dataclass(slots=True)
class OpenPack:
    """The file of the output archive that was read last, kept open: runs that end together are usually in the same one."""

    name: str = ""
    descriptor: int = -1

    def open(self, packs: Path, name: str) -> int:
        """Purpose: a descriptor of that file. Raises OSError."""
        if name != self.name:
            if self.descriptor >= 0:
                os.close(self.descriptor)
            self.name, self.descriptor = "", -1
            self.descriptor = os.open(packs / name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
            self.name = name
        return self.descriptor


@dataclass(slots=True)
class RunReader:
    """Reads what one run left, each thing once. ``output``: the pointer in the record. ``files``: the run's inputs."""

    layout: Layout
    run: str
    output: Mapping[str, Any]
    files: Pairs
    limits: ReadingLimits
    pack: OpenPack
    trouble: list[str] = field(default_factory=list)  # what could not be read for reasons that are not the run's
    remarks: list[str] = field(default_factory=list)  # sentences about what was kept
    recorded: dict[str, Recorded] = field(default_factory=dict)  # pattern -> sums that are kept with the verdict
    _known: dict[str, Contents] = field(default_factory=dict)
    _roots: list[str] = field(default_factory=list)
    _sums: dict[str, Any] = field(default_factory=dict)

    def read(self, subject: str) -> Contents:
        """Purpose: the contents of ``output`` or of a file in the run's directory."""
        if subject not in self._known:
            contents = self._read_output() if subject == "output" else self._read_file(subject)
            self._known[subject] = self.noted(contents)
        return self._known[subject]

    def noted(self, contents: Read) -> Read:
        """The contents, unchanged. Trouble is remembered, since it may be why the run cannot be judged."""
        if isinstance(contents, Missing) and contents.trouble:
            self.trouble.append(contents.detail)
        return contents

    def look(self, path: str) -> Missing | None:
        """Purpose: None where a regular file is there; else why it is not, or why that cannot be told."""
        named = self._named(path)
        if isinstance(named, Missing):
            return named
        handle = self._told(named[0], self._present(partial(_find, named[0], self._path(named[0]), self._allowed())))
        if isinstance(handle, Missing):
            return self.noted(handle)
        os.close(handle)
        return None

    def digests(self, glob: str, wanted: Collection[str]) -> dict[str, str | Missing]:
        """Purpose: path -> sha256, for every file that the glob finds and every wanted one that is there; or why it has none."""
        found: dict[str, str | Missing] = {}
        for path in dict.fromkeys([*self._glob(glob, found), *wanted]):
            found[path] = self._sum(path)
        return found

    def left(self, pattern: str) -> dict[str, str] | str:
        """Purpose: path -> sha256, for every file that the pattern finds in the run's own directory; or a sentence why they cannot
        be handed on.
        """
        problems: dict[str, str | Missing] = {}
        paths = self._glob(pattern, problems)
        why = next((one for one in problems.values() if isinstance(one, Missing)), None)
        if why is not None:
            return why.detail
        if not paths:
            away = self._away()
            return self.noted(Missing(pattern, away, trouble=True)).detail if away else "there is no such file"
        if len(paths) > MOST_LEFT or sum(map(len, paths)) > LEFT_CHARACTERS:
            return TOO_MANY_LEFT
        found: dict[str, str] = {}
        for path in paths:
            sum_ = self._sum(path, [os.path.realpath(self.directory)])
            if isinstance(sum_, Missing):
                return sum_.detail
            found[path] = sum_
        return found

    def whole(self, path: str) -> bytes | Missing:
        """Purpose: all bytes of a file of the run, for formats that are not text."""
        found = self._open(path)
        most = self.limits.scanned
        return self.noted(
            found if isinstance(found, Missing) else read_all(found, path, f"file {printable(path)}", most)
        )

    def reference(self, path: str, sha256: str) -> bytes | Missing:
        """Purpose: the bytes of a reference beside a test, if it is still the one that was frozen with the plan."""
        return self.noted(read_reference(path, sha256, self.limits.scanned))

    def excerpt(self) -> str:
        """The last lines of the output; "" where there is none. It is read for this only if nothing else has read it."""
        known = self._known.get("output")
        if known is None:
            known = self._read_output(_EXCERPT_BYTES)
            if isinstance(known, Missing):
                self._known["output"] = self.noted(known)  # worth a sentence, though no check asked for it
        return excerpt(known) if isinstance(known, Text) else ""

    def lost_ranks(self) -> str:
        """Purpose: the words in which a launcher says that ranks were lost, in all that was read of the output, else in its end; ""
        where it does not. Tasks in steps that the script itself ended (``ended_steps``) do not count.
        """
        known = self._known.get("output") or self._read_output(_LAUNCHER_BYTES)
        ended = bool(self.output.get("ended_steps"))
        found = (lost_ranks(part, ended) for part in known.parts) if isinstance(known, Text) else ()
        return next(filter(None, found), "")

    def parts(self, head: int, tail: int) -> tuple[str, ...]:
        """Purpose: the beginning and the end of the output, up to ``head`` and ``tail`` bytes, or what was read of it already."""
        known = self._known.get("output")
        if known is None:
            known = self._read_output(tail, head)
        return known.parts if isinstance(known, Text) else ()

    def sums(self) -> dict[str, Any]:
        """Purpose: the sums by which changes of a cluster's output and marks are found later; {} where the pointer has its sum
        already.

        They are durable after this, or a remark says that they may not be. If a link is in the output's place, it is where that
        leads. The output is read for this only if nothing else has read all of it. What cannot be read has no sum.
        """
        if not needs_sums(self.output):
            return {}
        if link := link_of(self.layout.root / str(self.output["file"])):
            return {"link": cut(printable(link), LINK_CHARACTERS)}
        if not self._sums:
            self._read_output()
        if trouble := make_durable(self.layout, self.output):
            self.remarks.append(f"{UNSURE}: {trouble}")
        return self._sums | sums_of_marks(self.layout, self.output)

    def problems(self) -> list[str]:
        """Sentences about problems with what was read, in that order."""
        said: list[str] = []
        for contents in self._known.values():
            said.extend(contents.problems if isinstance(contents, Text) else [contents.detail])
        said.extend(self.remarks)
        return list(dict.fromkeys(said))

    # ---- the output ----

    def _read_output(self, tail: int = 0, head: int = 0) -> Contents:
        """The output as far as it is scanned; with ``tail``, only that many bytes of its end and ``head`` of its beginning.

        A job's script makes the file of its output before anything runs, so a missing file was removed, and is not an empty output.
        """
        pointer = self.output
        size = int(pointer.get("bytes", 0))
        if "lost" in pointer:
            return Missing("output", f"the output could not be kept: {printable(str(pointer['lost']))}", trouble=True)
        if not size and "file" not in pointer:
            return decode("output", b"", absent=True)
        name = str(pointer.get("pack") or pointer.get("file") or "")
        try:
            if "pack" in pointer:
                descriptor = self.pack.open(self.layout.packs, name)
                return self._slice(descriptor, int(pointer.get("offset", 0)), size, tail, head)
            if link := link_of(self.layout.root / name):
                why = f"a link to {printable(link)} lies in the place of its output, so it is not read"
                return Missing("output", why)
            opened = _open_regular("output", self.layout.root / name, self._allowed())
            if isinstance(opened, Missing):
                return Missing("output", f"the output is gone: {opened.detail}", trouble=True)
            try:
                return self._slice(opened, 0, size, tail, head) if size else decode("output", b"", absent=True)
            finally:
                os.close(opened)
        except OSError as error:
            why = f"the output is gone: {printable(name)} cannot be read: {error.strerror}"
            return Missing("output", why, trouble=True)

    def _slice(self, descriptor: int, offset: int, size: int, tail: int, head: int) -> Contents:
        """The output, or its beginning and end, out of a larger file. A file that is too short is reported."""
        there = min(size, max(0, os.fstat(descriptor).st_size - offset))
        if there < size:
            return Missing("output", f"the output is gone: of its {size} bytes {there} are left", trouble=True)
        if tail and tail + head < size:
            end = _read(descriptor, offset + size - tail, tail)
            return (
                decode("output", _read(descriptor, offset, head), end, size - tail - head)
                if head
                else decode("output", end)
            )
        parts = self._parts(descriptor, offset, size)
        self._sums = sums_of_parts(parts)
        wanted = self.output.get("crc")
        if wanted and self._sums.get("crc", wanted) != wanted:
            return Missing("output", NOT_AS_WRITTEN, trouble=True)
        return self._decode("output", parts, size)

    def _parts(self, descriptor: int, offset: int, size: int) -> tuple[bytes, ...]:
        """All of it, or its beginning and end if it is larger than what is scanned."""
        if size <= self.limits.scanned:
            return (_read(descriptor, offset, size),)
        half = self.limits.scanned // 2
        return _read(descriptor, offset, half), _read(descriptor, offset + size - half, half)

    def _decode(self, subject: str, parts: tuple[bytes, ...], size: int) -> Text:
        if len(parts) == 1:
            return decode(subject, parts[0], limit=self.limits.line)
        head, tail = parts
        return decode(subject, head, tail, size - len(head) - len(tail), self.limits.line)

    # ---- files ----

    def _read_file(self, path: str) -> Contents:
        named = self._named(path)
        if isinstance(named, Missing):
            return named
        if len(named) == 1:
            return self._read_one(named[0])
        read = [self._read_one(name) for name in named]
        absent = next((contents for contents in read if isinstance(contents, Missing)), None)
        return absent or joined(path, [contents for contents in read if isinstance(contents, Text)])

    def _named(self, path: str) -> list[str] | Missing:
        """The files that a path means: the file with that name, or those it matches as a pattern, sorted by name."""
        if not _PATTERN.search(path) or (self.directory / path).is_file():
            return [path]
        missing: dict[str, str | Missing] = {}
        found = self._glob(path, missing)
        for why in missing.values():
            if isinstance(why, Missing):
                return why
        if len(found) > MOST_JOINED:
            return Missing(path, f"{printable(path)} finds {len(found)} files, and {MOST_JOINED} are the most", False)
        return found or [path]

    def _read_one(self, path: str) -> Contents:
        descriptor = self._open(path)
        if isinstance(descriptor, Missing):
            return descriptor
        try:
            size = os.fstat(descriptor).st_size
            return self._decode(path, self._parts(descriptor, 0, size), size)
        except OSError as error:
            return Missing(path, f"file {printable(path)} cannot be read: {error.strerror}", trouble=True)
        finally:
            os.close(descriptor)

    def _sum(self, path: str, roots: Sequence[str] = ()) -> str | Missing:
        descriptor = self._open(path, roots)
        if isinstance(descriptor, Missing):
            return self.noted(descriptor)
        digest = hashlib.sha256()
        try:
            while data := os.read(descriptor, _CHUNK):
                digest.update(data)
        except OSError as error:
            gone = Missing(path, f"file {printable(path)} cannot be read: {error.strerror}", trouble=True)
            return self.noted(gone)
        finally:
            os.close(descriptor)
        return digest.hexdigest()

    def _glob(self, glob: str, found: dict[str, str | Missing]) -> list[str]:
        """Files in the run's directory that the glob matches, without directories, as in a shell. Links to files of an input
        directory are left out as well, unless the glob is exactly their path: the run left what lies beside them.
        """
        directory = self.directory
        if not glob:
            return []
        paths: list[str] = []
        try:
            for path in directory.glob(glob):
                name = str(path.relative_to(directory))
                if not path.is_dir() and (name == glob or not is_linked_below(str(directory), name, self.files)):
                    paths.append(name)
                if len(paths) > self.limits.files:
                    found[glob] = Missing(glob, f"{printable(glob)} finds more than {self.limits.files} files")
                    break
        except OSError as error:
            gone = Missing(glob, f"{printable(glob)} cannot be looked for: {error}", trouble=True)
            self.noted(gone)
            found[glob] = gone
        except (ValueError, NotImplementedError) as error:
            found[glob] = Missing(glob, f"{printable(glob)} cannot be looked for: {error}")
        return sorted(paths)

    def _open(self, path: str, roots: Sequence[str] = ()) -> int | Missing:
        """A descriptor of a file of the run. ``roots``: where it may lie, in place of everywhere a run may be read."""
        return self._told(path, self._present(partial(_open_regular, path, self._path(path), roots or self._allowed())))

    def _told(self, path: str, found: int | Missing) -> int | Missing:
        """The same result; where an input of the run is missing because its link was removed after the run, with that reason and
        the way out.
        """
        if not isinstance(found, Missing) or found.held is not False or os.path.lexists(self._path(path)):
            return found
        if not any(path == name or path.startswith(f"{name}/") or fnmatchcase(name, path) for name, _ in self.files):
            return found
        why = "it is an input of the run, whose link is taken away when the run is over"
        way_out = "have it copied for each run with stage: copy, or copy it under another name in the command"
        return replace(found, detail=f"{found.detail}: {why}; {way_out}")

    def _present(self, look: Callable[[], int | Missing]) -> int | Missing:
        """What ``look`` returns. A missing file says something about the run only if the place where it would be is there. So it is
        looked for again once that is certain, since it may have come back meanwhile.
        """
        found = look()
        if not isinstance(found, Missing) or found.held is not False:
            return found
        away = self._away()
        return Missing(found.subject, f"{found.detail}, and {away}", trouble=True) if away else look()

    def _away(self) -> str:
        """What hides all files of the run, or "": a directory that was moved, a file system that is not mounted."""
        places = [(self.layout.root, "the campaign's directory"), (self.layout.work, "the directory of all runs")]
        if self.output.get("directory") or self.directory.is_symlink():  # made for the run, whatever it left there
            places.append((self.directory, "the run's directory"))
        for place, name in places:
            try:
                place.stat()
            except OSError as error:
                if place != self.layout.work or place.is_symlink() or error.errno != errno.ENOENT:
                    return f"{name} is away: {error.strerror}"
        return ""

    def _path(self, path: str) -> Path:
        return self.directory / path

    @property
    def directory(self) -> Path:
        """The directory in which the run worked."""
        return run_directory(self.layout, self.run, self.output)

    def _allowed(self) -> list[str]:
        """Where a path may lead: the directories of the run, of the campaign and of its builds, and the run's own input files."""
        if not self._roots:
            places = (self.directory, self.layout.root, self.layout.builds)
            inputs = [path for _, path in self.files]
            if self.directory.is_symlink():  # on a target, where inputs may be kept once for all its runs
                above = Path(os.path.realpath(self.directory)).parents
                inputs += [str(folder / "inputs") for folder in above[:2]]
            self._roots.extend(dict.fromkeys(os.path.realpath(place) for place in (*map(str, places), *inputs)))
        return self._roots


def run_directory(layout: Layout, run: str, output: Mapping[str, Any]) -> Path:
    """Purpose: where a run worked. For a cluster's run the report says so, since each restart of a job has its own directory."""
    place = output.get("directory")
    return layout.root / place if isinstance(place, str) and place else layout.work_directory(run)


def _read(descriptor: int, offset: int, size: int) -> bytes:
    """``size`` bytes, or fewer where the file ends. Raises OSError."""
    data = os.pread(descriptor, size, offset)
    if len(data) == size or not data:
        return data
    chunks, got = [data], len(data)
    while got < size and (data := os.pread(descriptor, size - got, offset + got)):
        chunks.append(data)
        got += len(data)
    return b"".join(chunks)


def _find(subject: str, path: Path, allowed: Collection[str]) -> int | Missing:
    """A handle (O_PATH) on a regular file in an allowed place. It is not opened for reading yet, so nothing can block."""
    name = f"file {printable(subject)}"
    try:
        real = os.path.realpath(path)
        if not any(real == root or real.startswith(f"{root}/") for root in allowed):
            link = f" (it is a link to {printable(real)})" if path.is_symlink() else ""
            return Missing(subject, f"{name} leads out of the run's directory, so it is not read{link}")
        handle = os.open(real, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        what = f"{name} is a link to nothing" if path.is_symlink() else f"there is no {name}"
        return Missing(subject, what, held=False)
    except OSError as error:
        if error.errno in (errno.ENOTDIR, errno.ENAMETOOLONG):
            return Missing(subject, f"there is no {name}: {error.strerror}", held=False)
        lasting = error.errno == errno.ELOOP or _is_denied(error, path)  # the run's own doing
        return Missing(subject, f"{name} cannot be read: {error.strerror}", trouble=not lasting)
    except ValueError as error:
        return Missing(subject, f"{name} cannot be read: {error}")
    kind = stat.S_IFMT(os.fstat(handle).st_mode)
    if kind == stat.S_IFREG:
        return handle
    os.close(handle)
    return Missing(subject, f"{name} is {_KINDS.get(kind, 'no regular file')}, so it is not read", held=False)


def _is_denied(error: OSError, path: Path | str) -> bool:
    """Whether the file really may not be read. The server of a file system that was away may say so too for a moment, although the
    file's modes allow it.
    """
    return error.errno in (errno.EACCES, errno.EPERM) and not os.access(path, os.R_OK, effective_ids=True)


def _open_regular(subject: str, path: Path, allowed: Collection[str]) -> int | Missing:
    """A descriptor to read from, of a regular file in an allowed place."""
    handle = _find(subject, path, allowed)
    if isinstance(handle, Missing):
        return handle
    try:
        return os.open(f"/proc/self/fd/{handle}", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        denied = _is_denied(error, f"/proc/self/fd/{handle}")
        return Missing(subject, f"file {printable(subject)} cannot be read: {error.strerror}", trouble=not denied)
    finally:
        os.close(handle)
