"""Read kept outputs by their pointers. Nothing in them is trusted: size, place and content have limits, and
problems are reported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shakedown.model.units import show_bytes
from shakedown.schedulers.output_sums import output_damage


@dataclass(frozen=True, slots=True)
class Output:
    """The bytes that could be read. ``trouble`` is a sentence where some are missing; ``data`` may be empty then."""

    data: bytes = b""
    trouble: str = ""


def read_output(root: Path, pointer: Mapping[str, Any], limit: int, tail: bool = False) -> Output:
    """Purpose: at most ``limit`` bytes of an output, from its start, or from its end with ``tail``. Never raises."""
    if not pointer:
        return Output(trouble="no output was kept")
    path = _place(root, pointer)
    if path is None:
        return Output(trouble="the record points outside the campaign, which is not followed")
    damage = output_damage(root, pointer)
    if damage:
        return Output(trouble=damage)
    offset, size = _whole_number(pointer.get("offset")), _whole_number(pointer.get("bytes"))
    try:
        return _read(path, offset, size, limit, tail)
    except OSError as error:
        return Output(trouble=f"{path.name} cannot be read: {error.strerror or error}")


def _place(root: Path, pointer: Mapping[str, Any]) -> Path | None:
    """The file that a pointer names, or None where it would be outside of the campaign directory."""
    name = f"packs/{pointer['pack']}" if "pack" in pointer else pointer.get("file")
    if not isinstance(name, str) or not name or "\0" in name or Path(name).is_absolute():
        return None
    home, path = root.resolve(), (root / name).resolve()
    return path if path.is_relative_to(home) else None


def _read(path: Path, offset: int, size: int, limit: int, tail: bool) -> Output:
    if not path.is_file():
        return Output(trouble=f"{path.name} is missing")
    length = path.stat().st_size
    if offset > length or (size and offset + size > length):
        return Output(trouble=f"{path.name} is shorter than the record says")
    size = size or length - offset
    with path.open("rb") as stream:
        stream.seek(offset + size - limit if tail and size > limit else offset)
        data = stream.read(min(size, limit))
    cut = f"only {show_bytes(limit)} of {show_bytes(size)} were read" if size > limit else ""
    return Output(data, "" if tail else cut)


def _whole_number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0
