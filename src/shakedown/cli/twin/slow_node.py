"""``shakedown twin slow-node``: what a slow node costs a job that waits for it in every step, and how it is found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shakedown.cli.output import table
from shakedown.cli.twin.modelling import figure_option, json_option, show_model
from shakedown.metrics.words import so_many
from shakedown.model.units import parse_quantity

if TYPE_CHECKING:
    from shakedown.twin.models.slow_node import SlowNodeStudy

MOST_FOUND = 10


class Share(click.ParamType[float]):
    """``5%`` or ``0.05``."""

    name = "share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float):
            return value
        try:
            quantity = parse_quantity(str(value))
        except ValueError:
            quantity = None
        if quantity is None or quantity.unit not in ("", "%") or not 0 <= quantity.base <= 1:
            self.fail(f"'{value}' is not a share; write it as 5% or 0.05, from 0 to 1", param, ctx)
        return quantity.base


@click.command()
@click.option("--nodes", type=int, default=19_000, show_default=True, metavar="N", help="Of the job.")
@click.option("--ranks-per-node", type=int, default=64, show_default=True, metavar="N")
@click.option("--slow", type=int, default=2, show_default=True, metavar="N", help="How many nodes are slow.")
@click.option(
    "--speed",
    type=Share(),
    default="5%",
    show_default=True,
    metavar="SHARE",
    help="Of a slow node, of a healthy one's.",
)
@click.option(
    "--compute-share",
    type=Share(),
    default="100%",
    show_default=True,
    metavar="SHARE",
    help="Of a step, that goes at the node's own speed.",
)
@click.option(
    "--spread",
    type=Share(),
    default="1%",
    show_default=True,
    metavar="SHARE",
    help="Of the ranks' times, on healthy nodes.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, metavar="N")
@figure_option
@json_option
def command(
    nodes: int,
    ranks_per_node: int,
    slow: int,
    speed: float,
    compute_share: float,
    spread: float,
    seed: int,
    figure: Path | None,
    as_json: bool,
) -> int:
    """Model what slow nodes cost a job whose ranks all wait for each other.

    As it stands: the 1.2 million ranks of paper 000, which ran more than 20 times faster without two slow nodes. Their speed
    is assumed.
    """
    from shakedown.report.figures.models.slow_node import draw_slow_node
    from shakedown.twin.models.slow_node import SlowJob, study_slow_node

    study = study_slow_node(SlowJob(nodes, ranks_per_node, slow, speed, compute_share, spread), seed)
    show_model(_plain(study), as_json, lambda: _text(study), figure, lambda: draw_slow_node(study))
    return 0


def _plain(study: SlowNodeStudy) -> dict[str, Any]:
    """Without what only the figure needs."""
    import msgspec

    data: dict[str, Any] = msgspec.to_builtins(study)
    return {key: value for key, value in data.items() if key not in ("scores", "speeds", "slowdowns")}


def _text(study: SlowNodeStudy) -> str:
    job = study.job
    head = f"Slow nodes, a model: {job.slow} of {so_many(job.nodes, 'node')} at {job.speed:.3g} of the others' speed (assumed),"
    parts = [
        head,
        f"{job.nodes * job.ranks_per_node:,} ranks that wait for each other in every step.",
        "",
        _costs(study),
    ]
    if study.slowdown > 1:
        parts += ["", f"{study.lost_node_share:.0%} of all node time is spent waiting for slow nodes."]
    return "\n".join([*parts, "", *_found(study)])


def _costs(study: SlowNodeStudy) -> str:
    rows = [("as it is", _times(study.slowdown))]
    rows += [(_without(one.nodes, study.job.slow), _times(one.slowdown)) for one in study.removed if one.nodes]
    rows.append(("all nodes kept, work shared by their speed", _times(study.rebalanced)))
    return table(("the job", "times as long"), rows, (1,))


def _without(gone: int, slow: int) -> str:
    if gone == slow:
        return "without the slow node" if slow == 1 else f"without the {slow} slow nodes"
    return f"without {gone} of the {slow} slow nodes"


def _found(study: SlowNodeStudy) -> list[str]:
    found, planted = {one.node for one in study.found}, set(study.planted)
    said = f"Found by the timers of the ranks: {len(found & planted)} of {len(planted)} slow nodes"
    said += f", and {len(found - planted)} that are not." if found - planted else ", and no other."
    if not study.found:
        return [said]
    shown = study.found[:MOST_FOUND]
    rows = [(str(one.node), f"{one.times_usual:.2f}", f"{one.score:.0f}", str(one.round)) for one in shown]
    more = [f"and {len(study.found) - MOST_FOUND} more"] if len(study.found) > MOST_FOUND else []
    columns = ("node", "its fastest rank, times the usual", "robust z", "round")
    return [said, "", table(columns, rows, (0, 1, 2, 3)), *more]


def _times(slowdown: float) -> str:
    return f"{slowdown:.3f}" if slowdown < 1.1 else f"{slowdown:.1f}"
