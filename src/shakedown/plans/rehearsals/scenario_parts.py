"""Make the parts of a frozen scenario from the values of a rehearsal's file."""

from __future__ import annotations

from typing import Any

from yaml.nodes import MappingNode

from shakedown.model.scenario import (
    Bandwidth,
    Builds,
    Faults,
    FigureLaw,
    Hang,
    Harness,
    Hole,
    Maintenance,
    Metadata,
    Neighbour,
    Nodes,
    Queue,
    RunTime,
    Scenario,
)
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.source_positions import place
from shakedown.plans.schema.week import DAY_S, WEEK_S

_TAIL_FACTOR = 2.0


def scenario_from(root: MappingNode, values: dict[str, Any], problems: Problems) -> Scenario:
    """Purpose: the scenario that values without a fault describe; what does not fit together goes to ``problems``."""
    times, storage = values.get("times", {}), values.get("storage", {})
    return Scenario(
        name=values["rehearsal"],
        about=values.get("about", ""),
        times=tuple((name, _time(root, name, entry)) for name, entry in times.get("tests", {}).items()),
        times_from=times.get("from", ""),
        **_given(times, "assumed"),
        begins_s=_begins(root, values, problems),
        **_given(values, "zone"),
        builds=_builds(values.get("builds", {})),
        nodes=_nodes(values.get("nodes", {})),
        metadata=tuple(_metadata(name, entry) for name, entry in storage.get("metadata", {}).items()),
        bandwidth=tuple(_bandwidth(name, entry) for name, entry in storage.get("bandwidth", {}).items()),
        others=tuple(
            hours
            for number, entry in enumerate(values.get("others", ()))
            for hours in _hours(root, number, {"zone": values.get("zone", "UTC"), **entry}, problems)
        ),
        maintenance=tuple(map(_maintenance, values.get("maintenance", ()))),
        harness=_harness(values.get("harness", {})),
        queue=_queue(values.get("scheduler", {})),
        faults=Faults(**values.get("faults", {})),
        figures=tuple(
            (test, name, _figure(root, test, name, entry))
            for test, figures in values.get("figures", {}).items()
            for name, entry in figures.items()
        ),
    )


def _given(entry: dict[str, Any], *names: str, **renamed: str) -> dict[str, Any]:
    """Those of some keys that are written, as fields; ``renamed``: field -> key."""
    found = {name: entry[name] for name in names if name in entry}
    return found | {field: entry[key] for field, key in renamed.items() if key in entry}


def _pairs(entry: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: tuple(entry[name].items()) for name in names if name in entry}


def _time(root: MappingNode, name: str, entry: Any) -> RunTime:
    mark: Any = place(root, "times", "tests", name).start_mark
    where = f"{mark.name}:{mark.line + 1}"
    if not isinstance(entry, dict):
        return RunTime(entry, source=where)
    factor = entry.get("tail_factor", _TAIL_FACTOR)
    source = entry.get("source", where)
    return RunTime(entry["mean"], entry.get("spread", 0.0), entry.get("tail", 0.0), factor, source)


def _figure(root: MappingNode, test: str, name: str, entry: dict[str, Any]) -> FigureLaw:
    mark: Any = place(root, "figures", test, name).start_mark
    return FigureLaw(entry["mean"], entry.get("spread", 0.0), entry.get("source", f"{mark.name}:{mark.line + 1}"))


def _begins(root: MappingNode, values: dict[str, Any], problems: Problems) -> float | None:
    if "begins" not in values:
        return None
    day, seconds = values["begins"]
    if day is None:
        problems.at(place(root, "begins"), "begins: no day is named", "write a day and a time, such as 'Mon 08:00'")
        return None
    return float((day * DAY_S + seconds) % WEEK_S)


def _builds(entry: dict[str, Any]) -> Builds:
    more = _given(entry, "slots", "failing", mean_s="time", spread_s="spread")
    return Builds(**more, **_pairs(entry, "times"), broken=tuple(entry.get("broken", ())))


def _nodes(entry: dict[str, Any]) -> Nodes:
    more = _given(entry, "slow_share", "slow_factor", "bad_as", mtbf_s="mtbf", repair_s="repair")
    repair = more.get("repair_s", Nodes().repair_s)
    deaths = tuple((one["node"], one["after"], one.get("repair", repair)) for one in entry.get("deaths", ()))
    return Nodes(**more, **_pairs(entry, "slow", "bad"), deaths=deaths)


def _metadata(budget: str, entry: dict[str, Any]) -> Metadata:
    hangs = tuple(Hang(one.get("target", ""), one["after"], one["lasts"]) for one in entry.get("hangs", ()))
    more = _given(entry, "sigma", "kappa", "healthy", "share", "hangs_past", "every_run", "target")
    return Metadata(budget, **more, **_pairs(entry, "shares"), hangs=hangs)


def _bandwidth(budget: str, entry: dict[str, Any]) -> Bandwidth:
    return Bandwidth(budget, entry["capacity"].base, **_given(entry, "share"), **_pairs(entry, "shares"))


def _hours(root: MappingNode, number: int, entry: dict[str, Any], problems: Problems) -> list[Neighbour]:
    """One for each day on which their hours begin."""
    at = place(root, "others", number)
    loads = tuple((budget, amount.base) for budget, amount in entry.get("loads", {}).items())

    def hours(begin: float, end: float) -> Neighbour:
        return Neighbour(entry["cluster"], begin % WEEK_S, end % WEEK_S, loads, entry.get("pending", 0), entry["zone"])

    if ("from" in entry) != ("to" in entry):
        problems.at(
            at,
            "hours need both 'from' and 'to', and one is missing",
            "add it, or leave out both: then it holds at all hours",
        )
        return []
    days = entry.get("days")
    listed = [day for one in (days if isinstance(days, list) else [days]) for day in one] if days else list(range(7))
    if "from" not in entry:
        return (
            [hours(0, 0)] if days is None else [hours(day * DAY_S, (day + 1) * DAY_S) for day in dict.fromkeys(listed)]
        )
    (first, begin), (last, end) = entry["from"], entry["to"]
    if (first is None) != (last is None) or (first is not None and days):
        problems.at(
            at, "'from' and 'to' are both times of the day, or both of the week", "with days they are times of the day"
        )
        return []
    if first is not None:
        return [hours(first * DAY_S + begin, last * DAY_S + end)]
    over = DAY_S if end <= begin else 0.0
    return [hours(day * DAY_S + begin, day * DAY_S + end + over) for day in dict.fromkeys(listed)]


def _maintenance(entry: dict[str, Any]) -> Maintenance:
    more = _given(entry, "nodes", "running", announced_s="announced")
    return Maintenance(entry["after"], entry["lasts"], **more)


def _harness(entry: dict[str, Any]) -> Harness:
    more = _given(entry, "build_first", "forgets", notice_s="notice")
    notice = more.get("notice_s", Harness().notice_s)
    holes = tuple(Hole(tuple(one["tests"]), one["after"], one.get("lasts", notice)) for one in entry.get("holes", ()))
    return Harness(**more, holes=holes, **_pairs(entry, "in_job"))


def _queue(entry: dict[str, Any]) -> Queue:
    fifo = {"fifo": not entry["backfill"]} if "backfill" in entry else {}
    return Queue(**_given(entry, "depth", "size", "age", cycle_s="cycle"), **fifo)
