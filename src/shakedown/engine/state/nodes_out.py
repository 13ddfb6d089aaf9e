"""Nodes that get no job now: excluded by people or by the plan, left out since they launch nothing, down or drained as the
scheduler says, or nodes for which the queue of their pool is held.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from shakedown.engine.state.moments import moment
from shakedown.engine.state.records import LeftOut
from shakedown.engine.state.state import State
from shakedown.model.shared_nodes import names_in, numbers_in

LAUNCH_FAILURE = "launch failure"  # how the reason of a node failure begins that kept a job from starting


def numbers_out(state: State, pool: str) -> frozenset[int]:
    """Purpose: the nodes of a pool, by number, that get no job now, for any of these reasons."""
    failed = failed_nodes(state, pool) if is_about_nodes(state, pool) else {}
    launch_nothing = numbers_of(state, pool, (*state.pools.left_out, *failed))
    return frozenset(said_out(state, pool) | excluded_numbers(state, pool) | launch_nothing)


def is_about_nodes(state: State, pool: str) -> bool:
    """Purpose: whether a queue is held because of jobs that each ended before the claim on one known node."""
    guard = state.pools.guards.get(pool)
    return guard is not None and bool(guard.since) and not guard.what and all(one.node for one in guard.row.values())


def failed_nodes(state: State, pool: str) -> dict[str, None]:
    """Purpose: the nodes on which launches failed since shortly before the pool's queue was held, now or last, and on which no job
    has taken its claim since; the one that failed longest ago comes first.
    """
    guard = state.pools.guards.get(pool)
    failed: dict[str, None] = {}
    for node in (*guard.before, *(one.node for one in guard.row.values())) if guard is not None else ():
        failed.pop(node, None)
        failed[node] = None
    failed.pop("", None)
    return failed


def said_out(state: State, pool: str) -> set[int]:
    """Purpose: the nodes of a pool, by number, that were down or drained at the last look, as the scheduler says."""
    return {number for numbers in state.pools.out.get(pool, {}).values() for number in numbers}


def excluded_numbers(state: State, pool: str) -> set[int]:
    """Purpose: the nodes of a pool, by number, that are excluded."""
    return numbers_of(state, pool, state.overrides.excluded)


def numbers_of(state: State, pool: str, names: Collection[str]) -> set[int]:
    """Purpose: the numbers of the named nodes in a pool. Nodes of other pools are left out."""
    place = state.index.places.get(pool)
    if place is None or not names:
        return set()
    known = numbers_in(place.nodes)
    return {known[name] for name in names if name in known}


def out_in_words(state: State, pool: str, numbers: Iterable[int], most: int = 10) -> str:
    """Purpose: why each of these nodes gets no job: who excluded it and why, since when it is left out, or what the scheduler says;
    and how to give it work again. Nodes with the same reason are named together: "n003 is excluded by Ada on ...: bad DIMM
    (shakedown include n003 gives it work again); n007, n008 are drained: switch 4". ``most``: how many names to show.
    """
    alike: dict[tuple[str, bool], list[str]] = {}
    numbers = sorted(numbers)
    said = {number: why for why, out in state.pools.out.get(pool, {}).items() for number in out}
    for number, name in zip(numbers, node_names(state, pool, numbers), strict=True):
        excluded, left_out = state.overrides.excluded.get(name, ""), state.pools.left_out.get(name)
        why = excluded or said.get(number, "") or (left_out_since(left_out) if left_out is not None else "")
        why = why or (launches_nothing(state, pool, name) if name in failed_nodes(state, pool) else "out")
        alike.setdefault((why, bool(excluded)), []).append(name)
    return "; ".join(
        excluded_in_words(names, why, most) if excluded else f"{first_names(names, most)} {_is_or_are(names)} {why}"
        for (why, excluded), names in alike.items()
    )


def node_names(state: State, pool: str, numbers: Iterable[int]) -> list[str]:
    """Purpose: the names of nodes of a pool, which are told by their numbers."""
    place = state.index.places.get(pool)
    names = names_in(place.nodes) if place is not None else ()
    return [names[number - 1] if number <= len(names) else f"node {number} of {pool}" for number in numbers]


def excluded_in_words(nodes: list[str], why: str, most: int = 20) -> str:
    """Purpose: nodes that were excluded for the same reason, and the command that gives them work again."""
    if "shakedown include" in why:  # the plan's own words: they begin with the node
        return why
    back = f"shakedown include {','.join(nodes[:most])}{'...' if len(nodes) > most else ''} gives them work again"
    return f"{first_names(nodes, most)} {_is_or_are(nodes)} {why} ({back if len(nodes) > 1 else back.replace('them', 'it')})"


def left_out_since(out: LeftOut) -> str:
    """Purpose: for instance "left out since ...: jobs end there before they take their claims: ..."."""
    return f"left out since {moment(out.since)}: jobs end there before they take their claims: {out.why}"


def launches_nothing(state: State, pool: str, node: str) -> str:
    """Purpose: that jobs end before their claims on a node for which the queue is held, and why, if that is known of this very
    node.
    """
    row, guard = state.pools.in_vain.get(node), state.pools.guards[pool]
    why = row.why if row is not None else guard.why
    place, _, rest = why.partition(" on ")
    names, colon, what = rest.partition(":")
    if place == LAUNCH_FAILURE and colon:
        why = f"{place}:{what}" if node in names_in(names) else ""
    return "without a launch: jobs end there before they take their claims" + (f": {why}" if why else "")


def first_names(nodes: list[str], most: int = 10) -> str:
    """Purpose: the first ``most`` names, and how many more there are."""
    return ", ".join(nodes[:most]) + (f" and {len(nodes) - most} more" if len(nodes) > most else "")


def _is_or_are(nodes: list[str]) -> str:
    return "is" if len(nodes) == 1 else "are"
