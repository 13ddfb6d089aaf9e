"""Slurm's reasons for which a job waits, in words: what binds, whose it is, and whether it passes by itself. Pure."""

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
    "JobHeldUser": "it is held; scontrol release lets it go",
    "job requeued in held state": "somebody put it back and holds it: scontrol release",
    "launch failed requeued held": "it could not be launched, and Slurm holds it: scontrol release",
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


def in_words(reason: str) -> str:
    """Purpose: a reason as Slurm says it, with what it means in brackets; where it has no known meaning, as it is."""
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
