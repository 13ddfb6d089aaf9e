"""What a campaign is held against after maintenance: the runs of another campaign, of an epoch, or values that the plan gives.

A baseline is frozen with the plan, so that the record alone is enough to judge by. As in ``nouns.py``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable

import msgspec
from msgspec import Struct

from shakedown.model.judging import Pairs

FEWEST = 3  # values, or runs, on each side below which nothing is said of a change
SAME, CHANGED, AWAY = "same", "changed", "away"  # what the campaign that a baseline was taken from is found to be
FINDING = "baseline"  # the kind of the finding that says so
_EPOCH = re.compile(r"epoch ([1-9][0-9]{0,5})")


class Sample(Struct, frozen=True):
    """The values of one figure, in ``unit``, and the run that each is of; no runs where the plan gives the values."""

    figure: str
    unit: str
    values: tuple[float, ...]
    runs: tuple[str, ...] = ()


class BaselineCase(Struct, frozen=True):
    """What is known of one case in one mode. ``where``: its parameters and toolchain; of values that the plan gives those that it
    names. ``judged``: its runs, ``failed``: those that did not pass, ``failures``: their names.
    """

    test: str
    component: str = ""
    where: Pairs = ()
    partition: str = ""
    mode: str = ""
    judged: int = 0
    failed: int = 0
    failures: tuple[str, ...] = ()
    samples: tuple[Sample, ...] = ()

    def sample(self, figure: str) -> Sample | None:
        """The values of a figure; None where there are none."""
        return next((one for one in self.samples if one.figure == figure and one.values), None)


class Baseline(Struct, frozen=True):
    """A baseline of the plan, by its name. ``campaign`` "": the plan gives the values.

    ``epoch``: of the campaign, 0 = all of it. ``digest``: of what was measured there, the sha256 that tells it from any other.
    ``seal``: the digest of its newest seal, "" where nobody sealed it.
    ``one_partition``: its system has one, so that the name of that does not matter.
    """

    name: str
    campaign: str = ""
    epoch: int = 0
    digest: str = ""
    seal: str = ""
    one_partition: bool = False
    cases: tuple[BaselineCase, ...] = ()

    @property
    def words(self) -> str:
        """What it is, with the digest of its seal, or of what was measured where nobody sealed it."""
        if not self.campaign:
            return f"baseline {self.name} of the plan"
        of = f"epoch {self.epoch} of {self.campaign}" if self.epoch else self.campaign
        return f"{of} (sealed {self.seal[:16]})" if self.seal else f"{of} (not sealed, values {self.digest[:16]})"

    def of(
        self, component: str, test: str, where: Pairs, partition: str, mode: str, one_partition: bool
    ) -> tuple[BaselineCase, ...]:
        """What is known of a case; more than one where the plan gives values of it twice. ``one_partition``: of its own system."""
        return tuple(
            one
            for one in self.of_any(test, where, partition, one_partition)
            if one.component in ("", component) and one.mode in ("", mode)
        )

    def of_any(self, test: str, where: Pairs, partition: str, one_partition: bool) -> tuple[BaselineCase, ...]:
        """What is known of a case in whatever component and mode."""
        mine = {pair for pair in where if pair[1]}
        any_partition = self.one_partition and one_partition
        return tuple(
            one
            for one in self.cases
            if one.test == test
            and (any_partition or one.partition in ("", partition, partition.rpartition(":")[2]))
            and ((set(one.where) == mine) if self.campaign else (set(one.where) <= mine))
        )


Past = Callable[[str, int], Baseline]  # a campaign and its epoch, 0 = all of it -> what was measured there


def content_digest(campaign: str, epoch: int, cases: tuple[BaselineCase, ...]) -> str:
    """Purpose: the sha256 of what a baseline says, in hexadecimal: equal for equal values, whatever was added to their record."""
    return hashlib.sha256(msgspec.json.encode((campaign, epoch, cases), order="deterministic")).hexdigest()


def where_of(toolchain: str, parameters: Pairs) -> Pairs:
    """Purpose: what tells a case from the others of its test: its parameters and its toolchain, by name."""
    return tuple(sorted({**({"toolchain": toolchain} if toolchain else {}), **dict(parameters)}.items()))


def own_epoch(since: str) -> int:
    """Purpose: the earlier epoch of the same campaign that a criterion names as ``epoch 2``; 0 where it names a baseline."""
    match = _EPOCH.fullmatch(since)
    return int(match.group(1)) if match else 0
