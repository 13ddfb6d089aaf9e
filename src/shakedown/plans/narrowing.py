"""Read the windows and yields of a component: the times or conditions with narrower limits, and these limits."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from yaml.nodes import Node

from shakedown.model.filling import Window, Yield
from shakedown.plans.context import Context
from shakedown.plans.limits import check_copies, read_amounts
from shakedown.plans.schema.source_positions import key_place, place
from shakedown.plans.schema.week import DAY_S, WEEK_S, show_time


@dataclass(frozen=True, slots=True)
class Room:
    """What a component's windows and yields are read with: its tests, fillers too, and the zone of times that name none."""

    context: Context
    tests: Collection[str]
    zone: str = "UTC"


def read_windows(node: Node, written: list[dict[str, Any]], room: Room) -> tuple[Window, ...]:
    """Purpose: the windows, one for each day that is named; what is wrong goes to the context's problems."""
    windows: list[Window] = []
    for number, entry in enumerate(written):
        at = place(node, number)
        less = _less(at, "windows", entry, room)
        for text, from_s, to_s in _times(at, entry, room.context):
            windows.append(Window(text, from_s, to_s, entry.get("zone", room.zone), **less))
    return tuple(windows)


def read_yields(node: Node, written: dict[str, Any] | list[dict[str, Any]], room: Room) -> tuple[Yield, ...]:
    """Purpose: the yields of a component. Without ``until``, a yield ends at half of the waiting jobs that begin it."""
    entries = [written] if isinstance(written, dict) else written
    problems = room.context.problems
    if entries and all(cluster.embedded for cluster in room.context.machine.system.clusters):
        problems.at(node, "yield_to: this system has no Slurm cluster that could be asked", "leave it out")
    yields = []
    for number, entry in enumerate(entries):
        at = place(node, number)
        pending = entry["when"]["pending"]
        until = entry["when"].get("until", pending // 2)
        if until >= pending:
            message = f"yield_to.when: it ends at {until} waiting jobs and begins at {pending}"
            problems.at(place(at, "when", "until"), message, "until is less than pending")
        clusters = tuple(dict.fromkeys(entry["clusters"]))
        yields.append(Yield(clusters, pending, until, **_less(at, "yield_to", entry, room)))
    return tuple(yields)


def _less(node: Node, label: str, entry: dict[str, Any], room: Room) -> dict[str, Any]:
    """The narrower limits as fields: budgets in base units, copies, or closed (no new runs)."""
    problems = room.context.problems
    budgets = read_amounts(node, label, entry.get("budgets", {}), room.context, nothing=True)
    copies = tuple(entry.get("copies", {}).items())
    check_copies(node, label, "component", copies, room.tests, room.context)
    closed = entry.get("closed", False)
    said = [key for key in ("budgets", "copies") if entry.get(key)]
    if closed and said:
        problems.at(
            key_place(node, said[0]), f"{label}: '{said[0]}' has no meaning where it is closed", "keep one of them"
        )
    elif not closed and not said:
        problems.at(node, f"{label}: it changes nothing", "say what is allowed then: budgets, copies, or closed: yes")
    return {"budgets": budgets, "copies": copies, "closed": closed}


def _times(node: Node, entry: dict[str, Any], context: Context) -> Iterable[tuple[str, float, float]]:
    """The spans, each as (text, from, to) in seconds since Monday 00:00; [] after a fault was reported."""
    days = _days(entry)
    begin, end = entry["from"], entry["to"]
    for key, (day, seconds) in (("from", begin), ("to", end)):
        message, hint = "", ""
        if days and day is not None:
            message, hint = f"'{show_time(day, seconds)}' names a day beside days", "with days it is a time alone"
        elif not days and day is None:
            message, hint = "no day is named", "write it as 'Mon 06:00', or add days: daily"
        elif key == "from" and seconds >= DAY_S:
            message, hint = "24:00 is the end of a day", "a window begins at 00:00 of the next one"
        elif key == "to" and begin == end:
            message, hint = "it ends when it begins", "all of a week is 'Mon 00:00' to 'Sun 24:00'"
        if message:
            context.problems.at(place(node, key), f"windows.{key}: {message}", hint)
            return []
    return [_one(day, begin[1], end[1]) for day in days] if days else [_whole(*begin, *end)]


def _days(entry: dict[str, Any]) -> tuple[int, ...]:
    written = entry.get("days", ())
    groups = written if isinstance(written, list) else [written]
    return tuple(dict.fromkeys(day for group in groups for day in group))


def _one(day: int, begin_s: float, end_s: float) -> tuple[str, float, float]:
    """The window of one day, which may reach into the next day."""
    last = day if end_s > begin_s else (day + 1) % 7
    return _whole(day, begin_s, last, end_s)


def _whole(first: int, begin_s: float, last: int, end_s: float) -> tuple[str, float, float]:
    from_s, to_s = first * DAY_S + begin_s, last * DAY_S + end_s
    return f"{show_time(first, begin_s)} to {show_time(last, end_s)}", from_s, min(to_s, WEEK_S)
