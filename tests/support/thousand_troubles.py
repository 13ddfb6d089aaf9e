"""What goes wrong in a campaign, drawn from its seed: fates of runs and nodes, lies of the scheduler, other people, crashes.

Every switch of the twin is the one that a campaign is about in turn (``ABOUT``), and comes up by chance in others.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

from shakedown.model.nouns import Document
from shakedown.model.shared_nodes import nodes_of
from shakedown.twin import Fates, Lies, Others

Draw = random.Random

# Each lie -> what it is drawn from when it is on. ``purge_s`` is always something; the others are off by default.
LIES: dict[str, tuple[Any, ...]] = {
    "refused": (0.1, 0.3),
    "timed_out": (0.1, 0.4),
    "lost_submit": (0.1, 0.3),
    "late_submit": (0.1, 0.3),
    "late_s": (40.0, 90.0, 200.0),
    "stale_s": (6.0, 15.0, 40.0),
    "accounting_late_s": (20.0, 120.0),
    "accounting_missing": (0.2, 0.5),
    "runaway": (0.2, 0.5),
    "purge_s": (2.0, 30.0),
    "alive_after_node_fail": (0.5, 1.0),
    "marks_late_s": (4.0, 30.0),
    "marks_lost": (0.1, 0.4),
    "unstartable": (0.05, 0.2),
    "launch_failure": (0.05, 0.2),
    "launches_nothing": ((0.0, 400.0), (60.0, 1e9)),
    "outage": (0.1, 0.3),
    "release_s": (3.0, 20.0),
    "release_unheard": (0.2, 0.5),
    "release_lost": (0.75, 0.95),
    "idle_untrue": (0.1, 0.3),
    "away": (((20.0, 60.0),), ((90.0, 25.0),), ((45.0, 300.0),)),
    "signalled": (2.0, 12.0),  # so long after the directory went away
}
AWAY_EACH = 29  # one campaign of so many is about a directory that is away
BAD_NODE_EACH = 31  # and one of so many about one to three nodes that launch nothing
SELDOM_TOLD = ("away", "launches_nothing", "signalled")  # only where a campaign is about it
# What makes a lie matter: it is told of nothing otherwise.
WITH: dict[str, dict[str, float]] = {
    "late_s": {"late_submit": 0.2},
    "accounting_late_s": {"marks_lost": 0.4, "purge_s": 2.0},
    "accounting_missing": {"marks_lost": 0.4, "purge_s": 2.0},
    "runaway": {"marks_lost": 0.4, "purge_s": 2.0},
    "purge_s": {"marks_lost": 0.3},
}
FATES: dict[str, tuple[float, ...]] = {
    "failed": (0.1, 0.3),
    "incorrect": (0.1, 0.3),
    "timeout": (0.05, 0.2),
    "node_fail": (0.05, 0.2),
    "requeued": (0.1, 0.3),
    "build_failed": (1.0, 0.5),
}
ACCIDENTS = ("deaths", "repair_s", "slow_nodes", "bad_nodes", "busy", "pending")
ABOUT = (*(name for name in LIES if name not in SELDOM_TOLD), *FATES, *ACCIDENTS)


@dataclass(frozen=True)
class Troubles:
    """``killed``: seconds at which somebody else ends a job of ours."""

    fates: Fates
    lies: Lies
    others: Others
    killed: tuple[float, ...] = ()


def about_of(seed: int, kind: str) -> str:
    """Purpose: the switch that a campaign is about: each in its turn; where jobs are our own children no scheduler lies."""
    known = ("failed", "incorrect", "timeout", "build_failed") if kind == "local" else ABOUT
    if kind != "local" and seed % BAD_NODE_EACH == BAD_NODE_EACH - 1:
        return "launches_nothing"
    return "away" if kind != "local" and seed % AWAY_EACH == AWAY_EACH - 1 else known[seed // 6 % len(known)]


def troubles_of(seed: int, document: Document, about: str, local: bool) -> Troubles:
    """Purpose: the troubles of one campaign on its machine."""
    draw = random.Random(f"troubles:{seed}")
    fates = _fates(draw, document, about, local)
    lies = Lies() if local else _lies(draw, about)
    if about == "launches_nothing":
        nodes = [str(name) for place in document.system.partitions() for name in nodes_of(place)]
        some = draw.sample(nodes, min(len(nodes), draw.choice((1, 1, 2, 3))))
        left = min(place.count for place in document.system.partitions()) - len(some)
        wide = any(case.shape.units > left for case in document.cases)  # it would never run
        when = LIES[about][0] if wide else draw.choice(LIES[about])
        lies = replace(lies, launches_nothing=tuple((node, *when) for node in some))
    if about == "away" and seed % 2:
        ((since, _),) = lies.away
        lies = replace(lies, signalled=(since + draw.choice(LIES["signalled"]),))
    if lies.alive_after_node_fail and not fates.node_fail:
        fates = replace(fates, node_fail=0.15)
    others = Others() if local else _others(draw, document, about)
    killed = tuple(draw.uniform(10.0, 250.0) for _ in range(draw.choice((0, 0, 0, 1, 2))))
    return Troubles(fates, lies, others, killed)


def _lies(draw: Draw, about: str) -> Lies:
    share = draw.choice((0.0, 0.1, 0.3, 0.5))
    drawn = [name for name in LIES if name not in SELDOM_TOLD]
    said: dict[str, Any] = {name: draw.choice(LIES[name]) for name in drawn if name == about or draw.random() < share}
    if about in LIES:
        said |= WITH.get(about, {})
        if about != "launches_nothing":  # which node that is, is drawn from those of the machine
            said[about] = draw.choice(LIES[about])
    return Lies(**said)


def _fates(draw: Draw, document: Document, about: str, local: bool) -> Fates:
    share = draw.choice((0.0, 0.2, 0.5))
    drawn: dict[str, Any] = {name: draw.choice(FATES[name]) for name in FATES if name == about or draw.random() < share}
    if "build_failed" in drawn and about != "build_failed" and draw.random() < 0.5:
        del drawn["build_failed"]
    more: dict[str, Any] = {"mean_s": 40.0, "spread_s": 25.0, "build_s": draw.choice((5.0, 30.0))}
    if local:
        return Fates(**more, **{name: share for name, share in drawn.items() if name not in ("node_fail", "requeued")})
    nodes = [str(node) for place in document.system.partitions() for node in nodes_of(place)]
    on = {name for name in ACCIDENTS if name == about or draw.random() < 0.15}
    if "deaths" in on:
        more["deaths"] = tuple((draw.choice(nodes), draw.uniform(5, 200), draw.uniform(20, 120)) for _ in range(2))
    if "repair_s" in on:
        more |= {"repair_s": draw.choice((20.0, 60.0))}
        drawn.setdefault("node_fail", 0.1)
    if "slow_nodes" in on:
        more["slow_nodes"] = {node: draw.choice((1.5, 3.0)) for node in draw.sample(nodes, 2)}
    if "bad_nodes" in on:
        more |= {"bad_nodes": {draw.choice(nodes): 0.5}, "bad_as": draw.choice(("failed", "node_fail"))}
    return Fates(**more, **drawn)


def _others(draw: Draw, document: Document, about: str) -> Others:
    places = document.system.partitions()
    nodes = [str(node) for place in places for node in nodes_of(place)]
    busy: list[tuple[str, float, float]] = []
    if about == "busy" or draw.random() < 0.2:
        for node in draw.sample(nodes, 2):
            since = draw.choice((0.0, 0.0, 60.0))
            busy.append((node, since, since + draw.uniform(30.0, 150.0)))
    pending: list[tuple[str, float, int]] = []
    if about == "pending" or draw.random() < 0.3:
        since = draw.uniform(0.0, 100.0)
        pending = [("elsewhere", since, draw.choice((12, 25))), ("elsewhere", since + draw.uniform(20.0, 90.0), 1)]
    return Others(tuple(busy), tuple(pending))


# ---- the conductor dies ----------------------------------------------------------------------------------------------------


def deaths_of(seed: int, most: int = 3) -> Callable[[str, int], bool]:
    """Purpose: at which port calls the conductor dies: in some campaigns at none, in others at some, by name and count."""
    draw = random.Random(f"deaths:{seed}")
    if draw.random() < 0.4:
        return lambda name, count: False
    names = draw.sample(POINTS, draw.randint(1, most))
    left = {name: draw.randint(1, 6 if name.startswith(OFTEN) else 2) for name in names}
    if seed % 6 in OF_SEVERAL:
        left.setdefault(f"scheduler.take_parts:{('before', 'after')[seed // 6 % 2]}", 1)
    rare = draw.choice((0.0, 0.002))
    more = [most - len(names)]

    def dies(name: str, count: int) -> bool:
        if name in left:
            left[name] -= 1
            if left[name] == 0:
                return True
        if rare and more[0] and draw.random() < rare:
            more[0] -= 1
            return True
        return False

    return dies


OFTEN = ("clock.wait", "scheduler.poll", "collector.poll", "builder.poll", "log.append", "log.commit", "inbox.poll")
OF_SEVERAL = (
    3,
    4,
)  # kinds of campaigns with jobs of several runs: only there parts are kept from beginning, and seldom
SELDOM: tuple[str, ...] = (
    "scheduler.submit",
    "scheduler.take_claim",
    "scheduler.take_parts",
    "scheduler.cancel",
    "scheduler.release",
)
SELDOM += ("scheduler.survey", "builder.start", "collector.start", "inbox.acknowledge")
POINTS = tuple(f"{call}:{edge}" for call in (*OFTEN, *SELDOM) for edge in ("before", "after"))

assert set(LIES) == {field.name for field in fields(Lies)}, "a lie of the twin that no campaign tells"
