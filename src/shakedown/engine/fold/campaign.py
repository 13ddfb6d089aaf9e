"""Folding what concerns the whole campaign: its start, its drivers, what people say and ask for, its end."""

from __future__ import annotations

from shakedown.engine.fold.bookkeeping import enqueue
from shakedown.engine.state.plan import class_label
from shakedown.engine.state.state import Outcome, PendingResult, State, Tally
from shakedown.engine.state.wanted_results import wanted_results
from shakedown.model.events import Event, machine_changed


def campaign_start(state: State, event: Event) -> None:
    state.phase, state.epoch, state.began = "running", 1, event.time
    state.campaign = event.value.get("campaign", "")
    state.seed = event.value.get("seed", 0)
    state.tallies = [Tally() for _ in state.index.components]
    _want_all(state)


def _want_all(state: State) -> None:
    """Everything the plan wants and the record does not have yet."""
    for number, tally in enumerate(state.tallies):
        missing: dict[str, None] = {}
        for mode, case, repeat in wanted_results(state.index, number):
            tally.wanted += 1
            if state.index.cases[case].unavailable:
                tally.unavailable += 1
                missing[case] = None
            else:
                enqueue(state, PendingResult(number, case, repeat, mode=mode))
        state.unannounced += [(number, case) for case in missing]


def driver_start(state: State, event: Event) -> None:
    """What the last driver left open is in doubt: jobs are asked after again, collecting and building start again."""
    state.driven, state.stopping, state.no_room = True, "", ""
    state.environment = event.value.get("environment", "")
    state.inputs = event.value.get("inputs", "")
    for name, count in state.asked.items():
        state.asked_before[name] = state.asked_before.get(name, 0) + count
    state.asked_before_s += state.asked_for_s
    state.shut, state.asked, state.unused = {}, {}, {}  # nobody looked at the nodes meanwhile
    state.asked_for_s, state.driven_since = 0.0, event.time
    for job in state.jobs.values():
        job.seen = job.source = ""
        job.cancel_after = 0.0
        if job.phase == "ordered":
            job.phase, job.since = "ambiguous", event.time
        if job.claim == "ordered":
            job.claim = ""
        if job.cancelling == "ordered":
            job.cancelling = "wanted"
        if job.kept == "ordered":
            job.kept = "wanted"
        if job.release == "ordered":
            job.release, job.release_after = "wanted", event.time
            state.unreleased[job.id] = None
        for part in job.parts:
            state.runs[part].seen = ""
            if state.runs[part].claim == "ordered":
                state.runs[part].claim = ""
        state.attention[job.id] = None
    for run in state.runs.values():
        if run.phase == "checking":
            run.phase = "ended"
            state.to_collect[run.id] = None
    for again in state.undetermined.values():  # what was in the way may be gone
        again.tries, again.again_at = 0, event.time
    state.builds = {key: build for key, build in state.builds.items() if build.phase in ("done", "failed")}


def asked(state: State, event: Event) -> None:
    state.asked, state.asked_for_s = dict(event.value), max(0.0, event.time - state.driven_since)


def driver_stop(state: State, event: Event) -> None:
    state.driven = False
    state.inputs = event.value.get("inputs", state.inputs)


def stop_request(state: State, event: Event) -> None:
    state.stopping = event.reason or "someone asked to stop"


def campaign_end(state: State, event: Event) -> None:
    state.phase = "ended"


def unavailable(state: State, event: Event) -> None:
    number = state.index.component_number[event.value["component"]]
    state.unannounced.remove((number, event.case))


def waiting(state: State, event: Event) -> None:
    label = event.value.get("class", "")
    known = state.index.labelled.get(label)
    for key in [known] if known is not None else state.queues:  # classes that came from a snapshot have no label yet
        if key in state.queues and class_label(state.index, key) == label:
            state.queues[key].reason = event.value.get("key", "")


def cancel_request(state: State, event: Event) -> None:
    """Waiting entries that match are put aside to be judged cancelled; live jobs that match are to be ended."""
    value = event.value
    everything, runs, cases = bool(value.get("all")), set(value.get("runs", [])), set(value.get("cases", []))
    if everything:
        state.cancelled = event.reason or "cancelled"

    def meant(entry: PendingResult) -> bool:
        return everything or entry.case in cases or (bool(entry.void_run) and entry.void_run in runs)

    for key, queue in list(state.queues.items()):
        gone = [entry for entry in queue if meant(entry)]
        state.to_cancel += gone
        for entry in gone:
            del queue.entries[entry.case, entry.repeat]
        if not queue:
            del state.queues[key]
    state.to_cancel += [entry for entry in state.delayed if meant(entry)]
    state.delayed = [entry for entry in state.delayed if not meant(entry)]
    for run in state.runs.values():
        if everything or run.id in runs or run.case in cases:
            run.cancelled = event.reason or "cancelled"
    for job in state.jobs.values():
        alive = job.phase not in ("ended", "haunting")
        if alive and job.bundle:
            state.attention[job.id] = None
            every = all(state.runs[part].cancelled for part in job.parts)
        else:
            every = everything or job.run in runs or job.case in cases
        if alive and not job.cancelling and every:
            job.cancelling, job.message = "wanted", event.reason
            state.attention[job.id] = None


# ---- what people say ---------------------------------------------------------------------------------------------------


def doubted(state: State, event: Event) -> None:
    """After this a component that is over may come out differently."""
    state.doubted = event.seq


def opens_epoch(state: State, event: Event) -> None:
    state.epoch += 1
    state.doubted = event.seq


def fingerprint(state: State, event: Event) -> None:
    """The machine as found; a change since the last time opens an epoch, the first time opens none."""
    found = event.value.get("digest", "")
    if machine_changed(event.value, state.fingerprint):
        opens_epoch(state, event)
    state.fingerprint = found


def waived(state: State, event: Event) -> None:
    """A gate that a person waived opens; where the plan asks for consent, once every party agreed."""
    state.doubted = event.seq
    if event.value.get("what") == "gate":
        component = event.value.get("component", "")
        state.gates[component] = str(event.value.get("digest", ""))
        if "waive" not in state.index.document.consent:
            state.waived[component] = event.reason or "waived"


def agreed(state: State, event: Event) -> None:
    state.doubted = event.seq
    for name, why in event.value.get("gates", {}).items():
        if name in state.gates:  # it was waived as it is now
            state.waived[name] = why


def withdrawn(state: State, event: Event) -> None:
    """A gate whose waiver was taken back holds again what has not begun."""
    state.doubted = event.seq
    for name in event.value.get("gates", ()):
        state.waived.pop(name, None)


def attested(state: State, event: Event) -> None:
    state.doubted = event.seq
    said = state.attested.setdefault(event.value["component"], {})
    said[event.value["procedure"]] = bool(event.value.get("met"))


def component_outcome(state: State, event: Event) -> None:
    state.outcomes[event.value["component"]] = Outcome(event.value["outcome"], event.reason, event.seq)
