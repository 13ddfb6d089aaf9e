"""Amendments: a new frozen document beside the old one, the differences in words, and the event that puts it into force."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from shakedown.conductor.commands.moved_inputs import at_old_places, moved_inputs, moved_words
from shakedown.conductor.commands.refusals import refusal
from shakedown.conductor.driver.conductor import Conductor
from shakedown.conductor.driver.gates import gates_that_open
from shakedown.conductor.driver.ports import clusters_of
from shakedown.conductor.record.differences import differences, shortened
from shakedown.engine import State, index_plan
from shakedown.engine.constraints.component_clock import idle_since
from shakedown.events.campaigns import write_document
from shakedown.model.errors import ShakedownError, UsageError
from shakedown.model.events import Event
from shakedown.model.frozen import freeze
from shakedown.model.layout import Layout
from shakedown.model.nouns import Cluster, Document
from shakedown.model.ports import Command

ANOTHER_NAME = "give the figure a new name: then it has no values of before"


class DocumentStore(Protocol):
    """A store that finds documents by their digests."""

    def __call__(self, digest: str) -> Document: ...


def keep_document(layout: Layout, state: State, document: Document, driven: bool = False) -> tuple[str, list[str]]:
    """Purpose: put a new document beside the others. Returns its digest and how it differs from the one in force.

    ``state``: where the campaign stands; ``driven``: by a conductor. Errors: UsageError for what that conductor would refuse.
    """
    if state.plan is None:
        raise UsageError(
            f"{layout.root.name} has not started; there is nothing to amend",
            hint="run the changed plan as a new campaign",
        )
    before = state.plan.document
    why = why_not(state, document)
    if why:
        raise UsageError(why, hint=ANOTHER_NAME)
    if driven and (why := another_cluster(before, document)):
        raise UsageError(why)
    name = write_document(layout, freeze(document))
    moved = moved_inputs(layout, state.driver.inputs, before, document)
    return name, told_differences(before, document, moved)


def told_differences(before: Document, after: Document, moved: Mapping[str, str]) -> list[str]:
    """Purpose: what a new document changes, one line each. An input file with the same content in another place is not a change."""
    return [*moved_words(moved), *differences(before, at_old_places(after, moved))]


def why_not(state: State, after: Document) -> str:
    """Purpose: why a document cannot follow the one in force; "" where it can."""
    return another_unit(state.index.document, after) if state.campaign.next_run > 1 else ""


def another_unit(before: Document, after: Document) -> str:
    """Purpose: which figure has another unit than before; "" where none has. The values in the record have the
    units of their time.
    """
    units = _units(before)
    for (test, figure), now in _units(after).items():
        unit = units.get((test, figure), now)
        if unit != now:
            shown = [f"in {word}" if word else "a plain number" for word in (unit, now)]
            return f"figure {figure} of test {test} is {shown[0]} on record and would be {shown[1]}"
    return ""


def no_cluster(after: Document) -> str:
    """Purpose: why the clusters of a document cannot be driven; "" where they can."""
    try:
        clusters_of(after)
    except ShakedownError as error:
        return error.message
    return ""


def another_cluster(before: Document, after: Document) -> str:
    """Purpose: which clusters a conductor that drives one document cannot use as the other one describes them; "" where there are
    none.
    """
    try:
        driven = clusters_of(before)
        strange = [
            cluster.name
            for cluster in clusters_of(after)
            if cluster not in driven or (cluster.embedded and _room(before, cluster) != _room(after, cluster))
        ]
    except ShakedownError as error:
        return error.message
    if not strange:
        return ""
    word = "cluster" if len(strange) == 1 else "clusters"
    return (
        f"{word} {', '.join(strange)} would be new or described anew, and whoever drives opened the clusters of before: "
        "end it (Ctrl-C, or TERM), then amend and resume"
    )


def _room(document: Document, cluster: Cluster) -> list[tuple[int, int]]:
    """The cores and GPUs of each partition of this machine: its scheduler shares out those that it was opened with."""
    kinds = [document.system.node_type(place.type) for place in cluster.partitions]
    return [(kind.cores, kind.gpus.count) for kind in kinds]


def _units(document: Document) -> dict[tuple[str, str], str]:
    return {(test.name, spec.name): spec.unit for test in document.tests for spec in test.figures}


def amend_command(documents: DocumentStore, driven: bool = True) -> Callable[[Conductor, Command], Event]:
    """The command ``amend``, with these documents. ``driven``: whether it is carried out by the driver, which has opened the
    clusters of the plan in force. Where nobody drives, the next conductor opens those of the new plan.
    """

    def amend(conductor: Conductor, command: Command) -> Event:
        try:
            document = documents(str(command.value.get("document", "")))
        except ShakedownError as error:
            return refusal(command, f"its plan cannot be read: {error.message}")
        before = conductor.state.index.document
        clusters = another_cluster(before, document) if driven else no_cluster(document)
        why = why_not(conductor.state, document) or clusters
        if why:
            return refusal(command, why)
        return put_into_force(conductor, command, document, getattr(documents, "layout", None))

    return amend


def put_into_force(conductor: Conductor, command: Command, document: Document, layout: Layout | None = None) -> Event:
    """The event of an amendment; the index of the new plan is put in place before the event is folded. ``layout``: None where the
    campaign has no directory, and so no input files.
    """
    index, stopped = conductor.state.index, _stopped(conductor)
    inputs = conductor.state.driver.inputs
    moved = moved_inputs(layout, inputs, index.document, document) if layout is not None else {}
    lines = told_differences(index.document, document, moved)
    value: dict[str, Any] = {
        "document": command.value["document"],
        "components": [component.name for component in index.components],
        "difference": shortened(lines),
        "request": command.request,
        "who": command.who,
        "by": command.value.get("by", command.who),
    }
    if conductor.state.results.cut_off or any(run.home for run in conductor.state.runs.values()):
        value["returns"] = True
    if stopped:
        value["stopped"] = stopped
    if moved:
        value["moved"] = [[new, was] for new, was in moved.items()]
    if conductor.state.gates.digests:  # gates were waived
        value["gates"] = gates_that_open(conductor, Event("amended", value=value, reason=command.reason), document)
    conductor.state.plan = index_plan(document, before=index)
    return Event("amended", value=value, reason=command.reason)


def _stopped(conductor: Conductor) -> dict[str, float]:
    """Component -> since when its clock counts as standing still. An amendment starts again what was drained, cancelled or over;
    the time in which nothing ran does not count on the clock.
    """
    state = conductor.state
    now = max(state.time, conductor.ports.clock.now())
    timed = [
        state.index.component_number[component.name] for component in state.index.components if component.duration_s
    ]
    since = {state.index.components[number].name: idle_since(state, number, now) for number in timed}
    return {name: at for name, at in since.items() if at is not None and at < now}
