"""Differences between releases of Slurm, in one place. Everything here was seen with 22.05 and 24.11; where they differ, that is
said.

Fields are always asked for by name, with a separator that cannot occur in a name. For a field that a release does not know, squeue
gives nothing (and a complaint on standard error), while sacct fails as a whole. So sacct is only asked for fields that have existed
for ten years (22.05 has no ``Restarts``; newer releases call ``Reserved`` ``Planned``).
"""

from __future__ import annotations

SEPARATOR = "\x1f"  # sacct and squeue both pass it on; ``-O`` wants no comma in it

# squeue -O names. A width keeps old releases from cutting our names at 20 characters; newer ones cut nothing without a width.
QUEUE_FIELDS = (
    ("id", "JobArrayID"),
    ("name", "Name:64"),
    ("state", "State"),
    ("reason", "Reason"),
    ("nodes", "NodeList"),
    ("restart", "RestartCnt"),
    ("exit", "exit_code"),  # the raw wait status, 51200 for exit status 200; 24.11 says "200:0", and "0:9" for signal 9
    ("start", "StartTime"),
    ("end", "EndTime"),
    ("used", "TimeUsed"),  # without the time for which it was suspended
    ("partition", "Partition"),
    ("time_limit", "TimeLimit"),
    ("node_count", "NumNodes"),
    ("tasks", "NumTasks"),
    ("cpus", "NumCPUs"),
    ("memory", "MinMemory"),  # of a node or of a core, as the job asks
    ("sharing", "OverSubscribe"),  # NO: its nodes are its own; OK: its cores are; YES: it may share them
    ("wants", "ReqNodes"),  # the nodes that it must not have have no field in 22.05
    ("features", "Feature"),
    ("gpus", "tres-per-node"),
    ("reservation", "Reservation"),
    ("qos", "QOS"),
    ("account", "Account"),
)
FIRST_OF_TERMS = "partition"  # from here on they are terms of the job
ACCOUNT_FIELDS = ("JobID", "JobName", "State", "ExitCode", "NodeList", "Submit", "Start", "End", "Reason", "Suspended")

# Times come as seconds since 1970 instead of words in a time zone.
ENVIRONMENT = {"SLURM_TIME_FORMAT": "%s"}

# Our job would take these for its own: what belongs to the job or session that the conductor itself runs in.
FOREIGN_PREFIXES = (
    "SLURM_",
    "SLURMD_",
    "SBATCH_",
    "SRUN_",
    "SALLOC_",
    "PMI_",
    "PMIX_",
    "OMPI_",
    "HYDRA_",
    "SQUEUE_",
    "SACCT_",
)
FOREIGN = frozenset({"TMPDIR", "TMP", "TEMP", "DISPLAY", "XDG_RUNTIME_DIR", "XDG_SESSION_ID", "DBUS_SESSION_BUS_ADDRESS",
                     "SSH_AUTH_SOCK", "SSH_CLIENT", "SSH_CONNECTION", "SSH_TTY", "OLDPWD", "PWD", "SHAKEDOWN_JOB"})  # fmt: skip
KEPT = frozenset({"SLURM_CONF", "SLURM_JWT", "SBATCH_ACCOUNT", "SRUN_DEBUG"})


def queue_format() -> str:
    """The argument of ``squeue -O``."""
    return ",".join(f"{field}{SEPARATOR}" if ":" in field else f"{field}:{SEPARATOR}" for _, field in QUEUE_FIELDS)


def accounting_is_off(text: str) -> bool:
    """Whether this complaint of sacct says that there is no accounting at all, rather than that it does not answer now."""
    return "accounting storage is disabled" in text.lower()
