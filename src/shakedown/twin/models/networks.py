"""Networks by name, with the papers' own numbers and where each is printed; what no paper prints is called assumed."""

from __future__ import annotations

from dataclasses import dataclass

from shakedown.model.errors import UsageError, did_you_mean
from shakedown.twin.models.loggp import LogGP

OVERHEAD_SHARE = 0.25  # of the latency, at each end: assumed, no paper splits it
SPLIT = "L is half of the latency, o a quarter at each end, g equals o: assumed, no paper splits it"


@dataclass(frozen=True, slots=True)
class Network:
    """A network: what a ping-pong of a few bytes takes, and the bytes per second of one node; ``source`` says who printed it."""

    name: str
    about: str
    latency_s: float
    bandwidth: float
    source: str


NETWORKS = {
    network.name: network
    for network in (
        Network("gemini", "Hopper, Cray XE6", 1.6e-6, 6.0e9, "paper 002, table 1"),
        Network(
            "gemini-4k",
            "Hopper with pages of 4 kB, before the patch",
            1.6e-6,
            3.5e9,
            "paper 002, 'Low MPI Bandwidth with Small Memory Pages'; latency from its table 1",
        ),
        Network("seastar2", "Franklin, Cray XT4", 6.5e-6, 1.6e9, "paper 002, table 1"),
        Network("qsnet", "ASCI Q, one rail of two", 5e-6, 250e6, "paper 003, System Summary ('~5 us', 250 MB/s/rail)"),
        Network(
            "slingshot",
            "C5, Slingshot 10, one NIC of two",
            2.6e-6,
            8.6e9,
            "paper 004, table II (latency; prints no unit, GPCNet's is us) and IV.B (mpiGraph, mean per NIC)",
        ),
    )
}


def network_named(name: str) -> Network:
    """Purpose: a network of NETWORKS. Raises UsageError with what there is."""
    if name not in NETWORKS:
        raise UsageError(
            f"there is no network '{name}'", did_you_mean(name, NETWORKS) or f"there are: {', '.join(NETWORKS)}"
        )
    return NETWORKS[name]


def given_network(latency_s: float, bandwidth: float) -> Network:
    """A network of a person's own numbers."""
    return Network("given", "your numbers", latency_s, bandwidth, "what you gave")


def parameters(network: Network, combine_rate: float | None = None) -> LogGP:
    """Purpose: LogGP of a network, split as SPLIT says. ``combine_rate``: bytes/s that a rank reduces; None: at no cost.

    Raises UsageError where latency or bandwidth are not above zero.
    """
    if not 0 < network.latency_s < 1e6 or not 0 < network.bandwidth < float("inf"):
        raise UsageError("a network's latency and bandwidth are above zero", "such as 2 us and 10 GB/s")
    overhead = OVERHEAD_SHARE * network.latency_s
    combine = 0.0 if combine_rate is None else 1.0 / combine_rate
    return LogGP(network.latency_s - 2 * overhead, overhead, overhead, 1.0 / network.bandwidth, combine)
