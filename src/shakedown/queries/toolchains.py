"""The tests of a campaign, or of an epoch of it, that have several toolchains."""

from __future__ import annotations

from shakedown.metrics.judging.populations import populations
from shakedown.metrics.toolchains import Matrix, toolchains_of
from shakedown.model.errors import UsageError
from shakedown.queries.comparisons import Asked, read_sources


def look_at_toolchains(asked: Asked) -> list[Matrix]:
    """Purpose: a matrix for each test that has several toolchains. Errors: UsageError where no test has."""
    if asked.epoch:
        raise UsageError("toolchains are looked at over a whole campaign", hint=f"leave #{asked.epoch} out")
    (source,) = read_sources([asked])
    found = toolchains_of(source.document, populations(source.document, source.record), source.record)
    if not found:
        hint = "in the test: parameters: {toolchain: [gnu, clang]}, with both in the system's file"
        raise UsageError(f"no test of {asked.label} has two toolchains", hint=hint)
    return found
