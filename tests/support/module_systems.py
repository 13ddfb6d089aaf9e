"""Lmod and Environment Modules as Debian has them, each unpacked into a directory: one machine cannot have both installed."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

UNPACKED = Path("/var/lib/shakedown-tests/unpacked")  # by scripts/slurm-packages
_PLACES = {
    "lmod": ("/usr/share/lmod",),
    "environment-modules": (
        "/usr/share/modules",
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/etc/environment-modules",
    ),
}


@dataclass(frozen=True)
class ModuleSystem:
    """One of the two. ``environment``: what tells a shell where it is, and where module files are."""

    name: str
    environment: dict[str, str]


def unpacked() -> bool:
    return all((UNPACKED / name).is_dir() for name in _PLACES)


def module_system(name: str, place: Path, module_files: Path) -> ModuleSystem:
    """Purpose: a copy in ``place`` whose files name that place instead of the one that Debian installs it to."""
    root = place / name
    shutil.copytree(UNPACKED / name, root, symlinks=True)
    pattern = re.compile(b"(?<![\\w/])(" + b"|".join(one.encode() for one in _PLACES[name]) + b")")
    for path in root.rglob("*"):
        if path.is_file() and not path.is_symlink():
            content = path.read_bytes()
            if b"\0" not in content:
                path.write_bytes(pattern.sub(str(root).encode() + rb"\1", content))
    lmod, other = str(root / "usr/share/lmod/lmod"), str(root / "usr/share/modules")
    places = {"LMOD_PKG": lmod} if name == "lmod" else {"LMOD_PKG": "/none", "MODULESHOME": other}
    return ModuleSystem(name, {**places, "MODULEPATH": str(module_files)})


def write_module(module_files: Path, name: str, version: str, places: Path) -> Path:
    """Purpose: a module file, and the directory of programs that it brings, which is returned."""
    programs = places / name / version / "bin"
    programs.mkdir(parents=True)
    (module_files / name).mkdir(parents=True, exist_ok=True)
    text = f"#%Module1.0\nprepend-path PATH {programs}\nsetenv {name.upper()}_VERSION {version}\n"
    (module_files / name / version).write_text(text)
    return programs
