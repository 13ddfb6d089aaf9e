"""What limits a plan, measured: the same rehearsal with one thing loosened at a time, and what each of them gained.

``verdict_of`` is the table of contents. Nothing here is a guess: a change is advised where a rehearsal with it came out better, and
where none did that is what is said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from shakedown.metrics.judging.scorecard import Scorecard
from shakedown.metrics.words import show_share
from shakedown.model.units import show_duration

LEAST_GAIN = 0.01  # of the node-hours: less is the luck of the draw
ANOTHER_PLAN = (
    "filler",
    "gate",
    "mix",
)  # causes whose change makes another plan of it: advised where nothing else helps
ENOUGH = 0.9  # of the most that any value of a setting gained
_PART = 0.5  # of what everything together gains: a single change that gains less is not the whole story


class Judged(Struct, frozen=True):
    """A criterion in one rehearsal. ``lacks``: by how much it misses its bound, 0 = it does not; None = nothing was measured."""

    component: str
    name: str
    outcome: str
    says: str
    lacks: float | None

    @property
    def called(self) -> str:
        return f"{self.component}.{self.name}"


class Trial(Struct, frozen=True):
    """One rehearsal. ``change``: what was loosened, in words, "" = nothing; ``of_plan``: whether a person can do so.

    ``times``: how many times as much of what was loosened, 0 = there is no more or less of it. ``worked``: share of the
    node-hours; ``hours``: how long it took on the machine. ``fault``: why it could not be rehearsed.
    """

    cause: str
    change: str
    of_plan: bool
    times: float = 0.0
    worked: float = 0.0
    hours: float = 0.0
    criteria: tuple[Judged, ...] = ()
    fault: str = ""


class Advice(Struct, frozen=True):
    """What a criterion that is not met needs: ``met_by``: the changes with which it was met, ``nearer``: what came nearest."""

    criterion: Judged
    met_by: tuple[Trial, ...]
    nearer: Trial | None


class Verdict(Struct, frozen=True):
    """What was tried, the best first, and what follows. ``best``: the single change of the plan that gained most, None = none did;
    ``others``: those that gained something too, the best first, one of each thing.

    ``jointly``: those that help only together, with ``everything`` loosened at once. ``machine``: the trouble of the machine that
    costs most.
    """

    base: Trial
    tried: tuple[Trial, ...]
    best: Trial | None
    others: tuple[Trial, ...]
    jointly: tuple[Trial, ...]
    everything: Trial | None
    machine: Trial | None
    criteria: tuple[Advice, ...]


def judged_of(scorecard: Scorecard) -> tuple[Judged, ...]:
    """Purpose: the criteria of a rehearsal that is over, as trials compare them."""
    found = [(component.name, item) for component in scorecard.components for item in component.criteria]
    return tuple(
        Judged(
            name, item.name, item.outcome, item.arithmetic or item.reason, _lacks(item.measured, item.bound, item.must)
        )
        for name, item in found
    )


def _lacks(measured: float | None, bound: float, must: str) -> float | None:
    if measured is None:
        return None
    sign = must.strip()[:1]
    short = bound - measured if sign == ">" else measured - bound if sign == "<" else abs(bound - measured)
    return max(0.0, short)


def verdict_of(base: Trial, tried: Sequence[Trial], everything: Trial | None, without: Sequence[Trial]) -> Verdict:
    """Purpose: what the trials show. ``without``: everything loosened but the one that each names; empty where none is needed."""
    done = sorted((one for one in tried if not one.fault), key=lambda one: -one.worked)
    mine = _one_of_each(base, [one for one in done if one.of_plan and gain(base, one) >= LEAST_GAIN])
    machine = [one for one in done if not one.of_plan and gain(base, one) >= LEAST_GAIN]
    jointly: tuple[Trial, ...] = ()
    if everything is not None:
        needed = [one for one in without if everything.worked - one.worked >= LEAST_GAIN and not one.fault]
        jointly = tuple(sorted(needed, key=lambda one: one.worked))
    return Verdict(
        base,
        tuple(done),
        mine[0] if mine else None,
        tuple(mine[1:]),
        jointly,
        everything,
        machine[0] if machine else None,
        tuple(_advice(item, base, done) for item in base.criteria if item.outcome == "not met"),
    )


def falls_short(base: Trial, tried: Sequence[Trial], everything: Trial | None) -> bool:
    """Purpose: whether all changes together gain so much more than any alone that those that it takes are to be found."""
    if everything is None or everything.fault:
        return False
    mine = [one for one in tried if one.of_plan and not one.fault and one.cause not in ANOTHER_PLAN]
    best = max((gain(base, one) for one in mine), default=0.0)
    return gain(base, everything) >= LEAST_GAIN and best < _PART * gain(base, everything)


def gain(base: Trial, one: Trial) -> float:
    """Purpose: the share of the node-hours that a change gained; negative where it lost some."""
    return one.worked - base.worked


def _one_of_each(base: Trial, found: list[Trial]) -> list[Trial]:
    """Of each thing the smallest change that gains nearly as much as the best of its values."""
    of: dict[str, list[Trial]] = {}
    for one in found:
        of.setdefault(one.cause, []).append(one)
    best = []
    for same in of.values():
        most = max(gain(base, one) for one in same)
        best.append(min((one for one in same if gain(base, one) >= ENOUGH * most), key=lambda one: one.times))
    return sorted(best, key=lambda one: (one.cause in ANOTHER_PLAN, -one.worked))


def _advice(item: Judged, base: Trial, tried: Sequence[Trial]) -> Advice:
    """What is measured of one criterion, whatever it does to the node-hours."""
    met, nearest, least = [], None, item.lacks
    for one in tried:
        found = next((other for other in one.criteria if other.called == item.called), None)
        if found is None or found.lacks is None:
            continue
        if found.outcome in ("met", "waived"):
            met.append(one)
        elif least is not None and found.lacks < least * (1 - LEAST_GAIN):
            nearest, least = one, found.lacks
    return Advice(item, tuple(sorted(met, key=lambda one: not one.of_plan)), nearest)


# ---- in words ----------------------------------------------------------------------------------------------------------


def lines_of(verdict: Verdict) -> list[str]:
    """Purpose: what was tried, what each gained, what limits the plan, and what to change."""
    base = verdict.base
    lines = [f"tried, one thing at a time ({show_share(base.worked)} of the node-hours worked as it is):"]
    for one in verdict.tried:
        lines.append(f"  {_signed(gain(base, one)):>7}  {_called(one)}: {show_share(one.worked)}")
    return [*lines, *_limit_lines(verdict), *_criterion_lines(verdict)]


def _limit_lines(verdict: Verdict) -> list[str]:
    base, best, machine = verdict.base, verdict.best, verdict.machine
    if best is None and not verdict.jointly:
        lines = ["what limits it: no change of the plan that was tried gains 1% of the node-hours"]
        if machine is not None:
            lines[0] += f"; {machine.change} would ({_from_to(base, machine)})"
        return [*lines, "what to change: nothing is known that would make more of the machine work"]
    if verdict.jointly and verdict.everything is not None:
        names = " and ".join(one.change for one in verdict.jointly)
        said = f"{len(verdict.jointly)} things together" if best is None else "more than one thing"
        return [
            f"what limits it: {said}: with everything loosened {_from_to(base, verdict.everything)}, "
            f"and without any one of these less: {names}",
            f"what to change: {names}",
        ]
    assert best is not None
    lines = [f"what limits it: {_thing(best)}: {_from_to(base, best)} with {best.change}"]
    if machine is not None and machine.worked > best.worked + LEAST_GAIN:
        lines[0] += f"; of the machine itself, {machine.change} would give {show_share(machine.worked)}"
    took = ""
    if abs(best.hours - base.hours) > base.hours / 20:
        took = f"; it takes {show_duration(best.hours * 3600)} instead of {show_duration(base.hours * 3600)}"
    lines.append(f"what to change: {best.change} (measured: {_signed(gain(base, best))}{took})")
    others = [one for one in verdict.others if best.worked - one.worked < LEAST_GAIN and one.cause not in ANOTHER_PLAN]
    return lines + [f"or as well: {one.change} (measured: {_signed(gain(base, one))})" for one in others]


def _thing(one: Trial) -> str:
    """What was loosened, without the value: "stability.limits.copies shield", "limits.stagger"."""
    found = re.fullmatch(r"(.*) \{(.*): .*\}", one.change)
    return f"{found[1]} {found[2]}" if found else one.change.partition(": ")[0].removeprefix("no ")


def _criterion_lines(verdict: Verdict) -> list[str]:
    lines = []
    for advice in verdict.criteria:
        item = advice.criterion
        lines.append(f"{item.called} is not met: {item.says}")
        mine = [one for one in advice.met_by if one.of_plan]
        if mine:
            lines.append(f"  what mends it: {mine[0].change}: rehearsed with it, it is met")
        elif advice.met_by:
            shown = " or ".join(one.change for one in advice.met_by[:2])
            lines.append(f"  what mends it: no change of the plan that was tried; it is met with {shown}")
        elif advice.nearer is not None:
            lines.append(f"  what mends it: nothing that was tried; {_called(advice.nearer)} comes nearest")
        else:
            lines.append("  what mends it: nothing that was tried changes it, and nothing else is known here")
    return lines


def _called(one: Trial) -> str:
    return one.change if one.of_plan else f"[machine] {one.change}"


def _from_to(base: Trial, one: Trial) -> str:
    return f"{show_share(one.worked)} work instead of {show_share(base.worked)}"


def _signed(share: float) -> str:
    shown = show_share(abs(share))
    return f"{'-' if share < 0 and shown.strip('0.%') else '+'}{shown}"
