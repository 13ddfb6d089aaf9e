"""The shared file system of the simulated machine: metadata targets that many copies load, and a bandwidth that all share.

What a run loads there, it loads from its begin to its end. While it runs, the part of its time that it spends there grows with how
slow that is at each moment: in a second it does 1 / (1 + sum of share x (slowdown - 1)) seconds of its work, nothing while a target
hangs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from shakedown.model.nouns import Case, System
from shakedown.model.scenario import Metadata, Scenario
from shakedown.twin.machine.clock import VirtualClock
from shakedown.twin.machine.slowdown_groups import Lane

Place = tuple[str, str]  # (budget, target), the target "" where the budget has none
Stakes = tuple[tuple[Place, float], ...]  # where a run spends which share of its time


@dataclass(slots=True)
class Resource:
    """One target, or one bandwidth. ``load``: its present load; ``hung``: the number of present reasons for it to hang."""

    law: Callable[[float], float]
    load: float = 0.0
    hung: int = 0
    slowdown: float = 1.0
    lanes: list[tuple[Lane, Stakes]] = field(default_factory=list)


@dataclass(slots=True)
class Stay:
    """The loads of a running run, and its number in a lane, 0 = none."""

    loads: tuple[tuple[Place, float], ...]
    lane: Lane | None = None
    number: int = 0


def usl_time(load: float, sigma: float, kappa: float) -> float:
    """Purpose: the factor by which a load lengthens one operation: Gunther's universal scalability law (2007)."""
    more = max(load, 1.0) - 1.0
    return 1.0 + sigma * more + kappa * max(load, 1.0) * more


def metadata_slowdown(terms: Metadata, load: float) -> float:
    """Purpose: how many times as long a metadata operation takes as up to ``healthy`` copies make it take."""
    usual = usl_time(terms.healthy, terms.sigma, terms.kappa)
    return max(1.0, usl_time(load, terms.sigma, terms.kappa) / usual)


class Storage:
    """The targets and bandwidths that a scenario describes. ``stays``: the runs that use them now."""

    def __init__(self, system: System, scenario: Scenario, clock: VirtualClock, notices: bool) -> None:
        self.clock, self.notices = clock, notices
        self.metadata, self.bandwidth = scenario.metadata, scenario.bandwidth
        self.targets = {terms.budget: targets_of(system, terms.budget) for terms in scenario.metadata}
        self.resources: dict[Place, Resource] = {}
        self.stays: dict[object, Stay] = {}
        self._lanes: dict[Stakes, Lane] = {}
        for terms in self.metadata:
            for target in self.targets[terms.budget]:
                self.resources[terms.budget, target] = Resource(lambda load, of=terms: metadata_slowdown(of, load))  # type: ignore[misc]
        for link in self.bandwidth:
            self.resources[link.budget, ""] = Resource(lambda load, of=link: max(1.0, load / of.capacity))  # type: ignore[misc]

    # ---- runs ------------------------------------------------------------------------------------------------------------

    def begin(
        self, key: object, case: Case, targets: dict[str, str], work_s: float | None, finish: Callable[[], object]
    ) -> bool:
        """A run begins to load what it loads. Whether its end depends on others: ``finish`` is called then; else nothing slows it.

        ``work_s`` None: it does not get on anyway.
        """
        loads, stakes = self._asked(case, targets)
        if not loads:
            return False
        stay = self.stays[key] = Stay(loads)
        for place, amount in loads:
            self.add(place, amount)
        if work_s is not None and not any(self._too_many(place) for place, _ in loads):
            stay.lane = self._lane(stakes)
            stay.number = stay.lane.join(work_s, finish)
        return True

    def end(self, key: object) -> None:
        """Remove the loads of a run at its end."""
        stay = self.stays.pop(key, None)
        if stay is None:
            return
        if stay.lane is not None:
            stay.lane.leave(stay.number)
        for place, amount in stay.loads:
            self.add(place, -amount)

    def _asked(self, case: Case, targets: dict[str, str]) -> tuple[tuple[tuple[Place, float], ...], Stakes]:
        """What a run loads, and where it spends which share of its time."""
        planned = dict(case.loads)
        loads: list[tuple[Place, float]] = []
        stakes: list[tuple[Place, float]] = []
        for terms in self.metadata:
            amount = planned.get(terms.budget, 0.0) or terms.every_run
            known = self.targets[terms.budget]
            target = targets.get(terms.budget) or terms.target or known[0]
            if amount and target in known:
                loads.append(((terms.budget, target), amount))
                stakes.append(((terms.budget, target), dict(terms.shares).get(case.test, terms.share)))
        for link in self.bandwidth:
            amount = planned.get(link.budget, 0.0)
            if amount:
                loads.append(((link.budget, ""), amount))
                stakes.append(((link.budget, ""), dict(link.shares).get(case.test, link.share)))
        return tuple(loads), tuple(stakes)

    def _too_many(self, place: Place) -> bool:
        """Whether a run that begins there now is one too many, and never goes on."""
        limit = next((terms.hangs_past for terms in self.metadata if terms.budget == place[0]), 0.0)
        return bool(limit) and self.resources[place].load > limit + 1e-9

    # ---- loads and paces -------------------------------------------------------------------------------------------------

    def add(self, place: Place, amount: float) -> None:
        """Change the load of a resource by an amount."""
        resource = self.resources[place]
        resource.load = max(0.0, round(resource.load + amount, 6))
        self._changed(resource)

    def hang(self, place: Place, more: int) -> None:
        """A target begins to hang (1), or has hung (-1)."""
        self.resources[place].hung += more
        self._changed(self.resources[place])

    def places_of(self, budget: str) -> list[Place]:
        return [place for place in self.resources if place[0] == budget]

    def _changed(self, resource: Resource) -> None:
        slowdown = math.inf if resource.hung else resource.law(resource.load)
        if slowdown != resource.slowdown:
            resource.slowdown = slowdown
            for lane, stakes in resource.lanes:
                lane.set_pace(self._pace(stakes))

    def _lane(self, stakes: Stakes) -> Lane:
        lane = self._lanes.get(stakes)
        if lane is None:
            lane = self._lanes[stakes] = Lane(self.clock, self.notices)
            lane.set_pace(self._pace(stakes))
            for place, _ in stakes:
                self.resources[place].lanes.append((lane, stakes))
        return lane

    def _pace(self, stakes: Stakes) -> float:
        if any(self.resources[place].hung for place, _ in stakes):
            return 0.0
        return 1.0 / (1.0 + sum(share * (self.resources[place].slowdown - 1.0) for place, share in stakes))


def targets_of(system: System, budget: str) -> tuple[str, ...]:
    """Purpose: the targets behind a budget: its own, else those of the class that its name (FILESYSTEM/CLASS) says, else one."""
    own = dict(system.targeted).get(budget)
    if own:
        return own
    name, _, kind = budget.partition("/")
    classes = next((dict(one.targets) for one in system.filesystems if one.name == name), {})
    return classes.get(kind) or ("",)
