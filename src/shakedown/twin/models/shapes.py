"""Topologies as people type them: ``torus:18x12x24:2``, ``fat-tree:4x4x4x4x4x2:25%``, ``dragonfly:5x16x16x8``, and two by name."""

from __future__ import annotations

import re

from shakedown.model.errors import UsageError, did_you_mean
from shakedown.twin.models.topology import Dragonfly, FatTree, Topology, Torus

NAMED: dict[str, tuple[Topology, str]] = {
    "cielo": (
        Torus((18, 12, 24), per_router=2),
        "18x12x24 from paper 001, table of the architectures; two nodes a Gemini router is Cray's design, no paper prints it",
    ),
    "asci-q": (
        FatTree((4, 4, 4, 4, 4, 2), taper=0.25),
        "two segments of 1,024 nodes joined at the 6th level with 25%: paper 003; switches of four below are Quadrics' design",
    ),
}
_FORMS = "torus:18x12x24:2 (nodes a router), fat-tree:16x16x4:50% (at the top), dragonfly:GROUPSxROUTERSxNODESxGLOBAL"


def topology_named(text: str) -> Topology:
    """Purpose: the topology that a person typed. Raises UsageError that shows the forms."""
    if text in NAMED:
        return NAMED[text][0]
    kind, _, rest = text.partition(":")
    sizes, _, more = rest.partition(":")
    builders = {"torus": _torus, "fat-tree": _fat_tree, "dragonfly": _dragonfly}
    if kind not in builders or not re.fullmatch(r"[0-9]{1,9}(x[0-9]{1,9}){0,7}", sizes):
        near = did_you_mean(kind, [*builders, *NAMED]) if kind not in builders else None
        raise UsageError(f"'{text}' is no topology", near or f"{_FORMS}; or {', '.join(NAMED)}")
    return builders[kind](text, tuple(map(int, sizes.split("x"))), more)


def _torus(text: str, sizes: tuple[int, ...], more: str) -> Topology:
    return Torus(sizes, per_router=_whole(text, more) if more else 1)


def _fat_tree(text: str, sizes: tuple[int, ...], more: str) -> Topology:
    match = re.fullmatch(r"([0-9]{1,3}(?:\.[0-9]{1,6})?)%", more or "100%")
    if match is None:
        raise UsageError(f"'{text}': '{more}' is no taper", "a share of full capacity at the top, such as 25%")
    return FatTree(sizes, taper=float(match.group(1)) / 100)


def _dragonfly(text: str, sizes: tuple[int, ...], more: str) -> Topology:
    if len(sizes) != 4 or more:
        raise UsageError(
            f"'{text}' is no dragonfly", "four numbers: dragonfly:GROUPSxROUTERSxNODESxGLOBAL, as 5x16x16x8"
        )
    return Dragonfly(*sizes)


def _whole(text: str, more: str) -> int:
    if not re.fullmatch(r"[0-9]{1,6}", more):
        raise UsageError(f"'{text}': '{more}' is not a number of nodes per router", "such as torus:18x12x24:2")
    return int(more)
