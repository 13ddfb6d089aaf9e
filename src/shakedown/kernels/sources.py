"""What kernels there are and what they say of themselves, read from their sources: one place, the C file, states it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from shakedown.model.errors import UsageError, did_you_mean


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a kernel as ``--help`` shows it; ``value`` is empty for a switch."""

    name: str
    value: str
    about: str


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel's name, what it measures, and its own options."""

    name: str
    about: str
    options: tuple[Option, ...]


def kernel_directory() -> Path:
    """Purpose: the directory with the sources and the Makefile; copy it before building, it may be read-only."""
    return Path(__file__).parent / "c"


def kernel_names() -> tuple[str, ...]:
    """Purpose: the kernels there are; each C file beside the Makefile is one."""
    return tuple(sorted(path.stem for path in kernel_directory().glob("*.c")))


def describe_kernels(names: Sequence[str] = ()) -> tuple[Kernel, ...]:
    """Purpose: the named kernels, or all, with what they measure and their options."""
    return tuple(_describe(name) for name in checked_names(names))


def shared_options() -> tuple[Option, ...]:
    """Purpose: the options that every kernel has."""
    return _options((kernel_directory() / "common" / "job.c").read_text(encoding="utf-8"))


def checked_names(names: Sequence[str]) -> tuple[str, ...]:
    """The names themselves, all of them where none is given. Raises UsageError for one that is not a kernel."""
    known = kernel_names()
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known) or f"the kernels are: {', '.join(known)}"
            raise UsageError(f"there is no kernel '{name}'", hint)
    return tuple(dict.fromkeys(names)) or known


_OPTION = re.compile(r'\{"(--[\w-]+)", "([^"]*)", [A-Z]+, &?\w[\w.]*, [\w.]+,\s*"([^"]*)"\}')
_ABOUT = re.compile(r'const struct kernel kernel = \{\s*"[\w-]+", "([^"]*)"')


def _describe(name: str) -> Kernel:
    source = (kernel_directory() / f"{name}.c").read_text(encoding="utf-8")
    about = _ABOUT.search(source)
    return Kernel(name, about.group(1) if about else "", _options(source))


def _options(source: str) -> tuple[Option, ...]:
    return tuple(Option(*match.groups()) for match in _OPTION.finditer(source))
