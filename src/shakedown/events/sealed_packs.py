"""Check that the pack files that a seal covers still exist. ``packs_damage`` is cheap where there is no seal."""

from __future__ import annotations

from shakedown.events.seal_check import Damage, file_damage
from shakedown.events.seals import GROWING, FileSum, read_seal, seals_of
from shakedown.model.errors import RecordError
from shakedown.model.layout import Layout


def packs_damage(layout: Layout) -> Damage | None:
    """Purpose: the first sealed pack file that is gone or shorter than when it was sealed; None where there is none.

    ``verify`` reads their bytes, which may be many gigabytes, and checks the rest of the seal.
    """
    packs: dict[str, FileSum] = {}
    for path in sorted(seals_of(layout).glob("*.json")):
        try:
            seal = read_seal(path)
        except RecordError:
            continue
        for item in seal.files:
            if item.path.partition("/")[0] in GROWING and item.bytes >= packs.get(item.path, item).bytes:
                packs[item.path] = item  # what a later seal covers of it has what an earlier one does
    found = (file_damage(layout, packs[name], lambda one: one.sha256, growing=True) for name in sorted(packs))
    return next((damage for damage in found if damage is not None), None)
