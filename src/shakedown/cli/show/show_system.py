"""``shakedown show system``: a machine's facts, what they add up to, and whether what is printed of it adds up too."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shakedown.cli.facts import facts, pairs
from shakedown.cli.output import emit, printable, table
from shakedown.model.errors import UsageError
from shakedown.model.printed import parse_printed
from shakedown.model.units import Quantity, show_bytes
from shakedown.twin.models.reckoning import Amount, unit_of

if TYPE_CHECKING:
    from shakedown.model.nouns import FileSystem, NodeType, System, Toolchain
    from shakedown.model.resources import Gpus
    from shakedown.plans.systems import Machine
    from shakedown.twin.models.peaks import MachineFacts, Verdict

_WIDE = 80
_UNDER = " " * 14  # where the text of facts begins
_DECIMAL = (("E", 1e18), ("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3))
_BINARY = (("Pi", 2.0**50), ("Ti", 2.0**40), ("Gi", 2.0**30), ("Mi", 2.0**20), ("Ki", 2.0**10))


def show_system(site: str | None, name: str, as_json: bool) -> None:
    """Purpose: print a system by name. Raises UsageError where there is none, or a printed number cannot be worked out."""
    machine = _machine(site, name)
    derived = _derived(machine)
    emit(_as_data(machine, derived), as_json, lambda: _render(machine, derived))


def _machine(site: str | None, name: str) -> Machine:
    """A system of the site or of the package; those of the package are there without a site too."""
    from shakedown.machine import this_system
    from shakedown.plans import find_site, read_site
    from shakedown.plans.finding import shipped_systems
    from shakedown.plans.schema.problems import Problems
    from shakedown.plans.site import shipped_machine
    from shakedown.plans.systems import Machine

    if name == "here":
        return Machine(this_system())
    try:
        directory = find_site(Path(site) if site else None)
    except UsageError:
        if site or name not in shipped_systems():
            raise
        problems = Problems()
        shipped = shipped_machine(name, problems)
        problems.stop()
        assert shipped is not None
        return shipped
    reading = read_site(directory, parts="")
    reading.stop()
    return reading.machine(name, this_system)


def _derived(machine: Machine) -> MachineFacts:
    from shakedown.twin.models.peaks import faults, machine_facts

    for one, error in faults(machine.system, machine.published):
        place = f"{machine.file}:{one.line}:{one.column}"
        raise UsageError(f"{place}: published: {error.message}", error.hint)
    return machine_facts(machine.system, machine.published, machine.assumed)


def _as_data(machine: Machine, derived: MachineFacts) -> dict[str, Any]:
    """The system as it is frozen, and beside it what its file says and makes."""
    import msgspec

    system: dict[str, Any] = msgspec.to_builtins(machine.system)
    amounts = {
        name: {"value": one.value, "unit": unit_of(one.dimension), "assumed": sorted(one.assumed)}
        for name, one in derived.amounts.items()
    }
    return {
        **system,
        "file": machine.file,
        "assumed": dict(machine.assumed),
        "derived": amounts,
        "published": derived.verdicts,
    }


# ---- in words --------------------------------------------------------------------------------------------------------


def _render(machine: Machine, derived: MachineFacts) -> str:
    parts = [_facts(machine), _sums(machine.system, derived.amounts)]
    if machine.assumed:
        shown = [_wrapped(f"{key}: {why}") for key, why in machine.assumed]
        parts.append("assumed; no source prints it:\n" + "\n".join(shown))
    if derived.verdicts:
        lines = [
            "published, and what this file makes of it:",
            *map(_verdict, derived.verdicts),
            _count(derived.verdicts),
        ]
        parts.append("\n".join(lines))
    return "\n\n".join(part for part in parts if part)


def _facts(machine: Machine) -> str:
    system = machine.system
    partitions = [
        f"{cluster.name}:{partition.name}  {cluster.scheduler}, {partition.nodes}, {partition.count} of {partition.type}"
        f"{_with_gpus(system.node_type(partition.type))}"
        for cluster in system.clusters
        for partition in cluster.partitions
    ]
    return facts(
        ("system", system.name),
        ("about", "\n".join(textwrap.wrap(printable(system.about), _WIDE - len(_UNDER)))),
        ("file", machine.file),
        ("partitions", "\n".join(partitions)),
        ("node types", _lines(map(_node_type, system.node_types))),
        ("toolchains", _lines(map(_toolchain, system.toolchains))),
        ("network", pairs(system.network)),
        ("filesystems", _lines(map(_filesystem, system.filesystems))),
        ("budgets", pairs(_budgets(system))),
        ("found", pairs(system.found)),
    )


def _with_gpus(kind: NodeType) -> str:
    from shakedown.metrics.words import plural

    return f", {plural(kind.gpus.count, 'GPU')} each" if kind.gpus.count else ""


def _lines(texts: Iterable[str]) -> str:
    """Each on a line of its own, or on as many as it needs; further ones are indented."""
    wide = _WIDE - len(_UNDER)
    wrapped = (textwrap.wrap(text, wide, subsequent_indent="  ", break_on_hyphens=False) for text in texts)
    return "\n".join("\n".join(lines) for lines in wrapped)


def _wrapped(text: str) -> str:
    return textwrap.fill(
        printable(text), _WIDE, initial_indent="  ", subsequent_indent="      ", break_on_hyphens=False
    )


def _sums(system: System, amounts: Mapping[str, Amount]) -> str:
    """What a node and a core of each type have, and what the machine has; '*' marks what rests on an assumption."""
    columns = ("nodes", "cores", "peak", "core_peak", "memory", "memory_per_core", "fast_memory")
    per_core = ("core_peak", "memory_per_core")
    binary = not all(_decimal(kind.memory_bytes) for kind in system.node_types)

    def row(title: str, prefix: str) -> list[str]:
        return [title, *(_shown(amounts.get(prefix + key), binary, 4 if key in per_core else 5) for key in columns)]

    rows = [*(row(kind.name, f"{kind.name}.") for kind in system.node_types), row("all", "")]
    headings = ("TYPE", "NODES", "CORES", "PEAK", "A CORE", "MEMORY", "A CORE", "FAST")
    known = [at for at in range(len(headings)) if at == 0 or any(row[at] for row in rows)]
    cells = [[row[at] for at in known] for row in rows]
    lines = ["derived, of one node, and of all:", table([headings[at] for at in known], cells, range(1, len(known)))]
    lines += [f"  {words:<30}  {_shown(amounts[name])}" for words, name in _named(system) if name in amounts]
    starred = any("*" in line for line in lines)
    return "\n".join([*lines, *(["* rests on what is assumed"] if starred else [])])


def _named(system: System) -> list[tuple[str, str]]:
    """Sums in words, and what expressions call them."""
    networks = [
        ("injection of a node", "network.node_injection"),
        ("injection of all nodes", "network.total_injection"),
        ("between two halves", "network.bisection"),
        ("memory bandwidth", "memory_bandwidth"),
    ]
    files = [
        (f"{one.name}, {key}", f"{one.name}.{key}") for one in system.filesystems for key in ("capacity", "bandwidth")
    ]
    classes = [
        (f"{one.name}, {target.name}, {key} in all", f"{one.name}.{target.name}.total_{key}")
        for one in system.filesystems
        for target in one.classes
        for key in ("capacity", "bandwidth")
    ]
    return networks + files + classes


def _verdict(one: Verdict) -> str:
    """A printed number in two or three lines: the verdict, what is printed and derived, where, and why."""
    unit = parse_printed(one.printed).quantity.unit
    derived = str(Quantity(one.in_printed_unit, unit)) if unit else f"{one.in_printed_unit:,.7g}"
    derived += "*" if one.assumed else ""
    head = f"{one.what}: {one.printed}; derived {derived}, {_how(one)}"
    words = "reproduced" if one.outcome == "reproduced" else "DOES NOT ADD UP"
    rest = ": ".join(text for text in (one.source, one.because) if text)
    lines = [
        line for text in (head, rest) for line in textwrap.wrap(printable(text), _WIDE - 19, break_on_hyphens=False)
    ]
    return "\n".join([f"  {words:<15}  {lines[0]}", *(f"{'':19}{line}" for line in lines[1:])])


def _how(one: Verdict) -> str:
    """How it is the same, or what it would be the same in."""
    over = {">": ", not over it", "<": ", not under it"}.get(one.printed[:1], "")
    words = {"exact": "the same", "rounded": "rounded", "truncated": "cut off", "above": "over it", "below": "under it"}
    if one.how:
        return words[one.how] + (over if one.how in ("exact", "rounded") else "")
    return f"the digits fit {one.adds_up_in}" if one.adds_up_in else "another number"


def _count(verdicts: tuple[Verdict, ...]) -> str:
    wrong = sum(one.outcome != "reproduced" for one in verdicts)
    said = f"{len(verdicts)} printed, {len(verdicts) - wrong} reproduced"
    return said + (f", {wrong} {'does' if wrong == 1 else 'do'} not add up" if wrong else "")


def _shown(one: Amount | None, binary: bool = False, digits: int = 5) -> str:
    """An amount as people write it, sizes in GiB or in GB; '*' where it rests on an assumption."""
    if one is None:
        return ""
    star = "*" if one.assumed else ""
    unit = {(("flop", 1), ("s", -1)): "F/s", (("bytes", 1),): "B", (("bytes", 1), ("s", -1)): "B/s"}.get(one.dimension)
    if unit is None:
        return f"{one.value:,.10g}{star}"
    prefixes = _BINARY if binary and unit == "B" else _DECIMAL
    prefix, factor = next(((name, size) for name, size in prefixes if abs(one.value) >= size), ("", 1.0))
    return f"{one.value / factor:.{digits}g} {prefix}{unit}{star}"


def _size(count: float) -> str:
    """A size as it was written, as far as its digits tell: a whole number of millions is no binary size."""
    return _shown(Amount(count, (("bytes", 1),))) if _decimal(count) else show_bytes(count)


def _decimal(count: float) -> bool:
    return count > 0 and not count % 1e6


def _filesystem(entry: FileSystem) -> str:
    known = {one.name: one for one in entry.classes}
    targets = [f"{kind} {', '.join(names)}" for kind, names in entry.targets]
    targets += [f"{one.count} {kind}" for kind, one in known.items() if kind not in dict(entry.targets)]
    return ", ".join([f"{entry.name}: {entry.kind} {entry.path}".rstrip(), *targets])


def _budgets(system: System) -> Iterable[tuple[str, str]]:
    """How much there is of each, on which targets, and which licences stand for it."""
    targeted, names = dict(system.targeted), dict(system.licence_names)
    for name, amount in system.budgets:
        things = [f"{name}@{target}" for target in targeted[name]] if name in targeted else [name]
        on = f" on each of {', '.join(targeted[name])}" if name in targeted else ""
        licences = [names[thing] for thing in things if thing in names]
        yield name, f"{amount:g}{on}" + (f", licence {', '.join(licences)}" if licences else "")


def _node_type(kind: NodeType) -> str:
    from shakedown.metrics.words import plural

    parts = [
        plural(kind.cores, "core"),
        plural(kind.sockets, "socket"),
        f"{plural(kind.threads_per_core, 'thread')} a core",
        plural(kind.numa, "memory domain"),
        kind.memory_bytes and _size(kind.memory_bytes),
        kind.fast_memory_bytes and f"fast memory {_size(kind.fast_memory_bytes)}",
        kind.last_level_cache_bytes and f"cache {_size(kind.last_level_cache_bytes)}",
        kind.clock_hz and f"{kind.clock_hz / 1e9:g} GHz",
        kind.flops_per_cycle and f"{kind.flops_per_cycle} flops a cycle and core",
        kind.peak_flop_per_s and f"{kind.peak_flop_per_s / 1e12:g} TFLOP/s",
        kind.cpu,
        kind.gpus.count and _gpus(kind.gpus),
    ]
    return f"{kind.name}: {', '.join(part for part in parts if part)}"


def _gpus(gpus: Gpus) -> str:
    memory = f" of {_size(gpus.memory_bytes)}" if gpus.memory_bytes else ""
    beside = f" beside memory domains {','.join(map(str, gpus.numa))}" if gpus.numa else ""
    return f"{gpus.count} {printable(gpus.model)} GPU{'' if gpus.count == 1 else 's'}{memory}{beside}".replace(
        "  ", " "
    )


def _toolchain(entry: Toolchain) -> str:
    loaded = [*entry.initialise, *entry.modules, *(f"{spec} (Spack)" for spec in entry.spack.specs)]
    software = f" with {' '.join(loaded)}" if loaded else ""
    return f"{entry.name}: {entry.cc}, {entry.cxx}, {entry.fc}{software}"
