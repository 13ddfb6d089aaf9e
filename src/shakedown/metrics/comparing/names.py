"""Names of what is compared: the test and its parameters, and as much more as tells two of them apart."""

from __future__ import annotations

from collections.abc import Iterable

from shakedown.model.figures import Pairs

_BESIDE = ("component", "system", "partition", "toolchain")  # said only where there are several
_APART = ("test", "mode", *_BESIDE)


def subject_names(subjects: Iterable[Pairs]) -> dict[Pairs, str]:
    """Purpose: a name for each: ``lat/size=8, isolated``, with component, system, partition or toolchain where these differ."""
    every = dict.fromkeys(subjects)
    several = [word for word in _BESIDE if len({dict(subject).get(word, "") for subject in every}) > 1]
    return {subject: _name(dict(subject), several) for subject in every}


def _name(about: dict[str, str], several: list[str]) -> str:
    parameters = ",".join(f"{name}={value}" for name, value in about.items() if name not in _APART)
    name = about.get("test", "") + (f"/{parameters}" if parameters else "")
    return ", ".join(filter(None, (name, about.get("mode", ""), *(about.get(word, "") for word in several))))
