"""Reports on the end of a job, or of one of its starts, as Slurm tells it where no mark does. Pure."""

from __future__ import annotations

import signal

import msgspec
from msgspec import Struct

from shakedown.model.ports import KILLED_FROM_OUTSIDE, JobReport
from shakedown.model.void_starts import MOVED
from shakedown.schedulers.cluster.job_script import FOUL_MARKS, RAN_AND_ENDED_SO
from shakedown.schedulers.cluster.marks import Marks
from shakedown.schedulers.local_host.script import CLAIM_TAKEN
from shakedown.schedulers.slurm.job_evidence import Found, listed
from shakedown.schedulers.slurm.job_questions import (
    SETTLE_S,
    by_whom,
    has_begun,
    id_of,
    is_empty_claim,
    joined,
    lost_node_of,
    nodes_of,
    nodes_put_back,
    on_nodes,
    own_marks,
    shown_reason,
)
from shakedown.schedulers.slurm.launches import NEVER_OPENED, failed_launch, requeued_launch
from shakedown.schedulers.slurm.parsing import QueueRow, Record, clean
from shakedown.schedulers.slurm.pending import in_words
from shakedown.schedulers.slurm.second_starts import first_is_over, second_start
from shakedown.schedulers.slurm.states import BEFORE_AND_DURING, OVER, meaning

_FIRST_IS_OVER, _FIRST_GOES_ON = "and the first one left no end mark", "and the first one is waited for"
_EMPTY_CLAIM = "it could not write its claim, and ended without running; the campaign's file system may be full"
_ALL_GONE = "its payload ended, and its claim and its marks are gone: somebody removed them"
_SHORTENED = (
    "its end mark is there without a whole line, though its job script came to its own end: somebody shortened it, perhaps a "
    "process that its payload left behind, or the campaign's file system had no room"
)
_MAY_BE_LOST = frozenset({"absent", "no_answer"})  # what it wrote so far is where it would be: nobody may ever say more


class Later(Struct, frozen=True):
    """Nothing is reported yet: another source may soon know more."""


Said = JobReport | Later | None


def with_doubt(found: Found, report: JobReport, doubt: str) -> JobReport:
    """The report with the reason why its mark is not believed. The end of a job of several runs is not judged, so there it is only
    reported.
    """
    if not doubt:
        return report
    output = report.output if found.job.parts else report.output | {"doubt": doubt}
    message = joined(report.message, doubt) if report.state == "failed" or found.job.parts else report.message
    return msgspec.structs.replace(report, output=output, message=message, doubt=doubt)


def ended(
    found: Found, source: str, word: str, status: int | None, nodes: str, reason: str, by: str = ""
) -> JobReport | Later:
    """The report where the scheduler says that the job is over and no mark does."""
    said = meaning(word)
    young = found.doubt_s < SETTLE_S
    never_launched = status == NEVER_OPENED and not has_begun(found)
    launch = "" if has_begun(found) else failed_launch(found, source, word, status, nodes, reason, by)
    gave_up = said.state == "failed" and status == CLAIM_TAKEN and not (found.marks_trouble or has_begun(found))
    if launch or (found.moved_from and gave_up):
        if young and not never_launched:
            return Later()  # its claim may be on its way
        return _not_launched(found, source, joined(launch, found.said, shown_reason(reason)), nodes)
    if said.state in ("completed", "failed"):
        if found.marks_trouble:
            return report_on(found, "no_answer", "marks", message=f"its files cannot be read: {found.marks_trouble}")
        if not has_begun(found):
            if young and not never_launched:
                return Later()  # its marks may be on their way
            if status == FOUL_MARKS:  # its script ends so when its payload has ended
                return with_doubt(found, report_on(found, "failed", source, exit_status=status, nodes=nodes), _ALL_GONE)
            return _never_ran(found, source, word, status, nodes, reason)
        if young:
            return Later()
        if status == CLAIM_TAKEN and (found.marks is None or not found.marks.holder):
            return report_on(found, "refused", source, nodes=nodes, message=_EMPTY_CLAIM)
        if said.state == "failed" and not said.note and (killed := _killed(found, status)):
            said_of_it = report_on(found, "interrupted", source, nodes=nodes or nodes_of(found), message=killed)
            return msgspec.structs.replace(said_of_it, cause=KILLED_FROM_OUTSIDE)
        if found.marks is not None and (again := second_start(found, status, source != "accounting")):
            where = found.marks.nodes
            if not first_is_over(found, nodes):
                return report_on(found, "running", "marks", nodes=where, message=f"{again}, {_FIRST_GOES_ON}")
            return report_on(found, "interrupted", source, nodes=where or nodes, message=f"{again}, {_FIRST_IS_OVER}")
    if word in ("DEADLINE", "NODE_FAIL") and not nodes and not has_begun(found):
        return Later() if young else _ended_waiting(found, source, word, said.note)
    if said.state == "cancelled" and not by and young and found.accounting in ("told", "unasked"):
        return Later()  # accounting knows who it was, but not yet
    torn = _torn(found) if said.state in ("completed", "failed") and not said.note else ""
    words = _of_a_cancellation(found, nodes, reason, by) if said.state == "cancelled" else shown_reason(reason)
    note = joined(said.note, words)
    where = nodes or nodes_of(found)
    note = joined(lost_node_of(where), note) if said.state == "node_fail" else note
    shown = status if said.state in ("completed", "failed") else None
    if source == "accounting" and said.state == "failed" and status is not None and 0 < status < 128:
        note = joined(note, f"accounting does not tell exit status {status} from {status + 128}")
    if said.state == "failed" and status == RAN_AND_ENDED_SO:
        note = joined(note, f"Slurm does not tell exit status {status} from {CLAIM_TAKEN}")
    return with_doubt(found, report_on(found, said.state, source, exit_status=shown, nodes=where, message=note), torn)


def _not_launched(found: Found, source: str, why: str, nodes: str) -> JobReport:
    """The report on a job that had a node and never took its claim: a failure of the node, unless the campaign's directory was
    moved.
    """
    if found.moved_from:
        return report_on(found, "void", source, message=MOVED.format(place=clean(found.moved_from)))
    said = report_on(found, "node_fail", source, nodes=nodes, message=why)
    return msgspec.structs.replace(said, launch_failure=True)


def _of_a_cancellation(found: Found, nodes: str, reason: str, by: str) -> str:
    """Who cancelled a job, as far as is known, and whether it had run by then.

    The queue's reason is the last one for which the job waited, so it does not say who ended it. A controller that lost its memory
    lets a job wait again that has already run, and then shows it as if it had never begun.
    """
    record = found.records[found.job.restart] if len(found.records) > found.job.restart else None
    before = record.nodes if record is not None and record.start else ""
    if not before and not found.job.restart:  # the list of finished jobs has an end of it before this one
        before = next((line.nodes for line in found.finished if line.nodes), "")
    ran = not nodes and found.row is not None and bool(before or (has_begun(found) and not is_empty_claim(found)))
    again = (
        f"it had begun{on_nodes(nodes_of(found) or before)}; the controller forgot that, and had it wait again"
        if ran
        else ""
    )
    waited = "" if ran or nodes or not shown_reason(reason) else f"while it waited: {in_words(reason)}"
    return joined(by_whom(by) if by else waited, again)


def _torn(found: Found) -> str:
    """Why the end of a job is not believed although its script came to its own end: its end mark was shortened later; else ""."""
    marks = own_marks(found)
    return _SHORTENED if marks is not None and marks.restart == found.job.restart and marks.torn else ""


def _killed(found: Found, status: int | None) -> str:
    """Why somebody else ended a job although Slurm calls it failed; "" where it came to its own end.

    Whatever ends a payload, its script goes on and writes the end mark. If there is none, the script itself was ended; and a script
    that was told to end says so. Slurm would say if that was because of a time limit, a lost node or memory, unless it forgot.
    """
    marks = own_marks(found)
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
    return report_on(found, "refused", source, nodes=nodes, message=joined(text, why, shown_reason(reason)))


def _ended_waiting(found: Found, source: str, word: str, note: str) -> JobReport:
    """The report on a job that never had a node. Slurm calls a job whose partition is removed NODE_FAIL, and one that could not
    begin in time DEADLINE.
    """
    if found.marks_trouble:
        return report_on(found, "no_answer", "marks", message=f"its files cannot be read: {found.marks_trouble}")
    why = "its partition or its nodes may have been removed" if word == "NODE_FAIL" else note
    return report_on(found, "refused", source, message=joined(f"Slurm ended it while it waited ({word})", why))


def put_back(found: Found, restart: int, source: str) -> Said:
    """The report on a job that was put back into the queue. Accounting, if there is one, knows why, so its answer is waited for
    briefly.
    """
    before = (
        found.records[found.job.restart] if len(found.records) > found.job.restart else listed(found, found.job.restart)
    )
    if before is None or meaning(before.state).state in BEFORE_AND_DURING:
        if found.accounting in ("told", "unasked") and found.doubt_s < SETTLE_S:
            return Later()
        return report_on(found, "requeued", source, restart=restart)
    word = meaning(before.state)
    if found.never_began and (launch := requeued_launch(before)):
        said = report_on(found, "requeued", source, restart=restart, nodes=before.nodes, message=launch)
        return msgspec.structs.replace(said, cause="node_fail", launch_failure=True)
    why = lost_node_of(before.nodes) if word.state == "node_fail" else "" if word.state == "requeued" else word.note
    said = report_on(found, "requeued", source, restart=restart, nodes=before.nodes, message=why)
    cause = word.state if word.state in ("node_fail", "interrupted") else ""
    return msgspec.structs.replace(said, cause=cause)


def report_on(
    found: Found,
    state: str,
    source: str,
    exit_status: int | None = None,
    nodes: str = "",
    message: str = "",
    restart: int | None = None,
) -> JobReport:
    marks = own_marks(found)
    ours = marks if marks is not None and marks.restart == found.job.restart else None
    row = found.row if found.row is not None and found.row.restart == found.job.restart else None
    record = found.records[found.job.restart] if len(found.records) > found.job.restart else None
    times = row if row is not None and row.start else record
    over = state in OVER or state == "requeued"  # then that start is
    return JobReport(
        found.job.id,
        state,
        source,  # type: ignore[arg-type]
        scheduler_id=id_of(found),
        restart=found.job.restart if restart is None else restart,
        exit_status=exit_status,
        elapsed_s=ours.elapsed_s if ours and over else None,
        nodes=nodes or (nodes_put_back(found) if state == "requeued" else nodes_of(found)),
        message=message,
        output=found.output if ours and (over or state in _MAY_BE_LOST) else {},
        began=_began(ours, times) if state not in ("queued", "requeued") else None,
        over=_end(times) if over else None,
        halted_s=_halted_s(row, record) if state in OVER else None,
        terms=row.terms if row is not None and state != "requeued" else None,
    )


def _end(times: QueueRow | Record | None) -> float | None:
    """When the job ended. For a running job, the queue's end time is when its time limit would be reached, so it does not count."""
    if isinstance(times, QueueRow) and meaning(times.state).state not in OVER and times.state != "COMPLETING":
        return None
    return times.end if times is not None else None


def _halted_s(row: QueueRow | None, record: Record | None) -> float | None:
    """For how many seconds a job that is over was suspended, by the controller or else by accounting; None where neither says."""
    if row is not None and row.start is not None and row.used_s is not None and (end := _end(row)) is not None:
        return max(0.0, end - row.start - row.used_s)
    return record.halted_s if record is not None and record.end is not None else None


def _began(ours: Marks | None, times: QueueRow | Record | None) -> float | None:
    """When the job took its claim; else when Slurm says it began, in whole seconds and by another clock."""
    if ours is not None and ours.claimed_at is not None:
        return round(ours.claimed_at, 6)
    return times.start if times is not None else None
