"""Small questions about what a look found of a job: whose marks they are, whether it began, where it ran, who ended it. Pure."""

from __future__ import annotations

from shakedown.model.ports import RENAMED
from shakedown.schedulers.claims import CONDUCTOR
from shakedown.schedulers.cluster.marks import Marks
from shakedown.schedulers.slurm.job_evidence import Found
from shakedown.schedulers.slurm.parsing import clean
from shakedown.schedulers.slurm.states import OVER, meaning

SETTLE_S = 10.0  # sources may lag behind each other by as much (a file on NFS, a record of accounting): so long nothing is said
_SAYS_NOTHING = ("NonZeroExitCode", "TimeLimit", "DeadLine", "JobLaunchFailure", "NodeDown")
_PATIENCE = ("Priority", "Resources", "BeginTime")  # nothing but patience is asked for


def own_marks(found: Found) -> Marks | None:
    """The marks, or None if they are of an earlier start or only say that the conductor has the claim."""
    marks = found.marks
    if marks is None or marks.restart < found.job.restart or not marks.claimed or marks.holder == CONDUCTOR:
        return None
    return marks


def has_begun(found: Found) -> bool:
    marks = own_marks(found)
    return marks is not None and marks.restart == found.job.restart


def is_empty_claim(found: Found) -> bool:
    """Whether the only thing known of this start is an empty claim, which does not say who made it."""
    marks = own_marks(found)
    return marks is not None and not marks.holder and not marks.output_bytes and marks.began_uptime_s is None


def says_it_began(found: Found) -> bool:
    """For a job that waits by the queue: whether its claim shows that it has just begun. A claim that stays empty does not count
    against the queue.
    """
    return has_begun(found) and not (is_empty_claim(found) and found.doubt_s >= SETTLE_S)


def is_forgotten(found: Found) -> bool:
    """Whether the controller only knows an earlier start, which is over: its memory was set back."""
    row = found.row
    return row is not None and row.restart < found.job.restart and meaning(row.state).state in OVER


def is_over_for_all(found: Found) -> bool:
    return found.row is None and found.queue == "told" and found.doubt_s >= SETTLE_S


def id_of(found: Found) -> str:
    """The id of the job that holds the claim; else that of the queue's row; else the known one."""
    marks, row = own_marks(found), found.row
    cluster = f";{row.cluster}" if row is not None and row.cluster else ""
    if marks is not None and marks.scheduler_id:
        known = found.job.scheduler_id
        return known if known.split(";")[0] == marks.scheduler_id else f"{marks.scheduler_id}{cluster}"
    return f"{row.id}{cluster}" if row is not None else found.job.scheduler_id


def nodes_of(found: Found) -> str:
    marks = own_marks(found)
    if marks is not None and marks.nodes:
        return marks.nodes
    return found.row.nodes if found.row is not None else ""


def nodes_put_back(found: Found) -> str:
    """The nodes of the start that Slurm put back into the queue; "" where only the nodes of a later start are known."""
    marks, row = own_marks(found), found.row
    if marks is not None and marks.restart > found.job.restart:
        return ""
    if marks is not None and marks.nodes:
        return marks.nodes
    if row is None or (row.restart > found.job.restart and row.state == "RUNNING"):
        return ""
    return row.nodes


def note_on(found: Found) -> str:
    """What the scheduler adds to an end that the marks tell; "" where it adds nothing."""
    row = found.row
    return meaning(row.state).note if row is not None and meaning(row.state).state in OVER else ""


def canceller(found: Found) -> str:
    """Who cancelled the job, by accounting; the queue does not say."""
    record = found.records[found.job.restart] if len(found.records) > found.job.restart else None
    return record.by if record is not None else ""


def shown_reason(reason: str) -> str:
    """Slurm's reason; "" where it only repeats the state, or misleads."""
    return "" if reason in (*_SAYS_NOTHING, *_PATIENCE) or reason.startswith("RaisedSignal") else reason


def renamed_to(found: Found) -> str:
    return f"{RENAMED} to {clean(found.renamed)} at the scheduler" if found.renamed else ""


def on_nodes(nodes: str) -> str:
    return f" on {nodes}" if nodes else ""


def lost_node_of(nodes: str) -> str:
    return f"Slurm lost a node of {nodes}" if nodes else "Slurm lost a node"


def by_whom(by: str) -> str:
    return f"by user id {by}" if by.isdigit() else f"by {by}"


def joined(*words: str) -> str:
    return "; ".join(dict.fromkeys(word for word in words if word))
