"""A conductor in the background: started in a session of its own, confirmed before the command returns."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from shakedown.cli.output import emit, printable, say
from shakedown.model.errors import OUR_FAULT, UNDECIDED
from shakedown.model.layout import Layout

_BEGUN = b"begun\n"
_TOLD_BYTES = 16 << 10  # of what a conductor said that did not begin


def drive_detached(layout: Layout, name: str, options: Sequence[str], as_json: bool) -> int:
    """Purpose: have a campaign driven by a process that no hang-up of this terminal reaches.

    Returns 0 once it drives; where it cannot, its words and its own exit status. ``options`` are those of ``resume``.
    """
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as answer, layout.talk.open("ab") as talk:
        begin = talk.seek(0, os.SEEK_END)
        words = [sys.executable, "-P", "-m", "shakedown", "resume", str(layout.root.absolute())]
        process = subprocess.Popen(
            [*words, "--begun-fd", str(writing), *options],
            stdin=subprocess.DEVNULL,
            stdout=talk,
            stderr=talk,
            pass_fds=(writing,),
            start_new_session=True,
        )
        os.close(writing)
        try:
            begun = answer.read(len(_BEGUN)) == _BEGUN  # nothing comes from a process that ended
        except KeyboardInterrupt:
            say(f"interrupted; what was begun goes on in the background\n{_how_to_watch(process.pid, layout, name)}")
            return UNDECIDED
    if not begun:
        return _did_not_begin(process, layout.talk, begin)
    data = {"campaign": str(layout.root), "pid": process.pid, "host": os.uname().nodename, "talk": str(layout.talk)}
    emit(data, as_json, lambda: _how_to_watch(process.pid, layout, name))
    return 0


def _did_not_begin(process: subprocess.Popen[bytes], talk: Path, begin: int) -> int:
    """Its last words are ours; where there are none it had nothing to do."""
    status = process.wait()
    with talk.open("rb") as file:
        file.seek(begin)
        said = file.read(_TOLD_BYTES).decode("utf-8", "replace").strip()
    if said:
        say(printable(said))
    if status < 0:
        say(f"error: the conductor was ended by signal {-status} before it drove the campaign\nhint: see {talk}")
        return OUR_FAULT
    return status


def _how_to_watch(pid: int, layout: Layout, name: str) -> str:
    return "\n".join(
        (
            f"driven by process {pid} on {os.uname().nodename}, in the background",
            f"  see    shakedown status {name}",
            f"         shakedown log {name} --follow",
            f"  words  {layout.talk}",
            f"  end    kill {pid}, go on with: shakedown resume {name} --detach",
        )
    )


def announcer(descriptor: int | None) -> Callable[[], None]:
    """Purpose: what the conductor in the background calls once it drives. Whoever started it may be gone by then."""
    if descriptor is None:
        return lambda: None
    os.set_inheritable(descriptor, False)  # no job may hold it open

    def begun() -> None:
        try:
            os.write(descriptor, _BEGUN)
        except OSError:
            pass
        finally:
            os.close(descriptor)

    return begun
