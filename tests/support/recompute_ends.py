"""What drains and cancellations ended, and what goes on in a log without some of them: ``go_on``.

Part of ``recompute_acts.py``. It shares no code with the package, on purpose, so that a mistake there is not made here again.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from recompute_anew import wants
from recompute_log import Campaign, Run, play, replay
from recompute_plans import copies
from recompute_stability import clock_pieces, is_up_at, whole_span

Json = dict[str, Any]
USUALLY = {"interrupted": 1000, "node_fail": 2, "submit_failed": 5, "lost": 1}
FINAL = ("passed", "incorrect", "performance", "build_failed", "not_run", "cancelled")
RIGHT = ("passed", "performance")


@dataclass
class GoesOn:
    """``lines``: numbers of events that the log lacks; ``again``: runs that are attempted again; ``short``: components that have
    more of their time.
    """

    lines: set[int] = field(default_factory=set)
    again: set[str] = field(default_factory=set)
    short: set[str] = field(default_factory=set)


class Log:
    """A whole log. ``owner``: event -> the act that it belongs to."""

    def __init__(self, events: list[Json], plans: dict[str, Json], owner: dict[int, int]) -> None:
        self.events, self.plans, self.owner = events, plans, owner
        self.whole = replay(events)
        self.drained = [
            line for line in events if line["event"] in ("drain_request", "cancel_request") and line["seq"] in owner
        ]
        self.early = self._times_that_had_not_passed() if self.drained else set()

    def go_on(self, gone: Collection[int], dropped: Collection[int] = ()) -> GoesOn:
        """What is otherwise without the acts ``gone``. ``dropped``: events that the log lacks without them anyway."""
        found = GoesOn()
        amended = {line["seq"] for line in self.events if line["event"] == "amended"}
        if not any(self.owner[line["seq"]] in gone for line in self.drained) and not amended & set(gone):
            found.lines = self._not_run(set(dropped), set())
            return found
        plan = mine = self.plans[self.events[0]["value"]["document"]]
        spent = dict[Any, int]()
        for place, line in enumerate(self.events):
            word, value = line["event"], line.get("value", {})
            if word in ("campaign_start", "amended"):
                plan = self.plans[value["document"]]
                mine = mine if self.owner.get(line["seq"]) in gone else plan
            if word == "verdict" and not value.get("supersedes") and line["run"] in self.whole.runs:
                key = self.whole.runs[line["run"]].result, value["verdict"]
                spent[key] = spent.get(key, 0) + 1
            began = "started" in value or "elapsed_s" in value
            if word == "verdict" and value["verdict"] == "cancelled" and self._by(place, line, gone, not began):
                found.lines.add(line["seq"])
            elif word == "given_up":
                run = self.whole.runs[line["run"]]
                held = self._held(place, line, gone, True)
                by_itself, others = bool(held) and not held[-1], {number for number in held if number} - set(gone)
                brought = bool(held) or not self._is_wanted(plan, run)  # by a drain, or because its case is out
                more = self._is_wanted(mine, run) and spent.get((run.result, run.verdict), 0) <= _more(mine, run)
                if brought and not by_itself and not others and more:
                    found.again.add(run.name)
            elif line["seq"] in self.early and self._by(place, line, gone):
                found.lines.add(line["seq"])
        for part in self.plans[self.whole.document]["components"]:
            end = {"value": {"component": part["name"]}}
            if part["duration_s"] and self._by(len(self.events), end, gone):
                span = whole_span(part, self.whole)
                ran = sum(b - a for a, b in clock_pieces(part, self.whole, span[1])) if span else 0.0
                if ran < part["duration_s"] - 1e-3:
                    found.short.add(part["name"])
        found.lines |= self._not_run(found.lines | set(dropped), found.again)
        return found

    def _is_wanted(self, plan: Json, run: Run) -> bool:
        return run.mode != "drill" and wants(plan, run, 1 + self.whole.again.get(run.component, 0))

    def _by(self, place: int, line: Json, gone: Collection[int], drains: bool = True) -> bool:
        """Something at a place of the log came to its end by acts that are all gone."""
        ends = self._ends(place, line, gone, drains)
        return bool(ends) and set(ends) <= set(gone)

    def _ends(self, place: int, line: Json, gone: Collection[int], drains: bool) -> list[int]:
        """The acts by which something came to its end, seen from there backwards: since it was taken up last, or, where nothing
        ended it since then, since the time before; [] where it was over before.
        """
        ends = self._held(place, line, gone, drains)
        return [number for number in ends if number] if ends and ends[-1] else []

    def _held(self, place: int, line: Json, gone: Collection[int], drains: bool) -> list[int]:
        """The same, the latest first, with 0 for what was over by itself."""
        component, run, case = line["value"]["component"], line.get("run", ""), line.get("case", "")
        ends: list[int] = []  # the latest first; 0: it was over by itself
        for past in reversed(self.events[:place]):
            word, said = past["event"], past.get("value", {})
            mine = said.get("component", "") == component
            if (word == "amended" or (word == "again" and mine)) and self.owner.get(past["seq"]) not in gone:
                if ends:
                    break
            elif (
                word == "drain_request" and past["seq"] in self.owner and drains and (mine or not said.get("component"))
            ):
                ends.append(self.owner[past["seq"]])
            elif word == "cancel_request" and past["seq"] in self.owner:
                if said.get("all") or (run and run in said.get("runs", ())) or (case and case in said.get("cases", ())):
                    ends.append(self.owner[past["seq"]])
            elif mine and past["seq"] not in self.early:
                over = word == "finding" and said.get("kind") == "time_is_up"
                if over or (word == "case_stopped" and past.get("case", "") in ("", case)):
                    ends.append(0)
        return ends

    def _times_that_had_not_passed(self) -> set[int]:
        campaign, found = Campaign(), set()
        last = max(line["time"] for line in self.events)
        for line in self.events:
            play(campaign, line)
            if line["event"] == "finding" and line["value"].get("kind") == "time_is_up":
                name = line["value"]["component"]
                part = next((one for one in self.plans[campaign.document]["components"] if one["name"] == name), None)
                if part is not None and part["duration_s"] and line["time"] < is_up_at(part, campaign, last) - 1e-3:
                    found.add(line["seq"])
        return found

    def _not_run(self, dropped: set[int], again: set[str]) -> set[int]:
        """Verdicts *not_run* on what needed a result that is not lost any more, and nothing that is."""
        plan, found = self.plans[self.events[0]["value"]["document"]], set[int]()
        said: dict[str, list[tuple[int, str]]] = {}
        named: dict[Any, str] = {}
        rounds: dict[str, int] = {}
        for line in self.events:
            value = line.get("value", {})
            if line["event"] in ("campaign_start", "amended"):
                plan = self.plans[value["document"]]
            if line["event"] == "again":
                rounds[value["component"]] = rounds.get(value["component"], 0) + 1
            if line["event"] != "verdict":
                continue
            name = line["run"]
            if value["verdict"] == "not_run":
                needed = [named.get(key, "") for key in _needed(plan, line, rounds)]
                was = [said.get(run, [(0, "")])[-1][1] for run in needed]
                now = []
                for run in needed:
                    left = [word for seq, word in said.get(run, []) if seq not in dropped | found]
                    now.append(left[-1] if left and (left[-1] in RIGHT or run not in again) else "")
                if now != was and set(now) <= {"", *RIGHT}:
                    found.add(line["seq"])
            judged = self.whole.runs[name]
            named[judged.component, judged.mode, judged.case, judged.result[4]] = name
            said.setdefault(name, []).append((line["seq"], value["verdict"]))
        return found


def _more(plan: Json, run: Run) -> int:
    """How often what ended like a run is attempted again."""
    part = next((one for one in plan["components"] if one["name"] == run.component), None)
    said = {one["verdict"]: one["times"] for one in part["retry"]} if part else {}
    return int((USUALLY | said).get(run.verdict, 0)) if part and run.verdict not in FINAL else 0


def _needed(plan: Json, line: Json, rounds: dict[str, int]) -> list[Any]:
    """The results that one needs: component, mode, case, repeat."""
    value, found = line["value"], []
    cases = {case["id"]: case for case in plan["cases"]}
    names = [part["name"] for part in plan["components"]]
    if line["case"] not in cases or value["component"] not in names:
        return []
    for need in cases[line["case"]]["needs"]:
        homes = [
            part
            for part in plan["components"][: names.index(value["component"]) + 1]
            if need["case"] in part["cases"] and need["case"] in cases
        ]
        if not homes:
            continue
        home, mode, most = homes[-1], value.get("mode", ""), homes[-1]["repeats"]
        if home["name"] != value["component"]:
            mode = home["modes"][0]["name"] if home["modes"] else ""
        if home["modes"]:
            most = sum(
                one["repeats"] * copies(plan, one, cases[need["case"]]) for one in home["modes"] if one["name"] == mode
            )
        most *= 1 + rounds.get(home["name"], 0)
        found.append((home["name"], mode, need["case"], min(value["repeat"], most) if most else value["repeat"]))
    return found
