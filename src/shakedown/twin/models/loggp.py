"""LogGP: what a message costs, and what the usual algorithms of the collectives make of it.

Alexandrov, Ionescu, Schauser and Scheiman (1995): a message of m bytes costs L + 2o + (m-1)G from the start of its sending to the
end of its receiving; after one message a rank starts the next no earlier than max(g, o) + (m-1)G. Every function takes ranks and
sizes as numbers or as arrays that broadcast against each other, and gives seconds. Networks are idle, paths equal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shakedown.model.errors import UsageError

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
RANKS_LIMIT = 10**9
SIZE_LIMIT = 2.0**60  # bytes; above, nothing is said
_HALVINGS = 60  # of the logarithm of a size: to the last bit
ELEMENT_BYTES = 8  # no piece of a vector is smaller than one double

__all__ = [
    "ELEMENT_BYTES",
    "RANKS_LIMIT",
    "Floats",
    "LogGP",
    "allreduce",
    "alltoall",
    "barrier",
    "broadcast",
    "crossover_bytes",
    "doubling",
    "point_to_point",
    "rabenseifner",
    "reduce_scatter",
]


@dataclass(frozen=True, slots=True)
class LogGP:
    """A network: latency L, overhead o of sending and of receiving, gap g between messages, G per byte; ``combine`` a byte.

    Raises UsageError where a number is negative or not finite, or the gap is longer than L + 2o: then messages queue behind each
    other between rounds, and the formulas here do not hold.
    """

    latency_s: float
    overhead_s: float
    gap_s: float
    per_byte_s: float
    combine_per_byte_s: float = 0.0

    def __post_init__(self) -> None:
        values = (self.latency_s, self.overhead_s, self.gap_s, self.per_byte_s, self.combine_per_byte_s)
        if not all(math.isfinite(value) and value >= 0 for value in values):
            raise UsageError("a network's latency, overhead, gap and time per byte are numbers from 0 on")
        if max(self.gap_s, self.overhead_s) > self.start_s:
            raise UsageError(
                f"a gap of {self.gap_s:g} s is longer than a whole message, {self.start_s:g} s",
                "give a gap of at most the latency and two overheads",
            )

    @property
    def start_s(self) -> float:
        """What an empty message costs, L + 2o: the latency that a ping-pong measures."""
        return self.latency_s + 2 * self.overhead_s

    @property
    def spacing_s(self) -> float:
        """The least time between two sends of one rank, without their bytes."""
        return max(self.gap_s, self.overhead_s)


def point_to_point(network: LogGP, size: ArrayLike) -> Floats:
    """Purpose: one message, L + 2o + (m-1)G; an empty one costs no bytes."""
    return np.asarray(network.start_s + _bytes_s(network, size), np.float64)


def barrier(network: LogGP, ranks: ArrayLike) -> Floats:
    """Purpose: dissemination (Hensgen, Finkel and Manber, 1988): ceil(log2 P) rounds of empty messages, any P."""
    return np.asarray(_rounds_up(_ranks(ranks)) * network.start_s, np.float64)


def broadcast(network: LogGP, ranks: ArrayLike, size: ArrayLike) -> Floats:
    """Purpose: a binomial tree, the farthest half first: log2 P messages one after the other where P is a power of two.

    Where it is not, the first branch is a smaller tree and the second, sent one spacing later, a full one: the later of the two.
    """
    left, sizes = np.broadcast_arrays(_ranks(ranks), _sizes(size))
    message, spacing = point_to_point(network, sizes), network.spacing_s + _bytes_s(network, sizes)
    done, before = np.zeros(left.shape), np.zeros(left.shape)
    while (left > 1).any():
        rounds, full = _rounds_up(left), _is_power(left)
        ends = before + np.where(full, rounds * message, spacing + (rounds - 1) * message)
        done = np.where(left > 1, np.maximum(done, ends), done)
        before = before + message
        left = np.where(full, 1, left - (1 << np.maximum(rounds - 1, 0)))
    return done


def doubling(network: LogGP, ranks: ArrayLike, size: ArrayLike) -> Floats:
    """Purpose: allreduce by recursive doubling: log2 P rounds, each of the whole vector, combined after each.

    Ranks beyond the last power of two hand their vector to a neighbour before, and get the result after (Thakur, Rabenseifner and
    Gropp, 2005). The neighbours start late, so in the rounds with partners who did not wait, theirs is there already.
    """
    count, sizes = _ranks(ranks), _sizes(size)
    rounds, combining = _rounds_down(count), sizes * network.combine_per_byte_s
    message = point_to_point(network, sizes)
    own = np.maximum(2 * network.overhead_s + combining, network.spacing_s + _bytes_s(network, sizes))
    extra = np.maximum(count - (1 << rounds), 1)
    early = _rounds_down((1 << rounds) // extra)
    saved = np.minimum(early * (message + combining - own), message)
    seconds = rounds * (message + combining) + _fold(network, count, sizes)
    return np.asarray(seconds - np.where(_is_power(count), 0.0, saved), np.float64)


def rabenseifner(network: LogGP, ranks: ArrayLike, size: ArrayLike) -> Floats:
    """Purpose: allreduce as a reduce-scatter by halving and an allgather by doubling: 2 log2 P messages, 2 (P-1)/P m bytes.

    A piece is never smaller than one double: of a short vector some ranks hold none, and others always one. Ranks beyond a power of
    two as in ``doubling``.
    """
    count, sizes = np.broadcast_arrays(_ranks(ranks), _sizes(size))
    rounds, seconds = _rounds_down(count), _fold(network, count, sizes)
    for number in range(1, int(rounds.max(initial=0)) + 1):
        piece = np.maximum(sizes / 2.0**number, np.minimum(sizes, ELEMENT_BYTES))
        cost = 2 * point_to_point(network, piece) + piece * network.combine_per_byte_s
        seconds = seconds + np.where(number <= rounds, cost, 0.0)
    return np.asarray(seconds, np.float64)


def crossover_bytes(network: LogGP, ranks: ArrayLike) -> Floats:
    """Purpose: the vector from which on Rabenseifner's allreduce is the faster one; infinite where it never is (two ranks).

    Where the times of both are equal. Their difference is below zero for small sizes and crosses zero once.
    For a power of two: m = k (L+2o-G) / [(k - 2q) G + (k - q) c], k = log2 P, q = (P-1)/P, c the time to combine a byte.
    """
    count = _ranks(ranks)
    low: Any = np.full(count.shape, float(ELEMENT_BYTES))
    high: Any = np.full(low.shape, SIZE_LIMIT)
    never, at_once, least = ~_scatters(network, count, high), _scatters(network, count, low), low
    for _ in range(_HALVINGS):
        middle = np.sqrt(low * high)
        faster = _scatters(network, count, middle)
        low, high = np.where(faster, low, middle), np.where(faster, middle, high)
    return np.where(never, np.inf, np.where(at_once, least, high))


def allreduce(network: LogGP, ranks: ArrayLike, size: ArrayLike) -> Floats:
    """Purpose: by recursive doubling below ``crossover_bytes``, and Rabenseifner's from it on: the faster one."""
    return np.minimum(doubling(network, ranks, size), rabenseifner(network, ranks, size))


def alltoall(network: LogGP, ranks: ArrayLike, size: ArrayLike) -> Floats:
    """Purpose: pairwise exchange: P - 1 rounds, ``size`` bytes to each other rank, each round after the one before."""
    return np.asarray((_ranks(ranks) - 1) * point_to_point(network, size), np.float64)


def reduce_scatter(network: LogGP, ranks: ArrayLike, size: ArrayLike) -> Floats:
    """Purpose: a vector of ``size`` bytes reduced, a P-th of it left on each rank: by halving or pairwise, the faster one."""
    count, sizes = _ranks(ranks), _sizes(size)
    return np.minimum(_halving(network, count, sizes), _pairwise(network, count, sizes))


def _halving(network: LogGP, ranks: Whole, size: Floats) -> Floats:
    """Recursive halving. Neighbours beyond a power of two fold before, and stand for two blocks: their half is the larger one.

    Where there are such, each round is taken to wait for its slowest rank: an upper bound, by less than one whole vector.
    """
    count, sizes = np.broadcast_arrays(ranks, size)
    rounds = _rounds_down(count)
    extra, block, seconds = count - (1 << rounds), sizes / count, np.zeros(count.shape)
    for number in range(int(rounds.max(initial=0))):
        kept = 1 << np.maximum(rounds - number - 1, 0)
        moved = (kept + np.minimum(extra, kept)) * block
        cost = point_to_point(network, moved) + moved * network.combine_per_byte_s
        seconds = seconds + np.where(number < rounds, cost, 0.0)
    folded = point_to_point(network, sizes) + sizes * network.combine_per_byte_s + point_to_point(network, block)
    return np.asarray(seconds + np.where(extra > 0, folded, 0.0), np.float64)


def _pairwise(network: LogGP, ranks: Whole, size: Floats) -> Floats:
    block = size / ranks
    return np.asarray((ranks - 1) * (point_to_point(network, block) + block * network.combine_per_byte_s), np.float64)


def _scatters(network: LogGP, ranks: Whole, size: Floats) -> NDArray[np.bool_]:
    """Whether Rabenseifner's allreduce is the faster one."""
    return np.asarray(rabenseifner(network, ranks, size) < doubling(network, ranks, size))


def _fold(network: LogGP, ranks: Whole, size: Floats) -> Floats:
    """Before and after an allreduce of a power of two, where there are more ranks than that."""
    both = 2 * point_to_point(network, size) + size * network.combine_per_byte_s
    return np.where(_is_power(ranks), 0.0, both)


def _bytes_s(network: LogGP, size: ArrayLike) -> Floats:
    """(m-1)G: the first byte travels with the latency."""
    return np.asarray(np.maximum(_sizes(size) - 1, 0.0) * network.per_byte_s, np.float64)


def _ranks(ranks: ArrayLike) -> Whole:
    """Whole numbers from 1 on. Raises UsageError for anything else."""
    found = np.asarray(ranks)
    if found.dtype.kind not in "iu" or (found < 1).any() or (found > RANKS_LIMIT).any():
        raise UsageError(f"there are {ranks!r} ranks", f"give whole numbers from 1 to {RANKS_LIMIT:,}")
    return found.astype(np.int64)


def _sizes(size: ArrayLike) -> Floats:
    """Bytes from 0 on. Raises UsageError for anything else."""
    found = np.asarray(size, np.float64)
    if not ((found >= 0) & (found <= SIZE_LIMIT)).all():
        raise UsageError(f"a message has {size!r} bytes", f"give sizes from 0 to {SIZE_LIMIT:.0f} bytes")
    return found


def _rounds_down(ranks: Whole) -> Whole:
    """floor(log2 P), exactly."""
    return np.asarray(np.frexp(ranks.astype(float))[1] - 1, np.int64)


def _rounds_up(ranks: Whole) -> Whole:
    """ceil(log2 P), exactly."""
    return _rounds_down(ranks) + ~_is_power(ranks)


def _is_power(ranks: Whole) -> NDArray[np.bool_]:
    return np.asarray((ranks & (ranks - 1)) == 0)
