"""Jobs of an earlier conductor that ran or may have run: their claims tell which, and their remaining processes are ended before
they are reported.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from shakedown.model.layout import Layout
from shakedown.model.ports import UNHEARD, JobOrder, JobReport, JobView
from shakedown.processes.identity import living_pid
from shakedown.processes.reactor import Reactor
from shakedown.processes.tree import Ending, kill_tree
from shakedown.schedulers.claims import CONDUCTOR, CannotStart, Workplace
from shakedown.schedulers.output_sums import UNSURE, kept_unread


@dataclass(slots=True)
class Leftovers:
    """Finds out what became of such jobs. ``say`` takes the reports, at once or inside a later ``wait``. ``ending``: how many of
    them may still have living processes, on cores and GPUs that are not known here.
    """

    layout: Layout
    reactor: Reactor
    workplace: Workplace
    marker: Callable[[str], str]
    say: Callable[[JobReport], object]
    grace_s: float
    patience_s: float
    ending: int = 0

    def adopt(self, view: JobView) -> object:
        """Handle a job of another conductor: without a claim it never ran; with one it did, and its remaining processes are ended.

        A claim may have been removed or edited. So a job that was seen running, or was allowed to start, counts as run whatever its
        claim says.
        """
        holder = self.workplace.claim_holder(view.id, view.restart)
        began = bool(view.scheduler_id) or self.workplace.was_let_go(view.id, view.restart)
        if holder in (None, CONDUCTOR) and not began:
            return self.say(JobReport(view.id, "absent", "local", restart=view.restart))
        if holder is None:  # nor does a shell of it get in that is late
            with suppress(CannotStart):
                self.workplace.take_claim(view.id, view.restart)
        gone = "; its claim was removed or changed" if holder in (None, CONDUCTOR) else ""
        return self._end(view.id, view.run, view.restart, view.scheduler_id, gone)

    def claim_was_taken(self, order: JobOrder) -> object:
        """Handle a script that did not get its claim: another execution or the conductor has it, or the disk did not allow it."""
        holder = self.workplace.claim_holder(order.job, order.restart)
        if holder and holder != CONDUCTOR:
            return self._end(order.job, order.run, order.restart, "")
        message = "the conductor had taken its claim" if holder else self._trouble(order)
        return self.say(
            JobReport(order.job, "refused", "local", restart=order.restart, message=f"it did not run: {message}")
        )

    def _trouble(self, order: JobOrder) -> str:
        """Why a claim could not be made: the error that comes when it is tried again."""
        try:
            self.workplace.take_claim(order.job, order.restart)
        except CannotStart as error:
            return error.message
        return "its claim could not be written"

    def _end(self, job: str, run: str, restart: int, process: str, note: str = "") -> object:
        """End what is left of a job and report it. ``process``: the identity of the job's first process, if known; if it still
        exists, so does its process group.
        """
        ending = Ending(self.marker(job), living_pid(process) or 0, self.grace_s, self.patience_s)

        self.ending += 1

        def dead() -> object:
            self.ending -= 1
            with suppress(OSError):  # what is in it is evidence
                self.layout.work_directory(run).rmdir()
            output, unsure = kept_unread(self.layout, _spilled(self.layout, run))
            message = _words(ending) + note + stuck_words(ending) + (f"; {UNSURE}: {unsure}" if unsure else "")
            return self.say(JobReport(job, "interrupted", "local", restart=restart, message=message, output=output))

        return kill_tree(self.reactor, ending, dead)


def stuck_words(ending: Ending | None) -> str:
    """A sentence about processes that cannot be killed; "" where there are none."""
    if ending is None or not ending.stuck:
        return ""
    return f"; these processes were killed and do not die, the kernel holds them: {', '.join(ending.stuck)}"


def _words(ending: Ending) -> str:
    if ending.found <= 0:
        return f"{UNHEARD}, so nobody knows how; nothing of it is alive"
    many = "one process" if ending.found == 1 else f"{ending.found} processes"
    return f"its conductor died, or was replaced, while it ran; what was left of it, {many}, has been ended"


def _spilled(layout: Layout, run: str) -> dict[str, Any]:
    """The pointer to a large output that was in a file already; {} for a small one, which was lost with the conductor."""
    path = layout.output(run)
    try:
        return {"file": str(path.relative_to(layout.root)), "bytes": path.stat().st_size}
    except OSError:
        return {}
