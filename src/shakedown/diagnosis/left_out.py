"""Nodes that a campaign left out, since jobs ended there before they took their claims: since when, why, what was tried there."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from msgspec import Struct

from shakedown.metrics.rows.rows import NoteRow
from shakedown.metrics.rows.table import Record
from shakedown.metrics.words import plural
from shakedown.model.units import show_duration

_MOST_NAMED = 5  # jobs


class LeftOutNode(Struct, frozen=True):
    """One time that a node was left out. Times are seconds since 1970. ``until``: when it was given jobs again, or when the
    campaign was over, None where it is left out now; ``back``: why it was given jobs again, "" where it was not. ``why``: what was
    said of the last job that ended there. ``jobs``: the first of ``count`` jobs that did, one after the other; ``looked``: when
    jobs were ordered since that might go there, to see whether it launches jobs again.
    """

    node: str
    since: float
    why: str
    jobs: tuple[str, ...] = ()
    count: int = 0
    until: float | None = None
    back: str = ""
    looked: tuple[float, ...] = ()

    @property
    def sentence(self) -> str:
        """All of it, and how a person takes the node back."""
        jobs = ", ".join(self.jobs[:_MOST_NAMED]) + (", ..." if self.count > _MOST_NAMED else "")
        ended = f"{plural(self.count, 'job')} in a row ended there before they took their claims ({jobs}): {self.why}"
        said = ended
        if self.looked:
            last = _moment(max(self.looked))
            said += f"; {plural(len(self.looked), 'job')} since might go there to see whether it starts, the last ordered on {last}"
        since = f"left out since {_moment(self.since)}"
        if self.until is None:
            return f"{self.node}: {since}: {said}; shakedown include {self.node} gives it work at once"
        lasted = f"left out on {_moment(self.since)} for {show_duration(self.until - self.since)}"
        return f"{self.node}: {lasted}: {said}; {self.back or 'it was so until the end of the campaign'}"


def left_out_nodes(record: Record) -> tuple[LeftOutNode, ...]:
    """Purpose: each time that a node was left out, in the order in which that began."""
    found: list[LeftOutNode] = []
    now: dict[str, int] = {}  # node that is left out -> its place in ``found``

    def give_back(nodes: Iterable[str], note: NoteRow, why: str) -> None:
        for node in nodes:
            if (place := now.pop(node, None)) is not None:
                found[place] = _until(record, found[place], note.time, why)

    for note in record.of_kind("finding", "included"):
        kind = note.value.get("kind")
        names = [str(name) for name in note.value.get("nodes", ())] if isinstance(note.value.get("nodes"), list) else []
        if kind == "node_left_out":
            give_back(names, note, "it was left out anew")
            for name in names:
                now[name] = len(found)
                found.append(_left_out(name, note))
        elif kind == "node_let_in":
            give_back(names, note, note.reason)
        elif kind == "queue_held":
            give_back(names, note, "the queue was held, for it was not this node alone")
        elif note.kind == "included":
            give_back(names, note, f"{note.value.get('by') or 'somebody'} gave it work again: {note.reason}")
    for place in now.values():
        found[place] = _until(record, found[place], record.ended, "")
    return tuple(found)


def _left_out(node: str, note: NoteRow) -> LeftOutNode:
    jobs, count = note.value.get("jobs"), note.value.get("count")
    names = tuple(map(str, jobs)) if isinstance(jobs, list) else ()
    return LeftOutNode(
        node, note.time, str(note.value.get("why", "")), names, count if isinstance(count, int) else len(names)
    )


def _until(record: Record, one: LeftOutNode, until: float | None, back: str) -> LeftOutNode:
    last = until if until is not None else float("inf")
    looked = tuple(when for when in record.looked.get(one.node, ()) if one.since <= when <= last)
    return LeftOutNode(one.node, one.since, one.why, one.jobs, one.count, until, back, looked)


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
