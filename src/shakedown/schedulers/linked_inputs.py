"""Input files that are linked into a run's directory.

A directory among them becomes a directory of the run's own, with those below it, and a link for each file: what a run writes
there anew is its own, and so is what it puts in the place of a link. The job script does the same for restarts
(``cluster/job_script.py``).
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterator, Mapping

from shakedown.model.nouns import Pairs

Link = Callable[[str, str], object]  # makes a link: what it names, where it is


def make_link(target: str, place: str) -> None:
    """Purpose: a link; what is there already stays. Raises OSError."""
    with contextlib.suppress(FileExistsError):
        os.symlink(target, place)  # noqa: PTH211 - thousands of them before a run starts


def link_input(place: str, source: str, link: Link = make_link) -> None:
    """Purpose: an input file or directory appears at ``place``, whose directory is there. Doing it again completes it.

    A directory that holds ``place`` itself is one link: it would never end. ``link`` makes each link. Raises OSError with a path.
    """
    real = os.path.realpath(source) if _is_directory(source) else ""
    if not real or _holds(real, place):
        link(source, place)
        return
    _own_directory(place, source)
    folders = [""]
    while folders:
        below = folders.pop()
        with os.scandir(f"{source}/{below}" if below else source) as entries:
            for entry in entries:
                inside = f"{below}/{entry.name}" if below else entry.name
                origin, here = f"{source}/{inside}", f"{place}/{inside}"
                if entry.is_dir(follow_symlinks=False):
                    _own_directory(here, origin)
                    folders.append(inside)
                else:
                    link(_named_by(origin, inside, real) if entry.is_symlink() else origin, here)


def made_links(place: str, files: Pairs) -> tuple[list[str], list[str]] | None:
    """Purpose: the links and the directories at ``place``, each before those below it, where these are as the input files were
    linked; None where anything else is there: what the run made, or a directory above a file that another run handed on, which
    checks read there. Raises OSError.
    """
    origins = {name: os.path.normpath(source) for name, source in files}
    links: list[str] = []
    folders = [("", "")]
    for inside, origin in folders:  # it grows
        for entry, here, from_ in _entries(place, inside, origin, origins):
            if entry.is_symlink() and from_ and _is_made(entry.path, here, from_, origins):
                links.append(entry.path)
            elif entry.is_dir(follow_symlinks=False) and _is_made_for(from_, here in origins):
                folders.append((here, from_))
            else:
                return None
    return links, [f"{place}/{inside}" for inside, _ in folders[1:]]


def is_linked_below(place: str, path: str, files: Pairs) -> bool:
    """Purpose: whether ``path`` of the run's directory ``place`` is a link in the place of a file of an input directory."""
    sources = [source + path[len(name) :] for name, source in files if path.startswith(f"{name}/")]
    return any(map(os.path.lexists, sources)) and os.path.islink(f"{place}/{path}")  # noqa: PTH114


def deepest_first(files: Pairs) -> Pairs:
    """Purpose: the input files in the order in which they are linked: one that has a name of its own inside of a directory goes
    before what that directory has under this name.
    """
    return tuple(sorted(files, key=lambda pair: -pair[0].count("/")))


def _holds(real: str, place: str) -> bool:
    return f"{os.path.realpath(os.path.dirname(place))}/".startswith(f"{real}/")  # noqa: PTH120


def _own_directory(place: str, source: str) -> None:
    try:
        os.mkdir(place)  # noqa: PTH102
    except FileExistsError:
        mode = os.lstat(place).st_mode
        if stat.S_ISDIR(mode):
            return
        if not stat.S_ISLNK(mode) or os.readlink(place) != source:  # noqa: PTH115
            raise
        os.unlink(place)  # noqa: PTH108 - one link to all of it, as it was made once
        os.mkdir(place)  # noqa: PTH102


def _named_by(link: str, inside: str, real: str) -> str:
    """What the counterpart of a link inside of a directory names: within the directory the run's own, elsewhere what it names."""
    named = os.path.realpath(link)
    if not f"{named}/".startswith(f"{real}/"):
        return link
    return "../" * inside.count("/") + named[len(real) + 1 :] or "."


def _entries(
    place: str, inside: str, origin: str, origins: Mapping[str, str]
) -> Iterator[tuple[os.DirEntry[str], str, str]]:
    """What lies at ``inside``, its path below ``place``, and what it would be linked from, "" where that is nothing."""
    with os.scandir(f"{place}/{inside}" if inside else place) as entries:
        for entry in entries:
            here = f"{inside}/{entry.name}" if inside else entry.name
            yield entry, here, origins.get(here) or (f"{origin}/{entry.name}" if origin else "")


def _is_made(link: str, here: str, origin: str, origins: Mapping[str, str]) -> bool:
    named = os.readlink(link)  # noqa: PTH115
    if named == origin:
        return True
    top = next((name for name in origins if here.startswith(f"{name}/")), "")
    if not top or not os.path.islink(origin):  # noqa: PTH114
        return False
    return named == _named_by(origin, here[len(top) + 1 :], os.path.realpath(origins[top]))


def _is_made_for(origin: str, named: bool) -> bool:
    """Whether a directory is made for what it would be linked from: a link to one is followed only where a test names it."""
    return _is_directory(origin) and (named or not os.path.islink(origin))  # noqa: PTH114


def _is_directory(path: str) -> bool:
    return os.path.isdir(path)  # noqa: PTH112
