"""What a machine's file adds up to: peaks, cores, memory, aggregate bandwidths; and whether what is printed of it does too."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from shakedown.model.nouns import FileSystem, NodeType, Pairs, System, TargetClass
from shakedown.model.printed import Agreement, Published, agreement, in_unit, other_unit, parse_printed
from shakedown.model.shared_nodes import different_nodes
from shakedown.model.units import parse_known
from shakedown.twin.models.reckoning import Amount, ReckoningError, amount, reckon, unit_of

Outcome = Literal["reproduced", "does not add up"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A printed number beside the derived one. ``derived`` is in base units, ``in_printed_unit`` in the unit that is printed.

    ``how``: exact, rounded, truncated, above or below, and "" where it does not add up; ``adds_up_in``: the unit in which the
    printed digits would be right. ``assumed``: keys of the file that the derived number rests on and no source prints.
    """

    what: str
    printed: str
    source: str
    of: str
    outcome: Outcome
    derived: float
    in_printed_unit: float
    how: Agreement = ""
    adds_up_in: str = ""
    because: str = ""
    assumed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MachineFacts:
    """``amounts``: everything that can be derived, by name; ``verdicts``: what is printed, held against it."""

    amounts: Mapping[str, Amount]
    verdicts: tuple[Verdict, ...] = ()


def machine_facts(system: System, published: Iterable[Published] = (), assumed: Pairs = ()) -> MachineFacts:
    """Purpose: all that a machine's file adds up to. Raises ReckoningError where a published number's expression is wrong."""
    amounts = machine_amounts(system, assumed)
    return MachineFacts(amounts, tuple(verdict(one, amounts) for one in published))


def machine_amounts(system: System, assumed: Pairs = ()) -> dict[str, Amount]:
    """Purpose: every number of a machine by the name that expressions know it by; what is not known is not there.

    ``TYPE.cores`` is of one node of a type, ``cores`` of the whole machine, where a node in two partitions counts once.
    """
    table = _Table(tuple(key for key, _ in assumed))
    for kind in system.node_types:
        _add_type(table, system, kind)
    _add_totals(table, system)
    _add_network(table, system)
    for one in system.filesystems:
        _add_filesystem(table, one)
    return table.amounts


def verdict(one: Published, amounts: Mapping[str, Amount]) -> Verdict:
    """Purpose: a printed number against what its expression derives. Raises ReckoningError, also where the two differ in kind."""
    printed, derived = parse_printed(one.value), reckon(one.of, amounts)
    own = amount(1.0, printed.quantity.dimension).dimension
    if own != derived.dimension:
        message = (
            f"'{one.value}' and '{one.of}', which is in {unit_of(derived.dimension)}, do not measure the same thing"
        )
        raise ReckoningError(message)
    how = agreement(printed, derived.value)
    return Verdict(
        what=one.what,
        printed=one.value,
        source=one.source,
        of=one.of,
        outcome="reproduced" if how else "does not add up",
        derived=derived.value,
        in_printed_unit=in_unit(derived.value, printed.quantity.unit),
        how=how,
        adds_up_in="" if how or printed.relation else other_unit(printed, derived.value),
        because=one.because,
        assumed=tuple(sorted(derived.assumed)),
    )


def faults(system: System, published: Iterable[Published]) -> list[tuple[Published, ReckoningError]]:
    """Purpose: the published numbers whose expressions cannot be worked out, each with what is wrong."""
    amounts, found = machine_amounts(system), []
    for one in published:
        try:
            verdict(one, amounts)
        except ReckoningError as error:
            found.append((one, error))
    return found


# ---- the table of amounts ---------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Table:
    """Amounts by name. A number that is not known, which nouns write as 0, is left out."""

    assumed: tuple[str, ...]
    amounts: dict[str, Amount] = field(default_factory=dict)

    def say(self, name: str, value: float, dimension: str = "number", *keys: str) -> None:
        """A number of the file, and the keys it is written under."""
        if value:
            resting = frozenset(key for key in self.assumed if any(_holds(key, own) for own in keys))
            self.amounts.setdefault(name, amount(value, dimension, resting))

    def derive(self, name: str, *factors: str | float, over: str = "") -> None:
        """A product of others, over another one; where one of those is not known, neither is it."""
        names = [factor for factor in (*factors, over) if isinstance(factor, str) and factor]
        if all(factor in self.amounts for factor in names):
            known = [self.amounts[factor] if isinstance(factor, str) else amount(factor) for factor in factors]
            product = math.prod(known[1:], start=known[0])
            self.amounts.setdefault(name, product / self.amounts[over] if over else product)

    def add_up(self, name: str, parts: Iterable[str]) -> None:
        """A sum of others; where one of those is not known, or there is none, neither is it."""
        wanted = list(parts)
        known = [self.amounts[part] for part in wanted if part in self.amounts]
        if known and len(known) == len(wanted):
            self.amounts.setdefault(name, sum(known[1:], start=known[0]))


def _holds(assumed: str, key: str) -> bool:
    return key == assumed or key.startswith(f"{assumed}.")


def _add_type(table: _Table, system: System, kind: NodeType) -> None:
    name, file = kind.name, f"node_types.{kind.name}"
    partitions = [partition for partition in system.partitions() if partition.type == name]
    written = [f"clusters.{partition.cluster}.partitions.{partition.name}.nodes" for partition in partitions]
    table.say(f"{name}.nodes", different_nodes(partitions), "number", *written)
    for key, value, dimension in (
        ("cores", kind.cores, "number"),
        ("sockets", kind.sockets, "number"),
        ("threads_per_core", kind.threads_per_core, "number"),
        ("numa", kind.numa, "number"),
        ("memory", kind.memory_bytes, "bytes"),
        ("fast_memory", kind.fast_memory_bytes, "bytes"),
        ("memory_bandwidth", kind.memory_bandwidth_bytes_per_s, "bytes/s"),
        ("cache", kind.last_level_cache_bytes, "bytes"),
        ("clock", kind.clock_hz, "hertz"),
    ):
        table.say(f"{name}.{key}", value, dimension, f"{file}.{key}")
    table.say(f"{name}.flops_per_cycle", kind.flops_per_cycle, "flop", f"{file}.flops_per_cycle")
    counted = [f"{file}.{key}" for key in ("cores", "flops_per_cycle", "clock")] if kind.clock_hz else []
    table.say(f"{name}.peak", kind.peak_flop_per_s, "flop/s", f"{file}.peak", *counted)
    table.derive(f"{name}.threads", f"{name}.cores", f"{name}.threads_per_core")
    table.derive(f"{name}.core_peak", f"{name}.peak", over=f"{name}.cores")
    for key in ("memory", "fast_memory"):
        table.derive(f"{name}.{key}_per_core", f"{name}.{key}", over=f"{name}.cores")
    for key in _SUMMED:
        table.derive(f"{name}.total_{key}", f"{name}.nodes", f"{name}.{key}")


_SUMMED = ("cores", "sockets", "threads", "peak", "memory", "fast_memory", "memory_bandwidth")


def _add_totals(table: _Table, system: System) -> None:
    """Sums over all nodes. A sum is only known where it is of every type that has nodes; of fast memory, where any has it."""
    used = [kind.name for kind in system.node_types if f"{kind.name}.nodes" in table.amounts]
    table.add_up("nodes", [f"{name}.nodes" for name in used])
    for key in _SUMMED:
        parts = [f"{name}.total_{key}" for name in used]
        table.add_up(key, [part for part in parts if part in table.amounts] if key == "fast_memory" else parts)


def _add_network(table: _Table, system: System) -> None:
    """The adapters of a node and of all; and the bandwidth between two halves of a torus or a tapered tree."""
    written = dict(system.network)
    for key, dimension in _NETWORK.items():
        table.say(f"network.{key}", _number(written.get(key, ""), dimension), dimension, f"network.{key}")
    if "network.injection" in table.amounts:
        table.say("network.nics", 1)
    table.derive("network.node_injection", "network.nics", "network.injection")
    table.derive("network.total_injection", "nodes", "network.node_injection")
    lengths = [int(part) for part in written.get("dimensions", "").split("x") if part.isdecimal()]
    if lengths:
        switches = math.prod(lengths)
        table.say("network.switches", switches, "number", "network.dimensions")
        if "torus" in written.get("kind", "") and max(lengths) > 2:  # the halves meet twice: a torus closes on itself
            table.derive("network.bisection", 2.0 * (switches // max(lengths)), "network.link")
    if "tree" in written.get("kind", ""):
        table.derive("network.bisection", 0.5, "network.total_injection", "network.taper")


_NETWORK = {
    "nics": "number",
    "injection": "bytes/s",
    "latency": "seconds",
    "link": "bytes/s",
    "levels": "number",
    "taper": "share",
    "groups": "number",
}


def _number(text: str, dimension: str) -> float:
    """The network's words are text in the noun, and in records of before they were checked they may be anything."""
    try:
        return parse_known(text, dimension) if text else 0.0
    except ValueError:
        return 0.0


def _add_filesystem(table: _Table, one: FileSystem) -> None:
    """What it holds and moves: as written, or its targets of all classes together."""
    name, file = one.name, f"filesystems.{one.name}"
    for kind, names in one.targets:
        table.say(f"{name}.{kind}.count", len(names), "number", f"{file}.targets.{kind}")
    for target in one.classes:
        _add_class(table, name, target)
    for key, written, dimension in (
        ("capacity", one.capacity_bytes, "bytes"),
        ("bandwidth", one.bandwidth_bytes_per_s, "bytes/s"),
    ):
        table.say(f"{name}.{key}", written, dimension, f"{file}.{key}")
        parts = [f"{name}.{target.name}.total_{key}" for target in one.classes]
        table.add_up(f"{name}.{key}", [part for part in parts if part in table.amounts])


def _add_class(table: _Table, name: str, target: TargetClass) -> None:
    mine, file = f"{name}.{target.name}", f"filesystems.{name}.targets.{target.name}"
    table.say(f"{mine}.count", target.count, "number", f"{file}.count")
    table.say(f"{mine}.capacity", target.capacity_bytes, "bytes", f"{file}.capacity")
    table.say(f"{mine}.bandwidth", target.bandwidth_bytes_per_s, "bytes/s", f"{file}.bandwidth")
    for key in ("capacity", "bandwidth"):
        table.derive(f"{mine}.total_{key}", f"{mine}.count", f"{mine}.{key}")
