"""The collectives as programs of one rank, as MPI libraries play them, with data: written from the algorithms, not from formulas.

``parts`` maps a block's number to the set of ranks whose contribution it holds; two sets that meet must not overlap.
"""

from __future__ import annotations

from typing import Any

from network_messages import Program, Receive, Send, Work

Parts = dict[int, frozenset[int]]


def _joined(mine: Parts, theirs: Parts) -> Parts:
    assert mine.keys() == theirs.keys()
    assert not any(mine[block] & theirs[block] for block in mine), "something would be counted twice"
    return {block: mine[block] | theirs[block] for block in mine}


def barrier(rank: int, ranks: int) -> Program:
    heard, step = {rank}, 1
    while step < ranks:
        yield Send((rank + step) % ranks, 0, set(heard))
        heard |= yield Receive((rank - step) % ranks)
        step *= 2
    return heard


def broadcast(rank: int, ranks: int, size: float) -> Program:
    news: Any = "news" if rank == 0 else None
    mask = 1
    while mask < ranks:
        if rank & mask:
            news = yield Receive(rank - mask)
            break
        mask *= 2
    mask //= 2
    while mask:
        if rank + mask < ranks:
            yield Send(rank + mask, size, news)
        mask //= 2
    return news


def _fold_in(rank: int, extra: int, size: float, vector: Parts, combine: float) -> Program:
    """Of the first 2 x extra ranks the even ones hand over. Returns (new rank or None, vector)."""
    if rank >= 2 * extra:
        return rank - extra, vector
    if rank % 2 == 0:
        yield Send(rank + 1, size, vector)
        return None, vector
    vector = _joined(vector, (yield Receive(rank - 1)))
    yield Work(size * combine)
    return rank // 2, vector


def _old(new: int, extra: int) -> int:
    return 2 * new + 1 if new < extra else new + extra


def _fold_out(rank: int, extra: int, size: float, vector: Parts) -> Program:
    if rank < 2 * extra:
        if rank % 2:
            yield Send(rank - 1, size, vector)
        else:
            vector = yield Receive(rank + 1)
    return vector


def doubling(rank: int, ranks: int, size: float, combine: float = 0.0) -> Program:
    power = 1 << (ranks.bit_length() - 1)
    extra = ranks - power
    new, vector = yield from _fold_in(rank, extra, size, {0: frozenset({rank})}, combine)
    mask = 1
    while new is not None and mask < power:
        peer = _old(new ^ mask, extra)
        yield Send(peer, size, vector)
        vector = _joined(vector, (yield Receive(peer)))
        yield Work(size * combine)
        mask *= 2
    return (yield from _fold_out(rank, extra, size, vector))


def rabenseifner(rank: int, ranks: int, size: float, combine: float = 0.0) -> Program:
    power = 1 << (ranks.bit_length() - 1)
    extra, piece = ranks - power, size / power
    whole = {block: frozenset({rank}) for block in range(power)}
    new, vector = yield from _fold_in(rank, extra, size, whole, combine)
    if new is not None:
        vector, low, width = dict(vector), 0, power
        while width > 1:
            width //= 2
            peer = _old(new ^ width, extra)
            mine = low + (width if new & width else 0)
            other = low + (0 if new & width else width)
            yield Send(peer, width * piece, {block: vector[block] for block in range(other, other + width)})
            vector = _joined({block: vector[block] for block in range(mine, mine + width)}, (yield Receive(peer)))
            yield Work(width * piece * combine)
            low = mine
        while width < power:
            peer = _old(new ^ width, extra)
            yield Send(peer, width * piece, dict(vector))
            vector |= yield Receive(peer)
            width *= 2
    return (yield from _fold_out(rank, extra, size, vector))


def rabenseifner_in_elements(rank: int, ranks: int, elements: int) -> Program:
    """On a power of two, with a vector that may be shorter than there are ranks: pieces are whole doubles, and may be none."""
    vector: Parts = {element: frozenset({rank}) for element in range(elements)}
    mask, ranges = ranks // 2, [(0, elements)]
    while mask:
        low, high = ranges[-1]
        middle = low + (high - low) // 2
        mine, other = ((middle, high), (low, middle)) if rank & mask else ((low, middle), (middle, high))
        yield Send(rank ^ mask, 8 * (other[1] - other[0]), {element: vector[element] for element in range(*other)})
        vector = _joined({element: vector[element] for element in range(*mine)}, (yield Receive(rank ^ mask)))
        ranges.append(mine)
        mask //= 2
    mask = 1
    while mask < ranks:
        yield Send(rank ^ mask, 8 * len(vector), dict(vector))
        vector |= yield Receive(rank ^ mask)
        mask *= 2
    return vector


def halving(rank: int, ranks: int, size: float, combine: float = 0.0) -> Program:
    """Reduce-scatter: block b of the vector belongs to rank b in the end."""
    power = 1 << (ranks.bit_length() - 1)
    extra, block_size = ranks - power, size / ranks
    whole = {block: frozenset({rank}) for block in range(ranks)}
    new, vector = yield from _fold_in(rank, extra, size, whole, combine)
    first = [
        2 * number if number < extra else number + extra for number in range(power + 1)
    ]  # first block of a new rank
    low, width = 0, power
    while new is not None and width > 1:
        width //= 2
        peer = _old(new ^ width, extra)
        mine, other = (low + width, low) if new & width else (low, low + width)
        given = range(first[other], first[other + width])
        yield Send(peer, len(given) * block_size, {block: vector[block] for block in given})
        kept = range(first[mine], first[mine + width])
        vector = _joined({block: vector[block] for block in kept}, (yield Receive(peer)))
        yield Work(len(kept) * block_size * combine)
        low = mine
    if rank < 2 * extra:
        if rank % 2:
            yield Send(rank - 1, block_size, vector[rank - 1])
        else:
            return (yield Receive(rank + 1))
    return vector[rank]


def pairwise_reduce_scatter(rank: int, ranks: int, size: float, combine: float = 0.0) -> Program:
    mine = frozenset({rank})
    for step in range(1, ranks):
        yield Send((rank + step) % ranks, size / ranks, rank)
        got = frozenset({(yield Receive((rank - step) % ranks))})
        assert not mine & got
        mine |= got
        yield Work(size / ranks * combine)
    return mine


def alltoall(rank: int, ranks: int, size: float) -> Program:
    got = {rank: (rank, rank)}
    for step in range(1, ranks):
        to, source = (rank + step) % ranks, (rank - step) % ranks
        yield Send(to, size, (rank, to))
        got[source] = yield Receive(source)
    return got
