"""Examples that ship with the package: whole sites to run and to change, and a package of a site's own parts.

They lie beside this package in a wheel, and in ``examples/`` of a clone.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import shakedown
from shakedown.model.errors import UsageError, did_you_mean

_LEFT_OUT = ("campaigns", "__pycache__", ".gitignore", "build", "*.egg-info", "*.pyc")


def examples() -> Mapping[str, str]:
    """Purpose: every example by its name, with the first heading of its README."""
    return {path.name: _title(path) for path in sorted(_folder().iterdir()) if (path / "README.md").is_file()}


def copy_example(name: str, directory: Path) -> list[Path]:
    """Purpose: write all files of an example into a directory, which is made where it is missing. Returns their paths.

    Errors: UsageError for a name that is none, for files that are there already, and for a place that cannot be written.
    """
    known = examples()
    if name not in known:
        hint = did_you_mean(name, known) or f"there are: {', '.join(known)}"
        raise UsageError(f"there is no example '{name}'", hint=hint)
    source = _folder() / name
    files = sorted(path.relative_to(source) for path in _files(source))
    there = [str(file) for file in files if (directory / file).exists() or (directory / file).is_symlink()]
    if there:
        said = f"{directory}: nothing was written, because these are there already: {', '.join(there)}"
        raise UsageError(said, hint="name another directory, or move these away")
    written = []
    try:
        for file in files:
            (directory / file).parent.mkdir(parents=True, exist_ok=True)
            written.append(Path(shutil.copy(source / file, directory / file)))
    except OSError as error:
        for path in written:
            path.unlink(missing_ok=True)
        raise UsageError(f"cannot write {error.filename or directory}: {error.strerror or error}") from error
    return written


def _folder() -> Path:
    """Where the examples are: within the installed package, else in the clone that it is run from."""
    package = Path(shakedown.__file__).parent
    for folder in (package / "examples", package.parent.parent / "examples"):
        if folder.is_dir():
            return folder
    raise UsageError("the examples are not installed", hint="install Shakedown from its wheel or from a clone")


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if any(path.match(pattern) for pattern in _LEFT_OUT):
            continue
        if path.is_dir():
            yield from _files(path)
        else:
            yield path


def _title(example: Path) -> str:
    return (example / "README.md").read_text().partition("\n")[0].removeprefix("# ")
