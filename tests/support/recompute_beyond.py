"""Attempts and long runs that only a plan allowed which is left out of the log: ``hold_to``.

Part of ``recompute_acts.py``. It shares no code with the package, on purpose, so that a mistake there is not made here again.
"""

from __future__ import annotations

from typing import Any

from recompute_log import Campaign, Run

Json = dict[str, Any]
Plans = list[tuple[int, Json]]  # since which event -> the plan


def hold_to(campaign: Campaign, lines: list[Json], whole: list[Json], plans: dict[str, Json]) -> None:
    """Take the attempts out that no plan of ``lines`` allows and one of ``whole`` did; who was let run longer was cut off."""
    mine, real = _in_force(lines, plans), _in_force(whole, plans)
    if mine == real:
        return
    results: dict[Any, list[Run]] = {}
    for run in campaign.judged:
        results.setdefault(run.result, []).append(run)
    for runs in results.values():
        runs.sort(key=lambda run: run.attempt)
        for place in range(1, len(runs)):
            before, order = runs[place - 1], runs[place].ordered
            spent = sum(run.verdict == before.verdict for run in runs[:place])
            allowed, did = (_times(each, before, order) for each in (mine, real))
            if order and allowed is not None and allowed < spent <= (did or 0):
                before.retried = False
                for run in runs[place:]:
                    del campaign.runs[run.name]
                break
    for run in campaign.judged:
        limit, was = (_limit(each, run) for each in (mine, real))
        if (
            run.ordered
            and run.elapsed
            and run.verdict in ("passed", "incorrect", "performance")
            and limit < run.elapsed <= was
        ):
            run.verdict, run.figures = "timeout", {}


def _in_force(lines: list[Json], plans: dict[str, Json]) -> Plans:
    said = [line for line in lines if line["event"] in ("campaign_start", "amended")]
    return [(line["seq"], plans[line["value"]["document"]]) for line in said]


def _at(plans: Plans, event: int) -> Json:
    return [plan for since, plan in plans if since <= event][-1]


def _times(plans: Plans, run: Run, event: int) -> int | None:
    """How often what ended like this is attempted again; None where the plan leaves that as it usually is."""
    parts = {part["name"]: part["retry"] for part in _at(plans, event)["components"]} if event else {}
    said = {retry["verdict"]: retry["times"] for retry in parts.get(run.component, [])}
    return said.get(run.verdict, 0 if run.verdict in ("failed", "timeout") else None)


def _limit(plans: Plans, run: Run) -> float:
    case = (
        next((case for case in _at(plans, run.ordered)["cases"] if case["id"] == run.case), None)
        if run.ordered
        else None
    )
    return float(case["shape"]["time_limit_s"] or "inf") if case else float("inf")
