"""Slurm's reasons for which a job waits, in words: which limit or condition it is, and what a person must do if it does not go away
by itself. Pure.
"""

from __future__ import annotations

import re

_WORDS = {
    "PartitionDown": "its partition is down: an administrator lets nothing start there",
    "PartitionInactive": "its partition is inactive: an administrator closed it",
    "PartitionTimeLimit": "its time limit is longer than its partition allows",
    "PartitionNodeLimit": "it asks for more or fewer nodes than its partition allows",
    "ReqNodeNotAvail": "nodes that it needs are down, drained or reserved",
    "Nodes required for job are DOWN": "nodes that it needs are down, drained or reserved",
    "Reservation": "it waits for its reservation to begin",
    "ReservationDeleted": "its reservation was deleted; an administrator has to release it",
    "JobHeldAdmin": "an administrator holds it, and has to release it",
    "JobHeldUser": "it is held",
    "job requeued in held state": "it was put back and is held",
    "launch failed requeued held": "it could not be launched, and Slurm holds it",
    "DependencyNeverSatisfied": "what it depends on can no longer come true",
    "BadConstraints": "no node has what it asks for",
    "Licenses": "licences that it needs are taken",
    "InvalidAccount": "its account does not exist any more",
    "InvalidQOS": "its quality of service does not exist any more",
    "AccountNotAllowed": "its account may not use its partition",
    "QOSNotAllowed": "its quality of service may not use its partition",
    "QOSJobLimit": "as many jobs of its quality of service run as it allows",
    "QOSResourceLimit": "its quality of service has no resources left",
    "QOSTimeLimit": "its quality of service has no time left",
    "JobArrayTaskLimit": "as many tasks of its array run as it allows",
}
# QOSMaxJobsPerUserLimit, AssocGrpCPUMinutesLimit, QOSMaxCpuMinutesPerJobLimit, AssocGrpGRESRunMinutes, MaxNodePerAccount, ...
_LIMIT = re.compile(
    r"(?P<whose>Assoc|QOS)?(?P<kind>Grp|Max|Min)(?P<what>[A-Za-z]+?)(?P<each>PerUser|PerAccount|PerJob|PerNode)?(?:Limit)?"
)
_WHOSE = {
    "Assoc": "of its account or user (sacctmgr show assoc)",
    "QOS": "of its quality of service (sacctmgr show qos)",
    None: "of its quality of service (sacctmgr show qos)",
}
_EACH = {
    "PerUser": " of a user",
    "PerAccount": " of an account",
    "PerJob": " of a job",
    "PerNode": " on a node",
    None: "",
}
_WHAT = {
    "jobs": "jobs at once",
    "submitjobs": "queued jobs",
    "wall": "time",
    "wallduration": "time",
    "node": "nodes",
    "cpu": "cores",
    "mem": "memory",
    "memory": "memory",
    "gres": "devices",
    "bb": "burst buffer",
    "license": "licences",
    "energy": "energy",
    "billing": "billing units",
}


_RAISE = "the limit has to be raised, or the test must ask for less"
_SHARED = "it begins when other jobs that count for the limit end; where there are none, the limit has to be raised"
_ENDS = "Reserved for maintenance"  # of a reservation, which ends by itself
_SERIES = "an administrator has to change what the account may use, or the system file asks for another one"
# What never passes by itself, and what has to be done about it. A way out is told only here, and never in the words above: where we
# hold a job ourselves, nobody else must let it go, and only the engine knows that.
_NEVER = {
    "PartitionTimeLimit": _RAISE,
    "ReservationDeleted": "an administrator has to release it; or cancel it",
    "JobHeldAdmin": "an administrator has to release it (scontrol release)",
    "JobHeldUser": "scontrol release lets it go",
    "job requeued in held state": "scontrol release lets it go",
    "launch failed requeued held": "scontrol release lets it go",
    "BadConstraints": "the system file or the test has to ask for something else",
    "InvalidAccount": _SERIES,
    "InvalidQOS": _SERIES,
    "AccountNotAllowed": _SERIES,
    "QOSNotAllowed": _SERIES,
}
# What may pass, or be there to stay: somebody has to look.
_PERHAPS = {
    "PartitionNodeLimit": "unless nodes of its partition come back, the test must ask for fewer",
    "PartitionDown": "an administrator has to set its partition up again (scontrol update PartitionName=... State=UP)",
    "PartitionInactive": "an administrator has to set its partition up again (scontrol update PartitionName=... State=UP)",
    "ReqNodeNotAvail": "somebody has to bring its nodes back: shakedown nodes, sinfo -R, scontrol show reservation",
    "Nodes required for job are DOWN": "somebody has to bring its nodes back: shakedown nodes, sinfo -R",
    "Reservation": "scontrol show reservation says when it begins",
}


def way_out(reason: str) -> tuple[str, bool]:
    """Purpose: what a person must do before a job can start, "" where it only has to wait; and whether that is certain.

    A limit on everything that a user or an account has may just be used up, or may be lower than this one job needs.
    """
    head = reason.partition(",")[0].strip()
    if _ENDS in reason:
        return "", False
    if head in _NEVER or head in _PERHAPS:
        return _NEVER.get(head) or _PERHAPS[head], head in _NEVER
    match = _LIMIT.fullmatch(head)
    if head in _WORDS or not _of_a_limit(head) or match is None:
        return "", False
    certain = match["each"] in ("PerJob", "PerNode") or match["kind"] == "Min"
    return _RAISE if certain else _SHARED, certain


def in_words(reason: str) -> str:
    """Purpose: Slurm's reason, with its meaning in brackets; without them where the meaning is not known."""
    head = reason.partition(",")[0].strip()
    words = _WORDS.get(head) or _of_a_limit(head)
    return f"{reason} ({words})" if words else reason


def _of_a_limit(word: str) -> str:
    match = _LIMIT.fullmatch(word)
    if match is None or not (match["whose"] or match["each"]):
        return ""
    what, minutes = match["what"], ""
    for tail, said in (("RunMinutes", "minutes promised to running jobs: "), ("Minutes", "minutes used: ")):
        if what.endswith(tail):
            what, minutes = what.removesuffix(tail), said
            break
    bound = "a least" if match["kind"] == "Min" else "a limit"
    return f"{bound} {_WHOSE[match['whose']]} binds, on {minutes}{_WHAT.get(what.lower(), what)}{_EACH[match['each']]}"
