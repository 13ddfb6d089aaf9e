"""Folding what concerns the whole campaign: its start, its drivers, what people say and ask for, its end."""

from __future__ import annotations

from shakedown.engine.fold.bookkeeping import enqueue
from shakedown.engine.state.full_disk import note_room
from shakedown.engine.state.jobs import PendingResult
from shakedown.engine.state.phases import OVER, BuildPhase, CampaignPhase, Claim, JobPhase, RunPhase, Step
from shakedown.engine.state.plan import class_label
from shakedown.engine.state.records import Outcome, Tally
from shakedown.engine.state.retirement import cleans_up
from shakedown.engine.state.state import State
from shakedown.engine.state.wanted_results import wanted_results
from shakedown.model.events import Event, machine_changed


def campaign_start(state: State, event: Event) -> None:
    state.phase, state.epoch, state.campaign.began = CampaignPhase.RUNNING, 1, event.time
    state.campaign.name = event.value.get("campaign", "")
    state.campaign.seed = event.value.get("seed", 0)
    state.tallies = [Tally() for _ in state.index.components]
    _want_all(state)


def _want_all(state: State) -> None:
    """Want every result of the plan. Those that are unavailable are noted, to be announced."""
    for number, tally in enumerate(state.tallies):
        missing: dict[str, None] = {}
        for mode, case, repeat in wanted_results(state.index, number):
            tally.wanted += 1
            if state.index.cases[case].unavailable:
                tally.unavailable += 1
                missing[case] = None
            else:
                enqueue(state, PendingResult(number, case, repeat, mode=mode))
        state.waiting.unannounced += [(number, case) for case in missing]


def driver_start(state: State, event: Event) -> None:
    """A new driver starts. What the last one left unanswered is asked again: jobs are looked up, collecting and building start
    anew.
    """
    state.driver.driven, state.driver.stopping, state.driver.no_room = True, "", ""
    note_room(state, event.time, full=False)  # if it is full all the same, that is found at once
    state.driver.environment = event.value.get("environment", "")
    state.driver.inputs = event.value.get("inputs", "")
    for name, count in state.driver.asked.items():
        state.driver.asked_before[name] = state.driver.asked_before.get(name, 0) + count
    state.driver.asked_before_s += state.driver.asked_for_s
    state.pools.backoffs, state.driver.asked = {}, {}
    state.pools.silent = {}
    state.pools.unused, state.pools.out, state.pools.unseen = {}, {}, {}  # nobody looked at the nodes meanwhile
    state.pools.observed = {}
    state.driver.asked_for_s, state.driver.since = 0.0, event.time
    for job in state.jobs.values():
        job.report.state = job.report.source = ""
        job.requests.cancel_after = 0.0
        if job.phase == JobPhase.ORDERED:
            job.phase, job.since = JobPhase.AMBIGUOUS, event.time
        if job.requests.claim == Claim.ORDERED:
            job.requests.claim = Claim.NONE
        if job.requests.cancel == Step.ORDERED:
            job.requests.cancel = Step.WANTED
        if job.requests.hold == Step.ORDERED:
            job.requests.hold = Step.WANTED
        if job.requests.release == Step.ORDERED:
            job.requests.release, job.requests.release_after = Step.WANTED, event.time
            state.agenda.unreleased[job.id] = None
        if job.bundle is not None:
            job.bundle.unknown = False
        for part in job.parts:
            state.runs[part].seen = ""
            if state.runs[part].claim == Claim.ORDERED:
                state.runs[part].claim = Claim.NONE
        state.agenda.attention[job.id] = None
    for run in state.runs.values():
        if run.phase == RunPhase.CHECKING:
            run.phase = RunPhase.ENDED
            state.agenda.to_collect[run.id] = None
    for again in state.agenda.undetermined.values():  # what was in the way may be gone
        again.tries, again.again_at = 0, event.time
    state.builds = {
        key: build for key, build in state.builds.items() if build.phase in (BuildPhase.DONE, BuildPhase.FAILED)
    }


def asked(state: State, event: Event) -> None:
    state.driver.asked, state.driver.asked_for_s = dict(event.value), max(0.0, event.time - state.driver.since)


def driver_stop(state: State, event: Event) -> None:
    state.driver.driven = False
    state.driver.inputs = event.value.get("inputs", state.driver.inputs)


def stop_request(state: State, event: Event) -> None:
    state.driver.stopping = event.reason or "someone asked to stop"


def campaign_end(state: State, event: Event) -> None:
    state.phase = CampaignPhase.ENDED


def unavailable(state: State, event: Event) -> None:
    number = state.index.component_number[event.value["component"]]
    state.waiting.unannounced.remove((number, event.case))


def waiting(state: State, event: Event) -> None:
    label = event.value.get("class", "")
    known = state.index.labelled.get(label)
    for key in (
        [known] if known is not None else state.waiting.queues
    ):  # classes that came from a snapshot have no label yet
        if key in state.waiting.queues and class_label(state.index, key) == label:
            state.waiting.queues[key].reason = event.value.get("key", "")


def cancel_request(state: State, event: Event) -> None:
    """Waiting results that match are put aside to be judged cancelled; live jobs that match are to be ended."""
    value = event.value
    everything, runs, cases = bool(value.get("all")), set(value.get("runs", [])), set(value.get("cases", []))
    if everything:
        state.campaign.cancelled = event.reason or "cancelled"

    def meant(entry: PendingResult) -> bool:
        named = entry.case in cases or (bool(entry.void_run) and entry.void_run in runs)
        return named or (everything and not cleans_up(state, entry.component, entry.mode))

    state.waiting.to_cancel += state.waiting.set_aside(meant)
    for run in state.runs.values():
        if (everything and not cleans_up(state, run.component, run.mode)) or run.id in runs or run.case in cases:
            run.cancelled = event.reason or "cancelled"
    for job in state.jobs.values():
        alive = job.phase not in OVER
        if alive and job.bundle:
            state.agenda.attention[job.id] = None
            every = all(state.runs[part].cancelled for part in job.parts)
        else:
            every = (
                (everything and not cleans_up(state, job.component, job.mode)) or job.run in runs or job.case in cases
            )
        if alive and not job.requests.cancel and every:
            job.requests.cancel, job.report.message = Step.WANTED, event.reason
            state.agenda.attention[job.id] = None


# ---- what people say ---------------------------------------------------------------------------------------------------


def doubted(state: State, event: Event) -> None:
    """A person said something that may change the outcome of a component that is over."""
    state.campaign.doubted = event.seq


def opens_epoch(state: State, event: Event) -> None:
    """A new epoch begins; the outcomes of components that are over are worked out again."""
    state.epoch += 1
    state.campaign.doubted = event.seq


def fingerprint(state: State, event: Event) -> None:
    """The machine as it was found. A change since the last fingerprint opens an epoch; the first fingerprint opens none."""
    found = event.value.get("digest", "")
    if machine_changed(event.value, state.campaign.fingerprint):
        opens_epoch(state, event)
    state.campaign.fingerprint = found


def waived(state: State, event: Event) -> None:
    """A person waived a gate: it opens. Where the plan asks for consent it opens only when every party has agreed."""
    state.campaign.doubted = event.seq
    if event.value.get("what") == "gate":
        component = event.value.get("component", "")
        state.gates.digests[component] = str(event.value.get("digest", ""))
        if event.value.get("opens", "waive" not in state.index.document.consent):  # old records do not say
            state.gates.waived[component] = event.reason or "waived"


def agreed(state: State, event: Event) -> None:
    state.campaign.doubted = event.seq
    for name, why in event.value.get("gates", {}).items():
        if name in state.gates.digests:  # it was waived as it is now
            state.gates.waived[name] = why


def withdrawn(state: State, event: Event) -> None:
    """The waiver of a gate was taken back: the gate again holds back what has not begun."""
    state.campaign.doubted = event.seq
    for name in event.value.get("gates", ()):
        state.gates.waived.pop(name, None)


def attested(state: State, event: Event) -> None:
    state.campaign.doubted = event.seq
    said = state.gates.attested.setdefault(event.value["component"], {})
    said[event.value["procedure"]] = bool(event.value.get("met"))


def component_outcome(state: State, event: Event) -> None:
    state.gates.outcomes[event.value["component"]] = Outcome(event.value["outcome"], event.reason, event.seq)
