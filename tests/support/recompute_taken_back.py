"""What one side said, and says otherwise itself: part of ``recompute_acts.py``. It shares no code with the package, on purpose."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]
FILE = {"about", "sources", "schema", "ad_hoc"}


def says_anew(kind: str, lines: list[Json], earlier: str, before: list[Json], differ: tuple[Any, Any]) -> bool:
    """Whether an act speaks of what an earlier one spoke of. ``differ``: what each of two amendments has otherwise in the plan."""
    value, was = lines[0]["value"], before[0]["value"]
    if kind in ("amend", "again") and earlier in ("drain", "cancel"):
        return kind == "amend" or was.get("component", "") in ("", value.get("component"))
    if kind != earlier:
        return False
    if kind == "rule":
        return {line["run"] for line in before} <= {line["run"] for line in lines}
    if kind == "amend":
        return bool(differ[0] & differ[1])
    if kind == "clock":
        return (value["component"], was["act"], value["act"]) == (was["component"], "stop", "go on")
    names = {"attest": ("component", "procedure"), "drill": ("component", "drill", "act")}.get(kind)
    return names is not None and all(value.get(name) == was.get(name) for name in names)


def otherwise(step: tuple[Json, Json]) -> set[Any]:
    """The places of a plan that an amendment changed."""
    one, two = (set(_said({key: value for key, value in plan.items() if key not in FILE}, ())) for plan in step)
    return {place for place, _ in one ^ two}


def _said(value: Any, place: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, dict):
        for key in value:
            yield from _said(value[key], (*place, key))
        return
    if not isinstance(value, list):
        yield place, json.dumps(value)
        return
    for item in value:
        called = None
        if isinstance(item, dict):
            called = next((item[key] for key in ("name", "id", "key") if item.get(key)), None)
        elif isinstance(item, list) and len(item) == 2 and isinstance(item[0], str):
            called = item[0]
        yield from _said(item, (*place, json.dumps(item) if called is None else called))
