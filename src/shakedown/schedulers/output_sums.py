"""Sums of what a verdict is based on: a run's kept output, and the marks of a cluster's job. Later changes are found by them.

An output that came through a pipe has a sum by the conductor that kept it. A cluster's job writes its own output: its sum is taken
of the very bytes that are read when the run is judged. Of a large output only the beginning and the end are read, so only these
have sums; its length is recorded as well. Whoever reads an output later begins with ``damage_of_output``.
"""

from __future__ import annotations

import errno
import os
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from shakedown.events.plain_files import LINK_CHARACTERS, NotPlain, link_of, open_plain, read_plain
from shakedown.model.layout import Layout

_BLOCK = 1 << 20
_END_BYTES = 1 << 20  # of the beginning, and of the end, of an output that nobody reads
_NOTHING_TO_SYNC = (errno.ENOENT, errno.EINVAL, errno.ENOSYS, errno.EROFS, errno.EBADF, errno.EOPNOTSUPP)
_MARK_BYTES = 64 << 10
_WHOLE = b" .\n"  # how a mark ends that was written to its end


class OutputDamage(NamedTuple):
    """A file that is not what it was: its path inside the campaign, and what is wrong, in words."""

    path: str
    why: str

    def __str__(self) -> str:
        what = "the mark" if self.path.startswith("jobs/") else "the output in"
        return f"{what} {self.path} is damaged: {self.why}"


UNSURE = "a loss of power may take its output: the disk does not confirm that it has it"


# ---- taken when a run is judged --------------------------------------------------------------------------------------------


def needs_sums(output: Mapping[str, Any]) -> bool:
    """Purpose: whether a pointer is to a file that has no sum yet."""
    return "file" in output and "crc" not in output and "lost" not in output


def sums_of_parts(parts: Sequence[bytes]) -> dict[str, Any]:
    """Purpose: what to add to a pointer for the bytes that were read: ``crc`` where that is all, ``ends`` where there are two
    parts. ``ends``: the lengths of the beginning and the end, and the CRC-32 of each.
    """
    if len(parts) == 1:
        return {"crc": _shown(zlib.crc32(parts[0]))}
    head, tail = parts
    return {"ends": [len(head), _shown(zlib.crc32(head)), len(tail), _shown(zlib.crc32(tail))]}


def kept_unread(layout: Layout, output: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Purpose: the pointer with sums, for an output that is not read to judge its run, once the disk has it; and why a loss of
    power may take the output, "" where it cannot.

    Such a run was ended from outside. Of a large output only a beginning and an end are read. A pointer that needs no sums is
    unchanged. Marks get no sums here: the run may still live on a node that was lost, and write its end.
    """
    if not needs_sums(output):
        return output, ""
    path, size = layout.root / str(output["file"]), int(output.get("bytes", 0))
    if link := link_of(path):
        return output | {"link": "".join(c if c.isprintable() else "?" for c in link)[:LINK_CHARACTERS]}, ""
    trouble = make_durable(layout, output)
    try:
        with open_plain(path, follow=False) as file:
            if size <= 2 * _END_BYTES:
                parts = [file.read(size)]
            else:
                parts = [file.read(_END_BYTES)]
                file.seek(size - _END_BYTES)
                parts.append(file.read(_END_BYTES))
    except OSError:
        return output, trouble
    whole = sum(map(len, parts)) == min(size, 2 * _END_BYTES)
    sums = sums_of_parts(parts) if whole and size else {}
    return output | sums, trouble


def sums_of_marks(layout: Layout, output: Mapping[str, Any]) -> dict[str, Any]:
    """Purpose: ``marks``: name of each file of marks -> its CRC-32; {} where none was written to its end."""
    found = {}
    for path in layout.marks_of(str(output.get("file", ""))):
        data = _mark(path)
        if data is not None and data.endswith(_WHOLE):
            found[path.name] = _shown(zlib.crc32(data))
    return {"marks": found} if found else {}


def make_durable(layout: Layout, output: Mapping[str, Any]) -> str:
    """Purpose: make sure that a cluster's output and marks survive a loss of power, before a verdict points to them. Returns why
    the disk does not confirm it; "" where it does, or where the file system has nothing to confirm.
    """
    trouble = ""
    for path in (layout.root / str(output.get("file", "")), *layout.marks_of(str(output.get("file", "")))):
        try:
            with open_plain(path, follow=False) as file:
                os.fdatasync(file.fileno())
        except NotPlain:
            continue
        except OSError as error:
            if error.errno not in _NOTHING_TO_SYNC:
                trouble = trouble or str(error.strerror)
    return trouble


def _mark(path: Path) -> bytes | None:
    try:
        return read_plain(path, _MARK_BYTES)
    except OSError:
        return None


def _shown(sum_of_bytes: int) -> str:
    return f"{sum_of_bytes:08x}"


# ---- held against what is there --------------------------------------------------------------------------------------------


def damage_of_output(root: Path, output: Mapping[str, Any]) -> OutputDamage | None:
    """Purpose: what differs in a kept output or its marks from what was recorded; None where nothing does. ``root``: the campaign's
    directory. None too where there is no sum, or where a whole file is gone (see ``missing_output``).
    """
    try:
        return _of_bytes(root, output) or _of_marks(root, output)
    except (ValueError, TypeError, OverflowError):  # the record makes no sense: its readers say so
        return None


def output_damage(root: Path, output: Mapping[str, Any]) -> str:
    """Purpose: the same as a sentence; "" where there is no damage."""
    damage = damage_of_output(root, output)
    return "" if damage is None else str(damage)


def has_sum(output: Mapping[str, Any]) -> bool:
    """Purpose: whether a change of an output would be noticed. An output without any byte, or a lost one, cannot be changed."""
    return "crc" in output or "ends" in output or "lost" in output or not output.get("bytes")


def has_grown(root: Path, output: Mapping[str, Any]) -> bool:
    """Purpose: whether an output in a file of its own is longer than when its run was judged."""
    if not isinstance(output.get("file"), str) or not isinstance(output.get("bytes"), int):
        return False
    try:
        size = (root / str(output["file"])).stat().st_size
    except (OSError, ValueError):
        return False
    return size > int(output["bytes"])


def is_named(output: Mapping[str, Any]) -> bool:
    """Purpose: whether a pointer is to an output that was kept. One that was lost, or was a link, was not."""
    return bool(_name(output)) and "lost" not in output and "link" not in output


def missing_output(root: Path, output: Mapping[str, Any]) -> str:
    """Purpose: the path, inside the campaign, of a kept output whose whole file is gone; "" where it is there or cannot be told."""
    name = _name(output) if is_named(output) else ""
    return name if name and _is_gone(root / name) else ""


def missing_marks(root: Path, output: Mapping[str, Any]) -> list[str]:
    """Purpose: the paths, inside the campaign, of claims and marks that the verdict has sums of and that are gone."""
    wanted = output.get("marks")
    if not isinstance(wanted, dict):
        return []
    paths = [path for path in Layout(root).marks_of(str(output.get("file", ""))) if path.name in wanted]
    return [str(path.relative_to(root)) for path in paths if _is_gone(path)]


def _is_gone(path: Path) -> bool:
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False


_CHANGED = "it is not what was kept of the run"


def _of_bytes(root: Path, output: Mapping[str, Any]) -> OutputDamage | None:
    name = _name(output)
    if not name or "lost" in output or "link" in output:
        return None
    try:
        with open_plain(root / name, follow=False) as file:
            cut = _cut_short(name, output, os.fstat(file.fileno()).st_size)
            if cut is not None:
                return cut
            for offset, length, wanted in _spans(output):
                file.seek(offset)
                found, left = 0, length
                while left > 0 and (data := file.read(min(left, _BLOCK))):
                    found, left = zlib.crc32(data, found), left - len(data)
                if left > 0 or _shown(found) != wanted:
                    return OutputDamage(name, _CHANGED)
    except NotPlain as error:
        return OutputDamage(name, str(error.strerror))
    except NotADirectoryError:
        return OutputDamage(name, "something that is no directory lies in the place of the one that holds it")
    except OSError:
        return None
    return None


def _name(output: Mapping[str, Any]) -> str:
    return f"packs/{output['pack']}" if "pack" in output else str(output.get("file", ""))


def _cut_short(name: str, output: Mapping[str, Any], size: int) -> OutputDamage | None:
    """The damage of a file that ends before its output does; None where it does not."""
    offset, length = int(output.get("offset", 0)), int(output.get("bytes", 0))
    if not length or offset + length <= size:
        return None
    if "pack" in output:
        why = f"it is cut short: that output lies in bytes {offset} to {offset + length}, and {size} are there"
        return OutputDamage(name, why)
    return OutputDamage(name, f"it had {length} bytes when the run was judged, and is shorter: {size} are there")


def _spans(output: Mapping[str, Any]) -> list[tuple[int, int, str]]:
    """Offset, length and sum of each stretch that has a sum. Raises ValueError, TypeError where the record makes no sense."""
    offset, length = int(output.get("offset", 0)), int(output.get("bytes", 0))
    if isinstance(output.get("crc"), str):
        return [(offset, length, output["crc"])]
    if isinstance(output.get("ends"), list):
        head, of_head, tail, of_tail = output["ends"]
        return [(0, int(head), of_head), (length - int(tail), int(tail), of_tail)]
    return []


def _of_marks(root: Path, output: Mapping[str, Any]) -> OutputDamage | None:
    wanted = output.get("marks")
    if not isinstance(wanted, dict):
        return None
    for path in Layout(root).marks_of(str(output.get("file", ""))):
        if path.name not in wanted:
            continue
        try:
            data: bytes | None = read_plain(path, _MARK_BYTES)
        except NotPlain as error:
            return OutputDamage(str(path.relative_to(root)), str(error.strerror))
        except OSError:
            data = None
        if data is not None and _shown(zlib.crc32(data)) != wanted[path.name]:
            why = "it is not what it was when the run was judged"
            return OutputDamage(str(path.relative_to(root)), why)
    return None
