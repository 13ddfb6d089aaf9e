"""Bringing a cluster up, and taking it down for good."""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import shutil
import socket
import time
import zlib
from pathlib import Path

import slurm_releases as releases

from . import nodes, services
from .configuration import write_all
from .processes import kill_all, marked
from .site import Cluster, Settings, Trouble

LARGEST = 200
FIRST_PORT, LAST_PORT, BLOCK = 14000, 31000, 250
TAKEN = Path("/tmp/shakedown-emulation-ports")  # a file for each block, with the directory of the cluster that took it
PROGRAMS = ("slurmctld", "slurmd", "slurmdbd", "sbatch", "munged", "mariadbd", "unshare", "nsenter")


def up(cluster: Cluster, words: argparse.Namespace) -> None:
    """Start what does not run yet and wait until all nodes answer."""
    start = time.monotonic()
    demand_programs(words.slurm)
    demand_shared(cluster.site.directory)
    with cluster.site.alone():
        settings = settle(cluster, words)
        if not running(cluster):
            cluster.directory.mkdir(parents=True, exist_ok=True)
            write_all(cluster, settings)
        services.start_services(cluster)
        for node in settings.node_names():
            nodes.power_on(cluster, node)
        nodes.await_idle(cluster, 120.0)
    print(f"{cluster.name}: {settings.nodes} nodes up in {time.monotonic() - start:.1f} s ({settings.configuration})")
    print(exports(cluster))


def exports(cluster: Cluster) -> str:
    """What a shell needs to talk to the cluster."""
    release = cluster.settings().slurm
    path = [f"export PATH={releases.search_path(release, '$PATH')}"] if release else []
    return "\n".join([*path, f"export SLURM_CONF={cluster.slurm_conf}"])


def demand_programs(release: str) -> None:
    if not releases.is_there(release):
        raise Trouble(f"Slurm {release} is not in {releases.root(release)}", "unpack it with: scripts/slurm-newer")
    path = "/usr/sbin:/usr/bin:/sbin:/bin"
    if absent := [name for name in PROGRAMS if not shutil.which(name, path=path)]:
        raise Trouble(f"not installed: {', '.join(absent)}", "install what is needed with: scripts/slurm-packages")


def running(cluster: Cluster) -> bool:
    return bool(marked(cluster.mark()))


def demand_shared(directory: Path) -> None:
    """Each emulated node has a /dev/shm of its own: nodes would not find the cluster's files there."""
    if Path("/dev/shm") in (directory, *directory.parents):
        raise Trouble(
            f"no node would see {directory}: each has a /dev/shm of its own", "take another directory with --dir"
        )


def settle(cluster: Cluster, words: argparse.Namespace) -> Settings:
    """The settings asked for, which a running cluster must have already. Ports: as before, as asked, or free ones."""
    if not 1 <= words.nodes <= LARGEST:
        raise Trouble(f"{words.nodes} nodes cannot be emulated here", f"ask for 1 to {LARGEST}")
    if words.max_submit and words.config == "plain":
        raise Trouble("--max-submit needs accounting", "take --config accounting or forgetful")
    old = cluster.settings() if cluster.known else None
    ports = words.ports or (old.ports if old else 0)
    asked = Settings(
        cluster.name, words.nodes, words.config, ports, words.slurmd_timeout, words.max_submit, words.gpus, words.slurm
    )
    if old and running(cluster):
        if asked != old:
            raise Trouble(
                f"{cluster.name} already runs as {old}",
                "end it first (tests/slurm/cluster down) or take another --name",
            )
        return old
    return Settings(**{**asked.__dict__, "ports": ports or free_ports(cluster)})


def free_ports(cluster: Cluster) -> int:
    """The first block in which nobody listens and that no cluster which is about to start has taken.

    Different directories start their search at different places.
    """
    blocks = (LAST_PORT - FIRST_PORT) // BLOCK
    first = zlib.crc32(str(cluster.directory).encode()) % blocks
    taken = {other.settings().ports for other in cluster.site.clusters()}
    TAKEN.mkdir(exist_ok=True)
    with (TAKEN / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for number in range(blocks):
            base = FIRST_PORT + (first + number) % blocks * BLOCK + 2
            if base in taken or is_taken(base) or not all(free(port) for port in range(base - 2, base + LARGEST + 1)):
                continue
            (TAKEN / str(base)).write_text(str(cluster.directory))
            return base
    raise Trouble("no block of free ports was found", "name one with --ports")


def is_taken(base: int) -> bool:
    """Whether a cluster whose directory is there took the block: its daemons may not listen yet."""
    try:
        return Path((TAKEN / str(base)).read_text()).is_dir()
    except OSError:
        return False


def free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return True
    return False


def down(cluster: Cluster, words: argparse.Namespace) -> None:
    """Stop one cluster; the last one takes what is shared with it. Thorough: what carries the mark dies."""
    site = cluster.site
    if not site.directory.is_dir():
        print(f"nothing runs: there is no {site.directory}")
        return
    with site.alone():
        chosen = site.clusters() if words.all else [cluster]
        for one in chosen:
            stop(one)
        if words.all or not any(running(other) for other in site.clusters()):
            if not words.remove:  # what is removed need not be saved
                services.end_quietly(services.slurmdbd_pid(site))
                services.end_quietly(services.database_pid(site))
                services.end_quietly(services.munge_pid(site))
            kill_all(lambda: marked(site.mark()), str(site.directory))
    if words.remove:
        shutil.rmtree(site.directory if words.all else cluster.directory, ignore_errors=True)
    print(f"{', '.join(one.name for one in chosen)}: down")


def stop(cluster: Cluster) -> None:
    """Nodes first, as jobs must not see their controller go; what is left is killed."""
    if cluster.known:
        for node in cluster.settings().node_names():
            nodes.power_off(cluster, node)
        services.end_quietly(services.slurmctld_pid(cluster))
    kill_all(lambda: marked(cluster.mark()), cluster.name)
