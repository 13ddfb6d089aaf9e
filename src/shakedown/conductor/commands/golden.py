"""Golden sums from a run that passed: which files, whether they are still those that were judged, and the lines for ``sha256sum``.

``golden_sums`` is where to begin. It reads a campaign and changes nothing in it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from shakedown.checks.text import Missing
from shakedown.conductor.workers.run_reader import OpenPack, ReadingLimits, RunReader
from shakedown.events.campaigns import read_document
from shakedown.events.recorded_name import campaign_name
from shakedown.metrics.rows.record_rows import RecordRows
from shakedown.metrics.rows.rows import RunRow
from shakedown.model.errors import UsageError
from shakedown.model.frozen import thaw
from shakedown.model.layout import Layout
from shakedown.model.near_names import near_run
from shakedown.model.nouns import Case, Document, Test
from shakedown.model.recorded import listing, recorded_checks, summed


class Golden(Struct, frozen=True):
    """Sums to be written. ``text``: the whole file; ``name``: its name beside the test, unless a person gives another."""

    run: str
    case: str
    pattern: str
    files: int
    name: str
    test_file: str
    text: str


def golden_sums(layout: Layout, record: RecordRows, target: str, files: str, who: str, because: str) -> Golden:
    """Purpose: the golden sums of a run, or of the newest run of a case that passed. ``files``: a pattern, "" = the one of the
    test. Errors: UsageError where no such run passed, where no pattern is known, or where files are gone or were changed.
    """
    row = _passed(record, target)
    document = thaw(read_document(layout, record.document))
    cases = {case.id: case for case in document.cases}
    if row.case not in cases:
        raise UsageError(f"the plan in force has no case '{row.case}'", hint="name a run of a case that it has")
    case = cases[row.case]
    test = next(test for test in document.tests if test.name == case.test).of(case)
    pattern = files or _pattern_of(test)
    sums = _sums(layout, row, case, pattern)
    kept = row.recorded.get(pattern)
    if kept is not None and summed(sums).sum != kept.sum:
        raise UsageError(
            f"the files {pattern} of {row.run} are not those that it left: their sums differ from those in its verdict",
            hint="somebody changed them since; name another run",
        )
    text = _heading(layout, row, who, because, kept is not None) + listing(sums)
    return Golden(row.run, case.id, pattern, len(sums), _name(case, document), test.path, text)


def _passed(record: RecordRows, target: str) -> RunRow:
    """The run, or the newest run of the case, that passed."""
    current = list(record.current())
    mine = [row for row in current if target in (row.run, row.case)]
    if not mine:
        near = (
            near_run(target, [row.run for row in current], {row.case for row in current}) or "shakedown runs has them"
        )
        raise UsageError(f"this campaign has no judged run or case called '{target}'", hint=near)
    passed = [row for row in mine if row.verdict == "passed"]
    if not passed:
        said = f"{mine[-1].run} is {mine[-1].verdict}: {mine[-1].reason}"
        raise UsageError(
            f"golden sums can only be taken from a run that passed; {said}", hint="shakedown runs --verdict passed"
        )
    return passed[-1]


def _pattern_of(test: Test) -> str:
    """The pattern of the files that the test records, or that it compares with golden sums."""
    recorded = [check.subject for check in recorded_checks(test)]
    patterns = list(dict.fromkeys(recorded or [check.subject for check in test.checks if check.kind == "golden"]))
    if len(patterns) == 1:
        return patterns[0]
    if patterns:
        raise UsageError(f"test {test.name} names several files: {', '.join(patterns)}", hint="--files says which")
    raise UsageError(f"test {test.name} does not say which files are golden", hint="--files 'RESTART/*.nc'")


def _sums(layout: Layout, row: RunRow, case: Case, pattern: str) -> Mapping[str, str]:
    reader = RunReader(layout, row.run, row.output, case.files, ReadingLimits(), OpenPack())
    found = reader.digests(pattern, ())
    for one in found.values():
        if isinstance(one, Missing):
            raise UsageError(f"{row.run}: {one.detail}", hint="name another run, or other files with --files")
    sums = {path: one for path, one in found.items() if isinstance(one, str)}
    if not sums:
        place = f"in {reader.directory}"
        raise UsageError(
            f"{row.run} has no file {pattern} {place}", hint="name another run, or other files with --files"
        )
    strange = next((path for path in sums if not path.isprintable() or "\\" in path or path != path.strip()), None)
    if strange is not None:
        raise UsageError(f"the file {strange!r} has a name that lines of sha256sum cannot hold as it is")
    return sums


def _heading(layout: Layout, row: RunRow, who: str, because: str, recorded: bool) -> str:
    """Comments, which ``sha256sum --check`` skips: who wrote the sums, why, and from which run."""
    when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    same = "; they have the sums that its verdict recorded" if recorded else ""
    lines = [
        f"golden sums, written {when} by {who}",
        f"because {because}",
        f"from run {row.run} ({row.case}) of campaign {campaign_name(layout)}, which passed{same}",
    ]
    return "".join(f"# {' '.join(line.split())}\n" for line in lines)


def _name(case: Case, document: Document) -> str:
    """TEST.sha256, with the toolchain in it if the test has several."""
    toolchains = {other.toolchain for other in document.cases if other.test == case.test}
    own = f"-{case.toolchain}" if case.toolchain and len(toolchains) > 1 else ""
    return f"{case.test}{own}.sha256"


def write_golden(golden: Golden, place: Path, replace: bool) -> None:
    """Purpose: write the file, all of it or nothing. Errors: UsageError where it exists and is not to be replaced."""
    try:
        if replace:
            draft = place.with_name(f".{place.name}.new")
            draft.write_text(golden.text)
            draft.replace(place)
            return
        with place.open("x") as file:
            file.write(golden.text)
    except FileExistsError:
        said = f"{place} is there already: {_first_line(place)}"
        raise UsageError(said, hint="--replace puts the new sums in its place") from None
    except OSError as error:
        raise UsageError(f"{place} cannot be written: {error.strerror}", hint="--to names another file") from error


def _first_line(place: Path) -> str:
    """The first line of the file that exists."""
    lines: list[str] = []
    with contextlib.suppress(OSError):
        lines = place.read_text(errors="replace").splitlines()
    return next((line.lstrip("# ")[:120] for line in lines if line.strip()), "it is empty")
