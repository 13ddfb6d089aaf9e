"""The load on each budget and target over time: what the campaign's runs took and requested, against the limit.

A run takes its load while it runs. It requests the load from the moment when it was let start (its order, or its release if it
was held) until its end was known: if the scheduler itself hands a budget out, requests can exceed the budget and wait in its queue.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from shakedown.metrics.rows.facts import number
from shakedown.metrics.rows.rows import OpenRun, RunRow
from shakedown.metrics.rows.table import Record
from shakedown.model.nouns import Case, Document

NOISE = 1e-9
Steps = tuple[tuple[float, float], ...]


class Load(Struct, frozen=True):
    """One budget, or one target of it (``BUDGET@TARGET``). ``ran``, ``steps`` and ``limits``: (start time, amount), by time.

    ``ran``: the load of running runs; ``steps``: of all runs let start and not over, including waiting ones; ``limits``: the limit,
    first the plan's, then each one that a person set. ``most``: the highest load of running runs; ``over``: seconds in which
    running runs exceeded the limit, by runs that began above it. ``others``: the load by others, if observed. ``total``: the whole
    amount, 0 if the system does not say.
    """

    name: str
    steps: Steps
    ran: Steps
    limits: Steps
    most: float
    over: float
    others: Steps = ()
    total: float = 0.0

    def limit_at(self, time: float) -> float:
        return next((amount for at, amount in reversed(self.limits) if at <= time), self.limits[0][1])

    def together(self) -> Iterator[tuple[float, float, float]]:
        """Purpose: (start time, load of running runs, further load requested but not running), by time."""
        ran, asked = dict(self.ran), dict(self.steps)
        now, wanted = 0.0, 0.0
        for time in sorted({*ran, *asked}):
            now, wanted = ran.get(time, now), asked.get(time, wanted)
            yield time, now, max(0.0, wanted - now)


def loads(document: Document, record: Record) -> tuple[Load, ...]:
    """Purpose: the load on every budget that a case loads, and on each of its targets, in the order of the system."""
    changes, ran = _changes(document, record, _let_start), _changes(document, record, _running)
    found = []
    for name, amount in _limits(document).items():
        steps = _staircase(changes.get(name, {}))
        if steps or name in _asked(document):
            limits = _limit_steps(name, amount, record)
            took = _staircase(ran.get(name, {}))
            most = max((load for _, load in took), default=0.0)
            total = dict(document.system.budgets).get(name.partition("@")[0], 0.0)
            load = Load(name, steps, took, limits, most, 0.0, _others(name, record), total)
            found.append(replace(load, over=_over(load)))
    return tuple(found)


def _limits(document: Document) -> dict[str, float]:
    """Each budget, or each of its targets -> the amount that the system and the plan allow."""
    narrowed, targeted = dict(document.limits.budgets), dict(document.system.targeted)
    found: dict[str, float] = {}
    for name, amount in document.system.budgets:
        least = min(amount, narrowed.get(name, amount))
        for key in [f"{name}@{target}" for target in targeted.get(name, ())] or [name]:
            found[key] = least
    return found | {
        name: amount for name, amount in document.limits.budgets if name not in dict(document.system.budgets)
    }


def _asked(document: Document) -> frozenset[str]:
    """Budgets and targets that at least one case loads."""
    targeted = dict(document.system.targeted)
    names = {name for case in document.cases for name, _ in case.loads}
    return frozenset(key for name in names for key in [f"{name}@{one}" for one in targeted.get(name, ())] or [name])


Span = tuple[float | None, float | None]


def _let_start(row: RunRow | OpenRun) -> Span:
    return row.charged, row.freed


def _running(row: RunRow | OpenRun) -> Span:
    """When a run ran, by its own clock if known, because the scheduler reuses its load before the driver sees the end."""
    if isinstance(row, OpenRun):
        return row.started, row.freed
    over, began = row.over, row.started
    if began is None and over is not None and row.elapsed_s is not None:
        began = over - row.elapsed_s
    return began, over


def _changes(
    document: Document, record: Record, span: Callable[[RunRow | OpenRun], Span]
) -> Mapping[str, dict[float, float]]:
    """Budget or target -> time -> change of its load. ``span``: from when until when a run counts, None = not yet."""
    cases = {case.id: case for case in document.cases}
    found: dict[str, dict[float, float]] = defaultdict(lambda: defaultdict(float))
    rows: list[RunRow | OpenRun] = [*record.current(), *record.open.values()]
    again = {(row.job, row.charged): row.started for row in rows if row.started is not None}
    for row in rows:
        case = cases.get(row.case)
        since, over = span(row)
        until = over if over is not None else record.last
        if over is not None and span is _running:  # the scheduler restarted the job before its end was seen
            until = min(until, again.get((row.job, row.freed)) or until)
        if case is None or since is None or until <= since:
            continue
        for name, amount in _of_run(case, row):
            found[name][since] += amount
            found[name][until] -= amount
    return found


def _of_run(case: Case, row: RunRow | OpenRun) -> Iterator[tuple[str, float]]:
    for name, amount in case.loads:
        target = row.targets.get(name)
        yield (f"{name}@{target}" if target else name), amount


def _staircase(changes: Mapping[float, float]) -> Steps:
    load, steps = 0.0, []
    for time in sorted(changes):
        load += changes[time]
        steps.append((time, 0.0 if abs(load) < NOISE else load))
    return tuple(steps)


def _limit_steps(name: str, amount: float, record: Record) -> Steps:
    """The limit from the beginning on, and after each change by a person of this budget or target."""
    steps = [(record.started or 0.0, amount)]
    for row in record.standing:
        if row.kind == "budget_set" and row.value.get("budget") in (name, name.partition("@")[0]):
            said = row.value.get("amount")
            steps.append((row.time, float(said) if isinstance(said, int | float) else amount))
    return tuple(steps)


def _others(name: str, record: Record) -> Steps:
    """The load by others, by the time of the observation."""
    rows = (row.value for row in record.observed if row.value.get("budget") == name)
    said = ((number(value.get("at")), number(value.get("beside"))) for value in rows)
    return tuple((at, beside) for at, beside in said if at is not None and beside is not None)


def _over(load: Load) -> float:
    """Seconds in which more ran than allowed. A reduced limit ends no run: only increases above the limit count."""
    seconds, above, before = 0.0, False, 0.0
    for place, (time, amount) in enumerate(load.ran):
        limit = load.limit_at(time)
        above = amount > limit * (1 + NOISE) and (above or amount > before)
        if above and place + 1 < len(load.ran):
            seconds += load.ran[place + 1][0] - time
        before = amount
    return seconds
