"""Every case of every test on one system; kept in a cache, because a site can hold thousands of tests."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from shakedown import __version__
from shakedown.model.frozen import digest
from shakedown.model.nouns import SCHEMA, Build, Case, System, Test
from shakedown.plans import cache
from shakedown.plans.cases.environment import Seen, still_so
from shakedown.plans.files import Found, digest_of, look_up, scan
from shakedown.plans.finding import Here, shipped_systems, steady_memory, test_files
from shakedown.plans.schema.problems import Problems


@dataclass(frozen=True, slots=True)
class Listing:
    """All tests with their cases on one system. ``abstract``: name, about and file of those that are only extended."""

    system: System
    tests: tuple[Test, ...]
    cases: tuple[Case, ...]
    builds: tuple[Build, ...] = ()
    abstract: tuple[tuple[str, str, str], ...] = ()


class _Stored(msgspec.Struct):
    """What the cache holds: the listing and everything it was made from."""

    files: str
    seen: Seen
    listing: Listing


def list_cases(site: Path, system: str | None, here: Here, kernels: Path | None = None) -> Listing:
    """Purpose: the cases of all tests on a system; None and ``here`` are the machine this runs on.

    Errors: FileProblems with everything that is wrong in the site's systems and tests; UsageError for an unknown system.
    """
    now = cache.now()
    with steady_memory():
        found = here() if system in (None, "here") else None
        name = _name(site, system, kernels)
        files = _files(site)
        made_from = digest_of(files) + (_facts(found) if found else "")
        known = _known(name, made_from, found)
        if known is not None:
            return known
        listing, seen = _resolved(site, system, (lambda: found) if found else here, kernels)
        if cache.settled(files, now):
            cache.store(name, msgspec.msgpack.encode(_Stored(made_from, seen, listing)))
        return listing


def abstract_test(site: Path, name: str) -> tuple[Test, str] | None:
    """Purpose: a test that is only there to be extended, and the path of its file; None where there is none that can be read."""
    from shakedown.plans.cases.environment import Surroundings
    from shakedown.plans.cases.evidence import test_noun
    from shakedown.plans.site import read_site

    library = read_site(site, parts="tests").library
    test = library.tests.get(name)
    if test is None or not test.good or not test.abstract:
        return None
    return test_noun(test, library, Surroundings(), Problems()), test.file.path


def _files(site: Path) -> list[Found]:
    """Every file that a listing is made from. Plans say which of the package's systems the site knows."""
    problems = Problems()  # reading will find them again
    files = [*scan(f"{site}/systems", "systems/", problems), *test_files(str(site), problems)]
    files += scan(f"{site}/plans", "plans/", problems)
    files += [look_up(path, name) for name, path in shipped_systems().items()]
    try:
        files.append(look_up(f"{site}/site.yaml", "site.yaml"))
    except OSError as error:
        problems.file("site.yaml", str(error))
    return files


def _name(site: Path, system: str | None, kernels: Path | None) -> str:
    words = (str(site.resolve()), system or "here", str(kernels or ""), __version__, str(SCHEMA))
    return hashlib.sha256("\0".join(words).encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _facts(system: System) -> str:
    """What cases can depend on of the machine as found; its description for the report is no part of it."""
    return digest(msgspec.json.encode(msgspec.structs.replace(system, found=())))


def _known(name: str, made_from: str, found: System | None) -> Listing | None:
    data = cache.load(name)
    if data is None:
        return None
    try:
        stored = msgspec.msgpack.decode(data, type=_Stored)
    except msgspec.MsgspecError:
        return None
    if stored.files != made_from or not still_so(stored.seen):
        return None
    return replace(stored.listing, system=found) if found else stored.listing


def _resolved(site: Path, system: str | None, here: Here, kernels: Path | None) -> tuple[Listing, Seen]:
    from shakedown.plans.cases.cases import resolve
    from shakedown.plans.cases.needs import Joiner
    from shakedown.plans.site import read_site

    reading = read_site(site, parts="tests")
    context = reading.context(reading.machine(system, here), kernels)
    tests: list[Test] = []
    cases: dict[str, tuple[Case, ...]] = {}
    abstract: list[tuple[str, str, str]] = []
    for test in reading.library.tests.values():
        resolved = resolve(test, context) if test.good and not test.abstract else None
        if resolved is not None:
            tests.append(resolved.test)
            cases[test.name] = resolved.cases
        elif test.abstract:
            abstract.append((test.name, test.values.get("about", ""), test.file.name))
    joiner = Joiner(context, lambda name: cases.get(name, ()))
    joined = tuple(joiner.join(case) for mine in cases.values() for case in mine)
    reading.stop()
    builds = tuple(context.builds.values())
    return Listing(context.machine.system, tuple(tests), joined, builds, tuple(abstract)), context.around.seen
