"""The outcome with every act of people, without each of them and without all: ``python tests/support/recompute_acts.py CAMPAIGN``.

It reads the campaign's log and the frozen plans beside it and nothing else, needs nothing but Python, and shares no code with the
package: the acts are taken out of the list of events, and ``recompute.py`` judges what is left. It follows
docs/concepts/judging.md. It knows plans whose parties are names, and no signatures.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recompute import Judge, read_documents
from recompute_log import Campaign, play, read_log, replay
from recompute_stability import BEGINS, words

Json = dict[str, Any]
KINDS = {
    "amended": "amend", "changed": "change", "ruled": "rule", "waived": "waive", "attested": "attest", "excluded": "exclude",
    "included": "include", "capped": "cap", "budget_set": "budget", "paused": "pause", "continued": "resume",
    "drain_request": "drain", "clock": "clock", "cancel_request": "cancel", "stop_request": "stop", "rejudged": "rejudge",
    "withdrawn": "withdraw", "agreed": "agree", "again": "again",
}  # fmt: skip
ENDS = {"drain", "cancel"}
Ordered = dict[
    int, tuple[str, float, float]
]  # first order of a result -> its run, when, and when its component's time was up
NOBODY_KNOWS = {"resume", "cap", "budget", "exclude", "include", "stop"}


@dataclass
class Act:
    number: int
    kind: str
    by: str
    events: set[int] = field(default_factory=set)
    lines: list[Json] = field(default_factory=list)
    anew: bool = False  # it had a component run again that had had its time
    timed: bool = False  # it had a component run again that runs for a time: nobody knows

    @property
    def back(self) -> bool:
        return any(line["value"].get("from", line["time"]) < line["time"] - 1.0 for line in self.lines)

    @property
    def known(self) -> bool:
        return self.kind not in NOBODY_KNOWS and not self.timed and (self.kind != "pause" or self.back)


def main(arguments: list[str]) -> int:
    campaign = Path(arguments[0])
    print(json.dumps(settle(read_log(campaign / "log"), read_documents(campaign / "documents")), indent=1))
    return 0


def settle(events: list[Json], plans: dict[str, Json]) -> Json:
    """Purpose: outcome, and the outcome without each act, by its number as text."""
    return _Settled(events, plans).told()


def find_acts(events: list[Json]) -> dict[int, Act]:
    """One command is one act; the end of a pause belongs to the pause."""
    acts: dict[int, Act] = {}
    together: dict[Any, int] = {}
    paused: dict[str, int] = {}
    for line in events:
        kind, value = KINDS.get(line["event"]), line.get("value", {})
        by = value.get("by") or value.get("who") or ""
        if kind is None or (kind in ("pause", "resume", "exclude", "cap", "budget", "drain") and not by):
            continue
        line = {**line, "value": value}
        component = value.get("component", "")
        if kind == "resume" and component in paused and "case" not in line:
            acts[paused.pop(component)].events.add(line["seq"])
            continue
        key = (kind, by, value["together"]) if value.get("together") else line["seq"]
        number = together.setdefault(key, line["seq"])
        act = acts.setdefault(number, Act(number, kind, by))
        act.events.add(line["seq"])
        act.lines.append(line)
        if kind == "pause":
            paused[component] = number
    return acts


class _Settled:
    def __init__(self, events: list[Json], plans: dict[str, Json]) -> None:
        self.plans, self.acts = plans, find_acts(events)
        self.events = events
        timed = {part["name"] for plan in plans.values() for part in plan["components"] if part["duration_s"]}
        for act in self.acts.values():
            said = act.lines[0]["value"] if act.kind == "again" else {}
            act.anew = said.get("clock") == "restart"
            act.timed = said.get("component") in timed and not act.anew
        self.parties: list[Json] = next((plan["parties"] for plan in plans.values() if plan["parties"]), [])
        self.ended = replay(events).ended
        self.missing = self._agreements()
        asked = next((set(plan["consent"]) for plan in plans.values() if plan["consent"]), set())
        lacking = {n for n, act in self.acts.items() if act.kind in asked and self.missing.get(n)}
        self.void = {n for n in lacking if self.acts[n].known and self.acts[n].kind not in ENDS}
        self.ends = {n for n in lacking if self.acts[n].kind in ENDS}
        self.unagreed = {n for n in lacking if self.acts[n].kind in NOBODY_KNOWS | {"pause"} or self.acts[n].timed}
        back = [line for line in events if line["event"] == "withdrawn" and line["seq"] not in self.void]
        gone = {number for line in back for number in line["value"]["events"]}
        self.withdrawn = {act.number for act in self.acts.values() if act.events & gone}
        idle = self.void | self.withdrawn
        self.live = [act for act in self.acts.values() if act.number not in idle and act.kind != "agree"]
        self.memory: dict[frozenset[int], Json] = {}

    def told(self) -> Json:
        base = self.judged(set())
        takes = {act.number for act in self.live if self._takes_away(act, base)}
        word = _word(base["outcome"], takes)
        known = {act.number for act in self.live if act.known}
        one_sided = {number for number in known if self.missing.get(number)}
        sides = [{n for n in one_sided if self.party(self.acts[n].by) == side} for side in ("", *self.names())]
        others = [one for one in ([{n} for n in one_sided] + [one_sided] + sides) if one]
        hangs = [sorted(gone) for gone in others if self._word_without(gone, takes) != word]
        return {
            "outcome": "disputed" if (hangs or self.unagreed or self.ends & takes) and self.ended else word,
            "without": {
                str(act.number): self._word_without({act.number}, takes) if act.known else "not known"
                for act in self.live
            },
            "without_acts": self._without_all(known),
            "takes": sorted(takes),
            "missing": {str(number): sorted(names) for number, names in self.missing.items() if names},
        }

    # ---- logs without acts ---------------------------------------------------------------------------------------------

    def judged(self, numbers: set[int]) -> Json:
        """The scorecard of the log without these acts, and without those that have no effect."""
        gone = frozenset(numbers | self.void)
        if gone not in self.memory:
            self.memory[gone] = self._judge([self.acts[number] for number in gone], gone)
        return self.memory[gone]

    def _judge(self, acts: list[Act], gone: frozenset[int]) -> Json:
        lines = list(self._without(acts))
        campaign = replay(lines)
        if gone:
            leave_out_late(campaign, self._times_up(lines), self._times_up(self.events))
        early = any(act.kind in ("drain", "cancel") for act in acts)
        if early:
            campaign.ended = False
        found = Judge(self.plans[campaign.document], campaign).scorecard()
        if early and self.ended and not any(part["to_come"] for part in found["components"].values()):
            campaign.ended = True
            found = Judge(self.plans[campaign.document], campaign).scorecard()
        return found | {"plan": campaign.document}

    def _times_up(self, lines: list[Json]) -> Ordered:
        """First order of a result -> its run, when it was given, and when its component's time was up as the log stood then."""
        campaign, last, known = Campaign(), max(line["time"] for line in self.events), dict[Any, float]()
        found = {}
        for line in lines:
            play(campaign, line)
            if line["event"] != "submit_order" or line["value"].get("attempt", 1) > 1:
                continue
            name = line["value"]["component"]
            part = next((part for part in self.plans[campaign.document]["components"] if part["name"] == name), None)
            if part is not None and part["duration_s"]:
                key = name, campaign.document, len(campaign.standing)
                if key not in known:
                    known[key] = is_up_at(part, campaign, last)
                found[line["seq"]] = line["run"], line["time"], known[key]
        return found

    def _without(self, acts: list[Act]) -> Any:
        dropped = {number for act in acts for number in act.events if act.kind != "pause" or not act.back}
        moved = {number for act in acts if act.kind == "pause" and act.back for number in act.events}
        taken_back = set()
        for line in self.events:
            if line["event"] == "withdrawn" and line["seq"] not in dropped:
                taken_back |= set(line["value"]["events"])
        rejudged = [line["seq"] for line in self.events if line["event"] == "rejudged"]
        for line in self.events:
            value = line.get("value", {})
            if line["event"] == "amended" and line["seq"] in dropped and "stopped" in value:
                yield {**line, "event": "stood still"}
            if line["seq"] in dropped or line["seq"] in taken_back:
                continue
            if line["event"] == "verdict" and "rejudged" in value:
                mine = min((seq for seq in rejudged if seq > line["seq"]), default=0)
                if mine in dropped:
                    continue
            if line["event"] == "verdict" and value["verdict"] == "cancelled" and _was_cancelled(line, acts):
                continue
            if line["seq"] in moved and "from" in value:
                line = {**line, "value": {name: fact for name, fact in value.items() if name != "from"}}
            yield line

    def _without_all(self, known: set[int]) -> str:
        """Where one act is not known, nor is the whole."""
        outcome = str(self.judged(known)["outcome"])
        if len(known) == len(self.live):
            return outcome
        those = "the one" if len(known) == 1 else f"those {len(known)}"
        return f"not known ({outcome} without {those} of them that can be computed)" if known else "not known"

    def _word_without(self, gone: set[int], takes: set[int]) -> str:
        """What these acts covered may take something away again."""
        base, left = self.judged(gone), takes - gone
        if base["outcome"] == "accepted" and not left:
            rest = [act for act in self.live if act.number not in gone]
            left = {act.number for act in rest if self._takes_away(act, base, gone)}
        return _word(base["outcome"], left)

    # ---- what is taken away --------------------------------------------------------------------------------------------

    def _takes_away(self, act: Act, base: Json, gone: Collection[int] = ()) -> bool:
        first = min((line["time"] for line in self.events if line["event"] == "submit_order"), default=None)
        early = first is None or act.lines[0]["time"] < first
        nothing = NOBODY_KNOWS | {"waive", "withdraw"} | (set() if act.anew else {"again"})
        if act.kind in nothing or (early and not (act.kind == "amend" and self.parties)):
            return False
        other = self.judged({act.number, *gone})
        now = base["components"]
        for name, part in other["components"].items():
            if set(part["runs"]) - set(now.get(name, {"runs": []})["runs"]):
                return True
            if act.kind in ("drain", "cancel") and part["to_come"]:
                return True
            for criterion, item in part["criteria"].items() if act.kind in ("rule", "change", "clock") else ():
                mine = now.get(name, {}).get("criteria", {}).get(criterion)
                if mine is not None and mine["count"] < item["count"]:
                    return True
        if act.kind in ("clock", "pause", "change", "amend"):
            for name, times in other["stability"].items():
                if times["clock"][2] > base["stability"].get(name, {"clock": [0, 0, 0]})["clock"][2] + 1e-6:
                    return True
        if act.kind != "amend":
            return False
        before, after = self._step(act)
        return _asks_less(before, after) and _asks_less(before, self.plans[base["plan"]])

    def _step(self, act: Act) -> tuple[Json, Json]:
        """The plan in force before an amendment, and its own."""
        plan = ""
        for line in self.events:
            if line["seq"] == act.number:
                return self.plans[plan], self.plans[line["value"]["document"]]
            if line["event"] in ("campaign_start", "amended") and line["seq"] not in self.void:
                plan = line["value"]["document"]
        raise AssertionError

    # ---- who agreed ----------------------------------------------------------------------------------------------------

    def names(self) -> list[str]:
        return [party["name"] for party in self.parties]

    def party(self, by: str) -> str:
        return next((party["name"] for party in self.parties if by in party["people"]), "")

    def _agreements(self) -> dict[int, set[str]]:
        """Act -> the parties that have not agreed to it."""
        if not self.parties:
            return {}
        missing = {n: set(self.names()) - {self.party(act.by)} for n, act in self.acts.items() if act.kind != "agree"}
        start = next(line for line in self.events if line["event"] == "campaign_start")
        identity = _digest("", start)
        for line in self.events:
            if line["event"] == "agreed":
                for number, digest in line["value"]["acts"]:
                    act = self.acts.get(number)
                    if act is not None and number < line["seq"] and _act_digest(identity, act) == digest:
                        missing.get(number, set()).discard(self.party(line["value"]["by"]))
        return missing


def leave_out_late(campaign: Campaign, mine: Ordered, whole: Ordered) -> None:
    """Runs that nobody would have ordered, as the component's time was up: they are in no count."""
    late = set()
    for seq, (run, given, up) in mine.items():
        if given > up and up < whole[seq][2] - 1e-3:
            late.add(campaign.runs[run].result)
    if not late:
        return
    campaign.runs = {name: run for name, run in campaign.runs.items() if run.result not in late}
    for name in {result[0] for result in late}:
        (*_, up) = (up for run, _, up in mine.values() if run in campaign.runs and campaign.runs[run].component == name)
        if up <= campaign.last:
            campaign.time_up[name] = min(up, campaign.time_up.get(name, up))


def is_up_at(part: Json, campaign: Campaign, last: float) -> float:
    """When the clock of a component will have run its planned time, if nothing more is said of it."""
    told, first = words(part, campaign), campaign.first_order[part["name"]]
    full = (
        first + part["fill"]["ramp_s"]
        if part["clock"]["start"] == "first order" and not part["clock"]["ramp"]
        else first
    )
    begun = max((at for at, act in told if act in BEGINS), default=None)
    if begun is None:
        return float("inf")
    left = float(part["duration_s"])
    moments = sorted({at for at, _ in told if begun <= at <= last} | {max(begun, full)})
    for begin, end in zip(moments, [*moments[1:], None], strict=True):
        act = [act for at, act in told if at <= begin][-1]
        if act == "stop" or begin < full:
            continue
        if end is None or end - begin >= left:
            return begin + left
        left -= end - begin
    return float("inf")


def _digest(identity: str, line: Json) -> str:
    said = [identity, line["event"], line["seq"], line["time"], line.get("case", ""), line.get("run", "")]
    said += [line.get("value", {}), line.get("reason", "")]
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def _act_digest(identity: str, act: Act) -> str:
    digests = [_digest(identity, line) for line in act.lines]
    return digests[0] if len(digests) == 1 else hashlib.sha256(" ".join(digests).encode()).hexdigest()


def _was_cancelled(line: Json, acts: list[Act]) -> bool:
    for act in acts:
        for asked in act.lines if act.kind == "cancel" and line["seq"] > act.number else ():
            value = asked["value"]
            if value.get("all") or line["run"] in value.get("runs", ()) or line["case"] in value.get("cases", ()):
                return True
    return False


def _word(outcome: str, takes: set[int]) -> str:
    return "accepted with restrictions" if outcome == "accepted" and takes else outcome


def _asks_less(old: Json, new: Json) -> bool:
    """Whether a plan asks for less than the one before it: parts, cases, repeats, time, criteria, their bounds."""
    parts = {part["name"]: part for part in new["components"]}
    for part in old["components"]:
        now = parts.get(part["name"])
        if now is None or now["duration_s"] < part["duration_s"] or now["repeats"] < part["repeats"]:
            return True
        if set(part["cases"]) - set(now["cases"]) or len(part["procedures"]) > len(now["procedures"]):
            return True
        items = {item["name"]: item for item in now["criteria"]}
        for item in part["criteria"]:
            mine = items.get(item["name"])
            if mine is None or mine["enough"] > item["enough"]:
                return True
            easier = mine["bound"] < item["bound"] if item["comparison"][0] == ">" else mine["bound"] > item["bound"]
            if easier or mine["comparison"] != item["comparison"]:
                return True
            if any(mine[key] != item[key] for key in ("measure", "of", "test", "statistic", "leave_out", "epochs")):
                return True
        if _runs_otherwise(part, now):
            return True
    return _cases_are_easier(old, new)


def _runs_otherwise(part: Json, now: Json) -> bool:
    """More attempts, an open gate, another clock, smaller shares, fewer rounds, less evidence."""
    times = {retry["verdict"]: retry["times"] for retry in part["retry"]}
    evidence = {item["name"]: item["evidence"] for item in now["procedures"]}
    shares = dict(map(tuple, now["mix"]))
    return (
        any(retry["times"] > times.get(retry["verdict"], 0) for retry in now["retry"])
        or (part["gate"] == "met" and now["gate"] != "met")
        or bool(set(part["after"]) - set(now["after"]))
        or part["clock"] != now["clock"]
        or any(shares.get(test, 0.0) < share - 1e-9 for test, share in part["mix"])
        or any(evidence.get(item["name"], 0) < item["evidence"] for item in part["procedures"])
        or bool(part["sweep"] and (not now["sweep"] or now["sweep"]["rounds"] < part["sweep"]["rounds"]))
    )


def _cases_are_easier(old: Json, new: Json) -> bool:
    """Cases of the same name with an expected verdict, a longer time limit, another program or size, checks gone; fewer nodes."""
    after = {case["id"]: case for case in new["cases"]}
    tests = [{test["name"]: test for test in plan["tests"]} for plan in (old, new)]
    for case in old["cases"]:
        now = after.get(case["id"])
        if now is None:
            continue
        if now["expect"] not in ("", case["expect"]) or now["shape"]["time_limit_s"] > case["shape"]["time_limit_s"]:
            return True
        same = ("script", "build", "environment", "files", "partition")
        size = ("nodes", "tasks_per_node", "cpus_per_task", "units")
        if any(now[key] != case[key] for key in same) or any(now["shape"][key] != case["shape"][key] for key in size):
            return True
        its = [each.get(case["test"], {"checks": [], "figures": []}) for each in tests]
        if any(one not in its[1][key] for key in ("checks", "figures") for one in its[0][key]):
            return True
    used, counts = (
        {case["partition"] for case in old["cases"]},
        [
            {
                f"{cluster['name']}:{part['name']}": part["count"]
                for cluster in plan["system"]["clusters"]
                for part in cluster["partitions"]
            }
            for plan in (old, new)
        ],
    )
    return any(place in used and counts[1].get(place, 0) < count for place, count in counts[0].items())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
