"""The classes of failures, as workers use them. Those of the package are loaded when the first output needs them."""

from __future__ import annotations

from collections.abc import Sequence

from shakedown.checks.classify.catalogue import Classifier
from shakedown.checks.classify.reading import HEAD, TAIL, Scan, scan_parts
from shakedown.conductor.workers.run_reader import RunReader
from shakedown.model.failures import FailureClass


class Classes:
    """The package's classes and the site's own, prepared once for all runs."""

    def __init__(self, own: Sequence[FailureClass] = ()) -> None:
        self._own = own
        self._ready: Classifier | None = None

    def scan(self) -> Scan:
        return Scan(self.ready)

    def ready(self) -> Classifier:
        """The prepared classes. Raises FileProblems where the package's own files are damaged."""
        if self._ready is None:
            from shakedown.plans.failures import shipped_failures

            self._ready = Classifier(shipped_failures(), self._own)
        return self._ready


def failure_in(scan: Scan, reader: RunReader) -> bool:
    """Purpose: scan the beginning and the end of a run's output, the same amount for every output. Returns True
    when that is done.
    """
    scan_parts(scan, reader.parts(HEAD, TAIL))
    return True
