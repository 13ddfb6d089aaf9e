"""Plans on small machines that are rehearsed, without files of a site: one thing after the other is what limits them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from stability_plan import case, document, machine

from shakedown.events.campaigns import create_campaign
from shakedown.events.reader import read_events
from shakedown.metrics.limits import Limit, Limits
from shakedown.metrics.rows.table import fold_runs
from shakedown.model.filling import Fill
from shakedown.model.frozen import freeze
from shakedown.model.layout import Layout
from shakedown.model.nouns import Build, Component, Document
from shakedown.model.nouns import Limits as PlanLimits
from shakedown.model.scenario import RunTime, Scenario
from shakedown.rehearsal.faults import troubles
from shakedown.rehearsal.rehearse import Rehearsed, rehearse
from shakedown.rehearsal.virtual_session import Rehearsal

NODES = 16
HOUR = 3600.0


@dataclass
class Played:
    """A rehearsal that is over, with what its own record says."""

    layout: Layout
    outcome: Rehearsed

    @property
    def limits(self) -> Limits:
        assert self.outcome.limits is not None
        return self.outcome.limits

    @property
    def worst(self) -> Limit:
        assert self.limits.worst is not None, self.limits
        return self.limits.worst

    def log(self) -> bytes:
        return b"".join(path.read_bytes() for path in sorted(self.layout.log.glob("*.jsonl")))

    def busy(self, nodes: int = NODES) -> float:
        """The share of the node-hours that runs had, from the verdicts alone, from the first order to the last end."""
        document = self.outcome.state.index.document
        units = {one.id: one.shape.units for one in document.cases}
        rows = [row for row in fold_runs(read_events(self.layout.log)).current() if row.elapsed_s]
        taken = sum(units[row.case] * (row.elapsed_s or 0.0) for row in rows)
        return taken / (nodes * (self.outcome.state.time - self.outcome.state.campaign.began))


def play(root: Path, plan: Document, scenario: Scenario, *faults: str, seed: int = 0, name: str = "") -> Played:
    """Purpose: rehearse a plan in a directory of its own."""
    count = len(list(root.iterdir())) if root.is_dir() else 0
    layout = create_campaign(root, name or f"rehearsal-{count}", freeze(plan))
    asked = troubles(scenario, faults, plan.system)
    return Played(layout, rehearse(layout, Rehearsal(asked, seed)))


def times(**seconds: float) -> Scenario:
    """Runs of these tests take so long, give or take a fiftieth."""
    return Scenario(times=tuple((test, RunTime(mean, mean / 50)) for test, mean in seconds.items()))


@dataclass(frozen=True)
class Mixed:
    """Two tests at equal shares, of one node and of two, for some hours; each field is what may be in their way."""

    hours: float = 6.0
    per_target: float = 50.0
    copies: tuple[tuple[str, int], ...] = ()
    stagger_s: float = 0.0
    builds: int = 8
    building: bool = False
    queue_ahead_s: float = 900.0
    ramp_s: float = 0.0
    widths: tuple[int, int] = (1, 2)
    queued: int = 0
    limit_s: float = 1800.0
    filler: bool = False

    def plan(self) -> Document:
        cases = tuple(
            case(name, width, self.limit_s, load=1.0)
            for name, width in zip(("small", "large"), self.widths, strict=True)
        )
        builds: tuple[Build, ...] = ()
        if self.building:
            cases = tuple(msgspec.structs.replace(one, build=f"{number}" * 64) for number, one in enumerate(cases))
            builds = tuple(Build(f"{number}" * 64, name, "", "make") for number, name in enumerate(("small", "large")))
        extra = (case("filler", 1, 1800.0, load=0.0),) if self.filler else ()
        steady = Component(
            "steady",
            "stability",
            ("small", "large"),
            duration_s=self.hours * HOUR,
            mix=(("small", 0.5), ("large", 0.5)),
            fillers=("filler",) if self.filler else (),
            fill=Fill(queue_ahead_s=self.queue_ahead_s, ramp_s=self.ramp_s),
        )
        limits = PlanLimits(copies=self.copies, stagger_s=self.stagger_s, builds=self.builds, queued=self.queued)
        plan = document(machine(NODES, per_target=self.per_target), (*cases, *extra), steady, limits=limits)
        return msgspec.structs.replace(plan, builds=builds)


USUAL: dict[str, Any] = {"small": 600.0, "large": 600.0, "filler": 300.0}
