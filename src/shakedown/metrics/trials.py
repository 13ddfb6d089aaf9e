"""The limits of a plan, measured: the same rehearsal with one setting loosened at a time, and the gain of each.

Start reading at ``verdict_of``. Nothing here is a guess: a change is advised only if rehearsals with it were better than those
without it on the same seeds, by more than the spread of these gains; if no change was, the result says so.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from shakedown.metrics.judging.scorecard import Scorecard
from shakedown.metrics.statistics import mean, mean_interval
from shakedown.metrics.words import plural, show_share
from shakedown.model.units import show_duration

LEAST_GAIN = 0.01  # of the node-hours: smaller gains are not worth a change
LEAST_SEEDS = 3  # the fewest seeds on which a change is rehearsed before it is advised
MOST_SEEDS = 8  # with more seeds, a gain within its spread counts as chance
ANOTHER_PLAN = (
    "filler",
    "gate",
    "mix",
)  # causes whose change gives another plan: advised only if nothing else helps
ENOUGH = 0.9  # of the largest gain that any value of a setting has
_MOST_REPEATED = 3  # the most changes of the plan that are rehearsed on further seeds
_PART = 0.5  # of the gain of all changes together: a single change below this share is not the main cause


class Judged(Struct, frozen=True):
    """A criterion in one rehearsal. ``lacks``: by how much it misses its bound, 0 = it is met; None = nothing was measured."""

    component: str
    name: str
    outcome: str
    says: str
    lacks: float | None

    @property
    def called(self) -> str:
        return f"{self.component}.{self.name}"


class Repeat(Struct, frozen=True):
    """The plan without and with one change, on one further seed: the shares of the node-hours, and the criteria met."""

    seed: int
    before: float
    after: float
    met_before: tuple[str, ...] = ()
    met_after: tuple[str, ...] = ()


class Trial(Struct, frozen=True):
    """One rehearsal. ``change``: the loosened setting and its value, in words, "" = none; ``of_plan``: whether a person can change
    it; ``thing``: the setting without its value.

    ``times``: the factor by which the setting was loosened, 0 = it has no amount. ``worked``: share of the node-hours; ``hours``:
    the time on the machine. ``fault``: why it could not be rehearsed. ``repeats``: the same on further seeds, if it may be advised;
    ``gain``: the mean of their gains, else the gain on the one seed; ``spread``: half of the 95 % interval of that mean
    (Student's), None = one seed.
    """

    cause: str
    change: str
    of_plan: bool
    times: float = 0.0
    worked: float = 0.0
    hours: float = 0.0
    criteria: tuple[Judged, ...] = ()
    fault: str = ""
    thing: str = ""
    repeats: tuple[Repeat, ...] = ()
    gain: float = 0.0
    spread: float | None = None

    @property
    def met(self) -> tuple[str, ...]:
        """The names of the criteria that were met or waived."""
        return tuple(one.called for one in self.criteria if one.outcome in ("met", "waived"))

    @property
    def is_clear(self) -> bool:
        """Whether its gain is worth a change and larger than its spread."""
        return self.spread is not None and self.gain >= LEAST_GAIN and self.gain > self.spread

    def is_settled(self, best: float) -> bool:
        """Whether more seeds would hardly change the advice. ``best``: the largest clear gain."""
        if len(self.repeats) < LEAST_SEEDS or self.spread is None:
            return False
        return self.is_clear or self.gain + self.spread < max(LEAST_GAIN, best - LEAST_GAIN)


def with_gain(base: Trial, one: Trial) -> Trial:
    """Purpose: a trial with its gain: the mean over its repeats, else the gain on the one seed."""
    gains = [other.after - other.before for other in one.repeats]
    if len(gains) < 2:
        return replace(one, gain=one.worked - base.worked, spread=None)
    low, high = mean_interval(gains)
    return replace(one, gain=mean(gains), spread=(high - low) / 2)


class Advice(Struct, frozen=True):
    """Changes for a criterion that is not met. ``met_by``: those with which it was met; ``nearer``: the one that came nearest."""

    criterion: Judged
    met_by: tuple[Trial, ...]
    nearer: Trial | None


class Verdict(Struct, frozen=True):
    """The trials, the best first, and the conclusions. ``best``: the single change of the plan with the largest clear gain that
    breaks no criterion that is met, None = there is none; ``others``: other such changes, the best first, one for each setting.
    ``doubtful``: changes whose gain on the first seed was large enough, but is not clear on further seeds.

    ``jointly``: changes that help only together; ``everything``: all settings loosened at once. ``machine``: the fault of the
    machine that costs most.
    """

    base: Trial
    tried: tuple[Trial, ...]
    best: Trial | None
    others: tuple[Trial, ...]
    jointly: tuple[Trial, ...]
    everything: Trial | None
    machine: Trial | None
    criteria: tuple[Advice, ...]
    doubtful: tuple[Trial, ...] = ()


def judged_of(scorecard: Scorecard) -> tuple[Judged, ...]:
    """Purpose: the criteria of a finished rehearsal, in the form that trials compare."""
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
    """Purpose: the conclusions from the trials. ``without``: trials with everything loosened except one setting; may be empty."""
    done = sorted((one for one in tried if not one.fault), key=lambda one: -one.gain)
    mine = _one_of_each([one for one in done if one.of_plan and one.is_clear and not broken(base, one)])
    machine = [one for one in done if not one.of_plan and one.is_clear]
    jointly: tuple[Trial, ...] = ()
    if everything is not None and everything.is_clear and not broken(base, everything):
        needed = [one for one in without if _is_needed(everything, one)]
        jointly = tuple(sorted(needed, key=lambda one: one.gain))
    best = mine[0] if mine else None
    return Verdict(
        base,
        tuple(done),
        best,
        tuple(mine[1:]),
        jointly,
        everything,
        machine[0] if machine else None,
        tuple(_advice(item, base, done, best) for item in base.criteria if item.outcome == "not met"),
        tuple(one for one in done if one.of_plan and one.spread is not None and one.gain > 0 and not one.is_clear),
    )


def to_repeat(base: Trial, tried: Sequence[Trial], everything: Trial | None, without: Sequence[Trial]) -> list[Trial]:
    """Purpose: the changes that may be advised after one seed, and so must be rehearsed on further seeds."""
    done = [one for one in tried if not one.fault]
    mine = _one_of_each([one for one in done if one.of_plan and one.gain >= LEAST_GAIN / 2])
    chosen = mine[:_MOST_REPEATED]
    largest = max(done, key=lambda one: one.gain, default=None)  # perhaps one that makes another plan of it
    if largest is not None and largest.gain >= LEAST_GAIN and all(one.cause != largest.cause for one in chosen):
        chosen.append(largest)
    chosen += sorted((one for one in done if not one.of_plan and one.gain >= LEAST_GAIN), key=lambda one: -one.gain)[:1]
    if everything is not None and without and everything.gain >= LEAST_GAIN:
        chosen += [everything, *(one for one in without if everything.gain - one.gain >= LEAST_GAIN and not one.fault)]
    for item in base.criteria:
        if item.outcome == "not met":
            chosen += _advice(item, base, done, mine[0] if mine else None).met_by[:1]
    return list({(one.change, one in without): one for one in chosen}.values())


def broken(base: Trial, one: Trial) -> list[str]:
    """Purpose: the criteria that are met without a change but not with it: on the first seed, or on most further seeds."""
    lost = {item.called for item in one.criteria if item.outcome == "not met"}
    later = [name for other in one.repeats for name in set(other.met_before) - set(other.met_after)]
    return [name for name in base.met if name in lost or 2 * later.count(name) > max(1, len(one.repeats))]


def _is_needed(everything: Trial, one: Trial) -> bool:
    """Whether everything without this one gains less than everything, by more than the spread over their seeds."""
    pairs = [a.after - b.after for a, b in zip(everything.repeats, one.repeats, strict=False)]
    if one.fault or len(pairs) < LEAST_SEEDS:
        return False
    return mean(pairs) >= LEAST_GAIN and mean_interval(pairs)[0] > 0


def falls_short(tried: Sequence[Trial], everything: Trial | None) -> bool:
    """Purpose: whether all changes together gain so much more than any single one that the needed combination must be found."""
    if everything is None or everything.fault:
        return False
    mine = [one for one in tried if one.of_plan and not one.fault and one.cause not in ANOTHER_PLAN]
    best = max((one.gain for one in mine), default=0.0)
    return everything.gain >= LEAST_GAIN and best < _PART * everything.gain


def _one_of_each(found: Sequence[Trial]) -> list[Trial]:
    """For each setting, the smallest change that gains nearly as much as the best value of the setting."""
    of: dict[str, list[Trial]] = {}
    for one in found:
        of.setdefault(one.cause, []).append(one)
    best = []
    for same in of.values():
        most = max(one.gain for one in same)
        best.append(min((one for one in same if one.gain >= ENOUGH * most), key=lambda one: one.times))
    return sorted(best, key=lambda one: (one.cause in ANOTHER_PLAN, -one.gain))


def _advice(item: Judged, base: Trial, tried: Sequence[Trial], best: Trial | None) -> Advice:
    """The effect of the changes on one criterion, independent of the node-hours."""
    met, nearest, least = [], None, item.lacks
    for one in tried:
        found = next((other for other in one.criteria if other.called == item.called), None)
        if found is None or found.lacks is None:
            continue
        if found.outcome in ("met", "waived"):
            met.append(one)
        elif least is not None and found.lacks < least * (1 - LEAST_GAIN):
            nearest, least = one, found.lacks
    first = best.change if best is not None else ""
    met.sort(key=lambda one: (not one.of_plan, len(broken(base, one)), one.change != first, -one.gain))
    return Advice(item, tuple(met), nearest)


# ---- in words ----------------------------------------------------------------------------------------------------------


def lines_of(verdict: Verdict) -> list[str]:
    """Purpose: the result in lines: the trials and their gains, what limits the plan, and what to change."""
    base = verdict.base
    lines = [f"tried, one thing at a time ({show_share(base.worked)} of the node-hours worked as it is):"]
    for one in verdict.tried:
        lines.append(f"  {_gain(one):>18}  {_called(one)}: {show_share(one.worked)}")
    if any(one.spread is not None for one in verdict.tried):
        lines.append(
            "  (with \u00b1: the mean gain over several seeds and its 95% interval; the others on the first seed alone)"
        )
    return [*lines, *_limit_lines(verdict), *_largest_line(verdict), *_criterion_lines(verdict)]


def _limit_lines(verdict: Verdict) -> list[str]:
    base, best, machine = verdict.base, verdict.best, verdict.machine
    if best is None and not verdict.jointly:
        return _nothing_helps(verdict)
    if verdict.jointly and verdict.everything is not None:
        names = " and ".join(one.change for one in verdict.jointly)
        said = f"{len(verdict.jointly)} things together" if best is None else "more than one thing"
        return [
            f"what limits it: {said}: with everything loosened {_from_to(verdict.everything)}, "
            f"and without any one of these less: {names}",
            f"what to change: {names}",
        ]
    assert best is not None
    lines = [f"what limits it: {_thing(best)}: {_from_to(best)} where it is loosened"]
    if machine is not None and machine.gain > best.gain + LEAST_GAIN:
        lines[0] += f"; of the machine itself, {machine.change} would gain {_gain(machine)}"
    took = ""
    if abs(best.hours - base.hours) > base.hours / 20:
        took = f"; it takes {show_duration(best.hours * 3600)} instead of {show_duration(base.hours * 3600)}"
    lines.append(f"what to change: {best.change} (measured: {_gain(best)}{took})")
    others = [one for one in verdict.others if best.gain - one.gain < LEAST_GAIN and one.cause not in ANOTHER_PLAN]
    return lines + [f"or as well: {one.change} (measured: {_gain(one)})" for one in others]


def _largest_line(verdict: Verdict) -> list[str]:
    """The change with the largest gain, if the lines above do not name it: one that gives another plan, or is not clear."""
    best, machine = verdict.best, verdict.machine
    if best is None and not verdict.jointly:
        named = [*verdict.doubtful[:1], *([machine] if machine is not None else [])]
    else:
        named = [*verdict.jointly] or [one for one in (best, machine) if one is not None]
    one = max(verdict.tried, key=lambda trial: trial.gain, default=None)
    if one is None or one.gain < LEAST_GAIN or one.cause in {other.cause for other in named}:
        return []
    if any(other.gain + LEAST_GAIN >= one.gain for other in named):
        return []
    if one.spread is None:
        sure = "measured on one seed alone, so it may be the luck of the draw; another --seed tells more"
    else:
        sure = "which is more than its spread" if one.is_clear else "which may be the luck of the draw"
    return [f"what gained most: {_called(one)} ({_gain(one)}, {sure}{_breaks(verdict.base, one)})"]


def _nothing_helps(verdict: Verdict) -> list[str]:
    breaking = any(one.of_plan and one.is_clear and broken(verdict.base, one) for one in verdict.tried)
    kept = " and breaks no criterion that is met" if breaking else ""
    lines = [
        f"what limits it: no change of the plan that was tried surely gains {LEAST_GAIN:.0%} of the node-hours{kept}"
    ]
    if verdict.doubtful:
        one = verdict.doubtful[0]
        lines[0] += f"; {one.change} gained {_gain(one)}, which may be the luck of the draw"
    if verdict.machine is not None:
        lines[0] += f"; {verdict.machine.change} would ({_from_to(verdict.machine)})"
    return [*lines, f"what to change: nothing is known that would make more of the machine work{kept}"]


def _thing(one: Trial) -> str:
    """The loosened setting without its value: "stability.limits.copies shield", "limits.stagger"."""
    return one.thing or one.change.partition(": ")[0].removeprefix("no ")


def _breaks(base: Trial, one: Trial) -> str:
    lost = broken(base, one)
    are = "is" if len(lost) == 1 else "are"
    return f"; with it {' and '.join(lost)} {are} not met any more" if lost else ""


def _criterion_lines(verdict: Verdict) -> list[str]:
    lines = []
    for advice in verdict.criteria:
        item = advice.criterion
        lines.append(f"{item.called} is not met: {item.says}")
        mine = [one for one in advice.met_by if one.of_plan]
        if mine:
            lines.append(f"  what mends it: {_mends(verdict, item.called, mine[0])}")
        elif advice.met_by:
            shown = " or ".join(one.change for one in advice.met_by[:2])
            lines.append(f"  what mends it: no change of the plan that was tried; it is met with {shown}")
        elif advice.nearer is not None:
            lines.append(f"  what mends it: nothing that was tried; {_called(advice.nearer)} comes nearest")
        else:
            lines.append("  what mends it: nothing that was tried changes it, and nothing else is known here")
    return lines


def _mends(verdict: Verdict, criterion: str, one: Trial) -> str:
    """The effect of a change on a criterion on each seed and, if it is not the advised change, its cost or gain."""
    repeats = one.repeats
    after = 1 + sum(criterion in other.met_after for other in repeats)
    before = sum(criterion in other.met_before for other in repeats)
    seeds = f"with it, it is met on {after} of {1 + len(repeats)} seeds, as it is on {before}"
    text = f"{one.change}: {seeds}" if repeats else f"{one.change}: rehearsed with it on one seed, it is met"
    if before and after - 1 <= before:
        text = f"nothing for certain: {text}, which is the luck of the draw"
    best = verdict.best
    if best is None or best.change == one.change:
        return text + _breaks(verdict.base, one)
    what = f"it gains {_gain(one)} of the node-hours" if one.gain >= 0 else f"it costs {_gain(one)} of the node-hours"
    beside = "; with what is to be changed above it stays as it is" if criterion not in best.met else ""
    return f"{text}; {what}{beside}{_breaks(verdict.base, one)}"


def _called(one: Trial) -> str:
    return one.change if one.of_plan else f"[machine] {one.change}"


def _from_to(one: Trial) -> str:
    if one.repeats:
        after, before = mean([other.after for other in one.repeats]), mean([other.before for other in one.repeats])
    else:
        after, before = one.worked, one.worked - one.gain
    return f"{show_share(after)} work instead of {show_share(before)}"


def _gain(one: Trial) -> str:
    if one.spread is None:
        return _signed(one.gain)
    return f"{_signed(one.gain)} \u00b1 {show_share(one.spread)} ({plural(len(one.repeats), 'seed')})"


def _signed(share: float) -> str:
    shown = show_share(abs(share))
    return f"{'-' if share < 0 and shown.strip('0.%') else '+'}{shown}"
