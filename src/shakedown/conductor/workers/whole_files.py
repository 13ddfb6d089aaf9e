"""Files that are compared and so must be read completely: files of a run in formats that are not text, and references."""

from __future__ import annotations

import hashlib
import os
import stat

from shakedown.checks.text import Missing, printable
from shakedown.model.units import show_bytes


def read_reference(path: str, sha256: str, most: int) -> bytes | Missing:
    """Purpose: the bytes of a reference; Missing, as trouble, where it is not the one that was frozen with the plan."""
    name = f"the reference {printable(path)}"
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        return Missing(path, f"{name} cannot be read: {getattr(error, 'strerror', None) or error}", trouble=True)
    data = read_all(descriptor, path, name, most)
    if isinstance(data, Missing) or hashlib.sha256(data).hexdigest() == sha256:
        return data
    return Missing(path, f"{name} is not the one that was frozen with the plan: it was changed since", trouble=True)


def read_all(descriptor: int, path: str, name: str, most: int) -> bytes | Missing:
    """Purpose: all bytes of a descriptor, which is closed; Missing where there are more than ``most``. ``name``: for sentences."""
    try:
        with open(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                return Missing(path, f"{name} is no regular file, so it is not read", trouble=True)
            if status.st_size > most:
                said = f"{name} has {show_bytes(status.st_size)}, more than the {show_bytes(most)} that are compared"
                return Missing(path, said)
            return file.read(most)
    except OSError as error:
        return Missing(path, f"{name} cannot be read: {error.strerror}", trouble=True)
