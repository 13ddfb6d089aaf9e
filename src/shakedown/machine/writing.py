"""A System as the YAML a person would write, with comments that say what to look at."""

from __future__ import annotations

import json
import re

from shakedown.model.nouns import NodeType, Pairs, Partition, System, Toolchain
from shakedown.model.units import show_bytes

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./+-]*( [A-Za-z0-9_./+-]+)*")
_WORDS_OF_YAML = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})


def system_yaml(system: System) -> str:
    """Purpose: the text of ``systems/NAME.yaml``. Sizes are rounded to a tenth of their unit, as people write them."""
    partitions = system.partitions()
    lines = [
        f"# {system.about[:1].upper()}{system.about[1:]}.",
        "# Tests and plans take every number of a machine from here: correct what is wrong, and keep the file in git.",
        f"system: {scalar(system.name)}",
        f"about: {scalar(system.about)}",
        "clusters:",
        "  local:",
        _said("    scheduler: local", "jobs are processes on this machine, bound to its cores"),
        "    partitions:",
        *(f"      {scalar(p.name)}: {_partition(p)}" for p in partitions),
        "node_types:",
        *(line for kind in system.node_types for line in _node_type(kind)),
        *_toolchains(system.toolchains),
        "# budgets: {scratch/bandwidth: 2 GB/s}   # what tests share and can use up; tests say what they load",
        *_found(system.found),
    ]
    return "\n".join(lines) + "\n"


def scalar(text: str) -> str:
    """Text as one YAML scalar: plain where it cannot be read as anything else, else in double quotes."""
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS_OF_YAML:
        return text
    return json.dumps(text, ensure_ascii=not text.isprintable())


def _partition(partition: Partition) -> str:
    return f"{{nodes: {scalar(partition.nodes)}, type: {scalar(partition.type)}}}"


def _node_type(kind: NodeType) -> list[str]:
    """The node type's lines; what is not known is left out rather than written as zero."""
    lines = [
        f"  {scalar(kind.name)}:",
        f"    sockets: {kind.sockets}",
        _said(f"    cores: {kind.cores}", "physical ones; the only number that must be here"),
        f"    threads_per_core: {kind.threads_per_core}",
        _said(f"    numa: {kind.numa}", "memory domains"),
    ]
    if kind.memory_bytes:
        lines.append(f"    memory: {_size(kind.memory_bytes)}")
    if kind.last_level_cache_bytes:
        lines.append(_said(f"    cache: {_size(kind.last_level_cache_bytes)}", "last level, all of it together"))
    if kind.cpu:
        lines.append(_said(f"    cpu: {scalar(kind.cpu)}", "the architecture, in archspec's words"))
    return [*lines, _said("    # peak: 1.2 TFLOP/s", "not measured; write it here and scores can use it")]


def _said(line: str, comment: str) -> str:
    return f"{line:<32}# {comment}"


def _size(count: float) -> str:
    return show_bytes(count).replace(".0 ", " ")


def _toolchains(toolchains: tuple[Toolchain, ...]) -> list[str]:
    if not toolchains:
        return ["# toolchains: {gcc: {cc: gcc, cxx: g++, fc: gfortran}}   # none is known; tests that build need one"]
    lines = ["toolchains:"]
    for toolchain in toolchains:
        lines.append(f"  {scalar(toolchain.name)}:")
        lines.append(
            f"    {{cc: {scalar(toolchain.cc)}, cxx: {scalar(toolchain.cxx)}, fc: {scalar(toolchain.fc)},"
            f" environment: {_flow(toolchain.environment)}}}"
        )
    return lines


def _flow(pairs: Pairs) -> str:
    return "{" + ", ".join(f"{scalar(key)}: {scalar(value)}" for key, value in pairs) + "}"


def _found(found: Pairs) -> list[str]:
    if not found:
        return []
    return [
        _said("found:", "for the report; nothing is computed from it"),
        *(f"  {scalar(key)}: {scalar(value)}" for key, value in found),
    ]
