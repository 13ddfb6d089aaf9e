"""What a run asks of its nodes and its scheduler beside tasks and cores, and the GPUs that a node has."""

from __future__ import annotations

from hashlib import sha256

from msgspec import Struct

from shakedown.model.units import show_bytes


class Gpus(Struct, frozen=True, omit_defaults=True):
    """The GPUs of a node, all alike. ``memory_bytes``: of one of them. ``numa``: the memory domain that each lies beside.

    0, "" and () stand for what is not known; a ``count`` of 0 for none.
    """

    count: int = 0
    model: str = ""
    memory_bytes: float = 0.0
    numa: tuple[int, ...] = ()


class Resources(Struct, frozen=True, omit_defaults=True):
    """What one run asks for. 0, "" and () say nothing.

    ``gpus_per_node``: of each node, those of its tasks included. ``memory_bytes``: of each node. ``constraint``: features that
    the nodes must have, in the scheduler's words. ``licences``: of the scheduler, beside those that budgets stand for.
    ``options``: words for the submission. ``directives``: lines for the head of the job script (``#BB ...``, ``#DW ...``).
    """

    gpus_per_node: int = 0
    gpus_per_task: int = 0
    constraint: str = ""
    memory_bytes: float = 0.0
    memory_per_cpu_bytes: float = 0.0
    reservation: str = ""
    licences: tuple[tuple[str, int], ...] = ()
    options: tuple[str, ...] = ()
    directives: tuple[str, ...] = ()

    def memory_of_node(self, cores: int) -> float:
        """Bytes that a run takes of each node on which it has so many cores; 0 where nothing is said."""
        return max(self.memory_bytes, self.memory_per_cpu_bytes * cores)

    def words(self) -> tuple[tuple[str, str], ...]:
        """What is asked for, as pairs of a key of ``run`` and its value for people."""
        found = (
            ("gpus_per_node", f"{self.gpus_per_node or ''}"),
            ("gpus_per_task", f"{self.gpus_per_task or ''}"),
            ("constraint", self.constraint),
            ("memory", show_bytes(self.memory_bytes) if self.memory_bytes else ""),
            ("memory_per_cpu", show_bytes(self.memory_per_cpu_bytes) if self.memory_per_cpu_bytes else ""),
            ("reservation", self.reservation),
            ("licences", ",".join(f"{name}:{count}" for name, count in self.licences)),
            ("options", " ".join(self.options)),
            ("directives", "; ".join(self.directives)),
        )
        return tuple((key, value) for key, value in found if value)

    def label(self) -> str:
        """A short word that differs where what is asked for differs; "" where nothing is."""
        if self == Resources():
            return ""
        parts = [f"{self.gpus_per_node}gpus" if self.gpus_per_node else "", self.constraint, self.reservation]
        digest = sha256(repr((self.memory_bytes, self.memory_per_cpu_bytes, self.words())).encode()).hexdigest()[:8]
        return "+".join([*(part.replace("/", "|") for part in parts if part), digest])


NOTHING_ASKED = Resources()
NO_GPUS = Gpus()
