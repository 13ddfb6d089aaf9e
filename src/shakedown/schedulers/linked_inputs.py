"""Input files that are linked into a run's directory.

An input directory becomes a directory of the run's own, with all directories below it and a link for each file. So new files that a
run writes there are its own, and so is a file that it puts in the place of a link. The job script does the same for restarts
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
    """Purpose: make a link; where something is there already it stays. Raises OSError."""
    with contextlib.suppress(FileExistsError):
        os.symlink(target, place)  # noqa: PTH211 - thousands of them before a run starts


def link_input(place: str, source: str, link: Link = make_link) -> None:
    """Purpose: make an input file or directory appear at ``place``; its parent directory must exist. Doing it again completes it.

    A directory that contains ``place`` itself becomes one link, since following it would never end. ``link`` makes each link.
    Raises OSError with a path.
    """
    real = os.path.realpath(source) if _is_directory(source) else ""
    if not real or _contains(real, place):
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
    """Purpose: the links and the directories at ``place`` (each before those below it), if nothing but linked input files is there.

    None where anything else is there: a file of the run, or a directory for a file that another run handed on and that checks read.
    Raises OSError.
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
    """Purpose: whether ``path``, in the run's directory ``place``, is a link that stands for a file of an input directory."""
    sources = [source + path[len(name) :] for name, source in files if path.startswith(f"{name}/")]
    return any(map(os.path.lexists, sources)) and os.path.islink(f"{place}/{path}")  # noqa: PTH114


def deepest_first(files: Pairs) -> Pairs:
    """Purpose: the input files in the order in which to link them: a file with its own name inside of an input directory comes
    before that directory, so that it is used in place of the directory's own file.
    """
    return tuple(sorted(files, key=lambda pair: -pair[0].count("/")))


def _contains(real: str, place: str) -> bool:
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
    """What the run's copy of a link in an input directory leads to: inside of that directory, the run's own file; elsewhere, the
    same.
    """
    named = os.path.realpath(link)
    if not f"{named}/".startswith(f"{real}/"):
        return link
    return "../" * inside.count("/") + named[len(real) + 1 :] or "."


def _entries(
    place: str, inside: str, origin: str, origins: Mapping[str, str]
) -> Iterator[tuple[os.DirEntry[str], str, str]]:
    """Each entry at ``inside`` (a path below ``place``), with its own path below ``place`` and its source, "" where it has none."""
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
    """Whether a directory was made for this source: a link to a directory is followed only where the test names it."""
    return _is_directory(origin) and (named or not os.path.islink(origin))  # noqa: PTH114


def _is_directory(path: str) -> bool:
    return os.path.isdir(path)  # noqa: PTH112
