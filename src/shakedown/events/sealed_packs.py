"""Are the kept outputs that a seal covers still there? ``packs_damage``: a look at the packs, cheap where there is no seal."""

from __future__ import annotations

from shakedown.events.seal_check import Damage, file_damage
from shakedown.events.seals import GROWING, FileSum, read_seal, seals_of
from shakedown.model.errors import RecordError
from shakedown.model.layout import Layout


def packs_damage(layout: Layout) -> Damage | None:
    """Purpose: the first sealed pack that is gone, or shorter than it was sealed; None where there is none, or no seal.

    Their bytes, which may be many gigabytes, and what else is wrong with a seal, ``verify`` reads.
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
