"""A look at the campaigns that the plan in force takes as baselines, when a driver comes and when it goes."""

from __future__ import annotations

from pathlib import Path

from shakedown.conductor.driver.conductor import Conductor
from shakedown.conductor.record.baselines import look_at
from shakedown.model.baselines import FINDING, SAME


def look_at_baselines(conductor: Conductor, site: Path) -> None:
    """Purpose: say in the record which of them was changed or is away, and which is as it was again.

    A criterion that is held against one that is not as it was frozen is undecided from then on, until it is as it was.
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
