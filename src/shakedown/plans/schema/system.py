"""Keys of a system's file for its hardware: node types, network, file systems, and numbers printed in documents."""

from __future__ import annotations

from shakedown.model.printed import parse_printed
from shakedown.plans.schema.records import Either, Key, ListOf, MapOf, OpenRecord, Record
from shakedown.plans.schema.scalars import Identifier, InvalidValue, Known, Name, Parsed, Text, Whole, Word

FREE = Name("a word", r"[^\x00-\x1f]+")


def printed_number(text: str) -> str:
    """The same text, checked to be a number in the notation of documents. Raises InvalidValue."""
    try:
        parse_printed(text)
    except ValueError as error:
        message, _, hint = str(error).partition("; ")
        raise InvalidValue(message, hint or None) from error
    return text


def dimensions(text: str) -> str:
    """The same text, checked to be dimensions such as 18x12x24. Raises InvalidValue."""
    parts = text.split("x")
    if not all(part.isdecimal() and 0 < int(part) < 10**6 for part in parts):
        raise InvalidValue(f"'{text}' are no dimensions", "write the length of each, such as 18x12x24")
    return text


_GPUS = Record(
    "a map with count",
    {
        "count": Key(Whole(1, most=1024), "how many a node has", True),
        "model": Key(Text(), "what they are, such as A100"),
        "memory": Key(Known("bytes", "40 GiB"), "memory of one of them"),
        "numa": Key(ListOf(Whole(), "a list of memory domains", 1), "the memory domain that each of them lies beside"),
    },
)

NODE_TYPE = Record(
    "a map that describes a node",
    {
        "cores": Key(Whole(1), "physical cores of a node", True),
        "sockets": Key(Whole(1), "processor sockets; without it 1"),
        "threads_per_core": Key(Whole(1), "hardware threads of a core; without it 1"),
        "numa": Key(Whole(1), "memory domains; without it 1"),
        "memory": Key(Known("bytes", "256 GiB"), "main memory of a node"),
        "peak": Key(
            Known("flop/s", "5.3 TFLOP/s"),
            "peak floating-point rate of a node; without it cores x flops_per_cycle x clock",
        ),
        "cpu": Key(Text(), "the architecture, in archspec's words, such as zen3"),
        "cache": Key(Known("bytes", "32 MiB"), "last-level cache, all of it together"),
        "features": Key(
            ListOf(Word("a feature", r"[^\s,&|!()\[\]*]+", "a word as the scheduler has it"), "a list of features"),
            "what the scheduler calls such nodes, for constraints",
        ),
        "clock": Key(Known("hertz", "2.3 GHz"), "the clock that peak is counted with"),
        "flops_per_cycle": Key(Whole(1, most=1_000_000), "floating-point operations of one core in a cycle"),
        "fast_memory": Key(
            Known("bytes", "16 GiB"), "high-bandwidth memory of a node, beside memory; as a cache it is no memory"
        ),
        "memory_bandwidth": Key(Known("bytes/s", "400 GB/s"), "what a node's main memory moves at most"),
        "gpus": Key(_GPUS, "GPUs of a node, all alike; without it none"),
    },
)

NETWORK = OpenRecord(
    "a map of keys and free words",
    {
        "kind": Key(Text(), "what it is: dragonfly, torus, fat tree"),
        "nics": Key(Whole(1), "adapters of a node; without it 1"),
        "injection": Key(Known("bytes/s", "12.5 GB/s"), "what one adapter moves into the network"),
        "latency": Key(Known("seconds", "1.6 us"), "of a small message between two nodes"),
        "link": Key(Known("bytes/s", "25 GB/s"), "what one link between two switches moves in one direction"),
        "dimensions": Key(Parsed("dimensions such as 18x12x24", dimensions), "of a torus or mesh, in switches"),
        "levels": Key(Whole(1), "of switches, in a tree"),
        "taper": Key(Known("share", "25%"), "the share of full bandwidth that the top of a tree has"),
        "groups": Key(Whole(1), "of a dragonfly"),
    },
    FREE,
)

_CLASS = Record(
    "a map with names or a count",
    {
        "names": Key(ListOf(Name("a target"), "a list of targets", 1), "the targets; budgets and paths need them"),
        "count": Key(Whole(1), "how many, where they have no names here"),
        "capacity": Key(Known("bytes", "489 TB"), "what one of them holds"),
        "bandwidth": Key(Known("bytes/s", "4 GB/s"), "what one of them moves at most"),
    },
)

FILESYSTEM = Record(
    "a map that describes a file system",
    {
        "kind": Key(Text(), "what it is: lustre, gpfs, nfs, local"),
        "path": Key(Text(), "where tests work on it; {mdt} stands for a target of that class"),
        "targets": Key(
            MapOf(
                Identifier("a class of targets"),
                Either(items=ListOf(Name("a target"), "a list of targets", 1), keys=_CLASS),
                "targets by class",
                "CLASS",
            ),
            "its targets by class, such as mdt: [mdt0, mdt1] or ost: {count: 72, capacity: 489 TB}",
        ),
        "capacity": Key(Known("bytes", "37 PB"), "what it holds; without it what its targets hold together"),
        "bandwidth": Key(Known("bytes/s", "35 GB/s"), "its peak; without it that of its targets together"),
    },
)

PUBLISHED = ListOf(
    Record(
        "a map with what, value and from",
        {
            "what": Key(Text(), "what is printed, in words", True),
            "value": Key(
                Parsed("a number as it is printed, such as 41.5 PFLOP/s or > 217 TB", printed_number),
                "the number with the digits it is printed with; '>' for over, '<' for under",
                True,
            ),
            "from": Key(Text(), "what the file makes of it: names, numbers with units, + - * / and parentheses", True),
            "source": Key(Text(), "where it is printed"),
            "because": Key(Text(), "why it does not add up, or what must be known of it"),
        },
    ),
    "a list of printed numbers",
)

ASSUMED = MapOf(FREE, Text("a reason"), "reasons by key of this file", "KEY")
