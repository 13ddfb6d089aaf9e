"""Find the scores of a site's plans, to report contract rows on a score that no plan has.

Several plans may name one contract, each with scores of its own, so that a row is held against all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from shakedown.model.judging import Contract
from shakedown.model.scores import COMPONENT
from shakedown.plans.contracts.contract_files import Written
from shakedown.plans.files import read_bytes
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.scalars import near_or_all
from shakedown.plans.schema.source_positions import place
from shakedown.plans.schema.yaml_nodes import read_nodes

if TYPE_CHECKING:
    from shakedown.plans.site import Site


@dataclass(frozen=True, slots=True)
class PlanScores:
    """The contracts that a plan names, and its scores and their parts by the names that rows use."""

    contracts: frozenset[str]
    names: frozenset[str]


def scores_written(root: Node) -> PlanScores:
    """Purpose: the contracts and scores of one plan; faults of the plan are not reported here."""
    contract = place(root, "contract")
    listed = contract.value if isinstance(contract, SequenceNode) else [contract]
    names = []
    for score, node in _pairs(root, "scores"):
        names += [score, *(f"{score}.{part}" for part, _ in _pairs(node, "parts"))]
    return PlanScores(frozenset(one.value for one in listed if isinstance(one, ScalarNode)), frozenset(names))


def _pairs(root: Node, key: str) -> list[tuple[str, Node]]:
    node = place(root, key)
    if node is root or not isinstance(node, MappingNode):
        return []
    return [(name.value, value) for name, value in node.value if isinstance(name, ScalarNode)]


def scores_of_plans(reading: Site) -> list[PlanScores] | None:
    """Purpose: the contracts and scores of every plan; None where a plan cannot be read, because it may have any score."""
    found = []
    for file in reading.plans.values():
        data = read_bytes(file, Problems())
        root = None if data is None else read_nodes(data, file.name, Problems())
        if root is None:
            return None
        found.append(scores_written(root))
    return found


def tell_unknown_scores(
    contract: Contract, written: Mapping[str, Written], reading: Site, own: PlanScores | None = None
) -> None:
    """Purpose: rows on a score that no plan has of those that name the contract, or of all where none names it.

    ``own``: what the plan that is being read has, wherever its file lies. Without a plan nothing is told: the contract may have
    been there first.
    """
    rows = [row for row in contract.rows if row.test == COMPONENT and (own is None or row.figure not in own.names)]
    if not rows or COMPONENT in reading.tests:  # then it is a test of that name
        return
    plans = scores_of_plans(reading)
    if plans is None:
        return
    plans += [own] if own is not None else []
    using = [plan for plan in plans if contract.name in plan.contracts]
    names = {name for plan in using or plans for name in plan.names}
    whose = f"no plan with contract '{contract.name}'" if using else "no plan of the site"
    for row in rows:
        if plans and row.figure not in names:
            hint = (
                near_or_all(row.figure, names) if names else "declare it under 'scores' of a plan, or leave the row out"
            )
            said = f"{whose} has a score '{row.figure}'"
            written[row.name].wrong(reading.problems, "figure", said, hint, f"score {row.figure}")
