"""Where everything of the emulated clusters lies, what each cluster was started with, and how trouble is told."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import slurm_releases as releases

CONFIGURATIONS = ("accounting", "plain", "forgetful")
NAME_CHARACTERS = set("abcdefghijklmnopqrstuvwxyz0123456789_")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
RESERVED = ("munge", "database", "slurmdbd")


class Trouble(Exception):
    """What does not work, and the way out."""

    def __init__(self, what: str, way_out: str) -> None:
        super().__init__(what)
        self.way_out = way_out


@dataclass(frozen=True)
class Settings:
    """What a cluster was started with. ``ports``: slurmctld's port, the nodes' follow it."""

    name: str
    nodes: int
    configuration: str
    ports: int
    slurmd_timeout: int = 60
    max_submit: int = 0  # 0: no limit
    gpus: int = 0  # of each node; Slurm counts them, and there is no device
    slurm: str = ""  # a release beside the machine's own one

    @property
    def accounting(self) -> bool:
        return self.configuration != "plain"

    def node_names(self) -> list[str]:
        return [f"n{number:03d}" for number in range(1, self.nodes + 1)]


@dataclass(frozen=True)
class Site:
    """One directory: its munge, its database, its slurmdbd, and the clusters that share them."""

    directory: Path

    @property
    def munge_socket(self) -> Path:
        return self.directory / "munge" / "socket"

    @property
    def database_socket(self) -> Path:
        return self.directory / "database" / "socket"

    def mark(self) -> str:
        """The environment entry that every process of the site carries."""
        return f"EMULATED_SITE={self.directory}"

    def clusters(self) -> list[Cluster]:
        """Every cluster ever started here, by name."""
        return [Cluster(self, path.parent.name) for path in sorted(self.directory.glob("*/cluster.json"))]

    @contextmanager
    def alone(self) -> Iterator[None]:
        """One `up` or `down` at a time."""
        self.directory.mkdir(parents=True, exist_ok=True)
        with (self.directory / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


@dataclass(frozen=True)
class Cluster:
    """One cluster's directory inside the site."""

    site: Site
    name: str

    @property
    def directory(self) -> Path:
        return self.site.directory / self.name

    @property
    def slurm_conf(self) -> Path:
        return self.directory / "slurm.conf"

    @property
    def controller_pid(self) -> Path:
        return self.directory / "slurmctld.pid"

    @property
    def known(self) -> bool:
        return (self.directory / "cluster.json").exists()

    def mark(self) -> str:
        return f"EMULATED_CLUSTER={self.directory}"

    def node_mark(self, node: str) -> str:
        return f"EMULATED_NODE={self.directory}/{node}"

    def settings(self) -> Settings:
        """Raises Trouble when no such cluster was ever started."""
        try:
            return Settings(**json.loads((self.directory / "cluster.json").read_text()))
        except FileNotFoundError:
            there = ", ".join(cluster.name for cluster in self.site.clusters()) or "none"
            raise Trouble(
                f"there is no cluster '{self.name}' in {self.site.directory} (there: {there})",
                "start one with: tests/slurm/cluster up 16, or name it with --name and --dir",
            ) from None

    def save(self, settings: Settings) -> None:
        (self.directory / "cluster.json").write_text(json.dumps(asdict(settings), indent=1) + "\n")

    def node(self, name: str) -> str:
        """The name, when the cluster has such a node. Raises Trouble otherwise."""
        names = self.settings().node_names()
        if name not in names:
            raise Trouble(f"{self.name} has no node '{name}'", f"its nodes are {names[0]} to {names[-1]}")
        return name

    def environment(self) -> dict[str, str]:
        """For the daemons and commands of this cluster: nothing of the caller's but the locale-free minimum."""
        site, cluster = self.site.mark().split("="), self.mark().split("=")
        return {
            "PATH": releases.search_path(self.settings().slurm if self.known else "", PATH),
            "HOME": os.environ.get("HOME", "/root"),
            "LANG": "C",
            "SLURM_CONF": str(self.slurm_conf),
            site[0]: site[1],
            cluster[0]: cluster[1],
        }


def check_name(name: str) -> str:
    """A cluster's name is a directory, a word of Slurm's and a table in the database."""
    if not name or set(name) - NAME_CHARACTERS or name in RESERVED:
        raise Trouble(
            f"'{name}' cannot be a cluster's name",
            f"small letters, digits and _ can, but not {', '.join(RESERVED)}",
        )
    return name
