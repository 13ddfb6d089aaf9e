"""Missing and odd files never stop the probe: every kernel, container and board leaves out others."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shakedown.machine import probe
from shakedown.machine.reading import Tree, processors, size_bytes

CPU = "sys/devices/system/cpu"


def write(root: Path, files: dict[str, str | bytes]) -> None:
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content.encode() if isinstance(content, str) else content)


def test_nothing_at_all_is_one_core_of_which_nothing_is_known(tmp_path: Path) -> None:
    seen = probe(tmp_path)
    assert (seen.node.sockets, seen.node.cores, seen.node.threads_per_core, seen.node.numa) == (1, 1, 1, 1)
    assert seen.node.memory_bytes == 0
    assert seen.found == ()


def test_nothing_but_the_processors_we_may_run_on(tmp_path: Path) -> None:
    assert probe(tmp_path, frozenset({2, 5, 7})).node.cores == 3


def test_a_processor_that_is_switched_off_does_not_count(tmp_path: Path) -> None:
    write(tmp_path, {f"{CPU}/online": "0,2-3\n", f"{CPU}/cpu1/topology/core_id": "1\n"})
    assert probe(tmp_path).node.cores == 3


def test_a_kernel_that_does_not_know_the_package_means_one(tmp_path: Path) -> None:
    for cpu in range(2):
        write(tmp_path, {f"{CPU}/cpu{cpu}/topology/physical_package_id": "-1\n"})
    assert (probe(tmp_path).node.sockets, probe(tmp_path).node.cores) == (1, 2)


def test_a_memory_domain_without_processors_does_not_count(tmp_path: Path) -> None:
    write(tmp_path, {f"{CPU}/online": "0-1", "sys/devices/system/node/node0/cpulist": "0-1\n"})
    write(tmp_path, {"sys/devices/system/node/node1/cpulist": "\n"})
    assert probe(tmp_path).node.numa == 1


def test_four_threads_a_core_and_a_name_of_another_key(tmp_path: Path) -> None:
    write(tmp_path, {f"{CPU}/online": "0-7", "proc/cpuinfo": "processor\t: 0\ncpu\t\t: POWER9,  altivec supported\n"})
    for cpu in range(8):
        siblings = "0-3" if cpu < 4 else "4-7"
        write(tmp_path, {f"{CPU}/cpu{cpu}/topology/thread_siblings_list": siblings})
    seen = probe(tmp_path)
    assert (seen.node.cores, seen.node.threads_per_core) == (2, 4)
    assert dict(seen.found)["cpu"] == "POWER9, altivec supported"


def test_two_kinds_of_cores_and_governors_are_told(tmp_path: Path) -> None:
    write(tmp_path, {f"{CPU}/online": "0-3"})
    for cpu, siblings, governor in ((0, "0-1", "performance"), (1, "0-1", "performance"), (2, "2", "powersave")):
        write(tmp_path, {f"{CPU}/cpu{cpu}/topology/core_cpus_list": siblings})
        write(tmp_path, {f"{CPU}/cpufreq/policy{cpu}/scaling_governor": governor})
    write(tmp_path, {f"{CPU}/cpu3/topology/core_cpus_list": "3"})
    seen = probe(tmp_path)
    assert (seen.node.cores, seen.node.threads_per_core) == (3, 2)
    assert dict(seen.found)["threads"] == "1 core with 2 threads, 2 cores with 1 thread"
    assert dict(seen.found)["governor"] == "performance (2 policies), powersave (1 policies)"


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"sys/hypervisor/type": "xen\n"}, "virtual machine (xen)"),
        ({"sys/class/dmi/id/sys_vendor": "QEMU\n"}, "virtual machine (QEMU)"),
        ({"sys/class/dmi/id/sys_vendor": "Dell Inc.\n", "run/.containerenv": ""}, "container"),
        ({"proc/sys/kernel/osrelease": "5.15.90.1-microsoft-standard-WSL2\n"}, "Windows Subsystem for Linux"),
    ],
)
def test_what_the_machine_is_not(tmp_path: Path, files: dict[str, str | bytes], told: str) -> None:
    write(tmp_path, files)
    assert dict(probe(tmp_path).found)["virtual"] == told


def test_what_is_told_is_one_printable_line(tmp_path: Path) -> None:
    write(tmp_path, {"etc/os-release": b'PRETTY_NAME="Evil\x1b[2J \xff Linux"\n', "proc/sys/kernel/osrelease": "6\n7"})
    write(tmp_path, {"proc/cpuinfo": "model name\t: " + "x" * 5000})
    found = dict(probe(tmp_path).found)
    assert found["os"] == "Evil[2J \ufffd Linux"
    assert found["kernel"] == "6 7"
    assert len(found["cpu"]) == 200


def test_directories_and_links_to_nowhere_read_as_nothing(tmp_path: Path) -> None:
    (tmp_path / "etc/os-release").mkdir(parents=True)
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/meminfo").symlink_to("nowhere")
    (tmp_path / "proc/cpuinfo").symlink_to("cpuinfo")
    assert probe(tmp_path).found == ()


def test_a_control_group_above_the_mount_is_not_followed(tmp_path: Path) -> None:
    write(tmp_path, {"proc/self/cgroup": "0::/../../elsewhere", "sys/elsewhere/memory.max": "4096"})
    write(tmp_path, {"proc/meminfo": "MemTotal: 1024 kB"})
    assert probe(tmp_path).node.memory_bytes == 1024 * 1024


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0-3,8,10-11\n".strip(), {0, 1, 2, 3, 8, 10, 11}),
        ("0", {0}),
        ("", set()),
        ("3-1", set()),
        ("-1", set()),
        ("a-b", set()),
        ("0-99999999", set()),
    ],
)
def test_lists_of_processors(text: str, expected: set[int]) -> None:
    assert processors(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("32768K", 2**25), ("16M", 2**24), ("24 kB", 24576), ("512", 512), ("", 0), ("many", 0)]
)
def test_sizes(text: str, expected: float) -> None:
    assert size_bytes(text) == expected


def test_files_of_the_kernel_that_answer_large_requests_with_an_error() -> None:
    assert Tree(Path("/")).text("proc/sys/kernel/osrelease") != ""


PATHS = (
    f"{CPU}/online",
    f"{CPU}/cpu0/topology/core_cpus_list",
    f"{CPU}/cpu0/topology/physical_package_id",
    f"{CPU}/cpu1/topology/thread_siblings_list",
    f"{CPU}/cpu0/cache/index2/level",
    f"{CPU}/cpu0/cache/index2/type",
    f"{CPU}/cpu0/cache/index2/size",
    f"{CPU}/cpu0/cache/index2/shared_cpu_list",
    "sys/devices/system/node/node0/cpulist",
    "sys/fs/cgroup/cpu.max",
    "sys/fs/cgroup/memory.max",
    "proc/self/cgroup",
    "proc/cpuinfo",
    "proc/meminfo",
    "etc/os-release",
    "sys/kernel/mm/transparent_hugepage/enabled",
)
CONTENT = st.one_of(
    st.binary(max_size=40),
    st.sampled_from(
        [b"0", b"-1", b"0-1", b"0::/", b"0 0", b"99 1", b"Unified", b"K", b"9" * 30, b"processor: 0\ncore id: 1"]
    ),
)


@given(st.dictionaries(st.sampled_from(PATHS), CONTENT), st.sets(st.integers(0, 5)))
def test_whatever_the_files_say_there_is_at_least_one_of_everything(files: dict[str, bytes], allowed: set[int]) -> None:
    with TemporaryDirectory() as directory:
        write(Path(directory), dict(files))
        node = probe(Path(directory), frozenset(allowed) or None).node
    assert 1 <= node.sockets <= node.cores
    assert 1 <= node.numa <= node.cores
    assert node.threads_per_core >= 1
    assert node.memory_bytes >= 0
    assert node.last_level_cache_bytes >= 0
