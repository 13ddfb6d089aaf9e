"""The code of the pages on parts passes ruff; ``make types`` reads ``examples/site-parts``, which has the same text."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from guide_packages import ROOT, blocks

PAGES = sorted((ROOT / "docs/guides").glob("add-a*.md"))


def whole_files() -> dict[str, str]:
    """Blocks that are whole files of Python: what stands behind the line that names them begins with an import or a docstring."""
    found = {}
    for page in PAGES:
        for name, text in blocks(f"guides/{page.name}").items():
            body = text.partition("\n")[2]
            if name.endswith(".py") and body.startswith(("from ", "import ", '"""')):
                found[Path(name).name] = body
    return found


def test_the_code_of_the_pages_passes_ruff(tmp_path: Path) -> None:
    files = whole_files()
    assert set(files) == {
        *("inspect.py", "site_checks.py", "site_figures.py", "site_measures.py", "spool_port.py", "worst.py")
    }
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    (tmp_path / "src").mkdir()
    (tmp_path / "src/shakedown").symlink_to(ROOT / "src/shakedown")  # what is ours stands in a group of its own
    for name, body in files.items():
        (tmp_path / name).write_text(body)
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--no-cache", *sorted(files)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
