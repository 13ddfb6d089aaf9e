"""What limits a plan: where the node-hours of a rehearsal went, and what of the plan to change.

``limits_of`` is the table of contents: the books of what nodes did and did not do, by cause, become sentences, the worst
first. Each names the key of the plan, what it cost, and a value with which the idle nodes could have worked; to rehearse with
it shows whether they do.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from shakedown.metrics.limits_in_words import IN_WORDS, Words, of_people
from shakedown.metrics.words import show_number, show_share
from shakedown.model.nouns import Component, Document

LEAST = 0.01  # of the node-hours: what costs less limits nothing


class Books(Struct):
    """Node-seconds of one component's time, on all partitions. ``lost``: cause (``engine.idle``) -> idle node-seconds.

    ``right`` and ``wrong`` (by verdict) is what runs took that were judged; ``slowed``: what of it they took longer than on a
    healthy machine. ``seconds``: by partition, how long that was. ``unbuilt``: results that never ran, as their builds failed.
    """

    component: str
    capacity: float = 0.0
    right: float = 0.0
    wrong: dict[str, float] = field(default_factory=dict)
    slowed: float = 0.0
    down: float = 0.0
    runs: int = 0
    unbuilt: int = 0
    lost: dict[str, float] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def lose(self, cause: str, node_s: float) -> None:
        """Nodes were idle for a cause."""
        self.lost[cause] = self.lost.get(cause, 0.0) + node_s


class Limit(Struct, frozen=True):
    """One cause. ``share`` of the component's node-hours; ``key``: what of the plan, "" = nothing of it; ``says``: what it did;
    ``change``: what to do, and why that helps.
    """

    cause: str
    node_hours: float
    share: float
    key: str
    says: str
    change: str


class Limits(Struct, frozen=True):
    """A component's node-hours: ``worked`` by runs that passed, ``limits`` what the others went to, the worst first.

    ``unbuilt``: results that never ran, as their builds failed though nobody expected it.
    """

    component: str
    node_hours: float
    worked: float
    hours: float
    nodes: float
    limits: tuple[Limit, ...]
    unbuilt: int = 0

    @property
    def share(self) -> float:
        return self.worked / self.node_hours if self.node_hours > 0 else 0.0

    @property
    def worst(self) -> Limit | None:
        return self.limits[0] if self.limits else None


def limits_of(document: Document, books: Mapping[str, Books]) -> tuple[Limits, ...]:
    """Purpose: what limited each component that had the machine for some time, in the order of the plan."""
    return tuple(
        _of(document, component, books[component.name])
        for component in document.components
        if component.name in books and books[component.name].capacity > 0
    )


def main_limits(found: tuple[Limits, ...]) -> Limits | None:
    """Purpose: the component that had most of the node-hours: what limits it, limits the plan."""
    return max(found, key=lambda limits: limits.node_hours, default=None)


def _of(document: Document, component: Component, books: Books) -> Limits:
    lost = _together(books)
    worst = sorted(lost.items(), key=lambda item: (-item[1], item[0]))
    hours = max(books.seconds.values(), default=0.0) / 3600
    nodes = books.capacity / 3600 / hours if hours else 0.0
    limits = tuple(
        _limit(document, component, books, cause, node_s, nodes)
        for cause, node_s in worst
        if node_s >= LEAST * books.capacity
    )
    return Limits(component.name, books.capacity / 3600, books.right / 3600, hours, nodes, limits, books.unbuilt)


def _together(books: Books) -> dict[str, float]:
    """Every loss by its cause: idle nodes, nodes that were down, runs that failed, runs that were slowed."""
    lost = dict(books.lost)
    for verdict, node_s in books.wrong.items():
        lost[f"verdict:{verdict}"] = node_s
    if books.slowed:
        lost["slowed"] = books.slowed
    if books.down:
        lost["down"] = books.down
    return {cause: node_s for cause, node_s in lost.items() if node_s > 0}


def _limit(document: Document, component: Component, books: Books, cause: str, node_s: float, nodes: float) -> Limit:
    share = node_s / books.capacity
    kind, _, about = cause.partition(":")
    busy = sum(books.wrong.values()) + books.right
    more = 1 + node_s / busy if busy else 2.0
    words = Words(document, component, about, share * nodes, nodes, more)
    key, says, change = IN_WORDS.get(kind, of_people)(words)
    return Limit(cause, node_s / 3600, share, key, says, change)


# ---- for a terminal --------------------------------------------------------------------------------------------------


def sentence(limits: Limits) -> str:
    """Purpose: what limits a component, and what to change, in one sentence or two."""
    had = f"{limits.component}: {show_share(limits.share)} of {show_number(limits.node_hours)} node-hours worked"
    worst = limits.worst
    if worst is None:
        return f"{had}; nothing keeps more than {LEAST:.0%} of them"
    return f"{had}; {worst.says} ({show_share(worst.share)}); {worst.change}"


def table_of(limits: Limits) -> list[tuple[str, str, str]]:
    """Purpose: each cause as a row: its share, its key in the plan, what it did."""
    return [(show_share(limit.share), limit.key, limit.says) for limit in limits.limits]
