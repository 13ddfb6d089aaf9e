"""The label of a rehearsed campaign: every display of it states that it is a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NOT_MODELLED = "not modelled"  # the begin of the reason for a criterion that a rehearsal cannot decide
BANNER = "rehearsed on a model, no measurement"


def in_words(said: Mapping[str, Any]) -> str:
    """Purpose: the label of a rehearsed campaign; "" for a real campaign. Example: "rehearsed on a model, no measurement (scenario
    mended, seed 3, faults: node_fail=5%)".

    ``said``: the rehearsal's part of the campaign's first event, {} if there is none.
    """
    if not said:
        return ""
    parts = [f"scenario {said['scenario']}"] if said.get("scenario") else []
    parts.append(f"seed {said.get('seed', 0)}")
    faults = said.get("faults")
    if isinstance(faults, list) and faults:
        parts.append(f"faults: {' '.join(map(str, faults))}")
    if said.get("open_gates"):
        parts.append("gates opened")
    return f"{BANNER} ({', '.join(parts)})"
