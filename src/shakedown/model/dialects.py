"""The schedulers that Shakedown speaks to: one declaration each. Everything else asks what a dialect can do, never for its name.

The embedded scheduler is the one dialect whose jobs are processes of the machine that the driver runs on; it hands out cores. All
others are batch schedulers: they hand out whole nodes, and their jobs go on without a driver. A package of a site names its
dialects as entry points of the group ``shakedown.schedulers``.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from msgspec import Struct

from shakedown.model.errors import UsageError

GROUP = "shakedown.schedulers"
EMBEDDED = "local"


class Dialect(Struct, frozen=True):
    """What there is to know of one scheduler. Functions are named as "module:name" and imported when they are first used.

    - ``name``: the word in a system's file; ``about``: what it is, for the reference
    - ``open``: ``(layout, document, clusters, reactor) -> Opened``: the port of a session
    - ``launch``: the usual launch line; it may name {ranks}
    - ``steps``: whether ``launch`` starts steps of the job by itself, with an MPI of the cluster's (``srun``)
    - ``builds_in_jobs``: a build can be a job of its own
    - ``probe``: ``(layout, reactor, clusters, partitions) -> Probe``: who asks nodes for their fingerprints; "" where nobody can
    - ``nodes_out``: ``(clusters, seconds) -> (nodes that are down or drained, what could not be asked)``; "" where nobody can tell
    """

    name: str
    about: str
    open: str
    launch: str = "mpiexec -n {ranks}"
    steps: bool = False
    builds_in_jobs: bool = False
    probe: str = ""
    nodes_out: str = ""


DIALECTS: tuple[Dialect, ...] = (
    Dialect(
        EMBEDDED,
        "this machine",
        "shakedown.schedulers.local_host.local:open_local",
        probe="shakedown.machine.fingerprint_here:probe_here",
    ),
    Dialect(
        "slurm",
        "Slurm",
        "shakedown.schedulers.slurm.port:open_slurm",
        launch="srun --ntasks={ranks}",
        steps=True,
        builds_in_jobs=True,
        probe="shakedown.schedulers.slurm.node_probe:probe_nodes",
        nodes_out="shakedown.schedulers.slurm.nodes_out:nodes_out_now",
    ),
)


@lru_cache(maxsize=1)
def dialects() -> Mapping[str, Dialect]:
    """Purpose: every dialect by its name: those of the package, then those of installed packages.

    Errors: UsageError where a package declares what is no dialect, or a name that is taken.
    """
    from importlib.metadata import entry_points

    found = {dialect.name: dialect for dialect in DIALECTS}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        whose = f"the package {entry.dist.name if entry.dist else entry.value}"
        try:
            declared = entry.load()
        except Exception as error:
            message = f"the scheduler {entry.name} of {whose} cannot be loaded: {error}"
            raise UsageError(message, hint="remove the package, or mend it") from error
        if not isinstance(declared, Dialect):
            hint = "the entry point names a shakedown.model.dialects.Dialect"
            raise UsageError(f"{entry.value} of {whose} is no scheduler", hint=hint)
        if declared.name in found:
            raise UsageError(
                f"{whose} declares the scheduler '{declared.name}', which is there already", hint="give it another name"
            )
        found[declared.name] = declared
    return found


def dialect_named(name: str) -> Dialect | None:
    """The dialect of this name; None where no installed package has it."""
    return dialects().get(name)


def function(path: str) -> Any:
    """The function that a declaration names as "module:name"."""
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)
