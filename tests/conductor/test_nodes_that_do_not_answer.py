"""Who looks for nodes that do not answer, and what of it is news."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from engine_by_hand import begun
from stage import small_document

from shakedown.conductor.driver.beside_submitting import look_around
from shakedown.conductor.driver.conductor import Conductor
from shakedown.engine.state.silent_nodes import EVERY_S
from shakedown.model.ports import Survey, Wanted
from shakedown.model.shared_nodes import names_in


class Nodes:
    """A scheduler's port that knows which nodes of the pool are silent. ``answers``: whether it can be asked."""

    def __init__(self, pool: str) -> None:
        self.pool, self.answers, self.asked = pool, True, list[Wanted]()
        self.silent: tuple[int, ...] = ()

    def survey(self, wanted: Wanted) -> Survey | None:
        self.asked.append(wanted)
        return Survey(silent={self.pool: self.silent}) if self.answers else None


def test_silent_nodes_are_looked_for_while_jobs_follow_others_now_and_then_and_told_once() -> None:
    document = small_document(tests=1, repeats=2, budgets={"f2/mdt": 1.0})
    hand = begun(document)
    state = hand.state
    hand.play("submit_accepted", job="j000001", value={"id": "1"})
    pool = state.jobs["j000001"].key.pool  # type: ignore[union-attr]
    name = names_in(state.index.places[pool].nodes)[0]
    running = {"state": "running", "source": "queue", "nodes": name}
    hand.play("job_report", job="j000001", run="r000001", value=running)

    nodes, clock = Nodes(pool), SimpleNamespace(now=lambda: state.time)
    conductor = cast(
        Conductor,
        SimpleNamespace(
            state=state,
            ports=SimpleNamespace(clock=clock, scheduler=nodes),
            looked=0,
            heard=-1,
            log=lambda event, **fields: hand.play(event, **fields),
        ),
    )

    def told() -> list[Any]:
        return [event.value["silent"] for event in hand.log if event.event == "surveyed" and "silent" in event.value]

    look_around(conductor)
    assert not [wanted for wanted in nodes.asked if wanted.silent], "nothing follows another job"

    state.job_index.followers["j000001"] = None
    nodes.answers, nodes.silent = False, (1, 2)
    look_around(conductor)
    nodes.answers = True
    look_around(conductor)
    assert told() == [{pool: [name]}], (
        "asked again where nobody answered; of nodes that run nothing of ours nothing is told"
    )
    count = len(nodes.asked)
    look_around(conductor)
    assert len([wanted for wanted in nodes.asked[count:] if wanted.silent]) == 0
    for silent in ((1, 2), ()):
        state.time += EVERY_S
        nodes.silent = silent
        look_around(conductor)
    assert told() == [{pool: [name]}, {pool: []}], "it answers again"
