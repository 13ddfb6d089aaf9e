"""A campaign's log read with nothing but the standard library: what was judged, ruled, waived and attested, epoch by epoch.

Part of ``recompute.py``. It shares no code with the package, on purpose, so that a mistake there is not made here again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any

NOT_RUNNING = {"ordered", "queued", "waiting again", "absent", "no_answer", "unknown"}
OVER = {"completed", "failed", "timeout", "node_fail", "cancelled", "interrupted"}
Span = tuple[float, float]


@dataclass
class Run:
    """One run: as it was ordered, and as it was last judged. ``verdict`` "" while it is not."""

    name: str
    case: str
    component: str
    mode: str
    result: tuple[Any, ...]
    epoch: int
    job: str = ""
    state: str = "ordered"
    verdict: str = ""
    ruling: str = ""
    retried: bool = False
    seq: int = 0
    time: float = 0.0  # of its first verdict
    figures: dict[str, float] = field(default_factory=dict)
    started: float | None = None
    ended: float | None = None
    elapsed: float | None = None
    nodes: str = ""
    began: float | None = None  # since when it is known to run, while it is not judged
    targets: dict[str, str] = field(default_factory=dict)
    charged: float | None = None  # its loads count from here
    freed: float | None = None  # to here
    after: str = ""  # the job that it was ordered to follow
    checks: list[Any] = field(default_factory=list)  # text, held, detail
    known: bool = False  # its verdict is what its checks say in a log without some of them
    strange: bool = False  # judged again, or with problems: what its checks say is not all
    attempt: int = 1
    ordered: int = 0  # the event that ordered it
    over: int = 0  # the event that judged it first, or gave it up; 0 while it may be judged by itself again

    @property
    def span(self) -> Span | None:
        """From its start for as long as its own clock says."""
        if self.elapsed is not None and self.started is not None:
            return self.started, self.started + self.elapsed
        if self.elapsed is not None and self.ended is not None:
            return self.ended - self.elapsed, self.ended
        if self.started is not None and self.ended is not None and self.ended >= self.started:
            return self.started, self.ended
        return None


@dataclass
class Campaign:
    """What a log says. ``judged`` are runs with a verdict in the order in which they last got one."""

    document: str = ""
    epoch: int = 1
    amended: list[int] = field(default_factory=list)  # epochs that an amendment opened
    found: dict[int, int] = field(default_factory=dict)  # epochs that nobody declared, and the events that opened them
    conditions: set[int] = field(default_factory=set)  # findings that something was changed, which nobody waived
    last_amended: int = 0  # the event that amended the plan last
    in_force: list[tuple[int, str]] = field(default_factory=list)  # since which event -> the plan
    taken_up: dict[str, list[int]] = field(default_factory=dict)  # component -> the events by which it was run again
    ended: bool = False
    over: tuple[str, set[Any], dict[str, float]] | None = None  # plan, unavailable, time up, of when it had ended
    last: float = 0.0
    fingerprint: str = ""
    standing: list[dict[str, Any]] = field(default_factory=list)  # what was said of clocks, pauses, budgets
    time_up: dict[str, float] = field(default_factory=dict)
    again: dict[str, int] = field(default_factory=dict)
    cancelled: float | None = None  # when all of it was cancelled
    runs: dict[str, Run] = field(default_factory=dict)
    generations: dict[tuple[Any, ...], int] = field(default_factory=dict)
    first_order: dict[str, float] = field(default_factory=dict)
    unavailable: set[tuple[str, str]] = field(default_factory=set)
    given_up: set[str] = field(default_factory=set)
    told: list[dict[str, Any]] = field(default_factory=list)  # what opens and closes issues, as it was said
    cut_short: set[str] = field(
        default_factory=set
    )  # components that have more of their time in a log without some acts
    waivers: list[tuple[str, str, str]] = field(default_factory=list)  # what, component, name
    waived_rows: list[dict[str, Any]] = field(default_factory=list)  # beside it, what a contract row asked for
    waived_digests: list[str] = field(default_factory=list)  # beside it, of what was waived
    waived_words: list[tuple[int, str]] = field(default_factory=list)  # beside it, the event and the restriction
    gates: list[tuple[int, str, str]] = field(default_factory=list)  # event, component, how it came out
    drilled: list[dict[str, Any]] = field(default_factory=list)  # what people said of drills: at, act, digests of files
    attested: dict[tuple[str, str], tuple[bool, int]] = field(default_factory=dict)  # met, files of evidence
    attested_at: dict[tuple[str, str], float] = field(default_factory=dict)

    @property
    def judged(self) -> list[Run]:
        return sorted([run for run in self.runs.values() if run.verdict], key=attrgetter("seq"))

    @property
    def open(self) -> list[Run]:
        return [run for run in self.runs.values() if not run.verdict]


OF_ISSUES = (
    "paused",
    "continued",
    "excluded",
    "included",
    "case_stopped",
    "halted",
    "goes_on",
    "observed",
    "finding",
    "ruled",
    "waived",
)


def read_log(folder: Path) -> list[dict[str, Any]]:
    """Every event of a campaign's log, in order; the header line of each segment is no event."""
    lines = [line for path in sorted(folder.glob("*.jsonl")) for line in path.read_bytes().splitlines()]
    return [data for data in map(json.loads, lines) if "event" in data]


def replay(events: Iterable[dict[str, Any]]) -> Campaign:
    """The campaign at the end of these events."""
    campaign = Campaign()
    for event in events:
        play(campaign, event)
    return campaign


def play(campaign: Campaign, event: dict[str, Any]) -> None:
    """What one event more changes."""
    campaign.last = max(campaign.last, event.get("time", 0.0))
    if event["event"] in OF_ISSUES:
        campaign.told.append(event)
    if event["event"] in _PLAY:
        _PLAY[event["event"]](campaign, event, event.get("value", {}))


# ---- what each event changes ---------------------------------------------------------------------------------------------


def _start(campaign: Campaign, event: dict[str, Any], value: dict[str, Any]) -> None:
    campaign.document = value["document"]
    campaign.in_force = [(event["seq"], value["document"])]


def _amended(campaign: Campaign, event: dict[str, Any], value: dict[str, Any]) -> None:
    if campaign.ended and campaign.cancelled is None:
        campaign.over = campaign.document, {*campaign.unavailable}, {**campaign.time_up}
    campaign.document, campaign.ended = value["document"], False
    campaign.epoch += 1
    campaign.amended.append(campaign.epoch)
    campaign.last_amended = event["seq"]
    campaign.in_force.append((event["seq"], value["document"]))
    campaign.unavailable.clear()
    campaign.time_up.clear()
    campaign.cancelled = None
    campaign.standing = [said for said in campaign.standing if said["event"] != "drain_request"]
    for name, since in value.get("stopped", {}).items():
        _stood_still(campaign, event, name, since)


def _changed(campaign: Campaign, event: dict[str, Any], value: dict[str, Any]) -> None:
    """What was ordered and does not run yet will run on the changed machine."""
    for run in campaign.open:
        if run.epoch == campaign.epoch and run.state in NOT_RUNNING:
            run.epoch += 1
    campaign.epoch += 1


def _fingerprint(campaign: Campaign, event: dict[str, Any], value: dict[str, Any]) -> None:
    only_new_nodes = "first_seen" in value and "since_last" not in value
    if campaign.fingerprint not in ("", value["digest"]) and not only_new_nodes:
        _changed(campaign, event, value)
        campaign.found[campaign.epoch] = event["seq"]
    campaign.fingerprint = value["digest"]


def _ordered(campaign: Campaign, event: dict[str, Any], value: dict[str, Any]) -> None:
    name = event["run"]
    if name in campaign.runs and campaign.runs[name].verdict:
        return
    component = value["component"]
    key = (component, value.get("mode", ""), value.get("of", ""), event["case"], value.get("repeat", 1))
    before = campaign.runs.get(name)
    if before is not None:
        result = before.result
    else:
        result = (*key, _generation(campaign, key, value))
    later = any(value.get(word) for word in ("held", "after", "bundle"))
    mode, charged = value.get("mode", ""), None if later else event["time"]
    run = Run(name, event["case"], component, mode, result, campaign.epoch, event["job"], charged=charged)
    run.after, run.attempt, run.ordered = value.get("after", ""), value.get("attempt", 1), event["seq"]
    previous = campaign.runs.get(value.get("previous", ""))
    run.targets = value.get("targets", previous.targets if previous else {})
    campaign.runs[name] = run
    if mode not in ("set-up", "clean-up", "drill"):
        campaign.first_order.setdefault(component, event["time"])
    campaign.ended, campaign.over = False, None


def _generation(campaign: Campaign, key: tuple[Any, ...], value: dict[str, Any]) -> int:
    """Which of the results of one name an attempt is at: a first attempt is at a new one."""
    if value.get("attempt", 1) <= 1 or key not in campaign.generations:
        campaign.generations[key] = campaign.generations.get(key, 0) + 1
    return campaign.generations[key]


def _reported(campaign: Campaign, event: dict[str, Any], value: dict[str, Any]) -> None:
    run = _run_of(campaign, event)
    if run is not None:
        run.state = value.get("state", "")
        if run.state == "running" and run.began is None:
            run.began = value.get("began", event["time"])
        if run.state in ("running", *OVER) and run.charged is None:
            run.charged = event["time"]
            for other in campaign.runs.values():  # Slurm started it, so what it follows is over
                if run.after and other.job == run.after and other.freed is None and not other.verdict:
                    other.freed = event["time"]
        if run.state in OVER and run.freed is None:
            run.freed = event["time"]
    if value.get("state", "") in OVER:
        _next_may_start(campaign, event)


def _next_may_start(campaign: Campaign, event: dict[str, Any]) -> None:
    """A job is over: the run that was ordered to follow it loads what it loaded from now on."""
    for other in campaign.runs.values():
        if other.after and other.after == event.get("job") and other.charged is None and not other.verdict:
            other.charged = event["time"]


def _released(campaign: Campaign, event: dict[str, Any], value: dict[str, Any]) -> None:
    run = _run_of(campaign, event)
    if run is not None:
        run.targets, run.charged = value.get("targets", {}), event["time"]


def _waits(campaign: Campaign, event: dict[str, Any], value: dict[str, Any]) -> None:
    run = _run_of(campaign, event)
    if run is not None:
        run.charged = run.freed = None
        if event["event"] != "submit_deferred":
            run.state = "waiting again"


def _stands(campaign: Campaign, event: dict[str, Any], value: dict[str, Any]) -> None:
    campaign.standing.append(event)


def _found(campaign: Campaign, event: dict[str, Any], value: dict[str, Any]) -> None:
    if value.get("kind") == "time_is_up":
        campaign.time_up[value["component"]] = event["time"]
    if value.get("kind") == "conditions_changed":
        campaign.conditions.add(event["seq"])
    if event["seq"] in campaign.conditions and not value.get("late"):
        _changed(campaign, event, value)
        campaign.found[campaign.epoch] = event["seq"]


def _run_of(campaign: Campaign, event: dict[str, Any]) -> Run | None:
    if "run" in event:
        found = campaign.runs.get(event["run"])
    else:
        found = next((run for run in reversed(campaign.runs.values()) if run.job == event.get("job")), None)
    return found if found is not None and not found.verdict else None


def _judged(campaign: Campaign, event: dict[str, Any], value: dict[str, Any]) -> None:
    run = campaign.runs.get(event["run"])
    if run is None:
        key = (value["component"], value.get("mode", ""), value.get("of", ""), event["case"], value.get("repeat", 1))
        result = (*key, _generation(campaign, key, value))  # it was never ordered: a person wanted no more of it
        run = campaign.runs[event["run"]] = Run(event["run"], event["case"], key[0], key[1], result, campaign.epoch)
    if run.verdict and not value.get("supersedes"):
        return
    if value["component"] == "no longer wanted" and value["verdict"] == "cancelled" and "started" not in value:
        run.component, run.result = value["component"], (value["component"], *run.result[1:])  # nothing was attempted
    run.time = run.time if run.verdict else event["time"]
    run.freed = run.freed if run.freed is not None else event["time"]
    if not run.verdict and event.get("job") and not value.get("alive"):
        _next_may_start(campaign, event)
    run.verdict, run.seq = value["verdict"], event["seq"]
    run.over = run.over or (event["seq"] if run.verdict != "undetermined" else 0)
    figures = value.get("figures", {}).items()
    run.figures = {name: number for name, number in figures if number == 0 or 1e-100 <= abs(number) < 1e100}
    run.checks, run.strange = value.get("checks", []), bool(value.get("supersedes") or value.get("problems"))
    run.started = value.get("started", run.started)
    run.ended = value.get("ended", run.ended)
    run.elapsed = value.get("elapsed_s", run.elapsed)
    run.nodes = value.get("nodes") or run.nodes


def _ruled(campaign: Campaign, event: dict[str, Any], value: dict[str, Any]) -> None:
    run = campaign.runs.get(event["run"])
    if run is not None and run.verdict:
        run.ruling = "" if value["as"] == "none" else value["as"]


def _cancelled(campaign: Campaign, event: dict[str, Any], value: dict[str, Any]) -> None:
    campaign.cancelled = event["time"] if value.get("all") else campaign.cancelled


def _taken_up(campaign: Campaign, event: dict[str, Any], value: dict[str, Any]) -> None:
    """A component is run again: what told it to end holds no more."""
    name = value["component"]
    campaign.again[name] = campaign.again.get(name, 0) + 1
    campaign.taken_up.setdefault(name, []).append(event["seq"])
    campaign.time_up.pop(name, None)
    campaign.ended, campaign.over = False, None
    if "stopped" in value:
        _stood_still(campaign, event, name, value["stopped"])
    if "clock" in value:
        campaign.standing.append(
            {"event": "clock", "time": event["time"], "value": {"component": name, "act": value["clock"]}}
        )


def _only_stood_still(campaign: Campaign, event: dict[str, Any], value: dict[str, Any]) -> None:
    """An amendment that is left out of the log: the hours before it, in which nothing ran, stay what they were."""
    for name, since in value["stopped"].items():
        _stood_still(campaign, event, name, since)


def _stood_still(campaign: Campaign, event: dict[str, Any], name: str, since: float) -> None:
    for act, at in (("stop", since), ("go on", event["time"])):
        said = {"component": name, "act": act, "from": at}
        campaign.standing.append({"event": "stood", "time": event["time"], "value": said})


def _retried(campaign: Campaign, event: dict[str, Any], value: dict[str, Any]) -> None:
    campaign.ended, campaign.over = False, None
    if event["run"] in campaign.runs:
        campaign.runs[event["run"]].retried = True


def _attested(campaign: Campaign, event: dict[str, Any], value: dict[str, Any]) -> None:
    campaign.attested[value["component"], value["procedure"]] = (value["met"] is True, len(value.get("evidence", ())))
    campaign.attested_at[value["component"], value["procedure"]] = event["time"]


def _waived(campaign: Campaign, event: dict[str, Any], value: dict[str, Any]) -> None:
    if value["what"] == "conditions":
        campaign.conditions.discard(int(value["name"]))
    campaign.waivers.append((value["what"], value.get("component", ""), value.get("name", "")))
    campaign.waived_rows.append(value.get("row", {}))
    campaign.waived_digests.append(value.get("digest", ""))
    campaign.waived_words.append((event["seq"], value.get("restriction", "")))


def _came_out(campaign: Campaign, event: dict[str, Any], value: dict[str, Any]) -> None:
    campaign.gates.append((event["seq"], value["component"], value["outcome"]))


def _unavailable(campaign: Campaign, event: dict[str, Any], value: dict[str, Any]) -> None:
    campaign.unavailable.add((value.get("component", ""), event["case"]))


def _given_up(campaign: Campaign, event: dict[str, Any], value: dict[str, Any]) -> None:
    campaign.given_up.add(event["run"])
    if event["run"] in campaign.runs:
        campaign.runs[event["run"]].over = event["seq"]


def _ended(campaign: Campaign, event: dict[str, Any], value: dict[str, Any]) -> None:
    campaign.ended = True


def _drilled(campaign: Campaign, event: dict[str, Any], value: dict[str, Any]) -> None:
    files = [file["sha256"] for file in value.get("evidence", [])]
    campaign.drilled.append({**value, "at": value.get("from", event["time"]), "files": files})


_PLAY: dict[str, Callable[[Campaign, dict[str, Any], dict[str, Any]], None]] = {
    "campaign_start": _start,
    "amended": _amended,
    "stood still": _only_stood_still,
    "changed": _changed,
    "fingerprint": _fingerprint,
    "submit_order": _ordered,
    "requeued": _ordered,
    "job_report": _reported,
    "release_order": _released,
    "claim_taken": _waits,
    "returned": _waits,
    "submit_deferred": _waits,
    "verdict": _judged,
    "ruled": _ruled,
    "retry": _retried,
    "cancel_request": _cancelled,
    "again": _taken_up,
    "attested": _attested,
    "drilled": _drilled,
    "waived": _waived,
    "component_outcome": _came_out,
    "unavailable": _unavailable,
    "given_up": _given_up,
    "campaign_end": _ended,
    "finding": _found,
    "clock": _stands,
    "paused": _stands,
    "continued": _stands,
    "drain_request": _stands,
    "budget_set": _stands,
}
