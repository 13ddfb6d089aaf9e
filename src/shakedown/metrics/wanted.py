"""The runs that are attempts at results wanted by the plan in force, as opposed to results of an earlier plan."""

from __future__ import annotations

from collections.abc import Mapping

from shakedown.metrics.rows.rows import STEPS, OpenRun, RunRow
from shakedown.metrics.rows.table import Record
from shakedown.model.nouns import Case, Component, System

WARM_UP = "warm-up"
FILLER = "filler"
UNCOUNTED = (WARM_UP, FILLER, *STEPS)  # no work of the contract
ResultKey = tuple[str, str, str, int]  # component, case, mode as ``mode_key`` names it, repeat


def wanted_results(component: Component, case: Case, system: System, again: int = 0) -> tuple[tuple[str, int], ...]:
    """How many results of a case a component wants, by mode; fill wants one for each copy, a sweep one for each node.

    ``again``: how often the component was ordered to run again; each time it wants them once more.
    """
    return tuple((mode, count * (1 + again)) for mode, count in _once(component, case, system))


def _once(component: Component, case: Case, system: System) -> tuple[tuple[str, int], ...]:
    if component.sweep is not None and not component.modes:
        return (("", component.repeats * component.sweep.rounds * _swept(system, case)),)
    if not component.modes:
        return (("", component.repeats),)
    return tuple((mode.name, mode.repeats * system.copies(mode, case)) for mode in component.modes)


def _swept(system: System, case: Case) -> int:
    """The number of nodes that a sweep tests: those of the case's partition; one on a single machine without separate nodes."""
    for cluster in system.clusters:
        for partition in cluster.partitions:
            if f"{cluster.name}:{partition.name}" == case.partition:
                return partition.count if not cluster.embedded else 1
    return 1


def times_again(component: Component, record: Record) -> int:
    """How often a component was ordered to run again; 0 if it runs for a time and wants no number of results."""
    return 0 if component.duration_s else len(record.again.get(component.name, ()))


def result_key(row: RunRow) -> ResultKey:
    """The key that identifies a wanted result."""
    return row.component, row.case, mode_key(row), row.repeat


def mode_key(row: RunRow | OpenRun) -> str:
    """The mode of a run, with its drill or the mode of a warm-up, because two drills may run the same test."""
    return f"{row.mode}:{row.of}" if row.of else row.mode


def is_warm_up(row: RunRow, component: Component) -> bool:
    return row.mode == WARM_UP and bool(component.modes)


def is_asked(row: RunRow, component: Component, wanted: Mapping[str, int], newest: Mapping[ResultKey, int]) -> bool:
    """Whether a run is an attempt at a result that the plan in force wants: of three repeats the first three."""
    if row.mode not in wanted or row.result != newest[result_key(row)]:
        return False
    return bool(component.duration_s) or row.repeat <= wanted[row.mode]
