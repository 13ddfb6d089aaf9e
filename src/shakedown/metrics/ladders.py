"""The results of a component's ladders, from the record: the largest size that holds, and the smallest that does not.

Start reading at ``ladders_of``. The next size needed is determined in the same way as in the engine (``model.ladders``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median

from msgspec import Struct
from msgspec.structs import replace

from shakedown.metrics.newest_results import newest_results
from shakedown.metrics.rows.rows import RunRow
from shakedown.metrics.rows.table import Record
from shakedown.metrics.wanted import result_key, times_again
from shakedown.metrics.words import plural
from shakedown.model.events import SPARED, UNDETERMINED
from shakedown.model.ladders import Climb, Ladder, Rung, Word, climb, rungs_of, word_of
from shakedown.model.nouns import Case, Component, Document


class RungRow(Struct, frozen=True):
    """One size of a ladder. ``state``: holds, fails, spared, to come, or not known. ``runs``: how many of its wanted results are
    judged; ``value``: the median of the ladder's figure; ``why``: the reason why it fails.
    """

    case: str
    size: str
    state: str
    runs: int = 0
    value: float | None = None
    why: str = ""


class LadderRow(Struct, frozen=True):
    """One ladder of a component. ``label``: the test with the parameters that all its sizes share. ``holds``, ``fails``: sizes as
    written in the plan, "" if there is none; ``unavailable``: sizes that this system cannot run. ``over``: the climb has ended;
    ``lost``: a needed size can no longer become known. ``round``: each repetition of the component is a separate climb.
    ``unknown``: why nobody can say which sizes hold, "" if it can be said.
    """

    component: str
    test: str
    label: str
    along: str
    holds: str
    fails: str
    over: bool
    lost: bool
    rungs: tuple[RungRow, ...]
    figure: str = ""
    within: float = 0.0
    unavailable: tuple[str, ...] = ()
    round: int = 1
    unknown: str = ""

    def without_sizes(self, why: str) -> LadderRow:
        """Purpose: the same ladder with the sizes that hold or fail marked as not known, for the reason ``why``."""
        rungs = tuple(
            replace(one, state="not known", value=None, why="") if one.state in ("holds", "fails") else one
            for one in self.rungs
        )
        return replace(self, holds="", fails="", rungs=rungs, unknown=why)

    @property
    def outcome(self) -> str:
        """The result in words: "holds up to nodes=64, not at nodes=128"."""
        if self.unknown:
            return f"is {self.unknown}"
        if self.lost:
            fails = f", not at {self._at(self.fails)}" if self.fails else ""
            return f"holds up to {self._at(self.holds)}{fails}; no more is known" if self.holds else "not known"
        if not self.over:
            return f"holds at {self._at(self.holds)} so far" if self.holds else "nothing is known yet"
        if not self.fails:
            beside = f" that can run here ({', '.join(self.unavailable)} cannot)" if self.unavailable else ""
            return f"holds at every size{beside}, up to {self._at(self.holds)}"
        return f"holds up to {self._at(self.holds)}, not at {self._at(self.fails)}" if self.holds else (
            f"does not hold at {self._at(self.fails)}, the smallest size"
        )  # fmt: skip

    @property
    def ran(self) -> int:
        """The number of sizes that ran."""
        return sum(rung.state in ("holds", "fails", "not known") for rung in self.rungs)

    def in_words(self) -> str:
        """The outcome, with its reason and the number of sizes that ran: "hello holds up to n=6, not at n=7 (r000043 failed): 5 of
        12 sizes ran".
        """
        why = next((rung.why for rung in self.rungs if rung.size == self.fails and rung.why), "")
        return f"{self.label} {self.outcome}{f' ({why})' if why else ''}: {self.ran} of {plural(len(self.rungs), 'size')} ran"

    def _at(self, size: str) -> str:
        return f"{self.along}={size}"


def ladders_of(component: Component, document: Document, record: Record) -> list[LadderRow]:
    """Purpose: the ladders of a component, in the order of the plan, round by round; empty if it has none."""
    ladder = component.ladder
    if ladder is None:
        return []
    cases = {case.id: case for case in document.cases if case.id in component.cases}
    every = rungs_of(ladder, [cases[name] for name in component.cases if name in cases])
    rounds = 1 + times_again(component, record)
    found = []
    for number in range(1, rounds + 1):
        results = _results(component, record, number)
        rows = [_row(component, ladder, rungs, cases, results) for rungs in every]
        beside = f", round {number}" if rounds > 1 else ""
        found += [replace(row, label=row.label + beside, round=number) for row in rows]
    return found


Results = Mapping[str, Mapping[int, Sequence[RunRow]]]  # case -> repeat -> attempts


def _results(component: Component, record: Record, number: int) -> Results:
    """The attempts at the results of one round."""
    newest = newest_results(record)
    first, last = (number - 1) * component.repeats + 1, number * component.repeats
    found: dict[str, dict[int, list[RunRow]]] = {}
    for row in record.current():
        mine = row.component == component.name and not row.mode and first <= row.repeat <= last
        if mine and row.result == newest[result_key(row)]:
            found.setdefault(row.case, {}).setdefault(row.repeat, []).append(row)
    return found


class _Size(Struct, frozen=True):
    """The closed results of one size. ``bad``: the first run that neither passed nor ended as its case expects."""

    rows: tuple[RunRow, ...] = ()
    good: tuple[bool, ...] = ()
    value: float | None = None

    @property
    def bad(self) -> RunRow | None:
        return next((row for row, good in zip(self.rows, self.good, strict=True) if not good), None)


def _size(ladder: Ladder, case: Case, own: Mapping[int, Sequence[RunRow]]) -> _Size:
    rows = tuple(last for attempts in own.values() if (last := _closed(attempts)) is not None)
    good = tuple(row.verdict in ("passed", case.expect or "passed") for row in rows)
    return _Size(rows, good, _median(ladder, rows))


def _row(
    component: Component, ladder: Ladder, rungs: tuple[Rung, ...], cases: Mapping[str, Case], results: Results
) -> LadderRow:
    sizes = {rung.case: _size(ladder, cases[rung.case], results.get(rung.case, {})) for rung in rungs}
    smallest = sizes[rungs[0].case].value

    def word(rung: Rung) -> Word:
        size = sizes[rung.case]
        spared = any(row.verdict == SPARED for row in size.rows)
        return word_of(ladder, size.good, spared, component.repeats, size.value, smallest)

    climbed = climb(rungs, word)
    first = cases[rungs[0].case]
    others = [f"{name}={value}" for name, value in first.parameters if name != ladder.along]
    return LadderRow(
        component.name,
        first.test,
        f"{first.test}/{','.join(others)}" if others else first.test,
        ladder.along,
        climbed.holds.size if climbed.holds else "",
        climbed.fails.size if climbed.fails else "",
        over=climbed.next is None,
        lost=climbed.lost is not None,
        rungs=tuple(_rung(ladder, rung, climbed, word, sizes[rung.case]) for rung in rungs),
        figure=ladder.figure,
        within=ladder.within,
        unavailable=_cannot_run(ladder, first, cases.values()),
    )


def _cannot_run(ladder: Ladder, one: Case, cases: Iterable[Case]) -> tuple[str, ...]:
    """The sizes that this system cannot run, of the ladder to which this case belongs."""

    def others(case: Case) -> dict[str, str]:
        return {name: value for name, value in case.parameters if name != ladder.along}

    mine = [case for case in cases if case.unavailable and (case.test, others(case)) == (one.test, others(one))]
    return tuple(dict(case.parameters).get(ladder.along, "") for case in mine)


def _rung(ladder: Ladder, rung: Rung, climbed: Climb, word: Callable[[Rung], Word], size: _Size) -> RungRow:
    if rung.case not in climbed.known:
        waits = climbed.next is not None and (rung.case in climbed.between or rung == climbed.next)
        return RungRow(rung.case, rung.size, "to come" if waits else "spared", value=size.value)
    if word(rung) == "holds":
        return RungRow(rung.case, rung.size, "holds", len(size.rows), size.value)
    if size.bad is not None:
        why = f"{size.bad.run} {size.bad.verdict}"
    else:
        why = f"{ladder.figure} is too far off" if size.value is not None else "no value"
    return RungRow(rung.case, rung.size, "fails", len(size.rows), size.value, why)


def _closed(attempts: Sequence[RunRow]) -> RunRow | None:
    """The last attempt of a result; None if another attempt will follow."""
    last = max(attempts, key=lambda row: row.attempt)
    return None if last.retried or last.verdict == UNDETERMINED else last


def _median(ladder: Ladder, rows: Iterable[RunRow]) -> float | None:
    if not ladder.figure:
        return None
    values = [row.elapsed_s if ladder.figure == "elapsed" else row.figures.get(ladder.figure) for row in rows]
    numbers = [value for value in values if value is not None]
    return median(numbers) if numbers else None
