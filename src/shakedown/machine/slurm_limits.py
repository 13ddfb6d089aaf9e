"""How many jobs a person may have at a cluster, by what its accounting says of associations and QOS. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from shakedown.machine.slurm_words import rows, whole

ASSOCIATION = ("Account", "Partition", "MaxSubmitJobs", "GrpSubmitJobs", "MaxJobs", "DefaultQOS", "QOS")
QOS = ("Name", "MaxSubmitJobsPerUser", "MaxSubmitJobsPerAccount", "GrpSubmitJobs", "MaxJobsPerUser")
_ENFORCING = frozenset({"limits", "safe", "all"})


@dataclass(frozen=True, slots=True)
class JobLimits:
    """``most``: jobs queued and running at once, 0 = no limit known; ``why``: where it stands; ``remarks``: what else."""

    most: int = 0
    why: str = ""
    remarks: tuple[str, ...] = ()


def job_limits(associations: str, qos: str, enforced: str, default_account: str = "") -> JobLimits:
    """Purpose: the tightest limit on jobs, from ``sacctmgr -nP show`` with the columns above.

    ``enforced`` is AccountingStorageEnforce: where limits are not enforced they bind nobody. Of several accounts the
    default one counts, and all where there is none.
    """
    found = rows(associations, len(ASSOCIATION))
    accounts = list(dict.fromkeys(row[0] for row in found))
    mine = [row for row in found if row[0] == default_account] or found
    limits: list[tuple[int, str]] = []
    running: list[tuple[int, str]] = []
    for account, partition, submit, together, jobs, usual, allowed in mine:
        place = f"account {account}" + (f" in partition {partition}" if partition else "")
        if not partition:
            limits += _known((submit, f"MaxSubmitJobs of {place}"), (together, f"GrpSubmitJobs of {place}"))
        running += _known((jobs, f"MaxJobs of {place}"))
        for name, each, whole_account, all_jobs, at_once in rows(qos, len(QOS)):
            if name == (usual or allowed or "normal"):
                limits += _known((each, f"MaxSubmitJobsPerUser of QOS {name}"))
                limits += _known((whole_account, f"MaxSubmitJobsPerAccount of QOS {name}"))
                limits += _known((all_jobs, f"GrpSubmitJobs of QOS {name}"))
                running += _known((at_once, f"MaxJobsPerUser of QOS {name}"))
    remarks = [f"at most {most} run at once: {why}" for most, why in sorted(running)[:1]]
    if len(accounts) > 1:
        shown = ", ".join(f"{name} (the default)" if name == default_account else name for name in accounts)
        remarks.append(f"accounts: {shown}; choose one with options: [--account=NAME]")
    if limits and not _ENFORCING & set(enforced.lower().split(",")):
        remarks = [f"{why} is {most}, but this cluster does not enforce limits" for most, why in [min(limits)]]
        return JobLimits(remarks=tuple(remarks))
    most, why = min(limits, default=(0, ""))
    return JobLimits(most, why, tuple(remarks))


def _known(*limits: tuple[str, str]) -> list[tuple[int, str]]:
    """Those that are numbers; without a limit sacctmgr prints nothing, or -1."""
    return [(whole(text), why) for text, why in limits if whole(text) > 0]
