"""What becomes of runs and builds, held against tables and policy: from the plan and the log alone.

No verdict comes from silence but ``lost`` after its deadline; what is attempted again is so by a rule of the plan, and in its time.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from oracle_modes import Want, mode_of, need

from shakedown.engine import Policy
from shakedown.model.events import Event
from shakedown.model.nouns import Document
from shakedown.model.ports import ENDED

# The published transition table of a run, by events; of a build below.
RUN = {
    "": {"submit_order", "requeued", "verdict"},
    "submit_order": {"claim_taken", "returned", "submit_deferred", "check_start", "verdict"},
    "requeued": {"claim_taken", "returned", "check_start", "verdict"},
    "claim_taken": {"submit_order", "verdict"},
    "submit_deferred": {"submit_order", "verdict"},
    "returned": {"submit_order", "verdict"},
    "check_start": {"check_start", "verdict"},  # collected again after a crash
    "verdict": {"retry", "given_up"},
    "undetermined": {
        "check_start",
        "verdict",
        "given_up",
    },  # judged again until it can be; never attempted again for it
    "final": set(),
    "retry": set(),
    "given_up": set(),
}
BUILD = {
    "": {"build_order"},
    "build_order": {"build_start", "build_end", "build_order"},
    "build_start": {"build_end", "build_order"},
    "build_end": {"build_order"},
}
# What the contract of the engine says is attempted again where a plan says nothing: verdict -> (how often, first wait).
BY_DEFAULT = {"interrupted": (1000, 0.0), "node_fail": (2, 0.0), "submit_failed": (5, 10.0), "lost": (1, 0.0)}
NEVER_AGAIN = frozenset({"passed", "incorrect", "performance", "build_failed", "not_run", "cancelled"})
OWN_END = frozenset({"completed", "failed"})
DOUBTFUL = frozenset({"absent", "no_answer", "unknown"})
CHECKED = frozenset({"passed", "incorrect", "performance", "failed", "undetermined"})
SLACK = 1e-6


@dataclass
class Told:
    """What sources said of a job, or of one of its parts. ``since``: when its doubt began; ``running``: when first seen so."""

    state: str = ""
    source: str = ""
    since: float = 0.0
    absent_s: float = 0.0  # for how long nobody knew it before that, with silence alone between
    running: float | None = None
    ends: set[str] = field(default_factory=set)


class RunRules:
    """Sees every event in turn."""

    def __init__(self, document: Document, policy: Policy) -> None:
        self.policy = policy
        self.runs: dict[str, str] = {}  # run -> its last event of the table
        self.builds: dict[str, str] = {}
        self.job_of: dict[str, str] = {}
        self.told: dict[str, Told] = defaultdict(Told)  # job, or run of a job of several
        self.live: dict[str, str] = {}  # job that may exist -> its pool
        self.parts: dict[str, set[str]] = {}  # job of several -> its runs without a verdict
        self.spent: defaultdict[Want, Counter[str]] = defaultdict(
            Counter
        )  # how often it was attempted again, by verdict
        self.again: dict[Want, float] = {}  # result that is attempted again -> not before
        self.restart: dict[str, int] = defaultdict(int)  # job -> the start that its present run is of
        self.limit: dict[str, float] = {}  # job -> its time limit
        self.amend(document)

    def amend(self, document: Document) -> None:
        self.document = document
        self.cases = {**getattr(self, "cases", {}), **{case.id: case for case in document.cases}}
        self.components = {component.name: component for component in document.components}
        self.most = {cluster.name: cluster.most_jobs for cluster in document.system.clusters if cluster.most_jobs}
        self.again.clear()

    def see(self, event: Event) -> None:
        if event.run and event.event in RUN:
            self._step(event)
        if event.build:
            before = self.builds.get(event.build, "")
            need(event.event in BUILD[before], f"build {event.build[:8]}: {event.event} after {before or 'nothing'}")
            self.builds[event.build] = event.event
        handler = getattr(self, f"_{event.event}", None)
        if handler is not None:
            handler(event)

    def _step(self, event: Event) -> None:
        if (
            event.event in ("claim_taken", "returned", "submit_deferred")
            and not event.value.get("part")
            and self.parts.get(event.job)
        ):
            runs = [run for run in self.parts[event.job] if self.job_of[run] == event.job]
        else:
            runs = [event.run]
        for run in runs:
            before = self.runs.get(run, "")
            if event.event == "verdict" and "supersedes" in event.value:
                known = ("verdict", "final", "retry", "given_up", "undetermined")
                need(before in known, f"{run} has no verdict to supersede")
                if before != "undetermined":
                    return
            need(event.event in RUN[before], f"run {run}: {event.event} after {before or 'nothing'}")
            if before == "undetermined" and event.event == "check_start":
                continue
            final = event.event == "verdict" and event.value.get("final")
            open_yet = event.event == "verdict" and event.value["verdict"] == "undetermined"
            self.runs[run] = "final" if final else "undetermined" if open_yet else event.event

    # ---- jobs that may exist -------------------------------------------------------------------------------------------

    def _submit_order(self, event: Event) -> None:
        case, job = self.cases[event.case], event.job
        want = _want(event)
        due = self.again.get(want, 0.0)
        need(event.time >= due - SLACK, f"{event.run} is ordered {due - event.time:g} s before its back-off is over")
        self.job_of[event.run] = job
        self.limit[job] = event.value.get("limit_s") or case.shape.time_limit_s
        if event.value.get("part"):
            self.parts.setdefault(job, set()).add(event.run)
        if job in self.live:
            return
        self.live[job] = case.partition
        most = self.document.limits.queued
        here = sum(pool == case.partition for pool in self.live.values())
        need(not most or here <= most, f"{job} makes {here} jobs in {case.partition}, {most} at most")

    def _requeued(self, event: Event) -> None:
        self.job_of[event.run] = event.job
        self.live[event.job] = self.cases[event.case].partition
        self.told[event.job], self.restart[event.job] = Told(), event.value["restart"]

    def _claim_taken(self, event: Event) -> None:
        if event.value.get("part"):
            self.parts.get(event.job, set()).discard(event.run)
            if not self.parts.get(event.job) and self.told[event.job].ends:
                self.live.pop(event.job, None)
        else:
            self.parts.pop(event.job, None)
            self.live.pop(event.job, None)

    def _submit_deferred(self, event: Event) -> None:
        self.parts.pop(event.job, None)
        self.live.pop(event.job, None)

    _returned = _submit_deferred

    def _finding(self, event: Event) -> None:
        if event.value.get("dead"):
            self.live.pop(event.job, None)

    # ---- what was said --------------------------------------------------------------------------------------------------

    def _submit_refused(self, event: Event) -> None:
        self.told[event.job].ends.add("refused")

    def _job_report(self, event: Event) -> None:
        value, said = event.value, event.value["state"]
        told = self.told[event.run if value.get("part") else event.job]
        if said not in DOUBTFUL:
            told.absent_s = 0.0
        elif told.state != said and (told.state in ("", "absent") or said == "absent" or told.state not in DOUBTFUL):
            told.absent_s += event.time - told.since if told.state == "absent" else 0.0
            told.since = event.time
        told.state, told.source = said, value.get("source", "")
        for one in (told, self.told[event.job]):  # a part that runs says so of its job
            if said == "running" and one.running is None:
                one.running = event.time
        if said in ENDED or said in ("refused", "requeued"):
            told.ends.add(said)
        if value.get("restart", 0) > self.restart[event.job]:
            told.ends.add("requeued")
        if said in ENDED and not value.get("part") and event.job in self.parts and not self.parts[event.job]:
            self.live.pop(event.job, None)

    def _check_start(self, event: Event) -> None:
        need(bool(OWN_END & self._ends(event.run)), f"{event.run} is collected and nobody said that it came to its end")

    def _ends(self, run: str) -> set[str]:
        job = self.job_of.get(run, "")
        return self.told[run].ends if run in self.parts.get(job, ()) and self.told[run].ends else self.told[job].ends

    def _verdict(self, event: Event) -> None:
        value, verdict = event.value, event.value["verdict"]
        if "supersedes" in value:
            return
        if event.job:
            getattr(self, f"_is_{verdict}", self._is_checked if verdict in CHECKED else self._has_ended)(event)
            self.parts.get(event.job, set()).discard(event.run)
            whole = not self.parts.get(event.job) and bool(self.told[event.job].ends)
            several = event.run in self.told or value.get("part")
            if not value.get("alive") and (whole or not several) and "requeued" not in self.told[event.job].ends:
                self.live.pop(event.job, None)
        else:
            need(verdict in ("build_failed", "not_run", "cancelled"), f"{event.run} is {verdict} and has no job")

    def _is_checked(self, event: Event) -> None:
        need(bool(OWN_END & self._ends(event.run)), f"{event.run} is {event.value['verdict']} from silence")

    def _has_ended(self, event: Event) -> None:
        verdict, ends = event.value["verdict"], self._ends(event.run) | self.told[event.job].ends
        fits = {"timeout": {"timeout"}, "node_fail": {"node_fail", "requeued"}}.get(verdict, ENDED | {"requeued"})
        need(bool(fits & ends), f"{event.run} is {verdict} and nobody said so: {sorted(ends)}")

    def _is_submit_failed(self, event: Event) -> None:
        ends = self._ends(event.run) | self.told[event.job].ends
        need("refused" in ends, f"{event.run} is submit_failed and nobody refused it")

    def _is_lost(self, event: Event) -> None:
        told, policy, now = self.told[event.job], self.policy, event.time
        if told.state in DOUBTFUL:
            patience = policy.lost_after_s if told.state == "absent" else policy.no_answer_s
            waited = now - told.since + (told.absent_s if told.state == "absent" else 0.0)
            need(waited >= patience - SLACK, f"{event.run} is lost after {waited:g} s, {patience:g} s are stated")
        elif told.state == "running":
            began = told.running if told.running is not None else now
            deadline = began + self.limit[event.job] + policy.lost_after_s
            need(told.source != "queue", f"{event.run} is lost and the queue has it running")
            need(now >= deadline - SLACK, f"{event.run} is lost {deadline - now:g} s before its deadline")
        else:
            need(False, f"{event.run} is lost and the last word on its job was '{told.state}'")

    # ---- again ----------------------------------------------------------------------------------------------------------

    def _retry(self, event: Event) -> None:
        value, verdict = event.value, event.reason.split(" ")[0]
        times, wait = self._rule(value["component"], verdict)
        spends = self.spent[_want(event)]
        if value["attempt"] == 2:
            spends.clear()
        spends[verdict] += 1
        spent = spends[verdict]
        need(spent <= times, f"{event.run} is attempted again after {verdict} for the {spent}th time, {times} at most")
        due = event.time + wait * 2.0 ** min(spent - 1, 10) if wait else 0.0
        said = value.get("not_before", 0.0)
        need(said >= due - SLACK, f"{event.run} may be attempted again {due - said:g} s too early")
        self.again[_want(event)] = max(due, said)

    def _given_up(self, event: Event) -> None:
        self.again.pop(_want(event), None)

    def _rule(self, component: str, verdict: str) -> tuple[int, float]:
        found = self.components.get(component)
        for rule in found.retry if found else ():
            if rule.verdict == verdict:
                return (0, 0.0) if verdict in NEVER_AGAIN else (rule.times, rule.backoff_s)
        times, wait = BY_DEFAULT.get(verdict, (0, 0.0))
        return (min(times, 3) if found is not None and found.sweep else times, wait)


def _want(event: Event) -> Want:
    value: dict[str, Any] = event.value
    return value["component"], event.case, mode_of(value), value["repeat"]
