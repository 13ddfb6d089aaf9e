"""A machine described by hwloc: the XML that ``lstopo --of xml`` writes (hwloc 1.x and 2.x), as a System.

The file comes from elsewhere, so it is read with care: one that declares entities is refused (hwloc never declares any;
nested ones can grow without bound), nothing outside it is fetched, and its size is limited.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from shakedown.machine.here import host_name, local_system
from shakedown.model.errors import UsageError
from shakedown.model.nouns import NodeType, System

LIMIT = 64 * 2**20  # bytes; a node of 1,024 processors with all its devices takes about 2 MB
_WAY_OUT = "write the file on that machine with: lstopo --of xml FILE"
_INSTRUCTION_CACHE = "2"
# what is told of the machine, by the names hwloc gives it
_FACTS = {"OSName": "os", "OSRelease": "kernel", "CPUModel": "cpu", "Architecture": "architecture"}


@dataclass(slots=True)
class _Sums:
    """What is counted while the elements pass by. ``caches``: level -> bytes; ``path``: types of the open objects."""

    packages: int = 0
    cores: int = 0
    units: int = 0
    units_in_core: int = 0
    most_in_core: int = 0
    domains: int = 0
    memory: float = 0.0
    caches: dict[int, float] = field(default_factory=dict)
    infos: dict[str, str] = field(default_factory=dict)
    path: list[str] = field(default_factory=list)


def system_from_lstopo(path: Path, name: str) -> System:
    """Purpose: the machine of an lstopo XML file as a System called ``name``, one node of it.

    Errors: UsageError where the file cannot be read, is no XML, is XML of something else, or holds no processors.
    """
    sums = _parse(path, _content(path))
    if not sums.units:
        raise UsageError(f"{path}: describes no processors (no object of type PU)", _WAY_OUT)
    found = tuple((ours, sums.infos[theirs]) for theirs, ours in _FACTS.items() if theirs in sums.infos)
    host = host_name(sums.infos.get("HostName", "localhost"))
    return local_system(name, host, _node(sums), f"as hwloc described it in {path.name}", (), found)


def _node(sums: _Sums) -> NodeType:
    """Virtual machines may show threads without cores or packages; each thread is a core then."""
    return NodeType(
        name="host",
        sockets=max(1, sums.packages),
        cores=sums.cores or sums.units,
        threads_per_core=max(1, sums.most_in_core) if sums.cores else 1,
        numa=max(1, sums.domains),
        memory_bytes=sums.memory,
        last_level_cache_bytes=sums.caches[max(sums.caches)] if sums.caches else 0.0,
    )


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(LIMIT + 1)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}", _WAY_OUT) from error
    if len(content) > LIMIT:
        raise UsageError(f"{path}: is larger than {LIMIT // 2**20} MiB, which no lstopo file is", _WAY_OUT)
    return content


def _parse(path: Path, content: bytes) -> _Sums:
    """Drive the parser over the content; its handlers fill the sums."""
    sums = _Sums()
    parser = expat.ParserCreate()

    def refuse(*_: object) -> NoReturn:
        raise UsageError(
            f"{path}:{parser.CurrentLineNumber}: declares entities, which no lstopo file does; it is not read",
            _WAY_OUT,
        )

    def start(tag: str, attributes: dict[str, str]) -> None:
        if not sums.path and tag != "topology":
            raise UsageError(f"{path}: is XML of something else: its root is '{tag}', not 'topology'", _WAY_OUT)
        try:
            _take(sums, tag, attributes)
        except ValueError as error:
            place = f"{path}:{parser.CurrentLineNumber}"
            raise UsageError(f"{place}: {error} of <{tag}> is not a whole number", _WAY_OUT) from error

    parser.EntityDeclHandler = refuse
    parser.StartElementHandler = start
    parser.EndElementHandler = lambda tag: _leave(sums)
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        reason = expat.errors.messages[error.code]
        raise UsageError(f"{path}:{error.lineno}: is not XML: {reason}", _WAY_OUT) from error
    return sums


def _take(sums: _Sums, tag: str, attributes: dict[str, str]) -> None:
    """Count one element. ``path`` gets an entry for each, so that every end has its start."""
    kind = attributes.get("type", "") if tag == "object" else ""
    sums.path.append(kind)
    if tag == "info":
        sums.infos.setdefault(attributes.get("name", ""), attributes.get("value", "")[:200])
    elif kind in ("Package", "Socket"):
        sums.packages += 1
    elif kind == "Core":
        sums.cores, sums.units_in_core = sums.cores + 1, 0
    elif kind == "PU":
        sums.units, sums.units_in_core = sums.units + 1, sums.units_in_core + 1
        sums.most_in_core = max(sums.most_in_core, sums.units_in_core)
    elif kind == "Cache" or kind.endswith("Cache"):
        _take_cache(sums, attributes)
    if kind == "NUMANode" and _has_processors(attributes):
        sums.domains += 1
    if kind in ("NUMANode", "Machine"):
        sums.memory += _number(attributes, "local_memory")


def _leave(sums: _Sums) -> None:
    sums.path.pop()


def _take_cache(sums: _Sums, attributes: dict[str, str]) -> None:
    if attributes.get("cache_type") == _INSTRUCTION_CACHE:
        return
    level = _number(attributes, "depth")
    sums.caches[level] = sums.caches.get(level, 0.0) + _number(attributes, "cache_size")


def _has_processors(attributes: dict[str, str]) -> bool:
    """A domain of memory alone has a set of processors that is all zeros: "0x0", or "0x00000000,0x00000000"."""
    return any(digit not in "0x," for digit in attributes.get("cpuset", "1"))


def _number(attributes: dict[str, str], name: str) -> int:
    """A whole number among the attributes; 0 where it is left out. Raises ValueError that names attribute and text."""
    text = attributes.get(name, "0")
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise ValueError(f"{name} '{text[:40]}'")
    return int(text)
