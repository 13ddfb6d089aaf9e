"""The acceptance document, made from the record alone: the same log gives the same bytes on any machine.

- ``writing``: the main function, and the files on disk; ``terminal``: the scorecard for 80 columns
- ``reading`` reads the campaign, ``outputs`` the kept outputs, ``failures`` groups the runs that failed
- ``figures``: one file for each figure, and their common style; ``tables``: the CSV files
- ``page``: the page, its filters and ``templates/``; ``words``: times, numbers and untrusted text
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def write_report(campaign: Path, output: Path | None = None, tell: Callable[[str], None] = lambda text: None) -> Path:
    """Purpose: write the report of a campaign directory. Returns the path of ``report.html``.

    ``output``: another directory for it; ``tell`` is called with a line on each step.
    """
    from shakedown.report.writing import make_report

    return make_report(campaign, output, tell=tell).page
