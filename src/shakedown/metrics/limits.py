"""The limits of a plan: where the node-hours of a rehearsal were lost, and which settings of the plan to change.

Start reading at ``limits_of``: node-seconds of nodes, by cause of their loss, become sentences, the worst first. Each names the
key of the plan, its cost, and a value with which the idle nodes could have worked. The value is a first guess: if several limits
apply at once, raising one changes nothing. A rehearsal with the new value shows whether it helps (``metrics.trials``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct, field

from shakedown.metrics.limits_in_words import IN_WORDS, Words, of_people
from shakedown.metrics.words import plural, show_number, show_share
from shakedown.model.nouns import Component, Document

LEAST = 0.01  # of the node-hours: a cause that costs less is no limit


class Nodes(Struct):
    """The nodes of one partition, or of several that share some: their number, their node-seconds, and those that worked."""

    count: int
    capacity: float = 0.0
    worked: float = 0.0


class Books(Struct):
    """Node-seconds of a whole plan, each node counted once. ``lost``: (component, cause) -> node-seconds. The causes are those of
    idle nodes (``engine.idle``), ``down`` nodes, runs that did not pass (``verdict:WORD``), and the time that runs took longer than
    on a healthy machine (``slowed``).

    ``right``: node-seconds of runs that passed; ``seconds``: the total time; ``nodes``: the same by partition.
    ``unbuilt``: results that never ran because their builds failed.
    """

    capacity: float = 0.0
    right: float = 0.0
    runs: int = 0
    unbuilt: int = 0
    seconds: float = 0.0
    lost: dict[tuple[str, str], float] = field(default_factory=dict)
    nodes: dict[str, Nodes] = field(default_factory=dict)

    def lose(self, component: str, cause: str, node_s: float) -> None:
        """Add node-seconds that were lost for a cause."""
        if node_s > 0:
            at = (component, cause)
            self.lost[at] = self.lost.get(at, 0.0) + node_s

    @property
    def wrong(self) -> float:
        """The node-seconds of runs that did not pass."""
        return sum(node_s for (_, cause), node_s in self.lost.items() if cause.startswith("verdict:"))


_OF_ALL = frozenset({  # causes that apply to every idle node
    "drain", "drained", "tail", "ramp", "wide", "away", "paused", "held", "clock", "over", "stopping", "no_room", "unknown",
})  # fmt: skip


def idle_by_cause(
    causes: Sequence[tuple[str, str, float]], component: str, known: float, more: float
) -> Iterator[tuple[str, str, float]]:
    """Purpose: the causes of idle nodes as (component, cause, amount); the amounts add up to ``known`` + ``more``.

    ``known``: the amount of nodes that were idle when the causes were determined; ``causes``: these causes, with weights that add
    up to one. ``more``: the amount of nodes that became idle since. They count as waiting for the next job (``ahead``), unless the
    first cause applies to every idle node. ``component``: used if there are no causes.
    """
    if not causes:
        yield component, "ahead", known + more
        return
    for name, cause, weight in causes:
        yield name, cause, known * weight
    first = causes[0][1]
    yield component or causes[0][0], first if first.partition(":")[0] in _OF_ALL else "ahead", more


class Limit(Struct, frozen=True):
    """One cause. ``share``: of the node-hours; ``key``: the plan's setting, "" if there is none; ``says``: its effect; ``change``:
    what to change, and why that might help. ``component``: the component whose work it held back.
    """

    cause: str
    node_hours: float
    share: float
    key: str
    says: str
    change: str
    component: str = ""


class Share(Struct, frozen=True):
    """The nodes of one partition, or of several that share some."""

    name: str
    nodes: int
    node_hours: float
    worked: float


class Limits(Struct, frozen=True):
    """A plan's node-hours. ``worked``: node-hours of runs that passed; ``limits``: the causes of the other node-hours, the worst
    first.

    ``component``: the only component, "" if the plan has several. ``unbuilt``: results that never ran because their builds
    failed unexpectedly. ``partitions``: the same numbers by partition.
    """

    component: str
    node_hours: float
    worked: float
    hours: float
    nodes: float
    limits: tuple[Limit, ...]
    unbuilt: int = 0
    partitions: tuple[Share, ...] = ()

    @property
    def share(self) -> float:
        return self.worked / self.node_hours if self.node_hours > 0 else 0.0

    @property
    def worst(self) -> Limit | None:
        return self.limits[0] if self.limits else None


def limits_of(document: Document, books: Books) -> Limits | None:
    """Purpose: the limits of a plan that had the machine for some time; None if it never had it."""
    if books.capacity <= 0:
        return None
    nodes = books.capacity / books.seconds
    working = [one.name for one in document.components if one.cases]
    worst = sorted(books.lost.items(), key=lambda item: (-item[1], item[0]))
    return Limits(
        working[0] if len(working) == 1 else "",
        books.capacity / 3600,
        books.right / 3600,
        books.seconds / 3600,
        nodes,
        tuple(_limit(document, books, at, node_s) for at, node_s in worst if node_s >= LEAST * books.capacity),
        books.unbuilt,
        tuple(
            Share(name.replace(" + ", ", "), one.count, one.capacity / 3600, one.worked / 3600)
            for name, one in books.nodes.items()
        ),
    )


def _limit(document: Document, books: Books, at: tuple[str, str], node_s: float) -> Limit:
    name, cause = at
    share, nodes = node_s / books.capacity, books.capacity / books.seconds
    kind, _, about = cause.partition(":")
    busy = books.wrong + books.right
    words = Words(document, _component(document, name), about, share * nodes, nodes, 1 + node_s / busy if busy else 2.0)
    key, says, change = IN_WORDS.get(kind, of_people)(words)
    return Limit(cause, node_s / 3600, share, key, says, change, name)


def _component(document: Document, name: str) -> Component:
    return next((one for one in document.components if one.name == name), document.components[0])


# ---- for a terminal --------------------------------------------------------------------------------------------------


def sentence(limits: Limits) -> str:
    """Purpose: the worst limit of a plan, and what might help, in one or two sentences."""
    worst = limits.worst
    if worst is None:
        return f"{had_in_words(limits)}; nothing keeps more than {LEAST:.0%} of them"
    guess = f"as a first guess, {worst.says} ({show_share(worst.share)})"
    return f"{had_in_words(limits)}; {guess}; {worst.change}; shakedown rehearse --try measures it"


def had_in_words(limits: Limits) -> str:
    """Purpose: the share that worked, in words: "stability: 54.8% of 460649 node-hours worked"."""
    whose = limits.component or "the whole plan"
    return f"{whose}: {show_share(limits.share)} of {show_number(limits.node_hours)} node-hours worked"


def partitions_in_words(limits: Limits) -> list[str]:
    """Purpose: a line for each partition, or group of partitions that share nodes; empty if there is only one."""
    if len(limits.partitions) < 2:
        return []
    return [
        f"{one.name}: {show_share(one.worked / one.node_hours if one.node_hours else 0.0)} of "
        f"{show_number(one.node_hours)} node-hours worked ({plural(one.nodes, 'node')})"
        for one in limits.partitions
    ]


def table_of(limits: Limits) -> list[tuple[str, str, str]]:
    """Purpose: each cause as a row: its share, its key in the plan, its effect."""
    return [(show_share(limit.share), limit.key, limit.says) for limit in limits.limits]
