"""The outcome with every act of people, without each of them and without all: ``python tests/support/recompute_acts.py CAMPAIGN``.

It reads the campaign's log and the frozen plans beside it and nothing else, needs nothing but Python, and shares no code with the
package: the acts are taken out of the list of events, and ``recompute.py`` judges what is left. It follows
docs/concepts/judging.md. It knows plans whose parties are names, and no signatures.
"""

from __future__ import annotations

import copy
import hashlib
import json
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from recompute import Judge, read_documents
from recompute_beyond import come_to, hold_to
from recompute_ends import Log
from recompute_log import Campaign, Run, play, read_log, replay
from recompute_parties import Sides
from recompute_plans import asks_less, eases, easier, harder_for, is_harder, known_without, steers
from recompute_quiet import came_nothing, is_idle
from recompute_stability import is_up_at
from recompute_taken_back import otherwise, says_anew
from recompute_timed import otherwise as timed_otherwise
from recompute_unmeasured import hangs

Json = dict[str, Any]
KINDS = {
    "amended": "amend", "changed": "change", "ruled": "rule", "waived": "waive", "attested": "attest", "excluded": "exclude",
    "included": "include", "capped": "cap", "budget_set": "budget", "paused": "pause", "continued": "resume",
    "drain_request": "drain", "clock": "clock", "cancel_request": "cancel", "stop_request": "stop", "rejudged": "rejudge",
    "withdrawn": "withdraw", "agreed": "agree", "again": "again", "drilled": "drill",
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
    idle: bool = False  # nothing hung on it
    timed: bool = False  # it had a component run again that runs for a time: nobody knows
    restarts: set[str] = field(default_factory=set)  # components whose clock began at nothing when a pause of it ended

    @property
    def back(self) -> bool:
        return bool(self.restarts) or any(
            line["value"].get("from", line["time"]) < _said(line) - 1.0 for line in self.lines
        )

    @property
    def known(self) -> bool:
        return (self.kind not in NOBODY_KNOWS or self.idle) and not self.timed and (self.kind != "pause" or self.back)


def main(arguments: list[str]) -> int:
    campaign = Path(arguments[0])
    print(json.dumps(settle(read_log(campaign / "log"), read_documents(campaign / "documents")), indent=1))
    return 0


def settle(events: list[Json], plans: dict[str, Json]) -> Json:
    """Purpose: outcome, and the outcome without each act, by its number as text."""
    found = _Settled(events, plans)
    if found.closed and not found.opened(found.closed):  # what both sealed is judged, and nothing else
        return _Settled(list(_up_to(found.closed, events)), plans).told()
    return found.told()


def _up_to(seal: int, events: list[Json]) -> Iterator[Json]:
    """The events up to a seal, the agreements after it, and the end that follows where the campaign was not over yet."""
    kept = [line for line in events if line["seq"] <= seal]
    ends = [] if replay(kept).ended else [line["seq"] for line in events if line["event"] == "campaign_end"]
    last = min((seq for seq in ends if seq > seal), default=0)
    yield from kept
    yield from (line for line in events if line["seq"] > seal and (line["event"] == "agreed" or line["seq"] == last))


def with_files_where_they_were(plans: dict[str, Json], events: list[Json]) -> dict[str, Json]:
    """Plans in which an input that only lies elsewhere, by the word of an amendment, is the input that it was."""
    first: dict[str, str] = {}
    for line in events:
        for new, was in line["value"].get("moved", ()) if line["event"] == "amended" else ():
            first.setdefault(new, first.get(was, was))
    return {
        name: plan
        | {
            "cases": [
                case | {"files": [[word, first.get(path, path)] for word, path in case["files"]]}
                for case in plan["cases"]
            ]
        }
        for name, plan in plans.items()
    }


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
        self.plans, self.acts = with_files_where_they_were(plans, events), find_acts(events)
        self.events, self.whole = events, as_it_ended(replay(events), events, self.plans)
        self.log = Log(events, self.plans, {event: act.number for act in self.acts.values() for event in act.events})
        timed = {part["name"] for plan in plans.values() for part in plan["components"] if part["duration_s"]}
        for act in self.acts.values():
            said = act.lines[0]["value"] if act.kind == "again" else {}
            act.anew = said.get("clock") == "restart"
            act.timed = said.get("component") in timed and not act.anew
            act.restarts = self._restarted(act) if act.kind == "pause" else set()
        runs = [run.charged if run.charged is not None else run.started for run in self.whole.runs.values()]
        for act in self.acts.values():
            act.idle = is_idle(act, list(self.acts.values()), events, [at for at in runs if at is not None])
        self.began = [at for at in runs if at is not None]
        start = next(line for line in events if line["event"] == "campaign_start")
        self.digests = {number: _act_digest(_digest("", start), act) for number, act in self.acts.items()}
        self.sides = Sides(events, plans, self.digests)
        self.ended = self.whole.ended
        self.stood_by: dict[int, list[tuple[int, str]]] = {}  # act -> event of an agreement, and the side that agreed
        self.joint: list[int] = []  # the seals of an outcome to which every side agreed
        self.closed = 0  # the one of them up to which it is judged
        self.missing = self._agreements()
        late = {n for n in self.acts if self.joint and self.joint[0] < n}
        lacking = {
            n for n, act in self.acts.items() if (act.kind in self.sides.asks(n) or n in late) and self.missing.get(n)
        }
        late &= lacking
        self.void = {n for n in lacking if self.acts[n].known and self.acts[n].kind not in ENDS}
        self.ends = {n for n in lacking - late if self.acts[n].kind in ENDS}
        self.unagreed = {
            n
            for n in lacking - late
            if (self.acts[n].kind in NOBODY_KNOWS | {"pause"} and not self.acts[n].idle) or self.acts[n].timed
        }
        self.steering = {n for n, act in self.acts.items() if act.kind == "amend" and self._steers(act)}
        self.relied = {n for n, act in self.acts.items() if act.kind == "amend" and self._came_by(act)}
        self.driven = self.void & (self.steering | self.relied) - late
        self.unagreed |= self.driven
        self.hard = {n: self._came_hard(act) for n, act in self.acts.items() if act.kind == "amend"}
        back = [line for line in events if line["event"] == "withdrawn" and line["seq"] not in self.void]
        gone = {number for line in back for number in line["value"]["events"]}
        self.withdrawn = {act.number for act in self.acts.values() if act.events <= gone}
        self.took_back = {
            line["seq"]: {n for n in self.withdrawn if self.acts[n].events & set(line["value"]["events"])}
            for line in back
        }
        idle = self.void | self.withdrawn
        self.live = [act for act in self.acts.values() if act.number not in idle and act.kind != "agree"]
        self.memory: dict[frozenset[int], Json] = {}
        self.changed: dict[int, set[Any]] = {}
        self.groups: list[set[int]] = []  # acts that take something away only together
        if self.judged(set())["outcome"] != self._at_best(set(), self.void):
            self.driven |= {n for n in self.void - late if self.hard.get(n)}
            self.unagreed |= self.driven

    def told(self) -> Json:
        base = self.judged(set())
        takes = {act.number for act in self.live if self._takes_away(act, base)}
        takes |= self._taken_by_several(takes)
        takes |= self._turned_by(takes)
        word = _word(base["outcome"], takes)
        known = {act.number for act in self.live if act.known and self._is_sure({act.number}, word, takes)}
        one_sided = {number for number in known if self.missing.get(number)}
        alone = one_sided | {n for n in self.withdrawn if self.missing.get(n)}
        sides = [{n for n in alone if self.side(n) == side} for side in ("", *self.sides.names)]
        alike = [{n for n in alone if n == m or self._may_cover(n, m)} for m in alone]
        each = [{n} for n in one_sided]
        others = [one.union(*map(self._only_its_own, one & one_sided)) for one in (*each, *alike, alone, *sides) if one]
        hangs = [
            gone for gone in others if self._word_without(gone, takes) != word and self._is_sure(gone, word, takes)
        ]
        hangs += [gone for gone in self._in_their_place(known, one_sided)
                  if self._word_without(gone, takes) != word and self._is_sure(gone, word, takes)]  # fmt: skip
        if not self.ended:  # what goes on is incomplete whatever anybody does
            hangs = [gone for gone in hangs if self._word_without(gone, takes) != "incomplete"]
        without = {
            str(act.number): self._word_without({act.number}, takes) if act.number in known else "not known"
            for act in self.live
        }
        for number in self.steering - self.void:
            if without.get(str(number)) == word or self._flatters(without.get(str(number), ""), word):
                without[str(number)] = "not known"
        known = {int(number) for number, said in without.items() if said != "not known"}
        return {
            "outcome": "disputed" if hangs or ((self.unagreed or self.ends & takes) and self.ended) else word,
            "without": without,
            "without_acts": self._without_all(known, takes, word),
            "takes": sorted(takes),
            "missing": {str(number): sorted(names) for number, names in self.missing.items() if names},
        }

    def _only_its_own(self, number: int) -> set[int]:
        """What an act took back, or said otherwise, that only the side that did so had stood by until then."""
        act, side = self.acts[number], self.side(number)
        mine = {n for n in self.acts if side and n not in self.void and self.side(n) == side}
        back = {n for n in mine if n < number and self._says_anew(act, self.acts[n])}
        back |= mine & set(self.took_back.get(number, ()))
        return {n for n in back if not any(other != side and at < number for at, other in self.stood_by.get(n, ()))}

    def _says_anew(self, act: Act, one: Act) -> bool:
        amend = act.kind == one.kind == "amend"
        differ = (self._otherwise(act), self._otherwise(one)) if amend else (set[Any](), set[Any]())
        return says_anew(act.kind, act.lines, one.kind, one.lines, differ)

    def _otherwise(self, act: Act) -> set[Any]:
        """The places of the plan that an amendment changed; worked out once."""
        if act.number not in self.changed:
            self.changed[act.number] = otherwise(self._step(act))
        return self.changed[act.number]

    def _in_their_place(self, known: set[int], one_sided: set[int]) -> Iterator[set[int]]:
        """What one side alone has count of a case, with what both agreed to and by which other runs of that case do not."""
        clocks = {"clock", "pause", "change", "amend"}
        of = {run.name: (run.component, run.case) for run in self.whole.judged}
        for number in one_sided if self.sides.names else ():
            if self.acts[number].kind not in clocks:
                continue
            agreed = {n for n in known if not self.missing.get(n) and self.acts[n].kind in clocks}
            now, without, before = (self._counted(gone) for gone in (set(), {number}, {number, *agreed}))
            if agreed and {of[run] for run in now - without} & {of[run] for run in before - now}:
                yield {number, *agreed}

    def _counted(self, gone: set[int]) -> set[str]:
        return {run for part in self.judged(gone)["components"].values() for run in part["runs"]}

    def _flatters(self, said: str, word: str) -> bool:
        """A better word than the campaign has."""
        order = ("rejected", "incomplete", "accepted with restrictions", "accepted")
        return said in order and word in order and order.index(said) > order.index(word)

    def _is_sure(self, gone: set[int], word: str, takes: set[int]) -> bool:
        """What came by an easier plan flatters: without that plan only a worse outcome is known. What came by a harder one
        might have passed without it: only what comes out the same then is known.
        """
        if gone & self.steering and self._flatters(self._word_without(set(gone), takes), word):
            return False
        ranks = {"rejected": 0, "incomplete": 1}
        if self.judged(gone)["outcome"] != self._at_best(gone, gone):
            return False
        return not gone & self.relied or ranks.get(self._word_without(gone, takes), 2) < ranks.get(word, 2)

    # ---- logs without acts ---------------------------------------------------------------------------------------------

    def judged(self, numbers: set[int]) -> Json:
        """The scorecard of the log without these acts, and without those that have no effect."""
        gone = frozenset(numbers | self.void)
        if gone not in self.memory:
            self.memory[gone] = self._judge([self.acts[number] for number in gone], gone)
        return self.memory[gone]

    def _at_best(self, gone: set[int], hard: Collection[int]) -> str:
        """The outcome without some acts where all that came by a harder plan passed; what these measured nobody knows, nor whether
        they, or what would have followed them, would have failed or been wrong.
        """
        first, *others = self._if_they_came_to(gone, hard)
        return first if {first} >= {*others} else "not known"

    def _if_they_came_to(self, gone: Collection[int], hard: Collection[int]) -> list[str]:
        """The outcome where they passed; then, once it is over, where they came to something else."""
        ways: dict[str, str] = {}
        for number in hard:
            for name, way in self.hard.get(number, {}).items():
                ways[name] = min(way, ways.get(name, way), key=["open", "passed", "again"].index)
        if not ways:
            return [str(self.judged({*gone})["outcome"])]
        every = frozenset({*gone, *self.void})
        acts = [self.acts[number] for number in every]
        found = [str(self._judge(acts, every, ways, "passed")["outcome"])]
        if self.ended and found != ["not known"]:
            found += [str(self._judge(acts, every, ways, word)["outcome"]) for word in ("incorrect", "failed")]
        return found

    def _is_harder_than_agreed(self, act: Act, gone: Collection[int]) -> bool:
        """Some of the runs that came by its harder plan came by a harder one than all parties stood by, too."""
        names = self.hard.get(act.number, {})
        runs = [run for run in self.whole.judged if run.name in names]
        return any(harder_for(self._stood_by(act, gone), self._step(act, gone)[1], run) for run in runs)

    def _might_be_worse(self, number: int, gone: Collection[int]) -> bool:
        """What nobody measured, or the worst that it may have come to, speaks for the campaign as it is."""
        words, order = self._if_they_came_to({*gone, number}, {number}), ["rejected", "incomplete", "not judged"]
        now = str(self.judged({*gone, number})["outcome"])
        order += ["accepted with restrictions", "accepted"]
        return words == ["not known"] or min(map(order.index, words)) < order.index(now)

    def _judge(self, acts: list[Act], gone: frozenset[int], ways: dict[str, str] | None = None, word: str = "") -> Json:
        lines = list(self._without(acts))
        campaign, goes_on = replay(lines), self.log.go_on(gone)
        campaign.cut_short = goes_on.short
        for run in campaign.judged:
            run.retried |= run.name in goes_on.again
        if gone:
            leave_out_late(campaign, self._times_up(lines), self._times_up(self.events))
            hold_to(campaign, lines, self.events, self.plans)
        campaign = as_it_ended(campaign, lines, self.plans)
        unmeasured = come_to(campaign, ways or {}, word, lines, self.plans)
        early = any(act.kind in ("drain", "cancel") for act in acts) or bool(goes_on.again)
        if early:
            campaign.ended = False
        judge = Judge(self.plans[campaign.document], campaign, self.plans)
        found = judge.outcome()
        judged = [item["outcome"] for part in found["components"].values() for item in part["criteria"].values()]
        if early and self.ended and "not met" in judged:
            found["outcome"] = "rejected"  # whatever is still to come
        elif early and self.ended and not any(part["to_come"] for part in found["components"].values()):
            campaign.ended = True
            judge = Judge(self.plans[campaign.document], campaign, self.plans)
            found = judge.outcome()
        if unmeasured and self.ended and word == "passed" and hangs(judge, found, unmeasured):
            found["outcome"] = "not known"
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
        rejudged = [line["seq"] for line in self.events if line["event"] == "rejudged"]
        replaced = {line["seq"]: min((seq for seq in rejudged if seq > line["seq"]), default=0)
                    for line in self.events if line["event"] == "verdict" and "rejudged" in line["value"]}  # fmt: skip
        replaced = {seq: act for seq, act in replaced.items() if act in dropped}
        dropped |= replaced.keys() | self.log.go_on({act.number for act in acts}, replaced.keys()).lines
        moved = {number for act in acts if act.kind == "pause" and act.back for number in act.events}
        taken_back = set()
        for line in self.events:
            if line["event"] == "withdrawn" and line["seq"] not in dropped:
                taken_back |= set(line["value"]["events"])
        for line in self.events:
            value = line.get("value", {})
            if line["event"] == "amended" and line["seq"] in dropped and "stopped" in value:
                yield {**line, "event": "stood still"}
            if line["seq"] in dropped or line["seq"] in taken_back:
                continue
            if line["seq"] in moved and "from" in value:
                line = {**line, "value": value | {"from": _said(line)}}
            if (
                line["seq"] in moved
                and line["event"] == "paused"
                and any(value["component"] in act.restarts for act in acts)
            ):
                line = {**line, "value": line["value"] | {"clock": "stops"}}
            yield line

    def _without_all(self, known: set[int], takes: set[int], word: str) -> str:
        """Where one act is not known, nor is the whole, unless amendments put back what others did; an act without effect by which
        results came is not known either.
        """
        if self.driven:
            return "not known"
        outcome = str(self.judged(known | self.withdrawn)["outcome"])
        if len(known) == len(self.live):
            return outcome
        every = {act.number for act in self.live} | self.withdrawn
        left = every - known - self.withdrawn
        by_plans = all((n in self.relied or self.hard.get(n)) and n not in self.steering for n in left)
        if by_plans and self._is_sure(every, word, takes):
            return str(self.judged(every)["outcome"])
        outcome = self._word_without(known | self.withdrawn, takes)
        those = "the one" if len(known) == 1 else f"those {len(known)}"
        return f"not known ({outcome} without {those} of them that can be computed)" if known else "not known"

    def _word_without(self, gone: set[int], takes: set[int]) -> str:
        """What these acts covered may take something away again, or nothing any more; what they withdrew was said then."""
        base = self.judged(gone)
        if base["outcome"] != "accepted":
            return str(base["outcome"])
        again = {n for number in gone for n in self.took_back.get(number, ())} - gone
        said = {act.number for act in self.live if act.number not in gone}
        near = {number for number in said if any(self._may_cover(n, number) for n in gone)} | again
        left = takes - gone - near
        acts = [self.acts[number] for number in sorted(said | again)]
        left |= {act.number for act in acts if not left and self._takes_away(act, base, gone)}
        left |= {n for n in near if self._can_turn(self.acts[n]) and self._turns({n}, gone)}
        several = {act.number for act in acts if self._can_take(act) and act.known}
        left |= several if not left and len(several) > 1 and self._loses(several, gone) else set()
        for group in self.groups:
            rest = group - gone
            if rest and group & (gone | near) and (self._loses(rest, gone) or self._turns(rest, gone)):
                left |= rest
        return _word(base["outcome"], left)

    # ---- what is taken away --------------------------------------------------------------------------------------------

    def _can_take(self, act: Act) -> bool:
        return act.kind not in NOBODY_KNOWS | {"waive", "withdraw"} | (set() if act.anew else {"again"})

    def _taken_by_several(self, takes: set[int]) -> set[int]:
        """What none of some acts takes away alone they may take together: the first of as few of them as do."""
        idle = [act.number for act in self.live if act.known and act.number not in takes and self._can_take(act)]
        beside = {"rule", "attest", "clock", "pause", "drill"}  # words beside the record are asked first
        found: set[int] = set()
        light = [n for n in idle if self.acts[n].kind in beside]
        for some in (light, *self._from_each_on(light)):
            takes = self._grouped(some, found, takes)
        rest = [n for n in idle if n not in found]
        if set(idle) - set(light):
            parts = [some for some in self._from_each_on(rest) if any(self.acts[n].kind not in beside for n in some)]
            for some in (rest, *[list(part) for part in dict.fromkeys(map(tuple, parts))][:64]):
                takes = self._grouped(some, found, takes)
        told = {n for n in takes if self.acts[n].known} | found
        left = [
            n for n in idle if n not in found and self.acts[n].kind not in ENDS
        ]  # ends are weighed together as it is
        while left and told and self._loses_beside(set(left), told):  # beside acts that take something else
            group = self._least(left, told, self._loses_beside)
            others = sorted(told)
            step = len(others) // 2
            while step >= max(1, len(told) // 64):
                for end in range(len(others), 0, -step):
                    fewer = others[: max(0, end - step)] + others[end:]
                    others = fewer if fewer and self._loses_beside(group, fewer) else others
                step //= 2
            self.groups.append({*group, *others})
            takes = takes | {min(group)}
            left = [n for n in left if n not in group]
        return takes

    def _grouped(self, some: list[int], found: set[int], takes: set[int]) -> set[int]:
        """What some acts take together that none takes alone; those that do so are in ``found`` then."""
        left = [n for n in some if n not in found]
        while len(left) > 1 and self._loses(set(left)):
            group = self._least(left, set(), self._loses)
            found |= group
            self.groups.append(group)
            takes = takes | {min(group)}
            left = [n for n in left if n not in group]
        return takes

    def _least(self, numbers: list[int], gone: set[int], loses: Any) -> set[int]:
        """Half of them, a quarter, ... is not needed: the last ones are asked first."""
        group, step = list(numbers), len(numbers) // 2
        while step:
            for end in range(len(group), 0, -step):
                fewer = group[: max(0, end - step)] + group[end:]
                group = fewer if fewer and loses(set(fewer), gone) else group
            step //= 2
        return set(group)

    def _from_each_on(self, numbers: list[int]) -> Iterator[list[int]]:
        """Without all of them less may count than without the later ones. Each with the later ones that say something of the same,
        then with all later ones; of rulings in a row, on runs that nobody ruled before, only the first is asked so.
        """
        clocks = dict.fromkeys(("pause", "change", "amend"), "clock")
        said = [clocks.get(self.acts[n].kind, self.acts[n].kind) for n in numbers]
        of = [{line["run"] for line in self.acts[n].lines} if self.acts[n].kind == "rule" else {kind}
              for n, kind in zip(numbers, said, strict=True)]  # fmt: skip
        for at, number in enumerate(numbers):
            later = [n for n, things in zip(numbers[at:], of[at:], strict=True) if things & of[at]]
            if len(later) > 1:
                yield later
            if not at or said[at] != said[at - 1] or any(of[at] & earlier for earlier in of[:at]):
                yield numbers[numbers.index(number) :]

    def _may_cover(self, one: int, two: int) -> bool:
        """Words on the same runs, on clocks and plans, ends, and acts of one kind; a withdrawal is one on what it took back."""
        said = [sorted(self.took_back.get(number, ())) or [number] for number in (one, two)]
        kinds = {self._family(numbers[0]) for numbers in said}
        runs = [
            {line["run"] for n in numbers for line in self.acts[n].lines if self.acts[n].kind == "rule"}
            for numbers in said
        ]
        return len(kinds) == 1 and (not all(runs) or bool(runs[0] & runs[1]))

    def _loses(self, numbers: Collection[int], gone: Collection[int] = ()) -> bool:
        """Whether something counts without these acts that does not with them."""
        base, other = self.judged(set(gone)), self.judged({*numbers, *gone})
        kinds = {self.acts[number].kind for number in numbers}
        held = all(self.acts[n].kind == "pause" and not self.acts[n].known for n in numbers)
        return self._is_less(kinds, other, base, base, bool(gone), held)

    def _loses_beside(self, numbers: Collection[int], gone: Collection[int]) -> bool:
        """The same beside other acts: and it does not count as it is either. Each kind of act is asked by itself."""
        base, now, other = self.judged(set(gone)), self.judged(set()), self.judged({*numbers, *gone})
        kinds = {self.acts[number].kind for number in numbers}
        return any(
            self._is_less({kind}, other, base, now, True, False)
            and self._is_less({kind}, other, now, base, False, False)
            for kind in kinds
        )

    def _is_less(self, kinds: set[str], other: Json, base: Json, too: Json, beside: bool, held: bool) -> bool:
        """Whether less counts in ``base`` than in ``other``; runs that count in ``too`` are not lost."""
        now = base["components"]
        for name, part in other["components"].items():
            there = {run for one in (base, too) for run in _runs_of(one["components"].get(name))}
            if _runs_of(part) - there:
                return True
            if kinds & ENDS and part["to_come"] > (now[name]["to_come"] if beside and name in now else 0):
                return True
            for criterion, item in part["criteria"].items() if kinds & {"rule", "change", "clock", "drill"} else ():
                mine = now.get(name, {}).get("criteria", {}).get(criterion)
                if mine is not None and (mine["count"] < item["count"] or mine["left_out"] > item["left_out"]):
                    return True
                its, was = (mine["measured"] if mine else None), item["measured"]
                if criterion.endswith(": hole") and its is not None and was is not None and its < was - 1e-6:
                    return True
        if held or not kinds & {"clock", "pause", "change", "amend"}:
            return False  # a pause from when it was said on takes nothing of the clock
        return any(_time_lost(mine, base["stability"].get(name)) > 1e-6 for name, mine in other["stability"].items())

    def _takes_away(self, act: Act, base: Json, gone: Collection[int] = ()) -> bool:
        if not self._can_take(act):
            return False
        if self._loses({act.number}, gone):
            return True
        if self._is_harder_than_agreed(act, gone) and self._might_be_worse(act.number, gone):
            return True
        if act.kind == "rejudge" and self._replaces_values(act, base):
            return True
        if act.kind != "amend":
            return False
        before, after = self._step(act, gone)
        now, agreed = self.plans[base["plan"]], self._stood_by(act, gone)
        if asks_less(before, now) and asks_less(agreed, now):
            return bool(asks_less(before, after) and asks_less(agreed, after) - asks_less(agreed, before))
        if not any(eases(before, after)) or not self._is_relied_on(act, gone):
            return False
        return bool(easier(agreed, after) - easier(agreed, before))

    def _replaces_values(self, act: Act, base: Json) -> bool:
        """A run that counts had values, and has none since it was judged again by this act."""
        counted = {run for part in base["components"].values() for run in part["runs"]}
        since = max(
            (line["seq"] for line in self.events if line["event"] == "rejudged" and line["seq"] < act.number), default=0
        )
        last: dict[str, str] = {}
        for line in self.events:
            if line["event"] == "verdict":
                now, was = line["value"]["verdict"], last.get(line["run"], "")
                again = "rejudged" in line["value"] and since < line["seq"] < act.number
                if (
                    again
                    and line["run"] in counted
                    and was in ("passed", "performance")
                    and now not in ("passed", "performance")
                ):
                    return True
                last[line["run"]] = now
        return False

    # ---- what is met with an act and not met without it ------------------------------------------------------------------

    def _can_turn(self, act: Act) -> bool:
        return act.known and act.kind not in ("waive", "again", "attest", "drill")

    def _family(self, number: int) -> str:
        families = {"rejudge": "rule", "cancel": "drain"} | dict.fromkeys(("pause", "change", "amend"), "clock")
        kind = self.acts[min(self.took_back.get(number) or {number})].kind
        return families.get(kind, kind)

    def _turned_by(self, takes: set[int]) -> set[int]:
        """Acts that take nothing else away, and by which something that would not be met is: alone, or the first of several."""
        idle = [act.number for act in self.live if act.number not in takes and self._can_turn(act)]
        found = {number for number in idle if self._turns({number})}
        left = [number for number in idle if number not in found]
        while len(left) > 1 and self._turns(set(left)):
            group, step = list(left), len(left) // 2
            while step:
                for end in range(len(group), 0, -step):
                    fewer = group[: max(0, end - step)] + group[end:]
                    group = fewer if fewer and self._turns(set(fewer)) else group
                step //= 2
            found.add(min(group))
            self.groups.append(set(group))
            left = [number for number in left if number not in group]
        return found

    def _turns(self, numbers: set[int], gone: Collection[int] = ()) -> bool:
        """Something is met with these acts, and not met without them, nor without what one party alone did before them."""
        kinds = {self._family(n) for n in numbers}
        again = [self.acts[n] for number in numbers for n in self.took_back.get(number, ())]
        said = [*(act for act in self.live if act.known), *again]
        alone = {act.number for act in said if self.missing.get(act.number) and act.number < max(numbers)}
        alone = {number for number in alone if self._family(number) in kinds}
        met = _met(self.judged(set(gone)))
        return any(
            all(key in _not_met(self.judged(set(gone) | numbers | beside)) for beside in (set(), alone)) for key in met
        )

    def _stood_by(self, act: Act, gone: Collection[int] = ()) -> Json:
        """The last plan before an amendment that every party agreed to: what one alone asked for is nobody's to lose."""
        plan = ""
        for line in self.events:
            if line["seq"] == act.number:
                break
            begins = line["event"] == "campaign_start"
            amends = line["event"] == "amended" and line["seq"] not in self.void and not self.missing.get(line["seq"])
            amends = amends and line["seq"] not in gone
            if begins or amends:
                plan = line["value"]["document"]
        return self.plans[plan]

    def _step(self, act: Act, gone: Collection[int] = ()) -> tuple[Json, Json]:
        """The plan in force before an amendment, and its own. ``gone``: acts that are left out of account."""
        plan = ""
        for line in self.events:
            if line["seq"] == act.number:
                return self.plans[plan], self.plans[line["value"]["document"]]
            if line["event"] in ("campaign_start", "amended") and line["seq"] not in {*self.void, *gone}:
                plan = line["value"]["document"]
        raise AssertionError

    # ---- what came about by an amendment ---------------------------------------------------------------------------------

    def _steers(self, act: Act) -> bool:
        amends = [one for one in self.acts.values() if one.kind == "amend"]
        for one, back in pairwise(amends):
            step = self._step(one)[0], self._step(back)[1]
            if act in (one, back) and came_nothing(one, back, self.events, self.began) and not self._is_other(step):
                return False
        last = max((line["seq"] for line in self.events if line["event"] in ("submit_order", "requeued")), default=0)
        timed = timed_otherwise(*self._step(act))
        other = [line["seq"] for line in self.events
                 if line["event"] in ("submit_order", "requeued") and line["value"].get("component") in timed
                 and line["value"].get("mode") != "clean-up"]  # fmt: skip
        if max(other, default=0) > act.number:
            return True
        return (act.number < last and steers(*self._step(act))) or self._holds_back(act)

    def _is_other(self, step: tuple[Json, Json]) -> bool:
        """Other runs, or runs at other times, come about by one plan than by another."""
        parts = {part["name"]: part for part in step[1]["components"]}
        pairs = [(old, parts[old["name"]]) for old in step[0]["components"] if old["name"] in parts]
        waits = any(
            set(new["after"]) - set(old["after"]) or (old["gate"] == "over" and new["gate"] == "met")
            for old, new in pairs
        )
        return waits or bool(steers(*step)) or bool(timed_otherwise(*step))

    def _holds_back(self, act: Act) -> bool:
        """A component waits for more by its plan, and not all of it had come when that was said."""
        before, after = self._step(act)
        parts = {part["name"]: part for part in after["components"]}
        for old in before["components"]:
            new = parts.get(old["name"])
            if new is None:
                continue
            if not set(new["after"]) - set(old["after"]) and not (old["gate"] == "over" and new["gate"] == "met"):
                continue
            told = [line for line in self.events if line.get("value", {}).get("component") == old["name"]]
            if any(
                line["seq"] > act.number for line in told if line["event"] in ("submit_order", "requeued", "verdict")
            ):
                return True
            if old["duration_s"] and not any(line["event"] == "finding" and line["seq"] < act.number for line in told):
                return True
            results = {run.result for run in self.whole.runs.values() if run.component == old["name"]}
            if not old["duration_s"] and len(results) < old["repeats"] * len(old["cases"]):
                return True
        return False

    def _came_by(self, act: Act) -> bool:
        """Results came by an easier plan, and nobody can tell what they would be without it."""
        step = self._step(act)
        return any(eases(*step)) and not known_without(*step) and self._is_relied_on(act)

    def _is_relied_on(self, act: Act, gone: Collection[int] = ()) -> bool:
        """A verdict that counts was given, or its run let start, before another amendment asked for all of it again."""
        before, after = self._step(act, gone)
        parts, cases, _ = eases(before, after)
        runs = self._between(act, lambda plan: any(eases(before, plan)))
        return any(run.component in parts or run.case in cases for run in runs)

    def _came_hard(self, act: Act) -> dict[str, str]:
        """The runs whose verdicts came by a harder plan, and might be others without it, and how."""
        before, after = self._step(act)
        runs = self._between(act, lambda plan: is_harder(before, plan))
        return {run.name: way for run in runs if (way := harder_for(before, after, run))}

    def _between(self, act: Act, is_so: Any) -> list[Run]:
        """What was judged, or let start, until another amendment put a plan into force that is so no more."""
        last, end = float("inf"), float("inf")
        for other in self.acts.values():
            if other.kind == "amend" and other.number > act.number and not is_so(self._step(other)[1]):
                last, end = other.number, other.lines[0]["time"]
                break
        found = []
        for run in self.whole.judged:
            began = run.charged if run.charged is not None else run.started
            let = began is not None and act.lines[0]["time"] <= began < end
            if act.number < run.seq < last or let:
                found.append(run)
        return found

    def _restarted(self, act: Act) -> set[str]:
        """Components whose pause was ended, and whose clock the plan in force then starts anew."""
        over = {
            line["value"]["component"]
            for line in self.events
            if line["event"] == "continued" and line["seq"] in act.events
        }
        found, plan = set(), self.plans[self.whole.document]
        for part in plan["components"]:
            does = {"vendor": "restarts"} | dict(map(tuple, part["clock"]["causes"]))
            for value in (line["value"] for line in act.lines if line["value"].get("component") == part["name"]):
                says = value.get("clock") or does.get(value.get("cause") or "other")
                if part["duration_s"] and part["name"] in over and says == "restarts":
                    found.add(part["name"])
        return found

    # ---- who agreed ----------------------------------------------------------------------------------------------------

    def side(self, number: int) -> str:
        return self.sides.of(self.acts[number].by, number)

    def _ends_later(self, line: Json, agreed: int, side: str) -> bool:
        """A pause that was open when it was agreed to is ended by somebody else than who agreed."""
        ended = line["event"] == "continued" and line["seq"] > agreed
        return ended and self.sides.of(line["value"].get("by", ""), line["seq"]) != side

    def _agreements(self) -> dict[int, set[str]]:
        """Act -> the parties that have not agreed to it."""
        if not self.sides.names:
            return {}
        seals = {line["seq"]: line["value"] for line in self.events if line["event"] == "sealed"}
        by = {number: {self.sides.of(said["by"], number)} for number, said in seals.items()}
        for line in self.events:
            for number, digest in line["value"]["acts"] if line["event"] == "agreed" else ():
                between = [n for n, one in self.acts.items() if number < n < line["seq"] and one.kind != "agree"]
                side = self.sides.of(line["value"]["by"], line["seq"])
                if number in seals and not between and seals[number]["digest"] == digest:
                    by[number].add(side)
                act = self.acts.get(number)
                if act is None or number >= line["seq"] or self.digests[number] != digest or not side:
                    continue
                if not any(self._ends_later(one, line["seq"], side) for one in self.events if one["seq"] in act.events):
                    self.stood_by.setdefault(number, []).append((line["seq"], side))
        final = {n for n in seals if seals[n]["outcome"] in ("accepted", "accepted with restrictions", "rejected")}
        self.joint = sorted(n for n in final if by[n] >= {one["name"] for one in self.sides.at(n)})
        self._after_the_seal()
        for number in self.joint:
            if not self.closed or self.opened(self.closed, number):
                self.closed = number
        return {
            n: set(self.sides.names) - {self.side(n)} - {side for _, side in self.stood_by.get(n, ())}
            for n, act in self.acts.items()
            if act.kind != "agree"
        }

    def opened(self, seal: int, until: float = float("inf")) -> bool:
        """Every side agreed to an act after a seal that closed it, before an event."""
        for number, act in self.acts.items():
            said = {side for at, side in self.stood_by.get(number, ()) if seal < at < until}
            said |= {self.side(number)} if number > seal else set()
            if act.kind != "agree" and number < until and said >= set(self.sides.names):
                return True
        return False

    def _after_the_seal(self) -> None:
        """What one side alone agrees to after a seal that closed it, of before that seal, has no effect until all do."""
        for number, said in self.stood_by.items():
            seal = next((one for one in self.joint if one > number), None)
            if seal is not None and not {side for at, side in said if at > seal} >= set(self.sides.names):
                self.stood_by[number] = [(at, side) for at, side in said if at < seal]


def as_it_ended(campaign: Campaign, lines: list[Json], plans: dict[str, Json]) -> Campaign:
    """A campaign that had ended, and that has the very plan again by which it had: it is over where nothing is to come by it."""
    drained = any(line["event"] in ("drain_request", "cancel_request") for line in lines)
    if campaign.ended or campaign.over is None or campaign.over[0] != campaign.document or drained:
        return campaign
    again = copy.copy(campaign)
    again.ended, (_, unavailable, time_up) = True, campaign.over
    again.unavailable, again.time_up = {*unavailable}, {**time_up}
    found = Judge(plans[again.document], again, plans).outcome()
    return campaign if any(part["to_come"] for part in found["components"].values()) else again


def _said(line: Json) -> float:
    """When it was said, which may be before it was recorded."""
    return float(min(line["value"].get("said", line["time"]), line["time"]))


def _runs_of(part: Json | None) -> set[str]:
    return {*part["runs"], *part["steps"]} if part else set()


def _time_lost(times: Json, now: Json | None) -> float:
    """Seconds of a clock that are not in what the clock runs now."""
    pieces = now["pieces"] if now else []
    both = sum(max(0.0, min(a[1], b[1]) - max(a[0], b[0])) for a in times["pieces"] for b in pieces)
    return float(times["clock"][2]) - float(both)


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


def _digest(identity: str, line: Json) -> str:
    said = [identity, line["event"], line["seq"], line["time"], line.get("case", ""), line.get("run", "")]
    said += [line.get("value", {}), line.get("reason", "")]
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def _act_digest(identity: str, act: Act) -> str:
    digests = [_digest(identity, line) for line in act.lines]
    return digests[0] if len(digests) == 1 else hashlib.sha256(" ".join(digests).encode()).hexdigest()


def _met(judged: Json, outcome: str = "met") -> set[tuple[str, str]]:
    """Criteria and contract rows that come out so."""
    found = {(part, name) for part, one in judged["components"].items() for name, item in one["criteria"].items()
             if item["outcome"] == outcome}  # fmt: skip
    return found | {("row", name) for name, row in judged["rows"].items() if row["outcome"] == outcome}


def _not_met(judged: Json) -> set[tuple[str, str]]:
    return _met(judged, "not met")


def _word(outcome: str, takes: set[int]) -> str:
    return "accepted with restrictions" if outcome == "accepted" and takes else outcome


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
