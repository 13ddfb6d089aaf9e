"""The file of a campaign's token while the campaign is driven: the driver knows the token and restores the file."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from msgspec import structs

from shakedown.model.layout import Layout
from shakedown.model.ports import JobReport
from shakedown.model.void_starts import TOKEN_CHANGED
from shakedown.schedulers.cluster.job_places import read_small, write_durably
from shakedown.schedulers.local_host.script import CLAIM_TAKEN

_HEARD_S = 180.0  # after which a job that read another token has been heard of
_GAVE_UP = f"exit status {CLAIM_TAKEN}"


@dataclass(slots=True)
class TokenWatch:
    """Checks the file, and marks reports of jobs that gave up because of it."""

    layout: Layout
    token: str
    clock: Callable[[], float] = time.monotonic
    _until: float = -math.inf

    def look(self) -> None:
        """Purpose: restore the file where it is gone or has another token. Where it cannot be read or written, nothing is done."""
        with contextlib.suppress(OSError):
            known = read_small(self.layout.token)
            if (known or b"").decode("ascii", "replace").strip() != self.token:
                write_durably(self.layout.token, f"{self.token}\n".encode())
                self._until = self.clock() + _HEARD_S

    def explained(self, reports: Sequence[JobReport]) -> list[JobReport]:
        """Purpose: the reports, in which jobs that gave up because of the file have that as their reason, and no node is blamed."""
        if self.clock() > self._until:
            return list(reports)
        return [_with_token_message(report) if _gave_up(report) else report for report in reports]


def _gave_up(report: JobReport) -> bool:
    return report.state == "refused" and not report.run and _GAVE_UP in report.message


def _with_token_message(report: JobReport) -> JobReport:
    return structs.replace(report, nodes="", failed_nodes=(), message=f"{TOKEN_CHANGED}: {report.message}")
