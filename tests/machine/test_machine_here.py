"""The machine the tests run on, as a System; and the software that is found, asked of commands that are not here."""

from __future__ import annotations

import os
import sys

import pytest

from shakedown.machine import this_system
from shakedown.machine.here import host_name
from shakedown.machine.software import ask_here, mpi_found, search_here, software_facts, toolchains_found

NOTHING: dict[str, str] = {}


def test_this_machine_is_one_partition_of_one_node() -> None:
    system = this_system()
    assert system.name == "here"
    (cluster,) = system.clusters
    assert (cluster.name, cluster.scheduler) == ("local", "local")
    (partition,) = cluster.partitions
    assert (partition.name, partition.cluster, partition.count, partition.type) == ("all", "local", 1, "host")
    (node,) = system.node_types
    assert 1 <= node.cores <= len(os.sched_getaffinity(0))
    assert node.memory_bytes > 0
    assert dict(system.found)["python"] == sys.version.split()[0]


def test_it_is_looked_at_once_so_that_its_digest_stays() -> None:
    first = this_system()
    this_system.cache_clear()
    assert this_system() == first


@pytest.mark.parametrize(
    ("name", "stands"),
    [
        ("vm", "vm"),
        ("node-17.example.org", "node-17.example.org"),
        ("a[1-3]", "localhost"),
        ("", "localhost"),
        ("a b", "localhost"),
    ],
)
def test_a_host_name_stands_in_a_node_set_or_is_localhost(name: str, stands: str) -> None:
    assert host_name(name) == stands


def test_a_toolchain_for_each_compiler_that_is_there() -> None:
    there = {"gcc": "/usr/bin/gcc", "clang": "/opt/bin/clang"}
    gcc, clang = toolchains_found(there.get)
    assert (gcc.name, gcc.cc, gcc.cxx, gcc.fc) == ("gcc", "gcc", "g++", "gfortran")
    assert (clang.name, clang.cc) == ("clang", "clang")
    assert clang.environment == (("MPICH_CC", "clang"), ("OMPI_CC", "clang"))
    assert toolchains_found(NOTHING.get) == ()


def test_a_machine_without_compiler_and_mpi_says_how_to_get_them() -> None:
    found = dict(software_facts(NOTHING.get, lambda command: ""))
    assert found["compilers"] == "none found (apt-get install gcc)"
    assert found["mpi"] == "none found (pip install mpich)"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "HYDRA build details:\n    Version:                                 5.0.2\n    Release Date: x",
            "MPICH 5.0.2 (/m)",
        ),
        ("mpiexec (OpenRTE) 4.1.4\n\nReport bugs to http://www.open-mpi.org/", "Open MPI 4.1.4 (/m)"),
        ("mpirun (Open MPI) 5.0.3", "Open MPI 5.0.3 (/m)"),
        ("Intel(R) MPI Library for Linux* OS, Version 2021.9 Build 20230307", "Intel MPI 2021.9 (/m)"),
        ("", "unknown (/m)"),
    ],
)
def test_which_mpi_starts_jobs(said: str, told: str) -> None:
    assert mpi_found({"mpiexec": "/m"}.get, lambda command: said) == told


def test_programs_beside_our_python_come_first_and_missing_ones_are_none() -> None:
    assert search_here("sh") is not None
    assert search_here("no-such-program-anywhere") is None


def test_commands_that_fail_or_are_missing_say_nothing() -> None:
    assert ask_here(["no-such-program-anywhere"]) == ""
    assert ask_here(["sh", "-c", "echo told; exit 3"]) == ""
    assert ask_here(["sh", "-c", "echo told"]) == "told"
