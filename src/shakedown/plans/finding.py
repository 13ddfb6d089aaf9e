"""Find the site directory above the current one, and the tests and kernels of the package. Cheap to import."""

# paths are text in this room: a Path for each of thousands of files costs too much
# ruff: noqa: PTH100, PTH118, PTH120, PTH208

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import shakedown
from shakedown.model.errors import UsageError
from shakedown.model.nouns import System
from shakedown.plans.files import CATALOGUE, Found, scan
from shakedown.plans.schema.problems import Problems

Here = Callable[[], System]

_PACKAGE = os.path.dirname(os.path.abspath(shakedown.__file__))
KERNELS = os.path.join(_PACKAGE, "kernels", "c")
CATALOGUE_TESTS = os.path.join(_PACKAGE, "catalogue", "tests")
CATALOGUE_SYSTEMS = os.path.join(_PACKAGE, "catalogue", "systems")
CATALOGUE_PLANS = os.path.join(_PACKAGE, "catalogue", "plans")
_NO_SITE = "'shakedown init' makes a site directory; if one was there, its file system may be away (not mounted)"
CATALOGUE_FAILURES = os.path.join(_PACKAGE, "catalogue", "failures")


def find_site(start: Path | None = None) -> Path:
    """Purpose: the nearest directory, from ``start`` (or here) upward, that holds site.yaml. Raises UsageError."""
    try:
        first = (start or Path.cwd()).resolve()
    except OSError as error:
        raise UsageError(f"the current directory cannot be read: {error.strerror}") from error
    if not first.is_dir():
        raise UsageError(f"{start} is not a directory", "name a site directory; 'shakedown init' makes one")
    for directory in (first, *first.parents):
        if (directory / "site.yaml").is_file():
            return directory
    raise UsageError(f"no site.yaml in {first} or above it", _NO_SITE)


def test_files(site: str, problems: Problems) -> list[Found]:
    """The files of the site's tests, then of the package's."""
    own = scan(os.path.join(site, "tests"), "tests/", problems)
    return own + scan(CATALOGUE_TESTS, CATALOGUE, problems)


def shipped_systems() -> dict[str, str]:
    """The systems that come with the package: name -> path. Each is in a file of its name."""
    try:
        names = sorted(name for name in os.listdir(CATALOGUE_SYSTEMS) if name.endswith(".yaml"))
    except OSError:
        return {}
    return {name[:-5]: os.path.join(CATALOGUE_SYSTEMS, name) for name in names}


def shipped_plans() -> dict[str, str]:
    """The plans that come with the package: name, as commands take it, -> path. They run on the system that is asked for."""
    try:
        names = sorted(name for name in os.listdir(CATALOGUE_PLANS) if name.endswith(".yaml"))
    except OSError:
        return {}
    return {f"{CATALOGUE}{name[:-5]}": os.path.join(CATALOGUE_PLANS, name) for name in names}


@contextmanager
def steady_memory() -> Iterator[None]:
    """Switch garbage collection off in this block: reading makes a million lasting objects, and collection doubles the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
