"""Where a person's own commands keep what is no part of a record: below the person's home, or where XDG variables say."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from shakedown.model.errors import UsageError

NOWHERE = Path(os.devnull) / "no home"  # nothing can be read or made there
_USUAL = {"XDG_CACHE_HOME": ".cache", "XDG_STATE_HOME": ".local/state"}


def own_place(variable: Literal["XDG_CACHE_HOME", "XDG_STATE_HOME"]) -> Path:
    """Purpose: the directory that a variable names, or its usual place at home.

    Errors: UsageError where there is no home, as for a user of a container whom no password file knows.
    """
    named = os.environ.get(variable)
    if named:
        return Path(named)
    home = os.path.expanduser("~")  # noqa: PTH111 - it says by its answer that there is none
    if not home.startswith("/"):
        raise UsageError(
            "this user has no home directory to keep things in",
            hint=f"set HOME, or {variable} to a directory that you may write to",
        )
    return Path(home) / _USUAL[variable]
