"""The GPUs, memory and scheduler options that a run of a case asks for, filled in; and whether the nodes have enough."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from shakedown.model.nouns import Loads, Shape
from shakedown.model.resources import Resources
from shakedown.model.units import show_bytes
from shakedown.plans.braces import names_used
from shakedown.plans.cases.combinations import Path
from shakedown.plans.cases.filling import Filler
from shakedown.plans.partition_scopes import Names, Stage
from shakedown.plans.schema.resources import constraint, directive, filled_memory, option, reservation
from shakedown.plans.schema.scalars import InvalidValue, Whole

_LICENCES = Whole(1)


def asked(filler: Filler, stage: Stage, shape: Shape, names: Names) -> Shape:
    """Purpose: the shape with what its run asks for. Raises ExpressionError or InvalidValue, with the filler at the value."""
    run = filler.run
    if "memory" in run and "memory_per_cpu" in run:
        filler.at = ("run", "memory_per_cpu")
        raise InvalidValue(
            "there is memory too, and a run has one of them", "keep memory (of a node) or this (of a core)"
        )

    def value(key: str, parse: Callable[[str], Any], usual: Any) -> Any:
        return _filled(filler, ("run", key), run[key], names, parse) if key in run else usual

    def values(key: str, parse: Callable[[str], str]) -> tuple[str, ...]:
        written = enumerate(run.get(key, ()))
        return tuple(_filled(filler, ("run", key, at), text, names, parse) for at, text in written)

    for_tasks = filler.whole("gpus_per_task", names, 0)
    return replace(
        shape,
        resources=Resources(
            gpus_per_node=_gpus_of_node(filler, stage, names),
            gpus_per_task=for_tasks,
            constraint=value("constraint", constraint, ""),
            memory_bytes=value("memory", filled_memory, 0.0),
            memory_per_cpu_bytes=value("memory_per_cpu", filled_memory, 0.0),
            reservation=value("reservation", reservation, ""),
            licences=tuple(_licences(filler, names, lambda name: name not in dict(stage.licences)).items()),
            options=values("options", option),
            directives=values("directives", directive),
        ),
    )


def with_licences(filler: Filler, stage: Stage, names: Names, loads: Loads) -> Loads:
    """Purpose: the loads, with the licences that ``run`` names and the system's file counts: those are budgets."""
    own = _licences(filler, names, lambda name: name in dict(stage.licences))
    known = dict(loads)
    return tuple({**known, **{name: known.get(name, 0.0) + count for name, count in own.items()}}.items())


def too_little(shape: Shape, stage: Stage) -> list[str]:
    """Sentences on GPUs and memory of which a node of this partition has too few or too little."""
    asks, node, partition = shape.resources, stage.node, stage.partition.name
    reasons, has = [], _gpus(node.gpus.count) if node.gpus.count else "none"
    if asks.gpus_per_node > node.gpus.count:
        hint = (
            "" if node.gpus.count else f" (gpus of node type {node.name} in the system's file says how many there are)"
        )
        reasons.append(
            f"it takes {_gpus(asks.gpus_per_node)} of a node and one of partition {partition} has {has}{hint}"
        )
    for_tasks = asks.gpus_per_task * shape.tasks_per_node
    if for_tasks > asks.gpus_per_node:
        reasons.append(f"its tasks on a node take {_gpus(for_tasks)} and gpus_per_node is {asks.gpus_per_node}")
    wanted = asks.memory_of_node(shape.tasks_per_node * shape.cpus_per_task)
    if node.memory_bytes and wanted > node.memory_bytes:
        owned = show_bytes(node.memory_bytes)
        reasons.append(
            f"it takes {show_bytes(wanted)} of memory of a node and one of partition {partition} has {owned}"
        )
    return reasons


def _gpus_of_node(filler: Filler, stage: Stage, names: Names) -> int:
    """GPUs of a node. A test for all of a node's GPUs cannot run on a node without any."""
    written = filler.run.get("gpus_per_node")
    count = filler.whole("gpus_per_node", names, 0)
    if (
        not count
        and isinstance(written, str)
        and "node.gpus" in names_used(written, filler.values.get("parameters", {}))
    ):
        filler.small = f"gpus_per_node comes out as 0: a node of partition {stage.partition.name} has no GPUs"
    return count


def _licences(filler: Filler, names: Names, wanted: Callable[[str], bool]) -> dict[str, int]:
    written = filler.run.get("licences", {})
    return {
        name: int(_filled(filler, ("run", "licences", name), count, names, _LICENCES.convert))
        for name, count in written.items()
        if wanted(name)
    }


def _filled(filler: Filler, at: Path, written: Any, names: Names, parse: Callable[[str], Any]) -> Any:
    """A value as it was read, or read once its expressions are filled in."""
    return filler.parsed(at, written, names, parse) if isinstance(written, str) and "{" in written else written


def _gpus(count: int) -> str:
    return f"{count} GPU" if count == 1 else f"{count} GPUs"
