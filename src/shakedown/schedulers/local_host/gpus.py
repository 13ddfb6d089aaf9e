"""Which GPUs of this machine are free. Each run is told which GPUs it may use; no GPU is given to two runs at once."""

from __future__ import annotations

import os
from collections.abc import Mapping

from shakedown.schedulers.local_host.slots import FreeSlots

_VARIABLES = ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")  # of CUDA and of ROCm: what a program may see
HIDING = "".join(f'export {name}="$_sd_gpus"\n' for name in _VARIABLES)


class GpuSlots(FreeSlots):
    """The GPU slots of this machine. A slot is one device, under the name that programs use for it."""

    def __init__(self, count: int = 0, environment: Mapping[str, str] = os.environ) -> None:
        """``count``: how many GPUs the site's file names. Where this process's own environment lists devices, as in an allocation
        of a batch system, the slots are those.
        """
        given = next((environment[name] for name in _VARIABLES if name in environment), None)
        names = [word.strip() for word in given.split(",") if word.strip()] if given is not None else None
        self._devices = tuple(names[:count] if names is not None else map(str, range(count)))
        super().__init__(len(self._devices))

    def names(self, slots: tuple[int, ...]) -> str:
        """The devices of these slots, as the variables hold them: "0,1"; "" for none."""
        return ",".join(self._devices[slot] for slot in slots)
