"""Read the modes, mix and procedures of a component, and check which of its keys go together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from yaml.nodes import Node

from shakedown.model.errors import did_you_mean
from shakedown.model.nouns import Component, Loads, Mode, Procedure
from shakedown.model.scores import COMPONENT as SCORES
from shakedown.model.units import parse_known
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.scalars import listed
from shakedown.plans.schema.source_positions import key_place, place

_PACKED = ("functionality", "performance", "stability", "site")
_ONLY = {  # key -> the kinds of component that it goes with
    "modes": ("performance",),
    "duration": ("stability",),
    "phases": ("stability",),
    "mix": ("stability",),
    "sweep": _PACKED,
    "pack": _PACKED,
}
_OF_FILLING = (
    "phases",
    "fill",
    "filler",
    "clock",
    "drills",
    "limits",
    "windows",
    "yield_to",
    "sweep",
    "pack",
    "stop_after",
)
_OF_RUNS = ("ladder", "repeats", "modes", "duration", "mix", "retry", "set_up", "clean_up", *_OF_FILLING)
_COUNTS = ("repeats", "modes", "duration", "phases")
_OF_A_TIME = ("mix", "fill", "filler", "clock", "drills")
_NOT_BESIDE = {  # key -> keys that have no meaning beside it, and why
    "sweep": (
        ("repeats", "modes", "mix", "fill", "filler", "pack", "drills"),
        "each node is seen with all tests, in rounds",
    ),
    "set_up": (("sweep", "pack"), "put the set-up into a component of its own, and this one after it"),
    "clean_up": (("sweep", "pack"), "put the clean-up into a component of its own, after this one"),
    "pack": (("modes", "duration", "phases"), "a pack holds runs that repeats asks for"),
    "ladder": (
        ("modes", "duration", "phases", "mix", "sweep", "pack"),
        "a ladder runs one size after the other, each as often as repeats says",
    ),
}


def check_together(node: Node, kind: str, entry: dict[str, Any], problems: Problems) -> frozenset[str]:
    """Purpose: report keys without a meaning for this kind of component or together with other keys, each once, and return them;
    their values need not be read."""
    if "tests" not in entry and "procedures" not in entry:
        problems.at(
            node, f"'tests' is missing in {kind}", "tests: which tests; or procedures: what people do and attest"
        )
    told: set[str] = set()
    for key, words, hint in _meaningless(kind, entry):
        if key not in told:
            problems.at(key_place(node, key), words, hint)
            told.add(key)
    return frozenset(told)


def takes(component: Component, key: str) -> bool:
    """Purpose: whether a key has a meaning in this component, by the same rules as when a plan is read."""
    if component.kind == SCORES:  # no component of a file: the plan's scores stand under its name
        return False
    has = {
        "tests": component.cases,
        "procedures": component.procedures,
        "duration": component.duration_s,
        "sweep": component.sweep,
        "pack": component.pack,
        "ladder": component.ladder,
        "modes": component.modes,
        "set_up": component.set_up,
        "clean_up": component.clean_up,
    }
    entry: dict[str, Any] = {name: value for name, value in has.items() if value} | {key: True}
    return "tests" in entry and all(other != key for other, _, _ in _meaningless(component.kind, entry))


def _meaningless(kind: str, entry: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The keys without a meaning here, each with a message and a hint; a key that makes more others meaningless comes first."""
    for key, wanted in _ONLY.items():
        if key in entry and kind not in wanted:
            yield key, f"'{key}' has no meaning in a component of kind {kind}", f"it goes with {listed(wanted)}"
    if "tests" not in entry and "procedures" in entry:
        for key in _OF_RUNS:
            if key in entry:
                yield key, f"'{key}' has no meaning without tests", ""
    counts = [key for key in _COUNTS if key in entry and not (key == "phases" and "duration" in entry)]
    if len(counts) > 1:
        yield counts[1], f"'{counts[0]}' and '{counts[1]}' both say how often cases run", "keep one of them"
    for key, (beside, why) in _NOT_BESIDE.items():
        for other in beside if key in entry else ():
            if other in entry:
                yield other, f"'{other}' has no meaning beside {key}", why
    if "duration" not in entry and "phases" not in entry:
        for key in _OF_A_TIME:
            if key in entry:
                yield key, f"'{key}' has no meaning without duration", "duration: how long runs follow each other"
    if "gate" in entry and "after" not in entry:
        yield "gate", "'gate' has no meaning without after", "after: the components that come first"


def read_modes(node: Node, written: dict[str, dict[str, int]] | None, problems: Problems) -> tuple[Mode, ...]:
    """Purpose: the modes; isolated comes before fill in any case."""
    if written is None:
        return ()
    if not written:
        problems.at(node, "modes is empty", "it is a map with isolated, fill or both")
    return tuple(Mode(name, **written[name]) for name in ("isolated", "fill") if written.get(name) is not None)


def follows(name: str, lost: frozenset[str]) -> bool:
    """Purpose: whether a name means a test that gave no case, or was meant to: why is told where that one is named."""
    return name in lost or bool(lost and did_you_mean(name, lost))


def read_mix(
    node: Node,
    written: dict[str, str] | None,
    tests: list[str],
    problems: Problems,
    lost: frozenset[str] = frozenset(),
) -> Loads:
    """Purpose: the share of each test as a fraction of one; () without a mix. ``lost``: tests that gave no case."""
    if written is None:
        return ()
    shares: dict[str, float] = {}
    before = len(problems)
    for name, text in written.items():
        if name not in tests and not follows(name, lost):
            hint = did_you_mean(name, tests) or f"it runs: {', '.join(tests)}"
            problems.at(key_place(node, name), f"mix: the component runs no test '{name}'", hint, f"test {name}")
        try:
            shares[name] = parse_known(text, "share")
        except ValueError:
            problems.at(place(node, name), f"mix.{name}: '{text}' is not a share", "write a share, such as 40%")
            continue
        if not 0 < shares[name] <= 1:
            problems.at(
                place(node, name), f"mix.{name}: '{text}' is not a share", "write a share above 0% and up to 100%"
            )
    missing = [name for name in tests if name not in shares]
    if len(problems) > before:
        return ()
    if missing:
        problems.at(node, f"mix says nothing of test '{missing[0]}'", "each test of the component has a share")
    elif abs(sum(shares.values()) - 1) > 1e-3:
        problems.at(node, f"the shares of mix come to {100 * sum(shares.values()):g}%", "they come to 100% together")
    return tuple(shares.items())


def read_procedures(node: Node, written: list[dict[str, Any]], problems: Problems) -> tuple[Procedure, ...]:
    """Purpose: the procedures in their order; their names are unique in the component."""
    procedures: dict[str, Procedure] = {}
    for number, entry in enumerate(written):
        if entry["name"] in procedures:
            at = place(node, number, "name")
            problems.at(at, f"there is a procedure '{entry['name']}' already", "give it a name of its own")
        procedures[entry["name"]] = Procedure(**entry)
    return tuple(procedures.values())
