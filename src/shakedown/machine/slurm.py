"""The Slurm cluster that this host belongs to, as a System: its commands are asked, each with a time-out."""

from __future__ import annotations

import getpass
import os
import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from shakedown.machine.mounts import cluster_filesystems
from shakedown.machine.reading import Tree
from shakedown.machine.slurm_limits import ASSOCIATION, QOS
from shakedown.machine.slurm_system import Around, Drafted, Said, drafted
from shakedown.machine.slurm_words import mpi_types, rows, settings
from shakedown.machine.software import ask_here, search_here, software_facts, toolchains_found
from shakedown.model.errors import UsageError
from shakedown.model.nouns import Pairs, Toolchain

_PATIENCE_S = 60.0
_MOST_BYTES = 256 * 2**20  # a node takes about 1 kB of scontrol's output
_LOCAL = "wait until 'scontrol ping' says UP, or describe this machine alone with: shakedown init --local"
_NAMED = "'sacctmgr show clusters' lists what --clusters can name"
_NOT_SET_UP = re.compile(
    r"Could not establish a configuration source|slurm\.conf.*No such file|Unable to process configuration"
)
_MPI = {"Intel MPI": "intel", "Open MPI": "openmpi", "MPICH": "mpich"}


@dataclass(frozen=True, slots=True)
class Reply:
    """What a command printed. ``failure`` is "" where it worked, else a line that says how it failed."""

    output: str = ""
    failure: str = ""
    talk: str = ""  # its standard error


Run = Callable[[Sequence[str]], Reply]


class NoSlurm(Exception):
    """There is no cluster to describe; the text is the reason, or "" if Slurm's commands are not installed."""


def describe(run: Run, clusters: Sequence[str] = (), user: str = "") -> Drafted:
    """Purpose: the cluster whose controller answers here, or the named ``clusters``.

    Errors: NoSlurm where Slurm is not set up here and no cluster was named; UsageError where a controller does not answer.
    """
    said = [_said(run, name, user or _user()) for name in clusters or [""]]
    return drafted(said, _around(run))


def run_here(words: Sequence[str]) -> Reply:
    """Purpose: run one command of Slurm's in its plain formats, in English, for at most a minute."""
    plain = {
        name: value for name, value in os.environ.items() if not name.startswith(("SINFO_", "SQUEUE_", "SLURM_TIME_"))
    }
    try:
        done = subprocess.run(
            list(words),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE_S,
            check=False,
            env={**plain, "LC_ALL": "C"},
        )
    except FileNotFoundError:
        return Reply(failure=f"there is no command '{words[0]}' here")
    except subprocess.TimeoutExpired:
        return Reply(failure=f"no answer in {_PATIENCE_S:g} s")
    except OSError as error:
        return Reply(failure=error.strerror or str(error))
    output, talk = (text[:_MOST_BYTES].decode(errors="replace") for text in (done.stdout, done.stderr))
    return Reply(output, _last_line(talk or output, done.returncode) if done.returncode else "", talk)


def _last_line(text: str, status: int) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    shown = "".join(c if c.isprintable() else "?" for c in lines[-1])[:300] if lines else ""
    return shown or f"exit status {status}"


def _said(run: Run, cluster: str, user: str) -> Said:
    """The output of the commands for one cluster. Nodes and partitions are required; accounting is optional."""
    where = [f"--clusters={cluster}"] if cluster else []
    config = run(["scontrol", *where, "show", "config"])
    if config.failure and not cluster:
        if config.failure.startswith("there is no command"):
            raise NoSlurm("")
        if _NOT_SET_UP.search(config.failure + config.talk):
            raise NoSlurm(f"Slurm's commands are here, but not set up ({config.failure})")
    settled = _needed([*where, "show", "config"], config)
    nodes, partitions = (
        _needed(words, run(["scontrol", *words]))
        for words in ([*where, "--oneliner", "show", what] for what in ("nodes", "partitions"))
    )
    licences = run(["scontrol", *where, "--oneliner", "show", "licenses"]).output
    known = settings(settled)
    if not known.get("AccountingStorageType", "").endswith("slurmdbd"):
        return Said(settled, nodes, partitions, licences)
    mine = ["where", f"user={user}", f"cluster={known.get('ClusterName', cluster)}"]
    return Said(
        settled,
        nodes,
        partitions,
        licences,
        associations=_accounting(run, ["show", "assoc", *mine, f"format={','.join(ASSOCIATION)}"]),
        qos=_accounting(run, ["show", "qos", f"format={','.join(QOS)}"]),
        account=_accounting(run, ["show", "user", user, "format=DefaultAccount"]).strip(),
    )


def _needed(words: Sequence[str], reply: Reply) -> str:
    if reply.failure:
        hint = _NAMED if words[0].startswith("--clusters") else _LOCAL
        raise UsageError(f"Slurm does not answer: 'scontrol {' '.join(words)}': {reply.failure}", hint)
    return reply.output


def _accounting(run: Run, words: Sequence[str]) -> str:
    """A table of the accounting's; "" where it does not answer: its limits are then not known, which the file says."""
    reply = run(["sacctmgr", "--noheader", "--parsable2", "--readonly", *words])
    return "" if reply.failure else reply.output


def _around(run: Run) -> Around:
    """The facts of this host: the programs of the path, the mounted file systems, and what srun can start."""
    listed = run(["srun", "--mpi=list"])
    clusters = _accounting(run, ["show", "clusters", "format=Cluster"])
    facts = software_facts(search_here, ask_here)
    return Around(
        toolchains=_with_mpi(toolchains_found(search_here), facts),
        filesystems=cluster_filesystems(Tree(Path("/")).text("proc/self/mounts")),
        mpi_types=mpi_types(listed.output + listed.talk),
        clusters=tuple(row[0] for row in rows(clusters, 1) if row[0]),
        found=facts,
    )


def _with_mpi(toolchains: tuple[Toolchain, ...], facts: Pairs) -> tuple[Toolchain, ...]:
    """The toolchains with the MPI whose mpiexec is on the path, where it is one that we know and its compiler is beside it."""
    said, starter, compiler = dict(facts).get("mpi", ""), search_here("mpiexec"), search_here("mpicc")
    together = starter and compiler and Path(starter).parent == Path(compiler).parent
    mpi = next((ours for name, ours in _MPI.items() if said.startswith(name)), "") if together else ""
    return tuple(replace(tool, mpi=tool.mpi or mpi) for tool in toolchains)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())
