"""Comparing an end mark with what Slurm says of the same start. Pure.

The payload runs as the user who owns the marks: it can write, change and remove them. It cannot change what Slurm says of the job.
Where both are known and disagree, the judgement is never in the payload's favour.

A run time shorter than that of the job proves nothing: Slurm's time includes prologs, epilogs and a controller that was away.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from shakedown.model.shared_nodes import names_in
from shakedown.model.units import show_duration
from shakedown.schedulers.cluster.job_script import FOUL_MARKS, RAN_AND_ENDED_SO
from shakedown.schedulers.cluster.marks import Marks
from shakedown.schedulers.local_host.script import CLAIM_TAKEN
from shakedown.schedulers.slurm.job_evidence import Found, listed
from shakedown.schedulers.slurm.launches import NEVER_OPENED
from shakedown.schedulers.slurm.parsing import QueueRow, Record
from shakedown.schedulers.slurm.second_starts import second_start
from shakedown.schedulers.slurm.states import BEFORE_AND_DURING, meaning

KILLED = 128  # a shell's exit status of what was ended by a signal, and more
WORD_S = 60.0  # how long Slurm's word on a job that left an end mark is waited for; then the mark alone counts
_LAG_S = 10.0  # by which accounting may be late
_CLOCKS_S = 10.0  # by which two clocks may differ, and whole seconds
_KILL_WAIT_S = 30.0  # between TERM and KILL, where the site did not change it
_ALIVE_THEN = frozenset({"timeout", "cancelled", "interrupted"})  # Slurm ends the script itself: it was not through


class Word(Struct, frozen=True):
    """The result. ``wait``: Slurm has not said yet how the job ended: "row": report it as the queue does; "silence": report
    nothing. ``doubt``: in what the mark and Slurm disagree, "" if they agree. ``exit_status``: the one that counts then.
    """

    wait: Literal["", "row", "silence"] = ""
    doubt: str = ""
    exit_status: int | None = None


def weigh_mark(found: Found, marks: Marks) -> Word:
    """Purpose: what remains of an end mark with an exit status after a comparison with what Slurm says. If Slurm says nothing, the
    mark counts alone.
    """
    assert marks.exit_status is not None
    row = _row(found, marks)
    said = row or _record(found, marks)
    if contradicted_end(found) is not None and _script_may_be_told(found):
        return Word("silence")
    if said is None or meaning(said.state).state in BEFORE_AND_DURING:
        if wait := _waits(found, marks, row):
            return Word(wait)
        doubt = marks.doubt or names_another(found, marks)
        if row is not None and row.exit is not None and not _agree(marks, row.exit, exact=True):
            doubt = doubt or f"its end mark says exit status {marks.exit_status}, Slurm {_code(row.exit)} ({row.state})"
        return Word(doubt=doubt, exit_status=marks.exit_status)
    doubt, status = _disagreement(found, marks, said, exact=row is not None)
    words = dict.fromkeys(word for word in (doubt, marks.doubt) if word)
    return Word(doubt="; ".join(words), exit_status=status)


def _waits(found: Found, marks: Marks, row: QueueRow | None) -> Literal["", "row", "silence"]:
    """Whether Slurm may still say how that start ended. A job is completing for as long as a node or an epilog takes. A job that
    runs has not ended, whatever its mark says. A job of several runs is not waited for, since each run has its own end.
    """
    if found.job.parts:
        return ""
    if row is None:
        return "silence" if _accounting_may_answer(found) else ""
    if row.state in ("COMPLETING", "STAGE_OUT"):
        several = (
            len(names_in(marks.nodes)) > 1 if marks.nodes else False
        )  # its nodes are waited for anyway (``broken_steps``)
        return "silence" if found.doubt_s < WORD_S and not several else ""
    return "row"


def _accounting_may_answer(found: Found) -> bool:
    """Whether accounting, which knows jobs that have left the queue, has not been asked yet or may be late."""
    if found.queue == "silent":
        return False
    return found.doubt_s < {"unasked": WORD_S, "told": _LAG_S}.get(found.accounting, 0.0)


def _disagreement(found: Found, marks: Marks, said: QueueRow | Record, exact: bool) -> tuple[str, int | None]:
    """In what an end mark and Slurm disagree on an end, "" if they agree; and the exit status that counts."""
    state, status = meaning(said.state).state, marks.exit_status
    if state in ("completed", "failed") and second_start(found, said.exit, exact):
        return "", status  # Slurm speaks of another start
    if state in _ALIVE_THEN:
        if was_through(found, marks, said):
            return "", status
        why = f"Slurm ended it ({said.state}), though by its end mark it came to its own end, with exit status {status}"
        return why, status
    if state in ("completed", "failed") and said.exit is not None and said.exit not in (CLAIM_TAKEN, NEVER_OPENED):
        if said.exit == FOUL_MARKS and not _agree(marks, said.exit, exact):
            return marks.doubt or "its job script says that its end mark is not the one that it wrote", status
        if said.state in ("COMPLETED", "FAILED") and not _agree(marks, said.exit, exact):
            worse = said.exit if not status and said.exit > 0 else status
            return f"its end mark says exit status {status}, Slurm {_code(said.exit)} ({said.state})", worse
    if state != "node_fail" and said.start and said.end and marks.elapsed_s is not None:
        took = max(0.0, said.end - said.start)
        if marks.elapsed_s > took + _CLOCKS_S:
            return (
                f"by its end mark it ran for {show_duration(marks.elapsed_s)}, by Slurm for {show_duration(took)}",
                status,
            )
    return "", status


def contradicted_end(found: Found) -> QueueRow | Record | None:
    """Purpose: Slurm's record of a start that Slurm says it ended, although the start left an end mark of its own; None where there
    is none.

    A controller that was away hears late of an end: if the time limit passed meanwhile, or somebody cancelled the job, it reports
    that.
    """
    marks = found.marks
    if marks is None or marks.exit_status is None or marks.exit_status >= KILLED:
        return None
    said = _row(found, marks) or _record(found, marks)
    state = meaning(said.state).state if said is not None else ""
    return said if state in _ALIVE_THEN or state == "requeued" else None


def _script_may_be_told(found: Found) -> bool:
    """Whether accounting, which records the end of each script, may still tell that of this one."""
    return found.scripts == "told" and found.script is None and found.doubt_s < _LAG_S


def was_through(found: Found, marks: Marks, said: QueueRow | Record) -> bool:
    """Purpose: whether a script had come to its own end before Slurm ended its job.

    Accounting has the exit status of the script itself, as its slurmstepd saw it, where no payload can write. Without that, three
    things must hold: the mark was written before the job was ended, by more than clocks may differ and Slurm waits between its
    signals; and slurmstepd wrote nothing into the job's output, as it does when it ends a script. When a controller closes a script
    that it never heard of again, it writes an end without any status: no slurmstepd was there to send a signal, so only the clocks
    count.
    """
    script = found.script
    closed = script is not None and meaning(script.state).state not in BEFORE_AND_DURING
    if script is not None and closed and script.exit is not None:
        own = script.state in ("COMPLETED", "FAILED")
        return own and script.exit != FOUL_MARKS and _agree(marks, script.exit, exact=False)
    if found.words or found.told_to_end or marks.ended_at is None:
        return False
    ended = _ended_by_slurm(said)
    return ended is not None and marks.ended_at + (0.0 if closed else _KILL_WAIT_S) + _CLOCKS_S < ended


def _ended_by_slurm(said: QueueRow | Record) -> float | None:
    """When Slurm ended a job: at its time limit, if that is known and earlier than the end that Slurm gives."""
    limit = said.terms.time_limit_s if isinstance(said, QueueRow) and said.terms is not None else None
    if said.state.startswith("TIMEOUT") and limit and said.start:
        return min(said.start + limit, said.end or said.start + limit)
    return said.end


def _code(told: int) -> str:
    return f"signal {-told}" if told < 0 else f"exit status {told}"


def _agree(marks: Marks, told: int, exact: bool) -> bool:
    """Whether an exit status of Slurm's fits a script whose payload ended as the marks say. Accounting drops the highest bit."""
    status = marks.exit_status or 0
    wanted = RAN_AND_ENDED_SO if status == CLAIM_TAKEN else status
    return told == wanted if exact or told < 0 else told % KILLED == wanted % KILLED


def names_another(found: Found, marks: Marks) -> str:
    """Purpose: a sentence, where the claim names another job than the one that Slurm has under this name; else "".

    Two submissions may have made two jobs with one name; accounting then knows the one that has the claim.
    """
    known = found.row.id if found.row is not None else found.job.scheduler_id.partition(";")[0]
    if not known or marks.scheduler_id in ("", known):
        return ""
    return f"its claim names job {marks.scheduler_id}, and Slurm knows it as {known}"


def _row(found: Found, marks: Marks) -> QueueRow | None:
    """The queue's row, if it is about the start and the job that left the marks."""
    row = found.row
    if row is None or row.restart != marks.restart or marks.scheduler_id not in ("", row.id):
        return None
    return row


def _record(found: Found, marks: Marks) -> Record | None:
    if len(found.records) > marks.restart:
        return found.records[marks.restart]
    return listed(found, marks.restart)
