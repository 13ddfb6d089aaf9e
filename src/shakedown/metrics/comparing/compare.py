"""What changed between groups of runs: every figure of every case, with its effect, its chance and a verdict.

Start reading at ``compare``. Chances are corrected for all tests of one comparison.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from shakedown.metrics import statistics
from shakedown.metrics.comparing.cells import Cell, Pair
from shakedown.metrics.comparing.chances import LEVEL, fisher, holm, least_fisher
from shakedown.metrics.comparing.names import subject_names
from shakedown.metrics.comparing.two_samples import FEWEST, Effect, effect_of, trimmed_mean
from shakedown.metrics.judging.populations import count_verdicts
from shakedown.model.errors import NOT_MET, UNDECIDED
from shakedown.model.figures import FigureSpec, Pairs

LEAST = 0.02  # the smallest change that matters, if the caller gives none

_OPEN = 0.05  # shares whose chance alone is at most this are not called equal

Verdict = Literal["worse", "better", "changed", "no change seen", "too few runs"]


class Middle(Struct, frozen=True):
    """One side of a figure, in the figure's unit. ``mean``: the mean without the highest and lowest fifth, of the logarithms if all
    values of both sides are above 0; the change compares these means.
    """

    count: int
    median: float
    mean: float
    sd: float | None


class Move(Struct, frozen=True):
    """A figure of one case in one mode, before and after. ``first`` or ``second`` is None without values, ``effect`` if nothing was
    tested.

    ``corrected``: the chance after Holm's correction. ``enough``: about how many runs per side would show the smallest change that
    matters; 0 if the present runs are enough or the number cannot be estimated.
    """

    before: str
    after: str
    subject: str
    cases: tuple[str, ...]
    figure: str
    unit: str
    better: str
    first: Middle | None
    second: Middle | None
    effect: Effect | None
    corrected: float | None
    verdict: Verdict
    enough: int = 0

    @property
    def worse_by(self) -> float:
        """The change as a share, above 0 if it is for the worse; for a figure without a direction, the absolute value."""
        share = self.effect.share if self.effect else 0.0
        return {"lower": share, "higher": -share}.get(self.better, abs(share))


class Counted(Struct, frozen=True):
    """The runs of one side: how many were judged, how many of these passed, and the number for each verdict."""

    judged: int
    passed: int
    verdicts: dict[str, int]

    @property
    def share(self) -> float:
        return self.passed / self.judged


class ShareMove(Struct, frozen=True):
    """The share of a case's runs that passed, before and after."""

    before: str
    after: str
    subject: str
    cases: tuple[str, ...]
    first: Counted
    second: Counted
    chance: float
    corrected: float
    verdict: Verdict

    @property
    def worse_by(self) -> float:
        return self.first.share - self.second.share


class Missing(Struct, frozen=True):
    """Something that the group ``beside`` has and ``group`` lacks. ``kind``: "case": its plan lacks the case; "unavailable": the
    case cannot run there; "no run": no run of it was judged; "figure": it is not measured. ``decides``: the comparison is therefore
    undecided.
    """

    group: str
    beside: str
    subject: str
    kind: Literal["case", "unavailable", "no run", "figure"]
    why: str = ""
    decides: bool = False


class Comparison(Struct, frozen=True):
    """The result of a comparison. ``tested``: how many figures and shares were tested. The correction counts only tests that could
    show a change, so no shares with too few passed or failed runs. ``unavailable``: cases unavailable on both sides, and why.
    """

    by: str
    baseline: str
    groups: tuple[str, ...]
    least: float
    level: float
    tested: int
    moves: tuple[Move, ...]
    shares: tuple[ShareMove, ...]
    missing: tuple[Missing, ...]
    unavailable: tuple[tuple[str, str], ...]

    @property
    def corrected_for(self) -> int:
        """The number of tests that the chances are corrected for."""
        return sum(one.effect is not None for one in self.moves) + sum(_may_show(one) for one in self.shares)

    @property
    def status(self) -> int:
        """The exit status: 1 if anything is worse; 4 if a result is undecided or nothing could be compared; else 0."""
        verdicts = {one.verdict for one in self.moves} | {one.verdict for one in self.shares}
        if "worse" in verdicts:
            return NOT_MET
        open_ends = "too few runs" in verdicts or any(one.decides for one in self.missing)
        return UNDECIDED if open_ends or not self.tested else 0


def compare(pairs: Sequence[Pair], by: str, baseline: str, least: float = LEAST) -> Comparison:
    """Purpose: compare every pair of groups, case by case and figure by figure; the worst results first.

    ``least``: the smallest change that matters, as a share above 0.
    """
    names = subject_names(subject for pair in pairs for subject in (*pair.first, *pair.second))
    moves, shares, missing = [], [], []
    for pair in pairs:
        missing += list(_missing(pair, names))
        for subject in pair.first:
            if _both_ran(pair, subject):
                found = pair, subject, names[subject]
                shares.append(_share(*found))
                moves += list(_moves(*found, least))
    moves, shares = _corrected(moves, shares, least)
    return Comparison(
        by,
        baseline,
        tuple(dict.fromkeys(pair.after for pair in pairs)),
        least,
        LEVEL,
        sum(move.effect is not None for move in moves) + len(shares),
        tuple(sorted(moves, key=_worst_first)),
        tuple(sorted(shares, key=_worst_first)),
        tuple(missing),
        tuple(_unavailable(pairs, names).items()),
    )


_ORDER: tuple[Verdict, ...] = ("worse", "changed", "better", "too few runs", "no change seen")


def _worst_first(one: Move | ShareMove) -> tuple[int, float]:
    return _ORDER.index(one.verdict), -one.worse_by


def _both_ran(pair: Pair, subject: Pairs) -> bool:
    return subject in pair.second and bool(pair.first[subject].runs and pair.second[subject].runs)


# ---- figures ---------------------------------------------------------------------------------------------------------


def _moves(pair: Pair, subject: Pairs, name: str, least: float) -> Iterator[Move]:
    first, second = pair.first[subject], pair.second[subject]
    for figure, spec in second.specs.items():
        before, after = ([value for _, value in cell.values.get(figure, ())] for cell in (first, second))
        if figure in first.specs and (before or after):
            effect = effect_of(before, after, least)
            sides = pair.before, pair.after, name, _cases(first, second)
            look = figure, spec.unit, _direction(spec, first.specs[figure])
            yield Move(*sides, *look, _side(before, after), _side(after, before), effect, None, "too few runs")


def _cases(first: Cell, second: Cell) -> tuple[str, ...]:
    return tuple({**first.cases, **second.cases})


def _direction(spec: FigureSpec, other: FigureSpec) -> str:
    """The direction that is better ("higher" or "lower"): from this specification, else from the other plan's."""
    return spec.better or other.better


def _side(values: Sequence[float], other: Sequence[float]) -> Middle | None:
    """The statistics of one side; ``other``: the values of the other side, because both sides use logarithms or neither does."""
    if not values:
        return None
    sd = statistics.sample_sd(values) if len(values) > 1 else None
    return Middle(len(values), statistics.median(values), trimmed_mean(values, min((*values, *other)) > 0), sd)


def _corrected(moves: list[Move], shares: list[ShareMove], least: float) -> tuple[list[Move], list[ShareMove]]:
    """The moves and shares with their chances corrected for all tests, and with the verdicts that follow."""
    open_shares = [one for one in shares if _may_show(one)]
    chances = [move.effect.chance for move in moves if move.effect is not None] + [one.chance for one in open_shares]
    corrected = iter(holm(chances))
    judged = [_judged(move, next(corrected), least) if move.effect is not None else move for move in moves]
    return judged, [_share_judged(one, next(corrected) if _may_show(one) else 1.0) for one in shares]


def _may_show(one: ShareMove) -> bool:
    """Whether the shares could show a change at all, given their totals: they cannot if every run passed on both sides."""
    return least_fisher(one.first.passed, one.first.judged, one.second.passed, one.second.judged) <= LEVEL


def _judged(move: Move, corrected: float, least: float) -> Move:
    effect = move.effect
    assert effect is not None
    if corrected <= LEVEL and abs(effect.share) >= least:
        verdict: Verdict = "changed" if not move.better else "worse" if move.worse_by > 0 else "better"
        return replace(move, corrected=corrected, verdict=verdict)
    if effect.reach <= least:
        return replace(move, corrected=corrected, verdict="no change seen")
    return replace(move, corrected=corrected, enough=_enough(move, effect, least))


def _enough(move: Move, effect: Effect, least: float) -> int:
    """About how many runs per side make the interval narrow enough: its width shrinks with the root of the number of runs."""
    fewest = min(side.count for side in (move.first, move.second) if side is not None)
    return math.ceil(fewest * (effect.reach / least) ** 2) if effect.reach < 1e3 else 0


# ---- verdicts --------------------------------------------------------------------------------------------------------


def _share(pair: Pair, subject: Pairs, name: str) -> ShareMove:
    cells = pair.first[subject], pair.second[subject]
    first, second = (
        Counted(len(cell.runs), cell.passed, dict(count_verdicts(row for row, _ in cell.runs))) for cell in cells
    )
    chance = fisher(first.passed, first.judged, second.passed, second.judged)
    return ShareMove(pair.before, pair.after, name, _cases(*cells), first, second, chance, chance, "no change seen")


def _share_judged(one: ShareMove, corrected: float) -> ShareMove:
    verdict: Verdict = "no change seen"
    few = min(one.first.judged, one.second.judged) < FEWEST
    if corrected <= LEVEL or (abs(one.worse_by) == 1 and not few):  # all passed before and none after, or the reverse
        verdict = "worse" if one.worse_by > 0 else "better"
    elif one.worse_by and (few or one.chance <= _OPEN):  # a single test would call this a change: more runs can decide
        verdict = "too few runs"
    return replace(one, corrected=corrected, verdict=verdict)


# ---- what one side lacks ------------------------------------------------------------------------------------------------


def _missing(pair: Pair, names: dict[Pairs, str]) -> Iterator[Missing]:
    sides = ((pair.after, pair.before, pair.second, pair.first), (pair.before, pair.after, pair.first, pair.second))
    for group, beside, mine, theirs in sides:
        for subject, cell in theirs.items():
            here = mine.get(subject)
            if here is None:
                yield Missing(group, beside, names[subject], "case")
            elif cell.runs and not here.runs:
                kind: Literal["unavailable", "no run"] = "unavailable" if here.unavailable else "no run"
                yield Missing(group, beside, names[subject], kind, here.unavailable, not pair.partial)
            elif cell.runs:
                for figure in cell.specs:
                    if figure not in here.specs and cell.values.get(figure):
                        yield Missing(group, beside, f"{figure} of {names[subject]}", "figure")


def _unavailable(pairs: Sequence[Pair], names: dict[Pairs, str]) -> dict[str, str]:
    """The cases that are unavailable in both groups of a pair, with the reasons."""
    return {
        names[subject]: cell.unavailable
        for pair in pairs
        for subject, cell in pair.first.items()
        if cell.unavailable and subject in pair.second and pair.second[subject].unavailable
    }
