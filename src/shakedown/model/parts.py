"""Parts that installed packages bring: what they declare under a group of entry points. ``declared`` is the way in."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeVar

from shakedown.model.errors import UsageError


class Named(Protocol):
    """What has a name that nothing else of its kind has."""

    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=Named)


def declared(
    what: str, kind: type[T], ours: Iterable[T], group: str, fault: Callable[[T], str] = lambda part: ""
) -> dict[str, T]:
    """Purpose: every part by its name: ``ours``, then those that installed packages name in a group of entry points.

    ``what`` is the word for it in messages. ``fault`` says what is wrong with a declaration of a package, "" for nothing.
    Errors: UsageError where a package declares what is no such part, a name that is taken, or one with a fault.
    """
    from importlib.metadata import entry_points  # here: it takes as long as the start of a command

    found = {part.name: part for part in ours}
    for entry in sorted(entry_points(group=group), key=lambda entry: entry.name):
        whose = f"the package {entry.dist.name if entry.dist else entry.value}"
        try:
            part = entry.load()
        except Exception as error:
            raise UsageError(
                f"the {what} {entry.name} of {whose} cannot be loaded: {error}", hint="remove the package, or mend it"
            ) from error
        if not isinstance(part, kind):
            raise UsageError(
                f"{entry.value} of {whose} is no {what}",
                hint=f"the entry point names a {kind.__module__}.{kind.__qualname__}",
            )
        if part.name in found:
            raise UsageError(
                f"{whose} declares the {what} '{part.name}', which is there already", hint="give it another name"
            )
        if wrong := fault(part):
            raise UsageError(f"the {what} '{part.name}' of {whose} {wrong}", hint="mend its declaration")
        found[part.name] = part
    return found


def function(path: str) -> Any:
    """The function that a declaration names as "module:name"."""
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)
