"""Why a class of runs may not start now: exactly one reason, which names what holds it back and who can change that.

``decide`` and ``explain`` call the same functions, so what a person reads is the reason that the engine acted on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from shakedown.engine.constraints.budgets import ReservedLoads, budget_reason, waiting_for_licences
from shakedown.engine.constraints.component_clock import drill_moment
from shakedown.engine.constraints.left_out import barred, left_out_in_words, to_probe
from shakedown.engine.constraints.overrides import component_reason, standing_reason
from shakedown.engine.constraints.queue_guard import guard_reason
from shakedown.engine.constraints.reason import Reason
from shakedown.engine.state.keys import ResultsKey, Stage
from shakedown.engine.state.modes import CLEAN_UP, FILLER, base, drill, is_drill, warm_up
from shakedown.engine.state.phases import BuildPhase
from shakedown.engine.state.plan import QueueKey
from shakedown.engine.state.state import State
from shakedown.model.nouns import Loads
from shakedown.model.shared_nodes import names_of
from shakedown.model.units import show_duration

__all__ = ["Outlook", "Reason", "binding_reason", "build_reason", "holder_of", "outlook"]


_PATIENCE = 4  # times its own width that a wide job may be overtaken by, before nodes are kept for it


@dataclass(frozen=True, slots=True)
class Starting:
    """A job that may start by this decision. ``case``: its case, or that of its first run; ``limit_s``: its time
    limit in seconds.
    """

    key: QueueKey
    case: str
    limit_s: float


@dataclass(slots=True)
class Outlook:
    """What one decision has promised so far, on top of what the state already has.

    ``loads``: budget -> load. ``jobs`` and ``units``: pool -> how many. ``staged``: stage -> how many jobs. ``turns``: pool -> the
    class whose stage has the pool to itself next. ``building``: whether this decision orders builds. ``allowed``: tests of which a
    run may start. ``reserved``: pool -> the wide job that its nodes are kept for. ``starting``: pool -> the jobs that may start.
    ``probed``: nodes that are left out and to which a job of this decision may go.
    """

    loads: ReservedLoads = field(default_factory=ReservedLoads)
    jobs: dict[str, int] = field(default_factory=dict)
    units: dict[str, int] = field(default_factory=dict)
    staged: dict[Stage, int] = field(default_factory=dict)
    turns: dict[str, QueueKey] = field(default_factory=dict)
    building: bool = False
    allowed: set[str] = field(default_factory=set)
    reserved: dict[str, str] = field(default_factory=dict)
    starting: dict[str, list[Starting]] = field(default_factory=dict)
    probed: set[str] = field(default_factory=set)
    known: dict[QueueKey, Reason | None] = field(default_factory=dict)  # what binds a class, until more is promised
    whole: dict[int, tuple[Reason | None, Reason | None]] = field(default_factory=dict)  # what binds all of a component

    def promise(self, one: Starting, loads: Loads) -> None:
        """Count a job that this decision orders and that may start at once."""
        self.take_place(one.key, loads)
        self.start(one, loads)

    def take_place(self, key: QueueKey, loads: Loads) -> None:
        """Count a job of this class at the scheduler, whether or not it may start."""
        self.known.clear()
        self.jobs[key.pool] = self.jobs.get(key.pool, 0) + 1
        self._load((name, load) for name, load in loads if name.startswith("jobs:"))

    def start(self, one: Starting, loads: Loads) -> None:
        """Count that a job which is already at the scheduler may start."""
        key = one.key
        self.known.clear()
        self.units[key.pool] = self.units.get(key.pool, 0) + key.units
        self.starting.setdefault(key.pool, []).append(one)
        if key.stage:
            self.staged[key.stage] = self.staged.get(key.stage, 0) + 1
        if key.test:
            self.allowed.add(key.test)
        self._load((name, load) for name, load in loads if not name.startswith("jobs:"))

    def _load(self, loads: Iterable[tuple[str, float]]) -> None:
        used = self.loads.used
        for budget, load in loads:
            used[budget] = used.get(budget, 0.0) + load


def outlook(state: State, now: float, building: bool = False) -> Outlook:
    """Purpose: the outlook at the beginning of a decision: nothing is promised, and it is known whose turn each pool is."""
    return Outlook(
        turns=_turns(state, now) if state.index.staged else {}, building=building, reserved=reservations(state, now)
    )


def binding_reason(state: State, key: QueueKey, now: float, ahead: Outlook) -> Reason | None:
    """Purpose: the first thing that holds this class back at ``now``; None where it may start. ``ahead`` is of the same moment."""
    if key not in ahead.known:
        ahead.known[key] = _binding_reason(state, key, now, ahead)
    return ahead.known[key]


def _binding_reason(state: State, key: QueueKey, now: float, ahead: Outlook) -> Reason | None:
    if state.driver.stopping:
        return Reason("stopping", f"nothing new is submitted: {state.driver.stopping}")
    if state.driver.no_room:
        return Reason("no_room", f"nothing new is submitted before there is room: {state.driver.no_room}")
    whole = ahead.whole.get(key.component)
    if whole is None:
        whole = ahead.whole[key.component] = _gate(state, key), component_reason(state, key.component, now)
    return (
        whole[0]
        or (standing_reason(state, key, now) if whole[1] or state.overrides.stopped or state.overrides.caps else None)
        or (_results_before_clean_up(state, key) if key.mode == CLEAN_UP else None)
        or (_moment(state, key, now) if is_drill(key.mode) else None)
        or _waits_for_build(state, key)
        or (_too_few(state, key, now, ahead.probed) if state.overrides.excluded or state.pools.left_out else None)
        or _disturbed(state, key, ahead.building)
        or (_turn(state, key, ahead) if state.index.staged or state.usage.stages.get(key.pool) else None)
        or (_next_door(state, key, ahead) if state.index.company else None)
        or budget_reason(state, key, ahead.loads, now)
        or _reserved(state, key, ahead)
        or _stagger(state, key, now, ahead)
        or (guard_reason(state, key.pool, now, ahead.units) if state.pools.guards else None)
        or _shut(state, key, now)
    )


def _too_few(state: State, key: QueueKey, now: float, probed: set[str]) -> Reason | None:
    """So many nodes of the pool are excluded or left out that no job of this width can start."""
    place = state.index.places.get(key.pool)
    if place is None:
        return None
    bundle = state.index.bundles.get((key.component, key.pool))
    sweeps = bundle is not None and bundle.kind == "sweep"  # it goes to the nodes that are left out, too
    gone = state.overrides.excluded if sweeps else set(barred(state, to_probe(state, key.pool, key.units, now, probed)))
    out = sum(name in names_of(place.nodes) for name in gone)
    if key.units <= place.count - out:
        return None
    left = f"{place.count - out} of {place.count} nodes of {key.pool} are left and it takes {key.units}"
    if key.units <= place.count - sum(name in names_of(place.nodes) for name in state.overrides.excluded):
        left_out = "; ".join(left_out_in_words(state))
        return Reason(f"left_out:{key.pool}", f"{left}; {left_out}")
    return Reason(f"excluded:{key.pool}", f"{left}; the others are excluded (shakedown include NODES)")


def reservations(state: State, now: float) -> dict[str, str]:
    """Purpose: pool -> the wide job that the pool's nodes are kept for. That is a job which so many later jobs have overtaken that
    it would otherwise never start.

    Nothing is kept for a job that waits for a person (JobHeldAdmin) or for a licence: free nodes would not help it.
    """
    found = {}
    for pool, name in state.usage.wide.items():
        job = state.jobs.get(name)
        if job is None or job.key is None or job.report.note:
            continue
        if waiting_for_licences(state, job.key, ReservedLoads(), now)[1] > 0:
            continue  # nor what waits for a licence
        if job.overtaken > max(_PATIENCE * job.key.units, state.index.pools[pool].capacity):
            found[pool] = name
    return found


def _reserved(state: State, key: QueueKey, ahead: Outlook) -> Reason | None:
    """Idle nodes are kept for a wide job that was overtaken too often, so nothing new is ordered beside it.

    Fillers are not held back here. ``policy.fillers`` lets one start only if it ends before the wide job begins.
    """
    if key.mode == FILLER:
        return None
    job = state.jobs.get(ahead.reserved.get(key.pool, ""))
    if job is None or job.key is None:
        return None
    return Reason(
        f"reserved:{key.pool}", f"{key.pool} drains for {job.id} of {job.case}, which waits for {job.key.units} nodes"
    )


def stagger_of(state: State, key: QueueKey) -> float:
    """Purpose: the shortest time, in seconds, between two starts of this class's test."""
    return max(state.index.document.limits.stagger_s, state.index.components[key.component].limits.stagger_s)


def _stagger(state: State, key: QueueKey, now: float, ahead: Outlook) -> Reason | None:
    if not key.test:
        return None
    stagger = stagger_of(state, key)
    if not stagger:
        return None
    due = state.usage.allowed_at.get(key.test, now - stagger) + stagger
    if key.test not in ahead.allowed and now >= due:
        return None
    return Reason(f"stagger:{key.test}", f"two runs of {key.test} start at least {stagger:g} s apart", notable=False)


def _shut(state: State, key: QueueKey, now: float) -> Reason | None:
    shut = state.pools.backoffs.get(key.pool)
    if shut is None or now >= shut.until:
        return None
    return Reason(f"shut:{key.pool}", f"the scheduler of {key.pool} takes no job for now: {shut.why}")


def _gate(state: State, key: QueueKey) -> Reason | None:
    component = state.index.components[key.component]
    for name in component.after:
        number = state.index.component_number[name]
        tally = state.tallies[number]
        if not tally.over:
            open_results = tally.waiting + tally.in_flight
            return Reason(
                f"gate:{name}",
                f"component {name} comes first; {open_results} of its results {_is_or_are(open_results)} open",
            )
        if name in state.gates.waived:
            continue
        missing = state.unattested(number)
        if missing:
            text = f"component {name} comes first; not attested yet: {', '.join(missing)} (shakedown attest)"
            return Reason(f"gate:{name}:attest:{len(missing)}", text)
        if component.gate == "met":
            reason = _not_met(state, name)
            if reason is not None:
                return reason
    return None


def _not_met(state: State, name: str) -> Reason | None:
    """With the gate ``met``, the gate stays closed until the component named ``name`` has the outcome met."""
    outcome = state.gates.outcomes.get(name)
    if outcome is None:
        return Reason(f"gate:{name}:over", f"component {name} is over; how it came out is being worked out")
    if outcome.outcome == "met":
        return None
    way_out = f"waive it (shakedown waive {name} --gate) or amend the plan"
    return Reason(f"gate:{name}:{outcome.seq}", f"component {name} is {outcome.outcome}: {outcome.why}; {way_out}")


# ---- modes: who has a pool to itself -----------------------------------------------------------------------------------


def _turns(state: State, now: float) -> dict[str, QueueKey]:
    """Pool -> the stage that has the pool to itself next: the first in the plan's order that could begin in an empty pool.

    Everything else holds back for it, so the pool drains. The number of stages in a plan is finite, so everything gets its turn.
    """
    free = {pool for pool in state.index.pools if not state.usage.stages.get(pool)}
    due = [key for key in state.waiting.queues if key.stage and key.pool in free] if free else []
    for entry in state.waiting.delayed:
        if entry.not_before > now:
            break
        due += [key] if (key := state.index.class_of(entry.component, entry.case, entry.mode)).stage else []
    turns: dict[str, QueueKey] = {}
    for key in sorted((key for key in due if key.pool in free), key=lambda key: (key.component, key.place)):
        if key.pool not in turns and not (_gate(state, key) or _waits_for_build(state, key) or _warm_up(state, key)):
            turns[key.pool] = key
    return turns


def _turn(state: State, key: QueueKey, ahead: Outlook) -> Reason | None:
    """One stage at a time has a pool to itself: the one with live jobs there, or else the one whose turn it is."""
    holder = holder_of(state, key.pool, ahead)
    live = state.usage.jobs.get(key.pool, 0) + ahead.jobs.get(key.pool, 0)
    if holder and holder != key.stage:
        return Reason(f"turn:{key.pool}", f"{_stage_in_words(holder)} has {key.pool} to itself; {_jobs(live)} there")
    if not key.stage:
        return None
    warming = _warm_up(state, key)
    if warming is not None:
        return warming
    mine = state.usage.stages.get(key.pool, {}).get(key.stage, 0) + ahead.staged.get(key.stage, 0)
    if live > mine or (live and base(key.mode) == "isolated"):
        return Reason(f"alone:{key.pool}", f"it wants {key.pool} to itself; {_jobs(live)} still there")
    copies = state.index.copies(key.component, key.case, key.mode)
    if mine >= copies.fits:
        short = f" ({copies.wanted} are asked for, but {copies.binding})" if copies.binding else ""
        return Reason("copies", f"{mine} of {copies.fits} copies that run at once are live{short}")
    return None


def holder_of(state: State, pool: str, ahead: Outlook) -> Stage | None:
    """The stage that has a pool to itself, or else the one whose turn is next; None where there is neither."""
    for stage in state.usage.stages.get(pool, ()):
        return stage
    return ahead.turns[pool].stage if pool in ahead.turns else None


def _stage_in_words(stage: Stage) -> str:
    return (
        f"{'one isolated run' if stage.mode == 'isolated' else 'a fill'} of {stage.case} in component {stage.component}"
    )


def _warm_up(state: State, key: QueueKey) -> Reason | None:
    """A measured isolated run begins only when the warm-up runs of its case are over."""
    if key.mode != "isolated":
        return None
    word = state.index.mode_of(key.component, key.mode)
    wanted = word.warm_up if word else 0
    closed = len(state.results.closed.get(ResultsKey(key.component, warm_up(key.mode), key.case), ())) if wanted else 0
    if closed >= wanted:
        return None
    return Reason("warm-up", f"its warm-up runs come first; {wanted - closed} {_is_or_are(wanted - closed)} open")


def _moment(state: State, key: QueueKey, now: float) -> Reason | None:
    """A drill that a test carries out begins when the clock of its component has run for the time that the plan says."""
    component = state.index.components[key.component]
    word = next((one for one in component.drills if drill(one.name) == key.mode), None)
    moment = drill_moment(state, key.component, word, now) if word is not None else None
    if word is None or (moment is not None and now >= moment):
        return None
    said = f"drill {word.name} begins when the clock of component {component.name} has run {show_duration(word.at_s)}"
    return Reason(f"drill:{component.name}:{word.name}", said)


def _results_before_clean_up(state: State, key: QueueKey) -> Reason | None:
    """A clean-up begins when every other result of its component is closed."""
    component, tally = state.index.components[key.component], state.tallies[key.component]
    mine = [case for case in component.clean_up if not state.index.cases[case].unavailable]
    wanted = len(mine) * (1 + state.results.again.get(component.name, 0))
    closed = sum(len(state.results.closed.get(ResultsKey(key.component, CLEAN_UP, case), ())) for case in mine)
    count = tally.waiting + tally.in_flight - (wanted - closed)
    if count <= 0:
        return None
    said = f"it cleans up after all else of component {component.name}; {count} of its results {_is_or_are(count)} open"
    return Reason(f"clean-up:{component.name}", said)


# ---- builds and budgets ------------------------------------------------------------------------------------------------


def _waits_for_build(state: State, key: QueueKey) -> Reason | None:
    if not key.build:
        return None
    build = state.builds.get(key.build)
    if build is not None and build.phase == BuildPhase.DONE:
        return None
    name = state.index.build_names[key.build]
    if build is None:
        why = build_reason(state, 0)
        return Reason(f"build:{key.build}", f"build {name} has not started" + (f": {why}" if why else ""))
    if build.phase == BuildPhase.HELD:
        return Reason(f"build:{key.build}", f"build {name} is tried again: {build.message}")
    if build.phase == BuildPhase.FAILED:
        return Reason(f"build:{key.build}", f"build {name} failed: {build.message}")
    return Reason(f"build:{key.build}", f"build {name} is running")


def build_reason(state: State, started: int) -> str:
    """Why no build may start now, or "". ``started``: builds ordered in this decision."""
    if state.driver.stopping:
        return f"nothing new is started: {state.driver.stopping}"
    cap = state.index.document.limits.builds
    running = state.builds_running() + started
    if running >= cap:
        return f"{running} builds are running, {cap} at once are allowed"
    if state.index.policy.builds_disturb_runs and state.usage.exclusive:
        return f"{state.usage.exclusive} exclusive runs have this machine to themselves"
    return ""


def _disturbed(state: State, key: QueueKey, building: bool) -> Reason | None:
    if not (key.exclusive and state.index.policy.builds_disturb_runs):
        return None
    if state.builds_running() or building:
        return Reason("builds", "it wants this machine to itself, and builds are running on it")
    return None


def _is_or_are(count: int) -> str:
    return "is" if count == 1 else "are"


def _next_door(state: State, key: QueueKey, ahead: Outlook) -> Reason | None:
    """Two pools that share nodes: neither can be used alone while jobs run in the other one."""
    for other in state.index.company.get(key.pool, ()):
        holder = (
            holder_of(state, other, ahead) if key.stage is None else next(iter(state.usage.stages.get(other, ())), None)
        )
        if holder:
            return Reason(
                f"turn:{other}", f"{_stage_in_words(holder)} has {other}, where nodes of {key.pool} are, to itself"
            )
        live = state.usage.jobs.get(other, 0) + ahead.jobs.get(other, 0)
        if key.stage and live:
            return Reason(f"alone:{other}", f"it wants {key.pool} to itself; {_jobs(live)} in {other}, on nodes of it")
    return None


def _jobs(count: int) -> str:
    return "1 job is" if count == 1 else f"{count} jobs are"
