"""Damages that keep a record looking like one: things misplaced, old or foreign, strange JSON, no permission.

``spoil`` is the way in; ``damages`` chooses among its own kinds and these. Where the chain was made again over a damage, as only
somebody would on purpose, ``spoil`` says so: then numbers may differ without a word, but nothing may fail, and no run runs twice.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import shutil
import stat
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import beside_damages

STRANGE: tuple[str, ...] = (
    *("not UTF-8", "NUL", "huge number", "tiny number", "digit more", "deep nesting"),
    *("empty line", "CRLF", "BOM", "long line"),
)
OF_A_FILE: tuple[str, ...] = (
    *("swapped", "of a sibling", "a link to a sibling", "of another campaign"),
    *("a device", "a link to zeros", "no permission", "set back"),
)
OF_A_FOLDER = ("a file", "a link to nothing", "no permission", "of another campaign", "set back", "moved away")
OF_A_RECORD = (
    *("rolled back", "older log end", "plan replaced", "log and lease of another campaign", "lease removed"),
    *("segment renamed", "segment again", "segment of another campaign behind", "header lies"),
    *("strange names", "second name", "strays in the inbox", "driven elsewhere"),
)
# What people ask, and who drives: no part of what a seal holds.
BESIDE_THE_RECORD = ("strays in the inbox", "driven elsewhere")
NOBODY = 65534
_NUMBER = re.compile(rb"(?<=[:\[,])-?[0-9]+(?:\.[0-9]+)?(?=[,\]}])")
_SUM = re.compile(rb',"sum":"[0-9a-f]{8}"\}\n')


def needs_nobody(kind: str, site: Path) -> bool:
    """Purpose: whether commands are run as a user whom permissions bind, as they do not bind root; if that user gets there."""
    return kind == "no permission" and os.geteuid() == 0 and all(place.stat().st_mode & 1 for place in site.parents)


# ---- one thing ---------------------------------------------------------------------------------------------------------------


def spoil(path: Path, kind: str, chance: random.Random, other: Path) -> bool:
    """Purpose: spoil one file or folder, perhaps by ``other``, the same of another campaign; whether the chain was remade."""
    if kind in STRANGE:
        return _spoil_text(path, kind, chance)
    if kind == "no permission":
        path.chmod(0)
    elif kind == "set back":
        os.utime(path, (0, 0))
    elif kind == "moved away":
        path.rename(path.with_name(f"{path.name}.moved"))
    elif kind == "of another campaign":
        _replace(path, other)
    elif kind in ("swapped", "of a sibling", "a link to a sibling"):
        _with_sibling(path, kind, chance)
    else:
        _remove(path)
        _put_in_place(path, kind)
    return False


def _put_in_place(path: Path, kind: str) -> None:
    if kind == "a device":
        try:
            os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        except OSError:
            path.symlink_to("/dev/null")
    elif kind == "a link to zeros":
        path.symlink_to("/dev/zero")
    elif kind == "a file":
        path.write_bytes(b"{}\n")
    else:
        path.symlink_to("nothing")


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def _replace(path: Path, other: Path) -> None:
    """The same file, or folder, of another campaign; where it has none, nothing of it is left."""
    _remove(path)
    if other.is_dir():
        shutil.copytree(other, path, symlinks=True)
    elif other.is_file():
        shutil.copy(other, path)


def _with_sibling(path: Path, kind: str, chance: random.Random) -> None:
    """With a file of the same shape: the same folder and ending, or at least the same depth."""
    alike = [
        one for one in sorted(path.parent.iterdir()) if one != path and one.suffix == path.suffix and one.is_file()
    ]
    if not alike:
        alike = [one for one in sorted(path.parent.parent.glob(f"*/*{path.suffix}")) if one != path and one.is_file()]
    if not alike:
        return
    sibling = chance.choice(alike)
    if kind == "a link to a sibling":
        path.unlink()
        path.symlink_to(os.path.relpath(sibling, path.parent))
    elif kind == "of a sibling":
        shutil.copy(sibling, path)
    else:
        mine, its = path.read_bytes(), sibling.read_bytes()
        path.write_bytes(its)
        sibling.write_bytes(mine)


# ---- text --------------------------------------------------------------------------------------------------------------------


def _spoil_text(path: Path, kind: str, chance: random.Random) -> bool:
    lines = path.read_bytes().splitlines(keepends=True)
    if not lines:
        return False
    of_log = path.suffix == ".jsonl"
    if kind == "CRLF":
        lines = [line.replace(b"\n", b"\r\n") for line in lines]
    elif kind == "BOM":
        lines[0] = b"\xef\xbb\xbf" + lines[0]
    elif kind == "empty line":
        lines.insert(chance.randrange(len(lines) + 1), b"\n")
    elif kind == "long line":
        lines.insert(chance.randrange(len(lines) + 1), b"x" * (3 << 20) + b"\n")
    else:
        at = chance.randrange(len(lines))
        lines[at] = _line(lines[at], kind, chance)
    path.write_bytes(b"".join(lines))
    again = of_log and chance.random() < 0.6
    if again:
        remake_raw(path.parent)
    return again


def _line(line: bytes, kind: str, chance: random.Random) -> bytes:
    if kind in ("not UTF-8", "NUL"):
        texts = [found.end() for found in re.finditer(rb'":"', line)] or [0]
        at = chance.choice(texts)
        return line[:at] + (b"\xff\xfe" if kind == "not UTF-8" else b"\0") + line[at:]
    numbers = list(_NUMBER.finditer(line))
    if not numbers:
        return line
    found = chance.choice(numbers)
    new: dict[str, Callable[[], bytes]] = {
        "huge number": lambda: chance.choice([b"1e999", b"9" * 400, b"-1e308", b"18446744073709551616", b"1e18"]),
        "tiny number": lambda: chance.choice([b"1e-320", b"-0", b"-1", b"0", b"0.5"]),
        "deep nesting": lambda: b"[" * 5000 + b"]" * 5000,
        "digit more": lambda: found.group() + b"7" if b"." not in found.group() else b"7" + found.group().lstrip(b"-"),
    }
    return line[: found.start()] + new[kind]() + line[found.end() :]


def remake_raw(log: Path) -> None:
    """Purpose: the sums, the chain and the log's end made again over lines as they are, JSON or not."""
    from shakedown.events.sums import begin_end

    previous, length = "", 0
    for path in sorted(log.glob("*.jsonl")):
        lines = path.read_bytes().splitlines(keepends=True)
        if previous and lines:
            lines[0] = re.sub(rb'"previous":"[0-9a-f]*"', b'"previous":"%s"' % previous.encode(), lines[0])
            lines[0] = re.sub(rb'"previous_bytes":[0-9]+', b'"previous_bytes":%d' % length, lines[0])
        crc, made = 0, []
        for line in lines:
            if _SUM.fullmatch(line, max(0, len(line) - 19)):
                body = line[:-19]
                crc = zlib.crc32(body, crc)
                line = body + b',"sum":"%08x"}\n' % crc
                crc = zlib.crc32(line[len(body) :], crc)
            else:
                crc = zlib.crc32(line, crc)
            made.append(line)
        data = b"".join(made)
        path.write_bytes(data)
        previous, length = hashlib.sha256(data).hexdigest(), len(data)
    begin_end(log, durable=False)


# ---- several things at once --------------------------------------------------------------------------------------------------


def spoil_record(root: Path, kind: str, chance: random.Random, others: Sequence[Path]) -> bool:
    """Purpose: a damage of more than one file. Returns whether only a seal can find it."""
    if kind == "older log end":
        return _older_end(root, chance, cuts=False)
    if kind == "rolled back":
        return _older_end(root, chance, cuts=True)
    if kind == "plan replaced":
        return _other_plan(root, chance)
    if kind == "lease removed":
        shutil.rmtree(root / "lease", ignore_errors=True)
        return False
    if kind in ("strange names", "second name", "strays in the inbox", "driven elsewhere"):
        beside_damages.spoil(root, kind, chance)
        return kind in BESIDE_THE_RECORD
    other = chance.choice([one for one in others if one != root])
    if kind.startswith("segment"):
        return _segment(root / "log", kind, chance, other / "log")
    if kind == "header lies":
        return _lying_header(root / "log", chance)
    for name in ("log", "lease"):
        _replace(root / name, other / name)
    return True


def _segment(log: Path, kind: str, chance: random.Random, other: Path) -> bool:
    """A segment under another number, once more behind the last one, or one of another campaign there."""
    logs = sorted(log.glob("*.jsonl"))
    path, behind = chance.choice(logs), log / f"{len(logs) + 1:06d}.jsonl"
    if kind == "segment renamed":
        number = chance.choice([0, int(path.stem) + 1, int(path.stem) + 5, len(logs) + 1, 999999])
        path.rename(log / f"{number:06d}.jsonl")
    else:
        shutil.copy(path if kind == "segment again" else chance.choice(sorted(other.glob("*.jsonl"))), behind)
    return False


def _lying_header(log: Path, chance: random.Random) -> bool:
    """A header with another number, first event, epoch or length; perhaps the chain is made again over it."""
    path = chance.choice(sorted(log.glob("*.jsonl")))
    head, newline, rest = path.read_bytes().partition(b"\n")
    found = chance.choice(list(_NUMBER.finditer(head)))
    lie = chance.choice([b"0", b"1", b"2", b"-1", b"1e3", b"99999999999999999999", b"null", b"true"])
    path.write_bytes(head[: found.start()] + lie + head[found.end() :] + newline + rest)
    again = chance.random() < 0.5
    if again:
        remake_raw(log)
    return again


def _older_end(root: Path, chance: random.Random, cuts: bool) -> bool:
    """What an older copy of ``lease/log-end`` says; with the log cut back to it, as an older backup of both has it."""
    from shakedown.events import sums

    logs = sorted((root / "log").glob("*.jsonl"))
    path = chance.choice(logs)
    lines = path.read_bytes().splitlines(keepends=True)
    kept = lines[: chance.randrange(1, len(lines) + 1)]
    data = b"".join(kept)
    first = re.search(rb'"first":([0-9]+)', lines[0])
    seq = int(first[1]) + len(kept) - 2 if first else 0
    end = sums.LogEnd(int(path.stem), len(data), zlib.crc32(data), max(0, seq))
    (root / "lease").mkdir(exist_ok=True)
    sums.end_path(root / "log").write_bytes(sums._line_of(end))
    if cuts:
        path.write_bytes(data)
        for later in logs[logs.index(path) + 1 :]:
            later.unlink()
    return cuts


def _other_plan(root: Path, chance: random.Random) -> bool:
    """A frozen plan that was changed, under its new digest, which the log names as if it had always been so."""
    plans = sorted((root / "documents").glob("*.json"))
    if not plans:
        return False
    path = chance.choice(plans)
    text = path.read_bytes()
    numbers = list(_NUMBER.finditer(text))
    found = chance.choice(numbers)
    text = (
        text[: found.start()] + chance.choice([b"0", b"1", b"-1", b"1e9", b"null", b'"x"', b"[]"]) + text[found.end() :]
    )
    digest = hashlib.sha256(text).hexdigest()
    path.with_name(f"{digest}.json").write_bytes(text)
    if digest != path.stem:
        path.unlink()
    for log in sorted((root / "log").glob("*.jsonl")):
        log.write_bytes(log.read_bytes().replace(path.stem.encode(), digest.encode()))
    remake_raw(root / "log")
    return True


def give_to_nobody(site: Path) -> None:
    """Purpose: a copy that belongs to the user whom permissions bind."""
    for place, folders, files in os.walk(site):
        for name in (".", *folders, *files):
            os.chown(Path(place) / name, NOBODY, NOBODY, follow_symlinks=False)
