"""Which of a number of equal slots are free. The lowest free ones are given out first."""

from __future__ import annotations

from bisect import insort


class FreeSlots:
    """Slots numbered from 0. They are given back by their numbers."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._free = list(range(count))

    @property
    def free(self) -> int:
        return len(self._free)

    def take(self, wanted: int) -> tuple[int, ...] | None:
        """Purpose: take the lowest free slots; None where there are too few."""
        if wanted > len(self._free):
            return None
        taken = tuple(self._free[:wanted])
        del self._free[:wanted]
        return taken

    def give_back(self, slots: tuple[int, ...]) -> None:
        for slot in slots:
            insort(self._free, slot)
