"""Whether runs left identical files: the share of the compared runs whose files equal those of most runs of their group.
The runs of one case are a group; ``across`` joins cases that differ only in these parameters, the toolchain or the partition.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from msgspec import Struct

from shakedown.metrics.judging.populations import Population, completed
from shakedown.metrics.judging.scope import MeasureContext
from shakedown.metrics.judging.scorecard import Measured
from shakedown.metrics.rows.rows import RunRow
from shakedown.metrics.words import plural, show_share
from shakedown.model.judging import Criterion
from shakedown.model.nouns import Case, Test
from shakedown.model.recorded import Recorded, differing, recorded_checks

PARTITION = "partition"
_NAMED = 3  # the most groups with differing runs, and the most such runs of a group, that one sentence names


class Left(Struct, frozen=True):
    """One run and the recorded sums of its files; None if nothing was recorded."""

    row: RunRow
    recorded: Recorded | None


class Group(Struct, frozen=True):
    """Runs that must have left identical files. ``usual``: the runs with the most frequent sum."""

    left: tuple[Left, ...]

    @property
    def usual(self) -> list[Left]:
        kinds: dict[str, list[Left]] = defaultdict(list)
        for one in self.left:
            if one.recorded is not None:
                kinds[one.recorded.sum].append(one)
        return max(kinds.values(), key=len, default=[])

    @property
    def hits(self) -> int:
        """The number of identical runs; if all runs differ it is 1, for the run that the others are compared with."""
        return len(self.usual)


def identical(criterion: Criterion, population: Population, around: MeasureContext) -> Measured:
    """Purpose: identical runs / compared runs, and which runs differ from the rest."""
    groups = _groups(criterion, population, around)
    compared = [group for group in groups if len(group.left) > 1]
    hits, total = sum(group.hits for group in compared), sum(len(group.left) for group in compared)
    coming = population.most_to_come
    if not total:
        later = (
            f"; {population.to_come} to come" if population.unfinished else f"; {population.why_open}" if coming else ""
        )
        return Measured(None, 0, "", reason=f"no two runs recorded {criterion.files}, so nothing is compared{later}")
    value = hits / total
    text = f"{hits} identical / {plural(total, 'run')} compared = {show_share(value, criterion.bound)}"
    alone = len(groups) - len(compared)
    told = [_minority(group) for group in compared if group.hits < len(group.left)]
    notes = told[:_NAMED] + ([f"and {plural(len(told) - _NAMED, 'group')} more"] if len(told) > _NAMED else [])
    notes += [f"{plural(alone, 'run')} had no other to be compared with"] if alone else []
    low, high = _reach(hits, total, alone, coming)
    return Measured(value, total, "; ".join([text, *notes]), min(low, value), max(high, value))


def _reach(hits: int, total: int, alone: int, coming: int) -> tuple[float, float]:
    """The lowest and highest share still possible: all future runs differ, or none does and each single run finds an equal one."""
    if not coming:
        return hits / total, hits / total
    most = total + alone + coming
    return hits / most, (hits + alone + coming) / most


def _groups(criterion: Criterion, population: Population, around: MeasureContext) -> list[Group]:
    """The completed runs of cases that record these files, grouped by what must be equal."""
    tests = {test.name: test for test in around.document.tests}
    found: dict[tuple[object, ...], list[Left]] = defaultdict(list)
    for runs in population.cases:
        pattern = _pattern(criterion.files, runs.case, tests)
        if pattern is not None:
            mine = [Left(row, row.recorded.get(pattern)) for row in runs.rows if completed(row)]
            found[_key(runs.case, criterion.across)] += mine
    return [Group(tuple(left)) for left in found.values() if left]


def _pattern(written: str, case: Case, tests: Mapping[str, Test]) -> str | None:
    """The file pattern that a case records, if its test writes the pattern of the criterion; else None."""
    test = tests.get(case.test)
    own = dict(case.checks)
    for check in recorded_checks(test) if test is not None else ():
        mine = own.get(check.text, check).subject
        if written in (check.subject, mine):
            return mine
    return None


def _key(case: Case, across: Sequence[str]) -> tuple[object, ...]:
    """The group key of a case: the test, the partition and the parameters, without those that the criterion compares across."""
    parameters = tuple(pair for pair in case.parameters if pair[0] not in across)
    return case.test, "" if PARTITION in across else case.partition, parameters


def _minority(group: Group) -> str:
    """A sentence: which runs differ from the rest, and in which files where that is known."""
    usual = group.usual
    others = [one for one in group.left if one not in usual]
    named = ", ".join(f"{one.row.run} ({one.row.case})" for one in others[:_NAMED])
    more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
    verb = "differs" if len(others) == 1 else "differ"
    if not usual:
        return f"{named}{more} recorded nothing"
    rest = f"from {usual[0].row.run}" if len(usual) == 1 else f"from the other {len(usual)}"
    rest += f" ({usual[0].row.case})" if usual[0].row.case != others[0].row.case else ""
    return f"{named}{more} {verb} {rest}{_where(others[0], usual[0])}"


def _where(one: Left, usual: Left) -> str:
    """The files in which the first differing run differs, in words."""
    if one.recorded is None or usual.recorded is None:
        return ": nothing was recorded of it" if one.recorded is None else ""
    files = differing(one.recorded, usual.recorded)
    if not files:
        return ""
    more = f" and {len(files) - 2} more files" if len(files) > 2 else ""
    return f" in {', '.join(files[:2])}{more}"
