"""Whether one bound accepts values that another one does not, by the accepted values and not by how the bound is written.

``= 100%`` of runs and ``>= 100%`` of runs are the same bound, because no share of runs exceeds all; ``> 4`` accepts less than ``>=
4``.
"""

from __future__ import annotations

from math import inf

from msgspec import Struct

from shakedown.model.bounds import same
from shakedown.model.judging import ContractRow, Criterion
from shakedown.model.measures import measure_named


class _Span(Struct, frozen=True):
    """The values from ``low`` to ``high``; ``above``: ``low`` itself is excluded; ``below``: ``high`` itself is excluded."""

    low: float = -inf
    high: float = inf
    above: bool = False
    below: bool = False

    def is_within(self, other: _Span) -> bool:
        low = self.low > other.low and not same(self.low, other.low)
        high = self.high < other.high and not same(self.high, other.high)
        low = low or (same(self.low, other.low) and self.above >= other.above)
        return low and (high or (same(self.high, other.high) and self.below >= other.below))


def admits_more(before: Criterion, after: Criterion) -> bool:
    """Purpose: whether the later bound of a criterion accepts a value that the earlier one rejects; True if the units differ."""
    if before.unit != after.unit:
        return True
    return not _of_criterion(after).is_within(_of_criterion(before))


def is_as_tight(after: ContractRow, before: ContractRow) -> bool:
    """Purpose: whether a later contract row of the same subject accepts only values that the earlier one accepts."""
    return _of_row(after).is_within(_of_row(before))


def _of_criterion(criterion: Criterion) -> _Span:
    """The values that a bound accepts, within the measure's possible range: a share of runs lies between none and all."""
    bound, strict = criterion.bound, "=" not in criterion.comparison
    if criterion.comparison == "=":
        return _Span(bound, bound)
    declared = measure_named(criterion.measure)
    share = declared is not None and declared.bound == "share"
    most = 1.0 if share and declared is not None and not declared.beyond_all else inf
    least = 0.0 if share and declared is not None and not declared.negative else -inf
    if criterion.comparison[0] == ">":
        return _Span(bound, max(most, bound), above=strict)
    return _Span(min(least, bound), bound, below=strict)


def _of_row(row: ContractRow) -> _Span:
    low, high = -inf if row.low is None else row.low, inf if row.high is None else row.high
    return _Span(low, high, row.strict and row.low is not None, row.strict and row.high is not None)
