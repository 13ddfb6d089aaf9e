"""The example ``examples/c5`` on its emulated cluster, in virtual time: run times as on C5, troubles as a test plants them."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import warm_commands
from campaigns_scripted import Asked, Part, Played

from shakedown.model.nouns import Document, System
from shakedown.plans import read_plan

C5 = Path(__file__).parents[2] / "examples" / "c5"
TABLE_4 = {  # mean and standard deviation in s, jobs
    "cm4": (4148.1, 11.3, 1050),
    "esm4-small": (6016.8, 8.0, 416),
    "esm4-large": (4565.7, 8.8, 660),
    "spear": (5808.1, 13.2, 647),
    "shield": (4201.2, 7.2, 861),
    "ufs": (6049.5, 4.0, 123),
}
REPLAYED: dict[str, dict[str, float]] = {
    "replayed-delivery": {"phase1": 1792, "phase2": 128, "total": 1920},
    "replayed-gpcnet": {
        "latency": 2.6,
        "latency_congested": 2.8,
        "bandwidth": 1688,
        "bandwidth_congested": 1693,
        "allreduce": 42.3,
        "allreduce_congested": 43,
    },
    "replayed-mpigraph": {"average": 8.6, "maximum": 11.6},
}
WALLTIME_S = 14_500.0  # of Spear on C5 (IV.E)
PATIENCE_S = 240.0
Plant = Callable[[Asked, Part], Part]
Change = Callable[[Document], Document]


@cache
def document(site: Path = C5) -> Document:
    """The plan for the emulated cluster, as it is frozen."""
    return read_plan(site, "c5-phase2-emu", _nobody)


def _nobody() -> System:
    raise AssertionError("the plan is not for this machine")


def as_on_c5(plan: Document, days: float) -> Document:
    """With the run times of C5 instead of scaled ones: the time limits, and how long the stability test takes."""
    cases = tuple(_with_walltime(case) for case in plan.cases)
    parts = tuple(
        msgspec.structs.replace(c, duration_s=days * 86400) if c.name == "stability" else c for c in plan.components
    )
    return msgspec.structs.replace(plan, cases=cases, components=parts)


def _with_walltime(case: Any) -> Any:
    return msgspec.structs.replace(case, shape=msgspec.structs.replace(case.shape, time_limit_s=WALLTIME_S))


def well(asked: Asked) -> Part:
    """A run as Table IV says: normal, with its mean and standard deviation."""
    if asked.test in REPLAYED:
        return Part(10.0, tuple(REPLAYED[asked.test].items()))
    mean, sd, _ = TABLE_4[asked.test]
    return lasting(random.Random(f"{asked.component}:{asked.test}:{asked.mode}:{asked.number}").gauss(mean, sd))


def lasting(seconds: float) -> Part:
    return Part(round(seconds, 1), (("runtime", round(seconds, 1)),))


def slower(part: Part, factor: float) -> Part:
    return replace(lasting(part.lasts_s * factor), state=part.state, wrong=part.wrong)


def play(
    root: Path, days: float = 2.0, plants: tuple[Plant, ...] = (), change: Change = lambda plan: plan, **options: Any
) -> Played:
    """A whole campaign; ``plants`` alter what runs do, one after the other; ``change`` alters the plan."""
    plan = change(as_on_c5(options.pop("plan", None) or document(), days))

    def parts(asked: Asked) -> Part:
        part = well(asked)
        for plant in plants:
            part = plant(asked, part)
        return part

    campaign = Played(plan, root=root, parts=parts, script=attending, unbuildable=("intel-oneapi",), **options)
    campaign.run(limit=200_000)
    return campaign


def attending(campaign: Any, wait: int) -> None:
    """The people of a campaign: they attest every procedure as met, with evidence, and open gates that stay closed."""
    state = campaign.conductor.state
    if campaign.inbox.waiting or state.phase != "running":
        return
    for number, component in enumerate(state.index.components):
        for procedure in state.unattested(number):
            files = [{"name": "report.pdf", "sha256": "0" * 64, "bytes": 1}]
            campaign.ask("attest", component=component.name, procedure=procedure, met=True, by="Ada", evidence=files)
        outcome = state.gates.outcomes.get(component.name)
        closed = outcome is not None and outcome.outcome != "met" and component.name not in state.gates.waived
        if closed and not state.jobs and not state.runs:
            campaign.ask("waive", component=component.name, restriction="it goes on to see the rest")


def command(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A command as a person runs it in a site directory."""
    environment = os.environ | {"XDG_CACHE_HOME": str(cwd.parent / "cache"), "COLUMNS": "80"}
    return warm_commands.run(
        words, cwd=cwd, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
