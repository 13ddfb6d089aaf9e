"""Machines that hwloc described: what its XML says, and what files that are none are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from shakedown.machine.lstopo import LIMIT, system_from_lstopo
from shakedown.model.errors import WRONG_USE, UsageError

WAY_OUT = "write the file on that machine with: lstopo --of xml FILE"
CORE = '<object type="Core"><object type="PU"/></object>'


def test_this_virtual_machine(lstopo: Path) -> None:
    system = system_from_lstopo(lstopo / "vm.xml", "laptop")
    node = system.node_type("host")
    assert system.name == "laptop"
    assert system.about == "as hwloc described it in vm.xml"
    assert system.partitions()[0].nodes == "vm"
    assert (node.sockets, node.cores, node.threads_per_core, node.numa) == (1, 2, 1, 1)
    assert node.last_level_cache_bytes == 503316480
    found = dict(system.found)
    assert (found["os"], found["cpu"]) == ("Linux", "Intel(R) Xeon(R) Processor")


def test_two_sockets_eight_memory_domains_two_threads_a_core(lstopo: Path) -> None:
    node = system_from_lstopo(lstopo / "epyc.xml", "epyc").node_type("host")
    assert (node.sockets, node.cores, node.threads_per_core, node.numa) == (2, 16, 2, 8)
    assert node.memory_bytes == 8 * 32e9
    assert node.last_level_cache_bytes == 16 * 16e6


def test_the_older_format_calls_packages_sockets_and_nests_them_in_domains(lstopo: Path) -> None:
    node = system_from_lstopo(lstopo / "two-sockets-hwloc-1.xml", "old").node_type("host")
    assert (node.sockets, node.cores, node.threads_per_core, node.numa) == (2, 4, 1, 2)
    assert node.memory_bytes == 2 * 8e9
    assert node.last_level_cache_bytes == 2 * 8e6


def describe(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "machine.xml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def refusal(path: Path) -> str:
    """What a file is refused with, below the directory it lies in."""
    with pytest.raises(UsageError) as caught:
        system_from_lstopo(path, "x")
    assert caught.value.status == WRONG_USE
    assert caught.value.hint == WAY_OUT
    return caught.value.message.replace(f"{path.parent}/", "")


def test_one_memory_domain_of_the_older_format_belongs_to_the_machine(tmp_path: Path) -> None:
    path = describe(tmp_path, f'<topology><object type="Machine" local_memory="1024">{CORE}</object></topology>')
    assert system_from_lstopo(path, "x").node_type("host").memory_bytes == 1024


def test_a_guest_that_shows_threads_alone_has_as_many_cores(tmp_path: Path) -> None:
    path = describe(tmp_path, '<topology><object type="PU"/><object type="PU"/></topology>')
    node = system_from_lstopo(path, "x").node_type("host")
    assert (node.sockets, node.cores, node.threads_per_core, node.numa) == (1, 2, 1, 1)


def test_memory_without_processors_adds_memory_and_no_domain(tmp_path: Path) -> None:
    domains = (
        '<object type="NUMANode" cpuset="0x00000001" local_memory="10"/>'
        '<object type="NUMANode" cpuset="0x00000000,0x00000000" local_memory="5"/>'
    )
    node = system_from_lstopo(describe(tmp_path, f"<topology>{CORE}{domains}</topology>"), "x").node_type("host")
    assert (node.numa, node.memory_bytes) == (1, 15)


def test_instruction_caches_are_not_last_level(tmp_path: Path) -> None:
    caches = (
        '<object type="Cache" depth="1" cache_type="1" cache_size="32"/>'
        '<object type="Cache" depth="2" cache_type="2" cache_size="64"/>'
    )
    path = describe(tmp_path, f"<topology>{CORE}{caches}</topology>")
    assert system_from_lstopo(path, "x").node_type("host").last_level_cache_bytes == 32


def test_a_file_that_is_missing(tmp_path: Path) -> None:
    assert refusal(tmp_path / "no.xml") == "cannot read no.xml: No such file or directory"


def test_a_directory(tmp_path: Path) -> None:
    (tmp_path / "d.xml").mkdir()
    assert refusal(tmp_path / "d.xml") == "cannot read d.xml: Is a directory"


def test_text_that_is_no_xml(tmp_path: Path) -> None:
    assert refusal(describe(tmp_path, "Machine (24GB)\n  L3")) == "machine.xml:1: is not XML: syntax error"


def test_a_picture(tmp_path: Path) -> None:
    path = describe(tmp_path, b"\x89PNG\r\n\x1a\n\x00\x00")
    assert refusal(path) == "machine.xml:1: is not XML: not well-formed (invalid token)"


def test_an_empty_file(tmp_path: Path) -> None:
    assert refusal(describe(tmp_path, "")) == "machine.xml:1: is not XML: no element found"


def test_a_file_that_ends_early(tmp_path: Path) -> None:
    assert refusal(describe(tmp_path, "<topology>\n<object type='PU'/>\n")).startswith("machine.xml:3: is not XML: ")


def test_xml_of_something_else(tmp_path: Path) -> None:
    path = describe(tmp_path, "<html><body/></html>")
    assert refusal(path) == "machine.xml: is XML of something else: its root is 'html', not 'topology'"


def test_a_topology_without_processors(tmp_path: Path) -> None:
    path = describe(tmp_path, "<topology version='2.0'/>")
    assert refusal(path) == "machine.xml: describes no processors (no object of type PU)"


@pytest.mark.parametrize("value", ["many", "-1", "\u0665", "9" * 40])
def test_a_size_that_is_no_number(tmp_path: Path, value: str) -> None:
    path = describe(tmp_path, f'<topology>\n<object type="L3Cache" depth="3" cache_size="{value}"/></topology>')
    assert refusal(path) == f"machine.xml:2: cache_size '{value}' of <object> is not a whole number"


def test_a_file_that_grows_when_it_is_read(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE topology [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><topology>&b;</topology>'
    assert refusal(describe(tmp_path, bomb)) == (
        "machine.xml:1: declares entities, which no lstopo file does; it is not read"
    )


def test_a_file_that_would_have_another_read(tmp_path: Path) -> None:
    other = f'<!DOCTYPE topology [<!ENTITY x SYSTEM "file://{tmp_path}/secret">]><topology>&x;</topology>'
    assert "declares entities" in refusal(describe(tmp_path, other))


def test_a_file_of_gigabytes(tmp_path: Path) -> None:
    path = describe(tmp_path, "")
    with path.open("ab") as file:
        file.truncate(LIMIT + 1)
    assert refusal(path) == "machine.xml: is larger than 64 MiB, which no lstopo file is"
