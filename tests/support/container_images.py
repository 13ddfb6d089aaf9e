"""A container image for tests: a directory with a name of its own, into which the programs of this machine are mounted."""

from __future__ import annotations

from pathlib import Path

NAME = "an image for tests"
MOUNTS = ("/usr",)


def make_image(directory: Path, *places: Path) -> Path:
    """Purpose: an image that Charliecloud runs, with empty directories for ``places``, which will be mounted there."""
    for name in ("etc", "usr", "dev", "proc", "sys", "tmp", "home", "root", "run"):
        (directory / name).mkdir(parents=True)
    for name in ("bin", "lib", "lib64"):
        (directory / name).symlink_to(f"usr/{name}")
    for name in ("passwd", "group", "hosts", "resolv.conf"):
        (directory / "etc" / name).touch()
    (directory / "etc/os-release").write_text(f'PRETTY_NAME="{NAME}"\n')
    for place in places:
        (directory / place.relative_to("/")).mkdir(parents=True, exist_ok=True)
    return directory
