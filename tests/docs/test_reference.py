"""The documentation says what the code does: commands, links, and the words of the house."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*/README.md")])


def test_the_reference_of_commands_is_what_the_commands_say() -> None:
    words = [sys.executable, str(ROOT / "scripts/reference.py"), "--print"]
    page = subprocess.run(words, capture_output=True, text=True, check=True).stdout

    assert (ROOT / "docs/reference/commands.md").read_text() == page, "run: .venv/bin/python scripts/reference.py"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)", without_code(page.read_text())):
        if target.startswith(("http:", "https:")):
            continue
        file = page.parent / target if target else page
        assert file.exists(), f"{page.name} links to {target}"
        if anchor:
            assert anchor in anchors(file.read_text()), f"{page.name} links to {target}#{anchor}"


def without_code(text: str) -> str:
    return re.sub(r"^```.*?^```|`[^`\n]*`", "", text, flags=re.DOTALL | re.MULTILINE)


def anchors(text: str) -> set[str]:
    """The anchors that a page's headings have where Markdown is shown: small letters, dashes for spaces, no signs."""
    plain = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.+)$", plain, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_an_anchor_that_no_heading_has_is_found() -> None:
    assert anchors("# A page\n\n```\n# no heading\n```\n## `run`: how, when?\n") == {"a-page", "run-how-when"}


def test_every_guide_is_in_the_index() -> None:
    index = (ROOT / "docs/README.md").read_text()
    for page in (ROOT / "docs").rglob("*.md"):
        if page.name != "README.md":
            assert str(page.relative_to(ROOT / "docs")) in index


def test_nothing_depends_on_what_a_clone_does_not_have() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    for name in tracked:
        file = ROOT / name
        if (
            file.suffix in (".py", ".md", ".yaml", ".toml", ".c", ".h", ".sh", "")
            and file.is_file()
            and name != "LICENSE"
        ):
            text = file.read_text(errors="replace")
            assert "../" + "shared" not in text, name
            assert "index" + "-url" not in text, name
