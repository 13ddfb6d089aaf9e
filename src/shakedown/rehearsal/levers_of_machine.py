"""Levers on the machine: the simulated machine without one of its troubles, which shows the cost of that trouble."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace

from msgspec.structs import replace as changed

from shakedown.model.scenario import Faults, Harness, Nodes, Queue, Scenario
from shakedown.rehearsal.faults import FAULTS, Troubles
from shakedown.rehearsal.virtual_session import Rehearsal
from shakedown.twin.machine.outcomes import Lies

_QUICK_S = 0.001
_RUNS_THAT = {
    "failed": "fail",
    "incorrect": "are wrong",
    "timeout": "hang",
    "node_fail": "lose a node",
    "requeued": "are requeued",
}


def without(rehearsal: Rehearsal) -> Iterator[tuple[str, str, Rehearsal]]:
    """Purpose: for each trouble of the machine: (its cause, a description of the machine without it, the rehearsal without it)."""
    troubles = rehearsal.troubles
    for cause, text, scenario in _scenarios(troubles.scenario):
        yield cause, text, replace(rehearsal, troubles=replace(troubles, scenario=scenario))
    usual = Lies()
    for field in fields(Lies):
        if getattr(troubles.lies, field.name) != getattr(usual, field.name):
            lies = replace(troubles.lies, **{field.name: getattr(usual, field.name)})
            about = next((word for word in FAULTS if field.name in (word, f"{word}_s")), field.name)
            yield f"lies:{about}", f"a scheduler without '{about}'", _with(rehearsal, troubles, lies=lies)
    if troubles.crashes:
        yield "crash", "a conductor that does not die", _with(rehearsal, troubles, crashes=())


def quick_builds(rehearsal: Rehearsal) -> Rehearsal:
    """Purpose: the rehearsal with builds that take almost no time, as if they had been made before; failing builds still fail."""
    scenario = rehearsal.troubles.scenario
    builds = changed(scenario.builds, mean_s=_QUICK_S, spread_s=0.0, times=(), slots=0)
    return _with(rehearsal, rehearsal.troubles, scenario=changed(scenario, builds=builds))


def _with(rehearsal: Rehearsal, troubles: Troubles, **fields: object) -> Rehearsal:
    return replace(rehearsal, troubles=replace(troubles, **fields))  # type: ignore[arg-type]


def _scenarios(scenario: Scenario) -> Iterator[tuple[str, str, Scenario]]:
    nodes, builds, usual = scenario.nodes, scenario.builds, Nodes()
    for name in Faults.__struct_fields__:
        if getattr(scenario.faults, name):
            faults = changed(scenario.faults, **{name: 0.0})
            yield f"verdict:{name}", f"no runs that {_RUNS_THAT[name]} (faults)", changed(scenario, faults=faults)
    if nodes.mtbf_s or nodes.deaths:
        well = changed(nodes, mtbf_s=0.0, deaths=())
        yield "down", "nodes that do not fail (nodes)", changed(scenario, nodes=well)
    if nodes.bad:
        yield "bad nodes", "no bad nodes (nodes: bad)", changed(scenario, nodes=changed(nodes, bad=()))
    if nodes.slow or nodes.slow_share:
        even = changed(nodes, slow=(), slow_share=usual.slow_share)
        yield "slow nodes", "no slow nodes (nodes: slow)", changed(scenario, nodes=even)
    if builds.failing or builds.broken:
        whole = changed(builds, failing=0.0, broken=())
        yield "verdict:build_failed", "builds that do not fail (builds)", changed(scenario, builds=whole)
    if builds.slots:
        yield "login slots", "a login slot for every build", changed(scenario, builds=changed(builds, slots=0))
    if scenario.metadata or scenario.bandwidth:
        yield "storage", "file systems that nothing slows (storage)", changed(scenario, metadata=(), bandwidth=())
    if scenario.others:
        yield "others", "nobody else (others)", changed(scenario, others=())
    if scenario.maintenance:
        yield "maintenance", "no maintenance", changed(scenario, maintenance=())
    if scenario.harness != Harness():
        yield "harness", "no harness in front of the queue (harness)", changed(scenario, harness=Harness())
    if scenario.queue != Queue():
        yield "queue", "a scheduler that looks at every job at once (scheduler)", changed(scenario, queue=Queue())
