"""The documentation site: every page is in its contents, and where Sphinx is installed it is built, strictly."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "scripts/docs/build"


def builder() -> ModuleType:
    loader = SourceFileLoader("site_builder", str(BUILD))
    spec = spec_from_loader("site_builder", loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_every_page_is_in_the_contents_once(tmp_path: Path) -> None:
    made = builder()
    made.gather(tmp_path / "source")
    text = made.index(tmp_path / "source")

    named = re.findall(r"^(?:What it is <(\w+)>|([\w/-]+))$", re.sub(r"^[`:#-].*$", "", text, flags=re.MULTILINE), re.M)
    pages = [(one or other) for one, other in named]
    wanted = [path.relative_to(ROOT / "docs").with_suffix("") for path in (ROOT / "docs").rglob("*.md")]
    assert sorted(page for page in pages if page.startswith("docs/")) == sorted(
        f"docs/{page}" for page in wanted if page != Path("README")
    )
    assert len(set(pages)) == len(pages) and "README" in pages and "examples/c5/README" in pages


def test_the_site_is_built_without_a_warning_and_without_the_network(tmp_path: Path) -> None:
    pytest.importorskip("sphinx", reason="Sphinx is not installed: pip install '.[docs]'")
    done = subprocess.run([sys.executable, str(BUILD), str(tmp_path)], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    text = (tmp_path / "index.html").read_text()
    assert "Start here" in text and "docs/guides/add-a-check.html" in text
    assert (tmp_path / "searchindex.js").stat().st_size > 20_000
    for page in tmp_path.rglob("*.html"):
        assert not re.search(r'<(script|link|img)[^>]*(src|href)="(https?:)?//', page.read_text()), page
