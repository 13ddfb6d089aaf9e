"""An error of the system that names no file, as a failing close or sync does, is told with the file that was at hand."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from shakedown.cli.error_places import OUTPUT, place_of


def broken() -> OSError:
    return OSError(errno.EIO, "Input/output error")


class Log:
    """A file that is closed by its number."""

    __slots__ = ("_fd", "_path")

    def __init__(self, path: Path) -> None:
        self._path, self._fd = path, 9999

    def close(self) -> None:
        os.close(self._fd)


def a_write(path: Path) -> None:
    with path.open("wb"):
        raise broken()


def a_sync_of_the_only_path(path: Path) -> None:
    raise broken()


def a_close_of_a_number(path: Path) -> None:
    Log(path).close()


def a_copy(path: Path) -> None:
    other = path.with_suffix(".new")
    assert other
    raise broken()


def place(fails: Callable[[Path], None], path: Path) -> str:
    with pytest.raises(OSError, match=r"error|descriptor") as caught:
        fails(path)
    trace = caught.value.__traceback__
    return place_of(caught.value.with_traceback(trace.tb_next if trace is not None else None))  # without this frame


@pytest.mark.parametrize("fails", [a_write, a_sync_of_the_only_path, a_close_of_a_number])
def test_the_file_at_hand_is_named(fails: Callable[[Path], None], tmp_path: Path) -> None:
    assert place(fails, tmp_path / "kept") == str(tmp_path / "kept")


def test_of_two_files_none_is_guessed(tmp_path: Path) -> None:
    assert place(a_copy, tmp_path / "kept") == "the system"


def test_a_name_in_the_error_goes_first(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file") as caught:
        (tmp_path / "gone").read_bytes()
    assert place_of(caught.value) == str(tmp_path / "gone")
    assert place_of(OSError(errno.EIO, "Input/output error", b"raw")) == "raw"


def test_what_printers_could_not_write_is_our_output() -> None:
    names: dict[str, object] = {"__name__": "click.utils", "broken": broken}
    exec("def echo():\n    raise broken()", names)
    with pytest.raises(OSError, match="Input/output") as caught:
        names["echo"]()  # type: ignore[operator]
    assert place_of(caught.value) == OUTPUT
