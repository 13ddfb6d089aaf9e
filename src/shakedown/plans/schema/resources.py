"""Keys of a test's ``run`` for GPUs, memory and options of the scheduler, and the grammars of their values."""

from __future__ import annotations

import re

from shakedown.model.units import parse_known, parse_quantity
from shakedown.plans.schema.cluster_words import submission_option
from shakedown.plans.schema.records import Key, ListOf, MapOf
from shakedown.plans.schema.scalars import InvalidValue, Name, Parsed, Whole

_CONSTRAINT = re.compile(r"[A-Za-z0-9_.+*&|()\[\]=:-]+")
_RESERVATION = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+,:-]*")
_DIRECTIVE = re.compile(r"#[A-Z]{2,10}( [^\x00-\x1f]*)?")
_LARGEST = 1e30
# what a test says by keys of its own, long and short
_OF_TESTS = {
    "constraint": ("C", "a test says it: run.constraint"),
    "exclusive": ("", "a test says it: run.exclusive"),
    "mem": ("", "a test says it: run.memory"),
    "mem-per-cpu": ("", "a test says it: run.memory_per_cpu"),
    "partition": ("p", "a test says it: where.partitions"),
    "reservation": ("", "a test says it: run.reservation"),
    "nodelist": ("w", "Shakedown chooses the nodes of sweeps, and Slurm those of the others"),
    "exclude": ("x", "Shakedown leaves out nodes that fail: limits.exclude_after of a plan"),
}
_GPU_OPTIONS = ("gpus", "gpus-per-node", "gpus-per-task", "gpus-per-socket")


def constraint(text: str) -> str:
    """Features of nodes in the scheduler's notation: knl&cache. Raises InvalidValue."""
    if _CONSTRAINT.fullmatch(text) is None:
        raise InvalidValue(f"'{text}' is no constraint", "features, joined by '&' or '|' without blanks: knl&cache")
    return text


def reservation(text: str) -> str:
    """The name of a reservation. Raises InvalidValue."""
    if _RESERVATION.fullmatch(text) is None:
        raise InvalidValue(f"'{text}' is no reservation", "its name, as scontrol show reservations has it")
    return text


def memory(text: str) -> float:
    """An amount of memory with its unit, in bytes. Raises ValueError."""
    return _above_zero(text, parse_known(text, "bytes"))


def filled_memory(text: str) -> float:
    """As ``memory``, for text with expressions filled in: a plain number is in bytes, as {node.memory} is. Raises ValueError."""
    quantity = parse_quantity(text)
    return _above_zero(text, quantity.value) if not quantity.unit else memory(text)


def _above_zero(text: str, count: float) -> float:
    if not 0 < count < _LARGEST:
        raise InvalidValue(f"'{text}' is no amount", "write an amount above zero")
    return count


def option(text: str) -> str:
    """An option of the submission that no other key of a test stands for. Raises InvalidValue."""
    submission_option(text)
    name = text[2:].partition("=")[0] if text.startswith("--") else text[1]
    for long, (short, hint) in _OF_TESTS.items():
        if name in (long, short) and name:
            raise InvalidValue(f"'{text}': --{long} is no option of a test", hint)
    asks = name == "gres" and re.search(r"(=|,)gpu\b", text)
    if asks or name in (*_GPU_OPTIONS, "G"):
        raise InvalidValue(f"'{text}': GPUs are no option of a test", "a test says it: run.gpus_per_node")
    return text


def directive(text: str) -> str:
    """A line for the head of the job script, such as ``#DW jobdw ...``. Raises InvalidValue."""
    if text.startswith("#SBATCH"):
        raise InvalidValue(
            f"'{text}' is an option of the submission, not a directive", "write it as options: [--word=value]"
        )
    if _DIRECTIVE.fullmatch(text) is None:
        raise InvalidValue(f"'{text}' is no directive", "one line that begins with #BB, #DW or the like, in quotes")
    return text


RESOURCES = {
    "gpus_per_node": Key(
        Whole(0, templated=True), "GPUs of each node; without it those that gpus_per_task makes, else none"
    ),
    "gpus_per_task": Key(Whole(0, templated=True), "GPUs for each process; without it they are not divided"),
    "constraint": Key(
        Parsed("features of nodes, such as knl&cache", constraint, templated=True),
        "features that its nodes must have, in the scheduler's words",
    ),
    "memory": Key(
        Parsed("an amount of memory, such as 64 GiB", memory, templated=True),
        "memory of each node; without it what the scheduler gives",
    ),
    "memory_per_cpu": Key(
        Parsed("an amount of memory, such as 2 GiB", memory, templated=True),
        "memory for each core, in place of memory",
    ),
    "reservation": Key(
        Parsed("a reservation's name", reservation, templated=True), "the reservation of the scheduler that it runs in"
    ),
    "licences": Key(
        MapOf(
            Name("a licence's name", r"[A-Za-z0-9][A-Za-z0-9_.+@/-]*", "as scontrol show licenses has it"),
            Whole(1, templated=True),
            "whole numbers by licence",
            "LICENCE",
        ),
        "licences of the scheduler that one run takes; those that the system's file names are budgets: loads",
    ),
    "options": Key(
        ListOf(
            Parsed("an option of sbatch in one word, such as --qos=debug", option, templated=True), "a list of options"
        ),
        "more words for the submission, after the cluster's and the partition's",
    ),
    "directives": Key(
        ListOf(Parsed("a line such as '#DW jobdw capacity=1TB'", directive, templated=True), "a list of lines"),
        "lines for the head of the job script, such as those of a burst buffer",
    ),
}
