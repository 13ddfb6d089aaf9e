"""Names of the compared cases: the test and its parameters, and further properties only where names would be ambiguous."""

from __future__ import annotations

from collections.abc import Iterable

from shakedown.model.figures import Pairs

_BESIDE = ("component", "system", "partition", "toolchain")  # included only where several of them occur
_APART = ("test", "mode", *_BESIDE)


def subject_names(subjects: Iterable[Pairs]) -> dict[Pairs, str]:
    """Purpose: subject -> name: ``lat/size=8, isolated``, with component, system, partition or toolchain where these differ."""
    every = dict.fromkeys(subjects)
    several = [word for word in _BESIDE if len({dict(subject).get(word, "") for subject in every}) > 1]
    return {subject: _name(dict(subject), several) for subject in every}


def _name(about: dict[str, str], several: list[str]) -> str:
    parameters = ",".join(f"{name}={value}" for name, value in about.items() if name not in _APART)
    name = about.get("test", "") + (f"/{parameters}" if parameters else "")
    return ", ".join(filter(None, (name, about.get("mode", ""), *(about.get(word, "") for word in several))))
