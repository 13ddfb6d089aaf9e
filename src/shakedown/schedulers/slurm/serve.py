"""The helper process: ``python -m shakedown.schedulers.slurm.serve``. It carries out orders, and ends when the conductor does."""

from __future__ import annotations

import os
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path

from shakedown.model.layout import Layout
from shakedown.model.ports import JobReport
from shakedown.processes.framed_pipe import PIECE, Unpacker, packed, write_all
from shakedown.schedulers.slurm.poller import Asker
from shakedown.schedulers.slurm.runner import Runner
from shakedown.schedulers.slurm.submitter import Actor
from shakedown.schedulers.slurm.wire import FromHelper, Look, Seen, Setup, ToHelper

Say = Callable[[FromHelper], None]


def serve(orders: int, answers: int) -> None:
    """Purpose: read orders from one descriptor, and write the results to the other, until the conductor is gone."""
    lock = threading.Lock()

    def say(message: FromHelper) -> None:
        with lock:
            write_all(answers, packed(message))

    unpacker: Unpacker[ToHelper] = Unpacker(ToHelper)
    side: Asker | Actor | None = None
    while data := os.read(orders, PIECE):
        for message in unpacker.feed(data):
            if isinstance(message, Setup):
                side = _side(message, say)
            elif isinstance(side, Actor):
                side.take(message)
            elif isinstance(side, Asker) and isinstance(message, Look):
                _look(side, message, say)


def _side(setup: Setup, say: Say) -> Asker | Actor:
    layout = Layout(Path(os.fsdecode(setup.root)))
    if setup.side == "look":
        return Asker(layout, setup.token, setup.clusters, Runner(), setup.command_s)
    return Actor(layout, setup.token, setup.clusters, Runner(), setup.command_s, say, setup.licence_names)


def _look(asker: Asker, look: Look, say: Say) -> None:
    def tell(reports: list[JobReport]) -> None:
        say(Seen(look.number, reports, calls=asker.run.take_calls()))

    if look.marks_only:
        ended = asker.glance(look.jobs, tell)
    else:
        ended = asker.look(look.jobs, tell, look.wanted, lambda found: say(Seen(look.number, [], survey=found)))
    say(Seen(look.number, last=True, calls=asker.run.take_calls(), ended=ended))


def _main() -> int:
    try:
        serve(sys.stdin.fileno(), sys.stdout.fileno())
    except BrokenPipeError:
        return 0  # the conductor is gone
    except Exception:  # noqa: BLE001 - whatever it is, it is told, and it ends us
        traceback.print_exc()  # where the conductor finds it
        return 1
    return 0


if __name__ == "__main__":
    code = _main()
    sys.stderr.flush()
    os._exit(code)  # threads that hang must not keep it
