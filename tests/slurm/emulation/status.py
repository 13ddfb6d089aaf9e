"""What runs of a cluster."""

from __future__ import annotations

import argparse
import json
from typing import Any

from . import clock, groups, nodes, services
from .site import Cluster


def show(cluster: Cluster, words: argparse.Namespace) -> int:
    """Prints; 0 when every daemon and node runs, 1 otherwise."""
    found = look(cluster)
    if words.json:
        print(json.dumps(found))
    else:
        print_table(cluster, found)
    whole = all(found["daemons"].values()) and all(
        n["on"] and n["slurmd"] and not n["frozen"] for n in found["nodes"].values()
    )
    return 0 if whole else 1


def look(cluster: Cluster) -> dict[str, Any]:
    """Daemons (process number or 0) and nodes: on, slurmd, frozen, percent, clock, Slurm's state."""
    settings = cluster.settings()
    daemons = {"munged": services.munge_pid(cluster.site)}
    if settings.accounting:
        daemons |= {"mariadbd": services.database_pid(cluster.site), "slurmdbd": services.slurmdbd_pid(cluster.site)}
    daemons["slurmctld"] = services.slurmctld_pid(cluster)
    states = nodes.states(cluster) if daemons["slurmctld"] else {}
    return {
        "name": cluster.name,
        "configuration": settings.configuration,
        "slurm_conf": str(cluster.slurm_conf),
        "daemons": {name: pid or 0 for name, pid in daemons.items()},
        "nodes": {name: look_at(cluster, name, states.get(name, "unknown")) for name in settings.node_names()},
    }


def look_at(cluster: Cluster, node: str, state: str) -> dict[str, Any]:
    return {
        "on": nodes.init_pid(cluster, node) is not None,
        "slurmd": bool(nodes.slurmd_pids(cluster, node)),
        "frozen": groups.is_frozen(cluster, node),
        "percent": groups.percent_of(cluster, node),
        "clock": clock.offset(cluster, node),
        "state": state,
    }


def print_table(cluster: Cluster, found: dict[str, Any]) -> None:
    print(f"{found['name']} ({found['configuration']}) in {cluster.directory}")
    for name, pid in found["daemons"].items():
        print(f"  {name:10} {'process ' + str(pid) if pid else 'does not run'}")
    for name, node in found["nodes"].items():
        faults = [] if node["on"] else ["off"]
        faults += ["slurmd does not run"] if node["on"] and not node["slurmd"] else []
        faults += ["frozen"] if node["frozen"] else []
        faults += [f"{node['percent']} % of a core"] if node["percent"] else []
        faults += [f"clock wrong by {node['clock']:g} s"] if node["clock"] else []
        print(f"  {name:10} {node['state']:12} {', '.join(faults)}".rstrip())
