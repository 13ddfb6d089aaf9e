"""Each way in which a scheduler misleads breaks an engine that is broken on purpose, and not ours.

For each switch of ``Lies``: under it alone the broken engine is caught by the oracle, ours is not; without it both go through. What
the machine is like otherwise (``beside``) is the same with and without. A new switch needs an engine that it breaks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

import msgspec
import pytest
from oracle_modes import Violation
from stability_plan import Wish, case, document, machine, small_stability, sweep_of_five
from stage import small_document
from thousand_campaigns import SOON, Nasty

import shakedown.conductor.driver.loop as loop_module
import shakedown.engine.constraints.queue_guard as guard_module
import shakedown.engine.policy.job_recovery as attend_module
import shakedown.engine.policy.overlooked_jobs as doubt_module
import shakedown.engine.policy.part_recovery as parts_module
import shakedown.engine.policy.submissions as submissions_module
import shakedown.engine.policy.sweeps as sweeping_module
from shakedown.engine import State
from shakedown.engine.fold.bookkeeping import charge
from shakedown.engine.fold.evolve import HANDLERS
from shakedown.engine.state.job_index import job_index_of
from shakedown.engine.state.jobs import Job
from shakedown.model.events import Event
from shakedown.model.filling import Fill, Pack
from shakedown.model.nouns import Component, Document
from shakedown.model.ports import ENDED, Ports
from shakedown.twin import Fates, Lies, NothingWillHappen, Others

Patch = pytest.MonkeyPatch
SEEDS, MOST_WAITS = range(6), 1500
STUCK = "nothing is in flight|does not end"


@dataclass(frozen=True)
class Broken:
    """``on``: the lie, and nothing else; ``how`` breaks the engine; ``said``: what the oracle finds then, a regular expression.

    ``beside``: what else the machine is like, with the lie and without; ``ports``: how the conductor's own ports are broken.
    """

    on: dict[str, Any]
    said: str
    how: Callable[[Patch], None] = lambda patch: None
    ports: Callable[[Ports], Ports] = lambda ports: ports
    beside: Lies = field(default_factory=Lies)
    fates: Fates = field(default_factory=Fates)
    plan: Callable[[], Document] = small_document
    others: Others = field(default_factory=Others)
    waits: int = MOST_WAITS  # of the conductor, after which it is said not to end


def found(broken: Broken, lies: Lies, fates: Fates, ports: Callable[[Ports], Ports]) -> Iterator[str]:
    """What the oracle says of a few campaigns under these lies, each of which is played when the next sentence is asked for."""
    for seed in SEEDS:
        more: dict[str, Any] = {"policy": SOON, "quiet": False, "others": broken.others, "change_ports": ports}
        campaign = Nasty(broken.plan(), seed=seed, lies=lies, fates=fates, **more)
        try:
            campaign.run(broken.waits)
        except (Violation, NothingWillHappen, AssertionError) as violation:
            yield str(violation)


# ---- engines that are broken on purpose ------------------------------------------------------------------------------------


def patched(module: Any, name: str, change: Any) -> Callable[[Patch], None]:
    return lambda patch: patch.setattr(module, name, change)


def folded(
    name: str, change: Callable[[Callable[[State, Event], None], State, Event], None]
) -> Callable[[Patch], None]:
    """An event that is folded in another way; ``change`` is given the honest one."""
    return lambda patch: patch.setitem(HANDLERS, name, partial(change, HANDLERS[name]))


def answered(event: str) -> Callable[[Patch], None]:
    """What is not known of a submission is taken for something that is."""
    honest = loop_module._answer_fields

    def sure(answer: Any) -> dict[str, Any]:
        fields = honest(answer)
        return fields | {"event": event} if fields["event"] == "submit_unknown" else fields

    return patched(loop_module, "_answer_fields", sure)


def drops_what_was_refused(honest: Any, state: State, event: Event) -> None:
    """A submission that was not taken for now is not thought of again."""
    job = state.jobs[event.job]
    honest(state, event)
    state.waiting.delayed = [entry for entry in state.waiting.delayed if entry.case != job.case]


def claims_nothing(ports: Ports) -> Ports:
    """What no source knows is replaced without taking its claim."""
    ports.scheduler.take_claim = lambda job: True  # type: ignore[method-assign]
    return ports


def knows_no_launches(patch: Patch) -> None:
    """A node that could not launch a job is one that failed under it."""
    honest = loop_module._report_fields

    def fields(state: State, report: Any) -> dict[str, Any]:
        return honest(state, msgspec.structs.replace(report, launch_failure=False))

    patch.setattr(loop_module, "_report_fields", fields)


def no_grace(patch: Patch) -> None:
    honest = doubt_module._claim_after
    patch.setattr(doubt_module, "_claim_after", lambda decision, job, now, grace_s: honest(decision, job, now, 0.0))


def waits_for_ever(patch: Patch) -> None:
    """Silence has no deadline."""
    patch.setattr(doubt_module, "_silent_until", lambda *what: "")


def never_replaces(patch: Patch) -> None:
    """What was ordered will come some day."""
    patch.setattr(doubt_module, "_claim_after", lambda decision, job, now, grace_s: None)


def lost_at_once(patch: Patch) -> None:
    """Silence is a verdict."""
    patch.setattr(doubt_module, "_silent_until", lambda *what: "nobody knows it")


def absent_is_done(patch: Patch) -> None:
    """What has left the queue has come to a good end."""
    honest = doubt_module.look_into

    def trusting(state: State, decision: Any, job: Any, now: float) -> str:
        if job.report.state != "absent" or job.phase != "running":
            return honest(state, decision, job, now)
        attend_module._judge(state, decision, job, "passed", "it is gone")
        return ""

    patch.setattr(attend_module, "look_into", trusting)


def dead_at_once(patch: Patch) -> None:
    """What a job held is free when its node is given up."""
    honest = attend_module._judge
    patch.setattr(attend_module, "_judge", lambda *what, alive=False: honest(*what))


def no_time_for_marks(patch: Patch) -> None:
    """A part without an end was cut off, as soon as its job is over."""
    patch.setattr(parts_module, "_OWN_END", frozenset())


def ends_by_marks_alone(ports: Ports) -> Ports:
    """Nobody else is believed that something is over."""
    honest = ports.scheduler.poll

    def poll(jobs: Any) -> list[Any]:
        return [report for report in honest(jobs) if report.source == "marks" or report.state not in ENDED]

    ports.scheduler.poll = poll  # type: ignore[method-assign]
    return ports


def deaf_to(*states: str) -> Callable[[Ports], Ports]:
    """Some words of the scheduler are not understood."""

    def deaf(ports: Ports) -> Ports:
        honest = ports.scheduler.poll
        ports.scheduler.poll = lambda jobs: [one for one in honest(jobs) if one.state not in states]  # type: ignore[method-assign]
        return ports

    return deaf


def sees_no_restarts(ports: Ports) -> Ports:
    """Restart counts are not looked at."""
    honest = ports.scheduler.poll
    ports.scheduler.poll = lambda jobs: [msgspec.structs.replace(one, restart=0) for one in honest(jobs)]  # type: ignore[method-assign]
    return ports


def gives_up_releases(honest: Any, state: State, event: Event) -> None:
    """A held job that was let go and does not run soon is taken for one that still waits: its budget is given to another."""
    honest(state, event)
    for job in state.jobs.values():
        waits = job.requests.release == "taken" and job.phase == "queued" and job.charged
        if waits and event.time > job.requests.release_after + 12.0:
            _take_back(state, job)


def remembers_when(honest: Any, state: State, event: Event) -> None:
    honest(state, event)
    state.jobs[event.job].requests.release_after = event.time


def takes_back_unheard(honest: Any, state: State, event: Event) -> None:
    """A release that timed out was not carried out: its budget is free."""
    job = state.jobs[event.job]
    honest(state, event)
    if not event.value.get("taken", True) and job.charged:
        _take_back(state, job)


def _take_back(state: State, job: Job) -> None:
    charge(state, job, -1)
    job.charged = False
    state.job_index = job_index_of(state.jobs.values())


def trusts_releases(honest: Any, state: State, event: Event) -> None:
    """A release is carried out, whatever was answered."""
    honest(state, msgspec.structs.replace(event, value={}))


def idle_means_begun(state: State, component: int) -> int:
    """A job for an idle node is as good as begun once the queue shows it."""
    jobs = [state.jobs[name] for name in state.job_index.unbegun.get(component, ())]
    return sum(
        job.phase in ("ordered", "ambiguous") or (job.phase == "queued" and not job.report.state) for job in jobs
    )


def spared_is_never_judged(patch: Patch) -> None:
    """A job whose files could not be read did not begin, whatever its claim says."""
    honest = guard_module.give_back

    def give_back(state: State, decision: Any, job: Job, now: float) -> bool:
        return honest(state, decision, job, now) or job.spared

    patch.setattr(attend_module, "give_back", give_back)


# ---- plans -----------------------------------------------------------------------------------------------------------------


def held_behind_a_budget() -> Document:
    """More nodes than the budget lets be used: what waits for it is held at the scheduler."""
    fill = Fill(queue_ahead_s=90.0)
    return small_stability(Wish(minutes=4.0, per_target=1.0, filler=False, fill=fill))


def small_pack() -> Document:
    names = tuple(f"p{number}" for number in range(6))
    cases = tuple(case(name, 1, 120.0, load=0.0) for name in names)
    pack = Component("pack", "functionality", names, pack=Pack(runs=3, at_once=1, allocations=2))
    return document(machine(4, targets=False), cases, pack)


def small_sweep() -> Document:
    return sweep_of_five(nodes=6, queued=2)


many = partial(small_document, repeats=6)
LATE = {"late_submit": 0.5, "late_s": 400.0}
HUNG = Fates(timeout=0.3)  # what is ended at its time limit writes no end mark
RELEASED = folded("released", remembers_when)


def late_and_given_up(patch: Patch) -> None:
    RELEASED(patch)
    folded("job_report", gives_up_releases)(patch)


BROKEN: dict[str, Broken] = {
    "refused": Broken(
        {"refused": 0.4}, "in flight|counted|add up|reason", folded("submit_deferred", drops_what_was_refused)
    ),
    "timed_out": Broken({"timed_out": 0.4}, "was executed 2 times|really loaded", answered("submit_deferred")),
    "lost_submit": Broken({"lost_submit": 0.4}, STUCK, never_replaces),
    "late_submit": Broken(
        {"late_submit": 0.5}, "although its claim was taken", ports=claims_nothing, beside=Lies(late_s=400.0)
    ),
    "late_s": Broken(
        {"late_s": 400.0},
        "although its claim was taken",
        ports=claims_nothing,
        beside=Lies(late_submit=0.5, late_s=10.0),
    ),
    "stale_s": Broken(
        {"stale_s": 20.0},
        f"although its claim was taken|{STUCK}",
        no_grace,
        claims_nothing,
        Lies(accounting_missing=1.0),
        plan=partial(small_document, tests=1, repeats=2),
        waits=150,
    ),
    "accounting_late_s": Broken(
        {"accounting_late_s": 120.0}, "is lost after 0 s", lost_at_once, beside=Lies(purge_s=0.0), fates=HUNG
    ),
    "accounting_missing": Broken(
        {"accounting_missing": 1.0}, STUCK, waits_for_ever, beside=Lies(purge_s=0.0), fates=HUNG
    ),
    "runaway": Broken(
        {"runaway": 1.0},
        STUCK,
        patched(attend_module, "_overdue", lambda *what: None),
        beside=Lies(purge_s=0.0),
        fates=HUNG,
    ),
    "purge_s": Broken(
        {"purge_s": 0.0}, "is passed from silence", absent_is_done, beside=Lies(accounting_missing=1.0), fates=HUNG
    ),
    "alive_after_node_fail": Broken(
        {"alive_after_node_fail": 1.0}, "really loaded", dead_at_once, fates=Fates(node_fail=0.5), plan=many
    ),
    "marks_late_s": Broken({"marks_late_s": 30.0}, "is interrupted although", no_time_for_marks, plan=small_pack),
    "marks_lost": Broken({"marks_lost": 0.4}, STUCK, ports=ends_by_marks_alone),
    "unstartable": Broken({"unstartable": 0.4}, STUCK, ports=deaf_to("refused")),
    "launch_failure": Broken({"launch_failure": 0.4}, "was not launched, and nobody says so", knows_no_launches),
    "launches_nothing": Broken(
        {"launches_nothing": (("n2", 0.0, 1e9),)},
        "excluded before it was ordered",
        patched(submissions_module, "barred", lambda state, due=(): tuple(state.overrides.excluded)),
        plan=partial(small_document, tests=2, repeats=9, budgets={}),
    ),
    "outage": Broken({"outage": 0.3}, "is lost after 0 s", lost_at_once, plan=many),
    "release_s": Broken(
        {"release_s": 40.0}, "may start, which makes it 2 of 1", late_and_given_up, plan=held_behind_a_budget
    ),
    "release_unheard": Broken(
        {"release_unheard": 0.5},
        "may start, which makes it 2 of 1",
        folded("released", takes_back_unheard),
        plan=held_behind_a_budget,
    ),
    "release_lost": Broken(
        {"release_lost": 0.5},
        "and the scheduler holds it",
        folded("released", trusts_releases),
        plan=held_behind_a_budget,
    ),
    "idle_untrue": Broken(
        {"idle_untrue": 0.5},
        "waiting jobs of a sweep",
        patched(sweeping_module, "_unbegun", idle_means_begun),
        plan=small_sweep,
        others=Others(tuple((f"n{number}", 0.0, 300.0) for number in range(1, 6))),
    ),
    "away": Broken(
        {"away": ((120.0, 60.0),)},
        "spends an attempt while nothing can start",
        patched(guard_module, "_is_due", lambda guard: False),
        plan=partial(small_document, tests=2, repeats=9, budgets={}),
    ),
    "signalled": Broken(
        {"signalled": (125.0,)},
        "stays without a next step",
        spared_is_never_judged,
        beside=Lies(away=((120.0, 60.0),)),
        plan=partial(small_document, tests=2, repeats=9, budgets={}),
    ),
}
# Fates that mislead as lies do: the same id starts again.
MISLEADING = {"requeued": Broken({"requeued": 0.3}, "was never told", ports=sees_no_restarts)}


def test_there_is_a_broken_engine_for_every_lie() -> None:
    assert set(BROKEN) == {lie.name for lie in fields(Lies)}


@pytest.mark.parametrize("name", [*BROKEN, *MISLEADING])
def test_it_breaks_the_broken_engine_and_not_ours(name: str, monkeypatch: Patch) -> None:
    broken = BROKEN.get(name) or MISLEADING[name]
    if name in BROKEN:
        lies, fates = replace(broken.beside, **broken.on), broken.fates
    else:
        lies, fates = broken.beside, replace(broken.fates, **broken.on)
    assert list(found(broken, lies, fates, lambda ports: ports)) == [], "ours"
    broken.how(monkeypatch)
    assert list(found(broken, broken.beside, broken.fates, broken.ports)) == [], "the broken one without the lie"
    said: list[str] = []
    for one in found(broken, lies, fates, broken.ports):
        if re.search(broken.said, one):
            return
        said.append(one)
    raise AssertionError(f"no campaign is said to be: {broken.said}; but: {said}")
