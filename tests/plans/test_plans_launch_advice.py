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


@pytest.mark.parametrize("shape", ["nodes: 2", "tasks_per_node: 2", 'nodes: "{node.cores}"'])
def test_several_tasks_that_nothing_starts_are_told(site: Any, here: Any, shape: str) -> None:
    """The run would pass with one process, which a test of ranks does not notice."""
    cluster = "clusters: {two: {scheduler: slurm, partitions: {far: {nodes: 'n[1-8]', type: t}}}}"
    site.write("systems/big.yaml", f"system: big\n{cluster}\nnode_types: {{t: {{cores: 2}}}}\n")
    site.test(f"test: a\nrun:\n  {shape}\n  command: ./x\n")
    (line,) = told(site, here)
    assert line.startswith("4: run.command: a takes ") and line.endswith(
        "has no {launch}: one process of the first node runs"
    )


@pytest.mark.parametrize(
    "run",
    [
        "{tasks_per_node: 1, command: ./x}",
        "{tasks_per_node: 2, command: '{launch} ./x'}",
        "{tasks_per_node: 2, command: 'flux run -n 2 ./x'}",
        "{tasks_per_node: 2, command: 'jsrun ./x'}",
        "{tasks_per_node: 2, command: 'mpiexec.hydra ./x'}",
        "{tasks_per_node: 2, command: ./x, environment: {START: '{launch}'}}",
        "{tasks_per_node: 2, command: sh go.sh, files: [go.sh]}",
        "{tasks_per_node: 2, command: sh d/go.sh, files: [d]}",
        "{tasks_per_node: 2, command: 'sh {build}/go.sh'}\nbuild: {source: d, run: 'true'}",
        "{tasks_per_node: 9999, command: ./x}",
    ],
)
def test_one_task_and_tasks_that_a_script_starts_are_no_matter(site: Any, here: Any, run: str) -> None:
    site.write("tests/go.sh", "srun -n 2 ./x\n")
    site.write("tests/d/go.sh", "exec mpirun -n 2 ./x\n")
    site.test(f"test: a\nrun: {run}\n")
    assert told(site, here) == []


@pytest.mark.parametrize("name", ["launch", "build", "partition"])
def test_a_dollar_before_the_braces_of_a_value_is_told(site: Any, here: Any, name: str) -> None:
    site.test(f"test: a\nrun: {{command: '${{{name}}} ./x'}}\nbuild: {{run: 'true'}}\n")
    assert told(site, here) == [
        f"2: run.command: ${{{name}}} puts a '$' before the value, which the shell takes for a variable"
    ]
    shell = "${{launch}} ${{partition}}"
    site.test(f"test: a\nrun: {{command: '{{{name}}} {shell} x'}}\nbuild: {{run: 'true'}}\n")
    assert told(site, here) == []


@pytest.mark.parametrize("end", ["| tee out", "|& tee -a out log", "2>&1 |tee out"])
def test_a_pipe_into_tee_hides_how_a_program_ended(site: Any, here: Any, end: str) -> None:
    site.test(f"test: a\nrun: {{command: './x {end}'}}\n")
    assert told(site, here) == [
        "2: run.command: the exit status of a pipe into tee is that of tee, so a program that fails is not seen to"
    ]


@pytest.mark.parametrize(
    "command",
    ["bash -o pipefail -c './x | tee out'", "./x | tee out; grep done out", "./x || tee out", "./x | sort", "tee out"],
)
def test_other_ends_of_a_command_are_no_matter(site: Any, here: Any, command: str) -> None:
    site.test(f'test: a\nrun: {{command: "{command}"}}\n')
    assert told(site, here) == []
