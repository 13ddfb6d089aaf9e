"""Damages that leave every byte of a record as it is: strays beside its files, second names, a driver that nobody knows."""

from __future__ import annotations

import json
import os
import random
import time
from pathlib import Path

import msgspec

_FAR_S = 30 * 86400.0  # of a clock that was wrong
_STRANGE = (
    b"\xff\xfe",
    b"\xff\xfe.json",
    b"\xff\xfe.jsonl",
    b"\x1b[31mred\n",
    "٠٠٠٠٠٢.json".encode(),
    b"9" * 24 + b".json",
)


def spoil(root: Path, kind: str, chance: random.Random) -> None:
    """Purpose: one of these damages, to the campaign in ``root``."""
    if kind == "strange names":
        _strange_names(root, chance)
    elif kind == "second name":
        _second_name(root, chance)
    elif kind == "strays in the inbox":
        _strays(root / "inbox", chance)
    else:
        _elsewhere(root, chance)


def _strange_names(root: Path, chance: random.Random) -> None:
    """Files and directories whose names are no text, are terminal codes, or look like numbers that no counter reaches."""
    folders = [root, *(path for path in sorted(root.iterdir()) if path.is_dir() and path.name not in ("lease", "log"))]
    for folder in chance.sample(folders, min(3, len(folders))):
        for name in chance.sample(_STRANGE, 3):
            (folder / os.fsdecode(name)).write_bytes(b"x")


def _second_name(root: Path, chance: random.Random) -> None:
    """As copies by hard links leave it: of a file of the log or beside it, outside of the campaign."""
    files = [path for path in sorted(root.rglob("*")) if path.is_file() and not path.is_symlink()]
    os.link(chance.choice(files), root.parent.parent / "second-name")


def _strays(inbox: Path, chance: random.Random) -> None:
    """Requests that were cut short, come twice, from the future, or are none."""
    inbox.mkdir(exist_ok=True)
    whole = json.dumps({"what": "cap", "value": {"test": "ok", "count": 1, "by": "A"}, "reason": "b"}).encode()
    for number in range(3):
        content = chance.choice(
            [whole, whole[: chance.randrange(len(whole))], b"", b"[" * 3000, b'{"what":"cap","value":7}']
        )
        path = inbox / f"{chance.choice([b'0', b'9']).decode() * 18}{number}.json"
        path.write_bytes(content)
        if chance.random() < 0.5:
            late = time.time() + _FAR_S
            os.utime(path, (late, late))
    if chance.random() < 0.5:
        os.mkfifo(inbox / "pipe.json")


def _elsewhere(root: Path, chance: random.Random) -> None:
    """The last driver, as its lease says, is on another machine; its heartbeat is old, or of a clock that was ahead."""
    from shakedown.events.sums import with_sum

    leases = sorted((root / "lease").glob("*.json"))
    if not leases:
        return
    path = leases[-1]
    said = json.loads(path.read_bytes())
    said.pop("sum", None)
    path.write_bytes(with_sum(msgspec.json.encode(said | {"host": "elsewhere", "boot": "another"}) + b"\n", 0)[0])
    path.with_suffix(".released").unlink(missing_ok=True)
    beat = time.time() + chance.choice([-_FAR_S, _FAR_S])
    os.utime(path, (beat, beat))
