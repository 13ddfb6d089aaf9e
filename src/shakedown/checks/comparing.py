"""Compare a run's numbers with a reference file that lies beside the test: ``equal_within`` and ``curve``.

Both get the contents of the run's file and of the reference. The check is undecided where one of them cannot be read as a whole,
or where the reference is not the one that was frozen with the plan.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from shakedown.checks.extract import label
from shakedown.checks.number_files import read_rows
from shakedown.checks.tables import TableError, cells
from shakedown.checks.text import Contents, Missing, Text, name_of, printable, show
from shakedown.checks.tolerance import Outside, Tolerance, show_number
from shakedown.checks.variables import read_variables
from shakedown.model.figures import Table
from shakedown.model.nouns import Check
from shakedown.model.number_rows import Rows, UnreadableNumbers, bad_reference, finite, points_of, value
from shakedown.model.ports import CheckResult
from shakedown.model.references import BINARY, Curve, Numbers, curve_of, numbers_of

Read = tuple[Contents | bytes, Contents | bytes]  # of the run, of the reference
THE_REFERENCE = "the reference"


def equal_within(check: Check, read: Read) -> CheckResult:
    """Purpose: whether every number of the run's file equals that of the reference within the tolerance."""
    asked = numbers_of(check)
    missing = _missing(check, read)
    if missing is not None:
        return missing
    found = Outside(Tolerance(asked.absolute, asked.relative, asked.nan == "equal"))
    try:
        if asked.format in BINARY:
            _compare_variables(asked, *_variables(asked, check.subject, read), found)
        else:
            _compare_rows(asked, *_rows(asked, read), found)
    except UnreadableNumbers as error:
        return CheckResult(label(check), error.held, str(error))
    if not found.compared and not found.words:
        return CheckResult(label(check), False, f"{name_of(check.subject)} holds no number that could be compared")
    return CheckResult(label(check), not found.sentence(), found.sentence())


def curve(check: Check, read: Read) -> CheckResult:
    """Purpose: whether each point of the run's curve lies within the band around the reference's, interpolated linearly in x."""
    asked = curve_of(check)
    missing = _missing(check, read)
    if missing is not None:
        return missing
    try:
        reference = sorted(_reference_points(asked, _text(read[1])))
        points = _points(asked, check.subject, _text(read[0]))
    except UnreadableNumbers as error:
        return CheckResult(label(check), error.held, str(error))
    wrong = bad_reference(asked.x, reference, THE_REFERENCE) or _beyond(asked, points, reference)
    if wrong:
        return CheckResult(label(check), None if wrong.startswith(THE_REFERENCE) else False, wrong)
    found = Outside(Tolerance(asked.absolute, asked.within))
    for x, y in points:
        found.number(f"{asked.y} at {asked.x} = {show_number(x)}", y, _between(reference, x))
    return CheckResult(label(check), not found.outside, found.sentence())


def _missing(check: Check, read: Read) -> CheckResult | None:
    """The result where the run's file or the reference is missing; the run's file first, because its absence is the run's fault."""
    for one in read:
        if isinstance(one, Missing):
            return CheckResult(label(check), one.held, one.detail)
    return None


def _text(read: Contents | bytes) -> Text:
    assert isinstance(read, Text)
    return read


def _of_reference(error: UnreadableNumbers) -> UnreadableNumbers:
    """The error for a faulty reference: the check stays undecided, because the run is not at fault."""
    return UnreadableNumbers(str(error), None)


# ---- rows ------------------------------------------------------------------------------------------------------------


def _rows(asked: Numbers, read: Read) -> tuple[Rows, Rows]:
    try:
        reference = read_rows(_text(read[1]), asked.format, THE_REFERENCE)
    except UnreadableNumbers as error:
        raise _of_reference(error) from error
    return read_rows(_text(read[0]), asked.format), reference


def _compare_rows(asked: Numbers, mine: Rows, theirs: Rows, found: Outside) -> None:
    """Compare all fields of all lines, or some columns. Raises UnreadableNumbers where the count of lines or fields differs."""
    try:
        columns = asked.columns or (theirs.names if asked.format == "csv" else ())
        there = [theirs.place(column) for column in columns]
    except UnreadableNumbers as error:
        raise _of_reference(error) from error
    here = [mine.place(column) for column in columns]
    if len(mine.lines) != len(theirs.lines):
        raise UnreadableNumbers(
            f"{mine.subject} has {len(mine.lines)} lines of numbers, and the reference {len(theirs.lines)}"
        )
    for (number, fields), (_, wanted) in zip(mine.lines, theirs.lines, strict=True):
        if not columns and len(fields) != len(wanted):
            raise UnreadableNumbers(
                f"line {number} of {mine.subject} has {len(fields)} fields, and the reference {len(wanted)}"
            )
        _compare_line(mine, number, _chosen(fields, here, columns), _chosen(wanted, there, columns), here, found)


def _chosen(fields: Sequence[str], places: Sequence[int], columns: Sequence[str]) -> list[str]:
    """The fields of the given columns; "" for a column that the line does not have."""
    if not columns:
        return list(fields)
    return [fields[place] if place < len(fields) else "" for place in places]


def _compare_line(
    mine: Rows, number: int, fields: list[str], wanted: list[str], places: Sequence[int], found: Outside
) -> None:
    if _all_hold(fields, wanted, found.tolerance):
        found.compared += len(fields)
        return
    for position, (field, other) in enumerate(zip_longest(fields, wanted, fillvalue="")):
        first, second = value(field), value(other)
        column = places[position] if places else position
        if first is not None and second is not None:
            found.compared += 1
            if not found.tolerance.holds(first, second):
                found.worse(f"line {number}, column {printable(mine.called(column))}", first, second, 1)
        elif field != other and not found.words:
            here = show(field, 40) if field else "nothing"
            there = show(other, 40) if other else "nothing"
            place = f"line {number}, column {printable(mine.called(column))}"
            found.words = f"{place}: {here}, where the reference has {there}"


def _all_hold(fields: list[str], wanted: list[str], rule: Tolerance) -> bool:
    """Whether all fields of a line are finite numbers within the tolerance: a fast path for the usual case of millions of lines."""
    if len(fields) != len(wanted) or "_" in "".join((*fields, *wanted)):
        return False
    try:
        if fields == wanted:
            return all(map(math.isfinite, map(float, fields)))
        pairs = list(zip(map(float, fields), map(float, wanted), strict=True))
    except ValueError:
        return False
    absolute, relative = rule.absolute, rule.relative
    return all(abs(a - b) <= absolute + relative * abs(b) < math.inf for a, b in pairs)


# ---- variables -------------------------------------------------------------------------------------------------------


def _variables(asked: Numbers, subject: str, read: Read) -> tuple[dict[str, Any], dict[str, Any]]:
    assert isinstance(read[0], bytes)
    assert isinstance(read[1], bytes)
    try:
        theirs = read_variables(read[1], asked.format, THE_REFERENCE)
    except UnreadableNumbers as error:
        raise _of_reference(error) from error
    return read_variables(read[0], asked.format, name_of(subject)), theirs


def _compare_variables(asked: Numbers, mine: dict[str, Any], theirs: dict[str, Any], found: Outside) -> None:
    for name in asked.columns or theirs:
        shown = printable(name)
        if name not in theirs:
            has = ", ".join(map(show, list(theirs)[:12])) or "none"
            raise UnreadableNumbers(f"the reference has no variable {show(name)} of numbers; it has {has}", None)
        if name not in mine:
            raise UnreadableNumbers(f"there is no variable {shown} of numbers; the reference has one")
        if mine[name].shape != theirs[name].shape:
            shapes = f"{_shape(mine[name])}, and in the reference {_shape(theirs[name])}"
            raise UnreadableNumbers(f"variable {shown} has the shape {shapes}")
        _compare_arrays(shown, mine[name], theirs[name], found)


def _shape(array: Any) -> str:
    return " x ".join(map(str, array.shape)) or "of one number"


def _compare_arrays(name: str, mine: Any, theirs: Any, found: Outside) -> None:
    """Compare whole arrays at once by the rule of ``Tolerance``."""
    import numpy

    rule = found.tolerance
    whole = mine.dtype.kind in "biu" and theirs.dtype.kind in "biu"  # a float of 64 bits does not hold these exactly
    kind = numpy.longdouble if whole else numpy.result_type(mine, theirs, float)
    a, b = mine.astype(kind), theirs.astype(kind)
    with numpy.errstate(all="ignore"):
        difference, allowed = numpy.abs(a - b), rule.absolute + rule.relative * numpy.abs(b)
        fine = (a == b) | ((difference <= allowed) & numpy.isfinite(a) & numpy.isfinite(b))
        if rule.nan_equal:
            fine |= numpy.isnan(a) & numpy.isnan(b)
        found.compared += a.size
        if fine.all():
            return
        excess = numpy.where(fine, -1.0, numpy.nan_to_num(difference / allowed, nan=numpy.inf, posinf=numpy.inf))
        place = numpy.unravel_index(int(excess.argmax()), a.shape)
    index = f"[{','.join(map(str, place))}]" if a.shape else ""
    found.worse(f"variable {name}{index}", float(a[place]), float(b[place]), int((~fine).sum()))


# ---- curves ----------------------------------------------------------------------------------------------------------


Point = tuple[float, float]


def _points(asked: Curve, subject: str, text: Text) -> list[Point]:
    """The points of the run's curve, from a table that it printed or else from a file's columns."""
    if asked.table is None:
        return points_of(read_rows(text, asked.format), asked.x, asked.y)
    if len(text.parts) != 1:
        read_rows(text, "text")  # says why it cannot be compared
    try:
        rows = [cell.row for cell in cells(_with_both(asked), asked.y, text.parts[0])]
    except TableError as error:
        raise UnreadableNumbers(f"{name_of(subject)}: {error}") from error
    return [(finite(row[asked.x], asked.x, "the table"), finite(row[asked.y], asked.y, "the table")) for row in rows]


def _with_both(asked: Curve) -> Table:
    """The table, which must then have the column x too."""
    from msgspec.structs import replace

    assert asked.table is not None
    return replace(asked.table, by=(asked.x,))


def _reference_points(asked: Curve, text: Text) -> list[Point]:
    try:
        rows = read_rows(text, asked.reference_format, THE_REFERENCE)
        return points_of(rows, asked.x, asked.y)
    except UnreadableNumbers as error:
        raise _of_reference(error) from error


def _beyond(asked: Curve, points: list[Point], reference: list[Point]) -> str:
    """Why the curve and the reference do not cover the same range of x, or "". With ``part``, a part of the reference is enough."""
    if not points:
        return "the curve has no points"
    low, high = reference[0][0], reference[-1][0]
    span = f"which goes from {show_number(low)} to {show_number(high)}"
    outside = [x for x, _ in points if not low <= x <= high]
    if outside:
        many = f" and {len(outside) - 1} more points" if len(outside) > 1 else ""
        verb = "lie" if many else "lies"
        return f"{asked.x} = {show_number(outside[0])}{many} {verb} outside of the reference, {span}"
    first, last = min(x for x, _ in points), max(x for x, _ in points)
    if not asked.part and (first > low or last < high):
        here = f"the curve goes from {asked.x} = {show_number(first)} to {show_number(last)}"
        return f"{here}, and not over the whole reference, {span}"
    return ""


def _between(reference: list[Point], x: float) -> float:
    """The reference's y at x, interpolated linearly between the two nearest points."""
    place = bisect_left(reference, (x, float("-inf")))
    if reference[place][0] == x:
        return reference[place][1]
    (x0, y0), (x1, y1) = reference[place - 1], reference[place]
    share = (x - x0) / (x1 - x0)
    return y0 * (1 - share) + y1 * share
