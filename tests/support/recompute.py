"""Compute every number of a scorecard again: ``python tests/support/recompute.py CAMPAIGN`` prints it as JSON.

It reads the campaign's log and the frozen plan beside it and nothing else, needs nothing but Python, and shares no code with the
package. What counts is written in docs/concepts/judging.md and docs/guides/contracts.md; this follows these pages.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import recompute_stability as stability
import recompute_steps
from recompute_anew import wanted_anew
from recompute_issues import restricting
from recompute_log import Campaign, Run, Span, read_log, replay
from recompute_numbers import different_nodes, distance, inside, same, share_of, sharing, statistic, wilson
from recompute_stability import Pieces

Json = dict[str, Any]
RIGHT = ("passed", "performance")  # verdicts of runs that completed correctly
MANY = 10**8  # results that may still come of a component that runs until its time has passed


def main(arguments: list[str]) -> int:
    campaign = Path(arguments[0])
    print(json.dumps(recompute(read_log(campaign / "log"), read_documents(campaign / "documents")), indent=1))
    return 0


def read_documents(folder: Path) -> dict[str, Json]:
    return {path.stem: json.loads(path.read_bytes()) for path in folder.glob("*.json")}


def recompute(events: Iterable[Json], documents: dict[str, Json]) -> Json:
    """Purpose: the scorecard as plain data."""
    campaign = replay(events)
    return Judge(documents[campaign.document], campaign, documents).scorecard()


@dataclass
class Case:
    """One case of one component: what is wanted of it by mode, its runs that count, and whose figures do not (``aside``).

    ``lost``: runs that could not be judged, which are in no count; ``time_over``: nobody tries their results again; ``excused``: of
    these results those whose failure, if it was one, somebody has excused.
    """

    data: Json
    wanted: dict[str, int]
    runs: list[Run]
    warm_ups: int = 0
    aside: set[str] = field(default_factory=set)
    more: bool = False
    closed: bool = False
    lost: list[Run] = field(default_factory=list)
    time_over: bool = False
    excused: int = 0

    def good(self, run: Run) -> bool:
        return run.verdict == "passed" or (self.data["expect"] == run.verdict != "passed")

    def settled(self, run: Run) -> bool:
        return self.closed or not run.retried or self.good(run)

    @property
    def as_expected(self) -> bool:
        return bool(self.runs) and all(run.verdict != "passed" and self.good(run) for run in self.runs)

    def results(self, counts: Callable[[Run], bool]) -> int:
        found: dict[str, set[Any]] = {mode: set() for mode in self.wanted}
        for run in self.runs:
            if counts(run):
                found[run.mode].add(run.result)
        return sum(min(count, len(found[mode])) for mode, count in self.wanted.items())

    @property
    def nowhere(self) -> list[Run]:
        """Runs that could not be judged, of results that have no other run."""
        judged = {run.result for run in self.runs}
        return [run for run in self.lost if run.result not in judged]

    @property
    def to_come(self) -> int:
        if self.closed:
            return len({run.result for run in self.nowhere})
        return sum(self.wanted.values()) - self.results(self.settled)

    @property
    def cut_off(self) -> int:
        return self.to_come if self.time_over else 0

    def values(self, figure: str) -> list[tuple[Run, float]]:
        found = []
        for run in self.runs:
            value = run.elapsed if figure == "elapsed" else run.figures.get(figure)
            if run.verdict in RIGHT and run.name not in self.aside and value is not None:
                found.append((run, value))
        return found

    def of_mode(self, mode: str) -> Case:
        wanted = {name: count for name, count in self.wanted.items() if mode in ("", name)}
        runs, lost = ([run for run in some if mode in ("", run.mode)] for some in (self.runs, self.lost))
        return replace(self, wanted=wanted, runs=runs, lost=lost)

    def keep(self, counts: Callable[[Run], bool]) -> Case:
        """Without some runs; a result that was settled and has no run left is not wanted any more."""
        runs, lost = ([run for run in some if counts(run)] for some in (self.runs, self.lost))
        over = self.lost if self.closed else []
        gone = {run.result for run in [*self.runs, *over] if self.settled(run)}
        gone -= {run.result for run in [*runs, *(lost if self.closed else [])]}
        known = {(run.mode, run.result) for run in [*self.runs, *over]}
        wanted = {}
        for mode, count in self.wanted.items():
            spare = max(0, sum(name == mode for name, _ in known) - count)
            less = sum(name == mode and result in gone for name, result in known)
            wanted[mode] = max(0, count - max(0, less - spare))
        return replace(self, runs=runs, wanted=wanted, lost=lost)


class Judge:
    """One frozen plan and one campaign."""

    def __init__(self, document: Json, campaign: Campaign, plans: dict[str, Json]) -> None:
        self.document, self.campaign = document, campaign
        self.cases = {case["id"]: case for case in document["cases"]}
        self.figures = {(test["name"], item["name"]): item for test in document["tests"] for item in test["figures"]}
        self.rows = {row["name"]: row for contract in document["contracts"] for row in contract["rows"]}
        self.units, self.nodes = self._machine()
        self.spans_of_job: dict[str, list[Span]] = {}
        self.mine: dict[tuple[str, str], list[Run]] = {}
        self.beside: dict[str, list[Run]] = {}
        wanted: dict[
            Any, Run
        ] = {}  # the run whose result counts: a later one does where a plan wanted it anew in between
        for run in sorted(campaign.judged, key=lambda one: one.result[5]):
            before = wanted.setdefault(run.result[:5], run)
            if any(before.epoch < epoch <= run.epoch for epoch in campaign.amended):
                wanted[run.result[:5]] = run
        self.anew = {run.name for run in campaign.judged if run.result[5] != wanted[run.result[:5]].result[5]}
        self.anew |= wanted_anew(campaign, plans)
        for run in campaign.judged:
            self.mine.setdefault((run.component, run.case), []).append(run)
            if run.case in self.cases:
                self.beside.setdefault(self.cases[run.case]["partition"], []).append(run)
        self.taken_out: set[str] = (
            set()
        )  # runs that a clock which was started anew, or an amendment, took out of what is counted
        self.people = {component["name"]: self._people(component) for component in document["components"]}
        self.taken_out |= {run.name for run in campaign.judged if self._is_gone(run)} if campaign.amended else set()

    def _is_gone(self, run: Run) -> bool:
        """Whether it is of what the plan has no more, or has where it is in no count."""
        part = next((part for part in self.document["components"] if part["name"] == run.component), None)
        if run.mode in ("warm-up", "filler") or run.component == "no longer wanted":
            return False
        if part is None or run.mode in ("set-up", "clean-up"):
            return part is None or run.case not in part[run.mode.replace("-", "_")]
        if run.mode == "drill":
            return (run.case, run.result[2]) not in {(one["case"], one["name"]) for one in part["drills"]}
        return run.case not in part["cases"] or run.mode not in ([one["name"] for one in part["modes"]] or [""])

    def _machine(self) -> tuple[dict[str, int], dict[str, int]]:
        """Units (cores locally, nodes on a cluster) and nodes of each partition."""
        system, units, nodes = self.document["system"], {}, {}
        cores = {kind["name"]: kind["cores"] for kind in system["node_types"]}
        for cluster in system["clusters"]:
            for partition in cluster["partitions"]:
                name, local = f"{cluster['name']}:{partition['name']}", cluster["scheduler"] == "local"
                nodes[name] = partition["count"]
                units[name] = partition["count"] * (cores[partition["type"]] if local else 1)
        return units, nodes

    def _people(self, component: Json) -> list[Case]:
        found, counts_from = [], stability.counts_from(component, self.campaign)
        for name in component["cases"]:
            data, runs = self.cases[name], self.mine.get((component["name"], name), [])
            gone = {(component["name"], name), ("", name)} & self.campaign.unavailable
            wanted = self._wanted(component, data)
            endless = bool(component["duration_s"])
            counted = [run for run in runs if run.mode in wanted and (endless or run.result[4] <= wanted[run.mode])]
            counted = [run for run in counted if run.name not in self.anew]
            if not counted and (gone or data["unavailable"]):
                self.taken_out |= {run.name for run in runs if run.mode in wanted and run.verdict != "undetermined"}
                continue
            warm = sum(run.mode == "warm-up" for run in runs) if component["modes"] else 0
            asked = {run.name for run in counted if run.verdict != "undetermined"}
            every = {run.name for run in runs if run.mode in wanted and run.verdict != "undetermined"}
            self.taken_out |= every - asked if self.campaign.amended else set()
            counted = [run for run in counted if (run.span[0] if run.span else run.time) >= counts_from]
            self.taken_out |= asked - {run.name for run in counted}
            lost = [run for run in counted if run.verdict == "undetermined"]
            counted = [run for run in counted if run.verdict != "undetermined"]
            case = Case(data, wanted, counted, warm, lost=lost)
            found.append(self._until_time(component, case) if component["duration_s"] else case)
        for case in found:
            for mode in component["modes"]:
                case.aside |= self._aside(mode, case, self.mine.get((component["name"], case.data["id"]), []))
        return found

    def _wanted(self, component: Json, case: Json) -> dict[str, int]:
        modes, rounds = component["modes"], 1 + self.campaign.again.get(component["name"], 0)
        once = {mode["name"]: mode["repeats"] * self._copies(mode, case) for mode in modes} or {
            "": component["repeats"]
        }
        return {mode: count * rounds for mode, count in once.items()}

    def _copies(self, mode: Json, case: Json) -> int:
        if mode["name"] == "isolated":
            return 1
        return int(mode["copies"]) or max(1, self.units.get(case["partition"], 0) // max(1, case["shape"]["units"]))

    def _until_time(self, component: Json, case: Case) -> Case:
        """What was ordered is wanted. It is over at the end of the campaign, or when its time has passed and none of it is live."""
        name, counts_from = component["name"], stability.counts_from(component, self.campaign)
        live = [run for run in self.campaign.open if run.component == name]
        passed = stability.has_had_its_time(component, self.campaign)
        own = [run for name_of in component["cases"] for run in self.mine.get((name, name_of), [])]
        own = [run for run in own if run.mode == "" and (run.span[0] if run.span else run.time) >= counts_from]
        own = [run for run in own if run.verdict != "undetermined"]
        last = {run.result: run for run in sorted(own, key=lambda run: run.name)}
        waits = any(run.retried for run in last.values() if run.name not in self.anew)
        over = self.campaign.ended or (passed and not live and not waits)
        over = over and name not in self.campaign.cut_short
        time_over = over and passed and not live and self.campaign.ended
        asked = [
            run for run in live if run.mode == "" and counts_from < math.inf and (run.began or math.inf) >= counts_from
        ]
        kept = [
            run for run in case.runs if run.verdict != "cancelled" or run.started is not None or run.elapsed
        ]  # else it was taken back
        results = {run.result for run in [*kept, *case.lost]}
        results |= {run.result for run in asked if run.case == case.data["id"]}
        return replace(case, runs=kept, wanted={"": len(results)}, more=not over, closed=over, time_over=time_over)

    def _aside(self, mode: Json, case: Case, every: list[Run]) -> set[str]:
        """Runs that did not have the machine as their mode says for the share of their time that it asks for."""
        runs = [run for run in case.runs if run.mode == mode["name"]]
        if mode["name"] == "fill":
            spans = [run.span for run in every if run.mode in ("fill", "warm-up")]
            copies = self._copies(mode, case.data)
            shares = {run.name: share_of(run.span, spans, lambda count: count >= copies) for run in runs}
            shares |= dict.fromkeys(stragglers(runs, shares, spans, copies, mode["overlap"]), 1.0)
        else:
            near = sharing(self.document["system"]["clusters"], case.data["partition"])
            spans = [run.span for place in near for run in self.beside.get(place, [])]
            shares = {run.name: share_of(run.span, spans, lambda count: count <= 1) for run in runs}
        return {name for name, had in shares.items() if had < mode["overlap"] and not same(had, mode["overlap"])}

    # ---- the whole ---------------------------------------------------------------------------------------------------

    def scorecard(self) -> Json:
        """What ``outcome`` gives, and the numbers that no outcome hangs on."""
        return self.outcome() | {
            "epoch": self.campaign.epoch,
            "figures without rows": self.bare_figures(),
            "rates": self.rates(),
            "utilisation": {name: self._told(name) for name in self.people if name in self.campaign.first_order},
            "loads": stability.loads(self),
        }

    def outcome(self) -> Json:
        """How the campaign, its components and its rows come out, and the time of its clocks."""
        components = [self.component(component) for component in self.document["components"]]
        outcomes = {component["outcome"] for component in components}
        rows = {name: self.whole_row(row) for name, row in self.rows.items()}
        others = self.restricting_waivers(rows)
        if not self.campaign.ended:
            outcome = "incomplete"
        elif "rejected" in outcomes:
            outcome = "rejected"
        elif "incomplete" in outcomes or outcomes <= {"not judged"}:
            outcome = "incomplete"
        else:
            changed = self.campaign.conditions or any(
                self._leaves_epochs_out(one) for one in self.document["components"]
            )
            open_ones = restricting(self.campaign, self.document.get("issues", []))
            less = outcomes != {"accepted"} or others or self.taken_out or changed or open_ones
            outcome = "accepted with restrictions" if less else "accepted"
        broken = [name for name, row in rows.items() if row["outcome"] == "not met" and not row["waived"]]
        if outcome == "accepted" and any(self.rows[name]["basis"] == "contract" for name in broken):
            outcome = "accepted with restrictions"
        return {
            "outcome": outcome,
            "components": {component["name"]: component for component in components},
            "rows": rows,
            "stability": self.stability(),
        }

    def _leaves_epochs_out(self, component: Json) -> bool:
        """Whether a criterion does not count a run of an earlier epoch that did not pass, or would come out otherwise with all."""
        from recompute_criteria import judge_criterion

        for item in component["criteria"]:
            if item["epochs"] == "all":
                continue
            least = self.campaign.epoch if item["epochs"] == "last" else int(item["epochs"])
            cases = [case for case in self.people[component["name"]] if item["test"] in ("", case.data["test"])]
            cases = [case.of_mode(item["mode"]) for case in cases]
            early = [(case, run) for case in cases for run in case.runs if run.epoch < least]
            outcomes = {judge_criterion(self, component, item | more)["outcome"] for more in ({}, {"epochs": "all"})}
            if early and (len(outcomes) > 1 or not all(case.good(run) for case, run in early)):
                return True
        return False

    def component(self, component: Json) -> Json:
        name, cases = component["name"], self.people[component["name"]]
        runs = [run for case in cases for run in case.runs]
        stated = component["criteria"]
        usual = {"measure": "", "comparison": "=", "bound": 1.0, "unit": "%", "of": "", "test": "", "per": "", "enough": 1,
                 "mode": "", "basis": "", "leave_out": [], "epochs": "all", "statistic": "median"}  # fmt: skip
        criteria = list(stated)
        if not stated and (component["cases"] or not component["procedures"]):
            criteria.append(usual | {"name": "passed", "measure": "passed / wanted"})
        if component["procedures"] and all(item["measure"] != "attested" for item in stated):
            criteria.append(usual | {"name": "procedures", "measure": "attested"})
        if component["duration_s"]:
            asked = {"name": "planned time", "measure": "planned time", "comparison": ">=", "unit": "s"}
            criteria.append(usual | asked | {"bound": component["duration_s"]})
        criteria += recompute_steps.criteria(component)
        judged = {item["name"]: self.criterion(component, item) for item in criteria}
        missing = len(component["cases"]) - len(cases)
        cut_off = sum(case.cut_off for case in cases)
        to_come = max(sum(case.to_come for case in cases) - cut_off, int(any(case.more for case in cases)))
        return {
            "name": name,
            "outcome": _component_outcome(judged, to_come, missing, self.campaign.ended),
            "wanted": sum(sum(case.wanted.values()) for case in cases) - cut_off,
            "judged": sum(case.results(case.settled) for case in cases),
            "passed": sum(case.results(case.good) for case in cases),
            "to_come": to_come,
            "attempts": len(runs),
            "runs": [run.name for run in runs],
            "steps": [run.name for runs in recompute_steps.step_runs(self, component).values() for run in runs],
            "given_up": sum(run.name in self.campaign.given_up for run in runs),
            "as_expected": sum(case.good(run) and run.verdict != "passed" for case in cases for run in case.runs),
            "verdicts": dict(Counter(run.verdict for run in runs)),
            "warm_ups": sum(case.warm_ups for case in cases),
            "aside": sorted(name for case in cases for name in case.aside),
            "unavailable": missing,
            "criteria": judged,
        }

    def criterion(self, component: Json, item: Json) -> Json:
        from recompute_criteria import judge_criterion

        found = judge_criterion(self, component, item)
        if self._is_waived(component["name"], item) and found["outcome"] != "met":
            found["outcome"] = "waived"
        if item["measure"] == "rows met" and found["outcome"] not in ("met", "waived"):
            self.rows_count_waived = True
            with_them = judge_criterion(self, component, item)
            self.rows_count_waived = False
            found["outcome"] = "waived" if with_them["outcome"] == "met" else found["outcome"]
        return found

    # ---- waivers -----------------------------------------------------------------------------------------------------

    rows_count_waived = False

    def _is_waived(self, component: str, item: Json) -> bool:
        named = ("criterion", component, item["name"])
        return any(
            waiver == named and self._is_said_of(digest, component, item)
            for waiver, digest in zip(self.campaign.waivers, self.campaign.waived_digests, strict=True)
        )

    def _is_said_of(self, digest: str, component: str, item: Json) -> bool:
        """Whether a waiver's digest is of what this criterion asks and counts; older logs say only what it asks."""
        asked = digest_of_criterion(item)
        return digest in ("", asked) or digest == f"{asked}.{sha_of(self._counted(component, item))}"

    def _counted(self, component: str, item: Json) -> Json:
        """The cases and modes, procedures, steps or rows that a criterion counts, in some order that does not matter."""
        (part,) = [one for one in self.document["components"] if one["name"] == component]
        measure = item["measure"]
        if measure in ("planned time", "late"):
            return {}
        if measure == "attested":
            return {"procedures": sorted([one["name"], one["about"], one["evidence"]] for one in part["procedures"])}
        if measure in ("set up", "clean up"):
            return {"cases": sorted(part[measure.replace(" ", "_")])}
        cases = [case for case in self.document["cases"] if case["id"] in part["cases"]]
        cases = [case for case in cases if not item["test"] or case["test"] == item["test"]]
        modes = [mode["name"] for mode in part["modes"] if item["mode"] in ("", mode["name"])]
        found = {"cases": sorted(case["id"] for case in cases), "modes": sorted(modes)}
        if measure == "rows met":
            mine = [row for row in self.rows.values() if any(row["name"] in case["rows"] for case in cases)]
            mine = [row for row in mine if row["basis"] == (item["basis"] or "contract")]
            mine = [row for row in mine if not item["mode"] or row["mode"] in ("", item["mode"])]
            found["rows"] = sorted(sha_of(_asked_by(row)) for row in mine)
        return found

    def _is_row(self, row: Json, name: str, said: Json, digest: str) -> bool:
        """Whether a waiver is of this row: what it asked, and where the log says of which cases, of these."""
        cases = sorted(case["id"] for case in self.document["cases"] if row["name"] in case["rows"])
        where = digest.partition(".")[2]
        return _is_said(row, name, said) and where in ("", sha_of(cases))

    def _is_gate(self, digest: str, component: str) -> bool:
        """Whether a gate asks what it asked when it was waived, of the same; older logs do not say of what."""
        every = {one["name"]: one for one in self.document["components"]}
        part, waiting = (
            every.get(component),
            [name for name, one in every.items() if one["gate"] == "met" and component in one["after"]],
        )
        if part is None or not waiting:
            return False
        asked = {
            "criteria": sorted([one["name"], digest_of_criterion(one)] for one in part["criteria"]),
            "procedures": sorted([one["name"], one["evidence"]] for one in part["procedures"]),
            "waiting": sorted(waiting),
        }
        counted = sorted([one["name"], sha_of(self._counted(component, one))] for one in part["criteria"])
        all_of_it = {"cases": sorted(part["cases"]), "modes": sorted(mode["name"] for mode in part["modes"])}
        return digest in (sha_of(asked), f"{sha_of(asked)}.{sha_of(counted or [['', sha_of(all_of_it)]])}")

    def restricting_waivers(self, rows: Json) -> bool:
        """Whether a waiver restricts beside those of criteria of the plan: of a gate, of a row that is not met, of what is gone."""
        campaign = self.campaign
        every = zip(campaign.waivers, campaign.waived_digests, campaign.waived_rows, campaign.waived_words, strict=True)
        for (what, component, name), digest, said, (seq, restriction) in every:
            if what in ("conditions", "issue"):
                if restriction:
                    return True
            elif what == "criterion":
                mine = [item for one in self.document["components"] if one["name"] == component
                        for item in one["criteria"] if item["name"] == name]  # fmt: skip
                if (
                    digest
                    and name not in ("passed", "procedures", "planned time")
                    and not any(self._is_said_of(digest, component, one) for one in mine)
                ):
                    return True
            elif what == "row":
                its = [
                    rows[row["name"]]["outcome"] for row in self.rows.values() if self._is_row(row, name, said, digest)
                ]
                if not its or any(outcome != "met" for outcome in its):
                    return True
            elif digest and not self._is_gate(digest, component):
                return True
            else:
                told = [(at, outcome) for at, whose, outcome in campaign.gates if whose == component]
                if not told or told[0][0] > seq or any(outcome != "met" for _, outcome in told):
                    return True
        return False

    # ---- contract rows -----------------------------------------------------------------------------------------------

    def whole_row(self, row: Json) -> Json:
        """Waived as a whole where it is in every component in which it is not met."""
        own = {
            name: [case for case in cases if row["name"] in case.data["rows"]] for name, cases in self.people.items()
        }
        found = self.row(row, [case for cases in own.values() for case in cases])
        parts = [self.row(row, cases, name) for name, cases in own.items()]
        bare = any(part["outcome"] == "not met" and not part["waived"] for part in parts)
        return found | {"waived": found["waived"] and not bare}

    def row(self, row: Json, cases: list[Case], component: str = "") -> Json:
        """One contract row over the runs of some cases, in its mode."""
        asked = [case.of_mode(row["mode"]) for case in cases]
        asked = [case for case in asked if sum(case.wanted.values()) or case.runs or case.more]
        waived = any(
            what == "row" and self._is_row(row, name, said, digest) and (not component or whose in ("", component))
            for (what, whose, name), said, digest in zip(
                self.campaign.waivers, self.campaign.waived_rows, self.campaign.waived_digests, strict=True
            )
        )
        found: Json = {"measured": None, "count": 0, "outside": 0}
        if not asked:
            return found | {"outcome": "unjudged", "waived": waived}
        values = [value for case in asked for _, value in case.values(row["figure"])]
        owners = [_in_case(row, case.data) for case in asked for _ in case.values(row["figure"])]
        coming = sum(max(case.to_come, int(case.more)) for case in asked)
        outcome = "undecided"
        if values and row["statistic"] == "each":
            beyond = [value for value, mine in zip(values, owners, strict=True) if not inside(mine, value)]
            outcome = "not met" if beyond else "undecided" if coming else "met"
            found = {
                "measured": max(zip(values, owners, strict=True), key=lambda pair: distance(pair[1], pair[0]))[0],
                "count": len(values),
                "outside": len(beyond),
            }
        elif row["statistic"] == "sd" and len(values) == 1:
            found["count"] = 1
        elif values:
            number = statistic(row["statistic"], values)
            found |= {"measured": number, "count": len(values)}
            above = row["high"] is not None and number > row["high"]
            sure = not coming or (not inside(row, number) and row["statistic"] == ("max" if above else "min"))
            outcome = ("met" if inside(row, number) else "not met") if sure else "undecided"
        if outcome == "met" and any(not case.values(row["figure"]) and not case.as_expected for case in asked):
            outcome = "undecided"
        return found | {"outcome": outcome, "waived": waived and outcome != "met"}

    def bare_figures(self) -> Json:
        """Figures that no row in force asks about, and how many values of them were measured."""
        found = {}
        for test in self.document["tests"] if self.document["contracts"] else []:
            for figure in ("elapsed", *(item["name"] for item in test["figures"])):
                bare = [
                    case["id"] for case in self.cases.values() if case["test"] == test["name"]
                    and all(self.rows[name]["figure"] != figure for name in case["rows"])
                ]  # fmt: skip
                if bare:
                    mine = [case for cases in self.people.values() for case in cases if case.data["id"] in bare]
                    found[f"{test['name']}: {figure}"] = sum(len(case.values(figure)) for case in mine)
        return found

    # ---- rates and utilisation ---------------------------------------------------------------------------------------

    def rates(self) -> Json:
        """(hits, attempts, attempts after rulings, both intervals), by component and test, "" for all of its tests."""
        found = {}
        for name, cases in self.people.items():
            tests = list(dict.fromkeys(case.data["test"] for case in cases))
            for test in (*tests, "") if cases else ():
                pairs = [(case, run) for case in cases if test in ("", case.data["test"]) for run in case.runs]
                good = sum(case.good(run) for case, run in pairs)
                after = sum(case.good(run) or run.ruling in ("", "vendor") for case, run in pairs)
                found[f"{name}: {test}"] = [good, len(pairs), after, wilson(good, len(pairs)), wilson(good, after)]
        return found

    def _told(self, name: str) -> list[tuple[float | None, int]] | None:
        """The fourth number is told only of components that run for a time."""
        component = next(item for item in self.document["components"] if item["name"] == name)
        found = self.utilisation(name)
        return found if found is None or component["duration_s"] else found[:3]

    def stability(self) -> Json:
        """Of each component that runs for a time: its clock, each node's hours, each test's share and holes, interrupts."""
        found = {}
        for component in self.document["components"]:
            name, span = component["name"], stability.whole_span(component, self.campaign)
            if not component["duration_s"] or span is None:
                continue
            pieces, cases = stability.clock_pieces(component, self.campaign, span[1]), self.people[name]
            kinds, system = stability.interrupted(component, self.campaign, pieces)
            holes = stability.holes(self, component, cases, pieces, span)
            tests: Json = {test: self._test(cases, test, pieces) for test in holes}
            for test, mine in holes.items():
                tests[test]["hole"] = max((hole["seconds"] for hole in mine), default=0.0)
            found[name] = {
                "clock": [*span, stability.lasting(pieces)],
                "pieces": pieces,
                "nodes": stability.held_by_node(self, component, pieces),
                "interrupts": [dict(kinds), system],
                "tests": tests,
                "days": self._days(component, cases, pieces, span),
            }
        return found

    def _test(self, cases: list[Case], test: str, pieces: Pieces) -> Json:
        runs = [run for case in cases if case.data["test"] == test for run in case.runs]
        right = [run for run in runs if run.verdict in RIGHT]
        took = [math.fsum(self.node_hours(run, pieces) or 0.0 for run in some) for some in (runs, right)]
        return {"runs": len(runs), "right": len(right), "node_hours": took}

    def _days(self, component: Json, cases: list[Case], pieces: Pieces, span: Span) -> list[list[float]]:
        """Of each 24 hours: clock seconds, contractual, our and delivered node-hours."""
        places = {self.cases[case]["partition"] for case in component["cases"] if case in self.cases}
        every = [run for run in self.campaign.judged if run.case in self.cases]
        ours = [run for run in every if self.cases[run.case]["partition"] in places]
        delivered = [run for run in every if run.verdict in RIGHT and run.mode not in ("warm-up", "filler")]
        right = [run for case in cases for run in case.runs if run.verdict in RIGHT]
        days = []
        for number in range(math.ceil((span[1] - span[0]) / 86400)):
            low, high = span[0] + number * 86400, min(span[1], span[0] + (number + 1) * 86400)
            mine = [(max(a, low), min(b, high)) for a, b in pieces if min(b, high) > max(a, low)]
            parts = ((right, mine), (ours, mine), (delivered, [(low, high)]))
            sums = [math.fsum(self.node_hours(run, of) or 0.0 for run in runs) for runs, of in parts]
            days.append([stability.lasting(mine), *sums])
        return days

    def utilisation(self, name: str, cases: list[Case] | None = None) -> list[tuple[float | None, int]] | None:
        """Contractual, ours, delivered, and that without maintenance: (share, runs); None where the clock has not run.

        ``cases``: what the contractual number counts, where a criterion narrows it.
        """
        component = next(item for item in self.document["components"] if item["name"] == name)
        span = stability.whole_span(component, self.campaign)
        if span is None or span[1] <= span[0]:
            return None
        running = stability.clock_pieces(component, self.campaign, span[1])
        available = stability.minus(span, stability.maintenance_pieces(component, self.campaign, span))
        places = {self.cases[case]["partition"] for case in component["cases"] if case in self.cases}
        clusters = self.document["system"]["clusters"]
        own_nodes, all_nodes = (different_nodes(clusters, where) for where in (places, set(self.nodes)))

        def share(runs: Iterable[Run], nodes: int, pieces: Pieces) -> tuple[float | None, int]:
            hours = [hours for run in runs if (hours := self.node_hours(run, pieces)) is not None]
            whole = nodes * stability.lasting(pieces) / 3600
            return math.fsum(hours) / whole if whole else None, sum(took > 0 for took in hours)

        people = self.people[name] if cases is None else cases
        counted = [run for case in people for run in case.runs if run.verdict in RIGHT]
        every = [run for run in self.campaign.judged if run.case in self.cases]
        beside = [run for run in every if self.cases[run.case]["partition"] in places]
        delivered = [run for run in every if run.verdict in RIGHT and run.mode not in ("warm-up", "filler")]
        found = [
            share(counted, own_nodes, running),
            share(beside, own_nodes, running),
            share(delivered, all_nodes, [span]),
        ]
        return [*found, share(delivered, all_nodes, available)]

    def node_hours(self, run: Run, pieces: Pieces) -> float | None:
        """None where its times are not known, unless it never ran."""
        if run.span is None:
            withdrawn = run.verdict == "cancelled" and run.started is None and run.elapsed is None
            return 0.0 if withdrawn or run.verdict in ("build_failed", "not_run", "submit_failed") else None
        case = self.cases[run.case]
        nodes = float(case["shape"]["units"]) * self.nodes[case["partition"]] / self.units[case["partition"]]
        return self._own_part(run, run.span, pieces) / 3600 * nodes

    def _own_part(self, run: Run, span: Span, pieces: Pieces) -> float:
        """Seconds inside, where others of its allocation ran at the same time its part of them."""
        if not self.spans_of_job:
            for other in self.campaign.runs.values():
                if other.job and other.verdict and (near := other.span):
                    self.spans_of_job.setdefault(other.job, []).append(near)
        beside = self.spans_of_job.get(run.job, [])
        cuts = sorted({*span, *(time for near in beside for time in near if span[0] < time < span[1])})
        return math.fsum(
            stability.overlap((a, b), pieces) / max(1, sum(near[0] <= a and b <= near[1] for near in beside))
            for a, b in pairwise(cuts)
        )


def _in_case(row: Json, case: Json) -> Json:
    """The row with the bound that a more specific row leaves it."""
    side = dict(map(tuple, case.get("sides", []))).get(row["name"], "")
    return row | ({"low": {"high": None}, "high": {"low": None}}.get(side, {}))


def _is_said(row: Json, name: str, said: Json) -> bool:
    """Whether a waiver is of this row: by what the row asked for, where the log says it."""
    keys = ("contract", "test", "figure", "must", "basis", "statistic", "mode")
    alike = all(row[key] == said.get(key, "") for key in keys) and dict(map(tuple, row["where"])) == said.get(
        "where", {}
    )
    return alike if said else bool(row["name"] == name)


def digest_of_criterion(item: Json) -> str:
    """The sha256 of what a criterion asks for, as JSON with its keys in order."""
    beside = ("name", "must", "clause")
    later = (
        "files",
        "across",
        "inputs",
        "at",
        "since",
    )  # keys of later versions say something only where they are used
    said = {key: value for key, value in item.items() if key not in beside and (value or key not in later)}
    return sha_of(said)


def sha_of(said: Any) -> str:
    text = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _asked_by(row: Json) -> Json:
    """What a row asks, as a waiver of it says."""
    keys = ("contract", "test", "figure", "must", "basis", "statistic", "mode", "inputs")
    said = {key: row.get(key, "") for key in keys} | {"where": dict(map(tuple, row["where"]))}
    return {key: value for key, value in said.items() if value}


def stragglers(
    runs: list[Run], shares: dict[str, float], spans: list[Span | None], copies: int, least: float
) -> list[str]:
    """Copies that began on a full machine and were no faster than those that had it to their end."""
    had = [r.span[1] - r.span[0] for r in runs if r.span and r.verdict in RIGHT
           and (shares[r.name] >= least or same(shares[r.name], least))]  # fmt: skip
    if not had:
        return []
    found, known = [], [span for span in spans if span and span[1] > span[0]]
    for run in runs:
        if run.span and any(
            run.span[1] - run.span[0] > usual or same(run.span[1] - run.span[0], usual)
            for usual in [max(statistic("mean", had), statistic("median", had))]
        ):
            window = (run.span[0], run.span[0] + (1 - least) * min(had))
            moments = [run.span[0], *(a for a, _ in known if window[0] <= a <= window[1])]
            if any(sum(a <= moment < b for a, b in known) >= copies for moment in moments):
                found.append(run.name)
    return found


def _component_outcome(criteria: dict[str, Json], to_come: int, missing: int, ended: bool) -> str:
    outcomes = [item["outcome"] for item in criteria.values() if not item["restricted"]]
    if to_come and not ended:
        return "incomplete"
    if "not met" in outcomes:
        return "rejected"
    if to_come:
        return "incomplete"
    if not outcomes:
        return "not judged"
    if "undecided" in outcomes:
        return "incomplete"
    return "accepted with restrictions" if missing or "waived" in outcomes else "accepted"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
