"""What people call a build: its name, and where several have the same one, what they differ in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from shakedown.model.nouns import Build, Case

_KEY = 8  # characters of a build's key, where nothing else tells it from another


def names_of_builds(builds: Iterable[Build], cases: Iterable[Case]) -> dict[str, str]:
    """Purpose: key -> name; of builds of one name, each with its toolchain, parameters and partition, as far as they differ.

    "triad (gcc, way=static)". ``cases``: all that may need one of them; what they say tells more than the build's own words.
    """
    by_name: dict[str, list[Build]] = {}
    for build in builds:
        by_name.setdefault(build.name, []).append(build)
    found = {build.key: build.name for alike in by_name.values() for build in alike}
    several = {build.key: alike for alike in by_name.values() if len(alike) > 1 for build in alike}
    if not several:
        return found
    facts = _facts(several, cases)
    for key, alike in several.items():
        every = [facts[other.key] for other in alike]
        told = [name for name in facts[key] if all(name in one for one in every)]
        words = [facts[key][name] for name in told if len({one[name] for one in every}) > 1]
        found[key] = f"{found[key]} ({', '.join(words)})" if words else found[key]
    alike_yet = Counter(found.values())
    return {key: name if alike_yet[name] == 1 else f"{name} {key[:_KEY]}" for key, name in found.items()}


def _facts(several: Mapping[str, list[Build]], cases: Iterable[Case]) -> dict[str, dict[str, str]]:
    """What holds for all cases of a build, and where it is made, by its name; in the order in which a person looks for it."""
    facts: dict[str, dict[str, str]] = {}
    for case in cases:
        if case.build in several:
            mine = {"toolchain": case.toolchain or "no toolchain"}
            mine |= {f"{name}=": f"{name}={value}" for name, value in case.parameters}
            facts[case.build] = dict(facts.get(case.build, mine).items() & mine.items())
            facts[case.build] = {name: mine[name] for name in mine if name in facts[case.build]}
    for alike in several.values():
        for build in alike:
            facts[build.key] = facts.get(build.key, {}) | {
                "partition": f"on {build.partition}" if build.partition else "here"
            }
    return facts
