"""What an act of a person takes away: runs, time, criteria or bounds. ``taken`` is the way in.

It is found by comparing the campaign as it is judged with the campaign without the act, and, of an amendment, the two plans. An act
that takes nothing away restricts nothing, whatever it is called.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from shakedown.metrics.clock import Clock
from shakedown.metrics.judging.default_criteria import criteria_of
from shakedown.metrics.judging.scorecard import CriterionScore, Scorecard
from shakedown.metrics.words import plural, same
from shakedown.model.contracts import content
from shakedown.model.judging import ContractRow, Criterion
from shakedown.model.nouns import Component, Document
from shakedown.model.units import show_duration

MOVES_CLOCKS = frozenset({"clock", "pause", "change", "amend"})
Clocks = Mapping[str, Clock | None]
_LEAST_S = 1e-6  # of clock time: less is rounding


def taken(
    kind: str,
    judged: Scorecard,
    without: Scorecard,
    documents: tuple[Document, Document],
    clocks: tuple[Clocks, Clocks] | None = None,
) -> tuple[str, ...]:
    """Purpose: what the act takes away, a phrase each. ``documents`` and ``clocks``: as it is, and without the act; None where the
    act moves no clock.
    """
    found = list(_of_plans(*reversed(documents))) if kind == "amend" else []
    found += _runs(judged, without)
    found += _time(documents[0], *clocks) if clocks else []
    if kind in ("drain", "cancel"):
        found += _ended(without)
    if kind in ("rule", "change", "clock"):
        found += _values(judged, without)
    return tuple(dict.fromkeys(found))


def _runs(judged: Scorecard, without: Scorecard) -> Iterator[str]:
    now = {part.name: part.attempts for part in judged.components}
    for part in without.components:
        less = part.attempts - now.get(part.name, 0)
        if less > 0:
            yield f"{plural(less, 'run')} of {part.name}"


def _ended(without: Scorecard) -> Iterator[str]:
    for part in without.components:
        if part.to_come:
            yield f"what was still to come of {part.name}"


def _values(judged: Scorecard, without: Scorecard) -> Iterator[str]:
    """What a criterion counts less of, although the runs are all there."""
    now = _criteria(judged)
    for key, item in _criteria(without).items():
        mine = now.get(key)
        if mine is not None and mine.count < item.count:
            yield f"{item.count - mine.count} of the {item.count} that {key[1]} of {key[0]} would count"


def _criteria(scorecard: Scorecard) -> Mapping[tuple[str, str], CriterionScore]:
    return {(part.name, item.name): item for part in scorecard.components for item in part.criteria}


def _time(document: Document, now: Clocks, before: Clocks) -> Iterator[str]:
    timed = {part.name for part in document.components if part.duration_s}
    for name, clock in before.items():
        mine = now.get(name)
        less = (clock.ran if clock else 0.0) - (mine.ran if mine else 0.0)
        if less > _LEAST_S and name in timed:
            yield f"{show_duration(less)} of clock time of {name}"


# ---- two plans -------------------------------------------------------------------------------------------------------------


def _of_plans(old: Document, new: Document) -> Iterator[str]:
    """What a plan asked for and the one after it does not."""
    now = {part.name: part for part in new.components}
    for part in old.components:
        if part.name not in now:
            yield f"component {part.name} with its {plural(len(criteria_of(part)), 'criterion', 'criteria')}"
        else:
            yield from _of_component(part, now[part.name])
    yield from _of_rows(old, new)


def _of_component(old: Component, new: Component) -> Iterator[str]:
    if new.duration_s < old.duration_s:
        yield f"{show_duration(old.duration_s - new.duration_s)} of the duration of {old.name}"
    if new.repeats < old.repeats:
        yield f"{old.repeats - new.repeats} of {plural(old.repeats, 'repeat')} of {old.name}"
    modes = {mode.name: mode for mode in new.modes}
    for mode in old.modes:
        now = modes.get(mode.name)
        if now is None:
            yield f"mode {mode.name} of {old.name}"
        elif now.repeats < mode.repeats or (now.copies and now.copies < (mode.copies or now.copies + 1)):
            yield f"repeats or copies of mode {mode.name} of {old.name}"
        elif now.overlap < mode.overlap:
            yield f"the overlap that mode {mode.name} of {old.name} asks for"
    gone = [name for name in old.cases if name not in new.cases]
    if gone:
        yield f"{plural(len(gone), 'case')} of {old.name}"
    lost = [item.name for item in old.procedures if item.name not in {one.name for one in new.procedures}]
    if lost:
        yield f"{plural(len(lost), 'procedure')} of {old.name}"
    yield from _of_criteria(old, new)


def _of_criteria(old: Component, new: Component) -> Iterator[str]:
    now = {item.name: item for item in criteria_of(new)}
    for item in criteria_of(old):
        mine = now.get(item.name)
        what = f"criterion {item.name} of {old.name}"
        if mine is None:
            yield what
        elif mine.enough > item.enough:
            yield f"{what}: it is judged by {mine.enough} values or more, before by {item.enough}"
        elif _easier(item, mine):
            yield f"the bound {item.must or item.bound} of {what}: now {mine.must or mine.bound}"
        elif _other(item, mine):
            yield f"{what} as it was: it measures something else now"


def _easier(old: Criterion, new: Criterion) -> bool:
    """The bound lets more pass than before. Another comparison is another bound."""
    if old.comparison[:1] != new.comparison[:1] or old.unit != new.unit:
        return True
    if same(old.bound, new.bound):
        return old.comparison in ("<", ">") and new.comparison != old.comparison
    if old.comparison == "=":
        return True
    return new.bound < old.bound if old.comparison.startswith(">") else new.bound > old.bound


def _other(old: Criterion, new: Criterion) -> bool:
    fresh = {"name": "", "must": "", "bound": 0.0, "comparison": "=", "enough": 1, "clause": ""}
    return replace(old, **fresh) != replace(new, **fresh)


def _of_rows(old: Document, new: Document) -> Iterator[str]:
    """Contract rows by what they ask: a row that is gone or asks for less was a bound."""
    rows = [row for contract in new.contracts for row in contract.rows]
    asked = [content(row) for row in rows]
    for row in (row for contract in old.contracts for row in contract.rows):
        if content(row) not in asked and not any(_at_least(row, mine) for mine in rows):
            yield f"contract row {row.name}: {row.test} {row.figure} {row.must}"


def _at_least(old: ContractRow, new: ContractRow) -> bool:
    """A row of the same subject that asks for as much or more."""
    if _subject(old) != _subject(new):
        return False
    low = old.low is None or (new.low is not None and new.low >= old.low)
    high = old.high is None or (new.high is not None and new.high <= old.high)
    return low and high


def _subject(row: ContractRow) -> tuple[object, ...]:
    return row.test, row.figure, row.basis, row.where, row.statistic, row.mode, row.unit
