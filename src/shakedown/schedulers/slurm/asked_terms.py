"""The terms that an sbatch command asks for, read from its own options. They are compared with what the queue first says of the
job. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from shakedown.model.job_terms import ALONE, BESIDE
from shakedown.model.nouns import Cluster
from shakedown.model.ports import JobOrder
from shakedown.schedulers.slurm import commands
from shakedown.schedulers.slurm.parsing import memory

_SHARES = frozenset({"oversubscribe", "share", "exclusive", "hint", "mcs-label"})
_WHOLE_NODES = frozenset(
    {"gres", "gpus", "gpus-per-node", "gpus-per-task", "gpus-per-socket", "tres-per-node", "tres-per-task"}
)
_READ = frozenset(  # words that are read as terms
    {"partition", "nodes", "ntasks-per-node", "cpus-per-task", "nodelist", "constraint", "reservation", "qos"}
    | {"account", "time", "mem"}
)
_OF_EVERY_JOB = frozenset(
    {"parsable", "clusters", "job-name", "chdir", "output", "open-mode", "export", "no-requeue", "exclude"}
)
_GPUS = re.compile(r"gpu(?::[A-Za-z_][\w.-]*)?:(\d+)")


def asked_terms(order: JobOrder, cluster: Cluster) -> dict[str, Any]:
    """Purpose: the terms, by their names in ``model.job_terms.Terms``; "" where a term is certainly not asked for. ``more``: all
    other options.

    A rule of the site may go by any of them. Terms that the options do not give, or give in a way that is not read here, are left
    out; changes of these cannot be noticed. Raises IndexError where the partition has no node with the order's number.
    """
    words = commands.sbatch(order, cluster, "", "", "", "", several=False)[1:-2]
    if any(not word.startswith("--") for word in words) or any(
        "#SBATCH" in line for line in order.case.shape.resources.directives
    ):
        return {}  # a word in two pieces, or one that stands elsewhere: which of them is the last is not known
    said = {name: value for name, _, value in (word[2:].partition("=") for word in words)}
    nodes, tasks, cores = (int(said[name]) for name in ("nodes", "ntasks-per-node", "cpus-per-task"))
    found: dict[str, Any] = {
        "partition": said["partition"],
        "nodes": nodes,
        "tasks": nodes * tasks,
        "cpus": nodes * tasks * cores,
    }
    found |= {
        name: said.get(word, "")
        for name, word in (("wants", "nodelist"), ("features", "constraint"), ("reservation",) * 2)
    }
    found |= {name: said[name] for name in ("qos", "account") if said.get(name)}
    if said.get("time", "").isdigit():
        found["time_limit_s"] = 60.0 * int(said["time"])
    if "exclusive" in said and not said["exclusive"]:
        found["sharing"] = ALONE
    elif not _SHARES & said.keys():
        found["sharing"] = BESIDE
    if size := memory(said.get("mem", said.get("mem-per-cpu", ""))):
        found["memory_bytes"] = size
    found |= _gpus(said)
    read = _READ | ({"gres"} if found.get("gpus") else set())
    read |= {"exclusive"} if found.get("sharing") == ALONE else set()
    more = sorted(
        f"{name}={value}" if value else name for name, value in said.items() if name not in read | _OF_EVERY_JOB
    )
    return found | ({"more": " ".join(more)} if more else {})


def _gpus(said: dict[str, str]) -> dict[str, str]:
    """How many GPUs of a node are asked for; nothing where other options ask for them."""
    if not _WHOLE_NODES & said.keys():
        return {"gpus": ""}
    match = _GPUS.fullmatch(said.get("gres", "")) if not (_WHOLE_NODES - {"gres"}) & said.keys() else None
    return {"gpus": f"gpu:{match[1]}"} if match else {}


def asked_of(orders: Sequence[JobOrder], clusters: Sequence[Cluster]) -> dict[str, dict[str, Any]]:
    """Purpose: job -> the terms of its order; empty for an order that no cluster takes."""
    found = {}
    for order in orders:
        cluster = next((one for one in clusters if order.case.partition.startswith(f"{one.name}:")), None)
        try:
            found[order.job] = asked_terms(order, cluster) if cluster is not None else {}
        except (IndexError, StopIteration, ValueError):  # it is refused, and says why
            found[order.job] = {}
    return found
