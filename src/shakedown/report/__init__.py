"""The acceptance document, made from the record alone: the same log gives the same bytes, anywhere.

- ``writing``: the way in, and what goes to disk; ``terminal``: the scorecard for 80 columns
- ``reading`` the campaign, ``gathering`` what ``outputs`` hold of ``pictures``, ``failures``: what the report is made from
- ``drawing``: how figures look; ``draw_times``, ``draw_machine`` and its parts: the figures; ``tables``: the CSV files
- ``page``, ``filters``, ``templates/``: the page; ``words``: times, numbers and untrusted text
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def write_report(campaign: Path, output: Path | None = None, tell: Callable[[str], None] = lambda text: None) -> Path:
    """Purpose: write the report of a campaign directory; the path of ``report.html``.

    ``output``: another place for it; ``tell`` hears what is being done.
    """
    from shakedown.report.writing import make_report

    return make_report(campaign, output, tell=tell).page
