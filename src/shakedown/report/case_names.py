"""Names of several cases in one figure: what differs between them, what they share, and labels that are short enough.

A case is named ``test/axis=value,axis=value``; in figures its mode may follow after a comma.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from shakedown.report.figures.style import label

_CUT = re.compile(r"(?<=[/,])\s*")


def telling_names(names: Sequence[str]) -> tuple[list[str], str]:
    """Purpose: each name without the parts that all names share, and those parts. The full names where the rest
    would be ambiguous.
    """
    split = [pieces(name) for name in names]
    common = [part for part in split[0] if all(part in mine for mine in split)] if len(set(names)) > 1 else []
    short = [_joined([part for part in mine if part not in common]) for mine in split]
    if not common or "" in short or len(set(short)) < len(set(names)):
        return list(names), ""
    return short, _joined(common)


def pieces(name: str) -> list[str]:
    """The test and each of its parameters, each with its end character: ``cm4/``, ``pe=intel,``, ``f2=quiet,``. The last part gets
    a comma too, so that equal parts are equal in any position.
    """
    found = [part.strip() for part in _CUT.split(name) if part.strip()]
    return [part if part.endswith(("/", ",")) else f"{part}," for part in found]


def _joined(parts: Sequence[str]) -> str:
    return "".join(parts).rstrip("/,")


def folded(name: str, limit: int, lines: int = 3) -> str:
    """A name as a label of at most so many lines, broken between parts; a longer name is cut with an ellipsis."""
    rows = [""]
    for part in _CUT.split(" ".join(name.split())):
        if rows[-1] and len(rows[-1]) + len(part) > limit:
            rows.append("")
        rows[-1] += part
    shown = [*rows[: lines - 1], "".join(rows[lines - 1 :])]
    return "\n".join(label(row, limit) for row in shown if row)
