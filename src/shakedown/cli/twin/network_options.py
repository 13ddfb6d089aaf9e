"""What the commands about networks share: lists as options, a network by name or by numbers, and times and sizes in words."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from shakedown.cli.twin.modelling import Amount, Duration
from shakedown.model.errors import UsageError
from shakedown.model.units import show_duration

if TYPE_CHECKING:
    from shakedown.twin.models.networks import Network

WIDTH = 80
MANY = 64  # entries of a list

network_option = click.option(
    "--network", "name", metavar="NAME", help="gemini, gemini-4k, seastar2, qsnet, slingshot; else gemini."
)
latency_option = click.option(
    "--latency", type=Duration(), help="Of an empty message, end to end: 1.6us. Instead of the network's."
)
bandwidth_option = click.option(
    "--bandwidth", type=Amount("bytes/s"), help="Of a node, in one direction: 6GB/s. Instead of the network's."
)


class Listed(click.ParamType[tuple[Any, ...]]):
    """Several values of another kind, with commas between."""

    def __init__(self, kind: click.ParamType[Any]) -> None:
        self.kind, self.name = kind, f"{kind.name},..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[Any, ...]:
        if isinstance(value, tuple):
            return value
        words = [word.strip() for word in str(value).split(",")]
        if not all(words) or len(words) > MANY:
            self.fail(f"'{value}': from 1 to {MANY} values with commas between them", param, ctx)
        return tuple(dict.fromkeys(self.kind.convert(word, param, ctx) for word in words))


def chosen_network(name: str | None, latency: float | None, bandwidth: float | None) -> Network:
    """Purpose: the network that was asked for. Raises UsageError where it is not known, or only half of one is given."""
    from shakedown.twin.models.networks import given_network, network_named

    if name is None and latency is not None and bandwidth is not None:
        return given_network(latency, bandwidth)
    if name is None and (latency is not None or bandwidth is not None):
        raise UsageError("half of a network is given", "give both --latency and --bandwidth, or --network NAME as well")
    found = network_named(name or "gemini")
    if latency is None and bandwidth is None:
        return found
    changed = replace(found, latency_s=latency or found.latency_s, bandwidth=bandwidth or found.bandwidth)
    return replace(changed, about=f"{found.about}; changed", source=f"{found.source}; what you gave instead")


def network_words(network: Network, assumed: str) -> list[str]:
    """The lines that say which network it is, where its numbers are from, and what is assumed."""
    rate = f"{network.bandwidth / 1e9:.4g} GB/s"
    head = f"network {network.name} ({network.about}): {seconds_text(network.latency_s)}, {rate}"
    return [line for text in (head, f"from {network.source}", assumed) for line in folded(text, "  ")]


def folded(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent)


def seconds_text(seconds: float, digits: int = 3) -> str:
    """A short time with so many digits: 950 ns, 1.6 us, 42.3 us, 4.81 ms, 3.2 s."""
    if seconds == 0:
        return "0 s"
    for unit, size in (("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3)):
        if seconds < 999.5 * size:
            return f"{seconds / size:.{digits}g} {unit}"
    if seconds >= 100 * 86400:
        return f"{seconds / 86400:.{digits}g} d"
    return f"{seconds:.{digits}g} s" if seconds < 60 else show_duration(seconds)


def size_text(size: float) -> str:
    """A size as it was probably typed: 8 B, 64 KiB, 1 MB, 12.3 MB."""
    for base, units in ((1024, ("B", "KiB", "MiB", "GiB", "TiB", "PiB")), (1000, ("B", "kB", "MB", "GB", "TB", "PB"))):
        power = next((p for p in range(5, -1, -1) if size >= base**p), 0)
        amount = size / base**power
        if amount == int(amount) or base == 1000:
            return f"{amount:.3g} {units[power]}" if amount < 999.5 else f"{amount:.0f} {units[power]}"
    raise AssertionError("unreachable")
