"""Settings of a plan as they can be pasted into it: where they belong, and the YAML."""

from __future__ import annotations

THE_SYSTEM = "the system's file"


def setting(where: str, keys: tuple[str, ...], value: str) -> str:
    """Purpose: "limits: {copies: {shield: 9}}" for a plan; "in stability: limits: ..." for one of its components, by name.

    ``where``: the component, ``THE_SYSTEM``, or "" = the plan itself.
    """
    text = value
    for key in reversed(keys[1:]):
        text = f"{{{key}: {text}}}"
    return f"in {where}: {keys[0]}: {text}" if where else f"{keys[0]}: {text}"
