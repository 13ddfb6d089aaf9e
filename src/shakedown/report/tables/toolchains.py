"""The CSV file of toolchains: a line for each toolchain of each test that has several."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shakedown.metrics.toolchains import Matrix
from shakedown.report.tables.csv_files import Cell

TOOLCHAINS = (
    "component", "test", "parameters", "partition", "toolchain", "case", "build", "why", "runs", "passed", "verdicts", "expected",
    "as_expected", "what", "name", "bits", "identical", "unit", "n", "median", "times",
)  # fmt: skip


def toolchain_rows(matrices: Iterable[Matrix]) -> Iterable[Sequence[Cell]]:
    """Purpose: for each toolchain a line on its runs, one for each pattern of files, and one for each figure."""
    for one in matrices:
        identical = dict(one.identical)
        where = " ".join(f"{key}={value}" for key, value in one.where)
        for column in one.columns:
            verdicts = ", ".join(f"{count} {verdict}" for verdict, count in column.verdicts)
            head: tuple[Cell, ...] = (
                one.component, one.test, where, one.partition, column.toolchain, column.case, column.build, column.why, column.runs,
                column.passed, verdicts, column.expected, column.as_expected,
            )  # fmt: skip
            yield (*head, "runs", "", "", None, "", None, None, None)
            for bits in column.bits:
                yield (*head, "bits", bits.pattern, bits.words, identical.get(bits.pattern), "", None, None, None)
            for speed in column.speeds:
                yield (*head, "figure", speed.figure, "", None, speed.unit, speed.count, speed.median, speed.times)
