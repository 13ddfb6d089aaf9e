"""A machine of messages, one rank at a time: each runs a program of sends and receives and pays what LogGP says, nothing else.

It knows no formula of a collective. Messages carry what their sender knew, so a program shows that it computes the right thing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

from shakedown.twin.models.loggp import LogGP


@dataclass
class Send:
    to: int
    size: float
    load: Any = None


@dataclass
class Receive:
    source: int


@dataclass
class Work:
    seconds: float


Program = Generator[Send | Receive | Work, Any, Any]


@dataclass
class _Rank:
    program: Program
    clock: float = 0.0
    free: float = 0.0  # when the next send may start
    inbox: dict[int, deque[tuple[float, Any]]] = field(default_factory=dict)
    waits: Receive | None = None
    result: Any = None
    done: bool = False


def play(network: LogGP, ranks: int, program: Callable[[int, int], Program]) -> tuple[float, list[Any]]:
    """Every rank's program to its end: when the last one ends, and what each returned."""
    all_ranks = [_Rank(program(rank, ranks)) for rank in range(ranks)]
    ready = deque(range(ranks))
    while ready:
        for woken in _run(network, all_ranks, ready.popleft()):
            ready.append(woken)
    assert all(rank.done for rank in all_ranks), "a rank waits for a message that nobody sends"
    return max(rank.clock for rank in all_ranks), [rank.result for rank in all_ranks]


def _run(network: LogGP, ranks: list[_Rank], number: int) -> list[int]:
    """One rank until it must wait or ends; the ranks that it woke."""
    me = ranks[number]
    woken: list[int] = []
    answer: tuple[Any] | None = None
    if me.done:
        return []
    if me.waits is not None:
        answer = _taken(network, me, me.waits)
        if answer is None:
            return []
        me.waits = None
    while True:
        try:
            step = me.program.send(answer if answer is None else answer[0])
        except StopIteration as end:
            me.result, me.done = end.value, True
            return woken
        answer = None
        if isinstance(step, Work):
            me.clock += step.seconds
        elif isinstance(step, Send):
            start, train = max(me.clock, me.free), (step.size - 1) * network.per_byte_s if step.size >= 1 else 0.0
            me.clock = start + network.overhead_s
            me.free = start + max(network.gap_s, network.overhead_s) + train
            box = ranks[step.to].inbox.setdefault(number, deque())
            box.append((me.clock + train + network.latency_s, step.load))
            other = ranks[step.to].waits
            if other is not None and other.source == number:
                woken.append(step.to)
        else:
            answer = _taken(network, me, step)
            if answer is None:
                me.waits = step
                return woken


def _taken(network: LogGP, me: _Rank, wanted: Receive) -> tuple[Any] | None:
    box = me.inbox.get(wanted.source)
    if not box:
        return None
    arrival, load = box.popleft()
    me.clock = max(me.clock, arrival) + network.overhead_s
    return (load,)
