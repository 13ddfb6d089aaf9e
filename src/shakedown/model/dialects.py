"""The schedulers that Shakedown speaks to: one declaration each. Everything else asks what a dialect can do, never for its name.

The embedded scheduler is the one dialect whose jobs are processes of the machine that the driver runs on; it hands out cores. All
others are batch schedulers: they hand out whole nodes, and their jobs go on without a driver. A package of a site names its
dialects as entry points of the group ``shakedown.schedulers``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from msgspec import Struct

from shakedown.model.entry_points import declared_by, declared_in_packages, function, words_of
from shakedown.model.errors import ShakedownError, UsageError

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
    - ``left_jobs``: ``(layout, clusters, seconds) -> LeftJobs``: what the scheduler has of a campaign now; "" where nobody can tell
    """

    name: str
    about: str
    open: str
    launch: str = "mpiexec -n {ranks}"
    steps: bool = False
    builds_in_jobs: bool = False
    probe: str = ""
    nodes_out: str = ""
    left_jobs: str = ""


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
        left_jobs="shakedown.schedulers.slurm.left_jobs:left_jobs_now",
    ),
)


@lru_cache(maxsize=1)
def dialects() -> Mapping[str, Dialect]:
    """Purpose: every dialect by its name: those of the package, then those of installed packages.

    Errors: UsageError where a package declares what is no dialect, or a name that is taken.
    """
    ours = {dialect.name: dialect for dialect in DIALECTS}
    return ours | declared_in_packages(GROUP, Dialect, "scheduler", ours)


def dialect_named(name: str) -> Dialect | None:
    """The dialect of this name; None where no installed package has it."""
    return dialects().get(name)


def call(dialect: Dialect, what: str, *arguments: Any) -> Any:
    """Purpose: what a function of a dialect returns. ``what``: the field that names it, "open", "probe", "nodes_out" or
    "left_jobs".

    Errors: UsageError, which names the package, where the function of another package cannot be imported or fails.
    """
    path = getattr(dialect, what)
    try:
        return function(path)(*arguments)
    except ShakedownError:
        raise
    except Exception as error:
        if dialect in DIALECTS:
            raise
        whose = declared_by(GROUP, dialect.name) or "a package of the site"
        message = f"the scheduler '{dialect.name}' of {whose} failed in {path}: {words_of(error)}"
        raise UsageError(message, hint=f"mend {whose}, or name another scheduler in the system's file") from error
