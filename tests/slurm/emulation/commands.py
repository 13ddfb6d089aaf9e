"""The words of `tests/slurm/cluster`."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import slurm_releases as releases

from . import clock, groups, nodes, services, status
from .processes import say
from .site import CONFIGURATIONS, Cluster, Site, Trouble, check_name
from .updown import down, exports, up

DESCRIPTION = """\
A real Slurm whose compute nodes are process trees on this machine: each has its
own name, processes, /dev/shm and slurmd, so that it can lose power, hang or run
slowly. Needs root on Debian and the packages that scripts/slurm-packages
installs.

  tests/slurm/cluster up 16            16 nodes, with accounting, in seconds
  eval "$(tests/slurm/cluster env)"    squeue, sbatch and the others talk to it
  tests/slurm/cluster power-off n003   a fault
  tests/slurm/cluster down             nothing is left running

Partitions: batch (all nodes), low, urgent (takes nodes from the others: their
jobs are queued again), debug (two nodes). Licences: scratch:4, mds:8. Several
clusters in one directory share munge and slurmdbd: sbatch -M works among them.
"""

NODE_VERBS: dict[str, tuple[str, Callable[[Cluster, str], None]]] = {
    "power-off": ("the node loses power: all its processes die at once", nodes.power_off),
    "power-on": ("boot the node again", nodes.power_on),
    "kill-slurmd": ("only slurmd dies (kill -9); jobs on the node go on", nodes.kill_slurmd),
    "start-slurmd": ("start slurmd in the living node", nodes.start_slurmd),
    "freeze": ("the node hangs: none of its processes runs", lambda cluster, node: groups.freeze(cluster, node, True)),
    "thaw": ("the hung node goes on", lambda cluster, node: groups.freeze(cluster, node, False)),
    "resume": ("give a drained or down node back to jobs", lambda cluster, node: update(cluster, node, "state=resume")),
    "set-down": (
        "an administrator sets the node down (slurmd registers again at once: ReturnToService=2)",
        lambda cluster, node: update(cluster, node, "state=down", "reason=set down"),
    ),
    "reboot": ("reboot the node as soon as its jobs are done", lambda cluster, node: reboot(cluster, node)),
}

DAEMON_VERBS: dict[str, tuple[str, Callable[[Cluster], None]]] = {
    "kill-slurmctld": (
        "slurmctld dies (kill -9)",
        lambda c: services.end(services.slurmctld_pid(c), "slurmctld", signal.SIGKILL),
    ),
    "stop-slurmctld": (
        "slurmctld ends in good order and saves its state",
        lambda c: services.end(services.slurmctld_pid(c), "slurmctld", signal.SIGTERM),
    ),
    "start-slurmctld": ("start slurmctld again and wait until it answers", services.start_slurmctld),
    "kill-slurmdbd": (
        "slurmdbd dies (kill -9); the directory's clusters share it",
        lambda c: services.end(services.slurmdbd_pid(c.site), "slurmdbd", signal.SIGKILL),
    ),
    "start-slurmdbd": ("start slurmdbd again and wait until it answers", services.start_slurmdbd),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """0: done. 2: not done, with the reason and the way out on standard error."""
    words = parser().parse_args(arguments)
    try:
        cluster = Cluster(Site(Path(words.dir).resolve()), check_name(words.name))
        demand_root(words.verb)
        return int(words.run(cluster, words) or 0)
    except Trouble as trouble:
        print(f"error: {trouble}\nhint: {trouble.way_out}", file=sys.stderr)
    except OSError as error:
        print(f"error: {error}\nhint: see the directory's state with: tests/slurm/cluster status", file=sys.stderr)
    return 2


def demand_root(verb: str) -> None:
    if os.geteuid() and verb not in ("env", "status"):
        raise Trouble("only root can make emulated nodes (namespaces, mounts)", "try: sudo tests/slurm/cluster ...")


def parser() -> argparse.ArgumentParser:
    place = argparse.ArgumentParser(add_help=False)
    directory = os.environ.get("EMULATED_SLURM", "/tmp/emulated-slurm")
    place.add_argument("--dir", default=directory, help=f"everything lies here ($EMULATED_SLURM; now {directory})")
    place.add_argument("--name", default="emu", help="which cluster of the directory (default emu)")
    top = argparse.ArgumentParser(
        prog="tests/slurm/cluster", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = top.add_subparsers(dest="verb", required=True, metavar="VERB")

    def verb(name: str, text: str, run: Callable[[Cluster, argparse.Namespace], int | None]) -> argparse.ArgumentParser:
        sub = verbs.add_parser(name, help=text, description=text, parents=[place])
        sub.set_defaults(run=run)
        return sub

    add_life(verb)
    add_faults(verb)
    return top


Adder = Callable[[str, str, Callable[[Cluster, argparse.Namespace], "int | None"]], argparse.ArgumentParser]


def add_life(verb: Adder) -> None:
    sub = verb("up", "start the cluster, or what is missing of it, and wait until all nodes answer", up)
    sub.add_argument("nodes", type=int, metavar="N", help="nodes n001 to N")
    sub.add_argument(
        "--config",
        choices=CONFIGURATIONS,
        default="accounting",
        help="accounting: with slurmdbd. plain: no accounting, a text file of finished jobs. "
        "forgetful: slurmdbd, but finished jobs leave memory after 2 s and comments are not stored",
    )
    sub.add_argument(
        "--ports",
        type=int,
        help="slurmctld's port; nodes take the N above, databases the two below (default: free ones)",
    )
    sub.add_argument("--slurmd-timeout", type=int, default=60, help="seconds until a silent node is down (default 60)")
    sub.add_argument(
        "--max-submit",
        type=int,
        default=0,
        help="root may have this many jobs queued (needs accounting; default: no limit)",
    )
    sub.add_argument("--gpus", type=int, default=0, help="GPUs of each node, which Slurm only counts (default: none)")
    sub.add_argument(
        "--slurm",
        choices=("", *releases.NEWER),
        default="",
        help="a release that scripts/slurm-newer unpacked (default: the machine's own)",
    )
    sub = verb("down", "stop the cluster; with --all every cluster of the directory and what they share", down)
    sub.add_argument("--all", action="store_true", help="all clusters of the directory, munge and the database too")
    sub.add_argument("--remove", action="store_true", help="and remove the directory")
    sub = verb("status", "what runs, and what Slurm says of the nodes", status.show)
    sub.add_argument("--json", action="store_true", help="the same for programs")
    verb("env", 'what a shell needs to talk to the cluster; use it as: eval "$(tests/slurm/cluster env)"', environment)


def add_faults(verb: Adder) -> None:
    for name, (text, act) in NODE_VERBS.items():
        sub = verb(name, text, on_node(act))
        sub.add_argument("node", metavar="NODE")
    for name, (text, serve) in DAEMON_VERBS.items():
        verb(name, text, on_cluster(serve))
    sub = verb("drain", "no new jobs on the node", drain)
    sub.add_argument("node", metavar="NODE")
    sub.add_argument("reason", metavar="REASON", nargs="?", default="drained by hand")
    sub = verb("slow", "the node gets so many percent of one core, all its processes together; 0: no limit", slow)
    sub.add_argument("node", metavar="NODE")
    sub.add_argument("percent", metavar="PERCENT", type=int)
    sub = verb("step-clock", clock.TEXT, step)
    sub.add_argument("node", metavar="NODE")
    sub.add_argument(
        "seconds", metavar="SECONDS", type=float, help="added to the true time; 0 sets the clock right; may be negative"
    )


def on_node(act: Callable[[Cluster, str], None]) -> Callable[[Cluster, argparse.Namespace], None]:
    return lambda cluster, words: act(cluster, cluster.node(words.node))


def on_cluster(serve: Callable[[Cluster], None]) -> Callable[[Cluster, argparse.Namespace], None]:
    def run(cluster: Cluster, words: argparse.Namespace) -> None:
        cluster.settings()  # tells when there is no such cluster
        serve(cluster)

    return run


def environment(cluster: Cluster, words: argparse.Namespace) -> None:
    cluster.settings()
    print(exports(cluster))


def drain(cluster: Cluster, words: argparse.Namespace) -> None:
    update(cluster, cluster.node(words.node), "state=drain", f"reason={words.reason}")


def slow(cluster: Cluster, words: argparse.Namespace) -> None:
    if not 0 <= words.percent <= 10_000:
        raise Trouble(f"{words.percent} is no percentage of a core", "give 1 to 10000, or 0 for no limit")
    groups.throttle(cluster, cluster.node(words.node), words.percent)


def step(cluster: Cluster, words: argparse.Namespace) -> None:
    clock.step(cluster, cluster.node(words.node), words.seconds)


def update(cluster: Cluster, node: str, *words: str) -> None:
    control(cluster, "update", f"nodename={node}", *words)


def reboot(cluster: Cluster, node: str) -> None:
    control(cluster, "reboot", "ASAP", "nextstate=RESUME", node)


def control(cluster: Cluster, *words: str) -> None:
    code, output = say(["scontrol", *words], cluster.environment())
    if code:
        raise Trouble(
            f"scontrol {' '.join(words)} ended {code}: {output.strip()}",
            "does slurmctld run? see: tests/slurm/cluster status",
        )
