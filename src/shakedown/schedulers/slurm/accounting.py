"""Jobs that have left the queue: one sacct for each cluster and look; for a job that stays unknown it is asked less and less often.

Where there is no accounting, the list of finished jobs is read, if there is one; the controller is asked once whether there is.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from shakedown.model.nouns import Cluster
from shakedown.schedulers.slurm import commands
from shakedown.schedulers.slurm.cross_check import contradicted_end
from shakedown.schedulers.slurm.job_evidence import Found
from shakedown.schedulers.slurm.job_questions import SETTLE_S
from shakedown.schedulers.slurm.parsing import Record, babble, clean, finished, kept_for_database, records, settings
from shakedown.schedulers.slurm.runner import Ran, Run, is_missing
from shakedown.schedulers.slurm.states import CHANGES
from shakedown.schedulers.slurm.unknown_starts import Lag
from shakedown.schedulers.slurm.versions import accounting_is_off

MOST_ASKED = 500  # jobs in one sacct: a command line has an end
LONGEST_PAUSE_S = 600.0  # between two questions about a job that stays unknown
LONGEST_SILENCE_S = 30.0  # and where accounting does not answer: one question tells whether it does again
Owns = Callable[[str, str], bool]  # (name, number): whether another job of ours has this number as its own
_MOST_DAYS = 3650
_SAME_START_S = 2.0  # between the start of a job and that of its script, both in whole seconds
_FIRST_LOOK_BYTES = 16 << 20  # at the end of a list of finished jobs that may be years long
_LOOK_BYTES = 64 << 20


@dataclass(slots=True)
class Accounting:
    """What the clusters of a site remember of jobs.

    ``owns``: whether a number is that of another job of ours. ``pauses``: job -> when to ask about it again at the latest, the
    pause before that, and what the queue and the marks said when it was last asked about.
    """

    run: Run
    clusters: Sequence[Cluster]
    command_s: float
    clock: Callable[[], float]
    owns: Owns
    absent: set[str] = field(default_factory=set)  # clusters without accounting
    configured: dict[str, dict[str, str]] = field(default_factory=dict)
    pauses: dict[str, tuple[float, float, Hashable]] = field(default_factory=dict)
    silent: set[str] = field(default_factory=set)  # clusters whose accounting did not answer last
    lists: dict[str, FinishedJobs] = field(default_factory=dict)
    names_next: bool = False  # ids and names cannot be asked for in one call: they take turns
    even_since: dict[str, float] = field(
        default_factory=dict
    )  # jobs: when the database was first seen to have taken all

    def ask(self, found: Sequence[Found], wanted: Mapping[str, str]) -> list[Found]:
        """Purpose: what was found, with the records of the wanted jobs (our id -> name) added."""
        self.pauses = {job: pause for job, pause in self.pauses.items() if job in wanted}
        self.even_since = {job: since for job, since in self.even_since.items() if job in wanted}
        due = [f for f in found if f.job.id in wanted and self._is_due(f)]
        told = {f.job.id: f for f in self._ask_due(due, wanted)}
        return [told.get(f.job.id, f) for f in found]

    def scripts(self, found: Sequence[Found]) -> list[Found]:
        """Purpose: what was found; for jobs that left an end mark although Slurm says that it ended them, with what accounting has
        of their scripts.
        """
        told = {f.job.id: f for f in found}
        for cluster in self.clusters:
            here = [f for f in found if contradicted_end(f) and _known_id(f) and _cluster(f) in ("", cluster.name)]
            if not here:
                continue
            if cluster.name in self.absent:
                told |= {f.job.id: msgspec.structs.replace(f, scripts="none") for f in here}
                continue
            ids = sorted({_known_id(f) for f in here})[:MOST_ASKED]
            ran = self.run(commands.sacct_scripts(cluster.name, len(self.clusters) > 1, ids), self.command_s)
            if ran.status != 0 or babble(ran.output):
                off = accounting_is_off(ran.error) or is_missing(ran)
                told |= {f.job.id: msgspec.structs.replace(f, scripts="none" if off else "silent") for f in here}
                continue
            ends = records(ran.output, "batch")
            told |= {f.job.id: msgspec.structs.replace(f, scripts="told", script=script_of(f, ends)) for f in here}
        return list(told.values())

    def lag(self, found: Found) -> Lag:
        """Purpose: whether the database already had everything that the controller knew before it was asked about a job in this
        look.

        If this was so at an earlier look, the database has everything that happened before that.
        """
        if found.job.id in self.even_since and self.even_since[found.job.id] < self.clock():
            return "even"
        told: list[int | None] = []
        for cluster in (one for one in self.clusters if _cluster(found) in ("", one.name)):
            ran = self.run(commands.sdiag(cluster.name, len(self.clusters) > 1), self.command_s)
            told.append(kept_for_database(ran.output) if ran.status == 0 else None)
        if None in told:
            return "untold"
        if not any(told):
            self.even_since[found.job.id] = self.clock()
        return "behind"

    def _is_due(self, found: Found) -> bool:
        """Whether to ask about the job now: its pause is over, or the queue or the marks say something else than before."""
        when, _, said = self.pauses.get(found.job.id, (0.0, 0.0, None))
        return self.clock() >= when or said != _observed_state(found)

    def _ask_due(self, due: Sequence[Found], wanted: Mapping[str, str]) -> list[Found]:
        """One sacct for each cluster that any of the jobs may be on; then the list of finished jobs, where there
        is no accounting.
        """
        with_id = [f for f in due if _known_id(f)]
        without = [f for f in due if not _known_id(f)]
        self.names_next = bool(without) and (self.names_next or not with_id)
        chosen = (without if self.names_next else with_id)[:MOST_ASKED]
        self.names_next = bool(without) and not self.names_next
        for cluster in self.clusters:
            here = [f for f in chosen if _cluster(f) in ("", cluster.name)]
            answers = self._ask_cluster(cluster, here, wanted) if here else {}
            chosen = [answers.get(f.job.id, f) for f in chosen]
        for f in chosen:
            self._pause(f)
        return chosen

    def _pause(self, found: Found) -> None:
        """Ask again soon while sources may still disagree; later after a pause that doubles each time, as long as
        nothing changes.
        """
        if found.doubt_s < 2 * SETTLE_S and found.accounting != "silent":
            return
        _, before, said = self.pauses.get(found.job.id, (0.0, 2.5, _observed_state(found)))
        longest = LONGEST_SILENCE_S if found.accounting == "silent" else LONGEST_PAUSE_S
        pause = min(max(5.0, 2 * before), longest) if said == _observed_state(found) else 5.0
        self.pauses[found.job.id] = (self.clock() + pause, pause, _observed_state(found))

    def _ask_cluster(self, cluster: Cluster, here: Sequence[Found], wanted: Mapping[str, str]) -> dict[str, Found]:
        if cluster.name in self.absent:
            return {f.job.id: self._from_list(cluster, f, wanted[f.job.id]) for f in here}
        several = len(self.clusters) > 1
        if not _known_id(here[0]):
            days = 2 + int(
                max(0.0, time.time() - min(f.job.since for f in here)) / 86400
            )  # a day for clocks that differ
            labels = [wanted[f.job.id] for f in here]
            ran = self.run(
                commands.sacct(cluster.name, several, labels=labels, days=min(days, _MOST_DAYS)), self.command_s
            )
        else:
            ids = sorted({_known_id(f) for f in here})
            ran = self.run(commands.sacct(cluster.name, several, ids=ids), self.command_s)
        odd = babble(ran.output)
        if ran.status == 0 and not odd:
            self._answers(cluster)
            answered = records(ran.output)
            return {f.job.id: self._told(f, answered, wanted[f.job.id]) for f in here}
        if accounting_is_off(ran.error):
            self.absent.add(cluster.name)
        if cluster.name in self.absent or is_missing(ran):  # what is missing now may be there at the next look
            return {f.job.id: self._from_list(cluster, f, wanted[f.job.id]) for f in here}
        self.silent.add(cluster.name)
        why = "; ".join(w for w in (here[0].trouble, f"sacct: {_complaint(ran, odd)}") if w)
        return {f.job.id: msgspec.structs.replace(f, accounting="silent", trouble=why) for f in here}

    def _told(self, found: Found, answered: list[Record], label: str) -> Found:
        claimed = found.marks.claimed_at if found.marks is not None else None
        mine = by_restart(answered, label, _known_id(found), self.owns, claimed)
        silent = found.accounting == "silent" and not mine  # another cluster, which may know it, does not answer
        return msgspec.structs.replace(found, accounting="silent" if silent else "told", records=mine or found.records)

    def _answers(self, cluster: Cluster) -> None:
        """Accounting answers again: jobs that were asked about in vain are asked about at the next look."""
        if cluster.name in self.silent:
            self.silent.remove(cluster.name)
            self.pauses.clear()

    # ---- without accounting ----

    def _from_list(self, cluster: Cluster, found: Found, label: str) -> Found:
        """The job's starts from the list of finished jobs, where the controller writes one that can be read from here."""
        lists = self._list(cluster)
        if lists is None:
            return msgspec.structs.replace(found, accounting="none")
        lists.read()
        return msgspec.structs.replace(
            found, accounting="none", finished=lists.starts(label, _known_id(found), self.owns)
        )

    def _list(self, cluster: Cluster) -> FinishedJobs | None:
        if cluster.name not in self.configured:
            ran = self.run(commands.scontrol_config(cluster.name, len(self.clusters) > 1), self.command_s)
            if ran.status != 0:
                return None
            self.configured[cluster.name] = settings(ran.output)
        known = self.configured[cluster.name]
        if known.get("JobCompType") != "jobcomp/filetxt":
            return None
        return self.lists.setdefault(cluster.name, FinishedJobs(known.get("JobCompLoc", "")))


@dataclass(slots=True)
class FinishedJobs:
    """The file that jobcomp/filetxt appends to. Each read continues where the last one ended. ``lines``: job name -> records, ours
    only.
    """

    path: str
    position: int = -1
    lines: dict[str, list[Record]] = field(default_factory=dict)
    numbers: dict[str, list[Record]] = field(default_factory=dict)  # the same, by Slurm's number

    def starts(self, label: str, scheduler_id: str, owns: Owns) -> tuple[Record, ...]:
        """Purpose: one record for each start of a job that is over, in order; other jobs with the same name are left out.

        A start that came to its own end and was then put back into the queue has two lines: the first one tells its end.
        """
        lines = [*self.lines.get(label, []), *self.numbers.get(scheduler_id, [])]
        mine = by_name_or_number(lines, label, scheduler_id, owns)
        starts = {line.began or str(number): line for number, line in reversed(list(enumerate(mine)))}
        return tuple(reversed(starts.values()))

    def read(self) -> None:
        """Purpose: read what was added. A file that cannot be read counts as empty."""
        try:
            with open(self.path, "rb") as file:  # noqa: PTH123 - the path is a site's own word
                size = os.fstat(file.fileno()).st_size
                if self.position < 0 or size < self.position:
                    self.position = max(0, size - _FIRST_LOOK_BYTES)
                file.seek(self.position)
                data = file.read(_LOOK_BYTES)
        except OSError:
            return
        whole, newline, _ = data.rpartition(b"\n")
        self.position += len(whole) + len(newline)
        for line in whole.decode("utf-8", "replace").split("\n"):
            if " Name=sd-" in line and (record := finished(line)) is not None:
                self.lines.setdefault(record.name, []).append(record)
                self.numbers.setdefault(record.id, []).append(record)


def _observed_state(found: Found) -> Hashable:
    """What the queue and the marks say of a job, and whether the queue answers; to notice changes."""
    row, marks = found.row, found.marks
    of_row = (row.id, row.state, row.restart) if row is not None else None
    return (
        found.queue,
        of_row,
        (marks.restart, marks.claimed, marks.exit_status, marks.void) if marks is not None else None,
    )


def _complaint(ran: Ran, odd: str) -> str:
    if ran.status == 0:
        return f"it printed what nobody can read: {odd}"
    return clean(ran.error) or f"it ended with exit status {ran.status}"


def _known_id(found: Found) -> str:
    """The scheduler's id of a job without its cluster, from any source that knows it."""
    if found.marks is not None and found.marks.scheduler_id:
        return found.marks.scheduler_id
    return found.row.id if found.row is not None else found.job.scheduler_id.split(";")[0]


def _cluster(found: Found) -> str:
    return found.row.cluster if found.row is not None else found.job.scheduler_id.partition(";")[2]


def script_of(found: Found, ends: Sequence[Record]) -> Record | None:
    """Purpose: of the records of scripts, the one for the start that left the marks; None where accounting does not have it yet.
    Start times tell one start of a job from another.
    """
    said, mine = contradicted_end(found), [end for end in ends if end.id == _known_id(found)]
    if said is None or said.start is None:
        return mine[0] if len(mine) == 1 else None
    began, over = said.start - _SAME_START_S, (said.end or math.inf) + _SAME_START_S
    within = [end for end in mine if end.start is not None and began <= end.start <= over]
    return within[-1] if within else None


def by_restart(
    records: list[Record], label: str, scheduler_id: str, owns: Owns, claimed_at: float | None = None
) -> tuple[Record, ...]:
    """Purpose: the records of one job, one for each of its starts. Records of other jobs, and of changes of size, are left out.
    ``claimed_at``: when its newest start began, in seconds since 1970; None where that is not known.
    """
    real = [record for record in records if record.state not in CHANGES]
    mine = by_name_or_number(real, label, scheduler_id.split(";", maxsplit=1)[0], owns, claimed_at)
    return tuple(sorted(mine, key=lambda record: record.submit or 0.0))


def by_name_or_number(
    records: Sequence[Record], label: str, number: str, owns: Owns, claimed_at: float | None = None
) -> list[Record]:
    """Purpose: the records of the job with this name and number, each once.

    Where no record has both, records with the number and another name of ours count: somebody exchanged names. They do not count if
    the other job owns that number, or was submitted after this job had begun: then a controller that lost its memory gave the
    number to the other job. Otherwise it is the oldest job with the name.
    """
    ours = label.rpartition("-")[0] + "-"
    both = [record for record in records if record.name == label and record.id == number]
    renamed = [one for one in records if one.id == number and one.name != label and one.name.startswith(ours)]
    renamed = [one for one in renamed if not owns(one.name, number)]
    submitted = min((record.submit or 0.0 for record in renamed), default=0.0)
    if claimed_at is not None and submitted > claimed_at + _SAME_START_S:
        renamed = []
    named = [record for record in records if record.name == label]
    first = min((record.id for record in named), key=lambda job: (len(job), job), default="")
    found = both or renamed or [record for record in named if record.id == first]
    return list({id(record): record for record in found}.values())
