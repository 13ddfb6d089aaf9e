"""Contract rows matched to cases: of the rows of one contract that ask the same, the most specific is in force."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from shakedown.model.contracts import matches, specificity, subject
from shakedown.model.judging import Contract, ContractRow
from shakedown.model.nouns import Case


@dataclass(slots=True)
class Matching:
    """What became of rows and cases.

    ``in_force``: case -> names of its rows, in the order of the contracts. ``matched``: row -> every case it asks about.
    ``lost``: (row, winner) -> the cases where the winner is more specific. ``ties``: rows that bound the same side and are
    equally specific; ``contradictions``: rows in force together that no value can meet; both with a case they meet in.
    """

    in_force: dict[str, tuple[str, ...]] = field(default_factory=dict)
    matched: dict[str, list[str]] = field(default_factory=dict)
    lost: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    ties: dict[tuple[str, str], str] = field(default_factory=dict)
    contradictions: dict[tuple[str, str], str] = field(default_factory=dict)


def match_rows(contracts: Iterable[Contract], cases: Iterable[Case], system: str) -> Matching:
    """Purpose: the rows in force for every case, and all that was decided on the way."""
    rows = [row for contract in contracts for row in contract.rows]
    by_test: dict[str, list[ContractRow]] = defaultdict(list)
    for row in rows:
        by_test[row.test].append(row)
    matching = Matching(matched={row.name: [] for row in rows})
    for case in cases:
        mine = [row for row in by_test.get(case.test, ()) if matches(row, case, system)]
        for row in mine:
            matching.matched[row.name].append(case.id)
        winners = {row.name for rivals in _rivals(mine) for row in _compete(rivals, case.id, matching)}
        matching.in_force[case.id] = tuple(row.name for row in mine if row.name in winners)
    return matching


def _rivals(rows: Sequence[ContractRow]) -> Iterable[list[ContractRow]]:
    groups: dict[tuple[str, ...], list[ContractRow]] = defaultdict(list)
    for row in rows:
        groups[subject(row)].append(row)
    return groups.values()


def _compete(rivals: list[ContractRow], case: str, matching: Matching) -> list[ContractRow]:
    """The winners among rows that ask the same of a case: several only where they bound different sides."""
    best = max(specificity(row) for row in rivals)
    winners = [row for row in rivals if specificity(row) == best]
    for row in rivals:
        if specificity(row) < best:
            for winner in winners:
                matching.lost.setdefault((row.name, winner.name), []).append(case)
    for first, second in combinations(winners, 2):
        if _same_side(first, second):
            matching.ties.setdefault((first.name, second.name), case)
        elif _contradict(first, second) or _contradict(second, first):
            matching.contradictions.setdefault((first.name, second.name), case)
    return winners


def _same_side(first: ContractRow, second: ContractRow) -> bool:
    both_below = first.low is not None and second.low is not None
    return both_below or (first.high is not None and second.high is not None)


def _contradict(lower: ContractRow, upper: ContractRow) -> bool:
    """No value lies above the one's least and below the other's most."""
    if lower.low is None or upper.high is None:
        return False
    return lower.low > upper.high or (lower.low == upper.high and (lower.strict or upper.strict))


def why_it_wins(winner: ContractRow, loser: ContractRow) -> str:
    """In words: what makes one row more specific than another."""
    more, less = specificity(winner), specificity(loser)
    if more[0] > less[0]:
        return f"it names {_keys(more[0])}, the other {_keys(less[0])}"
    return f"it names single values for {_keys(more[1])}, the other for {_keys(less[1])}"


def _keys(count: int) -> str:
    return "no key" if not count else "1 key" if count == 1 else f"{count} keys"
