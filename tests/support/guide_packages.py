"""A package that a guide describes: its code blocks as files, made visible to Python as an installed package is."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def blocks(page: str) -> dict[str, str]:
    """Purpose: the code blocks of a page that begin with a comment which names a file."""
    text = (ROOT / "docs" / page).read_text()
    found = {}
    for body in re.findall(r"^```\w+\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        first = re.match(r"# ([\w./-]+\.\w+)\n", body)
        if first:
            found[first[1]] = body
    return found


def all_blocks(page: str) -> list[str]:
    """Purpose: every code block of a page, in its order."""
    return re.findall(r"^```\w+\n(.*?)^```", (ROOT / "docs" / page).read_text(), re.DOTALL | re.MULTILINE)


def install(page: str, home: Path) -> Path:
    """Purpose: the page's package in a directory for PYTHONPATH, with the entry points that its pyproject names."""
    files = blocks(page)
    for name, body in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(body)
    project = files["pyproject.toml"]
    called = re.search(r'^name = "(.+)"', project, re.MULTILINE)
    assert called is not None
    about = home / f"{called[1].replace('-', '_')}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {called[1]}\nVersion: 1.0\n")
    points = []
    for group, lines in re.findall(r'^\[project\.entry-points\."(.+)"\]\n((?:.+\n?)+)', project, re.MULTILINE):
        points.append(f"[{group}]\n" + lines.replace('"', ""))
    (about / "entry_points.txt").write_text("\n".join(points))
    return home
