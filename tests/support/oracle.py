"""An oracle outside the engine: it knows the log and the machine's ground truth, and checks the invariants after every event.

It keeps books of its own, from events alone, and asks the engine's state only to compare.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field, fields
from typing import Any

import msgspec
from oracle_loads import LoadRules
from oracle_modes import ModeRules, Violation, Want, is_step, mode_of, need, swept_nodes, wants
from oracle_nodes import NodeRules, PartRules
from oracle_out_and_in import OutAndIn

from shakedown.conductor.driver.startup import fold_one
from shakedown.engine import State, decide, explain
from shakedown.engine.state.phases import JobPhase
from shakedown.model.events import EVENTS, NO_LONGER_WANTED, VERDICTS, Event

# The published transition table of a job, by events. A restart begins again at "accepted".
NEXT = {
    "submit_order": {
        "submit_accepted",
        "submit_refused",
        "submit_deferred",
        "submit_unknown",
        "job_report",
        "claim_order",
        "verdict",
    },
    "submit_unknown": {"submit_unknown", "job_report", "claim_order", "verdict", "cancel_order"},
    "submit_accepted": {"job_report", "claim_order", "verdict", "cancel_order", "release_order", "hold_order"},
    "release_order": {"released", "release_order", "job_report", "claim_order", "verdict", "cancel_order"},
    "released": {"release_order", "job_report", "claim_order", "verdict", "cancel_order", "hold_order"},
    "submit_refused": {"job_report", "verdict", "returned"},
    "job_report": {
        *("job_report", "verdict", "claim_order", "cancel_order", "finding", "requeued", "release_order", "hold_order"),
        "returned",
    },
    "hold_order": {"held", "hold_order", "release_order", "job_report", "claim_order", "verdict", "cancel_order"},
    "held": {"release_order", "hold_order", "job_report", "claim_order", "verdict", "cancel_order"},
    "claim_order": {"claim_taken", "claim_found", "claim_unknown", "claim_order", "job_report", "cancel_done"},
    "claim_unknown": {
        "claim_taken",
        "claim_found",
        "claim_order",
        "job_report",
        "verdict",
        "cancel_order",
        "hold_order",
    },
    "returned": set(),
    "claim_found": {"job_report", "verdict", "cancel_order", "finding", "returned"},
    "claim_taken": set(),
    "submit_deferred": set(),
    "cancel_order": {"cancel_done", "job_report", "verdict", "cancel_order", "claim_order"},
    "cancel_done": {
        *("job_report", "verdict", "cancel_order", "claim_order", "finding"),
        *("claim_taken", "claim_found", "claim_unknown"),  # of a job that nobody knows both are asked for at once
    },
    "requeued": {"job_report", "verdict", "cancel_order", "claim_order", "hold_order"},
    "verdict": {"job_report", "finding", "requeued", "cancel_order"},
    "finding": {"job_report", "finding", "cancel_order", "requeued"},
}


@dataclass
class Books:
    """What the oracle knows from events alone."""

    runs: dict[str, dict[str, Any]] = field(default_factory=dict)
    jobs: dict[str, str] = field(default_factory=dict)  # job -> its last event
    job_runs: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))  # job -> run by restart
    cancelling: set[str] = field(
        default_factory=set
    )  # jobs whose cancel_order has no answer yet, which a verdict may overtake
    claiming: set[str] = field(
        default_factory=set
    )  # jobs whose claim_order stands: nobody could tell yet what came of it
    void_jobs: dict[str, int] = field(default_factory=dict)  # job -> the restart from which on nothing of it runs
    bundles: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))  # job of several runs -> its runs
    verdicts: dict[str, str] = field(default_factory=dict)
    attempts: Counter[Want] = field(default_factory=Counter)
    open: dict[Want, str] = field(default_factory=dict)  # wanted result -> waiting | flying
    closed: int = 0
    unavailable: int = 0


# Reasons that end by the clock on the wall, or by what is looked up now and then.
BY_THE_CLOCK = ("shut:", "held:", "stagger", "window", "ramp", "drain", "pause", "clock", "yield", "idle", "sweep")

FEW = 16  # jobs that are all compared after each event
BESIDE_JOBS = [one.name for one in fields(State) if one.compare and one.name not in ("jobs", "runs")]

__all__ = ["Oracle", "Violation"]


class Oracle:
    def __init__(self, campaign: Any) -> None:
        self.campaign = campaign
        self.books = Books()
        self.last = Event("none")
        self.shadow = State()
        self.durable_prefix = b""
        self.amended = False  # then the engine's own sums of results are compared only
        self.out: set[Want] = set()  # of the results that the plan in force does not want, those whose run is live
        self.again = OutAndIn(want_of)
        self.ended_early = False  # by a person: not all that was wanted is seen
        self.document = campaign.document  # the plan in force
        self._new_rules()
        self._watch_the_machine()

    def _new_rules(self) -> None:
        self.rules = ModeRules(lambda: self.document, lambda: self.books.open if not self.amended else {})
        self.loads, self.nodes, self.parts = (
            LoadRules(self.document),
            NodeRules(self.document),
            PartRules(self.document),
        )

    def _rules(self) -> tuple[Any, ...]:
        """All that keep books of their own beside those of modes."""
        return self.loads, self.nodes, self.parts

    # ---- after every event -----------------------------------------------------------------------------------------------

    def watch(self, state: State, event: Event) -> None:
        self._in_order(event)
        self._fold_alike(state, event)
        self._keep_books(event)
        self._count_alike(state)
        self._loads_fit()
        self.rules.look_at(self._executing())
        self.last = event

    def _in_order(self, event: Event) -> None:
        need(event.seq == self.last.seq + 1, f"seq {event.seq} after {self.last.seq}")
        need(event.time >= self.last.time, "time went backwards")
        need(event.event in EVENTS, f"{event.event} is not in the catalogue")
        need(len(msgspec.json.encode(event.value)) <= 4096, "an event's value is larger than 4 kB")

    def _fold_alike(self, state: State, event: Event) -> None:
        """fold(prefix) = live state: nothing else may have altered it. Of many jobs and runs all are compared when the conductor
        waits, and now and then; the event's own at once.
        """
        line = msgspec.json.decode(msgspec.json.encode(event), type=Event)
        fold_one(self.shadow, line, self.campaign.documents.__getitem__, self.campaign.policy)
        if len(state.jobs) <= FEW or not event.seq % FEW:
            need(self.shadow == state, f"after {event.event} the live state is not what the log folds to")
            return
        parts = [(getattr(self.shadow, name), getattr(state, name)) for name in BESIDE_JOBS]
        parts += [(self.shadow.jobs.keys(), state.jobs.keys()), (self.shadow.runs.keys(), state.runs.keys())]
        parts.append((self.shadow.jobs.get(event.job), state.jobs.get(event.job)))
        parts.append((self.shadow.runs.get(event.run), state.runs.get(event.run)))
        need(all(one == two for one, two in parts), f"after {event.event} the live state is not what the log folds to")

    def _keep_books(self, event: Event) -> None:
        books, value = self.books, event.value
        if event.event == "campaign_start":
            self._want_everything()
        self.ended_early |= event.event in ("amended", "drain_request") or (
            event.event == "cancel_request" and not value.get("runs")
        )
        if event.event == "amended":
            self.amended, self.document = True, self.campaign.documents[value["document"]]
            self._count_anew()
            for rules in self._rules():
                rules.amend(self.document)
        self.rules.see(event)
        self.again.see(event, self.out)
        for rules in self._rules():
            rules.see(event)
        if event.event == "submit_order" and value.get("part"):
            books.bundles[event.job].append(event.run)
            books.jobs[event.job] = event.event
        of_job = (
            event.job and event.event in NEXT and "supersedes" not in value
        )  # its job is over and forgotten by then
        if of_job and event.job not in books.bundles:
            before = books.jobs.get(event.job)
            need(before is not None or event.event == "submit_order", f"{event.event} for unknown job {event.job}")
            asked = {"submit_unknown", "cancel_done"} if event.job in books.cancelling else {"submit_unknown"}
            asked |= {"claim_taken", "claim_found"} if event.job in books.claiming else set()
            need(
                before is None or event.event in NEXT[before] | asked,
                f"job {event.job}: {event.event} after {before}",
            )
            books.jobs[event.job] = event.event
            if event.event == "cancel_order":
                books.cancelling.add(event.job)
            elif event.event == "cancel_done":
                books.cancelling.discard(event.job)
            elif event.event == "claim_unknown":
                need(event.job not in books.claiming, f"job {event.job}: that nobody can tell is told again")
                books.claiming.add(event.job)
            elif event.event in ("claim_taken", "claim_found", "requeued"):
                books.claiming.discard(event.job)
        if event.event in ("submit_order", "requeued"):
            self._ordered(event)
        elif event.event in ("claim_taken", "returned", "submit_deferred"):
            self._given_back(event)
        elif event.event == "verdict":
            self._judged(event)
        elif event.event == "retry":
            want = want_of(event)
            need(books.verdicts[event.run] not in ("passed", "incorrect", "performance"), "a judged answer is retried")
            books.open[want] = "waiting"
        elif event.event == "given_up":
            self._close(want_of(event))
        elif value.get("kind") == "time_is_up":
            fresh = [
                w for w in books.open if w[0] == value["component"] and w[2] != "clean-up" and not books.attempts[w]
            ]
            books.open = {want: where for want, where in books.open.items() if want not in fresh}

    def _count_anew(self) -> None:
        """What a new plan does not want is forgotten: if a later one wants it again its first attempt is a first one, unless its
        run is live all the while, or another attempt was to follow.
        """
        cases = {component.name: component.cases + component.fillers for component in self.document.components}
        wanted = {want for want, _ in wants(self.document)}
        lasting = {component.name for component in self.document.components if component.duration_s}
        unwanted = {
            want
            for want in self.books.attempts
            if want not in wanted and not (want[0] in lasting and want[1] in cases[want[0]])
        }
        gone = (unwanted | self.out) - {want for want, where in self.books.open.items() if where == "flying"}
        forgotten = {want: self.books.attempts.pop(want) for want in gone if want in self.books.attempts}
        self.books.attempts.update(self.again.amended(forgotten, wanted, self.document))
        self.out = unwanted & self.books.attempts.keys()

    def _want_everything(self) -> None:
        for want, available in wants(self.campaign.document):
            if available:
                self.books.open[want] = "waiting"
            else:
                self.books.unavailable += 1

    def _ordered(self, event: Event) -> None:
        books, value = self.books, event.value
        want = want_of(event)
        waits = books.open.get(want) == "waiting" or self.amended
        need(waits, f"{want} is ordered while it is {books.open.get(want)}")
        need(event.run not in books.verdicts, f"{event.run} is ordered again after its verdict")
        books.open[want] = "flying"
        if event.run not in books.runs:
            books.attempts[want] += 1
            need(value["attempt"] == books.attempts[want], f"{want}: attempt {value['attempt']} is out of turn")
            self._want_next(want)
        books.runs[event.run] = {"want": want, "job": event.job}
        runs = books.job_runs[event.job]
        while len(runs) <= value.get("restart", 0):
            runs.append(event.run)
        runs[-1] = event.run

    def _given_back(self, event: Event) -> None:
        """A job never ran and never will, or one part of it: what it held waits again."""
        books = self.books
        runs = [event.run]
        if not event.value.get("part"):
            books.void_jobs[event.job] = max(0, len(books.job_runs[event.job]) - 1)
            runs = [run for run in books.bundles[event.job] if self.parts.home.get(run, event.job) == event.job] or runs
        for run in runs:
            if run not in books.verdicts and books.runs[run]["job"] == event.job:
                books.open[books.runs[run]["want"]] = "waiting"

    def _want_next(self, want: Want) -> None:
        """Of a mix the next result of a case is wanted once one was ordered for the first time, until its time is up."""
        component = next((c for c in self.document.components if c.name == want[0]), None)
        rolls = component is not None and component.duration_s and want[0] not in self.rules.books.up
        if rolls and not is_step(want[2]) and component is not None and self.books.attempts[want] == 1:
            case = next(case for case in self.document.cases if case.id == want[1])
            step = swept_nodes(self.document, component, case) or 1
            self.books.open[(*want[:3], want[3] + step)] = "waiting"

    def _executing(self) -> list[str]:
        return [execution.job for execution in self.campaign.world.live.values()]

    def _judged(self, event: Event) -> None:
        books, value = self.books, event.value
        need(value["verdict"] in VERDICTS, f"{value['verdict']} is no verdict")
        need(bool(event.reason), f"{event.run} is judged {value['verdict']} without a reason")
        need(event.run not in books.verdicts or "supersedes" in value, f"{event.run} is judged twice")
        books.verdicts[event.run] = value["verdict"]
        want = want_of(event)
        taken_back = value["verdict"] == "cancelled" and value["component"] == NO_LONGER_WANTED
        of = books.runs.get(event.run, {}).get("want", want)
        need(want == of or taken_back, f"{event.run} is judged as {want}, and was ordered as {of}")
        if event.run not in books.runs:
            need(
                value["verdict"] in ("build_failed", "not_run", "cancelled"),
                f"{event.run} is {value['verdict']} but never ordered",
            )
            books.attempts[want] += 1
        if value.get("final"):
            self._close(want)

    def _close(self, want: Want) -> None:
        need(want in self.books.open or self.amended, f"{want} is closed twice")
        self.books.open.pop(want, None)
        self.books.closed += 1

    def _count_alike(self, state: State) -> None:
        """Conservation: wanted = waiting + in flight + judged + unavailable, and both books agree."""
        totals = Counter[str]()
        for tally in state.tallies:
            if tally.wanted != tally.waiting + tally.in_flight + tally.closed + tally.unavailable:
                need(False, f"a component's results do not add up: {tally}")  # in words only then: they are long
            for name in ("waiting", "in_flight", "closed", "unavailable"):
                totals[name] += getattr(tally, name)
        if self.amended:
            return
        need(totals["closed"] == self.books.closed, "closed results are counted differently")
        need(totals["unavailable"] == self.books.unavailable, "unavailable results are counted differently")
        need(totals["waiting"] + totals["in_flight"] == len(self.books.open), "open results are counted differently")

    def _loads_fit(self) -> None:
        """Ground truth: what really runs now never exceeds a budget, copies included."""
        world = self.campaign.world
        targets = {name: world.jobs[name][0].targets for name, _, _ in world.live}
        self.loads.look_at(world.live.values(), targets)
        self.parts.look_at(world.live.values())

    # ---- when the conductor waits ------------------------------------------------------------------------------------------

    def at_rest(self, state: State) -> None:
        """No lost wake-up: what is permitted has been ordered; every waiting result has exactly one reason."""
        need(self.shadow == state, "the live state is not what the log folds to")
        if state.phase != "running":
            return
        need(
            not decide(state, self.campaign.clock.now()).orders,
            "the conductor rests although there is something to order",
        )
        self._every_end_has_a_next_step(state)
        self.nodes.none_avoids_in_vain(state)
        reasons = explain(state, now=self.campaign.clock.now())
        explained = sum(waiting.count for waiting in reasons)
        need(explained == sum(t.waiting for t in state.tallies), f"{explained} waiting results have a reason")
        if not self.books.open or state.driver.stopping or self.amended:
            return
        flying = [want for want, where in self.books.open.items() if where == "flying"]
        building = any(build.phase in ("ordered", "started", "held") for build in state.builds.values())
        timed = any(waiting.key == "backoff" or waiting.key.startswith(BY_THE_CLOCK) for waiting in reasons)
        timed = timed or bool(state.overrides.paused or state.pools.yielding or state.pools.idle)
        orphaned = any(job.phase == JobPhase.ORPHANED or (job.bundle and not job.parts) for job in state.jobs.values())
        timed = timed or any(waiting.key.startswith(("window:", "yield:")) for waiting in reasons)
        observed = tuple(
            f"budget:{word.budget}" for word in self.document.limits.observed
        )  # others may go, or be heard of
        timed = timed or any(waiting.key in observed for waiting in reasons)
        left_out = state.pools.left_out.values()
        timed = timed or any(out.until > self.campaign.clock.now() for out in left_out)  # then a job goes there again
        timed = timed or 0.0 in state.overrides.amounts.values()  # a person's word, until the next one
        capped = tuple(f"cap:{test}" for test, copies in state.overrides.caps.items() if not copies)
        lasting = [w for w in reasons if w.key.startswith(("paused:", "stopped:", "clock:", "excluded:", *capped))]
        gated = [w for w in reasons if w.key.startswith(("gate:", "turn:", "need:"))]
        people = bool(lasting) and len(lasting) + len(gated) == len(reasons)
        people = people or (bool(reasons) and len(gated) == len(reasons) and self._people_are_asked(state))
        need(bool(flying or building or timed or orphaned or people), "work is left and nothing is in flight")

    def _every_end_has_a_next_step(self, state: State) -> None:
        """What is over is being judged, or something is known to come: whether its claim is taken, or a time."""
        now = self.campaign.clock.now()
        for job in state.jobs.values():
            if job.phase not in (JobPhase.ENDED, JobPhase.REFUSED) or job.requests.claim == "ordered":
                continue
            late = (
                max(job.since, state.driver.awake_since) + state.index.policy.grace_s
            )  # marks of parts may still come
            if job.requests.claim_after > now or job.requests.claim_unknown or (job.bundle and now < late):
                continue
            for name in [*job.parts] if job.bundle else [job.run]:
                run = state.runs.get(name)
                left = run is not None and (run.phase in ("ordered", "queued") or name in state.agenda.to_collect)
                left = left or (run is not None and run.phase == "ended" and not job.bundle)
                awaited = run is not None and run.claim == "ordered"
                need(
                    not left or awaited,
                    f"{name} stays without a next step: {job.id} is {job.phase} (claim: {job.requests.claim})",
                )

    def _people_are_asked(self, state: State) -> bool:
        """Some component is over, and what it needs now is a person."""
        books = self.rules.books
        for component in self.document.components:
            if any(want[0] == component.name for want in self.books.open) or component.name in books.waived:
                continue
            if any((component.name, procedure.name) not in books.attested for procedure in component.procedures):
                return True
            if books.outcomes.get(component.name, "met") != "met":
                return True
        return False

    # ---- crashes and the end -----------------------------------------------------------------------------------------------

    def before_crash(self, durable: bytes) -> None:
        self.durable_prefix = durable

    def after_crash(self, log: bytes, events: list[Event]) -> None:
        """The log extends the durable prefix byte for byte; the oracle goes on from what is found again."""
        need(log.startswith(self.durable_prefix), "the log does not extend what was durable")
        self.books, self.shadow, self.last = Books(), State(), Event("none")
        self.out, self.again = set(), OutAndIn(want_of)
        self.amended, self.ended_early, self.document = False, False, self.campaign.document
        self._new_rules()
        for event in events:
            fold_one(self.shadow, event, self.campaign.documents.__getitem__, self.campaign.policy)
            self._keep_books(event)
            self.last = event

    def at_the_end(self, state: State) -> None:
        books, world = self.books, self.campaign.world
        need(set(world.jobs) <= set(books.jobs), "the scheduler has jobs that the log does not know")
        for run, facts in books.runs.items():
            waits = self.amended or books.open.get(facts["want"]) == "waiting"
            withdrawn = state.phase != "ended" and (waits or facts["job"] in books.void_jobs)
            need(run in books.verdicts or withdrawn, f"{run} has no verdict")
        executed = Counter[str]()
        self.parts.look_at(world.executions)
        if state.phase == "ended":
            self.parts.at_the_end()
            if not self.ended_early:
                self.nodes.at_the_end()
        for execution in world.executions:
            void = execution.restart >= books.void_jobs.get(execution.job, execution.restart + 1)
            need(not void, f"{execution.job} ran although its claim was taken")
            if execution.part:
                executed[execution.run] += 1
                continue
            runs = books.job_runs[execution.job]
            executed[
                runs[min(execution.restart, len(runs) - 1)] if execution.restart < len(runs) else execution.job
            ] += 1
        for run, count in executed.items():
            need(count == 1, f"{run} was executed {count} times")
        for run, verdict in books.verdicts.items():
            if verdict in ("passed", "incorrect"):
                need(executed[run] == 1, f"{run} is {verdict} but was executed {executed[run]} times")
        if state.phase == "ended":
            need(not books.open or self.amended, f"the campaign ended with open results: {list(books.open)[:3]}")

    def _watch_the_machine(self) -> None:
        """Every job that the scheduler takes has an order that was durable before."""
        world, log = self.campaign.world, self.campaign.log
        accept = world.accept

        def watched(order: Any) -> Any:
            needle = f'"job":"{order.job}"'.encode()
            durable = any(needle in line and b'"submit_order"' in line for line in reversed(log.durable))
            need(durable, f"{order.job} was submitted before its order was durable")
            return accept(order)

        world.accept = watched
        start = world._start

        def started(job: Any) -> None:
            start(job)
            self.rules.look_at(self._executing())

        world._start = started


def want_of(event: Event) -> Want:
    """The wanted result that an event is about."""
    return event.value["component"], event.case, mode_of(event.value), event.value["repeat"]
