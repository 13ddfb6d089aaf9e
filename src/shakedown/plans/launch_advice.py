"""What ``run`` says of ranks without a ``{launch}`` that starts them: GPUs of each process, and what ranks are bound to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from shakedown.plans.files import CATALOGUE
from shakedown.plans.library import Definition
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.source_positions import key_place

# a launcher that the command names by itself divides the GPUs as its own words say
_LAUNCHERS = re.compile(
    r"(?<![\w.-])(?:srun|mpiexec|mpirun|orterun|prun|aprun|jsrun|lrun|flux\s+run|ibrun|torchrun|accelerate|deepspeed)(?![\w-])"
)
_WAY_OUT = "write {launch} before the program: run: {command: '{launch} ./program'}"


def tell_unlaunched(test: Definition, told: Problems) -> None:
    """Purpose: warn of what a test asks for its ranks where its command starts none: it runs as one process of the first node."""
    run = test.values["run"]
    if test.abstract or "command" not in run or _starts_ranks(run):
        return
    for path, message in _of_ranks(run):
        at = key_place(test.root, "run", *path)
        if not at.start_mark.name.startswith(CATALOGUE):
            told.at(at, message, _WAY_OUT)


def _starts_ranks(run: dict[str, Any]) -> bool:
    """Whether {launch} stands where it reaches the command, or a launcher by its own name."""
    reach = (run["command"], *run.get("environment", {}).values())
    return any("{launch}" in str(text) for text in reach) or _LAUNCHERS.search(run["command"]) is not None


def _of_ranks(run: dict[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
    """What only has a meaning for ranks that a launcher starts: its place and what it comes to."""
    if str(run.get("gpus_per_task", 0)) != "0":
        yield (
            ("gpus_per_task",),
            "gpus_per_task: the command has no {launch}, so its one process sees all GPUs that the job has on the node",
        )
    launch = run.get("launch")
    for key in launch if isinstance(launch, dict) else ():
        if key in ("binding", "gpu_binding"):
            yield ("launch", key), f"launch.{key}: the command has no {{launch}}, so nothing is bound"
