"""Which runs are attempts at results that the plan in force wants; the others were wanted by a plan before it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from shakedown.metrics.rows.rows import CLEAN_UP, DRILL, SET_UP, STEPS, OpenRun, RunRow
from shakedown.metrics.rows.table import Record
from shakedown.model.nouns import Case, Component, Document, System

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


def unwanted_rows(document: Document, record: Record) -> list[RunRow]:
    """Attempts that the plan in force no longer asks for: an amendment took their case, component, mode or repeat away."""
    cases = {case.id: case for case in document.cases}

    def wanted_now(component: Component, case: Case) -> dict[str, int]:
        return dict(wanted_results(component, case, document.system, times_again(component, record)))

    wanted = {
        (component.name, name): (
            component,
            wanted_now(component, cases[name]),
        )
        for component in document.components
        for name in component.cases
        if name in cases
    }
    newest = newest_results(record)
    beside = {
        (component.name, mode): cases
        for component in document.components
        for mode, cases in (
            (FILLER, component.fillers),
            (SET_UP, component.set_up),
            (CLEAN_UP, component.clean_up),
        )
    }
    drills = {(component.name, drill.case, of) for component in document.components for drill in component.drills
              for of in (drill.name, "")}  # fmt: skip

    def unwanted(row: RunRow) -> bool:
        if row.mode == DRILL:
            return (row.component, row.case, row.of) not in drills
        if row.mode == FILLER or row.mode in STEPS:
            kept = row.case in beside.get((row.component, row.mode), ())
            return not kept or (row.mode in (SET_UP, CLEAN_UP) and row.result != newest[result_key(row)])
        asked = wanted.get((row.component, row.case))
        return asked is None or not (is_warm_up(row, asked[0]) or is_asked(row, *asked, newest))

    return list(filter(unwanted, record.current()))


def times_again(component: Component, record: Record) -> int:
    """How often a component that wants a number of results was told to run again."""
    return 0 if component.duration_s else len(record.again.get(component.name, ()))


def result_key(row: RunRow) -> ResultKey:
    """What names a wanted result."""
    return row.component, row.case, mode_key(row), row.repeat


def mode_key(row: RunRow | OpenRun) -> str:
    """The mode of a run, with the drill or the mode that it belongs to: two drills may run the same test."""
    return f"{row.mode}:{row.of}" if row.of else row.mode


def newest_results(record: Record, rows: Iterable[RunRow] | None = None) -> dict[ResultKey, int]:
    """The number of the result of each name that counts. What a plan wants again that the plan before it did not want it wants
    anew; without an amendment in between nothing wants a result twice, and the first one counts. ``rows``: those that are asked
    about; all that count where there are none.
    """
    amended = [epoch.number for epoch in record.epochs if epoch.opened_by == "amended"]
    newest: dict[ResultKey, tuple[int, int]] = {}  # number, and the epoch in which it was wanted
    for row in sorted(record.current() if rows is None else rows, key=lambda one: one.result):
        key = result_key(row)
        number, since = newest.get(key, (0, 0))
        if not number or (row.result > number and any(since < epoch <= row.epoch for epoch in amended)):
            newest[key] = row.result, row.epoch
    return {key: number for key, (number, _) in newest.items()}


def is_warm_up(row: RunRow, component: Component) -> bool:
    return row.mode == WARM_UP and bool(component.modes)


def is_asked(row: RunRow, component: Component, wanted: Mapping[str, int], newest: Mapping[ResultKey, int]) -> bool:
    """It is an attempt at a result that the plan in force wants: of three repeats the first three, whatever ran before."""
    if row.mode not in wanted or row.result != newest[result_key(row)]:
        return False
    return bool(component.duration_s) or row.repeat <= wanted[row.mode]
