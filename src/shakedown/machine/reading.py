"""Reading small files of /sys, /proc and /etc below a root, so that captured machines read as the real one does.

Nothing here fails: a file that is missing, unreadable or odd reads as nothing, because every kernel, container and board
leaves out others. What nothing means is for the caller to say.
"""

from __future__ import annotations

import re
from pathlib import Path

LIMIT = 4 * 2**20  # bytes read of one file; /proc/cpuinfo of 1,024 processors has 2 MB
_PIECE = 64 * 2**10
_SIZE = re.compile(r"(\d+)\s*([KMG]?)B?\s*$")
_FACTOR = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}


class Tree:
    """A file system below ``root``: ``/`` or a captured copy of parts of it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def text(self, path: str, limit: int = LIMIT) -> str:
        """What a file says, without white space around it; "" where there is nothing to read."""
        try:
            return _content(self.root / path, limit).decode(errors="replace").replace("\0", " ").strip()
        except OSError:
            return ""

    def number(self, path: str) -> int | None:
        """The whole number that a file holds, or None."""
        return whole(self.text(path))

    def names(self, path: str, pattern: str) -> list[str]:
        """Names in a directory that match ``pattern`` as a whole, numbers in the order of their size."""
        try:
            found = [entry.name for entry in (self.root / path).iterdir() if re.fullmatch(pattern, entry.name)]
        except OSError:
            return []
        return sorted(found, key=lambda name: (whole(re.sub(r"\D", "", name)) or 0, name))

    def has(self, path: str) -> bool:
        try:
            return (self.root / path).exists()
        except OSError:
            return False


def _content(path: Path, limit: int) -> bytes:
    """The first ``limit`` bytes. In pieces: files below /proc/sys answer a request for megabytes with ENOMEM."""
    content = b""
    with path.open("rb", buffering=0) as file:
        while len(content) < limit:
            piece = file.read(min(_PIECE, limit - len(content)))
            if not piece:
                break
            content += piece
    return content


def whole(text: str) -> int | None:
    """A whole number, or None where the text is none."""
    return int(text) if re.fullmatch(r"-?\d{1,18}", text) else None


def processors(text: str) -> frozenset[int]:
    """The processors of a kernel list: "0-3,8,10-11" -> {0,1,2,3,8,10,11}. What is not a list reads as none."""
    found: set[int] = set()
    for part in text.split(",") if text else []:
        first, _, last = part.strip().partition("-")
        low, high = whole(first), whole(last or first)
        if low is None or high is None or not 0 <= low <= high < 2**16:
            return frozenset()
        found.update(range(low, high + 1))
    return frozenset(found)


def size_bytes(text: str) -> float:
    """A size as the kernel writes it ("32768K", "16M", "4417740 kB") in bytes; 0 where it is none."""
    match = _SIZE.match(text.replace("k", "K"))
    return float(int(match.group(1)) * _FACTOR[match.group(2)]) if match else 0.0


def colon_pairs(text: str) -> dict[str, str]:
    """The ``key : value`` lines of a text; of keys that come again the first counts."""
    pairs: dict[str, str] = {}
    for line in text.splitlines():
        key, colon, value = line.partition(":")
        if colon:
            pairs.setdefault(key.strip(), value.strip())
    return pairs
