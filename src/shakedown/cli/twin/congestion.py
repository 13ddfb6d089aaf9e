"""``shakedown twin congestion``: what was measured alone and beside congestors, and what a shared link makes of a load."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shakedown.cli.output import table
from shakedown.cli.twin.modelling import Amount, figure_option, json_option, show_model
from shakedown.cli.twin.network_options import Listed, folded
from shakedown.model.errors import UsageError

if TYPE_CHECKING:
    from shakedown.report.figures.style import Drawing
    from shakedown.twin.models.congestion import Congestion, Impact, LoadPoint, Measured

LOADS = (0.0, 0.25, 0.5, 0.75, 0.9, 0.95, 1.0, 1.25)
_MEANING = (
    "impact: so many times worse beside congestors; up to 1, no worse. busy link: the load of one shared link that would "
    "explain it, by the model below."
)
_FORM = "NAME,ISOLATED,CONGESTED,lower|higher"


@click.command(name="congestion")
@click.option(
    "--measured", multiple=True, metavar=_FORM, help="A test of your own, and which is better; may be repeated."
)
@click.option(
    "--load",
    type=Listed(Amount("share", zero=True)),
    default=LOADS,
    help="Of a shared link: 50%,90%.  [default: 0% to 125%]",
)
@click.option(
    "--flows", type=click.IntRange(1, 10**9), help="So many share a link; with --rate and --link, instead of --load."
)
@click.option("--rate", type=Amount("bytes/s"), help="Of each flow: 12.5GB/s.")
@click.option("--link", type=Amount("bytes/s"), help="Of the link that they share: 25GB/s.")
@click.option(
    "--isolation", type=Amount("share", zero=True), default=0.0, help="Of the time, off shared links.  [default: none]"
)
@json_option
@figure_option
def command(
    measured: tuple[str, ...],
    load: tuple[float, ...],
    flows: int | None,
    rate: float | None,
    link: float | None,
    isolation: float,
    as_json: bool,
    figure: Path | None,
) -> None:
    """What others' traffic costs.

    Congestion impact as GPCNet counts it: congested over isolated for latencies, isolated over congested for bandwidths. Without
    --measured, those of C5 (paper 004, table II). Beside it a shared link as a queue: times 1/(1-u) at a load u.
    """
    from shakedown.twin.models.congestion import C5_GPCNET, C5_SOURCE, congestion, shared_load

    if flows is not None or rate is not None or link is not None:
        if flows is None or rate is None or link is None:
            raise UsageError(
                "a shared link is given by --flows, --rate and --link", "--flows 2 --rate 12.5GB/s --link 25GB/s"
            )
        load = (shared_load(flows, rate, link),)
    if measured:
        result = congestion([_measured(text) for text in measured], load, isolation)
    else:
        result = congestion(C5_GPCNET, load, isolation, C5_SOURCE)
    show_model(result, as_json, lambda: _render(result), figure, lambda: _draw(result))


def _measured(text: str) -> Measured:
    from shakedown.twin.models.congestion import Measured

    parts = [part.strip() for part in text.rsplit(",", 3)]
    try:
        name, isolated, congested, better = parts
        return Measured(name, float(isolated), float(congested), better)
    except ValueError as error:
        raise UsageError(f"--measured '{text}' is not {_FORM}", "such as --measured 'latency,2.6,2.8,lower'") from error


def _draw(result: Congestion) -> Drawing:
    from shakedown.report.figures.models.congestion import draw_congestion

    return draw_congestion(result)


def _render(result: Congestion) -> str:
    lines = ["congestion: isolated against beside congestors", *folded(f"from {result.source}", "  "), ""]
    lines += [_impacts(result.impacts), "", *folded(_MEANING)]
    lines += ["", *folded(_model_words(result.isolation)), _points(result.points)]
    return "\n".join(lines)


def _impacts(impacts: tuple[Impact, ...]) -> str:
    rows: list[list[str]] = [
        [one.name[:32], f"{one.isolated:g}", f"{one.congested:g}", one.unit, f"{one.factor:.3f}", _busy(one)]
        for one in impacts
    ]
    return table(["test", "isolated", "congested", "unit", "impact", "busy link"], rows, right=(1, 2, 4, 5))


def _busy(one: Impact) -> str:
    return f"{one.busy_share:.1%}" if one.busy_share else "-"


def _model_words(isolation: float) -> str:
    text = "a model: a shared link at load u takes 1/(1-u) times as long (a queue, random arrivals)"
    return text + (f"; {isolation:.4g} of the time is off shared links" if isolation else "")


def _points(points: tuple[LoadPoint, ...]) -> str:
    rows: list[list[Any]] = [
        [
            f"{point.load:.4g}",
            "without end" if point.factor is None else f"{point.factor:.4g}",
            f"{point.delivered_share:.1%}",
        ]
        for point in points
    ]
    return table(["load", "time", "delivered"], rows, right=(0, 1, 2))
