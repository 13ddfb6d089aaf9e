"""The state of a campaign at the end of its log, without driving it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import Any

import msgspec

from shakedown.conductor.driver.disk_room import no_room
from shakedown.conductor.record.documents import Documents
from shakedown.conductor.record.going_on import unknown_names
from shakedown.engine import State, explain
from shakedown.engine.constraints.budgets import asked_for
from shakedown.engine.constraints.component_clock import acts_of, drill_in_words
from shakedown.engine.constraints.observed import held_in_silence, left_for_us, observed_in_words
from shakedown.engine.constraints.overrides import in_force
from shakedown.engine.constraints.queue_guard import held_queues, queue_in_short, queue_in_words
from shakedown.engine.policy.explain import Waiting, explain_run, waits_again
from shakedown.engine.policy.idle_while_pending import in_words as in_words_of_unused
from shakedown.engine.policy.stuck_jobs import about_of, we_hold, what_it_needs
from shakedown.engine.state.keys import ResultsKey
from shakedown.engine.state.modes import FILLER, is_warm_up
from shakedown.engine.state.modes import drill as drill_mode
from shakedown.engine.state.moments import iso_moment, moment
from shakedown.engine.state.phases import RUN_NOT_BEGUN, CampaignPhase, JobPhase, RunPhase
from shakedown.engine.state.records import DrillProgress
from shakedown.engine.state.wanted_results import wanted_results
from shakedown.events.campaigns import rehearsal_of
from shakedown.events.lease import holder, why_it_waits
from shakedown.events.reader import read_events
from shakedown.events.recorded_name import campaign_name, directory_name
from shakedown.metrics.rehearsed import in_words
from shakedown.metrics.rows.rows import OpenRun
from shakedown.metrics.rows.table import Record, fold_runs
from shakedown.model import clocks
from shakedown.model.errors import RecordError
from shakedown.model.layout import Layout
from shakedown.model.nouns import Document, Drill
from shakedown.model.ports import RENAMED
from shakedown.model.units import show_duration
from shakedown.processes.identity import boot_id, is_alive
from shakedown.queries.folds import Folds
from shakedown.queries.nodes_now import jobs_now, nodes_now

_LINES_BYTES = 16 << 10  # of a few events: with less room nobody can say what happened


def _warm_ups(state: State, number: int) -> int:
    """How many of a component's wanted results are warm-up runs."""
    again = state.results.again.get(state.index.components[number].name, 0)
    once = sum(
        is_warm_up(mode) and not state.index.cases[case].unavailable
        for mode, case, _ in wanted_results(state.index, number)
    )
    return once * (again + 1)


def _fillers(state: State, number: int) -> int:
    """How many of a component's results used nodes that its mix left idle, including running ones."""
    closed = sum(
        len(repeats) for key, repeats in state.results.closed.items() if (key.component, key.mode) == (number, FILLER)
    )
    return closed + sum((run.component, run.mode) == (number, FILLER) for run in state.runs.values())


def look(layout: Layout, folds: Folds | None = None) -> State:
    """The state of a campaign at the end of its log."""
    return (folds or Folds(layout)).state()[0]


def look_at_runs(layout: Layout) -> Record:
    """Every run of a campaign, as rows."""
    return fold_runs(read_events(layout.log))


def live_runs(layout: Layout, record: Record, folds: Folds | None = None) -> list[OpenRun]:
    """Purpose: the live runs, as ``status`` counts them: a run that was withdrawn before it began waits again and is not live."""
    live = look(layout, folds).runs if record.open else {}
    return [row for row in record.open.values() if row.run in live]


def status(layout: Layout, folds: Folds | None = None, ask: bool = True) -> dict[str, Any]:
    """Purpose: the state of a campaign as plain data: results by component, what is live, what waits and why.

    ``ask``: whether to ask the scheduler which nodes are out at this moment.
    """
    folds = folds or Folds(layout)
    state, refused = folds.state()
    alone = is_left_alone(layout, state)
    if state.plan is None:
        return {"campaign": campaign_name(layout), "phase": "not started", "components": [], "waiting": [], "asked": {}}
    return {
        "campaign": campaign_name(layout),
        "directory": directory_name(layout),
        "rehearsal": in_words(rehearsal_of(layout) or {}),
        "ad_hoc": state.index.document.ad_hoc,
        "phase": state.phase,
        "events": state.seq,
        "snapshots_refused": refused,
        "unknown": unknown_names(layout) if state.campaign.unknown_events else [],
        "epoch": state.epoch,
        "time": state.time,
        "components": _components(state),
        "builds": {state.index.build_names[key]: build.phase for key, build in state.builds.items()},
        "live": [_live(state, run.id, alone) for run in state.runs.values()],
        "record_full": _record_full(layout) if state.phase != CampaignPhase.ENDED else "",
        "budgets": _budgets(state, _time_for_ages(layout, state)),
        "waiting": _waiting(state, alone),
        "shut": _closed_pools(state),
        "held": [queue_in_words(state, pool, state.pools.guards[pool]) for pool in held_queues(state)],
        "unused": in_words_of_unused(state, state.time) if state.phase != CampaignPhase.ENDED else [],
        "standing": in_force(state, max(state.time, time.time())),
        "clocks": list(_clocks(state)),
        "drills": list(drills_now(state)),
        "deadlines": _deadlines(layout, state, folds),
        "baselines": _baselines(state, folds),
        "asked": _scheduler_calls(state),
        "nodes": nodes_now(state) if ask and not rehearsal_of(layout) else {},
        "over": [msgspec.to_builtins(job) for job in jobs_now(layout, state)]
        if ask and not rehearsal_of(layout)
        else [],
        "told": _scheduler_notes(state),
    }


def _components(state: State) -> list[dict[str, Any]]:
    """Each component with what it wants and its progress; cases that cannot run here are not counted, as in the report."""
    return [
        {
            "name": component.name,
            "wanted": tally.wanted - tally.unavailable,
            "warm_up": _warm_ups(state, number),
            "filler": _fillers(state, number),
            "waiting": tally.waiting,
            "in_flight": tally.in_flight,
            "closed": tally.closed,
            "unavailable": tally.unavailable,
            "verdicts": dict(sorted(tally.verdicts.items())),
            "unattested": state.unattested(number),
        }
        for number, (component, tally) in enumerate(zip(state.index.components, state.tallies, strict=True))
        if tally.wanted or component.cases or component.procedures
    ]


def _deadlines(layout: Layout, state: State, folds: Folds) -> list[dict[str, Any]]:
    """Planned dates against actual ones. The record is folded for them only where a plan of the campaign has dates."""
    document, plans = state.index.document, _every_plan(layout)
    if not any(part.deadline is not None for plan in (document, *plans.values()) for part in plan.components):
        return []
    from shakedown.metrics.deadlines import Deadline, deadlines

    def found(record: Record) -> tuple[Deadline, ...]:
        record.plans = plans
        return deadlines(document, record)

    dates: tuple[Deadline, ...] | None = None
    if any(plan.consent for plan in (document, *plans.values())):  # then some acts may have no effect
        from shakedown.conductor.record.settling import as_judged

        with suppress(RecordError):  # a plan is missing or damaged: verify tells it
            dates = deadlines(*as_judged(layout, document, folds.whole_record()))
    dates = folds.checked(found) if dates is None else dates
    return [
        msgspec.structs.asdict(one)
        | {"state": one.state, "moved": one.moved}
        | {f"{key}_at": iso_moment(getattr(one, key)) for key in ("planned", "kept", "first")}
        for one in dates
    ]


def _every_plan(layout: Layout) -> dict[str, Document]:
    """Digest -> plan, for a campaign that was amended; plans that cannot be read are left out: ``verify`` reports them."""
    names = [path.stem for path in layout.documents.glob("*.json")]
    documents, found = Documents(layout), dict[str, Document]()
    for name in names if len(names) > 1 else ():
        with suppress(RecordError):
            found[name] = documents(name)
    return found


def _record_full(layout: Layout) -> str:
    """Why events cannot be recorded, from the file system or in the driver's own words; "" where they can."""
    return no_room(layout.log, _LINES_BYTES) or why_it_waits(layout)


def _scheduler_notes(state: State) -> list[dict[str, str]]:
    """The scheduler's notes on jobs: what people did to them, what they need before they can start, or which ones it forgot."""
    jobs = state.jobs.values()
    forgotten = [{"job": job.id, "run": job.run, "why": words} for job in jobs if (words := waits_again(job))]
    renamed = [{"job": job.id, "run": job.run, "why": job.report.note} for job in jobs if RENAMED in job.report.note]
    stuck: dict[str, dict[str, str]] = {}  # one for each pool and reason
    for job in map(state.jobs.__getitem__, state.agenda.stuck):
        if job.phase == JobPhase.QUEUED and not we_hold(job):
            stuck.setdefault(about_of(state, job), {"job": job.id, "run": job.run, "why": what_it_needs(state, job)})
    return [*renamed, *forgotten, *stuck.values()]


def _baselines(state: State, folds: Folds) -> list[dict[str, str]]:
    """The baselines of criteria on a change, and which of them differ from what was frozen: those criteria are undecided."""
    if state.plan is None or not state.index.document.baselines:
        return []
    from shakedown.metrics.judging.since import baseline_state  # it takes time to load, and few plans have any

    record = folds.whole_record()
    found = []
    for one in state.index.document.baselines:
        kind, said = baseline_state(one.name, record)
        found.append({"baseline": one.name, "against": one.words, "state": kind or "as frozen", "says": said})
    return found


def drills_now(state: State) -> Iterator[dict[str, Any]]:
    """Purpose: the progress of each drill of components that run for a time: due, begun, done, or its time."""
    for number, component in enumerate(state.index.components):
        for drill in component.drills:
            yield {"component": component.name, "drill": drill.name, "says": _drill_now(state, number, drill)}


def _drill_now(state: State, number: int, drill: Drill) -> str:
    component = state.index.components[number]
    progress = state.clocks.drills.get(component.name, {}).get(drill.name, DrillProgress())
    roll = state.clocks.mixes.get(component.name)
    comes = f"comes when the clock of component {component.name} has run {show_duration(drill.at_s)}"
    if drill.case:
        mode = drill_mode(drill.name)
        live = next((run.id for run in state.runs.values() if (run.component, run.mode) == (number, mode)), "")
        if live:
            return f"is done by {live}"
        if state.results.closed.get(ResultsKey(number, mode, drill.case)):
            return "is done"
    elif progress.ended is not None:
        return f"is done: it began on {moment(progress.begun or 0.0)} and ended on {moment(progress.ended)}"
    elif progress.begun is not None:
        return f"began on {moment(progress.begun)}; say shakedown drill {component.name} {drill.name} --ended when it is over"
    elif progress.due is not None:
        return drill_in_words(component, drill).removeprefix(f"drill {drill.name} of component {component.name} ")
    if roll is not None and roll.up:
        return "was not done, and the time of its component is over"
    return comes


def _clocks(state: State) -> Iterator[dict[str, Any]]:
    """For each component that runs for a time: how long its clock ran, whether it runs, and how long it was stopped, by cause."""
    for number, component in enumerate(state.index.components):
        spells, roll = state.clocks.events.get(component.name, []), state.clocks.mixes.get(component.name)
        acts = acts_of(state, number)
        if not component.duration_s or not acts:
            continue
        over = _is_over(state, number)
        since = max(clocks.since(acts) or 0.0, 0.0)
        last_end, up_at = (roll.ended, roll.up_at) if roll is not None else (None, None)
        until = clocks.read_until(since, last_end, up_at, state.campaign.last, over)
        drain_from = up_at if over and not component.clock.drain else None
        ran, stood = (
            sum(b - a for a, b in clocks.counted(clocks.running(acts, until), None, drain_from)),
            dict[str, float](),
        )
        ordered = [spell for spell in sorted(spells, key=lambda spell: spell.at) if since <= spell.at <= until]
        for spell, after in pairwise([*ordered, None]):
            if spell is not None and spell.act == "stop":
                end = after.at if after is not None else until
                stood[spell.cause or "other"] = stood.get(spell.cause or "other", 0.0) + end - spell.at
        yield {
            "component": component.name,
            "ran_s": ran,
            "of_s": component.duration_s,
            "runs": clocks.is_running(acts, until) and not over,
            "over": over,
            "stood_still_s": stood,
        }


def _is_over(state: State, number: int) -> bool:
    """Whether a component's time does not continue: it is used up, or the campaign is over or was cancelled."""
    roll = state.clocks.mixes.get(state.index.components[number].name)
    return (roll is not None and roll.up) or bool(state.campaign.cancelled) or state.phase == CampaignPhase.ENDED


def is_left_alone(layout: Layout, state: State) -> bool:
    """Purpose: whether a campaign that is not over has no conductor, so that nothing continues that needs one."""
    if state.phase != CampaignPhase.RUNNING or rehearsal_of(layout):
        return False
    held = holder(layout)
    return held is None or held.gone


def _runs_on_this_machine(state: State, case: str) -> bool:
    """Whether a case runs on this machine's own cores: their queue exists only while the conductor runs."""
    place = state.index.cases[case].partition.partition(":")[0]
    return any(cluster.name == place and cluster.embedded for cluster in state.index.document.system.clusters)


def what_it_does(state: State, run_id: str, alone: bool) -> tuple[str, str]:
    """The phase of a live run, and what it is doing. ``alone``: the campaign has no conductor."""
    run = state.runs[run_id]
    if run.phase == RunPhase.RUNNING and _run_is_over(state, run.job):
        return "over", _OVER
    if alone and run.phase in RUN_NOT_BEGUN and _runs_on_this_machine(state, run.case):
        return "waiting", f"{_WAITS}: the queue of this machine's cores ended with the last one"
    return run.phase, explain_run(state, run_id)


def _live(state: State, run_id: str, alone: bool = False) -> dict[str, Any]:
    run = state.runs[run_id]
    phase, doing = what_it_does(state, run_id, alone)
    return {"run": run.id, "case": run.case, "phase": phase, "doing": doing, "started": run.started}


_WAITS = "it waits for a conductor"
_OVER = "it is over: its process is gone, and the record does not have its end yet"


def _run_is_over(state: State, job_id: str) -> bool:
    """Whether a run of this machine that the record shows as running is dead: its conductor is gone, or cannot write."""
    job = state.jobs.get(job_id)
    name = job.scheduler_id if job is not None else ""
    return bool(boot_id()) and name.endswith(f":{boot_id()}") and not is_alive(name)


def _time_for_ages(layout: Layout, state: State) -> float:
    """The time that ages are computed for: now, or the last event's time where the campaign is over or is a rehearsal."""
    return state.time if state.phase == CampaignPhase.ENDED or rehearsal_of(layout) else max(state.time, time.time())


def _budgets(state: State, now: float | None = None) -> dict[str, dict[str, Any]]:
    """The use of each budget, of each target where it has several, and of the copies of each test that has a limit.

    ``taken``: by runs that run or may be running; ``asked``: by jobs that wait at the scheduler; ``said``: the amounts in the
    notation of a plan. Where an observed number narrows the budget, ``observed`` has it, and how much others use according to it.
    """
    now = state.time if now is None else now
    system = state.index.document.system
    limits = {name: limit for name, limit in state.index.budgets.items() if name not in state.index.targets}
    limits |= {f"copies:{test}": float(most) for test, most in state.overrides.caps.items()} | state.overrides.amounts
    found: dict[str, dict[str, Any]] = {}
    waits = asked_for(state)
    for name in sorted(limits):
        if name not in state.index.targets:
            asked, limit = waits.get(name, 0.0), _limit_now(state, name, now)
            taken = state.usage.loads.get(name, 0.0) - asked
            most = (
                "" if held_in_silence(state, name, now) else f" of {system.amount(name, limit)}"
            )  # silence is no limit
            said = f"{system.amount(name, taken)}{most} taken"
            said += f", {system.amount(name, asked)} more asked for" if asked else ""
            words = observed_in_words(state, name, now)
            found[name] = {
                "taken": taken,
                "asked": asked,
                "limit": limit,
                "said": f"{said}; {words}" if words else said,
            }
            if name in state.pools.observed and state.pools.observed[name].at:
                seen = state.pools.observed[name]
                found[name]["observed"] = {
                    "number": seen.number, "others": seen.beside, "at": seen.at, "age_s": round(max(0.0, now - seen.at), 3)
                }  # fmt: skip
    return found


def _limit_now(state: State, name: str, now: float) -> float:
    """The lowest of the limits from the plan, from people and from observation; windows and yields apply to single components."""
    said = [
        state.index.budgets.get(name),
        state.overrides.amounts.get(name),
        state.overrides.amounts.get(name.partition("@")[0]),
        left_for_us(state, name, now),
    ]
    said += [state.overrides.caps[test] for test in (name.removeprefix("copies:"),) if test in state.overrides.caps]
    return min(limit for limit in said if limit is not None)


def _closed_pools(state: State) -> list[dict[str, Any]]:
    """The pools whose scheduler accepts no jobs now: why, how many tries failed in a row, when the next try is."""
    return [
        {"partition": pool, "reason": shut.why, "refused": shut.strikes, "until": shut.until}
        for pool, shut in state.pools.backoffs.items()
        if shut.strikes and state.phase != CampaignPhase.ENDED
    ]


def _scheduler_calls(state: State) -> dict[str, Any]:
    """How often all drivers of the campaign ran each command of the scheduler; {} where there is no scheduler to ask.

    ``for_s``: how long they had driven by then, in total. ``per_hour`` is over at least a minute, because the first seconds say
    nothing. ``this_driver``: the same for the present or last driver. The last minutes of a killed driver are not counted.
    """
    every = Counter(state.driver.asked_before) + Counter(state.driver.asked)
    if not every:
        return {}
    this = _calls(state.driver.asked, state.driver.asked_for_s)
    return _calls(every, state.driver.asked_before_s + state.driver.asked_for_s) | {"this_driver": this}


def _calls(counts: Mapping[str, int], for_s: float) -> dict[str, Any]:
    hours = max(for_s, 60.0) / 3600
    each = {name: {"count": count, "per_hour": round(count / hours, 1)} for name, count in sorted(counts.items())}
    return {"for_s": for_s, "total": sum(counts.values()), "commands": each}


def explained(state: State, alone: bool, case: str = "") -> list[Waiting]:
    """What waits and why. On this machine's own cores, where no conductor runs, the reason is that, and not a lack of room."""
    found = explain(state, case, state.time)
    if not alone:
        return found
    why = f"{_WAITS}: shakedown resume goes on"
    return [
        replace(one, key="conductor", text=why) if one.key == "room" and _runs_on_this_machine(state, one.case) else one
        for one in found
    ]


def _waiting(state: State, alone: bool) -> list[dict[str, Any]]:
    """What waits, grouped by reason."""
    gathered: dict[str, dict[str, Any]] = {}
    for waiting in explained(state, alone):
        text = _short_reason(waiting)
        group = gathered.setdefault(text, {"reason": text, "key": waiting.key, "count": 0, "cases": []})
        group["count"] += waiting.count
        group["cases"].append(waiting.case)
    return sorted(gathered.values(), key=lambda group: -group["count"])


def _short_reason(waiting: Waiting) -> str:
    """A reason without the details that ``status`` shows elsewhere: that a queue is held, that a node is left out."""
    kind, _, pool = waiting.key.partition(":")
    if kind == "held":
        return queue_in_short(pool)
    return f"{waiting.text.partition('; ')[0]}; the others are left out" if kind == "left_out" else waiting.text
