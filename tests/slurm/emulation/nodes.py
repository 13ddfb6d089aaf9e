"""The emulated compute nodes: each a process tree in namespaces of its own, with a slurmd inside."""

from __future__ import annotations

import contextlib
from pathlib import Path

from . import groups
from .processes import in_namespace_of, kill, kill_all, launch, marked, program, say, wait_until
from .site import Cluster, Trouble

HERE = Path(__file__).resolve().parent


def power_on(cluster: Cluster, node: str) -> None:
    """Boot the node, unless it is on. Does not wait for Slurm to see it."""
    if init_pid(cluster, node):
        return
    clear(cluster, node)
    (cluster.directory / "spool" / node).mkdir(parents=True, exist_ok=True)
    key, value = cluster.node_mark(node).split("=")
    launch(
        [str(HERE / "node-supervisor"), str(cluster.directory), node],
        {**cluster.environment(), key: value},
        cluster.directory / "log" / f"{node}.supervisor",
        groups.make(cluster, node),
    )


def power_off(cluster: Cluster, node: str) -> None:
    """Every process of the node dies at once: it is frozen, killed, thawed."""
    with contextlib.suppress(Trouble, OSError):
        groups.freeze(cluster, node, True)
    pids = marked(cluster.node_mark(node))
    init = init_pid(cluster, node)
    kill([*pids, *(in_namespace_of(init) if init else [])])
    clear(cluster, node)


def clear(cluster: Cluster, node: str) -> None:
    """Nothing is left of the node, whatever state it was left in."""
    with contextlib.suppress(Trouble, OSError):
        groups.freeze(cluster, node, False)
    kill_all(lambda: marked(cluster.node_mark(node)), node)
    for ending in ("pid", "reboot", "slurmd.pid", "clock"):
        (cluster.directory / "nodes" / f"{node}.{ending}").unlink(missing_ok=True)
    groups.remove(cluster, node)


def init_pid(cluster: Cluster, node: str) -> int | None:
    """The first process of the node, as this side numbers it; None when the node is off."""
    try:
        pid = int((cluster.directory / "nodes" / f"{node}.pid").read_text())
    except (OSError, ValueError):
        return None
    return pid if program(pid) == "node-init" else None


def slurmd_pids(cluster: Cluster, node: str) -> list[int]:
    init = init_pid(cluster, node)
    return [pid for pid in in_namespace_of(init) if program(pid) == "slurmd"] if init else []


def kill_slurmd(cluster: Cluster, node: str) -> None:
    """Only slurmd dies: jobs on the node go on."""
    if not (pids := slurmd_pids(cluster, node)):
        raise Trouble(f"no slurmd runs on {node}", f"start it with: tests/slurm/cluster start-slurmd {node}")
    kill(pids)
    wait_until(lambda: not slurmd_pids(cluster, node))


def start_slurmd(cluster: Cluster, node: str) -> None:
    """A slurmd inside the living node, unless there is one."""
    if slurmd_pids(cluster, node):
        return
    wait_until(lambda: init_pid(cluster, node) is not None, 1.0)
    enter(cluster, node, ["slurmd", "-N", node])


def enter(cluster: Cluster, node: str, command: list[str]) -> None:
    """Run a command inside the node, in its namespaces and control groups, and wait for it."""
    init = init_pid(cluster, node)
    if init is None:
        raise Trouble(f"{node} is off", f"turn it on with: tests/slurm/cluster power-on {node}")
    key, value = cluster.node_mark(node).split("=")
    log = cluster.directory / "log" / f"{node}.supervisor"
    inside = ["nsenter", "-t", str(init), "-m", "-u", "-i", "-p", "--", *command]
    status = launch(inside, {**cluster.environment(), key: value}, log, groups.make(cluster, node)).wait()
    if status:
        raise Trouble(f"{' '.join(command)} on {node} ended {status}", f"see {log}")


def states(cluster: Cluster) -> dict[str, str]:
    """Slurm's own word for each node; empty when slurmctld does not answer."""
    status, output = say(["sinfo", "-h", "-N", "-p", "batch", "-o", "%N|%T"], cluster.environment())
    lines = [(line.split("|")[0], line.split("|")[1]) for line in output.splitlines() if line.count("|") == 1]
    return dict(lines) if status == 0 else {}


def await_idle(cluster: Cluster, limit_s: float = 60.0) -> None:
    """Until every node answers Slurm. Raises Trouble with those that do not."""
    names = cluster.settings().node_names()
    answering = ("idle", "mixed", "allocated", "drained", "draining", "completing", "planned", "reserved")
    seen: dict[str, str] = {}

    def all_answer() -> bool:
        seen.update(states(cluster))
        return all(seen.get(name) in answering for name in names)

    if not wait_until(all_answer, limit_s, 0.1):
        late = ", ".join(f"{name} {seen.get(name, 'unknown')}" for name in names if seen.get(name) not in answering)
        raise Trouble(f"not all nodes answer after {limit_s:.0f} s: {late}", f"see {cluster.directory}/log/")
