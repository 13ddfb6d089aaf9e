"""Every file of the catalogue: its name, what it says to people, the files it uses, the commands it runs."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shakedown import catalogue
from shakedown.kernels import describe_kernels, kernel_names, shared_options
from shakedown.model.units import parse_duration, parse_quantity

Fields = dict[str, Any]
Merged = Callable[[str], Fields]
PAGE = Path(__file__).parents[2] / "docs/guides/catalogue.md"
CATALOGUE = Path(catalogue.__file__).parent / "tests"
NAMES = sorted(path.stem for path in CATALOGUE.glob("*.yaml"))
SHARED = [name for name in NAMES if name.endswith("-defaults")]
# whose input is the site's own, so that a site extends them
WITHOUT_INPUT = [
    *("cp2k", "gromacs", "gtc", "io500", "lsms", "milc", "minidft", "nwchem", "openfoam", "quantum-espresso", "snap"),
]
CONCRETE = [name for name in NAMES if name not in (*SHARED, *WITHOUT_INPUT)]
WHOLE = [*CONCRETE, *WITHOUT_INPUT]
KERNELS = [
    "cg",
    "collectives",
    "congestion",
    "gemm",
    "gpu-copy",
    "gpu-gemm",
    "gpu-pairs",
    "gpu-stream",
    "halo",
    "hello",
    "io",
    "loader",
    "metadata",
    "mpimem",
    "nodecheck",
    "noise",
    "pairs",
    "pt2pt",
    "stream",
    "sweep",
    "transpose",
]
APPLICATIONS = ["hpcc", "lammps-reaxff", "lammps-silicon", "lammps-tersoff"]
SURVEY = [  # kernels on as many nodes as there are, for the plan catalogue:survey
    *("survey-collectives", "survey-congestion", "survey-io", "survey-nodecheck", "survey-pairs", "survey-transpose"),
]
MACHINE = [  # what a machine needs before any program: no program is published for it
    *(
        "checkpoint",
        "launch-time",
        "loader-sbcast",
        "network-distance",
        "node-health",
        "programming",
        "programming-fortran",
        "programming-hybrid",
        "programming-mpi",
    ),
    *("programming-mpi-fortran", "programming-openmp", "scheduler-storm"),
    *SURVEY,
]
SOURCES = {"json", "regex", "table", "yaml", "formula"}
WITHOUT_DIRECTION = (
    *(
        "centre",
        "energy",
        "fermi_energy",
        "cycles",
        "share",
        "steps",
        "iterations",
        "calls",
        "counts",
        "samples_taken",
        "looks",
    ),
)
CARRIED_ON = 3600  # seconds that a published benchmark may take as it is shipped


def test_what_there_is() -> None:
    assert [
        *("hpl-defaults", "imb-defaults", "ior-defaults", "kernel-defaults", "lammps-defaults", "osu-defaults"),
        *("program-defaults", "programming-defaults"),
    ] == SHARED
    assert {*KERNELS, *APPLICATIONS} <= set(CONCRETE)


def test_every_kernel_has_a_test() -> None:
    assert sorted(kernel_names()) == KERNELS


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_named_after_its_test_and_says_what_it_is_for(fields_of: Merged, name: str) -> None:
    fields = fields_of(name)
    assert fields["test"] == name
    assert len(fields["about"]) > 10
    assert fields.get("abstract", False) is (name not in CONCRETE)


@pytest.mark.parametrize("name", [name for name in WHOLE if name not in (*KERNELS, *APPLICATIONS, *MACHINE)])
def test_published_programs_have_a_tag_of_their_own_that_no_plan_of_kernels_selects(
    fields_of: Merged, name: str
) -> None:
    tags = fields_of(name)["tags"]
    assert tags[0] == "program"
    assert not {"kernel", "application", "network", "memory", "io", "noise", "lammps"}.intersection(tags)


@pytest.mark.parametrize("name", WHOLE)
def test_it_ends_has_conditions_and_figures_with_direction(fields_of: Merged, name: str) -> None:
    fields = fields_of(name)
    longest = 2 * CARRIED_ON if name == "io500" else CARRIED_ON
    assert 0 < parse_duration(fields["run"]["time_limit"]) <= (300 if name in (*KERNELS, *APPLICATIONS) else longest)
    assert fields["check"]
    assert fields["figures"]
    for figure, spec in fields["figures"].items():
        assert set(spec) <= {*SOURCES, "unit", "better", "pick", "from", "required"}, figure
        assert len(SOURCES.intersection(spec)) == 1, figure
        assert figure in WITHOUT_DIRECTION or spec["better"] in ("higher", "lower"), figure
        parse_quantity(f"1 {spec.get('unit', '')}")


@pytest.mark.parametrize("name", [name for name in WHOLE if name not in (*KERNELS, *MACHINE)])
def test_a_missing_program_has_the_way_that_gets_it(fields_of: Merged, name: str) -> None:
    needs = fields_of(name)["needs"]
    assert needs["programs"]
    assert re.search(
        r"\b(apt-get|pip|spack) install \S|; put \S+ on PATH$|; put its (bin directory|\S+) on PATH$", needs["get"]
    )


@pytest.mark.parametrize("name", CONCRETE)
def test_input_files_are_there(fields_of: Merged, name: str) -> None:
    for file in fields_of(name)["run"].get("files", []):
        assert file.startswith("/usr/share/") or (CATALOGUE / file).exists(), file  # the former are the package's


def test_no_input_file_is_left_over(fields_of: Merged) -> None:
    used = {file for name in CONCRETE for file in fields_of(name)["run"].get("files", []) if file[0] != "/"}
    sources = {str(fields_of(name).get("build", {}).get("source", "")) for name in CONCRETE}
    lying = {str(path.relative_to(CATALOGUE)) for path in CATALOGUE.glob("*/*") if path.parent.name not in sources}
    assert lying == used


def filled(fields: Fields, **more: str) -> str:
    """The command with something in place of every expression."""
    values = {
        "launch": "mpiexec -n 2",
        "build": "/b",
        "ranks": "2",
        "cpus_per_task": "2",
        "tasks_per_node": "2",
        **more,
    }
    first = {name: str(options[0]) for name, options in fields.get("parameters", {}).items()}
    values |= {name: "2" if "{" in value else value for name, value in first.items() if name not in more}
    return re.sub(r"\{(\w+)\}", lambda match: values[match.group(1)], fields["run"]["command"])


@pytest.mark.parametrize("name", WHOLE)
def test_commands_are_shell_and_use_only_names_that_exist(fields_of: Merged, name: str) -> None:
    done = subprocess.run(["sh", "-n", "-c", filled(fields_of(name))], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", KERNELS)
def test_options_are_those_of_the_kernel(fields_of: Merged, name: str) -> None:
    fields = fields_of(name)
    assert fields["build"] == {"kernel": name}
    (kernel,) = describe_kernels([name])
    known = {option.name for option in (*kernel.options, *shared_options())}
    assert set(re.findall(r"--[a-z-]+", fields["run"]["command"])) <= known


@pytest.mark.parametrize("name", WHOLE)
def test_the_page_has_each_program_with_its_figures_and_their_units(fields_of: Merged, name: str) -> None:
    fields = fields_of(name)
    (row,) = [line for line in PAGE.read_text().splitlines() if line.startswith(f"| `{name}`")]
    test, programs, figures = (cell.strip() for cell in row.strip("|").split("|"))
    assert test.endswith("(extend it)") is fields.get("abstract", False)
    assert name in (*MACHINE, *KERNELS) or re.findall(r"`([^`]+)`", programs) == fields["needs"]["programs"]
    said = dict(re.findall(r"`(\w+)(?:\[[^`]*\])?`(?: ([^,|]+))?", figures))
    assert said == {figure: spec.get("unit", "") for figure, spec in fields["figures"].items()}
