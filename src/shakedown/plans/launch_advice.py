"""What ``run`` says of ranks without a ``{launch}`` that starts them: how many, GPUs of each, and what they are bound to; and pipes
that hide how a program ended.
"""

# paths are text in this room
# ruff: noqa: PTH112, PTH113, PTH118, PTH123

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

from shakedown.model.nouns import Case
from shakedown.plans.files import CATALOGUE
from shakedown.plans.library import Definition, Library
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.source_positions import key_place, place

# a launcher that the command names by itself divides the GPUs as its own words say
_LAUNCHERS = re.compile(
    r"(?<![\w.-])(?:srun|mpiexec|mpirun|orterun|prun|prterun|aprun|jsrun|lrun|flux\s+(?:mini\s+)?(?:run|submit)|ibrun|yhrun"
    r"|mpirun_rsh|torchrun|accelerate|deepspeed|horovodrun|charmrun|ssh|pdsh|clush|parallel)(?![\w-])"
)
_MOST_FILES, _MOST_BYTES = 200, 200_000  # of a test that are searched for a launcher
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


def tell_unstarted(library: Library, cases: Iterable[Case], told: Problems) -> None:
    """Purpose: warn of each test that asks for several tasks and starts one process: it passes with a part of the machine.

    A launcher in a file of the test, or beside the sources that it builds, may start the others.
    """
    several = {case.test: case for case in reversed(list(cases)) if not case.unavailable and case.shape.ranks > 1}
    for name, case in several.items():
        test = library.tests.get(name)
        if test is None or _starts_ranks(test.values["run"]):
            continue
        at = key_place(test.root, "run", "command")
        if at.start_mark.name.startswith(CATALOGUE) or any(map(_names_a_launcher, _files(test, case, library))):
            continue
        has = f"{case.shape.nodes} x {case.shape.tasks_per_node} tasks (nodes x tasks_per_node)"
        message = (
            f"run.command: {case.id} takes {has}, and the command has no {{launch}}: one process of the first node runs"
        )
        told.at(at, message, f"{_WAY_OUT}; what needs one process takes one task", f"ranks of test {name}")


def _files(test: Definition, case: Case, library: Library) -> Iterator[str]:
    """The files that a run or a build of this test is given, not all of a large tree."""
    roots = [path for _, path in case.files]
    build = test.values.get("build")
    if isinstance(build, dict) and "source" in build:
        mark: Any = place(test.root, "build", "source").start_mark
        roots.append(library.beside(mark.name, build["source"]))
    left = _MOST_FILES
    for root in roots:
        for path in _below(root):
            if left == 0:
                return
            left -= 1
            yield path


def _below(root: str) -> Iterator[str]:
    if not os.path.isdir(root):
        yield root
    for directory, _, names in os.walk(root):
        yield from (os.path.join(directory, name) for name in sorted(names))


def _names_a_launcher(path: str) -> bool:
    try:
        if not os.path.isfile(path):
            return False
        with open(path, encoding="utf-8", errors="replace") as file:
            return _LAUNCHERS.search(file.read(_MOST_BYTES)) is not None
    except OSError:
        return False


_WITHOUT_TEE = (
    "leave tee out, the output is kept anyway; or write bash -o pipefail -c '...', as the lines are those of /bin/sh, "
    "which may know no pipefail"
)
_INTO_TEE = re.compile(r"(?<!\|)\|&?\s*tee\b[^|;&\n]*$")


def tell_hidden_status(test: Definition, told: Problems) -> None:
    """Purpose: warn of a command that ends with a pipe into tee: its exit status is tee's, so a program that failed passes."""
    command = str(test.values["run"].get("command", "")).rstrip()
    if test.abstract or "pipefail" in command or "PIPESTATUS" in command or _INTO_TEE.search(command) is None:
        return
    at = key_place(test.root, "run", "command")
    if not at.start_mark.name.startswith(CATALOGUE):
        message = (
            "run.command: the exit status of a pipe into tee is that of tee, so a program that fails is not seen to"
        )
        told.at(at, message, _WITHOUT_TEE)
