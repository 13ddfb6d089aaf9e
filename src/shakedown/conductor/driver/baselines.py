"""Checking the campaigns that the plan in force has as baselines, when a driver starts and when it leaves."""

from __future__ import annotations

from pathlib import Path

from shakedown.conductor.driver.conductor import Conductor
from shakedown.conductor.record.baselines import look_at
from shakedown.model.baselines import FINDING, SAME


def look_at_baselines(conductor: Conductor, site: Path) -> None:
    """Purpose: record which of them were changed or are away, and which are as they were again.

    A criterion that uses a baseline which is not as it was frozen is undecided until it is again.
    """
    baselines = [one for one in conductor.state.index.document.baselines if one.campaign]
    if not baselines:
        return
    last: dict[str, str] = {}
    conductor.commit()
    for event in conductor.reread():
        if event.event == "finding" and event.value.get("kind") == FINDING:
            last[str(event.value.get("baseline", ""))] = str(event.value.get("state", ""))
    for baseline in baselines:
        state, why = look_at(site, baseline)
        if state != last.get(baseline.name, SAME):
            value = {"kind": FINDING, "baseline": baseline.name, "campaign": baseline.campaign, "state": state}
            conductor.log("finding", value=value, reason=why)
    conductor.commit()
