"""The runs that had the machine as their mode requires: alone (isolated), or full of copies (fill). Times: seconds since 1970.

Start reading at ``set_aside``. Both modes have one rule: the condition must hold for at least the mode's ``overlap`` (95 %) of
a run's time. The remaining twentieth is the time in which a scheduler starts and ends a set of copies; a slowdown that acts on a
full machine is then measured at 95 % of its size or more.

A copy that outlives the others has no full machine at its end, yet it is what a fill looks for: see ``_stragglers``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import fmean, median

from shakedown.metrics.rows.rows import RunRow
from shakedown.metrics.words import plural, show_share
from shakedown.model.bounds import same
from shakedown.model.nouns import Mode

Span = tuple[float, float]
NO_TIMES = "its times are not known"
_NEXT_TO_NOTHING = 0.001  # as a share: smaller values are shown as "less than" this


def set_aside(
    mode: Mode, rows: Sequence[RunRow], required: int, copies: Sequence[RunRow], neighbours: Steps | None
) -> dict[str, str]:
    """Purpose: the runs of one case in one mode whose figures do not count, each with the reason.

    ``required``: how many copies fill the machine. ``copies``: all runs of the case in the mode, including those that are no longer
    wanted and warm-ups, whatever their verdict.
    ``neighbours``: all runs of the campaign on the same partition. Both include ``rows``.
    """
    if mode.name == "fill":
        what = f"the machine was full ({plural(required, 'copy', 'copies')} at once)"
        steps = Steps(spans_of(copies))
        found = _aside(rows, mode, steps, lambda count: count >= required, what)
        slow = _stragglers(rows, found, mode, steps, required)
        return {run: why for run, why in found.items() if run not in slow}
    return _aside(rows, mode, neighbours or Steps(spans_of(copies)), lambda count: count <= 1, "it was alone")


def _stragglers(
    rows: Sequence[RunRow], aside: Mapping[str, str], mode: Mode, steps: Steps, required: int
) -> frozenset[str]:
    """Copies that started on the full machine and took longer than the copies that had it throughout: they count, however long.

    Longer means at least their mean and median, so that fast runs on an emptying machine do not improve the fill.
    """
    full = [span for row in rows if row.run not in aside and right(row) and (span := span_of(row))]
    times = [end - begin for begin, end in full]
    if not times:
        return frozenset()
    usual = max(fmean(times), median(times))
    moment = (1 - mode.overlap) * min(times)  # the time a scheduler needs to start a set

    def is_one(row: RunRow) -> bool:
        span = span_of(row)
        if span is None or (span[1] - span[0] < usual and not same(span[1] - span[0], usual)):
            return False
        return steps.ever((span[0], span[0] + moment), lambda count: count >= required)

    return frozenset(row.run for row in rows if row.run in aside and is_one(row))


def right(row: RunRow) -> bool:
    """Whether a run reached its end with the right answer."""
    return row.verdict in ("passed", "performance")


def _aside(rows: Sequence[RunRow], mode: Mode, steps: Steps, holds: Callable[[int], bool], what: str) -> dict[str, str]:
    found = {}
    for row in rows:
        span = span_of(row)
        had = steps.share(span, holds) if span else 0.0
        if span is None:
            found[row.run] = NO_TIMES
        elif had < mode.overlap and not same(had, mode.overlap):
            found[row.run] = f"{what} for {_only(had, mode.overlap)} of its time"
    return found


def _only(share: float, asked: float) -> str:
    """A share that is too small, in words; very small shares without meaningless digits."""
    return f"less than {_NEXT_TO_NOTHING:.1%}" if 0 < share < _NEXT_TO_NOTHING else f"only {show_share(share, asked)}"


def spans_of(rows: Iterable[RunRow]) -> Iterator[Span]:
    """The spans of the runs whose times are known."""
    return (span for row in rows if (span := span_of(row)))


def span_of(row: RunRow) -> Span | None:
    """When a run ran: from its start for as long as its own clock says; None if unknown."""
    if row.elapsed_s is not None and row.started is not None:
        return (row.started, row.started + row.elapsed_s)
    if row.elapsed_s is not None and row.ended is not None:
        return (row.ended - row.elapsed_s, row.ended)
    if row.started is not None and row.ended is not None and row.ended >= row.started:
        return (row.started, row.ended)
    return None


def most_at_once(rows: Iterable[RunRow]) -> int:
    """The largest number of these runs that ran at the same time."""
    return max(Steps(spans_of(rows)).counts, default=0)


class Steps:
    """How many of some spans hold at each time, as a step function. ``counts[i]`` holds from ``times[i]`` to ``times[i + 1]``."""

    def __init__(self, spans: Iterable[Span]) -> None:
        changes: dict[float, int] = {}
        for begin, end in spans:
            if end > begin:
                changes[begin] = changes.get(begin, 0) + 1
                changes[end] = changes.get(end, 0) - 1
        self.times = sorted(changes)
        self.counts: list[int] = []
        count = 0
        for time in self.times:
            count += changes[time]
            self.counts.append(count)

    def share(self, span: Span, holds: Callable[[int], bool]) -> float:
        """The share of a span in which the count meets the condition; 0 for a span of no length."""
        begin, end = span
        if end <= begin:
            return 0.0
        total = sum(until - at for (at, until), count in self.pieces(span) if holds(count))
        return min(1.0, total / (end - begin))

    def pieces(self, span: Span) -> Iterator[tuple[Span, int]]:
        """A span cut where the count changes, each piece with its count."""
        begin, end = span
        place, at = bisect_right(self.times, begin) - 1, begin
        while at < end:
            until = min(end, self.times[place + 1]) if place + 1 < len(self.times) else end
            yield (at, until), self.counts[place] if place >= 0 else 0
            place, at = place + 1, until

    def ever(self, span: Span, holds: Callable[[int], bool]) -> bool:
        """Whether the count meets the condition at any time of a span, its begin and end included."""
        first, last = bisect_right(self.times, span[0]) - 1, bisect_right(self.times, span[1])
        return any(holds(count) for count in self.counts[max(first, 0) : last])
