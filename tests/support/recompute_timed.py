"""Which components that run for a time have other runs by the later of two frozen plans. Part of ``recompute_acts.py``.

It shares no code with the package, on purpose, so that a mistake there is not made here again.
"""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def otherwise(old: Json, new: Json) -> set[str]:
    """Other cases, such as cannot run here, attempts, limits, requeues or nodes; or it runs for a time in one plan alone."""
    later = {part["name"]: part for part in new["components"]}
    found = set()
    for part in old["components"]:
        now = later.get(part["name"])
        if now is not None and (part["duration_s"] or now["duration_s"]) and _fills(part, old) != _fills(now, new):
            found.add(part["name"])
    return found


def _fills(part: Json, plan: Json) -> list[Any]:
    counts = {
        f"{cluster['name']}:{one['name']}": (one["nodes"], one["count"])
        for cluster in plan["system"]["clusters"]
        for one in cluster["partitions"]
    }
    cases: Json = {case["id"]: case for case in plan["cases"]}
    told = [
        (
            case["id"],
            case["unavailable"],
            case["shape"]["time_limit_s"],
            case["shape"]["requeue"],
            counts.get(case["partition"]),
        )
        for case in (cases[name] for name in (*part["cases"], *part["fillers"]) if name in cases)
    ]
    again = {one["verdict"]: one["times"] for one in part["retry"] if one["times"]}
    return [bool(part["duration_s"]), part["cases"], told, again]
