"""Parameters that are called as a number of the shape is: in each case they have the value that its run takes."""

from __future__ import annotations

from shakedown.model.nouns import Shape
from shakedown.plans.cases.filling import Filler
from shakedown.plans.partition_scopes import Stage
from shakedown.plans.schema.expressions import ExpressionError, number
from shakedown.plans.schema.scalars import InvalidValue


def check_shape_names(filler: Filler, stage: Stage, ident: str, combination: dict[str, str], shape: Shape) -> None:
    """Purpose: a case is called by what its run takes. ``{nodes}`` and the size of a scaling would be two different numbers else.

    A node too small for what is written has been told. Raises InvalidValue, with the filler at the parameter.
    """
    for name, has in _numbers(shape).items() if not filler.small else ():
        value = combination.get(name)
        if value is None or _same(value, has):
            continue
        filler.at = ("parameters", name)
        system = filler.context.machine.system.name
        where = (
            f"system {system}"
            if stage.local or not stage.suffix
            else f"partition {stage.partition.name} of system {system}"
        )
        raise InvalidValue(
            f"case {ident} has {name}={value} in its name, and on {where} its run has {name}={has}",
            f'write run: {{{name}: "{{{name}}}"}} for every system, or give the parameter another name',
            f"parameter {name} of test {filler.test.name} is no number of its shape",
        )


def _numbers(shape: Shape) -> dict[str, int]:
    """The numbers of a shape by the names that expressions have for them."""
    return {
        "nodes": shape.nodes,
        "tasks_per_node": shape.tasks_per_node,
        "cpus_per_task": shape.cpus_per_task,
        "gpus_per_task": shape.resources.gpus_per_task,
        "gpus_per_node": shape.resources.gpus_per_node,
    }


def _same(value: str, has: int) -> bool:
    try:
        return number(value, {}) == has
    except ExpressionError:
        return False
