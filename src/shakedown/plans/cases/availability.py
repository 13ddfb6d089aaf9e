"""Check whether a case can run on this system; if not, say what is missing and how to get it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shakedown.model.nouns import Loads, Shape
from shakedown.model.units import show_duration
from shakedown.plans.cases.environment import Surroundings
from shakedown.plans.components.budgets import licence_of
from shakedown.plans.partition_scopes import Stage
from shakedown.plans.schema.amounts import show_amount

if TYPE_CHECKING:
    from shakedown.plans.context import Context

_GET = {
    "mpiexec": "pip install mpich",
    "mpicc": "pip install mpich",
    "make": "apt-get install make",
    "cc": "apt-get install gcc",
    "gcc": "apt-get install gcc",
    "g++": "apt-get install g++",
    "c++": "apt-get install g++",
    "gfortran": "apt-get install gfortran",
    "clang": "apt-get install clang",
    "clang++": "apt-get install clang",
}


def too_large(shape: Shape, stage: Stage) -> str:
    """Why a shape does not fit a partition, or ""."""
    partition, cores = stage.partition, shape.tasks_per_node * shape.cpus_per_task
    if shape.nodes > partition.count:
        return (
            f"it takes {_many(shape.nodes, 'node')} and partition {partition.name} has {_many(partition.count, 'node')}"
        )
    if cores > stage.node.cores:
        return f"it takes {_many(cores, 'core')} of a node and one of partition {partition.name} has {stage.node.cores}"
    return ""


def over_limits(shape: Shape, stage: Stage) -> list[str]:
    """Sentences on each limit of the partition's scheduler that a shape exceeds."""
    partition, reasons = stage.partition, []
    if partition.most_nodes and partition.most_nodes < shape.nodes <= partition.count:
        allowed = _many(partition.most_nodes, "node")
        reasons.append(f"it takes {_many(shape.nodes, 'node')} and partition {partition.name} gives a job {allowed}")
    if partition.time_limit_s and shape.time_limit_s > partition.time_limit_s:
        own, allowed = show_duration(shape.time_limit_s), show_duration(partition.time_limit_s)
        reasons.append(f"its time limit is {own} and partition {partition.name} allows {allowed}")
    return reasons


def over_budgets(loads: Loads, stage: Stage, context: Context) -> list[str]:
    """Sentences on each budget of which one run takes more than there is, in total or on the target that it loads."""
    licences, reasons = dict(stage.licences), []
    for name, amount in loads:
        most, dimension = context.budgets[name]
        targets = context.targeted.get(name, ())
        licence = licence_of(context.machine.system.licence_names, name, targets)
        taken = f"one run takes {show_amount(amount, dimension)} of {name}"
        if amount > most:
            has = "each target has" if targets else "the budget is"
            reasons.append(f"{taken} and {has} {show_amount(most, dimension)}")
        elif amount > licences.get(licence, most):
            reasons.append(f"{taken} and cluster {stage.partition.cluster} has {licences[licence]:g} of this licence")
        elif licence in licences and amount != int(amount):
            reasons.append(f"{taken}, a licence that Slurm hands out in whole numbers")
    return reasons


def missing_programs(needs: dict[str, Any], around: Surroundings) -> list[str]:
    """Sentences on the programs that ``needs`` names and that the machine lacks."""
    absent = [program for program in needs.get("programs", ()) if not around.program(program)]
    if not absent:
        return []
    return [_not_here(absent, needs.get("get") or _ways(absent))]


def missing_tools(programs: list[str], around: Surroundings) -> list[str]:
    """Sentences on the compilers and launchers that a case uses and that the machine lacks."""
    absent = [program for program in dict.fromkeys(programs) if not around.program(program)]
    return [_not_here(absent, _ways(absent))] if absent else []


def _not_here(programs: list[str], way: str) -> str:
    subject = f"{' and '.join(programs)} {'is' if len(programs) == 1 else 'are'} not installed here"
    return f"{subject}; get it with: {way}" if way else subject


def _ways(programs: list[str]) -> str:
    return " && ".join(dict.fromkeys(_GET[program] for program in programs if program in _GET))


def _many(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"
