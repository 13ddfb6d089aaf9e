"""What a machine that is kept full must never do, counted from the lines of the log alone; and what its payloads say themselves.

A job may start from its order on, or, where it was held, from its release on, and loads its target until its end is confirmed.
A job that follows another (``after``) takes that one's place: together they are one chain, and load once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from shakedown.model.events import Event

OVER = frozenset({"completed", "failed", "timeout", "cancelled", "interrupted", "node_fail"})
NEVER = float("inf")


@dataclass
class Line:
    """A job of the log. ``ordered``, ``may_start``, ``began`` and ``over``: seconds since 1970; NEVER: not yet."""

    job: str
    case: str
    component: str
    chain: str
    target: str = ""
    ordered: float = 0.0
    may_start: float = NEVER
    began: float = NEVER
    over: float = NEVER
    runs: dict[str, bool] = field(default_factory=dict)  # its runs, and whether each is judged

    @property
    def test(self) -> str:
        return self.case.split("/")[0].split("@")[0]


def jobs_of(events: Iterable[Event]) -> dict[str, Line]:
    """Purpose: every job that was ordered, with its times."""
    jobs: dict[str, Line] = {}
    for event in events:
        if event.event == "submit_order":
            _ordered(jobs, event)
        elif (job := jobs.get(event.job)) is not None:
            _said(job, event)
    return jobs


def _ordered(jobs: dict[str, Line], event: Event) -> None:
    value = event.value
    if event.job not in jobs:
        before = jobs.get(value.get("after", ""))
        chain = before.chain if before is not None else event.job
        job = jobs[event.job] = Line(event.job, event.case, value["component"], chain, ordered=event.time)
        job.target = "".join(value.get("targets", {}).values())
        job.may_start = NEVER if value.get("held") else event.time
    jobs[event.job].runs[event.run] = False


def _said(job: Line, event: Event) -> None:
    value, now = event.value, event.time
    if event.event == "release_order":
        job.target = "".join(value.get("targets", {}).values()) or job.target
        job.may_start = min(job.may_start, now)
    elif event.event == "job_report" and value["state"] == "running":
        job.began = min(job.began, now)
    elif event.event == "job_report" and value["state"] in OVER - {"node_fail"} and not value.get("part"):
        job.over = min(job.over, now)
    elif event.event == "verdict" and event.run in job.runs and not value.get("alive"):
        job.runs[event.run] = True
        if all(job.runs.values()):
            job.over = min(job.over, now)
    elif _gone(event):
        job.over = min(job.over, now)


def _gone(event: Event) -> bool:
    """It never was at the scheduler, or never will be any more."""
    if event.event == "finding":
        return bool(event.value.get("dead"))
    return event.event in ("claim_taken", "returned", "submit_deferred") and not event.value.get("part")


# ---- at every instant --------------------------------------------------------------------------------------------------


def most_at_once(spans: Iterable[tuple[str, str, float, float]]) -> dict[str, int]:
    """Purpose: by what is loaded, the most that loaded it at one instant. ``spans``: (what, who, from, until); one who counts once.

    Ends come before begins of the same instant: that place is free.
    """
    changes = sorted((at, step, what, who) for what, who, low, high in spans for at, step in ((low, 1), (high, -1)))
    now: dict[str, Counter[str]] = defaultdict(Counter)
    most: dict[str, int] = {}
    for _, step, what, who in changes:
        now[what][who] += step
        if now[what][who] <= 0:
            del now[what][who]
        most[what] = max(most.get(what, 0), len(now[what]))
    return most


def loads(jobs: Iterable[Line], of: Callable[[Line], str]) -> dict[str, int]:
    """Purpose: the most chains at one instant by target, by test, by what ``of`` says; "": it does not count."""
    spans = [(of(job), job.chain, job.may_start, job.over) for job in jobs if of(job)]
    return most_at_once(span for span in spans if span[2] < span[3])


def most_waiting(jobs: Iterable[Line]) -> int:
    """Purpose: the most jobs that were ordered and neither ran nor were over, at one instant."""
    spans = [("waits", job.job, job.ordered, min(job.began, job.over)) for job in jobs]
    return most_at_once(span for span in spans if span[2] < span[3]).get("waits", 0)


def followed_twice(events: Iterable[Event]) -> list[str]:
    """Purpose: jobs whose place two others were to take at one time; one that was taken back may have another in its stead."""
    followers: dict[str, list[str]] = defaultdict(list)
    events = list(events)
    for event in events:
        before = event.value.get("after", "") if event.event == "submit_order" else ""
        if before and event.job not in followers[before]:
            followers[before].append(event.job)
    jobs = jobs_of(events)
    return [
        before
        for before, those in followers.items()
        if any(jobs[first].over > jobs[second].ordered for first, second in pairwise(those))
    ]


# ---- what the payloads say -----------------------------------------------------------------------------------------------

# A payload's own word of when it began, where, and of when it ended; ``{campaign}`` is Shakedown's.
_SAYS = 'printf "%s %s %s %s\\n" WORD "$SHAKEDOWN_RUN" "$(date +%s.%N)" "$(pwd -P)" >>{campaign}/../../executed'
ENDS = _SAYS.replace("WORD", "end")


def begins(test: str) -> str:
    """Purpose: the first line of a payload."""
    return _SAYS.replace("WORD", test)


@dataclass(frozen=True)
class Told:
    """A run by its own payload's words. ``end``: NEVER where it was cut off."""

    test: str
    run: str
    place: str
    begin: float
    end: float = NEVER


def told_by_payloads(file: Path) -> list[Told]:
    """Purpose: what began, in that order, a line for each begin: a run that is told twice was executed twice."""
    began: list[Told] = []
    ends: dict[str, float] = {}
    for line in file.read_text().splitlines() if file.exists() else []:
        word, run, at, place = line.split(" ", 3)
        if word == "end":
            ends[run] = float(at)
        else:
            began.append(Told(word, run, place, float(at)))
    return [Told(one.test, one.run, one.place, one.begin, ends.get(one.run, NEVER)) for one in began]


def executed_twice(told: Sequence[Told]) -> list[str]:
    return [run for run, count in Counter(one.run for one in told).items() if count > 1]


def holes(spans: Iterable[tuple[float, float]], since: float, until: float) -> list[tuple[float, float]]:
    """Purpose: the times within these in which none of the spans was live, as (begin, end) in seconds."""
    found, at = [], since
    for begin, end in sorted(spans):
        if begin > at:
            found.append((at, min(begin, until)))
        at = max(at, end)
        if at >= until:
            return found
    return [*found, (at, until)]


def longest_owed_hole(
    told: Sequence[Told], nodes: Mapping[str, int], test: str, share: float, since: float, until: float
) -> float:
    """Purpose: the longest time within these in which no run of the test was live although it had had less than its share.

    ``nodes``: of a run of each test. ``share``: of all node-seconds so far. A test that had more than its share may rest.
    """

    def had(name: str, at: float) -> float:
        mine = [one for one in told if name in ("", one.test) and one.begin < at]
        return sum((min(one.end, at) - one.begin) * nodes[one.test] for one in mine)

    longest = 0.0
    for begin, end in holes([(one.begin, one.end) for one in told if one.test == test], since, until):
        moments = sorted({begin, *(one.end for one in told if begin < one.end < end)})
        owed = next((at for at in moments if had(test, at) < share * had("", at)), end)
        longest = max(longest, end - owed)
    return longest
