"""What an act of a person takes away from the judging: runs, time, criteria or bounds. ``taken`` is the way in.

The campaign as judged is compared with the campaign without the act and, for an amendment, the two plans are compared. An act
that takes nothing away restricts nothing, whatever its name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from shakedown.metrics.clock import Clock, Hours
from shakedown.metrics.judging.asked_less import asks_less, eases_runs
from shakedown.metrics.judging.default_criteria import DRILL_TIMES
from shakedown.metrics.judging.from_outputs import WELL
from shakedown.metrics.judging.people import Act
from shakedown.metrics.judging.scorecard import CriterionScore, Scorecard
from shakedown.metrics.rows.rows import RunRow
from shakedown.metrics.rows.table import Record
from shakedown.metrics.words import plural
from shakedown.model.events import EPOCH_ACTS
from shakedown.model.nouns import Document
from shakedown.model.units import show_duration

MOVES_CLOCKS = frozenset({"clock", "pause", "amend"}) | EPOCH_ACTS
Clocks = Mapping[str, Clock | None]
Runs = Mapping[str, frozenset[str]]  # component -> runs
_LEAST_S = 1e-6  # of clock time; shorter times are rounding errors


def taken(
    kind: str,
    judged: Scorecard,
    without: Scorecard,
    documents: tuple[Document, Document],
    runs: tuple[Runs, Runs],
    clocks: tuple[Clocks, Clocks] | None = None,
    step: tuple[Document, Document, Document] | None = None,
    relied: bool = False,
    held: bool = False,
    beside: bool = False,
) -> tuple[str, ...]:
    """Purpose: what the act takes away, one phrase each. ``documents``, ``runs`` (those counted) and ``clocks``: as judged, and
    without the act; no clocks if the act moves none. ``step``: for an amendment, the plan before it, the plan that it put into
    force, and the last plan before it that every party agreed to; ``relied``: counting results were ordered or judged in the
    meantime; ``held``: the act held work back. The runs and the clock time without it are unknown then: such an act takes no
    time. ``beside``: other acts are left out too, so something may still be to come even as judged.
    """
    found = list(_by_amendment(*step, documents[0], relied)) if step is not None else []
    found += _runs(*runs)
    found += _time(documents[0], *clocks) if clocks and not held else []
    if kind in ("drain", "cancel"):
        found += _ended(without, judged if beside else None)
    if kind in ("rule", "clock", "drill") or kind in EPOCH_ACTS:
        found += _values(judged, without)
    return tuple(dict.fromkeys(found))


def _by_amendment(before: Document, after: Document, agreed: Document, now: Document, relied: bool) -> tuple[str, ...]:
    """What an amendment removed from the agreed plan, unless the plan in force requires all of it again: a second amendment hides
    nothing of the first, and requirements that one party alone had added are not lost.

    Removals that results keep count as taken if counting results came about while the amendment was in force.
    """
    lasting = bool(asks_less(before, now) and asks_less(agreed, now))
    of = asks_less if lasting else eases_runs
    step, had = of(before, after), of(agreed, before)
    if not step or not (lasting or relied):
        return ()
    return tuple(what for what in of(agreed, after) if what not in had or what in step)


def turned(now: Scorecard, without: Scorecard) -> dict[str, str]:
    """Purpose: what is met with some acts and not met without them: phrase -> the calculation without them, for criteria and
    contract rows, whatever the acts touched. An act that turns *not met* into *met* restricts, even if no other rule reports its
    change.
    """
    mine = _criteria(now)
    found = {
        f"what keeps {name} of {component} from being met": item.arithmetic or item.reason
        for (component, name), item in _criteria(without).items()
        if item.outcome == "not met" and (component, name) in mine and mine[component, name].outcome == "met"
    }
    rows = {score.row.name: score.outcome for score in now.contract.rows} if now.contract else {}
    return found | {
        f"what keeps contract row {score.row.name} from being met": score.arithmetic or score.reason
        for score in (without.contract.rows if without.contract else ())
        if score.outcome == "not met" and rows.get(score.row.name) == "met"
    }


def _runs(now: Runs, without: Runs) -> Iterator[str]:
    """Runs that count without the act but not with it, even if other runs are counted in their place."""
    for name, runs in without.items():
        gone = runs - now.get(name, frozenset())
        if gone:
            yield f"{plural(len(gone), 'run')} of {name}"


def _ended(without: Scorecard, judged: Scorecard | None) -> Iterator[str]:
    there = {part.name: part.to_come for part in judged.components} if judged is not None else {}
    for part in without.components:
        if part.to_come > there.get(part.name, 0):
            yield f"what was still to come of {part.name}"


def _values(judged: Scorecard, without: Scorecard) -> Iterator[str]:
    """Losses in what a criterion counts although all runs remain: values, lost runs, interrupts, or a drill's time."""
    now = _criteria(judged)
    for key, item in _criteria(without).items():
        mine = now.get(key)
        if mine is not None and mine.count < item.count:
            yield f"{item.count - mine.count} of the {item.count} that {key[1]} of {key[0]} would count"
        elif mine is not None and (less := _shorter(mine, item)):
            yield f"{less} that {key[1]} of {key[0]} would count"
        elif mine is not None and _ruled_out(mine) > _ruled_out(
            item
        ):  # of a criterion that counts rows, not their values
            more = _ruled_out(mine) - _ruled_out(item)
            yield f"{plural(more, 'run')} that {key[1]} of {key[0]} would ask about"


def values_replaced(act: Act, record: Record, counted: Runs) -> Iterator[str]:
    """Purpose: runs whose values counted, until an act had them judged again. ``counted``: the runs that count."""
    before = {row.seq: row for row in record.runs}
    for name, runs in counted.items():
        mine = [row for row in record.runs if row.seq in act.follows and row.run in runs and row.component == name]
        gone = [row for row in mine if _has_values(before.get(row.supersedes)) and not _has_values(row)]
        if gone:
            yield f"the values of {plural(len(gone), 'run')} of {name}"


def _has_values(row: RunRow | None) -> bool:
    return row is not None and row.verdict in WELL and bool(row.figures or row.elapsed_s is not None)


def _shorter(mine: CriterionScore, without: CriterionScore) -> str:
    """How much shorter a drill's hole, or the time until the load was restored, is with the act; "" if it is not shorter."""
    if without.measure not in DRILL_TIMES or mine.measured is None or without.measured is None:
        return ""
    less = without.measured - mine.measured
    return f"{show_duration(less)} of the {show_duration(without.measured)}" if less > _LEAST_S else ""


def _ruled_out(item: CriterionScore) -> int:
    return sum(count for why, count in item.left_out if why.startswith("ruled "))


def _criteria(scorecard: Scorecard) -> Mapping[tuple[str, str], CriterionScore]:
    return {(part.name, item.name): item for part in scorecard.components for item in part.criteria}


def _time(document: Document, now: Clocks, before: Clocks) -> Iterator[str]:
    """Clock time that counts without the act but not with it, even if the clock ran equally long in total."""
    timed = {part.name for part in document.components if part.duration_s}
    for name, clock in before.items():
        mine = now.get(name)
        if name not in timed or clock is None:
            continue
        hours = Hours(mine.spans if mine else ())
        less = sum(end - begin - hours.inside((begin, end)) for begin, end in clock.spans)
        if less > _LEAST_S:
            yield f"{show_duration(less)} of clock time of {name}"
