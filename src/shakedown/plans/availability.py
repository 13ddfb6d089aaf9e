"""Whether a case can run here; where not, what is missing and how to get it."""

from __future__ import annotations

from typing import Any

from shakedown.model.nouns import Shape
from shakedown.plans.stages import Stage
from shakedown.plans.surroundings import Surroundings

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


def missing_programs(needs: dict[str, Any], around: Surroundings) -> list[str]:
    """Sentences about what ``needs`` names and the machine lacks."""
    absent = [program for program in needs.get("programs", ()) if not around.program(program)]
    if not absent:
        return []
    return [_not_here(absent, needs.get("get") or _ways(absent))]


def missing_tools(programs: list[str], around: Surroundings) -> list[str]:
    """Sentences about compilers and starters that a case uses and the machine lacks."""
    absent = [program for program in dict.fromkeys(programs) if not around.program(program)]
    return [_not_here(absent, _ways(absent))] if absent else []


def _not_here(programs: list[str], way: str) -> str:
    subject = f"{' and '.join(programs)} {'is' if len(programs) == 1 else 'are'} not installed here"
    return f"{subject}; get it with: {way}" if way else subject


def _ways(programs: list[str]) -> str:
    return " && ".join(dict.fromkeys(_GET[program] for program in programs if program in _GET))


def _many(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"
