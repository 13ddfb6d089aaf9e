"""Attempts, long runs and warm-ups that only a plan asked for which is left out of the log: ``hold_to``.

Part of ``recompute_acts.py``. It shares no code with the package, on purpose, so that a mistake there is not made here again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from recompute_log import Campaign, Run
from recompute_plans import copies

Json = dict[str, Any]
Plans = list[tuple[int, Json]]  # since which event -> the plan


def hold_to(campaign: Campaign, lines: list[Json], whole: list[Json], plans: dict[str, Json]) -> None:
    """Take the attempts out that no plan of ``lines`` allows and one of ``whole`` did; who was let run longer was cut off, and who
    was had warm up counts.
    """
    mine, real = _in_force(lines, plans), _in_force(whole, plans)
    _close_ranks(campaign, lines, whole, real)
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
    _leave_out_twice(campaign, mine, real)
    _place_in_rounds(campaign, mine, real, whole)
    _count_warm_ups(campaign, mine, real)
    for run in campaign.judged:
        verdict = _without_its_checks(run, _at(mine, run.seq), _at(real, run.seq))
        if verdict:
            run.verdict, run.known = verdict, True
    for run in campaign.judged:
        limit, was = (_limit(each, run) for each in (mine, real))
        if (
            run.ordered
            and run.elapsed
            and run.verdict in ("passed", "incorrect", "performance")
            and limit < run.elapsed <= was
        ):
            run.verdict, run.figures = "timeout", {}


def come_to(campaign: Campaign, ways: dict[str, str], word: str, lines: list[Json], plans: dict[str, Json]) -> set[str]:
    """Take runs that came by a harder plan to have come to a word, and the attempts after them, too: those that nobody measured."""
    ways = {name: way for name, way in ways.items() if name in campaign.runs and not campaign.runs[name].known}
    results: dict[Any, list[Run]] = {}
    for run in sorted(campaign.judged, key=lambda one: one.attempt):
        results.setdefault(run.result, []).append(run)
        if ways.get(run.name) == "open" or (ways.get(run.name) == "passed" and word == "passed"):
            run.verdict, run.retried, run.figures, run.elapsed = word, False, {}, None
    mine, names = _in_force(lines, plans), set(ways)
    for runs in (runs for runs in results.values() if runs[-1].name in ways):
        while (last := runs[-1]).verdict != "passed":
            if sum(run.verdict == last.verdict for run in runs) > (_times(mine, last, last.seq) or 0):
                break
            last.retried = True
            more: Json = {"name": f"{last.name}, once more", "attempt": last.attempt + 1, "verdict": word, "ruling": ""}
            runs.append(replace(last, retried=False, figures={}, elapsed=None, **more))
            campaign.runs[runs[-1].name] = runs[-1]
            names.add(runs[-1].name)
    return names


def _leave_out_twice(campaign: Campaign, mine: Plans, real: Plans) -> None:
    """What was wanted again after plans that did not want it, and these are not there: the result of before is the one."""
    ordered = sorted((run for run in campaign.judged if run.ordered), key=lambda run: run.ordered)
    kept: dict[Any, Run] = {}
    last: dict[Any, int] = {}
    for run in ordered:
        last[run.component, run.case, run.mode] = max(run.result[4], last.get((run.component, run.case, run.mode), 0))
    numbers: dict[Any, int] = {}
    for run in ordered:
        before = kept.setdefault(run.result[:5], run)
        if run.result == before.result:
            continue
        gaps = [
            any(
                not _is_wanted(plan, run, campaign.again.get(run.component, 0))
                for since, plan in [(before.ordered, _at(plans, before.ordered)), *plans]
                if before.ordered <= since <= run.ordered
            )
            for plans in (mine, real)
        ]
        on = [
            any(
                not _runs_on(plan, run)
                for since, plan in [(before.ordered, _at(plans, before.ordered)), *plans]
                if before.ordered <= since <= run.ordered
            )
            for plans in (mine, real)
        ]
        if on == [False, True]:
            key = run.component, run.case, run.mode
            if run.result not in numbers:
                numbers[run.result] = last[key] = last[key] + 1
        elif gaps == [False, True]:
            del campaign.runs[run.name]
        else:
            kept[run.result[:5]] = run
    for run in ordered:
        if run.result in numbers:
            run.result = (*run.result[:4], numbers[run.result], *run.result[5:])


def _close_ranks(campaign: Campaign, lines: list[Json], whole: list[Json], real: Plans) -> None:
    """What a round had run that nobody asked for is no result; the rounds after it stand one place earlier each."""
    asked = {line["seq"] for line in lines if line["event"] == "again"}
    for name in {run.component for run in campaign.judged}:
        said = [line["seq"] for line in whole if line["event"] == "again" and line["value"]["component"] == name]
        rounds = [
            0,
            *(number for number, seq in enumerate(said, 1) if seq in asked),
        ]  # those that are left, by their old numbers
        if rounds == [*range(len(rounds))]:
            continue
        rounds += [number for number in range(1, len(said) + 1) if number not in rounds]
        first: dict[Any, Run] = {}
        for run in sorted(campaign.judged, key=lambda run: run.ordered or run.seq):
            first.setdefault(run.result, run)
        for run in [run for run in campaign.judged if run.component == name]:
            opener = first[run.result]
            size = _in_a_round(_at(real, opener.ordered or opener.seq), opener)
            if size and (run.result[4] - 1) // size in rounds:
                number = rounds.index((run.result[4] - 1) // size) * size + (run.result[4] - 1) % size + 1
                run.result = (*run.result[:4], number, *run.result[5:])


def _place_in_rounds(campaign: Campaign, mine: Plans, real: Plans, whole: list[Json]) -> None:
    """Where a component ran again a result stays in its round, whatever number of results each plan has in one; what a round of
    ``mine`` has no place for is no result that it wants.
    """
    again = [line["value"]["component"] for line in whole if line["event"] == "again"]
    results: dict[Any, list[Run]] = {}
    for run in sorted(campaign.judged, key=lambda run: run.ordered or run.seq):
        if run.component in again:
            results.setdefault(run.result, []).append(run)
    sizes = {
        result: [_in_a_round(_at(plans, runs[0].ordered or runs[0].seq), runs[0]) for plans in (mine, real)]
        for result, runs in results.items()
    }
    other = [result for result, (asked, did) in sizes.items() if asked and did and asked != did]
    taken = {result[:5] for result in results if result not in other}
    for left_over, result in enumerate(other, 1):
        asked, did = sizes[result]
        number = (result[4] - 1) // did * asked + (result[4] - 1) % did + 1
        if (result[4] - 1) % did >= asked or (*result[:4], number) in taken:
            number = asked * (1 + again.count(result[0])) + left_over
        taken.add((*result[:4], number))
        for run in results[result]:
            run.result = (*result[:4], number, *result[5:])


def _in_a_round(plan: Json, run: Run) -> int:
    """How many results of the case of a run a plan wants each time that its component runs; 0 where it counts none."""
    case = next((case for case in plan["cases"] if case["id"] == run.case), None)
    for part in plan["components"]:
        if part["name"] == run.component and case and not part["duration_s"]:
            modes = {one["name"]: one["repeats"] * copies(plan, one, case) for one in part["modes"]}
            return int((modes or {"": part["repeats"]}).get(run.result[1], 0))
    return 0


def _runs_on(plan: Json, run: Run) -> bool:
    """Whether a plan runs a case for a time, where every run counts and none is wanted by its number."""
    return any(
        part["name"] == run.component and part["duration_s"] and run.case in part["cases"] and not run.mode
        for part in plan["components"]
    )


def _is_wanted(plan: Json, run: Run, again: int) -> bool:
    """Whether a plan wants a result of this number of a case, in a component that counts its results."""
    case = next((case for case in plan["cases"] if case["id"] == run.case), None)
    for part in plan["components"]:
        if part["name"] == run.component and case and not case["unavailable"] and not part["duration_s"]:
            modes = {one["name"]: one["repeats"] * copies(plan, one, case) for one in part["modes"]}
            most = (modes or {"": part["repeats"]}).get(run.result[1], 0)
            return run.case in part["cases"] and bool(run.result[4] <= most * (1 + again))
    return False


def _count_warm_ups(campaign: Campaign, mine: Plans, real: Plans) -> None:
    """Warm-ups that only the whole log asks for are the first repeats of their mode, and as many fewer are ordered after them."""
    rounds = {run.component: 1 + campaign.again.get(run.component, 0) for run in campaign.judged}
    lines: dict[tuple[str, str, str], dict[Any, list[Run]]] = {}
    for run in sorted(campaign.judged, key=lambda run: run.ordered or run.seq):
        component, mode, of, case = run.result[:4]
        lines.setdefault((component, of or mode, case), {}).setdefault(run.result, []).append(run)
    for (component, mode, _), results in lines.items():
        counted, added = 0, 0
        for result, runs in results.items():
            first, number = runs[0], result[4]
            (warm, wanted), (did, _) = (_of_mode(plans, first, mode) for plans in (mine, real))
            if result[1] == "warm-up":
                if not (first.ordered and wanted and warm * rounds[component] < number <= did * rounds[component]):
                    continue
                added, number = added + 1, counted + 1
            elif added:
                number += added
            counted = max(counted, number)
            surplus = result[4] <= wanted * rounds[component] < number
            for run in runs if added else ():
                run.mode, run.result = mode, (component, mode, "", result[3], number, result[5])
                if surplus:
                    del campaign.runs[run.name]


def _of_mode(plans: Plans, run: Run, mode: str) -> tuple[int, int]:
    """Warm-ups and repeats that a mode wants of the case of a run, in the plan by which it was ordered."""
    plan = _at(plans, run.ordered) if run.ordered else plans[0][1]
    for part in plan["components"]:
        for one in part["modes"] if part["name"] == run.component else ():
            case = next((case for case in plan["cases"] if case["id"] == run.case), None)
            if one["name"] == mode and case:
                many = copies(plan, one, case)
                return one["warm_up"] * many, one["repeats"] * many
    return 0, 0


def _without_its_checks(run: Run, plan: Json, whole: Json) -> str:
    """Passed or performance by a plan that lacks the very checks that found a run wrong, where all that it asks for held."""
    if run.verdict != "incorrect" or run.strange or run.retried:
        return ""
    cases: list[Json] = [next((case for case in one["cases"] if case["id"] == run.case), {}) for one in (plan, whole)]
    if not all(cases):
        return ""
    both: list[Json] = [
        next((test for test in one["tests"] if test["name"] == case["test"]), {})
        for one, case in zip((plan, whole), cases, strict=True)
    ]
    if not all(both) or both[0]["figures"] != both[1]["figures"]:
        return ""
    more = [check for check in both[1]["checks"] if check not in both[0]["checks"]]
    if not more or len(more) + len(both[0]["checks"]) != len(both[1]["checks"]):
        return ""
    if any(check["subject"] == "exit" for check in more):
        return ""
    held = {text: word for text, word, _ in run.checks}
    asked = {check["text"] for check in both[0]["checks"] if check["subject"] != "exit"}
    if not all(held.get(text) for text in asked) or not any(held[text] is False for text in held if text not in asked):
        return ""
    if any(figure["required"] and figure["name"] not in run.figures for figure in both[0]["figures"]):
        return ""
    rows = {row["name"]: row for contract in plan["contracts"] for row in contract["rows"] if row["verdict"]}
    for row in (rows[name] for name in cases[0]["rows"] if name in rows):
        value = run.figures.get(row["figure"])
        if value is not None and (value < (row["low"] or value) or value > (row["high"] or value)):
            return "performance"
    return "passed"


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
