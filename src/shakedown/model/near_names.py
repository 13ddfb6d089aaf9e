"""Which node, or which case of a test, may have been meant by a name that is none."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from shakedown.model.errors import did_you_mean

_LONGEST = 200  # characters of a hint's list
_MOST = 5000  # names that are compared letter by letter
_PARTS = re.compile(r"\d+|\D+")
_RUN = re.compile(r"r\d+")


def near_node(name: str, nodes: Collection[str], says: str = "its nodes are") -> str:
    """Purpose: a hint for a name that no node has: the one that was meant, else all of them as a node set.

    A node whose number is written with other zeros is meant. Where only a number is wrong, no other number is likelier.
    """
    if not nodes:
        return "it has none"
    parts = _apart(name)
    same = [node for node in nodes if _apart(node) == parts]
    if not same and not any(_letters(node) == _letters(name) for node in nodes):
        digits = re.sub(r"\D", "", name)
        alike = [node for node in nodes if re.sub(r"\D", "", node) == digits]
        near = did_you_mean(name, (alike or sorted(nodes))[:_MOST])
        if near:
            return near
    return f"did you mean '{same[0]}'?" if same else f"{says} {_short(_folded(nodes))}"


def _apart(name: str) -> tuple[str, ...]:
    """A name in letters and numbers, without leading zeros: n007 and n7 are alike."""
    return tuple(part.lstrip("0") or "0" if part.isdigit() else part for part in _PARTS.findall(name))


def _letters(name: str) -> str:
    return re.sub(r"\d+", "#", name)


def _folded(nodes: Iterable[str]) -> str:
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet, NodeSetException

    names = sorted(nodes)
    try:
        return str(NodeSet.fromlist(names, resolver=RESOLVER_NOGROUP))
    except NodeSetException:
        return ", ".join(names)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def near_case(name: str, cases: Sequence[tuple[str, str]], runs: Iterable[str] = ()) -> str | None:
    """Purpose: a hint for a name that no case and no run has: the cases of the test of that name, or what is near it; or None.

    ``cases``: (id, test).
    """
    mine = [case for case, test in cases if test == name]
    if mine:
        more = ", ..." if len(mine) > 5 else ""
        return f"it is a test; its cases are: {', '.join(mine[:5])}{more}"
    return near_run(name, runs, [*(case for case, _ in cases), *dict.fromkeys(test for _, test in cases)])


def near_run(name: str, runs: Iterable[str], others: Iterable[str] = ()) -> str | None:
    """Purpose: a hint for a name that no run has, or None. Of a run's number only the zeros may be wrong, as of a node's: who
    copies another number from a hint cancels or blames a run that nobody meant.

    ``others``: names that are no runs and may be meant as well.
    """
    if _RUN.fullmatch(name):
        same = next((run for run in runs if _apart(run) == _apart(name)), None)
        return f"did you mean '{same}'?" if same else None
    return did_you_mean(name, [*runs, *others])
