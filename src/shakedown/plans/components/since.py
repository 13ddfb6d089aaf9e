"""A criterion on a change: it names what it is held against, and the smallest change that matters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from yaml.nodes import Node

from shakedown.model.baselines import Baseline, own_epoch
from shakedown.model.measures import FAILURES_SINCE
from shakedown.plans.schema.criteria import Must
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.scalars import near_or_all
from shakedown.plans.schema.source_positions import place


def check_since(
    node: Node, name: str, entry: dict[str, Any], baselines: Mapping[str, Baseline], problems: Problems
) -> None:
    """Purpose: tell ``problems`` what a criterion on a change lacks: what it is held against, and a bound from above."""
    since, must, own = entry.get("since"), entry["must"], own_epoch(entry.get("since", ""))
    if since is None:
        problems.at(
            node,
            f"'since' is missing in criteria.{name}",
            "since: a baseline of the plan, or an earlier epoch: epoch 1",
        )
    elif not own and since not in baselines:
        hint = near_or_all(since, baselines) if baselines else "write baselines: {before: {campaign: NAME}}, or epoch 1"
        problems.at(place(node, "since"), f"criteria.{name}.since: the plan has no baseline '{since}'", hint, since)
    epochs = entry.get("epochs", "all")
    if own and epochs.isdigit() and int(epochs) <= own:
        said = f"criteria.{name}.epochs: epoch {epochs} is not after epoch {own}, which it is held against"
        problems.at(place(node, "epochs"), said, f"epochs: {own + 1}, or last")
    _check_bound(node, name, entry["measure"], must, problems)


def _check_bound(node: Node, name: str, measure: str, must: Must, problems: Problems) -> None:
    if not must.comparison.startswith("<"):
        said = f"criteria.{name}.must: a change for the worse is bounded from above, and this is '{must.text}'"
        problems.at(place(node, "must"), said, "write the smallest change that matters, such as '<= 5%'")
    elif measure != FAILURES_SINCE and must.amount.strip().rstrip("% ") in ("0", "0.0"):
        said = f"criteria.{name}.must: no number of runs shows that nothing at all has changed"
        problems.at(place(node, "must"), said, "write the smallest change that matters, such as '<= 5%'")
