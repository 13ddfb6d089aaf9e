"""Fold one logged event into the state, in place, in constant time. Replay calls nothing else of the engine.

``HANDLERS`` is the table of contents: an event's name -> what it changes. An event that is not in it changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from shakedown.engine.fold import again as fold_again
from shakedown.engine.fold import amendments as fold_amended
from shakedown.engine.fold import builds as fold_builds
from shakedown.engine.fold import campaign as fold_campaign
from shakedown.engine.fold import findings as fold_findings
from shakedown.engine.fold import jobs as fold_jobs
from shakedown.engine.fold import overrides as fold_standing
from shakedown.engine.fold import queue_guard as fold_guard
from shakedown.engine.fold import verdicts as fold_verdicts
from shakedown.engine.state.state import State
from shakedown.model.events import EVENTS, Event, is_afterwards


def evolve(state: State, event: Event) -> None:
    """Purpose: the state after ``event``. Raises ValueError where ``seq`` leaves a gap: the record is damaged."""
    if event.seq != state.seq + 1:
        raise ValueError(f"event {event.seq} follows event {state.seq}")
    state.seq, state.time = event.seq, event.time
    if not is_afterwards(event):
        state.campaign.last = event.time
    handler = HANDLERS.get(event.event)
    if handler is not None:
        handler(state, event)
    elif event.event not in EVENTS:
        state.campaign.unknown_events += 1


HANDLERS: dict[str, Callable[[State, Event], None]] = {
    "campaign_start": fold_campaign.campaign_start,
    "amended": fold_amended.amended,
    "again": fold_again.again,
    "driver_start": fold_campaign.driver_start,
    "driver_stop": fold_campaign.driver_stop,
    "stop_request": fold_campaign.stop_request,
    "cancel_request": fold_campaign.cancel_request,
    "campaign_end": fold_campaign.campaign_end,
    "build_order": fold_builds.build_order,
    "build_start": fold_builds.build_start,
    "build_end": fold_builds.build_end,
    "submit_order": fold_jobs.submit_order,
    "submit_accepted": fold_jobs.submit_accepted,
    "submit_refused": fold_jobs.submit_refused,
    "submit_deferred": fold_jobs.submit_deferred,
    "submit_unknown": fold_jobs.submit_unknown,
    "job_report": fold_jobs.job_report,
    "release_order": fold_jobs.release_order,
    "released": fold_jobs.released,
    "requeued": fold_jobs.requeued,
    "claim_order": fold_jobs.claim_order,
    "claim_taken": fold_jobs.claim_taken,
    "claim_found": fold_jobs.claim_found,
    "claim_unknown": fold_guard.claim_unknown,
    "returned": fold_guard.returned,
    "hold_order": fold_guard.hold_order,
    "held": fold_guard.held,
    "cancel_order": fold_jobs.cancel_order,
    "cancel_done": fold_jobs.cancel_done,
    "check_start": fold_verdicts.check_start,
    "verdict": fold_verdicts.verdict,
    "retry": fold_verdicts.retry,
    "given_up": fold_verdicts.given_up,
    "unavailable": fold_campaign.unavailable,
    "waiting": fold_campaign.waiting,
    "asked": fold_campaign.asked,
    "finding": fold_findings.finding,
    "ruled": fold_campaign.doubted,
    "changed": fold_campaign.opens_epoch,
    "fingerprint": fold_campaign.fingerprint,
    "waived": fold_campaign.waived,
    "agreed": fold_campaign.agreed,
    "withdrawn": fold_campaign.withdrawn,
    "attested": fold_campaign.attested,
    "component_outcome": fold_campaign.component_outcome,
    "paused": fold_standing.paused,
    "continued": fold_standing.continued,
    "capped": fold_standing.capped,
    "budget_set": fold_standing.budget_set,
    "excluded": fold_standing.excluded,
    "included": fold_standing.included,
    "drain_request": fold_standing.drain_request,
    "clock": fold_standing.clock,
    "case_stopped": fold_standing.case_stopped,
    "surveyed": fold_standing.surveyed,
}
