"""Sites with campaigns to compare: three tests on this machine, with noise of 1 %."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from shakedown.events.campaigns import create_campaign
from shakedown.events.lease import Lease
from shakedown.events.opening import open_log
from shakedown.model.events import Event
from shakedown.model.frozen import digest, freeze
from shakedown.model.nouns import Cluster, Document, NodeType, Partition, System

HERE = System(
    name="here",
    clusters=(Cluster("local", "local", (Partition("all", "local", "localhost", 1, "host"),)),),
    node_types=(NodeType("host", cores=4),),
)
TEST = """\
test: a
parameters: {n: [1, 2, 3]}
run: {command: x}
figures: {triad: {json: a, unit: GB/s, better: higher}}
"""
PLAN = "plan: p\nsystem: here\ncomponents: [{performance: {tests: [a], repeats: 12}}]\n"
DAY = 86400.0


def campaign(
    site: Path,
    document: Document,
    name: str,
    slow: float = 0.0,
    count: int = 12,
    changed: bool = False,
    began: Sequence[Event] = (),
    over: bool = True,
    **start: Any,
) -> None:
    """The record of a campaign: so many runs of each case; the second case is slower by a share.

    ``changed``: the second epoch begins half-way, and the case is slower in that one alone. ``began``: what happened before the
    first run, without numbers and times; ``over``: the campaign ended; ``start``: more of the first event's value.
    """
    frozen, noise, day = freeze(document), random.Random(name), 1000 * DAY + DAY * float(name[-1])
    layout = create_campaign(site / "campaigns", name, frozen)
    value = {"campaign": name, "plan": "p", "document": digest(frozen)} | start
    events = [Event("campaign_start", 1, day, value=value)]
    events += [msgspec.structs.replace(event, seq=number, time=day) for number, event in enumerate(began, 2)]
    for repeat in range(1, count + 1):
        if changed and repeat == count // 2 + 1:
            events.append(
                Event(
                    "changed",
                    len(events) + 1,
                    day + repeat - 0.5,
                    value={"what": "BIOS", "by": "Ada"},
                    reason="new BIOS",
                )
            )
        for place, case in enumerate(document.cases):
            rate = (
                100
                * math.exp(noise.gauss(0, 0.01))
                * (1 - slow if place == 1 and (not changed or repeat > count // 2) else 1)
            )
            fact: dict[str, Any] = {"component": "performance", "repeat": repeat, "attempt": 1, "verdict": "passed"}
            fact |= {
                "figures": {"triad": rate},
                "elapsed_s": 60 * math.exp(noise.gauss(0, 0.01)),
                "started": day + repeat,
            }
            run = f"r{3 * repeat + place:06d}"
            events.append(
                Event("verdict", len(events) + 1, day + repeat, value=fact, reason="passed", case=case.id, run=run)
            )
    events += [Event("campaign_end", len(events) + 1, day + count)] if over else []
    with Lease.acquire(layout) as lease:
        log, _ = open_log(layout.log, lease)
        log.append(events)
        log.close()
