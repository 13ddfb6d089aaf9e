"""``shakedown twin scaling``: a stencil code on more and more ranks, weak or strong, on a network and its shape."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shakedown.cli.output import table
from shakedown.cli.twin.modelling import Amount, Duration, figure_option, json_option, show_model
from shakedown.cli.twin.network_options import (
    WIDTH,
    Listed,
    bandwidth_option,
    chosen_network,
    folded,
    latency_option,
    network_option,
    network_words,
    seconds_text,
    size_text,
)
from shakedown.metrics.words import so_many

if TYPE_CHECKING:
    from shakedown.report.figures.style import Drawing
    from shakedown.twin.models.networks import Network
    from shakedown.twin.models.stencil import Machine, Scaling, Stencil

RANKS = (1, 8, 64, 512, 4096, 32768)
HOP_S = 100e-9  # assumed
EXAMPLE = {"cells": 1e5, "bytes_per_cell": 40.0, "time_per_cell": 1e-7}


@click.command(name="scaling")
@click.option("--ranks", type=Listed(click.IntRange(1, 10**9)), help="Such as 64,4096.  [default: 1 to 32768]")
@click.option(
    "--cells",
    type=click.FloatRange(1, 1e18),
    help="Of each rank; with --strong, of all.  [default: 100000]",
)
@click.option(
    "--bytes-per-cell",
    type=Amount("bytes", zero=True),
    help="Sent for a cell of a face.  [default: 40 B]",
)
@click.option("--time-per-cell", type=Duration(), help="Of computing, a step.  [default: 100 ns]")
@click.option("--strong", is_flag=True, help="Share the same cells among more ranks.")
@click.option("--slabs", is_flag=True, help="Cut in slabs (the shape of SAGE) instead of blocks.")
@click.option("--allreduces", type=click.IntRange(0, 10**6), default=1, help="Of 8 bytes, a step.  [default: 1]")
@click.option(
    "--overlap",
    type=Amount("share", zero=True),
    default=0.0,
    help="Of the exchange behind computing: 50%.  [default: none]",
)
@network_option
@latency_option
@bandwidth_option
@click.option(
    "--ranks-per-node", type=click.IntRange(1, 10**4), default=1, help="They share its bandwidth.  [default: 1]"
)
@click.option(
    "--topology", metavar="SHAPE", help="torus:18x12x24:2, fat-tree:16x16:50%, dragonfly:5x16x16x8, cielo, asci-q."
)
@click.option("--scattered", is_flag=True, help="Neighbours are at the mean distance, not one hop apart.")
@click.option("--link", type=Amount("bytes/s"), help="Bandwidth of a link.  [default: of a node, assumed]")
@click.option("--hop", type=Duration(zero=True), help="Latency of a hop more.  [default: 100 ns, assumed]")
@json_option
@figure_option
def command(as_json: bool, figure: Path | None, **given: Any) -> None:
    """A stencil code on more and more ranks.

    A step is computing, an exchange of faces with up to six neighbours, and an allreduce. Weak scaling (as many cells on each rank)
    or --strong. The code's numbers are yours: the defaults are an example.
    """
    from shakedown.twin.models.stencil import scaling

    network = chosen_network(given["name"], given["latency"], given["bandwidth"])
    missing = [name for name in EXAMPLE if given[name] is None]
    given |= {name: EXAMPLE[name] for name in missing}
    code, machine = _code(given), _machine(given, network)
    result = scaling(code, machine, given["ranks"] or _fitting(machine))
    told = {"model": result, "code": code, "machine": machine, "network": network}
    show_model(
        told,
        as_json,
        lambda: "\n".join([*_head(code, missing), *_render(result, machine, network, given["hop"] is None)]),
        figure,
        lambda: _draw(result, network),
    )


def _code(given: dict[str, Any]) -> Stencil:
    from shakedown.twin.models.stencil import Stencil

    return Stencil(
        given["cells"],
        given["bytes_per_cell"],
        given["time_per_cell"],
        strong=given["strong"],
        decomposition="slabs" if given["slabs"] else "blocks",
        allreduces=given["allreduces"],
        overlap=given["overlap"],
    )


def _machine(given: dict[str, Any], network: Network) -> Machine:
    from shakedown.model.errors import UsageError
    from shakedown.twin.models.networks import parameters
    from shakedown.twin.models.shapes import topology_named
    from shakedown.twin.models.stencil import Machine

    if given["scattered"] and given["topology"] is None:
        raise UsageError("--scattered needs a --topology", "such as --topology torus:18x12x24:2")
    return Machine(
        parameters(network),
        given["ranks_per_node"],
        topology_named(given["topology"]) if given["topology"] else None,
        "scattered" if given["scattered"] else "near",
        given["link"],
        HOP_S if given["hop"] is None else given["hop"],
    )


def _fitting(machine: Machine) -> list[int]:
    """The usual numbers of ranks, as far as the topology has nodes for them."""
    most = machine.topology.nodes * machine.ranks_per_node if machine.topology else max(RANKS)
    return [count for count in RANKS if count <= most]


def _draw(result: Scaling, network: Network) -> Drawing:
    from shakedown.report.figures.models.scaling import draw_scaling

    return draw_scaling(result, network.name)


def _head(code: Stencil, missing: list[str]) -> list[str]:
    kind, whose = ("strong", "in all") if code.strong else ("weak", "a rank")
    lines = [f"{kind} scaling of a stencil code in {code.decomposition}: a model, without noise and imbalance"]
    text = f"{code.cells:,.0f} cells {whose}, {seconds_text(code.time_per_cell_s)} each a step; {size_text(code.bytes_per_cell)} "
    text += f"for a cell of a face; {code.allreduces} allreduce of 8 B; {code.overlap:.0%} of the exchange may overlap"
    lines += folded(text, "  ")
    options = ", ".join(f"--{name.replace('_', '-')}" for name in missing)
    return lines + (folded(f"an example's numbers, assumed: {options}", "  ") if missing else [])


def _render(result: Scaling, machine: Machine, network: Network, hop_assumed: bool) -> list[str]:
    from shakedown.twin.models.networks import SPLIT

    lines = [*network_words(network, SPLIT), *_shape_words(result, machine, hop_assumed)]
    return [*lines, "", _points(result), *_last(result)]


def _shape_words(result: Scaling, machine: Machine, hop_assumed: bool) -> list[str]:
    shape = machine.topology
    if shape is None:
        return []
    node = 1 / machine.network.per_byte_s
    link = machine.link_bandwidth or node
    text = f"{shape.words()}: {so_many(shape.nodes, 'node')}, {shape.mean_hops:.3g} hops on average"
    text += f"; links of {_rate(link)}{'' if machine.link_bandwidth else ' (assumed: as a node)'}"
    text += f", {seconds_text(machine.hop_s)} a hop{' (assumed)' if hop_assumed else ''}"
    text += f"; all-to-all leaves {_rate(shape.alltoall_ceiling(node, link))} a node"
    middle = shape.bisection(link)
    text += f"; {_rate(middle)} through the middle" if math.isfinite(middle) else ""
    text += f". Neighbours {machine.placement}: {result.hops:.3g} hop{'s' * (result.hops != 1)}"
    text += f", {_rate(result.halo_bandwidth)} a node"
    text += ", as while the whole machine talks all to all" if machine.placement == "scattered" else ""
    return folded(text, "  ")


def _rate(rate: float) -> str:
    return f"{rate / 1e9:,.0f} GB/s" if rate >= 1e12 else f"{rate / 1e9:.3g} GB/s"


def _points(result: Scaling) -> str:
    rows = [
        [
            f"{point.ranks:,}",
            "x".join(map(str, point.grid)),
            size_text(point.halo_bytes),
            seconds_text(point.compute_s),
            seconds_text(point.halo_s - point.hidden_s),
            seconds_text(point.allreduce_s),
            seconds_text(point.step_s, 4),
            f"{point.efficiency_of_first:.1%}",
        ]
        for point in result.points
    ]
    headings = ["ranks", "grid", "sent", "compute", "exchange", "allreduce", "step", "efficiency"]
    return _narrow([headings, *rows], droppable=2)


def _narrow(rows: list[list[str]], droppable: int) -> str:
    """A table of WIDTH columns: where it is wider, the columns after the first go, as many as may."""
    text = table(rows[0], rows[1:], right=range(len(rows[0])))
    if not droppable or max(map(len, text.splitlines())) <= WIDTH:
        return text
    return _narrow([row[:1] + row[2:] for row in rows], droppable - 1)


def _last(result: Scaling) -> list[str]:
    first, last = result.points[0], result.points[-1]
    if first is last:
        return []
    text = (
        f"On {last.ranks:,} ranks a step takes {last.step_s / first.step_s:.3g} times as long as on {first.ranks:,}: "
    )
    text += f"{_times(last.speedup_of_first)} times the work a second on {_times(last.ranks / first.ranks)} times the ranks."
    return ["", *folded(text)]


def _times(factor: float) -> str:
    return f"{factor:,.0f}" if factor >= 1000 else f"{factor:.4g}"
