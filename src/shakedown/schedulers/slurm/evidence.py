"""From what one look found of a job to one report, in this order: marks, queue, accounting, list of finished jobs. Pure.

An end mark is compared with what Slurm says (``cross_check``), and disagreements are reported. A job's start is the time at which
the claim was written, by the file system's clock, else the scheduler's time; its end is the scheduler's; durations come from the
marks alone. Silence never counts as an end: a source that does not answer leads to "no_answer"; only if all sources say that they
do not know the job does it become "absent".
"""

from __future__ import annotations

import msgspec

from shakedown.model.ports import NO_RESULT, JobReport
from shakedown.model.shared_nodes import names_in
from shakedown.model.void_starts import VOID
from shakedown.schedulers.cluster.marks import Marks
from shakedown.schedulers.slurm.cross_check import KILLED, WORD_S, names_another, was_through, weigh_mark
from shakedown.schedulers.slurm.job_ends import (
    Later,
    Said,
    ended,
    put_back,
    report_on,
    with_doubt,
)
from shakedown.schedulers.slurm.job_evidence import Asked, Found, listed
from shakedown.schedulers.slurm.job_questions import (
    SETTLE_S,
    canceller,
    has_begun,
    is_empty_claim,
    is_forgotten,
    is_over_for_all,
    joined,
    lost_node_of,
    nodes_of,
    note_on,
    on_nodes,
    own_marks,
    renamed_to,
    says_it_began,
    shown_reason,
)
from shakedown.schedulers.slurm.launches import foreign_claim
from shakedown.schedulers.slurm.parsing import QueueRow
from shakedown.schedulers.slurm.pending import in_words, way_out
from shakedown.schedulers.slurm.states import BEFORE_AND_DURING, OVER, meaning

TOLD_S = 60.0  # after which a job that was told to end is believed to have been, though nobody says why
_STOPPED = (
    "it began no more of its runs: their claims could not be written; the campaign's file system may have been full"
)
_MOST_NAMED = 8  # nodes in a sentence
_ENDED_FROM_OUTSIDE = frozenset({"timeout", "node_fail", "cancelled", "interrupted", "requeued"})


def weigh(found: Found) -> JobReport | None:
    """Purpose: the report on a job; None where nothing is to be reported now."""
    if found.unsettled:
        return None
    for source in (_from_marks, _from_queue, _from_accounting, _from_finished, _from_words):
        said = source(found)
        if said is not None:
            return None if isinstance(said, Later) else _foul(found, said)
    return _ignorance(found)


def _foul(found: Found, said: JobReport) -> JobReport:
    """The report on an end; if somebody wrote marks of a start that never was, with that as a doubt."""
    return with_doubt(found, said, joined(said.doubt, found.foul)) if found.foul and said.state in OVER else said


def is_plain(job: Asked, row: QueueRow | None) -> bool:
    """Purpose: whether the queue's answer is enough: the job waits or runs as before, and no file needs to be read."""
    if row is None or row.restart != job.restart or row.state not in ("PENDING", "RUNNING", "SUSPENDED", "CONFIGURING"):
        return False
    return job.scheduler_id in ("", row.id, f"{row.id};{row.cluster}")


def needs_accounting(found: Found) -> bool:
    """Purpose: whether accounting must be asked: the job is not in the queue, or the queue does not say who or what ended it."""
    marks, row, young = own_marks(found), found.row, found.doubt_s < SETTLE_S
    newest = max(marks.restart if marks else 0, row.restart if row else 0)
    if newest > found.job.restart:
        return young or row is None  # only it knows then whether that start was one
    if marks is not None and (marks.exit_status is not None or marks.trouble):
        if row is not None and row.restart > marks.restart:
            return young  # why it was started again after its end
        return (row is None or bool(names_another(found, marks))) and found.doubt_s < WORD_S
    if row is None or is_forgotten(found):
        return True
    return meaning(row.state).state == "cancelled"


def _from_marks(found: Found) -> Said:
    if found.marks is not None and found.marks.void and found.marks.restart == found.job.restart:
        return report_on(found, "void", "marks", message=VOID[found.marks.void])
    marks = own_marks(found)
    if marks is None:
        return None
    if marks.restart > found.job.restart:
        return put_back(found, marks.restart, "marks")
    if foreign := foreign_claim(marks, found.row):
        return report_on(found, "refused", "marks", message=foreign)
    if marks.trouble:
        return report_on(found, "refused", "marks", message=marks.trouble)
    if marks.exit_status is None:
        return None
    if marks.exit_status < KILLED and (again := _started_again(found, marks)):
        return _ended_before(found, marks, again)
    if marks.exit_status >= KILLED:
        state = _state_of(found, marks)
        if state in _ENDED_FROM_OUTSIDE:
            return None
        if state in BEFORE_AND_DURING and found.doubt_s < SETTLE_S:  # the scheduler may know in a moment what killed it
            return report_on(found, "running", "queue") if found.row is not None else Later()
    word = weigh_mark(found, marks)
    if word.wait:
        return Later() if word.wait == "silence" else None
    if lost := _taken_from(found, marks):
        return msgspec.structs.replace(report_on(found, "interrupted", "marks", message=lost), cause=NO_RESULT)
    state = "completed" if word.exit_status == 0 else "failed"
    note = joined(note_on(found) if state == "failed" else "", _STOPPED if marks.stopped else "")
    said = report_on(found, state, "marks", exit_status=word.exit_status, message=note)
    return with_doubt(found, said, word.doubt)


def _taken_from(found: Found, marks: Marks) -> str:
    """A sentence, where somebody or Slurm took nodes from the job while it ran, so that it measured something else; else "".

    For a job that is completing, the queue shows only the nodes that are not clean yet.
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
    """The number of the newest start after one that came to its own end; 0 where there is none."""
    return max(found.again, found.row.restart if found.row is not None and found.row.restart > marks.restart else 0)


def _ended_before(found: Found, marks: Marks, again: int) -> Said:
    """The report on a job that came to its own end and was put back into the queue all the same: the end counts, and the reason is
    added.
    """
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
    why = joined(lost_node_of(before.nodes) if lost and before is not None else "", why)
    said = report_on(found, state, "marks", exit_status=marks.exit_status, message=why)
    alive = before is not None and meaning(before.state).state in ("requeued", "cancelled", "timeout", "interrupted")
    alive = alive and before is not None and not was_through(found, marks, before)
    doubt = f"Slurm calls that start {before.state}: its script was not through" if alive and before is not None else ""
    said = with_doubt(found, said, joined(doubt, marks.doubt))
    return msgspec.structs.replace(said, again=again, cause="node_fail" if lost else "")


def _state_of(found: Found, marks: Marks) -> str:
    """What the scheduler says of a start whose payload was killed. Slurm signals a job's processes one after the other: the end of
    the payload may be written before the script is signalled, and then looks like the payload's own.
    """
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
        return put_back(found, row.restart, "queue")
    word = meaning(row.state)
    if word.state in OVER:
        return ended(found, "queue", row.state, row.exit, row.nodes, row.reason, canceller(found))
    state = "running" if word.state == "queued" and says_it_began(found) else word.state
    if state == "requeued":
        return put_back(found, max(row.restart, found.job.restart + 1), "queue")
    said = report_on(
        found,
        state,
        "queue",
        nodes=row.nodes,
        message=joined(
            renamed_to(found), word.note, found.unheard, in_words(shown_reason(row.reason)) if state == "queued" else ""
        ),
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
        return put_back(found, len(found.records) - 1, "accounting")
    if len(found.records) < restart + 1:
        return None
    record = found.records[restart]
    word = meaning(record.state)
    if word.state in OVER:
        # accounting's reason is the last for which it waited: it says nothing of its end
        return ended(found, "accounting", record.state, record.exit, record.nodes, "", record.by)
    if word.state == "unknown":
        return report_on(found, "unknown", "accounting", nodes=record.nodes, message=word.note)
    return None  # a record that says RUNNING while the queue has no such job may say so for ever


def _from_finished(found: Found) -> Said:
    restart = found.job.restart
    if len(found.finished) > restart + 1:
        return put_back(found, len(found.finished) - 1, "accounting")
    line = listed(found, restart)
    if line is None or meaning(line.state).state not in OVER:
        return None
    return ended(found, "accounting", line.state, line.exit, line.nodes, line.reason, line.by)


def _from_words(found: Found) -> Said:
    """The report from what slurmstepd wrote when it ended the job, where no other source remembers it."""
    if not found.words or not is_over_for_all(found):
        return None
    for phrase, state in _PHRASES:
        if phrase in found.words:
            return ended(found, "marks", state, None, nodes_of(found), "")
    return None


_PHRASES = (
    ("DUE TO TIME LIMIT", "TIMEOUT"),
    ("DUE TO NODE FAILURE", "NODE_FAIL"),
    ("DUE TO PREEMPTION", "PREEMPTED"),
    ("CANCELLED AT", "CANCELLED"),
)


def _ignorance(found: Found) -> JobReport | None:
    """The report where no source knew more: which source did not answer, and which ones were asked."""
    if found.marks_trouble:
        return report_on(found, "no_answer", "marks", message=f"its files cannot be read: {found.marks_trouble}")
    if found.queue == "silent" or found.accounting == "silent":
        return report_on(
            found, "no_answer", "queue" if found.queue == "silent" else "accounting", message=found.trouble
        )
    settling = found.doubt_s < SETTLE_S and (found.job.scheduler_id != "" or has_begun(found))
    if found.accounting == "unasked" or settling:
        return None
    marks = own_marks(found)
    if marks is not None and marks.told and found.doubt_s >= TOLD_S:
        why = f"it was told to end ({marks.told}), and no source knows why"
        return report_on(found, "interrupted", "marks", message=why)
    return report_on(found, "absent", "accounting", message=_absence(found))


def _absence(found: Found) -> str:
    words = [
        "the queue knows a start before it alone, which is over"
        if is_forgotten(found)
        else "the queue does not know it"
    ]
    if found.records:
        words.append(f"accounting still calls it {found.records[-1].state}")
    elif found.accounting == "told":
        words.append("accounting has no record of it")
    else:
        words.append("there is no accounting here")
    begun = "it left no marks"
    if has_begun(found):
        begun = f"it began{on_nodes(nodes_of(found))} and left no end mark"
        if is_empty_claim(found):
            begun = "its claim is there without a word: its maker ended before it wrote, and nobody knows whether the job began"
    return "; ".join([*words, begun])
