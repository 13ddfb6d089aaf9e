"""What launchers write into an output when a step of a job was given up, or ranks of it were lost. Pure."""

from __future__ import annotations

import re

from msgspec import Struct

from shakedown.model.shared_nodes import names_in

_LONGEST = 200  # characters of their sentence
_NEAR = 800  # characters of a line in which they stand
# The most telling first: who names a node, then who says why, then who only says that it is over.
_WORDS = (
    re.compile(r"^srun: error: Task launch for \S+ failed on node (?P<nodes>\S+): .*"),
    re.compile(r"^slurmstepd\S*: error: Prolog failure on node (?P<nodes>\S+).*"),
    re.compile(r"^srun: error: Node failure on (?P<nodes>\S+).*"),
    re.compile(r"^slurmstepd\S*: error: \*\*\* STEP .* DUE TO NODE FAILURE.*"),
    re.compile(r"^srun: error: Unable to create step\b.*"),
    re.compile(r"^srun: error: Application launch failed: .*"),
    re.compile(r"^srun: Job step aborted\b.*"),
    re.compile(r"^srun: error: Timed out waiting for job step to complete.*"),
)
# Some programs end well by MPI_Abort with 0. Open MPI says the number in the next line or the one after that.
_ENDS_WELL = r"[^\n]*(?:\n[^\n]*)?\n\s*(?:with errorcode 0\.|Errorcode: 0\b)"
_OF_MPICH = r"(?:\[\w+\]: aborting job:\s*|(?:MPICH ERROR \[.*\] - )?Abort\(-?\d+\) .*: )?"
_OPEN_MPI = "(?:mpirun|mpiexec|orterun|prterun|prun)"
# What a launcher writes of ranks that were lost, and of nothing else; each with a text without which no line need be looked at. A
# step that is terminated or cancelled lost none: a script ends a step of its own so, which it needs no more. Nor did one whose
# ranks ended with an exit status, which the launcher hands on; a rank that aborts takes the others with it.
_LOST = (
    (
        "srun: error: ",
        re.compile(r"srun: error: \S+: tasks? [\d,\[\]-]+: (?!Exited with exit code|Terminated|Broken pipe).*"),
    ),
    ("srun: error: Timed out", re.compile(r"srun: error: Timed out waiting for job step to complete.*")),
    ("srun: error: Task launch", re.compile(r"srun: error: Task launch for .* failed on node .*")),
    ("srun: error: Application", re.compile(r"srun: error: Application launch failed: .*")),
    ("srun: error: Unable to create", re.compile(r"srun: error: Unable to create step\b.*")),
    ("srun: error: Node failure", re.compile(r"srun: error: Node failure on .*")),
    ("io error with slurmstepd", re.compile(r"srun: error: .*: aborting, io error with slurmstepd on node .*")),
    ("slurmstepd", re.compile(r"slurmstepd[^\s:]*: error: (?:Detected \d+ oom.kill event|.* being killed\b).*", re.I)),
    ("slurmstepd", re.compile(r"slurmstepd[^\s:]*: error: \*\*\* STEP .* DUE TO NODE FAILURE.*")),
    (
        " noticed that process rank ",
        re.compile(rf"{_OPEN_MPI} noticed that process rank .* exited on signal (?!15\b).*"),
    ),
    (" noticed that the job aborted", re.compile(rf"{_OPEN_MPI} noticed that the job aborted.*")),
    ("TE has lost communication", re.compile(r"(?:ORTE|PRTE) has lost communication with a remote daemon.*")),
    ("unable to reliably start", re.compile(r"(?:ORTE|PRTE) was unable to reliably start one or more daemons.*")),
    ("THE EXIT STRING: ", re.compile(r"YOUR APPLICATION TERMINATED WITH THE EXIT STRING: (?!Terminated).*")),
    ("KILLED BY SIGNAL: ", re.compile(r"=\s+KILLED BY SIGNAL: (?!15\b)\d+.*")),
    ("assert (!closed) failed", re.compile(r"\[proxy:\S+@\S+\] .*assert \(!closed\) failed.*")),
    ("execve(): ", re.compile(r"slurmstepd[^\s:]*: error: execve\(\): .*")),
    ("Unable to allocate resources", re.compile(r"srun: error: Unable to allocate resources: .*")),
    (" was unable to ", re.compile(rf"{_OPEN_MPI}\S* was unable to (?:launch|find|start) .*")),
    ("not enough slots", re.compile(r"There are not enough slots available in the system to satisfy .*")),
    ("execvp error on file", re.compile(r"\[proxy:\S+@\S+\] .*execvp error on file .*")),
    (
        "MPI_ABORT was invoked on rank ",
        re.compile(rf"MPI_ABORT was invoked on rank \d+ in communicator (?!{_ENDS_WELL}).*"),
    ),
    (
        "application called MPI_Abort(",
        re.compile(rf"{_OF_MPICH}application called MPI_Abort\((?![^\n]*, 0\) - process).*"),
    ),
    ("[NID ", re.compile(r"\[NID \d+\] .*(?:initiated application termination|OOM killer terminated this process).*")),
)
# A step that its script cancels gets TERM, and what does not heed that is killed.
_KILLED = re.compile(r"srun: error: \S+: tasks? [\d,\[\]-]+: Killed\b")
_CANCELLED = re.compile(r"slurmstepd[^\s:]*: error: \*\*\* STEP \S+ ON \S+ CANCELLED AT \S+ \*\*\*\s*$")


class Step(Struct, frozen=True):
    """A step that was given up: in whose words, and the nodes that they name."""

    words: str
    nodes: tuple[str, ...] = ()


def lost_ranks(output: str, ended: bool = False) -> str:
    """Purpose: in whose words ranks of a step were lost, as a launcher writes at the beginning of a line; "" where none says so.

    ``ended``: the script itself ended the steps whose tasks srun calls killed. So it did where slurmstepd wrote right before that a
    step was cancelled, and no reason for it.
    """
    first = len(output), ""
    for text, pattern in _LOST:
        at = output.find(text)
        while 0 <= at < first[0]:
            begin = output.rfind("\n", max(0, at - _NEAR), at) + 1
            near = output[begin : begin + _NEAR] if begin or at < _NEAR else ""
            line = near.partition("\n")[0]
            if pattern.match(near) and not (
                _KILLED.match(line) and (ended or _follows_a_cancelled_step(output, begin))
            ):
                first = begin, line
                break
            at = output.find(text, at + len(text))
    return "".join(c if c.isprintable() else " " for c in first[1].rstrip())[:_LONGEST]


def _follows_a_cancelled_step(output: str, begin: int) -> bool:
    """Whether the launcher's lines right before this place say that a step was cancelled. Of a long output only so much is read."""
    for line in reversed(output[max(0, begin - 2 * _NEAR) : begin].splitlines()):
        if _CANCELLED.match(line):
            return True
        if not line.startswith(("srun: ", "slurmstepd")):
            return False
    return False


def broken_step(output: str) -> Step | None:
    """Purpose: what the end of an output says of a step that Slurm gave up, None where it says nothing of the kind."""
    lines = [line.strip() for line in output.split("\n") if line.lstrip().startswith(("srun: ", "slurmstepd"))]
    for pattern in _WORDS:
        found = [match for line in lines if (match := pattern.match(line))]
        if found:
            named = (name for match in found for name in names_in(match.groupdict().get("nodes", "").rstrip(":,.")))
            words = "".join(c if c.isprintable() else " " for c in found[0][0])
            return Step(words[:_LONGEST], tuple(dict.fromkeys(named)))
    return None
