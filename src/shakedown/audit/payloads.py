"""Checks the payloads of a cluster's jobs against their file names, which are digests of their frozen content."""

from __future__ import annotations

import re

from shakedown.model.layout import Layout
from shakedown.schedulers.cluster.job_places import is_payload

_NAME = re.compile(r"[0-9a-f]{32}\.sh")
_MOST_NAMED = 3


def changed_payloads(layout: Layout) -> list[str]:
    """Purpose: one sentence that names all payloads whose content does not match their file name; [] where there are none."""
    try:
        names = sorted(path.name for path in layout.payloads.iterdir() if _NAME.fullmatch(path.name))
    except OSError:
        return []
    bad = [name for name in names if not is_payload(layout.payloads / name)]
    if not bad:
        return []
    more = f" and {len(bad) - _MOST_NAMED} more" if len(bad) > _MOST_NAMED else ""
    shown = ", ".join(f"payloads/{name}" for name in bad[:_MOST_NAMED])
    return [f"{shown}{more}: not what the name says, which is a digest: somebody changed it after it was written"]
