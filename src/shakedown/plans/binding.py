"""Ranks that are to be bound on a cluster whose Slurm binds none. There srun takes ``--cpu-bind`` and starts them unbound, some
versions without a word and some (22.05) with "cluster configuration lacks support for cpu binding".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from shakedown.model.nouns import Case
from shakedown.plans.context import Context
from shakedown.plans.library import Definition
from shakedown.plans.mpi import on_login_node
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.source_positions import place

_BOUND = re.compile(r"(?:^|[\s;&|])srun\s[^\n]*--cpu-bind=(?!none)")
_NONE = ("(null)", "task/none")  # as versions of Slurm say that nothing is set
_PLUGIN = re.compile(r"^TaskPlugin\s*=\s*(\S+)", re.MULTILINE)


def tell_unbound(tests: Mapping[str, Definition], cases: Iterable[Case], context: Context, told: Problems) -> None:
    """Purpose: warn of each test whose ranks are to be bound where the Slurm of the machine we are on has no ``task/affinity``."""
    bound = dict.fromkeys(case.test for case in cases if not case.unavailable and _BOUND.search(case.script))
    if not bound or not on_login_node(context.machine.system, context.around):
        return
    plugin = _PLUGIN.search(context.around.said("scontrol", "show", "config"))
    if plugin is None or "affinity" in plugin[1]:
        return
    for name in bound:
        at = place(tests[name].root, "run", "launch", "binding") if name in tests else None
        if at is not None:
            has = "it has no TaskPlugin" if plugin[1] in _NONE else f"its TaskPlugin is {plugin[1]}"
            message = f"run.launch.binding: Slurm binds no rank here: {has}, and srun starts them all the same"
            told.at(at, message, "have task/affinity added to TaskPlugin in slurm.conf, or use the MPI's own launcher")
