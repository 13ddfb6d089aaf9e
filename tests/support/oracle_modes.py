"""The part of the oracle that knows modes, mixes, procedures and gates: from events and the machine's ground truth alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from oracle_clock import CLOCK_EVENTS, clock_time

from shakedown.model.events import Event
from shakedown.model.nouns import Case, Component, Document

Want = tuple[str, str, str, int]  # component, case, mode (warm-ups with what they warm up), repeat
Stage = tuple[str, str, str] | None  # component, mode, case; None for what shares the machine


class Violation(AssertionError):
    """An invariant of the engine does not hold."""


def need(holds: bool, otherwise: str) -> None:
    if not holds:
        raise Violation(otherwise)


def mode_of(value: dict[str, Any]) -> str:
    """A mode as the log says it: isolated, fill, warm-up isolated, warm-up fill, or nothing."""
    return " ".join(str(value[key]) for key in ("mode", "of") if key in value)


def wants(document: Document) -> Iterator[tuple[Want, bool]]:
    """What a plan wants at its start, and whether its case is available."""
    cases = {case.id: case for case in document.cases}
    for component in document.components:
        for name in component.cases:
            available = not cases[name].unavailable
            for mode, count in counts(document, component, cases[name]):
                yield from (((component.name, name, mode, n + 1), available) for n in range(count))
        for name in component.fillers if component.duration_s else ():
            yield (component.name, name, "filler", 1), not cases[name].unavailable
        for mode, names in (("set-up", component.set_up), ("clean-up", component.clean_up)):
            yield from (((component.name, name, mode, 1), not cases[name].unavailable) for name in names)
        for drill in component.drills:
            if drill.case:
                yield (component.name, drill.case, f"drill {drill.name}", 1), not cases[drill.case].unavailable


def is_step(mode: str) -> bool:
    """Outside of a component's mix, modes and clock."""
    return mode in ("set-up", "clean-up") or mode.startswith("drill ")


def counts(document: Document, component: Component, case: Case) -> Iterator[tuple[str, int]]:
    swept = swept_nodes(document, component, case)
    if swept:
        yield "", swept * (1 if component.duration_s or component.sweep is None else component.sweep.rounds)
    elif component.duration_s:
        yield "", 1
    elif not component.modes:
        yield "", component.repeats
    for mode in component.modes:
        copies = 1 if mode.name == "isolated" else mode.copies or full(document, case)
        yield f"warm-up {mode.name}", mode.warm_up * copies
        yield mode.name, mode.repeats * copies


def swept_nodes(document: Document, component: Component, case: Case) -> int:
    """How many nodes a sweep sees with a case: one result is wanted of each. 0 where there is none, or only one's own machine."""
    if component.sweep is None:
        return 0
    for cluster in document.system.clusters:
        for partition in cluster.partitions:
            if f"{cluster.name}:{partition.name}" == case.partition:
                return 0 if cluster.scheduler == "local" else partition.count
    return 0


def full(document: Document, case: Case) -> int:
    """How many copies of a case fill its partition."""
    return max(1, document.system.capacities()[case.partition] // case.shape.units)


@dataclass
class ModeBooks:
    """What events say of modes and gates."""

    stages: dict[str, Stage] = field(default_factory=dict)  # job -> what it belongs to
    places: dict[str, str] = field(default_factory=dict)  # job -> its partition
    live: dict[str, None] = field(default_factory=dict)  # jobs that may be alive, as far as the log knows
    attempted: set[Want] = field(default_factory=set)
    withdrawn: dict[str, Want] = field(default_factory=dict)  # run that never began and waits again, or was judged so
    wants: dict[str, Want] = field(default_factory=dict)  # run -> the result that it is an attempt at
    passed: dict[str, set[Want]] = field(default_factory=lambda: defaultdict(set))
    outcomes: dict[str, str] = field(default_factory=dict)
    waived: set[str] = field(default_factory=set)
    attested: dict[tuple[str, str], bool] = field(default_factory=dict)
    began: dict[str, float] = field(default_factory=dict)  # component -> its first order
    up: set[str] = field(default_factory=set)
    clocks: list[Event] = field(default_factory=list)  # what was said of clocks


class ModeRules:
    """Checks events in turn. ``document`` is the plan in force; ``open`` the wanted results that are open, by the oracle."""

    def __init__(self, document: Callable[[], Document], open_wants: Callable[[], dict[Want, str]]) -> None:
        self._document, self._open, self.books = document, open_wants, ModeBooks()

    # ---- the log -------------------------------------------------------------------------------------------------------

    def see(self, event: Event) -> None:
        """Keep the books and hold each order against them."""
        books, value = self.books, event.value
        if event.event == "submit_order":
            self._ordered(event)
        elif event.event == "requeued":
            books.live[event.job] = None
            books.attempted.add((value["component"], event.case, mode_of(value), value["repeat"]))
        elif event.event in ("claim_taken", "returned", "submit_deferred"):
            books.live.pop(event.job, None)
            if event.run in books.wants:
                books.withdrawn[event.run] = books.wants[event.run]
        elif event.event == "verdict":
            self._judged(event)
        elif event.event == "finding":
            self._found(event)
        elif event.event == "waived" and value.get("what") == "gate":
            books.waived.add(value["component"])
        elif event.event == "attested":
            books.attested[value["component"], value["procedure"]] = value["met"]
        elif event.event == "component_outcome":
            self._came_out(event)
        elif event.event in CLOCK_EVENTS:
            books.clocks.append(event)
        elif event.event == "amended":
            books.outcomes.clear()
            books.up.clear()  # what is over is said again
            books.clocks.append(event)  # what is taken up again stood still meanwhile

    def _ordered(self, event: Event) -> None:
        books, value = self.books, event.value
        component = self._component(value["component"])
        case = self._case(event.case)
        want = (value["component"], event.case, mode_of(value), value["repeat"])
        stage: Stage = None
        step = is_step(want[2])
        if value.get("mode", "filler") != "filler" and not step:
            stage = (value["component"], value.get("of", value["mode"]), event.case)
        self._alone(event, stage, case)
        if component is not None:
            self._gates(component)
            self._set_up(component, want)
            if not step:
                self._in_time(component, event, want)
            self._at_its_moment(component, event, want)
        self._warmed_up(want)
        books.attempted.add(want)
        books.wants[event.run] = want
        books.withdrawn.pop(event.run, None)
        if not step:
            books.began.setdefault(value["component"], event.time)
        books.stages[event.job], books.places[event.job] = stage, case.partition
        books.live[event.job] = None

    def _set_up(self, component: Component, want: Want) -> None:
        """All else begins when the set-ups have passed, and clean-ups when all else is over."""
        name, mode = component.name, want[2]
        if mode == "clean-up":
            before = [one for one in self._open() if one[0] == name and one[2] != mode]
            need(not before, f"{name} is cleaned up before {before[:2]} are over")
        elif mode != "set-up" and component.set_up:
            passed = {one[1] for one in self.books.passed[name] if one[2] == "set-up"}
            need(passed >= {*component.set_up}, f"{want} is ordered and {name} is not set up")

    def _at_its_moment(self, component: Component, event: Event, want: Want) -> None:
        """A test that is a drill begins when the clock has run so long, and once."""
        drill = next((one for one in component.drills if want[2] == f"drill {one.name}"), None)
        if drill is not None:
            began = self.books.began.get(component.name, event.value["now"])
            ran = clock_time(component, began, self.books.clocks, event.value["now"])
            need(ran >= drill.at_s - 1e-6, f"{event.run} of drill {drill.name} was ordered after {ran} s")
            need(want not in self.books.attempted, f"drill {drill.name} is done a second time by {event.run}")

    def _alone(self, event: Event, stage: Stage, case: Case) -> None:
        """Isolated runs and fills share their partition with nothing else of ours."""
        books = self.books
        beside = [job for job in books.live if books.places[job] == case.partition]
        strange = [job for job in beside if books.stages[job] != stage and (stage or books.stages[job])]
        need(not strange, f"{event.run} ({stage}) is ordered beside {strange[:3]}, which are of another kind")
        if stage is not None and stage[1] == "isolated":
            need(not beside, f"{event.run} is to be isolated and is ordered beside {beside[:3]}")
        if stage is not None and stage[1] == "fill":
            most = self._copies(stage, case)
            need(len(beside) < most, f"{event.run} is copy {len(beside) + 1} of {most}")

    def _copies(self, stage: tuple[str, str, str], case: Case) -> int:
        component = self._component(stage[0])
        modes = component.modes if component else ()
        copies = next((mode.copies for mode in modes if mode.name == "fill"), 1)
        return min(copies or full(self._document(), case), full(self._document(), case))

    def _gates(self, component: Component) -> None:
        books = self.books
        for name in component.after:
            before = self._component(name)
            waiting = [want for want in self._open() if want[0] == name]
            need(not waiting, f"{component.name} began before {name} was over: {waiting[:2]}")
            if name in books.waived or before is None:
                continue
            for procedure in before.procedures:
                known = (name, procedure.name) in books.attested
                need(known, f"{component.name} began before '{procedure.name}' of {name} was attested")
            if component.gate == "met":
                need(books.outcomes.get(name) == "met", f"{component.name} began although {name} is not met")

    def _in_time(self, component: Component, event: Event, want: Want) -> None:
        if component.duration_s and want not in self.books.attempted:
            need(want[0] not in self.books.up, f"{event.run} of {component.name} was ordered after its time")
        if component.duration_s and want not in self.books.attempted:
            began = self.books.began.get(component.name, event.value["now"])
            ran = clock_time(component, began, self.books.clocks, event.value["now"])
            late = ran - component.duration_s
            need(late < 0, f"{event.run} of {component.name} was ordered {late} s after its time")

    def _warmed_up(self, want: Want) -> None:
        """Warm-ups come first: over before an isolated run, ordered before a copy of a fill."""
        component, case, mode, _ = want
        before = [one for one in self._open() if one[:3] == (component, case, f"warm-up {mode}")]
        if mode == "fill":
            before = [one for one in before if one not in self.books.attempted]
        need(not before, f"{want} began before its warm-ups: {before[:2]}")

    def _judged(self, event: Event) -> None:
        books, value = self.books, event.value
        if event.job and not value.get("alive"):
            books.live.pop(event.job, None)
        want = (value["component"], event.case, mode_of(value), value["repeat"])
        if value["verdict"] == "passed":
            books.passed[value["component"]].add(want)
        elif "supersedes" in value:
            books.passed[value["component"]].discard(want)

    def _found(self, event: Event) -> None:
        value = event.value
        if value.get("dead"):
            self.books.live.pop(event.job, None)
        elif value.get("kind") == "unwanted_restart":
            self.books.live[event.job] = None
        elif value.get("kind") == "time_is_up":
            self.books.up.add(value["component"])

    def _came_out(self, event: Event) -> None:
        """Where a plan states no criteria: all that was wanted passed, warm-ups aside, or it is not met."""
        books, name = self.books, event.value["component"]
        books.outcomes[name] = event.value["outcome"]
        need(bool(event.reason), f"{name} came out without a reason")
        component = self._component(name)
        if component is None or component.criteria:
            return
        denied = [p.name for p in component.procedures if not books.attested.get((name, p.name), False)]
        gone = set(books.withdrawn.values()) if component.duration_s else set()  # its time was up before they began
        attempted = {want for want in books.attempted - gone if want[0] == name and not want[2].startswith("warm-up")}
        attempted = {
            want for want in attempted if want[1] in (*component.cases, *component.fillers)
        }  # an amendment's word
        passed = attempted <= books.passed[name]
        if event.value["outcome"] == "met":
            need(passed and not denied, f"{name} came out met: {denied}, {sorted(attempted - books.passed[name])[:2]}")

    def _component(self, name: str) -> Component | None:
        return next((found for found in self._document().components if found.name == name), None)

    def _case(self, name: str) -> Case:
        return next(case for case in self._document().cases if case.id == name)

    # ---- the machine ---------------------------------------------------------------------------------------------------

    def look_at(self, executing: list[str]) -> None:
        """Ground truth: what really runs together. ``executing``: jobs whose payload runs now."""
        for job in executing:
            stage = self.books.stages.get(job)
            if stage is None:
                continue
            beside = [one for one in executing if one != job and self.books.places[one] == self.books.places[job]]
            strange = [one for one in beside if stage[1] == "isolated" or self.books.stages[one] != stage]
            need(not strange, f"{job} ({stage}) really runs beside {strange[:3]}")
