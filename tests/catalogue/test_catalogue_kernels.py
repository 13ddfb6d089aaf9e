"""The kernels' tests against the kernels themselves: their commands run, and every figure and picture is in the output."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from built_kernels import built_kernels

from shakedown.kernels import find_mpiexec

Fields = dict[str, Any]
Merged = Callable[[str], Fields]
# made small: what is held here is what the records are called, not what they say of the machine
SMALL = {
    "metadata": "--files 2 --repeats 1",
    "mpimem": "",
    "nodecheck": "--repeats 1 --elements 1000 --partners 2 --size 4KiB --round-trips 2 --fake-nodes 2",
    "pt2pt": "--windows 1 --round-trips 2 --window 2",
    "congestion": "--rings 1 --latency-repeats 2 --bandwidth-repeats 1 --allreduce-repeats 2 --congestors get --fake-nodes 4",
    "collectives": "--iterations 2 --largest 8",
    "cg": "--n 8 --levels 2 --iterations 3 --solves 1",
    "gemm": "--n 48 --repeats 1",
    "gpu-copy": "--gpus 0 --largest 600 --repeats 2",
    "gpu-gemm": "--gpus 0 --n 40 --repeats 1 --precision single",
    "gpu-pairs": "--gpus 0 --size 2KiB --iterations 1 --ways staged",
    "gpu-stream": "--gpus 0 --elements 2000 --repeats 2",
    "halo": "--cells 4 --steps 2",
    "hello": "",
    "stream": "--elements 100000 --repeats 2",
    "sweep": "--n 3 --nz 4 --angles 2 --groups 2 --repeats 1",
    "transpose": "--n 8 --repeats 1",
    "pairs": "--iterations 1",
    "noise": "--samples 5",
    "loader": "--libraries 2 --modules 2 --repeats 2",
    "io": "--block 64KiB --files 2",
}
PARAMETERS = {
    "n": "8",
    "precision": "single",
    "ways": "staged",
    "threads": "1",
    "size": "64KiB",
    "samples": "5",
    "transfer": "64KiB",
    "largest": "8",
    "directory": ".",
}

pytestmark = pytest.mark.mpi


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_kernels(tmp_path_factory)


def run(fields: Fields, small: str, programs: Path, where: Path) -> str:
    """The output of the test's own command; its options give way to those of the same name in ``small``."""
    each = fields["run"]["tasks_per_node"] if isinstance(fields["run"]["tasks_per_node"], int) else 2
    ranks = 4 if fields["run"]["nodes"] > 1 else each  # as few as show every part
    launch = f"{shlex.quote(str(find_mpiexec()))} -n {ranks}"
    values = {"launch": launch, "build": str(programs), "ranks": str(ranks), **PARAMETERS}
    command = re.sub(r"\{(\w+)\}", lambda match: values[match.group(1)], fields["run"]["command"])
    for option in re.findall(r"--[\w-]+", small):
        command = re.sub(rf" {option} \S+", "", command)
    done = subprocess.run(
        ["sh", "-c", f"{command} {small}"], cwd=where, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def at(record: Any, path: str) -> Any:
    for key in path.split("."):
        record = record.get(key) if isinstance(record, dict) else None
    return record


def of_json(records: list[Fields], path: str) -> Iterator[Any]:
    return (at(record, path) for record in records if at(record, path) is not None)


def of_table(records: list[Fields], table: Fields, ranks: str) -> Iterator[Any]:
    """The column of the records that are asked for; each of them has what tells its row apart."""
    names = {"{ranks}": ranks, **{f"{{{name}}}": value for name, value in PARAMETERS.items()}}
    where = {key: names.get(str(text), str(text)) for key, text in table.get("where", {}).items()}
    for record in records:
        if record["record"] == table["records"] and all(str(record[key]) == text for key, text in where.items()):
            by = table.get("by", [])
            assert all(key in record for key in ([by] if isinstance(by, str) else by))
            yield record[table["column"]]


@pytest.mark.parametrize("name", list(SMALL))
def test_checks_figures_and_pictures_are_in_the_output(
    fields_of: Merged, programs: Path, tmp_path: Path, name: str
) -> None:
    fields = fields_of(name)
    output = run(fields, SMALL[name], programs, tmp_path)
    records = [json.loads(line) for line in output.splitlines()]
    for check in fields["check"]:
        pattern = re.fullmatch(r'output matches "(.*)"', check)
        assert pattern and re.search(pattern.group(1), output), check
    ranks = str(records[0]["ranks"])
    for figure, spec in fields["figures"].items():
        values = list(of_table(records, spec["table"], ranks) if "table" in spec else of_json(records, spec["json"]))
        wanted = spec.get("required", True)  # pinned memory, a second device: not on every machine
        assert (values or not wanted) and all(isinstance(value, int | float) for value in values), figure
    assert set(fields.get("draws", [])) <= {record["record"] for record in records}


def test_a_kernel_whose_budget_ran_out_does_not_pass(fields_of: Merged, programs: Path, tmp_path: Path) -> None:
    fields = fields_of("noise")
    output = run(fields, "--samples 1000000 --budget 4", programs, tmp_path)
    (check,) = fields["check"]
    pattern = re.fullmatch(r'output matches "(.*)"', check)
    assert pattern
    assert not re.search(pattern.group(1), output)


@pytest.mark.parametrize(
    ("variables", "where"),
    [
        ({}, "work"),
        ({"DW_JOB_STRIPED": "buffer"}, "buffer"),
        ({"DW_JOB_STRIPED": "work", "CHECKPOINT_DIRECTORY": "buffer"}, "buffer"),
    ],
)
def test_a_checkpoint_lies_where_it_should_and_has_all_its_figures(
    fields_of: Merged, programs: Path, tmp_path: Path, variables: dict[str, str], where: str
) -> None:
    fields = fields_of("checkpoint")
    for folder in ("work", "buffer"):
        (tmp_path / folder).mkdir()
    launch = f"{shlex.quote(str(find_mpiexec()))} -n 2"
    command = fields["run"]["command"].replace("{launch}", launch).replace("{build}", str(programs))
    command = command.replace("{size}MiB", "64KiB").replace("8MiB", "64KiB")
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=tmp_path / "work",
        env=dict(os.environ) | {name: str(tmp_path / folder) for name, folder in variables.items()},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert Path(tmp_path / "work", records[0]["directory"]).resolve() == tmp_path / where
    values = {
        name: [at(record, spec["json"]) for record in records if at(record, spec["json"])]
        for name, spec in fields["figures"].items()
        if "json" in spec
    }
    assert set(values) == {"write", "read", "write_shared", "read_shared"}
    assert all(len(found) == 1 and found[0] > 0 for found in values.values())
