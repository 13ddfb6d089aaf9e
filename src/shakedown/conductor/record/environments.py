"""The conductor's environment in the record: variables that builds and launches depend on, by a list of allowed names; never
credentials.

What is stored is not what is passed on: builds and runs get the whole environment in which the conductor was started.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

import msgspec
from msgspec import Struct

from shakedown.events.damage import NOT_JSON
from shakedown.events.plain_files import read_plain
from shakedown.events.segment_file import sync_directory
from shakedown.model.errors import RecordError
from shakedown.model.frozen import digest
from shakedown.model.layout import Layout
from shakedown.model.secrets import is_secret

# Names, or their beginnings where they end in "*": search paths, what has other programs run code, modules, compilers, MPI,
# threads, accelerators, the scheduler.
_NAMES = """
    PATH LD_* LIBRARY_PATH CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH FPATH INCLUDE
    BASH_ENV ENV SHELLOPTS BASHOPTS CDPATH IFS PS4 PROMPT_COMMAND BASH_FUNC_* PERL5* PERLLIB RUBY* GEM_* NODE_* NPM_CONFIG_* LUA_*
    JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS CLASSPATH R_PROFILE* R_ENVIRON* R_LIBS* JULIA_*
    PKG_CONFIG_PATH CMAKE_* PYTHON* VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV
    HOME USER LOGNAME SHELL PWD HOST HOSTNAME TMPDIR TMP TEMP SCRATCH WORK LANG LANGUAGE LC_* TZ UMASK
    MODULEPATH MODULESHOME MODULE_VERSION LOADEDMODULES _LMFILES_ LMOD_* __LMOD_* SPACK_* EASYBUILD_* EBROOT* EBVERSION*
    CC CXX FC F77 F90 CPP LD AR CFLAGS CXXFLAGS FFLAGS FCFLAGS CPPFLAGS LDFLAGS LIBS MAKEFLAGS *_CC *_CXX *_FC
    MPI_* MPICH_* MPIR_* OMPI_* OPAL_* PRTE_* PMIX_* PMI_* I_MPI_* HYDRA_* MV2_* MVAPICH_* PSM2_* PSM3_* FI_* UCX_* IBV_* HFI_*
    OMP_* GOMP_* KMP_* LIBOMP_* MKL_* OPENBLAS_* BLIS_* GOTO_* NUMEXPR_* MALLOC_* GLIBC_TUNABLES HUGETLB_* XTHP_*
    CUDA_* NVIDIA_* NCCL_* RCCL_* NVSHMEM_* HIP_* HSA_* ROCR_* ROCM_* GPU_* ZE_* SYCL_* ONEAPI_ROOT
    CRAY_* CRAYPE_* PE_* PALS_* MPICC MPICXX MPIFC
    SLURM_* SLURMD_* SBATCH_* SRUN_* SALLOC_* PBS_* SHAKEDOWN_* SINGULARITY_* APPTAINER_* HDF5_* ROMIO_* DARSHAN_*
"""
ALLOWED = tuple(_NAMES.split())
_NAME = re.compile(
    r"[A-Za-z_][A-Za-z0-9_]*|BASH_FUNC_[\w.:+-]+(?:%%|\(\))"
)  # the second: a function that a shell exports
_LONGEST_NAME = 100


class Environment(Struct, frozen=True):
    """A stored environment. ``left_out``: names that are not on the list. ``credentials``: names on the list whose values look like
    credentials. Older records have variables only.
    """

    variables: dict[str, str] = {}
    left_out: tuple[str, ...] = ()
    credentials: tuple[str, ...] = ()

    @property
    def not_stored(self) -> tuple[str, ...]:
        return tuple(sorted((*self.left_out, *self.credentials)))


def is_stored(name: str, more: Iterable[str] = ()) -> bool:
    """Purpose: whether a variable with this name is stored with its value, unless that looks like a credential."""
    return any(fnmatchcase(name, pattern) for pattern in (*ALLOWED, *more))


def select(environment: Mapping[str, str], more: Iterable[str] = ()) -> Environment:
    """Purpose: the part of an environment that is stored. ``more``: names that a site adds; with '*' at the end, beginnings of
    names.
    """
    more = tuple(more)
    kept: dict[str, str] = {}
    left_out, credentials = [], []
    for name, value in sorted(environment.items()):
        if not _NAME.fullmatch(name) or not is_stored(name, more):
            left_out.append(_shown(name))
        elif is_secret(name, value):
            credentials.append(name)
        else:
            kept[name] = value
    return Environment(kept, tuple(left_out), tuple(credentials))


def keep_environment(layout: Layout, environment: Environment) -> str:
    """Purpose: store an environment once, and return its digest."""
    content = {"variables": environment.variables, "left_out": environment.left_out}
    content |= {"credentials": environment.credentials}
    return keep_named(layout, json.dumps(content, sort_keys=True, ensure_ascii=True).encode())


def keep_named(layout: Layout, data: bytes) -> str:
    """Purpose: store data of a driver under its digest, once and durably, and return the digest. Raises OSError."""
    name = digest(data)
    path = layout.root / "environments" / f"{name}.json"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        draft = path.with_name(f".{name}.{os.getpid()}")
        with draft.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        sync_directory(path.parent)
    return name


def read_environment(layout: Layout, name: str) -> Environment:
    """The environment with that digest; empty for "". Raises RecordError where the file is not what was stored."""
    if not name:
        return Environment()
    kept = read_named(layout, name)
    if isinstance(kept.get("variables"), dict):
        return Environment(kept["variables"], tuple(kept.get("left_out", ())), tuple(kept.get("credentials", ())))
    return Environment({key: str(value) for key, value in kept.items()})


def read_named(layout: Layout, name: str) -> dict[str, Any]:
    """Purpose: what ``keep_named`` stored under a digest. Raises RecordError where the file is not that."""
    path = layout.root / "environments" / f"{name}.json"
    try:
        data = read_plain(path)
    except OSError as error:
        why = f"the record is damaged: {path}, which the log names, cannot be read: {error.strerror}"
        raise RecordError(why, hint="put it back from a backup") from error
    if digest(data) != name:
        why = f"the record is damaged: {path} was changed: its bytes no longer match its name"
        raise RecordError(why, hint="put it back from a backup")
    try:
        return msgspec.json.decode(data, type=dict[str, Any])
    except NOT_JSON as error:
        why = f"the record is damaged: {path} is none of what a driver keeps: {error}"
        raise RecordError(why, hint="put it back from a backup") from error


def words_for(environment: Environment) -> str:
    """Purpose: a sentence on how many variables are not stored, with their names; "" where all are."""
    names = environment.not_stored
    if not names:
        return ""
    count = f"{len(names)} {'variable is' if len(names) == 1 else 'variables are'} not stored"
    some = len(environment.credentials)
    looks = "" if not some else f" ({some} {'looks like a credential' if some == 1 else 'look like credentials'})"
    return f"{count}{looks}: {', '.join(names)}"


def _shown(name: str) -> str:
    """A name that can be printed, and is not too long: shells export functions under odd names."""
    plain = "".join(c if c.isprintable() else "?" for c in name.encode("utf-8", "replace").decode())
    return plain if len(plain) <= _LONGEST_NAME else plain[: _LONGEST_NAME - 3] + "..."
