"""Criteria, measured and judged again; part of ``recompute.py``. A share is a fraction of one, a figure is in the bound's unit."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import recompute_stability as stability
import recompute_steps
from recompute_numbers import convert, interval, outliers, same, statistic, wilson

if TYPE_CHECKING:
    from recompute import Case, Judge
    from recompute_log import Run

Json = dict[str, Any]
COMPLETED = ("passed", "incorrect", "performance")
MANY = 10**8  # results that may still come of a component that runs until its time has passed
NODE_HOURS = (
    "contractual node-hours / clock node-hours",
    "our node-hours / clock node-hours",
    "delivered node-hours / calendar node-hours",
    "delivered node-hours / available node-hours",
)
WHOLE = (
    "runs",
    "node-hours",
    "hours per node",
    "planned time",
    "mean time to interrupt",
    "longest hole",
    "late",
    "drill: lost",
    "drill: hole",
)  # no number of values is too small
SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "m": 60, "h": 3600, "d": 86400}


def judge_criterion(judge: Judge, component: Json, item: Json) -> Json:
    """Purpose: value, count, interval and outcome of a criterion, before waivers; of one per case also each case's."""
    if item["measure"] == "fill / isolated":
        item = item | {"per": "case"}
    everything = narrowed(judge, component, item)
    missing = len([name for name in component["cases"] if item["test"] in ("", judge.cases[name]["test"])])
    counted, left_out = without(item, everything)
    found = _measured(judge, component, item, counted)
    found["restricted"] = not counted and missing > 0 and item["measure"] != "attested"
    found["left_out"] = left_out
    before = _measured(judge, component, item | {"leave_out": []}, everything) if left_out else {"measured": None}
    declared = _declared(judge, item)
    if declared and found["outcome"] != "undecided":
        whole, _ = without(item, narrowed(judge, component, item | {"epochs": str(declared)}))
        if _measured(judge, component, item, whole)["outcome"] != found["outcome"]:
            found["outcome"] = "undecided"
    return found | {"before": before["measured"]}


# ---- who is looked at ----------------------------------------------------------------------------------------------------


def narrowed(judge: Judge, component: Json, item: Json) -> list[Case]:
    cases = [case for case in judge.people[component["name"]] if item["test"] in ("", case.data["test"])]
    cases = [case.of_mode(item["mode"]) for case in cases]
    epoch = judge.campaign.epoch if item["epochs"] == "last" else 1 if item["epochs"] == "all" else int(item["epochs"])
    return [case.keep(lambda run: run.epoch >= epoch) for case in cases] if epoch > 1 else cases


def _declared(judge: Judge, item: Json) -> int:
    """The epoch that somebody declared before the one from which a criterion counts, where nobody declared that; 0 elsewhere."""
    campaign, said = judge.campaign, item["epochs"]
    number = 0 if said == "all" else campaign.epoch if said == "last" else int(said)
    opened = campaign.found.get(number)
    if opened is None or (said != "last" and opened < campaign.last_amended):
        return 0
    while number in campaign.found:
        number -= 1
    return number


def without(item: Json, cases: list[Case]) -> tuple[list[Case], int]:
    """Without what ``leave_out`` names; of right answers nothing is left out, and what passed needs no excuse."""
    parties = {word.removeprefix("ruled ") for word in item["leave_out"] if word != "outliers"}
    parties = set() if item["measure"] == "correct / completed" else parties
    gone = {run.name for case in cases for run in case.runs if run.ruling in parties and not case.good(run)}
    count = len(gone)
    kept = [case.keep(lambda run: run.name not in gone) for case in cases] if gone else cases
    kept, more = _excused(item, parties, kept)
    count += more
    if "outliers" in item["leave_out"]:
        names = _outliers(item["of"], kept)
        count += len(names)
        kept = [replace(case, aside=case.aside | (names & {run.name for run in case.runs})) for case in kept]
    return kept, count


def _excused(item: Json, parties: set[str], cases: list[Case]) -> tuple[list[Case], int]:
    """What could not be judged until the time was over fails, or passes; where it is ruled so a failure would be left out."""
    if not item["measure"].startswith("passed"):
        return cases, 0
    found, count = [], 0
    for case in cases:
        runs = case.nowhere if case.time_over else []
        others = {run.result for run in runs if run.ruling not in parties}
        mine = [run for run in runs if run.result not in others]
        count += len(mine)
        found.append(replace(case, excused=len({run.result for run in mine})))
    return found, count


def _outliers(figure: str, cases: list[Case]) -> set[str]:
    found = set()
    for case in cases:
        for mode in case.wanted:
            pairs = [(run, value) for run, value in case.values(figure) if run.mode == mode]
            found |= {pairs[place][0].name for place in outliers([value for _, value in pairs])}
    return found


# ---- how it comes out ----------------------------------------------------------------------------------------------------


def _measured(judge: Judge, component: Json, item: Json, cases: list[Case]) -> Json:
    if not item["per"] or not cases:
        return _one(judge, component, item, cases)
    scored, key = {}, "test" if item["per"] == "test" else "id"
    for name in dict.fromkeys(case.data[key] for case in cases):
        mine = [case for case in cases if case.data[key] == name]
        as_expected = all(
            bool(case.runs) and all(run.verdict != "passed" and case.good(run) for run in case.runs) for case in mine
        )
        if item["measure"].startswith("passed") or not as_expected:
            scored[name] = _one(judge, component, item, mine)
    if not scored:
        return {"measured": None, "count": 0, "interval": None, "outcome": "undecided", "cases": {}}
    rank = {"met": 0, "undecided": 1, "not met": 2}
    worst = max(scored.values(), key=lambda one: (rank[one["outcome"]], _badness(item, one["measured"])))
    return worst | {"count": min(one["count"] for one in scored.values()), "cases": scored}


def _badness(item: Json, value: float | None) -> float:
    if value is None:
        return float("-inf")
    if item["comparison"] == "=":
        return abs(value - float(item["bound"]))
    return -value if item["comparison"][0] == ">" else value


def _one(judge: Judge, component: Json, item: Json, cases: list[Case]) -> Json:
    """(value, count, least and most it can become, interval) of a measure, and met, not met or undecided."""
    value, count, low, high, around = _MEASURES[item["measure"]](judge, component, item, cases)
    outcome = "undecided"
    enough = item["measure"] in WHOLE or count >= item["enough"]
    if value is not None and enough and low is not None and high is not None:
        if _holds(item, low) and _holds(item, high):
            outcome = "met"
        elif not can_hold(item, low, high):
            outcome = "not met"
    return {"measured": value, "count": count, "interval": around, "outcome": outcome}


def _holds(item: Json, value: float) -> bool:
    if same(value, item["bound"]):
        return "=" in item["comparison"]
    bound, first = float(item["bound"]), item["comparison"][0]
    return value > bound if first == ">" else value < bound if first == "<" else False


def can_hold(item: Json, low: float, high: float) -> bool:
    if item["comparison"] == "=":
        bound = float(item["bound"])
        return low <= bound <= high or same(low, bound) or same(high, bound)
    return _holds(item, low) or _holds(item, high)


# ---- measures ------------------------------------------------------------------------------------------------------------

Found = tuple[float | None, int, float | None, float | None, Any]
NOTHING: Found = (None, 0, None, None, None)


def _coming(cases: list[Case]) -> tuple[int, int]:
    """What is to come as far as it is known, and the most that may."""
    more = any(case.more for case in cases)
    known = max(sum(case.to_come for case in cases), int(more))
    return known, MANY if more else known


def _runs_on(cases: list[Case]) -> bool:
    """Whether anything is still to come; what the end of the time cut off is not."""
    return any(case.more or case.to_come > case.cut_off for case in cases)


def _of_attempts(judge: Judge, component: Json, item: Json, cases: list[Case]) -> Found:
    good, count = sum(case.good(r) for case in cases for r in case.runs), sum(len(case.runs) for case in cases)
    known, most = _coming(cases)
    if not count:
        return NOTHING
    least, rest = 0.0, sum(case.excused for case in cases)
    if known == most == sum(case.cut_off for case in cases):
        least = good / max(count + most - rest, 1)  # nobody tries them again
    low, high = (least, (good + most) / (count + most)) if known else (good / count, good / count)
    return good / count, count, low, high, wilson(good, count)


def _of_wanted(judge: Judge, component: Json, item: Json, cases: list[Case]) -> Found:
    wanted = sum(sum(case.wanted.values()) for case in cases)
    judged, good = sum(case.results(case.settled) for case in cases), sum(case.results(case.good) for case in cases)
    known, most = _coming(cases)
    if not judged or not wanted:
        return NOTHING
    total = wanted + (most if any(case.more for case in cases) else 0)
    fewer = max(total - sum(case.excused for case in cases), 1)
    low, high = (good / fewer, (good + total - judged) / total) if known else (good / wanted, good / wanted)
    wanted -= sum(case.cut_off for case in cases)
    return good / wanted, judged, low, high, wilson(good, wanted)


def _correct(judge: Judge, component: Json, item: Json, cases: list[Case]) -> Found:
    done = [(case, run) for case in cases for run in case.runs if run.verdict in COMPLETED]
    right = sum(run.verdict != "incorrect" or case.good(run) for case, run in done)
    known, most = _coming(cases)
    if not done:
        return NOTHING
    total = len(done) + most if known else len(done)
    return right / len(done), len(done), right / total, (right + total - len(done)) / total, wilson(right, len(done))


def _values(judge: Judge, item: Json, cases: list[Case]) -> list[float]:
    found = [
        (
            value,
            judge.figures.get((case.data["test"], item["of"]), {"unit": "s" if item["of"] == "elapsed" else ""})[
                "unit"
            ],
        )
        for case in cases
        for _, value in case.values(item["of"])
    ]
    unit = (item["unit"] if item["measure"] == "value" else "") or next((unit for _, unit in found), "")
    return [convert(value, its, unit) for value, its in found]


def _value(judge: Judge, component: Json, item: Json, cases: list[Case]) -> Found:
    try:
        values = _values(judge, item, cases)
        number = statistic(item["statistic"], values) if values else None
    except (ValueError, statistics.StatisticsError):
        return None, len([1 for case in cases for _ in case.values(item["of"])]), None, None, None
    if number is None:
        return NOTHING
    sure = None if _coming(cases)[0] else number
    return number, len(values), sure, sure, interval(item["statistic"], values)


def _spread(judge: Judge, component: Json, item: Json, cases: list[Case]) -> Found:
    values = _values(judge, item, cases)
    if len(values) < 2 or statistics.fmean(values) <= 0:
        return None, len(values), None, None, None
    share = statistics.stdev(values) / statistics.fmean(values)
    sure = None if _coming(cases)[0] else share
    return share, len(values), sure, sure, None


def _fill(judge: Judge, component: Json, item: Json, cases: list[Case]) -> Found:
    (case,) = cases
    better = "lower" if item["of"] == "elapsed" else judge.figures[case.data["test"], item["of"]]["better"]
    alone, full = ([v for _, v in case.of_mode(mode).values(item["of"])] for mode in ("isolated", "fill"))
    if not alone or not full or not better:
        return NOTHING
    try:
        ratio = statistic(item["statistic"], full) / statistic(item["statistic"], alone)
    except (ZeroDivisionError, statistics.StatisticsError):
        return NOTHING
    worse = 1 - ratio if better == "higher" else ratio - 1
    sure = None if _coming(cases)[0] else worse
    return worse, min(len(alone), len(full)), sure, sure, None


def _rows_met(judge: Judge, component: Json, item: Json, cases: list[Case]) -> Found:
    scores = []
    for name, row in judge.rows.items():
        mine = [case for case in cases if name in case.data["rows"]]
        if (
            mine
            and row["basis"] == (item["basis"] or "contract")
            and (not item["mode"] or row["mode"] in ("", item["mode"]))
        ):
            scores.append(judge.row(row, mine, component["name"]))
    scores = [score for score in scores if score["outcome"] != "unjudged"]
    if not scores:
        return NOTHING
    counts = judge.rows_count_waived
    met = sum(score["outcome"] == "met" or (counts and score["waived"]) for score in scores)
    maybe = sum(score["outcome"] == "undecided" and not (counts and score["waived"]) for score in scores)
    return met / len(scores), len(scores), met / len(scores), (met + maybe) / len(scores), None


def _attested(judge: Judge, component: Json, item: Json, cases: list[Case]) -> Found:
    said = []
    for procedure in component["procedures"]:
        met, files = judge.campaign.attested.get((component["name"], procedure["name"]), (None, 0))
        said.append("open" if met is None or (met and files < procedure["evidence"]) else "met" if met else "not met")
    met_count, waiting = said.count("met"), said.count("open")
    if waiting == len(said):
        return NOTHING
    return met_count / len(said), len(said) - waiting, met_count / len(said), (met_count + waiting) / len(said), None


def _node_hours(judge: Judge, component: Json, item: Json, cases: list[Case]) -> Found:
    """The count is how many runs the numerator has; it is not computed again where runs of unknown times are left out."""
    shares = judge.utilisation(component["name"], cases)
    if shares is None:
        return NOTHING
    share, count = shares[NODE_HOURS.index(item["measure"])]
    if share is None:
        return NOTHING
    open_ = _runs_on(cases) if item["measure"].startswith("our ") else _coming(cases)[0]
    sure = None if open_ else share
    return share, count, sure, sure, None


# ---- floors --------------------------------------------------------------------------------------------------------------


def _runs(judge: Judge, component: Json, item: Json, cases: list[Case]) -> Found:
    count = sum(run.verdict in ("passed", "performance") for case in cases for run in case.runs)
    known, most = _coming(cases)
    return count, count, count, count + (most if known else 0), None


def _floor(judge: Judge, component: Json, item: Json, cases: list[Case]) -> Found:
    """Node-hours of the right runs; hours of the node that was held least."""
    pieces = _pieces(judge, component)
    if pieces is None:
        return NOTHING
    if item["measure"] == "node-hours":
        right = [run for case in cases for run in case.runs if run.verdict in ("passed", "performance")]
        took = [hours for run in right if (hours := judge.node_hours(run, pieces)) is not None]
        value, count = math.fsum(took), sum(hours > 0 for hours in took)
    else:
        held = stability.held_by_node(judge, component, pieces)
        value, count = min(held.values()) / _unit(item), len(held)
    grows = _coming(cases)[0] if item["measure"] == "node-hours" else _runs_on(cases)
    return value, count, value, math.inf if grows else value, None


def _interrupt(judge: Judge, component: Json, item: Json, cases: list[Case]) -> Found:
    pieces = _pieces(judge, component)
    time = stability.lasting(pieces or []) / _unit(item)
    if pieces is None or time <= 0:
        return NOTHING
    coming = _runs_on(cases)
    kinds, _ = stability.interrupted(component, judge.campaign, pieces)
    count = kinds.total()
    if not count:
        if not coming and item["comparison"][0] == ">" and time < item["bound"]:
            return NOTHING
        return time, 0, *((None, None) if coming else (time, time)), None
    fewest, most = stability.between_events(count)
    value = time / count
    return value, count, *((None, None) if coming else (value, value)), (time / most, time / fewest)


def _planned_time(judge: Judge, component: Json, item: Json, cases: list[Case]) -> Found:
    """Whether the clock has run for as long as the plan says; less than that is never enough to judge."""
    pieces = _pieces(judge, component)
    if pieces is None:
        return NOTHING
    ran, coming = stability.lasting(pieces), _runs_on(cases)
    if ran < item["bound"] - 1e-3:
        return ran, 1, None, None, None
    sure = max(ran, float(item["bound"]))
    return ran, 1, sure, math.inf if coming else sure, None


def _hole(judge: Judge, component: Json, item: Json, cases: list[Case]) -> Found:
    pieces, span = _pieces(judge, component), stability.whole_span(component, judge.campaign)
    if pieces is None or span is None or stability.lasting(pieces) <= 0:
        return NOTHING
    found = [hole for mine in stability.holes(judge, component, cases, pieces, span).values() for hole in mine]
    longest = max((hole["seconds"] for hole in found), default=0.0) / _unit(item)
    closed = max((hole["seconds"] for hole in found if not hole["last"]), default=0.0) / _unit(item)
    low, high = (closed, math.inf) if _runs_on(cases) else (longest, longest)
    return longest, len({case.data["test"] for case in cases}), low, high, None


def _late(judge: Judge, component: Json, item: Json, cases: list[Case]) -> Found:
    """From the planned date to the last result and attestation, or to the last event while one is missing."""
    name, campaign = component["name"], judge.campaign
    said = [campaign.attested_at.get((name, procedure["name"])) for procedure in component["procedures"]]
    if not judge.people[name] and not said:
        return NOTHING
    runs = [run for case in judge.people[name] for run in (*case.runs, *(case.nowhere if case.time_over else ()))]
    moments = [_over(run) for run in runs] + [at for at in said if at is not None]
    over = bool(moments) and None not in said and not _runs_on(judge.people[name])
    hours = max(0.0, (max(moments) if over else campaign.last) - component["deadline"]) / _unit(item)
    return hours, 1, hours, hours if over else math.inf, None


def _over(run: Run) -> float:
    """When it ended by its own clock, else when that was known; of one that never began when it was first judged."""
    if run.ended is not None:
        return run.ended
    if run.started is not None and run.elapsed is not None:
        return run.started + run.elapsed
    began = run.started is not None or run.elapsed is not None
    return run.freed if began and run.freed is not None else run.time


def _pieces(judge: Judge, component: Json) -> stability.Pieces | None:
    span = stability.whole_span(component, judge.campaign)
    return None if span is None else stability.clock_pieces(component, judge.campaign, span[1])


def _unit(item: Json) -> float:
    return SECONDS.get(item["unit"], 3600)


_MEASURES = {
    "set up": recompute_steps.of_steps,
    "clean up": recompute_steps.of_steps,
    "drill: lost": recompute_steps.of_drill,
    "drill: hole": recompute_steps.of_drill,
    "passed / attempts": _of_attempts,
    "passed / wanted": _of_wanted,
    "correct / completed": _correct,
    "value": _value,
    "sd / mean": _spread,
    "fill / isolated": _fill,
    "rows met": _rows_met,
    "attested": _attested,
    **dict.fromkeys(NODE_HOURS, _node_hours),
    "runs": _runs,
    "node-hours": _floor,
    "hours per node": _floor,
    "mean time to interrupt": _interrupt,
    "longest hole": _hole,
    "late": _late,
    "planned time": _planned_time,
}
