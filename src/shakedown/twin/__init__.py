"""The twin: ports onto a simulated machine in virtual time. It contains no loop; the conductor's own loop drives it."""

from shakedown.twin.machine.clock import NothingWillHappen, VirtualClock
from shakedown.twin.machine.ports import MemoryInbox, MemoryLog, SimulatedBuilder, SimulatedCollector
from shakedown.twin.machine.scheduler import SimulatedScheduler
from shakedown.twin.machine.world import Fates, Lies, Others, World

__all__ = [
    "Fates",
    "Lies",
    "MemoryInbox",
    "MemoryLog",
    "NothingWillHappen",
    "Others",
    "SimulatedBuilder",
    "SimulatedCollector",
    "SimulatedScheduler",
    "VirtualClock",
    "World",
]
