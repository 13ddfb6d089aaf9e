"""What one look found of a job -> one report, in the order: marks, queue, accounting, list of finished jobs. Pure.

An end mark is held against the word of Slurm's that is to be had (``cross_check``): what the two do not agree in is told.

A start is when the claim was written, by the file system's clock, or else the scheduler's word; an end is the scheduler's; a
duration comes from the marks alone. Silence is never an end: a source that does not answer makes "no_answer", only the word
of all that they do not know the job makes "absent".
"""

from __future__ import annotations

import signal

import msgspec
from msgspec import Struct

from shakedown.model.ports import KILLED_FROM_OUTSIDE, NO_RESULT, RENAMED, JobReport
from shakedown.model.shared_nodes import names_in
from shakedown.model.void_starts import MOVED, VOID
from shakedown.schedulers.claims import CONDUCTOR
from shakedown.schedulers.cluster.job_script import FOUL_MARKS, RAN_AND_ENDED_SO
from shakedown.schedulers.cluster.marks import Marks
from shakedown.schedulers.local_host.script import CLAIM_TAKEN
from shakedown.schedulers.slurm.cross_check import KILLED, WORD_S, names_another, was_through, weigh_mark
from shakedown.schedulers.slurm.job_evidence import Asked, Found, listed
from shakedown.schedulers.slurm.launches import NEVER_OPENED, failed_launch, foreign_claim, requeued_launch
from shakedown.schedulers.slurm.parsing import QueueRow, Record, clean
from shakedown.schedulers.slurm.pending import in_words, way_out
from shakedown.schedulers.slurm.second_starts import first_is_over, second_start
from shakedown.schedulers.slurm.states import BEFORE_AND_DURING, OVER, meaning

SETTLE_S = 10.0  # sources may lag behind each other by as much (a file on NFS, a record of accounting): so long nothing is said
TOLD_S = 60.0  # after which a job that was told to end is believed to have been, though nobody says why
_FIRST_IS_OVER, _FIRST_GOES_ON = "and the first one left no end mark", "and the first one is waited for"
_EMPTY_CLAIM = "it could not write its claim, and ended without running; the campaign's file system may be full"
_STOPPED = (
    "it began no more of its runs: their claims could not be written; the campaign's file system may have been full"
)
_ALL_GONE = "its payload ended, and its claim and its marks are gone: somebody removed them"
_SHORTENED = (
    "its end mark is there without a whole line, though its job script came to its own end: somebody shortened it, perhaps a "
    "process that its payload left behind, or the campaign's file system had no room"
)
_SAYS_NOTHING = ("NonZeroExitCode", "TimeLimit", "DeadLine", "JobLaunchFailure", "NodeDown")
_MOST_NAMED = 8  # nodes in a sentence
_PATIENCE = ("Priority", "Resources", "BeginTime")  # nothing but patience is asked for
_MAY_BE_LOST = frozenset({"absent", "no_answer"})  # what it wrote so far is where it would be: nobody may ever say more
_ENDED_FROM_OUTSIDE = frozenset({"timeout", "node_fail", "cancelled", "interrupted", "requeued"})


class Later(Struct, frozen=True):
    """Nothing is said yet: another source may know better in a moment."""


Said = JobReport | Later | None


def weigh(found: Found) -> JobReport | None:
    """Purpose: the report on a job; None where nothing is to be said now."""
    if found.unsettled:
        return None
    for source in (_from_marks, _from_queue, _from_accounting, _from_finished, _from_words):
        said = source(found)
        if said is not None:
            return None if isinstance(said, Later) else _foul(found, said)
    return _ignorance(found)


def _foul(found: Found, said: JobReport) -> JobReport:
    """The word on an end, with that somebody wrote marks of a start that never was."""
    return _doubted(found, said, _joined(said.doubt, found.foul)) if found.foul and said.state in OVER else said


def is_plain(job: Asked, row: QueueRow | None) -> bool:
    """Purpose: whether the queue's word is enough: the job waits or runs as it did, and no file need be looked at."""
    if row is None or row.restart != job.restart or row.state not in ("PENDING", "RUNNING", "SUSPENDED", "CONFIGURING"):
        return False
    return job.scheduler_id in ("", row.id, f"{row.id};{row.cluster}")


def needs_accounting(found: Found) -> bool:
    """Purpose: whether accounting has to be asked: the queue has lost it, or does not say who or what ended it."""
    marks, row, young = _own_marks(found), found.row, found.doubt_s < SETTLE_S
    newest = max(marks.restart if marks else 0, row.restart if row else 0)
    if newest > found.job.restart:
        return young or row is None  # only it knows then whether that start was one
    if marks is not None and (marks.exit_status is not None or marks.trouble):
        if row is not None and row.restart > marks.restart:
            return young  # why it was started again after its end
        return (row is None or bool(names_another(found, marks))) and found.doubt_s < WORD_S
    if row is None or _is_forgotten(found):
        return True
    return meaning(row.state).state == "cancelled"


# ---- the sources, first to last ------------------------------------------------------------------------------------------


def _from_marks(found: Found) -> Said:
    if found.marks is not None and found.marks.void and found.marks.restart == found.job.restart:
        return _report(found, "void", "marks", message=VOID[found.marks.void])
    marks = _own_marks(found)
    if marks is None:
        return None
    if marks.restart > found.job.restart:
        return _requeued(found, marks.restart, "marks")
    if foreign := foreign_claim(marks, found.row):
        return _report(found, "refused", "marks", message=foreign)
    if marks.trouble:
        return _report(found, "refused", "marks", message=marks.trouble)
    if marks.exit_status is None:
        return None
    if marks.exit_status < KILLED and (again := _started_again(found, marks)):
        return _ended_before(found, marks, again)
    if marks.exit_status >= KILLED:
        state = _state_of(found, marks)
        if state in _ENDED_FROM_OUTSIDE:
            return None
        if state in BEFORE_AND_DURING and found.doubt_s < SETTLE_S:  # the scheduler may know in a moment what killed it
            return _report(found, "running", "queue") if found.row is not None else Later()
    word = weigh_mark(found, marks)
    if word.wait:
        return Later() if word.wait == "silence" else None
    if lost := _taken_from(found, marks):
        return msgspec.structs.replace(_report(found, "interrupted", "marks", message=lost), cause=NO_RESULT)
    state = "completed" if word.exit_status == 0 else "failed"
    note = _joined(_note(found) if state == "failed" else "", _STOPPED if marks.stopped else "")
    said = _report(found, state, "marks", exit_status=word.exit_status, message=note)
    return _doubted(found, said, word.doubt)


def _doubted(found: Found, report: JobReport, doubt: str) -> JobReport:
    """The report with why its mark is not believed. Nobody judges the own end of a job of several runs: there it is only told."""
    if not doubt:
        return report
    output = report.output if found.job.parts else report.output | {"doubt": doubt}
    message = _joined(report.message, doubt) if report.state == "failed" or found.job.parts else report.message
    return msgspec.structs.replace(report, output=output, message=message, doubt=doubt)


def _taken_from(found: Found, marks: Marks) -> str:
    """Somebody, or Slurm itself, took nodes from it while it ran: what it measured is not what was asked for.

    A job that is completing is shown with the nodes alone that are not clean yet.
    """
    row = found.row
    whole = row is not None and row.restart == marks.restart and row.state != "COMPLETING"
    nodes = row.nodes if row is not None and whole and row.nodes else found.nodes_now
    if not nodes or not marks.nodes or nodes == marks.nodes:
        return ""
    had, has = names_in(marks.nodes), names_in(nodes)
    gone = [node for node in had if node not in has]
    if not set(has) <= set(had):
        return ""  # of another start
    return (
        f"{', '.join(gone[:_MOST_NAMED])} was taken from it at the scheduler while it ran on {marks.nodes}"
        if gone
        else ""
    )


def _started_again(found: Found, marks: Marks) -> int:
    """The newest start of the job after one that came to its own end; 0 where there is none."""
    return max(found.again, found.row.restart if found.row is not None and found.row.restart > marks.restart else 0)


def _ended_before(found: Found, marks: Marks, again: int) -> Said:
    """It came to its own end, and Slurm put it back into the queue all the same: the end counts, and why Slurm did is told."""
    row, young, state = found.row, found.doubt_s < SETTLE_S, "failed" if marks.exit_status else "completed"
    if young and not found.again and row is not None and meaning(row.state).state == "running":
        return Later()  # that start may have taken its claim: then it is another run
    before = found.records[marks.restart] if len(found.records) > marks.restart else listed(found, marks.restart)
    if before is None or meaning(before.state).state in BEFORE_AND_DURING:
        if young and found.accounting in ("told", "unasked"):
            return Later()
        before = None
    lost = before is not None and meaning(before.state).state == "node_fail"
    why = f"Slurm put it back into the queue (restart {again}), although it had come to its own end"
    why = _joined(_failed_nodes(before.nodes) if lost and before is not None else "", why)
    said = _report(found, state, "marks", exit_status=marks.exit_status, message=why)
    alive = before is not None and meaning(before.state).state in ("requeued", "cancelled", "timeout", "interrupted")
    alive = alive and before is not None and not was_through(found, marks, before)
    doubt = f"Slurm calls that start {before.state}: its script was not through" if alive and before is not None else ""
    said = _doubted(found, said, _joined(doubt, marks.doubt))
    return msgspec.structs.replace(said, again=again, cause="node_fail" if lost else "")


def _state_of(found: Found, marks: Marks) -> str:
    """What the scheduler says of a start whose payload was killed. Slurm signals a job's processes one after the other: the
    payload's end can be written before the script is told, and looks like one of the payload's own making."""
    row = found.row
    if row is not None:
        return "requeued" if row.restart > marks.restart else meaning(row.state).state
    if len(found.records) > marks.restart:
        return (
            "requeued" if len(found.records) > marks.restart + 1 else meaning(found.records[marks.restart].state).state
        )
    return "running" if found.accounting in ("told", "unasked") and found.queue == "told" else "failed"


def _from_queue(found: Found) -> Said:
    row = found.row
    if row is None or row.restart < found.job.restart:
        return None
    if row.restart > found.job.restart:
        return _requeued(found, row.restart, "queue")
    word = meaning(row.state)
    if word.state in OVER:
        return _over(found, "queue", row.state, row.exit, row.nodes, row.reason, _canceller(found))
    state = "running" if word.state == "queued" and _says_it_began(found) else word.state
    if state == "requeued":
        return _requeued(found, max(row.restart, found.job.restart + 1), "queue")
    said = _report(
        found,
        state,
        "queue",
        nodes=row.nodes,
        message=_joined(_renamed(found), word.note, in_words(_shown(row.reason)) if state == "queued" else ""),
    )
    if state == "queued" and row.reason:
        stuck, certain = way_out(row.reason)
        return msgspec.structs.replace(said, stuck=stuck, for_good=certain)
    return msgspec.structs.replace(said, halted=word.halted) if word.halted else said


def _from_accounting(found: Found) -> Said:
    if found.accounting == "unasked" and found.doubt_s < SETTLE_S:
        return Later()
    restart = found.job.restart
    if len(found.records) > restart + 1:
        return _requeued(found, len(found.records) - 1, "accounting")
    if len(found.records) < restart + 1:
        return None
    record = found.records[restart]
    word = meaning(record.state)
    if word.state in OVER:
        # accounting's reason is the last for which it waited: it says nothing of its end
        return _over(found, "accounting", record.state, record.exit, record.nodes, "", record.by)
    if word.state == "unknown":
        return _report(found, "unknown", "accounting", nodes=record.nodes, message=word.note)
    return None  # a record that says RUNNING while the queue has no such job may say so for ever


def _from_finished(found: Found) -> Said:
    restart = found.job.restart
    if len(found.finished) > restart + 1:
        return _requeued(found, len(found.finished) - 1, "accounting")
    line = listed(found, restart)
    if line is None or meaning(line.state).state not in OVER:
        return None
    return _over(found, "accounting", line.state, line.exit, line.nodes, line.reason, line.by)


def _from_words(found: Found) -> Said:
    """What slurmstepd wrote when it ended the job, where nobody else remembers it."""
    if not found.words or not _is_over_for_all(found):
        return None
    for phrase, state in _PHRASES:
        if phrase in found.words:
            return _over(found, "marks", state, None, _nodes(found), "")
    return None


_PHRASES = (
    ("DUE TO TIME LIMIT", "TIMEOUT"),
    ("DUE TO NODE FAILURE", "NODE_FAIL"),
    ("DUE TO PREEMPTION", "PREEMPTED"),
    ("CANCELLED AT", "CANCELLED"),
)


def _ignorance(found: Found) -> JobReport | None:
    """Nobody knew more. Who was silent, and who was asked?"""
    if found.marks_trouble:
        return _report(found, "no_answer", "marks", message=f"its files cannot be read: {found.marks_trouble}")
    if found.queue == "silent" or found.accounting == "silent":
        return _report(found, "no_answer", "queue" if found.queue == "silent" else "accounting", message=found.trouble)
    settling = found.doubt_s < SETTLE_S and (found.job.scheduler_id != "" or _has_begun(found))
    if found.accounting == "unasked" or settling:
        return None
    marks = _own_marks(found)
    if marks is not None and marks.told and found.doubt_s >= TOLD_S:
        why = f"it was told to end ({marks.told}), and no source knows why"
        return _report(found, "interrupted", "marks", message=why)
    return _report(found, "absent", "accounting", message=_absence(found))


def _absence(found: Found) -> str:
    words = [
        "the queue knows a start before it alone, which is over"
        if _is_forgotten(found)
        else "the queue does not know it"
    ]
    if found.records:
        words.append(f"accounting still calls it {found.records[-1].state}")
    elif found.accounting == "told":
        words.append("accounting has no record of it")
    else:
        words.append("there is no accounting here")
    begun = "it left no marks"
    if _has_begun(found):
        begun = f"it began{_on(_nodes(found))} and left no end mark"
        if _is_empty_claim(found):
            begun = "its claim is there without a word: its maker ended before it wrote, and nobody knows whether the job began"
    return "; ".join([*words, begun])


# ---- ends and restarts ---------------------------------------------------------------------------------------------------


def _over(
    found: Found, source: str, word: str, status: int | None, nodes: str, reason: str, by: str = ""
) -> JobReport | Later:
    """The scheduler says that it is over, and no mark does."""
    said = meaning(word)
    young = found.doubt_s < SETTLE_S
    never_launched = status == NEVER_OPENED and not _has_begun(found)
    launch = "" if _has_begun(found) else failed_launch(found, source, word, status, nodes, reason, by)
    gave_up = said.state == "failed" and status == CLAIM_TAKEN and not (found.marks_trouble or _has_begun(found))
    if launch or (found.moved_from and gave_up):
        if young and not never_launched:
            return Later()  # its claim may be on its way
        return _not_launched(found, source, _joined(launch, found.said, _shown(reason)), nodes)
    if said.state in ("completed", "failed"):
        if found.marks_trouble:
            return _report(found, "no_answer", "marks", message=f"its files cannot be read: {found.marks_trouble}")
        if not _has_begun(found):
            if young and not never_launched:
                return Later()  # its marks may be on their way
            if status == FOUL_MARKS:  # its script ends so when its payload has ended
                return _doubted(found, _report(found, "failed", source, exit_status=status, nodes=nodes), _ALL_GONE)
            return _never_ran(found, source, word, status, nodes, reason)
        if young:
            return Later()
        if status == CLAIM_TAKEN and (found.marks is None or not found.marks.holder):
            return _report(found, "refused", source, nodes=nodes, message=_EMPTY_CLAIM)
        if said.state == "failed" and not said.note and (killed := _killed(found, status)):
            said_of_it = _report(found, "interrupted", source, nodes=nodes or _nodes(found), message=killed)
            return msgspec.structs.replace(said_of_it, cause=KILLED_FROM_OUTSIDE)
        if found.marks is not None and (again := second_start(found, status, source != "accounting")):
            where = found.marks.nodes
            if not first_is_over(found, nodes):
                return _report(found, "running", "marks", nodes=where, message=f"{again}, {_FIRST_GOES_ON}")
            return _report(found, "interrupted", source, nodes=where or nodes, message=f"{again}, {_FIRST_IS_OVER}")
    if word in ("DEADLINE", "NODE_FAIL") and not nodes and not _has_begun(found):
        return Later() if young else _ended_waiting(found, source, word, said.note)
    if said.state == "cancelled" and not by and young and found.accounting in ("told", "unasked"):
        return Later()  # accounting knows who it was, but not yet
    torn = _torn(found) if said.state in ("completed", "failed") and not said.note else ""
    words = _of_a_cancellation(found, nodes, reason, by) if said.state == "cancelled" else _shown(reason)
    note = _joined(said.note, words)
    where = nodes or _nodes(found)
    note = _joined(_failed_nodes(where), note) if said.state == "node_fail" else note
    shown = status if said.state in ("completed", "failed") else None
    if source == "accounting" and said.state == "failed" and status is not None and 0 < status < 128:
        note = _joined(note, f"accounting does not tell exit status {status} from {status + 128}")
    if said.state == "failed" and status == RAN_AND_ENDED_SO:
        note = _joined(note, f"Slurm does not tell exit status {status} from {CLAIM_TAKEN}")
    return _doubted(found, _report(found, said.state, source, exit_status=shown, nodes=where, message=note), torn)


def _not_launched(found: Found, source: str, why: str, nodes: str) -> JobReport:
    """It had a node and never took its claim: the node's failure, unless its campaign was moved from where it was to begin."""
    if found.moved_from:
        return _report(found, "void", source, message=MOVED.format(place=clean(found.moved_from)))
    said = _report(found, "node_fail", source, nodes=nodes, message=why)
    return msgspec.structs.replace(said, launch_failure=True)


def _of_a_cancellation(found: Found, nodes: str, reason: str, by: str) -> str:
    """Who cancelled a job, as far as it is known, and whether it had run by then.

    The queue's reason is the last for which it waited: it says nothing of who ended it. A controller that lost its memory has a job
    wait again that has run; what it knows of the job then is as if it had never begun.
    """
    record = found.records[found.job.restart] if len(found.records) > found.job.restart else None
    before = record.nodes if record is not None and record.start else ""
    if not before and not found.job.restart:  # the list of finished jobs has an end of it before this one
        before = next((line.nodes for line in found.finished if line.nodes), "")
    ran = not nodes and found.row is not None and bool(before or (_has_begun(found) and not _is_empty_claim(found)))
    again = (
        f"it had begun{_on(_nodes(found) or before)}; the controller forgot that, and had it wait again" if ran else ""
    )
    waited = "" if ran or nodes or not _shown(reason) else f"while it waited: {in_words(reason)}"
    return _joined(_who(by) if by else waited, again)


def _torn(found: Found) -> str:
    """Why the end of a job is not believed whose script came to its own end, and whose end mark was shortened since; "" else."""
    marks = _own_marks(found)
    return _SHORTENED if marks is not None and marks.restart == found.job.restart and marks.torn else ""


def _killed(found: Found, status: int | None) -> str:
    """Why a job that began was ended by somebody, though Slurm calls it failed; "" where it came to its own end.

    Whatever ends a payload, its script goes on and writes the end mark. A script that left none was ended itself, and one that was
    told to end says so; Slurm would say if that was its own doing (a time limit, a lost node, no memory), unless it forgot.
    """
    marks = _own_marks(found)
    if marks is None or marks.restart != found.job.restart or marks.exit_status is not None:
        return ""
    if marks.told:
        return f"it was told to end ({marks.told}), and no source says by whom"
    if status is None or status >= 0:
        return ""
    try:
        name = f"signal {-status} ({signal.Signals(-status).name})"
    except ValueError:
        name = f"signal {-status}"
    return f"its job script was ended by {name}, and how its payload ended is not known"


def _never_ran(found: Found, source: str, word: str, status: int | None, nodes: str, reason: str) -> JobReport:
    known = status is not None and status != NEVER_OPENED  # a word of Slurm's, and no signal
    code = (
        "" if status is None or not known else f" with exit status {status}" if status >= 0 else f" by signal {-status}"
    )
    why = "its output file or work directory could not be opened" if status == NEVER_OPENED else found.words
    text = f"Slurm started it on {nodes or '?'} and it ended{code} ({word}) before it took its claim"
    if status == 0:  # our script does not end so without a claim
        text = f"Slurm says that it ended well on {nodes or '?'}, but its claim and marks are gone: nothing proves that it ran"
    return _report(found, "refused", source, nodes=nodes, message=_joined(text, why, _shown(reason)))


def _ended_waiting(found: Found, source: str, word: str, note: str) -> JobReport:
    """It never had a node. A job whose partition is removed is called NODE_FAIL, one that could not begin in time DEADLINE."""
    if found.marks_trouble:
        return _report(found, "no_answer", "marks", message=f"its files cannot be read: {found.marks_trouble}")
    why = "its partition or its nodes may have been removed" if word == "NODE_FAIL" else note
    return _report(found, "refused", source, message=_joined(f"Slurm ended it while it waited ({word})", why))


def _requeued(found: Found, restart: int, source: str) -> Said:
    """It was put back into the queue. Accounting knows why, if it is there; so that is waited for, for a moment."""
    before = (
        found.records[found.job.restart] if len(found.records) > found.job.restart else listed(found, found.job.restart)
    )
    if before is None or meaning(before.state).state in BEFORE_AND_DURING:
        if found.accounting in ("told", "unasked") and found.doubt_s < SETTLE_S:
            return Later()
        return _report(found, "requeued", source, restart=restart)
    word = meaning(before.state)
    if found.never_began and (launch := requeued_launch(before)):
        said = _report(found, "requeued", source, restart=restart, nodes=before.nodes, message=launch)
        return msgspec.structs.replace(said, cause="node_fail", launch_failure=True)
    why = _failed_nodes(before.nodes) if word.state == "node_fail" else "" if word.state == "requeued" else word.note
    said = _report(found, "requeued", source, restart=restart, nodes=before.nodes, message=why)
    cause = word.state if word.state in ("node_fail", "interrupted") else ""
    return msgspec.structs.replace(said, cause=cause)


def _report(
    found: Found,
    state: str,
    source: str,
    exit_status: int | None = None,
    nodes: str = "",
    message: str = "",
    restart: int | None = None,
) -> JobReport:
    marks = _own_marks(found)
    ours = marks if marks is not None and marks.restart == found.job.restart else None
    row = found.row if found.row is not None and found.row.restart == found.job.restart else None
    record = found.records[found.job.restart] if len(found.records) > found.job.restart else None
    times = row if row is not None and row.start else record
    over = state in OVER or state == "requeued"  # then that start is
    return JobReport(
        found.job.id,
        state,
        source,  # type: ignore[arg-type]
        scheduler_id=_scheduler_id(found),
        restart=found.job.restart if restart is None else restart,
        exit_status=exit_status,
        elapsed_s=ours.elapsed_s if ours and over else None,
        nodes=nodes or (_nodes_put_back(found) if state == "requeued" else _nodes(found)),
        message=message,
        output=found.output if ours and (over or state in _MAY_BE_LOST) else {},
        began=_began(ours, times) if state not in ("queued", "requeued") else None,
        over=_end(times) if over else None,
        halted_s=_halted_s(row, record) if state in OVER else None,
        terms=row.terms if row is not None and state != "requeued" else None,
    )


def _end(times: QueueRow | Record | None) -> float | None:
    """When it was over. What the queue says of a job that runs is when its time limit would be."""
    if isinstance(times, QueueRow) and meaning(times.state).state not in OVER and times.state != "COMPLETING":
        return None
    return times.end if times is not None else None


def _halted_s(row: QueueRow | None, record: Record | None) -> float | None:
    """For how long a job that is over was suspended, as the controller knows it, or else accounting; None where neither says."""
    if row is not None and row.start is not None and row.used_s is not None and (end := _end(row)) is not None:
        return max(0.0, end - row.start - row.used_s)
    return record.halted_s if record is not None and record.end is not None else None


def _began(ours: Marks | None, times: QueueRow | Record | None) -> float | None:
    """When the job took its claim; else when Slurm says it began, which is in whole seconds and by another clock."""
    if ours is not None and ours.claimed_at is not None:
        return round(ours.claimed_at, 6)
    return times.start if times is not None else None


# ---- small questions -----------------------------------------------------------------------------------------------------


def _own_marks(found: Found) -> Marks | None:
    """The marks, unless they are of an earlier restart or say no more than that the conductor took the claim."""
    marks = found.marks
    if marks is None or marks.restart < found.job.restart or not marks.claimed or marks.holder == CONDUCTOR:
        return None
    return marks


def _has_begun(found: Found) -> bool:
    marks = _own_marks(found)
    return marks is not None and marks.restart == found.job.restart


def _is_empty_claim(found: Found) -> bool:
    """Whether nothing is known of this start but that somebody made its claim, and did not say who."""
    marks = _own_marks(found)
    return marks is not None and not marks.holder and not marks.output_bytes and marks.began_uptime_s is None


def _says_it_began(found: Found) -> bool:
    """Of a job that the queue has waiting: it began a moment ago. A claim that stays empty says nothing against the queue."""
    return _has_begun(found) and not (_is_empty_claim(found) and found.doubt_s >= SETTLE_S)


def _is_forgotten(found: Found) -> bool:
    """Whether the controller knows only of a start before this one, and that is over: its memory was rolled back."""
    row = found.row
    return row is not None and row.restart < found.job.restart and meaning(row.state).state in OVER


def _is_over_for_all(found: Found) -> bool:
    return found.row is None and found.queue == "told" and found.doubt_s >= SETTLE_S


def _scheduler_id(found: Found) -> str:
    """The id of the job that holds the claim, else of the row, else as it was known."""
    marks, row = _own_marks(found), found.row
    cluster = f";{row.cluster}" if row is not None and row.cluster else ""
    if marks is not None and marks.scheduler_id:
        known = found.job.scheduler_id
        return known if known.split(";")[0] == marks.scheduler_id else f"{marks.scheduler_id}{cluster}"
    return f"{row.id}{cluster}" if row is not None else found.job.scheduler_id


def _nodes(found: Found) -> str:
    marks = _own_marks(found)
    if marks is not None and marks.nodes:
        return marks.nodes
    return found.row.nodes if found.row is not None else ""


def _nodes_put_back(found: Found) -> str:
    """Where the start was that Slurm put back into the queue, "" where only the nodes of a later one are known."""
    marks, row = _own_marks(found), found.row
    if marks is not None and marks.restart > found.job.restart:
        return ""
    if marks is not None and marks.nodes:
        return marks.nodes
    if row is None or (row.restart > found.job.restart and row.state == "RUNNING"):
        return ""
    return row.nodes


def _note(found: Found) -> str:
    """What the scheduler adds to an end that the marks tell."""
    row = found.row
    return meaning(row.state).note if row is not None and meaning(row.state).state in OVER else ""


def _canceller(found: Found) -> str:
    """Who cancelled it, as accounting says; the queue does not."""
    record = found.records[found.job.restart] if len(found.records) > found.job.restart else None
    return record.by if record is not None else ""


def _shown(reason: str) -> str:
    """A reason of Slurm's, unless it says no more than the state does, or misleads."""
    return "" if reason in (*_SAYS_NOTHING, *_PATIENCE) or reason.startswith("RaisedSignal") else reason


def _renamed(found: Found) -> str:
    return f"{RENAMED} to {clean(found.renamed)} at the scheduler" if found.renamed else ""


def _on(nodes: str) -> str:
    return f" on {nodes}" if nodes else ""


def _failed_nodes(nodes: str) -> str:
    return f"Slurm lost a node of {nodes}" if nodes else "Slurm lost a node"


def _who(by: str) -> str:
    return f"by user id {by}" if by.isdigit() else f"by {by}"


def _joined(*words: str) -> str:
    return "; ".join(dict.fromkeys(word for word in words if word))
