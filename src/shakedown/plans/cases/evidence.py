"""Read the parts that all cases of a test share: checks with frozen golden sums, figures, input files."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from shakedown.model.checks import is_of_exit_status
from shakedown.model.nouns import Check, Pairs, Test
from shakedown.model.recorded import KIND, MOST_PATTERNS
from shakedown.plans.cases.environment import Surroundings
from shakedown.plans.cases.figure_specs import read_figures
from shakedown.plans.cases.references import Freezer, reference_check
from shakedown.plans.library import Definition, Library
from shakedown.plans.schema.check_items import GOLDEN
from shakedown.plans.schema.check_words import inside
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.scalars import InvalidValue
from shakedown.plans.schema.source_positions import place

_USUAL_EXIT = Check("exit", "exit", "0", "exit is 0")
_LARGEST_SUMS = 16 * 2**20
_OWN = "{toolchain}"  # in the name of a file of golden sums: each toolchain has its own
_SUM = re.compile(r"([0-9a-fA-F]{64})\s+\*?(\S.*?)\s*")


def test_noun(test: Definition, library: Library, around: Surroundings, problems: Problems) -> Test:
    """Purpose: the noun of one test; what is wrong goes to ``problems``."""
    values = test.values
    return Test(
        name=test.name,
        about=values.get("about", ""),
        checks=_checks(test, library, around, problems),
        figures=read_figures(test, problems) if "figures" in values else (),
        draws=tuple(values.get("draws", ())),
        tags=tuple(values.get("tags", ())),
        path=test.file.name,
    )


# ---- checks ----------------------------------------------------------------------------------------------------------


def golden_of(
    noun: Test, test: Definition, toolchains: Sequence[str], library: Library, around: Surroundings, problems: Problems
) -> Test:
    """Purpose: the test with one golden check for each toolchain, where the file of sums depends on the toolchain."""
    checks: list[Check] = []
    for number, check in enumerate(noun.checks):
        if check.toolchain != _OWN:
            checks.append(check)
            continue
        written = test.values["check"][number][1]
        if not any(toolchains):
            at = place(test.root, "check", number, GOLDEN, "sums")
            problems.at(
                at, f"{written['sums']}: this test has no toolchain", "give it one: parameters: {toolchain: [...]}"
            )
        for name in filter(None, toolchains):
            own = written | {"sums": written["sums"].replace(_OWN, name)}
            checks.append(replace(_golden(test, number, own, library, around, problems), toolchain=name))
    return replace(noun, checks=tuple(checks))


def _checks(test: Definition, library: Library, around: Surroundings, problems: Problems) -> tuple[Check, ...]:
    checks: list[Check] = []
    for number, item in enumerate(test.values.get("check", ())):
        checks.append(item if isinstance(item, Check) else _of_map(test, number, item, library, around, problems))
    if sum(check.kind == KIND for check in checks) > MOST_PATTERNS:
        hint = "one pattern may find many files: file RESTART/*.nc recorded"
        problems.at(place(test.root, "check"), f"a test records at most {MOST_PATTERNS} patterns of files", hint)
    _tell_contrary(test, checks, problems)
    if not any(map(is_of_exit_status, checks)):
        checks.append(_USUAL_EXIT)
    return tuple(checks)


def _tell_contrary(test: Definition, checks: list[Check], problems: Problems) -> None:
    """Report checks that no run can pass together: what is to be there holds what is to be absent."""
    for number, check in enumerate(checks):
        for other in checks[:number]:
            pair = {one.kind: one for one in (other, check)}
            has, lacks = pair.get("contains"), pair.get("lacks")
            if (
                has is not None
                and lacks is not None
                and has.subject == lacks.subject
                and lacks.argument in has.argument
            ):
                at = place(test.root, "check", number)
                problems.at(at, f"check: no run passes both '{other.text}' and '{check.text}'", "leave one of them out")


def _of_map(
    test: Definition,
    number: int,
    item: tuple[str, dict[str, Any]],
    library: Library,
    around: Surroundings,
    problems: Problems,
) -> Check:
    """A check that is a map. A reference with names in braces is looked for when a case gives them their values."""
    word, written = item
    if word == GOLDEN:
        return _golden(test, number, written, library, around, problems)
    before = len(problems)
    check = reference_check(test, number, word, written, problems)
    if "{" not in written["reference"] and len(problems) == before:
        try:
            return Freezer(test, library, around).freeze(number, word, check)
        except InvalidValue as error:
            problems.at(place(test.root, "check", number, word, "reference"), str(error), error.hint)
    return check


def _golden(
    test: Definition, number: int, written: dict[str, str], library: Library, around: Surroundings, problems: Problems
) -> Check:
    glob, at = written["glob"], place(test.root, "check", number, GOLDEN, "sums")
    if _OWN in written["sums"]:  # read when it is known which toolchains there are
        return Check("golden", glob, toolchain=_OWN)
    mark: Any = at.start_mark
    lines: list[str] = []
    try:
        data = around.content(library.beside(mark.name, written["sums"]), _LARGEST_SUMS)
        lines = _sums(data.decode(), glob)
    except (OSError, ValueError) as error:
        if isinstance(error, InvalidValue):
            problems.at(at, f"{written['sums']}: {error}", error.hint)
        else:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            hint = f"make it with: sha256sum {glob} > {written['sums']}"
            problems.at(at, f"the sums {written['sums']} cannot be read: {reason}", hint)
    text = f"{GOLDEN}: {glob}, {written['sums']}"
    return Check("golden", glob, "\n".join(lines), text)


def _sums(text: str, glob: str) -> list[str]:
    """The lines of a ``sha256sum`` file, as path=sum."""
    pairs = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _SUM.fullmatch(line)
        if match is None:
            raise InvalidValue(
                f"line {number} is not a line of sha256sum", "it holds a sum of 64 digits and a file's name"
            )
        path = inside(match.group(2).removeprefix("./"))
        pairs.append(f"{path}={match.group(1).lower()}")
    if not any(fnmatch.fnmatchcase(pair.rpartition("=")[0], glob) for pair in pairs):
        raise InvalidValue(f"no file in it fits {glob}", "nothing would be compared")
    return pairs


# ---- input files -----------------------------------------------------------------------------------------------------


def input_files(test: Definition, library: Library, around: Surroundings, problems: Problems) -> tuple[Pairs, str]:
    """Purpose: name in the run's directory -> absolute path, and the first of the machine's files that is not here.

    A file beside the test must be there; one with an absolute path belongs to the machine, which may lack it.
    """
    pairs: list[tuple[str, str]] = []
    absent = ""
    for number, written in enumerate(test.values["run"].get("files", ())):
        at = place(test.root, "run", "files", number)
        mark: Any = at.start_mark
        path = library.beside(mark.name, written)
        name = path.rpartition("/")[2]
        if any(name == other for other, _ in pairs):
            problems.at(at, f"two files are called {name}", "in the run's directory they would be one")
        if not around.there(path):
            if written.startswith("/"):
                absent = absent or written
            else:
                problems.at(at, f"there is no file {written}", "it is looked for beside the file that names it")
        pairs.append((name, path))
    return tuple(pairs), absent
