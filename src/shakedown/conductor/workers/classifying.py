"""The classes of failures, as workers use them. Those of the package are loaded when the first output needs them."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from shakedown.conductor.workers.run_reader import RunReader
from shakedown.model.failures import FailureClass

# What finds classes in an output takes a tenth of a command's start to import: it is imported when an output needs it.
if TYPE_CHECKING:
    from shakedown.checks.classify.catalogue import Classifier
    from shakedown.checks.classify.reading import Scan


class Classes:
    """The package's classes and the site's own, prepared once for all runs."""

    def __init__(self, own: Sequence[FailureClass] = ()) -> None:
        self._own = own
        self._ready: Classifier | None = None

    def scan(self) -> Scan:
        from shakedown.checks.classify.reading import Scan

        return Scan(self.ready)

    def ready(self) -> Classifier:
        """The prepared classes. Raises FileProblems where the package's own files are damaged."""
        if self._ready is None:
            self._ready = _with(self._own) if self._own else shipped_classes()
        return self._ready


@functools.cache
def shipped_classes() -> Classifier:
    """Purpose: the package's classes alone, prepared once in a process. Raises FileProblems where its files are damaged."""
    return _with(())


def _with(own: Sequence[FailureClass]) -> Classifier:
    from shakedown.checks.classify.catalogue import Classifier
    from shakedown.plans.failures import shipped_failures

    return Classifier(shipped_failures(), own)


def failure_in(scan: Scan, reader: RunReader) -> bool:
    """Purpose: scan the beginning and the end of a run's output, the same amount for every output. Returns True
    when that is done.
    """
    from shakedown.checks.classify.reading import HEAD, TAIL, scan_parts

    scan_parts(scan, reader.parts(HEAD, TAIL))
    return True
