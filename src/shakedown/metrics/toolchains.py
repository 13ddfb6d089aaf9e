"""One test with several toolchains: builds, runs, whether runs left identical files, and the speed with each toolchain.

Start reading at ``toolchains_of``. A failed build is a result: its toolchain is in the matrix with the reason.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from shakedown.metrics import statistics
from shakedown.metrics.judging.populations import (
    CaseRuns,
    Population,
    as_expected,
    completed,
    count_verdicts,
    counts_as_passed,
)
from shakedown.metrics.judging.scope import ELAPSED
from shakedown.metrics.rows.table import Record
from shakedown.model.figures import FigureSpec, Pairs, with_rows
from shakedown.model.nouns import Case, Document

TOOLCHAIN = "toolchain"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Speed(Struct, frozen=True):
    """A figure with one toolchain, in ``unit``. ``times``: its median over that of the first toolchain with a value, inverted if
    lower is better, so that above 1 is faster.
    """

    figure: str
    unit: str
    count: int
    median: float
    times: float


class Bits(Struct, frozen=True):
    """The files of one pattern that runs with one toolchain left: letter -> how many runs. Equal letters mean identical files,
    across toolchains; "-" means that a run recorded nothing.
    """

    pattern: str
    kinds: tuple[tuple[str, int], ...]

    @property
    def words(self) -> str:
        """The letters with their counts: "A 5, B 1"."""
        return ", ".join(f"{letter} {count}" for letter, count in self.kinds)


class Built(Struct, frozen=True):
    """One toolchain of a matrix. ``build``: done, failed, or "" without a build; ``why``: why it failed, or cannot run here.

    ``passed`` of ``runs``; ``verdicts``: of all runs. ``expected``: the verdict that the plan expects; ``as_expected``: all ended
    so.
    """

    toolchain: str
    case: str
    build: str
    why: str
    runs: int
    passed: int
    verdicts: tuple[tuple[str, int], ...]
    expected: str = ""
    as_expected: bool = False
    available: bool = True
    bits: tuple[Bits, ...] = ()
    speeds: tuple[Speed, ...] = ()


class Matrix(Struct, frozen=True):
    """A test, with its other parameters, on all its toolchains. ``identical``: pattern -> whether all runs that reached their end
    left identical files; patterns that fewer than two runs recorded are omitted.
    """

    component: str
    test: str
    where: Pairs
    partition: str
    columns: tuple[Built, ...]
    identical: tuple[tuple[str, bool], ...] = ()

    @property
    def name(self) -> str:
        said = ",".join(f"{key}={value}" for key, value in self.where)
        return f"{self.test}/{said}" if said else self.test


def toolchains_of(document: Document, people: Mapping[str, Population], record: Record) -> list[Matrix]:
    """Purpose: a matrix for each test, with its other parameters, that has at least two toolchains; in the order of the plan."""
    cases = {case.id: case for case in document.cases}
    groups: dict[tuple[str, str, Pairs, str], list[tuple[Case, CaseRuns | None, str]]] = defaultdict(list)
    for component, population in people.items():
        known = {runs.case.id: runs for runs in population.cases}
        missing = {row.case: row.reason for row in population.unavailable}
        for name in (*known, *missing):
            case = cases.get(name)
            if case is not None and case.toolchain:
                where = tuple(pair for pair in case.parameters if pair[0] != TOOLCHAIN)
                found = case, known.get(name), missing.get(name, "")
                groups[component, case.test, where, case.partition].append(found)
    order = {case.id: place for place, case in enumerate(document.cases)}
    return [
        _matrix(key, sorted(found, key=lambda one: order[one[0].id]), document, record)
        for key, found in groups.items()
        if len({case.toolchain for case, _, _ in found}) > 1
    ]


def _matrix(
    key: tuple[str, str, Pairs, str],
    found: Sequence[tuple[Case, CaseRuns | None, str]],
    document: Document,
    record: Record,
) -> Matrix:
    runs = [mine for _, mine, _ in found if mine is not None]
    letters = _letters(runs)
    first: dict[str, float] = {}
    columns = []
    for case, mine, why in found:
        build = record.builds.get(case.build) if case.build else None
        rows = mine.rows if mine is not None else ()
        failed = build is not None and build.state == "failed"
        columns.append(
            Built(
                case.toolchain,
                case.id,
                build.state if build is not None else "",
                why or (build.reason if build is not None and failed else ""),
                len(rows),
                sum(counts_as_passed(row, case) and not as_expected(row, case) for row in rows),
                tuple(count_verdicts(rows).items()),
                case.expect,
                bool(rows) and all(as_expected(row, case) for row in rows),
                mine is not None,
                tuple(_bits(mine, letters)) if mine is not None else (),
                tuple(_speeds(mine, document, first)) if mine is not None else (),
            )
        )
    return Matrix(*key, tuple(columns), tuple(_identical(runs, letters)))


def _letters(runs: Sequence[CaseRuns]) -> dict[str, dict[str, str]]:
    """Pattern -> sum -> its letter; A is the most frequent sum over all toolchains."""
    counts: dict[str, Counter[str]] = {}
    for row in (row for mine in runs for row in mine.rows if completed(row)):
        for pattern, one in row.recorded.items():
            counts.setdefault(pattern, Counter())[one.sum] += 1
    return {
        pattern: {total: _letter(place) for place, (total, _) in enumerate(count.most_common())}
        for pattern, count in counts.items()
    }


def _letter(place: int) -> str:
    """The letters A to Z, then A1 to Z1 and so on."""
    return _LETTERS[place % len(_LETTERS)] + (str(place // len(_LETTERS)) if place >= len(_LETTERS) else "")


def _bits(runs: CaseRuns, letters: Mapping[str, Mapping[str, str]]) -> Iterator[Bits]:
    rows = [row for row in runs.rows if completed(row)]
    for pattern, known in letters.items() if rows else ():
        counts = Counter(known[row.recorded[pattern].sum] if pattern in row.recorded else "-" for row in rows)
        yield Bits(pattern, tuple(counts.most_common()))


def _identical(runs: Sequence[CaseRuns], letters: Mapping[str, Mapping[str, str]]) -> Iterator[tuple[str, bool]]:
    rows = [row for mine in runs for row in mine.rows if completed(row)]
    for pattern, known in letters.items():
        if sum(pattern in row.recorded for row in rows) > 1:
            yield pattern, len(known) == 1 and all(pattern in row.recorded for row in rows)


def _speeds(runs: CaseRuns, document: Document, first: dict[str, float]) -> Iterator[Speed]:
    """The speeds with one toolchain. ``first``: figure -> the median of the first toolchain with a value; this call adds to it."""
    for spec in _specs(runs, document):
        values = [value for _, value in runs.values(spec.name)]
        if values:
            median = statistics.median(values)
            base = first.setdefault(spec.name, median)
            over, under = (base, median) if spec.better == "lower" else (median, base)
            yield Speed(spec.name, spec.unit, len(values), median, over / under if under else 0.0)


def _specs(runs: CaseRuns, document: Document) -> Iterator[FigureSpec]:
    test = next((test for test in document.tests if test.name == runs.case.test), None)
    seen = (name for row in runs.rows for name in row.figures)
    yield from (ELAPSED, *with_rows(test.of(runs.case).figures if test is not None else (), seen))
