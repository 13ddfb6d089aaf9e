"""The cross product of a test's parameters on one partition, without what is excluded."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping

from shakedown.model.errors import did_you_mean
from shakedown.plans.library import Definition
from shakedown.plans.partition_scopes import FILESYSTEMS
from shakedown.plans.schema.expressions import ExpressionError, Value, fill
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.scalars import InvalidValue
from shakedown.plans.schema.source_positions import key_place, place

Path = tuple[str | int, ...]

_MOST_CASES = 100_000
_BESIDE = ("system", "partition", "toolchain")  # what `expect` may ask for beside parameters


class WrongAt(InvalidValue):
    """An invalid value, with its path from the root of the file."""

    def __init__(self, path: Path, message: str, hint: str | None = None, about: str = "") -> None:
        super().__init__(message, hint, about)
        self.path = path


def combinations(test: Definition, names: Mapping[str, Value]) -> list[dict[str, str]]:
    """Purpose: each combination as parameter -> text, in the order written. Values that come out alike count once.

    Errors: WrongAt, with the path of the value that is wrong; InvalidValue where there are too many, or none is left.
    """
    written = test.values.get("parameters")
    if not written:
        return [{}]
    values = [_values(name, entry, names) for name, entry in written.items()]
    if math.prod(map(len, values)) > _MOST_CASES:
        raise InvalidValue(f"the parameters make more than {_MOST_CASES} cases", "split the test, or exclude values")
    every = [dict(zip(written, chosen, strict=True)) for chosen in itertools.product(*values)]
    left_out = [
        {name: _filled(("exclude", number, name), text, names) for name, text in entry.items()}
        for number, entry in enumerate(test.values.get("exclude", ()))
    ]
    kept = [one for one in every if not any(entry.items() <= one.items() for entry in left_out)]
    if not kept:
        raise InvalidValue("every combination of the parameters is excluded", "a test without cases would vanish")
    return kept


def _values(name: str, entry: str | list[str], names: Mapping[str, Value]) -> list[str]:
    if isinstance(entry, str):
        return _each(("parameters", name), entry, names)
    every = [one for number, text in enumerate(entry) for one in _each(("parameters", name, number), text, names)]
    return list(dict.fromkeys(every))


def _each(path: Path, text: str, names: Mapping[str, Value]) -> list[str]:
    """The values of a text: one, or one for each shared file system where the text is the name for all of them."""
    filled = _filled(path, text, names)
    return filled.split(",") if text.strip() == f"{{{FILESYSTEMS}}}" else [filled]


def _filled(path: Path, text: str, names: Mapping[str, Value]) -> str:
    try:
        return fill(text, names)
    except ExpressionError as error:
        raise WrongAt(path, str(error), error.hint, f"name {error.unknown}" if error.unknown else "") from error


def check_names(test: Definition, problems: Problems) -> None:
    """Purpose: what ``exclude`` and ``expect`` ask for exists: the parameter, and where it is plain text, the value."""
    parameters = test.values.get("parameters", {})
    for number, entry in enumerate(test.values.get("exclude", ())):
        _check_one(test, ("exclude", number), entry, parameters, (), problems)
        if not entry:
            problems.at(place(test.root, "exclude", number), "an empty combination would exclude everything")
    for number, item in enumerate(test.values.get("expect", ())):
        _check_one(test, ("expect", number, "where"), item.get("where", {}), parameters, _BESIDE, problems)


def _check_one(
    test: Definition,
    path: Path,
    entry: dict[str, str],
    parameters: dict[str, str | list[str]],
    beside: tuple[str, ...],
    problems: Problems,
) -> None:
    for name, value in entry.items():
        if name not in parameters and name not in beside:
            near = (
                did_you_mean(name, (*parameters, *beside)) or f"parameters there are: {', '.join(parameters) or 'none'}"
            )
            problems.at(key_place(test.root, *path, name), f"there is no parameter '{name}'", near, f"name {name}")
        elif name in parameters:
            _check_value(test, (*path, name), name, value, parameters[name], problems)


def _check_value(
    test: Definition,
    path: Path,
    name: str,
    value: str,
    written: str | list[str],
    problems: Problems,
) -> None:
    values = [written] if isinstance(written, str) else written
    if value in values or any("{" in text for text in (value, *values)):
        return
    near = did_you_mean(value, values) or f"it has: {', '.join(values)}"
    said = f"parameter '{name}' has no value '{value}'"
    problems.at(place(test.root, *path), said, near, f"{said} of test {test.name}")
