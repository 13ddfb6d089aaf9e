"""File systems that nodes of a cluster share, by what is mounted here. Pure."""

from __future__ import annotations

import re

from shakedown.model.nouns import FileSystem

# the kernel's word for a type -> ours
_SHARED = {
    "lustre": "lustre",
    "gpfs": "gpfs",
    "nfs": "nfs",
    "nfs4": "nfs",
    "beegfs": "beegfs",
    "ceph": "ceph",
    "panfs": "panfs",
    "wekafs": "weka",
    "pvfs2": "orangefs",
}
_MOST = 20
_OCTAL = re.compile(r"\\([0-7]{3})")


def cluster_filesystems(mounts: str) -> tuple[FileSystem, ...]:
    """Purpose: the shared file systems of /proc/self/mounts, named after where they are mounted.

    What is mounted in several places counts once. Paths with braces are left out: there they stand for targets.
    """
    found: dict[str, FileSystem] = {}
    devices: set[str] = set()
    for line in mounts.splitlines():
        device, path, kind = [*line.split(), "", "", ""][:3]
        path = _OCTAL.sub(lambda match: chr(int(match.group(1), 8)), path)
        if kind in _SHARED and device not in devices and path.isprintable() and not set("{}") & set(path):
            devices.add(device)
            name = _name(path, found)
            found[name] = FileSystem(name, _SHARED[kind], path)
    return tuple(found.values())[:_MOST]


def _name(path: str, taken: dict[str, FileSystem]) -> str:
    """The last word of the path, numbered where there is one already."""
    last = re.sub(r"[^A-Za-z0-9_.+-]+", "-", path.rpartition("/")[2]).strip("-_.+")[:80] or "root"
    name, number = last, 2
    while name in taken:
        name, number = f"{last}-{number}", number + 1
    return name
