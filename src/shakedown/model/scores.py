"""Scores that a contract is settled on, each one number from several tests: their data classes and the kinds of scores.

A new kind is a function and a declaration: in ``KINDS``, or in a package of a site, which names it as an entry point of the group
``shakedown.scores``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from shakedown.model.entry_points import declared_in_packages

GROUP = "shakedown.scores"
COMPONENT = "scores"  # the part of a plan that the scores with a bound are criteria of; it has no cases
MEASURE = "score"  # what such a criterion measures

Mean = Literal["arithmetic", "geometric", "harmonic"]
MEANS: tuple[Mean, ...] = ("arithmetic", "geometric", "harmonic")
Take = Literal["record", "median", "mean"]
TAKES: tuple[Take, ...] = ("record", "median", "mean")
RULE = {  # which of the values of a case a score takes
    "record": "the run of record: the first that counts, in the order in which results were first ordered",
    "median": "the median of the runs that count",
    "mean": "the mean of the runs that count",
}


class Load(Struct, frozen=True):
    """A problem and the resources it ran on. ``size``: its complexity measure, in the unit of the law. 0 = not given."""

    size: float = 0.0
    nodes: float = 0.0
    tasks: float = 0.0
    threads: float = 1.0

    @property
    def known(self) -> dict[str, float]:
        """The known values, by their names in a law."""
        return {"n": self.size, "nodes": self.nodes, "tasks": self.tasks, "threads": self.threads}


class ScorePart(Struct, frozen=True):
    """One application (or figure) of a score.

    - ``component``, ``case``, ``mode``: whose runs count; ``place``: the partition, where a score has several
    - ``figures``: figure -> weight; the value of a run is their weighted sum, in ``unit``
    - ``given``: the value where the plan gives it and nothing is measured
    - ``load``: what is measured; ``baseline`` and ``baseline_value``: what it is compared with, by ``law``
    - ``tflop``: the reference count of floating point operations, in 10^12
    - ``reference``: what a value is divided by (``better`` lower: what is divided by it), 0 = nothing
    - ``group``: parts with one are averaged within it first
    - ``proposed``: the value that the vendor proposed, in ``unit``, 0 = none
    """

    name: str
    component: str = ""
    case: str = ""
    test: str = ""
    mode: str = ""
    place: str = ""
    figures: tuple[tuple[str, float], ...] = (("elapsed", 1.0),)
    unit: str = "s"
    better: Literal["lower", "higher"] = "lower"
    given: float | None = None
    load: Load = Load()
    baseline: Load | None = None
    baseline_value: float = 0.0
    law: str = ""
    tflop: float = 0.0
    reference: float = 0.0
    group: str = ""
    proposed: float = 0.0

    @property
    def label(self) -> str:
        """The name of the part, with the partition if the score has several."""
        return f"{self.name}@{self.place}" if self.place else self.name


class Score(Struct, frozen=True):
    """A score of a plan. ``nodes``: partition -> its nodes, ("", N) for a system of equal ones. ``faster``: a share, for what the
    score would be if a part ran that much faster.
    """

    name: str
    kind: str
    parts: tuple[ScorePart, ...]
    unit: str = ""
    nodes: tuple[tuple[str, float], ...] = ()
    mean: Mean = "arithmetic"
    take: Take = "record"
    faster: float = 0.1
    about: str = ""
    clause: str = ""


class ScoreKind(Struct, frozen=True):
    """The declaration of one kind of score.

    - ``name``: the word in a plan; ``about``: what it says, a line of the reference
    - ``function``: "module:name" of ``(Score, values) -> Combined``: a pure function, ``values`` in the order of the parts. It is
      imported when it is first used. It raises ValueError where there is no number.
    - ``recipe``: how its number is computed again from scores.csv
    - ``part_name``: what the number of a part is called; ``unit``: of the score
    - ``times``: its values are run times, in seconds
    - ``keys``: keys of a score that have a meaning for it, beside those of every kind; ``part_keys``, ``part_needs``: of a part
    """

    name: str
    about: str
    function: str
    recipe: str
    part_name: str
    unit: str = ""
    times: bool = True
    keys: tuple[str, ...] = ()
    part_keys: tuple[str, ...] = ()
    part_needs: tuple[str, ...] = ()


KINDS: tuple[ScoreKind, ...] = (
    ScoreKind(
        "ssp",
        "sustained system performance: the geometric mean of what each application does on a node, times the nodes of the system",
        "shakedown.metrics.scores.formulas:sustained_system_performance",
        "result of a part = tflop / (nodes x value); for each place the geometric mean of the results of its parts, times the "
        "nodes of the place (system_nodes); the score is the sum over the places",
        "Tflop/s on a node",
        "TFLOP/s",
        keys=("nodes",),
        part_keys=("tflop", "nodes"),
        part_needs=("tflop",),
    ),
    ScoreKind(
        "ci",
        "capability improvement: how much more work, and how much faster, than a baseline; a mean over the applications",
        "shakedown.metrics.scores.formulas:capability_improvement",
        "result of a part = law(n, nodes, tasks, threads) / law(baseline_n, baseline_nodes, baseline_tasks, baseline_threads) x "
        "baseline_value / value; the score is the mean of the results that the plan names",
        "improvement",
        keys=("mean", "each"),
        part_keys=("must", "baseline", "law", "size", "nodes", "tasks", "threads"),
        part_needs=("baseline",),
    ),
    ScoreKind(
        "geometric",
        "a geometric mean of figures, or of groups of figures",
        "shakedown.metrics.scores.formulas:geometric_score",
        "result of a part = value; with a reference value / reference, of a figure where lower is better reference / value; the "
        "geometric mean of the results of each group, and of these the geometric mean over the groups",
        "result",
        times=False,
        keys=("each",),
        part_keys=("must", "unit", "reference", "group"),
    ),
)


@lru_cache(maxsize=1)
def score_kinds() -> Mapping[str, ScoreKind]:
    """Purpose: every kind by its name: those of the package, then those of installed packages.

    Errors: UsageError where a package declares what is no kind of score, or a name that is taken.
    """
    ours = {kind.name: kind for kind in KINDS}
    return ours | declared_in_packages(GROUP, ScoreKind, "kind of score", ours)


def inputs_digest(score: Score) -> str:
    """Purpose: the sha256 of what a score is computed from; its sentence and its clause are no part of that."""
    said = replace(score, about="", clause="", faster=0.0)
    return hashlib.sha256(msgspec.json.encode(said, order="deterministic")).hexdigest()


def part_of(score: Score, of: str, place: int) -> Score:
    """Purpose: a score cut down to one of its parts, under the name ``of``; the score itself for place -1."""
    return score if place < 0 else replace(score, name=of, parts=(score.parts[place],))


def named_by(of: str, scores: tuple[Score, ...]) -> tuple[Score, int] | None:
    """Purpose: the score that a criterion's ``of`` names, and the place of its part, -1 for the score itself; None where there is
    none.
    """
    for score in scores:
        if of == score.name:
            return score, -1
        for place, part in enumerate(score.parts):
            if of == f"{score.name}.{part.label}":
                return score, place
    return None
