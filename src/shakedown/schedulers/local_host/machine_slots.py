"""What runs take of this machine: cores and GPUs, counted by partition. One machine is behind all partitions.

Runs of a partition never take more together than its node type has, and runs of all partitions never more than the machine has. So
a system of unlike nodes can be tried on the machine one stands on.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from shakedown.machine.room import room_here
from shakedown.model.nouns import Case, Cluster, System
from shakedown.model.shared_nodes import place_of
from shakedown.schedulers.local_host.cores import Cores, core_slots
from shakedown.schedulers.local_host.gpus import GpuSlots


@dataclass(slots=True, eq=False)
class Share:
    """What the runs of a partition may take together, and what they have taken. Partitions that name one node have one share."""

    cores: int
    gpus: int
    cores_taken: int = 0
    gpus_taken: int = 0


@dataclass(frozen=True, slots=True)
class Taken:
    """The slots of a run. ``bound``: those of its cores that it may use; an exclusive run keeps the others idle."""

    cores: tuple[int, ...]
    bound: tuple[int, ...]
    gpus: tuple[int, ...]


class MachineSlots:
    """The core slots and GPU slots of this machine."""

    def __init__(self, cores: int | None, gpus: int, shares: Mapping[str, Share]) -> None:
        """``cores``, ``gpus``: those of the machine. ``shares``: by "cluster:partition"; a partition that is missing has it all."""
        self.cores, self.gpus = Cores(cores), GpuSlots(gpus)
        self.described_gpus = gpus  # that the system's file names; our own environment may give fewer
        self._shares = shares
        self._whole = Share(self.cores.count, self.gpus.count)

    def share(self, case: Case) -> Share:
        return self._shares.get(case.partition, self._whole)

    def never_fits(self, case: Case) -> str:
        """Purpose: why a case can never start here, as a sentence, or ""."""
        share, cores, gpus = self.share(case), self._own_cores(case), gpus_of(case)
        place = f"partition {case.partition}" if case.partition in self._shares else "this machine"
        if cores > share.cores:
            return f"{case.id} needs {cores} cores; {place} has {share.cores}"
        if gpus > self.gpus.count:
            return f"{case.id} needs {gpus} GPUs; this machine lets us use {self.gpus.count}"
        if gpus > share.gpus:
            return f"{case.id} needs {gpus} GPUs; {place} has {share.gpus}"
        return ""

    def has_room_in_share(self, case: Case) -> bool:
        """Purpose: whether its own partition has room for a run; those of other partitions may still be in its way."""
        share = self.share(case)
        return (
            share.cores_taken + self._own_cores(case) <= share.cores and share.gpus_taken + gpus_of(case) <= share.gpus
        )

    def take(self, case: Case) -> Taken | None:
        """Purpose: the slots of a run, or None where there are too few. An exclusive run has the whole machine for itself."""
        if not self.has_room_in_share(case):
            return None
        gpus = self.gpus.take(gpus_of(case))
        if gpus is None:
            return None
        cores = self.cores.take(self.cores.count if case.shape.exclusive else self._own_cores(case))
        if cores is None:
            self.gpus.give_back(gpus)
            return None
        own = self._own_cores(case)
        self.share(case).cores_taken += own
        self.share(case).gpus_taken += len(gpus)
        return Taken(cores, cores[:own], gpus)

    def give_back_cores(self, case: Case, taken: tuple[int, ...]) -> None:
        self.share(case).cores_taken -= self._own_cores(case)
        self.cores.give_back(taken)

    def give_back_gpus(self, case: Case, taken: tuple[int, ...]) -> None:
        self.share(case).gpus_taken -= len(taken)
        self.gpus.give_back(taken)

    def _own_cores(self, case: Case) -> int:
        """The cores that a run takes of its partition: all of them where it is exclusive."""
        return self.share(case).cores if case.shape.exclusive else max(1, case.shape.units)


def gpus_of(case: Case) -> int:
    return case.shape.resources.gpus_per_node


def slots_of(system: System, clusters: Sequence[Cluster]) -> MachineSlots:
    """Purpose: the slots of these clusters' partitions on this machine."""
    nodes: dict[tuple[str, str], Share] = {}
    shares: dict[str, Share] = {}
    for cluster in clusters:
        for place in cluster.partitions:
            kind = system.node_type(place.type)
            share = nodes.setdefault((cluster.name, place.nodes), Share(kind.cores, kind.gpus.count))
            shares[place_of(place)] = share
    gpus = max(share.gpus for share in nodes.values())  # nobody but the file says how many there are
    return MachineSlots(_cores_of(nodes.values()), gpus, shares)


def _cores_of(shares: Iterable[Share]) -> int:
    """The cores of all shares together, as far as the machine has so many whole ones and their time; at least the largest."""
    counts = [share.cores for share in shares]
    if len(counts) == 1:
        return counts[0]
    whole, processors = len(core_slots(sorted(os.sched_getaffinity(0)), None)), room_here().processors
    there = whole if processors is None else min(whole, max(1, int(processors)))
    return max(*counts, min(sum(counts), there))
