"""The page of units lists the units that the code knows: these, and no others."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

from shakedown.model.units import KNOWN_IN_WORDS, UNITS

PAGE = Path(__file__).parents[2] / "docs/reference/units.md"
PREFIXES = {
    "decimal": ("k", "K", "M", "G", "T", "P", "E"),
    "binary": ("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"),
    "small": ("m", "u", "µ", "μ"),
}


def listed() -> set[str]:
    """Every unit that the rows of the page's table make."""
    names: set[str] = set()
    for line in PAGE.read_text().splitlines():
        if not line.startswith("| ") or "`" not in line:
            continue
        _, words, prefixes, per = (field.strip() for field in line.strip("|").split("|"))
        before = ["", *itertools.chain.from_iterable(PREFIXES[name] for name in re.findall(r"\w+", prefixes))]
        behind = [f"/{time}" for time in re.findall(r"`(\w+)`", per)] or [""]
        names |= {"".join(parts) for parts in itertools.product(before, re.findall(r"`([^`]+)`", words), behind)}
    return names


def test_the_page_lists_the_units_that_are_known() -> None:
    assert listed() == set(UNITS) - {""}


def test_the_line_of_errors_names_units_that_are_on_the_page() -> None:
    for word in ("B", "b", "FLOP/s", "ops/s", "Hz", "W", "J", "Wh", "ns", "d", "%"):
        assert word in listed() and re.search(rf"(?<!\w){re.escape(word)}(?!\w)", KNOWN_IN_WORDS), word
