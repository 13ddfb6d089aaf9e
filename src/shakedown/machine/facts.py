"""Facts about this machine for the report: system, kernel, processor, settings that affect measurements."""

from __future__ import annotations

import re
import shlex
from collections import Counter

from shakedown.machine.limits import Limits
from shakedown.machine.reading import Tree, colon_pairs
from shakedown.machine.topology import Topology
from shakedown.model.nouns import Pairs
from shakedown.model.units import show_bytes

_CPU = "sys/devices/system/cpu"
# CPU implementer and part, as 64-bit ARM kernels say them instead of a name (Arm's MIDR_EL1 register)
_ARM_PARTS = {
    ("0x41", "0xd03"): "Arm Cortex-A53",
    ("0x41", "0xd05"): "Arm Cortex-A55",
    ("0x41", "0xd07"): "Arm Cortex-A57",
    ("0x41", "0xd08"): "Arm Cortex-A72",
    ("0x41", "0xd0b"): "Arm Cortex-A76",
    ("0x41", "0xd0c"): "Arm Neoverse-N1",
    ("0x41", "0xd40"): "Arm Neoverse-V1",
    ("0x41", "0xd49"): "Arm Neoverse-N2",
    ("0x41", "0xd4f"): "Arm Neoverse-V2",
    ("0x46", "0x001"): "Fujitsu A64FX",
}


def found_facts(tree: Tree, topology: Topology, limits: Limits) -> Pairs:
    """Purpose: (name, value) of each fact that could be read, in the order of display."""
    facts = {
        "os": operating_system(tree),
        "kernel": tree.text("proc/sys/kernel/osrelease"),
        "cpu": cpu_model(tree),
        "threads": _threads(topology),
        "governor": _governor(tree),
        "boost": {"1": "on", "0": "off"}.get(tree.text(f"{_CPU}/cpufreq/boost"), ""),
        "transparent huge pages": _chosen(tree.text("sys/kernel/mm/transparent_hugepage/enabled")),
        "clock source": tree.text("sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "isolated processors": tree.text(f"{_CPU}/isolated"),
        "virtual": virtual(tree),
        "limits": _limits(topology, limits),
    }
    return tuple((key, _one_line(value)) for key, value in facts.items() if value)


def operating_system(tree: Tree) -> str:
    """The name of /etc/os-release, which is written as shell assignments."""
    text = tree.text("etc/os-release") or tree.text("usr/lib/os-release")
    values: dict[str, str] = {}
    for line in text.splitlines():
        key, equals, value = line.partition("=")
        if equals:
            values[key.strip()] = _unquoted(value)
    return values.get("PRETTY_NAME") or values.get("NAME", "")


def cpu_model(tree: Tree) -> str:
    """The model name of the processor; where the kernel gives only numbers, the names of the part and of the board."""
    info = colon_pairs(tree.text("proc/cpuinfo"))
    named = info.get("model name") or info.get("uarch") or info.get("cpu", "")
    if named:
        return " ".join(named.split())
    implementer, part = info.get("CPU implementer", ""), info.get("CPU part", "")
    code = _ARM_PARTS.get((implementer, part)) or (f"Arm implementer {implementer} part {part}" if part else "")
    board = tree.text("proc/device-tree/model") or info.get("Model", "")
    return " on ".join(filter(None, (code, board)))


def virtual(tree: Tree) -> str:
    """Signs of virtualisation: a hypervisor, a container, or both."""
    kind = " ".join(dict.fromkeys(filter(None, (_dmi(tree, "sys_vendor"), _dmi(tree, "product_name")))))
    flags = f" {colon_pairs(tree.text('proc/cpuinfo')).get('flags', '')} "
    hypervisor = tree.text("sys/hypervisor/type")
    guest = (
        bool(hypervisor) or " hypervisor " in flags or re.search(r"KVM|QEMU|VMware|VirtualBox|Virtual Machine", kind)
    )
    hints = [f"virtual machine ({hypervisor or kind})" if hypervisor or kind else "virtual machine"] if guest else []
    if "microsoft" in tree.text("proc/sys/kernel/osrelease").lower():
        hints = ["Windows Subsystem for Linux"]
    if tree.has(".dockerenv") or tree.has("run/.containerenv") or tree.has("run/systemd/container"):
        hints.append("container")
    return ", ".join(hints)


def _dmi(tree: Tree, name: str) -> str:
    return tree.text(f"sys/class/dmi/id/{name}", limit=200)


def _threads(topology: Topology) -> str:
    """Said only of processors with two kinds of cores: "8 cores with 2 threads, 8 cores with 1 thread"."""
    if len(topology.threads) < 2:
        return ""
    return ", ".join(f"{_count(n, 'core')} with {_count(t, 'thread')}" for t, n in topology.threads)


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _governor(tree: Tree) -> str:
    """The frequency governors in use; with the number of policies for each if they differ."""
    policies = tree.names(f"{_CPU}/cpufreq", r"policy\d+")
    counts = Counter(filter(None, (tree.text(f"{_CPU}/cpufreq/{p}/scaling_governor") for p in policies)))
    if not counts:
        return tree.text(f"{_CPU}/cpu0/cpufreq/scaling_governor")
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{name} ({count} policies)" for name, count in sorted(counts.items()))


def _limits(topology: Topology, limits: Limits) -> str:
    """A sentence on limits that allow this process less than the whole machine."""
    parts = []
    if topology.usable < topology.online:
        parts.append(f"this process may run on {topology.usable} of {topology.online} processors")
    if limits.processors is not None:
        parts.append(f"its control group gets the time of {limits.processors:g} processors")
    if limits.memory_bytes is not None:
        parts.append(f"its control group may hold {show_bytes(limits.memory_bytes)} of memory")
    return "; ".join(parts)


def _chosen(text: str) -> str:
    """The choice in brackets: "always [madvise] never" -> "madvise"."""
    match = re.search(r"\[(\w+)\]", text)
    return match.group(1) if match else ""


def _unquoted(value: str) -> str:
    try:
        return " ".join(shlex.split(value))
    except ValueError:
        return value.strip("\"'")


def _one_line(value: str) -> str:
    """One printable line: these files are read as they are, and the report and the terminal show them."""
    flat = " ".join(value.split())
    return "".join(c for c in flat if c.isprintable())[:200]
