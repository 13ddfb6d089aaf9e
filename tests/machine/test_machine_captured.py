"""Captured machines are read as what they are: sockets, cores, memory domains, caches, limits, and what is told of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from shakedown.machine import probe

Unpack = Callable[[str], Path]
GIB = 2**30
KIB = 2**10


def test_a_virtual_machine_with_two_cores(machine: Unpack) -> None:
    seen = probe(machine("vm"), frozenset({0, 1}), cpu="icelake")
    node, found = seen.node, dict(seen.found)
    assert (node.sockets, node.cores, node.threads_per_core, node.numa) == (1, 2, 1, 1)
    assert node.memory_bytes == 24684084 * KIB  # the kernel's sum, not the 4 GiB that its one memory domain says
    assert node.last_level_cache_bytes == 491520 * KIB
    assert node.cpu == "icelake"
    assert node.name == "host"
    assert found["os"] == "Debian GNU/Linux 12 (bookworm)"
    assert found["kernel"] == "6.18.44"
    assert found["cpu"] == "Intel(R) Xeon(R) Processor"
    assert found["transparent huge pages"] == "madvise"
    assert found["virtual"] == "virtual machine, container"
    assert "limits" not in found
    assert "governor" not in found


def test_two_sockets_with_eight_memory_domains_and_two_threads_a_core(machine: Unpack) -> None:
    seen = probe(machine("epyc-2-sockets"))
    node, found = seen.node, dict(seen.found)
    assert (node.sockets, node.cores, node.threads_per_core, node.numa) == (2, 16, 2, 8)
    assert node.last_level_cache_bytes == 16 * 16384 * KIB  # every core has one of its own; its threads share it
    assert node.memory_bytes == 263574284 * KIB
    assert found["cpu"] == "AMD EPYC 7F32 8-Core Processor"
    assert found["governor"] == "performance"
    assert found["boost"] == "on"
    assert found["transparent huge pages"] == "always"
    assert "virtual" not in found
    assert "limits" not in found  # version 1 writes "none" as -1 and as a number near 2^63


def test_processors_that_are_not_ours_do_not_count(machine: Unpack) -> None:
    root = machine("epyc-2-sockets")
    second_socket = frozenset(range(8, 16)) | frozenset(range(24, 32))
    node = probe(root, second_socket).node
    assert (node.sockets, node.cores, node.threads_per_core, node.numa) == (1, 8, 2, 4)
    assert node.last_level_cache_bytes == 8 * 16384 * KIB
    one_thread_each = probe(root, frozenset(range(16))).node
    assert (one_thread_each.sockets, one_thread_each.cores, one_thread_each.threads_per_core) == (2, 16, 1)
    siblings = probe(root, frozenset({3, 19}))
    assert (siblings.node.cores, siblings.node.threads_per_core) == (1, 2)
    assert dict(siblings.found)["limits"] == "this process may run on 2 of 32 processors"


def test_a_board_whose_processor_has_numbers_instead_of_a_name(machine: Unpack) -> None:
    seen = probe(machine("raspberry-pi-4"))
    node, found = seen.node, dict(seen.found)
    assert (node.sockets, node.cores, node.threads_per_core, node.numa) == (1, 4, 1, 1)
    assert node.last_level_cache_bytes == 0  # its kernel says nothing of caches
    assert found["cpu"] == "Arm Cortex-A72 on Raspberry Pi 4 Model B Rev 1.4"
    assert found["governor"] == "ondemand"


def test_a_container_counts_what_it_was_given(machine: Unpack) -> None:
    seen = probe(machine("container"), frozenset({4, 5, 20}))
    node, found = seen.node, dict(seen.found)
    assert (node.sockets, node.cores, node.threads_per_core) == (1, 2, 2)
    assert node.memory_bytes == 4 * GIB
    assert node.last_level_cache_bytes == 22528 * KIB
    assert found["threads"] == "1 core with 2 threads, 1 core with 1 thread"
    assert found["virtual"] == "container"
    assert found["limits"] == (
        "this process may run on 3 of 32 processors; its control group gets the time of 2.5 processors; "
        "its control group may hold 4.0 GiB of memory"
    )


def test_the_time_that_a_control_group_gets_narrows_the_cores(machine: Unpack) -> None:
    root = machine("container")
    (root / "sys/fs/cgroup/cpu.max").write_text("40000 100000\n")
    node = probe(root, frozenset({4, 5})).node
    assert (node.cores, node.sockets, node.numa) == (1, 1, 1)  # less than one processor's time is still one core


def test_the_tightest_group_on_the_way_up_counts(machine: Unpack) -> None:
    root = machine("container")
    inner = root / "sys/fs/cgroup/slurm/job_7"
    inner.mkdir(parents=True)
    (root / "proc/self/cgroup").write_text("0::/slurm/job_7\n")
    (inner / "memory.max").write_text("max\n")
    (inner.parent / "memory.max").write_text(f"{2 * GIB}\n")
    assert probe(root, frozenset({4, 5})).node.memory_bytes == 2 * GIB


def test_a_sandbox_without_sys_is_read_from_cpuinfo(machine: Unpack) -> None:
    seen = probe(machine("sandbox"), frozenset(range(8)))
    node, found = seen.node, dict(seen.found)
    assert (node.sockets, node.cores, node.threads_per_core) == (2, 3, 2)  # 4 cores, of which it gets 3 cores' time
    assert node.memory_bytes == 2 * GIB  # its control group's path exists only outside; the mount's root is its own
    assert found["virtual"] == "virtual machine"
    assert found["limits"].startswith("its control group gets the time of 3 processors")
