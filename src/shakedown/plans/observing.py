"""Read the measured loads that narrow budgets, checked against the system and against the loads of the plan's cases."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from yaml.nodes import Node

from shakedown.model.nouns import Case
from shakedown.model.observing import COMMAND, INFLUXQL, SOURCES, TARGET, Observe
from shakedown.model.units import UNITS, show_duration
from shakedown.plans.context import Context
from shakedown.plans.schema.scalars import InvalidValue, near_or_all
from shakedown.plans.schema.source_positions import key_place, place

_SECRET_WORDS = frozenset({"p", "u", "token", "password", "passwd", "api_key", "apikey"})


def read_observed(node: Node, written: dict[str, Any], context: Context) -> tuple[Observe, ...]:
    """Purpose: the measured loads of ``limits.observe``; faults go to the context's problems. ``node``: of the limits."""
    found = []
    for budget, entry in written.items():
        at = place(node, "observe", budget)
        try:
            found.append(_one(budget, entry, context))
        except InvalidValue as error:
            where = key_place(node, "observe", budget) if error.about else at
            context.problems.at(where, f"limits.observe.{budget}: {error}", error.hint, error.about)
    return tuple(found)


def check_observed(node: Node, observed: Iterable[Observe], cases: Iterable[Case], context: Context) -> None:
    """Purpose: report measured loads of budgets that no case loads."""
    loaded = {name for case in cases for name, _ in case.loads}
    for word in observed:
        if word.budget not in loaded:
            message = f"limits.observe.{word.budget}: no test of the plan loads {word.budget}, so nothing is narrowed"
            hint = "say what its runs take of it, with loads in the test, or leave it out"
            context.problems.at(key_place(node, "observe", word.budget), message, hint)


def _one(budget: str, entry: dict[str, Any], context: Context) -> Observe:
    if budget not in context.budgets:
        hint = near_or_all(budget, context.budgets) if context.budgets else "budgets are said in the system's file"
        name = context.machine.system.name
        raise InvalidValue(f"system {name} has no such budget", hint, f"budget {budget}")
    source, said = _source(entry)
    word = Observe(
        budget,
        source,
        said["query"],
        url=said.get("url", ""),
        database=said.get("database", ""),
        token_file=said.get("token_file", ""),
        full=entry.get("full") or _whole(budget, context),
    )
    times = {"every": "every_s", "within": "within_s", "oldest": "oldest_s"}
    more = {field: entry[key] for key, field in times.items() if key in entry}
    more |= {key: entry[key] for key in ("means", "when_silent") if key in entry}
    smooth_by, smooth_s = entry.get("smooth", ("mean", 0.0))
    word = _replaced(word, **more, smooth_by=smooth_by, smooth_s=smooth_s)
    _check_address(word)
    _check_target(word, context)
    _check_times(word)
    return word


def _replaced(word: Observe, **fields: Any) -> Observe:
    from msgspec.structs import replace

    return replace(word, **fields)


def _source(entry: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The one source that an entry names, and the keys of that source. Raises InvalidValue."""
    named = [source for source in SOURCES if source in entry]
    if len(named) != 1:
        said = (
            f"{' and '.join(named)} are {len(named)} sources of one number"
            if named
            else "no source of the number is given"
        )
        raise InvalidValue(said, f"name one of {', '.join(SOURCES)}")
    source = named[0]
    return source, {"query": entry[COMMAND]} if source == COMMAND else entry[source]


def _whole(budget: str, context: Context) -> float:
    """The whole budget, in the unit in which the system's file gives it."""
    unit = dict(context.machine.system.budget_units).get(budget, "")
    return context.budgets[budget][0] / (UNITS[unit][1] if unit in UNITS else 1.0)


def _check_address(word: Observe) -> None:
    if word.source == COMMAND:
        if not word.query.strip():
            raise InvalidValue("the command is empty", "such as: command: lfs-load --percent")
        return
    parts = urlsplit(word.url)
    example = "http://influx.example.org:8086" if word.source == INFLUXQL else "http://prometheus.example.org:9090"
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidValue(f"'{_shown(word.url)}' is no address of a server", f"such as {example}")
    words = {key.lower() for key, _ in parse_qsl(parts.query, keep_blank_values=True)}
    if parts.username is not None or parts.password is not None or words & _SECRET_WORDS:
        raise InvalidValue(
            "the address has a name, a password or a token in it, and would be stored in the record",
            "put the token into a file that only you may read: token_file",
        )
    if parts.query or parts.fragment:
        raise InvalidValue(f"'{_shown(word.url)}' has more than the server's address", f"write it as {example}")
    if not word.query.strip():
        raise InvalidValue("the query is empty", "one whose answer is one number")


def _shown(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}" if parts.netloc else address[:80]


def _check_target(word: Observe, context: Context) -> None:
    """Each target has a number of its own."""
    what = COMMAND if word.source == COMMAND else "query"
    if word.budget in context.targeted and TARGET not in word.query:
        targets = ", ".join(context.targeted[word.budget][:3])
        message = f"the budget is per target, and the {what} does not say for which target it asks"
        raise InvalidValue(message, f"write {TARGET} in it, which stands for {targets}")
    if word.budget not in context.targeted and TARGET in word.query:
        raise InvalidValue(f"the {what} asks for {TARGET}, and the budget has no targets", "leave it out")


def _check_times(word: Observe) -> None:
    if word.oldest_s < 2 * word.every_s:
        message = (
            f"it is asked for every {show_duration(word.every_s)}, and too old after {show_duration(word.oldest_s)}"
        )
        raise InvalidValue(message, "oldest is at least twice every, so that one answer may be lost")
    if word.within_s >= word.oldest_s:
        message = (
            f"an answer may take {show_duration(word.within_s)}, and is too old after {show_duration(word.oldest_s)}"
        )
        raise InvalidValue(message, "within is less than oldest")
