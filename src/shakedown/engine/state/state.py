"""The state of a campaign: what the log says, and nothing else. It has one owner, and ``evolve`` folds events into it in place.

It holds live things only; what is finished is folded into counters, so that a long campaign needs little memory.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from shakedown.engine.state.job_index import JobIndex
from shakedown.engine.state.jobs import BuildState, Job, Run
from shakedown.engine.state.modes import CLEAN_UP
from shakedown.engine.state.phases import BuildPhase, CampaignPhase
from shakedown.engine.state.plan import PlanIndex
from shakedown.engine.state.records import (
    Agenda,
    Campaign,
    Clocks,
    Driver,
    Failures,
    Gates,
    Overrides,
    Pools,
    Results,
    Tally,
    Usage,
    Waiting,
)

FOLD_VERSION = 27  # of what is folded; snapshots of another version are not used


@dataclass(slots=True)
class State:
    """Everything the engine knows: records by subject (``records.py``), and jobs, runs and builds by id (``jobs.py``).

    ``plan`` is derived from the frozen document and ``job_index`` from the jobs; neither is folded. ``seq`` and ``time``: of the
    last event. ``epoch``: from 1, one more with each change after which results are kept apart. ``tallies``: one for each
    component, in the plan's order.
    """

    plan: PlanIndex | None = field(default=None, compare=False)
    job_index: JobIndex = field(default_factory=JobIndex, compare=False)
    seq: int = 0
    time: float = 0.0
    epoch: int = 0
    phase: CampaignPhase = CampaignPhase.NOT_BEGUN
    campaign: Campaign = field(default_factory=Campaign)
    driver: Driver = field(default_factory=Driver)
    waiting: Waiting = field(default_factory=Waiting)
    runs: dict[str, Run] = field(default_factory=dict)
    jobs: dict[str, Job] = field(default_factory=dict)
    builds: dict[str, BuildState] = field(default_factory=dict)
    agenda: Agenda = field(default_factory=Agenda)
    tallies: list[Tally] = field(default_factory=list)
    results: Results = field(default_factory=Results)
    usage: Usage = field(default_factory=Usage)
    pools: Pools = field(default_factory=Pools)
    overrides: Overrides = field(default_factory=Overrides)
    failures: Failures = field(default_factory=Failures)
    clocks: Clocks = field(default_factory=Clocks)
    gates: Gates = field(default_factory=Gates)

    @property
    def index(self) -> PlanIndex:
        assert self.plan is not None, "a campaign starts with its document"
        return self.plan

    @property
    def over(self) -> bool:
        """Whether nothing is wanted, in flight, or possibly alive any more."""
        return all(tally.over for tally in self.tallies) and not self.jobs and not self.runs

    def unattested(self, number: int) -> list[str]:
        """Procedures of a component that nobody has attested yet."""
        component = self.index.components[number]
        said = self.gates.attested.get(component.name, {})
        return [procedure.name for procedure in component.procedures if procedure.name not in said]

    def finished(self, name: str) -> bool:
        """Whether every wanted result of a component is judged or unavailable, and its procedures are attested."""
        number = self.index.component_number[name]
        return self.tallies[number].over and not self.unattested(number)

    @property
    def only_undetermined(self) -> bool:
        """Whether only one thing is left to do: to judge runs that could not be judged so far."""
        if (
            not self.agenda.undetermined
            or self.jobs
            or len(self.runs) > len(self.agenda.undetermined)
            or self.builds_running()
        ):
            return False
        held = {self.index.components[self.runs[run].component].name for run in self.agenda.undetermined}
        for component in self.index.components * len(
            self.index.components
        ):  # a component that waits for a held one is held, too
            if held.intersection(component.after):
                held.add(component.name)
        names = [component.name for component in self.index.components]
        own = {self.runs[run].component for run in self.agenda.undetermined}
        return all(
            tally.waiting == self._needing(number) + (self._cleaning(number) if number in own else 0)
            or (names[number] in held and number not in own)
            for number, tally in enumerate(self.tallies)
        )

    def _needing(self, number: int) -> int:
        """How many results of a component wait for others to pass."""
        return sum(entry.component == number for entries in self.waiting.needing.values() for entry in entries)

    def _cleaning(self, number: int) -> int:
        """How many clean-ups of a component wait for everything else of it."""
        queues = self.waiting.queues.items()
        return sum(len(queue) for key, queue in queues if (key.component, key.mode) == (number, CLEAN_UP))

    def builds_running(self) -> int:
        return sum(build.phase in (BuildPhase.ORDERED, BuildPhase.STARTED) for build in self.builds.values())


def run_name(number: int) -> str:
    return f"r{number:06d}"


def job_name(number: int) -> str:
    return f"j{number:06d}"
