"""Whose MPI a program uses, and what srun has to be told for it. All of it is looked up on the machine that we are on."""

from __future__ import annotations

import os
import re
import shlex

from shakedown.model.dialects import dialects
from shakedown.model.nouns import System, Toolchain
from shakedown.plans.cases.environment import Surroundings
from shakedown.plans.cases.software import loads_software

# What srun's --mpi has to be, the best first. A word that is none of these is taken for a type of srun's own.
TYPES = {
    "mpich": ("pmi2", "pmi1"),
    "mvapich": ("pmi2",),
    "intel": ("pmi2", "pmi1"),
    "cray": ("cray_shasta", "cray", "pmi2"),
    "openmpi": ("pmix", "pmix_v5", "pmix_v4", "pmix_v3", "pmix_v2"),
    "none": ("none",),
}
NAMES = {"mpich": "MPICH", "mvapich": "MVAPICH", "intel": "Intel MPI", "cray": "Cray MPICH", "openmpi": "Open MPI"}

# What the version of a launcher, the command of a compiler, or the name of a library tells.
_TOLD = (
    ("openmpi", re.compile(r"open ?mpi|openrte|\bprrte\b|libmpi\.so\.(?:1|20|40)\b", re.IGNORECASE)),
    ("intel", re.compile(r"intel\(r\) mpi|/intel/.*libmpi\.so|/impi/", re.IGNORECASE)),
    ("cray", re.compile(r"libmpi_(?:cray|gnu|intel|aocc|nvidia)|cray-mpich", re.IGNORECASE)),
    ("mvapich", re.compile(r"mvapich", re.IGNORECASE)),
    ("mpich", re.compile(r"hydra|mpich|libmpi\.so\.12\b", re.IGNORECASE)),
)
_CONFIGURATIONS = ("/etc/slurm/slurm.conf", "/run/slurm/conf/slurm.conf", "/etc/slurm-llnl/slurm.conf")
_MOST_BYTES = 1 << 20
_CLUSTER = re.compile(r"^\s*ClusterName\s*=\s*(\S+)", re.IGNORECASE | re.MULTILINE)


def on_login_node(system: System, around: Surroundings) -> bool:
    """Purpose: whether the machine we are on belongs to a Slurm cluster of this system: what is installed here counts there."""
    clusters = {cluster.name for cluster in system.clusters if dialects()[cluster.scheduler].steps}
    return bool(clusters) and bool(around.place("srun")) and _cluster_here(around) in clusters


def offered_types(around: Surroundings) -> list[str]:
    """Purpose: what ``srun --mpi=list`` offers. Every release writes the list another way; [] where it says nothing."""
    types: list[str] = []
    for line in around.said(around.place("srun") or "srun", "--mpi=list").splitlines():
        words = line.removeprefix("srun:").rpartition(":")[2].replace(",", " ").split()
        if len(words) == 1 or ":" in line.removeprefix("srun:"):
            types += [word for word in words if re.fullmatch(r"[a-z][a-z0-9_]*", word)]
    return types


def mpi_of_programs(programs: list[str], around: Surroundings) -> str:
    """Purpose: whose MPI the first of these programs is linked to; "" where it cannot be told."""
    for program in programs:
        place = around.place(program)
        if place:
            libraries = around.said("ldd", place)
            # a script, as the wheels of Python install them, brings the MPI that lies beside it
            found = told(libraries) if libraries else mpi_beside(place, around)
            if found:
                return found
    return ""


def linked_to_openmpi(programs: list[str], around: Surroundings) -> bool:
    """Purpose: whether the first of these programs that is here is linked to Open MPI, which only its own launcher starts."""
    place = next((place for place in map(around.place, programs) if place), "")
    return bool(place) and told(around.said("ldd", place)) == "openmpi"


def mpi_of_compiler(toolchain: Toolchain | None, around: Surroundings) -> str:
    """Purpose: whose MPI the toolchain's compiler for MPI programs builds with; "" where it cannot be told.

    Modules may bring another compiler than the one that is found without them, so nothing is told of a toolchain that has some.
    """
    if loads_software(toolchain):
        return ""
    place = around.place(compiler_for_mpi(toolchain))
    if not place:
        return ""
    return mpi_beside(place, around) or told(around.said(place, "-show"))


def mpi_beside(place: str, around: Surroundings) -> str:
    """The MPI whose launcher lies in the directory of a program."""
    folder, name = os.path.split(place)
    _, dot, suffix = name.partition(".")  # mpicc.openmpi
    return told(around.said(os.path.join(folder, f"mpiexec{dot}{suffix}"), "--version"))  # noqa: PTH118


def told(text: str) -> str:
    """The MPI that a text mentions; "" where it mentions none."""
    return next((name for name, pattern in _TOLD if pattern.search(text)), "")


def compiler_for_mpi(toolchain: Toolchain | None) -> str:
    """Purpose: the program with which a toolchain compiles what uses MPI."""
    if toolchain is None:
        return "mpicc"
    words = [dict(toolchain.environment).get("CC_MPI", ""), toolchain.cc, toolchain.cxx, toolchain.fc]
    first = [(shlex.split(text) or [""])[0] for text in words]
    return first[0] or next((word for word in first if os.path.basename(word).startswith("mpi")), "mpicc")  # noqa: PTH119


def _cluster_here(around: Surroundings) -> str:
    """The name of the cluster that Slurm commands here use, by Slurm's configuration."""
    for path in (around.variable("SLURM_CONF"), *_CONFIGURATIONS):
        if path and around.there(path):
            found = _CLUSTER.search(around.beginning(path, _MOST_BYTES))
            if found:
                return found[1]
    found = re.search(r"^ClusterName\s*=\s*(\S+)", around.said("scontrol", "show", "config"), re.MULTILINE)
    return found[1] if found else ""
