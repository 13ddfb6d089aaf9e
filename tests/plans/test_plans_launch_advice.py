"""What a test asks for its ranks where nothing starts any: check warns, and the plan starts all the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shakedown.plans.checking import check_site

GPUS = "gpus_per_task: the command has no {launch}, so its one process sees all GPUs that the job has on the node"


def told(site: Any, here: Any) -> list[str]:
    checked = check_site(Path(site.path), lambda: here)
    assert checked.problems == ()
    return [f"{problem.line}: {problem.message}" for problem in checked.warnings]


@pytest.mark.parametrize(
    ("run", "said"),
    [
        ("{gpus_per_task: 1, command: ./x}", [f"2: {GPUS}"]),
        ('{gpus_per_task: "{node.gpus}", command: ./x}', [f"2: {GPUS}"]),
        (
            "{launch: {binding: cores}, command: ./x}",
            ["2: launch.binding: the command has no {launch}, so nothing is bound"],
        ),
        (
            "{launch: {gpu_binding: closest}, gpus_per_task: 1, command: ./srun-like}",
            ["2: launch.gpu_binding: the command has no {launch}, so nothing is bound", f"2: {GPUS}"],
        ),
    ],
)
def test_what_is_asked_for_ranks_that_nothing_starts_is_told(site: Any, here: Any, run: str, said: list[str]) -> None:
    site.test(f"test: a\nrun: {run}\n")
    assert told(site, here) == said


@pytest.mark.parametrize(
    "text",
    [
        'run: {gpus_per_task: 1, launch: {binding: cores}, command: "{launch} ./x"}',
        "run: {gpus_per_task: 1, command: 'srun --gpus-per-task=1 ./x'}",
        "run: {gpus_per_task: 1, command: 'exec mpirun -n 2 ./x'}",
        "run: {gpus_per_task: 1, command: 'torchrun x.py'}",
        'run: {gpus_per_task: 1, command: "sh go.sh", environment: {START: "{launch}"}}',
        "run: {gpus_per_task: 0, command: ./x}",
        "run: {gpus_per_node: 1, command: ./x}",
        "run: {launch: {mpi: mpich}, command: ./x}",
        "abstract: true\nrun: {gpus_per_task: 1, command: ./x}",
    ],
)
def test_ranks_that_are_started_and_tests_without_any_are_no_matter(site: Any, here: Any, text: str) -> None:
    site.test(f"test: a\n{text}\n")
    assert told(site, here) == []


def test_it_is_told_of_the_test_that_says_it_and_of_what_extends_it(site: Any, here: Any) -> None:
    site.test("test: a\nabstract: true\nrun: {gpus_per_task: 1}\n")
    site.write("tests/b.yaml", "test: b\nextends: a\nrun: {command: ./x}\n")
    assert told(site, here) == [f"3: {GPUS}"]
