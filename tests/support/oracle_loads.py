"""What may run at once: loads on each target, copies of each test, the gap between two starts, pauses and time that is up.

Books of its own, from the plan, the log and the machine's ground truth alone. A job loads from the moment at which it may start
(its order, or its release where it was held) until its end is confirmed; one that follows another takes that one's place.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from oracle_budgets import NO_LIMIT, Allowed
from oracle_modes import need

from shakedown.model.events import Event
from shakedown.model.nouns import Case, Component, Document
from shakedown.twin.machine.jobs import Execution

CONFIRMED = frozenset({"completed", "failed", "timeout", "cancelled", "interrupted"})
RAN = frozenset({"completed", "failed", "timeout"})
SLACK = 1e-6


@dataclass
class Loader:
    """A job that the log knows and that is not known to be over. ``state``: held, following, loading."""

    job: str
    case: Case
    component: Component | None
    lanes: int = 1
    state: str = "loading"
    after: str = ""
    targets: dict[str, str] = field(default_factory=dict)
    loads: dict[str, float] = field(default_factory=dict)
    ceiling: dict[str, float] = field(default_factory=dict)  # of one that follows: what was allowed when it was ordered
    runs: set[str] = field(default_factory=set)
    restart: int = 0
    void: bool = False  # its script found that what it was to follow may still run, and did nothing
    beside: bool = False  # somebody else ended what it was to follow, so it goes on beside what that one followed
    inherits: bool = False  # one that it followed, near or far, went on beside another
    restarting: bool = False  # its run is judged, and the job goes on


class LoadRules:
    """Sees every event in turn, and what really runs. ``document`` may change with an amendment: then it is made anew."""

    def __init__(self, document: Document) -> None:
        self.document, self.allowed = document, Allowed(document)
        self.cases = {case.id: case for case in document.cases}
        self.components = {component.name: component for component in document.components}
        self.jobs: dict[str, Loader] = {}
        self.used: dict[str, float] = defaultdict(float)
        self.last_start: dict[str, float] = {}  # test -> when a run of it was last allowed to start
        self.paused: set[str] = set()
        self.up: set[str] = set()
        self.draining: set[str] = set()

    def amend(self, document: Document) -> None:
        """Another plan is in force: what runs goes on, what people said of things that are still there holds, drains do not."""
        before, self.document, self.allowed = self.allowed, document, Allowed(document)
        self.allowed.take_over(before)
        self.cases |= {case.id: case for case in document.cases}
        self.components = {component.name: component for component in document.components}
        for loader in self.jobs.values():
            loader.component = self.components.get(loader.component.name) if loader.component else None
        self.paused &= self.components.keys()
        self.up, self.draining = set(), set()

    def see(self, event: Event) -> None:
        self.allowed.see(event)
        handler = getattr(self, f"_{event.event}", None)
        if handler is not None:
            handler(event)

    # ---- may start -----------------------------------------------------------------------------------------------------

    def _submit_order(self, event: Event) -> None:
        value, component = event.value, self.components.get(event.value["component"])
        need(value["component"] not in self.paused, f"{event.run} is ordered although {value['component']} is paused")
        cleans = value.get("mode") == "clean-up"  # that is owed, whatever else is over
        drained = {"", value["component"]} & self.draining and not cleans
        need(not drained, f"{event.run} is ordered although {value['component']} is to come to its end")
        closed = component is not None and not cleans and self.allowed.closed(component, event.time)
        need(not closed, f"{event.run} is ordered although {value['component']} orders nothing now")
        if event.job in self.jobs:
            self._widen(self.jobs[event.job], event)
            return
        loader = Loader(event.job, self.cases[event.case], component, value.get("at_once", 1), runs={event.run})
        self.jobs[event.job] = loader
        loader.after = value.get("after", "")
        if value.get("held"):
            loader.state = "held"
            return
        loader.targets = value.get("targets", {})
        loader.loads = self._loads(loader, loader.targets, event)
        if loader.after in self.jobs:
            loader.state = "following"
            loader.ceiling = {name: self._limit(loader, name, event.time) for name in loader.loads}
        else:
            self._start(loader, event.time)

    def _widen(self, loader: Loader, event: Event) -> None:
        """One more run of a job of several: of each budget the job loads the most that any of its runs does."""
        loader.runs.add(event.run)
        case = self.cases[event.case]
        for name, amount in (*case.loads, (f"copies:{case.test}", 1.0)):
            own = f"{name}@{loader.targets[name]}" if name in loader.targets else name
            more = amount * loader.lanes - loader.loads.get(own, 0.0)
            if more > 0.0 and loader.state == "loading":
                loader.loads[own] = amount * loader.lanes
                self.used[own] += more
                self._fits(loader, own, event.time)

    def _release_order(self, event: Event) -> None:
        loader = self.jobs.get(event.job)
        need(loader is not None, f"{event.job} is released and was never ordered, or is over")
        assert loader is not None
        name = loader.component.name if loader.component else ""
        if loader.state != "held":
            need(bool(event.value.get("again")), f"{event.job} is released twice")
            return
        need(name not in self.paused, f"{event.job} is released although {name} is paused")
        need(name not in self.up, f"{event.job} is released although the time of {name} is up")
        loader.state, loader.loads = "loading", self._loads(loader, event.value.get("targets", {}), event)
        self._start(loader, event.time)

    def _loads(self, loader: Loader, targets: dict[str, str], event: Event) -> dict[str, float]:
        """What a job loads, each target by its own name."""
        loads = {f"copies:{loader.case.test}": float(loader.lanes)}
        for name, amount in loader.case.loads:
            known = self.allowed.targets.get(name)
            if known is not None:
                need(targets.get(name) in known, f"{event.job} may start and no target of {name} was chosen: {targets}")
            own = f"{name}@{targets[name]}" if known is not None else name
            loads[own] = loads.get(own, 0.0) + amount * loader.lanes
        return loads

    def _start(self, loader: Loader, now: float) -> None:
        """Its loads rise: they must fit now."""
        test = loader.case.test
        gap, before = self.allowed.stagger_s(loader.component), self.last_start.get(test)
        near = before is not None and now - before < gap - SLACK
        need(not near, f"{loader.job}: a run of {test} may start at {now}, {gap} s are to lie after {before}")
        self.last_start[test] = now
        loader.state = "loading"
        for name, amount in loader.loads.items():
            self.used[name] += amount
            self._fits(loader, name, now)

    def _fits(self, loader: Loader, name: str, now: float) -> None:
        if self.allowed.licensed(loader.case, name):
            return
        limit, used = max(self.allowed.of(name), loader.ceiling.get(name, 0.0)), self.used[name]
        need(used <= limit + SLACK, f"{name}: {loader.job} may start, which makes it {used:g} of {limit:g}")
        if loader.component is not None:
            limit = max(self.allowed.of_component(loader.component, name, now), loader.ceiling.get(name, 0.0))
            own = sum(
                one.loads[name] for one in self._loading() if one.component is loader.component and name in one.loads
            )
            whose = loader.component.name
            need(
                own <= limit + SLACK, f"{name}: {loader.job} may start, which makes it {own:g} of {limit:g} for {whose}"
            )

    def _limit(self, loader: Loader, name: str, now: float) -> float:
        own = self.allowed.of_component(loader.component, name, now) if loader.component else NO_LIMIT
        return min(self.allowed.of(name), own)

    def _loading(self) -> Iterable[Loader]:
        return (one for one in self.jobs.values() if one.state == "loading")

    # ---- is over -------------------------------------------------------------------------------------------------------

    def _job_report(self, event: Event) -> None:
        loader = self.jobs.get(event.job)
        if loader is None or event.value.get("part"):
            return
        said = event.value["state"]
        loader.void = loader.void or said == "void"
        if event.value.get("restart", 0) > loader.restart or said == "requeued":
            loader.restarting = True
            loader.restart = max(event.value.get("restart", 0), loader.restart + 1)
        if said in RAN and loader.state == "following":
            self._follow(loader, event.time)
        if said in CONFIRMED and not event.value.get("restart", 0):
            self._over(event.job, event.time, taken_away=loader.state == "following")
        elif said == "running" and loader.state == "following":
            self._follow(loader, event.time)

    def _verdict(self, event: Event) -> None:
        loader = self.jobs.get(event.job)
        if loader is None or "supersedes" in event.value or event.value.get("alive"):
            return
        loader.runs.discard(event.run)
        if not loader.runs and not loader.restarting:
            self._over(event.job, event.time)

    def _claim_taken(self, event: Event) -> None:
        if event.job in self.jobs and not event.value.get("part"):
            self._over(event.job, event.time)

    _submit_deferred = _returned = _claim_taken

    def _finding(self, event: Event) -> None:
        kind = event.value.get("kind")
        if kind == "time_is_up":
            self.up.add(event.value["component"])
        elif event.value.get("dead") and event.job in self.jobs:
            self._over(event.job, event.time)

    def _requeued(self, event: Event) -> None:
        """The same job with a new run; a report of its former end may have been taken for its own."""
        loader = self.jobs.get(event.job)
        if loader is None:
            component = self.components.get(event.value["component"])
            loader = self.jobs[event.job] = Loader(event.job, self.cases[event.case], component, state="over")
        loader.runs.add(event.run)
        loader.restarting = False

    def _over(self, job: str, now: float, taken_away: bool = False) -> None:
        """``taken_away``: somebody else ended it before it began, and nobody could keep what follows it from beginning."""
        loader = self.jobs.pop(job)
        loaded = dict(self.used)
        if loader.state == "loading":
            for name, amount in loader.loads.items():
                self.used[name] -= amount
        for other in [one for one in self.jobs.values() if one.after == job and one.state == "following"]:
            if loader.void and loader.after in self.jobs:
                other.after = loader.after  # its own script looks past one that never ran
                continue
            other.beside = other.beside or taken_away
            if loader.beside or loader.inherits:  # it takes a place that was one too many: it may not make it more
                other.inherits = True
                other.ceiling |= {n: max(loaded.get(n, 0.0), other.ceiling.get(n, 0.0)) for n in loader.loads}
            self._follow(other, now)

    def _follow(self, loader: Loader, now: float) -> None:
        """It takes the place of the one before it: what that loaded is free, and its own loads fit now as they did then."""
        before = self.jobs.get(loader.after)
        if before is not None:  # it runs, so all before it are over, whatever the log has heard of them
            if before.state == "following":
                self._follow(before, now)
            self._over(before.job, now)
            return
        loader.state = "loading"
        for name, amount in loader.loads.items():
            self.used[name] += amount
            if not loader.beside:
                self._fits(loader, name, now)

    # ---- people and the calendar ---------------------------------------------------------------------------------------

    def _paused(self, event: Event) -> None:
        self.paused.add(event.value["component"])

    def _continued(self, event: Event) -> None:
        if not event.case:
            self.paused.discard(event.value["component"])

    def _drain_request(self, event: Event) -> None:
        self.draining.add(event.value.get("component", ""))

    # ---- the machine ---------------------------------------------------------------------------------------------------

    def look_at(self, executing: Iterable[Execution], targets: dict[str, dict[str, str]]) -> None:
        """Ground truth: what really runs never loads more than is allowed, or than the log says where that was shrunk since.

        ``targets``: job -> budget -> the target that it really works on.
        """
        really: dict[str, float] = defaultdict(float)
        for execution in executing:
            case = self.cases[execution.case]
            chosen = targets.get(execution.job, {})
            for name, amount in (*case.loads, (f"copies:{case.test}", 1.0)):
                really[f"{name}@{chosen[name]}" if name in chosen else name] += amount
        for name, amount in really.items():
            if amount <= self.used.get(name, 0.0) + SLACK:
                continue
            limit = max(self.allowed.of(name), self.used.get(name, 0.0))
            need(amount <= limit + SLACK, f"{name}: {amount:g} of {limit:g} is really loaded")
