"""Small questions to what one look found of a job: whose marks they are, whether it began, where it ran, who ended it. Pure."""

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
    """The marks, unless they are of an earlier restart or say no more than that the conductor took the claim."""
    marks = found.marks
    if marks is None or marks.restart < found.job.restart or not marks.claimed or marks.holder == CONDUCTOR:
        return None
    return marks


def has_begun(found: Found) -> bool:
    marks = own_marks(found)
    return marks is not None and marks.restart == found.job.restart


def is_empty_claim(found: Found) -> bool:
    """Whether nothing is known of this start but that somebody made its claim, and did not say who."""
    marks = own_marks(found)
    return marks is not None and not marks.holder and not marks.output_bytes and marks.began_uptime_s is None


def says_it_began(found: Found) -> bool:
    """Of a job that the queue has waiting: it began a moment ago. A claim that stays empty says nothing against the queue."""
    return has_begun(found) and not (is_empty_claim(found) and found.doubt_s >= SETTLE_S)


def is_forgotten(found: Found) -> bool:
    """Whether the controller knows only of a start before this one, and that is over: its memory was rolled back."""
    row = found.row
    return row is not None and row.restart < found.job.restart and meaning(row.state).state in OVER


def is_over_for_all(found: Found) -> bool:
    return found.row is None and found.queue == "told" and found.doubt_s >= SETTLE_S


def id_of(found: Found) -> str:
    """The id of the job that holds the claim, else of the row, else as it was known."""
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
    """Where the start was that Slurm put back into the queue, "" where only the nodes of a later one are known."""
    marks, row = own_marks(found), found.row
    if marks is not None and marks.restart > found.job.restart:
        return ""
    if marks is not None and marks.nodes:
        return marks.nodes
    if row is None or (row.restart > found.job.restart and row.state == "RUNNING"):
        return ""
    return row.nodes


def note_on(found: Found) -> str:
    """What the scheduler adds to an end that the marks tell."""
    row = found.row
    return meaning(row.state).note if row is not None and meaning(row.state).state in OVER else ""


def canceller(found: Found) -> str:
    """Who cancelled it, as accounting says; the queue does not."""
    record = found.records[found.job.restart] if len(found.records) > found.job.restart else None
    return record.by if record is not None else ""


def shown_reason(reason: str) -> str:
    """A reason of Slurm's, unless it says no more than the state does, or misleads."""
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
