"""Making directories inside a campaign's directory, but not while that is away."""

from __future__ import annotations

import errno
import os
from pathlib import Path


def is_away(root: str | Path) -> bool:
    """Purpose: whether the campaign's directory cannot be reached. Nothing must be made there then: it would be in the mount point
    of a file system that is not mounted, and a claim there would be worth nothing.
    """
    return not os.path.isdir(root)  # noqa: PTH112 - asked before each start


def make_directory(directory: str | Path, root: Path) -> None:
    """Purpose: make a directory inside the campaign's, with those above it. Raises OSError, also where the campaign's directory is
    away.
    """
    if is_away(root):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(root))
    Path(directory).mkdir(parents=True, exist_ok=True)
