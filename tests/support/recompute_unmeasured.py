"""Whether a campaign hangs on what runs would have measured; part of ``recompute.py``. Rule A8 of docs/concepts/judging.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recompute_criteria import NODE_HOURS, can_hold, narrowed, without
from recompute_numbers import inside

if TYPE_CHECKING:
    from recompute import Case, Judge

Json = dict[str, Any]
OF_VALUES = ("value", "sd / mean", "fill / isolated", "rows met", "node-hours", *NODE_HOURS)


def hangs(judge: Judge, card: Json, runs: set[str]) -> bool:
    """Purpose: ``card`` is of a campaign in which ``runs`` passed and gave no value: whether values of theirs might change it."""
    maybe = []
    for part in judge.document["components"]:
        stated = {item["name"]: item for item in part["criteria"] if item["measure"] in OF_VALUES}
        for name, came in card["components"][part["name"]]["criteria"].items():
            maybe.append(name in stated and _moves(judge, part, stated[name], came, runs))
            if came["outcome"] == "not met" and not maybe[-1]:
                return False
    if any(maybe):
        return True
    mine = {name: row for name, row in judge.rows.items() if row["basis"] == "contract"}
    moved = {name for name, row in mine.items() if _moves_row(judge, row, _asked(judge, row), runs)}
    broken = {name for name in mine if card["rows"][name]["outcome"] == "not met" and not card["rows"][name]["waived"]}
    if card["outcome"] == "accepted with restrictions":
        return broken != set() and not broken - moved
    return card["outcome"] == "accepted" and moved != set()


def _asked(judge: Judge, row: Json) -> list[Case]:
    return [case for cases in judge.people.values() for case in cases if row["name"] in case.data["rows"]]


def _measures(judge: Judge, case: Case, figure: str, runs: set[str]) -> bool:
    known = figure in ("", "elapsed") or (case.data["test"], figure) in judge.figures
    return known and not runs.isdisjoint(run.name for run in case.runs)


def _moves(judge: Judge, part: Json, item: Json, came: Json, runs: set[str]) -> bool:
    cases, _ = without(item, narrowed(judge, part, item))
    if item["measure"] == "rows met":
        return _moves_share(judge, part, item, came, cases, runs)
    new = [case for case in cases if _measures(judge, case, item["of"], runs)]
    if not new or came["outcome"] != "not met":
        return bool(new)
    ends = {("max", "<"), ("min", ">")}  # one value beyond the bound is enough, and stays
    stays = item["measure"] == "value" and (item["statistic"], item["comparison"][:1]) in ends
    if stays and "outliers" not in item["leave_out"]:
        return False
    names = {case.data["test" if item["per"] == "test" else "id"] for case in new}
    return not any(one["outcome"] == "not met" for name, one in came.get("cases", {}).items() if name not in names)


def _moves_share(judge: Judge, part: Json, item: Json, came: Json, cases: list[Case], runs: set[str]) -> bool:
    found = {"met": 0, "undecided": 0, "not met": 0}
    moved = 0
    for name, row in judge.rows.items():
        mine = [case for case in cases if name in case.data["rows"]]
        mode = not item["mode"] or row["mode"] in ("", item["mode"])
        if not mine or row["basis"] != (item["basis"] or "contract") or not mode:
            continue
        outcome = judge.row(row, mine, part["name"])["outcome"]
        if _moves_row(judge, row, mine, runs):
            moved += 1
        elif outcome != "unjudged":
            found[outcome] += 1
    if not moved or came["outcome"] != "not met" or item["per"]:
        return moved > 0
    many, most = sum(found.values()) + moved, found["met"] + found["undecided"] + moved
    return can_hold(item, found["met"] / many, most / many)


def _moves_row(judge: Judge, row: Json, cases: list[Case], runs: set[str]) -> bool:
    if not any(_measures(judge, case.of_mode(row["mode"]), row["figure"], runs) for case in cases):
        return False
    found = judge.row(row, cases)
    if found["outcome"] != "not met":
        return True
    if row["statistic"] in ("max", "min"):
        number = found["measured"]
        above = row["high"] is not None and number > row["high"]
        return inside(row, number) or row["statistic"] != ("max" if above else "min")
    return bool(row["statistic"] != "each")
