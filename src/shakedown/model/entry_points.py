"""Parts that come in by Python entry points: a site's own measures, figures and schedulers, from packages beside ours.

The one reader of entry points. What a package declares wrongly is an error that names the package and the way out.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from shakedown.model.errors import UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


class Declaration(Protocol):
    """What an entry point names."""

    @property
    def name(self) -> str: ...


Declared = TypeVar("Declared", bound=Declaration)
_packages: dict[tuple[str, str], str] = {}  # (group, name of a declaration) -> the package that declares it


def declared_in_packages(
    group: str,
    kind: type[Declared],
    what: str,
    known: Iterable[str] = (),
    why_not: Callable[[Declared], str] = lambda declared: "",
) -> dict[str, Declared]:
    """Purpose: what installed packages declare in one group of entry points, by name.

    - ``group``: the name of the group, "shakedown.measures"
    - ``kind``: the class of a declaration; ``what``: the word for one, "measure"
    - ``known``: names that are taken
    - ``why_not``: why a declaration cannot be used, a sentence without a subject; "" where it can

    Entry points are taken in the order of their names. Errors: UsageError where a package cannot be loaded, declares something
    else, or declares a name that is taken.
    """
    taken = set(known)
    found: dict[str, Declared] = {}

    def package_of(entry: EntryPoint) -> str:
        return f"the package {entry.dist.name if entry.dist else entry.value}"

    for entry in sorted(_everything(tuple(sys.path)).select(group=group), key=lambda entry: (entry.name, entry.value)):
        whose = package_of(entry)
        mend = f"mend {whose}, or remove it: pip uninstall {entry.dist.name if entry.dist else entry.module}"
        try:
            declared = entry.load()
        except (Exception, SystemExit) as error:
            message = f"the {what} '{entry.name}' of {whose} cannot be loaded: {words_of(error)}"
            raise UsageError(message, hint=mend) from error
        if not isinstance(declared, kind):
            must = f"the entry point '{entry.name}' must name a {kind.__module__}.{kind.__qualname__}"
            raise UsageError(f"{entry.value} of {whose} is no {what}", hint=f"{must}; {mend}")
        if reason := why_not(declared):
            raise UsageError(f"the {what} '{declared.name}' of {whose} {reason}", hint=mend)
        if declared.name in taken:
            message = f"{whose} declares the {what} '{declared.name}', which is there already"
            raise UsageError(message, hint=f"give it another name; or remove {whose}")
        taken.add(declared.name)
        _packages[group, declared.name] = whose
        found[declared.name] = declared
    return found


class _Everything(Protocol):
    """What packages declare, in every group."""

    def select(self, *, group: str) -> Iterable[EntryPoint]: ...


@lru_cache(maxsize=1)
def _everything(places: tuple[str, ...]) -> _Everything:
    """What the packages of these places (``sys.path``) declare. Kept, as every package is read whichever group is asked for."""
    from importlib.metadata import entry_points  # here: it takes as long as the start of a command

    return entry_points()


def forget_packages() -> None:
    """Purpose: the next reader looks at installed packages again, though they are in the same places."""
    _everything.cache_clear()


def declared_by(group: str, name: str) -> str:
    """Purpose: the package that declares this name, "the package site-measures"; "" for what is our own."""
    return _packages.get((group, name), "")


def function(path: str) -> Any:
    """Purpose: the function that a declaration names as "module:name". Raises ImportError or AttributeError where there is none."""
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


def words_of(error: BaseException) -> str:
    """Purpose: an error of somebody's code on one line."""
    said = " ".join(str(error).split())
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
