"""What a job asks its scheduler for, as the scheduler has it: on which terms it waits and runs. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from shakedown.model.shared_nodes import names_in
from shakedown.model.units import show_bytes, show_duration

NO_LIMIT_S = 10 * 365 * 86400.0  # as a time limit: there is none
ALONE, BESIDE, ON_SHARED_CORES = "none", "nodes", "cores"  # words of ``Terms.sharing``
_SHARES_MORE = {ALONE: 0, BESIDE: 1, ON_SHARED_CORES: 2}


class Terms(Struct, frozen=True, omit_defaults=True):
    """The terms of one job now; "" and None: the scheduler does not say, or nothing is asked for.

    ``sharing``: what it may have in common with other jobs: "none", its "nodes", its "cores", or a word of the scheduler's.
    ``wants``: the nodes that it must have, as a folded node set. ``cpus``: of all its nodes. ``memory_bytes``: of a node or of a
    core, as it was asked for. ``gpus``: generic resources of a node, in the scheduler's words.
    """

    partition: str = ""
    time_limit_s: float | None = None
    nodes: int | None = None
    tasks: int | None = None
    cpus: int | None = None
    memory_bytes: float | None = None
    sharing: str = ""
    wants: str = ""
    features: str = ""
    gpus: str = ""
    reservation: str = ""
    qos: str = ""
    account: str = ""


_NUMBERS = frozenset({"tasks", "cpus", "memory_bytes"})  # of which a scheduler may give more by itself
_MAY_BE_NONE = frozenset({"wants", "features", "gpus", "reservation"})  # here "" is a word: there is none
_WORDS = {
    "partition": "partition",
    "time_limit_s": "time limit",
    "nodes": "number of nodes",
    "tasks": "number of tasks",
    "cpus": "cores",
    "memory_bytes": "memory",
    "sharing": "shared with other jobs",
    "wants": "nodes that it must have",
    "features": "features",
    "gpus": "generic resources",
    "reservation": "reservation",
    "qos": "quality of service",
    "account": "account",
}


def terms_of(value: dict[str, Any]) -> Terms:
    """Purpose: terms as a record holds them; equal ones are one. Raises msgspec.ValidationError where they are none."""
    return _shared(msgspec.convert(value, Terms))


@lru_cache(maxsize=256)
def _shared(terms: Terms) -> Terms:
    return terms


def asked_terms(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Purpose: of what a job was asked for with, the terms that a scheduler tells of it; the other words it does not."""
    return {name: value for name, value in asked.items() if name in _WORDS}


def altered(before: Terms, now: Terms) -> dict[str, list[Any]]:
    """Purpose: the terms that somebody changed, each with what it was and what it is; what nobody tells is no change.

    A scheduler itself picks one of several partitions. To a job that has its nodes alone it gives all their cores, and while such a
    job waits, for its first start or for another one, it tells the least that it asks for: the number says nothing of a person.
    """
    alone = before.sharing == now.sharing == ALONE
    found: dict[str, list[Any]] = {}
    for name in Terms.__struct_fields__:
        was, is_now = getattr(before, name), getattr(now, name)
        if was == is_now or was is None or is_now is None:
            continue
        if (name == "partition" and is_now in was.split(",")) or (name == "cpus" and (alone or is_now > was)):
            continue
        found[name] = [was, is_now]
    return found


def unlike(name: str, asked: Any, has: Terms) -> Any:
    """Purpose: what a job has of one term where it is not what was asked for; None where it is, or the scheduler does not say.

    More tasks, cores or memory than were asked for, or fewer jobs beside it, are the scheduler's own rounding. Of GPUs the numbers
    are compared: each release has other words for them.
    """
    is_now = getattr(has, name)
    if is_now is None or is_now == asked or (is_now == "" and name not in _MAY_BE_NONE):
        return None
    if (name in _NUMBERS and is_now > asked) or (name == "partition" and is_now in asked.split(",")):
        return None
    if name == "sharing" and _SHARES_MORE.get(is_now, 0) <= _SHARES_MORE.get(asked, 0):
        return None
    if name == "wants" and asked and set(names_in(is_now)) == set(names_in(asked)):
        return None
    if name == "gpus" and asked and _last_number(is_now) == _last_number(asked):
        return None
    return is_now


def _last_number(words: str) -> str:
    return re.sub(r".*\D", "", words.partition("(")[0])


def with_altered(terms: Terms, changes: dict[str, list[Any]]) -> Terms:
    """Purpose: the terms after these changes; names that are not known are passed over."""
    known = {name: pair[1] for name, pair in changes.items() if name in _WORDS}
    return terms_of(msgspec.to_builtins(terms) | known)


def in_words(changes: dict[str, list[Any]]) -> str:
    """Purpose: "time limit from 2 min 00 s to 10 min 00 s, partition from batch to debug"."""
    return ", ".join(
        f"{_WORDS[name]} from {_shown(name, was)} to {_shown(name, now)}" for name, (was, now) in changes.items()
    )


def _shown(name: str, value: Any) -> str:
    if name == "time_limit_s":
        return limit_in_words(value)
    return show_bytes(value) if name == "memory_bytes" else str(value) or "none"


def limit_in_words(limit_s: float) -> str:
    """Purpose: a time limit for people."""
    return "no limit" if limit_s >= NO_LIMIT_S else show_duration(limit_s)
