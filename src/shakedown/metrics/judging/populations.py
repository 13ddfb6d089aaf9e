"""The counted runs: the wanted results and the attempts of a component, as far as this system can run them.

``RULES`` states the rules of counting; the report prints them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from shakedown.metrics.clock import began, is_anew, time_has_passed
from shakedown.metrics.newest_results import newest_results
from shakedown.metrics.overlap import Steps, set_aside, span_of, spans_of
from shakedown.metrics.rows.rows import OpenRun, RunRow, UnavailableRow
from shakedown.metrics.rows.table import Record
from shakedown.metrics.wanted import (
    FILLER,
    WARM_UP,
    ResultKey,
    is_asked,
    is_warm_up,
    times_again,
    wanted_results,
)
from shakedown.metrics.words import plural
from shakedown.model.events import COMPLETED, SPARED, UNDETERMINED, VERDICTS
from shakedown.model.nouns import Case, Component, Document, System
from shakedown.model.shared_nodes import sharing

RULES = (
    "An attempt is a run that was judged, whatever the verdict; a retry erases nothing.",
    "A wanted result is one repeat of a case; it is passed when one of its attempts is.",
    "A run that could not be read or judged for reasons that are not its own is undetermined: it is in no count but its own, and "
    "its result is still to come.",
    "A verdict that the plan expects of a case counts as passed, and stays visible as what it is.",
    "A run that completed ran to its end: passed, incorrect or performance; of these, incorrect ones are not correct.",
    "A wrong answer is never left out of correct / completed, whatever ruling stands beside it.",
    "A figure's value is taken from runs that completed correctly; run time is elapsed time by one clock on one host.",
    "A warm-up run is in no count; one that did not pass is remarked.",
    "A filler run takes nodes that the mix leaves idle; it is in no count but those of our node-hours and of hours per node.",
    "A set-up and a clean-up run are in no count but those of the criteria set up and clean up, which ask that all of them passed.",
    "A run that started before its component's clock was started, or started anew, stays in the record and is in no count.",
    "The figures of an isolated run count where it was alone among our runs on its partition, and on those that share nodes with "
    "it, for 95 % of its time, or the share that the mode names as overlap.",
    "The figures of a fill run count where the copies that fill the machine all ran for 95 % of its time, "
    "or the share that the mode names as overlap. A copy that started when all of them ran, and took no less time than the mean "
    "and the median of those, counts too, however long it outlives the others. Copies that warm up fill the machine like any.",
    "The run of record of a case is the first that counts for its figures, in the order the results were ordered in.",
    "A ruling changes no verdict. A criterion that leaves out what was ruled says what it would be with everything counted.",
    "A wanted result all of whose attempts are left out is not wanted of that criterion.",
    "An outlier lies more than 3.5 robust standard deviations from the median of its case; it is left out only where a "
    "criterion says so, and then named.",
    "A result that its ladder does not need is spared: it is not wanted, and in no count.",
    "A case that this system cannot run is unavailable: it is in no count, and restricts the acceptance.",
    "A verdict that a later one supersedes stays in the record and is in no count.",
    "A run of a case, a mode or a repeat that an amended plan no longer asks for stays in the record and is in no count.",
)
MANY = 10**8  # more results than any component orders: the most that may still come in a component that runs for a time


class CaseRuns(Struct, frozen=True, dict=True):
    """One available case of a component: the wanted results and the judged runs.

    ``wanted``: results by mode, "" for a component without modes. ``warm_ups`` are in no count, nor are runs from ``before`` the
    component's clock was restarted. ``undetermined``: runs that ended and could not be judged, in no count either; their results
    are still to come, even if everything else is over. ``aside``: run -> why its figures do not count. ``more``: the number of
    results that will be ordered is not yet known; ``closed``: no attempt will follow; ``time_over``: closed by the end of the
    component's time. ``excused``: how many results of ``cut_off`` a ruling leaves out if they failed.
    """

    case: Case
    wanted: tuple[tuple[str, int], ...]
    rows: tuple[RunRow, ...]
    given_up: int = 0
    warm_ups: tuple[RunRow, ...] = ()
    aside: Mapping[str, str] = {}
    more: bool = False
    closed: bool = False
    before: tuple[RunRow, ...] = ()
    undetermined: tuple[RunRow, ...] = ()
    time_over: bool = False
    excused: int = 0

    @cached_property
    def repeats(self) -> int:
        return sum(count for _, count in self.wanted)

    @cached_property
    def passed(self) -> int:
        """How many wanted results passed: each counts once, however many of its attempts passed."""
        return self._results(lambda row: counts_as_passed(row, self.case))

    @cached_property
    def judged(self) -> int:
        """How many wanted results are complete: passed, or with a last attempt that is not retried."""
        return self._results(self.settles)

    @cached_property
    def to_come(self) -> int:
        """The number of wanted results that are not judged; for a case with ``more``, only the results known so far."""
        if not self.closed:
            return self.repeats - self.judged
        return len({(row.mode, row.result) for row in self.open_undetermined})

    @property
    def open_undetermined(self) -> list[RunRow]:
        """The undetermined runs whose results have no other attempt that was judged."""
        known = {(row.mode, row.result) for row in self.rows}
        return [row for row in self.undetermined if (row.mode, row.result) not in known]

    @cached_property
    def cut_off(self) -> int:
        """The number of results of ``to_come`` that no attempt will settle, because the component's time is over."""
        return self.to_come if self.time_over else 0

    def excused_by(self, parties: Collection[str]) -> list[RunRow]:
        """The runs of those ``cut_off`` results whose runs were all ruled as one of ``parties``."""
        rows = self.open_undetermined if self.time_over else []
        others = {(row.mode, row.result) for row in rows if row.ruling not in parties}
        return [row for row in rows if (row.mode, row.result) not in others]

    def settles(self, row: RunRow) -> bool:
        return self.closed or not row.retried or counts_as_passed(row, self.case)

    def _results(self, holds: Callable[[RunRow], bool]) -> int:
        found: dict[str, set[int]] = defaultdict(set)
        for row in self.rows:
            if holds(row):
                found[row.mode].add(row.result)
        return sum(min(count, len(found[mode])) for mode, count in self.wanted)

    def values(self, figure: str) -> list[tuple[RunRow, float]]:
        """A figure's value in each run that counts for figures, in the order of the log."""
        pairs = [(row, measured_value(row, figure)) for row in self.rows if row.run not in self.aside]
        return [(row, value) for row, value in pairs if value is not None]

    def of_mode(self, mode: str) -> CaseRuns:
        """The same case with only the runs of one mode; unchanged for ""."""
        if not mode:
            return self
        wanted = tuple(pair for pair in self.wanted if pair[0] == mode)
        undetermined = tuple(row for row in self.undetermined if row.mode == mode)
        return replace(
            self, wanted=wanted, rows=tuple(row for row in self.rows if row.mode == mode), undetermined=undetermined
        )

    def keep(self, counts: Callable[[RunRow], bool]) -> CaseRuns:
        """The same case without some rows. A result without remaining rows is no longer wanted, unless it is still to come."""
        rows = tuple(row for row in self.rows if counts(row))
        undetermined = tuple(row for row in self.undetermined if counts(row))
        left = {(row.mode, row.result) for row in (*rows, *(undetermined if self.closed else ()))}
        ended = (*self.rows, *(self.undetermined if self.closed else ()))
        settled = {(row.mode, row.result) for row in ended if self.settles(row)}
        every = {(row.mode, row.result) for row in ended}
        wanted = []
        for mode, count in self.wanted:
            gone = sum(result[0] == mode for result in settled - left)
            spare = max(0, sum(result[0] == mode for result in every) - count)
            wanted.append((mode, max(0, count - max(0, gone - spare))))
        return replace(self, rows=rows, wanted=tuple(wanted), undetermined=undetermined)


class Population(Struct, frozen=True, dict=True):
    """The cases that a component or a criterion looks at; of ``unavailable`` cases it has only the names. ``spared``: cases that
    their ladder does not need; they are in nothing else here.
    """

    cases: tuple[CaseRuns, ...]
    unavailable: tuple[UnavailableRow, ...]
    spared: tuple[str, ...] = ()

    @cached_property
    def wanted(self) -> int:
        return sum(case.repeats for case in self.cases)

    @cached_property
    def judged(self) -> int:
        return sum(case.judged for case in self.cases)

    @cached_property
    def to_come(self) -> int:
        """The known number of results still to come; at least 1 while a component may order more."""
        return max(sum(case.to_come for case in self.cases), int(self.more))

    @cached_property
    def cut_off(self) -> int:
        """The number of results of ``to_come`` that the end of the component's time cut off: they stay unknown."""
        return sum(case.cut_off for case in self.cases)

    @property
    def excused(self) -> int:
        """The number of these results that a ruling leaves out if they failed."""
        return sum(case.excused for case in self.cases)

    @property
    def unfinished(self) -> bool:
        """Whether anything is still to come."""
        return self.more or self.to_come > self.cut_off

    @property
    def why_open(self) -> str:
        """Why a criterion that lacks results is undecided, in words."""
        if self.unfinished or not self.cut_off:
            return "results are still to come"
        return f"{plural(self.cut_off, 'result')} undetermined when the time was over"

    @property
    def most_to_come(self) -> int:
        return MANY if self.more else self.to_come

    @cached_property
    def more(self) -> bool:
        return any(case.more for case in self.cases)

    @cached_property
    def passed(self) -> int:
        return sum(case.passed for case in self.cases)

    @property
    def rows(self) -> list[RunRow]:
        return [row for case in self.cases for row in case.rows]

    def of_test(self, test: str) -> Population:
        """The part of the population that belongs to one test; unchanged for ""."""
        if not test:
            return self
        mine = tuple(case for case in self.cases if case.case.test == test)
        missing = tuple(row for row in self.unavailable if row.test == test)
        return Population(mine, missing, self.spared)

    def each(self, change: Callable[[CaseRuns], CaseRuns]) -> Population:
        """The same population with each case changed by a function."""
        return Population(tuple(change(case) for case in self.cases), self.unavailable, self.spared)


def populations(
    document: Document, record: Record, over: Collection[str] = (), everything: bool = False
) -> dict[str, Population]:
    """Purpose: the population of every component, by its name. One pass over the rows.

    ``over``: components that run for a time and are known to be over. ``everything``: also count runs from before a clock was
    restarted, and runs that an amendment removed and wanted again: the numbers as they would be without these acts.
    """
    machine = _machine(document, record)
    found = {}
    for component in document.components:
        population = _population(component, machine, record, everything)
        if component.duration_s:
            population = _until_time(component, population, record, component.name in over, everything)
        found[component.name] = _with_aside(component, population, machine)
    return found


def counts_as_passed(row: RunRow, case: Case) -> bool:
    """Whether a run passed, or ended as its case expects."""
    return row.verdict == "passed" or as_expected(row, case)


def as_expected(row: RunRow, case: Case) -> bool:
    return bool(case.expect) and row.verdict == case.expect and case.expect != "passed"


def completed(row: RunRow) -> bool:
    """Whether a run reached its end."""
    return row.verdict in COMPLETED


def correct(row: RunRow, case: Case) -> bool:
    """Whether a run reached its end with the right answer, or with the verdict that its case expects."""
    return completed(row) and (row.verdict != "incorrect" or as_expected(row, case))


def measured_value(row: RunRow, figure: str) -> float | None:
    """A figure's value in a run that counts for figures, else None; ``elapsed`` is the run time in seconds."""
    if row.verdict not in ("passed", "performance"):
        return None
    if figure == "elapsed":
        return None if row.halted_s else row.elapsed_s  # the run was suspended for part of that time
    return row.figures.get(figure)


# ---- how they are made -----------------------------------------------------------------------------------------------


class _Machine(Struct, frozen=True):
    """The data that all components share: the cases, the system, and the rows by component and case. ``neighbours``: for each
    partition, the campaign's runs on its nodes over time; only if a component has modes, because only modes depend on simultaneous
    runs. ``newest``: for each wanted result, the number under which it was last wanted.
    """

    cases: Mapping[str, Case]
    system: System
    rows: Mapping[tuple[str, str], list[RunRow]]
    neighbours: Mapping[str, Steps]
    newest: Mapping[ResultKey, int]


def _machine(document: Document, record: Record) -> _Machine:
    cases = {case.id: case for case in document.cases}
    rows: dict[tuple[str, str], list[RunRow]] = defaultdict(list)
    beside: dict[str, list[RunRow]] = defaultdict(list)
    for row in record.current():
        rows[row.component, row.case].append(row)
        if row.case in cases:
            beside[cases[row.case].partition].append(row)
    modes = any(component.modes for component in document.components)
    neighbours = _neighbours(document.system, beside) if modes else {}
    return _Machine(cases, document.system, rows, neighbours, newest_results(record))


def _neighbours(system: System, beside: Mapping[str, list[RunRow]]) -> dict[str, Steps]:
    """The runs over time on each partition, and on other partitions that share nodes with it."""
    places = sharing(system, beside)
    return {
        place: Steps(span for other in places.get(place, (place,)) for span in spans_of(beside.get(other, ())))
        for place in beside
    }


def _population(component: Component, machine: _Machine, record: Record, everything: bool) -> Population:
    available, missing, since = [], [], float("-inf") if everything else counts_since(component, record)
    spared: list[str] = []
    for name in component.cases:
        case = machine.cases.get(name) or Case(name, name.split("/")[0], "", unavailable="the plan does not define it")
        mine = machine.rows.get((component.name, name), [])
        wanted = wanted_results(component, case, machine.system, times_again(component, record))
        if everything:
            counted = tuple(row for row in mine if row.mode in dict(wanted))
            wanted = tuple((mode, max(count, _results_in(counted, mode))) for mode, count in wanted)
        else:
            counted = tuple(row for row in mine if is_asked(row, component, dict(wanted), machine.newest))
        reason = _unavailable(component.name, case, record, bool(counted))
        if reason is not None:
            missing.append(reason)
            continue
        warm_ups = tuple(row for row in mine if is_warm_up(row, component))
        before = tuple(row for row in counted if start_of(row) < since)
        counted = tuple(row for row in counted if start_of(row) >= since) if before else counted
        undetermined = tuple(row for row in counted if row.verdict == UNDETERMINED)
        counted = tuple(row for row in counted if row.verdict != UNDETERMINED) if undetermined else counted
        given_up = sum(row.run in record.given_up for row in counted)
        runs = CaseRuns(case, wanted, counted, given_up, warm_ups, before=before, undetermined=undetermined)
        runs = _without_spared(runs) if component.ladder is not None else runs
        if runs.repeats or runs.rows or runs.undetermined:
            available.append(runs)
        else:
            spared.append(name)
    return Population(tuple(available), tuple(missing), tuple(spared))


def _without_spared(runs: CaseRuns) -> CaseRuns:
    """The case without results that its ladder does not need: these are not wanted."""
    gone = {(row.mode, row.result) for row in runs.rows if row.verdict == SPARED}
    wanted = tuple((mode, max(0, count - sum(one[0] == mode for one in gone))) for mode, count in runs.wanted)
    return replace(runs, wanted=wanted, rows=tuple(row for row in runs.rows if row.verdict != SPARED))


def _results_in(rows: Iterable[RunRow], mode: str) -> int:
    return len({row.result for row in rows if row.mode == mode})


def _until_time(
    component: Component, population: Population, record: Record, over: bool, everything: bool = False
) -> Population:
    """The population of a component that runs for a time: every ordered result is wanted, except those that were taken back before
    they began, because no attempt was made.
    """
    live = [run for run in record.open.values() if run.component == component.name]
    since, passed = counts_since(component, record), time_has_passed(component, record)
    since = float("-inf") if everything else since
    closed = over or record.ended is not None or (passed and not live and not _retry_waits(population))
    closed = closed and component.name not in record.cut_short
    time_over = closed and passed and not live and record.ended is not None
    asked = [run for run in live if run.mode != FILLER and _may_count(run, since)]

    def ordered(case: CaseRuns) -> CaseRuns:
        rows = tuple(row for row in case.rows if not row.was_taken_back)
        results = {row.result for row in (*rows, *case.undetermined)} | {
            run.result for run in asked if run.case == case.case.id
        }
        return replace(
            case, rows=rows, wanted=(("", len(results)),), more=not closed, closed=closed, time_over=time_over
        )

    return population.each(ordered)


def counts_since(component: Component, record: Record) -> float:
    """The time from which runs must have started to count: the restart of the component's clock, or -inf without a restart."""
    if not is_anew(component, record):
        return float("-inf")
    since = began(component, record)
    return float("inf") if since is None else since


def start_of(row: RunRow) -> float:
    """When a run started; when it was judged, if it never started or its times are unknown."""
    span = span_of(row)
    return span[0] if span else row.time


def _may_count(run: OpenRun, since: float) -> bool:
    """Whether a live run can count, judged by its start time."""
    return since < float("inf") and (run.started is None or run.started >= since)


def _retry_waits(population: Population) -> bool:
    """Whether a further attempt was decided and is not ordered yet; a run that waits for its backoff time counts as live."""
    last: dict[int, RunRow] = {}
    for row in population.rows:
        if row.result not in last or row.attempt > last[row.result].attempt:
            last[row.result] = row
    return any(row.retried for row in last.values())


def _with_aside(component: Component, population: Population, machine: _Machine) -> Population:
    """The population, with the runs marked whose figures do not count, because the machine was not as their mode requires."""

    def judged(case: CaseRuns) -> CaseRuns:
        found: dict[str, str] = {}
        for mode in component.modes:
            rows = [row for row in case.rows if row.mode == mode.name]
            company = (mode.name, WARM_UP)  # a copy that warms up fills the machine as well as one that is measured
            every = [row for row in machine.rows[component.name, case.case.id] if row.mode in company] if rows else []
            required = machine.system.copies(mode, case.case)
            found |= set_aside(mode, rows, required, every, machine.neighbours.get(case.case.partition))
        return replace(case, aside=found)

    return population.each(judged) if component.modes else population


def _unavailable(component: str, case: Case, record: Record, judged: bool) -> UnavailableRow | None:
    """The row of a case that the plan or an event declares unavailable; None if it is available, or a run of it counts anyway."""
    if judged:
        return None
    event = record.unavailable.get((component, case.id)) or record.unavailable.get(("", case.id))
    if event is not None:
        return UnavailableRow(component, case.id, event.reason or case.unavailable, event.seq, case.test)
    return UnavailableRow(component, case.id, case.unavailable, test=case.test) if case.unavailable else None


def count_verdicts(rows: Iterable[RunRow]) -> dict[str, int]:
    """Attempts by verdict, in the order of the vocabulary; unknown words come last."""
    found: dict[str, int] = defaultdict(int)
    for row in rows:
        found[row.verdict] += 1
    order = {verdict: place for place, verdict in enumerate(VERDICTS)}
    return {verdict: found[verdict] for verdict in sorted(found, key=lambda word: (order.get(word, 99), word))}
