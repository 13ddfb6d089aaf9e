"""The jobs that wait for slots: a line for each share of the machine, so that one that is full does not keep others waiting."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from heapq import merge
from itertools import count, islice

from shakedown.model.ports import JobOrder
from shakedown.schedulers.local_host.machine_slots import MachineSlots, Share


class Waiting:
    """First come, first served: among those whose partition has room the first goes first, and the others wait behind it."""

    def __init__(self, slots: MachineSlots) -> None:
        self._slots = slots
        self._lines: dict[Share, OrderedDict[str, tuple[int, JobOrder]]] = {}
        self._of: dict[str, Share] = {}  # job -> where it stands
        self._number = count()

    def __len__(self) -> int:
        return len(self._of)

    def __contains__(self, job: str) -> bool:
        return job in self._of

    def __iter__(self) -> Iterator[str]:
        """The jobs, each share's in its order."""
        return iter(self._of)

    def add(self, order: JobOrder) -> None:
        share = self._slots.share(order.case)
        self._of[order.job] = share
        self._lines.setdefault(share, OrderedDict())[order.job] = (next(self._number), order)

    def remove(self, job: str) -> JobOrder | None:
        """Take a job out, if it is there."""
        share = self._of.pop(job, None)
        if share is None:
            return None
        _, order = self._lines[share].pop(job)
        if not self._lines[share]:
            del self._lines[share]
        return order

    def first(self) -> JobOrder | None:
        """Purpose: whose turn it is: the first of those whose partition has room for it; None where no partition has."""
        heads = sorted(next(iter(line.values())) for line in self._lines.values())
        return next((order for _, order in heads if self._slots.has_room_in_share(order.case)), None)

    def is_before(self, order: JobOrder) -> bool:
        """Purpose: whether somebody's turn comes before that of an order that just came."""
        return self._slots.share(order.case) in self._lines or self.first() is not None

    def orders(self, most: int) -> Iterator[JobOrder]:
        """The first of all lines, in the order in which they came."""
        lines = list(self._lines.values())
        if len(lines) == 1:
            return (order for _, order in islice(lines[0].values(), most))
        return (order for _, order in islice(merge(*(line.values() for line in lines)), most))
