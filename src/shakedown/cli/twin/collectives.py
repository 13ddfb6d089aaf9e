"""``shakedown twin collectives``: how long barriers, broadcasts and reductions take, from a network's latency and bandwidth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from shakedown.cli.output import table
from shakedown.cli.twin.modelling import Amount, figure_option, json_option, show_model
from shakedown.cli.twin.network_options import (
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

if TYPE_CHECKING:
    from shakedown.report.figures.style import Drawing
    from shakedown.twin.models.collectives import Collectives

COLUMNS = 5  # sizes beside each other
RANKS, SIZES = (64, 1024, 8192, 65536), (8.0, 1024.0, 65536.0, 1048576.0)


@click.command(name="collectives")
@network_option
@latency_option
@bandwidth_option
@click.option(
    "--ranks", type=Listed(click.IntRange(1, 10**9)), default=RANKS, help="Such as 64,4096.  [default: 64 to 65536]"
)
@click.option(
    "--size", type=Listed(Amount("bytes", zero=True)), default=SIZES, help="Such as 8B,64KiB.  [default: 8 B to 1 MiB]"
)
@click.option(
    "--operation",
    multiple=True,
    metavar="NAME",
    help="barrier, broadcast, allreduce, reduce-scatter, alltoall; else all.",
)
@click.option("--combine", type=Amount("bytes/s"), help="What a rank reduces: 10GB/s. Without: at no cost.")
@json_option
@figure_option
def command(
    name: str | None,
    latency: float | None,
    bandwidth: float | None,
    ranks: tuple[int, ...],
    size: tuple[float, ...],
    operation: tuple[str, ...],
    combine: float | None,
    as_json: bool,
    figure: Path | None,
) -> None:
    """How long the collectives take, by LogGP.

    From a message's latency and a node's bandwidth, for one rank a node, on an idle network with equal paths and no noise. The
    algorithms are the textbooks': a library may have better ones for large messages, or hardware for small ones. The allreduce
    takes the faster of two; the size from which on the other one wins is worked out.
    """
    from shakedown.twin.models.collectives import OPERATIONS, collectives

    network = chosen_network(name, latency, bandwidth)
    result = collectives(network, ranks, size, operation or tuple(OPERATIONS), combine)
    show_model(result, as_json, lambda: _render(result), figure, lambda: _draw(result))


def _draw(result: Collectives) -> Drawing:
    from shakedown.report.figures.models.collectives import draw_collectives

    return draw_collectives(result)


def _render(result: Collectives) -> str:
    lines = ["collectives: a model (LogGP) of an idle network, one rank a node, no noise"]
    lines += network_words(result.network, result.assumed)
    pairs = zip(result.sizes_bytes, result.messages_s, strict=True)
    lines += folded("one message: " + ", ".join(f"{size_text(m)} {seconds_text(s)}" for m, s in pairs), "  ")
    for name in dict.fromkeys(timed.operation for timed in result.times):
        lines += ["", *_block(result, name)]
    return "\n".join(lines)


def _block(result: Collectives, name: str) -> list[str]:
    """One operation: a row for each number of ranks, a column for each size."""
    from shakedown.twin.models.collectives import OPERATIONS, SIZES_MEAN

    times = {(timed.ranks, timed.size_bytes): timed for timed in result.times if timed.operation == name}
    sizes = list(dict.fromkeys(size for _, size in times))
    meaning = f"; sizes are {SIZES_MEAN[name]}" if name in SIZES_MEAN else ""
    lines = folded(f"{name} ({OPERATIONS[name][0]}){meaning}")
    for first in range(0, len(sizes), COLUMNS):
        shown = sizes[first : first + COLUMNS]
        rows = [
            [f"{ranks:,}", *(_cell(times[ranks, size].seconds, times[ranks, size].algorithm) for size in shown)]
            for ranks in dict.fromkeys(ranks for ranks, _ in times)
        ]
        headings = ["ranks", *("time" if size is None else size_text(size) for size in shown)]
        lines += table([f"{heading:>11}" for heading in headings], rows, right=range(len(headings))).splitlines()
    return lines + (_crossovers(result) if name == "allreduce" else [])


def _cell(seconds: float, algorithm: str) -> str:
    return seconds_text(seconds) + (" R" if algorithm == "Rabenseifner" else "")


def _crossovers(result: Collectives) -> list[str]:
    said = [
        f"{'never' if one.size_bytes is None else size_text(one.size_bytes)} at {one.ranks:,}"
        for one in result.crossovers
    ]
    return folded(f"R: Rabenseifner's, the faster one from {', '.join(said)} ranks.")
