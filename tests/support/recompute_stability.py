"""What is said of components that run for a time, computed again; part of ``recompute.py``.

Everything is found by cutting time at every moment at which anything changes and asking, piece by piece, what held there.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from recompute_log import Campaign, Run, Span
from recompute_numbers import unfolded

if TYPE_CHECKING:
    from recompute import Judge

Json = dict[str, Any]
Pieces = list[Span]
RIGHT = ("passed", "performance")
BEGINS = ("start", "restart")
USUAL = {"maintenance": "stops", "site": "stops", "vendor": "restarts", "machine": "runs", "other": "runs"}
ENDLESS = float("inf")


# ---- clocks --------------------------------------------------------------------------------------------------------------


def words(component: Json, campaign: Campaign) -> list[tuple[float, str]]:
    """(as of when, start | stop | go on | restart) in the order in which they count: by time, then as they were said."""
    name, found = component["name"], []
    if component["clock"]["start"] == "first order" and name in campaign.first_order:
        found.append((campaign.first_order[name], "start"))
    terms, owed = USUAL | dict(map(tuple, component["clock"]["causes"])), ""
    for event in campaign.standing:
        value = event.get("value", {})
        if value.get("component", "") != name or event.get("case"):
            continue
        at = value.get("from", event["time"])
        if event["event"] in ("clock", "stood"):
            found.append((at, value["act"]))
        elif event["event"] == "paused":
            does = value.get("clock") or ("stops" if value.get("phase") else terms[value.get("cause") or "other"])
            owed = {"stops": "go on", "restarts": "restart", "runs": ""}[does]
            found += [(at, "stop")] if owed else []
        elif event["event"] == "continued" and owed:
            found.append((at, owed if any(act in BEGINS for _, act in found) else "go on"))
            owed = ""
    return sorted(found, key=lambda word: word[0])


def since(component: Json, campaign: Campaign) -> float | None:
    return max((at for at, act in words(component, campaign) if act in BEGINS), default=None)


def counts_from(component: Json, campaign: Campaign) -> float:
    """Runs that started before this moment are in no count."""
    first = campaign.first_order.get(component["name"])
    if not component["duration_s"] or first is None:
        return -ENDLESS
    begun = since(component, campaign)
    return ENDLESS if begun is None else begun if begun > first else -ENDLESS


def told_to_end(component: Json, campaign: Campaign) -> float:
    begun, name = since(component, campaign), component["name"]
    said = [event["time"] for event in campaign.standing if event["event"] == "drain_request"
            and event.get("value", {}).get("component", name) in ("", name)]  # fmt: skip
    said += [campaign.time_up[name]] if name in campaign.time_up else []
    said += [campaign.cancelled] if campaign.cancelled is not None else []
    return min((time for time in said if begun is not None and time >= begun), default=ENDLESS)


def clock_pieces(component: Json, campaign: Campaign, until: float) -> Pieces:
    """The pieces of time in which the clock ran and counts."""
    told = [word for word in words(component, campaign) if word[0] <= until]
    starts = [at for at, act in told if act in BEGINS]
    if not starts:
        return []
    first, fill = campaign.first_order.get(component["name"], ENDLESS), component["fill"]
    by_itself = component["clock"]["start"] == "first order"
    full, ends = first + fill["ramp_s"], told_to_end(component, campaign)
    cuts = sorted(
        {max(starts), until, *(time for time in (first, full, ends) if time < until), *(at for at, _ in told)}
    )
    found = []
    for begin, end in pairwise(time for time in cuts if time >= max(starts)):
        last = [act for at, act in told if at <= begin][-1]
        in_ramp = not component["clock"]["ramp"] and by_itself and first <= begin < full
        in_drain = not component["clock"]["drain"] and begin >= ends
        if last != "stop" and not in_ramp and not in_drain:
            found.append((begin, end))
    return found


def has_had_its_time(component: Json, campaign: Campaign) -> bool:
    pieces = clock_pieces(component, campaign, campaign.last)
    ran, wanted = 0.0, component["duration_s"]
    for begin, end in pieces:
        if end >= begin + (wanted - ran):
            return True
        ran += end - begin
    return told_to_end(component, campaign) < ENDLESS


def whole_span(component: Json, campaign: Campaign) -> Span | None:
    """From the last start of the clock to the end of the component's last run, or of its time."""
    begin = since(component, campaign)
    own = [run for run in campaign.judged if run.component == component["name"]]
    if begin is None or not own:
        return None
    ends = [run.span[1] if run.span else run.time for run in own]
    if component["duration_s"] and component["name"] in campaign.time_up:
        ends.append(campaign.time_up[component["name"]])
    if component["duration_s"] and not campaign.ended and told_to_end(component, campaign) == ENDLESS:
        ends.append(campaign.last)
    return begin, max(begin, *ends)


def is_up_at(part: Json, campaign: Campaign, last: float) -> float:
    """When the clock of a component will have run its planned time, if nothing more is said of it."""
    told, first = words(part, campaign), campaign.first_order.get(part["name"], ENDLESS)
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


def maintenance_pieces(component: Json, campaign: Campaign, span: Span) -> Pieces:
    told = []
    for event in campaign.standing:
        value, name = event.get("value", {}), event["event"]
        if value.get("component", "") == component["name"] and not event.get("case"):
            act = value.get("act", name) if name == "clock" else name
            if act in ("stop", "paused") and value.get("cause") == "maintenance":
                told.append((value.get("from", event["time"]), True))
            elif act in ("go on", "continued", *BEGINS):
                told.append((value.get("from", event["time"]), False))
    told.sort(key=lambda pair: pair[0])
    cuts = sorted({*span, *(at for at, _ in told if span[0] < at < span[1])})
    return [(a, b) for a, b in pairwise(cuts) if ([opens for at, opens in told if at <= a] or [False])[-1]]


# ---- amounts -------------------------------------------------------------------------------------------------------------


def overlap(span: Span, pieces: Pieces) -> float:
    return math.fsum(max(0.0, min(span[1], end) - max(span[0], begin)) for begin, end in pieces)


def minus(span: Span, holes: Pieces) -> Pieces:
    cuts = sorted({*span, *(time for hole in holes for time in hole if span[0] < time < span[1])})
    return [(a, b) for a, b in pairwise(cuts) if not any(hole[0] <= a and b <= hole[1] for hole in holes)]


def lasting(pieces: Pieces) -> float:
    return math.fsum(end - begin for begin, end in pieces)


def held_by_node(judge: Judge, component: Json, pieces: Pieces) -> dict[str, float]:
    """Node -> seconds of the clock in which any of our runs held it."""
    places = {judge.cases[case]["partition"] for case in component["cases"] if case in judge.cases}
    spans: dict[str, list[Span]] = {}
    only: dict[str, str] = {}
    for cluster in judge.document["system"]["clusters"]:
        for partition in cluster["partitions"]:
            place = f"{cluster['name']}:{partition['name']}"
            names = [f"{cluster['name']} {node}" for node in unfolded(partition["nodes"])]
            if place in places:
                spans |= {name: spans.get(name, []) for name in names}
                only |= {place: names[0]} if len(names) == 1 else {}
    for run in judge.campaign.judged:
        if run.case in judge.cases and run.span:
            place = judge.cases[run.case]["partition"]
            nodes = [f"{place.partition(':')[0]} {node}" for node in unfolded(run.nodes)] if run.nodes else []
            if not any(node in spans for node in nodes) and place in only:
                nodes = [only[place]]
            for node in nodes:
                if node in spans:
                    spans[node].append(run.span)
    return {node: overlap_of_any(mine, pieces) for node, mine in spans.items()}


def overlap_of_any(spans: list[Span], pieces: Pieces) -> float:
    """How much of the pieces lies in at least one of the spans."""
    cuts = sorted({time for span in (*spans, *pieces) for time in span})
    return math.fsum(
        b - a for a, b in pairwise(cuts)
        if any(low <= a and b <= high for low, high in pieces) and any(low <= a and b <= high for low, high in spans)
    )  # fmt: skip


def is_interrupt(run: Run) -> bool:
    if run.verdict == "passed" or run.ruling in ("application", "harness", "excused"):
        return False
    return run.verdict in ("node_fail", "interrupted", "lost") or run.ruling in ("vendor", "site")


def interrupted(component: Json, campaign: Campaign, pieces: Pieces) -> tuple[Counter[str], int]:
    """Job interrupts by verdict, and how many of the system they are: those within a minute of the one before are the same."""
    found = sorted(
        (end, run.verdict) for run in campaign.judged
        if run.component == component["name"] and is_interrupt(run)
        for end in [run.span[1] if run.span else run.time]
        if any(low < end <= high for low, high in _joined(pieces))
    )  # fmt: skip
    times = [time for time, _ in found]
    return Counter(verdict for _, verdict in found), len(times) - sum(b - a <= 60 for a, b in pairwise(times))


def _joined(pieces: Pieces) -> Pieces:
    found: Pieces = []
    for begin, end in pieces:
        if found and found[-1][1] == begin:
            found[-1] = (found[-1][0], end)
        else:
            found.append((begin, end))
    return found


def between_events(count: int) -> tuple[float, float]:
    """The two means of a Poisson count at 95 %: the terms are added up one from the other."""

    def no_more(most: int, middle: float) -> float:
        term = total = math.exp(-middle)
        for k in range(1, most + 1):
            term *= middle / k
            total += term
        return total

    def solve(most: int, share: float) -> float:
        low, high = 0.0, 10.0 * most + 20.0
        for _ in range(100):
            middle = (low + high) / 2
            low, high = (middle, high) if no_more(most, middle) > share else (low, middle)
        return low

    return (solve(count - 1, 0.975) if count else 0.0), solve(count, 0.025)


def holes(judge: Judge, component: Json, cases: Iterable[Any], pieces: Pieces, span: Span) -> dict[str, list[Json]]:
    """Test -> its holes: seconds of the clock, and whether it lasts to the end."""
    campaign = judge.campaign
    spans: dict[str, list[Span]] = {}
    for case in cases:
        mine = spans.setdefault(case.data["test"], [])
        mine += [run.span for run in [*case.runs, *case.lost] if run.span]
        mine += [(run.began, max(run.began, span[1])) for run in campaign.open if run.component == component["name"]
                 and run.case == case.data["id"] and run.mode != "filler" and run.began is not None]  # fmt: skip
    found = {}
    for test, mine in spans.items():
        inside = [(max(a, span[0]), min(b, span[1])) for a, b in mine if b >= span[0] and a <= span[1]]
        cuts = sorted({*span, *(time for one in inside for time in one)})
        bare = [(a, b) for a, b in pairwise(cuts) if not any(low <= a and b <= high for low, high in inside)]
        lengths = [{"seconds": overlap(hole, pieces), "last": hole[1] >= span[1]} for hole in bare]
        found[test] = [hole for hole in lengths if hole["seconds"] > 0]
    return found


def loads(judge: Judge) -> dict[str, list[tuple[float, float]]]:
    """Budget, or budget@target -> (from when, how much): at every moment at which it changes, every run that loads it added up."""
    system, campaign = judge.document["system"], judge.campaign
    names = {name for name, _ in map(tuple, system["budgets"])} | {
        name for name, _ in judge.document["limits"]["budgets"]
    }
    taken: dict[str, list[tuple[float, float, float]]] = {}
    for run in campaign.runs.values():
        case = judge.cases.get(run.case)
        end = run.freed if run.freed is not None else run.time if run.verdict else campaign.last
        if case is None or run.charged is None or end <= run.charged:
            continue
        for name, amount in case["loads"]:
            key = f"{name}@{run.targets[name]}" if name in run.targets else name
            if name in names:
                taken.setdefault(key, []).append((run.charged, end, amount))
    return {
        key: [(at, math.fsum(amount for low, high, amount in mine if low <= at < high))
              for at in sorted({time for low, high, _ in mine for time in (low, high)})]
        for key, mine in taken.items()
    }  # fmt: skip
