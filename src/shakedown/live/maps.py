"""The machine as a map: a square for each node, by partition, coloured by what happened on it, by its failures or by its speed.

A square has a sign beside its colour and a title in words, and links to the runs of its node.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, urlencode

from markupsafe import Markup, escape

from shakedown.diagnosis.node_report import NodeRow, NodesExamined
from shakedown.metrics.words import plural, show_share
from shakedown.model.nouns import Document
from shakedown.model.shared_nodes import names_in

WIDTH = 720
SMALL = 400  # nodes of a group from which on squares are small and bear no sign
Colour = Literal["state", "failures", "speed"]
COLOURS: tuple[Colour, ...] = ("state", "failures", "speed")
LOOKS = {"good": "", "bad": "×", "out": "o", "unused": "", "level0": "", "level1": "1", "level2": "2", "level3": "3"}
FAILURES = (0.05, 0.2)  # shares of failed runs from which on a node is of the second and of the third level
SLOW = (1.01, 1.05, 1.2)  # times as long as usual, from which on it is of the first, second and third
KEYS: Mapping[Colour, tuple[tuple[str, str], ...]] = {
    "state": (
        ("good", "runs passed"),
        ("bad", "a run failed on it, or it stands out"),
        ("out", "excluded, or left out"),
        ("unused", "no run has used it"),
    ),
    "failures": (
        ("level0", "no run failed"),
        ("level1", f"less than {FAILURES[0]:.0%} failed"),
        ("level2", f"{FAILURES[0]:.0%} to {FAILURES[1]:.0%}"),
        ("level3", f"{FAILURES[1]:.0%} or more"),
        ("unused", "no run that counts"),
    ),
    "speed": (
        ("level0", "as fast as usual"),
        ("level1", f"{SLOW[0]:g} times as long as usual"),
        ("level2", f"{SLOW[1]:g} times"),
        ("level3", f"{SLOW[2]:g} times or more"),
        ("unused", "no timed run"),
    ),
}


@dataclass(frozen=True, slots=True)
class Square:
    """A node on the map. ``look``: one of LOOKS; ``words``: the reason for it."""

    node: str
    look: str
    words: str


def map_of(examined: NodesExamined, document: Document, campaign: str, colour: Colour) -> Markup:
    """Purpose: the nodes by partition, in the order of the system, each node once. "" where there are none."""
    known = {row.node: row for row in examined.nodes}
    square = _SQUARES[colour]
    groups: list[tuple[str, list[Square]]] = []
    placed: set[str] = set()
    several = len(document.system.clusters) > 1
    for cluster in document.system.clusters:
        for partition in cluster.partitions:
            names = [f"{cluster.name}:{node}" if several else node for node in names_in(partition.nodes)]
            names = [node for node in names if node in known and node not in placed]
            placed |= set(names)
            if names:
                groups.append((f"{cluster.name}:{partition.name}", [square(known[node]) for node in names]))
    rest = [square(row) for row in examined.nodes if row.node not in placed]
    return machine_map([*groups, ("elsewhere", rest)] if rest else groups, campaign, colour)


def machine_map(groups: Sequence[tuple[str, Sequence[Square]]], campaign: str, colour: Colour) -> Markup:
    """Purpose: every node as a square, group by group (a rack, a node type), below the key; "" where there are no nodes."""
    if not groups:
        return Markup("")
    at = f"/campaign/{quote(campaign, safe='')}/runs"
    parts, y = [*_key(colour)], 26
    for name, squares in groups:
        side = 22 if len(squares) <= SMALL else 8
        across = max(1, (WIDTH - 8) // side)
        parts.append(f'<text class="label" x="4" y="{y + 12}">{escape(name)}</text>')
        y += 18
        for place, one in enumerate(squares):
            x, down = 4 + place % across * side, y + place // across * side
            to = escape(f"{at}?{urlencode({'node': one.node.rpartition(':')[2]})}")
            title = f"<title>{escape(f'{one.node}: {one.words}')}</title>"
            parts.append(f'<a href="{to}" tabindex="-1">{title}{_square(one.look, x, down, side)}</a>')
        y += (len(squares) + across - 1) // across * side + 10
    inside = "".join(parts)
    return Markup(
        f'<svg class="map" role="group" aria-label="Nodes by {colour}" viewBox="0 0 {WIDTH} {y}">{inside}</svg>'
    )


def _square(look: str, x: int, y: int, side: int) -> str:
    drawn = f'<rect class="{look}" x="{x}" y="{y}" width="{side - 2}" height="{side - 2}"/>'
    if side > 10 and LOOKS[look]:
        drawn += f'<text class="sign" x="{x + side // 2 - 1}" y="{y + 14}">{LOOKS[look]}</text>'
    return drawn


def _key(colour: Colour) -> list[str]:
    """The key: the meaning of the squares, in one line above them."""
    parts, x = [], 4
    for look, words in KEYS[colour]:
        parts.append(_square(look, x, 2, 18))
        parts.append(f'<text class="label" x="{x + 21}" y="14">{escape(words)}</text>')
        x += 34 + 6 * len(words)
    return parts


# ---- the look of a node -------------------------------------------------------------------------------------------------


def _by_state(row: NodeRow) -> Square:
    said = f"{plural(row.runs, 'run')}, {row.failed} of {row.counted} failed" if row.runs else "no run has used it"
    if row.is_out:
        return Square(row.node, "out", f"{'excluded' if row.excluded else 'left out'}; {said}")
    if row.findings or row.failed:
        return Square(row.node, "bad", f"{said}{'; stands out' if row.findings else ''}")
    return Square(row.node, "good" if row.runs else "unused", said)


def _by_failures(row: NodeRow) -> Square:
    rate = row.failure_rate
    if rate is None:
        return Square(row.node, "unused", "no run that counts")
    level = 0 if not row.failed else 1 + sum(rate >= bound for bound in FAILURES)
    return Square(row.node, f"level{level}", f"{row.failed} of {row.counted} failed ({show_share(rate)})")


def _by_speed(row: NodeRow) -> Square:
    if row.slowness is None:
        return Square(row.node, "unused", "no timed run")
    level = sum(row.slowness >= bound for bound in SLOW)
    took = f"{row.slowness:.3f} times as long as usual (median of {plural(row.timed, 'run')})"
    return Square(row.node, f"level{level}", took)


_SQUARES: Mapping[Colour, Callable[[NodeRow], Square]] = {
    "state": _by_state,
    "failures": _by_failures,
    "speed": _by_speed,
}
