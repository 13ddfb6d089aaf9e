"""Set-ups, clean-ups and drills, measured again; part of ``recompute.py``. It shares no code with the package, on purpose.

A drill that people do: which runs it lost, and the longest time in which nothing went on. The load before and after it is not here.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import recompute_stability as stability
from recompute_log import Run

if TYPE_CHECKING:
    from recompute import Judge

Json = dict[str, Any]
STEPS = ("set-up", "clean-up", "drill")
NOTHING: tuple[Any, ...] = (None, 0, None, None, None)
USUAL: Json = {"comparison": "=", "bound": 1.0, "unit": "%", "of": "", "test": "", "per": "", "enough": 1, "mode": "",
               "basis": "", "leave_out": [], "epochs": "all", "statistic": "median"}  # fmt: skip


def criteria(component: Json) -> list[Json]:
    """What such a component is asked for beside its own criteria."""
    found = [
        USUAL | {"name": word, "measure": word} for word in ("set up", "clean up") if component[word.replace(" ", "_")]
    ]
    for drill in component["drills"]:
        for word, bound in (("lost", drill["lost"]), ("hole", drill["hole_s"])):
            if bound is not None:
                asked = {"name": f"drill {drill['name']}: {word}", "measure": f"drill: {word}", "drill": drill}
                found.append(
                    USUAL | asked | {"comparison": "<=", "bound": float(bound), "unit": "s" if word == "hole" else ""}
                )
    return found


def step_runs(judge: Judge, component: Json) -> dict[tuple[str, str, int], list[Run]]:
    """Attempts at each set-up and clean-up that is wanted; of one that was wanted anew the last time alone."""
    kept: dict[tuple[str, str, int], list[Run]] = {}
    for run in judge.campaign.judged:
        wanted = component.get({"set-up": "set_up", "clean-up": "clean_up"}.get(run.mode, ""), [])
        if run.component == component["name"] and run.case in wanted and run.name not in judge.anew:
            kept.setdefault((run.mode, run.case, run.result[4]), []).append(run)
    return kept


def of_steps(judge: Judge, component: Json, item: Json, cases: Any) -> tuple[Any, ...]:
    """The share of set-ups, or of clean-ups, that passed: one of each for every time that the component runs."""
    mode, rounds = item["measure"].replace(" ", "-"), 1 + judge.campaign.again.get(component["name"], 0)
    runs = step_runs(judge, component)
    wanted = [
        (mode, case, number) for case in component[item["measure"].replace(" ", "_")] for number in range(1, rounds + 1)
    ]
    good = sum(any(run.verdict in ("passed", "performance") for run in runs.get(key, [])) for key in wanted)
    known = sum(key in runs for key in wanted)
    if not known:
        return NOTHING
    return good / len(wanted), known, good / len(wanted), (good + len(wanted) - known) / len(wanted), None


def of_drill(judge: Judge, component: Json, item: Json, cases: Any) -> tuple[Any, ...]:
    """Runs that were lost in a drill, or its longest stretch without progress, of a campaign that is over."""
    drill, campaign = item["drill"], judge.campaign
    said = [one for one in campaign.drilled if (one["component"], one["drill"]) == (component["name"], drill["name"])]
    begun = [one["at"] for one in said if one["act"] == "begun"]
    ended = [one for one in said if one["act"] == "ended" and begun and one["at"] >= begun[-1]]
    whole = stability.whole_span(component, campaign)
    if not ended or len(set(ended[-1]["files"])) < drill["evidence"] or whole is None or begun[-1] < whole[0]:
        return NOTHING
    begin, up = begun[-1], campaign.time_up.get(component["name"], math.inf)
    until, last = min(ended[-1]["at"] + drill["settle_s"], up), min(campaign.last, up)
    runs = [run for run in campaign.judged if run.component == component["name"] and run.mode not in STEPS]
    runs = [run for run in runs if run.started is not None]
    if item["measure"] == "drill: lost":
        live = [run for run in runs if (run.started or 0.0) <= until and _end(run) > begin]
        badly = ("failed", "timeout", "node_fail", "interrupted", "lost")
        lost = sum(run.verdict in badly and run.ruling not in ("application", "harness", "excused") for run in live)
        return float(lost), lost, float(lost), float(lost), None
    moments = {run.started or 0.0 for run in runs} | {
        _end(run) for run in runs if run.verdict in ("passed", "performance")
    }
    later = min((moment for moment in moments if moment > until), default=last)
    edges = [begin, *sorted(moment for moment in moments if begin < moment <= until)]
    edges.append(max(until, later) if last > until else last)
    longest = max(((a, b) for a, b in pairwise(edges) if b > a), key=lambda one: one[1] - one[0], default=None)
    pieces = stability.clock_pieces(component, campaign, whole[1])
    size = stability.overlap(longest, pieces) if longest else 0.0
    return size, 1, size, size, None


def _end(run: Run) -> float:
    if run.span:
        return run.span[1]
    return max(run.started or 0.0, run.ended if run.ended is not None else run.time)
