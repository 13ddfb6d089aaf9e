"""No lost wake-up, and reasons that are so: what waits while the conductor rests.

``permitted`` goes by the oracle's own books: a run that nothing holds back, before a pool in which nothing of ours is.
``lifted`` takes away what a reason names, on a copy of the state: the run starts, or waits for something else.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from oracle_modes import Want, need
from oracle_needs import WELL

from shakedown.engine import State, decide, evolve, explain
from shakedown.engine.policy.explain import Waiting
from shakedown.engine.state.snapshot import freeze_state, thaw_state
from shakedown.model.events import Event
from shakedown.model.nouns import Case, Component

LONGEST_SHUT_S = 400.0  # after a submission that was not taken, before the next is tried, at most
ONE_BY_ONE = 3  # reasons that are lifted at one rest


class WaitingRules:
    """``oracle`` lends its books. Sees events for what nobody else keeps."""

    def __init__(self, oracle: Any) -> None:
        self.oracle = oracle
        self.deferred: dict[str, float] = {}  # pool -> when a job was not taken there
        self.held: set[str] = set()  # pools whose queue is held: one job at a time probes, and it alone may start
        self.stopping = self.cancelled = False
        self.stopped: set[tuple[str, str]] = set()
        self.built: set[str] = set()

    def amend(self, document: Any) -> None:
        """The books of others are asked."""

    def see(self, event: Event) -> None:
        value = event.value
        if event.event == "submit_deferred":
            self.deferred.update(dict.fromkeys(self._pools(), event.time))
        elif value.get("kind") == "queue_held":
            self.held.add(value["pool"])
        elif value.get("kind") == "queue_released":
            self.held.discard(value["pool"])
        elif event.event in ("stop_request", "driver_start"):
            self.stopping = event.event == "stop_request"
        elif event.event == "cancel_request" and value.get("all"):
            self.cancelled = True
        elif event.event == "case_stopped":
            self.stopped.add((value["component"], event.case))
        elif event.event == "continued" and event.case:
            self.stopped.discard((value["component"], event.case))
        elif event.event == "build_end" and value["state"] == "done":
            self.built.add(event.build)

    def _pools(self) -> list[str]:
        return list(self.oracle.nodes.names)

    # ---- no lost wake-up ---------------------------------------------------------------------------------------------------

    def nothing_is_permitted(self, now: float) -> None:
        for want in self.permitted(now):
            need(False, f"nothing holds {want} back, its pool is empty, and it is not ordered")

    def permitted(self, now: float) -> Iterator[Want]:
        """Results that wait although nothing is in their way."""
        oracle = self.oracle
        document = oracle.document
        special = any(one.modes or one.duration_s or one.sweep or one.pack for one in document.components)
        if oracle.amended or self.stopping or self.cancelled or special or oracle.campaign.local:
            return
        components = {component.name: component for component in document.components}
        for want, where in oracle.books.open.items():
            component, case = components[want[0]], oracle.loads.cases[want[1]]
            if (
                where == "waiting"
                and self._may_begin(component, case, want, now)
                and all(oracle.needs.came_out(one) in WELL for one in oracle.needs.needed(want))
                and self._has_room(component, case, now)
            ):
                yield want

    def _may_begin(self, component: Component, case: Case, want: Want, now: float) -> bool:
        oracle = self.oracle
        held = component.name in oracle.loads.paused or {"", component.name} & oracle.loads.draining
        held = held or (component.name, case.id) in self.stopped or oracle.loads.allowed.closed(component, now)
        early = oracle.runs.again.get(want, 0.0) > now or (case.build and case.build not in self.built)
        shut = case.partition in self.held or now - self.deferred.get(case.partition, -LONGEST_SHUT_S) < LONGEST_SHUT_S
        return not (held or early or shut) and all(self._is_over(name, component) for name in component.after)

    def _is_over(self, name: str, then: Component) -> bool:
        books, before = self.oracle.rules.books, self.oracle.runs.components[name]
        if any(want[0] == name for want in self.oracle.books.open):
            return False
        if name in books.waived:
            return True
        attested = all((name, procedure.name) in books.attested for procedure in before.procedures)
        return attested and (then.gate == "over" or books.outcomes.get(name) == "met")

    def _has_room(self, component: Component, case: Case, now: float) -> bool:
        """Nothing of ours is in the pool; budgets, copies, gaps and nodes allow one more."""
        oracle = self.oracle
        if case.partition in oracle.runs.live.values():
            return False
        names = oracle.nodes.names[case.partition]
        if len(set(names) - oracle.nodes.excluded - oracle.nodes.left_out) < case.shape.units:
            return False
        last, gap = oracle.loads.last_start.get(case.test), oracle.loads.allowed.stagger_s(component)
        if last is not None and now < last + gap:
            return False
        loads = [(f"copies:{case.test}", 1.0), *case.loads]
        return all(self._fits(component, name, amount, now) for name, amount in loads)

    def _fits(self, component: Component, name: str, amount: float, now: float) -> bool:
        loads = self.oracle.loads
        owns = (
            [f"{name}@{target}" for target in loads.allowed.targets[name]] if name in loads.allowed.targets else [name]
        )
        return any(
            loads.used.get(own, 0.0) + amount
            <= min(loads.allowed.of(own), loads.allowed.of_component(component, own, now))
            for own in owns
        )

    # ---- reasons -------------------------------------------------------------------------------------------------------------

    def lifted(self, state: State, now: float) -> int:
        """Take away what some reasons name, one at a time. Returns how many were."""
        count = 0
        for waiting in explain(state, now=now):
            need(bool(waiting.key and waiting.text), f"{waiting.case} waits for nothing that has a name")
            if count < ONE_BY_ONE and self._lift(state, waiting, now):
                count += 1
        return count

    def _lift(self, state: State, waiting: Waiting, now: float) -> bool:
        copy = thaw_state(freeze_state(state), state.index)
        later = now
        lift = self._word(copy, waiting)
        if lift is not None:
            evolve(copy, lift)
        elif waiting.key == "backoff":
            later = waiting.until + 1e-3
        else:
            return False
        starts = any(order.event.case == waiting.case for order in decide(copy, later).orders)
        left, count = (_alike(explain(one, waiting.case, at), waiting) for one, at in ((copy, later), (state, now)))
        need(
            starts or left < count,
            f"{waiting.case} waits for {waiting.key}, which is gone, and still says so: {waiting.text}",
        )
        return True

    def _word(self, copy: State, waiting: Waiting) -> Event | None:
        """What a person says to take a reason away."""
        kind, _, what = waiting.key.partition(":")
        place: dict[str, Any] = {"seq": copy.seq + 1, "time": copy.time}
        if kind == "paused":
            return Event("continued", value={"component": what}, **place)
        if kind == "cap":
            return Event("capped", value={"test": what}, **place)
        if kind == "stopped":
            return Event("continued", case=what, value={"component": waiting.component}, **place)
        if kind == "excluded":
            return Event("included", value={"nodes": list(copy.overrides.excluded)}, **place)
        if kind == "left_out":
            return Event("included", value={"nodes": list(copy.pools.left_out)}, **place)
        if kind == "held":
            return Event("finding", value={"kind": "queue_released", "pool": what, "held_s": 0.0}, **place)
        if kind == "clock":
            return Event("clock", value={"component": what, "act": "start"}, **place)
        return None


def _alike(found: list[Waiting], waiting: Waiting) -> int:
    """How many results wait for the very same thing."""
    same = (waiting.component, waiting.key, waiting.until or waiting.text)
    return sum(one.count for one in found if (one.component, one.key, one.until or one.text) == same)
