"""Phases are enums for the reader and for mypy, and the words they always were in records, snapshots and JSON."""

from __future__ import annotations

import json
from enum import StrEnum

import msgspec
import pytest
from stage import small_document

from shakedown.engine.state.jobs import Job, JobBundle
from shakedown.engine.state.keys import CaseKey, NodeFailure, ResultsKey, RunVerdict, Stage, YieldKey
from shakedown.engine.state.phases import BuildPhase, CampaignPhase, Claim, JobPhase, RunPhase, Step
from shakedown.engine.state.plan import index_plan
from shakedown.engine.state.snapshot import freeze_state, thaw_state
from shakedown.engine.state.state import State

KINDS: tuple[type[StrEnum], ...] = (CampaignPhase, BuildPhase, JobPhase, RunPhase, Step, Claim)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_phase_is_its_word(kind: type[StrEnum]) -> None:
    for member in kind:
        assert (str(member), f"{member}", member == member.value) == (member.value, member.value, True)
        assert json.loads(json.dumps({"phase": member})) == {"phase": member.value}
        assert msgspec.json.encode(member) == json.dumps(member.value).encode()
        assert kind(member.value) is member
        assert getattr(kind, member.name) is member
        assert bool(member) == bool(member.value), "a request that nobody made is false"


def test_keys_and_phases_come_back_from_a_snapshot_as_they_were() -> None:
    """Names of two parts stay apart, also where a part has a space in it."""
    plan = index_plan(small_document())
    state = State(plan=plan, phase=CampaignPhase.RUNNING)
    state.overrides.stopped[CaseKey("part", "case with spaces")] = "it failed"
    state.failures.nodes["n1"] = [NodeFailure("r000001", "j000001", 2)]
    state.failures.streaks[CaseKey("part", "t0")] = [RunVerdict("r000001", "failed")]
    state.results.closed[ResultsKey(0, "", "t0")] = [1, 2]
    state.usage.stages["c:batch"] = {Stage("part", "fill", "t0"): 3}
    state.pools.yielding.append(YieldKey("part", 0))
    state.jobs["j000001"] = Job("j000001", "r000001", "t0", 0, 1.0, key=plan.class_of(0, "t0"))
    state.jobs["j000001"].phase = JobPhase.ORPHANED
    state.jobs["j000001"].requests.cancel = Step.WANTED
    state.jobs["j000001"].bundle = JobBundle("pack", 2, parts={"r000001": None})

    back = thaw_state(freeze_state(state), plan)

    assert back == state
    assert back.jobs["j000001"].phase is JobPhase.ORPHANED
    assert next(iter(back.overrides.stopped)).case == "case with spaces"
    assert back.failures.nodes["n1"][0].restart == 2
