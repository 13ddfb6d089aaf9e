"""Laws of complexity: how the work of a problem grows with its size, written as people do: ``n^3``, ``n * tasks * threads``.

A law is a product of terms: a name, a number or ``log(NAME)``, each with a power where one is written.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import lru_cache

from shakedown.model.errors import did_you_mean

NAMES = ("n", "nodes", "tasks", "threads")  # n is the size of the problem

_TERM = re.compile(
    r"\s*(?:(?P<log>log)\s*\(\s*(?P<of>[a-z]+)\s*\)|(?P<name>[a-z]+)|(?P<number>\d+(?:\.\d+)?))"
    r"(?:\s*\^\s*(?P<power>-?\d+(?:\.\d+)?(?:/\d+)?))?\s*"
)
_LONGEST = 200

Term = tuple[str, str, float]  # log, name or number; which; the power


@lru_cache(maxsize=256)
def parse_law(text: str) -> tuple[Term, ...]:
    """Purpose: the terms of a law; a divisor has a negative power. Raises ValueError with a sentence and its way out."""
    if len(text) > _LONGEST:
        raise ValueError(f"a law has at most {_LONGEST} characters")
    terms: list[Term] = []
    sign, at = 1.0, 0
    while True:
        match = _TERM.match(text, at)
        if match is None:
            raise ValueError(f"'{text}' is no law of complexity; write a product, such as n^3 or n * tasks * threads")
        terms.append(_term(match, sign))
        at = match.end()
        if at == len(text):
            return tuple(terms)
        if text[at] not in "*/":
            raise ValueError(f"'{text}' is no law of complexity at '{text[at:]}'; join its terms with * or /")
        sign, at = (1.0 if text[at] == "*" else -1.0), at + 1


def _term(match: re.Match[str], sign: float) -> Term:
    above, _, below = (match["power"] or "1").partition("/")
    power = sign * float(above) / (float(below) if below and float(below) else 1.0)
    if abs(power) > 100:
        raise ValueError(f"a power of {power:g} is no law of complexity; write a smaller one")
    if match["number"]:
        if not float(match["number"]):
            raise ValueError("a law has no term that is 0; leave it out")
        return "number", match["number"], power
    name = match["of"] or match["name"]
    if name not in NAMES:
        near = did_you_mean(name, NAMES) or f"a law speaks of {', '.join(NAMES)}"
        raise ValueError(f"a law knows no '{name}'; {near}")
    return ("log" if match["log"] else "name"), name, power


def names_of(law: str) -> tuple[str, ...]:
    """Purpose: what a law asks to know of a problem, each name once."""
    return tuple(dict.fromkeys(name for kind, name, _ in parse_law(law) if kind != "number"))


def complexity(law: str, known: Mapping[str, float]) -> float:
    """Purpose: the work of a problem by its law, in arbitrary units: only ratios of it mean anything.

    Errors: ValueError or OverflowError where ``known`` lacks a name, or a logarithm has no value.
    """
    found = 1.0
    for kind, name, power in parse_law(law):
        value = float(name) if kind == "number" else float(known.get(name, 0.0))
        base = math.log(value) if kind == "log" else value
        found *= base**power if base > 0 else 0.0
    if not 0 < found < math.inf:
        raise ValueError(f"the law {law} has no value above 0 for {dict(known)}")
    return found
