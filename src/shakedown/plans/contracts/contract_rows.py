"""Match contract rows to cases: of a contract's rows on the same figure, the most specific one is in force, for each bound.

A row that bounds one side keeps the other side of a more general one: 10..20 GB/s, and >= 5 GB/s where the memory is slower, is
5..20 there.
"""

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
    """The result of matching rows to cases.

    ``in_force``: case -> names of its rows, in the order of the contracts. ``sides``: case -> (row, low or high), of rows with two
    bounds of which only that one is in force. ``matched``: row -> every case it asks about. ``lost``: (row, winner) -> the cases
    where the winner is more specific, on some side. ``ties``: rows that bound the same side and are
    equally specific; ``contradictions``: rows in force together that no value can meet; both with a case they meet in.
    """

    in_force: dict[str, tuple[str, ...]] = field(default_factory=dict)
    matched: dict[str, list[str]] = field(default_factory=dict)
    lost: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    sides: dict[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    ties: dict[tuple[str, str], str] = field(default_factory=dict)
    contradictions: dict[tuple[str, str], str] = field(default_factory=dict)


def match_rows(contracts: Iterable[Contract], cases: Iterable[Case], system: str) -> Matching:
    """Purpose: match rows to cases: the rows in force for each case, with the decisions that led to them."""
    rows = [row for contract in contracts for row in contract.rows]
    by_test: dict[str, list[ContractRow]] = defaultdict(list)
    for row in rows:
        by_test[row.test].append(row)
    matching = Matching(matched={row.name: [] for row in rows})
    for case in cases:
        mine = [row for row in by_test.get(case.test, ()) if matches(row, case, system)]
        for row in mine:
            matching.matched[row.name].append(case.id)
        winners = {
            name: sides for rivals in _rivals(mine) for name, sides in _compete(rivals, case.id, matching).items()
        }
        matching.in_force[case.id] = tuple(row.name for row in mine if row.name in winners)
        halves = [
            (row.name, winners[row.name][0])
            for row in mine
            if row.name in winners and len(winners[row.name]) < len(_bounds(row))
        ]
        matching.sides |= {case.id: tuple(halves)} if halves else {}
    return matching


def _rivals(rows: Sequence[ContractRow]) -> Iterable[list[ContractRow]]:
    groups: dict[tuple[str, ...], list[ContractRow]] = defaultdict(list)
    for row in rows:
        groups[subject(row)].append(row)
    return groups.values()


def _bounds(row: ContractRow) -> tuple[str, ...]:
    """The sides that a row bounds."""
    return (("low",) if row.low is not None else ()) + (("high",) if row.high is not None else ())


def _compete(rivals: list[ContractRow], case: str, matching: Matching) -> dict[str, tuple[str, ...]]:
    """The rows in force among rivals for a case, each with the sides (low, high) on which it is the most specific."""
    found: dict[str, tuple[str, ...]] = {}
    on: dict[str, list[ContractRow]] = {}
    for side in ("low", "high"):
        mine = [row for row in rivals if side in _bounds(row)]
        best = max(map(specificity, mine), default=(0, 0))
        on[side] = [row for row in mine if specificity(row) == best]
        for winner in on[side]:
            found[winner.name] = (*found.get(winner.name, ()), side)
            for row in mine:
                if specificity(row) < best:
                    _lose(row, winner, case, matching)
        for first, second in combinations(on[side], 2):
            matching.ties.setdefault((first.name, second.name), case)
    for lower in on["low"]:
        for upper in on["high"]:
            if _contradict(lower, upper):
                first, second = sorted((lower, upper), key=rivals.index)
                matching.contradictions.setdefault((first.name, second.name), case)
    return found


def _lose(row: ContractRow, winner: ContractRow, case: str, matching: Matching) -> None:
    cases = matching.lost.setdefault((row.name, winner.name), [])
    if case not in cases[-1:]:
        cases.append(case)


def _contradict(lower: ContractRow, upper: ContractRow) -> bool:
    """Whether no value can meet both the lower bound of one row and the upper bound of the other."""
    if lower.low is None or upper.high is None:
        return False
    return lower.low > upper.high or (lower.low == upper.high and (lower.strict or upper.strict))


def why_it_wins(winner: ContractRow, loser: ContractRow) -> str:
    """A sentence on why one row is more specific than another."""
    more, less = specificity(winner), specificity(loser)
    if more[0] > less[0]:
        return f"it names {_keys(more[0])}, the other {_keys(less[0])}"
    return f"it names single values for {_keys(more[1])}, the other for {_keys(less[1])}"


def _keys(count: int) -> str:
    return "no key" if not count else "1 key" if count == 1 else f"{count} keys"
