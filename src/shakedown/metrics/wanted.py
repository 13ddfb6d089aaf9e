"""Which runs are attempts at results that the plan in force wants; the others were wanted by a plan before it."""

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
    """How many results of a case a component wants, by mode: of a fill one for each of its copies, of a sweep one for each node.

    ``again``: how often it was told to run again; each time wants them once more.
    """
    return tuple((mode, count * (1 + again)) for mode, count in _once(component, case, system))


def _once(component: Component, case: Case, system: System) -> tuple[tuple[str, int], ...]:
    if component.sweep is not None and not component.modes:
        return (("", component.repeats * component.sweep.rounds * _swept(system, case)),)
    if not component.modes:
        return (("", component.repeats),)
    return tuple((mode.name, mode.repeats * system.copies(mode, case)) for mode in component.modes)


def _swept(system: System, case: Case) -> int:
    """The nodes that a sweep sees: those of the case's partition; on one machine, which has no nodes to tell apart, one."""
    for cluster in system.clusters:
        for partition in cluster.partitions:
            if f"{cluster.name}:{partition.name}" == case.partition:
                return partition.count if not cluster.embedded else 1
    return 1


def times_again(component: Component, record: Record) -> int:
    """How often a component that wants a number of results was told to run again."""
    return 0 if component.duration_s else len(record.again.get(component.name, ()))


def result_key(row: RunRow) -> ResultKey:
    """What names a wanted result."""
    return row.component, row.case, mode_key(row), row.repeat


def mode_key(row: RunRow | OpenRun) -> str:
    """The mode of a run, with the drill or the mode that it belongs to: two drills may run the same test."""
    return f"{row.mode}:{row.of}" if row.of else row.mode


def is_warm_up(row: RunRow, component: Component) -> bool:
    return row.mode == WARM_UP and bool(component.modes)


def is_asked(row: RunRow, component: Component, wanted: Mapping[str, int], newest: Mapping[ResultKey, int]) -> bool:
    """It is an attempt at a result that the plan in force wants: of three repeats the first three, whatever ran before."""
    if row.mode not in wanted or row.result != newest[result_key(row)]:
        return False
    return bool(component.duration_s) or row.repeat <= wanted[row.mode]
