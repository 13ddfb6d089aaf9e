"""Results that a plan did not want for a while: ``wanted_anew``. What ran before, or ended meanwhile, counts no more (W11).

Part of ``recompute.py``. It shares no code with the package, on purpose, so that a mistake there is not made here again.
"""

from __future__ import annotations

from typing import Any

from recompute_log import Campaign, Run
from recompute_plans import copies

Json = dict[str, Any]


def wanted_anew(campaign: Campaign, plans: dict[str, Json]) -> set[str]:
    """The runs of results that are wanted anew, if at all: a plan wanted them, and the next did not once they were over."""
    spells = [(since, plans[name]) for since, name in campaign.in_force]
    if len(spells) < 2:
        return set()
    results: dict[Any, list[Run]] = {}
    for run in campaign.runs.values():
        results.setdefault(run.result, []).append(run)
    found: set[str] = set()
    for runs in results.values():
        if all(run.over for run in runs) and _was_out(runs, spells, campaign):
            found |= {run.name for run in runs}
    return found


def _was_out(runs: list[Run], spells: list[tuple[int, Json]], campaign: Campaign) -> bool:
    run = max(runs, key=lambda one: one.attempt)
    begin, over = min(one.ordered or one.over for one in runs), run.over
    was_wanted = False
    for place, (_, plan) in enumerate(spells):
        until = spells[place + 1][0] if place + 1 < len(spells) else float("inf")
        if until <= begin:
            continue  # it was not even ordered
        again = sum(at < until for at in campaign.taken_up.get(run.component, []))
        if wants(plan, run, 1 + again):
            was_wanted = True
        elif was_wanted and until > over:
            return True
    return False


def wants(plan: Json, run: Run, rounds: int) -> bool:
    case = next((one for one in plan["cases"] if one["id"] == run.case), None)
    part = next((one for one in plan["components"] if one["name"] == run.component), None)
    if case is None or part is None or case["unavailable"]:
        return False
    number = run.result[4]
    if run.mode == "warm-up":
        return True
    if run.mode in ("set-up", "clean-up"):
        return run.case in part[run.mode.replace("-", "_")] and number <= rounds
    if run.mode == "drill":
        return any(one["name"] == run.result[2] and one["case"] == run.case for one in part["drills"])
    if run.mode == "filler":
        return run.case in part["fillers"]
    repeats = {one["name"]: one["repeats"] * copies(plan, one, case) for one in part["modes"]} or {"": part["repeats"]}
    if run.case not in part["cases"] or run.mode not in repeats:
        return False
    return bool(part["duration_s"] or part["sweep"] or number <= repeats[run.mode] * rounds)
