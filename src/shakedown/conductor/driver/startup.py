"""Starting a campaign or going on with it: fold the log into a state, then log who drives now."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from shakedown.conductor.driver.conductor import Conductor
from shakedown.engine import Policy, State, evolve, index_plan
from shakedown.engine.state.phases import CampaignPhase
from shakedown.model.events import Event
from shakedown.model.nouns import Document

Documents = Callable[[str], Document]  # digest -> frozen document


def fold(
    events: Iterable[Event], documents: Documents, policy: Policy | None = None, state: State | None = None
) -> State:
    """Purpose: the state that a log leads to, or that the rest of a log leads to from ``state``."""
    state = state or State()
    for event in events:
        fold_one(state, event, documents, policy)
    return state


def fold_one(state: State, event: Event, documents: Documents, policy: Policy | None = None) -> None:
    """Fold one event. The two kinds that bring a document into force need it indexed first."""
    if event.event in ("campaign_start", "amended"):
        state.plan = index_plan(documents(event.value["document"]), policy, before=state.plan)
    evolve(state, event)


def begin(
    conductor: Conductor, campaign: dict[str, Any], driver: dict[str, Any], document: Document, why: str = ""
) -> None:
    """Purpose: start a campaign whose log is empty, or take over one whose log is not. Durable when it returns.

    ``campaign``: the value of campaign_start (its document's digest, id, plan, seed). ``driver``: who drives, and where. ``why``:
    what is to be known of the whole campaign.
    """
    if conductor.state.phase == CampaignPhase.NOT_BEGUN:
        if conductor.state.plan is None:
            conductor.state.plan = index_plan(document)
        conductor.log("campaign_start", value=campaign, reason=why)
    conductor.log("driver_start", value=driver)
    conductor.commit()
